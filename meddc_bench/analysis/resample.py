"""Resample: draws cases with replacement, the same for all series, and aggregates every draw.

    counts (draws, cases) @ statistics (cases, columns) -> sums (draws, columns) -> aggregate -> values

One matrix product a block of draws; equal columns are multiplied once, and memory grows with the number of estimates
alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from meddc_bench.analysis.series import Aggregate, Array, Series, Weighted, measured_cases
from meddc_bench.errors import PluginError, UsageError

BLOCK_BYTES = 8_000_000
"""About what one block of draws may take."""

EQUAL = 1e-12
"""Two values nearer than this are equal: what is left is rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class Replicates:
    """One series over all draws; NaN where the metric is undefined.

    `value` with every case once, `runs` (runs,) the same for each run, `cases` (cases,) of each case alone and
    `draws` (draws,) of each draw, both over the runs; in the series' unit.
    """

    value: float
    runs: Array
    cases: Array
    draws: Array


@dataclass(frozen=True, slots=True, eq=False)
class CaseValues:
    """The metric of each case alone: `values` (runs, cases), in `unit`, NaN where undefined (the case has nothing)."""

    policy: str
    metric: str
    cases: tuple[str, ...]
    values: Array
    unit: str


def draw_counts(cases: int, draws: int, seed: int, block: int = 1000) -> Iterator[Array]:
    """Draw `cases` cases with replacement, `draws` times; yield how often each was drawn, (up to block, cases).

    The draws are those of PCG64 seeded with `seed`, 32 bits a case, scaled to 0..cases-1 (so that no two cases differ
    in probability by more than 2^-32); they depend on neither the block nor the version of NumPy.

    Raises:
        UsageError: no cases, no draws, more than 2^31 cases, or a seed below 0.

    >>> counts, = draw_counts(4, 2, seed=1)
    >>> counts.tolist()
    [[0.0, 1.0, 1.0, 2.0], [2.0, 0.0, 0.0, 2.0]]
    """
    if not 0 < cases < 2**31 or draws < 1:
        raise UsageError(f"at least one case and one draw are needed, got {cases} and {draws}")
    if seed < 0:
        raise UsageError(f"a seed is a whole number of at least 0, got {seed}")
    bits = np.random.PCG64(seed)
    words = (cases + 1) // 2
    starts = (np.arange(min(block, draws), dtype=np.uint64) * np.uint64(cases) << np.uint64(32))[:, None]
    for start in range(0, draws, block):
        size = min(block, draws - start)
        halves = bits.random_raw(size * words).astype("<u8", copy=False).view("<u4").reshape(size, 2 * words)[:, :cases]
        picked = np.multiply(halves, np.uint64(cases), dtype=np.uint64)
        picked += starts[:size]
        picked >>= np.uint64(32)
        counts = np.bincount(picked.view(np.int64).ravel(), minlength=size * cases)
        yield counts.reshape(size, cases).astype(np.float64)


