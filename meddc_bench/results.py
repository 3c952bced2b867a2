"""From stored records to `results.json`: units, metric columns, coverage, fingerprints. Recomputed every time.

The result holds no time and no usage: the same records give the same bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from meddc_bench.contracts import JUDGE_STEPS, Metric
from meddc_bench.fingerprint import digest
from meddc_bench.panel import panels, shared_models
from meddc_bench.pipeline.score import Cell, Column, Statistics, column
from meddc_bench.plan import CORE_REVISION, TaskBench
from meddc_bench.records import DIMENSIONS, MEASURED, Axis
from meddc_bench.registry import Registry
from meddc_bench.scorer import Measured, Row, Scorer, no_collection, rows, together
from meddc_bench.store import Store
from meddc_bench.text import one_line
from meddc_bench.wiring import Adapter

FORMAT = 1


def results(
    store: Store, benches: Iterable[TaskBench], registry: Registry, *, complete: bool = True, predict_only: bool = False
) -> dict[str, Any]:
    """Compute everything `results.json` holds; with `predict_only` the histories' outcomes alone."""
    store.map()
    with no_collection():
        return _results(store, benches, registry, complete=complete, predict_only=predict_only)


def _results(
    store: Store, benches: Iterable[TaskBench], registry: Registry, *, complete: bool, predict_only: bool
) -> dict[str, Any]:
    tasks: dict[str, Any] = {}
    for bench in benches:
        metrics = {} if predict_only else build_metrics(bench, registry)
        scorer = Scorer(store, bench)
        shared: dict[tuple[str, ...], Column] = {}
        lines = [
            _row(bench, scorer, row, units, metrics, shared)
            for group in together(rows(bench))
            for row, units in zip(group, scorer.of_rows(group, histories_only=not metrics), strict=True)
        ]
        built = {name: metric for name, (_, metric) in metrics.items()}
        tasks[bench.task.name] = {
            "cases": len(bench.cases), "repeats": bench.repeats, "protocol": bench.task.config.protocol.model_dump(),
            "rows": lines, "panels": panels(lines, built), "shared_models": shared_models(bench),
        }  # fmt: skip
        if bench.beside:
            tasks[bench.task.name]["beside"] = list(bench.beside)
        derived = sum(target.derived for case in bench.cases for target in case.scored_targets)
        if derived:  # T rests on targets that no clinician wrote
            tasks[bench.task.name]["derived_targets"] = derived
    return {"format": FORMAT, "complete": complete, "tasks": tasks}


def build_metrics(bench: TaskBench, registry: Registry) -> dict[str, tuple[Adapter, Metric]]:
    """Build the metrics a task names; Total takes its weights from the protocol."""
    out: dict[str, tuple[Adapter, Metric]] = {}
    for name in bench.task.config.metrics:
        options = bench.task.config.protocol.weights.model_dump() if name == "Total" else {}
        adapter = Adapter(registry, "metric", name, name, options)
        out[name] = (adapter, adapter.get())
    return out


def _row(
    bench: TaskBench, scorer: Scorer, row: Row, units: list[Measured],
    metrics: Mapping[str, tuple[Adapter, Metric]], shared: dict[tuple[str, ...], Column],
) -> dict[str, Any]:  # fmt: skip
    """Write one row; a column that no reader touches is computed once and `shared` by all conditions."""
    out: dict[str, Any] = {
        "policy": row.policy.label, "patient": row.patient.label, "condition": row.condition.label,
        "judge": row.judge.label, "ask": row.ask, "deterministic": _deterministic(units),
        "outcomes": dict(sorted(Counter(one.cell.outcome for one in units).items())),
        "reasons": _reasons(units),
        "ended": dict(sorted(Counter(one.head.ended for one in units if one.head).items())),
        "breaches": sum(one.head.breaches for one in units if one.head),
        "patient_checks": dict(sorted(_checks(units).items())),
        "early_assertion": sum(one.cut_at is not None for one in units),
        "excluded_edges": dict(sorted(_excluded(units).items())),
        "fallbacks": dict(sorted(_fallbacks(units).items())),
        "metrics": {}, "fingerprints": {},
    }  # fmt: skip
    if counted := _counts(units):
        out["judge_counts"] = dict(sorted(counted.items()))
    whole = [one.cell for one in units] if all(one.cell.outcome in MEASURED for one in units) else None
    known: dict[object, Statistics] = {}
    for name, (adapter, metric) in metrics.items():
        axes = frozenset(metric.needs)
        if axes & set(DIMENSIONS) and (row.condition.label != "emitted" or not axes <= scorer.axes):
            continue
        key = (name, row.policy.label, row.patient.label, row.judge.label, str(row.ask))
        found = shared.get(key) if axes <= {"trajectory"} else None
        if found is None:
            cells = whole or [cell_for(one, axes, scorer) for one in units]
            found = _guarded(name, metric, cells, scorer, known if whole else None)
            shared[key] = found
        out["metrics"][name] = _plain(found, metric)
        out["fingerprints"][name] = fingerprint(bench, row, adapter, metric)["digest"]
    return out


