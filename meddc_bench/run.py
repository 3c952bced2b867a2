"""A run: a campaign in a run folder, from its benches to the saved results.

manifest.json          what was run with what, when, and how it ended
records.jsonl          the store
results.json           scores; no times, no usage
samples_<task>.jsonl   what came of every case: assignments with their texts
histories.jsonl        the consultations, in the native import format
"""

from __future__ import annotations

import datetime
import platform
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from meddc_bench import checked
from meddc_bench.campaign import HOW, Campaign
from meddc_bench.errors import InputError, StoreError, UsageError
from meddc_bench.fingerprint import digest
from meddc_bench.llm.session import RETRIES, TIMEOUT, Session, read_prices
from meddc_bench.orchestrator import FINAL, Orchestrator, Progress
from meddc_bench.pipeline.judge import axis_references
from meddc_bench.plan import TaskBench, build_benches
from meddc_bench.records import Axis, Case, History
from meddc_bench.registry import Registry
from meddc_bench.results import results
from meddc_bench.scorer import Measured, Row, Scorer, rows
from meddc_bench.store import RECORDS, Keys, Store, pretty, save, save_lines
from meddc_bench.task import Task, TaskIndex
from meddc_bench.text import safe_name
from meddc_bench.wiring import Adapter

MANIFEST, RESULTS, HISTORIES = "manifest.json", "results.json", "histories.jsonl"

_Number = TypeVar("_Number", int, float)

_encode = msgspec.json.Encoder(order="deterministic").encode


@dataclass(frozen=True)
class Finished:
    """How a run ended: its folder, the results, the progress, the exit code, and what its calls took."""

    folder: Path
    results: dict[str, Any]
    progress: Progress
    exit_code: int
    calls: dict[str, Any]


def prepare(campaign: Campaign, registry: Registry) -> list[TaskBench]:
    """Load the campaign's tasks and check every name and option."""
    index = task_index(campaign.include_path, registry)
    tasks: dict[str, Task] = {}
    for task in (task for wanted in campaign.tasks for task in index.resolve(wanted)):
        other = tasks.setdefault(task.name, task)
        if other.path.resolve() != task.path.resolve():
            raise UsageError(f"{other.path} and {task.path} are both named {task.name!r}; run them one by one")
    return build_benches(campaign, registry, list(tasks.values()))


def task_index(include_path: Iterable[str], registry: Registry) -> TaskIndex:
    """Return the index of all tasks: those of the folders given, of plugins, and the shipped ones."""
    return TaskIndex(map(Path, include_path), registry.task_folders())


def default_folder(campaign: Campaign) -> Path:
    """Return `runs/<tasks>-<digest of what is measured>`: the same command finds its folder again."""
    what = {key: value for key, value in campaign.model_dump(mode="json").items() if key not in HOW}
    return Path("runs") / f"{safe_name('-'.join(campaign.tasks), 80)}-{digest(what)[:8]}"


def execute(
    campaign: Campaign, benches: list[TaskBench], registry: Registry, folder: Path, *,
    fail_after: int | None = None, on_progress: Callable[[Progress], None] | None = None,
    stored_only: bool = False, command: str = "run", imported: Mapping[str, Any] | None = None,
) -> Finished:  # fmt: skip
    """Make what is missing in a run folder, then score and save.

    Args:
        stored_only: never roll out: histories that are not in the store are left out and reported as not done.
        imported: of imported histories the importer, its options and the files, for whoever opens the run again.
    """
    with Store(folder) as store:
        session = open_session(campaign, folder)
        manifest = _manifest(campaign, benches, registry, command)
        if imported is not None:
            manifest["imported"] = dict(imported)
        save(folder / MANIFEST, pretty(manifest))
        orchestrator = Orchestrator(
            store, width=consultations(campaign.max_connections), retries=_given(campaign.max_retries, 2),
            timeout=campaign.timeout, predict_only=campaign.predict_only, fail_after=fail_after,
            on_progress=on_progress, session=session,
        )  # fmt: skip
        progress = orchestrator.run(
            benches, (lambda job: store.outcome(job.history_id) in FINAL) if stored_only else None
        )
        status = _status(store, benches, progress, stored_only=stored_only)
        found = write_outputs(
            store, benches, registry, folder, complete=status == "complete", predict_only=campaign.predict_only
        )
        manifest["status"] = status
        manifest["finished"] = _now()
        manifest["made"] = dict(progress.made)
        manifest["failed"] = dict(progress.failed)
        manifest["calls"] = session.report()
        save(folder / MANIFEST, pretty(manifest))
    return Finished(folder, found, progress, _exit_code(progress, found), manifest["calls"])


