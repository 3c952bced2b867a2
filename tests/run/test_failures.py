"""Whoever fails is named, with the reason; no one else's numbers move; what was not measured is never a number."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from meddc_harness import World

from meddc_bench.errors import PluginError, StoreError, UsageError
from meddc_bench.store import Store

ON = {"policies": "肚子", "patients": "肚子", "readers": "肚子", "judges": "阑尾炎"}
"""What one of the three cases alone shows to each role."""

KINDS = {"policies": "asker", "patients": "telling", "readers": "echo", "judges": "equal"}


def failing(kind: str, how: str, on: str = "") -> dict[str, Any]:
    return {kind: [(KINDS[kind], {"fail": how, "on": on})]}


AWAY = r"ConnectionError: the endpoint is away \(at meddc_doubles\.py:\d+\)"


@pytest.mark.parametrize(
    ("kind", "how", "outcome", "reason"),
    [
        ("policies", "own", "policy_failed", "说不下去了"),
        ("policies", "infra", "infra_failed", "ConnectionError: the endpoint is away"),
        ("policies", "exit", "infra_failed", "SystemExit: 7"),
        ("policies", "cancel", "infra_failed", "CancelledError"),
        ("policies", "interrupt", "infra_failed", "KeyboardInterrupt"),
        ("patients", "own", "patient_failed", "说不下去了"),
        ("patients", "blank", "patient_failed", "the patient's answer is empty"),
        ("patients", "infra", "infra_failed", "ConnectionError: the endpoint is away"),
        ("readers", "own", "reader_failed", "说不下去了"),
        ("readers", "infra", "infra_failed", "ConnectionError: the endpoint is away"),
        ("readers", "exit", "infra_failed", "SystemExit: 7"),
        ("judges", "own", "judge_failed", "说不下去了"),
        ("judges", "infra", "infra_failed", "ConnectionError: the endpoint is away"),
        ("judges", "cancel", "infra_failed", "CancelledError"),
    ],
)
def test_a_failure_is_laid_at_the_door_of_who_failed_with_its_reason(
    world: World, kind: str, how: str, outcome: str, reason: str
) -> None:
    finished = world.run(**failing(kind, how, ON[kind]))
    row = world.row(condition="echo")
    assert row["outcomes"] == {outcome: 2, "scored": 4}
    assert list(row["reasons"]) == [outcome]
    assert reason in row["reasons"][outcome]
    assert finished.exit_code == (0 if outcome == "policy_failed" else 3)


@pytest.mark.parametrize("kind", ["policies", "patients", "readers", "judges"])
def test_a_reply_of_the_wrong_type_fails_its_record_and_poisons_no_store(world: World, kind: str) -> None:
    finished = world.run(**failing(kind, "type"))
    row = world.row(condition="echo")
    assert row["outcomes"] == {"infra_failed": 6}
    assert "Error: " in row["reasons"]["infra_failed"]
    assert finished.exit_code == 3
    assert world.run(**failing(kind, "type")).exit_code == 3, "the folder can still be opened and scored"


@pytest.mark.parametrize("kind", ["policies", "patients", "readers", "judges"])
def test_what_was_not_measured_is_null_with_a_reason_and_never_zero(world: World, kind: str) -> None:
    world.run(**failing(kind, "infra"))
    metrics = world.row(condition="echo")["metrics"]
    dead = ("D", "Total") if kind == "readers" else ("D", "T", "E", "Total")
    for name in dead:
        assert metrics[name]["mean"] is None
        assert re.fullmatch(AWAY, metrics[name]["reason"])
        assert all(one is None for one in metrics[name]["values"])
        assert (metrics[name]["measured"], metrics[name]["expected"]) == (0, 6)


def test_a_failed_reader_takes_nothing_from_the_trajectory(world: World) -> None:
    world.run("good")
    world.run("bad", **failing("readers", "own"))
    good, bad = world.row("good", condition="echo"), world.row("bad", condition="echo")
    for name in ("T", "E", "questions", "rounds"):
        assert bad["metrics"][name]["values"] == good["metrics"][name]["values"]
        assert bad["metrics"][name]["measured"] == 6
    assert bad["metrics"]["D"]["mean"] is None
    good, bad = world.row("good", condition="emitted"), world.row("bad", condition="emitted")
    assert bad["metrics"]["D"] == good["metrics"]["D"]


@pytest.mark.parametrize("kind", ["policies", "patients", "readers", "judges"])
def test_below_full_coverage_the_results_say_how_good_or_bad_it_can_have_been(world: World, kind: str) -> None:
    finished = world.run(**failing(kind, "infra", ON[kind]))
    assert finished.exit_code == 3
    metrics = world.row(condition="echo")["metrics"]
    assert metrics["D"]["measured"] == 4
    for name in ("D", "T", "E", "Total"):
        metric = metrics[name]
        if metric["measured"] == 6:
            assert "bounds" not in metric
            continue
        assert (metric["measured"], metric["expected"]) == (4, 6)
        low, high = metric["bounds"]
        assert 0 <= low <= metric["mean"] <= high <= 1
        assert low < high


def test_no_bound_is_upside_down(world: World) -> None:
    world.run(**failing("policies", "infra", "肚子"))
    metrics = world.row(condition="echo")["metrics"]
    bounded = {name: metric for name, metric in metrics.items() if "bounds" in metric}
    assert {"D", "T", "E", "Total"} <= set(bounded)
    for metric in bounded.values():
        low, high = metric["bounds"]
        assert low <= metric["mean"] <= high


def test_where_all_judging_failed_the_bounds_are_still_shown(world: World) -> None:
    world.run(**failing("judges", "own"))
    assert world.row(condition="echo")["metrics"]["D"]["bounds"] == [0.0, 1.0]


@pytest.mark.parametrize("how", ["own", "infra", "exit", "cancel", "interrupt", "type", "escape"])
def test_one_policys_fault_moves_no_number_of_another(world: World, how: str) -> None:
    world.run("alone")
    world.run("both", policies=[("bad=asker", {"fail": how}), "asker"])
    for condition in ("echo", "emitted"):
        assert world.row("both", policy="asker", condition=condition) == world.row("alone", condition=condition)


def test_one_judges_fault_moves_no_number_of_another(world: World) -> None:
    world.run("alone")
    world.run("both", judges=[("bad=equal", {"fail": "own"}), "equal"])
    assert world.row("both", judge="equal", condition="echo") == world.row("alone", condition="echo")


@pytest.mark.parametrize("how", ["", "exit", "cancel"])
def test_one_policys_failure_to_close_ends_in_a_warning(
    world: World, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("alone", "both"):
        also = ["--policy", "spoiler", "--policy-args", f"spoiler:fail={how}"] if name == "both" else []
        assert world.cli("run", "-t", str(world.task), *also, "--policy", "asker", "-o", str(world.root / name)) == 0
    said = capsys.readouterr().err
    assert re.search(
        r"^warning: closing policy spoiler: \w+: no way out \(at meddc_doubles.py:\d+\)$", said, re.MULTILINE
    )
    assert world.row("both", policy="asker", condition="echo") == world.row("alone", condition="echo")


def test_too_many_failures_stop_the_run_marked_as_partial(world: World) -> None:
    finished = world.run(**failing("policies", "infra"), fail_after=2, max_connections=1)
    assert finished.exit_code == 3
    assert finished.progress.stopped is not None
    assert finished.progress.stopped.startswith(
        "3 records failed, more than --fail-on-error 2 allows; last: ConnectionError: the endpoint is away"
    )
    assert finished.results["complete"] is False
    assert len(world.calls("start")) == 3
    assert json.loads((world.root / "run" / "manifest.json").read_bytes())["status"] == "stopped"
    world.mend()
    assert world.run(**failing("policies", "infra"), fail_after=2).exit_code == 0
    assert json.loads(world.bytes())["complete"] is True


def test_measured_failures_never_count_as_errors(world: World) -> None:
    finished = world.run(policies=["null"], fail_after=0)
    assert (finished.exit_code, finished.progress.stopped) == (0, None)
    assert world.row(condition="echo")["metrics"]["D"]["mean"] == 0.0


def test_a_key_that_is_not_set_stops_the_run_before_anything_is_spent(world: World) -> None:
    with pytest.raises(UsageError, match="keyed: the environment variable MEDDC_DOUBLES_NO_SUCH_KEY is not set"):
        world.run(policies=["asker", "keyed"])
    assert world.calls() == []


def test_a_factory_that_cannot_be_imported_stops_the_run_before_anything_is_spent(world: World) -> None:
    with pytest.raises(PluginError, match="plugin doubles: cannot import 'meddc_doubles_absent:Policy'"):
        world.run(policies=["asker", "absent"])
    assert world.calls() == []


def test_a_key_is_asked_for_only_when_a_record_is_missing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEDDC_DOUBLES_NO_SUCH_KEY", "sk-for-now")
    world.run(policies=["keyed"])
    before = world.bytes()
    monkeypatch.delenv("MEDDC_DOUBLES_NO_SUCH_KEY")
    world.run(policies=["keyed"])
    assert world.bytes() == before
    assert world.run("other", policies=["asker"]).exit_code == 0


def test_a_full_disk_is_no_ones_fault_and_is_never_recorded_as_a_failure(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Store.append
    left = [9]

    def append(self: Store, *given: Any) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise StoreError("cannot write: No space left on device")
        whole(self, *given)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "append", append)
        with pytest.raises(StoreError, match="No space left"):
            world.run()
    with Store(world.root / "run", writable=False) as store:
        assert len(store) == 9
        assert {store.outcome(one) for one in store.ids()} == {"scored"}
    assert world.run().exit_code == 0
    world.run("whole")
    assert world.bytes() == world.bytes("whole")
