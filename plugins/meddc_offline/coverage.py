"""Whether a doctor's question asks the information need of a target, and whether a patient's turn already told it."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

import msgspec

from meddc_bench.text import clauses, normalise, question_units, same, similarity, squash
from meddc_offline.concepts import LOOSE, Concepts, concepts, shared_events
from meddc_offline.lexicon import Lexicon
from meddc_offline.units import Need, need


class Wanted(msgspec.Struct, frozen=True):
    """A target taken apart: its question's need, and the findings and topics of its question and facts."""

    text: str
    type: str
    question: Need
    findings: frozenset[str]
    wider: frozenset[str]
    topics: frozenset[str]
    complaints: frozenset[str]
    factors: frozenset[str]
    asks: Concepts
    tells: tuple[Concepts, ...]


@lru_cache(maxsize=4096)
def wanted(text: str, inquiry_type: str, facts: tuple[str, ...]) -> Wanted:
    """Prepare a target once."""
    question, told = need(text), [need(fact) for fact in facts]
    return Wanted(
        text,
        inquiry_type,
        question,
        frozenset().union(*(one.findings for one in told)),
        frozenset().union(question.wider, *(one.wider for one in told)),
        frozenset().union(*(one.topics for one in told)),
        frozenset().union(question.complaints, *(one.complaints for one in told)),
        frozenset().union(*(one.factors for one in told)),
        concepts(text),
        tuple(concepts(fact) for fact in facts),
    )


_TYPED: dict[str, frozenset[str]] = {
    "onset": frozenset({"when", "manner"}),
    "trigger": frozenset({"cause"}),
    "site": frozenset({"where", "radiate"}),
    "character": frozenset({"quality", "colour", "amount"}),
    "severity": frozenset({"degree", "impact", "temperature", "amount", "frequency"}),
    "course": frozenset({"each", "frequency", "pattern", "progress", "timing", "before", "when"}),
    "prior_care": frozenset({"seen", "tests", "treated", "effect"}),
}
_CHRONIC = frozenset({"慢病", "血压", "血糖", "血脂", "心脏病", "肝炎", "结核", "肾病", "胃病", "哮喘", "卒中", "痛风", "甲状腺", "风湿", "肿瘤", "精神病", "血栓"})
_MEDICINES = frozenset({"止痛药", "抗凝药", "降压药", "降糖药", "激素", "抗生素", "中药", "保健品", "避孕药", "安眠药", "新药"})
_CYCLE = frozenset({"末次", "经况", "周期", "经量", "痛经", "初潮", "生育", "孕情", "避孕", "白带", "哺乳"})
_STANDING = re.compile(r"平时|长期|一直|1直|经常|正在|现在|目前|在吃|在用|日常|平常|最近|近期|每天|常年|有没有吃着|还在")
_DONE = re.compile(r"(?:吃|用|打|抹|涂|服|喷|贴)(?:过|了)|自己")
_MEASURES = frozenset({"colour", "frequency", "amount", "when", "each", "timing"})
_TESTS = re.compile(r"血氧|指脉|氧气|妇科|宫颈|子宫|片|x光|体检|肝炎|乙肝|心电图|胃镜|肠镜|b超|彩超|超声|ct|磁共振|核磁|拍片|胸片|抽血|血常规|验血|尿(?:检|常规)|验尿|血压|血糖|体温|心肌酶|脑电图|眼压|听力|化验|大便")
_BODY = re.compile(r"胸|腹|肚|腰|背|膝|腿|脚|足|肩|眼|耳|咽|喉|嗓|鼻|牙|手|颈|脖|肛|乳|阴|关节|皮")
_ALIKE = {"肚": "腹", "嗓": "喉", "咽": "喉", "足": "脚", "脖": "颈"}


def covers(question: str, target: Wanted) -> str | None:
    """Say why a question covers a target; None when it does not. A question of several units covers if one of them does."""
    if same(question, target.text):
        return "同一问题"
    units = [unit.quote for unit in question_units(question)]
    for text in (question, *units) if len(units) > 1 else (question,):
        if (reason := _covers(text, target)) is not None:
            return reason
    return None


_LAST = re.compile(r"(?:上|这|最近)[一1]?(?:回|次)(?!来|月经|例假)")


