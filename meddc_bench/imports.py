"""Histories that others made: an importer reads them, they are stored as they are, and the run goes on from there."""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from meddc_bench.actions import split_reasoning
from meddc_bench.campaign import HOW, Campaign
from meddc_bench.contracts import Fault, Imported
from meddc_bench.errors import InputError, PluginError, StoreError, UsageError
from meddc_bench.fingerprint import digest
from meddc_bench.orchestrator import head_of
from meddc_bench.pipeline.rollout import history_hash
from meddc_bench.plan import CORE_REVISION, Job, TaskBench, build_benches
from meddc_bench.records import Case, History, Key, Note
from meddc_bench.registry import Registry
from meddc_bench.resources import shipped
from meddc_bench.store import Entry, Store, storable
from meddc_bench.task import Task, TaskFile, load_task
from meddc_bench.text import clean, safe_name
from meddc_bench.wiring import Adapter

PATIENT = "imported"
MOST_REPEATS = 1000
MOST_CHARACTERS = 8000
"""A turn of an imported history is cut there."""


@dataclass
class Import:
    """What an import found: cases, how many histories by policy, and what could not be used."""

    cases: dict[str, Case] = field(default_factory=dict)
    policies: list[str] = field(default_factory=list)
    repeats: int = 1
    histories: Counter[str] = field(default_factory=Counter)
    faults: list[Fault] = field(default_factory=list)
    ids: dict[tuple[str, str, int], str] = field(default_factory=dict)


class ImportBench(TaskBench):
    """A bench whose histories were imported: their ids come from their content."""

    missing_because = "no history was imported"

    def __init__(self, bench: TaskBench, found: Import, importer: Adapter):
        policies: list[Any] = [_Named(label, importer) for label in found.policies]
        patients: list[Any] = [_Named(PATIENT, importer)]
        super().__init__(
            bench.task, bench.seed, bench.environment, policies, patients, bench.conditions, bench.judges,
            min(found.repeats, bench.repeats), bench.asks, len(bench.cases),
        )  # fmt: skip
        self._found, self.beside = found, bench.beside

    def history_id(self, policy: Any, patient: Any, case: Case, repeat: int) -> str:
        key = (policy.label, case.id, repeat)
        return self._found.ids.get(key) or digest(["no history", *key])

    def expects(self, policy: Any, case: Case, repeat: int) -> bool:
        """Expect of every policy each case that any of them has, in all its repeats: gaps stay in the count."""
        return repeat < self._repeats[policy.label]

    @functools.cached_property
    def _repeats(self) -> dict[str, int]:
        most: dict[str, int] = {}
        for policy, _, repeat in self._found.ids:
            most[policy] = max(most.get(policy, 0), repeat + 1)
        return most

    def jobs(self) -> Iterator[Job]:
        return (job for job in super().jobs() if (job.policy.label, job.case.id, job.repeat) in self._found.ids)


class _Named:
    """Stands for the policy or patient of an import: a label, and the importer's identity; it cannot be called."""

    kind = "importer"
    model = None

    def __init__(self, label: str, importer: Adapter):
        self.label, self.name, self.identity = label, label, importer.identity

    def get(self) -> None:
        return None

    async def aclose(self) -> None:
        return None


def read_into(store: Store, importer: Adapter, files: Sequence[Path], known: dict[str, Case], task_name: str) -> Import:
    """Read files with an importer and store every history, streaming.

    Raises:
        InputError: a whole file cannot be used.
        PluginError: the importer itself failed.
    """
    found = Import(cases=dict(known))
    for file in files:
        if not file.exists():
            raise InputError("there is no such file", path=file)
        try:
            for one in importer.get().read(file):
                _take(one, found, store, importer, task_name)
        except (UsageError, StoreError):
            raise
        except Exception as error:
            raise PluginError(importer.registration.plugin, f"{importer.name} failed on {file}: {error}") from error
    missing = sorted({case for _, case, _ in found.ids} - set(found.cases))
    for case in missing:
        found.faults.append(Fault(case, "no references for this case: its histories are kept but not scored"))
    found.ids = {key: one for key, one in found.ids.items() if key[1] in found.cases}
    found.policies = sorted({policy for policy, _, _ in found.ids})
    found.repeats = 1 + max((repeat for _, _, repeat in found.ids), default=0)
    used = {case for _, case, _ in found.ids}
    found.cases = {name: case for name, case in found.cases.items() if name in used}
    return found


