"""The patient `grounded` for English cases: answers each question with recorded facts, and with nothing else."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from meddc_bench.contracts import Answer, AnswerStatus, Context, Options, PatientView
from meddc_bench.records import Fact
from meddc_bench.text import clean
from meddc_bench.text.english import english_questions, stems
from meddc_offline.english.terms import names, shared, weight

_UNSURE = ("I'm not sure about that.", "I couldn't tell you.", "I haven't noticed.", "I don't know.")
_NOTHING_MORE = ("Nothing else that I can think of.", "That's all, I think.", "No, that's about it.")
_ACKNOWLEDGE = ("All right.", "Okay.", "I see.")
_OPEN = re.compile(
    r"\b(?:anything else|something else|what else|tell me (?:more|about (?:it|that|what|your (?:symptoms|problem)))|"
    r"any other (?:symptoms?|complaints?|problems?|concerns?|changes?)|"
    r"other symptoms|what brings you|how can i help|describe (?:your symptoms|what|the problem)|in your own words|"
    r"what happened|walk me through)\b",
    re.IGNORECASE,
)
_IDENTITY = re.compile(r"\b(?:how old|your age|what age|date of birth|male or female|your sex|gender)\b", re.IGNORECASE)
_JOINS = re.compile(r"\s*,\s*(?:(?:or|and)\s+)?|\s+(?:or|and)\s+|\s*/\s*")
_EVIDENCE = 0.9
"""The weight of shared terms that makes a fact an answer."""

_KINDS: tuple[tuple[re.Pattern[str], re.Pattern[str], tuple[str, ...]], ...] = tuple(
    (re.compile(asked, re.IGNORECASE), re.compile(told, re.IGNORECASE), topics)
    for asked, told, topics in (
        (r"\bwhen\b|\bhow long\b|\bstart(?:ed)?\b|\bbegan\b|\bbegin\b|\bonset\b|\bsudden",
         r"\bago\b|\bsince\b|\b(?:for|over|within) (?:the )?(?:past|last|about|approximately|\d|a|an|one|two|three|"
         r"several)\b|\byesterday\b"
         r"|\bsudden|\bgradual|\d-(?:hour|day|week|month|year)|\bstarted\b|\bbegan\b|\blast (?:night|week|month|"
         r"year)\b|\bnew-onset\b", ("onset",)),
        (r"\bworse\b|\bbetter\b|\brelie(?:ve|f)|\baggravat|\btrigger|\bbrings? it on\b|\beases?\b|\bset it off\b",
         r"\bworse\w*|\bbetter\b|\brelie\w+|\baggravat\w*|\bimprov\w+|\bexacerbat\w*|\btrigger\w*|"
         r"\bwith (?:activity|exertion|rest|eating)\b", ("modifying", "trigger")),
        (r"\bhow (?:bad|severe|much|strong)\b|\bseverity\b|\bscale\b", r"\bsevere|\bmild|\bmoderate|\bintense|\b\d+/10|\bawaken",
         ("severity",)),
        (r"\bhow (?:often|frequent|many times)\b|\bcome and go\b|\bconstant\b",
         r"\bdaily|\bepisod|\brecurrent|\bconstant|\bintermittent|\btimes\b|\bevery\b|\bpersistent|\boccasional",
         ()),
        (r"\bwhere\b|\bwhich (?:side|part|area)\b|\blocat|\bspread|\bradiat|\bmove anywhere\b",
         r"\bleft\b|\bright\b|\bupper\b|\blower\b|\bboth\b|\barms?\b|\blegs?\b|\bback\b|\bneck\b|\bchest\b|\babdom|\bradiat|\bspread",
         ("site",)),
        (r"\bwhat (?:is|does) (?:it|the \w+|this) (?:feel )?like\b|\bkind of (?:pain|feeling)\b|"
            r"\bdescribe the (?:pain|\w+)\b|\bsharp\b|\bdull\b",
         r"\bsharp|\bdull|\bburning|\bthrobbing|\bcramp|\bstabbing|\baching|\bshooting|\btight|\bpressure",
         ("character",)),
    )
)  # fmt: skip
_ABOUT: tuple[tuple[re.Pattern[str], tuple[str, ...], re.Pattern[str] | None], ...] = tuple(
    (re.compile(asked, re.IGNORECASE), topics, re.compile(told, re.IGNORECASE) if told else None)
    for asked, topics, told in (
        (r"\ballerg", ("allergy",), ""),
        (r"\bsmok|\btobacco|\bcigar", ("personal",), r"smok|tobacco|cigar|pack"),
        (r"\balcohol|\bdrink\b", ("personal",), r"alcohol|drink|beer|wine|vodka|beverage"),
        (r"\b(?:recreational|illicit|street) drugs?|\bdrug use|\bsubstance", ("personal",), r"drug|cocaine|"
            r"marijuana|substance|steroid|ecstasy"),
        (r"\bfor a living\b|\boccupation|\bwork\b|\bjob\b|\bschool\b", ("personal",), r"work|teacher|student|school|"
            r"engineer|retired|employ|job|grade"),
        (r"\btravel|\babroad|\btrip", ("personal", "associated"), r"travel|trip|immigrat|hik|camp"),
        (r"\bsexual|\bpartners?\b|\bcontracepti", ("personal", "obstetric"), r"sex|partner|condom|contracept|married"),
        (r"\bhabits\b|\bsocial history\b|\blive with\b|\blifestyle\b|\bat home\b", ("personal",), ""),
        (r"\bmedication|\bmedicines?\b|\bpills?\b|\bdrugs? (?:do|are) you\b|\btaking anything\b|\bprescri|"
            r"\btreatment", ("medication",), ""),
        (r"\bmedication|\bmedicines?\b|\bpills?\b|\btreatment", ("past", "course"), r"managed with|takes|taking|"
            r"treated with|on \w+ for"),
        (r"\bfamily\b|\brelatives?\b|\bparents\b|\brun in\b", ("family",), ""),
        (r"\bsurger|\boperation|\boperated", ("past",), r"surg|operat|ectomy|plasty|underwent"),
        (r"\b(?:past|previous|other) (?:medical )?(?:history|illness|condition|problem)|\bmedical (?:history|"
            r"conditions?|problems?)|"
         r"\bchronic (?:illness|disease|condition)|\bever (?:had|been) (?:this|anything like|diagnosed|hospital)|"
         r"\bhealth (?:history|problems)",
         ("past",), ""),
        (r"\bpregnan|\bperiods?\b|\bmenstru|\bmenses", ("obstetric",), ""),
        (r"\bbirth\b|\bborn\b|\bvaccin|\bimmuni[sz]|\bmilestone|\bdevelopment|\bfed\b|\bfeeding\b", ("development",), ""),
        (r"\bseen (?:a|another) doctor|\btests? done|\btreated\b|\btried anything", ("prior_care", "medication"), ""),
    )
)  # fmt: skip
_STORY = ("onset", "trigger", "site", "character", "severity", "course", "modifying", "prior_care")
_ASIDE = frozenset(
    " ".join(
        (
            "when where long start began begin how often wors better scale tell describ sudden gradual make thing",
            "els come go pass",
        )
    ).split()
)


@dataclass(frozen=True, slots=True)
class _Part:
    facts: tuple[Fact, ...]
    text: str = ""
    unknown: tuple[str, ...] = ()


class EnglishGrounded:
    """Answers from the recorded facts only; says that it does not know what is not recorded."""

    def __init__(self, options: Options | None = None, context: Context | None = None) -> None:
        pass

    async def answer(self, view: PatientView) -> Answer:
        """Answer every question of the doctor's turn in order."""
        question = clean(view.question)
        rng = random.Random(question)
        units = [unit.quote for unit in english_questions(question)]
        if not units:
            return Answer(text=rng.choice(_ACKNOWLEDGE), status="not recorded")
        used = set(view.used)
        parts: list[_Part] = []
        for unit in units:
            part = _open_part(view, used, rng) if _OPEN.search(unit) else _asked(view.facts, unit)
            used.update(fact.id for fact in part.facts)
            parts.append(part)
        return _joined(parts, rng, speaks_for_child(view.facts))


