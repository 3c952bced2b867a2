"""The English judge and reader: the same name, a qualifier more or less, a part, another disease; what a history supports."""

from __future__ import annotations

from typing import Any

import pytest

from meddc_bench.contracts import JUDGE_STEPS, LEVELS, Found, JudgeView, ReaderView, Reference
from meddc_bench.environments.catalogue import catalogue
from meddc_bench.records import Item, Turn
from meddc_offline.bilingual import KnowledgeReader, Lexical
from meddc_offline.english.chart import read_chart
from meddc_offline.english.diagnoses import covers, grade
from meddc_offline.english.handbook import handbook
from meddc_offline.english.judge import EnglishLexical
from meddc_offline.english.terms import names


async def judge(step: Any, axis: Any = "diagnosis", **fields: Any) -> Found:
    view = JudgeView(step, axis, 0, "en", **fields)
    found = await Lexical().judge(view)
    assert found == await EnglishLexical().judge(view)
    return found


@pytest.mark.parametrize(
    ("prediction", "reference", "level"),
    [
        ("Hemorrhoids", "haemorrhoids", "full"),
        ("Benign paroxysmal positional vertigo", "BPPV", "full"),
        ("Most likely diagnosis: acute appendicitis", "Acute appendicitis", "full"),
        ("Parkinson's disease", "Parkinson disease", "full"),
        ("Lung carcinoma", "lung cancer", "full"),
        ("Frozen shoulder", "Adhesive capsulitis of the left shoulder", None),
        ("Acute otitis media", "Chronic otitis media", None),
        ("Left testicular torsion", "Testicular torsion", "core"),
        ("Pneumonia", "Community-acquired pneumonia", "core"),
        ("Left ovarian torsion", "Right ovarian torsion", None),
        ("Type 1 diabetes mellitus", "Type 2 diabetes mellitus", None),
        ("Conjunctivitis", "Stye with conjunctivitis", "partial"),
        ("Hypothyroidism", "Hyperthyroidism", None),
        ("Migraine or tension headache", "Migraine", None),
        ("No evidence of pneumonia", "Pneumonia", None),
        ("Headache", "Migraine", None),
        ("Disease", "Crohn disease", None),
        ("", "Gout", None),
    ],
)
def test_a_diagnosis_is_graded_by_what_its_name_says(prediction: str, reference: str, level: str | None) -> None:
    assert grade(prediction, reference) == level
    assert level is None or level in LEVELS["grade_diagnoses"]


def test_covering_goes_one_way() -> None:
    assert covers("Acute bronchitis", "Bronchitis") == "narrower"
    assert covers("Bronchitis", "Acute bronchitis") is None
    assert covers("Exanthem subitum", "Roseola infantum") == "same"
    assert covers("Chilblains", "Perniosis") == "same"
    assert covers("Tinea pedis", "Tinea") == "narrower"
    assert covers("Tinea", "Tinea pedis") is None
    assert covers("normal behavior", "Normal behavior") == "same"


async def test_the_steps_on_diagnoses_and_plans() -> None:
    items = (Item(id="p0", text="Pneumonia"), Item(id="p1", text="Gout"))
    references = (Reference("g0", "Lobar pneumonia", ("pneumonia",)), Reference("g1", "Asthma"))
    graded = await judge("grade_diagnoses", items=items, references=references)
    assert [(edge.prediction, edge.reference, edge.level) for edge in graded.edges] == [("p0", "g0", "full")]
    tests = (Item(id="p0", text="Order a chest X-ray"), Item(id="p1", text="No antibiotics needed"))
    plan = await judge(
        "cover_items", "tests", items=tests, references=(Reference("r0", "chest X-ray"), Reference("r1", "antibiotics"))
    )
    assert [(edge.prediction, edge.reference) for edge in plan.edges] == [("p0", "r0")]


async def test_items_are_taken_from_lists_and_else_from_what_the_prose_calls_the_diagnosis() -> None:
    listed = await judge(
        "extract_items", text="Diagnosis:\n1. Acute cholecystitis\n2. Pancreatitis\nTests: ultrasound; lipase"
    )
    assert [(one.dimension, one.text) for one in listed.items] == [
        ("diagnosis", "Acute cholecystitis"), ("diagnosis", "Pancreatitis"), ("tests", "ultrasound"), ("tests", "lipase"),
    ]  # fmt: skip
    prose = await judge("extract_items", text="The findings are consistent with gallstones. Pneumonia is unlikely.")
    assert "gallstones" in [one.text for one in prose.items]
    assert not (await judge("extract_items", text="Drink more water.")).items


