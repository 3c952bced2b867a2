"""From a finished run to a row: every number computed again from the stored evidence, or the reasons why not."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from meddc_bench.contracts import Metric
from meddc_bench.errors import MedDDCError, UsageError, suggest
from meddc_bench.plan import TaskBench
from meddc_bench.publish.checks import Checker
from meddc_bench.publish.evidence import Checked, check_row
from meddc_bench.publish.folder import evidence_digest, run_faults
from meddc_bench.publish.instruments import applies
from meddc_bench.publish.making import Said, Source, make_row
from meddc_bench.publish.row import MeasuredRow, PolicyPart
from meddc_bench.results import build_metrics, results
from meddc_bench.scorer import Row, rows
from meddc_bench.stored import StoredColumn, StoredRun
from meddc_bench.task import Task
from meddc_bench.text import safe_name


class NotPublishable(MedDDCError):
    """A run, or a row of it, that is not published, with all the reasons."""

    exit_code = 3

    def __init__(self, what: str, reasons: Sequence[str]):
        super().__init__(f"{what} is not published:" + "".join(f"\n  {reason}" for reason in reasons))
        self.reasons = tuple(reasons)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows of a run: labels, None for whatever is the only choice (for `condition`, the first reader)."""

    task: str | None = None
    policy: str | None = None
    patient: str | None = None
    judge: str | None = None
    condition: str | None = None


def publish(
    run: StoredRun, wanted: Wanted, said: Said, *, again: bool = False, created: datetime.datetime | None = None
) -> Iterator[MeasuredRow]:
    """Yield the rows wanted of a run, each recomputed from its records; all of its policies where none is named.

    Args:
        again: make readings and evidence again and compare them with the stored ones (deterministic adapters).

    Raises:
        NotPublishable: with every reason found.
        UsageError: a label that is not in the run.
    """
    chosen = [(bench, row) for bench in _benches(run, wanted.task) for row in _rows(bench, wanted)]
    faults = run_faults(run)
    if faults:
        raise NotPublishable(str(run.folder), faults)
    found = results(run.store, run.benches, run.registry)
    evidence, now = evidence_digest(run), created or datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    for bench, row in chosen:
        (shown,) = [
            one for one in found["tasks"][bench.task.name]["rows"]
            if (one["policy"], one["patient"], one["condition"], one["judge"], one["ask"]) == labels(row)
        ]  # fmt: skip
        source = Source(run, bench, row, shown, evidence, now, _metrics(run, bench, row))
        yield _row(source, said, again=again)


def check_targets(tasks: Iterable[Task]) -> None:
    """Refuse as standard what rests on targets that were derived by rules.

    Raises:
        NotPublishable: a task has such targets.
    """
    for task in tasks:
        derived = sum(target.derived for case in task.cases for target in case.scored_targets)
        if derived:
            raise NotPublishable(
                task.name, [f"not standard: T rests on {derived} derived targets, which no clinician wrote"]
            )


def _benches(run: StoredRun, task: str | None) -> list[TaskBench]:
    return list(run.benches) if task is None else [run.bench(task)]


def _rows(bench: TaskBench, wanted: Wanted) -> Iterator[Row]:
    readers = [one.label for one in bench.conditions if one.label != "emitted"]
    emitted = bench.task.config.protocol.scored_on == "emitted"
    condition = wanted.condition or ("emitted" if emitted else readers[0] if len(readers) == 1 else None)
    if condition is None:
        names = ", ".join(readers) or "none but emitted"
        raise UsageError(f"{bench.task.name}: a row has one condition; the readers are {names}: name one, --condition")
    patient = _only("patient", [one.label for one in bench.patients], wanted.patient)
    judge = _only("judge", [one.label for one in bench.judges], wanted.judge)
    _known("condition", [one.label for one in bench.conditions], condition)
    if wanted.policy is not None:
        _known("policy", [one.label for one in bench.policies], wanted.policy)
    for row in rows(bench):
        labels = (row.patient.label, row.judge.label, row.condition.label)
        if labels == (patient, judge, condition) and row.ask == 0 and wanted.policy in (None, row.policy.label):
            yield row


