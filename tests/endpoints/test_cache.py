"""Nothing is paid twice, and nothing is answered with what was asked before it changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from endpoint_lab import Lab, error
from meddc_harness import case, write_task

from meddc_bench.prompts import prompts_for
from meddc_bench.resources import shipped


def edit_fact(lab: Lab) -> None:
    changed = case(0)
    changed["facts"][0]["text"] = "发烧四天了。"
    write_task(lab.root / "task", [changed])
    lab.task.write_text(TEXTS["task"], encoding="utf-8")


def edit_template(lab: Lab, name: str) -> None:
    path = lab.root / "task" / "templates" / "zh" / "meddc" / f"{name}.jinja"
    path.parent.mkdir(parents=True, exist_ok=True)
    source = (shipped("templates") / "zh" / "meddc" / f"{name}.jinja").read_text(encoding="utf-8")
    path.write_text(source.replace("。", "．", 1), encoding="utf-8")
    prompts_for.cache_clear()  # another process has none


def edit_decoding(lab: Lab, old: str, new: str) -> None:
    text = lab.task.read_text(encoding="utf-8")
    assert old in text
    lab.task.write_text(text.replace(old, new), encoding="utf-8")


TEXTS: dict[str, str] = {}

Flip = tuple[Callable[[Lab], Any] | None, dict[str, Any], set[str]]
DOWNSTREAM = {"patient", "reader", "judge"}


def policy(**options: Any) -> Callable[[Lab], dict[str, Any]]:
    return lambda lab: {"policies": [lab.role("policies", **options)]}


FLIPS: dict[str, tuple[Callable[[Lab], Any], set[str]]] = {
    "policy model": (policy(model="doctor-2"), {"doctor"}),
    "policy temperature": (policy(temperature=0.7), {"doctor"}),
    "policy top_p": (policy(top_p=0.7), {"doctor"}),
    "policy max_tokens": (policy(max_tokens=99), {"doctor"}),
    "policy extra_body": (policy(extra_body={"top_k": 5}), {"doctor"}),
    "patient model": (lambda lab: {"patients": [lab.role("patients", model="patient-2")]}, {"patient"}),
    "reader model": (lambda lab: {"readers": [lab.role("readers", model="reader-2")]}, {"reader"}),
    "judge model": (lambda lab: {"judges": [lab.role("judges", model="judge-2")]}, {"judge"}),
    "patient temperature": (lambda lab: edit_decoding(lab, "temperature: 0.3", "temperature: 0.4"), {"patient"}),
    "reader max_tokens": (lambda lab: edit_decoding(lab, "max_tokens: 1024", "max_tokens: 1000"), {"reader"}),
    "judge max_tokens": (
        lambda lab: edit_decoding(lab, "cover_targets: {temperature: 0.0, max_tokens: 2048}", "cover_targets: {}"),
        {"judge"},
    ),
    "a byte of the doctor's prompt": (lambda lab: edit_template(lab, "doctor_system"), {"doctor"}),
    "a byte of the patient's prompt": (lambda lab: edit_template(lab, "patient_system"), {"patient"}),
    "a byte of the reader's prompt": (lambda lab: edit_template(lab, "reader_system"), {"reader"}),
    "a byte of the judge's prompt": (lambda lab: edit_template(lab, "judge_cover_targets"), {"judge"}),
    "a fact of the case": (edit_fact, {"patient", "judge"}),
    "seed": (lambda lab: {"seed": 5}, {"doctor", *DOWNSTREAM}),
}


@pytest.mark.parametrize("flip", list(FLIPS))
def test_what_a_changed_input_touches_is_asked_anew_and_nothing_else(lab: Lab, flip: str) -> None:
    TEXTS["task"] = lab.task.read_text(encoding="utf-8")
    assert lab.play().exit_code == 0
    first = dict(lab.server.counts)
    lab.server.counts.clear()
    change, touched = FLIPS[flip]
    more = change(lab)
    more = more if isinstance(more, dict) and not isinstance(more, str) else {}
    roles = lab.roles(**{kind: more.pop(kind) for kind in list(more) if kind != "seed"})
    assert lab.play(roles=roles, **more).exit_code == 0
    counts = lab.server.counts
    assert {role for role in ("doctor", *DOWNSTREAM) if counts[role]} == touched, first
    assert counts["made again"] == 0


def test_repeats_are_repeats_and_asks_are_asks_and_no_copies(lab: Lab) -> None:
    assert lab.play(repeats=3, asks=2).exit_code == 0
    seeds = [(body["model"], str(body["messages"]), body["seed"]) for body in lab.server.bodies]
    assert len(seeds) == len(set(seeds))
    first = [body for body in lab.server.bodies if body["model"] == "doctor" and len(body["messages"]) == 2]
    assert len(first) == 3
    judged = [body for body in lab.server.bodies if "摘出他向患者问了哪些问题" in body["messages"][-1]["content"]]
    assert len({body["seed"] for body in judged}) == 6
    assert lab.server.counts["made again"] == 0


def test_repeats_are_no_copies_where_a_user_fixes_the_seed_of_the_endpoint(lab: Lab) -> None:
    fixed = lab.roles(policies=[lab.role("policies", extra_body={"seed": 42})])
    assert lab.play(roles=fixed, repeats=3).exit_code == 0
    first = [body for body in lab.server.bodies if body["model"] == "doctor" and len(body["messages"]) == 2]
    assert [body["seed"] for body in first] == [42, 42, 42]


def test_two_policies_never_get_each_others_replies(lab: Lab) -> None:
    lab.always("doctor", lambda body: f"{body['model']}问：您发烧吗？")
    both = [lab.role("policies", "a", model="doctor-a"), lab.role("policies", "b", model="doctor-b")]
    lab.play(roles=lab.roles(policies=both))
    for label in "ab":
        assert lab.cli("show", "history", str(lab.root / "run"), "c000", "--policy", label) == 0
    said = [body["messages"] for body in lab.server.bodies if body["model"] == "doctor-a"]
    assert "doctor-b问" not in str(said)


def test_the_shared_cache_pays_nothing_twice_across_run_folders(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEDDC_CACHE_DIR", str(lab.root / "cache"))
    assert lab.play("one").exit_code == 0
    paid = lab.requests
    assert lab.play("two").exit_code == 0
    assert lab.requests == paid
    assert lab.bytes("one") == lab.bytes("two")
    assert lab.calls("two")["usage"] == []
    assert lab.calls("two")["this_session"] == {"retries": 0, "from_cache": paid}
    assert lab.calls("two")["served_models"] == lab.calls("one")["served_models"]


def test_a_run_without_its_records_pays_nothing_again(lab: Lab) -> None:
    assert lab.play().exit_code == 0
    before, paid = lab.bytes(), lab.requests
    (lab.root / "run" / "records.jsonl").unlink()
    assert lab.play().exit_code == 0
    assert (lab.bytes(), lab.requests) == (before, paid)


BAD: dict[str, Callable[[Any], Any]] = {
    "blank": lambda body: "",
    "null": lambda body: {"role": "assistant", "content": None},
    "refused": lambda body: {"role": "assistant", "content": None, "refusal": "不行"},
    "filtered": lambda body: {"role": "assistant", "content": "好", "finish_reason": "content_filter"},
    "cut": lambda body: {"role": "assistant", "content": '{"diag', "finish_reason": "length"},
    "unparsable": lambda body: "依我看是肺炎。",
    "a patient's blank": lambda body: '{"text": " ", "fact_ids": []}',
}


@pytest.mark.parametrize(
    ("role", "how"),
    [
        *(("patient", how) for how in BAD),
        ("reader", "null"),
        ("reader", "cut"),
        ("judge", "blank"),
        ("judge", "refused"),
    ],
)
def test_a_reply_that_could_not_be_used_is_never_served_to_a_retry(lab: Lab, role: str, how: str) -> None:
    lab.always(role, BAD[how])
    assert lab.play(max_retries=0).exit_code == 3
    lab.obey()
    lab.server.counts.clear()
    assert lab.cli("retry", str(lab.root / "run"), "--max-retries", "0") == 0
    assert lab.server.counts[role] > 0
    assert lab.server.counts["doctor"] <= 5
    lab.play("whole")
    assert lab.bytes() == lab.bytes("whole")


def test_after_an_outage_the_run_goes_on_where_it_was_and_pays_nothing_again(lab: Lab) -> None:
    asked = iter(range(10**6))
    lab.always("patient", lambda body: error(503, "忙") if next(asked) >= 2 else None)
    assert lab.play(max_retries=0).exit_code == 3
    assert lab.row(condition="openai")["reasons"] == {"infra_failed": "transient: HTTP 503: 忙"}
    lab.obey()
    assert lab.cli("retry", str(lab.root / "run")) == 0
    assert lab.server.counts["made again"] == 0
    lab.server.counts.clear()
    lab.play("whole")
    assert lab.bytes() == lab.bytes("whole")
    usage = {one["role"]: one for one in lab.calls()["usage"]}
    assert usage == {one["role"]: one for one in lab.calls("whole")["usage"]}, "sums over both sessions, no call twice"


def test_usage_sums_over_unusable_attempts_and_sessions(lab: Lab) -> None:
    lab.server.script("reader", "", "依我看是肺炎。")
    assert lab.play(max_retries=1).exit_code == 3
    assert lab.cli("retry", str(lab.root / "run")) == 0
    (reader,) = [one for one in lab.calls()["usage"] if one["role"] == "reader"]
    assert (reader["calls"], reader["unusable"]) == (3, 2)
    lines = [one for one in lab.journal() if one["role"] == "reader"]
    assert [one.get("unusable") for one in lines] == ["blank", "unparsable", None]
    assert reader["prompt_tokens"] == sum(one["prompt_tokens"] for one in lines)


def test_a_change_of_the_served_model_shows_in_the_manifest(lab: Lab) -> None:
    lab.server.model = "served-1"
    lab.server.script("reader", error(400, "x"))
    assert lab.play().exit_code == 3
    lab.server.model = "served-2"
    assert lab.play().exit_code == 0
    served = lab.calls()["served_models"]
    assert served["doctor"] == ["served-1"]
    assert served["judge"] == ["served-1", "served-2"]
