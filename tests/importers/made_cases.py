"""Rows of each format of cases, invented by hand in the shape that upstream documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from meddc_bench.registry import Registry
from meddc_bench.wiring import Adapter

from .made import Result, sorted_out


def take(importer: str, path: Path, **options: Any) -> Result:
    """Import a file with an importer as `meddc-bench import` builds it."""
    built = Adapter(Registry.load(), "importer", importer, importer, options).get()
    return sorted_out(built.read(path))


def mediq(**changes: Any) -> dict[str, Any]:
    """Make a row of MediQ, as in all_dev_good.jsonl and all_craft_md.jsonl."""
    return {
        "id": 7,
        "question": "Which of the following is the most likely diagnosis?",
        "context": [
            "A 40-year-old woman comes to the clinic because of a sore throat for 3 days.",
            "She denies cough and a runny nose, and says that swallowing makes it worse.",
            "She takes no medications.",
            "On examination, her temperature is 38.6°C (101.5°F) and the tonsils are covered with exudate.",
        ],
        "context_len": 4,
        "options": {
            "A": "Infectious mononucleosis",
            "B": "Streptococcal pharyngitis",
            "C": "Diphtheria",
            "D": "Influenza",
        },
        "answer": "Streptococcal pharyngitis",
        "answer_idx": "B",
        "explanation": "",
        "facts": [
            "1. A 40-year-old woman comes to the clinic.",
            "2. She has had a sore throat for 3 days.",
            "3. She denies cough.",
            "She denies a runny nose.",
            "5. Swallowing makes it worse.",
            "6. She takes no medications.",
            "7. Her temperature is 38.6°C (101.5°F).",
            "8. The tonsils are covered with exudate.",
        ],
        "patient": {"gender": "Female", "age": "40 years old"},
    } | changes


def mtmeddialog(**changes: Any) -> dict[str, Any]:
    """Make a consultation of MTMedDialog."""
    return {
        "self_report": "My knee hurts when I climb stairs (female, 58 years old).",
        "dialogue": [
            {
                "doctor_question": ["Hello, how long has this been going on?"],
                "patient_response": ["Hello,", "About two months."],
            },
            {"doctor_question": ["Is the knee swollen in the morning?"], "patient_response": ["Yes."]},
            {"doctor_question": ["Any fever? Have you injured it?"], "patient_response": ["No.", "I have not fallen."]},
            {"doctor_question": ["Have you taken any medication?"], "patient_response": []},
            {
                "doctor_question": ["Does anything help?"],
                "patient_response": ["Resting helps. What medicine should I take?"],
            },
        ],
        "diagnosis": "Based on your symptoms and history, the diagnosis is osteoarthritis of the knee, likely from overuse.",
        "recommendation": "Rest the knee and lose some weight.",
    } | changes


def cmb_clin(**changes: Any) -> dict[str, Any]:
    """Make a case of CMB-Clin."""
    return {
        "id": "3",
        "title": "胆道疾病 案例分析-急性胆囊炎",
        "description": (
            "现病史\n（1）病史摘要\n    赵XX，女，46岁，1天前进食油腻食物后出现右上腹绞痛，向右肩放射，伴恶心，无发热、黄疸。"
            "曾在外院诊断为急性胆囊炎。\n（2）主诉\n    右上腹痛1天。\n\n体格检查\nT 37.9℃，右上腹压痛，墨菲征阳性。\n\n"
            "辅助检查\n（1）实验室检查\n    WBC 13.0×10^9/L。\n（2）腹部超声检查\n    胆囊增大，壁厚5mm。"
        ),
        "QA_pairs": [
            {
                "question": "简述该病人的诊断及诊断依据。",
                "answer": "诊断：急性胆囊炎。\n诊断依据：\n①右上腹绞痛；②超声示胆囊增大。",
            },
            {"question": "简述该病人的治疗原则。", "answer": "禁食、抗感染，必要时手术。"},
        ],
    } | changes


PATIENTS = "AGE,DIFFERENTIAL_DIAGNOSIS,SEX,PATHOLOGY,EVIDENCES,INITIAL_EVIDENCE"
EVIDENCES = {
    "E_201": {"question_en": "Do you have a cough?", "is_antecedent": False, "data_type": "B", "value_meaning": {}},
    "E_55": {
        "question_en": "Do you feel pain somewhere?", "is_antecedent": False, "data_type": "M",
        "value_meaning": {
            "V_29": {"en": "lower chest", "fr": ""}, "V_101": {"en": "upper chest", "fr": ""},
            "V_123": {"en": "nowhere", "fr": "nulle part"},
        },
    },
    "E_56": {"question_en": "How intense is the pain?", "is_antecedent": False, "data_type": "C", "value_meaning": {}},
    "E_204": {
        "question_en": "Have you traveled out of the country in the last 4 weeks?", "is_antecedent": True,
        "data_type": "C", "value_meaning": {"V_10": {"en": "N", "fr": "N"}, "V_1": {"en": "Asia", "fr": "Asie"}},
    },
    "E_79": {"question_en": "Do you smoke cigarettes?", "is_antecedent": True, "data_type": "B", "value_meaning": {}},
}  # fmt: skip
CONDITIONS = {"Bronchite": {"condition_name": "Bronchite", "cond-name-eng": "Bronchitis", "icd10-id": "j40"}}


def ddxplus(folder: Path, *rows: str) -> Path:
    """Write patients and the two description files beside them, as DDXPlus is published."""
    (folder / "release_evidences.json").write_text(json.dumps(EVIDENCES), encoding="utf-8")
    (folder / "release_conditions.json").write_text(json.dumps(CONDITIONS), encoding="utf-8")
    path = folder / "release_test_patients.csv"
    path.write_text("\n".join([PATIENTS, *rows]) + "\n", encoding="utf-8")
    return path


def patient(
    codes: str = "['E_201', 'E_55_@_V_29', 'E_55_@_V_101', 'E_56_@_4', 'E_204_@_V_10', 'E_79']", **changes: str
) -> str:
    """Make a row of DDXPlus' patients."""
    cells = {"age": "41", "sex": "F", "pathology": "Bronchite", "first": "E_201"} | changes
    differential = "\"[['Bronchite', 0.61], ['Pneumonie', 0.39]]\""
    return f'{cells["age"]},{differential},{cells["sex"]},{cells["pathology"]},"{codes}",{cells["first"]}'


SHEET = (
    "编号,性别,年龄,主诉,现病史,既往史,过敏史,家族史,体格检查,辅助检查,诊断,科室\n"
    "c-1,女,34,咳嗽3天,3天前受凉后出现咳嗽，咳白痰，夜间加重，无发热、胸痛。,体健,否认,无,咽部充血,血常规：WBC 8.0×10^9/L,"
    "急性支气管炎,呼吸科\n"
    "c-2,男,60,上腹隐痛半年,半年前出现上腹隐痛，餐后加重，无黑便。近2个月体重下降3kg。,吸烟30年,青霉素过敏,父亲死于胃癌,,,"
    "胃溃疡；幽门螺杆菌感染,消化科\n"
)
