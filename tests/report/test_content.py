"""What a report says is what was measured: the numbers of results.json, and a reason where there is none."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from meddc_harness import World, case, write_task

from meddc_bench.imports import ImportBench
from meddc_bench.plan import TaskBench
from meddc_bench.report.figures import Coverage, Outcomes, Scatter, Slopes
from meddc_bench.report.page import Figure, Report, Section, Table
from meddc_bench.report.words import REASONS, Words
from meddc_bench.scorer import NOT_DONE

Reported = Callable[..., Report]


def section(report: Report, name: str, task: int = 0) -> Section:
    (found,) = [one for one in report.tasks[task].sections if one.name == name]
    return found


def table(report: Report, name: str, at: int = 0) -> Table:
    return [one for one in section(report, name).parts if isinstance(one, Table)][at]


def figure(report: Report, name: str) -> Any:
    return {figure.name: figure for _, figure in report.figures}[name].data


def names(report: Report) -> set[str]:
    return {one.name for one in report.tasks[0].sections}


def said(report: Report, name: str) -> str:
    found = section(report, name)
    notes = [note for part in found.parts if isinstance(part, Table) for note in part.notes]
    return "\n".join(f"{one.zh}\n{one.en}" for one in (*found.lead, *notes))


def test_the_scores_are_those_of_the_results(world: World, reported: Reported) -> None:
    found = table(reported(policies=["asker", "spoiler", "null"]), "summary")
    shown = {(row[0], row[1]): row for row in found.rows}
    assert len(shown) == len(world.rows())
    for row in world.rows():
        cells = shown[row["policy"], row["condition"]]
        for cell, name in zip(cells[2:6], ("D", "T", "E", "Total"), strict=True):
            mean = row["metrics"][name]["mean"]
            text = "—" if mean is None else f"{100 * mean:.1f}"
            assert str(cell).split(" ")[0] == text, (row["policy"], name)
        assert cells[-1] == f"{row['metrics']['Total']['measured']}/{row['metrics']['Total']['expected']}"


def test_a_policy_that_says_the_same_each_time_is_shown_as_such(reported: Reported) -> None:
    found = table(reported(policies=["asker"]), "summary")
    assert {row[-2] for row in found.rows} == {Words("确定", "deterministic")}


def test_what_was_not_measured_is_a_dash_with_its_reason_and_never_0(reported: Reported) -> None:
    report = reported(judges=[("equal", {"fail": "own"})], include_text=True)
    found = table(report, "summary")
    assert {cell for row in found.rows for cell in row[2:6]} == {"—"}
    notes = "\n".join(note.en for note in found.notes)
    assert re.search(r"D is null \(asker / echo.*说不下去了", notes)
    assert "rounds" not in names(report)
    outcomes = figure(report, "outcomes")
    assert isinstance(outcomes, Outcomes)
    assert {(one.outcome, one.count) for one in outcomes.shares} == {("judge_failed", 6)}


def test_a_column_with_holes_shows_its_bounds_and_no_interval(reported: Reported) -> None:
    report = reported(policies=[("asker", {"fail": "infra", "on": "肚子"})])
    for row in table(report, "summary").rows:
        assert re.fullmatch(r"\d+\.\d \{\d+\.\d,\s\d+\.\d\}", str(row[2])), row
        assert row[-1] == "4/6"


def test_the_denominators_are_said_in_words(reported: Reported) -> None:
    rules = reported(policies=["asker"]).closing[0]
    assert "分母" in "".join(one.zh for one in rules.lead)
    assert "never count as 0" in "".join(one.en for one in rules.lead)


def test_comparisons_use_the_cases_all_policies_measured_and_say_how_many(reported: Reported) -> None:
    report = reported(policies=[("sick=asker", {"fail": "infra", "on": "肚子"}), "asker", "null"])
    assert "D：2 个共同病例（1 例有策略没有测到，不用）" in said(report, "differences")
    assert "2 个共同病例" in said(report, "readers")


def test_one_policy_alone_has_scores_and_no_comparison(reported: Reported) -> None:
    report = reported(policies=["asker"])
    assert {"summary", "outcomes", "readers", "rounds", "checks", "instruments"} <= names(report)
    assert not {"differences", "weights"} & names(report)
    assert "不足两个策略" in said(report, "readers")


def test_one_repeat_has_no_spread(reported: Reported) -> None:
    found = table(reported(policies=["asker"], repeats=1), "summary")
    assert {row[-2] for row in found.rows} == {"—"}


def test_one_case_has_scores_and_no_interval(reported: Reported) -> None:
    found = table(reported(policies=["asker", "null"], limit=1), "summary")
    assert not any("[" in str(cell) for row in found.rows for cell in row)


def test_without_a_reader_the_report_says_there_is_nothing_to_swap(reported: Reported) -> None:
    report = reported(policies=["asker", "null"], readers=["emitted"])
    assert "没有可换的阅读者" in said(report, "readers")
    assert not section(report, "readers").parts


def test_without_targets_d_is_reported_and_t_e_and_total_say_why_not(world: World, reported: Reported) -> None:
    bare = [case(number) | {"targets": []} for number in range(3)]
    world.task = write_task(world.root / "bare", bare, "bare")
    report = reported(policies=["asker", "null"])
    found = table(report, "summary")
    assert {cell for row in found.rows for cell in row[3:6]} == {"—"}
    assert "没有病例带有它的参考答案" in "\n".join(note.zh for note in found.notes)
    assert not {"rounds", "d-and-t", "weights"} & names(report)
    assert isinstance(figure(report, "ranks"), Slopes)


def test_twenty_policies_stay_readable(reported: Reported) -> None:
    policies = [f"{name}-{number}={name}" for number in range(10) for name in ("asker", "null")]
    report = reported(policies=policies, repeats=1)
    slopes, scatter, coverage = (figure(report, name) for name in ("ranks", "d-and-t", "rounds"))
    assert isinstance(slopes, Slopes)
    assert isinstance(scatter, Scatter)
    assert isinstance(coverage, Coverage)
    assert len(slopes.marked) <= 7 < len(slopes.places) / 2
    for condition in slopes.conditions:
        assert sorted(one.place for one in slopes.places if one.condition == condition) == list(range(1, 21))
    assert all(spot.label.isdigit() for spot in scatter.spots)
    assert len(coverage.marked) == 7
    assert len(figure(report, "differences").pairs) == 19


def test_equal_policies_never_cross(reported: Reported) -> None:
    slopes = figure(reported(policies=["b=asker", "a=asker", "c=asker"], repeats=1), "ranks")
    assert all(one.tied and one.rank == 1 for one in slopes.places)
    assert {(one.policy, one.place) for one in slopes.places} == {("a", 1), ("b", 2), ("c", 3)}


def test_the_share_of_targets_covered_grows_to_recall(world: World, reported: Reported) -> None:
    report = reported(policies=["asker"])
    reached = [one.share for one in figure(report, "rounds").reached]
    assert reached == sorted(reached)
    sums = world.row(condition="emitted")["metrics"]["T"]["sums"]
    tp, fn = (sum(one[key] for one in sums) for key in ("tp", "fn"))
    assert reached[-1] == pytest.approx(100 * tp / (tp + fn))


def test_several_judges_are_summarised(reported: Reported) -> None:
    report = reported(policies=["asker", "null"], judges=["one=equal", "two=equal"])
    assert "judges" in names(report)
    assert "one" in {cell for row in table(report, "summary").rows for cell in row}


def test_fingerprints_are_those_of_the_results(world: World, reported: Reported) -> None:
    report = reported(policies=["asker", "null"])
    shown = {(row[0], row[1]): row[-1] for row in table(report, "instruments", 2).rows}
    for row in world.rows():
        assert shown["D", row["condition"]] == row["fingerprints"]["D"]
        assert shown["T", "—"] == row["fingerprints"]["T"]


def test_no_text_and_no_id_of_a_case_is_in_the_report_of_a_private_run(reported: Reported) -> None:
    campaign: dict[str, Any] = {
        "policies": ["asker", "spoiler"],
        "judges": [("equal", {"fail": "own", "on": "阑尾炎"})],
    }
    for secret in ("c000", "我发烧了", "发烧三天了", "肺炎", "说不下去了"):
        assert secret not in repr(reported(**campaign)), secret
    told = repr(reported(**campaign, include_text=True))
    assert "c000" in told
    assert "我发烧了" in told
    assert "说不下去了" in told


def test_the_programs_own_reasons_are_told_in_both_languages() -> None:
    assert {NOT_DONE, TaskBench.missing_because, ImportBench.missing_because} <= set(REASONS)


def test_every_figure_that_no_table_stands_beside_has_one_of_its_own(reported: Reported) -> None:
    report = reported(policies=["asker", "null", "spoiler"])
    for one in report.tasks[0].sections:
        figures = [part for part in one.parts if isinstance(part, Figure)]
        tables = [part for part in one.parts if isinstance(part, Table)]
        bare = [part.name for part in figures if part.table is None and not tables]
        assert set(bare) <= {"d-and-t"}, "its numbers are in the summary"
