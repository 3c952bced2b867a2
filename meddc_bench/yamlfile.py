"""YAML files of the user's: read as UTF-8, plain data only, and every value keeps its line.

Scalars follow YAML 1.2: only true, false, null and decimal numbers are not text, so `no` and `3:30` stay text.
"""

from __future__ import annotations

import math
import re
import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError

from meddc_bench.errors import InputError

Loc = tuple[str | int, ...]
Model = TypeVar("Model", bound=BaseModel)

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INT = re.compile(r"[-+]?[0-9]{1,18}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS = {
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
    "null": None, "Null": None, "NULL": None, "~": None, "": None,
}  # fmt: skip
_TAG = "tag:yaml.org,2002:"
_MAX_NODES = 200_000
_MAX_DEPTH = 50
_WORDING = {
    "string_type": "expected text; put it in quotes",
    "tuple_type": "expected a list",
    "model_type": "expected keys and values",
    "dict_type": "expected keys and values",
    "too_short": "expected at least {min_length} of them",
}


@dataclass(frozen=True)
class Document:
    """A file's data with, for each location in it, the file and line it came from."""

    data: Any
    path: Path
    marks: Mapping[Loc, tuple[Path, int]] = field(default_factory=dict)

    def where(self, loc: Loc) -> tuple[Path, int | None]:
        """Return file and line of `loc`, or of the nearest enclosing value."""
        for end in range(len(loc), -1, -1):
            if loc[:end] in self.marks:
                return self.marks[loc[:end]]
        return self.path, None

    def error(self, message: str, *loc: str | int) -> InputError:
        """Make an InputError that points at `loc`."""
        path, line = self.where(loc)
        return InputError(message, path=path, line=line, key=dotted(loc) or None)


