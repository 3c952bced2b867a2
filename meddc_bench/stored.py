"""A run opened again from its folder, for audits, comparisons and publishing: its benches, and its columns case by case.

Nothing is made and nothing is written: what is missing in the store is missing in the columns, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from operator import itemgetter
from pathlib import Path
from typing import Any, cast

import numpy as np

from meddc_bench import campaign as campaigns
from meddc_bench.analysis.series import Series
from meddc_bench.contracts import Metric
from meddc_bench.errors import InputError, StoreError, UsageError
from meddc_bench.fingerprint import digest
from meddc_bench.imports import import_benches
from meddc_bench.pipeline.score import Cell, statistics, without
from meddc_bench.plan import Condition, TaskBench
from meddc_bench.records import MEASURED, Axis
from meddc_bench.registry import Registry
from meddc_bench.results import build_metrics, cell_for, fingerprint
from meddc_bench.run import load_manifest, prepare, task_index
from meddc_bench.scorer import Measured, Row, Scorer, rows, together
from meddc_bench.store import RECORDS, Store
from meddc_bench.wiring import Adapter


@dataclass(frozen=True, slots=True, eq=False)
class StoredColumn:
    """One metric of one row, case by case. `series` is None, with the reason, where no case has it.

    `fingerprint` is what the column depends on (`digest` and `parts`); `unmeasured` counts units by outcome and reason,
    `holes` gives for each case with an unmeasured unit the outcomes and reasons.
    """

    task: str
    row: Row
    metric: str
    unit: str
    higher_is_better: bool
    series: Series | None
    reason: str | None
    fingerprint: dict[str, Any]
    measured: int
    expected: int
    unmeasured: dict[str, int]
    holes: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run folder opened for reading."""

    folder: Path
    campaign: campaigns.Campaign
    manifest: dict[str, Any]
    store: Store
    benches: Sequence[TaskBench]
    registry: Registry

    def bench(self, task: str | None = None) -> TaskBench:
        """Return the bench of a task; of the only one where none is named."""
        named = {bench.task.name: bench for bench in self.benches}
        if task is None and len(named) == 1:
            return self.benches[0]
        if task not in named:
            raise UsageError(f"{self.folder} has the tasks {', '.join(named)}; name one of them with --tasks")
        return named[task]

    def scorer(self, bench: TaskBench) -> Scorer:
        """Make what looks up and matches the records of a bench; give it to each of several passes over them."""
        return Scorer(self.store, bench, cuts=False)

    def columns(
        self, bench: TaskBench, metrics: Iterable[str] | None = None,
        row_wanted: Callable[[Row], bool] = lambda _: True, scorer: Scorer | None = None,
    ) -> Iterator[StoredColumn]:  # fmt: skip
        """Iterate over the columns of a bench, row by row: every metric of the task, or those named.

        A column that no reader touches is computed once for all conditions.
        """
        wanted = None if metrics is None else frozenset(metrics)
        built = {
            name: one for name, one in build_metrics(bench, self.registry).items() if wanted is None or name in wanted
        }
        scorer = scorer or self.scorer(bench)
        for group in together(filter(row_wanted, rows(bench))):
            unread: dict[tuple[str, str, int], StoredColumn] = {}
            for row, measured in zip(group, scorer.of_rows(group), strict=True):
                units = _Units(measured)
                for name, (adapter, metric) in built.items():
                    key = (name, row.judge.label, row.ask)
                    found = unread.get(key)
                    if found is None:
                        found = _column(bench, scorer, row, units, name, adapter, metric)
                        if frozenset(metric.needs) <= {"trajectory"}:
                            unread[key] = found
                    yield found if found.row is row else replace(found, row=row)

    def same_bytes(self, bench: TaskBench, conditions: Iterable[Condition], scorer: Scorer) -> ReadBytes:
        """Check that the readings of each history, under some conditions, were made of the bytes the store holds of it."""
        checked = mismatched = 0
        hashes: dict[str, list[str]] = {}
        conditions = tuple(conditions)
        for job in bench.jobs():
            history_id, entry = scorer.history(job.policy, job.patient, job.case, job.repeat)
            if entry is None or entry.outcome != "scored":
                continue
            hash_ = entry.head.hash if entry.head is not None else ""
            hashes.setdefault(job.policy.label, []).append(f"{job.case.id}|{job.repeat}|{hash_}")
            read = [found[0] for one in conditions if (found := scorer.reading(one, history_id))[1]]
            checked += len(read)
            mismatched += len(read) - self.store.saying(read, "history_hash", hash_)
        return ReadBytes({policy: digest(sorted(found)) for policy, found in hashes.items()}, checked, mismatched)


