"""The floor under a judge's level: what ontologies say of two names, by rules that never lift an unrelated pair.

hierarchy    a subtype and its disorder, or two subtypes of one disorder            core   looked at first
equivalence  two names of one disease, by two ontologies or more                    full
             by one ontology                                                        core
core term    a name that is in no ontology is looked up without its qualifiers;     core
             the same disease then
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from meddc_bench.records import CREDIT, Level
from meddc_bench.text import squash
from meddc_ontology.index import Index, Use
from meddc_ontology.terms import xref

Rule = Literal[
    "equivalence of two ontologies", "equivalence of one ontology", "subtype", "sibling subtypes", "core term"
]

_AROUND = re.compile(r"[(（\[【](?:(?!\bwith\b|伴|合并|并发).)*?[)）\]】]")
_BEFORE = re.compile(
    r"^(?:(?:acute|subacute|chronic|recurrent|relapsing|bilateral|unilateral|left|right|mild|moderate|severe|early|"
    r"advanced|primary|suspected|probable|possible)[\s-]+|急性|亚急性|慢性|复发性|双侧|单侧|左侧?|右侧?|轻度|中度|重度|"
    r"早期|晚期|原发性|疑似|可疑|(?:[1-9]|10)型)"
)
_BEHIND = re.compile(
    r"(?:,?\s+(?:type|stage|grade|class)\s*[0-9ivx]+[a-d]?|,?\s+(?:due to|secondary to)\s.*|,?\s+in remission|"
    r"(?:[1-9ivx]+[a-d]?)(?:期|级|型)|急性期|急性加重期?|缓解期|稳定期)$"
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The floor of a pair and the rule behind it; `resolved` says whether each name was found."""

    level: Level | None
    rule: Rule | None
    resolved: tuple[bool, bool]


@dataclass(slots=True)
class Report:
    """How often the floor found both names, lifted something, and held back; `rules` counts what it rested on."""

    pairs: int = 0
    resolved: int = 0
    raised: int = 0
    rules: Counter[str] = field(default_factory=Counter)

    @property
    def fired(self) -> int:
        """Pairs that got a floor, each by one rule."""
        return self.rules.total()

    @property
    def abstained(self) -> int:
        """Pairs that got none."""
        return self.pairs - self.fired

    def counts(self) -> dict[str, int]:
        """Name the counts as a run's results show them."""
        return {
            "ontology: pairs": self.pairs, "ontology: both names found": self.resolved, "ontology: fired": self.fired,
            "ontology: raised": self.raised, "ontology: abstained": self.abstained,
        }  # fmt: skip

    def add(self, verdict: Verdict, *, raised: bool) -> None:
        """Count a pair; `raised` says that the floor was above the judge's level."""
        self.pairs += 1
        self.resolved += all(verdict.resolved)
        self.raised += raised
        if verdict.rule is not None:
            self.rules[verdict.rule] += 1


def higher(level: Level | None, floor: Level | None) -> Level | None:
    """Return the higher of two levels on null < partial < core < full: a floor raises a level and never lowers it.

    >>> higher("partial", "core"), higher("full", "core"), higher(None, None)
    ('core', 'full', None)
    """
    return max(level, floor, key=lambda one: CREDIT.get(one or "", 0.0))


