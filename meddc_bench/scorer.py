"""The units of a bench, from what is stored: looked up by id, matched, and put together for the metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import msgspec

from meddc_bench.contracts import Unit
from meddc_bench.pipeline.judge import axis_references
from meddc_bench.pipeline.match import assign
from meddc_bench.pipeline.score import Cell, failed_unit
from meddc_bench.plan import Condition, TaskBench
from meddc_bench.records import Assignment, Axis, Case, Evidence, Record
from meddc_bench.store import Entry, Head, Store
from meddc_bench.wiring import Adapter

NOT_DONE = "not done yet"


class _Item(Record, frozen=True):
    id: str
    round: int | None = None


class _Edge(Record, frozen=True):
    prediction: str
    reference: str
    level: str = "covers"
    excluded: str | None = None


class _Brief(Record, frozen=True):
    """Evidence without its texts, which scoring does not need."""

    axis: Axis
    items: tuple[_Item, ...] = ()
    references: tuple[str, ...] = ()
    edges: tuple[_Edge, ...] = ()
    volunteered: tuple[str, ...] = ()
    steps: dict[str, str] = {}  # noqa: RUF012 - a struct copies its defaults


@dataclass(frozen=True)
class Row:
    """One line of the results: a policy with a patient, read under a condition, judged by a judge."""

    policy: Adapter
    patient: Adapter
    condition: Condition
    judge: Adapter
    ask: int


class Measured(msgspec.Struct, frozen=True):
    """A unit of a row with what it was computed from; `cell.unit` is None where it was not measured.

    `fallbacks` are the judge's steps that had to fall back, and how; `evidence` is there where texts were asked for.
    """

    case: Case
    repeat: int
    cell: Cell
    head: Head | None
    assignments: Mapping[Axis, Assignment]
    fallbacks: Sequence[tuple[str, str]] = ()
    evidence: Mapping[Axis, Evidence] = {}
    cut_at: int | None = None


_Matched = tuple[Assignment, dict[str, str], Evidence | None]
"""An axis of a unit: its assignment, the judge's fallbacks, and the evidence where it came with texts.

