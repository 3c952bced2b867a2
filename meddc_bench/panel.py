"""What several judges, or one asked several times, make of the same: means, spread between judges, noise within one.

A difference between policies that is smaller than a judge's own noise is none.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from meddc_bench.contracts import Metric
from meddc_bench.plan import TaskBench
from meddc_bench.wiring import Adapter

Rows = Sequence[Mapping[str, Any]]


def panels(rows: Rows, metrics: Mapping[str, Metric] = MappingProxyType({})) -> list[dict[str, Any]]:
    """Summarise each policy, patient and condition over its judges and asks, metric by metric.

    `judges`: the mean over asks by judge. `mean` and `spread` (largest minus smallest) are over judges, `noise` is the
    sample SD over a judge's asks. A value is None where one of its parts is; `noise` is None for a single ask. The mean of
    a metric that is `pooled`, a ratio of scores, is that of the sums over judges and asks, repeat by repeat. Nothing is
    returned where there is one judge, asked once.
    """
    groups: dict[tuple[str, str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row["policy"], row["patient"], row["condition"]].append(row)
    return [
        {
            "policy": policy, "patient": patient, "condition": condition,
            "metrics": {name: _panel(name, group, metrics.get(name)) for name in group[0]["metrics"]},
        }
        for (policy, patient, condition), group in groups.items() if len(group) > 1
    ]  # fmt: skip


def _panel(name: str, rows: Rows, metric: Metric | None) -> dict[str, Any]:
    asked: dict[str, list[float | None]] = defaultdict(list)
    for row in rows:
        asked[row["judge"]].append(row["metrics"].get(name, {}).get("mean"))
    judges = {judge: _mean(values) for judge, values in asked.items()}
    whole = [one for one in judges.values() if one is not None]
    complete = len(whole) == len(judges)
    mean = _mean(list(judges.values()))
    if metric is not None and getattr(metric, "pooled", False):
        mean = _pooled(name, rows, metric)
    return {
        "judges": judges, "mean": mean,
        "spread": max(whole) - min(whole) if complete and len(whole) > 1 else None,
        "noise": {judge: _sd(values) for judge, values in asked.items()},
    }  # fmt: skip


def _pooled(name: str, rows: Rows, metric: Metric) -> float | None:
    """Return the mean over repeats of a metric of the sums of all rows; None where a row or a repeat has none."""
    if any(row["metrics"][name]["measured"] < row["metrics"][name]["expected"] for row in rows):
        return None
    found = [
        {key: np.array(math.fsum(one[key] for one in repeat)) for key in repeat[0]}
        for repeat in zip(*(row["metrics"][name]["sums"] for row in rows), strict=True)
    ]
    values = [float(metric.aggregate(sums)) for sums in found]
    return statistics.fmean(values) if values and all(map(math.isfinite, values)) else None


def _mean(values: Sequence[float | None]) -> float | None:
    numbers = [one for one in values if one is not None]
    return statistics.fmean(numbers) if len(numbers) == len(values) else None


def _sd(values: Sequence[float | None]) -> float | None:
    numbers = [one for one in values if one is not None]
    return statistics.stdev(numbers) if len(numbers) == len(values) > 1 else None


def shared_models(bench: TaskBench) -> list[dict[str, str]]:
    """List which judges, readers and patients stand on the model of a policy: a policy may be kind to its own kin."""
    measuring: list[Adapter] = [*bench.patients, *bench.judges]
    measuring += [one.reader for one in bench.conditions if one.reader is not None]
    return [
        {"policy": policy.label, "role": other.kind, "label": other.label, "model": policy.model}
        for policy in bench.policies if policy.model is not None
        for other in measuring if other.model == policy.model
    ]  # fmt: skip
