"""The units of a bench, from what is stored: looked up by id, matched, and put together for the metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

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


@dataclass(frozen=True, slots=True)
class Measured:
    """A unit of a row with what it was computed from; `cell.unit` is None where it was not measured."""

    case: Case
    repeat: int
    cell: Cell
    head: Head | None
    assignments: Mapping[Axis, Assignment]
    evidence: Mapping[Axis, Evidence]
    cut_at: int | None = None


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
        self._kind = Evidence if texts else cast(type[Evidence], _Brief)
        self._found: dict[tuple[str, str, int, str], tuple[str, str | None, Entry | None]] = {}
        self._trajectories: dict[str, tuple[Evidence, Assignment]] = {}
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
        history_id, outcome, entry = self._history(row, case, repeat)
        if entry is None:
            return _unmeasured(case, repeat, "infra_failed", self._bench.missing_because)
        if outcome == "policy_failed":
            unit = failed_unit(self.references[case.id], entry.head.rounds if entry.head else 0)
            cell = Cell(case.id, repeat, outcome, unit, entry.reason)
            return Measured(case, repeat, cell, entry.head, unit.assignments, {})
        if outcome != "scored" or entry.head is None:
            return _unmeasured(case, repeat, outcome or "infra_failed", entry.reason, entry.head)
        if histories_only:
            return Measured(case, repeat, Cell(case.id, repeat, outcome, None), entry.head, {}, {})
        return self._judged(row, case, repeat, history_id, entry.head)

    def _history(self, row: Row, case: Case, repeat: int) -> tuple[str, str | None, Entry | None]:
        """Look a history up once for all conditions and judges."""
        key = (row.policy.label, row.patient.label, repeat, case.id)
        found = self._found.get(key)
        if found is None:
            history_id = self._bench.history_id(row.policy, row.patient, case, repeat)
            outcome = self._store.outcome(history_id)
            found = history_id, outcome, self._store.entry(history_id) if outcome else None
            self._found[key] = found
        return found

    def _judged(self, row: Row, case: Case, repeat: int, history_id: str, head: Head) -> Measured:
        bench, store = self._bench, self._store
        assignments: dict[Axis, Assignment] = {}
        evidence: dict[Axis, Evidence] = {}
        failed: tuple[str, str | None] | None = None
        if "trajectory" in self.references[case.id]:
            record_id = bench.trajectory_id(row.judge, row.ask, case, history_id)
            failed = self._take("trajectory", record_id, head, evidence, assignments)
        reading_id = bench.reading_id(row.condition, history_id)
        state = store.outcome(reading_id)
        cut_at = None
        if state == "scored":
            if row.condition.label != "emitted":
                reading = store.entry(reading_id)
                cut_at = reading.head.cut_at if reading.head else None
            for axis in bench.reading_axes(case, row.condition):
                record_id = bench.evidence_id(row.judge, row.ask, axis, case, reading_id)
                taken = self._take(axis, record_id, head, evidence, assignments)
                failed = failed or taken
        else:
            failed = failed or ((state, store.entry(reading_id).reason) if state else ("infra_failed", NOT_DONE))
        unit = Unit(assignments, head.ended, head.rounds, head.first_summary, case.turn_budget, head.trace)
        outcome, reason = failed or ("scored", None)
        return Measured(case, repeat, Cell(case.id, repeat, outcome, unit, reason), head, assignments, evidence, cut_at)

    def _take(
        self,
        axis: Axis,
        record_id: str,
        head: Head,
        evidence: dict[Axis, Evidence],
        assignments: dict[Axis, Assignment],
    ) -> tuple[str, str | None] | None:
        """Add the evidence and the assignment of one axis, or return its outcome and reason."""
        known = self._trajectories.get(record_id)
        if known is None:
            state = self._store.outcome(record_id)
            proposed = self._store.record(record_id, self._kind) if state == "scored" else None
            if proposed is None:
                return (state, self._store.entry(record_id).reason) if state else ("infra_failed", NOT_DONE)
            known = proposed, assign(proposed, head.first_summary, lists=self._kind is Evidence)
            if axis == "trajectory" and len(self._bench.conditions) > 1:
                self._trajectories[record_id] = known
        evidence[axis], assignments[axis] = known
        return None


def _unmeasured(case: Case, repeat: int, outcome: str, reason: str | None, head: Head | None = None) -> Measured:
    return Measured(case, repeat, Cell(case.id, repeat, outcome, None, reason), head, {}, {})
