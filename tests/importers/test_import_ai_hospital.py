"""AI Hospital's dialogues: both layouts, rounds, tags, the summary and the references."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from meddc_bench.errors import InputError
from meddc_bench.pipeline.sighting import before_summary
from meddc_importers.cases import NO_OPENING

from .made import extract, run, turn, upstream

EXPECTED = [
    (1, "doctor", "question"), (1, "patient", "answer"), (2, "doctor", "question"), (2, "patient", "answer"),
    (2, "reporter", "report"), (3, "doctor", "question"), (4, "doctor", "summary"),
]  # fmt: skip


@pytest.mark.parametrize("line", [extract(), upstream()])
def test_rounds_kinds_and_the_end_are_right_in_both_layouts(write: Any, line: dict[str, Any]) -> None:
    result = run("ai_hospital", write(line))
    history = result.only.history
    assert not result.faults
    assert [(one.round, one.role, one.kind) for one in history.turns] == EXPECTED
    assert [one.index for one in history.turns] == list(range(7))
    assert (history.ended, history.first_summary, history.rounds) == ("diagnosed", 4, 4)
    assert history.diagnosis_action is not None
    assert history.diagnosis_action.arguments == {"diagnoses": ["肺炎"]}


def test_no_tag_and_no_empty_turn_survives(write: Any) -> None:
    texts = [one.text for one in run("ai_hospital", write(extract())).only.history.turns]
    assert texts[1] == "我咳嗽三天了。"
    assert texts[3] == "我要拍胸片。"
    assert all("<" not in text and text for text in texts)


def test_the_layouts_may_be_mixed_and_listed(write: Any) -> None:
    lines = [extract(), upstream()]
    as_list = json.dumps(lines, ensure_ascii=False, indent=2)
    from_list = run("ai_hospital", write(as_list, name="histories.json"))
    from_lines = run("ai_hospital", write(*lines))
    assert from_list == from_lines
    assert [(one.case, one.policy) for one in from_lines.imported] == [("a1", "gpt4"), ("1001", "gpt-4")]


def test_chinese_roles_are_understood(write: Any) -> None:
    names = {"Doctor": "医生", "Patient": "患者", "Reporter": "检查员"}
    dialog = [{**one, "role": names[one["role"]]} for one in upstream()["dialog_history"]]
    history = run("ai_hospital", write(upstream(dialog_history=dialog))).only.history
    assert [(one.round, one.role, one.kind) for one in history.turns] == EXPECTED


def test_a_patient_who_opens_is_round_zero(write: Any) -> None:
    dialogue = [turn("patient", "我咳嗽。"), turn("doctor", "多久了？"), turn("patient", "三天。")]
    history = run("ai_hospital", write(extract(dialogue=dialogue))).only.history
    assert [(one.round, one.kind) for one in history.turns] == [
        (0, "opening"), (1, "question"), (1, "answer"), (2, "summary"),
    ]  # fmt: skip


def test_doctors_turns_in_a_row_are_rounds_of_their_own(write: Any) -> None:
    dialogue = [
        turn("doctor", "多久了？"),
        turn("doctor", "发烧吗？"),
        turn("patient", "三天，不烧。"),
        turn("patient", "对。"),
    ]
    history = run("ai_hospital", write(extract(dialogue=dialogue))).only.history
    assert [one.round for one in history.turns] == [1, 2, 2, 2, 3]


@pytest.mark.parametrize("where", [3, 5])
def test_a_summary_said_before_is_never_in_the_view(write: Any, where: int) -> None:
    summary = extract()["own_final_text"]
    dialogue = list(extract()["dialogue"])
    dialogue.insert(where, turn("doctor", "好的。\n" + summary if where == 3 else summary.replace("咳嗽", "咳 嗽"), 2))
    result = run("ai_hospital", write(extract(dialogue=dialogue)))
    history = result.only.history
    assert all("诊断结果" not in one.text for one in before_summary(history))
    assert history.turns[-1].text == summary
    assert "left out" in result.faults[0].message


def test_the_reasoning_of_a_doctor_is_not_in_the_dialogue(write: Any) -> None:
    dialogue = [turn("doctor", "<think>像肺炎</think>发烧吗？"), turn("patient", "不烧。")]
    history = run("ai_hospital", write(extract(dialogue=dialogue))).only.history
    assert history.turns[0].text == "发烧吗？"
    assert history.notes["0"].reasoning == "像肺炎"


def test_a_missing_final_text_leaves_the_history_without_a_summary(write: Any) -> None:
    without = extract()
    del without["own_final_text"]
    result = run(
        "ai_hospital", write(without, extract(own_final_text=None, policy="b"), extract(own_final_text=" ", policy="c"))
    )
    assert [one.history.ended for one in result.imported] == ["budget"] * 3
    assert [(one.history.first_summary, one.history.rounds) for one in result.imported] == [(None, 3)] * 3
    assert [one.message.split(":")[0] for one in result.faults] == ["is missing", "is null", "is empty"]
    assert all(one.where.endswith("own_final_text") for one in result.faults)


@pytest.mark.parametrize(
    ("given", "text", "expected"),
    [
        (None, "很抱歉，我无法给出诊断。", None),
        (None, "#诊断结果#\n1. 肺炎\n2. 贫血\n#治疗方案#\n休息", ["肺炎", "贫血"]),
        ("可能是肺炎或者肺结核", "#诊断结果#\n可能是肺炎或者肺结核", None),
        (["肺炎", " 肺炎", "贫血"], "总结", ["肺炎", "贫血"]),
        ([], "总结", None),
    ],
)
def test_the_emitted_diagnosis_is_a_list_only_where_the_source_gives_one(
    write: Any, given: Any, text: str, expected: list[str] | None
) -> None:
    line = extract(own_final_diagnosis=given, own_final_text=text)
    action = run("ai_hospital", write(line)).only.history.turns[-1].action
    assert (action.arguments["diagnoses"] if action else None) == expected


def test_a_published_dialogue_that_breaks_off_has_no_summary(write: Any) -> None:
    result = run("ai_hospital", write(upstream(dialog_history=upstream()["dialog_history"][:4])))
    assert result.only.history.ended == "budget"
    assert "does not end with the doctor's summary" in result.faults[0].message


def test_what_is_said_after_a_published_summary_is_left_out(write: Any) -> None:
    dialog = [*upstream()["dialog_history"], turn("Patient", "谢谢。", 3)]
    result = run("ai_hospital", write(upstream(dialog_history=dialog)))
    assert result.only.history.turns[-1].kind == "summary"
    assert "1 turns after the closing summary are left out" in result.faults[0].message


def test_turns_out_of_order_are_sorted_and_reported(write: Any) -> None:
    dialogue = extract()["dialogue"]
    shuffled = [*dialogue[3:6], *dialogue[:3], *dialogue[6:]]
    result = run("ai_hospital", write(extract(dialogue=shuffled)))
    assert result.only.history == run("ai_hospital", write(extract())).only.history
    assert "put in the order" in result.faults[0].message


def test_turns_without_numbers_stay_as_they_stand(write: Any) -> None:
    dialogue = [{"role": one["role"], "content": one["content"]} for one in extract()["dialogue"]]
    result = run("ai_hospital", write(extract(dialogue=dialogue)))
    assert not result.faults
    assert [(one.round, one.role, one.kind) for one in result.only.history.turns] == EXPECTED


def test_the_option_policy_labels_every_history(write: Any) -> None:
    assert run("ai_hospital", write(upstream()), policy="mine").only.policy == "mine"


def test_an_engine_name_becomes_a_label(write: Any) -> None:
    assert run("ai_hospital", write(upstream(doctor_engine_name="ERNIE Bot/4"))).only.policy == "ernie-bot-4"


# ── references ───────────────────────────────────────────────────────────────────────────────────


def test_references_beside_the_histories_become_cases(write: Any) -> None:
    write(
        {"case_id": "a1", "diagnosis_raw": "肺炎", "diagnosis_units": ["肺炎"], "treatment": "1. 抗感染\n2. 好转出院"},
        {
            "case_id": "a2",
            "diagnosis_raw": "贫血",
            "diagnosis_units": ["贫血"],
            "treatment": ["补铁"],
            "context": "头晕。",
        },
        name="references.jsonl",
    )
    result = run("ai_hospital", write(extract()))
    first, second = result.cases
    assert (first.id, first.source, first.context, first.facts, first.targets) == ("a1", "imported", NO_OPENING, (), ())
    assert [one.name for one in first.diagnoses] == ["肺炎"]
    assert first.references.treatment == ()
    assert (second.references.treatment, second.context) == (("补铁",), "头晕。")
    assert not result.faults


def test_a_case_is_the_same_for_every_policy(write: Any, tmp_path: Path) -> None:
    references = write({"case_id": "a1", "diagnosis_units": ["肺炎"]}, name="refs.jsonl")
    other = extract(policy="b", dialogue=[turn("patient", "别的开场"), turn("doctor", "？？好")])
    one = run("ai_hospital", write(extract()), references=str(references))
    two = run("ai_hospital", write(other), references=str(references))
    assert one.cases == two.cases


def test_published_patients_are_references_too(write: Any) -> None:
    patients = [
        {"id": 1001, "profile": "…", "medical_record": {"初步诊断": "1. 肺炎\n2. 贫血", "诊治经过": "抗感染。"}}
    ]
    references = write(json.dumps(patients, ensure_ascii=False), name="patients.json")
    result = run("ai_hospital", write(upstream()), references=str(references))
    assert [one.name for one in result.cases[0].diagnoses] == ["肺炎", "贫血"]
    assert not result.faults


def test_a_folder_is_imported_as_a_whole(write: Any, tmp_path: Path) -> None:
    write({"case_id": "a1", "diagnosis_units": ["肺炎"]}, name="references.jsonl")
    write(extract(), name="histories_one.jsonl")
    write(extract(policy="two"), extract(), name="histories_two.jsonl")
    write("no history at all", name="notes.txt")
    result = run("ai_hospital", tmp_path)
    assert [one.policy for one in result.imported] == ["gpt4", "two"]
    assert "is already at" in result.faults[0].message


def test_a_folder_without_histories_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no file named"):
        run("ai_hospital", tmp_path)
