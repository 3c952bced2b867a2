"""How well each fact answers a question: topic, findings of the lexicon, plain things and shared wording.

A fact's signals are weighed by a table that was fitted by logistic regression on the target questions and the labelled
pairs of the parts `a` and `b` (bench/judge_pairs), never on part `c`; `other part` and `other person` are set by hand.
bench/patient_pairs.py rates the outcome.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from meddc_bench.records import Fact
from meddc_offline.apart import asks_of_patient, of_other_part, tells_of_others
from meddc_offline.features import Features, features
from meddc_offline.judging.coverage import covers
from meddc_offline.judging.targets import wanted
from meddc_offline.topics import topic_fit, type_weights

_DEFINITE = frozenset({"family", "allergy", "development", "obstetric", "medication", "prior_care"})
_EXISTS = re.compile(r"有没有|有无|是不是|会不会|([一-鿿])不\1|([一-鿿])没\2|吗")
_TYPED = frozenset({"onset", "trigger", "site", "character", "severity", "course", "modifying", "general", "obstetric"})
_VAGUE = frozenset({"!痛", "!变色", "!关节"})
WEIGHTS: dict[str, float] = {
    "bias": -4.37,
    "fit": 1.05,
    "rare fit": 1.71,
    "unnamed fit": 1.70,
    "same type": -0.44,
    "definite": -0.70,
    "family": -0.78,
    "identity": -0.40,
    "opening": -4.80,
    "denied": -1.02,
    "denied asked": -1.46,
    "exact": 0.07,
    "near": 0.38,
    "wider": 0.19,
    "things": 0.70,
    "topics": -0.62,
    "events": 0.49,
    "parts": 0.25,
    "apart": -0.45,
    "other part": -3.0,
    "other person": -3.0,
    "pairs": -0.47,
    "chars": 0.79,
    "aspects": 0.11,
    "typed fit": -0.58,
    "typed same": 0.15,
    "typed aspects": 0.29,
    "typed aspects same": 0.76,
    "elided same": 0.36,
    "elided aspects": -0.14,
    "elided other": -0.47,
    "missed aspects": -0.52,
    "vague parts": 1.24,
    "lead type": 0.80,
    "missed topic": 0.44,
    "missed thing": 0.72,
    "fact share": 2.65,
    "fact events": 0.78,
    "all events": -1.19,
    "past": 0.95,
    "past apart": -0.28,
    "recent": 0.49,
    "recent apart": -0.67,
    "past untold": -0.20,
    "tests": -0.51,
    "tests untold": 0.45,
    "judged": 1.51,
    "shared": 0.74,
    "shared fit": -0.29,
    "unshared": -0.52,
    "part": -1.43,
    "shared lead": 0.69,
    "fit lead": 0.62,
    "chars lead": 0.53,
    "shared fit lead": 0.74,
}


@dataclass(frozen=True, slots=True)
class Grade:
    """A fact's fit to a question: the log-odds that it answers it."""

    fact: Fact
    score: float


@lru_cache(maxsize=65536)
def _covers(question: str, text: str, topic: str) -> bool:
    return covers(question, wanted(text, topic, (text,))) is not None


_LAYERS: Mapping[str, Callable[[Features], frozenset[str]]] = {
    "findings": lambda item: item.findings,
    "near": lambda item: item.near,
    "broader": lambda item: item.broader,
    "things": lambda item: item.things,
    "topics": lambda item: item.topics,
    "events": lambda item: item.events | item.scene,
    "parts": lambda item: item.parts,
    "words": lambda item: item.pairs | item.chars,
}
_ALIKE = ("exact", "near", "wider", "things", "events", "pairs", "topics")
"""Signals that show together that a fact and a question speak of the same."""
_RELATIVE = ("shared", "fit", "chars", "shared fit")
"""Signals that also count by how far they fall behind those of the best fact."""
_NAMED = ("exact", "near", "wider", "things", "topics", "events", "parts")
_WORDED = ("pairs", "chars")
_ROUNDING = 1e-6
_LEADS = tuple(f"{name} lead" for name in _RELATIVE)
_Shared = dict[str, float]


class _Kind(NamedTuple):
    """What holds of all facts of a topic as answers to a question, and what that adds to their scores."""

    fit: float
    same: float
    leading: bool
    score: float


