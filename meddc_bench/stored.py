"""A run opened again from its folder, for audits, comparisons and publishing: its benches, and its columns case by case.

Nothing is made and nothing is written: what is missing in the store is missing in the columns, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from meddc_bench import campaign as campaigns
from meddc_bench.analysis.series import Series
from meddc_bench.contracts import Metric
from meddc_bench.errors import InputError, StoreError, UsageError
from meddc_bench.fingerprint import digest
from meddc_bench.imports import import_benches
from meddc_bench.pipeline.score import Cell
from meddc_bench.plan import TaskBench
from meddc_bench.records import Reading
from meddc_bench.registry import Registry
from meddc_bench.results import build_metrics, cell_for, fingerprint
from meddc_bench.run import load_manifest, prepare, task_index
from meddc_bench.scorer import Measured, Row, Scorer, rows
from meddc_bench.store import RECORDS, Store
from meddc_bench.wiring import Adapter


@dataclass(frozen=True, slots=True, eq=False)
class StoredColumn:
    """One metric of one row, case by case. `series` is None, with the reason, where no case has it.

    `fingerprint` is what the column depends on (`digest` and `parts`); `unmeasured` counts units by outcome and reason.
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


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run folder opened for reading."""

    folder: Path
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

    def columns(self, bench: TaskBench, metrics: Iterable[str] | None = None) -> Iterator[StoredColumn]:
        """Iterate over the columns of a bench, row by row: every metric of the task, or those named."""
        wanted = None if metrics is None else frozenset(metrics)
        built = {
            name: one for name, one in build_metrics(bench, self.registry).items() if wanted is None or name in wanted
        }
        scorer = Scorer(self.store, bench)
        for row in rows(bench):
            units = list(scorer.units(row))
            for name, (adapter, metric) in built.items():
                yield _column(bench, scorer, row, units, name, adapter, metric)

    def same_bytes(self, bench: TaskBench) -> ReadBytes:
        """Check that all readings of each history were made of the very bytes that the store holds of it."""
        checked = mismatched = 0
        hashes: dict[str, list[str]] = {}
        for job in bench.jobs():
            if self.store.outcome(job.history_id) != "scored":
                continue
            head = self.store.entry(job.history_id).head
            hash_ = head.hash if head is not None else ""
            hashes.setdefault(job.policy.label, []).append(f"{job.case.id}|{job.repeat}|{hash_}")
            for condition in bench.conditions:
                reading_id = bench.reading_id(condition, job.history_id)
                if self.store.outcome(reading_id) == "scored":
                    reading = self.store.record(reading_id, Reading)
                    checked += 1
                    mismatched += reading is None or reading.history_hash != hash_
        return ReadBytes({policy: digest(sorted(found)) for policy, found in hashes.items()}, checked, mismatched)


@dataclass(frozen=True, slots=True)
class ReadBytes:
    """Digest of each policy's histories, how many readings were checked against them, and how many did not agree."""

    histories: dict[str, str]
    checked: int
    mismatched: int


@contextmanager
def open_run(folder: Path) -> Iterator[StoredRun]:
    """Open a run for reading.

    Raises:
        InputError: the folder is no run, or a file that was imported is gone.
        UsageError, PluginError: a task or adapter of the run is not there any more.
    """
    manifest = load_manifest(folder)
    if not (folder / RECORDS).is_file():
        raise InputError("the run has no records", path=folder / RECORDS)
    stored = {key: value for key, value in manifest["campaign"].items() if value is not None}
    campaign = campaigns.build(stored)
    registry = Registry.load()
    with Store(folder, writable=False) as store:
        store.map()
        if manifest.get("imported"):
            benches: Sequence[TaskBench] = [_imported(manifest["imported"], campaign, registry, store)]
        elif not campaign.policies:
            raise InputError("the run was made by an older version; score the histories again", path=folder)
        else:
            benches = prepare(campaign, registry)
        yield StoredRun(folder, manifest, store, benches, registry)


def _imported(known: dict[str, Any], campaign: campaigns.Campaign, registry: Registry, store: Store) -> TaskBench:
    importer = Adapter(registry, "importer", known["importer"], known["importer"].lower(), known["options"])
    index = task_index(campaign.include_path, registry)
    tasks = [task for name in campaign.tasks for task in index.resolve(name)]
    try:
        files = [Path(one) for one in known["files"]]
        return import_benches(campaign, registry, store, importer, files, tasks[0] if tasks else None)[0]
    except StoreError as error:  # a history the store does not hold: it cannot be written here
        raise UsageError(f"the imported files changed since they were scored; score them again ({error})") from error


def _column(
    bench: TaskBench, scorer: Scorer, row: Row, units: Sequence[Measured], name: str, adapter: Adapter, metric: Metric
) -> StoredColumn:  # fmt: skip
    axes = frozenset(metric.needs)
    cells = [cell_for(one, axes, scorer) for one in units]
    found = {(cell.repeat, cell.case): _statistics(metric, cell) for cell in cells}
    names = sorted({key for one in found.values() if one for key in one})
    lost: dict[str, int] = {}
    for cell in cells:
        if cell.unit is None:
            lost[f"{cell.outcome}: {cell.reason}"] = lost.get(f"{cell.outcome}: {cell.reason}", 0) + 1
    series, reason = None, None
    if names:
        reader = row.condition.label if any(axis != "trajectory" for axis in axes) else None
        series = _series(row, name, metric, reader, cells, found, names)
    else:
        reason = next(iter(lost), "no case has references for it")
    return StoredColumn(
        bench.task.name, row, name, metric.unit, metric.higher_is_better, series, reason,
        fingerprint(bench, row, adapter, metric), sum(one is not None for one in found.values()),
        sum(one is not None for one in found.values()) + sum(lost.values()), lost,
    )  # fmt: skip


_Found = dict[tuple[int, str], "dict[str, float] | None"]


def _series(
    row: Row, name: str, metric: Metric, reader: str | None, cells: Sequence[Cell], found: _Found, names: Sequence[str]
) -> Series:  # fmt: skip
    cases = sorted({cell.case for cell in cells})
    repeats = sorted({cell.repeat for cell in cells})
    missing = {(cell.repeat, cell.case) for cell in cells if cell.unit is None}
    statistics = {key: np.zeros((len(repeats), len(cases))) for key in names}
    for at, repeat in enumerate(repeats):
        for column, case in enumerate(cases):
            place = (repeat, case)
            one = found.get(place)
            for key in names:
                if place in missing or place not in found:
                    statistics[key][at, column] = np.nan
                elif one is not None:
                    statistics[key][at, column] = one[key]
    unit = "proportion" if metric.unit == "fraction" else metric.unit
    over: Any = metric.over_repeats
    return Series(
        row.policy.label, name, cases, statistics, metric.aggregate, reader=reader, unit=unit, over_repeats=over
    )


def _statistics(metric: Metric, cell: Cell) -> dict[str, float] | None:
    if cell.unit is None:
        return None
    found = metric.case(cell.unit)
    return None if found is None else dict(found)
