"""The question units the judge counts: the clauses of one sentence that ask one need make one unit."""

from __future__ import annotations

import re
from functools import lru_cache

from meddc_bench.text import Unit, question_units
from meddc_offline.judging.needs import Need, need

_OF_THE_COMPLAINT = frozenset({"when", "manner", "degree", "progress"})
"""Aspects that a clause without a topic asks of the chief complaint: 多久了，有没有发烧？ are two needs."""
_SENTENCE_END = re.compile(r"[。？！?!；;\n]|\d[.、)）]")


@lru_cache(maxsize=16384)
def need_units(text: str) -> tuple[Unit, ...]:
    """Cut a doctor's turn into units, and join clauses of one sentence unless both name topics of different kinds.

    A clause without a topic of its own (结果怎么样？) asks on; so does one on the same kind of topic (有没有咳嗽，痰多吗？).
    """
    units: list[Unit] = []
    for unit in question_units(text):
        if units and _asks_on(text, units[-1], unit):
            start = units[-1].start
            units[-1] = Unit(text[start : unit.end], start, unit.end)
        else:
            units.append(unit)
    return tuple(units)


def _asks_on(text: str, before: Unit, unit: Unit) -> bool:
    if _SENTENCE_END.search(text[before.end - 1 : unit.start]):
        return False
    asked, more = need(before.quote), need(unit.quote)
    if _kinds(asked) and _kinds(more):
        return bool(_kinds(asked) & _kinds(more))
    return not (asked.aspects & _OF_THE_COMPLAINT and more.findings and not more.aspects)


def _kinds(one: Need) -> frozenset[str]:
    """Name the kinds of topic a question is about: a finding, the past, the family, a plain topic's group."""
    kinds = set(one.groups)
    if one.past:
        kinds.add("past")
    if one.findings:
        kinds.add("finding")
    return frozenset(kinds)
