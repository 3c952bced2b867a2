"""What a diagnosis's name says: its parts, qualifiers and relatives, and whether one name covers another.

Granularity. A prediction covers a reference when it means the same or is more specific. What a reference states of side,
type, pathogen, course (急性, 慢性) or organ the prediction must state too; silence is broader and does not cover. Grades, stages and
risk classes (3级, Ⅲ期, 极高危, 轻度) may be missing, but not contradict. A prediction that is negated or excluded covers nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

import msgspec

from meddc_bench.text import laterality, normalise, squash
from meddc_offline.lexicon import Lexicon

Relation = Literal["same", "narrower", "broader", "sibling", "other"]

_LEAD = re.compile(
    r"^(?:\d+[.、)]|[-*•]|\s|最可能(?:的诊断)?(?:是|为|:)?|首先考虑|首选|高度|初步|临床|目前|主要|诊断(?:为|是|:|上)?|考虑(?:为|是|诊断为?|:)?|怀疑(?:是|为)?|疑似|疑(?!病)|拟诊|可疑|倾向于?|符合|可能(?:是|为|的)?|(?:很|极|大)?有?可能(?:是|为|患有?)?|不排除|不除外|不能排除|"
    r"待排(?!查)|待除外|印象:|患有|存在|属于|应该是|提示)+"
)
_TRAIL = re.compile(
    r"(?:(?:的)?可能性?(?:很|较|比较|最)?大?|待查|待排除?|待除外|待诊|待定|待明确|可能|诊断明确|首先考虑|不除外|不排除|\?|!|\.|,|;|\s|:)+$"
)
_NEGATED = re.compile(
    r"^(?:已?排除|除外|已除外|暂不考虑|不考虑|不支持|不符合|不像|不是|并非|否认|没有|未见|未发现|无(?=.*(?:证据|依据|表现)))|(?:已排除|已除外|除外|不支持|可能性(?:较|很|不)?[小大低]?(?<=[小低])|可能性不大|依据不足|证据不足|不成立|排除)$"
)
_HEDGED_OUT = re.compile(r"^(?:不排除|不除外|不能排除)|(?:不除外|待除外|待排除?)$")
_PAREN = re.compile(r"[\(\[]([^\(\)\[\]]*)[\)\]]")
_GRADE = re.compile(
    r"(?:亚?急性期|慢性期|失代偿期?|(?<!失)代偿期|[0-9一二三四]+(?:-[0-9]+)?[级期度](?!房室)|[ivx]+[级期度]|[ab]期|(?:极|很|高|中|低)+危(?:险|组)?|[轻中重极]+度|轻型|重型(?!肝)|nyha.{0,4}级|killip.{0,4}级|心功能.{0,4}级|早期|晚期|中期|中晚期|终末期(?!肾)|cap\s*评分.*|活动期|缓解期|稳定期(?!心)|恢复期|初发|初发型|复发型|慢性复发型)"
)
_TYPE = re.compile(r"(?<![a-z0-9])([0-9]+|[abc]|i+)型|(?<=型)([0-9]+|[abc])(?![0-9])")
_COURSE = {"急性": "急", "亚急性": "亚急", "慢性": "慢", "陈旧性": "陈旧", "新发": "急", "慢性急性": "慢急"}
_COURSES = re.compile(r"亚急性|急性(?!(?:期)?(?:加重|发作))|慢性|陈旧性")
_ADDED = re.compile(
    r"(?:急性)?(?:期)?(?:急性)?(?:加重|发作)期?|嵌顿|破裂|穿孔|扭转|形成|发作|伴.*|合并.*|并发?.*|急性期|静息型|初发型|恶化型|后遗症期|(?:湿热|风寒|风热|气滞|血瘀).*|首次发作|急性起病|起病|出疹期|前驱期|结核性|感染期"
)
_TRAP = re.compile(r"(?:不|非|无|假性?|类|副|伪|拟|(?<!无)(?<!有)先兆|前|抗|(?<!降)(?<!减)低|(?<!升)(?<!增)高|继发性|肺源性|疑|预防|术后|后|妊娠期|妊娠|产后|药物性|医源性|隐匿性)$")
_SPELLING = (
    ("综合症", "综合征"), ("症候群", "综合征"), ("梗塞", "梗死"), ("疾患", "病"), ("疾病", "病"), ("阑尾炎症", "阑尾炎"), ("病变", "病"), ("癌症", "癌"), ("恶性肿瘤", "癌"), ("返流", "反流"), ("逆流", "反流"), ("食道", "食管"), ("肺动脉栓塞", "肺栓塞"), ("病性", "病"), ("遗传过敏性皮炎", "特应性皮炎"), ("异位性皮炎", "特应性皮炎"), ("增生症", "增生"), ("结石症", "结石"), ("大叶性肺炎", "肺炎链球菌肺炎"), ("忧郁", "抑郁"), ("肾功能衰竭", "肾衰竭"), ("压力性损伤", "压疮"), ("低血钾", "低钾血"), ("高血钾", "高钾血"), ("低血钠", "低钠血"), ("低血钙", "低钙血"), ("藓", "癣"),
    ("美尼尔", "梅尼埃"), ("变态反应", "变应"), ("过敏性鼻炎", "变应性鼻炎"), ("骨关节病", "骨关节炎"), ("荨麻症", "荨麻疹"), ("念珠菌", "假丝酵母菌"), ("霉菌性", "真菌性"), ("甲状腺机能", "甲状腺功能"), ("机能", "功能"), ("功能低下", "功能减退"), ("功能不全", "功能减退"),
    ("肿大症", "肿大"), ("脑卒中", "卒中"), ("肺部感染", "肺炎"), ("尿路结石", "尿石症"), ("冠状动脉粥样硬化性心脏病", "冠心病"), ("抑郁症", "抑郁障碍"), ("焦虑症", "焦虑障碍"), ("强迫症", "强迫障碍"), ("失眠症", "失眠障碍"), ("帕金森氏", "帕金森"), ("氏病", "病"), ("氏综合征", "综合征"),
    ("性性", "性"), ("型的", "型"), ("的", ""),
)  # fmt: skip
_ABBREVIATIONS = {
    "ua": "不稳定型心绞痛", "uap": "不稳定型心绞痛", "ami": "急性心肌梗死", "stemi": "急性ST段抬高型心肌梗死", "nstemi": "急性非ST段抬高型心肌梗死", "copd": "慢性阻塞性肺疾病", "慢阻肺": "慢性阻塞性肺疾病",
    "aecopd": "慢性阻塞性肺疾病急性加重", "gerd": "胃食管反流病", "t2dm": "2型糖尿病", "t1dm": "1型糖尿病", "sle": "系统性红斑狼疮", "ra": "类风湿关节炎", "pcos": "多囊卵巢综合征", "bppv": "良性阵发性位置性眩晕", "耳石症": "良性阵发性位置性眩晕",
    "dvt": "下肢深静脉血栓形成", "pte": "肺血栓栓塞症", "tia": "短暂性脑缺血发作", "osa": "阻塞性睡眠呼吸暂停", "osahs": "阻塞性睡眠呼吸暂停", "ibs": "肠易激综合征", "uc": "溃疡性结肠炎", "itp": "免疫性血小板减少症",
    "ida": "缺铁性贫血", "ckd": "慢性肾脏病", "psvt": "阵发性室上性心动过速", "bph": "良性前列腺增生", "pid": "盆腔炎性疾病", "dka": "糖尿病酮症酸中毒", "gdm": "妊娠期糖尿病", "gbs": "吉兰-巴雷综合征", "gad": "广泛性焦虑障碍", "ocd": "强迫障碍",
    "hfrs": "肾综合征出血热", "cap": "社区获得性肺炎", "cva": "咳嗽变异性哮喘", "sah": "蛛网膜下腔出血", "vvc": "外阴阴道假丝酵母菌病", "bv": "细菌性阴道病", "房颤": "心房颤动", "室上速": "阵发性室上性心动过速", "甲亢": "甲状腺功能亢进症", "甲减": "甲状腺功能减退症",
    "脑梗": "脑梗死", "心梗": "心肌梗死", "急性心梗": "急性心肌梗死", "上感": "急性上呼吸道感染", "冠心病": "冠状动脉粥样硬化性心脏病", "心衰": "心力衰竭", "高血压": "高血压病", "尿崩": "尿崩症", "肾衰": "肾功能衰竭", "痄腮": "流行性腮腺炎", "脚气": "足癣", "脚癣": "足癣", "感冒": "急性上呼吸道感染", "普通感冒": "急性上呼吸道感染", "缠腰龙": "带状疱疹", "牛皮癣": "银屑病", "鬼剃头": "斑秃", "老慢支": "慢性支气管炎", "小中风": "短暂性脑缺血发作", "中风": "脑卒中", "羊癫疯": "癫痫", "红眼病": "急性结膜炎", "灰指甲": "甲癣", "青春痘": "寻常痤疮", "大脖子病": "甲状腺肿",
}  # fmt: skip


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
    for old, new in _SPELLING:
        text = text.replace(old, new)
    text = re.sub(r"(?<=[^良])型(?=[心头糖高哮])", "性", text)
    return re.sub(r"(?<=..)[病症]$", "", text)


@lru_cache(maxsize=16384)
def spoken(text: str) -> Spoken:
    """Read a diagnosis: hedges off, brackets and colons as further readings, negation noted."""
    text = _affirmed(normalise(text).strip())
    stripped = _TRAIL.sub("", text)
    negated = _NEGATED.search(stripped) is not None or re.search(r"未见|未发现", stripped) is not None
    hedged = _HEDGED_OUT.search(text) is not None
    bare = _LEAD.sub("", stripped)
    inner = [part for part in _PAREN.findall(bare) if not _NEGATED.search(part)]
    outer = _TRAIL.sub("", _LEAD.sub("", _PAREN.sub("", bare)))
    quals = "".join(part for part in inner if not _is_name(part))
    names: list[Name] = []
    for part in [outer, *(part for part in inner if _is_name(part))]:
        pieces = [piece for piece in re.split(r"[:/]|(?:^|(?<=.))(?:伴有?|合并|并发)(?=..)", part) if piece]
        for piece in dict.fromkeys([part, *pieces]):
            names += [name for name in (_taken_apart(piece, quals),) if name.head and name not in names]
    return Spoken(tuple(names), negated, hedged)


_DENIAL = re.compile(r"未见|未发现|不支持|不考虑|不符合|(?<!不)(?<!待)排除|(?<!不)(?<!待)除外|无.{0,4}证据")


def _affirmed(text: str) -> str:
    """Leave out the pieces of an enumeration that are denied, unless all are: `A,不考虑B` says A."""
    pieces = [piece for piece in re.split(r"[,;]", text) if piece]
    kept = [piece for piece in pieces if not _DENIAL.search(piece)]
    return ",".join(kept) if kept and len(kept) < len(pieces) else text


def _is_name(part: str) -> bool:
    """Say whether what stands in brackets is a name of its own rather than a qualifier."""
    if squash(part) in _ABBREVIATIONS or Lexicon.load().canonical_disease(part):
        return True
    rest = _GRADE.sub("", _COURSES.sub("", squash(part)))
    return len(rest) > 2 and re.search(r"(?:病|症|炎|癌|瘤|征|石|疡|死|塞|血|折|染|竭|喘|痛|风|伤|痔|疹|癣|障碍|感冒|中毒|妊娠|流产|痫)$", rest) is not None


_SHORT_WORDS = tuple((short, full) for short, full in _ABBREVIATIONS.items() if not short.isascii())


def _expanded(text: str) -> str:
    """Write an abbreviation out: the whole name, or a Chinese short form at its end (原发性甲减)."""
    if text in _ABBREVIATIONS:
        return _ABBREVIATIONS[text]
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
    types = frozenset(found for pair in _TYPE.findall(both) for found in pair if found)
    courses = frozenset(_COURSE[found] for found in _COURSES.findall(both))
    grades = frozenset(_GRADE.findall(both))
    head = re.sub(r"双侧|两侧|左右|[左右双]侧?(?!美)", "", _COURSES.sub("", _GRADE.sub("", full)))
    return Name(full, re.sub(r"(?<=..)[病症]$", "", head), sides, types, courses, grades)


@lru_cache(maxsize=8192)
def canonical(name: Name) -> str | None:
    """Find the knowledge's name for a whole name or, failing that, for its head."""
    index = _spellings()
    return index.get(name.full) or index.get(name.head)


