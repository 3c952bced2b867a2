"""Series: one policy's additive statistics of one metric, by run and case; what everything resampled by case takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from meddc_bench.errors import UsageError

Array = NDArray[np.float64]
Sums = Mapping[str, Array]
Aggregate = Callable[[Sums], Array]


@dataclass(frozen=True, slots=True)
class Part:
    """A metric in a weighted sum: its statistics are named "metric.name" there."""

    metric: str
    names: tuple[str, ...]
    weight: float
    aggregate: Aggregate

    def of(self, sums: Sums) -> dict[str, Array]:
        """Pick the part's own sums, under their own names."""
        return {name: sums[f"{self.metric}.{name}"] for name in self.names}


@dataclass(frozen=True, slots=True)
class Weighted:
    """Aggregates each part from its own sums and adds the values, weighted; equal for equal parts."""

    parts: tuple[Part, ...]

    def __call__(self, sums: Sums) -> Array:
        return self.added([np.asarray(part.aggregate(part.of(sums))) for part in self.parts])

    def added(self, values: Sequence[Array]) -> Array:
        """Add the values of the parts, in their order, weighted."""
        total = self.parts[0].weight * values[0]
        for part, value in zip(self.parts[1:], values[1:], strict=True):
            total += part.weight * value
        return total