def read_text(path: Path) -> str:
    """Read a UTF-8 file (a BOM is dropped); say what it is when it is something else."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from error
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError("is UTF-16; save it as UTF-8", path=path)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        guess = " (it looks like GBK)" if _is_gbk(raw) else ""
        raise InputError(f"is not UTF-8{guess}; save it as UTF-8", path=path, line=line) from error


def load(path: Path) -> Document:
    """Read one YAML file.

    Raises:
        InputError: not UTF-8, not YAML, a key twice, or a file that is too large once its aliases are expanded.
    """
    text = read_text(path)
    try:
        node = yaml.compose(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        mark, at = getattr(error, "problem_mark", None), getattr(error, "position", None)
        line = mark.line + 1 if mark else None if at is None else text.count("\n", 0, at) + 1
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
        raise InputError(f"is not valid YAML: {' '.join(problem.split())}", path=path, line=line) from error
    marks: dict[Loc, tuple[Path, int]] = {}
    data = None if node is None else _build(node, (), path, marks)
    return Document(data, path, marks)


def validate(model: type[Model], document: Document, *, strict: bool | None = None) -> Model:
    """Check a document against a pydantic model.

    Raises:
        InputError: the first fault, with file, line and key; the others are in its notes.
    """
    try:
        return model.model_validate(_tuples(document.data), strict=strict)
    except ValidationError as failure:
        # an unknown key first: what is missing is often the same key, misspelt
        details = sorted(failure.errors(), key=lambda detail: detail["type"] != "extra_forbidden")
        errors = [_input_error(model, document, detail) for detail in details]
        first = errors[0]
        for other in errors[1:]:
            first.add_note(str(other))
        raise first from None


def dotted(loc: Loc) -> str:
    """Write a location as people do: `targets[2].importance`."""
    out = ""
    for part in loc:
        out += f"[{part}]" if isinstance(part, int) else (f".{part}" if out else str(part))
    return out


def _build(node: yaml.Node, loc: Loc, path: Path, marks: dict[Loc, tuple[Path, int]]) -> Any:
    if len(marks) > _MAX_NODES:
        raise InputError(f"holds more than {_MAX_NODES} values once its aliases are expanded", path=path)
    line = node.start_mark.line + 1
    if len(loc) > _MAX_DEPTH:
        raise InputError(f"is nested more than {_MAX_DEPTH} deep; does an alias hold itself?", path=path, line=line)
    if not node.tag.removeprefix(_TAG).isalpha():
        raise InputError(f"the tag {node.tag!r} is not allowed: only plain data is read", path=path, line=line)
    marks[loc] = (path, line)
    if isinstance(node, yaml.MappingNode):
        out: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = key_node.value if isinstance(key_node, yaml.ScalarNode) else None
            if key is None or key == "<<":
                raise InputError("keys must be plain text", path=path, line=key_node.start_mark.line + 1)
            if key in out:
                raise InputError("this key is there twice", path=path, line=key_node.start_mark.line + 1, key=key)
            out[key] = _build(value_node, (*loc, key), path, marks)
            marks[*loc, key] = (path, key_node.start_mark.line + 1)
        return out
    if isinstance(node, yaml.SequenceNode):
        return [_build(child, (*loc, index), path, marks) for index, child in enumerate(node.value)]
    return _scalar(node)


def _scalar(node: Any) -> Any:
    value = str(node.value)
    if node.style in ("'", '"', "|", ">"):
        return value
    if value in _WORDS:
        return _WORDS[value]
    if _INT.fullmatch(value):
        return int(value)
    if _FLOAT.fullmatch(value) and not value.lstrip("+-").isdigit() and math.isfinite(number := float(value)):
        return number
    return value


def _tuples(data: Any) -> Any:
    """Lists become tuples: strict pydantic models of frozen records ask for tuples."""
    if isinstance(data, dict):
        return {key: _tuples(value) for key, value in data.items()}
    if isinstance(data, list):
        return tuple(_tuples(value) for value in data)
    return data


def _input_error(model: type[BaseModel], document: Document, detail: Any) -> InputError:
    loc: Loc = tuple(detail["loc"])
    kind, message = detail["type"], detail["msg"]
    if kind == "extra_forbidden":
        known = _fields_at(model, loc[:-1])
        near = get_close_matches(str(loc[-1]), known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(known)}"
        return document.error(f"unknown key; {hint}", *loc)
    if kind == "missing":
        path, line = document.where(loc)
        return InputError("this key is missing", path=path, line=line, key=dotted(loc))
    got = detail.get("input")
    hidden = "options" in loc or isinstance(got, (dict, list, tuple, BaseModel))  # an option may hold a key by mistake
    shown = "" if hidden else f" (found {_short(got)})"
    if kind in _WORDING:
        message = _WORDING[kind].format(**detail.get("ctx", {}))
    return document.error(f"{message}{shown}", *_plain(document, loc))


def _plain(document: Document, loc: Loc) -> Loc:
    """Drop the parts pydantic adds for unions, which are not in the file."""
    out: Loc = ()
    value: Any = document.data
    for part in loc:
        known = part in value if isinstance(value, dict) else isinstance(part, int) and isinstance(value, list | tuple)
        if known:
            value, out = value[part], (*out, part)
    return out


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _fields_at(model: Any, loc: Loc) -> list[str]:
    for part in loc:
        model = _item_type(model, part)
    return sorted(model.model_fields) if isinstance(model, type) and issubclass(model, BaseModel) else []


def _item_type(annotation: Any, part: str | int) -> Any:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        info = annotation.model_fields.get(str(part))
        return _strip(info.annotation) if info else None
    arguments = [one for one in get_args(annotation) if one is not Ellipsis]
    return _strip(arguments[-1]) if arguments else None


def _strip(annotation: Any) -> Any:
    """Take the model out of `Model | None`."""
    if get_origin(annotation) in (Union, types.UnionType):
        models = [one for one in get_args(annotation) if isinstance(one, type) and issubclass(one, BaseModel)]
        return models[0] if models else annotation
    return annotation


def _is_gbk(raw: bytes) -> bool:
    try:
        raw.decode("gb18030")
    except UnicodeDecodeError:
        return False
    return True


def no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of JSON (the `object_pairs_hook` of `json.loads`), which must not name a key twice.

    Raises:
        ValueError: it does.
    """
    out: dict[str, Any] = {}
    for key, value in pairs:
        if key in out:
            raise ValueError(f"the key {key!r} is there twice")
        out[key] = value
    return out
