"""Values, spread and intervals from per-case statistics: one way for who prints a number and for who checks it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from meddc_bench.analysis.bootstrap import Interval, intervals, no_interval
from meddc_bench.analysis.resample import replicate
from meddc_bench.analysis.series import Array, Series
from meddc_bench.pipeline.score import mean_and_sd
from meddc_bench.publish.row import LEVEL, SEED


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """A metric's value in each repeat (None where undefined), their mean and sample SD, its interval and its draws."""

    values: tuple[float | None, ...]
    mean: float | None
    sd: float | None
    interval: Interval
    draws: Array


def numbers(series: Sequence[Series], *, draws: int, seed: int = SEED, level: float = LEVEL) -> tuple[Numbers, ...]:
    """Compute the numbers of some series on the same cases.

    Values: the metric of the sums over all cases of a repeat, each sum exactly rounded. Interval: docs/statistics.md.

    Raises:
        UsageError: different cases, or an unmeasured cell.
    """
    if not series:
        return ()
    found = replicate(series, draws=draws, seed=seed)
    bounds = intervals_of([one.draws for one in found], cases=len(series[0].cases), level=level)
    out = []
    for one, replicates, interval in zip(series, found, bounds, strict=True):
        values = _values(one)
        mean, sd = mean_and_sd([value for value in values if value is not None])
        out.append(Numbers(values, mean, sd, interval, replicates.draws))
    return tuple(out)


def intervals_of(draws: Sequence[Array], *, cases: int, level: float) -> list[Interval]:
    """Give each list of draws its interval; none for a single case."""
    if cases < 2:
        return [no_interval(level)] * len(draws)
    return intervals(np.stack(draws), level)


def _values(series: Series) -> tuple[float | None, ...]:
    sums: Mapping[str, Array] = {
        name: np.array([math.fsum(row) for row in rows]) for name, rows in series.arrays.items()
    }
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.asarray(series.aggregate(sums), dtype=float)
    return tuple(None if math.isnan(value) else float(value) for value in found)
