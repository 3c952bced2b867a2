"""The workup part of a case: every fault is named where it is, all of them in one message, and old cases stay as they were."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from meddc_bench import osce, yamlfile
from meddc_bench.environments.catalogue import catalogue, catalogue_faults
from meddc_bench.errors import InputError
from meddc_bench.fingerprint import digest
from meddc_bench.records import Case
from meddc_bench.task import TaskIndex, load_task

NAMES = ["急性阑尾炎", "阑尾炎"]


def record() -> dict[str, Any]:
    """A workup that is in order, as a generator would write it."""
    return {
        "actor": {
            "demographics": [{"id": "f1", "text": "我19岁，大学生。"}],
            "chief_complaint": [{"id": "f2", "text": "肚子疼六小时。", "duration": "六小时", "opening": True}],
            "history_of_present_illness": [{"id": "f3", "text": "后来疼到右下腹去了。", "topic": "course"}],
            "denied_symptoms": [{"id": "f4", "text": "没有拉肚子。", "denied": True}],
        },
        "profile": [
            {
                "id": "p1",
                "category": "physical_examination",
                "item": "abdomen",
                "title": "腹部",
                "findings": [{"id": "e1", "text": "右下腹压痛反跳痛"}],
            },
            {
                "id": "p2",
                "category": "laboratory",
                "item": "hematology",
                "title": "血常规",
                "findings": [{"id": "e2", "text": "白细胞14×10⁹/L"}],
            },
            {
                "id": "p3",
                "category": "imaging",
                "item": "CT",
                "title": "腹部CT",
                "modality": "CT",
                "anatomy": "腹部",
                "findings": [{"id": "e3", "text": "盲肠旁管状结构增粗"}],
            },
        ],
        "quarantined": [{"id": "e4", "text": "术后切口愈合好", "source": "外科"}],
        "departments": ["radiology"],
        "codes": [{"diagnosis": "急性阑尾炎", "system": "ICD-10", "code": "K35.8"}],
        "provenance": "虚构",
    }


def change(*path: Any, to: Any) -> dict[str, Any]:
    data = record()
    at: Any = data
    for part in path[:-1]:
        at = at[part]
    if to is None:
        del at[path[-1]]
    else:
        at[path[-1]] = to
    return data


def test_a_record_in_order_needs_no_message() -> None:
    assert osce.retry_message(record(), NAMES) is None


@pytest.mark.parametrize(
    ("data", "place", "words"),
    [
        (change("actor", "chief_complaint", 0, "id", to="f3"), "actor.chief_complaint[0].id", "expected f2"),
        (change("actor", "denied_symptoms", 0, "id", to="f9"), "actor.denied_symptoms[0].id", "expected f4"),
        (change("profile", 1, "id", to="p7"), "profile[1].id", "expected p2"),
        (change("profile", 1, "findings", 0, "id", to="e9"), "profile[1].findings[0].id", "expected e2"),
        (change("quarantined", 0, "id", to="e9"), "quarantined[0].id", "expected e4"),
        (change("actor", "demographics", 0, "text", to="我" * 81), "actor.demographics[0].text", "longer than 80"),
        (change("actor", "demographics", 0, "text", to="a " * 41), "actor.demographics[0].text", "40 words"),
        (change("actor", "denied_symptoms", 0, "text", to="拉肚子。"), "denied_symptoms[0].text", "denies nothing"),
        (change("actor", "denied_symptoms", 0, "denied", to=False), "denied_symptoms[0].denied", "must be marked"),
        (change("actor", "chief_complaint", 0, "duration", to="三天"), "chief_complaint[0].duration", "quote"),
        (
            change("actor", "demographics", 0, "text", to="我得过急性 阑尾炎。"),
            "demographics[0].text",
            "states the diagnosis",
        ),
        (change("profile", 2, "findings", 0, "text", to="考虑急性阑尾炎"), "profile[2].findings[0].text", "states the"),
        (change("profile", 2, "title", to="阑尾炎CT"), "profile[2].title", "states the diagnosis"),
        (
            change("profile", 1, "findings", 0, "text", to="术后白细胞正常"),
            "profile[1].findings[0].text",
            "quarantined",
        ),
        (
            change("profile", 1, "findings", 0, "text", to="抗感染3天后白细胞正常"),
            "profile[1].findings[0]",
            "quarantined",
        ),
        (change("profile", 1, "category", to="pathology"), "profile[1].anatomy", "specimen"),
        (change("profile", 2, "category", to="physical_examination"), "profile[2]", "order"),
        (change("profile", 2, "modality", to=None), "profile[2].modality", "must name its modality"),
        (change("profile", 2, "stain", to="HE"), "profile[2].stain", "only a specimen"),
        (change("codes", 0, "diagnosis", to="肠炎"), "codes[0].diagnosis", "no diagnosis of the case"),
        (change("provenance", to=" "), "provenance", "is missing"),
        (change("profile", 0, "colour", to="red"), "profile[0].colour", "not permitted"),
        (change("profile", 1, "findings", to=[]), "profile[1].findings", "at least 1"),
        (change("actor", "demographics", to=None), "actor.demographics", "required"),
    ],
)
def test_each_fault_is_named_with_its_place_and_what_to_do(data: dict[str, Any], place: str, words: str) -> None:
    message = osce.retry_message(data, NAMES)
    assert message is not None
    assert any(place in line and words in line for line in message.splitlines()[1:]), message


def test_all_faults_are_in_one_message_so_that_one_retry_can_mend_them() -> None:
    data = change("actor", "chief_complaint", 0, "id", to="f9")
    data["profile"][1]["id"] = "p9"
    data["provenance"] = ""
    message = osce.retry_message(data, NAMES)
    assert message is not None
    assert [line[0] for line in message.splitlines()] == ["T", "1", "2", "3"]
    assert "3 fault(s)" in message


@pytest.mark.parametrize("data", [None, [], "x", {}, {"actor": None}, {"actor": {"demographics": "x"}}])
def test_what_is_no_record_at_all_gets_a_message_too(data: Any) -> None:
    assert osce.retry_message(data, NAMES)


def test_items_and_departments_that_no_menu_has_are_faults() -> None:
    data = change("profile", 1, "item", to="crystal ball")
    data["departments"] = ["radiology", "astrology", "cardiology"]
    found = [str(one) for one in catalogue_faults(osce.Workup.model_validate(osce._tuples(data)))]
    assert [one.split(":")[0] for one in found] == ["profile[1].item", "departments[1]", "departments[2]"]


CASE = {
    "id": "w1",
    "source": "record",
    "context": "肚子疼六小时。",
    "diagnoses": [{"name": "急性阑尾炎", "synonyms": ["阑尾炎"]}],
    "turn_budget": 10,
}
TASK = "task: demo\nenvironment: workup\ntemplates: trustmed\nprotocol: {name: trustmed-1.0}\n"


def test_the_actors_facts_are_the_cases_facts(make_task: Callable[..., Path]) -> None:
    case = load_task(make_task(TASK, {"w1.yaml": json.dumps({**CASE, "workup": record()})})).cases[0]
    assert [(one.id, one.topic, one.denied) for one in case.facts] == [
        ("f1", "identity", False),
        ("f2", "onset", False),
        ("f3", "course", False),
        ("f4", "associated", True),
    ]
    assert case.workup is not None
    assert [one.model_dump() for one in case.facts] == [
        {**case.facts[index].model_dump(), **fact} for index, fact in enumerate(osce.facts_of(case.workup.actor))
    ]


def test_a_fault_of_a_case_file_comes_with_file_line_and_the_others_in_its_notes(
    make_task: Callable[..., Path],
) -> None:
    data = change("actor", "chief_complaint", 0, "id", to="f9")
    data["provenance"] = ""
    with pytest.raises(InputError, match="expected f2") as failed:
        load_task(make_task(TASK, {"w1.yaml": json.dumps({**CASE, "workup": data})}))
    assert "w1.yaml" in str(failed.value)
    assert any("provenance" in note for note in failed.value.__notes__)


@pytest.mark.parametrize(
    "data",
    [change("actor", to=5), *(change("actor", "past_medical_history", to=wrong) for wrong in (5, "x", [5]))],
)
def test_a_section_that_is_no_list_of_facts_is_a_fault_of_the_case_file(
    make_task: Callable[..., Path], data: dict[str, Any]
) -> None:
    with pytest.raises(InputError, match="actor"):
        load_task(make_task(TASK, {"w1.yaml": json.dumps({**CASE, "workup": data})}))


def test_facts_that_are_not_the_actors_are_refused(make_task: Callable[..., Path]) -> None:
    facts = [{"id": "f1", "topic": "onset", "text": "别的"}]
    with pytest.raises(InputError, match="leave this key out"):
        load_task(make_task(TASK, {"w1.yaml": json.dumps({**CASE, "facts": facts, "workup": record()})}))


def test_cases_without_a_workup_keep_their_bytes_so_that_old_records_are_found_again(case_text: str) -> None:
    document = yamlfile.Document(copy.deepcopy({**CASE, "facts": []}), Path("c.yaml"), {})
    case = yamlfile.validate(Case, document)
    assert "workup" not in case.model_dump(mode="json")
    (task,) = TaskIndex().resolve("meddc_record")
    assert task.cases_digest == "c71e6e9a1e11d039827b2b052e0a83f5"
    assert digest(case.model_dump(mode="json")) == digest(Case(**dict(case)).model_dump(mode="json"))


def test_the_catalogue_has_the_papers_names_and_no_name_that_means_two_things_unawares() -> None:
    known = catalogue()
    assert (len(known.examinations), len(known.tests), len(known.departments)) == (21, 42, 8)
    assert len({one.id for one in known.tests}) == 42
    for kind, entries in (
        ("examination", known.examinations),
        ("test", known.tests),
        ("department", known.departments),
    ):
        for entry in entries:
            assert known.find(kind, entry.id).entry == entry  # type: ignore[arg-type]
            assert known.find(kind, entry.label).entry == entry  # type: ignore[arg-type]
    assert {one.department for one in known.tests} == {one.name for one in known.departments}


@pytest.mark.parametrize(
    ("name", "id_"),
    [
        ("CT", "imaging:CT"),
        ("影像：ＣＴ", "imaging:CT"),
        ("血常规", "laboratory:hematology"),
        ("胃镜", "imaging:endoscopy"),
        ("mammography", "imaging:other imaging modality"),
        ("toxicology", "laboratory:general laboratory testing"),
        ("microscopy", "pathology:histopathology"),
        ("audiometry", "physiologic:other physiologic testing"),
        ("病理:分子病理", "pathology:molecular genetics"),
        ("心电图", "physiologic:cardiovascular physiologic testing"),
    ],
)
def test_a_test_is_found_under_what_doctors_call_it(name: str, id_: str) -> None:
    entry = catalogue().find("test", name).entry
    assert entry is not None
    assert entry.id == id_


def test_a_name_two_categories_share_is_asked_back_and_never_guessed() -> None:
    found = catalogue().find("test", "molecular genetics")
    assert found.entry is None
    assert len(found.between) == 2


def test_every_shipped_case_has_four_categories_or_more_and_pictures_that_can_be_probed() -> None:
    (task,) = TaskIndex().resolve("osce_zh")
    assert len(task.cases) >= 12
    for case in task.cases:
        assert case.workup is not None
        categories = {panel.category for panel in case.workup.profile}
        assert len(categories) >= 4, case.id
        assert any(panel.pictured for panel in case.workup.profile)
        assert case.workup.codes[0].system == "ICD-10"
        assert not list(catalogue_faults(case.workup))
