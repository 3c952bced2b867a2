"""Properties of metrics: additive statistics, and an aggregate that is the same for one case, a run and all resamples."""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Iterable, Mapping
from typing import Any, get_args

import msgspec
import numpy as np

from meddc_bench.contracts import Unit
from meddc_bench.records import Assignment, Axis, Edge, Pair, TraceStep
from meddc_bench.testing.building import common
from meddc_bench.testing.properties import Breach, Property, described, same
from meddc_bench.testing.subject import Subject

AXES: tuple[Axis, ...] = get_args(Axis)
_SLACK = 1e-9


def units(count: int = 60) -> tuple[Unit, ...]:
    """Make units of all sorts: all axes and none, matches and failures, graded pairs, workups; the same every time."""
    draw = random.Random(7)
    return tuple(_unit(draw, number) for number in range(count))


def _unit(draw: random.Random, number: int) -> Unit:
    budget, rounds = 10, draw.randint(1, 10)
    summary = draw.choice([None, rounds])
    found: dict[Axis, Assignment] = {axis: _assignment(draw, axis, rounds) for axis in AXES if draw.random() < 0.8}
    failed = number % 11 == 0
    trace = tuple(TraceStep(at, "ask", "text", draw.randint(0, 1)) for at in range(1, rounds + 1))
    available = draw.choice([0, 3])
    received = draw.randint(0, available)
    marks = tuple((f"record:p{at}", f"gate:{draw.choice(_GATES)}") for at in range(received))
    return Unit(
        found, "failed" if failed else draw.choice(["diagnosed", "budget", "deferred"]), rounds, summary, budget, trace,
        failed, available, received, marks,
    )  # fmt: skip


_GATES = ("modality:caught", "modality:missed", "anatomy:caught", "clean:false_alarm")


def _assignment(draw: random.Random, axis: Axis, rounds: int) -> Assignment:
    tp, fp, fn = draw.randint(0, 3), draw.randint(0, 4), draw.randint(0, 3)
    level: Any = draw.choice([None, "full", "core", "partial"]) if axis == "diagnosis" else None
    pairs = tuple(
        Pair(
            prediction=f"p{at}", reference=f"g{at}", level=level,
            round=draw.randint(1, rounds) if axis == "trajectory" else None,
        )
        for at in range(tp)
    )  # fmt: skip
    edge = Edge(prediction="p9", reference="g9", quote="原话", reason="理由", excluded="unknown prediction id")
    return Assignment(
        axis=axis, pairs=pairs, tp=tp, fp=fp, fn=fn, excluded=(edge,),
        unmatched_predictions=tuple(f"p{at}" for at in range(tp, tp + fp)),
        unmatched_references=tuple(f"g{at}" for at in range(tp, tp + fn)), volunteered=("g8",) if fn else (),
    )  # fmt: skip


_EXTREME = (
    Unit({}, "failed", 0, None, 1, policy_failed=True),
    Unit({axis: Assignment(axis=axis) for axis in AXES}, "budget", 0, None, 1),
    Unit({axis: Assignment(axis=axis, fn=10**6) for axis in AXES}, "failed", 50, None, 50, policy_failed=True),
    Unit({axis: Assignment(axis=axis, fp=10**6) for axis in AXES}, "diagnosed", 1, 1, 50),
)


def _case(metric: Any, unit: Unit) -> Mapping[str, float] | None:
    try:
        found: Mapping[str, float] | None = metric.case(unit)
    except Exception as error:
        raise Breach(f"case() raised {described(error)} on a unit with {_shown(unit)}") from error
    return found


def _shown(unit: Unit) -> str:
    counts = ", ".join(f"{axis} {one.tp}/{one.fp}/{one.fn}" for axis, one in unit.assignments.items())
    return f"{unit.ended}, {unit.rounds} rounds, TP/FP/FN: {counts or 'no axis'}"


def _statistics(metric: Any) -> list[Mapping[str, float]]:
    return [found for unit in (*units(), *_EXTREME) if (found := _case(metric, unit)) is not None]


def _sums(found: Iterable[Mapping[str, float]]) -> dict[str, float]:
    rows = list(found)
    return {name: math.fsum(row[name] for row in rows) for name in rows[0]}


