"""Where the lines of a long journal are: a hash table in two arrays, a tenth of the memory of a dictionary of tuples."""

from __future__ import annotations

from array import array

_LENGTH_BITS = 24
_LONGEST = (1 << _LENGTH_BITS) - 1


class Places:
    """Maps a 64-bit digest to the start and length of a line; about 32 bytes an entry."""

    def __init__(self) -> None:
        self._size, self._mask = 0, 0
        self._keys = self._where = array("Q")
        self._grow(1 << 8)

    def __len__(self) -> int:
        return self._size

    def put(self, key: int, start: int, length: int) -> None:
        """Note a line; a later one of the same key replaces an earlier one.

        Raises:
            ValueError: the line is 16 MiB or longer.
        """
        if length > _LONGEST:
            raise ValueError(f"a line of {length} bytes")
        if 3 * self._size >= 2 * len(self._keys):
            self._grow(2 * len(self._keys))
        self._put(key or 1, start << _LENGTH_BITS | length)

    def get(self, key: int) -> tuple[int, int] | None:
        """Return the start and length of a line."""
        at = self._slot(key or 1)
        where = self._where[at]
        return (where >> _LENGTH_BITS, where & _LONGEST) if self._keys[at] else None

    def _slot(self, key: int) -> int:
        keys, mask = self._keys, self._mask
        at = key & mask
        while keys[at] and keys[at] != key:
            at = (at + 1) & mask
        return at

    def _put(self, key: int, where: int) -> None:
        at = self._slot(key)
        if not self._keys[at]:
            self._size += 1
            self._keys[at] = key
        self._where[at] = where

    def _grow(self, slots: int) -> None:
        keys, where = self._keys, self._where
        self._keys, self._where = array("Q", bytes(8 * slots)), array("Q", bytes(8 * slots))
        self._size, self._mask = 0, slots - 1
        for key, one in zip(keys, where, strict=True):
            if key:
                self._put(key, one)
