"""What sets two questions on one topic apart: the occasion, the link, the first or a later place, the side, the substance."""

from __future__ import annotations

import re
from functools import lru_cache

from meddc_bench.text import normalise
from meddc_offline.judging.concepts import concepts
from meddc_offline.judging.needs import Need, need
from meddc_offline.judging.targets import Wanted, content_words
from meddc_offline.judging.vocabulary_bounds import (
    ASKS_TIME,
    BORNE,
    CONCEIVED,
    FIRST,
    HOLDS,
    HOURS,
    LATER,
    LINK,
    OCCASIONS,
    ONE_OR_BOTH,
    SIDES,
    SUBSTANCES,
)

_OCCASION = tuple((name, re.compile(pattern)) for name, pattern in OCCASIONS.items())
_SUBSTANCE = tuple((name, re.compile(pattern)) for name, pattern in SUBSTANCES.items())
_LINK, _HOLDS, _FIRST, _LATER = re.compile(LINK), re.compile(HOLDS), re.compile(FIRST), re.compile(LATER)
_ONE_OR_BOTH, _SIDES = re.compile(ONE_OR_BOTH), re.compile(SIDES)
_HOURS, _ASKS_TIME = re.compile(HOURS), re.compile(ASKS_TIME)
_CONCEIVED, _BORNE = re.compile(CONCEIVED), re.compile(BORNE)


@lru_cache(maxsize=16384)
def occasions(text: str) -> frozenset[str]:
    """Name the acts or times that a text binds a complaint to: 同房, 排便, 吞咽 ..."""
    plain = normalise(text)
    return frozenset(name for name, pattern in _OCCASION if pattern.search(plain))


def occasion_apart(question: str, target: Wanted) -> bool:
    """Say whether a pain is asked at another occasion than the target's, or at one where the target has none."""
    ours = occasions(question)
    asked = concepts(question)
    if not ours or "痛" not in asked.events:
        return False
    theirs = occasions(target.text).union(*(occasions(fact) for fact in target.told))
    if theirs:
        return ours.isdisjoint(theirs)
    return bool(target.asks.parts) and asked.parts.isdisjoint(target.asks.parts)


def linked(question: str, target: Wanted) -> bool:
    """Say whether a unit names what a target asks a link with (跟月经有没有关系); any unit does where it asks none."""
    found = _LINK.search(normalise(target.text))
    if found is None:
        return True
    ours, theirs = need(question), need(found[1])
    return bool(
        ours.topics & theirs.topics
        or ours.factors & theirs.factors
        or concepts(question).events & concepts(found[1]).events
        or content_words(question) & content_words(found[1])
    )


def place_apart(question: str, target: Wanted) -> bool:
    """Say whether one question asks the first place or a side, and the other a later place or the spot."""
    plain, other = normalise(question), normalise(target.text)
    first, theirs = _FIRST.search(plain), _FIRST.search(other)
    later, theirs_later = _LATER.search(plain), _LATER.search(other)
    if first and not later and theirs_later and not theirs:
        return True
    if later and not first and theirs and not theirs_later:
        return True
    return _only_sides(plain) and not any(_SIDES.search(normalise(text)) for text in (other, *target.told))


def _only_sides(plain: str) -> bool:
    """Say whether a question asks which side or how many, and no spot: 是一只眼还是两只眼，哪一只？"""
    rest, number = _ONE_OR_BOTH.subn("", plain)
    return number > 0 and "where" not in need(rest).aspects


@lru_cache(maxsize=16384)
def substances(text: str) -> tuple[str, ...]:
    """Name what a text says comes out, in order; what only holds another (痰里带血) comes last."""
    plain = normalise(text)
    found = [(match.start(), match.end(), name) for name, pattern in _SUBSTANCE for match in pattern.finditer(plain)]
    ordered = sorted(found, key=lambda one: (_HOLDS.match(plain, one[1]) is not None, one[0]))
    return tuple(dict.fromkeys(name for _, _, name in ordered))


def substance_apart(question: str, target: Wanted) -> bool:
    """Say whether a unit is about what comes out, but never the thing the target is about."""
    ours, theirs = substances(question), substances(target.text)
    return bool(ours and theirs) and theirs[0] not in ours


def only_mentions_time(question: str, target: Wanted) -> bool:
    """Say whether a time of day is a mere setting on either side: 晚上能平躺吗, 夜里憋醒有多久了."""
    return not (_ASKS_TIME.search(normalise(question)) and _ASKS_TIME.search(normalise(target.text)))


def asks_hours(question: str) -> bool:
    """Say whether a question is about the time of day: 一天里什么时候咳得厉害？"""
    return _HOURS.search(normalise(question)) is not None


def outcome_only(question: str, target: Wanted, shared: frozenset[str]) -> bool:
    """Say whether a unit shares with a target only what an act may bring on (饭后躺下会咳吗), and not the act."""
    brought = _brought(target.text)
    return (
        bool(shared) and shared <= brought.keys() and not any(need(question).factors & brought[name] for name in shared)
    )


_BRINGS = re.compile(r"会不会|会|就|引起|诱发|引发|加重")


@lru_cache(maxsize=4096)
def _brought(text: str) -> dict[str, frozenset[str]]:
    """Map each event that a text asks as the outcome of an act to the factors of that act."""
    found: dict[str, frozenset[str]] = {}
    for clause in re.split(r"[,，;；。?？]", normalise(text)):
        if not (at := _BRINGS.search(clause)):
            continue
        factors: Need = need(clause[: at.start()])
        if factors.factors:
            for name in concepts(clause[at.start() :]).events:
                found[name] = factors.factors
    return found


def bounded_apart(common: frozenset[str], question: str, target: Wanted) -> bool:
    """Say whether what two questions have in common is asked of another link, place, time of day or substance."""
    if common <= {"cause"} and not linked(question, target):
        return True
    if common <= {"where", "radiate"} and place_apart(question, target):
        return True
    if common <= {"timing"} and target.type in ("course", "onset") and only_mentions_time(question, target):
        return True
    return bool(common & {"colour", "amount", "quality"}) and substance_apart(question, target)


_MOVES = re.compile(
    r"挪|转移|换(?:了|过)?(?:个)?地方|(?:位置|地方|部位).{0,8}[变移换]|"
    r"[变移换].{0,3}(?:位置|地方)|移动|游走|固定"
)


def moves_apart(unit: Need, question: str, target: Wanted) -> bool:
    """Say whether a target asks whether the complaint has moved, and the unit only where it is or spreads to."""
    if not _MOVES.search(target.text) or _MOVES.search(question):
        return False
    return not (target.question.attribute and unit.attribute and "where" in unit.aspects & target.question.aspects)


def conception_apart(question: str, other: str) -> bool:
    """Say whether one asks about a pregnancy now, and the other about children born before."""
    now, then = _CONCEIVED.search(normalise(question)), _BORNE.search(normalise(question))
    theirs, before = _CONCEIVED.search(normalise(other)), _BORNE.search(normalise(other))
    return bool((now and not then and before and not theirs) or (then and not now and theirs and not before))