def replicate(series: Sequence[Series], *, draws: int = 10_000, seed: int = 0) -> tuple[Replicates, ...]:
    """Resample the cases of all series alike and aggregate each series in each draw, run by run, then over the runs.

    Sums over cases are exact: statistics are rounded to multiples of a power of two, 2^-53 of the largest possible
    sum, so the order of cases, the number of threads and the other series cannot change a bit.

    Raises:
        UsageError: no series, series on different cases, an unmeasured cell.
        PluginError: a metric's `aggregate` gave another shape or no real numbers.

    >>> def mean(sums): return sums["sum"] / sums["n"]
    >>> one = Series("a", "E", ("c1", "c2"), {"sum": [[0.25, 0.75]], "n": [[1, 1]]}, mean)
    >>> found, = replicate([one], draws=4, seed=1)
    >>> found.value, found.cases.tolist(), found.draws.tolist()
    (0.5, [0.25, 0.75], [0.5, 0.75, 0.25, 0.75])
    """
    cases = len(measured_cases(series))
    columns = _Columns(series)
    block = max(1, BLOCK_BYTES // (32 * (cases + len(columns.rows))))
    return columns.replicated(draw_counts(cases, draws, seed, block), draws)


def replicate_given(series: Sequence[Series], counts: Array) -> tuple[Replicates, ...]:
    """Do as `replicate` with draws of one's own: `counts` (draws, cases), cases in the order of their ids.

    Raises:
        UsageError, PluginError: as `replicate`; counts of another width.
    """
    cases = measured_cases(series)
    given = np.asarray(counts, dtype=np.float64)
    if given.ndim != 2 or given.shape[1] != len(cases):
        raise UsageError(f"counts must be (draws, {len(cases)} cases), got {given.shape}")
    return _Columns(series).replicated([given], len(given))


def case_values(series: Series) -> CaseValues:
    """Aggregate each case alone: (runs, cases).

    Raises:
        UsageError, PluginError: as `replicate`.

    >>> def mean(sums): return sums["sum"] / sums["n"]
    >>> case_values(Series("a", "E", ("c1", "c2"), {"sum": [[0.2, 0.8]], "n": [[1, 1]]}, mean)).values.tolist()
    [[0.2, 0.8]]
    """
    cases = measured_cases([series])
    values = _aggregated(series.metric, series.aggregate, {name: array[:] for name, array in series.arrays.items()})
    return CaseValues(series.policy, series.metric, cases, values, series.unit)


@dataclass(frozen=True, slots=True, eq=False)
class _Term:
    """A metric aggregated in one call: for each statistic the rows (series, runs) it is in."""

    metric: str
    aggregate: Aggregate
    rows: Mapping[str, NDArray[np.intp]]

    @property
    def key(self) -> object:
        """What equal terms, which are computed once, have in common."""
        return (_identity(self.aggregate), *((name, rows.shape, rows.tobytes()) for name, rows in self.rows.items()))

    def values(self, sums: Array) -> Array:
        """Aggregate sums (rows, any) into values (series, runs, any)."""
        return _aggregated(self.metric, self.aggregate, {name: _rows(sums, rows) for name, rows in self.rows.items()})


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    """Series of one kind: their places in the result, and the terms, by number, that they are or are weighed from."""

    places: tuple[int, ...]
    over_repeats: str
    weighted: Weighted | None
    terms: tuple[int, ...]

    def values(self, terms: Sequence[Array]) -> Array:
        """Take or weigh the terms: values (series, runs, any)."""
        mine = [terms[number] for number in self.terms]
        return mine[0] if self.weighted is None else self.weighted.added(mine)

    def over_runs(self, values: Array) -> Array:
        """Make of values (series, runs, any) one (series, any)."""
        total = values.sum(axis=1)
        return np.asarray(total if self.over_repeats == "sum" else total / values.shape[1])


class _Columns:
    """The statistics of all series as rows (columns of the product), each different one once, and what is made of them."""

    def __init__(self, series: Sequence[Series]) -> None:
        self.total = len(series)
        self._known: dict[bytes, int] = {}
        self._found: list[Array] = []
        terms: dict[object, tuple[int, _Term]] = {}
        self.groups: list[_Group] = []
        for places in _alike(series):
            members = [series[place] for place in places]
            rows = {name: self._rows([one.arrays[name] for one in members]) for name in members[0].arrays}
            numbers = []
            for term in _terms(members[0], rows):
                numbers.append(terms.setdefault(term.key, (len(terms), term))[0])
            how = members[0].aggregate
            weigher = how if isinstance(how, Weighted) else None
            self.groups.append(_Group(tuple(places), members[0].over_repeats, weigher, tuple(numbers)))
        self.terms = [term for _, term in terms.values()]
        self.rows = np.stack(self._found)

    def _rows(self, arrays: Sequence[Array]) -> NDArray[np.intp]:
        """Return the numbers of the rows (series, runs) that hold these statistics, adding those that are new."""
        numbers = []
        for row in exactly_summable(np.concatenate(arrays)):
            numbers.append(self._known.setdefault(row.tobytes(), len(self._found)))
            if numbers[-1] == len(self._found):
                self._found.append(row)
        return np.array(numbers, dtype=np.intp).reshape(len(arrays), -1)

    def replicated(self, blocks: Iterable[Array], draws: int) -> tuple[Replicates, ...]:
        """Aggregate all draws, the whole and each case."""
        over = np.empty((self.total, draws))
        done, sums = 0, np.empty((len(self.rows), 0))
        for counts in blocks:
            size = len(counts)
            if sums.shape[1] != size:  # the same memory for all blocks: fresh memory takes longer than the product
                sums = np.empty((len(self.rows), size))
            for group, values in self._values(np.matmul(self.rows, counts.T, out=sums)):
                over[list(group.places), done : done + size] = group.over_runs(values)
            done += size
        found: dict[int, Replicates] = {}
        whole = self._values(self.rows.sum(axis=1, keepdims=True))
        for (group, runs), (_, alone) in zip(whole, self._values(self.rows), strict=True):
            value, cases = group.over_runs(runs), group.over_runs(alone)
            for at, place in enumerate(group.places):
                found[place] = Replicates(float(value[at, 0]), runs[at, :, 0].copy(), cases[at], over[place])
        return tuple(found[place] for place in range(self.total))

    def _values(self, sums: Array) -> Iterator[tuple[_Group, Array]]:
        terms = [term.values(sums) for term in self.terms]
        for group in self.groups:
            yield group, group.values(terms)


def _alike(series: Sequence[Series]) -> list[list[int]]:
    """Put together the places of the series that can be aggregated in one call."""
    found: dict[tuple[object, ...], list[int]] = {}
    for place, one in enumerate(series):
        key = (one.metric, _identity(one.aggregate), tuple(one.arrays), one.runs, one.over_repeats)
        found.setdefault(key, []).append(place)
    return list(found.values())


def _identity(aggregate: Aggregate) -> object:
    """Return what equal ways of aggregating have in common."""
    try:
        hash(aggregate)
    except TypeError:
        return id(aggregate)
    return aggregate


def _terms(series: Series, rows: Mapping[str, NDArray[np.intp]]) -> list[_Term]:
    how = series.aggregate
    if not isinstance(how, Weighted):
        return [_Term(series.metric, how, rows)]
    return [
        _Term(part.metric, part.aggregate, {name: rows[f"{part.metric}.{name}"] for name in part.names})
        for part in how.parts
    ]


def _aggregated(metric: str, aggregate: Aggregate, sums: Mapping[str, Array]) -> Array:
    """Aggregate sums into values of their shape, and check that the metric did."""
    for array in sums.values():
        array.flags.writeable = False
    shape = next(iter(sums.values())).shape
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.asarray(aggregate(sums))
    if found.shape != shape or not np.issubdtype(found.dtype, np.floating):
        raise PluginError(metric, f"aggregate gave {found.dtype} of shape {found.shape}, expected reals {shape}")
    return found.astype(np.float64, copy=False)


def _rows(sums: Array, index: NDArray[np.intp]) -> Array:
    """Take rows (series, runs, any): a view where they follow each other or are all one row."""
    first, flat = int(index[0, 0]), index.ravel()
    if (flat == first).all():
        return np.broadcast_to(sums[first], (*index.shape, sums.shape[1])).view()
    if (flat == np.arange(first, first + flat.size)).all():
        return sums[first : first + flat.size].reshape(*index.shape, -1)
    return sums[index]


def exactly_summable(rows: Array) -> Array:
    """Round each row to multiples of a power of two: so fine that it is rounding, so coarse that all sums are exact.

    >>> exactly_summable(np.array([[1.0, 2.0, 3.0]])).tolist()
    [[1.0, 2.0, 3.0]]
    >>> abs(float(exactly_summable(np.array([[0.1]]))[0, 0]) - 0.1) < 1e-15
    True
    """
    _, exponents = np.frexp(np.abs(rows).max(axis=1, keepdims=True) * rows.shape[1])
    step = np.ldexp(1.0, np.maximum(exponents - 53, -1000))
    return np.asarray(np.rint(rows / step) * step + 0.0)
