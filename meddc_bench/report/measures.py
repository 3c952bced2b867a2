"""A stored run as the numbers of a report, task by task: estimates, differences, audits, curves. No words, no layout."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from meddc_bench.analysis.association import Associations, associations
from meddc_bench.analysis.audit import Audit, audit
from meddc_bench.analysis.bootstrap import Difference, Estimate, bootstrap
from meddc_bench.analysis.multiplicity import Corrected, holm_differences
from meddc_bench.analysis.resample import case_values
from meddc_bench.analysis.sensitivity import SEVEN, Sensitivity, sensitivity
from meddc_bench.analysis.series import Array, Series, complete
from meddc_bench.headline import CONSULTATION, WORKUP, has_accuracy, leading
from meddc_bench.plan import TaskBench
from meddc_bench.records import CONDITIONS
from meddc_bench.report.card import TaskFacts, task_facts
from meddc_bench.scorer import Row, Scorer, rows
from meddc_bench.stored import StoredRun

ALL_PAIRS = 6
"""Up to so many policies are all compared with each other; more are compared with the first."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a report is made: draws of the bootstrap, their seed, and whether text and ids of cases may be in it."""

    draws: int = 2000
    seed: int = 0
    include_text: bool = False


@dataclass(frozen=True, slots=True)
class Setting:
    """The patient, the judge and its ask that some rows have in common."""

    patient: str
    judge: str
    ask: int


@dataclass(frozen=True, slots=True)
class Key:
    """Whose column it is; `condition` is None for a metric that no reader touches."""

    policy: str
    metric: str
    condition: str | None


@dataclass(frozen=True, slots=True)
class Compared:
    """Paired differences of one metric on the `cases` all policies measured; `left_out` counts the others."""

    metric: str
    condition: str | None
    cases: int
    left_out: int
    differences: tuple[Difference, ...]
    corrected: tuple[Corrected, ...]


@dataclass(frozen=True, slots=True)
class Readers:
    """One metric under all conditions; `audit` is None where no two of them can be compared."""

    cases: int
    left_out: int
    audit: Audit | None


@dataclass(frozen=True, slots=True)
class Curve:
    """Of all `targets` of a policy's consultations (repeats together) how many were covered in each round."""

    policy: str
    targets: int
    covered: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class CaseScore:
    """A policy's means over repeats of T and D on a case, as proportions; None where undefined."""

    policy: str
    case: str
    t: float | None
    d: float | None


@dataclass(frozen=True, slots=True)
class TaskMeasures:
    """All numbers of a task.

    `result` is the task's part of the results, as `results.json` holds it. Everything but `estimates` is of the first
    setting, `main`. `common` is the condition of the headline: the one that the protocol scores, or the first reader,
    else `own`, else `emitted`; `base` the coupled one that readers are compared with. `headline` are the metrics that come
    first. Policies are in the order of their leading score.
    """

    facts: TaskFacts
    result: Mapping[str, Any]
    headline: tuple[str, ...]
    settings: tuple[Setting, ...]
    main: Setting
    conditions: tuple[str, ...]
    common: str
    base: str
    policies: tuple[str, ...]
    estimates: Mapping[tuple[Setting, Key], Estimate]
    compared: tuple[Compared, ...]
    readers: tuple[Readers, Readers]
    weights: Sensitivity | None
    curves: tuple[Curve, ...]
    case_scores: tuple[CaseScore, ...]
    association: Associations | None

    @property
    def rows(self) -> list[Mapping[str, Any]]:
        """The rows of the results in the main setting."""
        return [row for row in self.result["rows"] if setting_of(row) == self.main]


