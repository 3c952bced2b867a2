"""A policy's reply as an action: every form, every way it goes wrong, and nothing hidden that reaches the patient."""

from __future__ import annotations

import json
import time
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meddc_bench.actions import Call, MenuItem, parse, split_reasoning
from meddc_bench.environments.consultation import ASK, DIAGNOSE
from meddc_bench.records import Action

MENU = (ASK, DIAGNOSE)
LAST = (DIAGNOSE,)
QUESTION = "疼多久了？有没有发热？"


def said(text: str, *calls: Call, menu: Any = MENU) -> tuple[Action, str]:
    return parse(text, calls, menu)


def diagnosed(text: str, *calls: Call) -> list[str]:
    """The diagnoses of a reply that must be read as one."""
    action, _ = said(text, *calls)
    assert action.name == "diagnose", action
    return action.arguments.get("diagnoses", [])


# ── hidden reasoning ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("reply", "public"),
    [
        ("<think>像阑尾炎</think>疼多久了？", "疼多久了？"),
        ("<think>像阑尾炎\n第二行</think>\n\n疼多久了？", "疼多久了？"),
        ("像阑尾炎</think>疼多久了？", "疼多久了？"),
        ("疼多久了？<think>像阑尾炎", "疼多久了？"),
        ("<think>像阑尾炎", ""),
        ("<think>像<think>里层</think>阑尾炎</think>疼多久了？", "疼多久了？"),
        ("疼<think>像<think>里层</think>阑尾炎</think>多久了？", "疼多久了？"),
        ("<think>该写 <think> 标签吗，像阑尾炎</think>疼多久了？", "疼多久了？"),
        ("像阑尾炎</think>还像阑尾炎</think>疼多久了？", "疼多久了？"),
        ("像阑尾炎<think>里层</think>还像阑尾炎</think>疼多久了？", "疼多久了？"),
        ("<think>像阑尾炎</think>疼<think>像阑尾炎</think>多久了？", "疼多久了？"),
        ("<THINK>像阑尾炎</Think>疼多久了？", "疼多久了？"),
        ("<think >像阑尾炎</think >疼多久了？", "疼多久了？"),
        ('<think budget="9">像阑尾炎</think>疼多久了？', "疼多久了？"),
        ("＜think＞像阑尾炎＜/think＞疼多久了？", "疼多久了？"),
        ("<thinking>像阑尾炎</thinking><reasoning>像阑尾炎</reasoning>疼多久了？", "疼多久了？"),
    ],
)
def test_what_a_policy_only_thought_is_never_public(reply: str, public: str) -> None:
    text, thought = split_reasoning(reply)
    assert text == public
    assert "阑尾炎" in thought


@pytest.mark.parametrize("reply", ["疼多久了？", "血压<140 吗？", "a < b > c", "<thinker>", "thinking"])
def test_a_reply_without_reasoning_is_left_as_it_is(reply: str) -> None:
    assert split_reasoning(reply) == (reply, "")


@given(st.lists(st.sampled_from(["<think>", "</think>", "<THINKING>", "公开", "？", "\n"]), max_size=12).map("".join))
def test_no_arrangement_of_tags_leaves_a_tag_in_the_public_text(reply: str) -> None:
    public, _ = split_reasoning(reply)
    assert "think" not in public.lower()
    assert split_reasoning(public) == (public, "")


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("", Call("ask", {"question": "<think>像阑尾炎</think>疼多久了？"})),
        ('{"action": "ask", "question": "\\u003cthink\\u003e像阑尾炎\\u003c/think\\u003e疼多久了？"}', None),
        ('<ask>{"question": "\\u003cthink\\u003e像阑尾炎\\u003c/think\\u003e疼多久了？"}</ask>', None),
    ],
    ids=["tool", "json", "xml"],
)
def test_reasoning_inside_an_argument_is_not_shown_to_the_patient(text: str, call: Call | None) -> None:
    assert said(text, *([call] if call else []))[1] == "疼多久了？"


