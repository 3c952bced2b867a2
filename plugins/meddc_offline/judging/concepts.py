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
    {"痛", "乏力", "肿", "麻", "无力", "包块", "出血", "痒", "僵", "破溃", "变色", "发凉", "关节", "脱屑", "疹", "舌"}
)
"""Events that say little without the part they are at."""
_ANYWHERE = frozenset({"皮"})
"""Parts that are all over the body, so that they set no other part apart."""
_CONTEXT = re.compile(
    r"(?:除了?|不算)[^,，。?？]{1,10}(?=[,，])|[^,，。?？、]{1,8}?(?:的时候|时候|那会儿|起来的?时|那阵|以后|之后|"
    r"的同时)|[跟和与同][^,，。?？]{1,8}?(?:有没有|有无|有|没)(?:什么|啥|多大|直接)?关|"
    r"[^,，。?？、]{0,6}?[疼痛晕咳喘烧肿吐拉抽痒疹病作服热血](?:起来|来|发作|开始|出现)?(?:[之以]前|前(?![面列额半后]|"
    r"[1一2两几]))"
    r"(?!(?:也|都)?(?:有没有过|有过|犯过|得过|出现过|发生过|发作过|[?？,，]|$))|"
    r"[^,，。?？、]{0,3}[吐拉吃喝尿便咳]完(?!了)|[疼痛肿痒麻](?:着|得)?的(?:地方|部位|位置|那[块边儿片])|"
    r"[^,，。?？、]{1,6}?(?<!及)(?<!小)(?<!按)(?<!平)(?<!同)时(?!间|不时|常|候|好|而|段)"
)

_BESIDES = re.compile(r"除了?[^,，。?？]{1,6}[,，](?=.{0,4}[胸腹心头腰背腿手脚眼耳])")
"""A part named only to be left out, before another is asked: 除了嗓子，胸口有什么不舒服？"""


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
    focus, whole = _CONTEXT.sub(" ", plain), _BESIDES.sub(" ", plain)
    return Concepts(
        frozenset(name for name, pattern in _PART if pattern.search(whole)),
        frozenset(name for name, pattern in _EVENT if pattern.search(focus)),
        frozenset(name for name, pattern in _EVENT if scene and pattern.search(scene)),
    )


def shared_events(ours: Concepts, theirs: Concepts) -> frozenset[str]:
    """List the events two texts share; one that needs a part counts where the parts agree or one side names none."""
    common = ours.events & theirs.events
    if not common:
        return common
    here, there = ours.parts - _ANYWHERE, theirs.parts - _ANYWHERE
    if here and there and here.isdisjoint(there):
        return common - LOOSE
    return common
