"""Make the readings and judgements that an audit lacks, from stored histories; nothing is rolled out."""

from __future__ import annotations

from collections.abc import Callable

from meddc_bench.orchestrator import FINAL, Orchestrator, Progress
from meddc_bench.run import open_session
from meddc_bench.stored import StoredRun


def read_again(
    run: StoredRun, *, fail_after: int | None = None, on_progress: Callable[[Progress], None] | None = None
) -> Progress:
    """Make the readings and judgements that are missing of a run opened for writing; nothing is rolled out."""
    campaign, store = run.campaign, run.store
    session = open_session(campaign, run.folder)
    orchestrator = Orchestrator(
        store, width=campaign.max_connections, retries=2 if campaign.max_retries is None else campaign.max_retries,
        timeout=campaign.timeout, fail_after=fail_after, on_progress=on_progress, session=session,
    )  # fmt: skip
    return orchestrator.run(run.benches, lambda job: store.outcome(job.history_id) in FINAL)


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
