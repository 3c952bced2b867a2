"""The public extract of AI Hospital, where it is at hand: nothing of it is in this project."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from meddc_bench.pipeline.sighting import before_summary

from .made import Result, run

DATA = Path(os.environ.get("MEDDC_DATA") or Path(__file__).parents[3] / "shared" / "data") / "ai_hospital"
TAG = re.compile(r"[<＜]\s*(?:对|结束|医生|检查员)|对(?:医生|检查员)讲|(?:^|[。！？\s])结束[。！]?$")

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the public extract is not here")


@pytest.fixture(scope="module")
def result() -> Result:
    """The folder, imported once."""
    return run("ai_hospital", DATA)


@pytest.fixture(scope="module")
def sources() -> dict[tuple[str, str], dict[str, Any]]:
    """The lines as they are in the files."""
    texts = [file.read_text(encoding="utf-8") for file in DATA.glob("histories_*.jsonl")]
    lines = [json.loads(line) for text in texts for line in text.splitlines()]
    return {(line["case_id"], line["policy"]): line for line in lines}


def test_all_cases_and_histories_come_in(result: Result) -> None:
    assert (len(result.cases), len(result.imported), result.faults) == (120, 240, [])
    assert {one.policy for one in result.imported} == {"gpt4", "qwen_max"}
    assert {one.case for one in result.imported} == {case.id for case in result.cases}


def test_no_tag_survives(result: Result) -> None:
    texts = [turn.text for one in result.imported for turn in one.history.turns]
    assert len(texts) > 3_000
    assert not [text for text in texts if TAG.search(text)]
    assert all(texts)


def test_the_summary_is_last_and_in_no_view(result: Result, sources: dict[tuple[str, str], dict[str, Any]]) -> None:
    for one in result.imported:
        history, summary = one.history, sources[one.case, one.policy]["own_final_text"].strip()
        assert history.turns[-1].kind == "summary"
        assert history.turns[-1].text == summary
        assert [turn.kind for turn in history.turns].count("summary") == 1
        assert all(summary not in turn.text and "#诊断结果#" not in turn.text for turn in before_summary(history))


def test_rounds_are_those_of_the_source(result: Result, sources: dict[tuple[str, str], dict[str, Any]]) -> None:
    for one in result.imported:
        history, dialogue = one.history, sources[one.case, one.policy]["dialogue"]
        doctors = [turn for turn in history.turns if turn.role == "doctor"]
        assert [turn.round for turn in doctors] == list(range(1, len(doctors) + 1))
        assert len(doctors) == sum(said["role"] == "doctor" for said in dialogue) + 1
        assert history.first_summary == history.rounds == len(doctors)
        assert history.turns[1].kind == "answer"


def test_the_null_diagnoses_are_left_to_the_judge(
    result: Result, sources: dict[tuple[str, str], dict[str, Any]]
) -> None:
    null = {key for key, line in sources.items() if line["own_final_diagnosis"] is None}
    prose = {(one.case, one.policy) for one in result.imported if one.history.turns[-1].action is None}
    assert len(null) == 13
    assert null <= prose
    assert len(prose) == 50


def test_the_two_layouts_give_the_same_histories(
    result: Result, sources: dict[tuple[str, str], dict[str, Any]], tmp_path: Path
) -> None:
    published = [
        {
            "patient_id": line["case_id"],
            "doctor_engine_name": line["policy"],
            "dialog_history": [*line["dialogue"], {"role": "Doctor", "content": line["own_final_text"]}],
        }
        for line in sources.values()
    ]
    path = tmp_path / "published.json"
    path.write_text(json.dumps(published, ensure_ascii=False, indent=1), encoding="utf-8")
    again = {(one.case, one.policy): one.history for one in run("ai_hospital", path).imported}
    assert again == {(one.case, one.policy): one.history for one in result.imported}
