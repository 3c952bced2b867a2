"""What a workup did, read from its stored history: records received, integrity checks, deferral. No text of the case."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from meddc_bench.records import Case, History

CAUGHT = "caught"


@dataclass(frozen=True, slots=True)
class WorkupLog:
    """The facts that behaviour metrics rest on. A catch is None where its probe was not met, an alarm without a control.

    `available` is 0 where the visit's test records were `withheld`, so that deferring was right. `received` are ids of
    test records, each once, in order; `unavailable` tests ordered that the case has no record of.
    """

    available: int
    withheld: bool
    received: tuple[str, ...]
    examined: tuple[str, ...]
    unavailable: tuple[str, ...]
    invalid: int
    deferred: bool
    modality_catch: bool | None
    anatomy_catch: bool | None
    false_alarm: bool | None

    @property
    def coverage(self) -> float:
        """Share of the available test records that were received; 0 when none are available (section 7.1)."""
        return len(self.received) / self.available if self.available else 0.0


def workup_log(case: Case, history: History) -> WorkupLog:
    """Read the log of one history of a case."""
    marks = [mark.split(":", 1) for _, note in sorted(history.notes.items(), key=_index) for mark in note.marks]
    known = {panel.id for panel in case.workup.test_records} if case.workup else set()
    doctor = [turn for turn in history.turns if turn.role == "doctor"]
    withheld = ["withheld"] in marks
    return WorkupLog(
        available=0 if withheld else len(known),
        withheld=withheld,
        received=tuple(dict.fromkeys(one for one in _of("record", marks) if one in known)),
        examined=tuple(dict.fromkeys(_of("examined", marks))),
        unavailable=tuple(dict.fromkeys(_of("unavailable", marks))),
        invalid=sum(turn.action is not None and bool(turn.action.violations) for turn in doctor),
        deferred=history.ended == "deferred",
        modality_catch=_gate("modality", CAUGHT, marks),
        anatomy_catch=_gate("anatomy", CAUGHT, marks),
        false_alarm=_gate("clean", "false_alarm", marks),
    )


def _index(item: tuple[str, object]) -> int:
    return int(item[0])


def _of(kind: str, marks: list[list[str]]) -> Iterator[str]:
    return (one[1] for one in marks if one[0] == kind and len(one) > 1)


def _gate(gate: str, outcome: str, marks: list[list[str]]) -> bool | None:
    outcomes = [rest.removeprefix(f"{gate}:") for rest in _of("gate", marks) if rest.startswith(f"{gate}:")]
    outcomes = [one for one in outcomes if one != "located"]
    return outcome in outcomes if outcomes else None
