"""How well each fact answers a question: topic, findings of the lexicon, plain things and shared wording.

A fact's signals are weighed by a table that was fitted by logistic regression on the target questions and the labelled
pairs of the parts `a` and `b` (bench/judge_pairs), never on part `c`; `other part` and `other person` are set by hand.
bench/patient_pairs.py rates the outcome.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from meddc_bench.records import Fact
from meddc_bench.text import normalise, squash
from meddc_offline.apart import of_other_part, of_other_person
from meddc_offline.evidence import signs
from meddc_offline.inquiry import inquiry_types
from meddc_offline.judging.background import examinations
from meddc_offline.judging.concepts import concepts
from meddc_offline.judging.coverage import covers
from meddc_offline.judging.needs import need
from meddc_offline.judging.targets import wanted
from meddc_offline.lexicon import Lexicon
from meddc_offline.likeness import likenesses, spell
from meddc_offline.thesaurus import named_things

_NEIGHBOURS = {
    ("associated", "site"): 0.4, ("associated", "character"): 0.4, ("associated", "severity"): 0.3,
    ("associated", "course"): 0.3, ("associated", "general"): 0.5, ("general", "associated"): 0.5,
    ("severity", "general"): 0.5, ("severity", "associated"): 0.4, ("severity", "course"): 0.4,
    ("course", "severity"): 0.4, ("course", "onset"): 0.5, ("onset", "course"): 0.5, ("onset", "trigger"): 0.3,
    ("trigger", "onset"): 0.3, ("trigger", "personal"): 0.5, ("personal", "trigger"): 0.5,
    ("trigger", "modifying"): 0.6, ("modifying", "trigger"): 0.6, ("modifying", "course"): 0.3,
    ("prior_care", "medication"): 0.6, ("medication", "prior_care"): 0.6, ("past", "personal"): 0.3,
    ("past", "medication"): 0.3, ("past", "course"): 0.3, ("past", "prior_care"): 0.4, ("prior_care", "past"): 0.4,
    ("character", "associated"): 0.5, ("site", "associated"): 0.5, ("modifying", "associated"): 0.3,
    ("course", "associated"): 0.3, ("personal", "general"): 0.3, ("general", "personal"): 0.3,
    ("personal", "obstetric"): 0.4, ("obstetric", "personal"): 0.4, ("past", "obstetric"): 0.4,
    ("obstetric", "past"): 0.3, ("development", "general"): 0.4, ("general", "development"): 0.3,
    ("development", "past"): 0.4, ("past", "development"): 0.4, ("obstetric", "associated"): 0.2,
    ("course", "past"): 0.3, ("onset", "past"): 0.2,
}  # fmt: skip


_HOLLOW = re.compile(
    r"请问|您好|你好|有没有|有无|有过|是不是|会不会|能不能|要不要|什么|怎么样|怎么|多少|多久|哪里|哪儿|哪个|哪些|哪种|以及|或者|还是|觉得|感觉|时候|现在|最近|平时"
    r"|以前|之前|这次|这个|这种|那个|您|你|我|他|她|它|孩子|宝宝|娃|妈妈|吗|呢|吧|啊|呀|嘛|么|了|的|着|过|得|地|是|有|没|不|在|都|也|就|还|和|跟|与|或|及|到|去|来|说|请"
)
_FAINT = frozenset(
    "会能要上下里一二三两四五六七八九十百几半天年月日周时后前大小多少点个次回些看想做用给对把被让从太很更最又再只别样起来出进开为因所以但可这那哪谁自己人家事情东西方面各每当先才刚"
    "1234567890-如何其他它们啥咋位种类号间内外中间常通老总挺特好坏别的了吗呢吧"
)
_DEFINITE = frozenset({"family", "allergy", "development", "obstetric", "medication", "prior_care"})
_EXISTS = re.compile(r"有没有|有无|是不是|会不会|([一-鿿])不\1|([一-鿿])没\2|吗")
_TYPED = frozenset({"onset", "trigger", "site", "character", "severity", "course", "modifying", "general", "obstetric"})
_VAGUE = frozenset({"!痛", "!变色", "!关节"})
_LATELY = re.compile(
    r"这(几|两)?天|最近|近(来|期|几|半|一)|这次|这回|眼下|前天|昨|今|大前天|上周|上个?(星期|礼拜)|这阵"
    r"|新加|新的"
)
_EARLIER = re.compile(r"以前|去年|前年|小时候|年轻|早年|当年|从前|从来|从没|年前|那年|原来|曾")
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
class Features:
    """What a text offers for matching, by layer: from findings of the lexicon down to single characters."""

    findings: frozenset[str]
    near: frozenset[str]
    broader: frozenset[str]
    things: frozenset[str]
    topics: frozenset[str]
    events: frozenset[str]
    scene: frozenset[str]
    parts: frozenset[str]
    aspects: frozenset[str]
    signs: frozenset[str]
    pairs: frozenset[str]
    chars: frozenset[str]
    tests: frozenset[str]
    past: bool
    recent: bool
    plain: str
    text: str


@dataclass(frozen=True, slots=True)
class Grade:
    """A fact's fit to a question: the log-odds that it answers it, and how much that both name has a part in it."""

    fact: Fact
    score: float
    shared: float


