"""The patient `grounded`: answers each question of the doctor's turn with recorded facts, and with nothing else."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from functools import lru_cache

from meddc_bench.contracts import Answer, AnswerStatus, Context, Options, PatientView
from meddc_bench.records import Fact
from meddc_bench.text import clean, normalise, question_units, similarity, squash
from meddc_offline.features import features
from meddc_offline.inquiry import is_open
from meddc_offline.judging.units import need_units
from meddc_offline.lexicon import Lexicon
from meddc_offline.matching import FactIndex, index

_UNSURE = ("这个我说不好。", "这个我没注意过。", "这个我也不太清楚。", "这个我不确定。", "这个我没留意。")
_REST_UNSURE = ("别的我没太注意。", "其他的我说不好。", "剩下的我不太清楚。")
_NOTHING_MORE = ("别的没什么了。", "暂时想不到别的了。", "就这些了。")
_ACKNOWLEDGE = ("好的。", "嗯，好的。", "知道了。", "好，我听着。")
_AGAIN = ("刚才说过，", "还是刚才说的，")
_IDENTITY = re.compile(
    r"多大(年纪|岁数|了)?(?!.{0,3}(的|块|个|片))|几岁|年龄|岁数|性别|男(的)?还是女|怎么称呼|是男|多少岁|多大年|几个月大|哪里人"
)
_EVENT = re.compile(r"第一次|开始|那年|的时候|时候|来的|起的|得的|孕|包|块|斑")
_STORY = frozenset({"associated", "site", "character", "severity", "course", "modifying", "onset", "trigger"})
_JOINTS = re.compile(r"[、，,;；]|或者?|还是|以及|和|跟|及|并且")
_SENTENCE_END = re.compile(r"[。！？!?;；\n]")
_COMMAS = "，,、 "
_LONGEST_LEAD = 24
_FLOOR, _PART_FLOOR = -3.2, -2.0
_MARGIN = 0.6
_MOST = 3
_EVIDENCE = {"associated": 0.5, "personal": 0.3, "general": 0.3}
"""What a fact that answers only when it is named must share with the question."""
_MOST_VIEWS = 12
_EXCEPT = re.compile(r"^除了?[^，,。？?]{1,12}[，,]")


@dataclass(frozen=True, slots=True)
class Part:
    """The answer to one question unit: the facts, and what of the unit nothing is recorded about."""

    facts: tuple[Fact, ...]
    text: str
    unknown: tuple[str, ...] = ()


class Grounded:
    """Answers from the recorded facts only; says that it does not know what is not recorded."""

    def __init__(self, options: Options | None = None, context: Context | None = None) -> None:
        pass

    async def answer(self, view: PatientView) -> Answer:
        """Answer every question unit of the doctor's turn in order."""
        question = clean(view.question)
        rng = random.Random(question)  # the same question, the same words: a repeat of a fixed doctor is the same
        units = question_parts(question)
        if not units:
            return Answer(text=rng.choice(_ACKNOWLEDGE), status="not recorded")
        used, facts = set(view.used), index(view.facts)
        parts: list[Part] = []
        for unit in units:
            part = _open_part(view, used, rng) if is_open(normalise(unit)) else _asked_part(view, facts, unit, rng)
            used.update(fact.id for fact in part.facts)
            parts.append(part)
        return _join(parts, rng)


def question_parts(question: str) -> list[str]:
    """Cut a turn into question units, each with the clause that leads up to it: 换个姿势、歇一歇，疼会有变化吗？"""
    texts: list[str] = []
    end = 0
    for unit in need_units(question):
        lead = _SENTENCE_END.split(question[end : unit.start])[-1].strip(_COMMAS)
        texts.append(f"{lead}，{unit.quote}" if lead and len(lead) <= _LONGEST_LEAD else unit.quote)
        end = unit.end
    return texts


def _join(parts: list[Part], rng: random.Random) -> Answer:
    facts: dict[str, Fact] = {}
    texts: list[str] = []
    for part in parts:
        fresh = [fact for fact in part.facts if fact.id not in facts]
        facts.update({fact.id: fact for fact in fresh})
        said = part.text + "".join(_sentence(fact.text) for fact in fresh)
        if not part.facts and not part.text:
            said = rng.choice(_UNSURE)
        elif part.facts and part.unknown:
            said += rng.choice(_REST_UNSURE)
        if (fresh or not part.facts) and said not in texts:
            texts.append(said)
    status: AnswerStatus = "not recorded"
    if facts:
        status = "denied" if all(fact.denied for fact in facts.values()) else "stated"
    unknown = tuple(name for part in parts for name in part.unknown)
    return Answer(text="".join(texts), fact_ids=tuple(facts), status=status, unknown=unknown)


