"""Comparisons: paired by case, refused where cases or instruments differ, with what a difference would need."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from meddc_bench.analysis.series import Series
from meddc_bench.comparison import Column, Place, Side, compare_columns, compare_sides, pair_up
from meddc_bench.errors import UsageError

D = Place("small", "D", "telling", "fair", "equal")


def mean(sums: Any) -> Any:
    return sums["sum"] / sums["n"]


def column(policy: str, values: Any, *, place: Place = D, parts: Any = None, cases: Any = None, **more: Any) -> Column:
    array = np.asarray(values, dtype=float)
    names = cases or tuple(f"c{number}" for number in range(array.shape[1]))
    series = Series(policy, place.metric, names, {"sum": array, "n": np.where(np.isnan(array), np.nan, 1.0)}, mean)
    return Column(policy, place, series, parts or {"seed": 0}, **more)


def test_the_difference_is_paired_and_the_sign_is_first_minus_second() -> None:
    found = compare_columns(
        [column("a", [[0.9, 0.8, 0.7, 0.6]])], [column("a", [[0.8, 0.7, 0.6, 0.5]])], [("a", "a")], names=("A", "B")
    )
    (pair,) = found.pairs
    assert (pair.difference.first, pair.difference.second) == ("A:a", "B:a")
    assert pair.difference.value == pytest.approx(0.1)
    assert (pair.difference.interval.low, pair.difference.interval.high) == (pytest.approx(0.1), pytest.approx(0.1))
    assert (pair.difference.wins, pair.difference.ties, pair.difference.losses) == (4, 0, 0)
    assert (pair.difference.p_above, pair.difference.p_value) == (1.0, pytest.approx(2 / 10_001))


def test_the_needed_cases_fall_with_the_square_of_the_difference() -> None:
    rng = np.random.default_rng(1)
    noise = rng.standard_normal((1, 80))
    noise = 0.1 * (noise - noise.mean()) / noise.std(ddof=1)
    needed = []
    for lead in (0.05, 0.1):
        found = compare_columns(
            [column("a", 0.5 + lead + noise)], [column("b", np.full((1, 80), 0.5))], [("a", "b")], names=("A", "B")
        )
        assert found.pairs[0].needed is not None
        needed.append(found.pairs[0].needed.cases)
    assert needed[0] == pytest.approx(34, abs=2), "effect 0.5 needs 34 pairs (Cohen 1988)"
    assert needed[1] == pytest.approx(10, abs=2)


def test_holm_is_over_the_pairs_of_one_metric() -> None:
    rng = np.random.default_rng(2)
    columns = [
        column(name, 0.5 + lead + 0.2 * rng.standard_normal((2, 60)))
        for name, lead in zip("abc", (0.1, 0, 0), strict=True)
    ]
    found = compare_columns(columns, columns, [("a", "b"), ("a", "c"), ("b", "c")])
    assert {one.corrected.comparisons for one in found.pairs} == {3}
    smallest = min(found.pairs, key=lambda one: one.difference.p_value or 1)
    assert smallest.corrected.adjusted == pytest.approx(3 * (smallest.difference.p_value or 0))


def test_cases_missing_on_one_side_are_left_out_on_both_and_named() -> None:
    hole = column("b", [[0.1, float("nan"), 0.3]], holes={"c1": ("judge_failed: no",)})
    found = compare_columns([column("a", [[0.2, 0.9, 0.4]])], [hole], [("a", "b")], names=("A", "B"))
    assert (found.cases, found.expected, found.failed) == (2, 3, True)
    assert [(one.case, one.reason) for one in found.left_out] == [("c1", "B:b: judge_failed: no")]
    assert found.pairs[0].first.value == pytest.approx(0.3)


def test_what_was_measured_otherwise_is_refused_with_the_list() -> None:
    with pytest.raises(UsageError, match=r"differ in judge \(.*\); seed \(0 and 1\)"):
        compare_columns(
            [column("a", [[1.0, 0.5]], parts={"seed": 0, "judge": "x"})],
            [column("b", [[1.0, 0.5]], parts={"seed": 1, "judge": "y"})], [("a", "b")],
        )  # fmt: skip


def test_nothing_on_one_side_is_a_reason_and_no_number() -> None:
    blank = Column("b", D, None, {"seed": 0}, reason="judge_failed: no", holes={"c0": ("judge_failed: no",)})
    found = compare_columns([column("a", [[1.0, 0.5]])], [blank], [("a", "b")], names=("A", "B"))
    assert (found.pairs, [one.reason for one in found.uncompared]) == ((), ["B:b: judge_failed: no"])


def test_policies_are_paired_by_label_or_as_the_only_ones_or_as_told() -> None:
    def side(name: str, *policies: str) -> Side:
        return Side(name, [column(one, [[1.0, 0.5]]) for one in policies])

    assert pair_up(side("A", "x", "y"), side("B", "y", "z")) == (("y", "y"),)
    assert pair_up(side("A", "x"), side("B", "z")) == (("x", "z"),)
    assert pair_up(side("A", "x", "y"), side("B", "z"), [("y", "z")]) == (("y", "z"),)
    one = side("A", "x", "y", "z")
    assert pair_up(one, one) == (("x", "y"), ("x", "z"), ("y", "z"))
    with pytest.raises(UsageError, match="say which are compared"):
        pair_up(side("A", "x", "y"), side("B", "z"))
    with pytest.raises(UsageError, match="B has no policy 'yy'; did you mean 'y'"):
        pair_up(side("A", "x"), side("B", "y"), [("x", "yy")])
    with pytest.raises(UsageError, match="compared with itself"):
        pair_up(one, one, [("x", "x")])
    alone = side("A", "x")
    with pytest.raises(UsageError, match="one policy"):
        pair_up(alone, alone)


def test_the_order_of_cases_and_policies_changes_no_difference() -> None:
    rng = np.random.default_rng(3)
    first, second = 0.5 + 0.1 * rng.standard_normal((2, 2, 30))
    cases = tuple(f"c{number:02}" for number in range(30))
    order = rng.permutation(30)
    plain = compare_columns([column("a", first, cases=cases)], [column("b", second, cases=cases)], [("a", "b")])
    moved = compare_columns(
        [column("a", first[:, order], cases=tuple(np.array(cases)[order]))],
        [column("b", second, cases=cases)], [("a", "b")],
    )  # fmt: skip
    assert plain == moved


def test_what_only_one_side_has_is_named() -> None:
    other = Place("small", "D", "telling", "torn", "equal")
    found = compare_sides(
        Side("A", [column("a", [[1.0, 0.5]]), column("a", [[1.0, 0.5]], place=other)]),
        Side("B", [column("a", [[0.5, 0.5]])]), [("a", "a")],
    )  # fmt: skip
    assert found.only == ("A: small / D / torn",)
    with pytest.raises(UsageError, match="no scores in common"):
        compare_sides(
            Side("A", [column("a", [[1.0, 0.5]], place=other)]), Side("B", [column("a", [[0.5, 0.5]])]), [("a", "a")]
        )


def test_two_policies_of_a_run_are_compared_component_by_component(
    world: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(world.sided_run(readers=("contrary",)))
    code, found = world.told(capsys, "compare", folder, "--policies", "left", "right", "--draws", "200")
    assert code == 0
    values = {
        (one["place"]["metric"], one["place"]["condition"]): one["pairs"][0]["difference"] for one in found["metrics"]
    }
    assert values["D", "emitted"]["value"] == 1
    assert values["D", "contrary"]["value"] == -1
    assert {key[0] for key in values} == {"D", "T", "E", "Total"}
    assert world.cli("compare", folder) == 0
    shown = capsys.readouterr().out
    assert "small · D（患者 telling，阅读者 emitted，裁判 equal）：病例 6/6" in shown
    assert "+100.0 [100.0, 100.0]" in shown
    assert "> 0.9999" in shown
    assert "6/0/0" in shown


def test_two_runs_are_compared_and_another_seed_or_case_is_refused(
    world: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = str(world.sided_run("one")), str(world.sided_run("other", policies=("left=right", "more=left")))
    code, found = world.told(capsys, "compare", one, other, "--metric", "D")
    assert (code, found["pairs"]) == (0, [["left", "left"]])
    assert found["metrics"][0]["pairs"][0]["difference"]["value"] == 1
    code, found = world.told(capsys, "compare", one, other, "--policy", "left=more", "--metric", "D")
    assert found["metrics"][0]["pairs"][0]["difference"]["value"] == 0
    assert found["metrics"][0]["pairs"][0]["needed"]["reason"] == "no difference to see"
    fewer = str(world.sided_run("fewer", limit=3, seed=1))
    assert world.cli("compare", one, fewer) == 2
    said = capsys.readouterr().err
    assert "cases (6 and 3)" in said
    assert "seed (0 and 1)" in said
    assert world.cli("compare", one, str(world.sided_run("judge", judges=("equal=never",)))) == 2
    assert "judge" in capsys.readouterr().err


def test_failed_readings_are_exit_3_and_counted(world: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert world.cli("compare", str(world.sided_run(readers=("clumsy",))), "--metric", "D") == 3
    shown = capsys.readouterr().out
    assert "病例 4/6" in shown
    assert "2 例未测全" in shown
    assert "reader_failed" in shown


def test_wrong_usage_is_exit_2(world: Any) -> None:
    folder = str(world.sided_run())
    assert world.cli("compare", folder, "--policy", "left=right") == 2
    assert world.cli("compare", folder, folder, "--policies", "left", "right") == 2
    assert world.cli("compare", folder, folder, "--policy", "left") == 2
    assert world.cli("compare", folder, "--metric", "Q") == 2
    assert world.cli("compare", folder, "--tasks", "none") == 2
    assert world.cli("compare", str(world.root / "none")) == 2
