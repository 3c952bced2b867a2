"""Reads the rows of a source one by one: each becomes a case, its histories, or the fault that says why not."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from pydantic import Field, ValidationError

from meddc_bench.contracts import Fault, Imported, Options
from meddc_bench.records import Case
from meddc_importers.cases import case_faults
from meddc_importers.labels import case_id
from meddc_importers.lines import Line, Rejected, found


class CaseOptions(Options):
    """Options of every importer of cases."""

    turn_budget: int = Field(10, ge=1, le=50, description="questions a doctor may ask in a case")
    split: str | None = Field(None, description="the split the file holds, for the card; left out, the importer's own")


@dataclass(frozen=True, slots=True)
class Row:
    """What one row gives: a case, and finished consultations of it."""

    case: Case
    histories: tuple[Imported, ...] = ()


@dataclass
class Rows:
    """The rows so far: each id may be there once."""

    _lines: dict[str, int] = field(default_factory=dict)

    def read(
        self, lines: Iterable[Line | Fault], make: Callable[[Line, list[Fault]], Row]
    ) -> Iterator[Case | Imported | Fault]:
        """Give what is made of each line; a line that cannot be used gives its faults, and the next one is read."""
        for line in lines:
            if isinstance(line, Fault):
                yield line
                continue
            faults: list[Fault] = []
            row = None
            try:
                row = self._once(make(line, faults), line)
            except Rejected as rejected:
                faults.append(rejected.fault)
            except ValidationError as failure:
                faults += case_faults(failure, line)
            yield from faults
            if row is not None:
                yield row.case
                yield from row.histories

    def _once(self, row: Row, line: Line) -> Row:
        here = int(line.where.rpartition(":")[2])
        before = self._lines.setdefault(row.case.id, here)
        if before != here:
            line.reject(f"case {row.case.id} is already at line {before}; left out", "id")
        return row


def row_id(line: Line, prefix: str) -> str:
    """Read a row's id; a bare number gets the source's prefix, and a row without an id its line's number."""
    for key in ("case_id", "id"):
        value = line.data.get(key)
        if value in (None, ""):
            continue
        name = case_id(line, key)
        return f"{prefix}-{int(name):05d}" if name.isdigit() else name
    return f"{prefix}-line{line.where.rpartition(':')[2]}"


def text_of(line: Line, key: str, *, missing: bool = False) -> str:
    """Read a text.

    Raises:
        Rejected: it is no text, or blank or not there (unless it may be `missing`).
    """
    value = line.data.get(key)
    if isinstance(value, str) and value.strip():
        return value.strip()
    if missing and (value is None or value == ""):
        return ""
    what = (
        "this key is missing"
        if key not in line.data
        else "is empty"
        if value == ""
        else f"expected text, found {found(value)}"
    )
    return line.reject(f"{what}; the row is left out", key)


def texts_of(line: Line, key: str) -> list[str]:
    """Read a list of texts; a single text counts as its lines.

    Raises:
        Rejected: it is neither, or nothing stands in it.
    """
    value = line.data.get(key)
    given = re.split(r"[\n]+", value) if isinstance(value, str) else value
    if not isinstance(given, list):
        what = "this key is missing" if key not in line.data else f"expected a list of texts, found {found(value)}"
        line.reject(f"{what}; the row is left out", key)
    for index, one in enumerate(given):
        if not isinstance(one, str):
            line.reject(f"expected text, found {found(one)}; the row is left out", f"{key}[{index}]")
    texts = [one.strip() for one in given if one.strip()]
    return texts if texts else line.reject("is empty; the row is left out", key)
