"""Reads files of JSON objects, one at a time: JSONL, or one JSON list.

    file ──bytes──> pieces (a line, an element of the list) ──UTF-8, JSON, clean──> Line | Fault

What is wrong with one piece is a Fault and the next piece is read; what is wrong with the file is an InputError.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from meddc_bench.contracts import Fault
from meddc_bench.errors import InputError
from meddc_bench.text import clean

BOM = b"\xef\xbb\xbf"
_CHUNK = 1 << 16
_QUOTED = re.compile(rb'["\\\n]')
_PLAIN = re.compile(rb'["\[\]{},\n]')


class Rejected(Exception):
    """A history or a case that cannot be used; carries the Fault that says why."""

    def __init__(self, fault: Fault):
        super().__init__(fault.message)
        self.fault = fault


@dataclass(frozen=True, slots=True)
class Line:
    """One JSON object of a file, its texts clean, and where it starts (`file:line`)."""

    data: dict[str, Any]
    where: str

    def fault(self, message: str, key: str = "") -> Fault:
        """Make a Fault that points at a key of this object."""
        return Fault(f"{self.where}:{key}" if key else self.where, message)

    def reject(self, message: str, key: str = "") -> NoReturn:
        """Give this object up.

        Raises:
            Rejected: always.
        """
        raise Rejected(self.fault(message, key))


@dataclass(frozen=True, slots=True)
class _Piece:
    """The bytes of one object; `ended` is False where the file stops before the object's end is marked."""

    number: int
    raw: bytes
    ended: bool


def objects(path: Path) -> Iterator[Line | Fault]:
    """Read the objects of a JSONL file, or of a file that holds one JSON list of them.

    Raises:
        InputError: the file cannot be read, is empty, is not UTF-8 text or is one object over several lines.
    """
    empty, utf8 = True, False
    try:
        with path.open("rb") as file:
            for piece in _pieces(file, path):
                empty = False
                text = _text(piece, path, sure=utf8)
                if isinstance(text, str):
                    utf8 = utf8 or not text.isascii()
                    yield _parsed(text, piece, path)
                else:
                    yield text
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from error
    if empty:
        raise InputError("is empty; expected one JSON object a line", path=path)


def found(value: Any) -> str:
    """Say what kind of JSON value was found."""
    if isinstance(value, bool):
        return "true or false"
    names = {dict: "an object", list: "a list", str: "text", int: "a number", float: "a number", type(None): "null"}
    return names.get(type(value), type(value).__name__)


def _pieces(file: BufferedReader, path: Path) -> Iterator[_Piece]:
    head = file.peek(_CHUNK)
    _refuse_foreign(head, path)
    if head.removeprefix(BOM).lstrip().startswith(b"["):
        yield from _Cutter().cut(file)
    else:
        yield from _lines(file, path)


