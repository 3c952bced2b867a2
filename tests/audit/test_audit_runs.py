"""Audits of runs: known reversals are found, nothing is rolled out, nothing is dropped without a word."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sided

from meddc_bench.audits import Question, Report, audit_runs
from meddc_bench.errors import UsageError
from meddc_bench.stored import open_run

QUICK = Question(draws=200)


def audited(world: Any, *folders: Path, **asked: Any) -> Report:
    from contextlib import ExitStack

    world._patch.setattr("meddc_bench.registry.entry_points", lambda **_: world.points())
    with ExitStack() as stack:
        return audit_runs([stack.enter_context(open_run(one)) for one in folders], replace(QUICK, **asked))


def stored(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "records.jsonl").read_text(encoding="utf-8").splitlines()]


def of(report: Report, metric: str = "D") -> Any:
    (found,) = [one for one in report.audits if one.metric == metric]
    return found


def test_a_reader_that_turns_the_order_round_is_reported_as_a_reversal_and_a_contradiction(world: Any) -> None:
    found = of(audited(world, world.sided_run(readers=("contrary",))))
    (comparison,) = found.found.comparisons
    assert (found.base, comparison.reversals.count, comparison.reversals.pairs) == ("emitted", 1, 1)
    assert comparison.kendall.tau == -1
    assert [one.verdict for one in found.found.orderings] == ["contradicted"]
    assert {(one.policy, one.value) for one in found.found.shifts} == {("left", -1.0), ("right", 1.0)}
    assert (found.cases, found.expected, found.left_out, found.differs) == (6, 6, (), ("reader",))
    assert found.found.variance.interaction.share == pytest.approx(1)


def test_an_order_that_all_readers_share_is_supported_and_ties_are_not_reversals(world: Any) -> None:
    folder = world.sided_run(readers=("torn", "fair"))
    found = of(audited(world, folder, labels=frozenset({"emitted", "torn"})))
    assert [one.verdict for one in found.found.orderings] == ["supported"]
    fair = of(audited(world, folder))
    assert [one.verdict for one in fair.found.orderings] == ["undecided"]
    assert [(one.reader, one.reversals.count, one.reversals.tied) for one in fair.found.comparisons] == [
        ("fair", 0, 1), ("torn", 0, 0),
    ]  # fmt: skip


def test_total_moves_by_its_share_of_d_while_t_and_e_stand_still(world: Any) -> None:
    report = audited(world, world.sided_run(readers=("contrary",)))
    d, total = of(report), of(report, "Total")
    moved = {one.policy: one.value for one in total.found.shifts}
    assert moved == {one.policy: pytest.approx(0.5 * one.value) for one in d.found.shifts}
    assert {(one.policy, one.metric) for one in total.fixed} == {
        (policy, metric) for policy in ("left", "right") for metric in ("T", "E")
    }


def test_neither_the_order_of_readers_nor_of_policies_changes_anything(world: Any) -> None:
    one = audited(world, world.sided_run("one", readers=("fair", "contrary", "torn")))
    other = audited(
        world, world.sided_run("other", readers=("torn", "contrary", "fair"), policies=("right", "left"))
    )  # fmt: skip
    assert one.audits == other.audits


def test_the_base_can_be_any_reader_and_an_unknown_one_is_named(world: Any) -> None:
    folder = world.sided_run()
    found = of(audited(world, folder, base="contrary"))
    assert (found.base, found.instruments) == ("contrary", ("contrary", "emitted", "fair"))
    with pytest.raises(UsageError, match="no reader 'contrry' for a base; did you mean 'contrary'"):
        audited(world, folder, base="contrry")


def test_cases_that_a_reader_could_not_read_are_left_out_for_all_counted_and_explained(world: Any) -> None:
    found = of(audited(world, world.sided_run(readers=("clumsy",))))
    assert (found.cases, found.expected) == (4, 6)
    assert [one.case for one in found.left_out] == ["c002", "c003"]
    assert "left / clumsy: reader_failed" in found.left_out[0].reason
    assert {(one.policy, one.cases) for one in found.gaps} == {("left", 2), ("right", 2)}
    assert found.failed


def test_all_judges_failed_is_null_with_the_reason_and_never_a_number(
    world: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = world.sided_run(judges=("broken",))
    code, found = world.told(capsys, "audit", str(folder))
    assert code == 3
    for one in found["audits"]:
        assert one["found"] is None
        assert "judge_failed" in one["reason"]
    assert world.cli("audit", str(folder), "--gate", "reversals<=0") == 4, "what is not known holds no gate"


def test_one_case_has_scores_and_no_interval_and_no_verdict(world: Any, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = world.told(capsys, "audit", str(world.sided_run(limit=1)))
    assert code == 0
    audit = found["audits"][0]["found"]
    assert {one["interval"]["low"] for one in audit["shifts"]} == {None}
    assert "one case" in audit["shifts"][0]["interval"]["reason"]
    assert {one["verdict"] for one in audit["orderings"]} == {"undecided"}


def test_a_policy_without_a_generator_is_named_under_own_and_the_rest_is_audited(world: Any) -> None:
    found = of(audited(world, world.sided_run(readers=("own", "contrary"))))
    assert {(one.policy, one.under) for one in found.unmeasured} == {("left", "own"), ("right", "own")}
    assert "no generator" in found.unmeasured[0].reason
    assert [one.reader for one in found.found.comparisons if one.reversals.pairs] == ["contrary"]
    assert not found.failed, "that a policy has none is no failure"


def test_where_only_the_base_has_scores_nothing_is_called_supported(world: Any) -> None:
    found = of(audited(world, world.sided_run(readers=("own",))))
    assert found.found is None
    assert found.reason == "only emitted has scores: there is nothing under own to compare"


def test_one_reader_is_refused_with_what_to_do(world: Any) -> None:
    folder = world.sided_run()
    with pytest.raises(UsageError, match=r"emitted is the only reader.*--reader"):
        audited(world, folder, labels=frozenset({"emitted"}))
    with pytest.raises(UsageError, match=r"equal is the only judge.*--judge"):
        audited(world, folder, over="judge")
    with pytest.raises(UsageError, match=r"telling is the only patient.*rollouts of their own"):
        audited(world, folder, over="patient")


def test_a_metric_without_a_reader_cannot_be_audited_over_readers(world: Any) -> None:
    folder = world.sided_run()
    with pytest.raises(UsageError, match="T has no reader"):
        audited(world, folder, metrics=("T",))
    with pytest.raises(UsageError, match="no metric 'Totl'; did you mean 'Total'"):
        audited(world, folder, metrics=("Totl",))
    with pytest.raises(UsageError, match="no task 'smal'; did you mean 'small'"):
        audited(world, folder, tasks=("smal",))
    with pytest.raises(UsageError, match="no policy 'lft' to leave out"):
        audited(world, folder, without=frozenset({"lft"}))


def test_judges_are_audited_on_every_metric_with_the_reader_held_fixed(world: Any) -> None:
    report = audited(world, world.sided_run(readers=("fair",), judges=("equal", "never")), over="judge")
    assert {(one.metric, one.setting.condition) for one in report.audits} == {
        ("D", "emitted"), ("D", "fair"), ("T", None), ("E", None), ("Total", "emitted"), ("Total", "fair"),
    }  # fmt: skip
    d = next(one for one in report.audits if one.metric == "D" and one.setting.condition == "fair")
    assert {(one.policy, one.value) for one in d.found.shifts} == {("left", -1.0), ("right", -1.0)}
    assert d.differs == ("judge",)


def test_a_judge_asked_several_times_is_several_instruments(world: Any) -> None:
    report = audited(world, world.sided_run(readers=("fair",), asks=2), over="judge", metrics=("D",))
    assert report.audits[0].instruments == ("equal#1", "equal#2")
    assert {one.value for one in report.audits[0].found.shifts} == {0.0}


def test_patients_are_audited_within_a_run_and_across_runs(world: Any) -> None:
    together = world.sided_run("both", patients=("telling", "mute"), readers=("fair",))
    found = audited(world, together, over="patient", metrics=("E",))
    assert found.audits[0].instruments == ("telling", "mute")
    one = world.sided_run("one", readers=("fair",))
    other = world.sided_run("other", readers=("fair",), patients=("mute",))
    apart = audited(world, one, other, over="patient", metrics=("E",))
    assert apart.audits[0].found == found.audits[0].found
    with pytest.raises(UsageError, match="two of the runs hold histories of left with patient telling"):
        audited(world, one, together, over="patient")


def test_runs_that_differ_in_more_than_the_reader_are_refused_with_the_list(world: Any) -> None:
    one = world.sided_run("one", readers=("fair",))
    other = world.sided_run("other", readers=("contrary",), seed=1, repeats=1)
    with pytest.raises(UsageError) as refused:
        audited(world, one, other)
    assert re.search(r"repeats \(2 and 1\).*seed \(0 and 1\)", str(refused.value)) or "different histories" in str(
        refused.value
    )
    fewer = world.sided_run("fewer", readers=("contrary",), limit=3, policies=("left=right", "right=left"))
    with pytest.raises(UsageError, match=r"different histories of left, right"):
        audited(world, one, fewer)
    with pytest.raises(UsageError, match=r"differ in cases \(6 and 3\).*references"):
        audited(world, one, world.sided_run("third", readers=("contrary",), limit=3, policies=("third=right",)))


def test_runs_of_the_same_histories_are_audited_together(world: Any) -> None:
    whole = of(audited(world, world.sided_run("whole")))
    parts = of(
        audited(world, world.sided_run("one", readers=("fair",)), world.sided_run("two", readers=("contrary",)))
    )  # fmt: skip
    assert parts == whole


def test_a_reader_that_the_run_lacks_is_made_from_stored_histories_and_only_once(
    world: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = world.sided_run(readers=("fair",))
    before = {name: (folder / name).read_bytes() for name in ("results.json", "manifest.json")}
    sided.MADE.clear()
    code, found = world.told(capsys, "audit", str(folder), "--reader", "contrary", "--metric", "D")
    assert (code, found["audits"][0]["instruments"]) == (0, ["emitted", "contrary"])
    assert set(sided.MADE) == {"reader contrary"}, "no policy was asked, and no other reader"
    assert len(sided.MADE) == 24
    sided.MADE.clear()
    assert world.told(capsys, "audit", str(folder), "--reader", "contrary", "--metric", "D") == (0, found)
    assert sided.MADE == []
    assert {name: (folder / name).read_bytes() for name in before} == before, "the run's own results stay as they are"


def test_the_histories_are_read_under_every_view(world: Any, capsys: pytest.CaptureFixture[str]) -> None:
    folder = world.sided_run(readers=("contrary",))
    sided.MADE.clear()
    code, found = world.told(capsys, "audit", str(folder), "--views", "cut,mask,full", "--metric", "D")
    (audit,) = found["audits"]
    assert (code, audit["instruments"], audit["differs"]) == (0, ["cut", "full", "mask"], ["view"])
    assert audit["setting"]["condition"] == "contrary", "what a policy emitted has no view"
    assert set(sided.MADE) == {"reader contrary"}
    (proof,) = found["histories"]
    readings = 3 * sum(one["outcome"] == "scored" and one["stage"] == "history" for one in stored(folder))
    assert (proof["checked"], proof["mismatched"]) == (readings, 0), "each reading under each view, once"
    assert world.cli("audit", str(folder), "--views", "cut") == 2
    assert world.cli("audit", str(folder), "--views", "cut,half") == 2


def test_a_judge_that_the_run_lacks_judges_the_stored_readings(world: Any, capsys: pytest.CaptureFixture[str]) -> None:
    folder = world.sided_run(readers=("fair",))
    sided.MADE.clear()
    code, found = world.told(capsys, "audit", str(folder), "--over", "judge", "--judge", "never", "--metric", "D")
    assert (code, found["audits"][0]["instruments"]) == (0, ["equal", "never"])
    assert sided.MADE == []


def test_readings_of_other_bytes_are_exit_1_and_said(world: Any, capsys: pytest.CaptureFixture[str]) -> None:
    folder = world.sided_run(readers=("fair",))
    journal = folder / "records.jsonl"
    lines = journal.read_text(encoding="utf-8").splitlines(keepends=True)
    at = next(n for n, line in enumerate(lines) if '"condition":"fair"' in line and '"stage":"reading"' in line)
    lines[at] = re.sub(r'"history_hash":"[0-9a-f]', '"history_hash":"x', lines[at])
    journal.write_text("".join(lines), encoding="utf-8")
    assert world.cli("audit", str(folder)) == 1
    assert "1 份不一致" in capsys.readouterr().out


def test_what_is_printed_says_what_a_reader_needs(world: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert world.cli("audit", str(world.sided_run(readers=("contrary",))), "--metric", "D") == 0
    shown = capsys.readouterr().out
    for words in (
        "small · D：换阅读者，基准 emitted（患者 telling，裁判 equal 不变）", "病例 6/6，每例 2 次", "100.0 [100.0, 100.0] #1",
        "-100.0 [-100.0, -100.0]", "1 对策略中反转 1 对（重抽样中 1–1 对），Kendall τ = -1.00", "left ↔ right（100.0%）",
        "矛盾", "left 在 emitted 下高于 right，在 contrary 下低于它", "两者交互 100.0%", "全部一致",
    ):  # fmt: skip
        assert words in shown


def test_the_report_is_written_where_it_is_wanted(world: Any, capsys: pytest.CaptureFixture[str]) -> None:
    folder, file = world.sided_run(), world.root / "audit.json"
    code, found = world.told(capsys, "audit", str(folder), "-o", str(file))
    assert code == 0
    assert json.loads(file.read_bytes()) == found
    assert world.cli("audit", str(folder), "-o", str(world.root / "nowhere" / "audit.json")) == 1


def test_no_run_is_a_usage_error(world: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert world.cli("audit") == 2
    assert world.cli("audit", str(world.root / "none")) == 2
    assert world.cli("audit", "--table", "x.yaml", "run") == 2
    assert world.cli("audit", str(world.sided_run()), "--over", "judge", "--views", "cut,full") == 2
