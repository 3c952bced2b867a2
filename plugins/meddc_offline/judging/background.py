"""Questions about the person: general state, past, medicines, habits, family, earlier care."""

from __future__ import annotations

import re

from meddc_bench.text import normalise
from meddc_offline.judging.bounds import conception_apart
from meddc_offline.judging.concepts import Concepts, concepts, shared_events
from meddc_offline.judging.needs import Need
from meddc_offline.judging.targets import (
    CHIEF,
    MEASURES,
    MEDICINES,
    TYPED,
    VAGUE,
    Wanted,
    common_names,
    compatible,
    content_words,
    measured_apart,
    shared_words,
)
from meddc_offline.judging.vocabulary_bounds import CARRIED
from meddc_offline.lexicon import Lexicon

_CHRONIC = frozenset(
    {
        "慢病",
        "血压",
        "血糖",
        "血脂",
        "心脏病",
        "肝炎",
        "结核",
        "肾病",
        "胃病",
        "哮喘",
        "卒中",
        "痛风",
        "甲状腺",
        "风湿",
        "肿瘤",
        "精神病",
        "血栓",
    }
)
_HAPPENED = frozenset({"手术", "外伤", "住院", "输血"})
_CYCLE = frozenset({"末次", "经况", "周期", "经量", "痛经", "初潮", "生育", "孕情", "避孕", "白带", "哺乳"})
_STANDING = re.compile(
    r"平时|长期|一直|1直|经常|正在|现在|目前|在吃|在用|日常|平常|最近|近期|每天|常年|有没有吃着|还在"
)
_DONE = re.compile(r"(?:吃|用|打|抹|涂|服|喷|贴)(?:过|了)|自己")
_REMEDY = re.compile(r"药|针|膏|片|治|液|剂|处理|办法|措施|油|贴|丸|胶囊|激素|素")
_CARRIED = re.compile(CARRIED)
_BOWELS = frozenset({"尿频", "尿量", "睡", "食欲", "消瘦", "乏力", "口干", "变色", "意识", "情绪"})


def general(unit: Need, question: str, target: Wanted) -> str | None:
    """General state: sleep, appetite, bowels, bladder, weight, and the same measure of it."""
    shared = (unit.topics & target.question.topics) or (
        unit.topics & target.topics if not target.question.topics else frozenset()
    )
    if not shared and not common_names(unit, target, facts=False):
        return None
    if measured_apart(unit, target.question) or unit.aspects & {"tests", "radiate"} - target.question.aspects:
        return None
    ours = concepts(question)
    if (
        target.asks.events - _BOWELS
        and unit.aspects & MEASURES - target.question.aspects
        and not shared_events(ours, target.asks)
    ):
        return None
    if (
        ours.events - _BOWELS
        and (target.asks.events - _BOWELS or target.question.aspects & MEASURES)
        and not shared_events(ours, target.asks)
    ):
        return None
    return f"同问 {'、'.join(sorted(shared)) or '一般情况'}"


def past(unit: Need, question: str, target: Wanted) -> str | None:
    """Earlier illness: such an attack before, the same illness or operation, or openly any illness."""
    ours = concepts(question)
    if "before" in target.question.aspects and not (target.question.topics & _CHRONIC):
        alike = any(ours.events & told.events - CHIEF for told in (target.asks, *target.tells))
        if ("before" in unit.aspects and compatible(unit, target)) or (unit.past and alike):
            return "同问既往类似发作"
        return None
    if "before" in unit.aspects and not unit.topics and not unit.findings:
        return None
    theirs = target.question.topics
    shared = unit.topics & theirs & (_CHRONIC | _HAPPENED)
    if shared:
        return f"同问 {'、'.join(sorted(shared))}"
    return _past_illness(unit, ours, target)


def _past_illness(unit: Need, ours: Concepts, target: Wanted) -> str | None:
    """Match an illness asked in general with one named, where the facts or the question allow it."""
    theirs = target.question.topics
    if "制动" in ours.events and not theirs & unit.topics:
        return None
    illnesses, wanted_ones = unit.topics & _CHRONIC - {"慢病"}, theirs & _CHRONIC - {"慢病"}
    if target.asks.parts and ours.parts.isdisjoint(target.asks.parts) and illnesses - theirs:
        return None
    if unit.topics & target.topics & (_CHRONIC | _HAPPENED) and unit.topics - {"慢病"}:
        return "同问既往史" if not theirs or (theirs & _CHRONIC and unit.topics & _CHRONIC) else None
    if wanted_ones and illnesses and unit.topics.isdisjoint(wanted_ones | target.topics):
        return None
    told_illness = target.topics & _CHRONIC and not theirs
    if "慢病" in unit.topics and (theirs & _CHRONIC or _pasts(target.question) or told_illness):
        return "泛问既往疾病"
    if "慢病" in theirs and (unit.topics & _CHRONIC or (_pasts(unit) and not unit.topics & _HAPPENED)):
        return "问及一种既往疾病"
    named = common_names(unit, target) | shared_events(ours, target.asks) - CHIEF
    if named and (unit.past or _pasts(unit) or not target.question.past):
        return f"同问 {'、'.join(sorted(named))}"
    return None


