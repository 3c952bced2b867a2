"""D, T, E, Total and the counts behind them, each as additive statistics and their aggregate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from meddc_bench.contracts import Context, Options, Sums, Unit
from meddc_bench.records import Assignment, Axis
from meddc_metrics.efficiency import FLOOR, efficiency

Statistics = Mapping[str, float]


def ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Divide with 0/0 = 0.

    >>> ratio(np.array([1.0, 0.0]), np.array([2.0, 0.0])).tolist()
    [0.5, 0.0]
    """
    zeros = np.zeros_like(np.asarray(above, dtype=float))
    return np.asarray(np.divide(above, below, out=zeros, where=np.asarray(below) != 0))


def f1(tp: np.ndarray, fp: np.ndarray, fn: np.ndarray) -> np.ndarray:
    """F1 = 2 TP / (2 TP + FP + FN), of counts summed over a run (micro); 0/0 = 0. Shapes equal; range [0, 1].

    Source: MedDDC-Eval equation 1, supplement B.1.
    """
    return ratio(2 * tp, 2 * tp + fp + fn)


def _counted(unit: Unit, axis: Axis) -> Assignment | None:
    """Return the assignment whose counts D, T and the like add: none where the case has no references on the axis."""
    found = unit.assignments.get(axis)
    return found if found is not None and (found.tp or found.fn or found.volunteered) else None


@dataclass(frozen=True, slots=True)
class CountMetric:
    """A score of the TP, FP and FN of one axis."""

    axis: Axis
    formula: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
    unit: str = "fraction"
    range: tuple[float, float] = (0.0, 1.0)
    higher_is_better: bool = True
    over_repeats: str = "mean"

    @property
    def needs(self) -> tuple[str, ...]:
        return (self.axis,)

    @property
    def shares(self) -> str:
        """Precision, recall and F1 of one axis add the same counts."""
        return f"counts {self.axis}"

    def case(self, unit: Unit) -> Statistics | None:
        found = _counted(unit, self.axis)
        return None if found is None else {"tp": found.tp, "fp": found.fp, "fn": found.fn}

    def aggregate(self, sums: Sums) -> np.ndarray:
        return self.formula(sums["tp"], sums["fp"], sums["fn"])


_NOTHING = Assignment(axis="diagnosis")


def _precision(tp: np.ndarray, fp: np.ndarray, fn: np.ndarray) -> np.ndarray:
    return ratio(tp, tp + fp)


def _recall(tp: np.ndarray, fp: np.ndarray, fn: np.ndarray) -> np.ndarray:
    return ratio(tp, tp + fn)


def _counts(axis: Axis, formula: Any, options: Options, context: Context) -> CountMetric:
    return CountMetric(axis, formula)


f1_diagnosis = partial(_counts, "diagnosis", f1)
f1_trajectory = partial(_counts, "trajectory", f1)
f1_tests = partial(_counts, "tests", f1)
f1_treatment = partial(_counts, "treatment", f1)
f1_medication = partial(_counts, "medication", f1)
f1_lifestyle = partial(_counts, "lifestyle", f1)
f1_guidance = partial(_counts, "guidance", f1)
precision_diagnosis = partial(_counts, "diagnosis", _precision)
precision_trajectory = partial(_counts, "trajectory", _precision)
recall_diagnosis = partial(_counts, "diagnosis", _recall)
recall_trajectory = partial(_counts, "trajectory", _recall)


def unit_efficiency(unit: Unit) -> float | None:
    """E of one unit; 0.1 for a policy that failed, None where there is no trajectory axis."""
    found = unit.assignments.get("trajectory")
    if found is None:
        return None
    if unit.policy_failed:
        return FLOOR
    return _value(found.matched_rounds, unit.first_summary, unit.rounds)


@lru_cache(maxsize=8192)
def _value(matched_rounds: tuple[int, ...], first_summary: int | None, rounds: int) -> float:
    return efficiency(matched_rounds, first_summary, rounds).value


@dataclass(frozen=True, slots=True)
class MeanMetric:
    """The mean over cases of a number of each unit; units without it are left out."""

    of: Callable[[Unit], float | None]
    unit: str
    range: tuple[float, float]
    higher_is_better: bool
    needs: tuple[str, ...] = ()
    over_repeats: str = "mean"

    def case(self, unit: Unit) -> Statistics | None:
        value = self.of(unit)
        return None if value is None else {"sum": value, "n": 1.0}

    def aggregate(self, sums: Sums) -> np.ndarray:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(sums["sum"] / sums["n"])