# ── the forms ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "calls", "form"),
    [
        ("", (Call("diagnose", {"diagnoses": ["急性阑尾炎", "肠炎"]}),), "tool"),
        ("", (Call("diagnose", '{"diagnoses": ["急性阑尾炎", "肠炎"]}'),), "tool"),
        ("<diagnose><diagnosis>急性阑尾炎</diagnosis><diagnosis>肠炎</diagnosis></diagnose>", (), "xml"),
        ("<diagnose><diagnoses><item>急性阑尾炎</item><item>肠炎</item></diagnoses></diagnose>", (), "xml"),
        ("<diagnose><diagnoses>急性阑尾炎；肠炎</diagnoses></diagnose>", (), "xml"),
        ("<diagnose>\n1. 急性阑尾炎\n２．肠炎\n</diagnose>", (), "xml"),
        ("<diagnose><disease>急性阑尾炎</disease><disease>肠炎</disease></diagnose>", (), "xml"),
        ('<diagnose>{"diagnoses": ["急性阑尾炎", "肠炎"]}</diagnose>', (), "xml"),
        ('<diagnose>\n```json\n{"diagnoses": ["急性阑尾炎", "肠炎"]}\n```\n</diagnose>', (), "xml"),
        ('<action name="diagnose">{"diagnoses": ["急性阑尾炎", "肠炎"]}</action>', (), "xml"),
        ("<action name='diagnose'><diagnosis>急性阑尾炎</diagnosis><diagnosis>肠炎</diagnosis></action>", (), "xml"),
        ("<Diagnose><Diagnosis>急性阑尾炎</Diagnosis><Diagnosis>肠炎</Diagnosis></DIAGNOSE>", (), "xml"),
        ('{"action": "diagnose", "diagnoses": ["急性阑尾炎", "肠炎"]}', (), "json"),
        ('{"diagnoses": ["急性阑尾炎", "肠炎"]}', (), "json"),
        ('{"name": "diagnose", "arguments": {"diagnoses": ["急性阑尾炎", "肠炎"]}}', (), "json"),
        ('{"name": "diagnose", "arguments": "{\\"diagnoses\\": [\\"急性阑尾炎\\", \\"肠炎\\"]}"}', (), "json"),
        ('{"name": "diagnose", "parameters": {"diagnoses": ["急性阑尾炎", "肠炎"]}}', (), "json"),
        ('```json\n{"action": "diagnose", "diagnoses": ["急性阑尾炎", "肠炎"]}\n```', (), "json"),
        ('```\n{"action": "diagnose", "diagnoses": ["急性阑尾炎", "肠炎"]}', (), "json"),
        ('<tool_call>{"name": "diagnose", "arguments": {"diagnoses": ["急性阑尾炎", "肠炎"]}}</tool_call>', (), "json"),
        ('{"action": "diagnose", "diagnoses": [{"name": "急性阑尾炎"}, {"name": "肠炎"}]}', (), "json"),
    ],
)
def test_every_usual_way_to_write_a_diagnosis_is_read_without_a_violation(
    text: str, calls: tuple[Call, ...], form: str
) -> None:
    action, public = said(text, *calls)
    wanted = Action(name="diagnose", arguments={"diagnoses": ["急性阑尾炎", "肠炎"]}, form=form)  # type: ignore[arg-type]
    assert action == wanted
    assert public == ""


@pytest.mark.parametrize(
    "text",
    [
        "｛“action”：“diagnose”，“diagnoses”：［“急性阑尾炎”，“肠炎”］｝",
        "{“action”: “diagnose”, “diagnoses”: [“急性阑尾炎”, “肠炎”]}",
        '{"action"："diagnose"，"diagnoses"：["急性阑尾炎"，"肠炎"]}',
        "{'action': 'diagnose', 'diagnoses': ['急性阑尾炎', '肠炎']}",
        '{"action": "diagnose", "diagnoses": ["急性阑尾炎", "肠炎",],}',
        '{"action": "diagnose", "diagnoses": ["急性阑尾炎", "肠炎" , ]\n}',
    ],
)
def test_json_with_chinese_punctuation_single_quotes_or_a_comma_too_many_is_repaired(text: str) -> None:
    assert diagnosed(text) == ["急性阑尾炎", "肠炎"]