def _pasts(one: Need) -> bool:
    findings = Lexicon.load().findings
    return any(name in findings and findings[name].kind == "past" for name in one.findings)


def medication(unit: Need, question: str, target: Wanted) -> str | None:
    """Medicines: the same drug or class, or openly any, with taking now and having taken kept apart."""
    ours, theirs = unit.topics & MEDICINES, target.question.topics & MEDICINES
    generic = "长期药" in unit.topics or ("treated" in unit.aspects and _REMEDY.search(question) is not None)
    wanted_generic = "长期药" in target.question.topics or "treated" in target.question.aspects
    if "过敏" in unit.topics:
        return None
    named = (
        ours & (theirs | target.topics)
        or common_names(unit, target)
        or concepts(question).events & target.asks.events & {"止痛药", "补铁染色"}
    )
    if named and (ours or generic or (not unit.attribute and _REMEDY.search(question))):
        return "同问一类药"
    if not (ours or generic) or (ours and not named and (theirs or target.topics & MEDICINES or not wanted_generic)):
        return None
    plain, other = normalise(question), normalise(target.text)
    if bool(_DONE.search(plain)) != bool(_DONE.search(other)) and bool(_STANDING.search(plain)) != bool(
        _STANDING.search(other)
    ):
        return None
    if (
        unit.aspects & {"dose", "effect"}
        and not target.question.aspects & {"dose", "effect"}
        and not re.search(r"什么药|哪些药|啥药", plain)
    ):
        return None
    if ours:
        return None
    return "同问用药" if generic and (wanted_generic or theirs) else None


def allergy(unit: Need, question: str, target: Wanted) -> str | None:
    """Allergy, to drugs or to food."""
    if "过敏" not in unit.topics:
        return "同问药物能否使用" if "抗生素" in unit.topics and re.search(r"能用|能打|皮试", question) else None
    ours, theirs = unit.topics & {"药敏", "食敏"}, target.question.topics & {"药敏", "食敏"}
    return None if ours and theirs and ours.isdisjoint(theirs) else "同问过敏"


def personal(unit: Need, question: str, target: Wanted) -> str | None:
    """Habits, work, travel, contacts and surroundings: the same thing."""
    theirs = target.question.topics
    shared = unit.topics & theirs - frozenset({"慢病", "外伤"}) or (
        frozenset() if theirs else unit.topics & target.topics
    )
    shared |= common_names(unit, target, facts=not theirs)
    ours = concepts(question)
    named = ours.events & target.asks.events - CHIEF
    if "接触" in theirs and "接触" not in unit.topics and not _CARRIED.search(normalise(question)):
        return None
    if named:
        return f"同问 {'、'.join(sorted(named))}"
    particular = target.asks.events - VAGUE - frozenset({"制动"})
    if shared and (particular or ours.events - VAGUE) and not (theirs - {"动物", "性生活"}) & unit.topics:
        return None
    return f"同问 {'、'.join(sorted(shared))}" if shared else shared_words(question, target) if not theirs else None


def obstetric(unit: Need, question: str, target: Wanted) -> str | None:
    """Menses, pregnancy and birth: the same part of that history."""
    ours, theirs = unit.topics & _CYCLE, target.question.topics & _CYCLE
    if ours & theirs == {"生育"} and conception_apart(question, target.text):
        return None
    if ours and theirs:
        whole = ("经况" in theirs and ours & {"周期", "经量"}) or ("经况" in ours and theirs & {"周期", "经量"})
        return f"同问 {'、'.join(sorted(ours & theirs)) or '月经情况'}" if ours & theirs or whole else None
    shared = unit.topics & target.question.topics | common_names(unit, target)
    if (ours and ours.isdisjoint(target.topics)) or (
        theirs and not ours and "月经" in unit.topics and "末次" in theirs and unit.attribute
    ):
        return None
    return f"同问 {'、'.join(sorted(shared))}" if shared else None


