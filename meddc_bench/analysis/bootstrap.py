"""Bootstrap over cases: an interval for every score and for every paired difference, from the same draws."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from meddc_bench.analysis.resample import EQUAL, Replicates, replicate
from meddc_bench.analysis.series import Array, Series, measured_cases
from meddc_bench.errors import UsageError

TOLERANCE = 0.01
"""Case differences up to this are ties: one point (Table S13)."""

ONE_CASE = "one case: drawing cases again cannot vary it"
_SLACK = 1e-9
_CHUNK_BYTES = 8_000_000


@dataclass(frozen=True, slots=True)
class Interval:
    """A percentile interval at `level`, the standard error, and from how many draws; None with a reason."""

    low: float | None
    high: float | None
    se: float | None
    level: float
    draws: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Estimate:
    """A score of one policy with its interval, in `unit` ("proportion": 0 to 1). `value` is None where undefined."""

    policy: str
    reader: str | None
    metric: str
    value: float | None
    interval: Interval
    cases: int
    runs: int
    unit: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """`first` minus `second` on the same cases, in `unit` ("proportion": 0 to 1).

    `p_above` is the share of draws in which it is above 0; `p_value` twice the smaller tail, two-sided. `wins`, `ties`
    and `losses` count the cases on which the first is higher by more than `tolerance`, within it, lower by more;
    `undefined` those without a value of their own.
    """

    first: str
    second: str
    reader: str | None
    metric: str
    value: float | None
    interval: Interval
    p_above: float | None
    p_value: float | None
    wins: int
    ties: int
    losses: int
    undefined: int
    tolerance: float
    cases: int
    unit: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """All estimates and differences from the draws of one seed. Values are in each record's `unit`."""

    estimates: tuple[Estimate, ...]
    differences: tuple[Difference, ...]
    cases: tuple[str, ...] = field(repr=False)
    draws: int = 0
    seed: int = 0
    level: float = 0.95


def bootstrap(
    series: Sequence[Series], *, draws: int = 10_000, seed: int = 0, level: float = 0.95,
    tolerance: float = TOLERANCE, pairs: Sequence[tuple[str, str]] | None = None,
) -> Bootstrap:  # fmt: skip
    """Give every series an interval and every two policies, under the same reader and metric, a paired difference.

    Formula: a draw takes n of the n cases with replacement, for all policies, readers and runs alike; in each run the
    metric is computed from the sums over the drawn cases (micro F1 for D and T, the mean for E, their weighted sum for
    Total), then averaged over runs. Interval: the (1-level)/2 and (1+level)/2 quantiles of the draws, linear at
    position q(draws-1). Standard error: the draws' standard deviation (divisor draws-1). `p_above`: share of draws
    above 0. `p_value`: min(1, 2 (min(draws at most 0, draws at least 0) + 1) / (draws + 1)). Wins, ties, losses: the
    metric of each case alone, averaged over runs, tied up to `tolerance` inclusive.

    Args:
        series: statistics (runs, cases) each, all on the same cases; runs may differ in number.
        draws: how many, exactly.
        tolerance: in the unit of the metric.
        pairs: (first, second) policies; by default all, each policy minus those that come after it.

    Degenerate: one case gives values but no interval (None, with the reason); a metric undefined for a run has value
    None, one undefined in some draws has no interval.

    Raises:
        UsageError: no series, one given twice, different cases (with the list), an unmeasured cell (a missing cell is
            never 0), an unknown policy in `pairs`, a level outside 0 to 1.

    Source: MedDDC-Eval supplement F.1, Tables S13 and S14.

    >>> def f1(sums): return 2 * sums["tp"] / (2 * sums["tp"] + sums["fp"] + sums["fn"])
    >>> def series(policy, tp):
    ...     return Series(policy, "D", ("c1", "c2", "c3"), {"tp": [tp], "fp": [[1, 1, 0]], "fn": [[1, 0, 2]]}, f1)
    >>> found = bootstrap([series("a", [2, 3, 1]), series("b", [1, 2, 1])], draws=1000, seed=1)
    >>> [(one.policy, round(one.value, 3)) for one in found.estimates]
    [('a', 0.706), ('b', 0.615)]
    >>> one, = found.differences
    >>> one.first, one.second, round(one.value, 3), one.wins, one.ties, one.losses
    ('a', 'b', 0.09, 2, 1, 0)
    """
    cases = measured_cases(series)
    _check(series, level, tolerance, pairs)
    found = replicate(series, draws=draws, seed=seed)
    estimates = _estimates(series, found, level)
    differences: list[Difference] = []
    for group in _same_metric(series):
        chosen = _pairs([series[place].policy for place in group], pairs)
        differences += _differences([series[at] for at in group], [found[at] for at in group], chosen, level, tolerance)
    return Bootstrap(tuple(estimates), tuple(differences), cases, draws, seed, level)


