"""Audits of tables of published scores, which have no cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from meddc_bench.analysis.audit import audit_scores
from meddc_bench.audits.group import base_of
from meddc_bench.audits.published import Published
from meddc_bench.audits.records import MetricAudit, Question, Report, Unmeasured
from meddc_bench.errors import UsageError, suggest


def audit_published(published: Published, question: Question) -> Report:
    """Audit tables of published scores, which have no cases: all but intervals and verdicts.

    Raises:
        UsageError: fewer than two readers, or an unknown base or policy.
    """
    found = [
        _published(task, scores, published, question)
        for task, scores in published.tables.items() if question.tasks is None or task in question.tasks
    ]  # fmt: skip
    if not found:
        raise UsageError(f"no table to audit; there is: {', '.join(published.tables)}")
    return Report("reader", tuple(found), source=published.source)


def _published(
    task: str, scores: Mapping[str, Mapping[str, float | None]], published: Published, question: Question
) -> MetricAudit:
    if len(scores) < 2:
        raise UsageError(f"{task}: a table of one reader, {', '.join(scores)}: nothing to compare it with")
    policies = {policy for row in scores.values() for policy in row}
    unknown = sorted(question.without - policies)
    if unknown:
        raise UsageError(f"{task} has no policy {unknown[0]!r} to leave out; {suggest(unknown[0], sorted(policies))}")
    wanted = question if question.base is not None else replace(question, base=published.base)
    base = base_of(scores, wanted)
    unders = (base, *sorted(scores.keys() - {base}))
    names = sorted(policies - question.without)
    if not any(scores[base].get(policy) is not None for policy in names):
        raise UsageError(f"{task}: no score under the base {base}")
    table = {under: {policy: scores[under].get(policy) for policy in names} for under in unders}
    found = audit_scores(table, base, metric=published.metric, unit=published.unit)
    return MetricAudit(
        task=task, metric=published.metric, over="reader", base=base, unit=published.unit, instruments=unders,
        policies=tuple(names), found=found,
        unmeasured=tuple(Unmeasured(one.policy, one.reader, "no score in the table") for one in found.unread),
    )  # fmt: skip
