"""The units of a bench, from what is stored: looked up by id, matched, and put together for the metrics."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, groupby
from typing import cast

import msgspec

from meddc_bench.contracts import Unit
from meddc_bench.errors import StoreError
from meddc_bench.pipeline.judge import axis_references
from meddc_bench.pipeline.match import assign
from meddc_bench.pipeline.score import Cell, failed_unit
from meddc_bench.plan import Condition, TaskBench
from meddc_bench.records import Assignment, Axis, Case, Edge, Evidence, Item, Record
from meddc_bench.store import Entry, Head, Store
from meddc_bench.wiring import Adapter

NOT_DONE = "not done yet"
WITHHELD = "withheld"
"""The mark of a visit whose test records were held back: there was none to receive."""


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
    counts: dict[str, int] = {}  # noqa: RUF012


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

    `fallbacks` are the judge's steps that had to fall back, and how, `counts` what judges counted of their own work;
    `evidence` is there where texts were asked for.
    """

    case: Case
    repeat: int
    cell: Cell
    head: Head | None
    assignments: Mapping[Axis, Assignment]
    fallbacks: Sequence[tuple[str, str]] = ()
    counts: Sequence[tuple[str, int]] = ()
    evidence: Mapping[Axis, Evidence] = {}
    cut_at: int | None = None


class _Matched(msgspec.Struct, frozen=True):
    """An axis of a unit: its assignment, the judge's fallbacks and counts, and the evidence where it came with texts.

    Evidence without texts is let go as soon as it is matched: there is too much of it to keep. Where the axis is
    missing, `failed` is the outcome and the reason.
    """

    assignment: Assignment | None
    steps: Mapping[str, str] = {}
    counts: Mapping[str, int] = {}
    evidence: Evidence | None = None
    failed: tuple[str, str | None] | None = None


@contextlib.contextmanager
def no_collection() -> Iterator[None]:
    """Keep the garbage collector from walking a growing heap of small records that hold no cycles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def rows(bench: TaskBench) -> Iterator[Row]:
    """Iterate over the rows of a bench."""
    for policy in bench.policies:
        for patient in bench.patients:
            for condition in bench.conditions:
                for judge in bench.judges:
                    for ask in range(bench.asks):
                        yield Row(policy, patient, condition, judge, ask)


def together(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Put together the rows of one policy with one patient, which have the same histories."""
    for _, group in groupby(rows, lambda row: (row.policy.label, row.patient.label)):
        yield list(group)