@lru_cache(maxsize=16384)
def features(text: str) -> Features:
    """Extract the matching features of a text."""
    lexicon = Lexicon.load()
    findings = frozenset(mention.name for mention in lexicon.find(text))
    near = frozenset(likeness.name for likeness in likenesses(text)) - findings
    broader = frozenset(name for finding in findings | near for name in lexicon.ancestors(finding))
    plain = normalise(text)
    content = squash(_HOLLOW.sub(" ", spell(plain)))
    telling = lexical_chars()
    pairs = frozenset(pair for pair in map("".join, pairwise(content)) if not _FAINT.issuperset(pair))
    said, asked = concepts(text), need(text)
    return Features(
        findings=findings,
        near=near,
        broader=broader - findings - near,
        things=_marked("=", named_things(plain)),
        topics=_marked(":", asked.topics),
        events=_marked("!", said.events),
        scene=_marked("!", said.scene),
        parts=_marked("@", said.parts),
        aspects=_marked("^", asked.aspects),
        signs=_marked("^", signs(plain)),
        pairs=pairs,
        chars=_marked("'", (char for char in content if char not in _FAINT and char in telling)),
        tests=examinations(text),
        past=asked.past or _EARLIER.search(plain) is not None,
        recent=_LATELY.search(plain) is not None,
        plain=plain,
        text=text,
    )


@cache
def lexical_chars() -> frozenset[str]:
    """List the characters that the names and forms of the findings are written with."""
    findings = Lexicon.load().findings.values()
    return frozenset(spell("".join(form for finding in findings for form in (finding.name, *finding.also))))


@lru_cache(maxsize=65536)
def _covers(question: str, fact: Fact) -> bool:
    return covers(question, wanted(fact.text, fact.topic, (fact.text,))) is not None


def _marked(mark: str, names: Iterable[str]) -> frozenset[str]:
    return frozenset(mark + name for name in names)


