"""Importers of cases: each on the shape upstream documents, on rows that lack fields, and on its known defects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from meddc_bench.contracts import About
from meddc_bench.errors import InputError
from meddc_bench.records import Case
from meddc_bench.registry import Registry
from meddc_bench.text import mentions
from meddc_bench.wiring import Adapter

from . import made_cases
from .made_cases import take

FORMATS = {"mediq": made_cases.mediq, "mtmeddialog": made_cases.mtmeddialog, "cmb_clin": made_cases.cmb_clin}


def texts(case: Case) -> list[str]:
    return [fact.text for fact in case.facts]


# ── what holds for all ───────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", FORMATS)
def test_a_row_of_the_documented_shape_becomes_a_case_in_jsonl_and_in_a_list(write: Any, name: str) -> None:
    row = FORMATS[name](id=1)
    lines = take(name, write(row))
    listed = take(name, write(json.dumps([row], ensure_ascii=False, indent=1)))
    assert lines.cases == listed.cases
    assert lines.case.licence
    assert lines.case.provenance
    assert not lines.of("defect")


@pytest.mark.parametrize("name", FORMATS)
def test_every_target_is_marked_derived_and_asks_for_something_the_opening_does_not_tell(write: Any, name: str) -> None:
    case = take(name, write(FORMATS[name]())).case
    facts = {fact.id: fact for fact in case.facts}
    assert case.targets
    assert all(target.derived and target.importance == 3 for target in case.targets)
    assert all(not facts[one].opening for target in case.targets for one in target.facts)
    asked = [target.question for target in case.targets]
    assert len(asked) == len(set(asked))


@pytest.mark.parametrize("name", FORMATS)
def test_no_text_of_a_case_names_its_diagnosis(write: Any, name: str) -> None:
    case = take(name, write(FORMATS[name]())).case
    told = [case.context, *texts(case), *(target.question for target in case.targets)]
    assert not [text for text in told for one in case.diagnoses if mentions(text, one.name)]


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("mediq", "question"), ("mediq", "answer"), ("mediq", "context"), ("mediq", "facts"),
        ("mtmeddialog", "self_report"), ("mtmeddialog", "dialogue"), ("mtmeddialog", "diagnosis"),
        ("cmb_clin", "description"), ("cmb_clin", "QA_pairs"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("value", ["missing", None, 7, "", [7], [{}]])
def test_a_field_that_is_missing_or_of_another_type_costs_its_row_alone(
    write: Any, name: str, key: str, value: Any
) -> None:
    row = FORMATS[name](id="bad")
    if value == "missing":
        del row[key]
    else:
        row[key] = value
    result = take(name, write(row, FORMATS[name](id="good")))
    assert [case.id for case in result.cases] == ["good"]
    (fault,) = [one for one in result.faults if one.kind != "note"]
    assert f".jsonl:1:{key}" in fault.where


@pytest.mark.parametrize("name", FORMATS)
def test_broken_lines_are_named_and_the_rest_goes_on(write: Any, name: str) -> None:
    good = json.dumps(FORMATS[name](id="good", note="naïve"), ensure_ascii=False)
    result = take(
        name, write(good, '{"id": ', b'{"id": "\xb2\xa1"}', "[1]", FORMATS[name](id="good"), FORMATS[name](id="more"))
    )
    assert [case.id for case in result.cases] == ["good", "more"]
    defects = [one for one in result.faults if one.kind == "defect"]
    assert [one.where.rpartition(".jsonl:")[2].split(":")[0] for one in defects] == ["2", "3", "4", "5"]


@pytest.mark.parametrize("name", [*FORMATS, "ddxplus", "csv", "ai_hospital"])
def test_each_says_where_its_data_come_from_and_under_which_licence(name: str) -> None:
    about = Adapter(Registry.load(), "importer", name, name, {}).get().about
    assert isinstance(about, About)
    assert about.origin
    assert about.licence
    assert about.private is (name == "csv")


# ── MediQ ────────────────────────────────────────────────────────────────────────────────────────


def test_mediq_keeps_examination_out_of_what_the_patient_tells(write: Any) -> None:
    result = take("mediq", write(made_cases.mediq()))
    assert not [text for text in texts(result.case) if "temperature" in text or "tonsils" in text]
    assert result.of("note") == ["2 examination and laboratory facts are no patient's knowledge: left out"]


def test_mediq_takes_numbers_off_and_keeps_facts_that_lack_one(write: Any) -> None:
    case = take("mediq", write(made_cases.mediq())).case
    assert "She denies a runny nose." in texts(case)
    assert not [text for text in texts(case) if text[0].isdigit()]


def test_mediq_knows_a_denial_from_what_is_not_told(write: Any) -> None:
    case = take("mediq", write(made_cases.mediq())).case
    assert [fact.text for fact in case.facts if fact.denied] == [
        "She denies cough.",
        "She denies a runny nose.",
        "She takes no medications.",
    ]
    assert not [text for text in texts(case) if "fever" in text.casefold()]


def test_mediq_leaves_out_rows_that_ask_for_no_diagnosis(write: Any) -> None:
    result = take(
        "mediq", write(made_cases.mediq(question="Which is the best next step in management?", answer="Penicillin"))
    )
    (fault,) = result.faults
    assert (result.cases, fault.kind, fault.reason) == ([], "excluded", "no diagnosis is asked for")


def test_mediq_reads_a_context_that_is_one_text(write: Any) -> None:
    whole = made_cases.mediq()
    case = take("mediq", write(whole | {"context": " ".join(whole["context"])})).case
    assert case.context == whole["context"][0]


def test_mediq_leaves_out_a_case_whose_opening_names_the_diagnosis(write: Any) -> None:
    context = ["A 40-year-old woman with streptococcal pharyngitis comes back.", "She denies cough."]
    (fault,) = take("mediq", write(made_cases.mediq(context=context))).faults
    assert fault.reason == "the opening names the diagnosis"


# ── MTMedDialog ──────────────────────────────────────────────────────────────────────────────────


def test_mtmeddialog_gives_the_human_doctors_history_with_rounds_and_summary(write: Any) -> None:
    result = take("mtmeddialog", write(made_cases.mtmeddialog()))
    history = result.only.history
    assert result.only.policy == "human"
    assert [turn.round for turn in history.turns if turn.role == "doctor"] == [1, 2, 3, 4, 5, 6]
    assert history.turns[0].text == result.case.context
    assert history.turns[-1].kind == "summary"
    action = history.diagnosis_action
    assert action is not None
    assert action.arguments == {"diagnoses": ["osteoarthritis of the knee"]}


def test_mtmeddialog_leaves_a_silent_patient_silent(write: Any) -> None:
    history = take("mtmeddialog", write(made_cases.mtmeddialog())).only.history
    assert [turn.role for turn in history.turns if turn.round == 4] == ["doctor"]


def test_mtmeddialog_gives_a_bare_answer_its_question_and_drops_one_of_two(write: Any) -> None:
    result = take("mtmeddialog", write(made_cases.mtmeddialog()))
    assert "Is the knee swollen in the morning? Yes." in texts(result.case)
    assert not [text for text in texts(result.case) if text.rstrip(".") == "No"]
    assert any("stand for nothing by themselves" in one for one in result.of("note"))


def test_mtmeddialog_takes_no_question_of_the_patients_for_a_fact(write: Any) -> None:
    assert not [
        text for text in texts(take("mtmeddialog", write(made_cases.mtmeddialog())).case) if "What medicine" in text
    ]


@pytest.mark.parametrize(
    ("diagnosis", "reason"),
    [
        ("You likely have gout.", "the diagnosis is hedged"),
        ("Based on your symptoms, you have knee pain.", "the diagnosis is only a symptom"),
        ("You have gout or arthritis.", "the diagnosis offers alternatives"),
    ],
)
def test_mtmeddialog_leaves_out_what_hedges_or_is_a_symptom(write: Any, diagnosis: str, reason: str) -> None:
    (fault,) = take("mtmeddialog", write(made_cases.mtmeddialog(diagnosis=diagnosis))).faults
    assert (fault.kind, fault.reason) == ("excluded", reason)


def test_mtmeddialog_keeps_no_history_in_which_the_patient_names_the_diagnosis(write: Any) -> None:
    row = made_cases.mtmeddialog(diagnosis="You have gout.")
    row["dialogue"][0]["patient_response"] = ["Two months. My doctor said it was gout."]
    result = take("mtmeddialog", write(row))
    assert (len(result.cases), result.imported) == (1, [])


def test_mtmeddialog_reads_chinese_rows_and_the_option_keeps_one_language(write: Any) -> None:
    row = {
        "id": 3, "self_report": "膝盖上下楼时疼痛（女，58岁）。", "diagnosis": "膝关节骨关节炎", "recommendation": "少爬楼。",
        "dialogue": [{"doctor_question": ["疼了多久了？"], "patient_response": ["两个月前开始的，没有外伤。"]}],
    }  # fmt: skip
    path = write(row, made_cases.mtmeddialog(id=4))
    assert [case.language for case in take("mtmeddialog", path).cases] == ["zh", "en"]
    result = take("mtmeddialog", path, language="zh")
    assert [case.id for case in result.cases] == ["mtmd-00003"]
    assert [one.reason for one in result.faults if one.kind == "excluded"] == ["another language than the option names"]


# ── CMB-Clin ─────────────────────────────────────────────────────────────────────────────────────


def test_cmb_clin_never_shows_the_title_and_cuts_at_the_headings(write: Any) -> None:
    case = take("cmb_clin", write(made_cases.cmb_clin())).case
    told = " ".join([case.context, *texts(case)])
    assert case.context == "性别：女；年龄：46岁；主诉：右上腹痛1天。"
    assert "胆囊炎" not in told
    assert "压痛" not in told
    assert "WBC" not in told
    assert case.references.tests == ("实验室检查", "腹部超声检查")


def test_cmb_clin_parts_a_history_into_atomic_facts(write: Any) -> None:
    case = take("cmb_clin", write(made_cases.cmb_clin())).case
    assert texts(case) == ["1天前进食油腻食物后出现右上腹绞痛", "向右肩放射，伴恶心", "无发热", "无黄疸"]
    assert [fact.denied for fact in case.facts] == [False, False, True, True]


def test_cmb_clin_counts_the_sentence_that_states_the_diagnosis(write: Any) -> None:
    notes = take("cmb_clin", write(made_cases.cmb_clin())).of("note")
    assert "1 facts that name the diagnosis: left out" in notes


def test_cmb_clin_takes_the_titles_name_where_the_answer_is_prose_and_says_so(write: Any) -> None:
    pairs = [
        {"question": "该病人最可能的诊断是什么？", "answer": "病人中年女性，结合症状、体征和超声结果，不难得出诊断。"}
    ]
    case = take("cmb_clin", write(made_cases.cmb_clin(QA_pairs=pairs))).case
    assert [one.name for one in case.diagnoses] == ["急性胆囊炎"]
    assert "title" in case.provenance


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"QA_pairs": [{"question": "治疗原则是什么？", "answer": "手术。"}]}, "no diagnosis is asked for"),
        ({"QA_pairs": [{"question": "诊断是什么？", "answer": "诊断：急性胆囊炎？"}]}, "the diagnosis is hedged"),
        ({"description": "现病史\n主诉\n急性胆囊炎3天。"}, "the opening names the diagnosis"),
        ({"description": "体格检查\n右上腹压痛。"}, "the description has no 现病史"),
    ],
)
def test_cmb_clin_leaves_out_rows_with_the_reason(write: Any, changes: dict[str, Any], reason: str) -> None:
    result = take("cmb_clin", write(made_cases.cmb_clin(**changes)))
    assert [one.reason for one in result.faults if one.kind == "excluded"] == [reason]


# ── DDXPlus ──────────────────────────────────────────────────────────────────────────────────────


def test_ddxplus_makes_questions_and_answers_of_evidences(tmp_path: Path) -> None:
    case = take("ddxplus", made_cases.ddxplus(tmp_path, made_cases.patient())).case
    assert (case.id, case.diagnoses[0].name, case.diagnoses[0].code) == ("ddx-0000002", "Bronchitis", "J40")
    assert texts(case) == [
        "I am a 41-year-old woman.", "Do you have a cough? Yes.", "Do you feel pain somewhere? lower chest, upper chest.",
        "How intense is the pain? 4.", "Have you traveled out of the country in the last 4 weeks? No.",
        "Do you smoke cigarettes? Yes.",
    ]  # fmt: skip
    assert [fact.text for fact in case.facts if fact.denied] == [texts(case)[4]]
    assert "Do you have a cough?" not in [target.question for target in case.targets]


@pytest.mark.parametrize(
    ("row", "key"),
    [
        (made_cases.patient("not a list"), "EVIDENCES"),
        (made_cases.patient("[]"), "EVIDENCES"),
        (made_cases.patient("['E_999']"), "EVIDENCES"),
        (made_cases.patient(pathology="Grippe"), "PATHOLOGY"),
        (made_cases.patient(age="young"), "AGE"),
        ("41,F", ""),
    ],
)
def test_ddxplus_names_the_cell_of_a_bad_row_and_goes_on(tmp_path: Path, row: str, key: str) -> None:
    result = take("ddxplus", made_cases.ddxplus(tmp_path, row, made_cases.patient()))
    assert [case.id for case in result.cases] == ["ddx-0000003"]
    (fault,) = result.faults
    assert fault.where.endswith(f"release_test_patients.csv:2{':' + key if key else ''}")


def test_ddxplus_says_which_description_file_is_missing(tmp_path: Path) -> None:
    path = made_cases.ddxplus(tmp_path, made_cases.patient())
    (tmp_path / "release_evidences.json").unlink()
    with pytest.raises(
        InputError, match=r"release_evidences\.json: cannot be read: .*; give it as the option evidences=FILE"
    ):
        take("ddxplus", path)


# ── a clinic's sheet ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030"])
def test_csv_reads_a_sheet_in_the_encodings_that_spreadsheets_write(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "clinic.csv"
    path.write_bytes(made_cases.SHEET.encode(encoding))
    result = take("csv", path)
    assert [case.id for case in result.cases] == ["c-1", "c-2"]
    assert result.cases[0].context == "性别：女；年龄：34岁；主诉：咳嗽3天。"
    assert [one.name for one in result.cases[1].diagnoses] == ["胃溃疡", "幽门螺杆菌感染"]
    assert any("GBK" in one for one in result.of("note")) is (encoding == "gb18030")


def test_csv_gives_a_column_that_says_none_as_a_denial(tmp_path: Path) -> None:
    path = tmp_path / "clinic.csv"
    path.write_text(made_cases.SHEET, encoding="utf-8")
    denied = [fact.text for fact in take("csv", path).cases[0].facts if fact.denied]
    assert {"过敏史：无", "家族史：无", "无发热"} <= set(denied)


def test_csv_reads_an_english_sheet_with_tabs(tmp_path: Path) -> None:
    path = tmp_path / "clinic.tsv"
    path.write_text(
        "id\tSex\tAge\tChief complaint\tHPI\tPMH\tAllergies\tDiagnosis\n"
        "p1\tF\t30\tsore throat\tStarted 3 days ago. Denies cough.\tAsthma\tnone\tStreptococcal pharyngitis\n",
        encoding="utf-8",
    )
    case = take("csv", path).case
    assert (case.language, case.context) == ("en", "Sex: F; age: 30; chief complaint: sore throat.")
    assert texts(case) == ["Started 3 days ago.", "Denies cough.", "Past history: Asthma", "Allergies: none"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        ("编号,现病史\n1,咳嗽\n".encode(), "there is no column 'complaint'"),
        (
            "主诉,现病史,诊断结论\n".encode(),
            "there is no column 'diagnosis'; expected 诊断 .*; did you mean '诊断结论' by it",
        ),
        ("主诉,诊断,诊断\n".encode(), "the column 'diagnosis' is there twice"),
        ("主诉,诊断,出院诊断\n".encode(), "the column 'diagnosis' is there twice .诊断, 出院诊断.; keep one of them"),
        (made_cases.SHEET.encode("utf-16"), "is UTF-16 or no text; save it as CSV in UTF-8"),
        (b"PK\x03\x04rest", "is a spreadsheet or compressed; save the sheet as CSV"),
    ],
)
def test_csv_says_what_to_do_with_a_file_it_cannot_read(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "clinic.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        take("csv", path)


def test_csv_without_column_names_does_not_quote_the_patient_in_its_first_line(tmp_path: Path) -> None:
    path = tmp_path / "clinic.csv"
    path.write_text(made_cases.SHEET.partition("\n")[2], encoding="utf-8")
    with pytest.raises(InputError, match=r":1: there is no column 'complaint'; expected 主诉 .*column names") as caught:
        take("csv", path)
    assert "受凉" not in str(caught.value)


def test_csv_names_the_cell_of_a_bad_row_and_the_columns_nobody_reads(tmp_path: Path) -> None:
    path = tmp_path / "clinic.csv"
    rows = [
        "编号,主诉,现病史,诊断,备注",
        "a,,腹痛1天。,阑尾炎,",
        "b/c,腹痛1天,腹痛1天。,阑尾炎,",
        "d,腹痛1天,转移到右下腹。",
        "e,腹痛1天,后来转移到右下腹。,阑尾炎,",
    ]
    path.write_text("\n".join(rows), encoding="utf-8")
    result = take("csv", path)
    assert [case.id for case in result.cases] == ["e"]
    assert [one.where.rpartition(".csv:")[2] for one in result.faults if one.kind == "defect"] == [
        "2:complaint",
        "3:id",
        "4",
    ]
    assert "this column is not read" in result.of("note")


def test_csv_cannot_be_fooled_by_a_bare_quote(tmp_path: Path) -> None:
    path = tmp_path / "clinic.csv"
    path.write_text(
        '主诉,现病史,诊断\n腹痛1天,"腹痛，\n后转移到右下腹。",阑尾炎\n咳嗽3天,咳白痰。,支气管炎\n', encoding="utf-8"
    )
    assert [case.id for case in take("csv", path).cases] == ["row-00002", "row-00004"]


# ── AI Hospital's patients ───────────────────────────────────────────────────────────────────────


def test_ai_hospital_makes_whole_cases_of_its_patients_file(write: Any) -> None:
    record = {
        "一般资料": "患者，男性，52岁", "主诉": "胸痛2小时", "既往史": "高血压病史10年。", "个人史": "吸烟30年。",
        "现病史": "患者2小时前劳累后出现胸骨后压榨样疼痛，向左肩放射，伴大汗，无恶心。", "查体": "心率100次/分",
        "辅助检查": "心电图：ST段抬高", "诊断结果": "急性心肌梗死",
    }  # fmt: skip
    case = take("ai_hospital", write({"id": 5, "medical_record": record})).case
    assert case.context == "性别：男；年龄：52岁；主诉：胸痛2小时。"
    assert [one.name for one in case.diagnoses] == ["急性心肌梗死"]
    assert case.targets
    assert not [text for text in texts(case) if "心率" in text or "ST段" in text]
