"""Do the records of a row hold together: each against its key, and against what it was made from.

What this cannot see: an edge that a judge did not propose, or a diagnosis that a reader did not give, written into the
records wherever they stand. Making readings and evidence again (`again`) shows these too, for adapters that are
deterministic.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from meddc_bench.adapters import Caller
from meddc_bench.contracts import LEVELS
from meddc_bench.errors import MedDDCError
from meddc_bench.orchestrator import head_of
from meddc_bench.pipeline.judge import axis_references, checked, judge_reading, judge_trajectory, reading_step
from meddc_bench.pipeline.read import read_emitted, read_with
from meddc_bench.pipeline.sighting import before_summary, sight
from meddc_bench.plan import Job, TaskBench
from meddc_bench.records import Axis, Evidence, History, Key, Reading, Record
from meddc_bench.scorer import Row
from meddc_bench.stored import StoredRun


@dataclass
class Faults:
    """What does not hold, counted by kind: a kind is words without a case id."""

    found: Counter[str] = field(default_factory=Counter)

    def add(self, words: str) -> None:
        self.found[words] += 1

    def lines(self) -> list[str]:
        return [f"{words} ({count} records)" if count > 1 else words for words, count in self.found.items()]


@dataclass
class Checked:
    """What the records of a row showed: faults, and the models that say they wrote them, by role."""

    faults: Faults = field(default_factory=Faults)
    served: dict[str, set[str]] = field(default_factory=dict)

    def serve(self, role: str, model: str | None) -> None:
        if model:
            self.served.setdefault(role, set()).add(model)


def check_row(run: StoredRun, bench: TaskBench, row: Row, *, again: bool = False) -> Checked:
    """Check every record a row is computed from; with `again` its readings and evidence are made again and compared."""
    found = Checked()
    jobs = [
        job for job in bench.jobs() if job.policy.label == row.policy.label and job.patient.label == row.patient.label
    ]
    for job in jobs:
        if run.store.outcome(job.history_id) == "scored":
            try:
                _check(run, bench, row, job, found)
            except MedDDCError as error:
                found.faults.add(str(error))
    if again and not found.faults.found:
        asyncio.run(_make_again(run, bench, row, jobs, found.faults))
    return found


def _check(run: StoredRun, bench: TaskBench, row: Row, job: Job, found: Checked) -> None:
    store, faults = run.store, found.faults
    entry, history = store.entry(job.history_id), store.record(job.history_id, History)
    if history is None or entry.head is None:
        faults.add("a history is marked scored and has no turns")
        return
    key = Key(
        task=bench.task.name, case=job.case.id, policy=job.policy.label, patient=job.patient.label, repeat=job.repeat
    )
    if entry.key != key:
        faults.add("a history stands under the id of another")
    head = head_of(history)
    if head != entry.head:
        faults.add("a history was edited: its turns are not those that were scored")
    speakers = {str(turn.index): turn.role for turn in history.turns}
    for place, note in history.notes.items():
        found.serve("policy" if speakers.get(place) == "doctor" else "patient", note.model)
    reading_id = bench.reading_id(row.condition, job.history_id)
    reading = store.record(reading_id, Reading) if store.outcome(reading_id) == "scored" else None
    if reading is not None:
        found.serve("reader", reading.model)
        _check_reading(bench, row, history, head.hash, reading, faults)
        if store.entry(reading_id).key != _with(key, condition=row.condition.label):
            faults.add("a reading stands under the id of another")
        for axis in bench.reading_axes(job.case, row.condition):
            record_id = bench.evidence_id(row.judge, row.ask, axis, job.case, reading_id)
            _check_evidence(run, bench, job, axis, record_id, history, reading, found)
    if job.case.scored_targets:
        record_id = bench.trajectory_id(row.judge, row.ask, job.case, job.history_id)
        _check_evidence(run, bench, job, "trajectory", record_id, history, reading, found)


def _with(key: Key, **more: Any) -> Key:
    return msgspec.structs.replace(key, **more)


def _check_reading(bench: TaskBench, row: Row, history: History, hash_: str, reading: Reading, faults: Faults) -> None:
    if reading.history_hash != hash_:
        faults.add("a reading was made of another history")
    if row.condition.label == "emitted":
        if reading != read_emitted(history, hash_):
            faults.add("an `emitted` reading is not the policy's own diagnosis")
        return
    view = bench.task.config.protocol.view
    seen = sight(history, view)
    if (reading.view, reading.cut_at, reading.turns_read) != (view, seen.cut_at, len(seen.turns)):
        faults.add("a reading was made of another view")


def _check_evidence(
    run: StoredRun, bench: TaskBench, job: Job, axis: Axis, record_id: str, history: History, reading: Reading | None,
    found: Checked,
) -> None:  # fmt: skip
    evidence = run.store.record(record_id, Evidence) if run.store.outcome(record_id) == "scored" else None
    if evidence is None:
        return
    found.serve("judge", evidence.model)
    faults, case = found.faults, job.case
    references = axis_references(case, axis)
    ids = tuple(one.id for one in references)
    key = run.store.entry(record_id).key
    if evidence.axis != axis or evidence.references != ids or (key.case, key.axis) != (case.id, axis):
        faults.add("evidence stands under the id of another")
        return
    if not set(evidence.volunteered) <= set(ids):
        faults.add("evidence names a volunteered target that there is not")
    open_edges = [msgspec.structs.replace(edge, excluded=None) for edge in evidence.edges]
    if axis == "trajectory":
        doctor = {turn.index: turn for turn in before_summary(history) if turn.role == "doctor"}
        if any(_misplaced(item.turn, item.round, doctor) for item in evidence.items):
            faults.add("evidence gives a question a round that is not its turn's")
        texts = tuple(turn.text for turn in doctor.values())
        allowed = checked(open_edges, evidence.items, references, LEVELS["cover_targets"], lambda edge: texts)
    else:
        given = None if reading is None else reading.diagnoses if axis == "diagnosis" else reading.plan.get(axis)
        top_k = bench.task.config.protocol.top_k if axis == "diagnosis" else len(evidence.items)
        if given is not None and [item.text for item in evidence.items] != list(given)[:top_k]:
            faults.add("evidence judges other diagnoses than the reading gives")
        by_id = {item.id: item.text for item in evidence.items}
        text = reading.text if reading is not None else ""
        allowed = checked(
            open_edges, evidence.items, references, LEVELS[reading_step(bench.task, axis)],
            lambda edge: (by_id.get(edge.prediction, ""), text),
        )  # fmt: skip
    if allowed != evidence.edges:
        faults.add("evidence admits an edge that cannot count, or excludes one that can")


def _misplaced(turn: int | None, round_: int | None, doctor: dict[int, Any]) -> bool:
    return (turn is None) != (round_ is None) or (
        turn is not None and (turn not in doctor or doctor[turn].round != round_)
    )


async def _make_again(run: StoredRun, bench: TaskBench, row: Row, jobs: Iterable[Job], faults: Faults) -> None:
    """Read and judge again what is stored, and compare; nothing is written."""
    caller = Caller()
    judge, reader = row.judge.get(), row.condition.reader
    for job in jobs:
        history = run.store.record(job.history_id, History) if run.store.outcome(job.history_id) == "scored" else None
        if history is None:
            continue
        case, task = job.case, bench.task
        reading_id = bench.reading_id(row.condition, job.history_id)
        reading = run.store.record(reading_id, Reading)
        if reading is not None and reader is not None:
            seed = bench.reader_seed(case, job.repeat)
            new = await read_with(reader.get(), task, history, reading.history_hash, seed=seed, caller=caller)
            _compare("a reading", new, reading, faults)
        if case.scored_targets:
            seed = bench.judge_seed(case, job.repeat, "trajectory", row.ask)
            record_id = bench.trajectory_id(row.judge, row.ask, case, job.history_id)
            made = await judge_trajectory(judge, task, case, history, seed=seed, caller=caller)
            _compare("evidence", made, run.store.record(record_id, Evidence), faults)
        for axis in bench.reading_axes(case, row.condition) if reading is not None else ():
            seed = bench.judge_seed(case, job.repeat, axis, row.ask)
            record_id = bench.evidence_id(row.judge, row.ask, axis, case, reading_id)
            made = await judge_reading(judge, task, case, reading, axis, seed=seed, caller=caller)  # type: ignore[arg-type]
            _compare("evidence", made, run.store.record(record_id, Evidence), faults)


def _compare(what: str, new: Reading | Evidence, old: Reading | Evidence | None, faults: Faults) -> None:
    """Compare what counts of a record: not a reader's words beside its diagnoses, nor a judge's raw replies."""
    if old is None or _counting(new) != _counting(old):
        faults.add(f"{what} made again is another")


def _counting(record: Reading | Evidence) -> Record:
    if isinstance(record, Evidence):
        return msgspec.structs.replace(record, raw={})
    return record if record.diagnoses is None else msgspec.structs.replace(record, text="")
