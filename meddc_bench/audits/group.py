"""Audits of groups: the series of each cut to common cases, then shifts, reversals, verdicts and variance.

The cases are drawn once for all audits on the same cases: metrics that rest on the same statistics share their sums.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from meddc_bench.analysis.audit import audit
from meddc_bench.analysis.resample import Replicates, replicate
from meddc_bench.analysis.series import LeftOut, Series, complete, shown
from meddc_bench.audits.records import Fixed, Gap, MetricAudit, Over, Question, Setting, Unmeasured
from meddc_bench.audits.sights import Group
from meddc_bench.errors import UsageError, suggest
from meddc_bench.stored import StoredColumn

FIRST: Mapping[Over, str] = {"reader": "emitted", "view": "cut"}
"""The base where it is there and none is named."""
_OTHERS = {
    "reader": "name one with --reader: its readings are made from the stored histories",
    "judge": "name one with --judge: it judges the stored readings",
    "view": "give --views cut,mask,full",
    "patient": "patients need rollouts of their own: make them with `run --patient ...`, and give all run folders",
}


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """An audit before the draws: what is known of it, and its series on common cases; none where there is a reason."""

    blank: MetricAudit
    series: tuple[Series, ...] = ()
    fixed: Mapping[str, Group] = field(default_factory=dict)


def prepare(
    task: str, metric: str, setting: Setting, group: Group, fixed: Mapping[str, Group], question: Question
) -> Prepared:
    """Lay out the audit of a group."""
    base = base_of(group.columns, question)
    if len(group.columns) < 2:
        raise UsageError(
            f"{task}: {base} is the only {question.over}: nothing to compare it with; {_OTHERS[question.over]}"
        )
    unders = (base, *sorted(group.columns.keys() - {base}))
    policies = tuple(sorted({policy for row in group.columns.values() for policy in row}))
    sample = next(iter(group.columns[base].values()))
    unit = "proportion" if sample.unit == "fraction" else sample.unit
    blank = MetricAudit(
        task=task, metric=metric, over=question.over, base=base, setting=setting, unit=unit,
        higher_is_better=sample.higher_is_better, instruments=unders, policies=policies, differs=group.differs(base),
        fingerprints={
            one: str(next(iter(group.columns[one].values())).fingerprint["digest"]) for one in unders
        },
    )  # fmt: skip
    return _measured(blank, group, fixed)


def audited(prepared: Sequence[Prepared], question: Question) -> list[MetricAudit]:
    """Draw the cases for all of them, and compare."""
    places: dict[tuple[str, ...], list[tuple[int, Series]]] = {}
    for at, one in enumerate(prepared):
        for series in one.series:
            places.setdefault(tuple(series.cases), []).append((at, series))
    found: list[list[Replicates]] = [[] for _ in prepared]
    for members in places.values():
        drawn = replicate([series for _, series in members], draws=question.draws, seed=question.seed)
        for (at, _), one_drawn in zip(members, drawn, strict=True):
            found[at].append(one_drawn)
    return [
        _compared(one, replicates, question) if one.series else one.blank
        for one, replicates in zip(prepared, found, strict=True)
    ]


def base_of(columns: Mapping[str, object], question: Question) -> str:
    if question.base is None:
        first = FIRST.get(question.over, "")
        return first if first in columns else next(iter(columns))
    if question.base not in columns:
        raise UsageError(f"no {question.over} {question.base!r} for a base; {suggest(question.base, columns)}")
    return question.base


def _measured(blank: MetricAudit, group: Group, fixed: Mapping[str, Group]) -> Prepared:
    """Cut all series to the cases that all of them measured."""
    places = [(policy, under) for under in blank.instruments for policy in blank.policies]
    columns = {place: group.columns[place[1]].get(place[0]) for place in places}
    gaps, unmeasured, known = [], [], []
    for (policy, under), column in columns.items():
        if column is None or column.series is None:
            reason = _first_reason(column)
            unmeasured.append(Unmeasured(policy, under, reason))
            continue
        known.append(replace(column.series, reader=under))
        if column.holes:
            reasons = Counter(words for found in column.holes.values() for words in found)
            gaps.append(Gap(policy, under, len(column.holes), tuple(words for words, _ in reasons.most_common())))
    blank = replace(blank, gaps=tuple(gaps), unmeasured=tuple(unmeasured))
    if not known:
        return Prepared(replace(blank, reason=unmeasured[0].reason))
    whole = complete(known)
    expected = len(known[0].cases)
    blank = replace(
        blank, cases=len(whole.cases), expected=expected, left_out=_reasons(whole.left_out, columns),
        runs={one.policy: one.runs for one in known},
    )  # fmt: skip
    if not whole.cases:
        words = f"none of the {expected} cases was measured for all policies under all {blank.over}s"
        return Prepared(replace(blank, reason=words))
    return Prepared(blank, whole.series, fixed)


def _compared(prepared: Prepared, replicates: Sequence[Replicates], question: Question) -> MetricAudit:
    blank = prepared.blank
    drawn = [(one, found) for one, found in zip(prepared.series, replicates, strict=True) if not np.isnan(found.value)]
    series = [one for one, _ in drawn]
    undefined = [one for one, found in zip(prepared.series, replicates, strict=True) if np.isnan(found.value)]
    unmeasured = [Unmeasured(one.policy, str(one.reader), "nothing to average in some run") for one in undefined]
    blank = replace(blank, unmeasured=(*blank.unmeasured, *unmeasured))
    if not series:
        return replace(blank, reason="undefined for every policy: no case has the references it needs")
    if not any(one.reader == blank.base for one in series):
        first = next(one.reason for one in blank.unmeasured if one.under == blank.base)
        return replace(blank, reason=f"no score under the base {blank.base}: {first}")
    if len({one.reader for one in series}) < 2:
        others = ", ".join(one for one in blank.instruments if one != blank.base)
        return replace(blank, reason=f"only {blank.base} has scores: there is nothing under {others} to compare")
    found = audit(
        series, blank.base, draws=question.draws, seed=question.seed, level=question.level,
        higher_is_better=blank.higher_is_better, replicates=[one for _, one in drawn],
    )  # fmt: skip
    kept = {one.policy: tuple(one.cases) for one in series}
    return replace(blank, found=found, fixed=tuple(_fixed(prepared.fixed, kept)))


def _fixed(groups: Mapping[str, Group], kept: Mapping[str, tuple[str, ...]]) -> Iterator[Fixed]:
    """Give what no instrument changes, of the cases that were kept; nothing where it is not the same under all."""
    for metric, group in groups.items():
        for policy, cases in kept.items():
            found = [row[policy].series for row in group.columns.values() if policy in row]
            first = found[0] if found else None
            if first is None or any(one is None or not _equal(first, one) for one in found):
                continue
            at = np.isin(np.array(first.cases), np.array(cases))
            statistics = {name: array[:, at] for name, array in first.arrays.items()}
            cut = replace(first, cases=[case for case in first.cases if case in set(cases)], statistics=statistics)
            if not cut.unmeasured.any():
                value = replicate([cut], draws=1)[0].value
                yield Fixed(policy, metric, value, cut.unit)


def _equal(one: Series, other: Series) -> bool:
    return one.cases == other.cases and all(
        np.array_equal(array, other.arrays.get(name, np.empty(0)), equal_nan=True) for name, array in one.arrays.items()
    )


def _first_reason(column: StoredColumn | None) -> str:
    if column is None:
        return "not in this run"
    if column.unmeasured:
        words, count = max(column.unmeasured.items(), key=lambda one: one[1])
        return f"{words} ({count} of {column.expected})"
    return column.reason or "nothing to measure"


def _reasons(
    left_out: Sequence[LeftOut], columns: Mapping[tuple[str, str], StoredColumn | None]
) -> tuple[LeftOut, ...]:
    """Say for each case that is left out whose it was and why."""
    return tuple(
        LeftOut(
            one.case,
            shown(
                [
                    f"{policy} / {under}: {words}"
                    for (policy, under), column in columns.items() if column is not None
                    for words in column.holes.get(one.case, ())
                ]
            ) or one.reason,
        )
        for one in left_out
    )  # fmt: skip
