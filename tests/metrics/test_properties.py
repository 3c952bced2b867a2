"""What must hold of every metric whatever the run: range, order, repeats, exactness, None where nothing is measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from meddc_bench.contracts import Unit
from meddc_bench.pipeline.score import Cell, Column, column
from meddc_bench.records import DIMENSIONS, Assignment, Pair
from meddc_metrics.efficiency import efficiency, timing

MetricOf = Callable[..., Any]
NAMES = (
    *("D", "D_precision", "D_recall", "T", "T_precision", "T_recall", "E", "Total"),
    *("matched_round", "first_summary_round", "rounds", "questions", "volunteered"),
    *(f"{one}_f1" for one in DIMENSIONS),
)
rounds = st.lists(st.integers(1, 50), max_size=12)


@st.composite
def assignments(draw: st.DrawFn, axis: str) -> Assignment:
    matched = sorted(draw(rounds)) if axis == "trajectory" else [None] * draw(st.integers(0, 4))
    pairs = tuple(Pair(prediction=f"p{n}", reference=f"g{n}", round=at) for n, at in enumerate(matched))
    gone = tuple(f"v{n}" for n in range(draw(st.integers(0, 2)))) if axis == "trajectory" else ()
    fp, fn = draw(st.integers(0, 6)), draw(st.integers(0, 6))
    return Assignment(axis=axis, pairs=pairs, tp=len(pairs), fp=fp, fn=fn, volunteered=gone)


@st.composite
def units(draw: st.DrawFn) -> Unit:
    d, t = draw(assignments("diagnosis")), draw(assignments("trajectory"))
    summary = draw(st.none() | st.integers(1, 51))
    found = {"diagnosis": d, "trajectory": t} if draw(st.booleans()) else {"diagnosis": d}
    return Unit(found, "diagnosed", draw(st.integers(1, 50)), summary, 50, policy_failed=draw(st.booleans()))


def cells(found: Sequence[Sequence[Unit]]) -> list[Cell]:
    return [
        Cell(f"case{index}", repeat, "scored", unit)
        for repeat, row in enumerate(found)
        for index, unit in enumerate(row)
    ]


def same(one: Column, other: Column) -> bool:
    return repr(one) == repr(other)


@given(rounds, st.none() | st.integers(1, 60), st.integers(0, 60))
def test_no_history_scores_outside_the_printed_range_of_e(matched: list[int], summary: int | None, total: int) -> None:
    found = efficiency(matched, summary, total)
    assert 0.1 <= found.value <= 1.0
    assert matched or found.value == 0.1


@given(st.permutations([1, 2, 2, 3, 5, 8, 13, 21]))
def test_the_order_in_which_matches_are_listed_changes_no_bit_of_e(matched: list[int]) -> None:
    assert efficiency(matched, 20, 20) == efficiency(sorted(matched), 20, 20)


@given(st.lists(st.floats(1, 60), min_size=2, max_size=20).map(sorted))
def test_asking_later_never_scores_better(means: list[float]) -> None:
    assert all(timing(earlier) >= timing(later) - 1e-9 for earlier, later in pairwise(means))


def test_an_imported_chat_of_ten_thousand_rounds_can_still_be_timed() -> None:
    assert efficiency([10_000], None, 10_000).value == 0.1
    assert efficiency([9_999, 10_000], None, 10_000).mean_round == pytest.approx(9_999.4625701546562)


@pytest.mark.parametrize("limit", [2, 3, 5, 8])
def test_a_mean_round_on_a_limit_gets_the_better_branch_despite_rounding(limit: int) -> None:
    assert timing(limit + 1e-12) == pytest.approx(timing(limit), abs=1e-9)


def test_a_mean_round_just_past_two_loses_the_full_score() -> None:
    assert (timing(2.0), timing(2.001)) == (1.0, pytest.approx(0.94995))


@given(st.data())
@settings(max_examples=15)
@pytest.mark.parametrize("name", NAMES)
def test_another_repeat_changes_no_other_score(name: str, metric: MetricOf, data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 4))
    rows = data.draw(st.lists(st.lists(units(), min_size=size, max_size=size), min_size=2, max_size=4))
    before, after = column(metric(name), cells(rows[:-1]), {}), column(metric(name), cells(rows), {})
    kept = len(before.scores)
    assert repr(after.scores[:kept]) == repr(before.scores)
    assert [dict(one) for one in after.sums[:kept]] == [dict(one) for one in before.sums]


@given(st.data())
@settings(max_examples=15)
@pytest.mark.parametrize("name", NAMES)
def test_shuffled_cases_and_repeats_change_no_bit_of_a_column(name: str, metric: MetricOf, data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.lists(units(), min_size=3, max_size=3), min_size=1, max_size=3))
    listed = cells(rows)
    shuffled = data.draw(st.permutations(listed))
    assert same(column(metric(name), shuffled, {}), column(metric(name), listed, {}))


@given(st.lists(units(), min_size=1, max_size=6))
@settings(max_examples=15)
@pytest.mark.parametrize("name", NAMES)
def test_a_column_is_in_the_range_its_metric_declares_or_is_none(name: str, metric: MetricOf, row: list[Unit]) -> None:
    made = metric(name)
    low, high = made.range
    for score in column(made, cells([row]), {}).scores:
        assert score.value is None or low - 1e-12 <= score.value <= high + 1e-12
        assert score.value is not None or score.reason


@given(st.lists(st.tuples(*[st.integers(0, 9)] * 6), min_size=1, max_size=20), st.integers(0, 19))
def test_ten_thousand_resamples_are_aggregated_like_one_run(
    metric: MetricOf, rows: list[tuple[int, ...]], index: int
) -> None:
    names = ("d_tp", "d_fp", "d_fn", "t_tp", "t_fp", "t_fn")
    table = {name: np.asarray([row[column_] for row in rows], dtype=float) for column_, name in enumerate(names)}
    table |= {"e": np.full(len(rows), 0.7), "n": np.ones(len(rows))}
    at = index % len(rows)
    made = metric("Total")
    whole = made.aggregate(table)
    alone = made.aggregate({name: array[at] for name, array in table.items()})
    stacked = made.aggregate({name: array.reshape(1, -1) for name, array in table.items()})
    assert float(alone) == whole[at] == stacked[0, at]


@given(st.lists(units(), min_size=1, max_size=6))
def test_total_weighs_the_very_d_t_and_e_that_the_table_shows(metric: MetricOf, row: list[Unit]) -> None:
    listed = cells([row])
    d, t, e, whole = (column(metric(name), listed, {}).mean for name in ("D", "T", "E", "Total"))
    if e is None:
        assert whole is None
    else:
        assert whole == pytest.approx(0.5 * (d or 0.0) + 0.4 * (t or 0.0) + 0.1 * e, abs=1e-12)


def test_total_takes_the_weights_it_is_given(metric: MetricOf) -> None:
    perfect = Assignment(axis="diagnosis", tp=1)
    nothing = Assignment(axis="trajectory", fn=1)
    row = [Unit({"diagnosis": perfect, "trajectory": nothing}, "diagnosed", 1, 1, 1)]
    assert column(metric("Total", D=1, T=0, E=0), cells([row]), {}).mean == 1.0
    assert column(metric("Total", D=0, T=1, E=0), cells([row]), {}).mean == 0.0


@pytest.mark.parametrize("name", ["D", "T", "tests_f1"])
def test_a_case_without_references_is_none_with_a_reason_and_never_zero(name: str, metric: MetricOf) -> None:
    axis = {"D": "diagnosis", "T": "trajectory", "tests_f1": "tests"}[name]
    row = [Unit({axis: Assignment(axis=axis, fp=3)}, "diagnosed", 3, 3, 3)]
    found = column(metric(name), cells([row]), {})
    assert (found.mean, found.measured) == (None, 0)
    assert found.reason == "no case has references for it"


def test_questions_still_cost_precision_when_the_patient_volunteered_every_target(metric: MetricOf) -> None:
    gone = Assignment(axis="trajectory", fp=2, volunteered=("t1", "t2"))
    asked = Assignment(axis="trajectory", tp=2, fp=0, fn=0)
    row = [Unit({"trajectory": one}, "diagnosed", 3, 3, 3) for one in (gone, asked)]
    assert column(metric("T"), cells([row]), {}).mean == pytest.approx(4 / 6)


def test_a_policy_that_failed_is_measured_at_the_floor_and_not_left_out(metric: MetricOf) -> None:
    lost = {"diagnosis": Assignment(axis="diagnosis", fn=2), "trajectory": Assignment(axis="trajectory", fn=3)}
    good = {"diagnosis": Assignment(axis="diagnosis", tp=2), "trajectory": Assignment(axis="trajectory", tp=3)}
    row = [Unit(good, "diagnosed", 3, 3, 3), Unit(lost, "failed", 1, None, 3, policy_failed=True)]
    assert column(metric("D"), cells([row]), {}).mean == pytest.approx(2 / 3)
    assert column(metric("E"), cells([row[1:]]), {}).mean == 0.1


def test_early_questions_do_not_lift_a_policy_that_broke_off_above_the_floor(metric: MetricOf) -> None:
    asked = Assignment(axis="trajectory", tp=1, pairs=(Pair(prediction="p", reference="g", round=1),))
    row = [Unit({"trajectory": asked}, "failed", 2, None, 3, policy_failed=True)]
    assert column(metric("E"), cells([row]), {}).mean == 0.1


def test_what_was_not_measured_is_none_and_shows_its_bounds(metric: MetricOf) -> None:
    unit = Unit({"diagnosis": Assignment(axis="diagnosis", tp=1, fp=1, fn=0)}, "diagnosed", 3, 3, 3)
    lost = Cell("case1", 0, "judge_failed", None, "the judge refused")
    found = column(metric("D"), [*cells([[unit]]), lost], {"case1": {"diagnosis": 2}})
    assert (found.measured, found.expected) == (1, 2)
    assert found.bounds == (pytest.approx(2 * 1 / (2 + 21 + 2)), pytest.approx(2 * 3 / (2 * 3 + 1)))


def test_a_run_in_which_every_judge_failed_has_no_score(metric: MetricOf) -> None:
    listed = [Cell(f"c{n}", 0, "judge_failed", None, "the judge refused") for n in range(3)]
    found = column(metric("T"), listed, {f"c{n}": {"trajectory": 2} for n in range(3)})
    assert (found.mean, found.sd, found.scores, found.reason) == (None, None, (), "the judge refused")


def test_a_repeat_in_which_nothing_was_measured_is_not_averaged_in(metric: MetricOf) -> None:
    unit = Unit({"diagnosis": Assignment(axis="diagnosis", tp=1)}, "diagnosed", 3, 3, 3)
    listed = [Cell("c", 0, "scored", unit), Cell("c", 1, "judge_failed", None, "no")]
    found = column(metric("D"), listed, {"c": {"diagnosis": 1}})
    assert [score.value for score in found.scores] == [1.0, None]
    assert found.mean == 1.0


def test_cases_without_a_match_do_not_pull_the_mean_matched_round(metric: MetricOf) -> None:
    hit = Assignment(axis="trajectory", tp=1, pairs=(Pair(prediction="p", reference="g", round=4),))
    miss = Assignment(axis="trajectory", fn=1)
    row = [Unit({"trajectory": one}, "budget", 5, None, 5) for one in (hit, miss)]
    assert column(metric("matched_round"), cells([row]), {}).mean == 4.0


@settings(max_examples=40)
@given(st.lists(units(), min_size=1, max_size=5))
def test_no_metric_ever_gives_nan_or_infinity(metric: MetricOf, row: list[Unit]) -> None:
    values = [score.value for name in NAMES for score in column(metric(name), cells([row]), {}).scores]
    assert all(value is None or math.isfinite(value) for value in values)


def test_no_answer_of_the_missing_judge_could_leave_the_bounds(metric: MetricOf) -> None:
    unit = Unit({"diagnosis": Assignment(axis="diagnosis", tp=1)}, "diagnosed", 3, 3, 3)
    lost = Cell("b", 0, "judge_failed", None, "no")
    low, _ = column(metric("D"), [Cell("a", 0, "scored", unit), lost], {"b": {"diagnosis": 1}}).bounds or (None, None)
    five_wrong = Unit({"diagnosis": Assignment(axis="diagnosis", fp=5, fn=1)}, "diagnosed", 3, 3, 3)
    could_be = column(metric("D"), [Cell("a", 0, "scored", unit), Cell("b", 0, "scored", five_wrong)], {}).mean
    assert low is not None
    assert could_be is not None
    assert low <= could_be


def test_no_timing_of_the_missing_case_could_leave_the_bounds(metric: MetricOf) -> None:
    worst = Unit({"trajectory": Assignment(axis="trajectory", fn=1)}, "diagnosed", 3, 3, 3)
    lost = Cell("b", 0, "judge_failed", None, "no")
    _, high = column(metric("E"), [Cell("a", 0, "scored", worst), lost], {"b": {"trajectory": 1}}).bounds or (
        None,
        None,
    )
    pair = Pair(prediction="p", reference="g", round=1)
    at_once = Unit({"trajectory": Assignment(axis="trajectory", tp=1, pairs=(pair,))}, "budget", 1, None, 1)
    could_be = column(metric("E"), [Cell("a", 0, "scored", worst), Cell("b", 0, "scored", at_once)], {}).mean
    assert high is not None
    assert could_be is not None
    assert could_be <= high