def intervals(draws: Array, level: float) -> list[Interval]:
    """Give each row (rows, draws) its percentile interval and standard error; None where a draw is undefined (NaN).

    >>> one, = intervals(np.array([[0.0, 1.0, 2.0, 3.0, 4.0]]), 0.9)
    >>> round(one.low, 9), round(one.high, 9), round(one.se, 3)
    (0.2, 3.8, 1.581)
    """
    count = draws.shape[1]
    se = draws.std(axis=1, ddof=1) if count > 1 else np.full(len(draws), np.nan)
    ordered = np.sort(draws, axis=1)
    low, high = quantile(ordered, (1 - level) / 2), quantile(ordered, (1 + level) / 2)
    holes = np.isnan(draws).sum(axis=1) if np.isnan(ordered[:, -1]).any() else np.zeros(len(draws), dtype=int)
    return [
        Interval(None, None, None, level, count, f"undefined in {int(hole)} of {count} draws")
        if hole
        else Interval(float(one), float(other), real(error), level, count)
        for one, other, error, hole in zip(low, high, se, holes, strict=True)
    ]


def quantile(ordered: Array, q: float) -> Array:
    """Interpolate the q-quantile of ordered rows (rows, n) linearly at position q(n-1).

    >>> quantile(np.array([[0.0, 10.0, 20.0]]), 0.25).tolist()
    [5.0]
    """
    position = q * (ordered.shape[1] - 1)
    below = int(position)
    above = min(below + 1, ordered.shape[1] - 1)
    return np.asarray(ordered[:, below] + (position - below) * (ordered[:, above] - ordered[:, below]))


def no_interval(level: float, reason: str = ONE_CASE) -> Interval:
    """Say why there is no interval."""
    return Interval(None, None, None, level, 0, reason)


def real(value: float) -> float | None:
    """Turn NaN into None."""
    return None if np.isnan(value) else float(value)


def undefined(value: float, series: Series) -> str | None:
    """Say why a value is None."""
    return f"{series} is undefined: nothing to average in some run" if np.isnan(value) else None


def _estimates(series: Sequence[Series], found: Sequence[Replicates], level: float) -> list[Estimate]:
    out: list[Estimate] = []
    for chunk in _chunks(series, len(found[0].draws)):
        rows = [found[place] for place in chunk]
        bounds = _bounds(series[0], np.stack([one.draws for one in rows]), level)
        for place, interval in zip(chunk, bounds, strict=True):
            one, value = series[place], found[place].value
            out.append(
                Estimate(
                    one.policy, one.reader, one.metric, real(value), interval, len(one.cases), one.runs, one.unit,
                    undefined(value, one),
                )
            )  # fmt: skip
    return out