def _guarded(
    name: str, metric: Metric, cells: list[Cell], scorer: Scorer, known: dict[object, Statistics] | None
) -> Column:
    """Compute a column; a metric that breaks its contract loses its own column and no other."""
    try:
        return column(metric, cells, scorer.references, known, scorer.records)
    except (Exception, SystemExit) as error:  # a plugin's defect, recorded as the column's reason
        reason = f"the metric {name} failed: {type(error).__name__}: {one_line(str(error))}"
        return Column((), (), None, None, 0, len(cells), None, reason)


def cell_for(measured: Measured, axes: frozenset[Axis], scorer: Scorer) -> Cell:
    """Return the cell as a metric sees it: unmeasured only when an axis the metric needs is missing."""
    cell = measured.cell
    if cell.unit is None or cell.outcome in MEASURED:
        return cell
    references = scorer.references[measured.case.id]
    missing = [axis for axis in axes if axis not in measured.assignments and references.get(axis)]
    return Cell(cell.case, cell.repeat, cell.outcome, None if missing else cell.unit, cell.reason)


def fingerprint(bench: TaskBench, row: Row, adapter: Adapter, metric: Metric) -> dict[str, Any]:
    """Say what a column of results depends on, and only that, without labels and without the policy.

    T and other trajectory columns have no reader in it.
    """
    protocol = bench.task.config.protocol
    parts: dict[str, Any] = {
        "core": CORE_REVISION, "task": bench.task.name, "protocol": protocol.name, "seed": bench.seed,
        "repeats": bench.repeats, "environment": bench.environment.identity, "patient": row.patient.identity,
        "metric": adapter.identity, "cases": [bench.rollout_digest(case.id) for case in bench.cases],
        "templates": bench.templates("doctor_system", "doctor_message", "patient_system", "patient_message"),
        "decoding": bench.sampling("patient"),
    }  # fmt: skip
    if metric.needs:
        judged = *bench.judge_prompts(), bench.sampling(*JUDGE_STEPS)
        parts["judge"] = [row.judge.identity, protocol.empty_on_failure, *judged]
        parts["references"] = [[bench.axis_digest(axis, case.id) for axis in metric.needs] for case in bench.cases]
    if "trajectory" in metric.needs:
        parts["volunteered"] = protocol.volunteered
    if any(axis != "trajectory" for axis in metric.needs):
        parts["reader"] = [row.condition.identity, protocol.top_k]
        if row.condition.label != "emitted":
            read = bench.templates("reader_system", "reader_message"), bench.sampling("reader")
            parts["view"] = [protocol.view, *read]
    return {"digest": digest(parts), "parts": parts}


def _deterministic(units: list[Measured]) -> bool | None:
    """Tell whether the doctor said the same in all repeats of every case; None where a case has fewer than two."""
    said: dict[str, list[str]] = {}
    for one in units:
        said.setdefault(one.case.id, []).extend([one.head.doctor_hash] if one.head else [])
    if not said or any(len(hashes) < 2 for hashes in said.values()):
        return None
    return all(len(set(hashes)) == 1 for hashes in said.values())


def _reasons(units: list[Measured]) -> dict[str, str]:
    """Return the first reason of each outcome."""
    found = {one.cell.outcome: one.cell.reason for one in reversed(units) if one.cell.reason}
    return dict(sorted(found.items()))


def _checks(units: Iterable[Measured]) -> Counter[str]:
    """Add up the checks of the patient that fired."""
    found: Counter[str] = Counter()
    for one in units:
        if one.head and one.head.checks:
            found.update(one.head.checks)
    return found


def _excluded(units: Iterable[Measured]) -> Counter[str]:
    assignments = (found for one in units for found in one.assignments.values())
    return Counter((edge.excluded or "").split(" '")[0] for found in assignments for edge in found.excluded)


def _fallbacks(units: Iterable[Measured]) -> Counter[str]:
    return Counter(f"{step}: {how.split(':')[0]}" for one in units for step, how in one.fallbacks)


def _counts(units: Iterable[Measured]) -> Counter[str]:
    """Add up what the judges counted of their own work."""
    found: Counter[str] = Counter()
    for one in units:
        for name, count in one.counts:
            found[name] += count
    return found


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
