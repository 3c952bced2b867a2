"""Multiplicity: Holm's correction of p values over all pairs that are looked at together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from meddc_bench.analysis.bootstrap import Difference
from meddc_bench.errors import UsageError


@dataclass(frozen=True, slots=True)
class Corrected:
    """One comparison of `comparisons`: its p value, that value corrected, and whether it is rejected at `alpha`.

    Both are proportions; None, with the reason, where there was no p value; such a comparison is not counted.
    """

    first: str
    second: str
    p_value: float | None
    adjusted: float | None
    rejected: bool
    alpha: float
    comparisons: int
    reason: str | None = None


def holm(p_values: Mapping[tuple[str, str], float | None], alpha: float = 0.05) -> tuple[Corrected, ...]:
    """Correct p values so that the chance of any false rejection among them is at most alpha, whatever their dependence.

    Formula: of m ordered p values the k-th (from 1) becomes max over j <= k of min(1, (m - j + 1) p_j); rejected where
    that is at most alpha. In the order given; range 0 to 1.

    Degenerate: no p value gives nothing; None is carried with a reason.

    Raises:
        UsageError: a p value or alpha outside 0 to 1.

    Source: Holm, A simple sequentially rejective multiple test procedure (1979). The paper corrects nothing.

    >>> found = holm({("a", "b"): 0.01, ("a", "c"): 0.04, ("b", "c"): 0.03})
    >>> [(one.adjusted, one.rejected) for one in found]
    [(0.03, True), (0.06, False), (0.06, False)]
    """
    known = {pair: p for pair, p in p_values.items() if p is not None}
    wrong = [p for p in (*known.values(), alpha) if not 0 <= p <= 1]
    if wrong:
        raise UsageError(f"p values and alpha are between 0 and 1, got {wrong[0]}")
    adjusted: dict[tuple[str, str], float] = {}
    reached = 0.0
    for done, pair in enumerate(sorted(known, key=lambda pair: (known[pair], pair))):
        reached = max(reached, min(1.0, (len(known) - done) * known[pair]))
        adjusted[pair] = reached
    return tuple(
        Corrected(*pair, p, adjusted[pair], adjusted[pair] <= alpha, alpha, len(known))
        if p is not None
        else Corrected(*pair, None, None, False, alpha, len(known), "no p value")
        for pair, p in p_values.items()
    )


def holm_differences(differences: Sequence[Difference], alpha: float = 0.05) -> tuple[Corrected, ...]:
    """Correct the two-sided p values of paired differences of one metric under one reader.

    With B draws a p value is at least 2/(B+1): to reject at alpha among m pairs, B must be above 2m/alpha.

    Raises:
        UsageError: differences of several metrics or readers, or a pair given twice.

    >>> holm_differences([])
    ()
    """
    kinds = {(one.metric, one.reader) for one in differences}
    if len(kinds) > 1:
        raise UsageError(
            f"correct the differences of one metric under one reader at a time, got {sorted(map(str, kinds))}"
        )
    if len({(one.first, one.second) for one in differences}) != len(differences):
        raise UsageError("a pair of policies is given twice")
    return holm({(one.first, one.second): one.p_value for one in differences}, alpha)
