"""Patterns: cases with a high trajectory score and a low diagnosis score, the reverse, and how training moves cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from meddc_bench.analysis.association import case_means
from meddc_bench.analysis.series import Array
from meddc_bench.errors import UsageError

LOW, HIGH = 0.33, 0.67
"""The quantiles that cut off the low and the high scores (Table S18)."""

STABLE_T, STABLE_SHARE, STABLE_D = 0.10, 0.70, -0.05
GAIN_D, GAIN_SHARE = 0.10, 0.70
"""The limits of patterns S2 and S3 (Table S19), as proportions; all are inclusive."""

_SLACK = 1e-9
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Cuts:
    """The scores, in their own unit, at or below which a case is low and at or above which it is high."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, eq=False)
class Buckets:
    """How often each case is high on T and low on D, and the reverse.

    `high_low_runs`, `low_high_runs` (cases,) count runs; `high_low`, `low_high` count the cases with at least
    `runs_needed` such runs. Cuts are in the unit of the scores, one for all runs or one a run.
    """

    cuts_t: tuple[Cuts, ...]
    cuts_d: tuple[Cuts, ...]
    high_low_runs: Counts
    low_high_runs: Counts
    high_low: int
    low_high: int
    runs_needed: int
    cases: int


@dataclass(frozen=True, slots=True)
class OffDiagonal:
    """Counts of pairs of a case and a policy, out of `n`, high on one metric and low on the other."""

    high_low: int
    low_high: int
    n: int
    cuts_t: Cuts
    cuts_d: Cuts


@dataclass(frozen=True, slots=True)
class CasePattern:
    """One case under two policies. Gains `d_t`, `d_d` and superiorities `s_t`, `s_d` are proportions.

    `stable_gain` is pattern S2 of the paper, `sparse_gain` S3.
    """

    case: str
    d_t: float
    d_d: float
    s_t: float
    s_d: float
    low_high_runs: int
    stable_gain: bool
    sparse_gain: bool


@dataclass(frozen=True, slots=True)
class Patterns:
    """All cases, and how many of `n` show each pattern; shares are proportions."""

    cases: tuple[CasePattern, ...]
    stable_gains: int
    sparse_gains: int
    n: int
    stable_share: float
    sparse_share: float


def buckets(
    t: ArrayLike, d: ArrayLike, *, scope: Literal["pooled", "per_run"] = "pooled", runs_needed: int | None = None
) -> Buckets:
    """Find the cases of one policy that are high on T and low on D in most runs, and the reverse.

    Formula: cuts at the 33rd and 67th percentile (linear interpolation). High T, low D in a run: T >= cut 67 of T and
    D <= cut 33 of D; low T, high D the reverse; limits included. A case counts with `runs_needed` such runs.

    Args:
        t, d: case scores (runs, cases), in any unit.
        scope: where the cuts come from, which the paper leaves open: all runs and cases of the policy together
            (default), or each run by itself.
        runs_needed: by default more than half of the runs (three of five).

    Degenerate: where all scores are equal both cuts are that score, and every case is high and low at once.

    Raises:
        UsageError: not (runs, cases), different shapes, no case, a score that is not finite.

    Source: MedDDC-Eval supplement G, Table S18.

    >>> found = buckets([[0.1, 0.2, 0.3, 0.4]] * 5, [[0.4, 0.3, 0.2, 0.1]] * 5)
    >>> found.high_low_runs.tolist(), found.low_high, found.runs_needed
    ([0, 0, 5, 5], 2, 3)
    """
    one, other = _scores(t, d)
    runs, cases = one.shape
    needed = runs // 2 + 1 if runs_needed is None else runs_needed
    pooled = scope == "pooled"
    cuts_t, cuts_d = _cuts(one, pooled), _cuts(other, pooled)
    (low_t, high_t), (low_d, high_d) = _sides(one, cuts_t), _sides(other, cuts_d)
    high_low, low_high = (high_t & low_d).sum(axis=0), (low_t & high_d).sum(axis=0)
    return Buckets(
        cuts_t,
        cuts_d,
        high_low,
        low_high,
        int((high_low >= needed).sum()),
        int((low_high >= needed).sum()),
        needed,
        cases,
    )


def off_diagonal(t: Sequence[ArrayLike], d: Sequence[ArrayLike]) -> OffDiagonal:
    """Count the pairs of a case and a policy whose means over runs are high on one metric and low on the other.

    Formula: cuts at the 33rd and 67th percentile of all means of the split together; sides as in `buckets`.

    Args:
        t, d: case scores (runs, cases) of each policy, in the same order of policies.

    Raises:
        UsageError: no policy, other shapes in one than in the other, a score that is not finite.

    Source: MedDDC-Eval supplement G, Table S17.

    >>> off_diagonal([[[0.1, 0.9]], [[0.5, 0.5]]], [[[0.9, 0.1]], [[0.5, 0.5]]]).high_low
    1
    """
    if not len(t) or len(t) != len(d):
        raise UsageError(f"scores of the same policies are needed, got {len(t)} and {len(d)}")
    one, other = _scores(
        np.concatenate([case_means(scores) for scores in t])[None],
        np.concatenate([case_means(scores) for scores in d])[None],
    )
    cuts_t, cuts_d = _cuts(one, True), _cuts(other, True)
    (low_t, high_t), (low_d, high_d) = _sides(one, cuts_t), _sides(other, cuts_d)
    return OffDiagonal(int((high_t & low_d).sum()), int((low_t & high_d).sum()), one.size, cuts_t[0], cuts_d[0])