def test_a_repair_leaves_what_strings_hold_alone() -> None:
    text = "{'action': 'diagnose', 'diagnoses': ['2型糖尿病，伴\"三多一少\"：［待查］,]'],}"
    assert diagnosed(text) == ['2型糖尿病，伴"三多一少"：［待查］,]']


@pytest.mark.parametrize(
    "text",
    [
        "<ask>疼多久了？有没有发热？</ask>",
        "<ask>疼多久了？有没有发热？",
        "<ask><question>疼多久了？有没有发热？</question></ask>",
        '<ask>{"question": "疼多久了？有没有发热？"}</ask>',
        '<action name="ask">疼多久了？有没有发热？</action>',
        '{"action": "ask", "question": "疼多久了？有没有发热？"}',
        '{"name": "ask", "arguments": {"question": "疼多久了？有没有发热？"}}',
        QUESTION,
    ],
)
def test_the_patient_hears_the_question_itself_in_every_form(text: str) -> None:
    action, public = said(text)
    assert (action.name, action.arguments, public) == ("ask", {}, QUESTION)


def test_a_list_of_questions_reaches_the_patient_as_words_and_not_as_code() -> None:
    asked = {"question": ["疼多久了？", "有没有发热？"]}
    for text, calls in ((json.dumps({"action": "ask", **asked}), ()), ("", (Call("ask", asked),))):
        assert said(text, *calls)[1] == "疼多久了？\n有没有发热？"


@pytest.mark.parametrize("question", ["null", "{}", "[]", "[1]", "17"])
def test_a_question_that_is_no_text_never_becomes_the_word_none(question: str) -> None:
    action, public = said(f'{{"action": "ask", "question": {question}}}')
    assert action.name == "ask"
    assert "None" not in public
    assert "null" not in public


# ── what goes wrong ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "calls", "violation"),
    [
        ("", (Call("diagnose", {"diagnoses": ["肠炎"]}), Call("ask", {})), "more than one tool call; the first counts"),
        ("", (Call("diagnose", "肠炎"),), "tool arguments are not JSON"),
        ("", (Call("diagnose", ""),), "missing argument 'diagnoses'"),
        ("", (Call("diagnose", None),), "arguments are not an object"),  # type: ignore[arg-type]
        ("", (Call("diagnose", '["肠炎"]'),), "arguments are a list, not an object"),
        ("", (Call("diagnose", {"diagnoses": "肠炎"}),), "diagnoses is text, not a list"),
        ("", (Call("diagnose", {"diagnoses": 7}),), "diagnoses is not a list"),
        ("", (Call("diagnose", {"diagnoses": ["肠炎", 7, None]}),), "an item of diagnoses is not text"),
        ("", (Call("diagnose", {"diagnoses": None}),), "missing argument 'diagnoses'"),
        ("", (Call("diagnose", {"diagnoses": []}),), "missing argument 'diagnoses'"),
        ("", (Call("diagnose", {"diagnosis": "肠炎"}),), "unknown argument 'diagnosis'"),
        ("", (Call("order_ct", {}),), "unknown tool 'order_ct'"),
        ("", (Call(None, {}),), "unknown tool 'None'"),  # type: ignore[arg-type]
        ("好的。<diagnose>肠炎</diagnose>", (), "text outside the action"),
        ("<diagnose>肠炎", (), "<diagnose> is not closed"),
        ('<diagnose>["肠炎"]</diagnose>', (), "arguments are a list, not an object"),
        ('<diagnose>{"diagnoses": ["急性阑', (), "arguments are not an object"),
        ("<diagnose/>", (), "missing argument 'diagnoses'"),
        ('我的诊断是：{"diagnoses": ["肠炎"]}', (), "text outside the action"),
        ('[{"action": "diagnose", "diagnoses": ["肠炎"]}]', (), "text outside the action"),
    ],
)
def test_a_malformed_action_is_named_so_that_its_author_can_mend_it(
    text: str, calls: tuple[Call, ...], violation: str
) -> None:
    assert violation in said(text, *calls)[0].violations


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("", (Call("diagnose", {"diagnoses": "肠炎"}),)),
        ("", (Call("diagnose", '["肠炎"]'),)),
        ("", (Call("diagnose", {"diagnoses": ["肠炎", None, 3, " "]}),)),
        ('<diagnose>["肠炎"]</diagnose>', ()),
        ("<diagnose>肠炎", ()),
        ('根据{以上}信息：{"action": "diagnose", "diagnoses": ["肠炎"]}。', ()),
        ('{"thought": "x"} {"action": "diagnose", "diagnoses": ["肠炎"]}', ()),
        ('[{"action": "diagnose", "diagnoses": ["肠炎"]}]', ()),
    ],
)
def test_a_diagnosis_that_can_still_be_read_is_not_lost(text: str, calls: tuple[Call, ...]) -> None:
    assert diagnosed(text, *calls) == ["肠炎"]


