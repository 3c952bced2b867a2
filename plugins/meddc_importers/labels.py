"""Reads who a history belongs to: case, policy label and repeat, and keeps out what is there twice."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from meddc_bench.contracts import Fault, Imported
from meddc_importers.lines import Line, Rejected, found

POLICY = r"^[a-z0-9._-]{1,64}$"
_CASE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_OTHER = re.compile(r"[^a-z0-9._-]+")


def case_id(line: Line, *keys: str) -> str:
    """Read the case's id under the first of some keys that is there; a number becomes text.

    Raises:
        Rejected: there is none, or it cannot be an id.
    """
    key = _present(line, keys)
    value = line.data[key]
    name = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(name, str):
        line.reject(f"expected the case's id as text, found {found(value)}; left out", key)
    if not _CASE.fullmatch(name):
        line.reject(f"{_shown(name)} cannot be a case id: up to 64 of A-Z a-z 0-9 . _ - are; left out", key)
    return name


def policy_label(line: Line, override: str | None, *keys: str) -> str:
    """Read the policy under the first of some keys that is there, as a label: small letters, blanks and signs as `-`.

    Raises:
        Rejected: there is none, or it cannot be made a label without guessing.
    """
    if override is not None:
        return override
    key = _present(line, keys)
    name = line.data[key]
    if not isinstance(name, str):
        line.reject(f"expected the policy's name as text, found {found(name)}; left out", key)
    label = _OTHER.sub("-", name.strip().lower()).strip("-")
    if not name.isascii() or not re.fullmatch(POLICY, label):
        line.reject(f"{_shown(name)} cannot be a policy's label: up to 64 of a-z 0-9 . _ - are; left out", key)
    return label


def repeat_of(line: Line) -> int:
    """Read the repeat, 0 where there is none.

    Raises:
        Rejected: it is not a whole number from 0 up.
    """
    value = line.data.get("repeat", 0)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        line.reject("expected a whole number from 0 up; left out", "repeat")
    return value


class Seen:
    """The histories so far: each case, policy and repeat may be there once."""

    def __init__(self) -> None:
        self._where: dict[tuple[str, str, int], str] = {}

    def take(self, line: Line | Fault, make: Callable[[Line, list[Fault]], Imported]) -> Iterator[Imported | Fault]:
        """Give what is made of a line: its faults, then its history unless it was given up or is there twice."""
        if isinstance(line, Fault):
            yield line
            return
        faults: list[Fault] = []
        imported = None
        try:
            imported = self._admit(make(line, faults), line)
        except Rejected as rejected:
            faults.append(rejected.fault)
        yield from faults
        if imported is not None:
            yield imported

    def _admit(self, imported: Imported, line: Line) -> Imported:
        key = (imported.case, imported.policy, imported.repeat)
        before = self._where.setdefault(key, line.where)
        if before != line.where:
            line.reject(f"case {key[0]}, policy {key[1]}, repeat {key[2]} is already at {before}; left out")
        return imported


def _present(line: Line, keys: tuple[str, ...]) -> str:
    for key in keys:
        if line.data.get(key) not in (None, ""):
            return key
    return line.reject(f"this key is missing{' or empty' if keys[0] in line.data else ''}; left out", keys[0])


def _shown(name: str) -> str:
    return repr(name if len(name) <= 40 else name[:39] + "…")
