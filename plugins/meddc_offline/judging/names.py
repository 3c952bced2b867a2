"""A diagnosis's name taken apart: its head, side, type, course and grades; hedges and negation."""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from meddc_bench.text import laterality, normalise, squash
from meddc_offline.judging.vocabulary_names import ABBREVIATIONS, SPELLING
from meddc_offline.lexicon import Lexicon

_LEAD = re.compile(
    r"^(?:\d+[.、)]|[-*•]|\s|最可能(?:的诊断)?(?:是|为|:)?|首先考虑|首选|高度|初步|临床|目前|主要|诊断(?:为|是|:|"
    r"上)?|考虑(?:为|是|诊断为?|:)?|怀疑(?:是|为)?|疑似|疑(?!病)|拟诊|可疑|倾向于?|符合|可能(?:是|为|的)?|(?:很|"
    r"极|大)?有?可能(?:是|为|患有?)?|不排除|不除外|不能排除|"
    r"待排(?!查)|待除外|印象:|患有|存在|属于|应该是|提示)+"
)
_TRAIL = re.compile(
    r"(?:(?:的)?可能性?(?:很|较|比较|最)?大?|待查|待排除?|待除外|待诊|待定|待明确|可能|诊断明确|首先考虑|不除外|"
    r"不排除|\?|!|\.|,|;|\s|:)+$"
)
_NEGATED = re.compile(
    r"^(?:已?排除|除外|已除外|暂不考虑|不考虑|不支持|不符合|不像|不是|并非|否认|没有|未见|未发现|无(?=.*(?:证据|"
    r"依据|表现)))|(?:已排除|已除外|除外|不支持|可能性(?:较|很|不)?[小大低]?(?<=[小低])|可能性不大|依据不足|"
    r"证据不足|不成立|排除|的?(?:高|低|潜在)?风险(?:增加|升高|增高|较?[高大])?)$"
)
_HEDGED_OUT = re.compile(r"^(?:不排除|不除外|不能排除)|(?:不除外|待除外|待排除?)$")
_PAREN = re.compile(r"[\(\[]([^\(\)\[\]]*)[\)\]]")
_GRADE = re.compile(
    r"(?:亚?急性期|慢性期|失代偿期?|(?<!失)代偿期|[0-9一二三四]+(?:-[0-9]+)?[级期度](?!房室)|[ivx]+[级期度]|"
    r"[ab]期|(?:极|很|高|中|低)+危(?:险|组)?|[轻中重极]+度|[轻重]型(?!肝)|危重型|普通型|[a-d]组|尿毒症期|"
    r"t[0-4][a-d]?n[0-3][a-d]?m[01][a-c]?(?:[ivx]+[a-c]?期)?|[ivx]+[a-c]期|nyha.{0,4}级|killip.{0,4}级|"
    r"心功能.{0,4}级|早期|晚期|中期|中晚期|终末期(?!肾)|cap\s*评分.*|活动期|缓解期|稳定期(?!心)|恢复期|初发|"
    r"初发型|复发型|慢性复发型|轻症(?=.)|[频偶]发性?(?=[室房交多])|(?:中度)?重症(?=急性胰腺炎|.{0,5}肺炎|肺部感染))"
)
_TYPE = re.compile(r"(?<![a-z0-9])([0-9]+|[abc]|i+)型|(?<=型)([0-9]+|[abc])(?![0-9])")
_ROMAN = {"i": "1", "ii": "2", "iii": "3", "iv": "4"}
_ETIOLOGY = re.compile(r"(?![极很高中低]危)[^,;:、]{2,10}(?:性|[^0-9ivx]型)")
_DEGREES = {"i": "1", "ii": "2", "iii": "3", "一": "1", "二": "2", "三": "3", "1": "1", "2": "2", "3": "3"}
_BLOCK = re.compile(r"(i{1,3}|[一二三123])[度°](?=房室)")
_COURSE = {"急性": "急", "亚急性": "亚急", "慢性": "慢", "陈旧性": "陈旧", "新发": "急", "慢性急性": "慢急"}
_COURSES = re.compile(r"亚急性|急性(?!(?:期)?(?:加重|发作))|慢性|陈旧性")


