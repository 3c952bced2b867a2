"""Audit: the same histories under several readers. Does the order of the policies survive?

audit         from per-case statistics, with intervals
audit_scores  from a table of scores, such as a published one, without
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from meddc_bench.analysis.bootstrap import ONE_CASE, Estimate, Interval, check_level, intervals, no_interval
from meddc_bench.analysis.orderings import Gap, Ordering, ordering
from meddc_bench.analysis.ranks import Kendall, Rank, Reversals, kendall, order_signs, ranks, reversals
from meddc_bench.analysis.resample import Replicates, replicate
from meddc_bench.analysis.series import Array, Series, measured_cases
from meddc_bench.analysis.variance import Variance, variance
from meddc_bench.errors import UsageError

NO_CASES = "a table of scores without cases: no interval can be drawn"


@dataclass(frozen=True, slots=True)
class Shift:
    """How far a reader moves a policy: its score minus that under the base reader, in `unit`, with the interval."""

    policy: str
    reader: str
    base: str
    value: float
    interval: Interval
    unit: str


@dataclass(frozen=True, slots=True)
class ReaderRanks:
    """The policies by their score under one reader."""

    reader: str
    ranks: tuple[Rank, ...]


@dataclass(frozen=True, slots=True)
class Flip:
    """A pair of policies and the proportion of draws in which two readers order it oppositely; None without cases."""

    first: str
    second: str
    share_of_draws: float | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """The order under a reader against the order under the base reader, over the policies both have scored.

    `interval` is of the number of reversed pairs. Noise reverses close pairs, so draws hold more reversals than the
    scores themselves: read it as how many may be reversed, not as an error around `reversals.count`.
    """

    reader: str
    base: str
    policies: tuple[str, ...]
    reversals: Reversals
    interval: Interval
    flips: tuple[Flip, ...]
    kendall: Kendall


@dataclass(frozen=True, slots=True)
class Unread:
    """A policy without a score under a reader; it is in no comparison with that reader, nor in orderings or variance."""

    policy: str
    reader: str


@dataclass(frozen=True, slots=True)
class Audit:
    """One metric under several readers. Scores, shifts and gaps are in `unit`; shares are proportions.

    `draws`, `cases` are 0 for a table of scores.
    """

    metric: str
    base: str
    readers: tuple[str, ...]
    policies: tuple[str, ...]
    unit: str
    ranks: tuple[ReaderRanks, ...]
    shifts: tuple[Shift, ...]
    comparisons: tuple[Comparison, ...]
    orderings: tuple[Ordering, ...]
    variance: Variance
    unread: tuple[Unread, ...]
    cases: int
    draws: int
    seed: int | None
    level: float
    scores: tuple[Estimate, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class _Cell:
    value: float
    runs: Array | None = None
    draws: Array | None = None


def audit(
    series: Sequence[Series], base: str, *, draws: int = 10_000, seed: int = 0, level: float = 0.95,
    higher_is_better: bool = True, replicates: Sequence[Replicates] | None = None,
) -> Audit:  # fmt: skip
    """Audit one metric from per-case statistics; the draws of cases are the same for all policies and readers.

    `replicates` is what `replicate` gives for these series, draws and seed, where it is known already.

    Formula: shift = score under the reader - score under `base`; ranks, reversals and tau as in `ranks`; intervals as
    in `bootstrap`, of shifts, of the differences of two policies, and of the number of reversed pairs; variance over
    policies, readers and runs as in `variance`, where all have as many runs. For Total under each reader with T and E
    fixed, give the series that `weighted` makes.

    Degenerate: one case gives no interval, so no ordering is supported; one policy has no pairs.

    Raises:
        UsageError: as `bootstrap`; series of several metrics, without a reader, or none of the base reader; a metric
            that is undefined for a series.

    Source: MedDDC-Eval supplement C (Table S4), F.2 (Table S16); intervals and verdicts are this project's.

    >>> def mean(sums): return sums["sum"] / sums["n"]
    >>> def series(policy, reader, d):
    ...     return Series(policy, "D", ("c1", "c2", "c3"), {"sum": [d], "n": [[1, 1, 1]]}, mean, reader)
    >>> found = audit([series("a", "own", [0.1, 0.2, 0.3]), series("b", "own", [0.5, 0.5, 0.6]),
    ...     series("a", "shared", [0.4, 0.5, 0.6]), series("b", "shared", [0.1, 0.1, 0.1])], base="own", draws=500)
    >>> found.comparisons[0].reversals.count, found.orderings[0].verdict
    (1, 'contradicted')
    >>> found.orderings[0].words
    'b is above a under own, below under shared'
    """
    cases = measured_cases(series)
    check_level(level)
    metrics = {(one.metric, one.unit) for one in series}
    if len(metrics) > 1:
        raise UsageError(f"an audit is of one metric, got {', '.join(sorted(metric for metric, _ in metrics))}")
    unread = sorted({one.policy for one in series if one.reader is None})
    if unread:
        raise UsageError(f"{series[0].metric} of {unread[0]} names no reader; an audit compares readers")
    cells: dict[str, dict[str, _Cell]] = {}
    if replicates is None:
        replicates = replicate(series, draws=draws, seed=seed)
    for one, found in zip(series, replicates, strict=True):
        row = cells.setdefault(str(one.reader), {})
        if one.policy in row:
            raise UsageError(f"given twice: {one}")
        row[one.policy] = _cell(one, found)
    several = len(cases) > 1
    blank = no_interval(level, ONE_CASE)
    return _audit(
        cells,
        base,
        series[0].metric,
        series[0].unit,
        higher_is_better,
        blank,
        len(cases),
        draws if several else 0,
        seed,
    )


def audit_scores(
    scores: Mapping[str, Mapping[str, float | None]], base: str, *, metric: str = "D", unit: str = "proportion",
    higher_is_better: bool = True,
) -> Audit:  # fmt: skip
    """Audit a table of scores, reader -> policy -> score, without cases: all but intervals and verdicts.

    A score of None is a policy that the reader could not score. Every ordering is undecided, for want of intervals; its
    words say whether the scores agree.

    Raises:
        UsageError: no reader, no scores of the base reader, a score that is not finite.

    Source: MedDDC-Eval Table S4, whose counts it gives: 5 of 28 and 10 of 28.

    >>> found = audit_scores({"own": {"a": 26.5, "b": 29.2}, "shared": {"a": 33.1, "b": 31.4}}, "own", unit="points")
    >>> [round(one.value, 1) for one in found.shifts], found.comparisons[0].reversals.count
    ([6.6, 2.2], 1)
    """
    cells = {
        reader: {policy: _Cell(float(value)) for policy, value in row.items() if value is not None}
        for reader, row in scores.items()
    }
    named = {policy: None for row in scores.values() for policy in row}
    blank = no_interval(0.95, NO_CASES)
    return _audit(cells, base, metric, unit, higher_is_better, blank, 0, 0, None, tuple(named))


def _cell(series: Series, found: Replicates) -> _Cell:
    if np.isnan(found.value):
        raise UsageError(f"{series} is undefined: nothing to average in some run; leave it out of the audit")
    return _Cell(found.value, found.runs, found.draws)


def _audit(
    cells: Mapping[str, Mapping[str, _Cell]], base: str, metric: str, unit: str, higher_is_better: bool,
    blank: Interval, cases: int, draws: int, seed: int | None, named: tuple[str, ...] = (),
) -> Audit:  # fmt: skip
    if not cells.get(base):
        raise UsageError(f"no scores of the base reader {base!r}; there is: {', '.join(cells) or 'none'}")
    policies = named or tuple({policy: None for row in cells.values() for policy in row})
    others = [reader for reader in cells if reader != base]
    everywhere = [policy for policy in policies if all(policy in row for row in cells.values())]
    scores = {
        reader: {policy: row[policy].value for policy in policies if policy in row} for reader, row in cells.items()
    }
    return Audit(
        metric, base, tuple(cells), policies, unit,
        tuple(
            ReaderRanks(reader, ranks(row, higher_is_better=higher_is_better, unit=unit)) for reader, row in scores.items()
        ),
        tuple(one for reader in others for one in _shifts(cells, base, reader, policies, unit, blank, draws)),
        tuple(_comparison(cells, scores, base, reader, blank, draws) for reader in others),
        _orderings(cells, base, everywhere, blank, draws),
        _variance(cells, everywhere),
        tuple(Unread(policy, reader) for reader, row in cells.items() for policy in policies if policy not in row),
        cases, draws, seed, blank.level,
        tuple(
            _estimate(cell, policy, reader, metric, unit, blank, cases, draws)
            for reader, row in cells.items() for policy, cell in row.items()
        ),
    )  # fmt: skip


def _estimate(
    cell: _Cell, policy: str, reader: str, metric: str, unit: str, blank: Interval, cases: int, draws: int
) -> Estimate:
    """Give a score its interval, from the draws that all share."""
    (interval,) = intervals(_drawn(cell)[None], blank.level) if draws else [blank]
    runs = 0 if cell.runs is None else len(cell.runs)
    return Estimate(policy, reader, metric, cell.value, interval, cases, runs, unit)


def _shifts(
    cells: Mapping[str, Mapping[str, _Cell]], base: str, reader: str, policies: Sequence[str], unit: str,
    blank: Interval, draws: int,
) -> list[Shift]:  # fmt: skip
    both = [policy for policy in policies if policy in cells[base] and policy in cells[reader]]
    found = _intervals([(cells[reader][one], cells[base][one]) for one in both], blank, draws)
    return [
        Shift(policy, reader, base, cells[reader][policy].value - cells[base][policy].value, interval, unit)
        for policy, interval in zip(both, found, strict=True)
    ]


def _comparison(
    cells: Mapping[str, Mapping[str, _Cell]], scores: Mapping[str, Mapping[str, float]], base: str, reader: str,
    blank: Interval, draws: int,
) -> Comparison:  # fmt: skip
    both = tuple(policy for policy in scores[base] if policy in scores[reader])
    one, other = ({policy: scores[at][policy] for policy in both} for at in (base, reader))
    found = reversals(one, other)
    left, right = np.triu_indices(len(both), 1)
    if not draws or not found.pairs:
        flips = tuple(Flip(pair.first, pair.second, None) for pair in found.reversed)
        return Comparison(reader, base, both, found, blank, flips, kendall(one, other))
    counts, shares = np.zeros(draws), np.empty(found.pairs)
    drawn = [np.stack([_drawn(cells[at][policy]) for policy in both]) for at in (base, reader)]
    for k in range(found.pairs):
        at = (left[k : k + 1], right[k : k + 1])
        flipped = order_signs(drawn[0], at)[0] * order_signs(drawn[1], at)[0] < 0
        counts += flipped
        shares[k] = flipped.mean()
    (interval,) = intervals(counts[None], blank.level)
    flips = tuple(
        Flip(both[i], both[j], float(share)) for i, j, share in zip(left, right, shares, strict=True) if share
    )
    return Comparison(reader, base, both, found, interval, flips, kendall(one, other))


def _orderings(
    cells: Mapping[str, Mapping[str, _Cell]], base: str, policies: Sequence[str], blank: Interval, draws: int
) -> tuple[Ordering, ...]:
    by_score = sorted(policies, key=lambda policy: (-cells[base][policy].value, policy))
    pairs = [(one, other) for at, one in enumerate(by_score) for other in by_score[at + 1 :]]
    gaps: dict[tuple[str, str], list[Gap]] = {pair: [] for pair in pairs}
    for reader, row in cells.items():
        found = _intervals([(row[one], row[other]) for one, other in pairs], blank, draws)
        for (one, other), interval in zip(pairs, found, strict=True):
            gaps[one, other].append(Gap(reader, row[one].value - row[other].value, interval))
    return tuple(ordering(one, other, tuple(gaps[one, other])) for one, other in pairs)


def _intervals(pairs: Sequence[tuple[_Cell, _Cell]], blank: Interval, draws: int) -> list[Interval]:
    """Give the difference of two cells its interval, a pair at a time, so that memory does not grow with the pairs."""
    if not draws:
        return [blank] * len(pairs)
    return [intervals((_drawn(one) - _drawn(other))[None], blank.level)[0] for one, other in pairs]


def _drawn(cell: _Cell) -> Array:
    return cell.draws if cell.draws is not None else np.empty(0)


def _variance(cells: Mapping[str, Mapping[str, _Cell]], policies: Sequence[str]) -> Variance:
    runs = [cells[reader][policy].runs for policy in policies for reader in cells]
    known = [one for one in runs if one is not None]
    if known and len(known) == len(runs) and len({len(one) for one in known}) == 1:
        return variance(np.array(known).reshape(len(policies), len(cells), -1))
    values = [[row[policy].value for row in cells.values()] for policy in policies]
    return variance(np.array(values, dtype=np.float64).reshape(len(policies), len(cells)))
