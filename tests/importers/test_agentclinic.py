"""Cases of AgentClinic: sections and tests find their place, denials stay denials, and no text gives the diagnosis away."""

from __future__ import annotations

import copy
import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from meddc_bench import osce
from meddc_bench.contracts import Fault
from meddc_bench.environments.catalogue import catalogue_faults
from meddc_bench.errors import InputError
from meddc_bench.records import Case
from meddc_bench.text import mentions
from meddc_importers.agentclinic import AgentClinic, AgentClinicOptions
from meddc_importers.agentclinic_names import is_test_group, place_of_examination, place_of_test
from meddc_importers.english_facts import atomic, says_nothing

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "agentclinic.jsonl"
DATA = Path(os.environ.get("MEDDC_DATA") or Path(__file__).parents[3] / "shared" / "data") / "agentclinic"
ROWS = [json.loads(line) for line in EXAMPLE.read_text(encoding="utf-8").splitlines()]


def take(path: Path, **options: Any) -> tuple[list[Case], list[Fault], Counter[str]]:
    importer = AgentClinic(AgentClinicOptions(**options), None)  # type: ignore[arg-type]
    given = list(importer.read(path))
    cases = [one for one in given if isinstance(one, Case)]
    return cases, [one for one in given if isinstance(one, Fault)], importer.placed


def station(**changes: Any) -> dict[str, Any]:
    """The first row of the example, with some of its sections replaced; None takes one away."""
    row = copy.deepcopy(ROWS[0])
    for key, value in changes.items():
        where = row["OSCE_Examination"]
        *path, last = key.split("__")
        for part in path:
            where = where[part]
        if value is None:
            del where[last]
        else:
            where[last] = value
    return row


def test_a_station_becomes_a_case_with_its_records_in_place(write: Callable[..., Path]) -> None:
    cases, faults, _ = take(write(*ROWS))
    assert [one.diagnoses[0].name for one in cases] == ["Acute appendicitis", "Graves disease", "Scurvy"]
    assert [one.kind for one in faults] == ["note"]
    first = cases[0]
    assert (first.language, first.turn_budget, first.licence, first.id) == ("en", 10, "MIT", "agentclinic-line1")
    assert first.context == "What brings me here today: abdominal pain."
    workup = first.workup
    assert workup is not None
    assert [panel.key for panel in workup.profile] == [
        "physical_examination:vital signs", "physical_examination:abdomen", "laboratory:hematology",
        "laboratory:immunology", "laboratory:clinical chemistry", "laboratory:urinalysis", "imaging:ultrasound",
    ]  # fmt: skip
    assert "Special Signs, Rovsing: Positive" in [one.text for one in workup.profile[1].findings]
    assert (workup.profile[-1].modality, workup.profile[-1].anatomy) == ("ultrasound", "abdomen")
    assert workup.departments == ("radiology", "laboratory medicine")
    assert [fact.text for fact in first.facts if fact.opening] == ["Abdominal pain"]


def test_the_objective_and_what_is_not_provided_are_in_no_text(write: Callable[..., Path]) -> None:
    cases, _, _ = take(write(*ROWS))
    text = cases[0].model_dump_json()
    assert "rebound tenderness" in text  # of the examination, not of the objective
    assert "Assess a young man" not in text
    assert "Not provided" not in text
    assert "example.org" not in cases[2].model_dump_json()


def test_the_conclusion_of_a_report_is_cut_where_it_names_the_diagnosis(write: Callable[..., Path]) -> None:
    bare = {"Appendix_CT": {"Findings": "Acute appendicitis with a fecalith"}, "Chest_X-ray": {"Findings": "Clear"}}
    row = station(Test_Results=bare)
    row["case_id"] = "bare"
    cases, _, _ = take(write(ROWS[0], row))
    found = [one.text for case in cases for panel in case.workup.profile for one in panel.findings]  # type: ignore[union-attr]
    assert "Noncompressible, dilated appendix of 9 mm" in found
    assert "[withheld] with a fecalith" in found
    assert not [text for text in found if mentions(text, "acute appendicitis")]