class Name(msgspec.Struct, frozen=True):
    """One diagnosis name taken apart: its bare head, side, type, course and grades."""

    full: str
    head: str
    sides: frozenset[str]
    types: frozenset[str]
    courses: frozenset[str]
    grades: frozenset[str]


class Spoken(msgspec.Struct, frozen=True):
    """A diagnosis as given: the names it may be read as, whether negated, whether only a possibility to exclude."""

    names: tuple[Name, ...]
    negated: bool
    hedged: bool


def spelt(text: str) -> str:
    """Write a name in one of its equivalent spellings (梗塞 -> 梗死, 综合症 -> 综合征), without final 病 or 症."""
    text = squash(text)
    for old, new in SPELLING:
        text = text.replace(old, new)
    text = re.sub(r"(?<=[^良])型(?=[心头糖高哮])", "性", text)
    text = _BLOCK.sub(lambda match: f"{_DEGREES[match[1]]}度", text)
    text = re.sub(r"([abcde])型(?=肝炎)", lambda match: "甲乙丙丁戊"["abcde".index(match[1])] + "型", text)
    return re.sub(r"(?<=..)[病症]$", "", text)


_LONGEST = 200


@lru_cache(maxsize=16384)
def spoken(text: str) -> Spoken:
    """Read a diagnosis: hedges off, brackets and colons as further readings, negation noted."""
    text = _affirmed(normalise(text[:_LONGEST]).strip())
    stripped = _TRAIL.sub("", text)
    negated = _NEGATED.search(stripped) is not None or re.search(r"未见|未发现", stripped) is not None
    hedged = _HEDGED_OUT.search(text) is not None
    bare = _LEAD.sub("", stripped)
    inner = [part for part in _PAREN.findall(bare) if not _NEGATED.search(part)]
    outer = _TRAIL.sub("", _LEAD.sub("", _PAREN.sub("", bare)))
    quals = "".join(part for part in inner if not _is_name(part))
    outer = "".join(part for part in inner if _is_cause(part)) + outer
    names: list[Name] = []
    for part in [outer, *(part for part in inner if _is_name(part))]:
        pieces = [
            piece
            for piece in re.split(
                r"[:/]|(?:^|(?<=.))(?:伴有?|合并|并发)(?=..)|(?<=..)(?:所?导致|引起|所致|造成)的?(?=..)", part
            )
            if piece
        ]
        for piece in dict.fromkeys([part, *pieces]):
            names += [name for name in (_taken_apart(piece, quals),) if name.head and name not in names]
    return Spoken(tuple(names), negated, hedged)


_DENIAL = re.compile(r"未见|未发现|不支持|不考虑|不符合|(?<!不)(?<!待)排除|(?<!不)(?<!待)除外|无.{0,4}证据")


def _affirmed(text: str) -> str:
    """Leave out the pieces of an enumeration that are denied, unless all are: `A,不考虑B` says A."""
    pieces = [piece for piece in re.split(r"[,;]", text) if piece]
    kept = [piece for piece in pieces if not _DENIAL.search(piece)]
    return ",".join(kept) if kept and len(kept) < len(pieces) else text


def _is_cause(part: str) -> bool:
    """Say whether what stands in brackets tells the kind or cause of the disease: （结核性）, （小动脉闭塞型）."""
    plain = squash(part)
    graded = _GRADE.fullmatch(plain) or _COURSES.fullmatch(plain) or laterality(plain) or _is_name(part)
    return _ETIOLOGY.fullmatch(plain) is not None and not graded and not re.search(r"可能|待|疑|[阴阳男女]性", plain)


