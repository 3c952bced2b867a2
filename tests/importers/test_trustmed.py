"""OSCE records of protocol TrustMed: what its author may write, what is numbered for it, and one message for all faults."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from meddc_bench.contracts import Fault
from meddc_bench.importing.writer import plain
from meddc_bench.records import Case
from meddc_bench.task import TaskIndex
from meddc_importers.trustmed import TrustMed, TrustMedOptions

ROW: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "docs" / "examples" / "trustmed.jsonl").read_text(encoding="utf-8")
)


def take(path: Path, **options: Any) -> tuple[list[Case], list[Fault]]:
    given = list(TrustMed(TrustMedOptions(**options), None).read(path))  # type: ignore[arg-type]
    return [one for one in given if isinstance(one, Case)], [one for one in given if isinstance(one, Fault)]


def with_(**changes: Any) -> dict[str, Any]:
    row = copy.deepcopy(ROW)
    for key, value in changes.items():
        row[key] = value
    return {key: value for key, value in row.items() if value is not None}


def test_a_record_of_texts_is_numbered_and_its_items_take_the_catalogues_names(write: Callable[..., Path]) -> None:
    (case,), faults = take(write(ROW))
    assert faults == []
    assert (case.context, case.language, case.diagnoses[0].code) == ("My right big toe hurts badly", "en", "M10.9")
    workup = case.workup
    assert workup is not None
    assert [fact.id for fact in workup.actor.facts] == [f"f{number}" for number in range(1, 11)]
    assert [(panel.id, panel.key) for panel in workup.profile] == [
        ("p1", "physical_examination:musculoskeletal"), ("p2", "laboratory:clinical chemistry"),
        ("p3", "imaging:computed radiography"),
    ]  # fmt: skip
    assert workup.quarantined[0].id == "e5"


def test_the_shipped_records_come_back_as_they_were(write: Callable[..., Path]) -> None:
    shipped = TaskIndex().resolve("osce_zh")[0].cases
    rows = [plain(case) for case in shipped]
    for row in rows:
        for panel in row["workup"]["profile"]:
            panel.pop("picture", None)
    cases, faults = take(write(*rows))
    assert faults == []
    assert [(one.id, one.facts, one.diagnoses) for one in cases] == [
        (one.id, one.facts, one.diagnoses) for one in shipped
    ]


def test_all_that_is_wrong_is_said_in_one_message_that_a_generator_can_act_on(write: Callable[..., Path]) -> None:
    bad = with_(
        actor={**ROW["actor"], "social_history": ["Has acute gout each spring"], "denied_symptoms": ["fever"]},
        profile=[{"category": "imaging", "item": "ct", "title": "CT", "findings": ["Smaller after treatment"]}],
        quarantined=None,
        departments=None,
    )
    cases, (fault,) = take(write(bad))
    assert cases == []
    assert fault.where.endswith(":1:workup")
    for words in (
        "has 5 fault(s)", "actor.social_history[0].text: states the diagnosis 'Acute gout'", "marked `denied: true`",
        "must name its modality", "must name its anatomy", "move it to `quarantined`", "the case is left out",
    ):  # fmt: skip
        assert words in fault.message


@pytest.mark.parametrize(
    ("row", "key", "words"),
    [
        (with_(actor=None), "actor", "this key is missing; expected actor: {demographics"),
        (with_(actor=["a"]), "actor", "expected an object of sections, found a list"),
        (with_(diagnoses=None), "diagnoses", "this key is missing; a case needs a diagnosis"),
        (with_(diagnoses=[]), "diagnoses", "is empty"),
        (with_(diagnoses=[{"synonyms": []}]), "diagnoses[0]", "expected a name"),
        (with_(diagnoses=[{"name": "Gout", "synonyms": 7}]), "diagnoses[0].synonyms", "expected a list of other names"),
        (with_(diagnoses=[{"name": "Gout", "synonyms": [{}]}]), "diagnoses[0].synonyms", "expected a list of other"),
        (with_(context=7), "context", "expected what the patient says first as text, found a number"),
        (with_(actor={**ROW["actor"], "hobbies": ["chess"]}), "workup", "actor.hobbies"),
        (with_(departments=["dentistry"]), "workup", "is no department"),
        (
            with_(profile=[{**ROW["profile"][2], "item": "telepathy"}], departments=None),
            "workup",
            "is not in the catalogue",
        ),
    ],
)
def test_a_record_that_lacks_something_is_left_out_with_line_and_key(
    row: dict[str, Any], key: str, words: str, write: Callable[..., Path]
) -> None:
    cases, faults = take(write(row, {**ROW, "id": "good"}))
    assert [case.id for case in cases] == ["good"]
    (fault,) = faults
    assert fault.where.endswith(f":1:{key}")
    assert words in fault.message


def test_an_opening_that_names_the_diagnosis_is_excluded_and_unknown_keys_are_said(write: Callable[..., Path]) -> None:
    cases, faults = take(write(with_(context="I think it is gouty arthritis"), {**ROW, "id": "b", "notes": "x"}))
    assert [case.id for case in cases] == ["b"]
    assert [one.kind for one in faults] == ["excluded", "defect"]
    assert faults[1].where.endswith(":2:notes")


def test_a_picture_stays_behind_and_the_record_comes(write: Callable[..., Path]) -> None:
    row = copy.deepcopy(ROW)
    row["profile"][2]["picture"] = {"file": "a.png", "sha256": "0" * 64}
    (case,), (fault,) = take(write(row))
    assert fault.kind == "note"
    assert case.workup is not None
    assert case.workup.profile[2].picture is None
