"""Reads the terms of one ontology from a local file: OBO, JSON lines, CSV or TSV; every fault with its file and line.

OBO      read with fastobo (`pip install 'meddc-bench[ontology]'`); obsolete terms are passed over
JSONL    {"id", "name", "synonyms": [[text, scope]], "parents": [ids], "xrefs": {prefix: [ids]}, "type"}
CSV/TSV  columns id, name; optional synonyms, parents, xrefs (PREFIX:ID), type; several values stand between `|`
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from meddc_bench.errors import InputError, UsageError
from meddc_bench.text import clean

Kind = Literal["group", "disorder", "subtype"]
_PREFIXES = {"ORPHANET": "ORDO", "ORPHA": "ORDO", "MSH": "MESH", "UMLS_CUI": "UMLS", "ICD10CM": "ICD10", "NCIT": "NCI"}


class Synonym(msgspec.Struct, frozen=True):
    """Another name of a term; `sources` are the ids in other ontologies that attest it."""

    text: str
    scope: str = "EXACT"
    sources: tuple[str, ...] = ()


class Term(msgspec.Struct, frozen=True):
    """A term as a file states it; `line` is where it stands."""

    id: str
    name: str
    synonyms: tuple[Synonym, ...] = ()
    parents: tuple[str, ...] = ()
    xrefs: tuple[str, ...] = ()
    kind: Kind | None = None
    line: int = 0


def read_terms(path: Path) -> list[Term]:
    """Read the terms of a file, by its suffix.

    Raises:
        UsageError: a suffix that is not known, or OBO without fastobo.
        InputError: a file that cannot be read, a fault in it, a blank id or name, an id given twice.
    """
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise UsageError(f"{path}: an ontology is a file of {', '.join(_READERS)}")
    found: dict[str, Term] = {}
    try:
        for term in reader(path):
            if not term.id.strip() or not term.name.strip():
                raise InputError("a term needs an id and a name that are not blank", path=path, line=term.line)
            if term.id in found:
                first = found[term.id].line
                raise InputError(f"id {term.id!r} is already that of line {first}", path=path, line=term.line)
            found[term.id] = term
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 ({error.reason} at byte {error.start})", path=path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=path) from None
    if not found:
        raise InputError("there is no term in it", path=path)
    return list(found.values())


def xref(text: str) -> str:
    """Spell a cross-reference one way: `Orphanet:558` and `ORDO:558` are the same.

    >>> xref("Orphanet:558"), xref("MSH:D1")
    ('ORDO:558', 'MESH:D1')
    """
    prefix, colon, rest = text.strip().partition(":")
    prefix = prefix.upper()
    return f"{_PREFIXES.get(prefix, prefix)}{colon}{rest}"


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    name: str
    synonyms: tuple[tuple[str, Literal["EXACT", "BROAD", "NARROW", "RELATED"]], ...] = ()
    parents: tuple[str, ...] = ()
    xrefs: dict[str, tuple[str, ...]] = {}
    type: Kind | None = None
    definition: str | None = msgspec.field(default=None, name="def")


def _jsonl(path: Path) -> Iterator[Term]:
    decoder = msgspec.json.Decoder(_Line)
    with open(path, encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                one = decoder.decode(line)
            except msgspec.DecodeError as error:  # of values or of the JSON itself
                raise InputError(str(error), path=path, line=number) from None
            yield Term(
                one.id, clean(one.name), tuple(Synonym(clean(text), scope) for text, scope in one.synonyms),
                one.parents, tuple(xref(f"{prefix}:{value}") for prefix, values in one.xrefs.items() for value in values),
                one.type, number,
            )  # fmt: skip


def _table(path: Path) -> Iterator[Term]:
    with open(path, encoding="utf-8-sig", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t" if path.suffix.lower() == ".tsv" else ",", strict=True)
        _check_header(path, rows.fieldnames or ())
        try:
            for row in rows:
                yield _of_row(path, rows.line_num, row)
        except csv.Error as error:
            raise InputError(str(error), path=path, line=rows.line_num + 1) from None


_COLUMNS = ("id", "name", "synonyms", "parents", "xrefs", "type")


def _check_header(path: Path, header: Iterable[str]) -> None:
    header = list(header)
    if "id" not in header or "name" not in header or not set(header) <= set(_COLUMNS):
        message = f"expected the columns id, name and any of {', '.join(_COLUMNS[2:])}; there is {', '.join(header)}"
        raise InputError(message, path=path, line=1)


def _of_row(path: Path, line: int, row: Mapping[Any, Any]) -> Term:
    if None in row or None in row.values():
        raise InputError("another number of cells than the header has", path=path, line=line)
    kind = row.get("type") or None
    if kind not in (None, "group", "disorder", "subtype"):
        raise InputError(f"type {kind!r} is not one of group, disorder, subtype", path=path, line=line)
    synonyms, parents, xrefs = (_several(row.get(column)) for column in ("synonyms", "parents", "xrefs"))
    return Term(
        row["id"].strip(), clean(row["name"]), tuple(Synonym(clean(one)) for one in synonyms), parents,
        tuple(map(xref, xrefs)), kind, line,
    )  # fmt: skip


def _several(cell: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (cell or "").split("|") if part.strip())


def _obo(path: Path) -> Iterator[Term]:
    try:
        import fastobo
    except ImportError:
        raise UsageError(f"{path}: to read OBO files: pip install 'meddc-bench[ontology]'") from None
    lines = _lines_of_ids(path)
    try:
        for frame in fastobo.iter(str(path), ordered=True):
            if isinstance(frame, fastobo.term.TermFrame):
                places = lines.get(str(frame.id), [])
                term = _of_frame(frame, places.pop(0) if places else 0)
                if term is not None:
                    yield term
    except SyntaxError as error:
        raise InputError(error.msg, path=path, line=error.lineno) from None
    except ValueError as error:
        raise InputError(str(error), path=path) from None


def _lines_of_ids(path: Path) -> dict[str, list[int]]:
    """Find the lines of `id:`, which the parser does not keep."""
    found: dict[str, list[int]] = {}
    with open(path, encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, 1):
            if line.startswith("id:"):
                found.setdefault(re.split(r"\s[!{]", line[3:], maxsplit=1)[0].strip(), []).append(number)
    return found


def _of_frame(frame: Any, line: int) -> Term | None:
    """Take from a frame what is used; None where it is obsolete."""
    name, synonyms, parents, xrefs = "", [], [], []
    for clause in frame:
        tag = clause.raw_tag()
        if tag == "is_obsolete" and clause.raw_value() == "true":
            return None
        if tag == "name":
            name = clean(clause.name)
        elif tag == "synonym":
            one = clause.synonym
            sources = tuple(xref(str(source.id)) for source in one.xrefs)
            synonyms.append(Synonym(clean(one.desc), one.scope, sources))
        elif tag == "is_a":
            parents.append(str(clause.term))
        elif tag == "xref":
            xrefs.append(xref(str(clause.xref.id)))
    return Term(str(frame.id), name, tuple(synonyms), tuple(parents), tuple(xrefs), None, line)


_READERS: Mapping[str, Callable[[Path], Iterator[Term]]] = {
    ".obo": _obo,
    ".jsonl": _jsonl,
    ".csv": _table,
    ".tsv": _table,
}
