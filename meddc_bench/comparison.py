"""Comparison of two sides, policy by policy, paired by case: two runs, two policies of one run, or two published rows.

Side ──> compare_sides ──> Compared: the differences of each metric, corrected over the pairs, and the cases they need
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from meddc_bench.analysis.bootstrap import Difference, Estimate, bootstrap
from meddc_bench.analysis.multiplicity import Corrected, holm_differences
from meddc_bench.analysis.power import Power, cases_needed, sd_of_error
from meddc_bench.analysis.resample import replicate
from meddc_bench.analysis.series import LeftOut, Series, complete
from meddc_bench.errors import UsageError, suggest
from meddc_bench.headline import headline
from meddc_bench.publish.checks import Checker, Refused
from meddc_bench.publish.files import load_row
from meddc_bench.publish.row import series_of
from meddc_bench.records import DIMENSIONS
from meddc_bench.registry import Registry
from meddc_bench.results import build_metrics
from meddc_bench.stored import StoredRun, differing


@dataclass(frozen=True, slots=True)
class Place:
    """Which scores of a side: task, metric, patient, reader (None for a metric that has none) and judge."""

    task: str
    metric: str
    patient: str
    condition: str | None
    judge: str
    ask: int = 0

    def __str__(self) -> str:
        return " / ".join(one for one in (self.task, self.metric, self.condition) if one is not None)


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One metric of one policy of a side, case by case; `series` is None, with the reason, where no case has it.

    `parts` are those of the fingerprint; `holes` gives for each case with an unmeasured unit the reasons.
    """

    policy: str
    place: Place
    series: Series | None
    parts: Mapping[str, Any]
    unit: str = "proportion"
    reason: str | None = None
    holes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One side of a comparison: its name, and its columns."""

    name: str
    columns: Sequence[Column]

    @property
    def policies(self) -> tuple[str, ...]:
        """The policies, in the order of the columns."""
        return tuple(dict.fromkeys(column.policy for column in self.columns))


@dataclass(frozen=True, slots=True)
class Versus:
    """One pair on one metric: first minus second, with what is needed to see a difference of that size.

    `corrected` is Holm's correction over the pairs of the metric; `needed` the cases for a power of 0.8.
    """

    first: Estimate
    second: Estimate
    difference: Difference
    corrected: Corrected
    needed: Power | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Uncompared:
    """A pair that a metric cannot compare, and why."""

    first: str
    second: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One metric in one place: its pairs, on the cases that all of them measured."""

    place: Place
    unit: str
    pairs: tuple[Versus, ...] = ()
    uncompared: tuple[Uncompared, ...] = ()
    cases: int = 0
    expected: int = 0
    left_out: tuple[LeftOut, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether a case was left out or a pair could not be compared."""
        return bool(self.left_out or self.uncompared)


@dataclass(frozen=True, slots=True)
class Comparison:
    """All metrics of a comparison; `only` names what one side alone has."""

    first: str
    second: str
    pairs: tuple[tuple[str, str], ...]
    metrics: tuple[Compared, ...]
    only: tuple[str, ...] = ()


def side_of(
    run: StoredRun, name: str, *, tasks: Iterable[str] | None = None, metrics: Sequence[str] | None = None
) -> Side:  # fmt: skip
    """Take the columns of a stored run, of all tasks and of their headline metrics unless others are named.

    Raises:
        UsageError: a task or metric that the run does not have.
    """
    named = {bench.task.name: bench for bench in run.benches}
    unknown = [one for one in tasks or () if one not in named]
    if unknown:
        raise UsageError(f"{run.folder} has no task {unknown[0]!r}; {suggest(unknown[0], named)}")
    found: list[Column] = []
    for bench in [named[one] for one in tasks] if tasks else run.benches:
        built = build_metrics(bench, run.registry)
        missing = [one for one in metrics or () if one not in built]
        if missing:
            raise UsageError(f"{bench.task.name} has no metric {missing[0]!r}; {suggest(missing[0], built)}")
        wanted = list(metrics or headline(built))
        planned = {one for one in wanted if set(built[one][1].needs) & set(DIMENSIONS)}
        seen: set[tuple[str, Place]] = set()
        for one in run.columns(bench, wanted):
            row = one.row
            if one.metric in planned and row.condition.label != "emitted":
                continue
            read = "reader" in one.fingerprint["parts"]
            place = Place(
                one.task, one.metric, row.patient.label, row.condition.label if read else None, row.judge.label, row.ask
            )
            if (row.policy.label, place) not in seen:  # what no reader touches is there under each
                seen.add((row.policy.label, place))
                unit = "proportion" if one.unit == "fraction" else one.unit
                found.append(
                    Column(row.policy.label, place, one.series, one.fingerprint["parts"], unit, one.reason, one.holes)
                )
    return Side(name, found)


def side_of_row(path: Path, name: str, *, metrics: Sequence[str] | None = None) -> Side:
    """Take the columns of a published row: the headline metrics unless others are named.

    Raises:
        InputError: the file is no row.
        Refused: the row does not hold: its numbers are not those of its counts, it is of a partial run …
        UsageError: the row is of a private task, or a metric is not installed here.
    """
    row = load_row(path)
    registry = Registry.load()
    wrong = Checker(registry).faults(row)
    if wrong:
        raise Refused(path, wrong)
    unknown = [one for one in metrics or () if one not in row.scores]
    if unknown:
        raise UsageError(f"{path} has no metric {unknown[0]!r}; {suggest(unknown[0], row.scores)}")
    found: list[Column] = []
    for series in series_of(row, registry):
        if series.metric in (metrics or headline(row.scores)):
            parts = {part: row.parts[one] for part, one in row.fingerprints[series.metric].parts.items()}
            place = Place(
                row.task.name, series.metric, row.instrument.patient.name, series.reader, row.instrument.judge.name
            )
            found.append(Column(row.policy.label, place, series, parts, series.unit))
    return Side(name, found)


def pair_up(first: Side, second: Side, given: Sequence[tuple[str, str]] = ()) -> tuple[tuple[str, str], ...]:
    """Say which policy of one side is compared with which of the other.

    Without pairs given: within one side all pairs; of two sides the policies with the same label, or the only ones.

    Raises:
        UsageError: an unknown policy, or no way to tell.
    """
    for one, side in [(pair[at], side) for pair in given for at, side in ((0, first), (1, second))]:
        if one not in side.policies:
            raise UsageError(f"{side.name} has no policy {one!r}; {suggest(one, side.policies)}")
    if given:
        twice = [pair for pair in given if list(given).count(pair) > 1 or (first is second and pair[0] == pair[1])]
        if twice:
            raise UsageError(f"compared with itself or named twice: {twice[0][0]} and {twice[0][1]}")
        return tuple(given)
    if first is second:
        names = first.policies
        pairs = tuple((one, other) for at, one in enumerate(names) for other in names[at + 1 :])
        if not pairs:
            raise UsageError(f"{first.name} has one policy, {', '.join(names)}: give another run to compare it with")
        return pairs
    same = [one for one in first.policies if one in second.policies]
    if same:
        return tuple((one, one) for one in same)
    if len(first.policies) == len(second.policies) == 1:
        return ((first.policies[0], second.policies[0]),)
    raise UsageError(
        f"no policy is in both; say which are compared: --policy A=B, with A of {', '.join(first.policies)} and B of "
        f"{', '.join(second.policies)}"
    )


def compare_sides(
    first: Side, second: Side, pairs: Sequence[tuple[str, str]], *, draws: int = 10_000, seed: int = 0,
    level: float = 0.95, tolerance: float = 0.01, alpha: float = 0.05,
) -> Comparison:  # fmt: skip
    """Compare pairs of policies, metric by metric, paired by case.

    Raises:
        UsageError: nothing in common, or cases or instruments that differ, with the list.
    """
    wanted = {name for pair in pairs for name in pair}
    found: list[Compared] = []
    only = [f"{first.name}: {place}" for place in _places(first) if _counterpart(place, second) is None]
    only += [f"{second.name}: {place}" for place in _places(second) if _counterpart(place, first) is None]
    for place in _places(first):
        other = _counterpart(place, second)
        if other is None:
            continue
        one_side = [column for column in first.columns if column.place == place and column.policy in wanted]
        other_side = [column for column in second.columns if column.place == other and column.policy in wanted]
        names = (first.name, second.name) if first is not second else ("", "")
        compared = compare_columns(
            one_side,
            other_side,
            pairs,
            names=names,
            draws=draws,
            seed=seed,
            level=level,
            tolerance=tolerance,
            alpha=alpha,
        )
        if not _nothing(compared, one_side + other_side):
            found.append(compared)
    if not found:
        raise UsageError(
            f"{first.name} and {second.name} have no scores in common; " + "; ".join(only or ["none at all"])
        )
    return Comparison(first.name, second.name, tuple(pairs), tuple(found), tuple(only))


def compare_columns(
    first: Sequence[Column], second: Sequence[Column], pairs: Sequence[tuple[str, str]], *,
    names: tuple[str, str] = ("", ""), draws: int = 10_000, seed: int = 0, level: float = 0.95, tolerance: float = 0.01,
    alpha: float = 0.05,
) -> Compared:  # fmt: skip
    """Compare the columns of one metric of two sides: each pair's difference, Holm's correction, and the cases needed.

    All pairs are compared on the cases that every column in them measured. `names` tell the policies of two sides
    apart; leave them empty where all are of one.

    Raises:
        UsageError: fingerprints that differ, with the list of what does; no column.
    """
    if not first or not second:
        raise UsageError("there are no scores to compare")
    _refuse(first[0], [*first, *second], names)
    left, right = ({column.policy: column for column in side} for side in (first, second))
    place, unit = first[0].place, first[0].unit
    scale = tolerance if unit == "proportion" else 0.0
    series: dict[str, Series] = {}
    kept: list[tuple[str, str]] = []
    uncompared: list[Uncompared] = []
    for pair in pairs:
        columns = left.get(pair[0]), right.get(pair[1])
        shown = _named(names[0], pair[0]), _named(names[1], pair[1])
        reasons = [reason for one, name in zip(columns, shown, strict=True) if (reason := _unusable(one, name))]
        if reasons:
            uncompared.append(Uncompared(*shown, "; ".join(reasons)))
            continue
        kept.append(shown)
        for one, name in zip(columns, shown, strict=True):
            if one is not None and one.series is not None:
                series.setdefault(name, replace(one.series, policy=name))
    blank = Compared(place=place, unit=unit, uncompared=tuple(uncompared))
    if not kept:
        return blank
    whole = complete(list(series.values()))
    holes = {
        _named(name, one.policy): one.holes for name, side in zip(names, (first, second), strict=True) for one in side
    }
    gone = tuple(_why(one, {name: holes[name] for name in series}) for one in whole.left_out)
    blank = replace(blank, cases=len(whole.cases), expected=len(whole.cases) + len(gone), left_out=gone)
    if not whole.cases:
        lost = tuple(Uncompared(*pair, "no case was measured on both sides") for pair in kept)
        return replace(blank, uncompared=(*blank.uncompared, *lost))
    drawn = bootstrap(whole.series, draws=draws, seed=seed, level=level, tolerance=scale, pairs=kept)
    estimates = {one.policy: one for one in drawn.estimates}
    corrected = holm_differences(drawn.differences, alpha)
    versus = tuple(
        Versus(estimates[one.first], estimates[one.second], one, two, *_needed(one, alpha))
        for one, two in zip(drawn.differences, corrected, strict=True)
    )
    return replace(blank, pairs=versus)


def _places(side: Side) -> list[Place]:
    """List the places of a side, metric by metric."""
    places = list(dict.fromkeys(column.place for column in side.columns))
    order = {key: at for at, key in reversed([*enumerate((one.task, one.metric) for one in places)])}
    return sorted(places, key=lambda one: order[one.task, one.metric])


def _counterpart(place: Place, side: Side) -> Place | None:
    """Find the place of the other side; the only patient and the only judge may have other labels."""
    places = _places(side)
    if place in places:
        return place
    near = [
        one for one in places
        if (one.task, one.metric, one.condition, one.ask) == (place.task, place.metric, place.condition, place.ask)
    ]  # fmt: skip
    return near[0] if len(near) == 1 else None


def _refuse(first: Column, columns: Sequence[Column], names: tuple[str, str]) -> None:
    """Refuse columns that were not measured alike, with the list of what differs."""
    for column in columns:
        parts = differing(first.parts, column.parts)
        if parts:
            listed = "; ".join(f"{part.name} ({part.words})" for part in parts)
            sides = " and ".join(name for name in names if name) or "the sides"
            raise UsageError(f"{first.place}: {sides} cannot be compared, for they differ in {listed}")


def _named(side: str, policy: str) -> str:
    return f"{side}:{policy}" if side else policy


def _unusable(column: Column | None, name: str) -> str | None:
    """Say why a column cannot be compared; None where it can."""
    if column is None:
        return f"{name} is not there"
    if column.series is None:
        words = next((words for found in column.holes.values() for words in found), column.reason)
        return f"{name}: {words or 'nothing to measure'}"
    whole = complete([column.series])
    if whole.cases and np.isnan(replicate(whole.series, draws=1)[0].value):
        return f"{name}: nothing to average in some run"
    return None


def _why(one: LeftOut, holes: Mapping[str, Mapping[str, tuple[str, ...]]]) -> LeftOut:
    words = [f"{name}: {reason}" for name, found in holes.items() for reason in found.get(one.case, ())]
    return LeftOut(one.case, "; ".join(words) or one.reason)


def _needed(one: Difference, alpha: float) -> tuple[Power | None, str | None]:
    """Say how many cases a difference of this size needs, from the bootstrap's standard error."""
    if one.value is None or one.interval.se is None:
        return None, one.reason or one.interval.reason
    found = cases_needed(one.value, sd_of_error(one.interval.se, one.cases).sd or 0.0, alpha=alpha)
    return found, found.reason


def _nothing(compared: Compared, columns: Sequence[Column]) -> bool:
    """Tell whether a metric has nothing to measure in a task, such as T without targets."""
    empty = not compared.pairs and all(not column.holes for column in columns)
    return empty and all(_unusable(column, column.policy) for column in columns)