def superiority(first: ArrayLike, second: ArrayLike) -> Array:
    """Return, for each case, the share of pairs (run of first, run of second) in which the first is strictly higher.

    Shapes (runs, cases) each, runs may differ; the result is (cases,), proportions from 0 to 1. Equal is not higher.

    Raises:
        UsageError: not (runs, cases), other cases, a score that is not finite.

    Source: MedDDC-Eval Table S19 (25 pairs of five runs each).

    >>> superiority([[0.6], [0.7]], [[0.6], [0.5]]).tolist()
    [0.75]
    """
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if case_means(one).shape != case_means(other).shape:
        raise UsageError(f"scores of the same cases are needed, got {one.shape} and {other.shape}")
    return np.asarray((one[:, None, :] - other[None, :, :] > _SLACK).mean(axis=(0, 1)))


def case_patterns(
    cases: Sequence[str], trained_t: ArrayLike, base_t: ArrayLike, trained_d: ArrayLike, base_d: ArrayLike,
    low_high_runs: Sequence[int] | Counts, runs_needed: int | None = None,
) -> Patterns:  # fmt: skip
    """Classify cases by how a trained policy differs from its base.

    Formula: gains are differences of means over runs, S the superiority (`superiority`). S2, stable gain of the
    trajectory: dT >= 0.10, S_T >= 0.70, dD >= -0.05. S3, gain of the diagnosis on a sparse trajectory: dD >= 0.10,
    S_D >= 0.70, and low T with high D in at least `runs_needed` runs of the trained policy. All limits are inclusive,
    with 1e-9 for rounding.

    Args:
        trained_t, base_t, trained_d, base_d: case scores (runs, cases), proportions from 0 to 1.
        low_high_runs: for each case how many runs of the trained policy `buckets` puts in low T, high D.
        runs_needed: by default more than half of the trained policy's runs (three of five).

    Raises:
        UsageError: shapes that do not fit, no case, a score that is not a proportion.

    Source: MedDDC-Eval Figure 3 and Table S19 (62 of 170 and 7 of 170 cases).

    >>> found = case_patterns(["c1"], [[0.6]] * 5, [[0.5]] * 5, [[0.45]] * 5, [[0.5]] * 5, [0])
    >>> found.stable_gains, found.cases[0].stable_gain, round(found.cases[0].d_t, 9)
    (1, True, 0.1)
    """
    arrays = [np.asarray(scores, dtype=np.float64) for scores in (trained_t, base_t, trained_d, base_d)]
    means = [case_means(scores) for scores in arrays]
    if {len(mean) for mean in means} != {len(cases)} or len(low_high_runs) != len(cases):
        raise UsageError(f"{len(cases)} cases are named; scores are for {[len(mean) for mean in means]}")
    if any((scores < -_SLACK).any() or (scores > 1 + _SLACK).any() for scores in arrays):
        raise UsageError("scores must be proportions from 0 to 1; divide points by 100")
    needed = arrays[0].shape[0] // 2 + 1 if runs_needed is None else runs_needed
    d_t, d_d = means[0] - means[1], means[2] - means[3]
    s_t, s_d = superiority(arrays[0], arrays[1]), superiority(arrays[2], arrays[3])
    runs = np.asarray(low_high_runs, dtype=np.int64)
    stable = _reaches(d_t, STABLE_T) & _reaches(s_t, STABLE_SHARE) & _reaches(d_d, STABLE_D)
    sparse = _reaches(d_d, GAIN_D) & _reaches(s_d, GAIN_SHARE) & (runs >= needed)
    columns = (d_t, d_d, s_t, s_d, runs, stable, sparse)
    found = tuple(CasePattern(case, *(one.item() for one in row)) for case, *row in zip(cases, *columns, strict=True))
    n, two, three = len(cases), int(stable.sum()), int(sparse.sum())
    return Patterns(found, two, three, n, two / n, three / n)


def _reaches(values: Array, limit: float) -> NDArray[np.bool_]:
    return np.asarray(values >= limit - _SLACK)


def _scores(t: ArrayLike, d: ArrayLike) -> tuple[Array, Array]:
    one, other = np.asarray(t, dtype=np.float64), np.asarray(d, dtype=np.float64)
    if one.shape != other.shape:
        raise UsageError(f"both scores must be of the same runs and cases, got {one.shape} and {other.shape}")
    case_means(one), case_means(other)
    return one, other


def _cuts(scores: Array, pooled: bool) -> tuple[Cuts, ...]:
    rows = scores.reshape(1, -1) if pooled else scores
    return tuple(Cuts(float(low), float(high)) for low, high in np.quantile(rows, (LOW, HIGH), axis=1).T)


def _sides(scores: Array, cuts: tuple[Cuts, ...]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    low, high = (np.array([[getattr(cut, side)] for cut in cuts]) for side in ("low", "high"))
    return scores <= low + _SLACK, scores >= high - _SLACK