@pytest.mark.parametrize("text", ['<diagnose>{"diagnoses": ["急性阑', '<diagnose>{"diagnoses": "'])
def test_a_diagnosis_cut_off_in_mid_json_is_not_scored_as_a_name(text: str) -> None:
    assert diagnosed(text) == []


def test_the_first_action_of_a_reply_counts_whatever_the_menus_order() -> None:
    first, then = "<diagnose>肠炎</diagnose>", "<ask>疼吗？</ask>"
    assert said(first + then)[0].name == "diagnose"
    assert said(then + first)[1] == "疼吗？"


@pytest.mark.parametrize(
    "text", [QUESTION, "<ask>疼多久了？</ask>", '{"action": "ask", "question": "疼多久了？"}', "", "好的。"]
)
def test_nothing_is_asked_once_asking_is_off_the_menu(text: str) -> None:
    assert said(text, menu=LAST)[0].name == "say"


@pytest.mark.parametrize(
    "text", ["{", "{}", "[]", "null", '{"a": 1}', '{"action": ["diagnose"]}', '{"action": "fly"}', "<b>疼吗？</b>"]
)
def test_what_names_no_action_is_said_to_the_patient_as_it_stands(text: str) -> None:
    assert said(text) == (Action(name="ask"), text)


def test_numbers_in_a_name_are_not_taken_for_list_numbers() -> None:
    assert diagnosed("<diagnose>2型糖尿病\n2.5cm肾结石\n3) 高血压3级\n- 痛风</diagnose>") == [
        "2型糖尿病", "2.5cm肾结石", "高血压3级", "痛风",
    ]  # fmt: skip


def test_a_plan_in_children_is_kept_by_dimension_and_a_summary_as_text() -> None:
    text = "<diagnose><diagnosis>肠炎</diagnosis><test>血常规</test><summary>腹痛三天</summary></diagnose>"
    assert said(text)[0].arguments == {"diagnoses": ["肠炎"], "tests": ["血常规"], "summary": "腹痛三天"}


def test_null_arguments_count_as_left_out() -> None:
    action, _ = said("", Call("diagnose", {"diagnoses": ["肠炎"], "tests": None, "summary": None}))
    assert (action.arguments, action.violations) == ({"diagnoses": ["肠炎"]}, ())


def test_the_argument_of_another_environments_action_is_its_own() -> None:
    order = MenuItem(
        "order_test", "", {"properties": {"ids": {"type": "array"}, "why": {"type": "string"}}, "required": ["ids"]}
    )
    assert said("<order_test>blood.cbc</order_test>", menu=(order,))[0].arguments == {"ids": ["blood.cbc"]}
    assert said('<order_test>["blood.cbc"]</order_test>', menu=(order,))[0].arguments == {"ids": ["blood.cbc"]}


# ── hostile replies ──────────────────────────────────────────────────────────────────────────────

MANY = 100_000


