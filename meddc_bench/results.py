"""From stored records to `results.json`: units, metric columns, coverage, fingerprints. Recomputed every time.

The result holds no time and no usage: the same records give the same bytes.
"""

from __future__ import annotations

import contextlib
import gc
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from meddc_bench.contracts import Metric, Unit
from meddc_bench.fingerprint import digest
from meddc_bench.pipeline.judge import axis_references
from meddc_bench.pipeline.match import assign
from meddc_bench.pipeline.score import Cell, Column, column, failed_unit
from meddc_bench.plan import Condition, TaskBench
from meddc_bench.records import DIMENSIONS, MEASURED, Assignment, Axis, Case, Evidence
from meddc_bench.registry import Registry
from meddc_bench.store import Entry, Head, Store
from meddc_bench.wiring import Adapter

FORMAT = 1
NOT_DONE = "not done yet"


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
    """Computes the units of a bench from the store; a history is looked up, and its trajectory matched, once for all rows."""

    def __init__(self, store: Store, bench: TaskBench):
        self._store, self._bench = store, bench
        self._found: dict[tuple[str, str, int, str], tuple[str, str | None, Entry | None]] = {}
        self._trajectories: dict[str, tuple[Evidence, Assignment]] = {}
        self.references = {
            case.id: {axis: len(axis_references(case, axis)) for axis in self._axes(case)} for case in bench.cases
        }

        self.axes = frozenset(axis for counts in self.references.values() for axis in counts)

    def _axes(self, case: Case) -> tuple[Axis, ...]:
        trajectory: tuple[Axis, ...] = ("trajectory",) if case.scored_targets else ()
        return (*self._bench.axes[case.id], *trajectory)

    def units(self, row: Row) -> Iterator[Measured]:
        """Iterate over the units of a row, repeat by repeat, cases in the order of their ids."""
        for repeat in range(self._bench.repeats):
            for case in self._bench.cases:
                if self._bench.expects(row.policy, case, repeat):
                    yield self._unit(row, case, repeat)

    def _unit(self, row: Row, case: Case, repeat: int) -> Measured:
        history_id, outcome, entry = self._history(row, case, repeat)
        if entry is None:
            return _unmeasured(case, repeat, "infra_failed", self._bench.missing_because)
        if outcome == "policy_failed":
            unit = failed_unit(self.references[case.id])
            return Measured(case, repeat, Cell(case.id, repeat, outcome, unit, entry.reason), entry.head, unit.assignments, {})
        if outcome != "scored" or entry.head is None:
            return _unmeasured(case, repeat, outcome or "infra_failed", entry.reason, entry.head)
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
        unit = Unit(
            assignments, head.ended, head.rounds, head.first_summary, case.turn_budget,
            head.trace,
        )  # fmt: skip
        outcome, reason = failed or ("scored", None)
        return Measured(case, repeat, Cell(case.id, repeat, outcome, unit, reason), head, assignments, evidence, cut_at)

    def _take(
        self, axis: Axis, record_id: str, head: Head, evidence: dict[Axis, Evidence], assignments: dict[Axis, Assignment]
    ) -> tuple[str, str | None] | None:
        """Add the evidence and the assignment of one axis, or return its outcome and reason."""
        known = self._trajectories.get(record_id)
        if known is None:
            state = self._store.outcome(record_id)
            proposed = self._store.record(record_id, Evidence) if state == "scored" else None
            if proposed is None:
                return (state, self._store.entry(record_id).reason) if state else ("infra_failed", NOT_DONE)
            known = proposed, assign(proposed, head.first_summary)
            if axis == "trajectory" and len(self._bench.conditions) > 1:
                self._trajectories[record_id] = known
        evidence[axis], assignments[axis] = known
        return None


def results(
    store: Store, benches: Iterable[TaskBench], registry: Registry, *, complete: bool = True, predict_only: bool = False
) -> dict[str, Any]:
    """Compute everything `results.json` holds; with `predict_only` the histories' outcomes alone."""
    with _no_collection():
        return _results(store, benches, registry, complete=complete, predict_only=predict_only)


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Keep the garbage collector from walking a growing heap of small records that hold no cycles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _results(
    store: Store, benches: Iterable[TaskBench], registry: Registry, *, complete: bool, predict_only: bool
) -> dict[str, Any]:
    tasks: dict[str, Any] = {}
    for bench in benches:
        metrics = {} if predict_only else build_metrics(bench, registry)
        scorer = Scorer(store, bench)
        tasks[bench.task.name] = {
            "cases": len(bench.cases), "repeats": bench.repeats, "protocol": bench.task.config.protocol.model_dump(),
            "rows": [_row(bench, scorer, row, metrics) for row in rows(bench)],
        }  # fmt: skip
    return {"format": FORMAT, "complete": complete, "tasks": tasks}


def build_metrics(bench: TaskBench, registry: Registry) -> dict[str, tuple[Adapter, Metric]]:
    """Build the metrics a task names; Total takes its weights from the protocol."""
    out: dict[str, tuple[Adapter, Metric]] = {}
    for name in bench.task.config.metrics:
        options = bench.task.config.protocol.weights.model_dump() if name == "Total" else {}
        adapter = Adapter(registry, "metric", name, name, options)
        out[name] = (adapter, adapter.get())
    return out


