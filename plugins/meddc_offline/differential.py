"""The scoring that reader and doctor share: how well each disease of the knowledge explains a chart.

score = sum of weight x rarity x strength over the findings present
        - ABSENT x the same over the findings denied - AGAINST x weight of findings that speak against
        - misfits of age and onset, divided by (total weight of the disease) ** SPREAD
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from operator import itemgetter
from typing import Any, NamedTuple

from meddc_offline.chart import Chart, is_child
from meddc_offline.lexicon import Lexicon

ABSENT = 0.5
AGAINST = 0.8
CHIEF = 1.35
NO_KEY = 0.45
AGE_STEP = 0.12
ONSET_MISS = 0.85
SPREAD = 0.45
REPORTED = 12.0
KNOWN = 0.6
NOT_A_CHILD = 0.35
_SCALE = 3.0
_PREGNANT = re.compile(r"孕(?!酮)|怀(了|上|着)|停经|胎|产检|预产|末次月经")
_ADJACENT = {
    ("急性", "亚急性"),
    ("亚急性", "急性"),
    ("亚急性", "慢性"),
    ("慢性", "亚急性"),
    ("反复", "慢性"),
    ("慢性", "反复"),
}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A disease with its score and the findings that support it or speak against it, with their points."""

    name: str
    score: float
    support: Mapping[str, float] = field(default_factory=dict)
    against: tuple[str, ...] = ()
    key: bool = False


class _Weighed(NamedTuple):
    """A disease as it is scored: its findings with weight x rarity, and what speaks against it or is its key."""

    findings: tuple[tuple[str, float], ...]
    names: frozenset[str]
    against: tuple[tuple[str, float], ...]
    key: frozenset[str]


