"""The formulas of the paper against vectors made by an independent implementation, through the project's own stages."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from meddc_bench.contracts import Unit
from meddc_bench.pipeline.match import assign
from meddc_bench.pipeline.score import Cell, column, mean_and_sd
from meddc_bench.records import Assignment, Edge, Evidence, Item
from meddc_metrics.efficiency import efficiency
from meddc_metrics.metrics import total

FOLDER = Path(__file__).parents[1] / "vectors"
MetricOf = Callable[..., Any]


def vectors(topic: str) -> list[Any]:
    data = json.loads((FOLDER / f"{topic}.json").read_text(encoding="utf-8"))
    return [pytest.param(one["input"], one["expected"], id=one["id"]) for one in data["cases"]]


def all_have_references(vector: Any) -> bool:
    """Tell whether no case of a run lacks references: D and T leave such a case out."""
    return all(tp + fn for tp, _, fn in vector.values[0]["cases"])


def close(expected: float) -> Any:
    return pytest.approx(expected, abs=1e-9)


def diagnosis(given: dict[str, Any]) -> Assignment:
    return assign(
        Evidence(
            axis="diagnosis",
            items=tuple(Item(id=f"p{index}", text=f"p{index}") for index in range(given["n_pred"])),
            references=tuple(f"g{index}" for index in range(given["n_ref"])),
            edges=edges(given["edges"]),
        )
    )


def trajectory(given: dict[str, Any]) -> Assignment:
    evidence = Evidence(
        axis="trajectory",
        items=tuple(Item(id=f"p{n}", text=f"p{n}", round=at) for n, at in enumerate(given["question_rounds"])),
        references=tuple(f"g{index}" for index in range(given["n_targets"])),
        edges=edges(given["edges"]),
        volunteered=tuple(f"g{index}" for index in given.get("volunteered", ())),
    )
    return assign(evidence, given.get("first_summary_round"))


def edges(pairs: Sequence[Sequence[int]]) -> tuple[Edge, ...]:
    return tuple(Edge(prediction=f"p{one}", reference=f"g{other}") for one, other in pairs)


def unit(given: dict[str, Any], **assignments: Assignment) -> Unit:
    return Unit(assignments, "diagnosed", given.get("total_rounds", 0), given.get("first_summary_round"), 50)


def counted(axis: str, counts: Sequence[int]) -> Assignment:
    tp, fp, fn = counts
    return Assignment(axis=axis, tp=tp, fp=fp, fn=fn)


def value(metric: Any, units: Sequence[Unit]) -> float | None:
    return column(metric, [Cell(f"c{index:03}", 0, "scored", one) for index, one in enumerate(units)], {}).mean


@pytest.mark.parametrize(("given", "expected"), vectors("matching"))
def test_a_diagnosis_list_is_credited_as_equation_1_says(given: Any, expected: Any, metric: MetricOf) -> None:
    found = diagnosis(given)
    assert (found.tp, found.fp, found.fn) == (expected["TP"], expected["FP"], expected["FN"])
    for name, key in (("D", "f1"), ("D_precision", "precision"), ("D_recall", "recall")):
        assert value(metric(name), [unit({}, diagnosis=found)]) == close(expected[key])


@pytest.mark.parametrize(("given", "expected"), vectors("matched_rounds"))
def test_the_earliest_questions_are_credited_where_several_would_do(given: Any, expected: Any) -> None:
    found = trajectory(given)
    assert found.tp == expected["TP"]
    assert list(found.matched_rounds) == expected["matched_rounds"]


@pytest.mark.parametrize(("given", "expected"), vectors("trajectory_case"))
def test_late_unplaced_and_volunteered_targets_are_counted_as_the_protocol_says(
    given: Any, expected: Any, metric: MetricOf
) -> None:
    found = trajectory(given)
    assert (found.tp, found.fp, found.fn) == (expected["TP"], expected["FP"], expected["FN"])
    if "matched_rounds" in expected:
        assert list(found.matched_rounds) == expected["matched_rounds"]
    assert value(metric("E"), [unit(given, trajectory=found)]) == close(expected["E"])


@pytest.mark.parametrize(("given", "expected"), [one for one in vectors("micro_f1") if all_have_references(one)])
@pytest.mark.parametrize(("letter", "axis"), [("D", "diagnosis"), ("T", "trajectory")])
def test_a_run_adds_counts_before_it_divides(
    given: Any, expected: Any, letter: str, axis: str, metric: MetricOf
) -> None:
    units = [unit({}, **{axis: counted(axis, counts)}) for counts in given["cases"]]
    for name, key in ((letter, "f1"), (f"{letter}_precision", "precision"), (f"{letter}_recall", "recall")):
        assert value(metric(name), units) == close(expected[key])


@pytest.mark.parametrize(("given", "expected"), vectors("micro_f1"))
def test_sums_of_counts_give_the_micro_scores(given: Any, expected: Any, metric: MetricOf) -> None:
    tp, fp, fn = (np.asarray(sum(case[index] for case in given["cases"])) for index in range(3))
    for name, key in (("D", "f1"), ("D_precision", "precision"), ("D_recall", "recall")):
        assert float(metric(name).aggregate({"tp": tp, "fp": fp, "fn": fn})) == close(expected[key])


@pytest.mark.parametrize(("given", "expected"), vectors("efficiency"))
def test_timing_follows_equations_3_to_6_in_every_branch(given: Any, expected: Any) -> None:
    found = efficiency(given["matched_rounds"], given["first_summary_round"], given["total_rounds"])
    assert (found.total_rounds, found.matched) == (expected["T"], expected["m"])
    assert found.value == close(expected["E"])
    got = (found.mean_round, found.timing, found.ineffective)
    wanted = (expected["tbar"], expected["timing"], expected["r_ineff"])
    for one, other in zip(got, wanted, strict=True):
        assert one is None if other is None else one == close(other)


@pytest.mark.parametrize(("given", "expected"), vectors("total"))
def test_total_weighs_d_t_and_e_as_equation_2_says(given: Any, expected: Any) -> None:
    assert total(given["D"], given["T"], given["E"], tuple(given["weights"])) == close(expected["Total"])


@pytest.mark.parametrize(("given", "expected"), vectors("run_scores"))
def test_a_run_reports_micro_scores_mean_timing_and_their_total(given: Any, expected: Any, metric: MetricOf) -> None:
    cases = given["cases"]
    sums = {
        f"{axis}_{name}": np.asarray(sum(case[axis][index] for case in cases))
        for axis in "dt"
        for index, name in enumerate(("tp", "fp", "fn"))
    }
    timing = {"sum": np.asarray(sum(case["e"] for case in cases)), "n": np.asarray(float(len(cases)))}
    for axis, name in (("d", "D"), ("t", "T")):
        counts = {key: sums[f"{axis}_{key}"] for key in ("tp", "fp", "fn")}
        assert float(metric(name).aggregate(counts)) == close(expected[name])
    assert float(metric("E").aggregate(timing)) == close(expected["E"])
    whole = metric("Total").aggregate({**sums, "e": timing["sum"], "n": timing["n"]})
    assert float(whole) == close(expected["Total"])


@pytest.mark.parametrize(("given", "expected"), vectors("repeat_summary"))
def test_repeats_are_summed_up_as_in_tables_s11_and_s12(given: Any, expected: Any) -> None:
    mean, sd = mean_and_sd(given["values"])
    assert mean == close(expected["mean"])
    assert sd is None if expected["sd"] is None else sd == close(expected["sd"])


@pytest.mark.parametrize(("given", "expected"), vectors("end_to_end_run"))
def test_raw_edges_become_the_printed_scores_of_a_run(given: Any, expected: Any, metric: MetricOf) -> None:
    units = []
    for case, wanted in zip(given["cases"], expected["cases"], strict=True):
        d, t = diagnosis(case["dx"]), trajectory(case["traj"])
        assert [d.tp, d.fp, d.fn] == wanted["D"]
        assert [t.tp, t.fp, t.fn] == wanted["T"]
        assert list(t.matched_rounds) == wanted["matched_rounds"]
        units.append(unit(case["traj"], diagnosis=d, trajectory=t))
        assert value(metric("E"), units[-1:]) == close(wanted["E"])
    for name, points in expected["run"].items():
        assert 100 * (value(metric(name), units) or 0.0) == close(points), name
