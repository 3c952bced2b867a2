"""Acc, Strict, their @50 variants, soft scores and behaviour of a workup, as additive statistics and their aggregate."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

import numpy as np
from pydantic import Field, model_validator

from meddc_bench.contracts import Context, Options, Sums, Unit
from meddc_bench.records import Axis
from meddc_metrics.metrics import MeanMetric, Statistics
from meddc_metrics.soft import ALPHA, BETA, accurate, half_covered, soft_scores

_NO_BOUNDS = (0.0, math.inf)
"""Range of a score of which the worst and the best that an unmeasured unit could have been are not known.

Its values lie in [0, 1] all the same; without an upper limit no bounds are computed.
"""
WORKUP = frozenset({"physical_examination", "order_tests", "consult_specialist", "search"})
"""Actions that take a turn of the workup."""


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
    levels = Counter(pair.level or "full" for pair in found.pairs)
    full, core = levels["full"], levels["core"]
    references, predictions = found.tp + found.fn, found.tp + found.fp
    diagnosed = predictions > 0 and not unit.policy_failed
    acc, strict = accurate(full, core, references=references, diagnosed=diagnosed)
    gate = half_covered(unit.records_received, unit.records_available)
    soft = soft_scores(
        full, core, levels["partial"], references=references, predictions=predictions, alpha=alpha, beta=beta
    )
    return {
        "acc": acc, "strict": strict, "acc50": acc * gate, "strict50": strict * gate,
        "precision": soft.precision, "recall": soft.recall, "tversky": soft.tversky, "cases": 1,
    }  # fmt: skip


def _mean(sums: Sums, name: str) -> np.ndarray:
    return _over(sums[name], sums["cases"])


def _over(above: Any, below: Any) -> np.ndarray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.divide(above, below, dtype=float))


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
    """The share of a score that its @50 variant loses, of sums over a run; undefined where the score is 0."""

    __slots__ = ()

    def aggregate(self, sums: Sums) -> np.ndarray:
        plain = sums[self.name]
        return _over(plain - sums[f"{self.name}50"], plain)


def _graded(name: str, options: Options, context: Context) -> GradedMetric:
    return GradedMetric(name)


def _gated(name: str, options: Options, context: Context) -> GradedMetric:
    return GradedMetric(name, range=_NO_BOUNDS)


def _reduction(name: str, options: Options, context: Context) -> GradedMetric:
    return ReductionMetric(name, range=_NO_BOUNDS, higher_is_better=False)


acc = partial(_graded, "acc")
strict = partial(_graded, "strict")
acc50 = partial(_gated, "acc50")
strict50 = partial(_gated, "strict50")
delta_acc = partial(_reduction, "acc")
delta_strict = partial(_reduction, "strict")
soft_precision = partial(_graded, "precision")
soft_recall = partial(_graded, "recall")


def tversky(options: TverskyOptions, context: Context) -> GradedMetric:
    """The mean over cases of the Tversky index of matched credit."""
    return GradedMetric("tversky", options)


# ── behaviour ────────────────────────────────────────────────────────────────────────────────────


def findings_coverage(options: Options, context: Context) -> MeanMetric:
    """Mean share of a case's test records whose findings reached the policy; cases without records are left out."""

    def of(unit: Unit) -> float | None:
        return unit.records_received / unit.records_available if unit.records_available else None

    return MeanMetric(of, "fraction", _NO_BOUNDS, True)


def _episodes(tells: Callable[[Unit], bool], better: bool) -> MeanMetric:
    return MeanMetric(lambda unit: float(tells(unit)), "fraction", _NO_BOUNDS, better)


def search_rate(options: Options, context: Context) -> MeanMetric:
    """Share of the consultations with at least one valid search."""
    return _episodes(lambda unit: any(one.name == "search" and not one.violations for one in unit.trace), True)


def deferral_rate(options: Options, context: Context) -> MeanMetric:
    """Share of the consultations that ended by deferring to a person."""
    return _episodes(lambda unit: unit.ended == "deferred", False)


def workup_actions(options: Options, context: Context) -> MeanMetric:
    """Mean number of turns of the workup, valid or not: each costs one of its budget."""
    return MeanMetric(
        lambda unit: float(sum(one.name in WORKUP for one in unit.trace)), "count", (0.0, math.inf), False
    )


@dataclass(frozen=True, slots=True)
class InvalidMetric:
    """The share of all actions of a run that broke a rule of the environment."""

    unit: str = "fraction"
    range: tuple[float, float] = _NO_BOUNDS
    higher_is_better: bool = False
    needs: tuple[Axis, ...] = ()
    over_repeats: str = "mean"

    def case(self, unit: Unit) -> Statistics | None:
        return {"invalid": sum(one.violations > 0 for one in unit.trace), "actions": len(unit.trace)}

    def aggregate(self, sums: Sums) -> np.ndarray:
        return _over(sums["invalid"], sums["actions"])


def invalid_rate(options: Options, context: Context) -> InvalidMetric:
    """The share of all actions of a run that broke a rule of the environment."""
    return InvalidMetric()
