"""Behaviour in a workup: coverage, productive and invalid actions, searches, deferrals, integrity probes (Table 6)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from meddc_bench.contracts import Context, Options, Sums, Unit
from meddc_bench.records import Axis
from meddc_metrics.graded import NO_BOUNDS, divided
from meddc_metrics.metrics import Statistics

WORKUP = frozenset({"physical_examination", "order_tests", "consult_specialist", "search"})
"""Actions that take a turn of the workup."""
PRODUCTIVE = frozenset({"examined", "ordered", "record"})
"""Marks of a turn that brought evidence, or an order for some that there is."""
_OUTCOMES = {"modality": "caught", "anatomy": "caught", "clean": "false_alarm"}
"""Kind of an integrity check -> the outcome that is counted."""


def behaviour(unit: Unit) -> Statistics:
    """Return the numbers behind every behaviour metric, to be added over consultations, from one walk over the marks.

    A number that a consultation cannot have, such as the coverage of no records or the catch of no probe, is 0 with 0 in
    what it is divided by.
    """
    ordered: set[str] = set()
    productive = 0
    gates = dict.fromkeys(("modality", "modality_met", "anatomy", "anatomy_met", "clean", "clean_met"), 0)
    for turn in unit.marks:
        useful = False
        for mark in turn:
            kind, _, rest = mark.partition(":")
            if kind in PRODUCTIVE:
                useful = True
                if kind == "ordered":
                    ordered.add(rest)
            elif kind == "gate":
                _count_gate(gates, *rest.split(":", 1))
        productive += useful
    workup = invalid = 0
    search = False
    for step in unit.trace:
        workup += step.name in WORKUP
        invalid += step.violations > 0
        search = search or (step.name == "search" and not step.violations)
    available = unit.records_available
    return {
        "ordering": len(ordered) / available if available else 0.0,
        "findings": unit.records_received / available if available else 0.0,
        "with_records": int(available > 0), "productive": productive, "workup": workup, "search": int(search),
        "deferred": int(unit.ended == "deferred"), "consultations": 1, "invalid": invalid, "actions": len(unit.trace),
        **gates,
    }  # fmt: skip


def _count_gate(gates: dict[str, int], kind: str, outcome: str = "") -> None:
    """Count a check by its kind once, and whether its verdict had the outcome that counts."""
    if kind in _OUTCOMES and outcome != "located":
        gates[f"{kind}_met"] = 1
        gates[kind] = int(gates[kind] or outcome == _OUTCOMES[kind])


@dataclass(frozen=True, slots=True)
class BehaviourMetric:
    """One number of the behaviour over another; `absent` says why the other may be 0."""

    above: str
    below: str
    higher_is_better: bool
    unit: str = "fraction"
    range: tuple[float, float] = NO_BOUNDS
    absent: str = "no consultation"
    needs: tuple[Axis, ...] = ()
    over_repeats: str = "mean"
    shares: str = "behaviour"

    def case(self, unit: Unit) -> Statistics:
        return behaviour(unit)

    def aggregate(self, sums: Sums) -> np.ndarray:
        return divided(sums[self.above], sums[self.below])


def _metric(
    above: str, below: str, higher_is_better: bool, more: dict[str, Any], options: Options, context: Context
) -> BehaviourMetric:
    return BehaviourMetric(above, below, higher_is_better, **more)


_RECORDS = {"range": (0.0, 1.0), "absent": "no case has test records"}
_COUNT = {"unit": "count", "range": (0.0, math.inf)}

ordering_coverage = partial(_metric, "ordering", "with_records", True, {**_RECORDS, "range": NO_BOUNDS})
findings_coverage = partial(_metric, "findings", "with_records", True, _RECORDS)
productive_actions = partial(_metric, "productive", "consultations", True, _COUNT)
workup_actions = partial(_metric, "workup", "consultations", False, _COUNT)
search_rate = partial(_metric, "search", "consultations", True, {})
deferral_rate = partial(_metric, "deferred", "consultations", False, {})
invalid_rate = partial(_metric, "invalid", "actions", False, {"absent": "no action was taken"})
modality_catch = partial(_metric, "modality", "modality_met", True, {"absent": "no consultation met a modality probe"})
anatomy_catch = partial(_metric, "anatomy", "anatomy_met", True, {"absent": "no consultation met an anatomy probe"})
false_alarm = partial(_metric, "clean", "clean_met", False, {"absent": "no consultation met a check of clean pictures"})
