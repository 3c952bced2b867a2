"""The doctor's question bank: what to ask for which complaint, most telling first.

`{it}` is the complaint in the patient's words, `{who}` is 您 or 孩子. A question asks one need.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from meddc_offline.complaints import TABLE

_FIRST, _STEP = 9.0, 0.28


@dataclass(frozen=True, slots=True)
class Ask:
    """A question of the bank: its inquiry type, its text, its worth, and for whom it is (any, woman, child, adult)."""

    kind: str
    text: str
    worth: float
    audience: str = "any"


@dataclass(frozen=True, slots=True)
class Complaint:
    """A kind of complaint: how it is recognised in the opening and what to ask for it."""

    name: str
    pattern: re.Pattern[str]
    asks: tuple[Ask, ...]


def _parsed(table: str) -> tuple[Complaint, ...]:
    """Read the table of complaints; the worth of a complaint's questions falls from one to the next."""
    found: list[Complaint] = []
    for block in table.strip().split("\n["):
        header, *rows = block.removeprefix("[").splitlines()
        name, pattern = header.split("]", 1)
        asks = tuple(_ask(entry, place) for place, entry in enumerate(" ".join(rows).split()))
        found.append(Complaint(name, re.compile(pattern), asks))
    return tuple(found)


def _ask(entry: str, place: int) -> Ask:
    kind, text = entry.split("|", 1)
    audience = "woman" if text.startswith("[女]") else "any"
    return Ask(kind, text.removeprefix("[女]"), _FIRST - _STEP * place, audience)


COMPLAINTS = _parsed(TABLE)

OPEN = Ask("open", "除了这些，还有哪里不舒服吗？", 7.5)

GENERAL: tuple[Ask, ...] = (
    Ask("onset", "{it}是什么时候、怎么开始的？", 8.2),
    Ask("trigger", "发病前有什么诱因吗，比如受凉、劳累或者吃了什么？", 7.2),
    Ask("course", "从开始到现在有什么变化，一直这样还是一阵一阵的？", 7.4),
    Ask("character", "具体是怎么个不舒服法？", 7.3),
    Ask("modifying", "什么情况下会加重，怎么样能缓解？", 6.9),
    Ask("severity", "影响吃饭、睡觉、走路这些日常的事吗？", 6.0),
    Ask("prior_care", "去医院看过吗，做过什么检查、用过什么药？", 7.0),
    Ask("past", "以前得过什么病，做过手术吗？", 6.2),
    Ask("medication", "平时在吃什么药吗？", 6.0),
    Ask("allergy", "对什么药物或食物过敏吗？", 4.2),
    Ask("family", "家里人有没有类似的病？", 5.2),
    Ask("personal", "抽烟喝酒吗，平时做什么工作？", 5.0, "adult"),
    Ask("personal", "最近身边有没有人得一样的病？", 5.0, "child"),
    Ask("general", "最近精神、吃饭、睡觉怎么样？", 5.4),
    Ask("general", "大小便正常吗？", 5.0),
    Ask("general", "最近体重有没有变化？", 4.8),
    Ask("obstetric", "月经怎么样，末次月经是什么时候？", 5.6, "woman"),
    Ask("development", "平时怎么喂养的，生长发育跟得上吗？", 5.0, "infant"),
    Ask("development", "预防针都按时打了吗？", 4.9, "child"),
)
