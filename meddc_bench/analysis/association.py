"""Association: do policies, or cases, that score high on one metric score high on another?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from meddc_bench.analysis.series import Array, shown
from meddc_bench.errors import UsageError


@dataclass(frozen=True, slots=True)
class Association:
    """Correlation coefficients, -1 to 1, of `n` pairs of scores; None with a reason. `basis` says what the pairs are."""

    pearson: float | None
    spearman: float | None
    n: int
    basis: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Associations:
    """The association of two metrics over policies and over all pairs of a case and a policy."""

    policy_means: Association
    case_means: Association


def association(x: ArrayLike, y: ArrayLike, basis: str = "pairs of scores") -> Association:
    """Correlate two scores of the same things.

    Formula: Pearson r = sum (x - mean x)(y - mean y) / sqrt(sum (x - mean x)^2 sum (y - mean y)^2); Spearman rho is r
    of average ranks. Shapes (n,). Range -1 to 1.

    Degenerate: fewer than two pairs, or a side whose values are all equal: None with the reason.

    Raises:
        UsageError: unequal lengths, or a value that is not finite (a missing score is no 0).

    Source: MedDDC-Eval Table S17.

    >>> found = association([1, 2, 3], [1, 3, 2])
    >>> found.pearson, found.spearman
    (0.5, 0.5)
    """
    one, other = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if one.ndim != 1 or one.shape != other.shape:
        raise UsageError(f"two scores of the same things are needed, got shapes {one.shape} and {other.shape}")
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        raise UsageError("scores must be finite: leave out, by name, what was not measured or has no score")
    if len(one) < 2:
        return Association(None, None, len(one), basis, "fewer than two pairs")
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return Association(None, None, len(one), basis, "all values of one side are equal")
    return Association(_pearson(one, other), _pearson(rankdata(one), rankdata(other)), len(one), basis)


def associations(x: Mapping[str, ArrayLike], y: Mapping[str, ArrayLike]) -> Associations:
    """Correlate two metrics over policies and over cases, from case scores by policy, (runs, cases) each.

    Formula: the score of a case is its mean over runs. Over policies: the pairs are the means over cases, each case
    alike (not the micro F1 of a run, from which Table S17 does not follow). Over cases: the pairs are all scores of all
    cases of all policies together.

    Degenerate and errors: as `association`; other policies or cases in one than in the other are refused.

    Source: MedDDC-Eval supplement G, Table S17.

    >>> t = {"a": [[0.2, 0.4]], "b": [[0.6, 0.8]]}
    >>> d = {"a": [[0.1, 0.3]], "b": [[0.3, 0.3]]}
    >>> found = associations(t, d)
    >>> round(found.policy_means.pearson, 6), found.case_means.n
    (1.0, 4)
    """
    odd = sorted(set(x) ^ set(y))
    if odd:
        raise UsageError(f"both metrics of the same policies are needed; only one is given for: {shown(odd)}")
    one = {policy: case_means(scores, policy) for policy, scores in x.items()}
    other = {policy: case_means(y[policy], policy) for policy in x}
    unequal = [policy for policy in one if one[policy].shape != other[policy].shape]
    if unequal:
        raise UsageError(f"both metrics must be of the same cases, not so for: {shown(unequal)}")
    return Associations(
        association(
            [row.mean() for row in one.values()], [row.mean() for row in other.values()],
            "policies: means over cases, each case alike",
        ),
        association(
            np.concatenate([np.empty(0), *one.values()]), np.concatenate([np.empty(0), *other.values()]),
            "cases of all policies: means over runs",
        ),
    )  # fmt: skip


def case_means(scores: ArrayLike, what: str = "scores") -> Array:
    """Average case scores (runs, cases) over runs: (cases,).

    Raises:
        UsageError: not (runs, cases), no case, or a score that is not finite.

    >>> case_means([[0.2, 0.4], [0.4, 0.4]]).round(3).tolist()
    [0.3, 0.4]
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 2 or not values.size:
        raise UsageError(f"{what}: case scores must be (runs, cases), got {values.shape}")
    if not np.isfinite(values).all():
        raise UsageError(f"{what}: {int((~np.isfinite(values)).sum())} of {values.size} case scores are missing")
    return np.asarray(values.mean(axis=0))


def _pearson(one: Array, other: Array) -> float:
    one, other = one - one.mean(), other - other.mean()
    one, other = one / np.abs(one).max(), other / np.abs(other).max()
    return float(np.clip((one @ other) / np.sqrt((one @ one) * (other @ other)), -1.0, 1.0))