@pytest.mark.parametrize(
    "text",
    [
        "疼" * MANY,
        "<think>" * (MANY // 7),
        "</think>" * (MANY // 8),
        "<think></think>" * (MANY // 15),
        "<think " * (MANY // 7),
        "```" + "a" * MANY,
        "```" + " " * MANY,
        "`" * MANY,
        "<diagnose>" + "<a>" * (MANY // 3),
        "<diagnose>" + "<a><b>" * (MANY // 6),
        "<diagnose>" * (MANY // 10),
        "<ask " * (MANY // 5),
        "<action " + " " * MANY,
        "{" * MANY,
        '{"a":' * (MANY // 5),
        '{"diagnoses":[' * (MANY // 14),
        "{'" * (MANY // 2),
        '{"action":"diagnose","diagnoses":["' + "病" * MANY,
        "[" * MANY,
    ],
    ids=lambda text: text[:14],
)
def test_a_reply_of_100_000_characters_is_read_in_no_time(text: str) -> None:
    before = time.perf_counter()
    action, _ = parse(split_reasoning(text)[0], (), MENU)
    assert time.perf_counter() - before < 2
    assert action.name in ("ask", "diagnose")


@pytest.mark.parametrize(
    "arguments",
    ["[" * MANY, '{"a":' * MANY, "9" * MANY, '{"diagnoses": [' + "1," * 9999 + "1]}"],
    ids=["lists", "objects", "digits", "items"],
)
def test_arguments_too_deep_or_too_large_are_the_policys_fault_and_crash_nothing(arguments: str) -> None:
    action, _ = said("", Call("diagnose", arguments))
    assert action.violations
    assert len(action.violations) < 1000


@pytest.mark.parametrize("value", [{1, 2}, object(), {"a": {("k",): 1}}, float("nan"), b"x", 10**5000], ids=type)
def test_a_plugins_arguments_that_are_no_json_crash_nothing(value: Any) -> None:
    action, _ = said("", Call("diagnose", {"diagnoses": ["肠炎"], "summary": value}))
    assert action.arguments["diagnoses"] == ["肠炎"]


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ('{"action": "ask", "question": "疼\\ud800吗\\u202e？\\u0007"}', ()),
        ('<ask>{"question": "疼\\ud800吗\\u202e？\\u0007"}</ask>', ()),
        ("", (Call("ask", {"question": "疼\ud800吗\u202e？\x07"}),)),
    ],
    ids=["json", "xml", "tool"],
)
def test_an_escaped_half_character_or_control_does_not_reach_the_patient_or_the_store(
    text: str, calls: tuple[Call, ...]
) -> None:
    action, public = said(text, *calls)
    assert public == "疼\ufffd吗？"
    assert msgspec.json.encode(action)


def test_half_characters_in_names_and_lists_can_be_stored() -> None:
    action, _ = said("", Call("diagnose", {"diagnoses": ["肠\ud800炎"], "x\ud800": 1}))
    assert action.arguments["diagnoses"] == ["肠\ufffd炎"]
    assert b"unknown argument" in msgspec.json.encode(action)


PIECES = st.sampled_from(
    [
        *"<>{}[]\"'`:,\\ \n｛“”：，",
        *("</", "\\u", "ask", "diagnose", "<ask>", "</ask>", "<diagnose>", "</diagnose>", "```", "json", "<think>"),
        *("diagnoses", "question", "action", "name", "</think>", "肠炎", "null"),
        '{"action": "diagnose", "diagnoses": ["肠炎"]}',
    ]
)
KEYS = st.sampled_from(["diagnoses", "tests", "summary", "question", "x"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner),
    max_leaves=12,
)


@given(st.lists(PIECES, max_size=25).map("".join), st.booleans())
def test_no_reply_stops_a_run_or_lets_a_tag_of_reasoning_through(reply: str, last: bool) -> None:
    action, public = parse(split_reasoning(reply)[0], (), LAST if last else MENU)
    assert action.name in {"ask", "diagnose", "say"}
    assert all(isinstance(one, str) for one in action.arguments.get("diagnoses", []))
    assert msgspec.json.encode((action, public))


@given(VALUES)
def test_no_tool_call_stops_a_run(value: Any) -> None:
    for name in ("ask", "diagnose", "x"):
        for arguments in (value, json.dumps(value)):
            action, public = said("", Call(name, arguments))
            assert msgspec.json.encode((action, public))