def _covers(question: str, target: Wanted) -> str | None:
    unit = need(question)
    if unit.open and not target.question.open:
        return None
    if unit.sides and target.question.sides and unit.sides.isdisjoint(target.question.sides):
        return None
    if unit.family != (target.type == "family" or target.question.family) and not (
        target.type == "personal" and "接触" in unit.topics | target.question.topics
    ):
        return None
    if _LAST.search(question) and not _LAST.search(target.text) and target.type in ("onset", "course"):
        return None
    reason = _RULES.get(target.type, _typed)(unit, question, target) or _named_alike(unit, question, target)
    if reason is None and similarity(question, target.text) >= 0.8 and unit.aspects == target.question.aspects and unit.topics == target.question.topics and unit.findings == target.question.findings:
        return "问法相近"
    return reason


def _shared(unit: Need, target: Wanted, *, facts: bool = True) -> frozenset[str]:
    """List the findings and topics that a unit and a target have in common, a more general one counting for its kinds."""
    theirs = target.question.findings | (target.findings if facts else frozenset())
    found = unit.findings & theirs
    found |= unit.findings & (target.wider if facts else target.question.wider)
    found |= theirs & unit.wider
    return found


def _typed(unit: Need, question: str, target: Wanted) -> str | None:
    """Onset, site, character, severity, course: the same aspect of a compatible complaint."""
    allowed = _TYPED[target.type]
    asked = target.question.aspects & (allowed | _FIRM) or target.question.aspects
    if target.type == "site" and (parts := _spreads(unit, question, target)):
        return f"问及部位 {'、'.join(sorted(parts))}"
    common = unit.aspects & asked
    if not common:
        return None
    if not _compatible(unit, target) or not _topics_agree(unit, target) or not _events_agree(question, target):
        return None
    if target.type != "site" and _elsewhere(question, target):
        return None
    if "before" in unit.aspects and "before" not in target.question.aspects:
        return None
    return f"同问 {'、'.join(sorted(common))}"


_FIRM = frozenset({"where", "radiate", "each", "when"})


def _spreads(unit: Need, question: str, target: Wanted) -> frozenset[str]:
    """List the parts a yes-or-no unit names of those the facts tell beyond the target's question: 屁股、大腿疼不疼？"""
    ours = concepts(question)
    told = frozenset().union(*(one.parts for one in target.tells)) - target.asks.parts
    alike = ours.events & target.asks.events.union(*(one.events for one in target.tells))
    return ours.parts & told if alike and not unit.aspects & {"when", "frequency", "cause"} else frozenset()


def _compatible(unit: Need, target: Wanted) -> bool:
    """Say whether a unit asks about the target's complaint; an elided subject does."""
    ours = unit.complaints
    theirs = target.question.complaints | target.complaints
    if ours and theirs and not _near(ours, theirs):
        return False
    return True


_VAGUE = frozenset({"痛", "发凉", "变色", "睡", "食欲", "制动", "防护", "旅居", "洗护", "反应", "关节", "步态", "困", "情绪", "饥饿"})


def _elsewhere(question: str, target: Wanted) -> bool:
    """Say whether a unit names other parts of the body than the target and its facts do."""
    ours = concepts(question).parts
    theirs = target.asks.parts.union(*(told.parts for told in target.tells))
    return bool(ours and target.asks.parts and ours.isdisjoint(theirs))


def _events_agree(question: str, target: Wanted) -> bool:
    """Refuse a typed unit that names another trouble than the target and its facts do."""
    ours = concepts(question)
    named = (ours.events | ours.scene) - _VAGUE - ({"外伤", "感冒"} if target.type not in ("onset", "course") else frozenset())
    theirs = target.asks.events | target.asks.scene
    for told in target.tells:
        theirs |= told.events | told.scene
    return not named or not theirs or bool(named & theirs)


def _near(ours: frozenset[str], theirs: frozenset[str]) -> bool:
    lexicon = Lexicon.load()
    if ours & theirs or any(lexicon.ancestors(name) & theirs for name in ours):
        return True
    if any(lexicon.ancestors(name) & ours for name in theirs):
        return True
    return bool(_parts(ours) & _parts(theirs))


@lru_cache(maxsize=8192)
def _parts(names: frozenset[str]) -> frozenset[str]:
    return frozenset(_ALIKE.get(part, part) for name in names for part in _BODY.findall(name))


def _topics_agree(unit: Need, target: Wanted) -> bool:
    """Refuse a unit about bowel, bladder, sleep ... when the target is about another such thing."""
    plain = frozenset({"大便", "小便", "睡眠", "食欲", "体重", "月经", "烟", "酒", "口渴", "白带"})
    ours, theirs = unit.topics & plain, target.question.topics & plain
    if not ours:
        return True
    return bool(ours & (theirs | target.topics)) or bool(_shared(unit, target))


