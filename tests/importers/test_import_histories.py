"""Histories as JSON lines: written by hand, and this program's own."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from meddc_bench.records import History
from meddc_importers.cases import NO_OPENING

from .made import by_hand, own, run


def test_a_history_written_by_hand_is_imported_whole(write: Any) -> None:
    imported = run("histories", write(by_hand(repeat=2))).only
    history = imported.history
    assert (imported.case, imported.policy, imported.repeat) == ("c1", "my-doctor", 2)
    assert [(one.round, one.role, one.kind) for one in history.turns] == [
        (0, "patient", "opening"), (1, "doctor", "question"), (1, "patient", "answer"), (2, "doctor", "summary"),
    ]  # fmt: skip
    assert (history.ended, history.first_summary, history.rounds) == ("diagnosed", 2, 2)
    assert history.diagnosis_action is not None
    assert history.diagnosis_action.arguments == {"diagnoses": ["肺炎"]}


def test_summary_and_diagnoses_may_be_left_out(write: Any) -> None:
    line = by_hand()
    del line["summary"], line["diagnoses"], line["repeat"]
    imported = run("histories", write(line)).only
    assert (imported.repeat, imported.history.ended, imported.history.first_summary) == (0, "budget", None)
    assert imported.history.rounds == 1


def test_a_summary_without_a_list_is_left_to_the_judge(write: Any) -> None:
    line = by_hand()
    del line["diagnoses"]
    last = run("histories", write(line)).only.history.turns[-1]
    assert (last.kind, last.action) == ("summary", None)


@pytest.mark.parametrize(("given", "text"), [(["肺炎", "贫血"], "诊断：肺炎；贫血。"), ([], "（未给出诊断）")])
def test_diagnoses_without_a_summary_are_written_as_one(write: Any, given: list[str], text: str) -> None:
    line = by_hand(diagnoses=given)
    del line["summary"]
    last = run("histories", write(line)).only.history.turns[-1]
    assert last.text == text
    assert last.action is not None
    assert last.action.arguments == {"diagnoses": given}


def test_own_histories_come_back_as_they_were(write: Any) -> None:
    line = own()
    imported = run("histories", write(line)).only
    assert (imported.case, imported.policy, imported.repeat) == ("c1", "checklist", 1)
    assert imported.history == msgspec.convert(line["history"], History)
    assert imported.history.notes["2"].fact_ids == ("f1",)


def test_hidden_characters_and_escapes_do_not_come_in(write: Any) -> None:
    line = by_hand(summary="\u202e考\u200b虑\x1b[31m肺炎\r\n。", diagnoses=["肺\u200b炎"])
    history = run("histories", write(line)).only.history
    assert history.turns[-1].text == "考虑肺炎\n。"
    assert history.diagnosis_action is not None
    assert history.diagnosis_action.arguments == {"diagnoses": ["肺炎"]}
    dirty = own()
    dirty["history"]["turns"][0]["text"] = "咳\u200b嗽"
    assert run("histories", write(dirty)).only.history.turns[0].text == "咳嗽"


def test_references_need_only_a_case_and_its_diagnoses(write: Any) -> None:
    references = write({"case": "c1", "diagnoses": ["肺炎"]}, name="refs.jsonl")
    result = run("histories", write(by_hand()), references=str(references))
    (case,) = result.cases
    assert (case.id, case.source, case.context, case.turn_budget) == ("c1", "imported", NO_OPENING, 10)
    assert result.only.case == "c1"
    assert not result.faults


def test_references_may_hold_a_whole_case(write: Any) -> None:
    target = {"id": "t1", "question": "发烧吗？", "facts": ["f1"], "inquiry_type": "associated", "importance": 3}
    whole = {
        "id": "c1", "source": "dialogue", "context": "咳嗽。", "turn_budget": 4,
        "diagnoses": [{"name": "肺炎", "synonyms": ["肺部感染"], "code": "J18"}],
        "facts": [{"id": "f1", "topic": "associated", "text": "发热38.5℃"}], "targets": [target],
        "references": {"tests": ["胸片"]},
    }  # fmt: skip
    (case,) = run("histories", write(by_hand()), references=str(write(whole, name="refs.jsonl"))).cases
    assert (case.source, case.turn_budget, case.diagnoses[0].synonyms) == ("dialogue", 4, ("肺部感染",))
    assert case.scored_targets[0].facts == ("f1",)
    assert case.references.tests == ("胸片",)


def test_every_case_of_the_references_is_imported_also_without_a_history(write: Any) -> None:
    references = write(*({"case": f"c{index}", "diagnoses": ["肺炎"]} for index in range(3)), name="refs.jsonl")
    result = run("histories", write(by_hand()), references=str(references))
    assert [case.id for case in result.cases] == ["c0", "c1", "c2"]


def test_a_misspelt_key_is_reported_and_unrelated_ones_are_not(write: Any) -> None:
    line = by_hand(diagnosis=["肺炎"], time="2024-01-01", model="x")
    del line["diagnoses"]
    (fault,) = run("histories", write(line)).faults
    assert fault.where.endswith(":diagnosis")
    assert "did you mean 'diagnoses'" in fault.message