@lru_cache(maxsize=1)
def _spellings() -> dict[str, str]:
    """Map the spelling of every disease name and synonym of the knowledge to the name."""
    lexicon = Lexicon.load()
    found: dict[str, str] = {}
    for disease in lexicon.diseases.values():
        for form in disease.synonyms:
            found.setdefault(spelt(form), disease.name)
    for name in lexicon.diseases:
        found[spelt(name)] = name
    return found


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
    if ours is not None and b.full in _above(ours) or any(b.full in wider for wider in _extra(a)):
        return "narrower"
    if theirs is not None and a.full in _above(theirs):
        return "broader"
    if ours is None or theirs is None:
        return None
    if spelt(ours) in map(spelt, lexicon.diseases[theirs].siblings) or spelt(theirs) in map(spelt, lexicon.diseases[ours].siblings):
        return "sibling"
    return None


@lru_cache(maxsize=8192)
def _extra(name: Name) -> tuple[frozenset[str], ...]:
    """Spell what the short list of parents holds for a name or its head."""
    return tuple(
        frozenset(map(spelt, wider)) for child, wider in _PARENTS.items() if spelt(child) in (name.full, name.head)
    )


def _whole(name: Name) -> bool:
    return name.full in _spellings()


_PARENTS = {
    "反流性食管炎": ("胃食管反流病",), "狼疮性肾炎": ("系统性红斑狼疮",), "狼疮肾炎": ("系统性红斑狼疮",), "肌间静脉血栓形成": ("下肢深静脉血栓形成", "深静脉血栓形成"), "小腿肌间静脉血栓形成": ("下肢深静脉血栓形成", "深静脉血栓形成"),
    "糖尿病肾病": ("慢性肾脏病",), "颈动脉狭窄": ("动脉粥样硬化",), "腔隙性脑梗死": ("脑梗死",), "桥本甲状腺炎": ("慢性淋巴细胞性甲状腺炎",), "肺腺癌": ("原发性支气管肺癌", "肺癌"), "肺鳞癌": ("原发性支气管肺癌", "肺癌"), "小细胞肺癌": ("原发性支气管肺癌", "肺癌"),
    "溃疡性直肠炎": ("溃疡性结肠炎",), "贲门癌": ("胃癌",), "直肠癌": ("结直肠癌",), "结肠癌": ("结直肠癌",), "输卵管妊娠": ("异位妊娠",), "带下病": ("阴道炎",),
}  # fmt: skip
"""More general names of some that the disease knowledge does not list."""