class Engine:
    """The diseases of the knowledge, indexed by finding."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.diseases: dict[str, Any] = dict(lexicon.diseases)
        self.lexicon = lexicon
        self.by_finding: dict[str, list[str]] = {}
        self.by_against: dict[str, list[str]] = {}
        self.by_key: dict[str, list[str]] = {}
        for name, disease in self.diseases.items():
            for finding in disease.findings:
                self.by_finding.setdefault(finding, []).append(name)
            for finding in disease.against:
                self.by_against.setdefault(finding, []).append(name)
            for finding in disease.key:
                self.by_key.setdefault(finding, []).append(name)
        self.below: dict[str, set[str]] = {}
        for finding in self.by_finding:
            for wider in lexicon.ancestors(finding):
                self.below.setdefault(wider, set()).add(finding)
        total = max(2, len(self.diseases))
        self.rarity = {
            finding: 0.3 + 0.7 * (1.0 - math.log(len(names)) / math.log(total))
            for finding, names in self.by_finding.items()
        }
        self._weighed = {name: self._weigh(disease) for name, disease in self.diseases.items()}
        self.mass = {name: _mass(weighed) for name, weighed in self._weighed.items()}

    def _weigh(self, disease: Any) -> _Weighed:
        findings = tuple((name, weight * self.rarity[name]) for name, weight in disease.findings.items())
        return _Weighed(findings, frozenset(disease.findings), tuple(disease.against.items()), frozenset(disease.key))

    def rank(self, chart: Chart, only: Mapping[str, float] | None = None) -> list[Candidate]:
        """Rank the diseases that some finding supports, best first (ties by name)."""
        present = chart.present if only is None else only
        denied = self.denied(chart)
        names = self.supported(chart, present)
        return _ordered([_placed(self.candidate(name, chart, present, denied)) for name in names])

    def supported(self, chart: Chart, present: Mapping[str, float]) -> set[str]:
        """Name the diseases that a finding supports or a report states."""
        names = {name for finding in present for name in self.by_finding.get(finding, ())}
        names.update(name for name in chart.reported if name in self.diseases)
        return names

    def candidate(self, name: str, chart: Chart, present: Mapping[str, float], denied: frozenset[str]) -> Candidate:
        """Score one disease."""
        disease = self.diseases[name]
        if not possible(disease, chart):
            return Candidate(name, 0.0)
        weighed, chief = self._weighed[name], chart.chief
        support = {
            finding: weight * present[finding] * (CHIEF if finding in chief else 1.0)
            for finding, weight in weighed.findings
            if finding in present
        }
        points = sum(support.values())
        if not denied.isdisjoint(weighed.names):
            points -= ABSENT * sum([weight for finding, weight in weighed.findings if finding in denied])
        hostile: tuple[str, ...] = ()
        if weighed.against and (against := [one for one in weighed.against if one[0] in chart.present]):
            hostile = tuple(finding for finding, _ in against)
            points -= AGAINST * sum([weight for _, weight in against])
        key = not weighed.key or not present.keys().isdisjoint(weighed.key)
        fit = (1.0 if key else NO_KEY) * age_fit(disease.age, chart) * onset_fit(disease.onset, chart.onset)
        if name in chart.reported:
            points += REPORTED
        elif name in chart.known and not chart.examined:
            fit *= KNOWN
        return Candidate(name, points * fit / self.mass[name], support, hostile, key)

    def denied(self, chart: Chart) -> frozenset[str]:
        """Name the findings that the patient denied, themselves or in a broader one."""
        names = set(chart.absent).union(*(self.below.get(name, ()) for name in chart.absent))
        return frozenset(names - chart.present.keys())


class Ranking:
    """The differential of one consultation: from chart to chart it scores again what something new bears on."""

    def __init__(self, knowledge: Engine) -> None:
        self._knowledge = knowledge
        self._chart = Chart()
        self._denied: frozenset[str] = frozenset()
        self._held: dict[str, tuple[tuple[float, str], Candidate]] = {}

    def rank(self, chart: Chart) -> list[Candidate]:
        """Rank like `Engine.rank`."""
        knowledge, denied = self._knowledge, self._knowledge.denied(chart)
        held = self._held if _alike(chart, self._chart) else {}
        for name in self._moved(chart, denied) if held else ():
            held.pop(name, None)
        self._held = {
            name: held.get(name) or _placed(knowledge.candidate(name, chart, chart.present, denied))
            for name in knowledge.supported(chart, chart.present)
        }
        self._chart, self._denied = chart, denied
        return _ordered(self._held.values())

    def _moved(self, chart: Chart, denied: frozenset[str]) -> set[str]:
        """Name the diseases on which what is there, denied, complained of, reported or known bears otherwise than before."""
        knowledge, before = self._knowledge, self._chart
        findings = {name for name, _ in chart.present.items() ^ before.present.items()}
        findings |= (chart.chief ^ before.chief) | (denied ^ self._denied)
        tables = (knowledge.by_finding, knowledge.by_against, knowledge.by_key)
        moved = {name for finding in findings for table in tables for name in table.get(finding, ())}
        moved.update(set(chart.reported) ^ set(before.reported), set(chart.known) ^ set(before.known))
        return moved.union(chart.known) if chart.examined != before.examined else moved


def _placed(candidate: Candidate) -> tuple[tuple[float, str], Candidate]:
    """Put its place before a candidate: best first, ties by name."""
    return (-round(candidate.score, 9), candidate.name), candidate


def _ordered(placed: Iterable[tuple[tuple[float, str], Candidate]]) -> list[Candidate]:
    """List the candidates that have a score in order."""
    return [candidate for _, candidate in sorted(placed, key=itemgetter(0)) if candidate.score > 0]


def _alike(one: Chart, other: Chart) -> bool:
    """Say whether two charts agree in what bears on every disease: age, sex, course and pregnancy."""
    return (one.age, one.sex, one.onset, is_child(one), _pregnant(one.text)) == (
        other.age, other.sex, other.onset, is_child(other), _pregnant(other.text)
    )  # fmt: skip


def _mass(weighed: _Weighed) -> float:
    total = sum(weight for _, weight in weighed.findings)
    return float(max(1.0, total) ** SPREAD) / _SCALE


def possible(disease: Any, chart: Chart) -> bool:
    """Rule out diseases of the other sex, and those of pregnancy where nothing speaks of one."""
    if disease.sex is not None and chart.sex is not None and disease.sex != chart.sex:
        return False
    return disease.department != "产科" or (chart.sex != "男" and _pregnant(chart.text))


@lru_cache(maxsize=1024)
def _pregnant(text: str) -> bool:
    return _PREGNANT.search(text) is not None


def age_fit(span: Any, chart: Chart) -> float:
    """Fall from 1 inside a disease's typical range by the distance from it, relative to the age."""
    if span is None:
        return 1.0
    low, high = float(span[0]), float(span[1])
    if chart.age is None:
        return NOT_A_CHILD if high <= 14 and not is_child(chart) else 1.0
    if low <= chart.age <= high:
        return 1.0
    gap = (low - chart.age) / max(1.0, low) if chart.age < low else (chart.age - high) / max(2.0, high)
    return max(0.15, 1.0 - AGE_STEP * 10.0 * gap)


@lru_cache(maxsize=4096)
def onset_fit(typical: Any, onset: frozenset[str]) -> float:
    """Give 1 where the course suits the disease, less where it does not, nothing lost where it is unknown."""
    if not typical or not onset or onset & set(typical):
        return 1.0
    near = any((own, seen) in _ADJACENT for own in typical for seen in onset)
    return (1.0 + ONSET_MISS) / 2 if near else ONSET_MISS - 0.1


@cache
def engine() -> Engine:
    """Load the knowledge once."""
    return Engine(Lexicon.load())
