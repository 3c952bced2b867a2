"""Tables of published scores, reader -> policy -> score, from YAML, JSON or CSV: for audits without cases.

reader: {policy: score}                                   one table
tasks: {task: {reader: {policy: score}}}                  several; beside it source, metric, unit, base
[{policy: ..., reader: ..., score: ..., task: ...}]       rows; as CSV with these columns, task may be left out
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from meddc_bench import yamlfile
from meddc_bench.errors import InputError, suggest
from meddc_bench.yamlfile import Document

Scores = Mapping[str, Mapping[str, float | None]]

_ABOUT = ("source", "metric", "unit", "base", "tasks")
_UNITS = ("points", "proportion")
_COLUMNS = ("policy", "reader", "score")


@dataclass(frozen=True, slots=True)
class Published:
    """Published scores in `unit`: task -> reader -> policy -> score, None where the table has none."""

    tables: Mapping[str, Scores]
    metric: str
    unit: str
    base: str | None
    source: str | None


def read_published(path: Path) -> Published:
    """Read a table of published scores.

    Raises:
        InputError: a file that is none, with line and key.
    """
    document = _document(path)
    data = document.data
    about: dict[str, str] = {}
    if isinstance(data, list):
        tables = _from_rows(document)
    elif isinstance(data, dict) and "tasks" in data:
        about = _about(document)
        if not isinstance(data["tasks"], dict) or not data["tasks"]:
            raise document.error("expected tasks with their tables: {task: {reader: {policy: score}}}", "tasks")
        tables = {str(task): _table(document, "tasks", task) for task in data["tasks"]}
    elif isinstance(data, dict) and data:
        tables = {path.stem: _table(document)}
    else:
        raise document.error("expected a table: {reader: {policy: score}}, or rows of policy, reader, score")
    unit = _unit(document, tables, about.get("unit"))
    return Published(tables, about.get("metric", "D"), unit, about.get("base"), about.get("source"))


def _document(path: Path) -> Document:
    if path.suffix.lower() == ".csv":
        return _csv(path)
    if path.suffix.lower() != ".json":
        return yamlfile.load(path)
    try:
        return Document(json.loads(yamlfile.read_text(path), object_pairs_hook=yamlfile.no_key_twice), path)
    except RecursionError as error:
        raise InputError("is nested too deeply", path=path) from error
    except ValueError as error:
        raise InputError(f"is not valid JSON: {error}", path=path) from error


def _csv(path: Path) -> Document:
    """Read CSV rows; an empty score is None."""
    try:
        reader = csv.DictReader(yamlfile.read_text(path).splitlines(), strict=True)
        rows: list[dict[str, Any]] = []
        marks: dict[tuple[str | int, ...], tuple[Path, int]] = {}
        for row in reader:
            marks[len(rows),] = (path, reader.line_num)
            if None in row or None in row.values():
                raise InputError("has another number of fields than the first line", path=path, line=reader.line_num)
            rows.append({str(name).strip(): _cell(name, value) for name, value in row.items()})
    except csv.Error as error:
        raise InputError(f"is not valid CSV: {error}", path=path) from error
    return Document(rows, path, marks)


def _cell(name: str, value: str) -> Any:
    if name.strip() != "score":
        return value.strip()
    try:
        return float(value) if value.strip() else None
    except ValueError:
        return value


def _about(document: Document) -> dict[str, str]:
    for key, value in document.data.items():
        if key not in _ABOUT:
            raise document.error(f"unknown key; {suggest(str(key), _ABOUT)}", key)
        if key != "tasks" and not isinstance(value, str):
            raise document.error("expected text", key)
    found = {key: value for key, value in document.data.items() if key != "tasks"}
    if found.get("unit", "points") not in _UNITS:
        raise document.error(f"expected one of {', '.join(_UNITS)}", "unit")
    return found


def _table(document: Document, *loc: str) -> Scores:
    table = document.data
    for part in loc:
        table = table[part]
    if not isinstance(table, dict) or not table:
        raise document.error("expected readers with their scores: {reader: {policy: score}}", *loc)
    out: dict[str, dict[str, float | None]] = {}
    for reader, row in table.items():
        if not isinstance(row, dict) or not row:
            raise document.error("expected policies with their scores: {policy: score}", *loc, reader)
        out[str(reader)] = {str(policy): _score(document, value, *loc, reader, policy) for policy, value in row.items()}
    return out


def _from_rows(document: Document) -> dict[str, Scores]:
    out: dict[str, dict[str, dict[str, float | None]]] = {}
    for at, row in enumerate(document.data):
        if not isinstance(row, dict):
            raise document.error("expected a row: {policy: ..., reader: ..., score: ...}", at)
        for name in _COLUMNS:
            if name not in row:
                raise document.error(f"has no {name}; expected policy, reader, score and perhaps task", at)
        unknown = sorted(row.keys() - {*_COLUMNS, "task"})
        if unknown:
            raise document.error(f"unknown column {unknown[0]!r}; {suggest(unknown[0], (*_COLUMNS, 'task'))}", at)
        task, reader, policy = (str(row.get(name) or "") for name in ("task", "reader", "policy"))
        if not reader or not policy:
            raise document.error("the policy or the reader is empty", at)
        scores = out.setdefault(task or document.path.stem, {}).setdefault(reader, {})
        if policy in scores:
            raise document.error(f"policy {policy} under reader {reader} is there twice", at)
        scores[policy] = _score(document, row["score"], at)
    if not out:
        raise document.error("holds no row")
    return dict(out)


def _score(document: Document, value: Any, *loc: str | int) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise document.error(
            f"expected a score, a number, or null where there is none; found {str(value)[:40]!r}", *loc
        )
    return float(value)


def _unit(document: Document, tables: Mapping[str, Scores], given: str | None) -> str:
    """Take the unit that is given; else proportions where no score is above 1, points where all are."""
    if given is not None:
        return given
    scores = list(_all(tables))
    if scores and all(0 <= one <= 1 for one in scores):
        return "proportion"
    if any(0 < one < 1 for one in scores):
        raise document.error("mixes scores below and above 1: say which they are, `unit: points` or `unit: proportion`")
    return "points"


def _all(tables: Mapping[str, Scores]) -> Iterator[float]:
    for table in tables.values():
        for row in table.values():
            yield from (one for one in row.values() if one is not None)