@lru_cache(maxsize=2048)
def _above(disease: str) -> frozenset[str]:
    """Spell the more general names of a disease, with the synonyms of those the knowledge holds."""
    lexicon = Lexicon.load()
    names = set(lexicon.ancestors(disease))
    for name in tuple(names):
        if (entry := lexicon.diseases.get(name)) is not None:
            names |= set(entry.synonyms)
    names |= set(_PARENTS.get(disease, ()))
    return frozenset(map(spelt, names)) - {spelt(disease)} - set(map(spelt, lexicon.diseases[disease].synonyms))


def _heads(a: Name, b: Name) -> Relation:
    """Relate two heads as strings: equal, or one is the other with modifiers before it or a state behind it."""
    ours, theirs = canonical(a), canonical(b)
    if a.head == b.head or (ours is not None and ours == theirs):
        return "same"
    if _includes(a.head, b.head):
        return "narrower"
    if _includes(b.head, a.head):
        return "broader"
    return "other"


def _includes(long: str, short: str) -> bool:
    """Say whether a longer head only adds modifiers to a shorter one."""
    if len(short) < 2 or len(long) <= len(short):
        return False
    if long.endswith(short):
        return _TRAP.search(long[: -len(short)]) is None
    if long.startswith(short):
        return _ADDED.fullmatch(long[len(short) :]) is not None
    return _inserted(long, short)