class FactIndex:
    """The facts of one case, by their features, with the rarity of every feature among them."""

    def __init__(self, facts: tuple[Fact, ...]) -> None:
        self.facts = facts
        self._features = tuple(features(fact.text) for fact in facts)
        self._others = tuple(tells_of_others(fact) for fact in facts)
        self._chief = frozenset().union(
            *(item.events | item.findings for fact, item in zip(facts, self._features, strict=True) if fact.opening)
        )
        self._with: dict[str, dict[str, list[int]]] = {name: {} for name in _LAYERS}
        counts: dict[str, int] = {}
        for number, (fact, item) in enumerate(zip(facts, self._features, strict=True)):
            layers = {name: layer(item) for name, layer in _LAYERS.items()}
            for name, held in layers.items():
                for feature in held:
                    self._with[name].setdefault(feature, []).append(number)
            for feature in frozenset({f"#{fact.topic}"}).union(item.signs, *layers.values()):
                counts[feature] = counts.get(feature, 0) + 1
        most = math.log(max(2, len(facts)))
        self._rarity = {name: max(0.0, 1.0 - math.log(count) / most) for name, count in counts.items()}
        self._mass = tuple(sum(map(self.rarity, sorted(item.pairs | item.chars))) for item in self._features)

    def rarity(self, name: str) -> float:
        """Weigh a feature by how few of the facts have it: 1 for one fact, falling to 0 when all have it."""
        return self._rarity.get(name, 1.0)

    def grade(self, question: str, part: str | None, *, floor: float, evidence: Mapping[str, float]) -> list[Grade]:
        """Grade the facts as answers to a question, or to a part of it, best first (ties in recorded order).

        Left out are the facts below the floor, and those that share less with the question than their topic takes.
        Terms are added in one order: the weights have two decimals, so that scores do meet the floor and the margin.
        """
        asked, weights = features(part or question), type_weights(question)
        kinds = {topic: self._kind(topic, asked, weights) for topic in {fact.topic for fact in self.facts}}
        shared = self._shared(asked)
        alone = asks_of_patient(asked.plain, weights)
        leads = [_relative(one, kinds[fact.topic].fit) for fact, one in zip(self.facts, shared, strict=True)]
        own = [lead for lead, other in zip(leads, self._others, strict=True) if not (alone and other)]
        best = [max(values) for values in zip(*own, strict=True)] or [0.0] * len(_RELATIVE)
        grades = []
        for number, (fact, one, lead) in enumerate(zip(self.facts, shared, leads, strict=True)):
            if lead[0] + one.get("parts", 0.0) + lead[2] < evidence.get(fact.topic, 0.0):
                continue
            signals = self._signals(number, asked, kinds[fact.topic], one, alone and self._others[number])
            terms = [kinds[fact.topic].score, *[WEIGHTS[name] * value for name, value in signals]]
            rest = [WEIGHTS[name] * value for name, value in _standing(lead, best, part)]
            if sum(terms) + sum(rest) + WEIGHTS["judged"] < floor - _ROUNDING:
                continue
            if fact.topic != "identity" and _covers(asked.text, fact.text, fact.topic):
                terms.append(WEIGHTS["judged"])
            if (score := sum(terms + rest)) >= floor:
                grades.append(Grade(fact, score))
        return sorted(grades, key=lambda grade: -grade.score)

    def _kind(self, topic: str, asked: Features, weights: Mapping[str, float]) -> _Kind:
        fit, same = topic_fit(topic, weights), float(weights.get(topic, 0.0) == 1.0)
        signals = [("bias", 1.0), ("fit", fit), ("rare fit", fit * self.rarity(f"#{topic}"))]
        if not (asked.events or asked.findings or asked.things):
            signals.append(("unnamed fit", fit))
        signals.append(("same type", same))
        if topic in _DEFINITE and topic not in weights:
            signals.append(("definite", 1.0))
        if topic != "family" and weights.get("family", 0.0) >= 0.7:
            signals.append(("family", 1.0))
        if topic == "identity":
            signals.append(("identity", 1.0))
        leading = next(iter(weights), None) == topic
        return _Kind(fit, same, leading, sum([WEIGHTS[name] * value for name, value in signals]))

    def _shared(self, asked: Features) -> list[_Shared]:
        """Weigh what each fact has in common with a question, layer by layer; a layer with nothing is left out."""
        found: list[_Shared] = [{} for _ in self.facts]
        named, near = asked.findings, asked.findings | asked.near
        self._gather(found, "exact", ("findings", named))
        self._gather(found, "near", ("near", near), ("findings", asked.near))
        self._gather(found, "wider", ("broader", named), ("findings", asked.broader))
        for layer, names in (("things", asked.things), ("topics", asked.topics), ("events", asked.events)):
            self._gather(found, layer, (layer, names))
        self._gather(found, "parts", ("parts", asked.parts))
        self._gather(found, "pairs", ("words", asked.pairs))
        self._gather(found, "chars", ("words", asked.chars))
        self._gather(found, "fact share", ("words", asked.pairs | asked.chars), root=False)
        return found

    def _gather(
        self, found: list[_Shared], signal: str, *sought: tuple[str, frozenset[str]], root: bool = True
    ) -> None:
        """Add up the rarity of what facts hold of the names sought; damped, as the second shared word says less."""
        sums: dict[int, float] = {}
        hits = [
            (name, self._with[layer][name])
            for layer, names in sought
            if names
            for name in names
            if name in self._with[layer]
        ]
        for name, numbers in sorted(hits):
            for number in numbers:
                sums[number] = sums.get(number, 0.0) + self._rarity[name]
        for number, total in sums.items():
            if root:
                found[number][signal] = math.sqrt(total)
            else:
                found[number][signal] = total / self._mass[number] if self._mass[number] else 0.0

    def _signals(
        self, number: int, asked: Features, kind: _Kind, shared: _Shared, other: bool
    ) -> list[tuple[str, float]]:
        """Take the signals of one fact as an answer, but for those of its topic and of its standing among the facts."""
        fact, item = self.facts[number], self._features[number]
        found: list[tuple[str, float]] = []
        if fact.opening:
            found.append(("opening", 1.0))
        if fact.denied:
            found.append(("denied" if _EXISTS.search(asked.plain) else "denied asked", 1.0))
        if shared:
            found += [(name, shared[name]) for name in _NAMED if name in shared]
        if item.parts and asked.parts and "parts" not in shared:
            found.append(("apart", 1.0))
        if asked.parts and of_other_part(item, asked):
            found.append(("other part", 1.0))
        if other:
            found.append(("other person", 1.0))
        if shared:
            found += [(name, shared[name]) for name in _WORDED if name in shared]
        found += self._aspects(fact, item, asked, kind)
        found += _names(item, asked, kind, shared)
        found += _times(item, asked)
        if asked.tests:
            if asked.tests & item.tests:
                found.append(("tests", 1.0))
            elif not item.tests:
                found.append(("tests untold", 1.0))
        return found

    def _aspects(self, fact: Fact, item: Features, asked: Features, kind: _Kind) -> list[tuple[str, float]]:
        aspects = len(item.signs & asked.aspects) / max(1, len(asked.aspects)) if asked.aspects else 0.0
        elided = (asked.events | asked.findings) <= self._chief
        found = [("aspects", aspects)] if aspects else []
        if fact.topic in _TYPED:
            found += [("typed fit", kind.fit), ("typed same", kind.same), ("typed aspects", aspects)]
            found.append(("typed aspects same", aspects * kind.same))
            found += [("elided same", kind.same * elided), ("elided aspects", kind.same * elided * aspects)]
        if elided and not kind.same and fact.topic == "associated":
            found.append(("elided other", 1.0))
        if asked.aspects and not aspects:
            found.append(("missed aspects", 1.0))
        return found