Evidence without texts is let go as soon as it is matched: there is too much of it to keep.
"""


class _Parts(msgspec.Struct):
    """The axes of a unit as they are matched; `failed` is the outcome and reason of the first that is missing."""

    assignments: dict[Axis, Assignment] = {}
    fallbacks: list[tuple[str, str]] = []
    evidence: dict[Axis, Evidence] = {}
    failed: tuple[str, str | None] | None = None


def rows(bench: TaskBench) -> Iterator[Row]:
    """Iterate over the rows of a bench."""
    for policy in bench.policies:
        for patient in bench.patients:
            for condition in bench.conditions:
                for judge in bench.judges:
                    for ask in range(bench.asks):
                        yield Row(policy, patient, condition, judge, ask)


class Scorer:
    """Computes the units of a bench; a history is looked up, and its trajectory matched, once for all rows."""

    def __init__(self, store: Store, bench: TaskBench, *, texts: bool = False):
        """Make a scorer; with `texts` the evidence comes whole, for people to read."""
        self._store, self._bench = store, bench
        self._texts = texts
        self._kind = Evidence if texts else cast(type[Evidence], _Brief)
        self._found: dict[tuple[str, str, int, str], tuple[str, Entry | None]] = {}
        self._trajectories: dict[str, _Matched] = {}
        self.references = {
            case.id: {axis: len(axis_references(case, axis)) for axis in self._axes(case)} for case in bench.cases
        }

        self.axes = frozenset(axis for counts in self.references.values() for axis in counts)

    def _axes(self, case: Case) -> tuple[Axis, ...]:
        trajectory: tuple[Axis, ...] = ("trajectory",) if case.scored_targets else ()
        return (*self._bench.axes[case.id], *trajectory)

    def units(self, row: Row, *, histories_only: bool = False) -> Iterator[Measured]:
        """Iterate over the units of a row, repeat by repeat, cases in the order of their ids."""
        for repeat in range(self._bench.repeats):
            for case in self._bench.cases:
                if self._bench.expects(row.policy, case, repeat):
                    yield self._unit(row, case, repeat, histories_only)

    def _unit(self, row: Row, case: Case, repeat: int, histories_only: bool) -> Measured:
        history_id, entry = self._history(row, case, repeat)
        if entry is None:
            return _unmeasured(case, repeat, "infra_failed", self._bench.missing_because)
        outcome, head = entry.outcome, entry.head
        if outcome == "policy_failed":
            unit = failed_unit(self.references[case.id], head.rounds if head else 0)
            return Measured(case, repeat, Cell(case.id, repeat, outcome, unit, entry.reason), head, unit.assignments)
        if outcome != "scored" or head is None or histories_only:
            return _unmeasured(case, repeat, outcome, entry.reason, head)
        return self._judged(row, case, repeat, history_id, head)

    def _history(self, row: Row, case: Case, repeat: int) -> tuple[str, Entry | None]:
        """Look a history up once for all conditions and judges."""
        key = (row.policy.label, row.patient.label, repeat, case.id)
        found = self._found.get(key)
        if found is None:
            history_id = self._bench.history_id(row.policy, row.patient, case, repeat)
            found = history_id, self._store.entry(history_id) if history_id in self._store else None
            self._found[key] = found
        return found

    def _judged(self, row: Row, case: Case, repeat: int, history_id: str, head: Head) -> Measured:
        bench, parts, cut_at = self._bench, _Parts(), None
        if "trajectory" in self.references[case.id]:
            self._take("trajectory", bench.trajectory_id(row.judge, row.ask, case, history_id), head, parts)
        reading_id = bench.reading_id(row.condition, history_id)
        if self._store.outcome(reading_id) == "scored":
            if row.condition.label != "emitted":
                reading = self._store.entry(reading_id)
                cut_at = reading.head.cut_at if reading.head else None
            for axis in bench.reading_axes(case, row.condition):
                self._take(axis, bench.evidence_id(row.judge, row.ask, axis, case, reading_id), head, parts)
        else:
            parts.failed = parts.failed or self._failure(reading_id)
        outcome, reason = parts.failed or ("scored", None)
        unit = Unit(parts.assignments, head.ended, head.rounds, head.first_summary, case.turn_budget, head.trace)
        cell = Cell(case.id, repeat, outcome, unit, reason)
        return Measured(case, repeat, cell, head, parts.assignments, parts.fallbacks, parts.evidence, cut_at)

    def _take(self, axis: Axis, record_id: str, head: Head, parts: _Parts) -> None:
        """Match one axis, or note why it is missing."""
        known = self._trajectories.get(record_id)
        if known is None:
            scored = self._store.outcome(record_id) == "scored"
            evidence = self._store.record(record_id, self._kind) if scored else None
            if evidence is None:
                parts.failed = parts.failed or self._failure(record_id)
                return
            assignment = assign(evidence, head.first_summary, lists=self._texts)
            known = assignment, evidence.steps, evidence if self._texts else None
            if (
                axis == "trajectory" and len(self._bench.conditions) > 1 and not self._texts
            ):  # texts are too many to keep
                self._trajectories[record_id] = known
        parts.assignments[axis], steps, whole = known
        if steps:
            parts.fallbacks.extend(steps.items())
        if whole is not None:
            parts.evidence[axis] = whole

    def _failure(self, record_id: str) -> tuple[str, str | None]:
        """Return the outcome and the reason of a record that is not there or came to nothing."""
        if record_id not in self._store:
            return "infra_failed", NOT_DONE
        entry = self._store.entry(record_id)
        return entry.outcome, entry.reason


def _unmeasured(case: Case, repeat: int, outcome: str, reason: str | None, head: Head | None = None) -> Measured:
    return Measured(case, repeat, Cell(case.id, repeat, outcome, None, reason), head, {})