def _aggregate(metric: Any, sums: Mapping[str, Any]) -> np.ndarray:
    arrays = {name: np.asarray(value, dtype=float) for name, value in sums.items()}
    before = {name: array.copy() for name, array in arrays.items()}
    try:
        with warnings.catch_warnings(), np.errstate(all="warn"):
            warnings.simplefilter("error")
            value = np.asarray(metric.aggregate(arrays))
    except Exception as error:
        raise Breach(f"aggregate() raised {described(error)}") from error
    if any(not np.array_equal(before[name], arrays[name], equal_nan=True) for name in arrays):
        raise Breach("aggregate() changed the sums it was given")
    return value


def attributes(subject: Subject) -> None:
    """Look at what a metric says of itself."""
    metric = subject.adapter().get()
    names = ("unit", "range", "higher_is_better", "needs", "over_repeats")
    if missing := [name for name in names if not hasattr(metric, name)]:
        raise Breach(f"it has no attribute {', '.join(missing)}")
    low, high = metric.range
    if not low < high:
        raise Breach(f"range is {metric.range!r}, whose first number is not below the second")
    if not isinstance(metric.unit, str) or not metric.unit:
        raise Breach(f"unit is {metric.unit!r} in place of a word")
    if not isinstance(metric.higher_is_better, bool):
        raise Breach(f"higher_is_better is {metric.higher_is_better!r} in place of True or False")
    if strange := [axis for axis in metric.needs if axis not in AXES]:
        raise Breach(f"needs names {strange}; the axes are {', '.join(AXES)}")
    if metric.over_repeats not in ("mean", "sum"):
        raise Breach(f"over_repeats is {metric.over_repeats!r} in place of 'mean' or 'sum'")


def statistics(subject: Subject) -> None:
    """Take the statistics of many units: finite numbers under the same names, or None."""
    metric = subject.adapter().get()
    found = _statistics(metric)
    if not found:
        raise Breach("case() gave None for every unit, also for those with all axes")
    for one in found:
        if not isinstance(one, Mapping) or set(one) != set(found[0]):
            raise Breach(f"case() gave {one!r} beside {found[0]!r}: the names must always be the same")
        for name, value in one.items():
            if isinstance(value, bool | str) or not math.isfinite(value):
                raise Breach(f"case() gave {name} = {value!r}, which cannot be added over cases")
    if hasattr(metric, "join") and set(metric.join([found[0], found[-1]])) != set(found[0]):
        raise Breach("join() makes of two repeats a mapping with other names than those of case()")


def state(subject: Subject) -> None:
    """Take the statistics of the same units in two orders, with one metric."""
    metric = subject.adapter().get()
    every = units()
    first = [_case(metric, unit) for unit in every]
    backwards = [_case(metric, unit) for unit in reversed(every)][::-1]
    same(backwards, first, "the statistics of a unit, in another order of cases")


def shapes(subject: Subject) -> None:
    """Aggregate sums of shape (), (n,) and (n, m): the value has the same shape and is a float."""
    metric = subject.adapter().get()
    found = _statistics(metric)
    for shape in ((), (6,), (2, 3)):
        sums = {name: np.resize([row[name] for row in found[:6]], shape) for name in found[0]}
        value = _aggregate(metric, sums)
        if value.shape != shape:
            raise Breach(f"of sums of shape {shape} aggregate() made {value.shape}")
        if not np.issubdtype(value.dtype, np.floating):
            raise Breach(f"aggregate() gave {value.dtype} in place of floats")


def additivity(subject: Subject) -> None:
    """Aggregate many rows at once and one at a time: each value comes from its own sums alone."""
    metric = subject.adapter().get()
    found = _statistics(metric)
    groups = [_sums(found[at::7]) for at in range(7)]
    together = _aggregate(metric, {name: [one[name] for one in groups] for name in groups[0]})
    for number, one in enumerate(groups):
        alone = float(_aggregate(metric, {name: [value] for name, value in one.items()})[0])
        if not math.isclose(alone, together[number], rel_tol=1e-12, abs_tol=1e-15) and not (
            math.isnan(alone) and math.isnan(together[number])
        ):
            raise Breach(f"row {number} has the value {together[number]:g} among others and {alone:g} alone")