def _row(bench: TaskBench, scorer: Scorer, row: Row, metrics: Mapping[str, tuple[Adapter, Metric]]) -> dict[str, Any]:
    units = list(scorer.units(row))
    out: dict[str, Any] = {
        "policy": row.policy.label, "patient": row.patient.label, "condition": row.condition.label,
        "judge": row.judge.label, "ask": row.ask, "deterministic": _deterministic(bench, units),
        "outcomes": dict(sorted(Counter(one.cell.outcome for one in units).items())),
        "reasons": dict(sorted({one.cell.outcome: one.cell.reason for one in reversed(units) if one.cell.reason}.items())),
        "ended": dict(sorted(Counter(one.head.ended for one in units if one.head).items())),
        "breaches": sum(one.head.breaches for one in units if one.head),
        "patient_checks": dict(sorted(sum((Counter(one.head.checks) for one in units if one.head), Counter()).items())),
        "early_assertion": sum(one.cut_at is not None for one in units),
        "excluded_edges": dict(sorted(_excluded(units).items())),
        "fallbacks": dict(sorted(_fallbacks(units).items())),
        "metrics": {}, "fingerprints": {},
    }  # fmt: skip
    whole = [one.cell for one in units] if all(one.cell.outcome in MEASURED for one in units) else None
    for name, (adapter, metric) in metrics.items():
        axes = frozenset(metric.needs)
        if axes & set(DIMENSIONS) and (row.condition.label != "emitted" or not axes <= scorer.axes):
            continue
        found = column(metric, whole or [_cell_for(one, axes, scorer) for one in units], scorer.references)
        out["metrics"][name] = _plain(found, metric)
        out["fingerprints"][name] = fingerprint(bench, row, adapter, metric)["digest"]
    return out


def _cell_for(measured: Measured, axes: frozenset[Axis], scorer: Scorer) -> Cell:
    """Return the cell as a metric sees it: unmeasured only when an axis the metric needs is missing."""
    cell = measured.cell
    if cell.unit is None or cell.outcome in MEASURED:
        return cell
    missing = [axis for axis in axes if axis not in measured.assignments and scorer.references[measured.case.id].get(axis)]
    return Cell(cell.case, cell.repeat, cell.outcome, None if missing else cell.unit, cell.reason)


def fingerprint(bench: TaskBench, row: Row, adapter: Adapter, metric: Metric) -> dict[str, Any]:
    """Say what a column of results depends on, without labels and without the policy.

    T and other trajectory columns have no reader in it.
    """
    config = bench.task.config
    parts: dict[str, Any] = {
        "task": config.task, "cases": bench.cases_digest,
        "environment": bench.environment.identity, "patient": row.patient.identity, "metric": adapter.identity,
        "protocol": config.protocol.model_dump(), "seed": bench.seed, "repeats": bench.repeats,
    }  # fmt: skip
    if metric.needs:
        parts["judge"] = row.judge.identity
    if any(axis != "trajectory" for axis in metric.needs):
        parts["reader"] = row.condition.identity
        if row.condition.label != "emitted":
            parts["reader_templates"] = bench.templates("reader_system", "reader_message")
    parts["templates"] = bench.templates("doctor_system", "doctor_message", "patient_system", "patient_message")
    return {"digest": digest(parts), "parts": parts}


def _unmeasured(case: Case, repeat: int, outcome: str, reason: str | None, head: Head | None = None) -> Measured:
    return Measured(case, repeat, Cell(case.id, repeat, outcome, None, reason), head, {}, {})


def _deterministic(bench: TaskBench, units: list[Measured]) -> bool | None:
    """Tell whether the doctor said the same in all repeats of every case; None with one repeat."""
    if bench.repeats < 2:
        return None
    said: dict[str, set[str]] = {}
    for one in units:
        said.setdefault(one.case.id, set()).add(one.head.doctor_hash if one.head else "")
    return all(len(hashes) == 1 for hashes in said.values())


def _excluded(units: Iterable[Measured]) -> Counter[str]:
    return Counter(
        (edge.excluded or "").split(" '")[0] for one in units for found in one.assignments.values() for edge in found.excluded
    )


def _fallbacks(units: Iterable[Measured]) -> Counter[str]:
    return Counter(
        f"{step}: {how.split(':')[0]}" for one in units for found in one.evidence.values() for step, how in found.steps.items()
    )


def _plain(found: Column, metric: Metric) -> dict[str, Any]:
    out: dict[str, Any] = {
        "unit": metric.unit, "higher_is_better": metric.higher_is_better, "mean": found.mean, "sd": found.sd,
        "values": [score.value for score in found.scores], "sums": [_whole(sums) for sums in found.sums],
        "measured": found.measured, "expected": found.expected,
    }  # fmt: skip
    if found.reason is not None:
        out["reason"] = found.reason
    if any(score.reason for score in found.scores):
        out["notes"] = [score.reason for score in found.scores]
    if found.bounds is not None:
        out["bounds"] = list(found.bounds)
    return out


def _whole(sums: Mapping[str, float]) -> dict[str, float | int]:
    return {name: int(value) if float(value).is_integer() else value for name, value in sorted(sums.items())}