def _only(kind: str, labels: Sequence[str], wanted: str | None) -> str:
    if wanted is None and len(labels) > 1:
        raise NotPublishable(
            "the run", [f"mixed instruments: it has {len(labels)} {kind}s ({', '.join(labels)}); name one, --{kind}"]
        )
    return _known(kind, labels, labels[0] if wanted is None else wanted)


def _known(kind: str, labels: Sequence[str], wanted: str) -> str:
    if wanted not in labels:
        raise UsageError(f"the run has no {kind} {wanted!r}; {suggest(wanted, labels)}")
    return wanted


def _row(source: Source, said: Said, *, again: bool) -> MeasuredRow:
    bench, row = source.bench, source.row
    checked = check_row(source.run, bench, row, again=again)
    columns = list(source.run.columns(bench, source.metrics, lambda other: labels(other) == labels(row)))
    reasons = [*checked.faults.lines(), *_uncovered(columns), *_several_served(checked)]
    if reasons:
        raise NotPublishable(f"{row.policy.label} / {row.condition.label} on {bench.task.name}", reasons)
    made = make_row(source, columns, checked, said)
    wrong = Checker(source.run.registry, source.run.campaign.include_path).faults(made)
    if wrong:
        raise NotPublishable(f"{row.policy.label} / {row.condition.label} on {bench.task.name}", wrong)
    return made


def labels(row: Row) -> tuple[str, str, str, str, int]:
    """Return what tells a row of a run from its others."""
    return row.policy.label, row.patient.label, row.condition.label, row.judge.label, row.ask


def _metrics(run: StoredRun, bench: TaskBench, row: Row) -> dict[str, Metric]:
    built = build_metrics(bench, run.registry).items()
    return {name: metric for name, (_, metric) in built if applies(bench, row.condition.label, metric.needs)}


def _uncovered(columns: Sequence[StoredColumn]) -> list[str]:
    """Name what was not measured, by outcome; the reasons of a run may hold anything, so they stay in it."""
    lost = [one for one in columns if one.measured != one.expected or one.unmeasured]
    if not lost:
        return []
    worst = max(lost, key=lambda one: one.expected - one.measured)
    how: dict[str, int] = {}
    for words, count in worst.unmeasured.items():
        how[words.split(":")[0]] = how.get(words.split(":")[0], 0) + count
    kinds = ", ".join(f"{count} {outcome}" for outcome, count in sorted(how.items()))
    names = ", ".join(one.metric for one in lost[:5])
    return [
        f"partial coverage: {names}: {worst.measured} of {worst.expected} units of {worst.metric} measured ({kinds})"
    ]


def _several_served(checked: Checked) -> list[str]:
    return [
        f"the {role}'s records were written by {', '.join(sorted(models))}: the model changed during the run"
        for role, models in sorted(checked.served.items())
        if len(models) > 1
    ]


def said(title: str, by: str, url: str | None) -> Said:
    """Check what a publisher says of a policy.

    Raises:
        UsageError: too long, control characters, or an address that is none.
    """
    try:
        one = PolicyPart(name="x", revision="x", label="x", title=title, by=by, url=url)
    except ValidationError as failure:
        found = failure.errors(include_input=False, include_url=False)[0]
        flag = {"title": "name"}.get(str(found["loc"][0]), str(found["loc"][0]))
        raise UsageError(f"--{flag}: {found['msg']}") from None
    return Said(one.title, one.by, one.url)


def file_name(row: MeasuredRow) -> str:
    """Return the name of a row's file on a board."""
    return safe_name(f"{row.policy.label}-{row.instrument.condition}-{row.instrument.name}", 120) + ".json"
