"""People's adjudications replay exactly, and a bad file says where it is bad."""

import asyncio
import json

import pytest
from pydantic import ValidationError

from meddc_bench.contracts import Found, JudgeView, Reference
from meddc_bench.errors import InputError
from meddc_bench.records import Item, Turn
from meddc_offline.replay import Replay, ReplayOptions

EDGE = {
    "step": "cover_items",
    "axis": "diagnosis",
    "prediction": "UA",
    "reference": "不稳定型心绞痛",
    "level": "covers",
}


def judge(tmp_path, *rows) -> Replay:
    path = tmp_path / "sheet.jsonl"
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("\n".join(lines), encoding="utf-8")
    return Replay(ReplayOptions(file=path))


def ask(replay: Replay, step: str, axis: str = "diagnosis", **fields) -> Found:
    return asyncio.run(replay.judge(JudgeView(step, axis, 0, **fields)))


def test_a_pair_is_found_whatever_its_spacing_and_a_pair_without_a_line_is_no_edge(tmp_path):
    replay = judge(tmp_path, EDGE)
    items = (Item(id="p0", text="ＵＡ。"), Item(id="p1", text="冠心病"))
    references = (Reference("g0", "某病", ("不稳定型 心绞痛",)), Reference("g1", "高血压病"))
    found = ask(replay, "cover_items", items=items, references=references)
    assert [(edge.prediction, edge.reference, edge.level) for edge in found.edges] == [("p0", "g0", "covers")]
    assert ask(replay, "cover_items", "tests", items=items, references=references).edges == ()


def test_extraction_follows_the_file_and_falls_back_without_a_line(tmp_path):
    replay = judge(
        tmp_path,
        {"step": "extract_questions", "turn_text": "多久了？发烧吗？", "items": ["多久了"]},
        {"step": "extract_items", "text": "考虑肺炎。", "items": [{"text": "肺炎", "dimension": "diagnosis"}]},
    )
    turns = tuple(
        Turn(index=n, round=n, role="doctor", kind="question", text=text)
        for n, text in enumerate(("多久了？发烧吗？", "咳嗽吗？"))
    )
    assert [(item.text, item.turn) for item in ask(replay, "extract_questions", turns=turns).items] == [
        ("多久了", 0),
        ("咳嗽吗？", 1),
    ]
    assert [item.text for item in ask(replay, "extract_items", text="考虑肺炎。").items] == ["肺炎"]
    assert [item.text for item in ask(replay, "extract_items", text="1. 胃炎\n2. 胃溃疡").items] == ["胃炎", "胃溃疡"]


def test_volunteered_and_aligned_pairs_are_looked_up_by_the_turns_text(tmp_path):
    replay = judge(
        tmp_path,
        {
            "step": "volunteered",
            "prediction": "我没发烧。",
            "reference": "发烧吗？",
            "level": "volunteered",
            "quote": "没发烧",
        },
        {"step": "align_questions", "prediction": "体温高吗", "reference": "发烧吗？", "level": "aligned"},
    )
    turns = (
        Turn(index=0, round=0, role="patient", kind="opening", text="我没发烧。"),
        Turn(index=1, round=1, role="doctor", kind="question", text="发烧吗？"),
    )
    told = ask(replay, "volunteered", "trajectory", references=(Reference("q1", "发烧吗？"),), turns=turns).edges
    assert [(edge.prediction, edge.reference, edge.quote) for edge in told] == [("0", "q1", "没发烧")]
    aligned = ask(replay, "align_questions", "trajectory", items=(Item(id="u0", text="体温高吗"),), turns=turns).edges
    assert [(edge.prediction, edge.reference) for edge in aligned] == [("u0", "1")]


def test_a_missing_file_is_named_before_anything_runs(tmp_path):
    with pytest.raises(ValidationError, match=r"absent\.jsonl cannot be read"):
        ReplayOptions(file=tmp_path / "absent.jsonl")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{broken", r"sheet\.jsonl:2: expected one JSON object"),
        ('{"step": "guess"}', r"sheet\.jsonl:2:step: expected one of"),
        ({**EDGE, "level": "maybe"}, r"sheet\.jsonl:2:level: expected one of covers"),
        ({**EDGE, "colour": 1}, r"sheet\.jsonl:2:colour"),
        ({"step": "extract_items", "text": "甲"}, r"sheet\.jsonl:2:items"),
        ("[1]", r"sheet\.jsonl:2:step"),
    ],
)
def test_a_bad_line_says_file_line_and_key(tmp_path, row, message):
    with pytest.raises(InputError, match=message):
        ask(judge(tmp_path, EDGE, row), "cover_items")


def test_two_lines_that_disagree_are_refused(tmp_path):
    rows = [{**EDGE, "step": "grade_diagnoses", "level": level} for level in ("full", "partial")]
    with pytest.raises(InputError, match="contradicts an earlier line that says full"):
        ask(judge(tmp_path, *rows), "grade_diagnoses")