def test_what_was_found_after_treatment_is_quarantined(write: Callable[..., Path]) -> None:
    workup = take(write(ROWS[1]))[0][0].workup
    assert workup is not None
    assert [(one.text, one.source) for one in workup.quarantined] == [
        ("Uptake fell after treatment with methimazole", "Thyroid Scan")
    ]
    assert any(one.text == "Diffusely increased uptake" for panel in workup.profile for one in panel.findings)


def test_the_patients_part_is_atomic_and_its_denials_are_denials(write: Callable[..., Path]) -> None:
    actor = take(write(ROWS[0]))[0][0].workup.actor  # type: ignore[union-attr]
    assert [(fact.text, fact.denied) for fact in actor.denied_symptoms] == [
        ("No painful urination", True), ("No blood in the stool", True), ("No testicular pain", True), ("No diarrhea", True),
    ]  # fmt: skip
    assert [fact.id for fact in actor.facts] == [f"f{number}" for number in range(1, len(actor.facts) + 1)]
    begun = actor.history_of_present_illness[0]
    assert begun.onset == "18 hours ago"
    assert begun.text.startswith("Abdominal pain that began around the navel")
    second = take(write(ROWS[1]))[0][0].workup.actor  # type: ignore[union-attr]
    assert [fact.text for fact in second.medication_history] == ["Oral contraceptive pill"]
    assert [fact.text for fact in second.social_history] == ["Smokes 5 cigarettes a day", "Works as a florist"]


def test_a_nejm_row_is_told_in_the_first_person_without_the_instructions(write: Callable[..., Path]) -> None:
    case = take(write(ROWS[2]))[0][0]
    told = " ".join(fact.text for fact in case.facts)
    assert "my gums have been swelling and they bleed when I brush my teeth" in told
    assert not any(word in told for word in ("your", "You", "role", "aware"))
    assert any(fact.denied and "fever" in fact.text for fact in case.facts)
    assert "Undetectable" in [one.text for panel in case.workup.profile for one in panel.findings]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("row", "place", "words"),
    [
        ({"question": "x"}, ":1", "expected OSCE_Examination"),
        ({"OSCE_Examination": "text"}, ":1:OSCE_Examination", "expected an object, found text"),
        (station(Patient_Actor=None), "Patient_Actor", "this key is missing"),
        (station(Correct_Diagnosis=None), "Correct_Diagnosis", "this key is missing"),
        (station(Correct_Diagnosis=["a"]), "Correct_Diagnosis", "expected the diagnosis as text, found a list"),
        (station(Patient_Actor__Symptoms={"Primary_Symptom": "Acute appendicitis"}), ":1", "chief complaint states"),
        (station(Patient_Actor={"Demographics": "30-year-old man"}), ":1", "no primary symptom"),
        ({**ROWS[2], "answers": []}, "answers", "expected one answer that is correct, found 0"),
        ({**ROWS[2], "answers": "scurvy"}, "answers", "expected a list of answers, found text"),
        ({**ROWS[2], "patient_info": "Remember, you are not aware of your diagnosis."}, "patient_info", "nothing of it"),
        ({**ROWS[2], "patient_info": None}, "patient_info", "found null"),
    ],
)  # fmt: skip
def test_a_row_that_lacks_something_is_left_out_with_line_and_key(
    row: dict[str, Any], place: str, words: str, write: Callable[..., Path]
) -> None:
    cases, faults, _ = take(write(row, ROWS[1]))
    assert [case.id for case in cases] == ["agentclinic-line2"]
    (fault,) = [one for one in faults if words in one.message]
    assert ":1" in fault.where
    assert place in fault.where


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (station(Correct_Diagnosis="Fever"), "only a symptom"),
        (station(Correct_Diagnosis="Gastritis or peptic ulcer"), "alternatives"),
        (
            {**ROWS[2], "question": "Which of the following is the best next step in management?"},
            "no diagnosis is asked for",
        ),
    ],
)
def test_a_row_without_a_diagnosis_to_score_is_excluded_with_the_reason(
    row: dict[str, Any], reason: str, write: Callable[..., Path]
) -> None:
    cases, faults, _ = take(write(row))
    assert cases == []
    assert [one.kind for one in faults if reason in one.reason] == ["excluded"]


