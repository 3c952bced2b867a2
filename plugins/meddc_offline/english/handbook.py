"""The handbook of common diseases: what speaks for each, and which of them a chart supports."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import msgspec

from meddc_offline.english.chart import Chart
from meddc_offline.english.terms import WEAK, load, names, weight

ENOUGH = 4.0
"""The support below which no disease is named."""
_DENIED = 0.4
_PARTLY = 0.6
_MOST = 0.66


class Disease(msgspec.Struct, frozen=True):
    """One disease: its findings by phrase with their weights, 1 to 4; its tests, as ids of the catalogue; whom it befalls.

    `same` are other names of just this disease, `also` names under which a kind of it goes; `age` is in years.
    """

    name: str
    findings: dict[str, float]
    tests: tuple[str, ...]
    same: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    sex: str = ""
    age: tuple[float, float] = (0, 150)


class Supported(msgspec.Struct, frozen=True):
    """A disease with the phrases that speak for it and their worth."""

    disease: Disease
    support: dict[str, float]
    score: float


@lru_cache(maxsize=1)
def handbook() -> Mapping[str, Disease]:
    """Read the diseases, by name."""
    rows = [row for name in ("diseases_a.yaml", "diseases_b.yaml", "diseases_skin.yaml") for row in load(name)]
    found = msgspec.convert(rows, tuple[Disease, ...], strict=False)
    return {one.name: one for one in found}


@lru_cache(maxsize=4096)
def _phrase(phrase: str) -> tuple[bool, frozenset[str]]:
    """Return whether a finding is the absence of something, and its terms."""
    return phrase.startswith("absent "), names(phrase)


@lru_cache(maxsize=1024)
def ranked(chart: Chart) -> tuple[Supported, ...]:
    """Rank the diseases that a chart supports at all, the best first."""
    present, absent = _Said(chart.present), _Said(chart.absent)
    rows = [one for disease in handbook().values() if (one := _weighed(disease, chart, present, absent)) is not None]
    return tuple(sorted(rows, key=lambda one: (-round(one.score, 6), one.disease.name)))


class _Said:
    """The sentences of one polarity, and all their terms at once, which rule most findings out."""

    def __init__(self, sentences: tuple[frozenset[str], ...]):
        self._sentences = tuple(dict.fromkeys(sentences))
        self._all = frozenset().union(*sentences)

    def holds(self, wanted: frozenset[str]) -> bool:
        """Say whether one sentence holds all terms of a finding."""
        return wanted <= self._all and any(wanted <= sentence for sentence in self._sentences)

    def share(self, wanted: frozenset[str]) -> float:
        """Return 1 where one sentence holds all terms of a finding, less where it holds most and two that say something."""
        if self.holds(wanted):
            return 1.0
        if len(wanted - WEAK) < 2 or len(wanted) < 3:
            return 0.0
        enough = _MOST * sum(map(weight, wanted))
        if sum(map(weight, wanted & self._all)) < enough:
            return 0.0
        return _PARTLY if any(_mostly(wanted & sentence, enough) for sentence in self._sentences) else 0.0


def _mostly(held: frozenset[str], enough: float) -> bool:
    return len(held - WEAK) > 1 and sum(map(weight, held)) >= enough


def named(chart: Chart, most: int) -> list[Supported]:
    """Return the diseases worth naming: the best, and close ones that explain what it leaves open."""
    rows = [one for one in ranked(chart) if sum(one.support.values()) >= ENOUGH]
    chosen: list[Supported] = []
    for one in rows[: 2 * most]:
        if not chosen or (one.score >= 0.85 * chosen[0].score and _adds(one, chosen[0])):
            chosen.append(one)
    return chosen[:most]


def _adds(one: Supported, first: Supported) -> bool:
    known = frozenset().union(*(_phrase(phrase)[1] for phrase in first.support))
    return any(not _phrase(phrase)[1] <= known for phrase in one.support)


def _weighed(disease: Disease, chart: Chart, present: _Said, absent: _Said) -> Supported | None:
    if chart.age is not None and not disease.age[0] <= chart.age <= disease.age[1]:
        return None
    if disease.sex and chart.female is not None and (disease.sex == "female") != chart.female:
        return None
    support: dict[str, float] = {}
    against = 0.0
    for phrase, worth in disease.findings.items():
        missing, wanted = _phrase(phrase)
        share = (absent if missing else present).share(wanted)
        if share:
            support[phrase] = worth * share
        elif not missing and absent.holds(wanted):
            against += worth
    total = sum(support.values())
    if not total:
        return None
    whole = sum(sorted(disease.findings.values(), reverse=True)[:5])
    return Supported(disease, support, total * (0.6 + 0.4 * min(1.0, total / whole)) - _DENIED * against)
