"""A target taken apart, and what a question has in common with it."""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from meddc_bench.text import normalise
from meddc_offline.judging.concepts import Concepts, concepts
from meddc_offline.judging.needs import Need, need
from meddc_offline.lexicon import Lexicon


class Wanted(msgspec.Struct, frozen=True):
    """A target taken apart: its question's need, and the findings and topics of its question and facts."""

    text: str
    type: str
    question: Need
    findings: frozenset[str]
    wider: frozenset[str]
    topics: frozenset[str]
    complaints: frozenset[str]
    factors: frozenset[str]
    told: tuple[str, ...]
    asks: Concepts
    tells: tuple[Concepts, ...]


@lru_cache(maxsize=4096)
def wanted(text: str, inquiry_type: str, facts: tuple[str, ...]) -> Wanted:
    """Prepare a target once."""
    question, told = need(text), [need(fact) for fact in facts]
    return Wanted(
        text,
        inquiry_type,
        question,
        frozenset().union(*(one.findings for one in told)),
        frozenset().union(question.wider, *(one.wider for one in told)),
        frozenset().union(*(one.topics for one in told)),
        frozenset().union(question.complaints, *(one.complaints for one in told)),
        frozenset().union(*(one.factors for one in told)),
        facts,
        concepts(text),
        tuple(concepts(fact) for fact in facts),
    )


TYPED: dict[str, frozenset[str]] = {
    "onset": frozenset({"when", "manner"}),
    "trigger": frozenset({"cause"}),
    "site": frozenset({"where", "radiate"}),
    "character": frozenset({"quality", "colour", "amount"}),
    "severity": frozenset({"degree", "impact", "temperature", "amount", "frequency"}),
    "course": frozenset({"each", "frequency", "pattern", "progress", "timing", "before", "when"}),
    "prior_care": frozenset({"seen", "tests", "treated", "effect"}),
}
MEDICINES = frozenset(
    {"止痛药", "抗凝药", "降压药", "降糖药", "激素", "抗生素", "中药", "保健品", "避孕药", "安眠药", "新药"}
)
MEASURES = frozenset({"colour", "frequency", "amount", "when", "each", "timing"})
CHIEF = frozenset({"痛", "睡", "食欲", "关节"})
VAGUE = frozenset(
    {"痛", "发凉", "变色", "睡", "食欲", "制动", "防护", "旅居", "洗护", "反应", "关节", "步态", "困", "情绪", "饥饿"}
)


def common_names(unit: Need, target: Wanted, *, facts: bool = True) -> frozenset[str]:
    """List the findings a unit and a target have in common; a more general one counts for its kinds."""
    theirs = target.question.findings | (target.findings if facts else frozenset())
    found = unit.findings & theirs
    found |= unit.findings & (target.wider if facts else target.question.wider)
    found |= theirs & unit.wider
    return found


_BODY = re.compile(r"胸|腹|肚|腰|背|膝|腿|脚|足|肩|眼|耳|咽|喉|嗓|鼻|牙|手|颈|脖|肛|乳|阴|关节|皮")
_ALIKE = {"肚": "腹", "嗓": "喉", "咽": "喉", "足": "脚", "脖": "颈"}


def compatible(unit: Need, target: Wanted) -> bool:
    """Say whether a unit asks about the target's complaint; an elided subject does."""
    ours = unit.complaints
    theirs = target.question.complaints | target.complaints
    if not ours or not theirs or near(ours, theirs):
        return True
    return bool(concepts(unit.text).events & target.asks.events - {"痛"})


def near(ours: frozenset[str], theirs: frozenset[str]) -> bool:
    """Say whether two sets of complaints are alike: shared, one more general, or of the same part of the body."""
    lexicon = Lexicon.load()
    if ours & theirs or any(lexicon.ancestors(name) & theirs for name in ours):
        return True
    if any(lexicon.ancestors(name) & ours for name in theirs):
        return True
    return bool(_parts(ours) & _parts(theirs))


@lru_cache(maxsize=8192)
def _parts(names: frozenset[str]) -> frozenset[str]:
    return frozenset(_ALIKE.get(part, part) for name in names for part in _BODY.findall(name))


def measured_apart(unit: Need, other: Need) -> bool:
    """Say whether two questions measure different things of one topic: its colour, its frequency ..."""
    ours, theirs = unit.aspects & MEASURES, other.aspects & MEASURES
    return bool(ours and theirs and ours.isdisjoint(theirs))


_FILLER = re.compile(
    r"有没有|有无|是否|是不是|会不会|什么|怎么|哪里|时候|您|你|孩子|宝宝|现在|最近|平时|觉得|感觉|出现|过|吗|呢|"
    r"了|的|得|那|这|还|也|就|都|和|跟|或|有|没|会|能|在|是|不|请问|一下|情况|症状|别的|其他|以前|之前|身上|变化|"
    r"明显|样子|正常|一直|突然|慢慢|厉害|颜色|平时|开始|发现|自己|两|一|点|些|1|2|比如"
)


def shared_words(question: str, target: Wanted) -> str | None:
    """Compare the content words of two questions when the lexicon knows none of them."""
    ours, theirs = content_words(question), content_words(target.text)
    common = {word for word in ours if any(word in other for other in theirs)}
    return f"同词 {'、'.join(sorted(common))}" if common else None


@lru_cache(maxsize=8192)
def content_words(text: str) -> frozenset[str]:
    """List the words of a text that are neither filler nor a bare part of the body."""
    parts = _FILLER.sub("|", re.sub(r"[^\w]", "|", normalise(text))).split("|")
    return frozenset(part for part in parts if len(part) >= 2 and not _bare_part(part))


def _bare_part(word: str) -> bool:
    """Say whether a word only names a part of the body."""
    found = concepts(word)
    return bool(found.parts) and not found.events and len(word) <= 3
