"""A key is told to its endpoint and to nothing else, whatever that endpoint does with it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from endpoint_lab import Lab, answer, error
from meddc_harness import texts

KEY = "sk-canary/7f3a9b2c41d8"
NAMED = [
    word
    for role in ("policy", "patient", "reader", "judge")
    for word in (f"--{role}-args", "api_key_env=OPENAI_API_KEY")
]


def clear_of_the_key(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    """Look for the key in all that was written and shown."""
    shown = capsys.readouterr()
    forms = {KEY, KEY.replace("/", "\\/"), json.dumps(KEY), KEY[:14]}
    for form in forms:
        assert form not in shown.out
        assert form not in shown.err
        for path, data in texts(lab.root):
            assert form.encode() not in data, path


def echoes(body: Any) -> Any:
    return {"role": "assistant", "content": f"您发烧吗？你的密钥是 {KEY}", "reasoning_content": f"key={KEY}"}


ECHOES: dict[str, Any] = {
    "in an error": lambda body: error(400, f"bad key {KEY}", KEY),
    "in a refusal of the key": lambda body: error(401, f"Incorrect API key provided: {KEY}"),
    "in an error that passes": lambda body: error(503, f"try again, {KEY}"),
    "in a page": lambda body: answer(f"<html>{KEY}</html>".encode()),
    "at the edge of what is quoted of a page": lambda body: answer(f"<html>{'x' * 60}{KEY}</html>".encode()),
    "at the edge of what is quoted of an error": lambda body: error(400, "x" * 285 + KEY),
    "in an error with 200": lambda body: answer({"error": {"message": f"bad key {KEY}"}}),
    "in JSON that is no completion": lambda body: answer([KEY]),
    "in a text": echoes,
    "in a refusal": lambda body: {"role": "assistant", "content": None, "refusal": f"not with {KEY}"},
    "in a tool call": lambda body: {
        "role": "assistant", "content": None,
        "tool_calls": [{"id": "1", "function": {"name": "diagnose", "arguments": f'{{"diagnoses": ["{KEY}"]}}'}}],
    },
    "with escapes": lambda body: answer(
        json.dumps({"model": "m", "choices": [{"message": {"content": f"问 {KEY}"}}]})
        .replace("/", "\\/").replace("canary", "c\\u0061nary").encode()
    ),
    "in a Retry-After": lambda body: error(429, "slow", Retry_After=KEY),
    "in a cookie": lambda body: error(500, "no", Set_Cookie=f"key={KEY}"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("how", "role"),
    [*((how, "judge") for how in ECHOES), *(("in a text", role) for role in ("doctor", "patient", "reader"))],
)
def test_a_key_that_a_server_repeats_stands_in_no_file_and_on_no_screen(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], how: str, role: str
) -> None:
    monkeypatch.setenv("HOSPITAL_GATEWAY", KEY)  # no name that tells a key
    lab.always(role, ECHOES[how])
    lab.server.model = f"served-{KEY}"
    named = "api_key_env=HOSPITAL_GATEWAY"
    options = [word for one in ("policy", "patient", "reader", "judge") for word in (f"--{one}-args", named)]
    lab.cli(*lab.words("--max-retries", "1", "--log-level", "debug", *options))
    assert lab.server.counts[role]
    clear_of_the_key(lab, capsys)


def test_the_key_is_shown_by_the_name_of_its_variable_and_goes_only_to_its_endpoint(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    lab.server.key = "another"
    assert lab.cli(*lab.words(*NAMED)) == 3
    reason = lab.row(condition="openai")["reasons"]["infra_failed"]
    assert reason == "auth: HTTP 401: Incorrect API key provided: Bearer [OPENAI_API_KEY] (invalid_api_key)"
    clear_of_the_key(lab, capsys)


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("", "the environment variable MY_KEY is not set"),
        ("sk-密钥", "its key holds characters that no HTTP header can carry"),
        ("sk-a\nb", "its key holds characters that no HTTP header can carry"),
    ],
)
def test_a_key_that_is_missing_or_cannot_be_sent_is_one_clear_line_before_anything_is_spent(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], key: str, words: str
) -> None:
    monkeypatch.setenv("MY_KEY", key)
    assert lab.cli(*lab.words("--judge-args", "api_key_env=MY_KEY")) == 2
    shown = capsys.readouterr()
    assert shown.err.strip().splitlines() == [f"error: openai: {words}"]
    assert lab.requests == 0


def test_a_newline_after_a_key_is_forgiven(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\n")
    lab.server.key = KEY
    assert lab.cli(*lab.words(*NAMED)) == 0


def test_a_key_is_not_sent_to_an_address_that_was_given_without_it(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    lab.server.key = KEY
    assert lab.cli(*lab.words()) == 3
    assert "HTTP 401" in lab.row(condition="openai")["reasons"]["infra_failed"]
    assert "[OPENAI_API_KEY]" not in lab.row(condition="openai")["reasons"]["infra_failed"]


def test_a_key_on_the_command_line_is_refused(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    assert lab.cli(*lab.words("--judge-args", f"api_key={KEY}")) == 2
    assert "has no option 'api_key'" in capsys.readouterr().err