def _is_name(part: str) -> bool:
    """Say whether what stands in brackets is a name of its own rather than a qualifier."""
    if squash(part) in ABBREVIATIONS or Lexicon.load().canonical_disease(part):
        return True
    rest = _GRADE.sub("", _COURSES.sub("", squash(part)))
    return (
        len(rest) > 2
        and re.search(
            r"(?:病|症|炎|癌|瘤|征|石|疡|死|塞|血|折|染|竭|喘|痛|风|伤|痔|疹|癣|障碍|颤动?|扑动|"
            r"早搏|过速|过缓|阻滞|缺损|感冒|中毒|妊娠|流产|痫)$",
            rest,
        )
        is not None
    )


_SHORT_WORDS = tuple((short, full) for short, full in ABBREVIATIONS.items() if not short.isascii())


def _expanded(text: str) -> str:
    """Write an abbreviation out: the whole name, or a Chinese short form at its end (原发性甲减)."""
    if text in ABBREVIATIONS:
        return ABBREVIATIONS[text]
    for short, full in _SHORT_WORDS:
        if text.endswith(short) and not text.endswith(full) and short not in full:
            return text[: -len(short)] + full
    return text


@lru_cache(maxsize=16384)
def _taken_apart(text: str, qualifiers: str = "") -> Name:
    full = spelt(_expanded(squash(text)))
    both = full + squash(qualifiers)
    full = "".join(word for word in _COURSES.findall(squash(qualifiers)) if word not in full) + full
    sides = laterality(both)
    if "双" in sides:
        sides = frozenset({"双"})
    types = frozenset(_ROMAN.get(found, found) for pair in _TYPE.findall(both) for found in pair if found)
    courses = frozenset(_COURSE[found] for found in _COURSES.findall(both))
    grades = frozenset(_GRADE.findall(both))
    head = re.sub(r"双侧|两侧|左右|[左右双]侧?(?!美)", "", _COURSES.sub("", _GRADE.sub("", full)))
    return Name(full, re.sub(r"(?<=..)[病症]$", "", head), sides, types, courses, grades)


CLASSES = (
    "心律失常", "冠心病", "冠状动脉粥样硬化性心脏病", "先天性心脏病", "心脏瓣膜病", "脑血管病", "缺血性脑血管病",
    "出血性脑血管病", "电解质紊乱", "电解质代谢紊乱", "水电解质紊乱",
)  # fmt: skip
_FUNCTION = re.compile(r"[,;、]?心功能(?:不全)?[0-9ivx一二三四-]+级(?:\([^()]*\))?$")


@lru_cache(maxsize=8192)
def readings(text: str) -> tuple[Name, ...]:
    """Read a reference: its whole name, and the disease alone where a class stands before it (心律失常：房颤)."""
    plain = normalise(text[:_LONGEST]).strip()
    if len(shorter := _FUNCTION.sub("", plain)) > 2:
        plain = shorter
    whole = spoken(plain).names[:1]
    before, colon, disease = plain.partition(":")
    if not colon:
        before = next((name for name in CLASSES if plain.startswith(name) and plain != name), "")
        disease = plain.removeprefix(before).strip("()[]-— ") if before else ""
    single = bool(disease) and before != "" and not re.search(r"[:、,;]|术后", disease)
    return whole + spoken(disease).names[:1] if single and _is_name(disease) else whole


@lru_cache(maxsize=8192)
def canonical(name: Name) -> str | None:
    """Find the knowledge's name for a whole name or, failing that, for its head."""
    index = spellings()
    return index.get(name.full) or index.get(name.head)


@lru_cache(maxsize=8192)
def ungraded(name: Name) -> str:
    """Spell a whole name without its grades: 重度睡眠呼吸暂停 as 睡眠呼吸暂停."""
    return _GRADE.sub("", name.full)


@lru_cache(maxsize=1)
def spellings() -> dict[str, str]:
    """Map the spelling of every disease name and synonym of the knowledge to the name."""
    lexicon = Lexicon.load()
    found: dict[str, str] = {}
    for disease in lexicon.diseases.values():
        for form in disease.synonyms:
            found.setdefault(spelt(form), disease.name)
    for name in lexicon.diseases:
        found[spelt(name)] = name
    return found