async def test_the_steps_on_questions() -> None:
    turns = (
        Turn(index=0, round=0, role="patient", kind="opening", text="I cough. I have lost 5 kg over two months."),
        Turn(
            index=1,
            round=1,
            role="doctor",
            kind="question",
            text="Hello. Do you have a fever? How long have you coughed?",
        ),
        Turn(index=2, round=1, role="patient", kind="answer", text="No fever. For three weeks."),
    )
    units = (await judge("extract_questions", "trajectory", turns=turns)).items
    assert [(one.quote, one.turn, one.round) for one in units] == [
        ("Do you have a fever?", 1, 1), ("How long have you coughed?", 1, 1)
    ]  # fmt: skip
    lost = Item(id="u9", text="Where does it hurt?")
    assert not (await judge("align_questions", "trajectory", items=(lost,), turns=turns)).edges
    same = Item(id="u8", text="do you have fever")
    assert [e.reference for e in (await judge("align_questions", "trajectory", items=(same,), turns=turns)).edges] == [
        "1"
    ]
    targets = (
        Reference("q0", "Any fever?", inquiry_type="associated", facts=("No fever",)),
        Reference("q1", "Since when?", inquiry_type="onset", facts=("Cough for three weeks",)),
        Reference("q2", "Weight change?", inquiry_type="general", facts=("Lost 5 kg over two months",)),
    )
    edges = (await judge("cover_targets", "trajectory", items=units, references=targets, turns=turns)).edges
    assert {(edge.prediction, edge.reference) for edge in edges} == {("u0", "q0"), ("u1", "q1")}
    told = (await judge("volunteered", "trajectory", references=targets[2:], turns=turns)).edges
    assert [(edge.prediction, edge.quote) for edge in told] == [("0", "I have lost 5 kg over two months.")]


def test_the_handbook_is_sound() -> None:
    diseases = handbook()
    assert len(diseases) >= 60
    ids = set(catalogue().by_id)
    for one in diseases.values():
        assert set(one.tests) <= ids
        assert len(one.findings) >= 3 or max(one.findings.values()) >= 3
        assert all(1 <= worth <= 4 for worth in one.findings.values())
        said = [(phrase.startswith("absent "), names(phrase)) for phrase in one.findings]
        assert all(terms for _, terms in said), one.name
        assert len(set(said)) == len(said), f"{one.name}: one finding counts twice"
        assert not {name.casefold() for name in one.same} & {name.casefold() for name in (one.name, *one.also)}


@pytest.mark.parametrize(
    ("said", "disease"),
    [
        ("I have itching that is worse at night. My family members are itchy too.", "Scabies"),
        ("It began with one larger patch. The rash is on my trunk, with fine scale.", "Pityriasis rosea"),
        ("I am 72 years old. I have tense blisters that itch.", "Bullous pemphigoid"),
        ("I have purple papules on my wrists, flat-topped papules, and they are itchy.", "Lichen planus"),
        ("My mole is growing; the growing mole has irregular borders.", "Melanoma"),
    ],
)
async def test_common_skin_diseases_are_told_from_what_patients_say(said: str, disease: str) -> None:
    turn = Turn(index=0, round=0, role="patient", kind="answer", text=said)
    assert (await KnowledgeReader().read(ReaderView((turn,), 0, "en", 3))).diagnoses[:1] == (disease,)


async def test_one_word_of_a_finding_is_no_finding() -> None:
    turn = Turn(index=0, round=0, role="patient", kind="answer", text="The rash is itchy, in the area of my back.")
    assert (await KnowledgeReader().read(ReaderView((turn,), 0, "en", 3))).diagnoses == ()


async def test_the_reader_names_what_the_history_supports_and_nothing_on_too_little() -> None:
    def view(*texts: str) -> ReaderView:
        turns = [Turn(index=n, round=n, role="patient", kind="answer", text=text) for n, text in enumerate(texts)]
        return ReaderView(tuple(turns), 0, "en", 3)

    reader = KnowledgeReader()
    read = await reader.read(
        view(
            "I am a 60-year-old man.",
            "I get crushing chest pain.",
            "It goes into my left arm; pain radiating to left arm.",
            "I am sweating.",
        )
    )
    assert read.diagnoses == ("Acute myocardial infarction",)
    assert "crushing chest pain" in read.text
    assert (await reader.read(view("I feel a bit off."))).diagnoses == ()
    denied = await reader.read(view("No crushing chest pain. No pain radiating to the left arm. Denies sweating."))
    assert denied.diagnoses == ()


def test_age_sex_and_normal_results_are_evidence_too() -> None:
    def chart(text: str, report: str) -> Any:
        said = Turn(index=0, round=0, role="patient", kind="answer", text=text)
        told = Turn(index=1, round=0, role="reporter", kind="report", text=report)
        return read_chart((said, told))

    read = chart("I am a 3-month-old girl.", "[Examination: vital signs] Temperature: 38.9°C; Heart Rate: 90 bpm.")
    assert read.female
    assert read.age == pytest.approx(0.25)
    assert any("fever" in one for one in read.present)
    normal = chart(
        "I am a 40-year-old man.", "[radiology report: Chest X-ray] (X-ray, chest) No infiltrate, normal heart."
    )
    assert not any("infiltr" in one for one in normal.present)
    assert read_chart((Turn(index=0, round=1, role="doctor", kind="question", text="Any fever?"),)).present == ()


@pytest.mark.parametrize("text", ["", " ", "</history>{{7*7}}", "no not denies " * 300, "fever, " * 3000, "x" * 50_000])
async def test_odd_texts_are_answered_with_nothing_made_up(text: str) -> None:
    turns = (
        Turn(index=0, round=0, role="patient", kind="opening", text=text or "x"),
        Turn(index=1, round=1, role="doctor", kind="question", text=f"{text}?"),
    )
    assert (await KnowledgeReader().read(ReaderView(turns, 0, "en"))).diagnoses == ()
    for step in JUDGE_STEPS:
        found = await judge(
            step, text=text, turns=turns, items=(Item(id="p0", text=text or "x"),),
            references=(Reference("g0", "Gout", (), "onset", (text,)),),
        )  # fmt: skip
        assert step not in ("cover_items", "grade_diagnoses") or found.edges == ()
