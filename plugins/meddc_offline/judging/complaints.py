"""Questions about the complaint: onset, site, character, severity, course, trigger, company."""

from __future__ import annotations

import re

from meddc_bench.text import normalise
from meddc_offline.judging.bounds import asks_hours, bounded_apart, moves_apart, outcome_only
from meddc_offline.judging.concepts import LOOSE, Concepts, concepts, shared_events
from meddc_offline.judging.needs import Need, need
from meddc_offline.judging.shares import asks_state, elsewhere, same_act, spreads
from meddc_offline.judging.targets import CHIEF, MEDICINES, TYPED, VAGUE, Wanted, common_names, compatible, shared_words
from meddc_offline.judging.vocabulary_bounds import TENDS

_FIRM = frozenset({"where", "radiate", "each", "when", "temperature"})


def typed(unit: Need, question: str, target: Wanted) -> str | None:
    """Onset, site, character, severity, course: the same aspect of a compatible complaint."""
    allowed = TYPED[target.type]
    asked = target.question.aspects & (allowed | _FIRM) or target.question.aspects
    if target.type == "site" and (parts := spreads(unit, question, target)):
        return f"问及部位 {'、'.join(sorted(parts))}"
    if (others := elsewhere(question, target)) or (others := asks_state(unit, question, target)):
        return f"同问 {'、'.join(sorted(others))}"
    common = unit.aspects & asked
    if not common:
        return None
    if not compatible(unit, target) or not _topics_agree(unit, target) or not _events_agree(question, target):
        return None
    if target.type != "site" and _elsewhere(question, target):
        return None
    if "before" in unit.aspects and "before" not in target.question.aspects:
        return None
    if moves_apart(unit, question, target) or bounded_apart(common, question, target):
        return None
    return f"同问 {'、'.join(sorted(common))}"


def _elsewhere(question: str, target: Wanted) -> bool:
    """Say whether a unit names other parts of the body than the target and its facts do."""
    ours = concepts(question).parts
    theirs = target.asks.parts.union(*(told.parts for told in target.tells))
    return bool(ours and target.asks.parts and ours.isdisjoint(theirs))


def _events_agree(question: str, target: Wanted) -> bool:
    """Refuse a typed unit that names another trouble than the target and its facts do."""
    ours = concepts(question)
    named = (
        (ours.events | ours.scene)
        - VAGUE
        - ({"外伤", "感冒"} if target.type not in ("onset", "course") else frozenset())
    )
    theirs = target.asks.events | target.asks.scene
    for told in target.tells:
        theirs |= told.events | told.scene
    return not named or not theirs or bool(named & theirs)


def _topics_agree(unit: Need, target: Wanted) -> bool:
    """Refuse a unit about bowel, bladder, sleep ... when the target is about another such thing."""
    plain = frozenset({"大便", "小便", "睡眠", "食欲", "体重", "月经", "烟", "酒", "口渴", "白带"})
    ours, theirs = unit.topics & plain, target.question.topics & plain
    if not ours:
        return True
    return bool(ours & (theirs | target.topics)) or bool(common_names(unit, target))


_CAUSE_WORDS = re.compile(r"诱因|原因|缘故|起因|什么(?:情况|动作|场合|东西)|在(?:做|干)|怎么(?:弄|引|被)|打击|变故")
_CAUSES = re.compile(r"诱因|原因|缘故|起因|什么情况|比如|或者|、")


def trigger(unit: Need, question: str, target: Wanted) -> str | None:
    """What set it off: the same occasion, or openly any."""
    ours = concepts(question)
    named = shared_events(ours, target.asks) - CHIEF
    for told in target.tells:
        named |= ours.events & told.events - CHIEF - target.asks.scene
    if named and not unit.attribute and ("cause" in unit.aspects or "cause" not in target.question.aspects):
        return f"同问诱因 {'、'.join(sorted(named))}"
    occasions, theirs = _occasions(unit), _occasions(target.question)
    if "cause" in unit.aspects and not theirs and _CAUSE_WORDS.search(target.text) and re.search(r"、|或者?", question):
        return "列举诱因"
    if occasions & theirs and _LATELY.search(question) and compatible(unit, target):
        return f"同问 {'、'.join(sorted(occasions & theirs))}"
    if ours.events - CHIEF - target.asks.scene and not named and target.tells and not _CAUSE_WORDS.search(question):
        return None
    if "cause" not in unit.aspects or ("职业" in unit.topics and "职业" not in target.question.topics):
        return None
    return _occasioned(unit, question, target) if compatible(unit, target) else None


