"""Whoever's endpoint fails, the outcome names the role that answers for it, and no one else's numbers move."""

from __future__ import annotations

from typing import Any

import pytest
from aiohttp import web
from endpoint_lab import KINDS, Lab, error

CUT = {"role": "assistant", "content": '{"diagnoses": ["急性', "finish_reason": "length"}
REFUSED = {"role": "assistant", "content": None, "refusal": "我不能回答医疗问题。"}
THOUGHT = {"role": "assistant", "content": "<think>想着想着", "finish_reason": "length"}

ERRORS: dict[str, Any] = {
    "auth": lambda: error(401, "密钥无效", "invalid_api_key"),
    "quota": lambda: error(429, "余额不足", "insufficient_quota"),
    "permanent": lambda: error(400, "参数不合法"),
    "transient": lambda: error(503, "忙"),
    "context": lambda: error(400, "maximum context length is 8192 tokens"),
    "refusal": lambda: dict(REFUSED),
    "filter": lambda: error(400, "blocked", "content_filter"),
    "blank": lambda: "",
    "cut": lambda: dict(CUT),
    "cut in thought": lambda: dict(THOUGHT),
    "unparsable": lambda: "这很难说。",
}

INFRA = dict.fromkeys(("auth", "quota", "permanent", "transient"), "infra_failed")


def of_the_role(outcome: str) -> dict[str, str]:
    return INFRA | dict.fromkeys(
        ("context", "refusal", "filter", "blank", "cut", "cut in thought", "unparsable"), outcome
    )


TABLE: dict[str, dict[str, str]] = {
    "policy": of_the_role("policy_failed") | {"cut": "scored", "unparsable": "scored"},
    "patient": of_the_role("patient_failed"),
    "reader": of_the_role("reader_failed"),
    "judge": of_the_role("judge_failed"),
    "own": of_the_role("reader_failed") | {"unparsable": "scored"},
}
"""The outcome of a history by who fails and how. What a doctor says is speech, cut or not; prose of `own` is for the
judge to extract from."""

SERVED_BY = {"policy": "doctor", "patient": "patient", "reader": "reader", "judge": "judge", "own": "doctor"}
TRIES = {"transient": 2, "blank": 2, "cut": 2, "cut in thought": 2, "unparsable": 2}


def failing(lab: Lab, role: str, how: str) -> None:
    """Let one role's endpoint fail, and only it: `own` is the doctor's model before the reader's prompt."""

    def make(body: Any) -> Any:
        reading = "独立给出最可能的诊断" in body["messages"][0]["content"]
        mine = reading if role == "own" else not (role == "policy" and reading)
        return ERRORS[how]() if mine else None

    lab.always(SERVED_BY[role], make)


@pytest.mark.parametrize(("role", "how"), [(role, how) for role in TABLE for how in ERRORS])
def test_a_failure_is_the_outcome_of_the_role_that_answers_for_it(lab: Lab, role: str, how: str) -> None:
    failing(lab, role, how)
    condition = "own" if role == "own" else "openai"
    roles = lab.roles(readers=["own"]) if role == "own" else lab.roles()
    finished = lab.play(roles=roles, max_retries=1, max_connections=1)
    row, outcome = lab.row(condition=condition), TABLE[role][how]
    assert row["outcomes"] == {outcome: 1}
    assert finished.exit_code == (0 if outcome in ("scored", "policy_failed") else 3)
    if outcome == "scored":
        return
    kind = {"filter": "refusal", "cut in thought": "cut"}.get(how, how)
    assert row["reasons"][outcome].startswith(f"{kind}: "), "the reason is the kind and the server's words"
    if outcome not in ("policy_failed",):
        assert row["metrics"]["Total"]["mean"] is None, "never a number"
    sent = lab.server.counts[SERVED_BY[role]]
    if role in ("policy", "patient", "reader"):
        assert sent == TRIES.get(how, 1)
    if role == "judge" and how in ("auth", "quota"):
        assert sent == 1, "a refused key or purse is not knocked at again"


@pytest.mark.parametrize("role", ["reader", "own"])
def test_a_reader_that_fails_takes_nothing_from_the_trajectory(lab: Lab, role: str) -> None:
    failing(lab, role, "refusal")
    lab.play(roles=lab.roles(readers=["own", lab.role("readers")]))
    bad, good = (lab.row(condition=one) for one in (("own", "openai") if role == "own" else ("openai", "own")))
    assert (bad["outcomes"], good["outcomes"]) == ({"reader_failed": 1}, {"scored": 1})
    for name in ("T", "E", "questions", "rounds"):
        assert bad["metrics"][name]["values"] == good["metrics"][name]["values"]
        assert bad["metrics"][name]["measured"] == 1