def _open_part(view: PatientView, used: set[str], rng: random.Random) -> _Part:
    waiting = [fact for fact in view.facts if fact.id not in used and not fact.denied and not fact.opening]
    if view.mode != "queue":
        waiting = [fact for fact in waiting if fact.topic in (*_STORY, "associated")]
    if not waiting:
        return _Part((), rng.choice(_NOTHING_MORE))
    return _Part(tuple(waiting[: 2 if view.mode == "queue" else 1]))


def _asked(facts: tuple[Fact, ...], unit: str) -> _Part:
    chosen, unknown = select(facts, unit)
    return _Part(chosen, "", unknown)


@lru_cache(maxsize=32768)
def select(facts: tuple[Fact, ...], unit: str) -> tuple[tuple[Fact, ...], tuple[str, ...]]:
    """Choose the facts that answer a question, in the order of the record, and name the listed things none speaks of."""
    if _IDENTITY.search(unit):
        return _ordered(facts, [fact for fact in facts if fact.topic == "identity"][:1]), ()
    pieces = [piece for piece in _JOINS.split(unit.rstrip(" ?.!")) if stems(piece) - _ASIDE]
    pieces = pieces if len(pieces) > 1 else [unit]
    chosen: list[Fact] = []
    unknown: list[str] = []
    about = _by_topic(facts, unit)
    kinds = _by_kind(facts, unit)
    for piece in pieces:
        found = _named(facts, piece)
        chosen += found
        if not found and not about and not kinds:
            unknown.append(piece.strip())
    if about:
        chosen += about
        unknown = []
    elif kinds:
        chosen, unknown = kinds, []
    if not chosen:
        return (), (unit,)
    return _ordered(facts, chosen), tuple(unknown) if len(pieces) > 1 else ()


