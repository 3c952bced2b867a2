"""Power: how many cases a difference needs to be seen, and how likely it is to be seen on those there are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ncfdtr, ndtri, stdtrit

from meddc_bench.errors import UsageError

MOST_CASES = 100_000_000
"""More cases are not looked for."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The standard deviation of a paired difference over cases, in the unit of the scores; None with a reason."""

    sd: float | None
    cases: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Power:
    """The chance, a proportion, that a two-sided paired t test at `alpha` sees `difference` on `cases` cases.

    `difference` and `sd` are in one unit. None with a reason where there is no such chance to speak of.
    """

    power: float | None
    cases: int | None
    difference: float
    sd: float
    alpha: float
    reason: str | None = None


def paired_sd(first: ArrayLike, second: ArrayLike) -> Spread:
    """Return the standard deviation over cases (divisor n - 1) of paired case values (cases,).

    For D and T this is of the F1 of single cases, while a run's F1 comes from sums: use `sd_of_error` for those.

    Degenerate: None for fewer than two cases.

    Raises:
        UsageError: other shapes, or a value that is not finite.

    >>> paired_sd([0.5, 0.7, 0.9], [0.4, 0.5, 0.6]).sd.__round__(6)
    0.1
    """
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.ndim != 1 or one.shape != other.shape:
        raise UsageError(f"values of the same cases are needed, got shapes {one.shape} and {other.shape}")
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        raise UsageError("case values must be finite: leave out, by name, the cases without one")
    if len(one) < 2:
        return Spread(None, len(one), "fewer than two cases: no spread")
    return Spread(float((one - other).std(ddof=1)), len(one))


def sd_of_error(se: float, cases: int) -> Spread:
    """Return the spread a case contributes to a difference whose standard error on so many cases is known: se sqrt(n).

    So power can be had for any metric from the bootstrap's standard error, D and T included.

    Raises:
        UsageError: a standard error below 0 or not finite, or no case.

    >>> sd_of_error(0.02, 100).sd
    0.2
    """
    if not (np.isfinite(se) and se >= 0) or cases < 1:
        raise UsageError(f"a standard error of at least 0 on at least one case is needed, got {se} on {cases}")
    return Spread(float(se * np.sqrt(cases)), cases)


def power(cases: int, difference: float, sd: float, alpha: float = 0.05) -> Power:
    """Compute the power of a two-sided paired t test.

    Formula: 1 - F(t^2), F the noncentral F distribution with 1 and n - 1 degrees of freedom and noncentrality
    n (difference / sd)^2, t the 1 - alpha/2 quantile of Student's t with n - 1. Range alpha to 1.

    Degenerate: fewer than two cases or an sd of 0 give None with the reason; a difference of 0 has power alpha.

    Raises:
        UsageError: a number that is not finite, an sd below 0, alpha outside 0 to 1.

    Source: Cohen, Statistical Power Analysis (1988), chapter 2. Not in the paper.

    >>> round(power(34, 0.5, 1.0).power, 3)
    0.808
    """
    _check(difference, sd, alpha)
    if cases < 2 or sd == 0:
        reason = "fewer than two cases" if cases < 2 else "all cases differ alike: no spread, so no test"
        return Power(None, cases, difference, sd, alpha, reason)
    return Power(_power(cases, abs(difference) / sd, alpha), cases, difference, sd, alpha)


def cases_needed(difference: float, sd: float, *, power: float = 0.8, alpha: float = 0.05) -> Power:
    """Return the smallest number of cases on which a two-sided paired t test has at least this power.

    Formula: the smallest n >= 2 whose power (see `power`) is large enough; about ((z_{1-alpha/2} + z_power) sd /
    difference)^2 for many cases.

    Degenerate: a difference or an sd of 0, or more than 100 million cases: None with the reason.

    Raises:
        UsageError: as `power`; a power that is not between alpha and 1.

    Source: Cohen, Statistical Power Analysis (1988), Table 2.4.1 and chapter 2. Not in the paper.

    >>> found = cases_needed(0.03, 0.10)
    >>> found.cases, round(found.power, 3)
    (90, 0.804)
    """
    _check(difference, sd, alpha)
    if not alpha < power < 1:
        raise UsageError(f"the power asked for must lie between alpha ({alpha}) and 1, got {power}")
    if difference == 0 or sd == 0:
        reason = "no difference to see" if difference == 0 else "all cases differ alike: no spread, so no test"
        return Power(None, None, difference, sd, alpha, reason)
    effect = abs(difference) / sd
    about = ((float(ndtri(1 - alpha / 2)) + float(ndtri(power))) / effect) ** 2
    if about > MOST_CASES:
        return Power(None, None, difference, sd, alpha, f"more than {MOST_CASES} cases")
    low, high = 1, max(4, int(about) + 10)
    while _power(high, effect, alpha) < power:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _power(middle, effect, alpha) >= power else (middle, high)
    return Power(_power(high, effect, alpha), high, difference, sd, alpha)


def _power(cases: int, effect: float, alpha: float) -> float:
    noncentrality = cases * effect**2
    limit = float(stdtrit(cases - 1, 1 - alpha / 2)) ** 2
    missed = float(ncfdtr(1, cases - 1, noncentrality, limit))
    # SciPy gives NaN where the chance of missing the difference is below the smallest float.
    return 1.0 if np.isnan(missed) else min(1.0, max(0.0, 1 - missed))


def _check(difference: float, sd: float, alpha: float) -> None:
    if not (np.isfinite(difference) and np.isfinite(sd) and sd >= 0):
        raise UsageError(f"a finite difference and a finite sd of at least 0 are needed, got {difference} and {sd}")
    if not 0 < alpha < 1:
        raise UsageError(f"alpha is between 0 and 1, got {alpha}")