class Scorer:
    """Computes the units of a bench; all records of a history are read while its lines are at hand."""

    def __init__(self, store: Store, bench: TaskBench, *, texts: bool = False, cuts: bool = True):
        """Make a scorer; with `texts` the evidence comes whole, for people to read; without `cuts` no `cut_at`."""
        self._store, self._bench = store, bench
        self._texts, self._cuts = texts, cuts
        self._kind = Evidence if texts else cast(type[Evidence], _Brief)
        self._found: dict[tuple[str, str, int, str], tuple[str, Entry | None]] = {}
        self._readings: dict[str, dict[str, tuple[str, bool]]] = {one.label: {} for one in bench.conditions}
        self.references = {
            case.id: {axis: len(axis_references(case, axis)) for axis in self._axes(case)} for case in bench.cases
        }

        self._records = {case.id: _record_marks(case) for case in bench.cases}
        self.records = {case_id: len(marks) for case_id, marks in self._records.items()}
        """The number of test records of each case: what a workup can receive."""

        self.axes = frozenset(axis for counts in self.references.values() for axis in counts)

    def _axes(self, case: Case) -> tuple[Axis, ...]:
        trajectory: tuple[Axis, ...] = ("trajectory",) if case.scored_targets else ()
        return (*self._bench.axes[case.id], *trajectory)

    def units(self, row: Row) -> Iterator[Measured]:
        """Iterate over the units of a row, repeat by repeat, cases in the order of their ids."""
        for case, repeat in self._expected(row):
            yield from self._of_history([row], case, repeat, False)

    def of_rows(self, rows: Sequence[Row], *, histories_only: bool = False) -> list[list[Measured]]:
        """Compute the units of several rows of one policy and patient: its trajectory is matched once for all."""
        units: list[list[Measured]] = [[] for _ in rows]
        for case, repeat in self._expected(rows[0]):
            found = self._of_history(rows, case, repeat, histories_only)
            for mine, one in zip(units, found, strict=True):
                mine.append(one)
        return units

    def _expected(self, row: Row) -> Iterator[tuple[Case, int]]:
        for repeat in range(self._bench.repeats):
            for case in self._bench.cases:
                if self._bench.expects(row.policy, case, repeat):
                    yield case, repeat

    def _of_history(self, rows: Sequence[Row], case: Case, repeat: int, histories_only: bool) -> list[Measured]:
        history_id, entry = self.history(rows[0].policy, rows[0].patient, case, repeat)
        if entry is None:
            return [_unmeasured(case, repeat, "infra_failed", self._bench.missing_because)] * len(rows)
        outcome, head = entry.outcome, entry.head
        if outcome == "policy_failed":
            unit = failed_unit(self.references[case.id], head.rounds if head else 0)
            if head is not None:
                available, got, marks = self._workup(case, head)
                unit = msgspec.structs.replace(
                    unit, trace=head.trace, records_available=available, records_received=got, marks=marks
                )
            cell = Cell(case.id, repeat, outcome, unit, entry.reason)
            return [Measured(case, repeat, cell, head, unit.assignments)] * len(rows)
        if outcome != "scored" or head is None or histories_only:
            return [_unmeasured(case, repeat, outcome, entry.reason, head)] * len(rows)
        trajectories: dict[tuple[str, int], _Matched] = {}
        return [self._judged(row, case, repeat, history_id, head, trajectories) for row in rows]

    def history(self, policy: Adapter, patient: Adapter, case: Case, repeat: int) -> tuple[str, Entry | None]:
        """Look a history up once for all conditions and judges: its id, and its entry where there is one."""
        key = (policy.label, patient.label, repeat, case.id)
        found = self._found.get(key)
        if found is None:
            history_id = self._bench.history_id(policy, patient, case, repeat)
            found = history_id, self._store.get(history_id)
            self._found[key] = found
        return found

    def reading(self, condition: Condition, history_id: str) -> tuple[str, bool]:
        """Look a reading up once for all judges: its id, and whether it is there and came to something."""
        known = self._readings[condition.label]
        found = known.get(history_id)
        if found is None:
            reading_id = self._bench.reading_id(condition, history_id)
            found = known[history_id] = reading_id, self._store.outcome(reading_id) == "scored"
        return found

    def _judged(
        self, row: Row, case: Case, repeat: int, history_id: str, head: Head,
        trajectories: dict[tuple[str, int], _Matched],
    ) -> Measured:  # fmt: skip
        """Put a unit together; `trajectories` are those of this history that are matched already, by judge and ask."""
        assignments: dict[Axis, Assignment] = {}
        fallbacks: list[tuple[str, str]] = []
        counts: list[tuple[str, int]] = []
        evidence: dict[Axis, Evidence] = {}
        failed, cut_at = None, None
        found = self._trajectory(row, case, history_id, head, trajectories)
        reading_id, read = self.reading(row.condition, history_id)
        if read:
            for axis in self._bench.reading_axes(case, row.condition):
                record_id = self._bench.evidence_id(row.judge, row.ask, axis, case, reading_id)
                found.append((axis, self._matched(record_id, head)))
            cut_at = self._cut_at(row.condition, reading_id) if self._cuts else None
        for axis, one in found:
            if one.assignment is None:
                failed = failed or one.failed
                continue
            assignments[axis] = one.assignment
            if one.steps:
                fallbacks.extend(one.steps.items())
            if one.counts:
                counts.extend(one.counts.items())
            if one.evidence is not None:
                evidence[axis] = one.evidence
        outcome, reason = failed or (("scored", None) if read else self._failure(reading_id))
        workup = self._workup(case, head)
        unit = Unit(
            assignments, head.ended, head.rounds, head.first_summary, case.turn_budget, head.trace, False, *workup
        )
        cell = Cell(case.id, repeat, outcome, unit, reason)
        return Measured(case, repeat, cell, head, assignments, fallbacks, counts, evidence, cut_at)

    def _workup(self, case: Case, head: Head) -> tuple[int, int, tuple[tuple[str, ...], ...]]:
        """Return how many test records there were to receive, how many were received, and the marks of the turns."""
        known = self._records[case.id]
        if any(WITHHELD in turn for turn in head.marks):
            known = frozenset()
        return len(known), received(known, head.marks), head.marks

    def _trajectory(
        self, row: Row, case: Case, history_id: str, head: Head, known: dict[tuple[str, int], _Matched]
    ) -> list[tuple[Axis, _Matched]]:
        """Match the trajectory, where the case has targets, once for all conditions."""
        if "trajectory" not in self.references[case.id]:
            return []
        key = (row.judge.label, row.ask)
        found = known.get(key)
        if found is None:
            record_id = self._bench.trajectory_id(row.judge, row.ask, case, history_id)
            found = known[key] = self._matched(record_id, head)
        return [("trajectory", found)]

    def _matched(self, record_id: str, head: Head) -> _Matched:
        """Match one axis, or say why it is missing."""
        try:
            evidence = self._store.record(record_id, self._kind)
        except StoreError:
            if record_id in self._store:
                raise
            evidence = None
        if evidence is None:
            return _Matched(None, failed=self._failure(record_id))
        if self._texts:
            return _Matched(assign(evidence, head.first_summary), evidence.steps, evidence.counts, evidence)
        if evidence.axis == "trajectory":
            return _Matched(assign(evidence, head.first_summary, lists=False), evidence.steps, evidence.counts)
        return _Matched(
            _few(evidence.axis, evidence.items, evidence.references, evidence.edges, evidence.volunteered),
            evidence.steps, evidence.counts,
        )  # fmt: skip

    def _cut_at(self, condition: Condition, reading_id: str) -> int | None:
        head = None if condition.label == "emitted" else self._store.entry(reading_id).head
        return None if head is None else head.cut_at

    def _failure(self, record_id: str) -> tuple[str, str | None]:
        """Return the outcome and the reason of a record that is not there or came to nothing."""
        if record_id not in self._store:
            return "infra_failed", NOT_DONE
        entry = self._store.entry(record_id)
        return entry.outcome, entry.reason


def received(known: frozenset[str], marks: Iterable[Sequence[str]]) -> int:
    """Count the known marks among those of all turns, each once: the test records that reached the policy.

    >>> received(frozenset({"record:p5", "record:p6"}), [("record:p5", "record:p7"), ("examined:p1",), ("record:p5",)])
    1
    """
    return len(known.intersection(chain.from_iterable(marks))) if known else 0


def _record_marks(case: Case) -> frozenset[str]:
    return frozenset(f"record:{panel.id}" for panel in case.workup.test_records) if case.workup else frozenset()


@lru_cache(maxsize=4096)
def _few(
    axis: Axis, items: tuple[Item, ...], references: tuple[str, ...], edges: tuple[Edge, ...],
    volunteered: tuple[str, ...],
) -> Assignment:  # fmt: skip
    """Match an axis of few items, which are named alike in all cases, so that the same comes again and again."""
    return assign(
        Evidence(axis=axis, items=items, references=references, edges=edges, volunteered=volunteered), lists=False
    )


def _unmeasured(case: Case, repeat: int, outcome: str, reason: str | None, head: Head | None = None) -> Measured:
    return Measured(case, repeat, Cell(case.id, repeat, outcome, None, reason), head, {})
