"""Make the readings and judgements that an audit lacks, from stored histories; nothing is rolled out."""

from __future__ import annotations

from collections.abc import Callable

from meddc_bench.audits.records import Question
from meddc_bench.errors import UsageError, suggest
from meddc_bench.orchestrator import FINAL, Orchestrator, Progress
from meddc_bench.run import MANIFEST, consultations, load_manifest, open_session
from meddc_bench.store import pretty, save
from meddc_bench.stored import StoredRun


def read_again(
    run: StoredRun, *, fail_after: int | None = None, on_progress: Callable[[Progress], None] | None = None
) -> Progress:
    """Make the readings and judgements that are missing of a run opened for writing; nothing is rolled out.

    What the calls took is added to the run's manifest.
    """
    campaign, store = run.campaign, run.store
    session = open_session(campaign, run.folder)
    orchestrator = Orchestrator(
        store, width=consultations(campaign.max_connections), retries=2 if campaign.max_retries is None else campaign.max_retries,
        timeout=campaign.timeout, fail_after=fail_after, on_progress=on_progress, session=session,
    )  # fmt: skip
    progress = orchestrator.run(run.benches, lambda job: store.outcome(job.history_id) in FINAL)
    if session.tallies:
        save(run.folder / MANIFEST, pretty({**load_manifest(run.folder), "calls": session.report()}))
    return progress


def check_names(run: StoredRun, question: Question) -> None:
    """Refuse a question that names what there is not, before anything is made and paid for.

    Raises:
        UsageError: an unknown task, policy, metric or base.
    """
    benches = [bench for bench in run.benches if question.tasks is None or bench.task.name in question.tasks]
    labels = {
        "reader": [condition.label for bench in benches for condition in bench.conditions],
        "judge": [judge.label for bench in benches for judge in bench.judges],
        "patient": [patient.label for bench in benches for patient in bench.patients],
        "view": ["cut", "mask", "full"],
    }
    given = {
        "task": (question.tasks or (), [bench.task.name for bench in run.benches]),
        "policy": (question.without, [policy.label for bench in benches for policy in bench.policies]),
        "metric": (question.metrics or (), [name for bench in benches for name in bench.task.config.metrics]),
        question.over: ([question.base] if question.base else (), labels[question.over]),
    }
    for kind, (asked, known) in given.items():
        for name in sorted(set(asked) - set(known)):
            raise UsageError(f"{run.folder}: there is no {kind} {name!r}; {suggest(name, dict.fromkeys(known))}")


def anything_missing(run: StoredRun) -> bool:
    """Tell whether a stored history lacks a reading or a judgement that the run's readers and judges would make."""
    outcome = run.store.outcome
    for bench in run.benches:
        asked = [(judge, ask) for judge in bench.judges for ask in range(bench.asks)]
        for job in bench.jobs():
            if outcome(job.history_id) != "scored":
                continue
            wanted = [bench.trajectory_id(*one, job.case, job.history_id) for one in asked if job.case.scored_targets]
            for condition in bench.conditions:
                reading = bench.reading_id(condition, job.history_id)
                wanted.append(reading)
                if outcome(reading) == "scored":
                    axes = bench.reading_axes(job.case, condition)
                    wanted += [bench.evidence_id(*one, axis, job.case, reading) for one in asked for axis in axes]
            if any(outcome(one) not in FINAL for one in wanted):
                return True
    return False
