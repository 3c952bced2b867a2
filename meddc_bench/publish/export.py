"""Rows and runs for others: tables of scores as CSV or Parquet, and, only where asked for, the consultations' texts."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from meddc_bench.errors import UsageError
from meddc_bench.pipeline.judge import axis_references
from meddc_bench.plan import TaskBench
from meddc_bench.publish.reported import ReportedTable
from meddc_bench.publish.row import MeasuredRow
from meddc_bench.records import History, Reading
from meddc_bench.results import results
from meddc_bench.scorer import Measured, Row, Scorer, rows
from meddc_bench.store import Store, save
from meddc_bench.stored import StoredRun

Line = Mapping[str, Any]

SCORES = (
    "kind", "task", "policy", "title", "by", "model", "patient", "condition", "judge", "ask", "instrument", "standard",
    "metric", "unit", "higher_is_better", "mean", "sd", "low", "high", "values", "measured", "expected", "cases",
    "repeats", "fingerprint", "source",
)  # fmt: skip
TEXTS = (
    "task", "policy", "patient", "condition", "judge", "ask", "repeat", "case", "outcome", "consultation", "diagnoses",
    "references", "D_tp", "D_fp", "D_fn", "T_tp", "T_fp", "T_fn",
)  # fmt: skip
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_SPEAKERS = {"doctor": "医生", "patient": "患者", "reporter": "报告"}


def row_lines(row: MeasuredRow) -> Iterator[Line]:
    """Yield a row's scores, a line a metric."""
    instrument = row.instrument
    about = {
        "kind": "measured", "task": row.task.name, "policy": row.policy.label, "title": row.policy.title,
        "by": row.policy.by, "model": row.policy.model, "patient": instrument.patient.name,
        "condition": instrument.condition, "judge": instrument.judge.name, "ask": 0, "instrument": instrument.name,
        "standard": instrument.standard, "cases": row.task.cases, "repeats": row.task.repeats,
    }  # fmt: skip
    for name, one in row.scores.items():
        yield {
            **about, "metric": name, "unit": one.unit, "higher_is_better": one.higher_is_better, "mean": one.mean,
            "sd": one.sd, "low": one.low, "high": one.high, "values": _values(one.values), "measured": one.measured,
            "expected": one.expected, "fingerprint": row.fingerprints[name].digest,
        }  # fmt: skip


def reported_lines(table: ReportedTable) -> Iterator[Line]:
    """Yield the scores of a reported table, in its unit, a line a metric."""
    for row in table.rows:
        for name, one in row.scores.items():
            yield {
                "kind": "reported", "task": table.task, "policy": row.policy, "title": row.policy, "metric": name,
                "unit": table.unit, "mean": one.mean, "sd": one.sd, "cases": table.cases, "repeats": table.repeats,
                "source": f"{table.source.paper}, {', '.join(table.source.tables)}",
            }  # fmt: skip


def run_lines(run: StoredRun) -> Iterator[Line]:
    """Yield all scores of a run, recomputed from its records; what was not measured shows in `measured` and `expected`."""
    found = results(run.store, run.benches, run.registry)
    for name, task in found["tasks"].items():
        for row in task["rows"]:
            about = {key: row[key] for key in ("policy", "patient", "condition", "judge", "ask")}
            size = {"cases": task["cases"], "repeats": task["repeats"]}
            for metric, one in row["metrics"].items():
                yield {
                    "kind": "run", "task": name, **about, **size, "metric": metric, "values": _values(one["values"]),
                    **{key: one[key] for key in ("unit", "higher_is_better", "mean", "sd", "measured", "expected")},
                    "fingerprint": row["fingerprints"][metric],
                }  # fmt: skip


def text_lines(run: StoredRun) -> Iterator[Line]:
    """Yield every unit of a run with its consultation: only for who asked for texts."""
    for bench in run.benches:
        scorer = Scorer(run.store, bench)
        for row in rows(bench):
            for unit in scorer.units(row):
                yield _text_line(run.store, bench, row, unit)


def _text_line(store: Store, bench: TaskBench, row: Row, unit: Measured) -> Line:
    history_id = bench.history_id(row.policy, row.patient, unit.case, unit.repeat)
    history = store.record(history_id, History) if history_id in store else None
    reading_id = bench.reading_id(row.condition, history_id)
    reading = store.record(reading_id, Reading) if reading_id in store else None
    found = {"D": unit.assignments.get("diagnosis"), "T": unit.assignments.get("trajectory")}
    counts = {
        f"{name}_{key}": None if one is None else getattr(one, key)
        for name, one in found.items() for key in ("tp", "fp", "fn")
    }  # fmt: skip
    turns = [f"{_SPEAKERS[turn.role]}：{turn.text}" for turn in history.turns] if history else []
    return {
        "task": bench.task.name, "policy": row.policy.label, "patient": row.patient.label,
        "condition": row.condition.label, "judge": row.judge.label, "ask": row.ask, "repeat": unit.repeat,
        "case": unit.case.id, "outcome": unit.cell.outcome, "consultation": "\n".join(turns),
        "diagnoses": "；".join(reading.diagnoses or ()) if reading else None,
        "references": "；".join(one.text for one in axis_references(unit.case, "diagnosis")), **counts,
    }  # fmt: skip


def _values(values: Sequence[float | None]) -> str:
    return ";".join("" if value is None else repr(value) for value in values)


def as_csv(lines: Iterator[Line], columns: Sequence[str]) -> bytes:
    """Write lines as CSV that Excel opens in Chinese; a text that a spreadsheet would run is shown as text.

    >>> as_csv(iter([{"policy": "=1+1", "mean": 0.5}]), ("policy", "mean")).decode("utf-8-sig").splitlines()
    ['policy,mean', "'=1+1,0.5"]
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(columns)
    for line in lines:
        writer.writerow([_cell(line.get(name)) for name in columns])
    return out.getvalue().encode("utf-8-sig")


def _cell(value: Any) -> Any:
    if isinstance(value, str) and value.lstrip(" \u3000").startswith(_FORMULA):
        return f"'{value}"
    return value


def write_parquet(lines: Iterator[Line], columns: Sequence[str], path: Path) -> None:
    """Write lines as a Parquet file.

    Raises:
        UsageError: pyarrow is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise UsageError("Parquet needs pyarrow: pip install 'meddc-bench[report]'") from None
    table = [[line.get(name) for name in columns] for line in lines]
    arrays = [pyarrow.array([row[at] for row in table]) for at in range(len(columns))]
    whole = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(arrays, names=list(columns)), whole)
    save(path, whole.getvalue())
