"""Can a row be believed: every printed number computed again from its counts, and what it says of itself compared.

A row that passes follows from its counts and from no others. That the counts came from consultations, only the run's
records show, which stay with the publisher; their SHA-256 is in the row.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from meddc_bench.analysis.series import Series
from meddc_bench.errors import MedDDCError, UsageError
from meddc_bench.fingerprint import digest
from meddc_bench.pipeline.score import mean_and_sd
from meddc_bench.publish.instruments import OWN, known_lock, recognise
from meddc_bench.publish.numbers import Numbers, intervals_of, numbers
from meddc_bench.publish.plausible import implausible
from meddc_bench.publish.row import (
    DRAWS,
    LEVEL,
    PRIVATE_DRAWS,
    SEED,
    MeasuredRow,
    RolePart,
    ScorePart,
    metric_of,
    series_of,
)
from meddc_bench.records import MEASURED
from meddc_bench.registry import Registry
from meddc_bench.run import task_index
from meddc_bench.task import Task

_CLOSE = 1e-9


class Refused(MedDDCError):
    """A row that cannot be believed, with all the reasons."""

    exit_code = 3

    def __init__(self, path: Path, reasons: Sequence[str]):
        super().__init__(f"{path} is refused:" + "".join(f"\n  {reason}" for reason in reasons))
        self.path, self.reasons = path, tuple(reasons)


class Checker:
    """Checks rows against what is installed here: metrics, tasks, locks of instruments."""

    def __init__(self, registry: Registry, include: Sequence[str] = ()):
        self._registry = registry
        self._index = task_index(include, registry)
        self._tasks: dict[str, Task | None] = {}

    def faults(self, row: MeasuredRow) -> list[str]:
        """Return everything that is wrong with a row; nothing for one that holds."""
        out = [*_partial(row), *_shape(row), *_prints(row)]
        if not out:  # else the recomputation would fall over what was just named
            out += [*self._numbers(row), *implausible(row, self._task(row))]
        out += [*self._instrument(row), *_roles(row), *_small(row)]
        if row.seal != row.computed_seal():
            out.append("seal: the row was edited after it was written")
        return out

    def _task(self, row: MeasuredRow) -> Task | None:
        """Return the task of the row where it is installed with the very cases of the row."""
        name = row.task.name
        if name not in self._tasks:
            listing = self._index.listings.get(name)
            self._tasks[name] = self._index.resolve(name)[0] if listing and listing.kind == "task" else None
        task = self._tasks[name]
        return task if task is not None and task.cases_digest == row.task.cases_digest else None

    def _numbers(self, row: MeasuredRow) -> Iterator[str]:
        try:
            metrics = {name: metric_of(row, name, self._registry) for name in row.scores}
            found = _again(row, self._registry)
        except UsageError as error:
            yield str(error)
            return
        for name, score in row.scores.items():
            metric = metrics[name]
            low, high = (None if math.isinf(one) else one for one in metric.range)
            given = (score.unit, score.higher_is_better, score.lowest, score.highest)
            if given != (metric.unit, metric.higher_is_better, low, high):
                yield f"scores.{name}: unit, direction or range is not the metric's"
            yield from _compared(name, score, found.get(name))
            for value in score.values:
                if value is not None and not metric.range[0] - _CLOSE <= value <= metric.range[1] + _CLOSE:
                    yield f"scores.{name}.values: {value} is outside the metric's range"

    def _instrument(self, row: MeasuredRow) -> Iterator[str]:
        listing = self._index.listings.get(row.task.name)
        lock = known_lock(row.task.name, self._registry, listing.path.parent if listing else None)
        said = row.instrument
        if lock is None:
            if said.standard:
                yield f"instrument: {row.task.name} is not installed here, so that it is standard cannot be checked"
            return
        metrics = {name: one.digest for name, one in row.fingerprints.items()}
        parts = {"options": digest(row.protocol)}
        for one in row.fingerprints.values():
            parts.update({name: key for name, key in one.parts.items() if name not in OWN})
        found = recognise(lock, metrics, parts)
        if (said.name, said.standard, said.differs) != (found.name, found.standard, found.differs):
            why = (
                f"its {', '.join(found.differs)} differ from the nearest standard"
                if found.differs
                else "by its fingerprints"
            )
            yield f"instrument: says {_kind(said.name, said.standard)}, is {_kind(found.name, found.standard)}: {why}"


def _kind(name: str, standard: bool) -> str:
    return f"{name} (standard)" if standard else name


def _partial(row: MeasuredRow) -> Iterator[str]:
    units, conduct = row.task.cases * row.task.repeats, row.conduct
    other = sorted(set(conduct.outcomes) - MEASURED)
    if other:
        yield f"conduct.outcomes: a partial run: {', '.join(other)}"
    total = sum(conduct.outcomes.values())
    if total != units:
        yield f"conduct.outcomes: {total} consultations, but {row.task.cases} cases x {row.task.repeats} repeats"
    for name, count in (("ended", sum(conduct.ended.values())), ("early_assertion", conduct.early_assertion)):
        if count > units:
            yield f"conduct.{name}: {count} of {units} consultations"
    for name, score in row.scores.items():
        if score.measured != score.expected or score.expected > units:
            yield f"scores.{name}: a partial run: {score.measured} of {score.expected} units measured"


def _shape(row: MeasuredRow) -> Iterator[str]:
    if (row.counts is None) == (row.draws is None) or (row.counts is None) != row.task.private:
        yield "counts: a row has counts, or draws where its task is private, and not both"
    uncertainty, expected = row.uncertainty, PRIVATE_DRAWS if row.task.private else DRAWS
    if (uncertainty.draws, uncertainty.seed, uncertainty.level) != (expected, SEED, LEVEL):
        yield f"uncertainty: rows have {expected} draws of seed {SEED} at level {LEVEL}"
    if set(row.scores) != set(row.fingerprints):
        yield "fingerprints: not those of the scores"
    for name, statistics in (row.counts or {}).items():
        for key, runs in statistics.items():
            if len(runs) != row.task.repeats or any(len(run) != row.task.cases for run in runs):
                yield f"counts.{name}.{key}: expected {row.task.repeats} repeats of {row.task.cases} cases"
    for name, score in row.scores.items():
        there = row.counts if row.counts is not None else row.draws or {}
        needed = name if row.counts is None else score.counts
        if score.counts is not None and needed not in there:
            yield f"scores.{name}: there is nothing to compute it from"
        if score.counts is None and (score.mean is not None or score.values):
            yield f"scores.{name}: a value without counts"
    for name, draws in (row.draws or {}).items():
        if len(draws) != row.uncertainty.draws:
            yield f"draws.{name}: {len(draws)} of {row.uncertainty.draws} draws"


def _prints(row: MeasuredRow) -> Iterator[str]:
    """Check the fingerprints: each value against its digest, each metric's digest against its parts."""
    for key, value in row.parts.items():
        if digest(value) != key:
            yield f"parts.{key}: its digest is another"
    hidden = ("cases", "references") if row.task.private else ()
    for name, one in row.fingerprints.items():
        lost = sorted(part for part, key in one.parts.items() if key not in row.parts and part not in hidden)
        if lost:
            yield f"fingerprints.{name}: without its {', '.join(lost)}"
        elif not hidden and digest({part: row.parts[key] for part, key in one.parts.items()}) != one.digest:
            yield f"fingerprints.{name}: its digest is not that of its parts"