def measure(run: StoredRun, bench: TaskBench, result: Mapping[str, Any], options: Options) -> TaskMeasures:
    """Compute all numbers of a task; `result` is its part of the results."""
    conditions = tuple(one.label for one in bench.conditions)
    readers = [one for one in conditions if one not in CONDITIONS]
    common = next(iter(readers), conditions[-1])
    if bench.task.config.protocol.scored_on == "emitted":
        common = "emitted"
    shown = headline_of(result["rows"])
    base = "own" if "own" in conditions and common != "own" else "emitted"
    settings = tuple(dict.fromkeys(setting_of(row) for row in result["rows"]))
    main = settings[0]
    policies = _ordered(result["rows"], main, common)
    series = dict(_series(run, bench, result, shown)) if any(row["metrics"] for row in result["rows"]) else {}
    mine = {key: one for (setting, key), one in series.items() if setting == main}
    scores = _case_scores(mine, policies, common)
    read = ("Acc", "Acc50") if has_accuracy(shown) else ("D", "Total")
    return TaskMeasures(
        facts=task_facts(run, bench, include_text=options.include_text),
        result=result,
        headline=shown,
        settings=settings,
        main=main,
        conditions=conditions,
        common=common,
        base=base,
        policies=policies,
        estimates=_estimates(series, options),
        compared=tuple(_compared(mine, shown, policies, common, options)),
        readers=(
            _readers(read[0], mine, conditions, policies, base, options),
            _readers(read[1], mine, conditions, policies, base, options),
        ),
        weights=_weights(result["rows"], main, common),
        curves=tuple(_curves(run, bench, policies)) if series else (),
        case_scores=tuple(scores),
        association=_association(mine, policies, common),
    )


