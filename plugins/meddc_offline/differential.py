"""The scoring that reader and doctor share: how well each disease of the knowledge explains a chart.

score = sum of weight x rarity x strength over the findings present
        - ABSENT x the same over the findings denied - AGAINST x weight of findings that speak against
        - misfits of age and onset, divided by (total weight of the disease) ** SPREAD
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

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


class Engine:
    """The diseases of the knowledge, indexed by finding."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.diseases: dict[str, Any] = dict(lexicon.diseases)
        self.lexicon = lexicon
        self.by_finding: dict[str, list[str]] = {}
        self.by_against: dict[str, list[str]] = {}
        for name, disease in self.diseases.items():
            for finding in disease.findings:
                self.by_finding.setdefault(finding, []).append(name)
            for finding in disease.against:
                self.by_against.setdefault(finding, []).append(name)
        self.below: dict[str, set[str]] = {}
        for finding in self.by_finding:
            for wider in lexicon.ancestors(finding):
                self.below.setdefault(wider, set()).add(finding)
        total = max(2, len(self.diseases))
        self.rarity = {
            finding: 0.3 + 0.7 * (1.0 - math.log(len(names)) / math.log(total))
            for finding, names in self.by_finding.items()
        }
        self.mass = {name: self._mass(disease) for name, disease in self.diseases.items()}

    def _mass(self, disease: Any) -> float:
        total = sum(weight * self.rarity[finding] for finding, weight in disease.findings.items())
        return float(max(1.0, total) ** SPREAD) / _SCALE

    def rank(self, chart: Chart, only: Mapping[str, float] | None = None) -> list[Candidate]:
        """Rank the diseases that some finding supports, best first (ties by name)."""
        present = chart.present if only is None else only
        denied = self.denied(chart)
        names = {name for finding in present for name in self.by_finding.get(finding, ())}
        names.update(name for name in chart.reported if name in self.diseases)
        candidates = (self._candidate(name, chart, present, denied) for name in names)
        return sorted((c for c in candidates if c.score > 0), key=lambda c: (-round(c.score, 9), c.name))

    def _candidate(self, name: str, chart: Chart, present: Mapping[str, float], denied: frozenset[str]) -> Candidate:
        disease = self.diseases[name]
        if not possible(disease, chart):
            return Candidate(name, 0.0)
        support = {
            finding: weight * self.rarity[finding] * present[finding] * (CHIEF if finding in chart.chief else 1.0)
            for finding, weight in disease.findings.items()
            if finding in present
        }
        missing = sum(w * self.rarity[f] for f, w in disease.findings.items() if f in denied)
        hostile = tuple(finding for finding in disease.against if finding in chart.present)
        points = sum(support.values()) - ABSENT * missing - AGAINST * sum(disease.against[f] for f in hostile)
        key = not disease.key or any(finding in present for finding in disease.key)
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


def possible(disease: Any, chart: Chart) -> bool:
    """Rule out diseases of the other sex, and those of pregnancy where nothing speaks of one."""
    if disease.sex is not None and chart.sex is not None and disease.sex != chart.sex:
        return False
    return disease.department != "产科" or (chart.sex != "男" and _PREGNANT.search(chart.text) is not None)


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