SHOWN = 20
"""Case ids an error lists before it says how many more there are."""


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """The additive statistics of one policy on one metric.

    Args:
        cases: ids of the cases, one a column, in any order; they are put in the order of their ids.
        statistics: arrays (runs, cases) by name, as the metric's `case` gives them. A case the metric leaves out
            (`case` gave None, e.g. no reference on the axis) holds 0 everywhere, for it adds nothing to the sums; a
            case that was not measured holds NaN and is refused by whatever resamples (see `complete`).
        aggregate: the metric's own: arrays of sums, of any one shape, to an array of values of that shape. The arrays
            it is given are read-only.
        reader: who read the histories; None for a metric that has no reader (T, E).
        unit: what the values are; "proportion" is 0 to 1.
        over_repeats: how values of runs become one value.

    Raises:
        UsageError: no statistic, a shape that is not (runs, cases), a case id twice, an infinite number.

    >>> def mean(sums): return sums["sum"] / sums["n"]
    >>> one = Series("checklist", "E", ("b", "a"), {"sum": [[0.2, 0.8]], "n": [[1, 1]]}, mean)
    >>> one.cases, one.statistics["sum"].tolist(), one.runs
    (('a', 'b'), [[0.8, 0.2]], 1)
    """

    policy: str
    metric: str
    cases: Sequence[str]
    statistics: Mapping[str, ArrayLike]
    aggregate: Aggregate
    reader: str | None = None
    unit: str = "proportion"
    over_repeats: Literal["mean", "sum"] = "mean"

    def __post_init__(self) -> None:
        cases = tuple(self.cases)
        if len(set(cases)) != len(cases):
            twice = sorted({one for one in cases if cases.count(one) > 1})
            raise UsageError(f"{self}: case ids must be unique; twice: {shown(twice)}")
        order = sorted(range(len(cases)), key=cases.__getitem__)
        arrays = {name: self._checked(name, given)[:, order] for name, given in sorted(self.statistics.items())}
        if not arrays:
            raise UsageError(f"{self}: no statistic given; give what the metric's `case` returns, by name")
        if len({array.shape for array in arrays.values()}) != 1:
            shapes = {name: array.shape for name, array in arrays.items()}
            raise UsageError(f"{self}: all statistics must have one shape (runs, cases), got {shapes}")
        object.__setattr__(self, "cases", tuple(cases[index] for index in order))
        object.__setattr__(self, "statistics", arrays)

    def __str__(self) -> str:
        return f"{self.metric} of {self.policy}" + (f" read by {self.reader}" if self.reader is not None else "")

    def _checked(self, name: str, given: ArrayLike) -> Array:
        array = np.asarray(given, dtype=np.float64)
        if array.ndim != 2 or array.shape[0] < 1 or array.shape[1] != len(self.cases):
            raise UsageError(f"{self}: {name} must be (runs, {len(self.cases)} cases), got {array.shape}")
        if np.isinf(array).any():
            raise UsageError(f"{self}: {name} holds an infinite number")
        return array

    @property
    def arrays(self) -> Mapping[str, Array]:
        """The statistics as the arrays they are after the check."""
        return self.statistics  # type: ignore[return-value]

    @property
    def runs(self) -> int:
        """How many runs (repeats) there are."""
        return int(next(iter(self.arrays.values())).shape[0])

    @property
    def unmeasured(self) -> NDArray[np.bool_]:
        """Which cells (runs, cases) hold NaN in any statistic."""
        return np.asarray(np.isnan(np.stack(list(self.arrays.values()))).any(axis=0))


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A case that is in no estimate, and why."""

    case: str
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Complete:
    """Series cut to the cases that all of them measured in every run; `left_out` names the others."""

    series: tuple[Series, ...]
    cases: tuple[str, ...]
    left_out: tuple[LeftOut, ...]


def complete(series: Sequence[Series]) -> Complete:
    """Keep the cases measured in every run of every series, so that all estimates rest on the same cases.

    The denominator is then the number of common cases, for every policy alike; say so where the estimates are shown.

    Raises:
        UsageError: no series, or series on different cases.

    >>> def mean(sums): return sums["sum"] / sums["n"]
    >>> nan = float("nan")
    >>> one = Series("a", "E", ("c1", "c2"), {"sum": [[0.2, nan]], "n": [[1, nan]]}, mean)
    >>> found = complete([one])
    >>> found.cases, found.left_out
    (('c1',), (LeftOut(case='c2', reason='not measured: E of a'),))
    """
    cases = same_cases(series)
    missing = np.stack([one.unmeasured.any(axis=0) for one in series])
    kept = np.flatnonzero(~missing.any(axis=0))
    gone = [
        LeftOut(case, "not measured: " + "; ".join(str(one) for one, hole in zip(series, holes, strict=True) if hole))
        for case, holes in zip(cases, missing.T, strict=True)
        if holes.any()
    ]
    names = tuple(cases[index] for index in kept)
    cut = tuple(
        replace(one, cases=names, statistics={name: array[:, kept] for name, array in one.arrays.items()})
        for one in series
    )
    return Complete(cut, names, tuple(gone))


def same_cases(series: Sequence[Series]) -> tuple[str, ...]:
    """Return the ids of the cases all series have in common, in order.

    Raises:
        UsageError: no series, no case, or different cases, with the list of those that not all have.
    """
    if not series:
        raise UsageError("no series given: there is nothing to compute from")
    every = set(series[0].cases).intersection(*(one.cases for one in series))
    some = set().union(*(one.cases for one in series))
    if every != some:
        raise UsageError(
            f"the series are not on the same cases, so they cannot be paired; {len(some - every)} of {len(some)} are "
            f"not in all: {shown(sorted(some - every))}"
        )
    if not some:
        raise UsageError("the series have no case")
    return tuple(series[0].cases)


def measured_cases(series: Sequence[Series]) -> tuple[str, ...]:
    """Return the ids of the cases, which all series must have measured in every run.

    Raises:
        UsageError: as `same_cases`, or an unmeasured cell.
    """
    cases = same_cases(series)
    for one in series:
        holes = one.unmeasured
        if holes.any():
            where = shown([cases[index] for index in np.flatnonzero(holes.any(axis=0))])
            raise UsageError(
                f"{one}: {int(holes.sum())} of {holes.size} cells were not measured (cases {where}); a missing cell is "
                f"no 0: measure them, or use the cases common to all (`complete`)"
            )
    return cases


def shown(names: Sequence[str]) -> str:
    """List names, at most twenty.

    >>> shown(["a", "b"])
    'a, b'
    """
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more} more" if more > 0 else "")