def _named(facts: tuple[Fact, ...], piece: str) -> list[Fact]:
    """Return the facts that speak of what a piece of a question names: the best, and those as good."""
    asked = names(piece) - _ASIDE
    rows = [(shared(asked, names(fact.text)), fact) for fact in facts if fact.topic != "identity"]
    best = max((score for score, _ in rows), default=0.0)
    most = sum(weight(name) for name in asked)
    if best < _EVIDENCE or best < 0.45 * most:
        return []
    return [fact for score, fact in rows if score >= best - 0.1][:3]


def _by_topic(facts: tuple[Fact, ...], unit: str) -> list[Fact]:
    for asked, topics, told in _ABOUT:
        if asked.search(unit):
            found = [fact for fact in facts if fact.topic in topics and (told is None or told.search(fact.text))]
            if found:
                return found[:4]
    return []


def _by_kind(facts: tuple[Fact, ...], unit: str) -> list[Fact]:
    """Return the facts of the story that tell a time, a place, a cause of change, where the question asks for one."""
    for asked, told, topics in _KINDS:
        if asked.search(unit):
            story = [fact for fact in facts if fact.topic in _STORY and not fact.denied]
            found = [fact for fact in story if told.search(fact.text)] or [one for one in story if one.topic in topics]
            named = names(unit) - _ASIDE
            closer = [fact for fact in found if shared(named, names(fact.text)) >= _EVIDENCE]
            return (closer or found)[:2]
    return []


def _ordered(facts: tuple[Fact, ...], chosen: Iterable[Fact]) -> tuple[Fact, ...]:
    ids = {fact.id for fact in chosen}
    return tuple(fact for fact in facts if fact.id in ids)[:6]


# ── what is said ─────────────────────────────────────────────────────────────────────────────────


def _joined(parts: list[_Part], rng: random.Random, child: bool) -> Answer:
    facts: dict[str, Fact] = {}
    texts: list[str] = []
    for part in parts:
        fresh = [fact for fact in part.facts if fact.id not in facts]
        facts.update({fact.id: fact for fact in fresh})
        said = " ".join(filter(None, (part.text, *(spoken(fact.text, child=child) for fact in fresh))))
        if not part.facts and not part.text:
            said = rng.choice(_UNSURE)
        elif part.unknown and part.facts:
            said = f"{said} {_rest(part.unknown)}".strip()
        if said and said not in texts:
            texts.append(said)
    status: AnswerStatus = "not recorded"
    if facts:
        status = "denied" if all(fact.denied for fact in facts.values()) else "stated"
    unknown = tuple(dict.fromkeys(one for part in parts for one in part.unknown))
    return Answer(" ".join(texts) or rng.choice(_UNSURE), tuple(facts), status, unknown)


