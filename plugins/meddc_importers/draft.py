"""Makes a case of what a source tells: facts, what the opening already says, leaks, targets, and an account of what was left out.

    told facts ──leak? finding?──> facts of the patient ──in the opening?──> targets, one a need

A target made here is `derived`: no clinician wrote it, and T on it cannot be published as standard.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NoReturn

from meddc_bench.contracts import Fault
from meddc_bench.records import Case, Diagnosis, Fact, References, Target, Topic
from meddc_bench.text import clean, mentions, squash
from meddc_importers.lines import Line, Rejected
from meddc_importers.needs import Need, need_of

OPENING_LEAKS = "the opening names the diagnosis"
NO_FACTS = "nothing is left that the patient could tell"
_LONGEST_FACT = 200
_LONGEST_OPENING = 2000
_STATED = 0.75
_LATIN = re.compile(r"[a-z0-9]+")
_HAN = re.compile(r"[㐀-鿿]")
_BRACKETS = re.compile(r"\s*[（(][^（）()]*[）)]\s*$")
_CORE = re.compile(
    r"^(?:(?:左|右|双)(?:侧|眼|耳|手|足|下肢|上肢)?|急性|慢性|原发性|继发性|嵌顿性|复发性|陈旧性|巨大)+|病$"
)
_EMPTY = frozenset(
    re.findall(
        r"\w+",
        "a an the of and or to in on at by for with from is are was were be been has had have having his her "
        "he she it its they their them who that this these those which also as patient man woman boy girl male "
        "female child infant presents presented presenting presentation complains complaint complained reports "
        "reported states stated clinic history located noticed there i my me",
    )
)


@dataclass(frozen=True, slots=True)
class Told:
    """One thing that a source tells of a patient; its `need`, where the source says it; a `finding` is no patient's knowledge."""

    text: str
    need: Need | None = None
    denied: bool = False
    opening: bool = False
    identity: bool = False
    finding: bool = False


@dataclass
class Tally:
    """What was left out of the cases that were taken, by what it was; told at the end of a file as notes."""

    left: Counter[str] = field(default_factory=Counter)

    def notes(self, where: str) -> Iterable[Fault]:
        """Give one note for each kind."""
        for what, count in sorted(self.left.items()):
            yield Fault(where, f"{count} {what}", "note", what)


FINDINGS = "examination and laboratory facts are no patient's knowledge: left out"
LEAKS = "facts that name the diagnosis: left out"
LONG = "facts longer than 200 characters: cut"
KNOWN = "diagnoses that the patient knows from the start: left out of the references"
TWICE = "facts told twice: left out"


_NO_REFERENCES = References()


@dataclass(frozen=True, slots=True)
class Draft:
    """What a source has of one case; `secrets` are more words that would give the diagnosis away."""

    id: str
    language: str
    source: str
    opening: str
    told: Sequence[Told]
    diagnoses: tuple[Diagnosis, ...]
    provenance: str
    licence: str
    turn_budget: int
    references: References = _NO_REFERENCES
    department: str | None = None
    secrets: tuple[str, ...] = ()
    targets: bool = True


def exclude(line: Line, reason: str, key: str = "") -> NoReturn:
    """Leave a row out on purpose.

    Raises:
        Rejected: always.
    """
    where = f"{line.where}:{key}" if key else line.where
    raise Rejected(Fault(where, f"excluded: {reason}", "excluded", reason))


def case_of(draft: Draft, line: Line, tally: Tally, *, empty: bool = False) -> Case:
    """Make the case.

    Raises:
        Rejected: the opening gives the diagnosis away, or no fact is left (unless `empty` allows it).
        ValidationError: it is no Case.
    """
    found = Counter[str]()
    kept: list[Told] = []
    seen: set[str] = set()
    opening = flat(draft.opening)[:_LONGEST_OPENING]
    diagnoses = tuple(one for one in draft.diagnoses if not any(mentions(opening, name) for name in _names(one)))
    if not diagnoses or any(mentions(opening, name) for name in draft.secrets):
        exclude(line, OPENING_LEAKS)
    found[KNOWN] += len(draft.diagnoses) - len(diagnoses)
    names = [name for one in diagnoses for name in _names(one)] + list(draft.secrets)
    for one in draft.told:
        text = flat(one.text)
        if not text:
            continue
        if one.finding:
            found[FINDINGS] += 1
        elif any(mentions(text, name) for name in names):
            found[LEAKS] += 1
        elif (short := squash(text) or text) in seen:
            found[TWICE] += 1
        else:
            seen.add(short)
            found[LONG] += len(text) > _LONGEST_FACT
            kept.append(Told(text[:_LONGEST_FACT], one.need, one.denied, one.opening, one.identity))
    said = _words(opening)
    facts, needs = [], []
    for number, one in enumerate(kept, 1):
        need = one.need or need_of(one.text, draft.language)
        topic: Topic = "identity" if one.identity else need.topic
        stated = one.opening or one.identity or _stated(one.text, said)
        facts.append(Fact(id=f"f{number:02d}", topic=topic, text=one.text, denied=one.denied, opening=stated))
        needs.append(need)
    targets = _targets(facts, needs) if draft.targets else ()
    if not targets and not empty:
        exclude(line, NO_FACTS)
    case = Case(
        id=draft.id, source=draft.source, department=draft.department, language=draft.language, context=opening,
        facts=tuple(facts), diagnoses=diagnoses, targets=targets, turn_budget=draft.turn_budget,
        references=draft.references, provenance=draft.provenance, licence=draft.licence,
    )  # fmt: skip
    tally.left.update(+found)
    return case


def flat(text: str) -> str:
    """Put a text on one line, its blanks single.

    >>> flat(" a\\n b ")
    'a b'
    """
    return " ".join(clean(text).split())


def _names(diagnosis: Diagnosis) -> Iterator[str]:
    """Give what would name a diagnosis: its names, without brackets, and in Chinese without side and stage."""
    for name in (diagnosis.name, *diagnosis.synonyms):
        yield name
        bare = _BRACKETS.sub("", name).strip()
        yield from (one for one in (bare, _CORE.sub("", bare)) if one != name and len(one) > 2)


def _targets(facts: Sequence[Fact], needs: Sequence[Need]) -> tuple[Target, ...]:
    """Make one target of each need that a fact beyond the opening meets."""
    grouped: dict[str, tuple[Need, list[str]]] = {}
    for fact, need in zip(facts, needs, strict=True):
        if not fact.opening:
            grouped.setdefault(need.name, (need, []))[1].append(fact.id)
    return tuple(
        Target(
            id=f"q{number:02d}",
            question=need.question,
            facts=tuple(ids),
            inquiry_type=need.topic,
            importance=3,
            derived=True,
        )
        for number, (need, ids) in enumerate(grouped.values(), 1)
    )


def _stated(text: str, opening: frozenset[str]) -> bool:
    """Say whether the opening already tells a fact: three quarters of its words that mean something stand there."""
    words = _words(text)
    return len(words & opening) >= _STATED * len(words)


def _words(text: str) -> frozenset[str]:
    """Give what means something: the stems of Latin words, and each Chinese character."""
    latin = (_stem(word) for word in _LATIN.findall(text.casefold()))
    return frozenset(_HAN.findall(text)).union(word for word in latin if word)


@lru_cache(maxsize=8192)
def _stem(word: str) -> str:
    """Take an ending off; nothing is left of a word that only holds others together."""
    if word in _EMPTY:
        return ""
    for ending in ("ing", "ed", "es", "s", "ful"):
        if len(word) > len(ending) + 3 and word.endswith(ending):
            return word[: -len(ending)]
    return word
