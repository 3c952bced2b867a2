"""Acc, Strict, their @50 variants, pass@k and soft scores, as additive statistics and their aggregate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Self

import numpy as np
from pydantic import Field, model_validator

from meddc_bench.contracts import Context, Options, Sums, Unit
from meddc_bench.records import Axis
from meddc_metrics.metrics import Statistics
from meddc_metrics.soft import ALPHA, BETA, accurate, half_covered, pass_at_k, soft_scores

NO_BOUNDS = (0.0, math.inf)
"""Range of a score of which the worst and the best that an unmeasured unit could have been are not known.

Its values lie in [0, 1] all the same; without an upper limit no bounds are computed.
"""


class TverskyOptions(Options):
    """Weights of soft false positives (alpha) and soft false negatives (beta); they add up to 1."""

    alpha: float = Field(default=ALPHA, ge=0, le=1)
    beta: float = Field(default=BETA, ge=0, le=1)

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if not math.isclose(self.alpha + self.beta, 1.0):
            raise ValueError(f"alpha and beta must add up to 1, they add up to {self.alpha + self.beta:g}")
        return self


def case_scores(unit: Unit, alpha: float = ALPHA, beta: float = BETA) -> Statistics | None:
    """Return every diagnosis score of one case, to be added over cases; None for a case without reference diagnoses.

    A case without predictions, whoever failed to make them, scores 0 and stays in the denominator. A pair without a
    level, of a judge that does not grade, counts as full.
    """
    found = unit.assignments.get("diagnosis")
    if found is None or not found.tp + found.fn:
        return None
    predictions = found.tp + found.fp
    diagnosed = predictions > 0 and not unit.policy_failed
    gate = half_covered(unit.records_received, unit.records_available)
    levels = tuple([pair.level for pair in found.pairs])
    return _scores(levels, found.tp + found.fn, predictions, diagnosed, gate, alpha, beta)


@lru_cache(maxsize=8192)
def _scores(
    levels: tuple[str | None, ...], references: int, predictions: int, diagnosed: bool, gate: bool,
    alpha: float, beta: float,
) -> Statistics:  # fmt: skip
    """Score a case of few numbers, which are the same again and again; what comes back is not to be changed."""
    full, core, partial = (levels.count(one) for one in ("full", "core", "partial"))
    full += levels.count(None)
    acc, strict = accurate(full, core, references=references, diagnosed=diagnosed)
    soft = soft_scores(full, core, partial, references=references, predictions=predictions, alpha=alpha, beta=beta)
    return {
        "acc": acc, "strict": strict, "acc50": acc * gate, "strict50": strict * gate,
        "precision": soft.precision, "recall": soft.recall, "tversky": soft.tversky, "cases": 1,
    }  # fmt: skip


def divided(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Divide; NaN where there is nothing to divide by."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.divide(above, below, dtype=float))


def _mean(sums: Sums, name: str) -> np.ndarray:
    return divided(sums[name], sums["cases"])


@dataclass(frozen=True, slots=True)
class GradedMetric:
    """The mean over cases of one score of the graded diagnoses."""

    name: str
    options: TverskyOptions = field(default_factory=TverskyOptions)
    unit: str = "fraction"
    range: tuple[float, float] = (0.0, 1.0)
    higher_is_better: bool = True
    needs: tuple[Axis, ...] = ("diagnosis",)
    over_repeats: str = "mean"

    @property
    def shares(self) -> str:
        """All scores of one case are computed together."""
        return f"graded {self.options.alpha} {self.options.beta}"

    def case(self, unit: Unit) -> Statistics | None:
        return case_scores(unit, self.options.alpha, self.options.beta)

    def aggregate(self, sums: Sums) -> np.ndarray:
        return _mean(sums, self.name)


class ReductionMetric(GradedMetric):
    """The share of a score that its @50 variant loses, of sums over a run; undefined where the score is 0.

    Over several judges it is that of their sums: the reduction of the mean scores, as in Table 5.
    """

    __slots__ = ()
    absent = "the score itself is 0"
    pooled = True

    def aggregate(self, sums: Sums) -> np.ndarray:
        plain = sums[self.name]
        return divided(plain - sums[f"{self.name}50"], plain)


class PassOptions(Options):
    """k: how many repeats a case has to pass in, once."""

    k: int = Field(default=3, ge=1, le=1000)


@dataclass(frozen=True, slots=True)
class PassMetric:
    """The mean over cases of the chance that at least one of k repeats passes; with k = 3 of 3 repeats ACC@3.

    It is a value of all repeats of a case together (`join`), and holds as such in each of them, so its SD over repeats
    is 0. A case of fewer than k measured repeats has none.
    """

    name: str
    k: int
    unit: str = "fraction"
    range: tuple[float, float] = NO_BOUNDS
    higher_is_better: bool = True
    needs: tuple[Axis, ...] = ("diagnosis",)
    over_repeats: str = "mean"

    @property
    def absent(self) -> str:
        """Why no case has a value."""
        return f"it needs {self.k} measured repeats of a case"

    def case(self, unit: Unit) -> Statistics | None:
        found = case_scores(unit)
        return None if found is None else {"passed": found[self.name], "n": 1}

    def join(self, repeats: Sequence[Statistics]) -> Statistics | None:
        if len(repeats) < self.k:
            return None
        return {"passed": pass_at_k([bool(one["passed"]) for one in repeats], self.k), "n": 1}

    def aggregate(self, sums: Sums) -> np.ndarray:
        return divided(sums["passed"], sums["n"])


def acc_at_k(options: PassOptions, context: Context) -> PassMetric:
    """Acc in at least one of k repeats."""
    return PassMetric("acc", options.k)


def strict_at_k(options: PassOptions, context: Context) -> PassMetric:
    """Strict in at least one of k repeats."""
    return PassMetric("strict", options.k)


def _graded(name: str, options: Options, context: Context) -> GradedMetric:
    return GradedMetric(name)


def _reduction(name: str, options: Options, context: Context) -> GradedMetric:
    return ReductionMetric(name, range=NO_BOUNDS, higher_is_better=False)


acc = partial(_graded, "acc")
strict = partial(_graded, "strict")
acc50 = partial(_graded, "acc50")
strict50 = partial(_graded, "strict50")
delta_acc = partial(_reduction, "acc")
delta_strict = partial(_reduction, "strict")
soft_precision = partial(_graded, "precision")
soft_recall = partial(_graded, "recall")


def tversky(options: TverskyOptions, context: Context) -> GradedMetric:
    """The mean over cases of the Tversky index of matched credit."""
    return GradedMetric("tversky", options)