_LATELY = re.compile(r"近|昨|前[1一2两几]?天|当天|那天|发病前|病前|头天")


def _occasioned(unit: Need, question: str, target: Wanted) -> str | None:
    """Compare the occasions a cause question names with those the target asks or tells."""
    told = target.factors | target.topics | target.findings
    ours, theirs = _occasions(unit), _occasions(target.question)
    if ours and not ours & (theirs | told):
        return "泛问诱因" if _CAUSES.search(question) and not theirs else None
    if not ours and "cause" not in target.question.aspects:
        return None
    return "同问诱因"


def _occasions(one: Need) -> frozenset[str]:
    """Name what an occasion was: food, cold, exertion, injury, a drug ..."""
    topics = one.topics & frozenset(
        {"外伤", "接触", "动物", "口味", "旅居", "作息", "酒", "新药", "环境", "性生活", "食敏"}
    )
    return topics | (one.factors & frozenset({"饮食", "冷热", "活动", "情绪", "体位"}))


_TENDS = re.compile(TENDS)
_CHANGE = re.compile(r"影响|变化|关系|引得|扯着|反应|有关")


def modifying(unit: Need, question: str, target: Wanted) -> str | None:
    """What makes it better or worse: the same factor, or openly in the same direction."""
    ways = frozenset({"relief", "worse"})
    ours, theirs = unit.aspects & ways, target.question.aspects & ways
    changes = _CHANGE.search(question) is not None
    tends = _TENDS.search(normalise(question)) is not None
    if "timing" in unit.aspects and asks_hours(question) and "时辰" not in target.question.factors | target.factors:
        return None
    if unit.topics & MEDICINES - target.topics and "药物" not in target.question.factors:
        return None
    same_factors = unit.factors & target.question.factors
    treated = unit.aspects & {"treated", "dose"} and "药物" not in same_factors
    if (
        same_factors
        and (ours or changes or tends)
        and not treated
        and (compatible(unit, target) or _hurts(question, target))
    ):
        return f"同问影响因素 {'、'.join(sorted(same_factors))}"
    if not (ours or changes) or (not ours and unit.aspects & {"progress", "pattern"}) or not compatible(unit, target):
        return None
    return _openly(unit, ours, theirs, target)


def _hurts(question: str, target: Wanted) -> bool:
    return bool(concepts(question).events & target.asks.events)


def _openly(unit: Need, ours: frozenset[str], theirs: frozenset[str], target: Wanted) -> str | None:
    """Match questions one of which names no factor: 什么情况下会加重, or a factor the facts tell."""
    if unit.factors and (target.question.factors or unit.factors.isdisjoint(target.factors)):
        return None
    if theirs and ours and ours.isdisjoint(theirs):
        return None
    if not unit.factors and target.question.factors:
        return "泛问加重缓解" if unit.attribute and len(target.question.factors) > 1 else None
    return "同问加重缓解" if theirs or unit.factors else None


def named_alike(unit: Need, question: str, target: Wanted) -> str | None:
    """Serve a target of another type that only asks whether something is there: the same thing by the thesaurus."""
    if target.type in ("associated", "family", "allergy", "medication", "onset") or target.question.attribute:
        return None
    extra = (unit.aspects - target.question.aspects) & (
        _ATTRIBUTES | {"timing", "progress", "before", "tests", "amount", "degree", "radiate"}
    )
    if extra or unit.attribute:
        return None
    if target.type == "prior_care" and not unit.aspects & TYPED["prior_care"]:
        return None
    if target.type == "past" and target.question.past and not (unit.past or "before" in unit.aspects):
        return None
    ours = concepts(question)
    events = shared_events(ours, target.asks) - CHIEF
    if outcome_only(question, target, events):
        return None
    if (
        target.type in TYPED
        and target.type != "prior_care"
        and not (ours.parts & target.asks.parts and "where" not in target.question.aspects)
    ):
        events -= LOOSE
    return f"同问 {'、'.join(sorted(events))}" if events and not _narrowed(ours, target.asks, events) else None


