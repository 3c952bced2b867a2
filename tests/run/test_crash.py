"""A run that is killed, interrupted or locked out loses nothing, makes nothing twice and ends in the same bytes."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import textwrap
import time
from typing import Any

import pytest
from meddc_harness import World, done, finals, stored, wait_until, write_task

from meddc_bench.fingerprint import derive_seed

KILLED = -signal.SIGKILL
CALLS = (5, 3, 0, 1, 1, 1, 1)
"""What each record of a history costs: rollout, trajectory, `emitted` with two axes, the reader with one."""


def words(world: World, policy: str = "asker", *more: str) -> tuple[str, ...]:
    return ("run", "-t", str(world.task), "--policy", policy, "-o", "run", *more)


def finished_seeds(world: World, cases: int) -> set[str]:
    """Return the policy seeds of the histories that stand in the journal."""
    path = world.root / "run" / "records.jsonl"
    whole = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    found = [data["key"] for data in map(_loads, whole) if data.get("stage") == "history"]
    keys = {(key["case"], key["repeat"]) for key in found}
    seeds = {
        (f"c{number:03d}", repeat): str(derive_seed(0, "small", f"c{number:03d}", repeat, "policy"))
        for number in range(cases)
        for repeat in range(2)
    }
    return {seeds[key] for key in keys}


def _loads(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def test_killed_at_random_moments_a_run_ends_in_the_same_bytes_and_redoes_nothing_finished(world: World) -> None:
    cases = 40
    write_task(world.root / "task", cases)
    world.run("whole")
    world.forget()
    draw = random.Random(2026)
    kills = 0
    while True:
        before, seen = finished_seeds(world, cases), len(world.calls())
        process = world.start(*words(world, "asker", "--max-connections", "4"))
        wanted = seen + draw.randint(1, 400)
        while len(world.calls()) < wanted and process.poll() is None:
            time.sleep(0.001)  # between two looks
        process.kill()
        ended = done(process)
        begun = [call.split()[-1] for call in world.calls()[seen:] if call.startswith("start")]
        assert not before & set(begun), "a finished history was rolled out again"
        if ended.code == 0:
            break
        assert ended.code == KILLED
        kills += 1
        assert kills < 40
    assert kills >= 3
    assert world.bytes() == world.bytes("whole")
    assert set(finals(world.root / "run").values()) == {1}
    for name in ("histories.jsonl", "samples_small.jsonl"):
        assert (world.root / "run" / name).read_bytes() == (world.root / "whole" / name).read_bytes()
    assert not [path.name for path in (world.root / "run").iterdir() if path.name.endswith(".part")]


@pytest.mark.parametrize(("write", "share"), [(0, 0.5), (1, 0.0), (5, 0.99), (13, 0.3)])
def test_killed_in_the_middle_of_a_write_the_next_run_pays_only_the_lost_call(
    world: World, write: int, share: float
) -> None:
    script = textwrap.dedent(f"""
        import os, sys
        from meddc_bench import cli, store
        left, whole = [{write}], os.write
        def torn(fd, data):
            if len(data) > 1:  # a newline closes what was torn before
                if left[0] == 0:
                    whole(fd, data[: int(len(data) * {share})])
                    os.kill(os.getpid(), 9)
                left[0] -= 1
            return whole(fd, data)
        os.write = torn
        cli.main(sys.argv[1:])
    """)
    command = [sys.executable, "-c", script, *words(world, "asker", "--max-connections", "1")]
    for lost in (1, 2):  # the second time in the first write of a resumed run
        killed = done(subprocess.Popen(command, cwd=world.root, env=world.environment(), stderr=subprocess.PIPE))
        assert killed.code == KILLED, killed
        assert len(stored(world.root / "run")) == lost * write
    world.run()
    paid = len(world.calls())
    world.forget()
    world.run("whole")
    assert world.bytes() == world.bytes("whole")
    assert paid == len(world.calls()) + CALLS[write % 7] + CALLS[2 * write % 7]
    assert set(finals(world.root / "run").values()) == {1}


def test_killed_before_the_results_are_saved_the_old_results_stay_whole(world: World) -> None:
    world.run()
    before = world.bytes()
    script = textwrap.dedent("""
        import os, sys
        from meddc_bench import cli
        os.replace = lambda *_: os.kill(os.getpid(), 9)
        cli.main(sys.argv[1:])
    """)
    command = [sys.executable, "-c", script, *words(world, "asker", "--policy", "hostile")]
    assert done(subprocess.Popen(command, cwd=world.root, env=world.environment())).code == KILLED
    assert world.bytes() == before


# ── signals ──────────────────────────────────────────────────────────────────────────────────────


def waiting(world: World, *command: str) -> subprocess.Popen[bytes]:
    """Start a run and wait until a policy of it waits."""
    process = world.start(*command)
    wait_until(lambda: world.calls("waits"), process)
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_says_so_marks_its_results_and_goes_on_later(world: World, number: signal.Signals) -> None:
    command = words(world, "asker", "--policy", "slow", "--max-connections", "20")
    process = world.start(*command)
    wait_until(lambda: len(world.calls("waits")) == 6 and len(stored(world.root / "run")) == 6 * 7, process)
    process.send_signal(number)
    ended = done(process)
    assert ended.code == 130
    assert ended.out.splitlines()[-1] == "run"
    assert "部分结果" in ended.out
    assert ended.err == "interrupted: partial results; go on with `meddc-bench retry run`\n"
    partial = json.loads(world.bytes())
    assert partial["complete"] is False
    assert world.row(policy="slow", condition="echo")["outcomes"] == {"infra_failed": 6}
    assert world.row(policy="slow", condition="echo")["reasons"] == {"infra_failed": "not done yet"}
    assert json.loads((world.root / "run" / "manifest.json").read_bytes())["status"] == "interrupted"
    done_before = [one for one in stored(world.root / "run").values() if b'"policy":"asker"' in one]
    assert len(done_before) == 6 * 7
    assert not [one for one in stored(world.root / "run").values() if b'"policy":"slow"' in one]
    (world.side / "gate").touch()
    world.forget()
    assert world.cli("retry", str(world.root / "run")) == 0
    assert world.calls("start asker") == []
    world.run("whole", policies=["asker", "slow"], max_connections=20)
    assert world.bytes() == world.bytes("whole")


def test_an_interrupted_run_prints_its_partial_results_as_one_json_object(world: World) -> None:
    process = waiting(world, *words(world, "slow", "--json"))
    process.send_signal(signal.SIGINT)
    ended = done(process)
    found = json.loads(ended.out.splitlines()[-1])
    assert (ended.code, found["exit_code"], found["complete"], found["run"]) == (130, 130, False, "run")


def test_what_a_policy_makes_of_being_interrupted_is_not_recorded_as_its_failure(world: World) -> None:
    process = waiting(world, *words(world, "slow", "--policy-args", "fail=deaf"))
    process.send_signal(signal.SIGINT)
    assert done(process).code == 130
    assert stored(world.root / "run") == {}


def test_a_thread_that_hangs_does_not_hold_back_an_interruption(world: World) -> None:
    process = waiting(world, *words(world, "slow-thread"))
    process.send_signal(signal.SIGINT)
    assert done(process, timeout=20).code == 130


def test_a_second_interruption_leaves_at_once_even_from_a_policy_that_blocks_everything(world: World) -> None:
    process = waiting(world, *words(world, "slow", "--policy-args", "fail=blocking", "--max-connections", "1"))

    def left() -> bool:
        process.send_signal(signal.SIGINT)
        return process.poll() is not None

    wait_until(left, timeout=20)
    assert done(process).code == 130
    assert stored(world.root / "run") == {}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_while_the_results_are_written_is_130_and_loses_nothing(
    world: World, number: signal.Signals
) -> None:
    script = textwrap.dedent("""
        import sys, time
        from pathlib import Path
        from meddc_bench import cli, run
        def wait(*_, **__):
            Path(sys.argv[1]).touch()
            while True:
                time.sleep(60)
        run.write_outputs = wait
        cli.main(sys.argv[2:])
    """)
    marker = world.root / "marker"
    process = subprocess.Popen(
        ["sh", "-c", "trap '' INT; exec \"$@\"", "sh", sys.executable, "-c", script, str(marker), *words(world)],
        cwd=world.root, env=world.environment(), stderr=subprocess.PIPE,
    )  # fmt: skip  # as a job of a script is started: it ignores SIGINT
    wait_until(marker.exists, process)
    process.send_signal(number)
    ended = done(process)
    assert (ended.code, ended.err.strip()) == (130, "interrupted")
    world.forget()
    world.run()
    assert world.calls() == []
    world.run("whole")
    assert world.bytes() == world.bytes("whole")


# ── two at once ──────────────────────────────────────────────────────────────────────────────────


def test_a_second_run_on_the_folder_is_told_who_holds_it_and_harms_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(world.root)
    process = waiting(world, *words(world, "slow"))
    for command in (words(world, "asker"), ("retry", "run"), ("score", "run")):
        assert world.cli(*command) == 1
        line = capsys.readouterr().err.splitlines()[-1]
        assert line.startswith(f"error: run is in use by process {process.pid} on ")
    manifest = json.loads((world.root / "run" / "manifest.json").read_bytes())
    assert [role["name"] for role in manifest["campaign"]["policies"]] == ["slow"]
    (world.side / "gate").touch()
    process.send_signal(signal.SIGINT)
    assert done(process).code == 130
    assert world.cli("retry", "run") == 0


def test_a_call_that_hangs_is_given_up_after_the_time_limit_and_tried_again_later(world: World) -> None:
    finished = world.run(policies=["slow"], timeout=0.2)
    assert finished.exit_code == 3
    assert world.row(condition="echo")["reasons"] == {"infra_failed": "TimeoutError: no answer within 0.2 seconds"}
    (world.side / "gate").touch()
    assert world.run(policies=["slow"], timeout=5).exit_code == 0


def test_the_handlers_of_the_host_program_are_given_back(world: World) -> None:
    before = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)]
    world.run()
    assert world.cli(*words(world)[:-1], str(world.root / "run")) == 0
    assert [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)] == before


def test_the_journal_is_never_written_by_a_process_that_only_shows(world: World) -> None:
    world.run()
    folder = world.root / "run"
    files = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert world.cli("show", "results", str(folder)) == 0
    assert world.cli("show", "history", str(folder), "c000") == 0
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == files
