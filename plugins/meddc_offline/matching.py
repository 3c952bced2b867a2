"""How well each fact answers a question: topic, findings of the lexicon, plain things and shared wording."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from meddc_bench.records import Fact
from meddc_bench.text import normalise, squash
from meddc_offline.inquiry import inquiry_types
from meddc_offline.lexicon import Lexicon
from meddc_offline.likeness import likenesses
from meddc_offline.thesaurus import named_things

_HOLLOW = re.compile(
    r"请问|您好|你好|有没有|有无|有过|是不是|会不会|能不能|要不要|什么|怎么样|怎么|多少|多久|哪里|哪儿|哪个|哪些|哪种|以及|或者|还是|觉得|感觉|时候|现在|最近|平时"
    r"|以前|之前|这次|这个|这种|那个|您|你|我|他|她|它|孩子|宝宝|娃|妈妈|吗|呢|吧|啊|呀|嘛|么|了|的|着|过|得|地|是|有|没|不|在|都|也|就|还|和|跟|与|或|及|到|去|来|说|请"
)
_FAINT = frozenset(
    "会能要上下里一二三两四五六七八九十百几半天年月日周时后前大小多少点个次回些看想做用给对把被让从太很更最又再只别样起来出进开为因所以但可这那哪谁自己人家事情东西方面各每当先才刚"
    "1234567890如何其他它们啥咋位种类号间内外中间常通老总挺特好坏别的了吗呢吧"
)
TOPIC, RARE_TOPIC, EXACT, NEAR, WIDER, THING, PAIR, CHAR = 0.7, 0.95, 0.85, 0.85, 0.65, 1.25, 0.75, 0.46
OWN_TOPIC, FAMILY, DEFINITE, SAID = 0.4, 0.7, 0.4, 2.0
_DEFINITE = frozenset({"family", "allergy", "development", "obstetric", "medication", "prior_care"})
_SELF_TOPICS = frozenset({"family", "allergy", "obstetric", "development"})
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


@dataclass(frozen=True, slots=True)
class Features:
    """What a text offers for matching: findings said, nearly said, implied; things; characters and their pairs."""

    findings: frozenset[str]
    near: frozenset[str]
    broader: frozenset[str]
    things: frozenset[str]
    pairs: frozenset[str]
    chars: frozenset[str]


@dataclass(frozen=True, slots=True)
class Grade:
    """A fact's fit to a question: its score, and the part that shared words and findings have in it."""

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
    content = squash(_HOLLOW.sub(" ", plain))
    pairs = frozenset(pair for pair in map("".join, pairwise(content)) if not _FAINT.issuperset(pair))
    chars = frozenset(f"'{char}" for char in content if char not in _FAINT)
    return Features(findings, near, broader - findings - near, named_things(plain), pairs, chars)


class FactIndex:
    """The facts of one case with the rarity of every feature among them."""

    def __init__(self, facts: tuple[Fact, ...]) -> None:
        self.facts = facts
        self._features = tuple(features(fact.text) for fact in facts)
        self._counts: dict[str, int] = {}
        for fact in facts:
            self._counts[f"#{fact.topic}"] = self._counts.get(f"#{fact.topic}", 0) + 1
        for item in self._features:
            for name in (
                item.findings
                | item.near
                | item.broader
                | {f"={thing}" for thing in item.things}
                | item.pairs
                | item.chars
            ):
                self._counts[name] = self._counts.get(name, 0) + 1

    def rarity(self, name: str) -> float:
        """Weigh a feature by how few of the facts have it: 1 for one fact, falling to 0 when all have it."""
        total = max(2, len(self.facts))
        return max(0.0, 1.0 - math.log(self._counts.get(name, 1)) / math.log(total))

    def grade(self, question: str, part: str | None = None) -> list[Grade]:
        """Grade every fact as an answer to a question, or to a part of it, best first (ties in recorded order)."""
        asked = features(part or question)
        weights = type_weights(question)
        grades = [
            self._grade(fact, item, asked, weights) for fact, item in zip(self.facts, self._features, strict=True)
        ]
        return sorted(grades, key=lambda grade: -grade.score)

    def _grade(self, fact: Fact, item: Features, asked: Features, weights: dict[str, float]) -> Grade:
        fit = topic_fit(fact.topic, weights)
        topic = fit * (TOPIC + RARE_TOPIC * self.rarity(f"#{fact.topic}"))
        if (fact.topic in _SELF_TOPICS and fact.topic not in weights) or fact.topic == "identity":
            topic = -OWN_TOPIC
        if weights.get("family", 0.0) >= 0.7 and fact.topic != "family":
            topic = -FAMILY
        bonus = DEFINITE if fact.topic in _DEFINITE and weights.get(fact.topic, 0.0) == 1.0 else 0.0
        if fact.opening:
            bonus -= SAID
        shared = self._shared(item, asked)
        return Grade(fact, topic + bonus + shared, shared)

    def _shared(self, item: Features, asked: Features) -> float:
        exact = self._sum(item.findings & asked.findings)
        near = self._sum((item.near & (asked.findings | asked.near)) | (item.findings & asked.near))
        wider = self._sum((item.broader & asked.findings) | (item.findings & asked.broader))
        things = self._sum({f"={thing}" for thing in item.things & asked.things})
        pairs = self._sum(item.pairs & asked.pairs)
        chars = self._sum(item.chars & asked.chars)
        named = EXACT * root(exact) + NEAR * root(near) + WIDER * root(wider)
        return named + THING * root(things) + PAIR * root(pairs) + CHAR * root(chars)

    def _sum(self, names: Iterable[str]) -> float:
        return sum(self.rarity(name) for name in sorted(names))


def root(total: float) -> float:
    """Damp a sum of evidence: the second shared word says less than the first."""
    return math.sqrt(total)


def type_weights(question: str) -> dict[str, float]:
    """Weigh the inquiry types of a question relative to the strongest."""
    types = inquiry_types(normalise(question))
    top = max(types.values(), default=1.0)
    return {kind: value / top for kind, value in types.items()}


def topic_fit(topic: str, weights: dict[str, float]) -> float:
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
