"""The verbs on runs: which of flags, environment and file wins, what is printed last, and going on with a run."""

from __future__ import annotations

import json

import pytest
from meddc_harness import World, case, stored, write_task


@pytest.fixture
def here(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A world whose folder is the working folder."""
    monkeypatch.chdir(world.root)
    return world


def campaign(world: World, text: str = "") -> str:
    path = world.root / "campaign.yaml"
    body = f"tasks: [{world.task}]\npolicies: [asker, {{name: hostile, label: bad}}]\nrepeats: 1\nseed: 3\n{text}"
    path.write_text(body, encoding="utf-8")
    return str(path)


def manifest(world: World, folder: str = "run") -> dict[str, object]:
    found: dict[str, object] = json.loads((world.root / folder / "manifest.json").read_bytes())["campaign"]
    return found


def test_a_campaign_file_alone_is_a_run(here: World) -> None:
    assert here.cli("run", "-C", campaign(here, "output_path: run\n")) == 0
    assert {row["policy"] for row in here.rows()} == {"asker", "bad"}
    assert (manifest(here)["repeats"], manifest(here)["seed"]) == (1, 3)


def test_the_command_line_wins_over_the_campaign_file(here: World) -> None:
    file = campaign(here, "protocol: {top_k: 3, view: mask}\n")
    words = ("--policy", "null", "--repeats", "3", "--seed", "0", "--limit", "2", "--view", "full", "-o", "run")
    assert here.cli("run", "-C", file, *words) == 0
    found = manifest(here)
    assert [role["name"] for role in found["policies"]] == ["null"]  # type: ignore[attr-defined]
    assert (found["repeats"], found["seed"], found["limit"]) == (3, 0, 2)
    assert found["protocol"]["view"] == "full"  # type: ignore[index]
    assert found["protocol"]["top_k"] == 3, "what the command line does not name stays"  # type: ignore[index]


def test_options_of_the_command_line_are_added_to_a_role_of_the_file(here: World) -> None:
    assert here.cli("run", "-C", campaign(here), "--policy-args", "bad:version=7", "-o", "run") == 0
    by_label = {role["label"]: role["options"] for role in manifest(here)["policies"]}  # type: ignore[attr-defined]
    assert by_label == {"asker": {}, "bad": {"version": "7"}}


def test_the_environment_gives_flags_and_the_command_line_wins(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"TASKS": str(here.task), "POLICY": "asker null", "SEED": "5", "REPEATS": "1"}.items():
        monkeypatch.setenv(f"MEDDC_{name}", value)
    assert here.cli("run", "--seed", "6", "-o", "run") == 0
    found = manifest(here)
    assert (found["seed"], found["repeats"]) == (6, 1)
    assert [role["name"] for role in found["policies"]] == ["asker", "null"]  # type: ignore[attr-defined]


def test_a_wrong_flag_of_the_environment_is_named(
    here: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MEDDC_MAX_CONNECTIONS", "lots")
    assert here.cli("run", "-t", str(here.task), "--policy", "asker") == 2
    assert "'lots' is not a valid integer range" in capsys.readouterr().err


def test_the_path_of_the_run_is_the_last_line(here: World, capsys: pytest.CaptureFixture[str]) -> None:
    assert here.cli("run", "-t", str(here.task), "--policy", "asker") == 0
    shown = capsys.readouterr()
    last = shown.out.splitlines()[-1]
    assert last.startswith("runs/")
    assert here.rows(last)
    assert shown.err == ""
    assert here.cli("run", "-t", str(here.task), "--policy", "asker") == 0
    assert capsys.readouterr().out.splitlines()[-1] == last, "the same command finds its folder again"
    assert here.cli("run", "-t", str(here.task), "--policy", "asker", "--max-connections", "3") == 0
    assert capsys.readouterr().out.splitlines()[-1] == last, "how it runs is not what is measured"
    assert here.cli("run", "-t", str(here.task), "--policy", "asker", "--seed", "1") == 0
    assert capsys.readouterr().out.splitlines()[-1] != last


def test_with_json_the_last_object_holds_path_exit_code_and_results(
    here: World, capsys: pytest.CaptureFixture[str]
) -> None:
    assert here.cli("run", "-t", str(here.task), "--policy", "asker", "-o", "run", "--json") == 0
    (line,) = capsys.readouterr().out.splitlines()
    found = json.loads(line)
    assert (found["run"], found["exit_code"]) == ("run", 0)
    assert {key: found[key] for key in ("format", "complete", "tasks")} == json.loads(here.bytes())
    assert here.cli("show", "results", "run", "--json") == 0
    assert json.loads(capsys.readouterr().out) == json.loads(here.bytes())


def test_below_full_coverage_is_exit_3_with_the_way_on(here: World, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--policy", "asker", "--policy-args", "fail=infra,on=肚子", "--max-retries", "0", "-o", "我 的")
    assert here.cli("run", "-t", str(here.task), *words) == 3
    shown = capsys.readouterr()
    assert "4/6" in shown.out
    assert "asker / echo: 2 infra_failed: ConnectionError: the endpoint is away" in shown.out
    (line,) = shown.err.splitlines()
    assert line.startswith("below full coverage: ")
    assert "`meddc-bench retry '我 的'`" in line
    here.mend()
    assert here.cli("retry", "我 的") == 0


def test_a_metric_beside_the_tasks_own_is_scored_shown_last_and_costs_no_rollout(
    here: World, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("run", "-t", str(here.task), "--policy", "asker", "-o", "run")
    assert here.cli(*words) == 0
    plain = json.loads(here.bytes())
    here.forget()
    capsys.readouterr()
    assert here.cli(*words, "--metric", "soft_recall,D", "--metric", "first_summary_round") == 0
    assert here.calls() == []
    title = next(line for line in capsys.readouterr().out.splitlines() if "policy" in line)
    assert title.index("coverage") < title.index("soft_recall") < title.index("first_summary_round")
    assert title.count(" D ┃") == 1
    found = json.loads(here.bytes())
    (before,), (task,) = plain["tasks"].values(), found["tasks"].values()
    assert task["beside"] == ["soft_recall", "first_summary_round"]
    for row, old in zip(task["rows"], before["rows"], strict=True):
        assert row["metrics"]["soft_recall"]["measured"] > 0
        assert {name: row["metrics"][name] for name in old["metrics"]} == old["metrics"]
    assert here.cli(*words[:-1], "other", "--metric", "soft_recal") == 2
    assert "did you mean 'soft_recall'" in capsys.readouterr().err
    assert not (here.root / "other").exists()


def test_retry_goes_on_from_the_manifest_alone(here: World) -> None:
    words = ("-t", str(here.task), "--policy", "asker", "--policy-args", "fail=infra", "--repeats", "1", "--seed", "9")
    assert here.cli("run", *words, "-o", "run", "--max-retries", "0") == 3
    here.mend()
    assert here.cli("retry", "run", "--max-connections", "2") == 0
    here.forget()
    assert here.cli("run", *words, "-o", "run", "--max-retries", "0") == 0
    assert here.calls() == []
    assert here.cli("run", *words, "-o", "fresh") == 0
    assert here.bytes() == here.bytes("fresh")


def test_retry_of_a_finished_run_changes_nothing(here: World) -> None:
    assert here.cli("run", "-t", str(here.task), "--policy", "asker", "-o", "run") == 0
    before, lines = here.bytes(), stored(here.root / "run")
    assert here.cli("retry", "run") == 0
    assert (here.bytes(), stored(here.root / "run")) == (before, lines)


@pytest.mark.parametrize("verb", ["run", "retry"])
def test_what_changed_since_the_run_is_said_before_it_is_redone(
    here: World, verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("run", "-t", str(here.task), "--policy", "asker", "-o", "run")
    assert here.cli(*words) == 0
    capsys.readouterr()
    write_task(here.root / "task", [{**case(0), "context": "我发烧了，三天。"}])
    again = (*words, "--reader", "echo", "--reader-args", "version=2") if verb == "run" else ("retry", "run")
    assert here.cli(*again) == 0
    err = capsys.readouterr().err
    assert "note: cases of small changed since this run; records that depend on a change are made again" in err
    assert ("note: reader echo changed since this run; its records are made again" in err) == (verb == "run")


def test_score_adds_a_reader_to_a_run_and_rolls_nothing_out(here: World) -> None:
    assert here.cli("run", "-t", str(here.task), "--policy", "asker", "-x", "-o", "run") in (0, 3)
    here.forget()
    assert here.cli("score", "run") == 0
    assert {row["condition"] for row in here.rows()} == {"emitted", "echo"}
    before = here.row(condition="echo")
    again = ("--reader", "echo", "--reader", "two=echo", "--reader-args", "two:version=2")
    assert here.cli("score", "run", *again) == 0
    assert here.calls("start") == here.calls("answer") == []
    assert {row["condition"] for row in here.rows()} == {"emitted", "echo", "two"}
    assert here.row(condition="echo") == before


def test_score_keeps_the_protocol_of_the_run_but_for_what_it_is_told(here: World) -> None:
    assert here.cli("run", "-C", campaign(here, "protocol: {top_k: 3, volunteered: all}\n"), "-o", "run") == 0
    assert here.cli("score", "run", "--view", "full") == 0
    protocol = manifest(here)["protocol"]
    assert (protocol["view"], protocol["top_k"], protocol["volunteered"]) == ("full", 3, "all")  # type: ignore[index]


def test_scoring_an_interrupted_run_says_that_it_is_partial_and_retry_still_finishes_it(
    here: World, capsys: pytest.CaptureFixture[str]
) -> None:
    here.run("run", repeats=1)
    path = here.root / "run" / "manifest.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"repeats": 1', '"repeats": 2'), encoding="utf-8")
    assert here.cli("score", "run") == 3
    assert "部分结果" in capsys.readouterr().out
    assert json.loads(here.bytes())["complete"] is False
    assert here.cli("retry", "run") == 0
    assert json.loads(here.bytes())["complete"] is True
    here.run("whole")
    assert here.bytes() == here.bytes("whole")


def test_too_many_failures_say_why_the_run_stopped_and_how_to_go_on(
    here: World, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--policy", "asker", "--policy-args", "fail=infra", "--max-retries", "0", "--fail-on-error", "0")
    assert here.cli("run", "-t", str(here.task), *words, "--max-connections", "1", "-o", "run") == 3
    shown = capsys.readouterr()
    assert shown.err.startswith(
        "stopped: 1 records failed, more than --fail-on-error 0 allows; last: ConnectionError: "
    )
    assert shown.err.endswith("; go on with `meddc-bench retry run`\n")
    assert "部分结果" in shown.out


def test_a_path_with_a_comma_is_one_path(here: World) -> None:
    task = write_task(here.root / "a,b" / "task", 1)
    assert here.cli("run", "-t", str(task), "--policy", "asker", "-o", "run") == 0
    assert here.cli("run", "-t", "small", "--include-path", str(here.root / "a,b"), "--policy", "asker", "-o", "c") == 0
    assert here.bytes() == here.bytes("c")


def test_show_history_shows_what_was_said_and_what_was_matched(here: World, capsys: pytest.CaptureFixture[str]) -> None:
    here.run(policies=["asker", "hostile"])
    assert here.cli("show", "history", "run", "c000", "--policy", "asker", "--repeat", "1", "--notes") == 0
    out = capsys.readouterr().out
    assert "── small c000 · asker · telling · repeat 1" in out
    assert "[1] 医生：您发烧吗？" in out
    assert "✓ 您发烧吗？ → 您发烧吗？（第 1 轮）" in out
    assert "○ 以前得过什么病？" in out
    assert '"fact_ids"' in out
    assert "hostile" not in out