def _trigger(unit: Need, question: str, target: Wanted) -> str | None:
    ours = concepts(question)
    named = shared_events(ours, target.asks)
    for told in target.tells:
        named |= ours.events & told.events - _CHIEF
    if named and not unit.attribute and ("cause" in unit.aspects or "cause" not in target.question.aspects):
        return f"同问诱因 {'、'.join(sorted(named))}"
    if "cause" not in unit.aspects or "职业" in unit.topics and "职业" not in target.question.topics:
        return None
    if not _compatible(unit, target):
        return None
    told_ones = target.factors | target.topics | target.findings
    ours_are, theirs = _occasions(unit), _occasions(target.question)
    if ours_are and not ours_are & (theirs | told_ones):
        return "泛问诱因" if _CAUSES.search(question) and not theirs else None
    if not ours_are and "cause" not in target.question.aspects:
        return None
    return "同问诱因"


_CAUSES = re.compile(r"诱因|原因|缘故|起因|什么情况|比如|或者|、")


def _occasions(one: Need) -> frozenset[str]:
    """Name what an occasion was: food, cold, exertion, injury, a drug ..."""
    topics = one.topics & frozenset({"外伤", "接触", "动物", "口味", "旅居", "作息", "酒", "新药", "环境", "性生活", "食敏"})
    return topics | (one.factors & frozenset({"饮食", "冷热", "活动", "情绪", "体位"}))


_CHANGE = re.compile(r"影响|变化|关系|引得|扯着|反应|有关")


def _modifying(unit: Need, question: str, target: Wanted) -> str | None:
    ways = frozenset({"relief", "worse"})
    ours, theirs = unit.aspects & ways, target.question.aspects & ways
    changes = _CHANGE.search(question) is not None
    if not _compatible(unit, target) or unit.topics & _MEDICINES - target.topics and "药物" not in target.question.factors:
        return None
    same_factors = unit.factors & target.question.factors
    if same_factors and (ours or changes or not unit.attribute) and not (unit.aspects & {"treated", "dose"} and "药物" not in same_factors):
        return f"同问影响因素 {'、'.join(sorted(same_factors))}"
    if not ours and not changes:
        return None
    if unit.factors and target.question.factors:
        return None
    if unit.factors and unit.factors.isdisjoint(target.factors):
        return None
    if theirs and ours and ours.isdisjoint(theirs):
        return None
    if not unit.factors and target.question.factors:
        return "泛问加重缓解" if unit.attribute and len(target.question.factors) > 1 else None
    return "同问加重缓解" if theirs or unit.factors else None


def _named_alike(unit: Need, question: str, target: Wanted) -> str | None:
    """For a target of another type whose question only asks whether something is there: the same thing by the thesaurus."""
    if target.type in ("associated", "family", "allergy", "medication", "onset") or target.question.attribute:
        return None
    extra = (unit.aspects - target.question.aspects) & (_ATTRIBUTES | {"timing", "progress", "before", "tests", "amount", "degree", "radiate"})
    if extra or unit.attribute:
        return None
    ours = concepts(question)
    events = shared_events(ours, target.asks) - _CHIEF
    if target.type in _TYPED and target.type != "prior_care" and not (ours.parts & target.asks.parts and "where" not in target.question.aspects):
        events -= LOOSE
    return f"同问 {'、'.join(sorted(events))}" if events and not _narrowed(ours, target.asks, events) else None


_CHIEF = frozenset({"痛", "睡", "食欲", "关节"})

_EXISTS = re.compile(r"有没有|有无|([一-鿿])不\1|([一-鿿])没\2")
_ATTRIBUTES = frozenset({"colour", "when", "where", "frequency", "each", "cause", "relief", "treated", "effect"})


def _associated(unit: Need, question: str, target: Wanted) -> str | None:
    """The same accompanying symptom, by the thesaurus, the lexicon or its words."""
    extra = unit.aspects & _ATTRIBUTES - target.question.aspects
    if extra and unit.attribute and not target.question.attribute and not _EXISTS.search(question):
        return None
    if "before" in unit.aspects and "before" not in target.question.aspects:
        return None
    ours = concepts(question)
    events = shared_events(ours, target.asks)
    for told in target.tells if not events and not unit.attribute else ():
        events |= shared_events(ours, told) - target.asks.scene - LOOSE
    if events and not _narrowed(ours, target.asks, events):
        return f"同问 {'、'.join(sorted(events))}"
    shared = _shared(unit, target, facts=False)
    if not shared and not unit.attribute:
        shared = (unit.findings & target.findings) - target.question.setting
    if shared and not (ours.events <= LOOSE and ours.parts and target.asks.parts and ours.parts.isdisjoint(target.asks.parts)):
        return f"同问 {'、'.join(sorted(shared))}"
    return _words(question, target) if not unit.findings and not ours.events else None