def efficiency_metric(options: Options, context: Context) -> MeanMetric:
    """E: the case's timing score, averaged over cases."""
    return MeanMetric(unit_efficiency, "fraction", (FLOOR, 1.0), True, ("trajectory",))


class TotalOptions(Options):
    """Weights of D, T and E (equation 2)."""

    D: float = 0.5
    T: float = 0.4
    E: float = 0.1


@dataclass(frozen=True, slots=True)
class TotalMetric:
    """Total = w_D D + w_T T + w_E E of a run (equation 2)."""

    weights: tuple[float, float, float]
    unit: str = "fraction"
    range: tuple[float, float] = (0.0, 1.0)
    higher_is_better: bool = True
    needs: tuple[str, ...] = ("diagnosis", "trajectory")
    over_repeats: str = "mean"

    def case(self, unit: Unit) -> Statistics | None:
        """Take what the metrics D, T and E take from the unit, so that Total weighs the very D, T and E of the run."""
        d, t, timing = _counted(unit, "diagnosis"), _counted(unit, "trajectory"), unit_efficiency(unit)
        if d is None and t is None and timing is None:
            return None
        d, t = d or _NOTHING, t or _NOTHING
        return {
            "d_tp": d.tp, "d_fp": d.fp, "d_fn": d.fn, "t_tp": t.tp, "t_fp": t.fp, "t_fn": t.fn,
            "e": timing or 0.0, "n": float(timing is not None),
        }  # fmt: skip

    def aggregate(self, sums: Sums) -> np.ndarray:
        d = f1(sums["d_tp"], sums["d_fp"], sums["d_fn"])
        t = f1(sums["t_tp"], sums["t_fp"], sums["t_fn"])
        with np.errstate(invalid="ignore", divide="ignore"):
            e = sums["e"] / sums["n"]
        return np.asarray(total(d, t, e, self.weights))


def total(d: Any, t: Any, e: Any, weights: tuple[float, float, float] = (0.5, 0.4, 0.1)) -> Any:
    """Weight D, T and E into Total, on any common scale (equation 2).

    >>> total(40, 50, 80)
    48.0
    """
    return weights[0] * d + weights[1] * t + weights[2] * e


def total_metric(options: TotalOptions, context: Context) -> TotalMetric:
    return TotalMetric((options.D, options.T, options.E))


def matched_round_metric(options: Options, context: Context) -> MeanMetric:
    """Mean round of the matched targets, over cases with a match."""

    def of(unit: Unit) -> float | None:
        found = unit.assignments.get("trajectory")
        rounds = found.matched_rounds if found is not None else ()
        return sum(rounds) / len(rounds) if rounds else None

    return MeanMetric(of, "round", (1.0, float("inf")), False, ("trajectory",))


def first_summary_metric(options: Options, context: Context) -> MeanMetric:
    """Mean round of the first summary, over cases that have one."""

    def of(unit: Unit) -> float | None:
        return None if unit.first_summary is None else float(unit.first_summary)

    return MeanMetric(of, "round", (1.0, float("inf")), False)


def rounds_metric(options: Options, context: Context) -> MeanMetric:
    """Mean number of the doctor's rounds."""
    return MeanMetric(lambda unit: float(unit.rounds), "round", (0.0, float("inf")), False)


def questions_metric(options: Options, context: Context) -> MeanMetric:
    """Mean number of question units before the summary."""

    def of(unit: Unit) -> float | None:
        found = unit.assignments.get("trajectory")
        return None if found is None else float(found.tp + found.fp)

    return MeanMetric(of, "count", (0.0, float("inf")), False, ("trajectory",))


def volunteered_metric(options: Options, context: Context) -> MeanMetric:
    """Mean number of targets that left the references because the patient volunteered them."""

    def of(unit: Unit) -> float | None:
        found = unit.assignments.get("trajectory")
        return None if found is None else float(len(found.volunteered))

    return MeanMetric(of, "count", (0.0, float("inf")), False, ("trajectory",))