def _sentence(text: str) -> str:
    return text if text.endswith(("。", "！", "？", "!", "?", ".")) else f"{text}。"


def _open_part(view: PatientView, used: set[str], rng: random.Random) -> Part:
    """Answer an open question with the next fact that was not told yet."""
    waiting = [fact for fact in view.facts if fact.id not in used and not fact.denied and not fact.opening]
    if view.mode != "queue":
        waiting = [fact for fact in waiting if fact.topic in _STORY]
    if not waiting:
        return Part((), rng.choice(_NOTHING_MORE))
    return Part(tuple(waiting[: 2 if view.mode == "queue" else 1]), "")


def _asked_part(view: PatientView, recorded: FactIndex, unit: str, rng: random.Random) -> Part:
    facts = select(recorded, unit)
    if not facts:
        return Part((), "", (unit,))
    again = all(fact.id in view.used for fact in facts) and _asked_before(view, unit)
    return Part(facts, rng.choice(_AGAIN) if again else "", _unanswered(unit, facts))


def _asked_before(view: PatientView, unit: str) -> bool:
    earlier = [turn.text for turn in view.turns if turn.role == "doctor" and turn.text != view.question]
    return any(similarity(unit, other.quote) > 0.8 for text in earlier for other in question_units(text))


@lru_cache(maxsize=32768)
def select(facts: FactIndex, unit: str) -> tuple[Fact, ...]:
    """Choose the facts that answer one question unit, in the order in which they are recorded."""
    if _asks_who(unit) and (who := [fact for fact in facts.facts if fact.topic == "identity"]):
        return tuple(who)
    text = _EXCEPT.sub("", unit)
    chosen = _best(facts, text, None, _FLOOR)
    for question, part in views(text):
        chosen |= _best(facts, question, part, _PART_FLOOR)
    return tuple(fact for fact in facts.facts if fact.id in chosen)


def views(unit: str) -> list[tuple[str, str | None]]:
    """List the clauses of a unit, and the parts of their enumerations, that name something of their own."""
    clauses = [clause.quote.strip(_COMMAS) for clause in question_units(unit)] or [unit]
    found: list[tuple[str, str | None]] = []
    if len(clauses) > 1:
        found += [(clause, None) for clause in clauses if _names(clause)]
    for clause in clauses:
        parts = [part for part in _JOINTS.split(clause) if len(squash(part)) > 1 and _names(part)]
        if len(parts) > 1:
            found += [(clause, part) for part in parts]
    return found[:_MOST_VIEWS]


def _names(text: str) -> bool:
    said = features(text)
    return bool(said.events or said.findings or said.things or said.topics)


def _best(facts: FactIndex, question: str, part: str | None, floor: float) -> set[str]:
    """Name the best fact over the floor, and those that come close to it."""
    grades = facts.grade(question, part, floor=floor, evidence=_EVIDENCE)[:_MOST]
    return {grade.fact.id for grade in grades if grade.score >= grades[0].score - _MARGIN}


def _asks_who(unit: str) -> bool:
    return _IDENTITY.search(normalise(unit)) is not None and not _EVENT.search(unit)


def _unanswered(unit: str, facts: tuple[Fact, ...]) -> tuple[str, ...]:
    """Name the findings that the unit lists and the chosen facts say nothing about."""
    lexicon = Lexicon.load()
    told: set[str] = set()
    for fact in facts:
        said = features(fact.text)
        told |= said.findings | said.near | said.broader
    text = normalise(unit)
    mentions = [mention for mention in lexicon.find(text) if mention.kind in ("symptom", "sign")]
    if len(mentions) < 2:
        return ()
    missing = [m for m in mentions if m.name not in told and not (set(lexicon.ancestors(m.name)) & told)]
    return tuple(dict.fromkeys(m.name for m in missing)) if len(missing) < len(mentions) else ()