def _narrowed(ours: Concepts, theirs: Concepts, events: frozenset[str]) -> bool:
    """Say whether two questions share only 痛 or the like while each names another trouble."""
    return events <= LOOSE and bool(ours.events - events) and bool(theirs.events - events) and not ours.parts & theirs.parts


def _measured_apart(unit: Need, other: Need) -> bool:
    ours, theirs = unit.aspects & _MEASURES, other.aspects & _MEASURES
    return bool(ours and theirs and ours.isdisjoint(theirs))


_FILLER = re.compile(
    r"有没有|有无|是否|是不是|会不会|什么|怎么|哪里|时候|您|你|孩子|宝宝|现在|最近|平时|觉得|感觉|出现|过|吗|呢|了|的|得|那|这|还|也|就|都|和|跟|或|有|没|会|能|在|是|不|请问|一下|情况|症状|别的|其他|以前|之前|身上|自己|两|一|点|些|1|2|比如"
)


def _words(question: str, target: Wanted) -> str | None:
    """Compare the content words of two questions when the lexicon knows none of them."""
    ours, theirs = _pieces(question), _pieces(target.text)
    common = {word for word in ours if any(word in other for other in theirs)}
    return f"同词 {'、'.join(sorted(common))}" if common else None


@lru_cache(maxsize=8192)
def _pieces(text: str) -> frozenset[str]:
    parts = _FILLER.sub("|", re.sub(r"[^\w]", "|", normalise(text))).split("|")
    return frozenset(part for part in parts if len(part) >= 2)


def _general(unit: Need, question: str, target: Wanted) -> str | None:
    shared = (unit.topics & target.question.topics) or (unit.topics & target.topics if not target.question.topics else frozenset())
    if not shared and not _shared(unit, target, facts=False):
        return None
    if _measured_apart(unit, target.question) or unit.aspects & {"tests", "radiate"} - target.question.aspects:
        return None
    ours = concepts(question)
    if target.asks.events - _BOWELS and unit.aspects & _MEASURES - target.question.aspects and not shared_events(ours, target.asks):
        return None
    if ours.events - _BOWELS and (target.asks.events - _BOWELS or target.question.aspects & _MEASURES) and not shared_events(ours, target.asks):
        return None
    return f"同问 {'、'.join(sorted(shared)) or '一般情况'}"


_BOWELS = frozenset({"尿频", "尿量", "睡", "食欲", "消瘦", "乏力", "口干", "变色", "意识", "情绪"})


def _past(unit: Need, question: str, target: Wanted) -> str | None:
    if "before" in target.question.aspects and not (target.question.topics & _CHRONIC):
        ours = concepts(question)
        alike = any(ours.events & told.events - _CHIEF for told in (target.asks, *target.tells))
        if "before" in unit.aspects and _compatible(unit, target) or unit.past and alike:
            return "同问既往类似发作"
        return None
    if "before" in unit.aspects and not unit.topics and not unit.findings:
        return None
    if "当前" in unit.topics or (unit.aspects & frozenset({"control", "dose"}) and not target.question.aspects & frozenset({"control", "dose"})):
        return None
    theirs = target.question.topics
    shared = unit.topics & theirs
    if shared:
        return f"同问 {'、'.join(sorted(shared))}"
    if unit.topics & target.topics & (_CHRONIC | frozenset({"手术", "外伤", "住院", "输血"})) and (unit.topics - {"慢病"}):
        return "同问既往史" if not theirs or theirs & _CHRONIC and unit.topics & _CHRONIC else None
    specific = (theirs & _CHRONIC) - {"慢病"}
    if specific and unit.topics & _CHRONIC - {"慢病"} and unit.topics.isdisjoint(specific | target.topics):
        return None
    if "慢病" in unit.topics and (theirs & _CHRONIC or _pasts(target.question) or target.topics & _CHRONIC and not theirs):
        return "泛问既往疾病"
    if "慢病" in theirs and (unit.topics & _CHRONIC or _pasts(unit)):
        return "问及一种既往疾病"
    named = _shared(unit, target) | shared_events(concepts(question), target.asks) - _CHIEF
    if named and (unit.past or _pasts(unit) or not target.question.past):
        return f"同问 {'、'.join(sorted(named))}"
    return None