@dataclass(frozen=True, slots=True)
class ReadBytes:
    """Digest of each policy's histories, how many readings were checked against them, and how many did not agree."""

    histories: dict[str, str]
    checked: int
    mismatched: int


@contextmanager
def open_run(folder: Path, changes: Mapping[str, Any] | None = None, *, writable: bool = False) -> Iterator[StoredRun]:
    """Open a run for reading, or `writable` for the orchestrator, its campaign with some keys changed.

    Raises:
        InputError: the folder is no run, or a file that was imported is gone.
        UsageError, PluginError: a task or adapter of the run is not there any more.
    """
    manifest = load_manifest(folder)
    if not (folder / RECORDS).is_file():
        raise InputError("the run has no records", path=folder / RECORDS)
    stored = {key: value for key, value in manifest["campaign"].items() if value is not None}
    campaign = campaigns.build({**stored, **(changes or {})})
    registry = Registry.load()
    with Store(folder, writable=writable) as store:
        store.map()
        if manifest.get("imported"):
            benches: Sequence[TaskBench] = [_imported(manifest["imported"], campaign, registry, store)]
        elif not campaign.policies:
            raise InputError("the run was made by an older version; score the histories again", path=folder)
        else:
            benches = prepare(campaign, registry)
        yield StoredRun(folder, campaign, manifest, store, benches, registry)


def _imported(known: dict[str, Any], campaign: campaigns.Campaign, registry: Registry, store: Store) -> TaskBench:
    importer = Adapter(registry, "importer", known["importer"], known["importer"].lower(), known["options"])
    index = task_index(campaign.include_path, registry)
    tasks = [task for name in campaign.tasks for task in index.resolve(name)]
    try:
        files = [Path(one) for one in known["files"]]
        return import_benches(campaign, registry, store, importer, files, tasks[0] if tasks else None)[0]
    except StoreError as error:  # a history the store does not hold: it cannot be written here
        raise UsageError(f"the imported files changed since they were scored; score them again ({error})") from error


class _Units:
    """The units of a row with what all its columns have in common: where each cell stands, and whether all are measured."""

    def __init__(self, units: Sequence[Measured]) -> None:
        self._units = units
        whole = all(one.cell.outcome in MEASURED for one in units)
        self._whole = [one.cell for one in units] if whole else None
        self.cases = sorted({one.case.id for one in units})
        repeats = sorted({one.repeat for one in units})
        self.shape = len(repeats), len(self.cases)
        column = {case: at for at, case in enumerate(self.cases)}
        row = {repeat: at for at, repeat in enumerate(repeats)}
        self.places = np.array([row[one.repeat] * len(column) + column[one.case.id] for one in units], dtype=np.intp)
        self.known: dict[object, list[Mapping[str, float] | None]] = {}

    def cells(self, axes: frozenset[Axis], scorer: Scorer) -> list[Cell]:
        """Return the cells as a metric of these axes sees them."""
        return self._whole or [cell_for(one, axes, scorer) for one in self._units]

    def statistics(self, metric: Metric, cells: Sequence[Cell]) -> list[Mapping[str, float] | None]:
        """Compute the statistics of each cell, once for the metrics that share them."""
        key = getattr(metric, "shares", None) if self._whole else None
        found = None if key is None else self.known.get(key)
        if found is None:
            found = statistics(metric, cells)
            if key is not None:
                self.known[key] = found
        return found


