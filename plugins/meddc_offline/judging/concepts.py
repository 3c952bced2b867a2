"""The body parts and troubles a text names, as concepts, and which of them two texts share."""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from meddc_bench.text import normalise
from meddc_offline.judging.vocabulary_complaints import EVENTS, PARTS

_PART = tuple((name, re.compile(pattern)) for name, pattern in PARTS.items())
_EVENT = tuple((name, re.compile(pattern)) for name, pattern in EVENTS.items())
LOOSE = frozenset(
    {"痛", "乏力", "肿", "麻", "无力", "包块", "出血", "痒", "僵", "破溃", "变色", "发凉", "关节", "脱屑"}
)
"""Events that say little without the part they are at."""
_CONTEXT = re.compile(
    r"(?:除了?|不算)[^,，。?？]{1,10}(?=[,，])|[^,，。?？、]{1,8}?(?:的时候|时候|那会儿|起来的?时|那阵|以后|之后|"
    r"的同时)|[^,，。?？、]{1,6}?(?<!及)(?<!小)(?<!按)(?<!平)(?<!同)时(?!间|不时|常|候|好|而|段)"
)


class Concepts(msgspec.Struct, frozen=True):
    """The parts and events a text names; `events` leaves out what only sets the scene (疼的时候 ...)."""

    parts: frozenset[str]
    events: frozenset[str]
    scene: frozenset[str]


@lru_cache(maxsize=32768)
def concepts(text: str) -> Concepts:
    """Read the concepts of a text."""
    plain = normalise(text)
    scene = " ".join(match.group() for match in _CONTEXT.finditer(plain))
    focus = _CONTEXT.sub(" ", plain)
    return Concepts(
        frozenset(name for name, pattern in _PART if pattern.search(plain)),
        frozenset(name for name, pattern in _EVENT if pattern.search(focus)),
        frozenset(name for name, pattern in _EVENT if scene and pattern.search(scene)),
    )


def shared_events(ours: Concepts, theirs: Concepts) -> frozenset[str]:
    """List the events two texts share; one that needs a part counts where the parts agree or one side names none."""
    common = ours.events & theirs.events
    if not common:
        return common
    if ours.parts and theirs.parts and ours.parts.isdisjoint(theirs.parts):
        return common - LOOSE
    return common
