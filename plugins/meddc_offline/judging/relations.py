"""How one diagnosis's name relates to another: the same, narrower, broader, a sibling, or other.

Granularity. A prediction covers a reference when it means the same or is more specific. What a reference states
of side, type, pathogen, course (急性, 慢性) or organ the prediction must state too; silence is broader and does not
cover. Grades, stages and risk classes (3级, Ⅲ期, 极高危, 轻度) may be missing, but not contradict. A prediction that is
negated or excluded covers nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from meddc_offline.judging.names import Name, Spoken, canonical, readings, spellings, spelt, spoken, ungraded
from meddc_offline.judging.vocabulary_names import PARENTS
from meddc_offline.lexicon import Lexicon

Relation = Literal["same", "narrower", "broader", "sibling", "other"]
_ADDED = re.compile(
    r"(?:急性)?(?:期)?(?:急性)?(?:加重|发作)期?|嵌顿|破裂|穿孔|扭转|形成|发作|伴.*|合并.*|并发?.*|急性期|静息型|"
    r"初发型|恶化型|后遗症期|(?:湿热|风寒|风热|气滞|血瘀).*|[病症]?复发|首次发作|急性起病|起病|出疹期|前驱期|结核性|感染期"
)
_TRAP = re.compile(
    r"(?:不|非|无|假性?|类|副|伪|拟|(?<!无)(?<!有)先兆|前|抗|(?<!降)(?<!减)低|(?<!升)(?<!增)高|继发性|肺源性|"
    r"疑|预防|"
    r"术后|后|妊娠期|妊娠|产后|药物性|医源性|隐匿性)$"
)

_PAIRED = re.compile(r"胃肠炎$|胃肠(?:道)?间质瘤$|肝肾综合征$|心肾综合征$|肺肾综合征$")
"""Names of two organs at once: 胃肠炎 is no kind of 肠炎."""


@lru_cache(maxsize=65536)
def relate(prediction: Name, reference: Name) -> Relation:
    """Relate two names: the prediction is the same as, narrower or broader than, or a sibling of the reference."""
    if prediction.full == reference.full and prediction.sides == reference.sides:
        return "same"
    clash = _clash(prediction, reference)
    known = _by_knowledge(prediction, reference)
    heads = _heads(prediction, reference) if known is None else known
    if heads in ("sibling", "other"):
        return heads
    if clash:
        return "sibling"
    return _qualified(heads, prediction, reference, known is not None)


def _clash(a: Name, b: Name) -> bool:
    """Say whether two names state different sides, types, courses or grades."""
    for ours, theirs in ((a.types, b.types), (a.courses, b.courses)):
        if ours and theirs and not (ours & theirs):
            return True
    if a.sides and b.sides and a.sides != b.sides:
        return True
    ours, theirs = _numbers(a.grades), _numbers(b.grades)
    return bool(ours and theirs and ours.isdisjoint(theirs))


def _numbers(grades: frozenset[str]) -> frozenset[str]:
    return frozenset(grade for grade in grades if grade[0].isdigit() or "度" in grade)


def _qualified(heads: Relation, a: Name, b: Name, known: bool) -> Relation:
    """Weigh the qualifiers of two names whose heads are the same, narrower or broader."""
    less = bool(b.sides - a.sides)
    if not known:
        less = less or bool(b.types - a.types) or bool(b.courses - a.courses)
    if less:
        return "broader"
    more = bool(a.sides - b.sides) or bool(a.types - b.types) or bool(a.courses - b.courses)
    return "narrower" if more and heads == "same" else heads


def _by_knowledge(a: Name, b: Name) -> Relation | None:
    """Relate two names by the disease knowledge; None when it does not hold one of them."""
    lexicon = Lexicon.load()
    ours, theirs = canonical(a), canonical(b)
    if ours is not None and ours == theirs:
        return "same" if _whole(a) == _whole(b) else None
    wider = {b.full, ungraded(b)}
    if (ours is not None and wider & _above(ours)) or any(wider & above for above in _extra(a)):
        return "narrower"
    if theirs is not None and a.full in _above(theirs):
        return "broader"
    if ours is None or theirs is None:
        return None
    if spelt(ours) in map(spelt, lexicon.diseases[theirs].siblings) or spelt(theirs) in map(
        spelt, lexicon.diseases[ours].siblings
    ):
        return "sibling"
    return None


@lru_cache(maxsize=8192)
def _extra(name: Name) -> tuple[frozenset[str], ...]:
    """Spell what the short list of parents holds for a name or its head."""
    return tuple(
        frozenset(map(spelt, wider)) for child, wider in PARENTS.items() if spelt(child) in (name.full, name.head)
    )


def _whole(name: Name) -> bool:
    return name.full in spellings()


@lru_cache(maxsize=2048)
def _above(disease: str) -> frozenset[str]:
    """Spell the more general names of a disease, with the synonyms of those the knowledge holds."""
    lexicon = Lexicon.load()
    names = set(lexicon.ancestors(disease))
    for name in tuple(names):
        if (entry := lexicon.diseases.get(name)) is not None:
            names |= set(entry.synonyms)
    names |= set(PARENTS.get(disease, ()))
    return frozenset(map(spelt, names)) - {spelt(disease)} - set(map(spelt, lexicon.diseases[disease].synonyms))


def _heads(a: Name, b: Name) -> Relation:
    """Relate two heads as strings: equal, or one is the other with modifiers before it or a state behind it."""
    ours, theirs = canonical(a), canonical(b)
    if a.head == b.head or (ours is not None and ours == theirs):
        return "same"
    if includes(a.head, b.head):
        return "narrower"
    if includes(b.head, a.head):
        return "broader"
    return "other"


def includes(long: str, short: str) -> bool:
    """Say whether a longer head only adds modifiers to a shorter one."""
    if len(short) < 2 or len(long) <= len(short):
        return False
    if long.endswith(short):
        return _TRAP.search(long[: -len(short)]) is None and not (_PAIRED.search(long) and not _PAIRED.search(short))
    if long.startswith(short):
        return _ADDED.fullmatch(long[len(short) :]) is not None
    return _inserted(long, short)


def _inserted(long: str, short: str) -> bool:
    """Say whether a longer head only puts a modifier inside a shorter one: 输尿管(上段)结石."""
    for cut in range(1, len(short)):
        head, tail = short[:cut], short[cut:]
        if min(len(head), len(tail)) < 2 and not (
            (len(short) >= 4 and len(tail) != 2) or (tail in "癌疝" and cut == 1)
        ):
            continue
        if long.endswith(tail) and head in long[: -len(tail)]:
            at = long.index(head)
            middle = long[at + len(head) : len(long) - len(tail)]
            if len(middle) <= 8 and not _TRAP.search(long[:at]) and not _TRAP.search(middle):
                return True
    return False


def relation(prediction: str, reference: str, synonyms: tuple[str, ...] = ()) -> Relation:
    """Relate a predicted diagnosis to a reference with its synonyms: the best over all readings."""
    ours = spoken(prediction)
    if ours.negated or re.search(r"或者?|还是", prediction):
        return "other"
    theirs = [name for text in (reference, *synonyms) for name in readings(text)]
    found = {relate(a, b) for a in ours.names for b in theirs}
    if found & {"same", "narrower"} and _side_missing(ours, theirs):
        found = {"broader"}
    for kind in ("same", "narrower"):
        if kind in found:
            return kind
    for rest in ("broader", "sibling"):
        if rest in found:
            return rest
    return "other"


def _side_missing(ours: Spoken, theirs: list[Name]) -> bool:
    """Say whether the reference's own name states a side that no reading of the prediction states."""
    return bool(theirs[0].sides) and not any(name.sides == theirs[0].sides for name in ours.names)


