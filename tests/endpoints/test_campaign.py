"""A campaign on bad endpoints, killed or interrupted, ends in the results of one that nothing disturbed."""

from __future__ import annotations

import json
import signal
import time
from collections import Counter
from typing import Any

import pytest
from endpoint_lab import KINDS, Lab
from meddc_harness import done, wait_until

CASES, REPEATS = 4, 15
TRANSPORT = ("429", "500", "reset", "truncated", "html")
MIXED = {"429": 5, "500": 5, "reset": 4, "truncated": 4, "html": 4, "blank": 4, "badjson": 4}


def campaign(lab: Lab, folder: str) -> Any:
    return lab.play(folder, tasks=("meddc_record",), limit=CASES, repeats=REPEATS, max_connections=16, max_retries=None)


def samples(lab: Lab, folder: str) -> dict[tuple[str, str, int], dict[str, Any]]:
    lines = (lab.root / folder / "samples_meddc_record.jsonl").read_text(encoding="utf-8").splitlines()
    return {(one["condition"], one["case"], one["repeat"]): one for one in map(json.loads, lines)}


@pytest.mark.parametrize("share", [0.05, 0.30])
def test_of_a_campaign_on_a_bad_endpoint_nothing_is_lost_and_no_score_moves(lab: Lab, share: float) -> None:
    assert campaign(lab, "good").exit_code == 0
    lab.server.counts.clear()
    lab.server.faults = {fault: share * part / sum(MIXED.values()) for fault, part in MIXED.items()}
    campaign(lab, "bad")
    good, bad = samples(lab, "good"), samples(lab, "bad")
    assert good.keys() == bad.keys()
    assert len(bad) == 2 * CASES * REPEATS, "every key ends in exactly one outcome"
    scored = [key for key, one in bad.items() if one["outcome"] == "scored"]
    assert len(scored) >= 0.99 * len(bad)
    for key, one in bad.items():
        if one["outcome"] == "scored":
            assert one == good[key]
        else:
            assert one["outcome"] in (
                "policy_failed",
                "patient_failed",
                "reader_failed",
                "judge_failed",
                "infra_failed",
            )
            assert one["reason"]
    for row in lab.rows("bad"):
        assert row["outcomes"] == Counter(one["outcome"] for key, one in bad.items() if key[0] == row["condition"])

    counts, calls, journal = lab.server.counts, lab.calls("bad"), lab.journal("bad")
    lost = sum(counts[f"fault {fault}"] for fault in TRANSPORT)
    assert lost > 0.6 * share * counts["requests"]
    assert len(journal) == counts["requests"] - lost, "every reply that came is in the journal"
    assert sum(one["calls"] for one in calls["usage"]) == len(journal)
    usable = [one["id"] for one in journal if "unusable" not in one]
    assert len(usable) == len(set(usable)), "no reply is paid for twice"
    assert sum(one["unusable"] for one in calls["usage"]) == len(journal) - len(usable)
    if len(scored) == len(bad):
        assert counts["requests"] == len(usable) + calls["this_session"]["retries"]


def words(lab: Lab, folder: str) -> list[str]:
    out = ["run", "-t", "meddc_record", "-L", "4", "--repeats", "4", "--max-connections", "8", "-o", folder]
    for kind in KINDS:
        flag = "--policy" if kind == "policies" else f"--{kind[:-1]}"
        out += [flag, "openai", f"{flag}-args", f"model={KINDS[kind]},base_url={lab.server.url}"]
    return out


def test_killed_in_mid_flight_a_run_pays_again_only_for_what_was_under_way(lab: Lab) -> None:
    lab.server.latency = 0.01
    kills, wanted = 0, 40
    while True:
        process = lab.start(*words(lab, "run"))
        before = lab.requests
        while lab.requests < before + wanted and process.poll() is None:
            time.sleep(0.001)  # between two looks
        process.kill()
        if (ended := done(process)).code == 0:
            break
        assert ended.code == -signal.SIGKILL, ended
        kills, wanted = kills + 1, wanted + 15 if kills < 2 else 10**6
    assert kills >= 3
    again = lab.server.counts["made again"]
    assert again <= 8 * kills, "no more than the connections that were open"
    journal = [one["id"] for one in lab.journal() if "unusable" not in one]
    assert len(journal) == len(set(journal)), "no reply that was on disk was paid for again"
    lab.server.latency = 0.0
    assert lab.cli(*words(lab, "whole")) == 0
    assert lab.bytes() == lab.bytes("whole")
    assert {one["role"]: one["calls"] for one in lab.calls()["usage"]} == {
        one["role"]: one["calls"] for one in lab.calls("whole")["usage"]
    }
    for name in ("histories.jsonl", "samples_meddc_record.jsonl"):
        assert (lab.root / "run" / name).read_bytes() == (lab.root / "whole" / name).read_bytes()


def test_interrupted_while_it_waits_for_answers_a_run_leaves_at_once_and_cleanly(lab: Lab) -> None:
    lab.server.faults, lab.server.slow = {"slow": 0.1}, 60.0
    process = lab.start(*words(lab, "run"))
    wait_until(lambda: lab.server.counts["fault slow"] >= 6, process)
    started = time.monotonic()
    process.send_signal(signal.SIGINT)
    ended = done(process, timeout=20)
    assert time.monotonic() - started < 8
    assert ended.code == 130, ended
    noise = [line for line in ended.err.splitlines() if not line.startswith(("calls: ", "interrupted: "))]
    assert noise == [], "no traceback, no unclosed connection"
    lab.server.faults = {}
    assert lab.cli("retry", "run") == 0
    assert lab.server.counts["made again"] <= 8, "no more than the connections that were open"
    assert lab.cli(*words(lab, "whole")) == 0
    assert lab.bytes() == lab.bytes("whole")