class FactIndex:
    """The facts of one case with the rarity of every feature among them."""

    def __init__(self, facts: tuple[Fact, ...]) -> None:
        self.facts = facts
        self._features = tuple(features(fact.text) for fact in facts)
        self._chief = frozenset().union(
            *(item.events | item.findings for fact, item in zip(facts, self._features, strict=True) if fact.opening)
        )
        self._counts: dict[str, int] = {}
        for fact, item in zip(facts, self._features, strict=True):
            layers = (item.findings, item.near, item.broader, item.things, item.topics, item.events | item.scene)
            names = frozenset({f"#{fact.topic}"}).union(*layers, item.parts, item.signs, item.pairs, item.chars)
            for name in names:
                self._counts[name] = self._counts.get(name, 0) + 1
        most = math.log(max(2, len(facts)))
        self._rarity = {name: max(0.0, 1.0 - math.log(count) / most) for name, count in self._counts.items()}

    def rarity(self, name: str) -> float:
        """Weigh a feature by how few of the facts have it: 1 for one fact, falling to 0 when all have it."""
        return self._rarity.get(name, 1.0)

    def grade(self, question: str, part: str | None = None) -> list[Grade]:
        """Grade every fact as an answer to a question, or to a part of it, best first (ties in recorded order)."""
        grades = [
            Grade(fact, sum(WEIGHTS.get(name, 0.0) * value for name, value in signals.items()), signals["evidence"])
            for fact, signals in zip(self.facts, self.signals(question, part), strict=True)
        ]
        return sorted(grades, key=lambda grade: -grade.score)

    def signals(self, question: str, part: str | None = None) -> list[dict[str, float]]:
        """Take the signals of every fact as an answer to a question, or to a part of it."""
        asked, weights = features(part or question), type_weights(question)
        pairs = zip(self.facts, self._features, strict=True)
        rows = [{**self._signals(fact, item, asked, weights), "part": float(part is not None)} for fact, item in pairs]
        for name in _RELATIVE:
            best = max((row[name] for row in rows if not row["other person"]), default=0.0)
            for row in rows:
                row[f"{name} lead"] = min(0.0, row[name] - best)
        return rows

    def _signals(self, fact: Fact, item: Features, asked: Features, weights: Mapping[str, float]) -> dict[str, float]:
        fit = topic_fit(fact.topic, weights)
        named = bool(asked.events | asked.findings | asked.things)
        events = item.events | item.scene
        same = float(weights.get(fact.topic, 0.0) == 1.0)
        typed = fact.topic in _TYPED
        elided = (asked.events | asked.findings) <= self._chief
        aspects = len(item.signs & asked.aspects) / max(1, len(asked.aspects))
        row = {
            "bias": 1.0,
            "fit": fit,
            "rare fit": fit * self.rarity(f"#{fact.topic}"),
            "unnamed fit": fit * (not named),
            "same type": same,
            "definite": float(fact.topic in _DEFINITE and fact.topic not in weights),
            "family": float(weights.get("family", 0.0) >= 0.7 and fact.topic != "family"),
            "identity": float(fact.topic == "identity"),
            "opening": float(fact.opening),
            "denied": float(fact.denied and _EXISTS.search(asked.plain) is not None),
            "denied asked": float(fact.denied and _EXISTS.search(asked.plain) is None),
            "exact": self._root(item.findings & asked.findings),
            "near": self._root((item.near & (asked.findings | asked.near)) | (item.findings & asked.near)),
            "wider": self._root((item.broader & asked.findings) | (item.findings & asked.broader)),
            "things": self._root(item.things & asked.things),
            "topics": self._root(item.topics & asked.topics),
            "events": self._root(events & asked.events),
            "parts": self._root(item.parts & asked.parts),
            "apart": float(bool(item.parts and asked.parts and item.parts.isdisjoint(asked.parts))),
            "other part": float(of_other_part(item, asked)),
            "other person": float(of_other_person(fact, asked.plain, weights)),
            "pairs": self._root(item.pairs & asked.pairs),
            "chars": self._root(item.chars & asked.chars),
            "aspects": aspects,
            "typed fit": fit * typed,
            "typed same": same * typed,
            "typed aspects": aspects * typed,
            "typed aspects same": aspects * typed * same,
            "elided same": same * typed * elided,
            "elided aspects": same * typed * elided * aspects,
            "elided other": float(elided and not same and fact.topic == "associated"),
            "missed aspects": float(bool(asked.aspects) and asked.aspects.isdisjoint(item.signs)),
            "vague parts": self._root(item.parts & asked.parts) * (asked.events <= _VAGUE and not asked.findings),
            "lead type": float(next(iter(weights), None) == fact.topic),
            "missed topic": float(bool(asked.topics) and asked.topics.isdisjoint(item.topics)),
            "missed thing": float(bool(asked.things) and asked.things.isdisjoint(item.things)),
            "fact share": self._share(item.pairs | item.chars, asked.pairs | asked.chars),
            "fact events": len(item.events & asked.events) / max(1, len(item.events)),
            "all events": len(events & asked.events) / max(1, len(asked.events)),
            "past": float(asked.past and item.past),
            "past apart": float(asked.past and not item.past),
            "recent": float(asked.recent and item.recent),
            "recent apart": float(asked.recent and item.past and not item.recent),
            "past untold": float(item.past and not asked.past),
            "tests": float(bool(asked.tests & item.tests)),
            "tests untold": float(bool(asked.tests and not item.tests)),
            "judged": float(fact.topic != "identity" and _covers(asked.text, fact)),
        }
        shared = (
            row["exact"] + row["near"] + row["wider"] + row["things"] + row["events"] + row["pairs"] + row["topics"]
        )
        row["shared"] = shared
        row["evidence"] = shared + row["parts"] + row["chars"]
        row["shared fit"] = shared * fit
        row["unshared"] = float(shared == 0.0)
        return row

    def _share(self, asked: frozenset[str], said: frozenset[str]) -> float:
        """Give the share of a question's wording, weighed by rarity, that a fact holds."""
        known = [name for name in asked if name in self._counts]
        total = sum(map(self.rarity, sorted(known)))
        return sum(map(self.rarity, sorted(asked & said))) / total if total else 0.0

    def _root(self, names: frozenset[str]) -> float:
        """Damp a sum of evidence: the second shared word says less than the first."""
        return math.sqrt(sum(self.rarity(name) for name in sorted(names)))


_RELATIVE = ("shared", "fit", "chars", "shared fit")


def type_weights(question: str) -> dict[str, float]:
    """Weigh the inquiry types of a question relative to the strongest."""
    types = inquiry_types(normalise(question))
    top = max(types.values(), default=1.0)
    return {kind: value / top for kind, value in types.items()}


def topic_fit(topic: str, weights: Mapping[str, float]) -> float:
    """Say how well a fact of a topic suits a question of the weighted types, 0 to 1."""
    best = 0.0
    for kind, weight in weights.items():
        fit = 1.0 if kind == topic else _NEIGHBOURS.get((kind, topic), 0.0)
        best = max(best, weight * fit)
    return best


@lru_cache(maxsize=256)
def index(facts: tuple[Fact, ...]) -> FactIndex:
    """Index the facts of a case once."""
    return FactIndex(facts)