def headline_of(lines: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the metrics that come first: of MedDDC its four, of TrustMed its accuracies; D, T and E come after those."""
    return WORKUP if any(has_accuracy(row["metrics"]) for row in lines) else CONSULTATION


def mean_of(row: Mapping[str, Any], metric: str) -> float | None:
    """Return the mean of a metric in a row of the results, None where it was not measured."""
    found = row["metrics"].get(metric, {}).get("mean")
    return None if found is None else float(found)


def row_of(measures: TaskMeasures, policy: str, condition: str) -> Mapping[str, Any]:
    """Return the row of a policy under a condition in the main setting."""
    return next(row for row in measures.rows if (row["policy"], row["condition"]) == (policy, condition))


def setting_of(row: Mapping[str, Any]) -> Setting:
    """Return the setting of a row of the results."""
    return Setting(row["patient"], row["judge"], row["ask"])


def _ordered(lines: Sequence[Mapping[str, Any]], main: Setting, common: str) -> tuple[str, ...]:
    """Put the policies in the order of the leading metric that they have; those without a score come last."""
    found = [row for row in lines if row["condition"] == common and setting_of(row) == main]

    def place(row: Mapping[str, Any]) -> tuple[bool, list[float], str]:
        values = [one for name in leading(row["metrics"]) if (one := mean_of(row, name)) is not None]
        return not values, [-one for one in values], row["policy"]

    return tuple(row["policy"] for row in sorted(found, key=place))


def _series(
    run: StoredRun, bench: TaskBench, result: Mapping[str, Any], shown: Sequence[str]
) -> Iterator[tuple[tuple[Setting, Key], Series]]:  # fmt: skip
    """Iterate over the series of the headline metrics, D and T; one that no reader touches comes once."""
    broken = {
        name for row in result["rows"] for name, metric in row["metrics"].items()
        if str(metric.get("reason", "")).startswith("the metric")
    }  # fmt: skip
    for one in run.columns(bench, [name for name in dict.fromkeys((*shown, "D", "T")) if name not in broken]):
        if one.series is not None and one.unit == "fraction":
            row = one.row
            key = Key(row.policy.label, one.metric, one.series.reader)
            yield (Setting(row.patient.label, row.judge.label, row.ask), key), one.series


def _estimates(series: Mapping[tuple[Setting, Key], Series], options: Options) -> dict[tuple[Setting, Key], Estimate]:
    """Give an interval to each column that was measured whole; the others have bounds instead."""
    out: dict[tuple[Setting, Key], Estimate] = {}
    for setting in dict.fromkeys(setting for setting, _ in series):
        whole = {key: one for (at, key), one in series.items() if at == setting and not one.unmeasured.any()}
        if whole:
            found = bootstrap(list(whole.values()), draws=options.draws, seed=options.seed, pairs=())
            out.update({(setting, key): one for key, one in zip(whole, found.estimates, strict=True)})
    return out


def _defined(series: Series) -> bool:
    """Tell whether the metric has a value in every run, over the cases that were measured."""
    sums = {name: np.nansum(array, axis=1) for name, array in series.arrays.items()}
    return bool(np.isfinite(series.aggregate(sums)).all())


def _compared(
    mine: Mapping[Key, Series], shown: Sequence[str], policies: Sequence[str], common: str, options: Options
) -> Iterator[Compared]:
    for metric in shown:
        found = [
            one for policy in policies for condition in (common, None)
            if (one := mine.get(Key(policy, metric, condition))) is not None and _defined(one)
        ]  # fmt: skip
        if len(found) < 2:
            continue
        kept = complete(found)
        if not kept.cases:
            continue
        names = [one.policy for one in found]
        pairs = (
            list(itertools.combinations(names, 2)) if len(names) <= ALL_PAIRS else [(names[0], x) for x in names[1:]]
        )
        differences = bootstrap(kept.series, draws=options.draws, seed=options.seed, pairs=pairs).differences
        yield Compared(
            metric, found[0].reader, len(kept.cases), len(kept.left_out), differences, holm_differences(differences)
        )


def _readers(
    metric: str, mine: Mapping[Key, Series], conditions: Sequence[str], policies: Sequence[str], base: str,
    options: Options,
) -> Readers:  # fmt: skip
    order = [base, *(one for one in conditions if one != base)]
    keys = [Key(policy, metric, condition) for condition in order for policy in policies]
    found = [mine[key] for key in keys if key in mine and _defined(mine[key])]
    readers = {one.reader for one in found}
    if len(readers) < 2 or base not in readers:
        return Readers(0, 0, None)
    kept = complete(found)
    if not kept.cases:
        return Readers(0, len(kept.left_out), None)
    made = audit(kept.series, base, draws=options.draws, seed=options.seed)
    return Readers(len(kept.cases), len(kept.left_out), made)


def _weights(lines: Sequence[Mapping[str, Any]], main: Setting, common: str) -> Sensitivity | None:
    scores: dict[str, dict[str, float]] = {}
    for row in lines:
        if row["condition"] == common and setting_of(row) == main:
            values = {name: mean_of(row, name) for name in ("D", "T", "E")}
            whole = {name: value for name, value in values.items() if value is not None}
            if len(whole) == len(values):
                scores[row["policy"]] = whole
    return sensitivity(scores, SEVEN) if scores else None


def _curves(run: StoredRun, bench: TaskBench, policies: Sequence[str]) -> Iterator[Curve]:
    """Count, for each policy in the first setting, the targets covered by round."""
    scorer = Scorer(run.store, bench)
    first: dict[str, Row] = {}
    for row in rows(bench):
        first.setdefault(row.policy.label, row)
    for policy in policies:
        targets, covered = 0, dict[int, int]()
        for one in scorer.units(first[policy]):
            found = one.assignments.get("trajectory")
            if found is not None:
                targets += found.tp + found.fn
                for round_ in found.matched_rounds:
                    covered[round_] = covered.get(round_, 0) + 1
        if targets:
            yield Curve(policy, targets, dict(sorted(covered.items())))


def _by_case(series: Series | None) -> Array | None:
    """Return the metric of each case alone (runs, cases), NaN where the case has nothing to score."""
    if series is None or series.unmeasured.any():
        return None
    values = np.array(case_values(series).values)
    values[np.sum([np.abs(array) for array in series.arrays.values()], axis=0) == 0] = np.nan
    return values


def _case_scores(mine: Mapping[Key, Series], policies: Sequence[str], common: str) -> Iterator[CaseScore]:
    for policy in policies:
        d = mine.get(Key(policy, "D", common))
        if d is None:
            continue
        means = [
            None if values is None else values.mean(axis=0)
            for values in (_by_case(mine.get(Key(policy, "T", None))), _by_case(d))
        ]
        for at, case in enumerate(d.cases):
            t, value = (
                None if mean is None or not np.isfinite(mean[at]) else float(mean[at]) for mean in means
            )  # fmt: skip
            yield CaseScore(policy, case, t, value)


def _association(mine: Mapping[Key, Series], policies: Sequence[str], common: str) -> Associations | None:
    """Correlate T and D over the policies and cases that have both."""
    t = {one: _by_case(mine.get(Key(one, "T", None))) for one in policies}
    d = {one: _by_case(mine.get(Key(one, "D", common))) for one in policies}
    both = [one for one in policies if t[one] is not None and d[one] is not None]
    if not both:
        return None
    finite = [np.isfinite(x).all(axis=0) for one in both for x in (t[one], d[one]) if x is not None]
    if len({one.shape for one in finite}) > 1:
        return None
    kept = np.logical_and.reduce(finite)
    if not kept.any():
        return None
    return associations(
        {one: x[:, kept] for one in both if (x := t[one]) is not None},
        {one: x[:, kept] for one in both if (x := d[one]) is not None},
    )
