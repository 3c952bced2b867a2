"""Facts that share words with a question and are no answer to it: of another part of the body, or of another person."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Protocol

from meddc_bench.records import Fact
from meddc_bench.text import normalise
from meddc_offline.judging.concepts import LOOSE
from meddc_offline.judging.vocabulary_bounds import CARRIED

_LOOSE = frozenset(f"!{name}" for name in LOOSE)
_CARRIED = re.compile(CARRIED)
_OTHERS = re.compile(
    r"^(?!我|俺).*(?:同学|同事|室友|同寝|邻居|工友|队里|班里|(?:老伴|爱人|老公|老婆|媳妇)(?!说|嫌|把|觉得|发现|让|催|给))"
)
_REGIONS = {
    name: frozenset(f"@{part}" for part in parts.split())
    for name, parts in {
        "head": "头 脸 眼 耳 鼻 口 牙 喉",
        "arm": "颈 肩 上肢 背 喉 关节",
        "chest": "胸 心 肺 乳 背",
        "belly": "腹 腰 会阴 阴囊 腹股沟 肛 臀 尿 便 背",
        "leg": "下肢 臀 腰 关节 腹股沟",
    }.items()
}
_EVERYWHERE = frozenset({"@皮", "@腋"})


class Named(Protocol):
    """What a text names: findings, events (marked !) and parts of the body (marked @)."""

    @property
    def findings(self) -> frozenset[str]: ...
    @property
    def events(self) -> frozenset[str]: ...
    @property
    def parts(self) -> frozenset[str]: ...


def of_other_part(item: Named, asked: Named) -> bool:
    """Say whether a question asks only a loose trouble (痛, 肿), and a fact is about another part of the body."""
    here, there = _regions(item.parts), _regions(asked.parts)
    if not (here and there) or here & there or item.findings & asked.findings:
        return False
    return bool(asked.events) and asked.events <= _LOOSE


@lru_cache(maxsize=4096)
def _regions(parts: frozenset[str]) -> frozenset[str]:
    """Name the regions of the body that parts belong to; all of them for the skin."""
    if parts & _EVERYWHERE:
        return frozenset(_REGIONS)
    return frozenset(region for region, names in _REGIONS.items() if parts & names)


def tells_of_others(fact: Fact) -> bool:
    """Say whether a fact tells of somebody else than the patient."""
    return fact.topic == "family" or (fact.topic == "personal" and _OTHERS.search(normalise(fact.text)) is not None)


def asks_of_patient(question: str, kinds: Collection[str]) -> bool:
    """Say whether a normalised question of some inquiry types asks about the patient alone."""
    return not _CARRIED.search(question) and "family" not in kinds and "personal" not in kinds