def _pasts(one: Need) -> bool:
    findings = Lexicon.load().findings
    return any(name in findings and findings[name].kind == "past" for name in one.findings)


def _medication(unit: Need, question: str, target: Wanted) -> str | None:
    ours, theirs = unit.topics & _MEDICINES, target.question.topics & _MEDICINES
    generic = "长期药" in unit.topics or "treated" in unit.aspects
    wanted_generic = "长期药" in target.question.topics or "treated" in target.question.aspects
    if "过敏" in unit.topics:
        return None
    named = ours & (theirs | target.topics) or _shared(unit, target) or concepts(question).events & target.asks.events & {"止痛药", "补铁染色"}
    if named and (ours or generic or not unit.attribute):
        return "同问一类药"
    if not (ours or generic) or ours and not named and (theirs or target.topics & _MEDICINES or not wanted_generic):
        return None
    plain, other = normalise(question), normalise(target.text)
    if bool(_DONE.search(plain)) != bool(_DONE.search(other)) and bool(_STANDING.search(plain)) != bool(_STANDING.search(other)):
        return None
    if unit.aspects & {"dose", "effect"} and not target.question.aspects & {"dose", "effect"} and not re.search(r"什么药|哪些药|啥药", plain):
        return None
    if ours:
        return None
    return "同问用药" if generic and (wanted_generic or theirs) else None


def _allergy(unit: Need, question: str, target: Wanted) -> str | None:
    if "过敏" not in unit.topics:
        return "同问药物能否使用" if "抗生素" in unit.topics and re.search(r"能用|能打|皮试", question) else None
    ours, theirs = unit.topics & {"药敏", "食敏"}, target.question.topics & {"药敏", "食敏"}
    return None if ours and theirs and ours.isdisjoint(theirs) else "同问过敏"


def _personal(unit: Need, question: str, target: Wanted) -> str | None:
    theirs = target.question.topics
    shared = unit.topics & theirs - frozenset({"慢病", "外伤"}) or (frozenset() if theirs else unit.topics & target.topics)
    shared |= _shared(unit, target, facts=not theirs)
    ours = concepts(question)
    named = ours.events & target.asks.events - _CHIEF
    if named:
        return f"同问 {'、'.join(sorted(named))}"
    particular = target.asks.events - _VAGUE - frozenset({"制动"})
    if shared and (particular or ours.events - _VAGUE) and not (theirs - {"动物", "性生活"}) & unit.topics:
        return None
    return f"同问 {'、'.join(sorted(shared))}" if shared else _words(question, target) if not theirs else None


def _obstetric(unit: Need, question: str, target: Wanted) -> str | None:
    ours, theirs = unit.topics & _CYCLE, target.question.topics & _CYCLE
    if ours and theirs:
        whole = "经况" in theirs and ours & {"周期", "经量"} or "经况" in ours and theirs & {"周期", "经量"}
        return f"同问 {'、'.join(sorted(ours & theirs)) or '月经情况'}" if ours & theirs or whole else None
    shared = unit.topics & target.question.topics | _shared(unit, target)
    if ours and ours.isdisjoint(target.topics) or theirs and not ours and "月经" in unit.topics and "末次" in theirs and unit.attribute:
        return None
    return f"同问 {'、'.join(sorted(shared))}" if shared else None


def _development(unit: Need, question: str, target: Wanted) -> str | None:
    shared = unit.topics & target.question.topics | _shared(unit, target, facts=False)
    return f"同问 {'、'.join(sorted(shared))}" if shared else None


_KIN = frozenset({"慢病", "接触", "生育", "睡眠", "食欲"})


def _family(unit: Need, question: str, target: Wanted) -> str | None:
    if not unit.family:
        return None
    asks = concepts(question)
    ours = (unit.topics - _KIN) | unit.findings | (asks.events - _CHIEF)
    theirs = (target.question.topics - _KIN) | target.question.findings | (target.asks.events - _CHIEF)
    told = (target.topics - _KIN) | target.findings | frozenset().union(*(one.events for one in target.tells))
    if ours and (ours & (theirs | told) or _shared(unit, target)):
        return "同问家族史"
    words = _pieces(_RELATIVES.sub("", target.text))
    if ours and (theirs or words) and not _words(_RELATIVES.sub("", question), target):
        return None
    return "同问家族史"