_PAINS = frozenset(
    {
        "radiate",
        "where",
        "degree",
        "manner",
        "pattern",
        "progress",
        "quality",
        "relief",
        "worse",
        "impact",
        "timing",
        "each",
        "frequency",
        "treated",
        "dose",
    }
)
_SETTINGS = frozenset({"睡", "食欲"})
_EXISTS = re.compile(r"有没有|有无|([一-鿿])不\1|([一-鿿])没\2")
_ATTRIBUTES = frozenset(
    {
        "worse",
        "degree",
        "manner",
        "colour",
        "when",
        "where",
        "frequency",
        "each",
        "cause",
        "relief",
        "treated",
        "effect",
    }
)


def associated(unit: Need, question: str, target: Wanted) -> str | None:
    """The same accompanying symptom, by the thesaurus, the lexicon or its words."""
    extra = unit.aspects & _ATTRIBUTES - target.question.aspects
    if extra and unit.attribute and not target.question.attribute and not _EXISTS.search(question):
        return None
    if "before" in unit.aspects and "before" not in target.question.aspects:
        return None
    ours = concepts(question)
    if _acts(question, target):
        return None
    events = shared_events(ours, target.asks) - _SETTINGS
    for told in target.tells if not events and not unit.attribute else ():
        events |= shared_events(ours, told) - target.asks.scene - LOOSE - _SETTINGS
    if (
        events == {"痛"}
        and not ours.parts & target.asks.parts
        and (ours.parts or target.asks.events - {"痛"} or unit.aspects & _PAINS)
    ):
        events = frozenset()
    if events and not _narrowed(ours, target.asks, events) and not outcome_only(question, target, events):
        return f"同问 {'、'.join(sorted(events))}"
    if acts := same_act(question, target):
        return f"同问 {'、'.join(sorted(acts))}时"
    shared = common_names(unit, target, facts=False)
    if not shared and not unit.attribute:
        shared = (unit.findings & target.findings) - target.question.setting
    if "manner" in unit.aspects:
        shared &= unit.complaints
    if shared and not (
        ours.events <= LOOSE and ours.parts and target.asks.parts and ours.parts.isdisjoint(target.asks.parts)
    ):
        return f"同问 {'、'.join(sorted(shared))}"
    return shared_words(question, target) if not unit.findings and not ours.events else None


_ACT = re.compile(
    r"(?:咳嗽?|打喷嚏|弯腰|低头|转头|翻身|吞咽|咽东西|喘气|深?吸气|呼吸|吃饭|吃东西|喝水|走路?|上楼|活动|用力|大便|排便|"
    r"解手|小便|排尿|躺下?|坐|站)(?:[、,或和]|的时候|以后|时|后|起来)*.{0,12}?(?:会不会|是不是|会|能|就)?.{0,4}?"
    r"(?:加重|减轻|缓解|更|厉害|重|有关|有影响|[疼痛](?=[吗?？]|$))"
)
_ACTED = frozenset({"worse", "relief"})


def _acts(question: str, target: Wanted) -> bool:
    """Say whether a unit names a symptom only as an act that changes the complaint: 咳嗽、弯腰会加重吗？"""
    if _EXISTS.search(question) or target.question.aspects & _ACTED:
        return False
    return bool(need(question).aspects & _ACTED) and _ACT.search(normalise(question)) is not None


def _narrowed(ours: Concepts, theirs: Concepts, events: frozenset[str]) -> bool:
    """Say whether two questions share only 痛 or the like while each names another trouble."""
    return (
        events <= LOOSE
        and bool(ours.events - events)
        and bool(theirs.events - events)
        and not ours.parts & theirs.parts
    )
