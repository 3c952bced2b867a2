"""Totals: weighted sums of metrics, of whole series and of printed scores; Total under each reader, T and E fixed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum, isfinite
from types import MappingProxyType

from meddc_bench.analysis.series import Part, Series, Weighted, same_cases
from meddc_bench.errors import UsageError

WEIGHTS: Mapping[str, float] = MappingProxyType({"D": 0.5, "T": 0.4, "E": 0.1})
"""The weights of Total (MedDDC-Eval equation 2)."""

_SLACK = 1e-9


def check_weights(weights: Mapping[str, float]) -> None:
    """Refuse weights that are not finite, are below 0 or do not add up to 1 within 1e-9."""
    wrong = [name for name, weight in weights.items() if not (isfinite(weight) and weight >= 0)]
    if wrong or abs(fsum(weights.values()) - 1) > _SLACK:
        raise UsageError(f"weights must be at least 0 and add up to 1, got {dict(weights)}")


def weigh(scores: Mapping[str, float], weights: Mapping[str, float] = WEIGHTS) -> float:
    """Return the weighted sum of scores, in their unit: sum over metrics of weight x score (equation 2).

    Raises:
        UsageError: a weighted metric without a score; weights that do not add up to 1.

    >>> weigh({"D": 40, "T": 50, "E": 80})
    48.0
    """
    check_weights(weights)
    missing = sorted(set(weights) - set(scores))
    if missing:
        raise UsageError(f"no score of {', '.join(missing)} to weigh; there is: {', '.join(scores) or 'none'}")
    return fsum(weight * scores[name] for name, weight in weights.items())


def weighted(parts: Sequence[Series], weights: Mapping[str, float], metric: str = "Total") -> Series:
    """Weigh series of one policy into a new one: its value in each run is the weighted sum of the parts' values.

    Formula: sum over parts of weight x aggregate(sums of the part), in each run. With D, T and E and the weights
    0.5, 0.4, 0.1 that is Total (MedDDC-Eval equation 2); with D of another reader it is Total under that reader, T and
    E fixed (Table S16).

    Raises:
        UsageError: parts of several policies or readers, or with other cases, runs or units; weights that are not for
            just these parts or do not add up to 1.

    >>> def mean(sums): return sums["sum"] / sums["n"]
    >>> d = Series("a", "D", ("c1",), {"sum": [[0.4]], "n": [[1]]}, mean, reader="shared")
    >>> e = Series("a", "E", ("c1",), {"sum": [[0.8]], "n": [[1]]}, mean)
    >>> total = weighted([d, e], {"D": 0.75, "E": 0.25})
    >>> str(total), round(float(total.aggregate({n: a[0].sum() for n, a in total.statistics.items()})), 3)
    ('Total of a read by shared', 0.5)
    """
    cases = same_cases(parts)
    readers = {one.reader for one in parts if one.reader is not None}
    for what, found in (
        ("policies", {one.policy for one in parts}),
        ("numbers of runs", {one.runs for one in parts}),
        ("units", {one.unit for one in parts}),
        ("ways over repeats", {one.over_repeats for one in parts}),
    ):
        if len(found) > 1:
            raise UsageError(f"{metric} cannot be weighed from parts of several {what}: {sorted(map(str, found))}")
    if len(readers) > 1:
        raise UsageError(f"{metric} cannot be weighed from parts of several readers: {sorted(readers)}")
    check_weights(weights)
    if sorted(weights) != sorted(one.metric for one in parts):
        raise UsageError(f"weights are for {sorted(weights)}, the parts are {sorted(one.metric for one in parts)}")
    parts = sorted(parts, key=lambda one: one.metric)
    pieces = tuple(Part(one.metric, tuple(one.arrays), float(weights[one.metric]), one.aggregate) for one in parts)
    statistics = {f"{one.metric}.{name}": array for one in parts for name, array in one.arrays.items()}
    return Series(
        parts[0].policy, metric, cases, statistics, Weighted(pieces), next(iter(readers), None), parts[0].unit,
        parts[0].over_repeats,
    )  # fmt: skip


def totals(
    read: Sequence[Series], fixed: Sequence[Series], weights: Mapping[str, float] = WEIGHTS, metric: str = "Total"
) -> tuple[Series, ...]:
    """Weigh each read series (D of a policy under a reader) with the policy's fixed ones (T and E, which have no reader).

    Give the result to `audit` for Total under each reader with T and E fixed.

    Raises:
        UsageError: as `weighted`, e.g. a policy without T or E.

    Source: MedDDC-Eval supplement F.2, Table S16.

    >>> def mean(sums): return sums["sum"] / sums["n"]
    >>> def one(metric, value, reader=None):
    ...     return Series("a", metric, ("c1",), {"sum": [[value]], "n": [[1]]}, mean, reader)
    >>> [str(found) for found in totals([one("D", 0.4, "own"), one("D", 0.5, "shared")], [one("T", 0.5), one("E", 0.8)])]
    ['Total of a read by own', 'Total of a read by shared']
    """
    return tuple(
        weighted([one, *(other for other in fixed if other.policy == one.policy)], weights, metric) for one in read
    )


@dataclass(frozen=True, slots=True)
class ReaderScores:
    """Scores of the policies under one reader, in the unit of what was weighed; None where the reader scored nothing."""

    reader: str
    scores: Mapping[str, float | None]


def total_scores(
    read: Mapping[str, Mapping[str, float | None]], fixed: Mapping[str, Mapping[str, float]],
    weights: Mapping[str, float] = WEIGHTS, metric: str = "D",
) -> tuple[ReaderScores, ...]:  # fmt: skip
    """Weigh a table, reader -> policy -> score of `metric`, with the policies' fixed scores, policy -> metric -> score.

    Raises:
        UsageError: as `weigh`.

    Source: MedDDC-Eval supplement F.2, Table S16.

    >>> total_scores({"own": {"a": 40.0, "b": None}}, {"a": {"T": 50, "E": 80}})
    (ReaderScores(reader='own', scores={'a': 48.0, 'b': None}),)
    """
    return tuple(
        ReaderScores(
            reader,
            {
                policy: None if score is None else weigh({**fixed.get(policy, {}), metric: score}, weights)
                for policy, score in row.items()
            },
        )
        for reader, row in read.items()
    )