def test_a_station_without_tests_is_taken_and_said_to_have_none(write: Callable[..., Path]) -> None:
    cases, faults, _ = take(write(station(Test_Results=None), station(Physical_Examination_Findings="none")))
    assert cases[0].workup is not None
    assert cases[0].workup.test_records == ()
    assert [one.kind for one in faults if "Test_Results" in one.where] == ["note"]
    assert [one.message for one in faults if "Physical" in one.where] == ["expected an object, found text; not used"]


def test_a_fact_that_states_the_diagnosis_is_left_out_and_said(write: Callable[..., Path]) -> None:
    row = station(Patient_Actor__Past_Medical_History="Acute appendicitis was suspected last year. No surgeries.")
    cases, faults, _ = take(write(row))
    assert not [fact for fact in cases[0].facts if "appendicitis" in fact.text]
    assert any("states the diagnosis; the fact is left out" in one.message for one in faults)


def test_files_that_are_none_say_so(tmp_path: Path, write: Callable[..., Path]) -> None:
    with pytest.raises(InputError, match="is a folder"):
        take(tmp_path)
    with pytest.raises(InputError, match="cannot be read"):
        take(tmp_path / "nothing.jsonl")
    with pytest.raises(InputError, match="is empty"):
        take(write(""))


def test_names_find_their_item_however_they_are_spelt() -> None:
    spelt = {
        "MRI of the Right Hand": "imaging:MRI",
        "Chest X-ray": "imaging:computed radiography",
        "Blood Chemistry": "laboratory:clinical chemistry",
        "Doppler Ultrasound Lower Limb": "imaging:ultrasound",
        "CT Angiography Abdomen": "imaging:CT",
        "ESR": "laboratory:hematology",
        "Anti-Nuclear Antibody": "laboratory:immunology",
        "Flow Cytometry": "laboratory:flow cytometry",
        "CA-125": "laboratory:tumor markers",
        "Peripheral Smear": "pathology:peripheral blood smear",
        "Polysomnography": "physiologic:other physiologic testing",
        "Something Unheard Of": "laboratory:unmapped laboratory",
    }
    assert {name: f"{place_of_test(name).category}:{place_of_test(name).item}" for name in spelt} == spelt
    assert place_of_test("Something Unheard Of").other
    assert (is_test_group("Laboratory Tests"), is_test_group("Blood Chemistry")) == (True, False)
    examined = ("Dermatological Examination", "Cardiac", "Pelvic Examination", "Vital Signs")
    assert [place_of_examination(name).item for name in examined] == [
        "skin", "cardiovascular", "genitourinary", "vital signs",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text", ["N/A", "Information not provided.", "No additional symptoms noted by the mother.", "  "]
)
def test_what_says_nothing_is_no_fact(text: str) -> None:
    assert says_nothing(text)
    assert list(atomic(text)) == []


@pytest.mark.skipif(not (DATA / "medqa_osce.jsonl").is_file(), reason="the public extract is not here")
def test_the_public_stations_all_come_in_and_few_records_are_of_no_known_kind() -> None:
    cases, faults, placed = take(DATA / "medqa_osce.jsonl", every=True)
    assert len(cases) == 107
    assert [one for one in faults if one.kind != "note"] == []
    assert placed["other"] / sum(placed.values()) < 0.02
    for case in cases:
        assert case.workup is not None
        names = [name for one in case.diagnoses for name in (one.name, *one.synonyms)]
        assert not list(osce.faults(case.workup, names)) + list(catalogue_faults(case.workup))
        assert not [
            text
            for text in (case.context, *(fact.text for fact in case.facts))
            for name in names
            if mentions(text, name)
        ]
        assert all(len(fact.text) <= 200 for fact in case.facts)
    strict, left, _ = take(DATA / "medqa_osce.jsonl")
    assert len(strict) == 106
    assert [one.reason for one in left if one.kind == "excluded"] == ["no disease is named"]