def _take(one: Any, found: Import, store: Store, importer: Adapter, task_name: str) -> None:
    if isinstance(one, Fault):
        found.faults.append(one)
    elif isinstance(one, Case):
        found.cases.setdefault(one.id, one)
    elif isinstance(one, Imported):
        key = (one.policy, one.case, one.repeat)
        if key in found.ids:
            again = f"a second history of {one.policy}, repeat {one.repeat}; the first counts"
            found.faults.append(Fault(one.case, again))
            return
        if not 0 <= one.repeat < MOST_REPEATS:
            found.faults.append(Fault(one.case, f"repeat {one.repeat} is not one of 0 to {MOST_REPEATS - 1}"))
            return
        kept = storable(_entered(one.history))
        record_id = digest(["history", CORE_REVISION, task_name, importer.identity, *key, history_hash(kept.record)])
        found.ids[key] = record_id
        found.histories[one.policy] += 1
        if record_id not in store:
            entry = Entry(
                stage="history", id=record_id, outcome="scored", head=head_of(kept.record),
                key=Key(task=task_name, case=one.case, policy=one.policy, patient=PATIENT, repeat=one.repeat),
            )  # fmt: skip
            store.append(entry, kept)
    else:
        raise TypeError(f"gave {type(one).__name__}; expected Case, Imported or Fault")


def _entered(history: History) -> History:
    """Clean the texts as a rollout does on entry: no escapes, no invisible characters, hidden reasoning kept apart."""
    turns, notes = [], dict(history.notes)
    for turn in history.turns:
        text, thought = split_reasoning(clean(turn.text)) if turn.role == "doctor" else (clean(turn.text), "")
        if thought:
            note = notes.get(str(turn.index), Note())
            kept = "\n".join(part for part in (note.reasoning, thought) if part)
            notes[str(turn.index)] = msgspec.structs.replace(note, reasoning=kept)
        text = text[:MOST_CHARACTERS]
        turns.append(msgspec.structs.replace(turn, text=text) if text != turn.text else turn)
    return msgspec.structs.replace(history, turns=tuple(turns), notes=notes)


def import_benches(
    campaign: Campaign, registry: Registry, store: Store, importer: Adapter, files: Sequence[Path], task: Task | None
) -> tuple[ImportBench, Import]:
    """Read the files and build the bench that scores them.

    Args:
        task: the task the histories belong to; None makes one of the importer's own cases.
    """
    name = task.name if task is not None else f"imported_{importer.name}"
    known = {case.id: case for case in task.cases} if task is not None else {}
    found = read_into(store, importer, files, known, name)
    if not found.ids:
        first = f"; first: {found.faults[0].where}: {found.faults[0].message}" if found.faults else ""
        raise UsageError(f"no history with references in {', '.join(map(str, files))}{first}")
    base = task or load_task(shipped("tasks") / "meddc_record" / "task.yaml")
    cases = tuple(found.cases[one] for one in sorted(found.cases))
    more = {"task": name, "title": f"导入的历史（{importer.name}）", "language": _language(cases)}
    config: TaskFile = base.config.model_copy(update=more)
    own = Task(config, cases, base.path)
    most = campaign.repeats or found.repeats
    policy = campaign.model_copy(update={"tasks": (name,), "policies": (), "repeats": most})
    bench = build_benches(policy, registry, [own], imported=True)[0]
    return ImportBench(bench, found, importer), found


def _language(cases: Sequence[Case]) -> str:
    """Return the one language of the cases, in which they are read and judged.

    Raises:
        UsageError: they have several.
    """
    languages = sorted({case.language for case in cases})
    if len(languages) > 1:
        raise UsageError(
            f"the cases are in {', '.join(languages)}; a task has one language: take one, or import them as tasks"
        )
    return languages[0]


def default_folder(importer: Adapter, options: Mapping[str, Any], campaign: Campaign, files: Sequence[Path]) -> Path:
    """Return `runs/<importer>-<digest>`: the same command finds its folder again."""
    what = {key: value for key, value in campaign.model_dump(mode="json").items() if key not in HOW}
    short = digest([what, importer.identity, dict(options), [str(one) for one in files]])[:8]
    return Path("runs") / f"{safe_name(importer.name, 80)}-{short}"


def fault_lines(faults: Sequence[Fault], most: int = 20) -> Iterator[str]:
    """Write faults for the screen, the first `most` of them."""
    for fault in itertools.islice(faults, most):
        yield f"{fault.where}: {fault.message}"
    if len(faults) > most:
        yield f"... and {len(faults) - most} more"
