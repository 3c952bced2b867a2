"""What a model wrote is read as it was meant or not at all: nothing lost is mended over, nothing said is turned round."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meddc_bench.errors import EndpointError
from meddc_bench.llm.replies import (
    STEPS,
    ItemsSaid,
    MatchesSaid,
    PatientSaid,
    QuestionsSaid,
    ReaderSaid,
    Said,
)
from meddc_bench.llm.roles import schema
from meddc_bench.llm.structured import parse

WHOLE = (
    '{"matches": [{"prediction": "p0", "reference": "g0", "reason": "同义"}, {"prediction": "p1", "reference": "g1"}]}'
)
PAIRS = [("p0", "g0"), ("p1", "g1")]


def pairs(text: str) -> list[tuple[str, str]]:
    return [(one.prediction, one.reference) for one in parse(text, MatchesSaid).matches]


def refused(text: str, model: type[Said] = MatchesSaid) -> str:
    with pytest.raises(EndpointError) as raised:
        parse(text, model)
    assert raised.value.kind == "unparsable"
    return raised.value.message


def read(text: str, model: type[Said]) -> bool:
    """Tell whether a text was read as its model, or refused as one refuses."""
    try:
        return isinstance(parse(text, model), model)
    except EndpointError as error:
        return error.kind == "unparsable"


WIDE = str.maketrans('":,{}[]', "“：，｛｝［］")

MENDED = {
    "as it should be": WHOLE,
    "fenced": f"```json\n{WHOLE}\n```",
    "fenced without a name": f"```\n{WHOLE}\n```",
    "fenced and never closed": f"```json\n{WHOLE}",
    "after prose": f"好的，结果如下：\n{WHOLE}",
    "before prose": f"{WHOLE}\n以上是全部匹配，共 2 条。",
    "after a bracket in prose": f"看[话轮 1]与[p0]：{WHOLE}",
    "after a brace in prose": f"按{{格式}}输出：{WHOLE}",
    "with trailing commas": WHOLE.replace('"}]}', '",},],}'),
    "with full-width marks": WHOLE.translate(WIDE),
    "with full-width colons alone": WHOLE.replace(":", "："),
    "with single quotes": WHOLE.replace('"', "'"),
    "with a quotation inside": WHOLE.replace("同义", '患者说"疼"，即痛'),
    "with a comment": WHOLE.replace("[{", "[ // 匹配\n{"),
    "twice the same": f"{WHOLE}\n{WHOLE}",
    "twice the same, fenced": f"```json\n{WHOLE}\n```\n再写一遍：\n```json\n{WHOLE}\n```",
    "a list": json.dumps(json.loads(WHOLE)["matches"]),
    "a list after prose": f"结果：{json.dumps(json.loads(WHOLE)['matches'])}",
    "a list of the one object": f"[{WHOLE}]",
}


@pytest.mark.parametrize("how", list(MENDED))
def test_a_reply_in_another_dress_is_not_lost(how: str) -> None:
    assert pairs(MENDED[how]) == PAIRS


@pytest.mark.parametrize("at", range(1, len(WHOLE)))
def test_a_reply_cut_anywhere_is_never_taken_for_a_shorter_whole_one(at: int) -> None:
    for text in (WHOLE[:at], f"```json\n{WHOLE[:at]}", WHOLE.replace('"', "'")[:at], WHOLE.translate(WIDE)[:at]):
        refused(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"{WHOLE} {WHOLE.replace('p1', 'p2')}", "2 different JSON objects where one was asked for"),
        ("{'matches': []} {'matches': [{'prediction': 'p0'}]}", "different JSON objects"),
        ("", "prose where JSON was asked for"),
        ("抱歉，我无法判断。", "prose where JSON was asked for"),
        ("[话轮 1] 覆盖", "prose where JSON was asked for"),
        ("true", "does not fit at its top"),
        ('"matches"', "does not fit at its top"),
        ('{"match": []}', "does not fit at matches: Field required"),
        ('{"matches": "无"}', "does not fit at matches"),
        ('{"matches": ["p0"]}', "does not fit at matches.0"),
        ('{"matches": [{"pred": "p0", "ref": "g0"}]}', "no item names a prediction"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("{" * 20_000, "prose"),
        ("患者" * 50_000 + '{"matches": [' + "x, " * 20_000, "cut"),
        ('{"matches": [{"prediction": "' + "长" * 100_000, "cut"),
    ],
)
def test_what_cannot_be_read_for_sure_is_asked_again(text: str, why: str) -> None:
    assert why in refused(text)


@given(st.text(max_size=80), st.sampled_from([MatchesSaid, PatientSaid, ReaderSaid, ItemsSaid, QuestionsSaid]))
def test_no_reply_whatever_breaks_the_run(text: str, model: type[Said]) -> None:
    for dressed in (text, f"{{{text}", f"{{'matches': [{text}", f'{{"text": "{text}'):
        assert read(dressed, model)


LOOSE = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["matches", "items", "text"]), inner),
    max_leaves=8,
)


@given(LOOSE)
def test_json_of_any_shape_is_read_or_refused(value: Any) -> None:
    for model in (MatchesSaid, PatientSaid, ReaderSaid, ItemsSaid, QuestionsSaid):
        assert read(json.dumps(value, ensure_ascii=False), model)


@given(st.lists(st.tuples(st.text(max_size=9), st.text(max_size=9)), max_size=4))
def test_what_strings_hold_is_not_touched(found: list[tuple[str, str]]) -> None:
    given_pairs = [("p" + one, "g" + other) for one, other in found]
    text = json.dumps({"matches": [{"prediction": one, "reference": other} for one, other in given_pairs]})
    assert pairs(text) == pairs(f"答：{text}。") == given_pairs


# ── per item ─────────────────────────────────────────────────────────────────────────────────────


def test_numbers_stand_for_text_and_are_never_shifted() -> None:
    assert pairs('{"matches": [{"prediction": 0, "reference": 1}]}') == [("0", "1")]


def test_a_reference_of_null_costs_its_own_item_and_no_other() -> None:
    text = '{"matches": [{"prediction": "p0", "reference": null}, {"prediction": "p1", "reference": "g1"}]}'
    assert pairs(text) == [("p0", ""), ("p1", "g1")]


@pytest.mark.parametrize("verdict", ["false", '"false"', '"否"', '"No"', '"不覆盖"'])
def test_a_pair_listed_as_not_covered_earns_nothing(verdict: str) -> None:
    found = parse(f'{{"matches": [{{"prediction": "p0", "reference": "g0", "covers": {verdict}}}]}}', MatchesSaid)
    assert found.matches[0].level == "none"


def test_a_pair_listed_as_covered_stands() -> None:
    found = parse('{"matches": [{"prediction": "p0", "reference": "g0", "covers": true, "score": 0.9}]}', MatchesSaid)
    assert found.matches[0].level == ""


def test_null_is_what_a_key_left_out_is() -> None:
    found = parse('{"text": "疼。", "fact_ids": null, "status": "NOT_RECORDED", "unknown": null}', PatientSaid)
    assert (found.fact_ids, found.status, found.unknown) == ((), "not recorded", ())
    assert parse('{"diagnoses": ["肺炎"], "reason": null}', ReaderSaid).reason == ""


@pytest.mark.parametrize("text", ["", " ", "\\u200b", "<think>他在撒谎</think>", "\\n"])
def test_a_patient_that_says_nothing_is_asked_again_and_not_cached(text: str) -> None:
    refused(f'{{"text": "{text}", "fact_ids": []}}', PatientSaid)


def test_a_patient_may_write_a_fence_in_what_it_says() -> None:
    assert parse('{"text": "写着```的纸"}', PatientSaid).text == "写着```的纸"


@pytest.mark.parametrize(("turn", "read"), [('"3"', 3), ("3", 3), ('"第3轮"', None), ("[3]", None), ("null", None)])
def test_a_turn_that_is_no_number_does_not_cost_the_question(turn: str, read: int | None) -> None:
    (found,) = parse(f'{{"questions": [{{"text": "疼吗？", "turn": {turn}}}]}}', QuestionsSaid).questions
    assert (found.text, found.turn) == ("疼吗？", read)


def test_a_readers_bare_list_of_names_is_its_diagnoses() -> None:
    assert parse('["急性阑尾炎", "胃炎"]', ReaderSaid).diagnoses == ("急性阑尾炎", "胃炎")
    assert parse('{"diagnoses": []}', ReaderSaid).diagnoses == (), "none given is an answer"


@pytest.mark.parametrize("step", list(STEPS))
def test_the_schema_that_is_sent_asks_for_what_is_read(step: Any) -> None:
    found = json.dumps(schema(STEPS[step][0]))
    required = {"extract_items": '["text"]', "extract_questions": '["text"]'}.get(step, '["prediction", "reference"]')
    assert f'"required": {required}' in found
