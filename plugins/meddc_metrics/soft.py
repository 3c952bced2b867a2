"""Scores of graded diagnoses: matched credit, soft precision and recall, Tversky, Acc, Strict, @50, pass@k (TrustMed-RL)."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from meddc_bench.records import CREDIT

ALPHA, BETA = 0.3, 0.7
"""Weights of soft false positives and soft false negatives (TrustMed-RL, the diagnosis credit's constants)."""

Number = float | int


@dataclass(frozen=True, slots=True)
class Soft:
    """Soft counts and scores of one case: matched credit s, n - s, m - s, and what follows from them."""

    mass: float
    false_positive: float
    false_negative: float
    precision: float
    recall: float
    tversky: float


def soft_scores(
    full: int, core: int, partial: int, *, references: int, predictions: int, alpha: float = ALPHA, beta: float = BETA
) -> Soft:
    """Score the matching of one case (TrustMed-RL equation 8).

    With m references, n predictions and s = full + 0.85 core + 0.5 partial: precision s / n, recall s / m,
    Tversky s / (s + alpha (n - s) + beta (m - s)); 0/0 = 0. All three in [0, 1].

    >>> soft_scores(1, 0, 0, references=1, predictions=4).tversky
    0.5263157894736842
    """
    mass = CREDIT["full"] * full + CREDIT["core"] * core + CREDIT["partial"] * partial
    more, less = predictions - mass, references - mass
    return Soft(
        mass, more, less, _ratio(mass, predictions), _ratio(mass, references),
        _ratio(mass, mass + alpha * more + beta * less),
    )  # fmt: skip


def accurate(full: int, core: int, *, references: int, diagnosed: bool = True) -> tuple[int, int]:
    """Tell whether a case is accurate (every reference matched, full or core) and strictly so (every one full).

    Returns:
        (Acc, Strict), each 0 or 1; both 0 without a diagnosis. Source: TrustMed-RL section 7.1.

    >>> accurate(1, 1, references=2), accurate(2, 0, references=2), accurate(2, 0, references=2, diagnosed=False)
    ((1, 0), (1, 1), (0, 0))
    """
    return int(diagnosed and full + core == references), int(diagnosed and full == references)


def half_covered(received: int, available: int) -> bool:
    """Tell whether at least half of the available test records were received; never where none is available."""
    return available > 0 and 2 * received >= available


def coverage(available: Collection[str], received: Iterable[str]) -> float:
    """Return the share of the available test records among the received ones, each counted once; 0 where none is available.

    Of `received` records whose findings reached the policy it is findings coverage, of ordered ones ordering coverage.

    >>> coverage(["a", "b", "c", "d"], ["a", "a", "c", "no such record"])
    0.5
    """
    return _ratio(len(set(available) & set(received)), len(set(available)))


def relative_reduction(plain: float, gated: float) -> float | None:
    """Return the share of a score that its @50 variant loses, (x - x50) / x; None where the score is 0 (Table 5).

    >>> relative_reduction(0.75, 0.25)
    0.6666666666666666
    """
    return None if plain == 0 else (plain - gated) / plain


def pass_at_k(passed: Sequence[bool], k: int) -> float:
    """Estimate the chance that at least one of k repeats of a case passes: 1 - C(n - c, k) / C(n, k).

    Args:
        passed: whether each of the n repeats passed, in any order; c of them did.
        k: at most n. With k = n it is 1 where any repeat passed, else 0.

    Raises:
        ValueError: k is not from 1 to n.

    >>> pass_at_k([True, False, False], 1), pass_at_k([True, False, False], 3)
    (0.33333333333333337, 1.0)
    """
    if not 1 <= k <= len(passed):
        raise ValueError(f"pass@{k} needs at least {max(k, 1)} repeats, there are {len(passed)}")
    return 1 - math.comb(len(passed) - sum(passed), k) / math.comb(len(passed), k)


def _ratio(above: Number, below: Number) -> float:
    return above / below if below else 0.0
