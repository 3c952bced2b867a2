"""What a user of endpoints types, and what they are told: one clear line, an exit code, and nothing spent in vain."""

from __future__ import annotations

import json
import re
import socket
from pathlib import Path
from typing import Any

import pytest
from endpoint_lab import Lab, error

PRICES = """\
doctor: {prompt: 1000, completion: 1000}
patient: {prompt: 0, completion: 0}
reader: {prompt: 0, completion: 0}
judge: {prompt: 0, completion: 0}
"""


@pytest.fixture
def prices(lab: Lab) -> Path:
    """A price table in which only the doctor costs."""
    path = lab.root / "prices.yaml"
    path.write_text(PRICES, encoding="utf-8")
    return path


def test_own_and_a_reader_stand_side_by_side(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    assert lab.cli(*lab.words("--reader", "own")) == 0
    assert {row["condition"] for row in lab.rows()} == {"emitted", "openai", "own"}
    err = capsys.readouterr().err
    assert re.fullmatch(
        r"calls: \d+ replies \(0 unusable\), [\d,]+ prompt and [\d,]+ completion tokens; now 0 retries, \d+ from the cache\n",
        err,
    )


def test_the_endpoint_may_come_from_the_environment(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", lab.server.url + "/")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    lab.server.key = "sk-test-0123456789"
    words = ("run", "-t", str(lab.task), "-L", "1", "-o", "run")
    roles = [word for role, model in (("policy", "doctor"), ("patient", "patient"), ("judge", "judge"))
             for word in (f"--{role}", "openai", f"--{role}-args", f"model={model}")]  # fmt: skip
    assert lab.cli(*words, *roles) == 0
    assert lab.cli(*words, *roles, "--policy-args", f"base_url={lab.server.url}") == 0, "another host redoes nothing"
    assert lab.server.counts["made again"] == 0


WRONG: dict[str, tuple[tuple[str, ...], str]] = {
    "no scheme": (("--judge-args", "base_url=there:8000/v1"), "openai: base_url 'there:8000/v1': expected http://"),
    "no host": (("--judge-args", "base_url=http:///v1"), "openai: base_url 'http:///v1': expected http://"),
    "a port that is none": (("--judge-args", "base_url=http://there:v1"), "openai: base_url 'http://there:v1': expected"),
    "a port too high": (("--judge-args", "base_url=http://a:99999/v1"), "openai: base_url 'http://a:99999/v1': expected"),
    "a space": (("--judge-args", "base_url=http://a b/v1"), "openai: base_url 'http://a b/v1': expected"),
    "an open bracket": (("--judge-args", "base_url=http://[::1/v1"), "openai: base_url 'http://[::1/v1': expected"),
    "no model": (("--judge-args", "model="), "judge 'openai', option 'model'"),
    "extra_body that is no JSON": (
        ("--judge-args", "extra_body={enable_thinking: no}"), "judge 'openai', option 'extra_body': expected a JSON object",
    ),
    "an option that does not exist": (("--judge-args", "temprature=0"), "judge 'openai' has no option 'temprature'"),
    "a temperature out of range": (("--policy-args", "temperature=3"), "policy 'openai', option 'temperature'"),
    "OpenAI without a key": (
        ("--judge-args", "base_url=https://api.openai.com/v1"), "openai: the environment variable OPENAI_API_KEY is not set",
    ),
    "a limit without prices": (("--cost-limit", "5"), "--cost-limit needs --prices FILE"),
    "a price table that is not there": (("--prices", "nowhere.yaml"), "nowhere.yaml: cannot be read"),
}  # fmt: skip


@pytest.mark.parametrize("how", list(WRONG))
def test_a_wrong_request_is_one_clear_line_and_nothing_is_spent(
    lab: Lab, capsys: pytest.CaptureFixture[str], how: str
) -> None:
    more, words = WRONG[how]
    assert lab.cli(*lab.words(*more)) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1, lines
    assert words in lines[0]
    assert lab.requests == 0


def test_a_price_table_with_a_fault_says_file_line_and_model(
    lab: Lab, prices: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prices.write_text(PRICES.replace("reader: {prompt: 0, ", "reader: {"), encoding="utf-8")
    assert lab.cli(*lab.words("--prices", str(prices))) == 2
    assert "prices.yaml:3:reader: expected {prompt: NUMBER, completion: NUMBER}" in capsys.readouterr().err
    assert lab.requests == 0


def test_a_run_that_becomes_too_dear_stops_and_keeps_what_was_paid(
    lab: Lab, prices: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = lab.words("--prices", str(prices), "--repeats", "4", "--max-connections", "1")
    assert lab.cli(*words, "--cost-limit", "10") == 3
    assert re.search(r"^stopped: the run has cost \d.*, --cost-limit is 10; go on with", capsys.readouterr().err, re.M)
    calls, paid = lab.calls(), lab.requests
    assert 10 <= calls["cost"] < 14, "no more than the call under way"
    assert json.loads((lab.root / "run" / "manifest.json").read_bytes())["status"] == "stopped"
    assert json.loads(lab.bytes())["complete"] is False
    assert lab.cli(*words, "--cost-limit", "10") == 3
    assert lab.requests == paid, "what earlier sessions cost counts, and nothing more is bought"
    assert lab.cli(*words, "--cost-limit", "1000") == 0
    assert lab.server.counts["made again"] == 0
    assert lab.calls()["cost"] == pytest.approx(
        sum(one["prompt_tokens"] + one["completion_tokens"] for one in lab.journal() if one["role"] == "policy") / 1000
    )


def test_a_limit_does_not_let_a_model_without_a_price_spend_without_end(
    lab: Lab, prices: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prices.write_text(PRICES.replace("doctor:", "docter:"), encoding="utf-8")
    assert lab.cli(*lab.words("--prices", str(prices), "--cost-limit", "5")) == 2
    assert "error: --cost-limit needs a price of 'doctor' in --prices" in capsys.readouterr().err
    assert lab.server.counts["doctor"] == 0


def test_retries_are_shown_where_the_user_asks_to_see_them(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    lab.server.script("doctor", error(429, "慢一点", Retry_After="0"))
    assert lab.cli(*lab.words("--log-level", "info", "--max-retries", "3")) == 0
    err = capsys.readouterr().err
    assert "info: policy doctor: transient: HTTP 429: 慢一点; retry 1 of 3 in 0.0 s" in err
    assert "now 1 retries" in err


def test_by_default_short_retries_are_not_said_and_refused_fields_are(
    lab: Lab, capsys: pytest.CaptureFixture[str]
) -> None:
    lab.server.script("doctor", error(429, "慢一点", Retry_After="0"))
    lab.server.refuses = frozenset({"seed"})
    assert lab.cli(*lab.words("--max-connections", "1")) == 0
    err = capsys.readouterr().err
    assert "慢一点" not in err
    assert f"warning: policy doctor at {lab.server.url} refuses seed: going on without it" in err


def test_without_retries_a_failure_is_a_failure(lab: Lab) -> None:
    lab.server.script("doctor", error(503, "忙"))
    assert lab.cli(*lab.words("--max-retries", "0")) == 3
    assert lab.requests == 1


def test_a_campaign_file_names_endpoints_as_flags_do(lab: Lab) -> None:
    file = lab.root / "campaign.yaml"
    roles = {kind: [{"name": "openai", "options": lab.role(kind)[1]}] for kind in ("policies", "patients", "judges")}
    roles["policies"][0]["options"]["extra_body"] = {"enable_thinking": False}
    data = {"tasks": [str(lab.task)], "limit": 1, "output_path": "run", **roles}
    file.write_text(json.dumps(data), encoding="utf-8")
    assert lab.cli("run", "-C", str(file)) == 0
    assert {body.get("enable_thinking") for body in lab.server.bodies if body["model"] == "doctor"} == {False}


def test_results_hold_no_usage_and_the_manifest_does(lab: Lab) -> None:
    assert lab.cli(*lab.words()) == 0
    assert not re.search(rb"prompt_tokens|usage|cost|retries", lab.bytes())
    assert {one["role"] for one in lab.calls()["usage"]} == {"policy", "patient", "reader", "judge"}


def test_offline_adapters_make_no_network_call_whatever_the_environment_says(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    def blocked(*_: Any, **__: Any) -> Any:
        raise AssertionError("a network call")

    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    monkeypatch.setenv("OPENAI_BASE_URL", lab.server.url)
    with monkeypatch.context() as patch:
        for name in ("connect", "connect_ex", "sendto"):
            patch.setattr(socket.socket, name, blocked)
        patch.setattr(socket, "getaddrinfo", blocked)
        assert lab.cli("run", "-t", "meddc", "-L", "1", "--repeats", "1", "--policy", "checklist", "-o", "run") == 0
    assert lab.requests == 0
    assert not (lab.root / "run" / "calls.jsonl").exists()