def _refuse_foreign(head: bytes, path: Path) -> None:
    """Raise InputError for what is no UTF-8 text file, with what to do about it."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\x00" in head[:64]:
        raise InputError("is UTF-16 or no text at all; save it as UTF-8", path=path, line=1)
    if head.startswith((b"\x1f\x8b", b"PK\x03\x04")):
        raise InputError("is compressed; unpack it first", path=path)


def _lines(file: BufferedReader, path: Path) -> Iterator[_Piece]:
    first = True
    for number, line in enumerate(file, 1):
        raw = line.removeprefix(BOM) if number == 1 else line
        if not raw.strip():
            continue
        if first and raw.strip() == b"{":
            expected = "expected one object a line (JSONL) or a list of objects"
            raise InputError(f"is one JSON object over several lines; {expected}", path=path, line=number)
        first = False
        yield _Piece(number, raw.strip(), line.endswith(b"\n"))


class _Cutter:
    """Cuts a JSON list into its elements by brackets and quotes, holding one element at a time."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._depth = 0
        self._quoted = False
        self._escaped = False
        self._line = self._since = 1

    def cut(self, file: BufferedReader) -> Iterator[_Piece]:
        """Give the elements, and at the end what is left over."""
        while chunk := file.read(_CHUNK):
            yield from self._feed(chunk)
        if self._held.strip():
            yield self._piece(ended=self._depth == 1)
        if self._depth == 1:
            yield _Piece(self._line, b"", ended=False)

    def _feed(self, chunk: bytes) -> Iterator[_Piece]:
        taken, at = 0, int(self._escaped)
        self._escaped = False
        while match := (_QUOTED if self._quoted else _PLAIN).search(chunk, at):
            at, mark = match.end(), match[0]
            if mark == b"\\":
                self._escaped = at == len(chunk)
                at += 1
            elif self._take(mark):
                self._held += chunk[taken : match.start()]
                taken = at
                if mark != b"[":
                    yield from self._element()
                self._held.clear()
                self._since = self._line
        self._held += chunk[taken:]

    def _take(self, mark: bytes) -> bool:
        """Follow one mark; say whether the outer list opens, separates or closes there."""
        if mark == b"\n":
            self._line += 1
        elif mark == b'"':
            self._quoted = not self._quoted
        elif mark in b"[{":
            self._depth += 1
            return self._depth == 1 and mark == b"["
        elif mark in b"]}":
            self._depth -= 1
            return self._depth == 0
        return mark == b"," and self._depth == 1

    def _element(self) -> Iterator[_Piece]:
        if self._held.strip():
            yield self._piece(ended=True)

    def _piece(self, *, ended: bool) -> _Piece:
        raw = bytes(self._held)
        blank = len(raw) - len(raw.lstrip())
        return _Piece(self._since + raw.count(b"\n", 0, blank), raw.strip(), ended)


def _text(piece: _Piece, path: Path, *, sure: bool) -> str | Fault:
    """Decode a piece; a first one that is not UTF-8 condemns the file, a later one only itself."""
    try:
        return piece.raw.decode("utf-8")
    except UnicodeDecodeError as error:
        if not piece.ended and error.reason == "unexpected end of data":
            return _cut_short(piece, path)
        if sure:
            return Fault(f"{path}:{piece.number}", "is not UTF-8; this line is left out")
        guess = " (it looks like GBK)" if _is_gbk(piece.raw) else ""
        raise InputError(f"is not UTF-8{guess}; save it as UTF-8", path=path, line=piece.number) from error


def _parsed(text: str, piece: _Piece, path: Path) -> Line | Fault:
    where = f"{path}:{piece.number}"
    try:
        value = _cleaned(_json(text))
    except ValueError as error:
        if not piece.ended and _is_truncated(text):
            return _cut_short(piece, path)
        return Fault(where, f"is not valid JSON ({_problem(error)}); this line is left out")
    except RecursionError:
        return Fault(where, "is nested too deeply; this line is left out")
    if not isinstance(value, dict):
        return Fault(where, f"expected an object, found {found(value)}; this line is left out")
    return Line(value, where)


def _cut_short(piece: _Piece, path: Path) -> Fault:
    return Fault(f"{path}:{piece.number}", "is cut short: the file ends before this object does; it is left out")


def _json(text: str) -> Any:
    """Parse strictly and fast; where that fails, allow what careless writers leave: raw controls, half surrogates."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return json.loads(text, strict=False, parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _is_truncated(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        return "truncated" in str(error) or not text
    return False


def _problem(error: ValueError) -> str:
    """Name the fault without quoting the line: a case's text stays out of messages."""
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg.lower()}, column {error.colno}"
    return str(error) if len(str(error)) <= 60 else "a number is too long"


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_cleaned(one) for one in value]
    if isinstance(value, dict):
        return {clean(key): _cleaned(one) for key, one in value.items()}
    return value


def _is_gbk(raw: bytes) -> bool:
    try:
        raw.decode("gb18030")
    except UnicodeDecodeError:
        return False
    return True
