"""Findings that a clause expresses in words close to a known form: most of its telling characters, in order, near each other.

The lexicon finds exact forms; patients say 早上起来眼睛肿得只剩一条缝 where a form says 早上眼皮肿. Lay words are first put
into one spelling (疼 as 痛, 夜里 as 夜), then the characters of each form are looked for, weighed by their rarity.
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

_SPELLINGS = (
    ("疼", "痛"), ("夜里", "夜"), ("晚上", "夜"), ("半夜", "夜"), ("夜间", "夜"), ("早上", "晨"), ("早晨", "晨"), ("清早", "晨"), ("一早", "晨"),
    ("小便", "尿"), ("解小手", "尿"), ("解手", "尿"), ("撒尿", "尿"), ("排尿", "尿"), ("拉屎", "大便"), ("解大便", "大便"), ("拉大便", "大便"),
    ("拉肚子", "腹泻"), ("拉稀", "腹泻"), ("肚子", "腹"), ("肚皮", "腹"), ("小肚", "下腹"), ("嗓子", "咽"), ("喉咙", "咽"), ("胳膊", "臂"), ("膀子", "臂"),
    ("发烧", "发热"), ("高烧", "高热"), ("低烧", "低热"), ("脑袋", "头"), ("脑壳", "头"), ("眼皮", "眼睑"), ("眼睛", "眼"), ("耳朵", "耳"), ("鼻子", "鼻"),
    ("嘴巴", "口"), ("嘴里", "口"), ("口腔", "口"), ("恶心", "呕"), ("想吐", "呕"), ("例假", "月经"), ("大姨妈", "月经"), ("姨妈", "月经"), ("同房", "性生活"),
    ("膝盖", "膝"), ("屁股", "臀"), ("胸口", "胸"), ("心口", "胸"), ("心跳", "心慌"), ("喘不上气", "气短"), ("上不来气", "气短"), ("气喘", "气短"),
    ("腿肚子", "小腿"), ("小腿肚", "小腿"), ("身上", "身"), ("全身", "身"), ("浑身", "身"), ("皮疹", "疹"), ("红疙瘩", "疹"), ("红疹子", "疹"), ("疹子", "疹"),
    ("出血", "血"), ("流血", "血"), ("鲜血", "血"), ("吃东西", "吃"), ("吃饭", "吃"), ("进食", "吃"), ("喝酒", "饮酒"), ("抽烟", "吸烟"), ("手指头", "手指"), ("脚指头", "脚趾"),
    ("拉完", "大便后"), ("拉不净", "排不净"), ("没拉完", "排不净"), ("走路", "走"), ("爬楼", "上楼"), ("歇", "休息"), ("孩子", ""), ("宝宝", ""), ("特别", ""), ("有点", ""),
)  # fmt: skip
_DECISIVE = frozenset(
    "左右上下前后高低多少不没无大红黑白黄绿男女早晚夜晨冷热轻重内外单双史家父母药酒烟孕尿便血咳痰喘耳鼻眼牙头腰膝手脚胸腹咽背肩颈腿"
)
_NEGATING = re.compile(r"没|不|无|未|否")
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
        self.mass = np.array([sum(self.rarity[char] for char in set(text)) for text, _ in self.rows] or [1.0])
        where: dict[str, list[int]] = {}
        for number, (text, _) in enumerate(self.rows):
            for char in set(text):
                where.setdefault(char, []).append(number)
        self.where = {char: np.array(numbers) for char, numbers in where.items()}

    def telling(self, form: str, text: str) -> bool:
        """Say whether a text holds the most telling characters of a form: none missing is nearly as rare as the rarest."""
        missing = [self.rarity[char] for char in set(form) if char not in text]
        return max(missing, default=0.0) < _MISSABLE * max(self.rarity[char] for char in form)

    def near(self, text: str) -> list[tuple[int, float]]:
        """List the forms most of whose weighed characters a text holds."""
        if not self.rows:
            return []
        held = np.zeros(len(self.rows))
        for char in set(text):
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
        denied = any(gap[char] > 0 for char in "没不无未否") or _denied_before(whole, start, clause, text, window[0])
        found.append(Likeness(name, share, not denied, clause))
    return found


def _denied_before(whole: str, start: int, clause: str, text: str, first: int) -> bool:
    """Say whether a negation stands over the window: before it in its clause, or carried over from the clause before."""
    if _NEGATING.search(text[:first]):
        at = clause.find(text[first]) if first < len(text) else -1
        place = start + max(at, 0)
        return polarity(whole, place, place + 1) == "absent"
    return polarity(whole, start, start + min(2, len(clause))) == "absent"


def _window(form: str, text: str) -> tuple[int, int] | None:
    """Find where a form's characters stand in order; None when one that decides is missing or they lie too far apart."""
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
