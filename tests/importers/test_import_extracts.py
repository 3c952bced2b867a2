"""The public extracts of case data, where they are at hand: nothing of them is in this project."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from meddc_bench.text import mentions

from .made import Result
from .made_cases import take

DATA = Path(os.environ.get("MEDDC_DATA") or Path(__file__).parents[3] / "shared" / "data")
FILES = {
    "mediq": DATA / "mediq" / "icraftmd.jsonl",
    "mtmeddialog": DATA / "mtmeddialog" / "train_cases.jsonl",
    "cmb_clin": DATA / "cmb_clin" / "cmb_clin.jsonl",
}

pytestmark = pytest.mark.skipif(
    not all(one.is_file() for one in FILES.values()), reason="the public extracts are not here"
)


@pytest.fixture(scope="module", params=FILES)
def result(request: pytest.FixtureRequest) -> Result:
    """One of the extracts, imported once."""
    return take(request.param, FILES[request.param])


def test_no_text_of_any_case_names_its_diagnosis(result: Result) -> None:
    for case in result.cases:
        told = [case.context, *(fact.text for fact in case.facts), *(target.question for target in case.targets)]
        assert not [text for text in told for one in case.diagnoses if mentions(text, one.name)]


def test_every_row_is_a_case_or_left_out_with_a_reason(result: Result) -> None:
    left = [one for one in result.faults if one.kind != "note"]
    assert all(one.kind == "excluded" and one.reason for one in left)
    assert len(result.cases) + len(left) in (70, 150, 35)


def test_every_case_can_be_asked_for_something(result: Result) -> None:
    assert all(case.scored_targets for case in result.cases)
    assert all(target.derived for case in result.cases for target in case.targets)
    assert not [case.id for case in result.cases if len({one.question for one in case.targets}) < len(case.targets)]


def test_every_history_is_of_a_case_and_tells_no_diagnosis_before_the_doctor_does(result: Result) -> None:
    cases = {case.id: case for case in result.cases}
    for one in result.imported:
        said = [turn.text for turn in one.history.turns if turn.role == "patient"]
        assert not [text for text in said for name in cases[one.case].diagnoses if mentions(text, name.name)]


def test_the_counts_are_those_that_were_read_by_eye() -> None:
    reasons = {
        name: Counter(one.reason for one in take(name, file).faults if one.kind == "excluded")
        for name, file in FILES.items()
    }
    assert reasons["mediq"] == {}
    assert reasons["cmb_clin"] == {"no diagnosis is asked for": 10, "the diagnosis is hedged": 1}
    assert reasons["mtmeddialog"] == {
        "the diagnosis is hedged": 80, "the diagnosis is only a symptom": 25, "the diagnosis offers alternatives": 4,
        "the opening names the diagnosis": 12,
    }  # fmt: skip
