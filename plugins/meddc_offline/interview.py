"""Which questions a doctor asks next: the bank's for the complaint, the findings that part the leading diseases."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from operator import mul

from meddc_bench.records import Turn
from meddc_bench.text import clauses, durations, normalise, question_units, squash
from meddc_offline.bank import COMPLAINTS, GENERAL, OPEN, Ask
from meddc_offline.chart import Chart, Draft, is_child
from meddc_offline.differential import Candidate, Ranking, engine
from meddc_offline.presupposed import makes_sense, told

_LEADING = 6
_TEMPERATURE = 1.6
_SECOND_COMPLAINT = 1.1
_KIND_BONUS = 0.6
_MOST_GAIN = 4.2
_ASSOCIATED = 0.2
_SURE = 0.6
_WORTH_ASKING = 4.0
_WORTH_WHEN_SETTLED = 5.6
_ONCE = frozenset(
    {"onset", "trigger", "course", "character", "modifying", "severity", "prior_care", "past", "family", "personal"}
)
_ASKABLE = frozenset(
    {"symptom", "sign", "general", "past", "trigger", "modifying", "personal", "obstetric", "site", "character"}
)
_ONE_NEED = frozenset({"onset", "trigger", "character", "severity", "course", "modifying"})
_CORE = frozenset({"onset", "trigger", "site", "character", "course"})
_CORE_FIRST = 2.0
_BASIC = frozenset({"character", "course", "modifying", "severity", "trigger"})
_OFTEN = {"prior_care": 3.2, "obstetric": 1.2, "past": 0.5, "general": 0.5, "family": 0.3}
_GUESS = re.compile(
    r"可能|是不是|会不会|说是|说可能|以为|怀疑|怕是|怕我|担心|要不要|该不该|用不用|有必要|当成|想给|[?？]$"
)
_SPOKEN = re.compile(r"主诉[:：]?(?P<text>[^\n]+)")


@dataclass(frozen=True, slots=True)
class Planned:
    """A question that may be asked next, with its worth."""

    ask: Ask
    text: str
    worth: float


class Follower:
    """Follows one consultation: of the turns it is shown it reads those that it has not read yet."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._read: tuple[Turn, ...] = ()
        self._draft = Draft()
        self.ranking = Ranking(engine())
        self.spoken = ""
        self.asked: set[str] = set()

    def interview(self, turns: Sequence[Turn]) -> Interview:
        """Give the interview as it stands after the turns."""
        return Interview(turns, self)

    def chart(self, turns: Sequence[Turn]) -> Chart:
        """Read on to the last of the turns, from the first one where they are not those read so far."""
        turns = tuple(turns)
        if turns[: len(self._read)] != self._read:
            self._begin()
        for turn in turns[len(self._read) :]:
            self._draft.take(turn)
            if turn.role == "doctor":
                self.spoken += squash(turn.text)
                self.asked.update(mention.name for mention in engine().lexicon.find(turn.text))
        self._read = turns
        return self._draft.chart()


