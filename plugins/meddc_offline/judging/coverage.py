"""Whether a doctor's question asks the information need of a target."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from meddc_bench.text import question_units, same, similarity
from meddc_offline.judging.background import (
    allergy,
    development,
    family,
    general,
    medication,
    obstetric,
    past,
    personal,
    prior_care,
)
from meddc_offline.judging.bounds import occasion_apart
from meddc_offline.judging.complaints import associated, modifying, named_alike, trigger, typed
from meddc_offline.judging.needs import Need, need
from meddc_offline.judging.shares import component
from meddc_offline.judging.targets import Wanted, wanted


@lru_cache(maxsize=65536)
def verdict(question: str, text: str, inquiry_type: str, facts: tuple[str, ...]) -> str | None:
    """Say why a question covers the target of this text, type and facts; None when it does not."""
    return covers(question, wanted(text, inquiry_type, facts))


_LONG, _MANY = 400, 40


def covers(question: str, target: Wanted) -> str | None:
    """Say why a question, or one unit of it, covers a target; None when it does not."""
    if same(question, target.text):
        return "同一问题"
    units = [unit.quote[:_LONG] for unit in question_units(question)[:_MANY]]
    for text in (question[:_LONG], *units) if len(units) > 1 else (question[:_LONG],):
        if (reason := _covers(text, target)) is not None:
            return reason
    return None


_OTHERS = re.compile(
    r"(?:您|你)?的?(?:老伴|爱人|老公|丈夫|妻子|老婆|同事|同学|邻居|朋友)(?!.{0,3}(?:说|发现|听|觉得|看))"
)
_COMPARED = re.compile(r"(?:两[只边条侧个]|左右?|右边?).{0,8}血压|血压.{0,8}(?:一样|两边|左右|两只|两侧|差)")
"""The pressure of two arms compared: a sign of now, no history of hypertension."""
_OF_COMPLAINT = frozenset({"associated", "onset", "site", "character", "severity", "course"})
_BUNDLED = frozenset({"onset", "site", "character", "severity", "course", "modifying"})
_LAST = re.compile(r"(?:上|这|最近)[一1]?(?:回|次)(?!来|月经|例假)")


def _covers(question: str, target: Wanted) -> str | None:
    unit = need(question)
    if unit.open and not target.question.open:
        return None
    if unit.sides and target.question.sides and unit.sides.isdisjoint(target.question.sides):
        return None
    if unit.family != (target.type == "family" or target.question.family) and not (
        target.type == "personal" and "接触" in unit.topics | target.question.topics
    ):
        return None
    if (
        _OTHERS.search(question)
        and not _OTHERS.search(target.text)
        and target.type not in ("personal", "family", "associated")
    ):
        return None
    if _COMPARED.search(question) and not any(_COMPARED.search(text) for text in (target.text, *target.told)):
        return None
    if _LAST.search(question) and not _LAST.search(target.text) and target.type in ("onset", "course"):
        return None
    if target.type in _OF_COMPLAINT and occasion_apart(question, target):
        return None
    reason = _RULES.get(target.type, typed)(unit, question, target) or named_alike(unit, question, target)
    if reason is None and target.type in _BUNDLED and (parts := component(unit, question, target)):
        return f"同问其中 {'、'.join(sorted(parts))}"
    if (
        reason is None
        and similarity(question, target.text) >= 0.8
        and unit.aspects == target.question.aspects
        and unit.topics == target.question.topics
        and unit.findings == target.question.findings
        and unit.complaints == target.question.complaints
    ):
        return "问法相近"
    return reason


_RULES: dict[str, Callable[[Need, str, Wanted], str | None]] = {
    "trigger": trigger,
    "modifying": modifying,
    "associated": associated,
    "general": general,
    "past": past,
    "medication": medication,
    "allergy": allergy,
    "personal": personal,
    "obstetric": obstetric,
    "development": development,
    "family": family,
    "prior_care": prior_care,
}
