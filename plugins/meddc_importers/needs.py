"""Information needs: which one a fact meets, and the question a clinician would ask for it.

A fact is read by rules, in order; the first that fits names its need. Facts of one need make one target, so that asking for
it once is enough and asking three times gains nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from meddc_bench.records import InquiryType


@dataclass(frozen=True, slots=True)
class Need:
    """One information need: a name that is an id, what kind of inquiry it is, and the question that asks for it."""

    name: str
    topic: InquiryType
    question: str
    asks: re.Pattern[str]


def need(name: str, topic: InquiryType, question: str, pattern: str) -> Need:
    """Make a need; its pattern is in small letters and is looked for in a text of small letters."""
    return Need(name, topic, question, re.compile(pattern))


Needs = tuple[Need, ...]
Classify = Callable[[str], Need]


@lru_cache(maxsize=4)
def _table(language: str) -> Needs:
    if language == "zh":
        from meddc_importers.needs_zh import NEEDS
    else:
        from meddc_importers.needs_en import NEEDS
    return NEEDS


@lru_cache(maxsize=4096)
def need_of(text: str, language: str) -> Need:
    """Name the need that a fact meets: that of the first rule that fits, else other symptoms.

    >>> need_of("The rash started 3 weeks ago.", "en").name, need_of("对青霉素过敏。", "zh").name
    ('onset', 'allergy')
    """
    small = text.casefold()
    return next((one for one in _table(language) if one.asks.search(small)), other(language))


def other(language: str) -> Need:
    """Return the need of what no rule knows."""
    return _table(language)[-1]