@pytest.mark.parametrize("how", ["refusal", "unparsable", "context"])
def test_where_all_judging_fails_the_score_is_null_with_bounds_and_never_a_number(lab: Lab, how: str) -> None:
    failing(lab, "judge", how)
    finished = lab.play(max_retries=0)
    assert finished.exit_code == 3
    for row in lab.rows():
        assert row["outcomes"] == {"judge_failed": 1}
        for name in ("D", "T", "E", "Total"):
            metric = row["metrics"][name]
            assert (metric["mean"], metric["measured"], metric["expected"]) == (None, 0, 1)
            assert all(one is None for one in metric["values"])
            low, high = metric["bounds"]
            assert 0 <= low < high <= 1


@pytest.mark.parametrize("offline", list(KINDS))
def test_roles_mix_with_offline_ones_and_each_has_its_own_endpoint(lab: Lab, offline: str) -> None:
    doubles = {"policies": "asker", "patients": "telling", "readers": "echo", "judges": "equal"}
    assert lab.play(roles=lab.roles(**{offline: [doubles[offline]]})).exit_code == 0
    counts = lab.server.counts
    assert [role for role in KINDS.values() if not counts[role]] == [KINDS[offline]]


def test_roles_on_different_endpoints_do_not_share_a_failure(lab: Lab) -> None:
    from meddc_openai.loopback import Loopback

    with Loopback(key="another").serving() as other:
        judges = [lab.role("judges"), ("barred=openai", {"base_url": other.url, "model": "judge"})]
        assert lab.play(roles=lab.roles(judges=judges)).exit_code == 3
        assert lab.row(judge="openai", condition="openai")["outcomes"] == {"scored": 1}
        assert lab.row(judge="barred", condition="openai")["outcomes"] == {"infra_failed": 1}
        assert other.counts["requests"] <= 4, "as many as were under way"


def test_own_is_the_policys_model_under_the_common_readers_prompt(lab: Lab) -> None:
    assert lab.play(roles=lab.roles(readers=["own", lab.role("readers")], policies=[
        lab.role("policies", temperature=1.5, top_p=0.5, max_tokens=99)
    ])).exit_code == 0  # fmt: skip
    by_role = {"doctor": [], "reader": []}  # type: dict[str, list[Any]]
    for body in lab.server.bodies:
        if "独立给出最可能的诊断" in body["messages"][0]["content"]:
            by_role[body["model"]].append(body)
    (own,), (reader,) = by_role["doctor"], by_role["reader"]
    assert {**own, "model": "reader"} == reader, "one instrument for all policies, its decoding too"


def test_a_policy_without_a_model_has_no_own_reading_and_the_reason_is_said(lab: Lab) -> None:
    lab.play(roles=lab.roles(policies=["asker"], readers=["own"]))
    row = lab.row(condition="own")
    assert row["outcomes"] == {"excluded": 1}
    assert row["reasons"] == {"excluded": "the policy has no generator of its own"}


@pytest.mark.parametrize("action", ["text", "tool"])
def test_a_doctor_diagnoses_by_tool_or_text_as_it_was_told(lab: Lab, action: str) -> None:
    assert lab.play(roles=lab.roles(policies=[lab.role("policies", action=action)])).exit_code == 0
    row = lab.row(condition="emitted")
    assert (row["ended"], row["breaches"]) == ({"diagnosed": 1}, 0)
    assert any("tools" in body for body in lab.server.bodies) is (action == "tool")


def test_a_server_that_refuses_tools_costs_no_history(lab: Lab) -> None:
    lab.server.refuses = frozenset({"tools", "seed", "json_schema"})
    assert lab.play(roles=lab.roles(policies=[lab.role("policies", action="tool")]), max_connections=1).exit_code == 0
    assert lab.row(condition="emitted")["ended"] == {"diagnosed": 1}
    steps = {place.split(" at ")[0]: fields for place, fields in lab.calls()["stepped_down"].items()}
    assert steps == {
        "policy doctor": ["seed", "tools"],
        **{f"{role} {role}": ["json_schema", "seed"] for role in ("patient", "reader", "judge")},
    }  # fmt: skip


def test_a_gateway_that_ignores_response_format_is_asked_again_and_no_more(lab: Lab) -> None:
    whole = '```json\n{"diagnoses": ["肺炎"],}\n```'
    lab.server.script("reader", "依我看是肺炎。", f"好的，如下：\n{whole}")
    assert lab.play(max_retries=1).exit_code == 0
    assert lab.server.counts["reader"] == 2
    assert lab.row(condition="openai")["outcomes"] == {"scored": 1}
    (usage,) = [one for one in lab.calls()["usage"] if one["role"] == "reader"]
    assert (usage["calls"], usage["unusable"]) == (2, 1)


def test_a_redirect_or_an_empty_success_is_no_answer(lab: Lab) -> None:
    lab.server.script("reader", web.Response(status=204))
    assert lab.play(max_retries=0).exit_code == 3
    assert lab.row(condition="openai")["outcomes"] == {"infra_failed": 1}
