"""What may stand as a reference diagnosis, and what a score would be worth that rested on the rest."""

from __future__ import annotations

import pytest

from meddc_importers import gold


def names(found: gold.Gold) -> list[str]:
    return [one.name for one in found.diagnoses]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        (
            "Based on your symptoms and history, the diagnosis is enteritis, likely caused by spoiled food.",
            ["enteritis"],
        ),
        ("You have gastritis and enteritis, which are causing your pain.", ["gastritis", "enteritis"]),
        ("Based on your tests, you have been diagnosed with a gastric ulcer.", ["gastric ulcer"]),
        ("Based on the symptoms described, the patient is currently suffering from a cold.", ["common cold"]),
        ("Esophagitis", ["Esophagitis"]),
        ("I diagnose you with gout.", ["gout"]),
    ],
)
def test_a_diagnosis_stated_in_a_sentence_is_taken_without_its_causes(sentence: str, expected: list[str]) -> None:
    assert names(gold.of_sentence(sentence, "en")) == expected


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("Based on your symptoms, you likely have gastritis.", gold.HEDGED),
        ("Based on your symptoms, it appears you have a cold.", gold.HEDGED),
        ("The most likely diagnosis is appendicitis.", gold.HEDGED),
        ("You may be suffering from gastritis or cholecystitis.", gold.ALTERNATIVES),
        ("You have gastritis. However, a gastroscopy is necessary to confirm the diagnosis.", gold.HEDGED),
        ("Based on your symptoms, you are experiencing constipation, likely due to your diet.", gold.SYMPTOM),
        ("Constipation", gold.SYMPTOM),
        ("You are experiencing side effects from your new medication.", gold.UNNAMED),
        ("Please come back next week for more tests and a longer talk about it.", gold.UNNAMED),
        ("  ", gold.NONE),
    ],
)
def test_a_sentence_that_hedges_or_names_no_disease_is_no_reference(sentence: str, reason: str) -> None:
    found = gold.of_sentence(sentence, "en")
    assert (found.reason, found.diagnoses) == (reason, ())


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("发热待查", gold.HEDGED), ("肺炎可能", gold.HEDGED), ("考虑胃癌", gold.HEDGED), ("左侧隐睾伴恶变？", gold.HEDGED),
        ("肺炎或肺结核", gold.ALTERNATIVES), ("腹痛", gold.SYMPTOM), ("反复咳嗽", gold.SYMPTOM), ("急性上腹痛", gold.SYMPTOM),
        ("阑尾切除术", gold.PROCEDURE), ("胆囊切除术后", gold.PROCEDURE), ("二尖瓣置换的体外循环管理", gold.PROCEDURE),
        ("正常", gold.UNNAMED), ("。", gold.NONE),
    ],
)  # fmt: skip
def test_a_chinese_name_that_is_no_disease_is_no_reference(name: str, reason: str) -> None:
    assert gold.of_names([name], "zh").reason == reason


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Cataract surgery", gold.PROCEDURE), ("Obtain an abdominal CT scan", gold.PROCEDURE), ("Skin biopsy", gold.PROCEDURE),
        ("Chest pain", gold.SYMPTOM), ("Possible lupus", gold.HEDGED), ("Lupus or scleroderma", gold.ALTERNATIVES),
    ],
)  # fmt: skip
def test_an_english_name_that_is_no_disease_is_no_reference(name: str, reason: str) -> None:
    assert gold.of_names([name], "en").reason == reason


def test_diseases_that_only_look_like_the_rest_are_kept() -> None:
    kept = ["偏头痛", "腹泻型肠易激综合征", "高热惊厥", "术后肠粘连"]
    assert [gold.of_names([one], "zh").reason for one in kept] == [""] * 4
    english = [
        "Type I minocycline hyperpigmentation",
        "Chronic fatigue syndrome",
        "Tension headache",
        "Neonatal jaundice due to ABO",
    ]
    assert [gold.of_names([one], "en").reason for one in english] == [""] * 4


def test_a_symptom_beside_a_disease_is_dropped_and_brackets_become_a_synonym() -> None:
    assert names(gold.of_names(["腹痛", "急性阑尾炎"], "zh")) == ["急性阑尾炎"]
    (found,) = gold.of_names(["Pressure bullae (coma bullae)"], "en").diagnoses
    assert (found.name, found.synonyms) == ("Pressure bullae", ("coma bullae",))


@pytest.mark.parametrize(
    ("question", "language", "asked"),
    [
        ("Which of the following is the most likely diagnosis?", "en", True),
        ("What is the diagnosis?", "en", True),
        ("Which of the following is the next best step in management?", "en", False),
        ("Which test would confirm the diagnosis?", "en", False),
        ("What is the mechanism of the drug given?", "en", False),
        ("简述该病人的诊断及诊断依据，鉴别诊断要点。", "zh", True),
        ("该病人最可能的诊断是什么？", "zh", True),
        ("简述该病人的鉴别诊断。", "zh", False),
        ("膀胱破裂如何诊断？", "zh", False),
        ("尚需哪些检查来明确诊断？", "zh", False),
        ("治疗原则是什么？", "zh", False),
    ],
)
def test_only_a_question_for_the_disease_gives_a_case(question: str, language: str, asked: bool) -> None:
    assert gold.asks_diagnosis(question, language) is asked
