"""Metrics that are good but for one thing: each is named after the property it breaks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from meddc_bench import Context, Options, Unit, hookimpl
from meddc_bench.contracts import Register, Sums

MEDDC_BENCH_API = 1


class Good:
    """Rounds over budget."""

    unit = "fraction"
    range: Any = (0.0, 1.0)
    higher_is_better = True
    needs = ()
    over_repeats = "mean"

    def __init__(self, options: Options, context: Context):
        self.context = context

    def case(self, unit: Unit) -> Mapping[str, Any] | None:
        return {"used": float(min(unit.rounds, unit.budget)), "allowed": float(unit.budget)}

    def aggregate(self, sums: Sums) -> Any:
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(sums["used"] / sums["allowed"])


class BadBuilds(Good):
    case: Any = None


class AnyOptions(Options, extra="allow"):
    """Takes whatever it is given."""


class BadSecrets(Good):
    def __init__(self, options: Options, context: Context):
        self.key = context.secret("BAD_PLUGIN_KEY").get_secret_value()

    def __repr__(self) -> str:
        return f"BadSecrets({self.key})"


class BadAttributes(Good):
    over_repeats = "average"


class BadStatistics(Good):
    def case(self, unit: Unit) -> Mapping[str, Any] | None:
        return {"used": float(unit.rounds), "allowed": float(unit.budget)} if unit.rounds > 3 else {"used": 0.0}


class BadState(Good):
    seen = 0

    def case(self, unit: Unit) -> Mapping[str, Any] | None:
        self.seen += 1
        return {"used": 0.0, "allowed": float(self.seen)}


class BadShapes(Good):
    def aggregate(self, sums: Sums) -> Any:
        return np.ravel(super().aggregate(sums))


class BadAdditivity(Good):
    def aggregate(self, sums: Sums) -> Any:
        value = super().aggregate(sums)
        return np.where(np.isnan(value), value, value / np.max(np.nan_to_num(value), initial=0.01))


class BadRange(Good):
    range = (0.0, 0.2)


class BadUndefined(Good):
    def aggregate(self, sums: Sums) -> Any:
        return np.asarray(sums["used"] / sums["allowed"])


class BadBlindness(Good):
    def case(self, unit: Unit) -> Mapping[str, Any] | None:
        left = [name for one in unit.assignments.values() for name in one.unmatched_references]
        return {"used": float(sum(name.startswith("g") for name in left)), "allowed": 1.0 + len(left)}


@hookimpl
def register_metrics(register: Register) -> None:
    made = {
        "builds": BadBuilds, "options": Good, "secrets": BadSecrets, "attributes": BadAttributes,
        "statistics": BadStatistics, "state": BadState, "shapes": BadShapes, "additivity": BadAdditivity,
        "range": BadRange, "undefined": BadUndefined, "blindness": BadBlindness,
    }  # fmt: skip
    for name, factory in made.items():
        register(f"bad-{name}", factory, AnyOptions if name == "options" else Options)
    register("good", Good)
