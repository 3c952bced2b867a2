"""A piece of a text with its place, and the cutting of text into sentences and clauses."""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec


class Span(msgspec.Struct, frozen=True):
    """`text` stands at `start:end` of the text it was taken from."""

    start: int
    end: int
    text: str


_STOPS = "。！？!?；;\n"
_MAY_STOP = re.compile(rf"[{_STOPS}…~～.]")
_CLOSERS = "”’」』）)】]\"'"
_OPENERS = {"(": ")", "（": "）", "[": "]", "【": "】", "「": "」", "《": "》"}
_MARKER = re.compile(
    r"\s*(?:[-*•·#>]+\s*|[（(]?\d{1,2}\s*[.、）)．:](?!\d)\s*|[①-⑳]\s*|[（(][一二三四五六七八九十]+[)）]\s*|\*\*)*"
)


def _stops(text: str, at: int) -> bool:
    """Say whether a sentence ends at this character."""
    char = text[at]
    if char in _STOPS:
        return True
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    if char == "…":
        return after != "…"
    if char in "~～":
        return not (before.isdigit() or after.isdigit())
    if char == ".":
        return not before.isdigit() and (not after or after.isspace() or after > "\u2e7f") and not before.isascii()
    return False


def _trimmed(text: str, start: int, end: int) -> Span | None:
    """Drop white space at both ends; None when nothing is left."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start, end, text[start:end]) if end > start else None


@lru_cache(maxsize=16384)
def sentences(text: str) -> tuple[Span, ...]:
    """Cut a text into sentences with their end marks; decimals and list numbers stay whole."""
    found, start, at = [], 0, 0
    while match := _MAY_STOP.search(text, at):
        at = match.end()
        if _stops(text, match.start()):
            while at < len(text) and (text[at] in _CLOSERS or (text[at] in "。！？!?~～…" and text[at - 1] != "\n")):
                at += 1
            found.append(_trimmed(text, start, at))
            start = at
    found.append(_trimmed(text, start, len(text)))
    return tuple(span for span in found if span is not None)


@lru_cache(maxsize=16384)
def clauses(text: str, separators: str = "，,：:") -> tuple[Span, ...]:
    """Cut a text at commas, colons and sentence ends, never inside brackets, numbers or 、-enumerations."""
    found = []
    for sentence in sentences(text):
        start, closers = sentence.start, ""
        for mark in _marks(separators).finditer(text, sentence.start, sentence.end):
            at, char = mark.start(), mark.group()
            if char in _OPENERS:
                closers += _OPENERS[char]
            elif closers and char in closers:
                closers = closers[: closers.index(char)]
            elif not closers and char in separators and not _in_number(text, at):
                found.append(_trimmed(text, start, at))
                start = at + 1
        found.append(_trimmed(text, start, sentence.end))
    return tuple(span for span in found if span is not None)


@lru_cache(maxsize=16)
def _marks(separators: str) -> re.Pattern[str]:
    """Make the pattern of the characters at which clauses may be cut or brackets open and close."""
    return re.compile("[" + re.escape(separators + "".join(_OPENERS) + "".join(_OPENERS.values())) + "]")


def _in_number(text: str, at: int) -> bool:
    return text[at - 1 : at].isdigit() and text[at + 1 : at + 2].isdigit()


def unmarked(text: str, span: Span) -> Span | None:
    """Take a list number, bullet or markdown mark off the front of a span."""
    match = _MARKER.match(text, span.start, span.end)
    return _trimmed(text, match.end() if match else span.start, span.end)