def _differences(
    series: Sequence[Series], found: Sequence[Replicates], pairs: Sequence[tuple[int, int]], level: float,
    tolerance: float,
) -> list[Difference]:  # fmt: skip
    out: list[Difference] = []
    count, cases = len(found[0].draws), len(series[0].cases)
    for chunk in _chunks(pairs, count):
        picked = [pairs[place] for place in chunk]
        draws = np.stack([found[one].draws - found[other].draws for one, other in picked])
        above, p_values = (draws > EQUAL).sum(axis=1), two_sided(draws)
        bounds = _bounds(series[0], draws, level)
        for (one, other), interval, up, p_value in zip(picked, bounds, above, p_values, strict=True):
            value = found[one].value - found[other].value
            known = interval.low is not None
            out.append(
                Difference(
                    series[one].policy, series[other].policy, series[one].reader, series[one].metric, real(value),
                    interval, int(up) / count if known else None,
                    float(p_value) if known else None,
                    *_tally(found[one].cases - found[other].cases, tolerance), tolerance, cases, series[one].unit,
                    undefined(found[one].value, series[one]) or undefined(found[other].value, series[other]),
                )
            )  # fmt: skip
    return out


def two_sided(draws: Array) -> Array:
    """Return the two-sided p values of differences: min(1, 2 (smaller tail, its edge included, + 1) / (draws + 1)).

    Args:
        draws: the draws of each difference, (..., draws); what is within `EQUAL` of 0 is on both sides.

    >>> two_sided(np.array([[0.1, 0.2, 0.3], [-0.1, 0.1, 0.2]])).tolist()
    [0.5, 1.0]
    """
    count = draws.shape[-1]
    beyond = np.maximum((draws > EQUAL).sum(axis=-1), (draws < -EQUAL).sum(axis=-1))
    return np.asarray(np.minimum(1.0, 2 * (count - beyond + 1) / (count + 1)))


def _chunks(rows: Sequence[object], draws: int) -> Iterator[range]:
    """Yield the places of so many rows of draws as fit into the memory allowed."""
    step = max(1, _CHUNK_BYTES // (8 * draws))
    for start in range(0, len(rows), step):
        yield range(start, min(start + step, len(rows)))


def _bounds(series: Series, draws: Array, level: float) -> list[Interval]:
    return intervals(draws, level) if len(series.cases) > 1 else [no_interval(level)] * len(draws)


def _tally(differences: Array, tolerance: float) -> tuple[int, int, int, int]:
    """Count wins, ties, losses and cases without a value."""
    wins, losses = int((differences > tolerance + _SLACK).sum()), int((differences < -tolerance - _SLACK).sum())
    holes = int(np.isnan(differences).sum())
    return wins, differences.size - wins - losses - holes, losses, holes


def _check(series: Sequence[Series], level: float, tolerance: float, pairs: Sequence[tuple[str, str]] | None) -> None:
    keys = [(one.metric, one.reader, one.policy) for one in series]
    twice = sorted({str(one) for one, key in zip(series, keys, strict=True) if keys.count(key) > 1})
    if twice:
        raise UsageError(f"given twice: {', '.join(twice)}")
    check_level(level)
    if not tolerance >= 0:
        raise UsageError(f"the tolerance of a tie must be at least 0, got {tolerance}")
    unknown = {name for pair in pairs or () for name in pair} - {one.policy for one in series}
    if unknown:
        raise UsageError(f"pairs name policies that are not given: {', '.join(sorted(unknown))}")


def check_level(level: float) -> None:
    """Refuse a level that is no probability between 0 and 1."""
    if not 0 < level < 1:
        raise UsageError(f"the level of an interval is between 0 and 1 (0.95 for 95 %), got {level}")


def _same_metric(series: Sequence[Series]) -> list[list[int]]:
    """Places of the series that can be compared: one metric, one reader."""
    found: dict[tuple[str, str | None], list[int]] = {}
    for place, one in enumerate(series):
        found.setdefault((one.metric, one.reader), []).append(place)
    return list(found.values())


def _pairs(policies: Sequence[str], pairs: Sequence[tuple[str, str]] | None) -> list[tuple[int, int]]:
    if pairs is None:
        return list(combinations(range(len(policies)), 2))
    at = {policy: index for index, policy in enumerate(policies)}
    return [(at[one], at[other]) for one, other in pairs if one in at and other in at]
