"""Kinds of mistakes a clinician found by reading consultations and assignments."""

from __future__ import annotations

import pytest

from meddc_bench.contracts import PatientView
from meddc_bench.records import Fact
from meddc_offline.grounded import Grounded
from meddc_offline.judging import prose
from meddc_offline.judging.coverage import verdict
from meddc_offline.judging.relations import relation
from meddc_offline.presupposed import makes_sense, told

FACTS = (
    Fact(id="f1", topic="onset", text="疼是昨晚突然来的。"),
    Fact(id="f2", topic="associated", text="手脚发麻，抓东西没劲。"),
    Fact(id="f3", topic="associated", text="没有发烧，也不咳嗽。", denied=True),
    Fact(id="f4", topic="trigger", text="那会儿正蹲着修车。"),
    Fact(id="f5", topic="family", text="我妈那年突然脑出血走的。"),
    Fact(id="f6", topic="prior_care", text="镇上拍过胸片，说没事。"),
    Fact(id="f7", topic="past", text="血糖不高，没开过刀。", denied=True),
)


@pytest.mark.parametrize(
    ("question", "wanted"),
    [("有没有发烧、怕冷？", {"f3"}), ("怎么疼起来的？", {"f1"}), ("拍过片子吗？", {"f6"}), ("眼睛有重影吗？", set())],
)
async def test_the_patient_tells_what_was_asked_and_no_more(question: str, wanted: set[str]) -> None:
    view = PatientView("", FACTS, frozenset(), (), question, "record", seed=1)
    assert set((await Grounded().answer(view)).fact_ids) == wanted


@pytest.mark.parametrize(
    ("question", "target", "kind", "expected"),
    [
        ("疼在哪个位置？", "疼的位置后来有没有挪动？", "course", False),
        ("疼的地方变过吗？", "疼的位置后来有没有挪动？", "course", True),
        ("咳嗽、弯腰会加重吗？", "有没有咳嗽、咳痰？", "associated", False),
        ("有没有咳嗽？", "有没有咳嗽、咳痰？", "associated", True),
        ("两只胳膊的血压一样吗？", "以前血压高不高？", "past", False),
        ("有高血压吗？", "以前血压高不高？", "past", True),
        ("是胀着、绞着还是烧着？", "有没有发热、怕冷？", "associated", False),
        ("发病前吃了什么？", "吃过消炎止痛的药吗？", "medication", False),
    ],
)
def test_the_judge_tells_the_need_from_a_word_in_passing(question: str, target: str, kind: str, expected: bool) -> None:
    assert (verdict(question, target, kind, ()) is not None) is expected


@pytest.mark.parametrize(
    ("prediction", "reference", "expected"),
    [
        ("慢性肾功能衰竭", "慢性肾功能衰竭尿毒症期", True),
        ("新型冠状病毒肺炎（COVID-19）", "新型冠状病毒肺炎普通型", True),
        ("慢性阻塞性肺疾病伴急性加重", "慢性阻塞性肺病急性加重D组", True),
        ("急性肺栓塞", "急性肺栓塞（中高危组）", True),
        ("心房颤动", "心律失常：房颤", True),
        ("心房颤动", "心律失常房颤", True),
        ("心律失常", "心律失常：房颤", False),
        ("上消化道出血", "上消化道出血：消化性溃疡出血", False),
        ("脑卒中的风险", "脑卒中", False),
    ],
)
def test_severity_group_and_class_in_names(prediction: str, reference: str, expected: bool) -> None:
    assert (relation(prediction, reference) in ("same", "narrower")) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#诊断结果#\n脑梗塞，具体为右侧基底节区、双侧侧脑室旁", ["脑梗塞"]),
        ("#诊断结果#\n高血压病，脑卒中的风险", ["高血压病"]),
        ("诊断：具体为急性阑尾炎", ["急性阑尾炎"]),
    ],
)
def test_where_a_lesion_lies_and_a_risk_are_no_diagnoses(text: str, expected: list[str]) -> None:
    assert [item.text for item in prose.items(text, 5)] == expected


@pytest.mark.parametrize(
    ("question", "said", "expected"),
    [
        ("受伤那条腿有没有变短、脚往外撇？", "胸口疼", False),
        ("受伤那条腿有没有变短、脚往外撇？", "昨天摔了一跤，腿疼", True),
        ("疹子只长在接触的地方吗？", "胳膊疼", False),
        ("疹子只长在接触的地方吗？", "没有起疹子。胳膊上起了一片红疙瘩", True),
        ("把阴囊托起来，疼会不会轻些？", "腰腿疼", False),
        ("把阴囊托起来，疼会不会轻些？", "右边睾丸肿痛", True),
        ("有没有起疹子？", "发烧三天", True),
    ],
)
def test_a_question_on_particulars_waits_until_the_thing_was_mentioned(
    question: str, said: str, expected: bool
) -> None:
    assert makes_sense(question, told(said)) is expected
