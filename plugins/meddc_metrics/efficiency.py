"""Efficiency: how early the matched targets were reached (equations 3-6)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

LAMBDA = 0.15
FLOOR = 0.1
INEFFECTIVE = 0.3
_SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class Efficiency:
    """E of one case and what it was made of; all but `total_rounds`, `matched` and `value` are None without a match."""

    total_rounds: int
    matched: int
    mean_round: float | None
    timing: float | None
    ineffective: float | None
    value: float


def efficiency(matched_rounds: Sequence[int], first_summary_round: int | None, total_rounds: int) -> Efficiency:
    """Score the timing of one case.

    With w_i = exp(-0.15 (t_i - 1)) the weighted mean round is tbar = sum(t_i w_i) / sum(w_i). The ineffective share is
    r = max(0, (T - m) / T) with m matched targets and T the first summary round, or the total rounds without one.
    E = min(1, max(0.1, timing(tbar) (1 - 0.3 r))).

    Args:
        matched_rounds: the round of each matched target, one entry a target.
        first_summary_round: round of the first summary, or None.
        total_rounds: rounds of the history.

    Returns:
        E in [0.1, 1]; 0.1 when nothing is matched. Source: MedDDC-Eval equations 3-6, supplement B.2.

    >>> efficiency([1, 2], 4, 6).value
    0.85
    """
    total = first_summary_round if first_summary_round is not None else total_rounds
    count = len(matched_rounds)
    if not count:
        return Efficiency(total, 0, None, None, None, FLOOR)
    rounds = sorted(matched_rounds)  # so that the order of the arguments cannot change a bit of the sum
    weights = [math.exp(-LAMBDA * (one - rounds[0])) for one in rounds]  # w_i / w_1: no weight sum can underflow to 0
    mean = sum(one * weight for one, weight in zip(rounds, weights, strict=True)) / sum(weights)
    at = timing(mean)
    ineffective = max(0.0, (total - count) / total) if total else 0.0
    value = min(1.0, max(FLOOR, at * (1 - INEFFECTIVE * ineffective)))
    return Efficiency(total, count, mean, at, ineffective, value)


def timing(mean_round: float) -> float:
    """Map the weighted mean round (1 or later) to a timing score in [0.1, 1], in five branches.

    Each limit belongs to the branch below it, with 1e-9 slack; at a mean of 2 the score jumps from 1.0 to 0.95.
    """
    at = mean_round - _SLACK
    if at <= 2:
        return 1.0
    if at <= 3:
        return 0.95 - 0.05 * (mean_round - 2)
    if at <= 5:
        return 0.90 - 0.15 * (mean_round - 3)
    if at <= 8:
        return 0.60 - 0.10 * (mean_round - 5)
    return max(FLOOR, 0.30 - 0.02 * (mean_round - 8))
