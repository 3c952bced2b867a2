"""Campaigns: labels, arguments that reach whom they are for, and keys that reach no message."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from meddc_bench.campaign import build, load, parse_roles
from meddc_bench.errors import InputError, UsageError


def role(name: str, label: str | None = None, **options: Any) -> dict[str, Any]:
    return {"name": name, "label": label or name, "options": options}


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def file(text: str) -> Path:
        path = tmp_path / "campaign.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return file


# ── the command line ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("names", "arguments", "roles"),
    [
        (["brief"], [], [role("brief")]),
        (["a=brief"], [], [role("brief", "a")]),
        (["GPT"], [], [role("GPT", "gpt")]),
        (["Big=GPT"], ["Big:k=v"], [role("GPT", "big", k="v")]),
        (["brief"], ["k=v"], [role("brief", k="v")]),
        (["brief"], ["k=v,n=3", "m="], [role("brief", k="v", n="3", m="")]),
        (["brief"], ["brief:k=v"], [role("brief", k="v")]),
        (["brief"], ["base_url=http://host:8000/v1?a=b"], [role("brief", base_url="http://host:8000/v1?a=b")]),
        (
            ["a=brief", "b=brief"],
            ["a:k=1", "b:k=2", "a:m=3"],
            [role("brief", "a", k="1", m="3"), role("brief", "b", k="2")],
        ),
        (["a=brief", "b=brief"], ["b:file=c:d.jsonl"], [role("brief", "a"), role("brief", "b", file="c:d.jsonl")]),
        (["brief"], ["k=1", "k=2"], [role("brief", k="2")]),
    ],
)
def test_names_labels_and_arguments_are_read_as_written(
    names: list[str], arguments: list[str], roles: list[dict[str, Any]]
) -> None:
    assert parse_roles("policy", names, arguments) == roles


@pytest.mark.parametrize(
    ("names", "argument", "message"),
    [
        ([], "k=v", "--policy-args k=…: there is no policy; write LABEL:k=…"),
        (["a=x", "b=x"], "k=v", "--policy-args k=…: there is more than one policy; write LABEL:k=… with one of a, b"),
        (["brief", "eager"], "breif:k=v", "breif:k=…: no label 'breif'; did you mean 'brief'?"),
        (["brief"], "verbose", "--policy-args verbose: expected key=value"),
        (["brief"], "=v", "--policy-args =…: expected key=value"),
        (["brief"], "a,k=b", "--policy-args a,k=…: expected key=value"),
        (["brief"], "", "--policy-args : expected key=value"),
        (["brief"], "brief:", "--policy-args : expected key=value"),
    ],
)
def test_arguments_that_would_reach_no_one_are_refused(names: list[str], argument: str, message: str) -> None:
    with pytest.raises(UsageError) as failed:
        parse_roles("policy", names, [argument])
    assert str(failed.value).startswith(message)


@pytest.mark.parametrize(
    ("names", "argument"),
    [
        (["a=x", "b=x"], "api_key=sk-canary"),
        (["a=x", "b=x"], "c:api_key=sk-canary"),
        (["a=x"], "oops,api_key=sk-canary"),
        (["a=x"], "c:api_key=sk-canary"),
        ([], "api_key=sk-canary"),
    ],
)
def test_a_key_given_on_the_command_line_is_in_no_error(names: list[str], argument: str) -> None:
    with pytest.raises(UsageError, match="api_key") as failed:
        parse_roles("policy", names, [argument])
    assert "sk-canary" not in str(failed.value)


def test_a_value_may_hold_commas() -> None:
    (role,) = parse_roles("policy", ["brief"], ['extra={"a": 1, "b": 2},words=甲,乙'])
    assert role["options"] == {"extra": '{"a": 1, "b": 2}', "words": "甲,乙"}


# ── campaign files ───────────────────────────────────────────────────────────────────────────────


def test_roles_may_be_written_short_or_long(write: Any) -> None:
    data = load(
        write("tasks: [meddc]\npolicies: [GPT, a=brief, {name: brief, label: b, options: {n: 3}}, {name: Eager}]\n")
    )
    assert [(one.label, one.name, one.options) for one in build(data).policies] == [
        ("gpt", "GPT", {}), ("a", "brief", {}), ("b", "brief", {"n": 3}), ("eager", "Eager", {}),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tasks: [meddc]\npolices: [brief]", ":2:polices: unknown key; did you mean 'policies'?"),
        ("policies:\n- name: brief\n  lable: x", ":3:policies[0].lable: unknown key; did you mean 'label'?"),
        ("tasks: meddc", ":1:tasks: expected a list (found 'meddc')"),
        ("policies: brief", ":1:policies: expected a list of names or of {name, label, options}"),
        ("policies: [3]", ":1:policies[0]: expected keys and values (found 3)"),
        ("policies:\n- {label: x}", ":2:policies[0].name: this key is missing"),
        ("policies:\n- {name: x, label: 'A B'}", ":2:policies[0].label: String should match pattern"),
        ("policies:\n- {name: x, label: 医生}", ":2:policies[0].label: String should match pattern"),
        ("policies:\n- {name: x, options: [a]}", ":2:policies[0].options: expected keys and values"),
        ("repeats: 0", ":1:repeats: Input should be greater than or equal to 1"),
        ("repeats: '5'", ":1:repeats: Input should be a valid integer"),
        ("seed: 1.5", ":1:seed: Input should be a valid integer"),
        ("timeout: 0", ":1:timeout: Input should be greater than 0"),
        ("predict_only: no", ":1:predict_only: Input should be a valid boolean"),
        ("protocol: {view: half}", ":1:protocol.view: Input should be 'cut', 'mask' or 'full'"),
        ("protocol: {topk: 5}", ":1:protocol.topk: unknown key; did you mean 'top_k'?"),
        ("[meddc]", ":1: expected keys and values, such as"),
        ("", ": expected keys and values, such as"),
    ],
)
def test_a_fault_of_a_campaign_says_line_and_key(text: str, message: str, write: Any) -> None:
    with pytest.raises(InputError) as failed:
        load(write(text))
    assert str(failed.value).partition("campaign.yaml")[2].startswith(message)


def test_a_key_pasted_into_a_campaign_file_is_in_no_error(write: Any) -> None:
    for text in ("policies: [{name: x, api_key: sk-canary}]", "policies: [{name: x, options: sk-canary}]"):
        with pytest.raises(InputError) as failed:
            load(write(text))
        assert "sk-canary" not in "\n".join([str(failed.value), *getattr(failed.value, "__notes__", [])])


# ── labels ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", ["policies", "patients", "readers", "judges"])
def test_a_label_twice_in_a_kind_is_refused_before_results_are_mixed_up(kind: str) -> None:
    with pytest.raises(UsageError, match=f"{kind}: the label 'x' is used twice; give one another: NEW_LABEL=x"):
        build({kind: [role("brief", "x"), role("eager", "x")]})


def test_the_same_label_in_two_kinds_is_no_clash() -> None:
    assert build({"policies": [role("x")], "judges": [role("x")]}).judges[0].label == "x"


@pytest.mark.parametrize("label", ["", "A", "a b", "a/b", "a:b", "a=b", "医生", "x" * 65, "a\n"])
def test_a_label_that_could_not_stand_in_a_result_is_refused_by_name(label: str) -> None:
    with pytest.raises(InputError, match=r"policies\[0\]\.label"):
        build({"policies": [{"name": "brief", "label": label}]})


@pytest.mark.parametrize("given", [role("knowledge", "emitted"), role("knowledge", "own"), role("own", "mine")])
def test_a_reader_cannot_pass_for_a_condition_of_the_core(given: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="are conditions of the core and keep their labels"):
        build({"readers": [given]})


@pytest.mark.parametrize("name", ["own", "emitted"])
def test_options_of_a_condition_that_reads_none_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match=f"reader '{name}' is a condition of the core and has no options"):
        build({"readers": [role(name, temperature="0")]})


@pytest.mark.parametrize("name", ["own", "emitted"])
def test_the_conditions_of_the_core_can_be_asked_for(name: str) -> None:
    assert build({"readers": [role(name)]}).readers[0].name == name


@pytest.mark.parametrize("value", [float("inf"), float("nan"), -1.0])
def test_a_time_limit_that_is_none_is_refused(value: float) -> None:
    with pytest.raises(InputError, match="timeout"):
        build({"timeout": value})