def _inserted(long: str, short: str) -> bool:
    """Say whether a longer head only puts a modifier inside a shorter one: 输尿管(上段)结石."""
    for cut in range(1, len(short)):
        head, tail = short[:cut], short[cut:]
        if min(len(head), len(tail)) < 2 and not (len(short) >= 4 and len(tail) != 2 or tail in "癌疝" and cut == 1):
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
    theirs = [name for text in (reference, *synonyms) for name in spoken(text).names[:1]]
    found = {relate(a, b) for a in ours.names for b in theirs}
    if ours.names and theirs and _side_missing(ours, theirs):
        found -= {"same", "narrower"}
        found.add("broader")
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


_FAMILY = re.compile(
    r"(?:炎|癌|瘤|结石|溃疡|梗死|出血|骨折|感染|衰竭|贫血|高血压|糖尿|哮喘|心绞痛|头痛|疝|结核|中毒|障碍|癫痫|心律失常|过速|颤动|梗阻|关节炎|肺炎|胃炎|肾炎|皮炎|疹|癣|白血|狭窄|硬化)$"
)
_ORGANS = re.compile(r"心|肺|支气管|气管|胃|十二指肠|结肠|直肠|肠|食管|肝|胆|胰|肾|输尿管|膀胱|尿道|前列腺|脑|甲状腺|肾上腺|关节|脊柱|腰椎|颈椎|子宫|卵巢|输卵管|宫颈|阴道|乳腺|皮肤|眼|结膜|角膜|耳|鼻|咽|喉|扁桃体|牙|血管|静脉|动脉|骨|阑尾|鼻窦")


