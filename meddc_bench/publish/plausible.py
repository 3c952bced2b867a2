"""What per-case counts cannot be: no whole numbers, more references than a case has, one metric against another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from meddc_bench.analysis.series import Array
from meddc_bench.publish.row import MeasuredRow
from meddc_bench.task import Task

_WHOLE = ("tp", "fp", "fn", "n")
_FLOOR = 0.1
"""E of a consultation without a matched target (docs/protocol.md)."""
_SLACK = 1e-9


def implausible(row: MeasuredRow, task: Task | None) -> Iterator[str]:
    """Name what cannot be in a row's counts; with the task that it was measured on, against its cases too."""
    if row.counts is None:
        return
    arrays = {name: _arrays(row, name) for name, score in row.scores.items() if score.counts is not None}
    for name, statistics in row.counts.items():
        for key, runs in statistics.items():
            values = np.array(runs, dtype=float)
            if (values < 0).any():
                yield f"counts.{name}.{key}: a number below 0"
            elif key.rpartition("_")[2] in _WHOLE and (values != np.rint(values)).any():
                yield f"counts.{name}.{key}: not whole numbers"
    yield from _against_each_other(arrays)
    yield from _accuracies(arrays)
    if task is not None:
        yield from _against_cases(arrays, row, task)


def _arrays(row: MeasuredRow, name: str) -> Mapping[str, Array]:
    assert row.counts is not None
    return {key: np.array(runs, dtype=float) for key, runs in row.counts[row.scores[name].counts or name].items()}


def _against_each_other(found: Mapping[str, Mapping[str, Array]]) -> Iterator[str]:
    """D, T and E are the parts of Total; precision and recall have the counts of their F1; timing needs a match."""
    for axis in ("D", "T"):
        for other in (f"{axis}_precision", f"{axis}_recall"):
            if axis in found and other in found and not _same(found[axis], found[other], ("tp", "fp", "fn")):
                yield f"counts: {other} is not counted as {axis} is"
        if "Total" in found and axis in found:
            names = [(f"{axis.lower()}_{key}", key) for key in ("tp", "fp", "fn")]
            if any(not _equal(found["Total"].get(one), found[axis].get(other)) for one, other in names):
                yield f"counts: Total is not counted from the row's {axis}"
    timing, trajectory = found.get("E"), found.get("T")
    if timing is not None and "Total" in found:
        pairs = [("e", "sum"), ("n", "n")]
        if any(not _equal(found["Total"].get(one), timing.get(other)) for one, other in pairs):
            yield "counts: Total is not counted from the row's E"
    if timing is None or "sum" not in timing or "n" not in timing:
        return
    values, there = timing["sum"], timing["n"]
    if (
        ((there != 0) & (there != 1)).any()
        or (values > there + _SLACK).any()
        or (values < _FLOOR * there - _SLACK).any()
    ):
        yield "counts.E: a case's E is from 0.1 to 1"
    if trajectory is not None and (np.abs(values - _FLOOR * there)[trajectory["tp"] == 0] > _SLACK).any():
        yield "counts.E: above 0.1 in a consultation that reached no target"
    asked = found.get("questions")
    if (
        asked is not None
        and trajectory is not None
        and not _equal(asked.get("sum"), trajectory["tp"] + trajectory["fp"])
    ):
        yield "counts.questions: are not the predictions of T"


def _accuracies(found: Mapping[str, Mapping[str, Array]]) -> Iterator[str]:
    """Acc is D without a missed reference, Strict no more, and @50 the same where half of the records were received."""
    graded = found.get("Acc", {})
    if not {"acc", "strict", "acc50", "strict50"} <= graded.keys():
        return
    acc, strict, acc50, strict50 = (graded[name] for name in ("acc", "strict", "acc50", "strict50"))
    if any(((one != 0) & (one != 1)).any() for one in (acc, strict, acc50, strict50)):
        yield "counts.Acc: a case is accurate or it is not"
    if (strict > acc).any() or (acc50 > acc).any() or not _equal(strict50, strict * acc50):
        yield "counts.Acc: Strict or @50 is not of the cases that are accurate"
    if "D" in found and (acc != ((found["D"]["fn"] == 0) & (found["D"]["tp"] > 0))).any():
        yield "counts.Acc: not the cases without a missed diagnosis in D"
    coverage = found.get("findings_coverage", {}).get("findings")
    if coverage is not None and (acc50 != acc * (coverage >= 0.5 - _SLACK)).any():
        yield "counts.Acc: @50 is not of the cases with half of their records received"


def _same(one: Mapping[str, Array], other: Mapping[str, Array], names: Sequence[str]) -> bool:
    return all(_equal(one.get(name), other.get(name)) for name in names)


def _equal(one: Array | None, other: Array | None) -> bool:
    return one is None or other is None or bool(np.allclose(one, other, rtol=0, atol=_SLACK))


def _against_cases(found: Mapping[str, Mapping[str, Array]], row: MeasuredRow, task: Task) -> Iterator[str]:
    """Found and missed references of a case are as many as it has, less those that the patient volunteered."""
    if "D" in found:
        wanted = np.array([len(case.diagnoses) for case in task.cases])
        if not _equal(found["D"]["tp"] + found["D"]["fn"], np.broadcast_to(wanted, found["D"]["tp"].shape)):
            yield "counts.D: found and missed diagnoses are not as many as the cases have"
    if "T" in found:
        total = found["T"]["tp"] + found["T"]["fn"]
        wanted = np.broadcast_to(np.array([len(case.scored_targets) for case in task.cases]), total.shape)
        volunteered = found.get("volunteered", {}).get("sum")
        if (total > wanted).any() or (volunteered is not None and not _equal(total + volunteered, wanted)):
            yield "counts.T: found, missed and volunteered targets are not as many as the cases have"
    if "rounds" in found:
        limit = np.array([case.turn_budget + 1 for case in task.cases])
        if row.provenance.histories == "rolled out" and (found["rounds"]["sum"] > limit).any():
            yield "counts.rounds: more rounds than the cases allow"