def grade(prediction: str, reference: str, synonyms: tuple[str, ...] = ()) -> Literal["full", "core", "partial"] | None:
    """Grade a prediction by the rubric of TrustMed (Table 10).

    Full: the same. Core: the same disease, a qualifier (side, type, course, cause) missing, added or wrong. Partial: one of
    the diseases that the reference joins (睑腺炎伴结膜炎). A group two steps up, a neighbour and a relative are none of them.
    """
    kind = relation(prediction, reference, synonyms)
    if kind == "same":
        added = _JOINED.search(prediction) and not any(map(_JOINED.search, (reference, *synonyms)))
        return "core" if added else "full"
    ours, theirs = spoken(prediction), spoken(reference)
    if ours.negated or not ours.names or not theirs.names:
        return None
    whole, *parts = theirs.names
    if any(relate(a, part) in ("same", "narrower") for a in ours.names for part in parts):
        return "partial"
    if kind == "narrower":
        return "core"
    if kind == "broader":
        return "core" if any(_one_step(a, whole) for a in ours.names) else None
    return "core" if any(a.head == whole.head or _of_one_kind(a, whole) for a in ours.names) else None


_JOINED = re.compile(r"伴|合并|并发|并(?!发)")


def _of_one_kind(a: Name, b: Name) -> bool:
    """Say whether two diseases are kinds of one that both are named after: 稳定型心绞痛 and 不稳定型心绞痛."""
    diseases = Lexicon.load().diseases
    one, other = spellings().get(a.full), spellings().get(b.full)
    if one is None or other is None:
        return False
    above = [[spelt(wide) for wide in diseases[name].broader] for name in (one, other)]
    nearest = {found[0] for found in above if found} & set(above[0]) & set(above[1])
    return any(a.full.endswith(wide) and b.full.endswith(wide) for wide in nearest)


def _one_step(a: Name, b: Name) -> bool:
    """Say whether two related names are parent and child, or differ in qualifiers alone."""
    diseases = Lexicon.load().diseases
    for child, parent in ((a, b), (b, a)):
        name = spellings().get(child.full)
        if name is not None:
            above = [spelt(wide) for wide in diseases[name].broader]
            if parent.full in above:
                return above.index(parent.full) == 0 or len(above) <= 2
    return a.head == b.head or includes(a.head, b.head) or includes(b.head, a.head)
