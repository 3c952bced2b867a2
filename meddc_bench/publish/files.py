"""Rows and boards as files: JSON that people can read, and a fault of a file named by its key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from meddc_bench import yamlfile
from meddc_bench.errors import InputError
from meddc_bench.publish.row import MeasuredRow
from meddc_bench.text import clean

Model = TypeVar("Model", bound=BaseModel)


def load_row(path: Path) -> MeasuredRow:
    """Read a row.

    Raises:
        InputError: there is no such file, or it is no row, with the keys that are wrong.
    """
    return parsed(MeasuredRow, read(path), path)


def read(path: Path) -> bytes:
    """Read a file of the user's."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from error


def parsed(model: type[Model], data: bytes, path: Path) -> Model:
    """Check JSON against a model; every fault is named by its key, and no value is shown."""
    try:
        json.loads(data, parse_constant=_no_constant, object_pairs_hook=yamlfile.no_key_twice)
    except (ValueError, RecursionError) as error:
        raise InputError(f"is no JSON: {clean(str(error))[:200]}", path=path) from None
    try:
        return model.model_validate_json(data)
    except ValidationError as failure:
        found = failure.errors(include_input=False, include_url=False)
        lines = [f"{'.'.join(map(str, one['loc'])) or 'the file'}: {clean(one['msg'])}" for one in found[:5]]
        more = f"; and {len(found) - 5} more" if len(found) > 5 else ""
        raise InputError(clean("; ".join(lines)) + more, path=path) from None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


def written(model: BaseModel) -> bytes:
    """Write a model as JSON for people: an entry a line, but a list of numbers on one line."""
    return laid_out(model.model_dump(mode="json"))


def laid_out(value: Any) -> bytes:
    """Write plain data as `written` does."""
    return (_indented(value, 0) + "\n").encode("utf-8")


def _indented(value: Any, depth: int) -> str:
    nested = isinstance(value, dict | list) and any(
        isinstance(one, dict | list) for one in (value.values() if isinstance(value, dict) else value)
    )
    if not isinstance(value, dict | list) or (not nested and isinstance(value, list)) or not value:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    inner, close = "\n" + " " * (depth + 1), "\n" + " " * depth
    if isinstance(value, dict):
        lines = [f"{json.dumps(key, ensure_ascii=False)}: {_indented(one, depth + 1)}" for key, one in value.items()]
        return "{" + inner + f",{inner}".join(lines) + close + "}"
    return "[" + inner + f",{inner}".join(_indented(one, depth + 1) for one in value) + close + "]"
