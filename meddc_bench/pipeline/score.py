"""Score: metrics over units, aggregated per run (repeat), with coverage and bounds. Pure.

A unit is one case of one repeat. A metric turns it into additive statistics; a run's value aggregates their sums.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import msgspec
import numpy as np

from meddc_bench.contracts import Metric, Unit
from meddc_bench.records import Assignment, Axis, Pair, Score

_SLACK = 1e-9
MOST_WRONG = 20
"""Wrong predictions an axis that the lower bound reckons with."""


class Cell(msgspec.Struct, frozen=True):
    """One expected unit: what came of it. `unit` is None where it was not measured, with the outcome and the reason."""

    case: str
    repeat: int
    outcome: str
    unit: Unit | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """A metric over all repeats: a score and the sums per repeat, mean and sample SD, coverage and bounds.

    Values are in the metric's own range; `bounds` are the values if every unmeasured unit had gone worst or best.
    """

    scores: tuple[Score, ...]
    sums: tuple[Mapping[str, float], ...]
    mean: float | None
    sd: float | None
    measured: int
    expected: int
    bounds: tuple[float, float] | None
    reason: str | None = None


def mean_and_sd(values: Sequence[float]) -> tuple[float | None, float | None]:
    """Mean and sample standard deviation (divisor n - 1) over repeats; the SD of one repeat is None (Tables S11, S12).

    >>> mean_and_sd([50, 52, 54, 56, 58])
    (54.0, 3.1622776601683795)
    >>> mean_and_sd([51.5])
    (51.5, None)
    """
    if not values:
        return None, None
    array = np.asarray(values, dtype=float)
    sd = 0.0 if (array == array[0]).all() else float(array.std(ddof=1))
    return float(array.mean()), sd if len(values) > 1 else None


@dataclass(frozen=True, slots=True)
class Statistics:
    """What metrics that share it have in common: statistics by repeat, the cells without, and sums by repeat."""

    measured: list[list[Mapping[str, float]]]
    missing: list[Cell]
    sums: Mapping[str, np.ndarray]


def column(
    metric: Metric, cells: Sequence[Cell], references: Mapping[str, Mapping[Axis, int]],
    known: dict[object, Statistics] | None = None, records: Mapping[str, int] = MappingProxyType({}),
) -> Column:  # fmt: skip
    """Aggregate one metric over the cells of one policy under one condition and judge.

    Args:
        cells: every expected cell, measured or not, in any order.
        references: for each case the number of its references by axis, for the bounds.
        known: statistics of these very cells by what metrics `share`, filled as they are computed.
        records: for each case the number of its test records, for the bounds.
    """
    repeats = sorted({cell.repeat for cell in cells})
    key = getattr(metric, "shares", None)
    found = known.get(key) if known is not None and key is not None else None
    if found is None:
        found = _statistics(metric, cells, repeats)
        if known is not None and key is not None:
            known[key] = found
    measured = found.measured
    count = sum(map(len, measured))
    missing = [cell for cell in found.missing if set(metric.needs) <= references.get(cell.case, {}).keys()]
    bounds = _bounds(metric, measured, missing, repeats, references, records)
    if not count:
        reason = missing[0].reason if missing else without(metric)
        return Column((), (), None, None, 0, len(missing), bounds, reason)
    sums = found.sums
    values = _aggregated(metric, sums, len(repeats))
    per_run = tuple(_row(sums, row) for row in range(len(repeats)))
    undefined = getattr(metric, "absent", "undefined: nothing to average")
    scores = tuple(_score(value, len(measured[row]), per_run[row], undefined) for row, value in enumerate(values))
    mean, sd = mean_and_sd([score.value for score in scores if score.value is not None])
    return Column(scores, per_run, mean, sd, count, count + len(missing), bounds)


def _statistics(metric: Metric, cells: Sequence[Cell], repeats: Sequence[int]) -> Statistics:
    """Return, for each repeat, the statistics of its measured units; and the cells that were not measured."""
    by_repeat: dict[int, list[Mapping[str, float]]] = {repeat: [] for repeat in repeats}
    for cell, found in zip(cells, statistics(metric, cells), strict=True):
        if found is not None:
            by_repeat[cell.repeat].append(found)
    measured = list(by_repeat.values())
    sums = _sums(measured) if any(measured) else {}
    return Statistics(measured, [cell for cell in cells if cell.unit is None], sums)


def statistics(metric: Metric, cells: Sequence[Cell]) -> list[Mapping[str, float] | None]:
    """Compute the statistics of each cell; None where it was not measured or the metric leaves it out.

    What a metric joins of all repeats of a case stands in each of them; nothing where one of them was not measured.
    """
    case = metric.case
    found = [None if cell.unit is None else case(cell.unit) for cell in cells]
    join = getattr(metric, "join", None)
    if join is None:
        return found
    by_case: dict[str, list[Mapping[str, float] | None]] = {}
    for cell, one in zip(cells, found, strict=True):
        by_case.setdefault(cell.case, []).append(one)
    joined = {name: join(all_of) if None not in all_of else None for name, all_of in by_case.items()}
    return [joined[cell.case] for cell in cells]


def without(metric: Metric) -> str:
    """Say why no case has a value of a metric."""
    return str(getattr(metric, "absent", "no case has references for it"))


def _sums(measured: Sequence[Sequence[Mapping[str, float]]]) -> dict[str, np.ndarray]:
    """Add statistics per repeat, exactly rounded, so that the order of cases cannot matter."""
    names = next(iter(statistics[0] for statistics in measured if statistics))
    return {name: np.array([math.fsum([one[name] for one in found]) for found in measured]) for name in names}


def _aggregated(metric: Metric, sums: Mapping[str, np.ndarray], rows: int) -> list[float]:
    """Aggregate sums into one value a repeat.

    Raises:
        ValueError: not one real number a repeat, or one outside the metric's range.
    """
    found = np.asarray(metric.aggregate(sums))
    if found.shape != (rows,) or not np.issubdtype(found.dtype, np.floating):
        raise ValueError(f"aggregate gave {found.dtype} of shape {found.shape}, expected {rows} real numbers")
    low, high = metric.range
    for value in found:
        if not math.isnan(value) and not low - _SLACK <= value <= high + _SLACK:
            raise ValueError(f"aggregate gave {value}, outside its range {metric.range}")
    return [float(one) for one in found]


def _score(value: float, measured: int, sums: Mapping[str, float], undefined: str) -> Score:
    if not measured:
        return Score(value=None, reason="nothing was measured in this repeat")
    if math.isnan(value):
        return Score(value=None, reason=undefined)
    empty = not any(sums.values())
    return Score(value=value, reason="0/0 counts as 0" if empty else None, empty=empty)


def _row(sums: Mapping[str, np.ndarray], row: int) -> dict[str, float]:
    return {name: float(array[row]) for name, array in sums.items()}


def _bounds(
    metric: Metric, measured: Sequence[Sequence[Mapping[str, float]]], missing: Sequence[Cell],
    repeats: Sequence[int], references: Mapping[str, Mapping[Axis, int]], records: Mapping[str, int],
) -> tuple[float, float] | None:  # fmt: skip
    """Value the missing cells at their worst and best; None where nothing is missing or the metric has no limits."""
    if not missing or not math.isfinite(metric.range[1]):
        return None
    out: list[float] = []
    for unit_of in (worst_unit, best_unit):
        filled = [list(statistics) for statistics in measured]
        for cell in missing:
            found = metric.case(unit_of(references[cell.case], records.get(cell.case, 0)))
            if found is not None:
                filled[repeats.index(cell.repeat)].append(found)
        values = np.asarray(metric.aggregate(_sums([one for one in filled if one])), dtype=float)
        out.append(float(values.mean()))
    return min(out), max(out)


def failed_unit(references: Mapping[Axis, int], rounds: int) -> Unit:
    """A policy's own failure: zero predictions on every axis, every reference missed."""
    assignments = {axis: Assignment(axis=axis, fn=count) for axis, count in references.items()}
    return Unit(assignments, "failed", rounds, None, rounds, policy_failed=True)


def worst_unit(references: Mapping[Axis, int], records: int = 0) -> Unit:
    """The worst that could have come of an unmeasured unit: nothing found and 20 wrong predictions on every axis."""
    assignments = {axis: Assignment(axis=axis, fp=MOST_WRONG, fn=count) for axis, count in references.items()}
    return Unit(assignments, "failed", 1, None, 1, policy_failed=True, records_available=records)


def best_unit(references: Mapping[Axis, int], records: int = 0) -> Unit:
    """The best that could have come of an unmeasured unit: everything found and received, in round 1, nothing wrong."""
    assignments = {
        axis: Assignment(
            axis=axis, tp=count,
            pairs=tuple([Pair(prediction=f"p{n}", reference=f"g{n}", round=1) for n in range(count)]),
        )
        for axis, count in references.items()
    }  # fmt: skip
    return Unit(assignments, "budget", 1, None, 1, records_available=records, records_received=records)
