"""Whether two English names of diseases mean the same: by stems, the handbook's other names, and qualifiers apart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal

from meddc_bench.text import squash
from meddc_bench.text.english import stems, words
from meddc_offline.english.handbook import handbook
from meddc_offline.english.terms import names

Level = Literal["full", "core", "partial"]

_DENIED = re.compile(
    r"\b(?:no|not|without|ruled out|rule out|r/o|unlikely|excluded|excludes?|negative for|normal|healthy|history of)\b",
    re.IGNORECASE,
)
_SEVERAL = re.compile(r"\bor\b|\bversus\b|\bvs\b|\?|\s/\s", re.IGNORECASE)
_HEDGE = re.compile(
    r"^\W*(?:\d{1,2}[.)]\s*)?(?:(?:most\s+)?(?:likely|probable|possible|suspected|presumed|presumptive|consider|"
    r"final|primary|working|acute phase of)\s+)*"
    r"(?:diagnosis\s*(?:is|:)?\s*)?",
    re.IGNORECASE,
)
_QUALIFIERS = frozenset(
    word
    for text in (
        "left right bilateral unilateral acute subacute chronic recurrent severe mild moderate early late advanced "
        "stage grade type",
        "primary secondary idiopathic congenital acquired neonatal newborn infantile juvenile adult senile active "
        "inactive exacerbation",
        "community acquired hospital bacterial viral fungal infectious bronchial pulmonary essential benign "
        "malignant metastatic invasive",
        "localized generalized diffuse disseminated focal unspecified uncomplicated complicated mature in the of "
        "due with involving",
        "corporis cruris capitis pedis manuum faciei unguium",
        "internal external superficial deep ruptured persistent transient intermittent stable unstable postpartum gestational",
    )
    for word in (stem.stem for stem in words(text))
) | {"i", "ii", "iii", "iv"}  # fmt: skip
_OPPOSED: tuple[tuple[str, str], ...] = (
    ("left", "right"), ("acut", "chronic"), ("hyperthyroid", "hypothyroid"), ("bacteri", "viral"), ("primari", "secondari"),
    ("benign", "malign"), ("upper", "lower"), ("1", "2"), ("hyperkalemia", "hypokalemia"), ("hypernatremia", "hyponatremia"),
)  # fmt: skip
_JOIN = re.compile(r"\s+(?:with|and|complicated by|due to|secondary to)\s+|\s*[,;]\s*", re.IGNORECASE)
_EPONYM = re.compile(r"['’]s\b")
_EMPTY = frozenset(
    stem.stem for stem in words("disease disorder syndrome condition infection inflammation tumor cancer mass lesion")
)
"""Heads that name no disease by themselves."""


def grade(prediction: str, reference: str, synonyms: Sequence[str] = ()) -> Level | None:
    """Grade how far a predicted diagnosis corresponds to a reference; None where it does not.

    full: the same name by stems, or another name of it; core: the same but for qualifiers (side, course, cause, stage,
    type); partial: one of the diseases that the reference joins.
    """
    if squash(prediction) in {squash(name) for name in (reference, *synonyms)} - {""}:
        return "full"
    said = _HEDGE.sub("", prediction).strip(" .")
    if not stems(said) or _DENIED.search(said) or (_SEVERAL.search(said) and not _same(said, (reference, *synonyms))):
        return None
    known = all_names((reference, *synonyms))
    mine = all_names((said,))
    if any(_key(one) == _key(other) for one in mine for other in known):
        return "full"
    if any(_alike(one, other) for one in mine for other in known):
        return "core"
    parts = [part for part in _JOIN.split(reference) if stems(part)]
    if len(parts) > 1 and any(_key(one) == _key(part) or _alike(one, part) for one in mine for part in parts):
        return "partial"
    return None


def covers(prediction: str, reference: str, synonyms: Sequence[str] = ()) -> str | None:
    """Say why a prediction covers a reference: it is the same, or says more; None where it does not."""
    level = grade(prediction, reference, synonyms)
    if level == "full":
        return "same"
    if level != "core":
        return None
    said = {_key(one) for one in all_names((_HEDGE.sub("", prediction).strip(" ."),))}
    wanted = {_key(one) for one in (reference, *synonyms)}
    if any(one > other for one in said for other in wanted if other - _EMPTY):
        return "narrower"
    return None


@lru_cache(maxsize=8192)
def all_names(given: tuple[str, ...]) -> tuple[str, ...]:
    """Return names with the other names that the handbook has for the same disease; a kind of it is another disease."""
    found = dict.fromkeys(given)
    keys = {_key(name) for name in given}
    for disease in handbook().values():
        if any(_key(name) in keys for name in (disease.name, *disease.same)):
            found.update(dict.fromkeys((disease.name, *disease.same)))
    return tuple(found)


@lru_cache(maxsize=16384)
def _key(name: str) -> frozenset[str]:
    """Return what a name says, without eponymous 's and words of no content."""
    plain = _EPONYM.sub("", re.sub(r"\([^)]*\)", " ", name)).replace("-", " ")
    return names(plain) or stems(plain)


def _same(said: str, known: Iterable[str]) -> bool:
    return any(_key(said) == _key(one) for one in known)


def _alike(one: str, other: str) -> bool:
    """Say whether two names differ in qualifiers alone, and in none that contradicts the other's."""
    a, b = _key(one), _key(other)
    rest_a, rest_b = a - _QUALIFIERS, b - _QUALIFIERS
    if not rest_a or rest_a != rest_b or rest_a <= _EMPTY:
        return False
    return not any((x in a and y in b) or (y in a and x in b) for x, y in _OPPOSED)