def grade(prediction: str, reference: str, synonyms: tuple[str, ...] = ()) -> Literal["full", "core", "partial"] | None:
    """Grade a prediction: the same disease, the same but for a qualifier or one step up or down, or of one organ and family."""
    kind = relation(prediction, reference, synonyms)
    if kind == "same":
        return "full"
    ours, theirs = spoken(prediction), spoken(reference)
    if ours.negated or not ours.names or not theirs.names:
        return None
    if kind in ("narrower", "broader"):
        return "core" if any(_one_step(a, theirs.names[0]) for a in ours.names) else "partial"
    if any(a.head == theirs.names[0].head and a.sides != theirs.names[0].sides for a in ours.names):
        return "core"
    if kind == "sibling" or any(_akin(a, theirs.names[0]) for a in ours.names):
        return "partial"
    return None


def _one_step(a: Name, b: Name) -> bool:
    """Say whether two related names are parent and child, or differ in qualifiers alone."""
    diseases = Lexicon.load().diseases
    for child, parent in ((a, b), (b, a)):
        name = _spellings().get(child.full)
        if name is not None:
            above = [spelt(wide) for wide in diseases[name].broader]
            if parent.full in above:
                return above.index(parent.full) == 0 or len(above) <= 2
    return a.head == b.head or _includes(a.head, b.head) or _includes(b.head, a.head)


def _akin(a: Name, b: Name) -> bool:
    """Say whether two diseases are of one organ and one family (both …炎 of the stomach)."""
    ours, theirs = _FAMILY.search(a.head), _FAMILY.search(b.head)
    if not ours or not theirs or ours.group() != theirs.group():
        return False
    return bool(set(_ORGANS.findall(a.head)) & set(_ORGANS.findall(b.head)))