def _names(item: Features, asked: Features, kind: _Kind, shared: _Shared) -> list[tuple[str, float]]:
    found: list[tuple[str, float]] = []
    if "parts" in shared and asked.events <= _VAGUE and not asked.findings:
        found.append(("vague parts", shared["parts"]))
    if kind.leading:
        found.append(("lead type", 1.0))
    if asked.topics and "topics" not in shared:
        found.append(("missed topic", 1.0))
    if asked.things and "things" not in shared:
        found.append(("missed thing", 1.0))
    if "fact share" in shared:
        found.append(("fact share", shared["fact share"]))
    if "events" in shared:
        found.append(("fact events", len(item.events & asked.events) / max(1, len(item.events))))
        found.append(("all events", len((item.events | item.scene) & asked.events) / len(asked.events)))
    return found


def _times(item: Features, asked: Features) -> list[tuple[str, float]]:
    found: list[tuple[str, float]] = []
    if asked.past:
        found.append(("past" if item.past else "past apart", 1.0))
    if asked.recent and (item.recent or item.past):
        found.append(("recent" if item.recent else "recent apart", 1.0))
    if item.past and not asked.past:
        found.append(("past untold", 1.0))
    return found


def _relative(shared: _Shared, fit: float) -> tuple[float, float, float, float]:
    """Give the signals of `_RELATIVE` of one fact."""
    if not shared:
        return 0.0, fit, 0.0, 0.0
    alike = sum([shared[name] for name in _ALIKE if name in shared])
    return alike, fit, shared.get("chars", 0.0), alike * fit


def _standing(
    lead: tuple[float, float, float, float], best: Sequence[float], part: str | None
) -> list[tuple[str, float]]:
    """Take the signals of how a fact stands among the facts."""
    found = [("shared", lead[0]), ("shared fit", lead[3])] if lead[0] else [("unshared", 1.0)]
    if part is not None:
        found.append(("part", 1.0))
    return found + [(name, value - most) for name, value, most in zip(_LEADS, lead, best, strict=True) if value < most]


@lru_cache(maxsize=256)
def index(facts: tuple[Fact, ...]) -> FactIndex:
    """Index the facts of a case once."""
    return FactIndex(facts)
