"""Findings that a clause nearly expresses: it holds most telling characters of a known form, in order and close by.

The lexicon finds exact forms; patients say 早上起来眼睛肿得只剩一条缝 where a form says 早上眼皮肿. Lay words are put
into one spelling first (疼 as 痛, 夜里 as 夜), then each form's characters are looked for, weighed by their rarity.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

from meddc_bench.text import clauses, normalise, polarity, squash, subject
from meddc_offline.lexicon import Lexicon

_SPELLING_TABLE = """
痛: 疼; 夜: 夜里 晚上 半夜 夜间; 晨: 早上 早晨 清早 一早; 尿: 小便 解小手 解手 撒尿 排尿
大便: 拉屎 解大便 拉大便; 腹泻: 拉肚子 拉稀; 腹: 肚子 肚皮; 下腹: 小肚; 咽: 嗓子 喉咙; 臂: 胳膊 膀子
发热: 发烧; 高热: 高烧; 低热: 低烧; 头: 脑袋 脑壳; 眼睑: 眼皮; 眼: 眼睛; 耳: 耳朵; 鼻: 鼻子
口: 嘴巴 嘴里 口腔; 呕: 恶心 想吐; 月经: 例假 大姨妈 姨妈; 性生活: 同房; 膝: 膝盖; 臀: 屁股
胸: 胸口 心口; 心慌: 心跳; 气短: 喘不上气 上不来气 气喘; 小腿: 腿肚子 小腿肚; 身: 身上 全身 浑身
疹: 皮疹 红疙瘩 红疹子 疹子; 血: 出血 流血 鲜血; 吃: 吃东西 吃饭 进食; 饮酒: 喝酒; 吸烟: 抽烟
手指: 手指头; 脚趾: 脚指头; 大便后: 拉完; 排不净: 拉不净 没拉完; 走: 走路; 上楼: 爬楼; 休息: 歇
情绪: 心情 心境
: 孩子 宝宝 特别 有点
"""
_SPELLINGS = tuple(
    (lay, plain.strip())
    for plain, words in (entry.split(":") for entry in _SPELLING_TABLE.strip().replace("\n", ";").split(";"))
    for lay in words.split()
)
_DECISIVE = frozenset(
    "左右上下前后高低多少不没无大红黑白黄绿男女早晚夜晨冷热轻重内外单双史家父母药酒烟孕尿便血咳痰喘耳鼻眼牙头腰膝手脚胸腹咽背肩颈腿"
)
_NEGATING = re.compile(r"没有?|不(?!但|仅|光|过)|无|未|否认")
_STOPPING = re.compile(r"但|却|就|可|反")
_REACH = 8
_ENOUGH = 0.76
_MISSABLE = 0.85
_SHORTEST = 3


@dataclass(frozen=True, slots=True)
class Likeness:
    """A finding expressed by a clause: how nearly (0 to 1), and whether as there or not."""

    name: str
    degree: float
    present: bool
    clause: str


class Forms:
    """The forms of the lexicon in one spelling, indexed by character."""

    def __init__(self, lexicon: Lexicon) -> None:
        rows: dict[tuple[str, str], None] = {}
        for finding in lexicon.findings.values():
            for form in (finding.name, *finding.also):
                text = spell(squash(form.replace("…", "")))
                if _SHORTEST <= len(text) <= 12:
                    rows.setdefault((text, finding.name))
        self.rows = list(rows)
        counts = Counter(char for text, _ in self.rows for char in set(text))
        total = len(self.rows) + 1
        self.rarity = {char: math.log(total / count) for char, count in counts.items()}
        self.mass = np.array([sum(self.rarity[char] for char in sorted(set(text))) for text, _ in self.rows] or [1.0])
        where: dict[str, list[int]] = {}
        for number, (text, _) in enumerate(self.rows):
            for char in set(text):
                where.setdefault(char, []).append(number)
        self.where = {char: np.array(numbers) for char, numbers in where.items()}

    def telling(self, form: str, text: str) -> bool:
        """Say whether a text holds the telling characters of a form: none missing is nearly as rare as the rarest."""
        missing = [self.rarity[char] for char in set(form) if char not in text]
        return max(missing, default=0.0) < _MISSABLE * max(self.rarity[char] for char in form)

    def near(self, text: str) -> list[tuple[int, float]]:
        """List the forms most of whose weighed characters a text holds."""
        if not self.rows:
            return []
        held = np.zeros(len(self.rows))
        for char in sorted(set(text)):  # in one order: the sum of floats depends on it
            if (numbers := self.where.get(char)) is not None:
                held[numbers] += self.rarity[char]
        share = held / self.mass
        return [(int(number), float(share[number])) for number in np.flatnonzero(share >= _ENOUGH)]


def spell(text: str) -> str:
    """Put lay words of the same meaning into one spelling."""
    for lay, plain in _SPELLINGS:
        if lay in text:
            text = text.replace(lay, plain)
    return text


@cache
def _forms() -> Forms:
    return Forms(Lexicon.load())


@lru_cache(maxsize=16384)
def likenesses(text: str) -> tuple[Likeness, ...]:
    """Find the findings that the clauses of a patient's text come close to."""
    plain = normalise(text)
    found: dict[str, Likeness] = {}
    for clause in clauses(plain):
        if subject(plain, clause.end - 1, clause.end) != "patient":
            continue
        for likeness in _in_clause(plain, clause.start, clause.text):
            held = found.get(likeness.name)
            if held is None or likeness.degree > held.degree:
                found[likeness.name] = likeness
    return tuple(found.values())


def _in_clause(whole: str, start: int, clause: str) -> list[Likeness]:
    forms = _forms()
    text = spell(squash(clause))
    found = []
    for number, share in forms.near(text):
        form, name = forms.rows[number]
        window = _window(form, text) if forms.telling(form, text) else None
        if window is None:
            continue
        gap = Counter(text[window[0] : window[1]])
        gap.subtract(form)
        denied = any(gap[char] > 0 for char in "没不无未否") or _denied_before(whole, start, clause, text[: window[0]])
        found.append(Likeness(name, share, not denied, clause))
    return found


def _denied_before(whole: str, start: int, clause: str, before: str) -> bool:
    """Say whether a negation stands over the window: in its clause before it, or carried over."""
    for negator in _NEGATING.finditer(before):
        between = before[negator.end() :]
        if len(between) <= _REACH and not _STOPPING.search(between):
            return True
    return polarity(whole, start, start + min(2, len(clause))) == "absent"


def _window(form: str, text: str) -> tuple[int, int] | None:
    """Find where a form's characters stand in order; None when a deciding one is missing or they lie apart."""
    spots: list[int] = []
    at = 0
    for char in form:
        place = text.find(char, at)
        if place < 0:
            if char in _DECISIVE:
                return None
            continue
        spots.append(place)
        at = place + 1
    if len(spots) < max(2, math.ceil(0.7 * len(form))):
        return None
    first, last = _tightened(form, text, spots)
    return (first, last + 1) if last - first + 1 <= 2 * len(form) + 2 else None


def _tightened(form: str, text: str, spots: list[int]) -> tuple[int, int]:
    """Move the first spots as near to the last as they can go."""
    last = spots[-1]
    at = last
    for char in reversed(form[:-1]):
        place = text.rfind(char, 0, at)
        if place >= 0:
            at = place
    return min(at, last), last