def _again(row: MeasuredRow, registry: Registry) -> dict[str, Numbers]:
    """Compute what a row prints from its counts; of a private task's row, from its values and draws."""
    if row.counts is not None:
        series: tuple[Series, ...] = series_of(row, registry)
        found = numbers(series, draws=row.uncertainty.draws, seed=row.uncertainty.seed, level=row.uncertainty.level)
        return {one.metric: number for one, number in zip(series, found, strict=True)}
    out: dict[str, Numbers] = {}
    for name, draws in (row.draws or {}).items():
        array = np.array([math.nan if one is None else one for one in draws])
        (interval,) = intervals_of([array], cases=row.task.cases, level=row.uncertainty.level)
        values = row.scores[name].values if name in row.scores else ()
        out[name] = Numbers(values, *mean_and_sd([one for one in values if one is not None]), interval, array)
    return out


def _compared(name: str, score: ScorePart, found: Numbers | None) -> Iterator[str]:
    if found is None:
        return
    if len(score.values) != len(found.values):
        yield f"scores.{name}.values: {len(score.values)} printed, the counts give {len(found.values)}"
    pairs = [
        (f"values[{at}]", one, other) for at, (one, other) in enumerate(zip(score.values, found.values, strict=False))
    ]
    interval = found.interval
    pairs += [("mean", score.mean, found.mean), ("sd", score.sd, found.sd), ("low", score.low, interval.low)]
    pairs += [("high", score.high, interval.high), ("se", score.se, interval.se)]
    for what, given, true in pairs:
        if not _equal(given, true):
            yield f"scores.{name}.{what}: {given} is printed, the counts give {true}"


def _equal(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) <= _CLOSE * max(1.0, abs(one), abs(other))


def _roles(row: MeasuredRow) -> Iterator[str]:
    """Compare the adapters a row names with those in its fingerprints; two served models are one too many."""
    for kind in ("patient", "reader", "judge"):
        printed: RolePart = getattr(row.instrument, kind)
        for name, one in row.fingerprints.items():
            value: Any = row.parts.get(one.parts.get(kind, ""))
            identity = value[0] if isinstance(value, list) and value else value
            if isinstance(identity, dict) and not _is(printed, identity):
                yield f"instrument.{kind}: is not the one that {name} was measured with"
                break
    for name, role in (
        ("policy", row.policy), ("patient", row.instrument.patient), ("reader", row.instrument.reader),
        ("judge", row.instrument.judge),
    ):  # fmt: skip
        if len(role.served) > 1:
            yield f"{name}: the model changed during the run: {', '.join(role.served)}"


def _is(role: RolePart, identity: dict[str, Any]) -> bool:
    options = identity.get("options")
    model = options.get("model") if isinstance(options, dict) else None
    given = (role.name, role.plugin, role.distribution, role.revision, role.model)
    return given == (
        identity.get("name"), identity.get("plugin", ""), identity.get("distribution", ""),
        str(identity.get("revision")), model if isinstance(model, str) else None,
    )  # fmt: skip


def _small(row: MeasuredRow) -> Iterator[str]:
    """Compare what stands twice."""
    for name, one in row.fingerprints.items():
        for part, value in (("task", row.task.name), ("repeats", row.task.repeats), ("seed", row.provenance.seed)):
            if row.parts.get(one.parts.get(part, "")) != value:
                yield f"fingerprints.{name}: its {part} is not the row's"
                return
    usage = row.usage
    if usage is not None and not _equal(
        usage.cost_per_history, None if usage.cost is None else usage.cost / usage.histories
    ):
        yield "usage.cost_per_history: is not the cost over the histories"