_RELATIVES = re.compile(r"家里人?|家族|家人|父母|爸妈|父亲|母亲|爸爸|妈妈|兄弟|姐妹|亲戚|亲人|直系|亲属|长辈|遗传性?|老人|方面|毛病|疾病|病史|病|得过|患|谁|类似")


def _prior_care(unit: Need, question: str, target: Wanted) -> str | None:
    asked = target.question.aspects & _TYPED["prior_care"]
    common = unit.aspects & (asked or _TYPED["prior_care"])
    if not common or not _compatible(unit, target):
        return None
    plain, other = normalise(question), normalise(target.text)
    if "effect" in unit.aspects and "effect" not in asked and common <= {"treated"} and not re.search(r"什么|哪些|啥", plain):
        return None
    if common <= {"treated"} and _STANDING.search(plain) and not _DONE.search(plain) and not _STANDING.search(other):
        return None
    if _HANDS.search(other) and "药" not in other and not _HANDS.search(plain) and "药" in plain:
        return None
    ours, theirs = set(_TESTS.findall(plain)), set(_TESTS.findall(other))
    if common <= {"tests"} and ours and theirs and ours.isdisjoint(theirs):
        return None
    return f"同问 {'、'.join(sorted(common))}"


_HANDS = re.compile(r"推拿|理疗|按摩|针灸|拔罐")

_RULES: dict[str, Callable[[Need, str, Wanted], str | None]] = {
    "trigger": _trigger,
    "modifying": _modifying,
    "associated": _associated,
    "general": _general,
    "past": _past,
    "medication": _medication,
    "allergy": _allergy,
    "personal": _personal,
    "obstetric": _obstetric,
    "development": _development,
    "family": _family,
    "prior_care": _prior_care,
}


def volunteered(turn: str, facts: tuple[str, ...]) -> str | None:
    """Quote where a patient's turn already tells the content of a fact with the same polarity; None when it does not."""
    for fact in facts:
        for quote in (_told_whole(turn, fact), _told_findings(turn, fact)):
            if quote:
                return quote
    return None


def _told_whole(turn: str, fact: str) -> str | None:
    """Find the clause run of a turn that holds most of a fact's content words and all of its numbers."""
    words, numbers = _pieces(fact), set(re.findall(r"\d+(?:\.\d+)?", normalise(fact)))
    if squash(fact) and squash(fact) in squash(turn):
        words = frozenset({squash(fact)})
    told = squash(turn)
    if not words or not numbers <= set(re.findall(r"\d+(?:\.\d+)?", normalise(turn))):
        return None
    hits = [word for word in words if word in told]
    if sum(map(len, hits)) < 0.75 * sum(map(len, words)) or _contrary(turn, fact):
        return None
    spans = [span for span in clauses(turn) if any(word in squash(span.text) for word in hits)]
    return turn[spans[0].start : spans[-1].end] if spans else None


def _told_findings(turn: str, fact: str) -> str | None:
    """Find in a turn all the findings a fact states (two at least, or one and its number), each with the same polarity."""
    lexicon = Lexicon.load()
    theirs = {(mention.name, mention.polarity) for mention in lexicon.find(fact) if mention.subject == "patient"}
    numbers = set(re.findall(r"\d+(?:\.\d+)?", normalise(fact)))
    ours = [mention for mention in lexicon.find(turn) if mention.subject == "patient"]
    hits = [mention for mention in ours if (mention.name, mention.polarity) in theirs]
    if {(mention.name, mention.polarity) for mention in hits} != theirs or not numbers <= set(re.findall(r"\d+(?:\.\d+)?", normalise(turn))):
        return None
    covered = sum(mention.end - mention.start for mention in lexicon.find(fact))
    if len(theirs) + bool(numbers) < 2 and covered < 0.6 * len(squash(fact)):
        return None
    return turn[min(hit.start for hit in hits) : max(hit.end for hit in hits)] if hits else None


def _contrary(turn: str, fact: str) -> bool:
    """Say whether a turn states a finding of the fact with the other polarity."""
    lexicon = Lexicon.load()
    theirs = {mention.name: mention.polarity for mention in lexicon.find(fact)}
    return any(
        mention.name in theirs and {mention.polarity, theirs[mention.name]} == {"present", "absent"} for mention in lexicon.find(turn)
    )
