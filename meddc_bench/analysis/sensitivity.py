"""Sensitivity: who is first, and by how much, when the weights of Total change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from meddc_bench.analysis.ranks import ranks
from meddc_bench.analysis.resample import EQUAL
from meddc_bench.analysis.totals import weigh
from meddc_bench.errors import UsageError


def _weights(d: float, t: float, e: float) -> Mapping[str, float]:
    return MappingProxyType({"D": d, "T": t, "E": e})


SEVEN: tuple[Mapping[str, float], ...] = (
    _weights(0.50, 0.40, 0.10),
    _weights(0.55, 0.35, 0.10),
    _weights(0.45, 0.45, 0.10),
    _weights(0.45, 0.40, 0.15),
    _weights(0.50, 0.35, 0.15),
    _weights(0.55, 0.40, 0.05),
    _weights(0.50, 0.45, 0.05),
)
"""The weights of Table S15: the protocol's and the six that move 0.05 from one metric to another."""


@dataclass(frozen=True, slots=True)
class Weighting:
    """The totals under one set of weights, best first, in `unit`; `margin` is first minus second.

    With fewer than two policies `second` and `margin` are None. `tied`: the first two are equal, and named by name.
    """

    weights: Mapping[str, float]
    scores: Mapping[str, float]
    top: str
    second: str | None
    margin: float | None
    tied: bool
    unit: str


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """All weightings, and `stable`: the same policy is first in each, without a tie; `margin` is the smallest, in `unit`."""

    weightings: tuple[Weighting, ...]
    stable: bool
    margin: float | None
    unit: str


def sensitivity(
    scores: Mapping[str, Mapping[str, float]], weights: Sequence[Mapping[str, float]] = SEVEN, *,
    unit: str = "proportion",
) -> Sensitivity:  # fmt: skip
    """Score every policy with each set of weights and find the first, the second and the margin between them.

    Formula: total = sum over metrics of weight x score; margin = best minus second best.

    Args:
        scores: policy -> metric -> mean score.
        weights: any number of sets, metric -> weight, each at least 0 and adding up to 1.

    Degenerate: one policy has no margin (None); equal totals give margin 0 and `tied`.

    Raises:
        UsageError: no policy or no weights; weights that do not add up to 1; a weighted metric without a score; a
            score that is not finite.

    Source: MedDDC-Eval supplement F.1, Table S15.

    >>> found = sensitivity({"a": {"D": 40, "T": 50, "E": 80}, "b": {"D": 44, "T": 44, "E": 80}},
    ...     [{"D": 0.5, "T": 0.4, "E": 0.1}, {"D": 0.6, "T": 0.3, "E": 0.1}], unit="points")
    >>> [(one.top, one.second, round(one.margin, 3)) for one in found.weightings], found.stable
    ([('a', 'b', 0.4), ('b', 'a', 0.6)], False)
    """
    if not scores or not weights:
        raise UsageError("scores of at least one policy and at least one set of weights are needed")
    found = tuple(_weighting(scores, one, unit) for one in weights)
    stable = len({one.top for one in found}) == 1 and not any(one.tied for one in found)
    margins = [one.margin for one in found if one.margin is not None]
    return Sensitivity(found, stable, min(margins) if margins else None, unit)


def _weighting(scores: Mapping[str, Mapping[str, float]], weights: Mapping[str, float], unit: str) -> Weighting:
    order = ranks({policy: weigh(row, weights) for policy, row in scores.items()}, unit=unit)
    totals = {one.policy: one.score for one in order}
    if len(order) < 2:
        return Weighting(dict(weights), totals, order[0].policy, None, None, False, unit)
    margin = order[0].score - order[1].score
    return Weighting(dict(weights), totals, order[0].policy, order[1].policy, margin, abs(margin) <= EQUAL, unit)
