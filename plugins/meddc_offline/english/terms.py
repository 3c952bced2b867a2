"""Terms of an English text: stems, with expressions of one meaning brought to one term, each affirmed or denied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from meddc_bench import yamlfile
from meddc_bench.text.english import is_denied, words

_FOLDER = Path(__file__).parent
WEAK = frozenset(
    " ".join(
        (
            "pain histori problem symptom recent chang left right signific previous prior episod condit abnorm",
            "normal sever mild day week month year time past present area part bodi feel experienc notic report",
            "last medic family mother father other new old good bad first side upper lower part sign diseas",
            "disord",
        )
    ).split()
)
"""Stems that say little by themselves."""


class Term(msgspec.Struct, frozen=True):
    """A term of a text and where it stands; `denied` where the text says that it is not there."""

    name: str
    start: int
    end: int
    denied: bool


def load(name: str) -> Any:
    """Read a data file of this package."""
    return yamlfile.load(_FOLDER / name).data


@lru_cache(maxsize=1)
def _expressions() -> Mapping[str, tuple[tuple[tuple[str, ...], str], ...]]:
    """Return the expressions of the thesaurus by their first stem, the longest first, each with its term."""
    found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for line in load("synonyms.yaml"):
        term = "_".join(word.stem for word in words(line[0]))
        for expression in line:
            key = tuple(word.stem for word in words(expression))
            if key:
                found.setdefault(key[0], []).append((key, term))
    return {first: tuple(sorted(set(rows), key=lambda row: (-len(row[0]), row))) for first, rows in found.items()}


@lru_cache(maxsize=16384)
def terms(text: str) -> tuple[Term, ...]:
    """Return the terms of a text in order."""
    return tuple(_terms(text))


def _terms(text: str) -> Iterator[Term]:
    found, at = words(text), 0
    while at < len(found):
        here = found[at]
        name, used = here.stem, 1
        for key, term in _expressions().get(here.stem, ()):
            if tuple(word.stem for word in found[at : at + len(key)]) == key:
                name, used = term, len(key)
                break
        yield Term(name, here.start, found[at + used - 1].end, is_denied(text, here.start))
        at += used


@lru_cache(maxsize=16384)
def names(text: str) -> frozenset[str]:
    """Return the terms of a text, whether affirmed or denied.

    >>> names("trouble breathing") == names("Dyspnea")
    True
    """
    return frozenset(term.name for term in terms(text))


@lru_cache(maxsize=16384)
def told(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the terms that a text affirms, and those that it denies and nowhere affirms."""
    affirmed = frozenset(term.name for term in terms(text) if not term.denied)
    return affirmed, frozenset(term.name for term in terms(text) if term.denied) - affirmed


def weight(name: str) -> float:
    """Return how much a shared term says: little where everything may share it."""
    return 0.25 if name in WEAK else 1.5 if "_" in name else 1.0


def shared(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the weight of the terms that two texts share."""
    return sum(weight(name) for name in one & other)
