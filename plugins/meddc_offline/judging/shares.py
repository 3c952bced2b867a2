"""What a unit asks of a target beyond its aspect: a part of a bundle, a state, a place by its name, trouble at an act."""

from __future__ import annotations

import re
from functools import lru_cache

from meddc_bench.text import normalise
from meddc_offline.judging.bounds import occasion_apart, occasions, outcome_only
from meddc_offline.judging.concepts import LOOSE, concepts, shared_events
from meddc_offline.judging.needs import Need, need
from meddc_offline.judging.targets import CHIEF, VAGUE, Wanted
from meddc_offline.judging.vocabulary_bounds import ASKS_WHETHER, ELSEWHERE, HOW, PLACED, STATE

_ELSEWHERE = re.compile(ELSEWHERE)


def same_act(question: str, target: Wanted) -> frozenset[str]:
    """Name the acts of an organ at which both ask for trouble, where a fact tells of pain at it: 咽东西疼吗, 咽得顺不顺."""
    if "痛" not in concepts(question).events or not any("痛" in told.events for told in target.tells):
        return frozenset()
    return occasions(question) & occasions(target.text) & _ACTS


_ACTS = frozenset({"排便", "排尿", "同房", "吞咽"})


def asks_state(unit: Need, question: str, target: Wanted) -> frozenset[str]:
    """Name the thing of which a target asks what it is like, and a unit whether it is so: 尿线细不细, 听力有没有下降."""
    if unit.attribute or target.type not in _STATED or not _HOW.search(normalise(target.text)):
        return frozenset()
    shared = concepts(question).events & target.asks.events - LOOSE - CHIEF - VAGUE
    return shared if _STATE.search(normalise(question)) else frozenset()


_STATED = frozenset({"character", "severity"})
_HOW, _STATE = re.compile(HOW), re.compile(STATE)


def component(unit: Need, question: str, target: Wanted) -> frozenset[str]:
    """Name what a unit asks of the part of a bundled target that only asks whether: 肚子痛不痛，具体痛在哪个位置？"""
    if (
        unit.attribute
        or unit.aspects - _SETTINGS
        or unit.past != target.question.past
        or occasion_apart(question, target)
    ):
        return frozenset()
    ours = concepts(question)
    for clause in _whether_clauses(target.text):
        if unit.factors and (factors := need(clause).factors) and unit.factors.isdisjoint(factors):
            continue
        theirs = concepts(clause)
        shared = shared_events(ours, theirs)
        shared |= ours.events & theirs.scene & _POSTURES
        shared -= VAGUE - {"痛"} if ours.parts & theirs.parts else LOOSE | VAGUE
        if shared and not outcome_only(question, target, shared):
            return shared
    return frozenset()


@lru_cache(maxsize=4096)
def _whether_clauses(text: str) -> tuple[str, ...]:
    """List the clauses of a target with several that only ask whether something is there."""
    clauses = [clause for clause in re.split(r"[,，;；。?？]", normalise(text)) if clause]
    if len(clauses) < 2:
        return ()
    return tuple(one for one in clauses if _WHETHER.search(one) and _plain(need(one)))


def _plain(one: Need) -> bool:
    return not one.attribute and one.aspects <= _SETTINGS


_POSTURES = frozenset({"端坐"})
_SETTINGS = frozenset({"impact", "timing"})
_WHETHER = re.compile(ASKS_WHETHER)


def elsewhere(question: str, target: Wanted) -> frozenset[str]:
    """List what both questions ask of the rest of the body: 是不是全身都肿？ and 别处肿不肿？"""
    if not (_ELSEWHERE.search(normalise(question)) and _ELSEWHERE.search(normalise(target.text))):
        return frozenset()
    return concepts(question).events & target.asks.events


_ON_SKIN = frozenset({"疹", "痒", "肿", "痛", "脱屑", "麻"})
_PLACED = re.compile(PLACED)
_NOT_WHERE = frozenset({"when", "frequency", "cause", "manner", "quality", "degree", "progress", "pattern", "each"})


def spreads(unit: Need, question: str, target: Wanted) -> frozenset[str]:
    """List the parts a yes-or-no unit names of those the facts tell beyond the target's question: 屁股、大腿疼不疼？"""
    ours = concepts(question)
    told = frozenset().union(*(one.parts for one in target.tells)) - target.asks.parts
    alike = ours.events & target.asks.events.union(*(one.events for one in target.tells))
    if not alike and not target.asks.events and ours.events & _ON_SKIN:
        alike = ours.events if _PLACED.search(normalise(question)) else alike
    return ours.parts & told if alike and not unit.aspects & _NOT_WHERE else frozenset()
