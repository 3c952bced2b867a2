"""Which named instrument a row was measured with: told from fingerprints, never declared.

A task's `instruments.lock.json` holds, for each named instrument and condition, the digest of every metric's fingerprint and
of the parts that all metrics share, so that a difference can be named.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from meddc_bench.campaign import Campaign
from meddc_bench.fingerprint import digest
from meddc_bench.plan import TaskBench, build_benches
from meddc_bench.records import DIMENSIONS
from meddc_bench.registry import Registry
from meddc_bench.results import build_metrics, fingerprint
from meddc_bench.run import task_index
from meddc_bench.scorer import Row
from meddc_bench.task import LOCK, InstrumentLock, Locked, Task, load_lock

CUSTOM = "custom"
OWN = frozenset({"metric", "references"})
"""Parts that differ from metric to metric."""


@dataclass(frozen=True, slots=True)
class Recognised:
    """The instrument of a row: its name, or `custom` and what differs from the nearest named one."""

    name: str
    standard: bool
    differs: tuple[str, ...] = ()


def locked(task: Task, registry: Registry) -> InstrumentLock:
    """Compute the fingerprints of a task's named instruments, over all its cases with its own repeats and seed 0."""
    found = {name: _conditions(task, name, registry) for name in task.config.instruments}
    return InstrumentLock(format=1, task=task.name, instruments=found)


def _conditions(task: Task, instrument: str, registry: Registry) -> dict[str, Locked]:
    campaign = Campaign(tasks=(task.name,), instrument=instrument)
    (bench,) = build_benches(campaign, registry, [task], imported=True)
    out: dict[str, Locked] = {}
    for condition in bench.conditions:
        row = Row(bench.patients[0], bench.patients[0], condition, bench.judges[0], 0)
        found = {
            name: fingerprint(bench, row, adapter, metric)
            for name, (adapter, metric) in build_metrics(bench, registry).items()
            if applies(bench, condition.label, metric.needs)
        }
        out[condition.label] = Locked(
            metrics={name: one["digest"] for name, one in found.items()},
            parts=shared_parts(
                bench.task.config.protocol.model_dump(mode="json"), (one["parts"] for one in found.values())
            ),
        )
    return out


def applies(bench: TaskBench, condition: str, needs: Iterable[str]) -> bool:
    """Tell whether a metric belongs to a condition: the plan's dimensions are the policy's own, so only under `emitted`."""
    mine = set(needs) & set(DIMENSIONS)
    there = {axis for axes in bench.axes.values() for axis in axes}
    return not mine or (condition == "emitted" and mine <= there)


def shared_parts(protocol: Mapping[str, Any], fingerprints: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the digests of the parts that all of a row's metrics share, and of its protocol's options."""
    out = {"options": digest(protocol)}
    for parts in fingerprints:
        out.update({name: digest(value) for name, value in parts.items() if name not in OWN})
    return dict(sorted(out.items()))


def known_lock(task: str, registry: Registry, folder: Path | None = None) -> InstrumentLock | None:
    """Return the lock of a task: the shipped or a plugin's one where they have a task of this name, else the folder's."""
    listing = task_index((), registry).listings.get(task)
    where = listing.path.parent if listing is not None else folder
    return load_lock(where) if where is not None else None


def recognise(lock: InstrumentLock | None, metrics: Mapping[str, str], parts: Mapping[str, str]) -> Recognised:
    """Compare a row's fingerprints, by metric, with the locked ones.

    Args:
        metrics: digest of each metric's fingerprint.
        parts: digests of the parts they share, as `shared_parts` gives them.
    """
    best: tuple[str, ...] | None = None
    for name, conditions in lock.instruments.items() if lock is not None else ():
        for one in conditions.values():
            differs = _differs(one, metrics, parts)
            if not differs:
                return Recognised(name, True)
            if best is None or len(differs) < len(best):
                best = differs
    return Recognised(CUSTOM, False, best or ())


def _differs(one: Locked, metrics: Mapping[str, str], parts: Mapping[str, str]) -> tuple[str, ...]:
    found = [name for name in sorted({*one.parts, *parts}) if one.parts.get(name) != parts.get(name)]
    if set(metrics) != set(one.metrics):
        found.append("metrics")
    elif not found and dict(metrics) != dict(one.metrics):
        found.append("references or metrics")
    return tuple(found)


def lock_file(task: Task) -> Path:
    """Return where a task's lock belongs."""
    return task.path.parent / LOCK