def consultations(connections: int) -> int:
    """Return how many consultations are in progress for so many connections: a quarter more, from four on.

    While some of them wait for the disk or for this process, no connection is idle.
    """
    return connections + connections // 4


def open_session(campaign: Campaign, folder: Path) -> Session:
    """Make what the calls of a run share, with what its earlier sessions spent.

    Raises:
        UsageError: a cost limit without prices, or a price table that is none.
    """
    if campaign.cost_limit is not None and campaign.prices is None:
        raise UsageError("--cost-limit needs --prices FILE: what the models cost is not known otherwise")
    session = Session(
        folder=folder, max_connections=campaign.max_connections, max_retries=_given(campaign.max_retries, RETRIES),
        timeout=_given(campaign.timeout, TIMEOUT), prices=read_prices(Path(campaign.prices)) if campaign.prices else {},
        cost_limit=campaign.cost_limit, hide=Keys().hide,
    )  # fmt: skip
    earlier = load_manifest(folder) if (folder / MANIFEST).is_file() else {}
    session.count_earlier(earlier.get("calls"))
    return session


def _given(value: _Number | None, default: _Number) -> _Number:
    return default if value is None else value


def with_records_of(folder: Path, target: Path) -> Path:
    """Start another run folder from the records of one, unless it has records of its own already."""
    try:
        target.mkdir(parents=True, exist_ok=True)
        if not (target / RECORDS).exists():
            shutil.copyfile(folder / RECORDS, target / RECORDS)
    except OSError as error:
        raise StoreError(f"cannot write {target}: {error.strerror}") from error
    return target


