"""Reads a table of texts row by row: CSV as spreadsheets and data sets write it, in UTF-8 or GBK."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path

from meddc_bench.contracts import Fault
from meddc_bench.errors import InputError
from meddc_bench.text import clean
from meddc_importers.lines import Line

_SAMPLE = 1 << 16
_LONGEST_CELL = 1 << 20


def encoding_of(path: Path) -> str:
    """Say in which encoding a file's first 64 KiB are: utf-8-sig or gb18030.

    Raises:
        InputError: the file cannot be read, is empty, is UTF-16, compressed or no text.
    """
    try:
        with path.open("rb") as file:
            head = file.read(_SAMPLE)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from error
    if not head.strip():
        raise InputError("is empty; expected a line of column names, then one row a line", path=path)
    if head.startswith(b"PK\x03\x04") or head.startswith(b"\xd0\xcf\x11\xe0"):
        raise InputError("is a spreadsheet or compressed; save the sheet as CSV (UTF-8)", path=path)
    if head.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\x00" in head:
        raise InputError("is UTF-16 or no text; save it as CSV in UTF-8", path=path)
    whole = head[: head.rfind(b"\n") + 1] or head
    for encoding in ("utf-8-sig", "gb18030"):
        try:
            whole.decode(encoding)
        except UnicodeDecodeError:
            continue
        return encoding
    raise InputError("is neither UTF-8 nor GBK; save it as CSV in UTF-8", path=path)


def records_of(
    path: Path, needed: Sequence[str] = (), *, renamed: dict[str, str] | None = None
) -> Iterator[Line | Fault]:
    """Read a table's rows as objects, column name to text; `renamed` maps the names people use to those of the program.

    Raises:
        InputError: the file is no table, or a column that is needed is not there.
    """
    encoding = encoding_of(path)
    if encoding == "gb18030":
        yield Fault(str(path), "is GBK, read as such; UTF-8 is safer", "note", "the file is GBK")
    with path.open(encoding=encoding, errors="surrogateescape", newline="") as file:
        yield from _rows(file, path, needed, renamed or {})


def _rows(file: io.TextIOBase, path: Path, needed: Sequence[str], renamed: dict[str, str]) -> Iterator[Line | Fault]:
    csv.field_size_limit(_LONGEST_CELL)
    first = file.readline()
    delimiter = max(",\t;", key=first.count)
    written = [clean(one).strip().lstrip("\ufeff") for one in next(csv.reader([first], delimiter=delimiter), [])]
    names = [renamed.get(one.casefold().replace(" ", "_"), one) for one in written]
    _check(names, written, needed, renamed, path)
    reader = csv.reader(file, delimiter=delimiter)
    while True:
        start = reader.line_num + 2
        try:
            row = next(reader, None)
        except csv.Error as error:
            yield Fault(f"{path}:{start}", f"is no row of a table ({error}); the row is left out")
            continue
        if row is None:
            return
        if not any(cell.strip() for cell in row):
            continue
        where = f"{path}:{start}"
        if len(row) != len(names):
            yield Fault(where, f"expected {len(names)} cells, found {len(row)}; the row is left out")
        elif any("\udc80" <= char <= "\udcff" for cell in row for char in cell):
            yield Fault(where, "is not in the encoding of the file's first rows; the row is left out")
        else:
            yield Line({name: clean(cell).strip() for name, cell in zip(names, row, strict=True) if name}, where)


def _check(
    names: Sequence[str], written: Sequence[str], needed: Sequence[str], renamed: dict[str, str], path: Path
) -> None:
    """Refuse a first line that is none of column names; it may be a patient's row, so only what is near a name is quoted."""
    for name in names:
        both = [one for one, known in zip(written, names, strict=True) if name and known == name]
        if len(both) > 1:
            raise InputError(
                f"the column {name!r} is there twice ({', '.join(both)}); keep one of them", path=path, line=1
            )
    for name in needed:
        if name not in names:
            known = [one for one, column in renamed.items() if column == name] or [name]
            near = [match for one in known for match in get_close_matches(one, written, n=1, cutoff=0.6)]
            hint = f"did you mean {near[0]!r} by it?" if near else "is the first line the one of column names?"
            raise InputError(f"there is no column {name!r}; expected {' or '.join(known)}; {hint}", path=path, line=1)
