"""Importer `histories`: this program's own histories.jsonl, and histories written by hand.

    own       {"task", "case", "policy", "patient", "repeat", "history": {"turns": [...], "ended", ...}}
    by hand   {"case": "c1", "policy": "my-doctor", "repeat": 0, "summary": "...", "diagnoses": ["..."],
               "turns": [{"role": "doctor", "text": "..."}, {"role": "patient", "text": "..."}]}

`repeat` (0), `summary` and `diagnoses` may be left out. With the option `references`, a JSONL file, the cases come too:

    {"case": "c1", "diagnoses": ["肺炎", {"name": "2型糖尿病", "synonyms": ["T2DM"], "code": "E11"}]}

and any other field of a Case (context, facts, targets, references, turn_budget ...); without it the histories' cases
must belong to the task the user names. docs/importing.md shows complete examples and lists every fault.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import msgspec
from pydantic import Field

from meddc_bench.contracts import About, Context, Fault, Imported, Local, Options
from meddc_bench.errors import InputError
from meddc_bench.records import Case, History
from meddc_importers.cases import NO_OPENING, Cases
from meddc_importers.dialogue import Closing, Dialogue, assemble, cut_at_summary, summary_of, utterances
from meddc_importers.labels import POLICY, Seen, case_id, policy_label, repeat_of
from meddc_importers.lines import Line, found, objects

BUDGET = 10
"""The turn budget of a case whose reference gives none."""

_BY_HAND = ("case", "policy", "repeat", "turns", "summary", "diagnoses")
_PLACE = re.compile(r"(.*) - at `\$\.?(.*)`", re.DOTALL)


class HistoriesOptions(Options):
    """Options: the references file, if the cases come along, and one label for every policy."""

    references: Annotated[str | None, Local()] = Field(
        None, description="path of the references file, which brings the cases along"
    )
    policy: str | None = Field(
        None, pattern=POLICY, description="one label for all histories, instead of what the file says"
    )


class Histories:
    """Reads histories as JSON lines: first a Case per reference, then an Imported per history."""

    def __init__(self, options: HistoriesOptions, context: Context):
        self._options = options
        self.about = About("Histories", "a file of the user's", "not said", cases_first=True)

    def read(self, path: Path) -> Iterator[Case | Imported | Fault]:
        """Read a file of histories.

        Raises:
            InputError: a file is missing, empty or no UTF-8 text.
        """
        if path.is_dir():
            raise InputError("is a folder; name a file in it, such as histories.jsonl", path=path)
        given = self._options.references
        cases, seen = Cases(Path(given)) if given is not None else None, Seen()
        if cases is not None:
            yield from cases.read(_case)
        for line in objects(path):
            yield from seen.take(line, partial(self._imported, cases))

    def _imported(self, cases: Cases | None, line: Line, faults: list[Fault]) -> Imported:
        own = _is_own(line)
        case = case_id(line, "case")
        if cases is not None:
            cases.check(case, line, "case")
        policy = policy_label(line, self._options.policy, "policy")
        history = _own(line) if own else _by_hand(line, faults)
        return Imported(case, policy, history, repeat_of(line))


def _is_own(line: Line) -> bool:
    """Tell the program's own lines from those written by hand."""
    if "history" in line.data or "turns" in line.data:
        return "history" in line.data
    if "dialogue" in line.data or "dialog_history" in line.data:
        line.reject("looks like AI Hospital's; import it with the importer ai_hospital; left out")
    return line.reject("expected the key history (this program's own) or turns (by hand); left out")


def _own(line: Line) -> History:
    """Read a History as this program wrote it.

    Raises:
        Rejected: it is none, or its turns do not fit its numbers.
    """
    value = line.data["history"]
    if not isinstance(value, dict):
        line.reject(f"expected a history, found {found(value)}; left out", "history")
    try:
        history = msgspec.convert(value, History)
    except msgspec.ValidationError as error:
        place = _PLACE.fullmatch(str(error))
        message, key = (place[1], f"history.{place[2]}".rstrip(".")) if place else (str(error), "history")
        line.reject(f"{message[:1].lower()}{message[1:]}; the history is left out", key)
    _check(history, line)
    return history


def _check(history: History, line: Line) -> None:
    """Refuse a history whose numbers contradict its turns."""
    rounds = [turn.round for turn in history.turns]
    if not rounds:
        line.reject("the dialogue is empty; left out", "history.turns")
    if [turn.index for turn in history.turns] != list(range(len(rounds))):
        line.reject("the turns' index does not count 0, 1, 2 ...; the history is left out", "history.turns")
    if rounds != sorted(rounds) or not 0 <= rounds[0] <= rounds[-1] <= history.rounds:
        line.reject("the turns' rounds go back or past the history's rounds; the history is left out", "history.turns")
    first = next((turn.round for turn in history.turns if turn.kind in ("summary", "diagnose")), None)
    if first != history.first_summary:
        line.reject(f"expected {first} by the turns; the history is left out", "history.first_summary")


def _by_hand(line: Line, faults: list[Fault]) -> History:
    """Build a History from turns written by hand."""
    for key in line.data:
        near = get_close_matches(key, _BY_HAND, n=1, cutoff=0.75) if key not in _BY_HAND else []
        if near:
            faults.append(line.fault(f"unknown key, not used; did you mean {near[0]!r}?", key))
    said = utterances(line, "turns", ("text", "content"), faults)
    return assemble(cut_at_summary(Dialogue(said, _closing(line)), line, faults))


def _closing(line: Line) -> Closing | None:
    """Read the summary and the diagnoses; diagnoses without a summary are written as one."""
    diagnoses = _diagnoses(line)
    text = line.data.get("summary")
    if text is not None and not isinstance(text, str):
        line.reject(f"expected text, found {found(text)}; the history is left out", "summary")
    closing = summary_of(text or "", diagnoses)
    if closing.text:
        return closing
    if diagnoses is None:
        return None
    return Closing(f"诊断：{'；'.join(diagnoses)}。" if diagnoses else "（未给出诊断）", diagnoses)


def _diagnoses(line: Line) -> tuple[str, ...] | None:
    given = line.data.get("diagnoses")
    if given is None:
        return None
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        wanted = 'expected a list of names, such as ["肺炎"]'
        line.reject(f"{wanted}, found {found(given)}; the history is left out", "diagnoses")
    return tuple(name for one in given if (name := one.strip()))


def _case(line: Line) -> Case:
    """Make a case of one reference.

    Raises:
        Rejected: it has no id or no diagnosis, or its targets do not fit its facts.
        ValidationError: it is no Case.
    """
    data: dict[str, Any] = {"source": "imported", "context": NO_OPENING, "turn_budget": BUDGET}
    data |= {key: value for key, value in line.data.items() if key not in ("case", "id")}
    data["id"] = case_id(line, "case", "id")
    given = data.get("diagnoses")
    if isinstance(given, list):
        data["diagnoses"] = [{"name": one.strip()} if isinstance(one, str) else one for one in given]
    case = Case.model_validate_json(msgspec.json.encode(data))
    _check_ids(case, line)
    return case


def _check_ids(case: Case, line: Line) -> None:
    facts = [fact.id for fact in case.facts]
    for key, ids in (("facts", facts), ("targets", [target.id for target in case.targets])):
        for index, one in enumerate(ids):
            if one in ids[:index]:
                line.reject(f"id {one!r} is there twice; the case is left out", f"{key}[{index}].id")
    for index, target in enumerate(case.targets):
        for fact in target.facts:
            if fact not in facts:
                line.reject(f"there is no fact {fact!r}; the case is left out", f"targets[{index}].facts")
