"""Agreement of judges: Cohen's kappa, Fleiss' kappa, Krippendorff's alpha."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from meddc_bench.analysis.series import Array
from meddc_bench.errors import UsageError

Label = Hashable | None
"""A judge's verdict; None or NaN where it gave none."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """A coefficient of agreement, at most 1; None with a reason where agreement by chance is certain.

    `observed` and `expected` are the proportions of agreement (kappa) or the mean disagreements (alpha) it is made of.
    `items` were used, with `ratings` verdicts; `left_out` items had too few.
    """

    statistic: str
    value: float | None
    observed: float | None
    expected: float | None
    items: int
    ratings: int
    left_out: int
    reason: str | None = None


def cohen_kappa(first: Sequence[Label], second: Sequence[Label]) -> Agreement:
    """Agreement of two judges beyond chance.

    Formula: (p_o - p_e) / (1 - p_e): p_o the share of items with the same verdict, p_e the sum over verdicts of the
    product of the two judges' shares. Range -1 to 1. Items one of the two did not judge are left out and counted.

    Degenerate: None where no item is left or both gave one and the same verdict throughout (p_e = 1).

    Raises:
        UsageError: other items in one than in the other.

    Source: Cohen, A coefficient of agreement for nominal scales (1960).

    >>> found = cohen_kappa(["y"] * 25 + ["n"] * 25, ["y"] * 20 + ["n"] * 5 + ["y"] * 10 + ["n"] * 15)
    >>> round(found.value, 6), found.observed, found.expected
    (0.4, 0.7, 0.5)
    """
    if len(first) != len(second):
        raise UsageError(f"two judges must have judged the same items, got {len(first)} and {len(second)} verdicts")
    kept = [(one, other) for one, other in zip(first, second, strict=True) if _given(one) and _given(other)]
    gone = len(first) - len(kept)
    if not kept:
        return Agreement("cohen_kappa", None, None, None, 0, 0, gone, "no item was judged by both")
    counts = _counts(kept)
    one, other = (_shares([pair[k] for pair in kept], counts.labels) for k in (0, 1))
    observed = sum(first == second for first, second in kept) / len(kept)
    return _kappa("cohen_kappa", observed, float(one @ other), len(kept), 2 * len(kept), gone)


def fleiss_kappa(ratings: Sequence[Sequence[Label]]) -> Agreement:
    """Agreement of a fixed number of judges beyond chance; `ratings` holds, for each item, one verdict a judge.

    Formula: (P - P_e) / (1 - P_e): P the mean over items of sum n_j (n_j - 1) / (m (m - 1)), n_j of m judges having
    given verdict j; P_e the sum of the squared shares of the verdicts. Range -1/(m-1) to 1.

    Degenerate: None where there is no item or only one verdict.

    Raises:
        UsageError: items with unequal numbers of verdicts, missing ones or fewer than two: use `krippendorff_alpha`.

    Source: Fleiss, Measuring nominal scale agreement among many raters (1971).

    >>> round(fleiss_kappa([["y", "y", "y"], ["y", "n", "n"]]).value, 6)
    0.25
    """
    if not ratings:
        return Agreement("fleiss_kappa", None, None, None, 0, 0, 0, "no item was judged")
    widths = {len(row) for row in ratings}
    if len(widths) > 1 or min(widths) < 2 or not all(_given(one) for row in ratings for one in row):
        raise UsageError("every item needs the same number of verdicts, two or more; with gaps use krippendorff_alpha")
    counts = _counts(ratings).by_item
    judges = widths.pop()
    observed = float(((counts * (counts - 1)).sum(axis=1) / (judges * (judges - 1))).mean())
    expected = float(((counts.sum(axis=0) / counts.sum()) ** 2).sum())
    return _kappa("fleiss_kappa", observed, expected, len(ratings), int(counts.sum()), 0)


def krippendorff_alpha(
    ratings: Sequence[Sequence[Label]], level: Literal["nominal", "ordinal", "interval"] = "nominal"
) -> Agreement:
    """Agreement of any number of judges, some of whom did not judge some items.

    Formula: 1 - D_o / D_e. Coincidences o_ck add, for each item with m >= 2 verdicts, the pairs (c, k) of different
    judges over m - 1; n_c = sum_k o_ck, n = sum n_c. D_o = sum o_ck d(c, k) / n, D_e = sum n_c n_k d(c, k) / (n (n-1)).
    Squared difference d: nominal 1 where c and k differ; interval (c - k)^2; ordinal (n_c/2 + all n between + n_k/2)^2.
    At most 1; 0 is chance, below 0 systematic disagreement.

    Args:
        ratings: for each item its verdicts, None or NaN where a judge gave none; numbers for ordinal and interval.

    Degenerate: None where no item has two verdicts or all verdicts are the same. Items with fewer than two are left out
    and counted.

    Raises:
        UsageError: verdicts that are no finite numbers at a level that needs them.

    Source: Krippendorff, Content Analysis (2004), chapter 11.

    >>> round(krippendorff_alpha([[1, 1], [1, 2], [2, 2], [3, None]]).value, 6)
    0.444444
    """
    name = f"krippendorff_alpha_{level}"
    given = [[one for one in row if _given(one)] for row in ratings]
    kept = [row for row in given if len(row) > 1]
    gone = len(given) - len(kept)
    if not kept:
        return Agreement(name, None, None, None, 0, 0, gone, "no item has two verdicts")
    if level != "nominal" and not all(
        isinstance(one, int | float | np.number) and np.isfinite(one) for row in kept for one in row
    ):
        raise UsageError(f"alpha at the {level} level needs finite numbers as verdicts")  # fmt: skip
    counts = _counts(kept)
    each = counts.by_item.sum(axis=1, keepdims=True)
    coincidences = (counts.by_item / (each - 1)).T @ counts.by_item - np.diag((counts.by_item / (each - 1)).sum(axis=0))
    totals = coincidences.sum(axis=1)
    n = totals.sum()
    apart = _apart(counts.labels, totals, level)
    observed, expected = float((coincidences * apart).sum() / n), float(totals @ apart @ totals / (n * (n - 1)))
    ratings_used = int(each.sum())
    if expected == 0:
        return Agreement(name, None, observed, expected, len(kept), ratings_used, gone, "all verdicts are the same")
    return Agreement(name, 1 - observed / expected, observed, expected, len(kept), ratings_used, gone)


@dataclass(frozen=True, slots=True, eq=False)
class _Counts:
    """The different verdicts, and how often each item got each: (items, labels)."""

    labels: list[Label]
    by_item: Array


def _given(label: Label) -> bool:
    return label is not None and not (isinstance(label, float) and np.isnan(label))


def _counts(rows: Sequence[Sequence[Label]]) -> _Counts:
    seen = {one: None for row in rows for one in row}
    try:
        labels: list[Label] = sorted(seen)  # type: ignore[type-var]
    except TypeError:
        labels = sorted(seen, key=repr)
    at = {label: index for index, label in enumerate(labels)}
    counts = np.zeros((len(rows), len(labels)))
    for index, row in enumerate(rows):
        for one in row:
            counts[index, at[one]] += 1
    return _Counts(labels, counts)


def _shares(verdicts: Sequence[Label], labels: Sequence[Label]) -> Array:
    return np.array([verdicts.count(label) for label in labels]) / len(verdicts)


def _kappa(name: str, observed: float, expected: float, items: int, ratings: int, gone: int) -> Agreement:
    if expected >= 1 - 1e-12:
        reason = "all verdicts are the same: agreement by chance is certain"
        return Agreement(name, None, observed, expected, items, ratings, gone, reason)
    return Agreement(name, (observed - expected) / (1 - expected), observed, expected, items, ratings, gone)


def _apart(labels: Sequence[Label], totals: Array, level: str) -> Array:
    """Squared differences of all verdicts: (labels, labels)."""
    if level == "nominal":
        return np.asarray(1.0 - np.eye(len(labels)))
    if level == "ordinal":
        middle = np.cumsum(totals) - totals / 2
        return np.asarray((middle[:, None] - middle[None, :]) ** 2)
    values = np.array(labels, dtype=np.float64)
    return np.asarray((values[:, None] - values[None, :]) ** 2)