class Interview:
    """A consultation so far, as the doctor sees it when planning the next question."""

    def __init__(self, turns: Sequence[Turn], follower: Follower | None = None) -> None:
        follower = follower or Follower()
        self._turns = tuple(turns)
        self.chart: Chart = follower.chart(turns)
        self.spoken, self.asked = follower.spoken, frozenset(follower.asked)
        self._ranking = follower.ranking

    @cached_property
    def opening(self) -> str:
        """What the patient complains of at first."""
        return _opening(self._turns)

    @cached_property
    def structured(self) -> bool:
        """Whether the consultation starts from a structured complaint."""
        return any(_SPOKEN.search(turn.text) for turn in self._turns[:1])

    @cached_property
    def child(self) -> bool:
        """Whether the patient is a child."""
        return is_child(self.chart)

    @cached_property
    def told(self) -> str:
        """What was told, without what was denied."""
        return told("。".join(turn.text for turn in self._turns if turn.role != "doctor"))

    @cached_property
    def ranked(self) -> list[Candidate]:
        """The differential, best first."""
        return self._ranking.rank(self.chart)

    @cached_property
    def denied(self) -> frozenset[str]:
        """The findings that the patient denied."""
        return engine().denied(self.chart)

    @property
    def settled(self) -> bool:
        """Say whether one disease leads by so much that no single finding would change it."""
        if not self.ranked or not self.ranked[0].key:
            return False
        second = self.ranked[1].score if len(self.ranked) > 1 else 0.0
        return self.ranked[0].score >= 12.0 and self.ranked[0].score >= 2.0 * second

    def plan(self) -> list[Planned]:
        """List the questions worth asking now, best first."""
        floor = _WORTH_WHEN_SETTLED if self.settled else _WORTH_ASKING
        asks = [*_complaint_asks(self.opening), *self._general_asks()]
        weighed = [(ask, self._worth(ask)) for ask in asks] + [(ask, ask.worth) for ask in self._differential_asks()]
        planned: dict[str, Planned] = {}
        for ask, worth in weighed:
            if worth < floor or not self._suits(ask):
                continue
            text = self._worded(ask)
            if not self._answered(ask, text) and makes_sense(text, self.told):
                planned.setdefault(squash(text), Planned(ask, text, worth))
        return sorted(planned.values(), key=lambda item: -item.worth)

    def choose(self, count: int) -> list[Planned]:
        """Choose the next questions: the best one, then the next of like worth and kind on other findings."""
        chosen: list[Planned] = []
        waiting = self.plan()
        while waiting and len(chosen) < count:
            first = chosen[0].ask.kind if chosen else None
            best = max(waiting, key=lambda item: item.worth + (_KIND_BONUS if item.ask.kind == first else 0.0))
            chosen.append(best)
            waiting = [item for item in waiting if item is not best and not _overlap(item.text, best.text)]
        return chosen

    def _general_asks(self) -> list[Ask]:
        groups = _complaints(self.opening)
        told_freely = () if self.structured else (OPEN,)
        covered = {ask.kind for group in groups for ask in group if self._suits(ask)} | (_BASIC if groups else set())
        return [*told_freely, *(ask for ask in GENERAL if ask.kind not in covered or ask.kind not in _ONCE)]

    def _worth(self, ask: Ask) -> float:
        """Raise what nearly every consultation needs, and weigh a symptom by how far it parts the leading diseases."""
        worth = ask.worth + _OFTEN.get(ask.kind, 0.0)
        if not self.spoken and ask.kind in _CORE:
            worth += _CORE_FIRST
        if ask.kind == "associated":
            gains = self.gains
            worth += min(_MOST_GAIN, sum([gains.get(name, 0.0) for name in _named(ask.text)])) - _ASSOCIATED
        return worth

    @cached_property
    def gains(self) -> dict[str, float]:
        """How far each finding not known yet would move the leading diseases apart: its mean weight and its spread."""
        leading = self.ranked[:_LEADING]
        if not leading:
            return {}
        weights = [math.exp((candidate.score - leading[0].score) / _TEMPERATURE) for candidate in leading]
        total = sum(weights)
        table = _table(tuple(candidate.name for candidate in leading))
        return {name: _gain(weights, total, values) for name, values in table if self._unknown(name)}

    def _unknown(self, name: str) -> bool:
        known = name in self.asked or self.chart.present.get(name, 0.0) >= _SURE
        return not known and name not in self.denied

    def _differential_asks(self) -> list[Ask]:
        """Ask for the findings whose answer would move the leading diseases apart the most."""
        findings = engine().lexicon.findings
        askable = [
            name for name in self.gains if name in findings and findings[name].ask and findings[name].kind in _ASKABLE
        ]
        best = sorted(askable, key=lambda name: (-self.gains[name], name))[:8]
        return [_finding_ask(name, self.gains[name]) for name in best]

    def _worded(self, ask: Ask) -> str:
        text = ask.text.replace("{it}", "不舒服")
        if ask.kind in _ONE_NEED and len(units := question_units(text)) > 1:
            text = units[0].quote.rstrip("？，") + "？"
        return text.replace("您", "孩子") if self.child else text

    def _suits(self, ask: Ask) -> bool:
        years = self.chart.age
        if ask.audience == "woman":
            return self.chart.sex == "女" and not self.child and (years is None or 11 <= years <= 58)
        if ask.audience == "child":
            return self.child
        if ask.audience == "infant":
            return self.child and (years is None or years <= 3)
        if ask.audience == "adult" or "抽烟" in ask.text or "喝酒" in ask.text or "性生活" in ask.text:
            return not self.child
        return True

    def _answered(self, ask: Ask, text: str) -> bool:
        """Say whether a question was asked before, or every finding it names is known."""
        if any(said in self.spoken for said in _said(text)):
            return True
        if "多少度" in text and "多少度" in self.spoken:
            return True
        if ask.kind != "associated":
            return False
        named = _named(text)
        return bool(named) and all(
            name in self.chart.present or name in self.chart.absent or name in self.asked for name in named
        )


