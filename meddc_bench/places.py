"""Where the lines of a long journal are: a hash table in arrays, a tenth of the memory of a dictionary of tuples."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

_FOR_ZERO = (1 << 64) - 1
"""Stands for the digest that ends in 64 zero bits: 0 marks a free slot."""


USUAL = 100_000
"""Lines for which there is room from the start, in 3 MB: a run's memory does not grow with its length up to there."""


class Places:
    """Maps hex digests, by their last 64 bits, to a line's start, length and a small tag; 24 to 48 bytes an entry.

    `find` gives the slot of a digest, at which `starts`, `lengths` and `tags` hold what was put. Two of a million
    digests agree in 64 bits with a chance of 3e-8.
    """

    def __init__(self, expected: int = USUAL) -> None:
        self._make(1 << max(8, (expected * 5 // 4).bit_length()))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[int]:
        """Iterate over the slots in the order of their starts."""
        return iter(sorted((at for at, key in enumerate(self._keys) if key), key=self.starts.__getitem__))

    def put(self, digest: str | bytes, start: int, length: int, tag: int = 0) -> None:
        """Note a line; a later one of the same digest replaces an earlier one.

        Raises:
            ValueError: the digest is not of 16 hex digits or more.
            OverflowError: the line is of 4 GiB or more, or the tag is not 0 to 255.
        """
        if len(digest) < 16:
            raise ValueError(f"{digest!r} is no digest")
        if 8 * self._size >= 7 * self._mask:
            self._grow()
        key = int(digest[-16:], 16) or _FOR_ZERO
        keys, mask = self._keys, self._mask
        at = key & mask
        while (there := keys[at]) and there != key:
            at = (at + 1) & mask
        self.lengths[at], self.tags[at], self.starts[at] = length, tag, start
        if not there:
            self._size += 1
            keys[at] = key

    def put_all(self, digests: Sequence[bytes], starts: Sequence[int], lengths: Sequence[int], tags: bytes) -> None:
        """Note many lines at once, as `put` does one after the other.

        Raises:
            ValueError: a digest is not of 16 hex digits or more.
            OverflowError: a line is of 4 GiB or more.
        """
        import numpy as np  # what adapters there are can be listed without it

        tails = b"".join([digest[-16:] for digest in digests])
        if len(tails) != 16 * len(digests):
            raise ValueError(f"{min(digests, key=len)!r} is no digest")
        if max(lengths, default=0) >> 32:
            raise OverflowError("a line of 4 GiB or more")
        while 8 * (self._size + len(digests)) >= 7 * self._mask:
            self._grow()
        given = np.frombuffer(bytes.fromhex(tails.decode()), dtype=">u8").astype(np.uint64)
        given[given == 0] = _FOR_ZERO
        one = np.uint64(1)
        mask = np.uint64(self._mask)
        keys, at = np.frombuffer(self._keys, dtype=np.uint64), given & mask
        free_before = np.count_nonzero(keys == 0)
        open_ = np.arange(len(given))
        while len(open_):
            slots, wanted = at[open_], given[open_]
            free = keys[slots] == 0
            keys[slots[free]] = wanted[free]  # of two that want one slot the last has it; the other goes on
            open_ = open_[keys[slots] != wanted]
            at[open_] = (at[open_] + one) & mask
        self._size += int(free_before - np.count_nonzero(keys == 0))
        slots = at.astype(np.intp)
        for column, values in (
            (self.starts, starts),
            (self.lengths, lengths),
            (self.tags, np.frombuffer(tags, np.uint8)),
        ):
            array_ = np.frombuffer(column, dtype=np.dtype(column.typecode))
            array_[slots] = values  # of two lines of one digest the later stays

    def find(self, digest: str) -> int:
        """Return the slot of a digest, -1 where it was not put."""
        key = int(digest[-16:], 16) or _FOR_ZERO
        keys, mask = self._keys, self._mask
        at = key & mask
        while (there := keys[at]) != key:
            if not there:
                return -1
            at = (at + 1) & mask
        return at

    def _make(self, slots: int) -> None:
        self._size, self._mask = 0, slots - 1
        self._keys, self.starts = array("Q", bytes(8 * slots)), array("Q", bytes(8 * slots))
        self.lengths, self.tags = array("I", bytes(4 * slots)), array("B", bytes(slots))

    def _grow(self) -> None:
        before = self._keys, self.starts, self.lengths, self.tags
        self._make(2 * len(self._keys))
        keys, mask = self._keys, self._mask
        for key, start, length, tag in zip(*before, strict=True):
            if key:
                at = key & mask
                while keys[at]:
                    at = (at + 1) & mask
                keys[at], self.starts[at], self.lengths[at], self.tags[at] = key, start, length, tag
                self._size += 1
