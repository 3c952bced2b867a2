"""Where the lines of a long journal are: a hash table in two arrays, a tenth of the memory of a dictionary of tuples."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import NamedTuple

_LENGTH, _TAG = 26, 4
_FOR_ZERO = (1 << 64) - 1
_FARTHEST = 1 << (64 - _LENGTH - _TAG)
_LONGEST, _TAGS = (1 << _LENGTH) - 1, (1 << _TAG) - 1


class Place(NamedTuple):
    """Where a line begins, how long it is, and a small number that goes with it."""

    start: int
    length: int
    tag: int


class Places:
    """Maps hex digests, by their last 64 bits, to places; 16 to 48 bytes an entry.

    Two of a million digests agree in 64 bits with a chance of 3e-8.
    """

    def __init__(self) -> None:
        self._size, self._mask = 0, (1 << 8) - 1
        self._keys, self._where = array("Q", bytes(8 << 8)), array("Q", bytes(8 << 8))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Place]:
        """Iterate over the places in the order of their starts."""
        return map(_place, sorted(where for key, where in zip(self._keys, self._where, strict=True) if key))

    def put(self, digest: str, start: int, length: int, tag: int = 0) -> None:
        """Note a line; a later one of the same digest replaces an earlier one.

        Raises:
            ValueError: the digest is not of 16 hex digits or more, or the line is of 64 MiB or more, or beyond 16 GiB.
        """
        if not (start < _FARTHEST and length <= _LONGEST and 0 <= tag <= _TAGS and len(digest) >= 16):
            raise ValueError(f"no place for a line of {length} bytes")
        if 3 * self._size >= 2 * self._mask:
            self._grow()
        self._set(int(digest[-16:], 16) or _FOR_ZERO, (start << _LENGTH | length) << _TAG | tag)

    def get(self, digest: str) -> Place | None:
        """Return the place of a digest."""
        key = int(digest[-16:], 16) or _FOR_ZERO
        keys, mask = self._keys, self._mask
        at = key & mask
        while keys[at] != key:
            if not keys[at]:
                return None
            at = (at + 1) & mask
        return _place(self._where[at])

    def _set(self, key: int, where: int) -> None:
        keys, mask = self._keys, self._mask
        at = key & mask
        while keys[at] and keys[at] != key:
            at = (at + 1) & mask
        if not keys[at]:
            self._size += 1
            keys[at] = key
        self._where[at] = where

    def _grow(self) -> None:
        keys, where, slots = self._keys, self._where, 2 * len(self._keys)
        self._keys, self._where = array("Q", bytes(8 * slots)), array("Q", bytes(8 * slots))
        self._size, self._mask = 0, slots - 1
        for key, one in zip(keys, where, strict=True):
            if key:
                self._set(key, one)


def _place(where: int) -> Place:
    line = where >> _TAG
    return Place(line >> _LENGTH, line & _LONGEST, where & _TAGS)
