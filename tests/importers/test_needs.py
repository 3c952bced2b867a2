"""Information needs: a fact finds its own, and the question that is asked for it is understood by the offline judge."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from meddc_bench.campaign import Campaign
from meddc_bench.plan import build_benches
from meddc_bench.records import Case, Diagnosis, Fact, Target
from meddc_bench.registry import Registry
from meddc_bench.task import load_task
from meddc_bench.validation import self_check
from meddc_importers import needs_en, needs_zh
from meddc_importers.needs import need_of

TABLES = {"zh": needs_zh.NEEDS, "en": needs_en.NEEDS}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("对青霉素过敏", "allergy"), ("父亲死于胃癌", "family"), ("末次月经5月3日", "obstetric"), ("吸烟30年", "habits"),
        ("曾在当地医院输液治疗", "prior_care"), ("既往体健", "past"), ("弯腰后反酸加重", "modifying"), ("受凉后起病", "trigger"),
        ("症状逐渐加重", "course"), ("3天前出现腹痛", "onset"),
        ("向右肩放射", "site"), ("无畏寒、寒战", "fever"), ("无恶心、呕吐", "digestive"),
        ("偶有心悸", "chest"), ("尿频、尿急", "urinary"), ("右手麻木", "nervous"), ("睡眠差", "general"), ("怕见人", "others"),
    ],
)  # fmt: skip
def test_a_chinese_fact_finds_its_need(text: str, name: str) -> None:
    assert need_of(text, "zh").name == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("She is allergic to penicillin.", "allergy"), ("Her brother has a similar rash.", "family"),
        ("His mother states that he is tired.", "general"), ("She has regular menstrual cycles.", "obstetric"),
        ("He smokes a pack a day.", "habits"), ("The cream has not relieved the symptoms.", "treated"),
        ("He takes no medications.", "medicines"), ("She has a history of asthma.", "past"),
        ("It is worse after eating.", "modifying"),
        ("The rash started 3 weeks ago.", "onset"), ("The lesions have spread.", "course"),
        ("It is located on her face.", "site"),
        ("The areas are painful.", "feel"), ("He denied having chills.", "fever"), ("She denies vomiting.", "digestive"),
        ("The structure is yellow.", "look"), ("He likes music.", "others"),
    ],
)  # fmt: skip
def test_an_english_fact_finds_its_need(text: str, name: str) -> None:
    assert need_of(text, "en").name == name


@pytest.mark.parametrize("language", TABLES)
def test_names_and_questions_of_needs_are_unlike(language: str) -> None:
    table = TABLES[language]
    assert len({one.name for one in table}) == len({one.question for one in table}) == len(table)
    assert table[-1].name == "others"


@pytest.mark.parametrize("language", TABLES)
def test_a_doctor_who_asks_for_every_need_reaches_every_target(language: str, tmp_path: Path) -> None:
    table = TABLES[language]
    facts = tuple(Fact(id=f"f{n:02d}", topic=one.topic, text=f"{one.name} {n}") for n, one in enumerate(table))
    targets = tuple(
        Target(
            id=f"q{n:02d}",
            question=one.question,
            facts=(f"f{n:02d}",),
            inquiry_type=one.topic,
            importance=3,
            derived=True,
        )
        for n, one in enumerate(table)
    )
    case = Case(
        id="c1", source="record", language=language, context="不舒服。" if language == "zh" else "I feel unwell.", facts=facts,
        diagnoses=(Diagnosis(name="痛风" if language == "zh" else "gout"),), targets=targets, turn_budget=10,
    )  # fmt: skip
    (tmp_path / "cases.jsonl").write_bytes(msgspec.json.encode(case.model_dump(mode="json")))
    text = f"task: needs\ninclude: meddc/protocol.yaml\nlanguage: {language}\ncases: cases.jsonl\n"
    (tmp_path / "task.yaml").write_text(text, encoding="utf-8")
    task = load_task(tmp_path / "task.yaml")
    (bench,) = build_benches(Campaign(tasks=("needs",), instrument="offline"), Registry.load(), [task], imported=True)
    assert self_check(bench, Registry.load()).asks_all_T == 1.0
