"""Audits of stored runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from meddc_bench.audits.group import Prepared, audited, prepare
from meddc_bench.audits.records import Histories, MetricAudit, Question, Report, Setting, Skipped
from meddc_bench.audits.sights import FIXED, Group, histories, sights
from meddc_bench.errors import UsageError, suggest
from meddc_bench.plan import TaskBench
from meddc_bench.scorer import no_collection
from meddc_bench.stored import StoredRun

_Key = tuple[str, str, Setting]


def audit_runs(runs: Sequence[StoredRun], question: Question) -> Report:
    """Audit stored runs: all their columns of a task and metric, in each setting, over the part in question.

    Several runs are taken together: they may hold other policies or other readers, judges, patients or views of the
    same; everything else must be the same, for readers, judges and views the histories too.

    Raises:
        UsageError: nothing to compare, an unknown name, a metric the part cannot change, or fingerprints that differ in
            more than the part that is audited, with the list.
    """
    benches = [(run, bench, run.scorer(bench)) for run in runs for bench in _benches(run, question)]
    known = sorted({bench.task.name for run in runs for bench in run.benches})
    unknown = [one for one in question.tasks or () if one not in known]
    if unknown:
        raise UsageError(f"there is no task {unknown[0]!r}; {suggest(unknown[0], known)}")
    policies = {policy.label for _, bench, _ in benches for policy in bench.policies}
    unknown = sorted(question.without - policies)
    if unknown:
        raise UsageError(f"there is no policy {unknown[0]!r} to leave out; {suggest(unknown[0], sorted(policies))}")
    groups: dict[_Key, Group] = {}
    with no_collection():
        checked = histories(benches, question)
        for run, bench, scorer in benches:
            for sight in sights(run, bench, scorer, question):
                groups.setdefault(sight.key, Group(question.over)).add(sight)
        return _report(groups, checked, question)


def _benches(run: StoredRun, question: Question) -> list[TaskBench]:
    return [one for one in run.benches if question.tasks is None or one.task.name in question.tasks]


def _report(groups: Mapping[_Key, Group], checked: tuple[Histories, ...], question: Question) -> Report:
    order = {key[:2]: at for at, key in reversed([*enumerate(groups)])}
    wanted: list[Group] = []
    prepared: list[Prepared] = []
    for (task, metric, setting), group in sorted(groups.items(), key=lambda one: (order[one[0][:2]], str(one[0][2]))):
        if metric in FIXED and question.over in ("reader", "view"):
            continue
        fixed = {name: groups[key] for name in FIXED if (key := _key(groups, task, name, setting)) is not None}
        wanted.append(group)
        prepared.append(prepare(task, metric, setting, group, fixed if metric == "Total" else {}, question))
    audits: list[MetricAudit] = []
    skipped: dict[tuple[str, str], Skipped] = {}
    for group, one in zip(wanted, audited(prepared, question), strict=True):
        nothing = one.found is None and not group.named and not any(one.gaps) and not one.failed
        if nothing and _without_references(group):
            skipped[one.task, one.metric] = Skipped(one.task, one.metric, one.reason or "nothing to measure")
        else:
            audits.append(one)
    if not audits:
        raise UsageError(
            "; ".join(f"{one.task}: {one.metric}: {one.reason}" for one in skipped.values()) or "no scores"
        )
    return Report(question.over, tuple(audits), checked, tuple(skipped.values()))


def _key(groups: Mapping[_Key, Group], task: str, metric: str, setting: Setting) -> _Key | None:
    """Find the audit of a metric without a reader that belongs to a setting."""
    key = (task, metric, replace(setting, condition=None))
    return key if key in groups else None


def _without_references(group: Group) -> bool:
    return not any(column.unmeasured for row in group.columns.values() for column in row.values())