def write_outputs(
    store: Store, benches: list[TaskBench], registry: Registry, folder: Path, *, complete: bool,
    predict_only: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Compute and save the results; write the exports again where anything they show may have changed."""
    found = results(store, benches, registry, complete=complete, predict_only=predict_only)
    exports: dict[Path, Iterator[bytes]] = {folder / HISTORIES: _histories(store, benches)}
    for bench in benches if not predict_only else ():
        exports[folder / f"samples_{safe_name(bench.task.name, 80)}.jsonl"] = _samples(store, bench)
    state = digest([store.size, predict_only, [_shown(bench) for bench in benches]]).encode()
    stamp = folder / ".exports"
    if not all(path.exists() for path in (stamp, *exports)) or stamp.read_bytes() != state:
        for path, lines in exports.items():
            save_lines(path, lines)
        save(stamp, state)
    save(folder / RESULTS, pretty(found))
    return found


def _status(store: Store, benches: list[TaskBench], progress: Progress, *, stored_only: bool) -> str:
    if progress.interrupted:
        return "interrupted"
    if progress.stopped:
        return "stopped"
    if stored_only and any(store.outcome(job.history_id) is None for bench in benches for job in bench.jobs()):
        return "partial"
    return "complete"


def load_manifest(folder: Path) -> dict[str, Any]:
    """Read a run's manifest.

    Raises:
        InputError: the folder is no run.
    """
    path = folder / MANIFEST
    try:
        data = msgspec.json.decode(path.read_bytes())
    except FileNotFoundError:
        raise InputError("is not a run folder: it has no manifest.json", path=folder) from None
    except (OSError, msgspec.DecodeError) as error:
        how = "move it away and give the run's command again; the records are kept"
        raise InputError(f"cannot be read: {error}; {how}", path=path) from error
    if not isinstance(data, dict) or not isinstance(data.get("campaign"), dict):
        raise InputError("is not a manifest of this program", path=path)
    return data


def _shown(bench: TaskBench) -> list[Any]:
    """List what the exports of a bench are made from: its rows, and all that the ids of its records depend on."""
    histories = [job.history_id for job in bench.jobs()]
    later = [
        (bench.reading_id(row.condition, ""), bench.trajectory_id(row.judge, row.ask, case, ""),
         *(bench.evidence_id(row.judge, row.ask, axis, case, "") for axis in bench.reading_axes(case, row.condition)))
        for row in rows(bench) for case in bench.cases
    ]  # fmt: skip
    labels = [[one.label for one in (row.policy, row.patient, row.condition, row.judge)] for row in rows(bench)]
    return [bench.task.name, bench.asks, labels, histories, later]


def _manifest(campaign: Campaign, benches: list[TaskBench], registry: Registry, command: str) -> dict[str, Any]:
    adapters: dict[str, Any] = {}
    checks: dict[str, Any] = {}
    for bench in benches:
        readers = [condition.reader for condition in bench.conditions if condition.reader is not None]
        for adapter in (*bench.policies, *bench.patients, *bench.judges):
            adapters[f"{adapter.kind}:{adapter.label}"] = adapter.identity
        for condition in bench.conditions:
            adapters[f"reader:{condition.label}"] = condition.identity
        for one in (*bench.policies, *bench.patients, *readers, *bench.judges, bench.environment):
            if isinstance(one, Adapter):
                checks[f"{one.kind}:{one.label}"] = checked.said(one.registration)
        for name in bench.task.config.metrics:
            checks[f"metric:{name}"] = checked.said(registry.get("metric", name))
    return {
        "format": 1, "program": version("meddc-bench"), "python": platform.python_version(), "platform": sys.platform,
        "command": command, "campaign": campaign.model_dump(mode="json"), "adapters": adapters, "checked": checks,
        "plugins": {plugin.name: f"{plugin.distribution} {plugin.version}" for plugin in registry.plugins},
        "tasks": {
            bench.task.name: {"cases": len(bench.cases), "cases_digest": bench.task.cases_digest} for bench in benches
        },
        "started": _now(), "status": "running",
    }  # fmt: skip


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def _exit_code(progress: Progress, found: dict[str, Any]) -> int:
    if progress.interrupted:
        return 130
    bad = ("patient_failed", "reader_failed", "judge_failed", "infra_failed")
    failed = any(row["outcomes"].get(one) for task in found["tasks"].values() for row in task["rows"] for one in bad)
    broken = any(
        "the metric" in metric.get("reason", "")
        for task in found["tasks"].values() for row in task["rows"] for metric in row["metrics"].values()
    )  # fmt: skip
    return 3 if progress.stopped or failed or broken else 0


def _histories(store: Store, benches: list[TaskBench]) -> Iterator[bytes]:
    for bench in benches:
        for policy in bench.policies:
            for patient in bench.patients:
                for repeat in range(bench.repeats):
                    for case in bench.cases:
                        record_id = bench.history_id(policy, patient, case, repeat)
                        if store.outcome(record_id) != "scored":
                            continue
                        history = store.record(record_id, History)
                        yield _encode(
                            {"task": bench.task.name, "case": case.id, "policy": policy.label, "patient": patient.label,
                             "repeat": repeat, "history": history}
                        )  # fmt: skip


def _samples(store: Store, bench: TaskBench) -> Iterator[bytes]:
    scorer = Scorer(store, bench, texts=True)
    for row in rows(bench):
        for measured in scorer.units(row):
            yield _encode(_sample(bench, row, measured))


def _sample(bench: TaskBench, row: Row, measured: Measured) -> dict[str, Any]:
    case, head = measured.case, measured.head
    out: dict[str, Any] = {
        "task": bench.task.name, "case": case.id, "policy": row.policy.label, "patient": row.patient.label,
        "condition": row.condition.label, "judge": row.judge.label, "ask": row.ask, "repeat": measured.repeat,
        "outcome": measured.cell.outcome, "reason": measured.cell.reason,
        "rounds": head.rounds if head else None, "first_summary": head.first_summary if head else None, "axes": {},
    }  # fmt: skip
    for axis, assignment in measured.assignments.items():
        found = measured.evidence.get(axis)
        texts = {item.id: item.text for item in found.items} if found else {}
        names = reference_texts(case, axis)
        out["axes"][axis] = {
            "tp": assignment.tp, "fp": assignment.fp, "fn": assignment.fn,
            "matched": [
                [
                    texts.get(one.prediction, ""), names.get(one.reference, ""), one.round,
                    *([one.level] if one.level else []),
                ]
                for one in assignment.pairs
            ],
            "unmatched_predictions": [texts.get(one, "") for one in assignment.unmatched_predictions],
            "unmatched_references": [names.get(one, "") for one in assignment.unmatched_references],
            "volunteered": [names.get(one, "") for one in assignment.volunteered],
            "excluded": [
                [texts.get(one.prediction, ""), names.get(one.reference, ""), one.excluded]
                for one in assignment.excluded
            ],
        }  # fmt: skip
    return out


def reference_texts(case: Case, axis: Axis) -> dict[str, str]:
    """Return the texts of a case's references on an axis, by id."""
    return {one.id: one.text for one in axis_references(case, axis)}
