"""Collects the cases of a references file, and says of a history's case whether it is one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from meddc_bench.contracts import Fault
from meddc_bench.errors import InputError
from meddc_bench.records import Case
from meddc_importers.lines import Line, Rejected, objects

NO_OPENING = "（导入的病例，无开场）"
"""The context of a case whose references give none: what was first said belongs to each history, not to the case."""

_WORDS = {"extra_forbidden": "unknown key", "missing": "this key is missing"}


class Cases:
    """The cases of a references file, by id."""

    def __init__(self, path: Path):
        self._path = path
        self._ids: dict[str, str] = {}

    def read(self, make: Callable[[Line], Case]) -> Iterator[Case | Fault]:
        """Read the file; each object becomes a case or its faults.

        Raises:
            InputError: the file cannot be read, or no case in it can be used.
        """
        for line in objects(self._path):
            if isinstance(line, Fault):
                yield line
                continue
            try:
                yield self._admit(make(line), line)
            except Rejected as rejected:
                yield rejected.fault
            except ValidationError as failure:
                yield from case_faults(failure, line)
        if not self._ids:
            raise InputError("holds no case that can be used", path=self._path)

    def check(self, case: str, line: Line, key: str) -> None:
        """Make sure that a history's case is there.

        Raises:
            Rejected: it is not.
        """
        if case not in self._ids:
            line.reject(f"{self._path} holds no usable reference for case {case}; left out", key)

    def _admit(self, case: Case, line: Line) -> Case:
        before = self._ids.setdefault(case.id, line.where)
        if before != line.where:
            line.reject(f"case {case.id} is already at {before}; left out")
        return case


def case_faults(failure: ValidationError, line: Line) -> Iterator[Fault]:
    """Turn what pydantic found into one Fault a key, without the values."""
    details = failure.errors(include_input=False, include_url=False, include_context=False)
    for detail in details:
        loc = detail["loc"]
        inside = any(one["loc"][: len(loc)] == loc and one is not detail for one in details)
        if detail["type"] == "too_short" and inside:  # pydantic counts a bad item as absent
            continue
        message = _WORDS.get(detail["type"]) or detail["msg"][:1].lower() + detail["msg"][1:]
        yield line.fault(f"{message}; the case is left out", _dotted(loc))


def _dotted(loc: tuple[Any, ...]) -> str:
    out = ""
    for part in loc:
        out += f"[{part}]" if isinstance(part, int) else f".{part}" if out else str(part)
    return out