class Floor:
    """Answers for pairs of names from an index; symmetric, and without effect on anything."""

    def __init__(self, index: Index):
        self._index = index
        self._linked = _links(index)

    def resolve(self, name: str) -> tuple[Use, ...]:
        """Return the terms of a name, at most one an ontology.

        A name that an ontology has for several terms stands for the one whose first name it is, else for none.
        """
        found: dict[int, list[Use]] = {}
        for use in self._index.names.get(squash(name), ()):
            found.setdefault(self._index.source[use.term], []).append(use)
        out = []
        for uses in found.values():
            first = [use for use in uses if use.first]
            chosen = uses if len(uses) == 1 else first
            if len(chosen) == 1:
                out.append(chosen[0])
        return tuple(out)

    def of(self, one: str, other: str) -> Verdict:
        """Return the floor of two names.

        Source: TrustMed-RL section 7.1 and Table 10.
        """
        ours, theirs = self.resolve(one), self.resolve(other)
        resolved = bool(ours), bool(theirs)
        if all(resolved):
            rule = self._related(ours, theirs)
        else:
            rule = self._by_core_terms(one, other, ours, theirs)
        return Verdict(_LEVEL[rule] if rule else None, rule, resolved)

    def best(self, name: str, others: Iterable[str]) -> Verdict:
        """Return the highest floor of a name with any of several; of equal ones the first."""
        return max((self.of(name, other) for other in others), key=lambda one: CREDIT.get(one.level or "", 0.0))

    def _related(self, ours: tuple[Use, ...], theirs: tuple[Use, ...]) -> Rule | None:
        for a in ours:
            for b in theirs:
                if (rule := self._by_hierarchy(a.term, b.term)) is not None:
                    return rule
        supporting = self._supporting(ours, theirs)
        if not supporting:
            return None
        return "equivalence of two ontologies" if len(supporting) > 1 else "equivalence of one ontology"

    def _by_hierarchy(self, a: int, b: int) -> Rule | None:
        """Relate two terms by kind: a subtype to its disorder or to another subtype of it, in any ontology that has both."""
        sibling = False
        for ours in self._same(a):
            for theirs in self._same(b):
                if ours == theirs or self._index.source[ours] != self._index.source[theirs]:
                    continue
                above, below = self._disorders(ours), self._disorders(theirs)
                if theirs in above or ours in below:
                    return "subtype"
                sibling = sibling or bool(above & below)
        return "sibling subtypes" if sibling else None

    def _same(self, term: int) -> list[int]:
        return [term, *sorted(self._linked.get(term, {}))]

    def _disorders(self, term: int) -> set[int]:
        """Return the disorders that a subtype is one of; none for what is no subtype."""
        index = self._index
        if index.kinds[term] != "subtype":
            return set()
        return {one for one in index.parents[term] if index.kinds[one] == "disorder"}

    def _supporting(self, ours: tuple[Use, ...], theirs: tuple[Use, ...]) -> set[str]:
        """Return the ontologies that make two names one disease.

        An ontology that has both for one term; those that attest the synonym, where its term has their cross-reference;
        an ontology whose term cross-refers to the other's, or has its id.
        """
        index = self._index
        found: set[str] = set()
        for a in ours:
            for b in theirs:
                if a.term == b.term:
                    found.add(index.sources[index.source[a.term]].upper())
                    found |= _attesting(a, b)
                else:
                    found |= self._linked.get(a.term, {}).get(b.term, frozenset())
        return found

    def _by_core_terms(self, one: str, other: str, ours: tuple[Use, ...], theirs: tuple[Use, ...]) -> Rule | None:
        """Look a name up again without its qualifiers where it was not found; only the same disease counts then."""
        ours = ours or self.resolve(core_term(one))
        theirs = theirs or self.resolve(core_term(other))
        if not ours or not theirs:
            return None
        groups = any(self._index.kinds[use.term] == "group" for use in (*ours, *theirs))
        return "core term" if not groups and self._supporting(ours, theirs) else None


_LEVEL: dict[Rule, Level] = {
    "equivalence of two ontologies": "full",
    "equivalence of one ontology": "core",
    "subtype": "core",
    "sibling subtypes": "core",
    "core term": "core",
}


def _links(index: Index) -> dict[int, dict[int, frozenset[str]]]:
    """Return, for each term, the terms of other ontologies that it is, and the ontologies that say so."""
    by_id: dict[str, list[int]] = {}
    for term, name in enumerate(index.ids):
        by_id.setdefault(xref(name), []).append(term)
    found: dict[int, dict[int, frozenset[str]]] = {}

    def link(a: int, b: int, saying: int) -> None:
        if index.source[a] != index.source[b]:
            says = frozenset((index.sources[index.source[saying]].upper(),))
            for one, other in ((a, b), (b, a)):
                known = found.setdefault(one, {})
                known[other] = known.get(other, frozenset()) | says

    for same in by_id.values():
        for number, term in enumerate(same):
            for other in same[:number]:
                link(term, other, term)
    for term, others in enumerate(index.xrefs):
        for one in others:
            for other in by_id.get(one, ()):
                link(term, other, term)
    return found


def _attesting(a: Use, b: Use) -> set[str]:
    """Return the ontologies that attest both names; the first name of a term is the one they attest others of."""
    if a.first:
        return set(b.attested)
    return set(a.attested) if b.first else set(a.attested) & set(b.attested)


def core_term(name: str) -> str:
    """Take the qualifiers from a name: course, side, severity, type, stage. What it comes with stays: that is a disease.

    >>> core_term("Acute appendicitis (perforated)"), core_term("右侧肺炎"), core_term("肺炎伴胸腔积液")
    ('appendicitis', '肺炎', '肺炎伴胸腔积液')
    """
    text = _AROUND.sub("", name).strip().lower()
    while (shorter := _BEHIND.sub("", _BEFORE.sub("", text)).strip()) != text:
        if not shorter:
            break
        text = shorter
    return text
