"""Where a doctor names the diagnosis before the summary (scenario 24)."""

import json
import os
from pathlib import Path

import pytest

from meddc_bench.text import asserted_diagnosis, mask_assertions

DATA = Path(os.environ.get("MEDDC_DATA") or Path(__file__).parents[3] / "shared" / "data") / "ai_hospital"
ASSERTED = [
    "您的诊断为急性胆囊炎，需要住院。",
    "根据您的描述，您可能患有急性支气管炎。",
    "初步诊断：2型糖尿病",
    "考虑是不稳定型心绞痛，建议做心电图。",
    "您得的是带状疱疹。",
    "这应该是胃溃疡引起的。",
    "可能是偏头痛，您怕光吗？",
    "#诊断结果#\n脑梗死",
    "我怀疑您有肺炎。",
    "根据化验结果，您被诊断为缺铁性贫血。",
    "您可能患有上肢肌肉无力。",
    "可能患有无痛性甲状腺炎。",
    "您的情况可能涉及肾结石。",
    "手麻和乏力可能是颈椎病的表现。",
    "乏力可能由心房扑动引起。",
    "目前有以下几种可能：哮喘、支气管炎。",
    "您可能患有视网膜病变。",
]
NOT_ASSERTED = [
    "您是不是有高血压？",
    "您以前诊断过高血压吗？",
    "需要排除肺炎，建议拍胸片。",
    "建议做胃镜，以明确是否有胃溃疡。",
    "有没有糖尿病、心脏病？",
    "您提到患有高血压，平时吃什么药？",
    "没有提示肺炎。",
    "抽烟会增加肺癌的风险。",
    "考虑到您的病史，我再问几个问题。",
    "您这种情况可能与感冒药有关吗？",
    "哪里不舒服？",
    "这可能是一种神经系统疾病。",
    "痰变黄可能是由于感染引起的。",
    "心慌可能是多种原因引起的，包括但不限于贫血、甲亢。",
    "急诊医生怀疑是胆囊炎，我先了解一下。",
    "当地医院诊断为胃炎，我看到了。",
    "根据外院的检查结果，您以前被诊断为高血压。",
    "您吃过几种降压药？",
    "您患有下肢无力多久了？",
]


@pytest.mark.parametrize("text", ASSERTED)
def test_a_named_diagnosis_is_found_and_masked(text):
    found = asserted_diagnosis(text)
    assert found is not None
    assert found.text == text[found.start : found.end]
    assert asserted_diagnosis(mask_assertions(text)) is None


@pytest.mark.parametrize("text", NOT_ASSERTED)
def test_questions_history_and_plans_are_no_assertion(text):
    assert asserted_diagnosis(text) is None
    assert mask_assertions(text) == text


def test_a_list_of_possible_causes_does_not_reach_the_reader():
    text = "可能的原因包括：\n1. 胃溃疡：空腹时痛\n2. 慢性胆囊炎\n\n请做检查：\n1. 胃镜，排除息肉"
    masked = mask_assertions(text)
    assert asserted_diagnosis(text) is not None
    assert "胃溃疡" not in masked
    assert "胆囊炎" not in masked
    assert "胃镜" in masked


def test_a_list_of_tests_or_advice_leaves_the_reader_its_turns():
    assert asserted_diagnosis("请做以下检查：\n1. 肺炎支原体抗体\n2. 胸片，看有没有肺炎") is None
    assert asserted_diagnosis("可能的原因有哪些？\n1. 您最近受凉了吗？") is None


@pytest.mark.skipif(not DATA.exists(), reason="the public data are not here")
def test_most_real_histories_hold_an_assertion_and_masking_removes_them_all():
    fired = 0
    rows = [
        json.loads(line) for path in sorted(DATA.glob("histories_*.jsonl")) for line in path.read_text().splitlines()
    ]
    for row in rows:
        turns = [turn["content"] for turn in row["dialogue"] if turn["role"] == "doctor"]
        fired += any(asserted_diagnosis(turn) for turn in turns)
        assert all(asserted_diagnosis(mask_assertions(turn)) is None for turn in turns)
    assert fired > 0.8 * len(rows)