def value_range(subject: Subject) -> None:
    """Aggregate every unit and random groups of them: each value is within the range, or NaN."""
    metric = subject.adapter().get()
    found, draw = _statistics(metric), random.Random(3)
    low, high = metric.range
    for _ in range(200):
        group = _sums(draw.choices(found, k=draw.randint(1, 5)))
        value = float(_aggregate(metric, {name: [one] for name, one in group.items()})[0])
        if not math.isnan(value) and not low - _SLACK <= value <= high + _SLACK:
            raise Breach(f"the value {value:g} of the sums {group} is outside the range {metric.range}")


def undefined(subject: Subject) -> None:
    """Aggregate sums that are all 0: NaN or a value of the range, without an error or a warning."""
    metric = subject.adapter().get()
    names = _statistics(metric)[0]
    value = float(_aggregate(metric, {name: [0.0] for name in names})[0])
    low, high = metric.range
    if math.isinf(value) or not (math.isnan(value) or low - _SLACK <= value <= high + _SLACK):
        raise Breach(f"of nothing it makes {value:g}, which is neither NaN nor in its range {metric.range}")


def blindness(subject: Subject) -> None:
    """Give other ids, quotes and reasons to all that was matched: nothing changes."""
    metric = subject.adapter().get()
    for unit in units():
        same(_case(metric, _renamed(unit)), _case(metric, unit), "the statistics of a unit whose ids and words changed")


def _renamed(unit: Unit) -> Unit:
    found = {axis: _other_words(one) for axis, one in unit.assignments.items()}
    return msgspec.structs.replace(unit, assignments=found)


def _other_words(one: Assignment) -> Assignment:
    pairs = tuple(
        msgspec.structs.replace(pair, prediction=f"x{pair.prediction}", reference=f"y{pair.reference}")
        for pair in one.pairs
    )
    edges = tuple(
        msgspec.structs.replace(
            edge, prediction=f"x{edge.prediction}", reference=f"y{edge.reference}", quote="别的话", reason="别的"
        )
        for edge in one.excluded
    )
    return msgspec.structs.replace(
        one, pairs=pairs, excluded=edges,
        unmatched_predictions=tuple(f"x{name}" for name in one.unmatched_predictions),
        unmatched_references=tuple(f"y{name}" for name in one.unmatched_references),
        volunteered=tuple(f"y{name}" for name in one.volunteered),
    )  # fmt: skip


async def use(subject: Subject, metric: Any, out: list[Any]) -> None:
    """Take statistics and a value; add them."""
    found = [one for unit in units(5) if (one := metric.case(unit)) is not None]
    out.extend([*found, metric.aggregate({name: np.array([value]) for name, value in found[0].items()})])


def properties() -> tuple[Property, ...]:
    """Return the properties of a metric."""
    needs = ("statistics",)
    return (
        *common(("case", "aggregate"), use),
        Property(
            "attributes",
            "unit, range, higher_is_better, needs and over_repeats are there and make sense",
            "give them as attributes or properties of the metric; see docs/plugins/metric.md",
            attributes,
            ("builds",),
        ),
        Property(
            "statistics",
            "case() gives finite numbers under the same names for every unit, or None",
            "return None where the unit lacks an axis; give every statistic, 0 included, in every mapping",
            statistics,
            ("attributes",),
        ),
        Property(
            "state",
            "the statistics of a unit do not depend on the units before it",
            "keep nothing on the metric: what is added up is for the program to add",
            state,
            needs,
        ),
        Property(
            "shapes",
            "aggregate() keeps the shape of the sums: (), (n,) and (n, m), as floats",
            "use element-wise numpy operations; no float(), no sum() over the array, no reshape",
            shapes,
            needs,
        ),
        Property(
            "additivity",
            "aggregate() makes each value of its own sums alone",
            "do not normalise or average over the array: each of its elements is another run or resample",
            additivity,
            ("shapes",),
        ),
        Property(
            "range",
            "every value lies in the metric's range, or is NaN",
            "correct the range, or the formula",
            value_range,
            ("shapes",),
        ),
        Property(
            "undefined",
            "of sums that are all 0 the value is NaN or in the range, without an error or a warning",
            "divide with numpy.divide(..., where=...) or under numpy.errstate(invalid='ignore', divide='ignore')",
            undefined,
            ("shapes",),
        ),
        Property(
            "blindness",
            "ids, quotes and reasons change nothing: a metric sees numbers, not words",
            "use the counts, pairs' rounds and levels, and the trace",
            blindness,
            ("state",),
        ),
    )