def development(unit: Need, question: str, target: Wanted) -> str | None:
    """Birth, feeding, vaccines and growth: the same part of them."""
    shared = unit.topics & target.question.topics | common_names(unit, target, facts=False)
    return f"同问 {'、'.join(sorted(shared))}" if shared else None


_KIN = frozenset({"慢病", "接触", "生育", "睡眠", "食欲"})
_RELATIVES = re.compile(
    r"家里人?|家族|家人|父母|爸妈|父亲|母亲|爸爸|妈妈|兄弟|姐妹|亲戚|亲人|直系|亲属|长辈|遗传性?|老人|方面|"
    r"毛病|疾病|"
    r"病史|病|得过|患|谁|类似"
)


def family(unit: Need, question: str, target: Wanted) -> str | None:
    """Illness of relatives: the same illness, or openly any."""
    if not unit.family:
        return None
    asks = concepts(question)
    ours = (unit.topics - _KIN) | unit.findings | (asks.events - CHIEF)
    theirs = (target.question.topics - _KIN) | target.question.findings | (target.asks.events - CHIEF)
    told = (target.topics - _KIN) | target.findings | frozenset().union(*(one.events for one in target.tells))
    if ours and (ours & (theirs | told) or common_names(unit, target)):
        return "同问家族史"
    if not ours and not _HEALTH.search(question):
        return None
    words = content_words(_RELATIVES.sub("", target.text))
    elsewhere = target.asks.parts and asks.parts.isdisjoint(target.asks.parts)
    if ours and (theirs or words or elsewhere) and not shared_words(_RELATIVES.sub("", question), target):
        return None
    return "同问家族史"


_HEALTH = re.compile(r"病|身体|健康|毛病|问题|史|遗传|类似|[1一]样|这种|同样|情况")
_TESTS = re.compile(
    r"血氧|指脉|氧气|妇科|宫颈|子宫|片|x光|体检|肝炎|乙肝|心电图|胃镜|肠镜|b超|彩超|超声|ct|磁共振|核磁|拍片|胸片|"
    r"抽血|血常规|验血|尿(?:检|常规)|验尿|血压|血糖|体温|心肌酶|脑电图|眼压|眼底|过敏原|糖化|尿酸|咽拭子|病原|抗体|"
    r"听力|化验|大便"
)
_SAME_TESTS = {
    "彩超": "b超",
    "超声": "b超",
    "血常规": "抽血",
    "验血": "抽血",
    "化验": "抽血",
    "核磁": "磁共振",
    "拍片": "片",
    "胸片": "片",
    "x光": "片",
    "指脉": "血氧",
    "氧气": "血氧",
    "尿检": "验尿",
    "尿常规": "验尿",
    "乙肝": "肝炎",
}
_HANDS = re.compile(r"推拿|理疗|按摩|针灸|拔罐")


def examinations(text: str) -> frozenset[str]:
    """Name the examinations a text speaks of, synonyms as one."""
    return frozenset(_SAME_TESTS.get(found, found) for found in _TESTS.findall(normalise(text)))


def prior_care(unit: Need, question: str, target: Wanted) -> str | None:
    """Care before this visit: seen, examined (the same test), treated, with what effect."""
    asked = target.question.aspects & TYPED["prior_care"]
    common = unit.aspects & asked
    if not common or not compatible(unit, target):
        return None
    plain, other = normalise(question), normalise(target.text)
    if (
        "effect" in unit.aspects
        and "effect" not in asked
        and common <= {"treated"}
        and not re.search(r"什么|哪些|啥", plain)
    ):
        return None
    if common <= {"treated"} and _STANDING.search(plain) and not _DONE.search(plain) and not _STANDING.search(other):
        return None
    if unit.topics & {"过敏"} and "过敏" not in target.question.topics:
        return None
    drugs = unit.topics & MEDICINES
    if (
        common <= {"treated", "effect"}
        and drugs
        and drugs.isdisjoint(target.question.topics | target.topics)
        and not target.question.attribute
    ):
        return None
    if _HANDS.search(other) and "药" not in other and not _HANDS.search(plain) and "药" in plain:
        return None
    ours, theirs = examinations(plain), examinations(other)
    for fact in target.told if not theirs or "什么" in other or "哪些" in other else ():
        theirs |= examinations(fact)
    if common <= {"tests"} and ours and theirs and ours.isdisjoint(theirs):
        return None
    return f"同问 {'、'.join(sorted(common))}"
