"""What a fact or a question offers for matching, by layer: findings, plain things, parts, times, wording."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from meddc_bench.text import normalise, squash
from meddc_offline.evidence import signs
from meddc_offline.judging.background import examinations
from meddc_offline.judging.concepts import concepts
from meddc_offline.judging.needs import need
from meddc_offline.lexicon import Lexicon
from meddc_offline.likeness import likenesses, spell
from meddc_offline.thesaurus import named_things

_HOLLOW = re.compile(
    r"请问|您好|你好|有没有|有无|有过|是不是|会不会|能不能|要不要|什么|怎么样|怎么|多少|多久|哪里|哪儿|哪个|哪些|哪种|以及|或者|还是|觉得|感觉|时候|现在|最近|平时"
    r"|以前|之前|这次|这个|这种|那个|您|你|我|他|她|它|孩子|宝宝|娃|妈妈|吗|呢|吧|啊|呀|嘛|么|了|的|着|过|得|地|是|有|没|不|在|都|也|就|还|和|跟|与|或|及|到|去|来|说|请"
)
_FAINT = frozenset(
    "会能要上下里一二三两四五六七八九十百几半天年月日周时后前大小多少点个次回些看想做用给对把被让从太很更最又再只别样起来出进开为因所以但可这那哪谁自己人家事情东西方面各每当先才刚"
    "1234567890-如何其他它们啥咋位种类号间内外中间常通老总挺特好坏别的了吗呢吧"
)
_LATELY = re.compile(
    r"这(几|两)?天|最近|近(来|期|几|半|一)|这次|这回|眼下|前天|昨|今|大前天|上周|上个?(星期|礼拜)|这阵"
    r"|新加|新的"
)
_EARLIER = re.compile(r"以前|去年|前年|小时候|年轻|早年|当年|从前|从来|从没|年前|那年|原来|曾")


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


def _marked(mark: str, names: Iterable[str]) -> frozenset[str]:
    return frozenset(mark + name for name in names)