def _column(
    bench: TaskBench, scorer: Scorer, row: Row, units: _Units, name: str, adapter: Adapter, metric: Metric
) -> StoredColumn:  # fmt: skip
    axes = frozenset(metric.needs)
    cells = units.cells(axes, scorer)
    found = units.statistics(metric, cells)
    names = sorted(set().union(*filter(None, found)))
    lost: dict[str, int] = {}
    holes: dict[str, set[str]] = {}
    for cell in cells:
        if cell.unit is None:
            words = f"{cell.outcome}: {cell.reason}"
            lost[words] = lost.get(words, 0) + 1
            holes.setdefault(cell.case, set()).add(words)
    series, reason = None, None
    if names:
        reader = row.condition.label if any(axis != "trajectory" for axis in axes) else None
        series = _series(row, name, metric, reader, units, cells, found, names)
    else:
        reason = next(iter(lost), without(metric))
    measured = len(found) - found.count(None)
    return StoredColumn(
        bench.task.name, row, name, metric.unit, metric.higher_is_better, series, reason,
        fingerprint(bench, row, adapter, metric), measured, measured + sum(lost.values()), lost,
        {case: tuple(sorted(reasons)) for case, reasons in sorted(holes.items())},
    )  # fmt: skip


def _series(
    row: Row, name: str, metric: Metric, reader: str | None, units: _Units, cells: Sequence[Cell],
    found: Sequence[Mapping[str, float] | None], names: Sequence[str],
) -> Series:  # fmt: skip
    """Lay the statistics out by run and case: NaN where not measured, 0 where the metric leaves the case out."""
    blanks = [float("nan") if cell.unit is None else 0.0 for cell in cells]
    laid_out = np.full((len(names), units.shape[0] * units.shape[1]), np.nan)
    laid_out[:, units.places] = _table(found, names, blanks)
    statistics = {key: laid_out[at].reshape(units.shape) for at, key in enumerate(names)}
    unit = "proportion" if metric.unit == "fraction" else metric.unit
    over: Any = metric.over_repeats
    return Series(
        row.policy.label, name, units.cases, statistics, metric.aggregate, reader=reader, unit=unit, over_repeats=over
    )


def _table(found: Sequence[Mapping[str, float] | None], names: Sequence[str], blanks: Sequence[float]) -> np.ndarray:
    """Put statistics into an array, a row each and a column a cell; a blank for what a cell has not."""
    whole = itemgetter(*names)
    try:  # as a rule every cell has them all
        values = chain.from_iterable(map(whole, cast(Any, found))) if len(names) > 1 else map(whole, cast(Any, found))
        return np.fromiter(values, float, len(names) * len(found)).reshape(len(found), len(names)).T
    except (KeyError, TypeError):
        return np.array(
            [
                [blank if one is None else one.get(key, blank) for one, blank in zip(found, blanks, strict=True)]
                for key in names
            ]
        )


@dataclass(frozen=True, slots=True)
class Part:
    """A part of two fingerprints that differs, and how."""

    name: str
    words: str


def differing(first: Mapping[str, Any], second: Mapping[str, Any]) -> tuple[Part, ...]:
    """List the parts in which two fingerprints differ.

    >>> differing({"seed": 0, "task": "a"}, {"seed": 1, "task": "a"})
    (Part(name='seed', words='0 and 1'),)
    """
    names = sorted(key for key in {*first, *second} if first.get(key) != second.get(key))
    return tuple(Part(name, _difference(first.get(name), second.get(name))) for name in names)


def _difference(one: Any, other: Any) -> str:
    if one is None or other is None:
        return "only one has it"
    if isinstance(one, dict) and isinstance(other, dict):
        return "; ".join(f"{part.name}: {part.words}" for part in differing(one, other))
    if isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            return f"{len(one)} and {len(other)}"
        pairs = [(a, b) for a, b in zip(one, other, strict=True) if a != b]
        if isinstance(pairs[0][0], dict) and isinstance(pairs[0][1], dict):
            return _difference(*pairs[0])
        return f"{len(pairs)} of {len(one)} differ"
    return f"{str(one)[:60]} and {str(other)[:60]}"