def _rest(unknown: tuple[str, ...]) -> str:
    return "I'm not sure about the rest." if len(unknown) > 1 else "I'm not sure about the other thing."


_CHILD = re.compile(
    r"\b(?:newborn|neonate|infant|baby|toddler|(?:[1-9]|1[01])[- ]years?[- ]old|\d+[- ](?:day|week|month)s?[- ]old)\b",
    re.IGNORECASE,
)


def speaks_for_child(facts: tuple[Fact, ...]) -> bool:
    """Say whether somebody speaks for the patient, a child under twelve."""
    return any(_CHILD.search(fact.text) for fact in facts if fact.topic == "identity")


_VERBS = {
    "has": "have", "is": "am", "was": "was", "does": "do", "takes": "take", "works": "work", "lives": "live", "smokes": "smoke",
    "drinks": "drink", "uses": "use", "denies": "deny", "feels": "feel", "believes": "believe", "enjoys": "enjoy",
    "notes": "note", "reports": "report", "recounts": "recall", "attends": "attend", "wears": "wear", "appears": "seem",
    "describes": "describe",
    "cites": "suspect", "experiences": "experience", "consumes": "drink", "needs": "need", "plays": "play",
}  # fmt: skip
_DENIAL = re.compile(
    r"^(?:the \w+|he|she) (?:denie[sd]|denying) (?:(?:having|any|an?|a history of|experiencing)\s+)*", re.IGNORECASE
)
_SUBJECT = re.compile(
    r"\b(the (?:patient|man|woman|boy|girl)|he|she)\s+(also |currently |occasionally |recently )?(\w+)", re.IGNORECASE
)
_OBJECTS = ((re.compile(r"\bthe patient['’]s\b", re.I), "my"), (re.compile(r"\b(?:his|her)\b(?! (?:mother|"
    r"father) reports)", re.I), "my"),
            (re.compile(r"\b(?:himself|herself)\b", re.I), "myself"), (re.compile(r"\bhim\b", re.I), "me"))  # fmt: skip


@lru_cache(maxsize=16384)
def spoken(text: str, *, child: bool = False) -> str:
    """Tell a recorded fact in the patient's own voice, or in a parent's; the words of the record otherwise stay.

    >>> spoken("She has a history of asthma")
    'I have a history of asthma.'
    """
    text = _DENIAL.sub("No ", text.strip(" ."))
    if child:
        told = re.sub(r"\bthe patient['’]s\b", "my child's", text, flags=re.IGNORECASE)
        told = re.sub(r"\bthe patient\b", "my child", told, flags=re.IGNORECASE)
    else:
        told = _SUBJECT.sub(_first_person, text)
        for pattern, own in _OBJECTS:
            told = pattern.sub(own, told)
    return f"{told[:1].upper()}{told[1:]}."


def _first_person(match: re.Match[str]) -> str:
    adverb, verb = match[2] or "", match[3]
    return f"I {adverb}{_VERBS.get(verb.lower()) or _base(verb)}"


def _base(verb: str) -> str:
    """Return a verb without the s of the third person."""
    return verb[:-1] if len(verb) > 3 and verb.endswith("s") and not verb.endswith(("ss", "us", "is")) else verb


def select_text(texts: tuple[str, ...], topic: str, question: str) -> bool:
    """Say whether a question would elicit any of some facts of a topic from a patient that knew only them."""
    told = [text[:200] for text in texts if text.strip()]
    facts = tuple(Fact(id=f"f{number}", topic=topic, text=text) for number, text in enumerate(told, 1))  # type: ignore[arg-type]
    return bool(select(facts, question)[0])