@lru_cache(maxsize=1024)
def _complaints(opening: str) -> tuple[tuple[Ask, ...], ...]:
    """The question lists of the complaints that the opening names, by where it names them."""
    found = []
    for order, complaint in enumerate(COMPLAINTS):
        if match := complaint.pattern.search(opening):
            found.append((match.start(), order, complaint.asks))
    return tuple(asks for _, _, asks in sorted(found, key=lambda item: item[:2])[:2])


@lru_cache(maxsize=1024)
def _complaint_asks(opening: str) -> tuple[Ask, ...]:
    asks: list[Ask] = []
    for place, group in enumerate(_complaints(opening)):
        taken = {ask.kind for ask in asks}
        fresh = [ask for ask in group if not (place and ask.kind in _ONCE and ask.kind in taken)]
        asks += [Ask(ask.kind, ask.text, ask.worth - place * _SECOND_COMPLAINT, ask.audience) for ask in fresh]
    if durations(opening):
        asks = [Ask(a.kind, a.text, a.worth - 0.8, a.audience) if a.kind == "onset" else a for a in asks]
    return tuple(asks)


def _complained(text: str) -> str:
    """Keep of an opening what the patient complains of, without guesses and questions to the doctor."""
    kept = [clause.text for clause in clauses(text) if not _GUESS.search(clause.text)]
    return ",".join(kept) or text


def _opening(turns: Sequence[Turn]) -> str:
    for turn in turns:
        if turn.role == "patient":
            text = normalise(turn.text)
            spoken = _SPOKEN.search(text)
            return spoken["text"] if spoken else _complained(text)
    return ""


@lru_cache(maxsize=2048)
def _table(diseases: tuple[str, ...]) -> tuple[tuple[str, tuple[float, ...]], ...]:
    """Give every finding of some diseases, by name, with its weight for each of them."""
    tables = [engine().diseases[disease].findings for disease in diseases]
    names = sorted({name for table in tables for name in table})
    return tuple((name, tuple(float(table.get(name, 0.0)) for table in tables)) for name in names)


def _gain(weights: list[float], total: float, values: tuple[float, ...]) -> float:
    mean: float = sum(map(mul, weights, values)) / total
    spread = math.sqrt(sum([w * (v - mean) ** 2 for w, v in zip(weights, values, strict=True)]) / total)
    return 0.6 * mean + 0.9 * spread


def _finding_ask(name: str, gain: float) -> Ask:
    finding = engine().lexicon.findings[name]
    return Ask("associated", finding.ask, 4.6 + min(3.6, gain))


def _overlap(one: str, other: str) -> bool:
    """Say whether two questions name the same finding or share a unit."""
    said, named = squash(other), _named(other)
    return any(name in named for name in _named(one)) or any(unit in said for unit in _said(one))


@lru_cache(maxsize=4096)
def _named(text: str) -> tuple[str, ...]:
    """Name the findings that a question names, each once."""
    return tuple(sorted({mention.name for mention in engine().lexicon.find(text)}))


@lru_cache(maxsize=4096)
def _said(text: str) -> tuple[str, ...]:
    """List the question units of a text as they are compared."""
    return tuple(squash(unit.quote) for unit in question_units(text))
