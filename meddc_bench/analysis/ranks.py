"""Ranks of policies, the pairs two readers order oppositely, and Kendall's tau.

Scores closer than 1e-12 are equal. Ties: equal scores share the better rank (1, 2, 2, 4); a pair that is tied under
either reader is no reversal and stays in the denominator.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from meddc_bench.analysis.resample import EQUAL
from meddc_bench.analysis.series import Array, shown
from meddc_bench.errors import UsageError


@dataclass(frozen=True, slots=True)
class Rank:
    """A policy's place by a score in `unit`; 1 is best, `tied` where another policy has the same score."""

    policy: str
    score: float
    rank: int
    tied: bool
    unit: str


@dataclass(frozen=True, slots=True)
class Pair:
    """Two policies, in the order in which the policies were given."""

    first: str
    second: str


@dataclass(frozen=True, slots=True)
class Reversals:
    """Of all `pairs` of policies those that two scores order strictly oppositely, listed; `share` is a proportion.

    `tied` counts the pairs that are equal by either score. `share` is None where there is no pair, with the reason.
    """

    count: int
    pairs: int
    share: float | None
    tied: int
    reversed: tuple[Pair, ...]
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Kendall:
    """Kendall's tau-b of two scores of the same policies, -1 to 1; None with a reason where a side is constant."""

    tau: float | None
    policies: int
    concordant: int
    discordant: int
    reason: str | None = None


def ranks(scores: Mapping[str, float], *, higher_is_better: bool = True, unit: str = "proportion") -> tuple[Rank, ...]:
    """Rank policies: 1 + the number of policies with a strictly better score; sorted by rank, then name.

    Range 1 to the number of policies; no policy gives no rank.

    Raises:
        UsageError: a score that is not finite.

    Source: MedDDC-Eval Table S4.

    >>> [(one.policy, one.rank, one.tied) for one in ranks({"a": 0.3, "b": 0.4, "c": 0.3})]
    [('b', 1, False), ('a', 2, True), ('c', 2, True)]
    """
    values = _finite(scores)
    if not values.size:
        return ()
    gaps = values[:, None] - values[None, :]
    gaps = gaps if higher_is_better else -gaps
    found = [
        Rank(policy, float(value), int((row < -EQUAL).sum()) + 1, int((np.abs(row) <= EQUAL).sum()) > 1, unit)
        for policy, value, row in zip(scores, values, gaps, strict=True)
    ]
    return tuple(sorted(found, key=lambda one: (one.rank, one.policy)))


def reversals(first: Mapping[str, float], second: Mapping[str, float]) -> Reversals:
    """Count the pairs of policies that the second score orders strictly the other way round.

    Formula: pairs (a, b) with (first a - first b)(second a - second b) < 0, over n(n-1)/2. Range 0 to that number.

    Degenerate: fewer than two policies have no pair; `share` is then None.

    Raises:
        UsageError: other policies in one than in the other; a score that is not finite.

    Source: MedDDC-Eval supplement C, Table S4 (5 of 28 and 10 of 28).

    >>> found = reversals({"a": 10, "b": 20, "c": 30}, {"a": 25, "b": 22, "c": 31})
    >>> found.count, found.pairs, found.reversed
    (1, 3, (Pair(first='a', second='b'),))
    """
    policies, one, other = _aligned(first, second)
    at = np.triu_indices(len(policies), 1)
    signs, others = order_signs(one, at), order_signs(other, at)
    flipped = np.flatnonzero(signs * others < 0)
    pairs = len(signs)
    return Reversals(
        len(flipped), pairs, len(flipped) / pairs if pairs else None, int((signs * others == 0).sum()),
        tuple(Pair(policies[at[0][k]], policies[at[1][k]]) for k in flipped),
        None if pairs else "fewer than two policies: there is no pair",
    )  # fmt: skip


def kendall(first: Mapping[str, float], second: Mapping[str, float]) -> Kendall:
    """Compute Kendall's tau-b, which corrects for ties.

    Formula: (C - D) / sqrt((n0 - t1)(n0 - t2)): C concordant and D discordant pairs, n0 all pairs, t1 and t2 the pairs
    tied by the first and the second score. Without ties 1 - 2 x reversals / pairs. Range -1 to 1.

    Degenerate: None where there are fewer than two policies or all scores of a side are equal.

    Raises:
        UsageError: as `reversals`.

    Source: Kendall, The treatment of ties in ranking problems, Biometrika 33 (1945); equal to scipy.stats.kendalltau.

    >>> round(kendall({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 3, "c": 2}).tau, 6)
    0.333333
    """
    policies, one, other = _aligned(first, second)
    at = np.triu_indices(len(policies), 1)
    signs, others = order_signs(one, at), order_signs(other, at)
    agree, disagree = int((signs * others > 0).sum()), int((signs * others < 0).sum())
    below = float(np.count_nonzero(signs)) * float(np.count_nonzero(others))
    if not below:
        reason = "fewer than two policies" if len(policies) < 2 else "all scores of one side are equal"
        return Kendall(None, len(policies), agree, disagree, reason)
    return Kendall((agree - disagree) / float(np.sqrt(below)), len(policies), agree, disagree)


def order_signs(scores: Array, at: tuple[NDArray[np.intp], NDArray[np.intp]]) -> Array:
    """Return 1, -1 or 0 for each pair of rows (policies, ...): which of the two is higher."""
    gaps = scores[at[0]] - scores[at[1]]
    return np.asarray(np.where(np.abs(gaps) <= EQUAL, 0.0, np.sign(gaps)))


def _aligned(first: Mapping[str, float], second: Mapping[str, float]) -> tuple[tuple[str, ...], Array, Array]:
    odd = sorted(set(first) ^ set(second))
    if odd:
        raise UsageError(f"two scores of the same policies are needed; only one has: {shown(odd)}")
    return tuple(first), _finite(first), _finite({policy: second[policy] for policy in first})


def _finite(scores: Mapping[str, float]) -> Array:
    values = np.array([float(one) for one in scores.values()], dtype=np.float64)
    wrong = [policy for policy, value in zip(scores, values, strict=True) if not np.isfinite(value)]
    if wrong:
        raise UsageError(f"scores must be finite numbers, not so for: {shown(wrong)}")
    return values
