"""Builds a History from who said what: roles, order, rounds, and the closing summary.

patient before any doctor     round 0           opening
doctor, k-th turn             round k           question
patient, reporter after it    round k           answer, report
closing summary               last round + 1    summary, always the last turn
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from meddc_bench.actions import split_reasoning
from meddc_bench.contracts import Fault
from meddc_bench.records import Action, History, Note, Role, Turn, TurnKind
from meddc_bench.text import same
from meddc_importers.lines import Line, found
from meddc_importers.tags import untagged

_ROLES: dict[str, Role] = {
    "doctor": "doctor", "医生": "doctor", "医师": "doctor",
    "patient": "patient", "患者": "patient", "病人": "patient",
    "reporter": "reporter", "检查员": "reporter", "检验员": "reporter",
}  # fmt: skip
_LONG = 20


@dataclass(frozen=True, slots=True)
class Said:
    """One utterance: who, what, its number in the file if it has one, hidden reasoning taken off it."""

    role: Role
    text: str
    number: int | None = None
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class Closing:
    """The closing summary, and its diagnoses where the source gives them as a list."""

    text: str
    diagnoses: tuple[str, ...] | None = None
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """What was said before the closing summary, and the summary if there is one."""

    said: tuple[Said, ...]
    closing: Closing | None = None


def utterances(line: Line, key: str, texts: Sequence[str], faults: list[Fault]) -> tuple[Said, ...]:
    """Read the turns under a key, in the order of their numbers; what was left out or repaired goes to `faults`.

    Raises:
        Rejected: there is no dialogue, or it holds what cannot be told apart from a turn.
    """
    entries = line.data.get(key)
    if entries is None:
        line.reject(f"the dialogue is {'null' if key in line.data else 'missing'}; left out", key)
    if not isinstance(entries, list):
        line.reject(f"expected a list of turns, found {found(entries)}; left out", key)
    read = [_said(line, f"{key}[{index}]", entry, texts, faults) for index, entry in enumerate(entries)]
    said = tuple(one for one in read if one is not None)
    if not said:
        line.reject("the dialogue is empty; left out", key)
    ordered = in_order(said)
    if ordered != said:
        faults.append(line.fault("the turns were out of order; they were put in the order of their numbers", key))
    return ordered


def in_order(said: tuple[Said, ...]) -> tuple[Said, ...]:
    """Sort turns by their numbers, equal ones as they stand; leave them where one has no number."""
    if any(one.number is None for one in said):
        return said
    return tuple(sorted(said, key=lambda one: one.number or 0))


def cut_at_summary(dialogue: Dialogue, line: Line, faults: list[Fault]) -> Dialogue:
    """End a dialogue before a doctor's turn that already is the closing summary, so that no reader sees it."""
    said, closing = dialogue.said, dialogue.closing
    if closing is None or len(closing.text) < _LONG:
        return dialogue
    for index, one in enumerate(said):
        if one.role == "doctor" and _repeats(one.text, closing.text):
            if rest := len(said) - index - 1:
                faults.append(line.fault(f"{rest} turns after the first closing summary are left out"))
            return replace(dialogue, said=said[:index])
    return dialogue


def assemble(dialogue: Dialogue) -> History:
    """Number rounds and kinds, and end with the summary."""
    turns: list[Turn] = []
    notes: dict[str, Note] = {}
    rounds = 0

    def add(role: Role, kind: TurnKind, text: str, reasoning: str, action: Action | None = None) -> None:
        if reasoning:
            notes[str(len(turns))] = Note(reasoning=reasoning)
        turns.append(Turn(index=len(turns), round=rounds, role=role, kind=kind, text=text, action=action))

    for one in dialogue.said:
        rounds += one.role == "doctor"
        add(one.role, _kind(one.role, rounds), one.text, one.reasoning)
    closing = dialogue.closing
    if closing is None:
        return History(turns=tuple(turns), ended="budget", rounds=rounds, notes=notes)
    rounds += 1
    action = None
    if closing.diagnoses is not None:
        action = Action(name="diagnose", arguments={"diagnoses": list(closing.diagnoses)})
    add("doctor", "summary", closing.text, closing.reasoning, action)
    return History(turns=tuple(turns), ended="diagnosed", first_summary=rounds, rounds=rounds, notes=notes)


def summary_of(text: str, diagnoses: tuple[str, ...] | None = None) -> Closing:
    """Make a closing of a summary's text: tags and hidden reasoning come off; its text may be blank then."""
    public, reasoning = split_reasoning(text)
    return Closing(untagged(public), diagnoses, reasoning)


def _said(line: Line, key: str, entry: Any, texts: Sequence[str], faults: list[Fault]) -> Said | None:
    """Read one turn; None where it holds no words."""
    if not isinstance(entry, dict):
        line.reject(f"expected a turn (role and {texts[0]}), found {found(entry)}; the history is left out", key)
    role = _role(line, key, entry)
    name = next((one for one in texts if one in entry), texts[0])
    text = entry.get(name)
    if not isinstance(text, str):
        missing = found(text) if name in entry else "nothing"
        faults.append(line.fault(f"expected text, found {missing}; this turn is left out", f"{key}.{name}"))
        return None
    number = entry.get("turn")
    plain = number if isinstance(number, int) and not isinstance(number, bool) else None
    public, reasoning = split_reasoning(text) if role == "doctor" else (text, "")
    public = untagged(public)
    return Said(role, public, plain, reasoning) if public else None


def _role(line: Line, key: str, entry: dict[str, Any]) -> Role:
    name = entry.get("role")
    if not isinstance(name, str):
        line.reject(f"expected a role, found {found(name)}; the history is left out", f"{key}.role")
    role = _ROLES.get(name.strip().lower())
    if role is None:
        shown = repr(name if len(name) <= 40 else name[:39] + "…")
        line.reject(
            f"unknown role {shown}; expected doctor, patient or reporter; the history is left out", f"{key}.role"
        )
    return role


def _kind(role: Role, rounds: int) -> TurnKind:
    if role == "doctor":
        return "question"
    if role == "reporter":
        return "report"
    return "answer" if rounds else "opening"


def _repeats(text: str, summary: str) -> bool:
    """Say whether a turn is the summary or holds it."""
    if summary in text:
        return True
    near = abs(len(text) - len(summary)) <= max(len(text), len(summary)) // 8
    return near and same(text, summary)
