"""Names of diagnoses as people write them: what prose lists, what covers what, what a reader takes from reports and denials."""

from __future__ import annotations

import pytest

from meddc_bench.contracts import Options, ReaderView
from meddc_bench.records import Turn
from meddc_offline.judging.prose import items
from meddc_offline.judging.relations import grade, relation
from meddc_offline.knowledge_reader import KnowledgeReader

COVERS = ("same", "narrower")


def named(text: str) -> list[str]:
    return [one.text for one in items(f"#诊断结果#\n{text}\n\n#诊断依据#\n(1)检查", 5)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("心律失常，具体为房性早搏和心房扑动", ["房性早搏", "心房扑动"]),
        ("先天性心脏病，具体为室间隔缺损", ["室间隔缺损"]),
        ("脑出血，具体为左侧丘脑、内囊后肢", ["脑出血"]),
        ("甲状腺结节，具体为左叶下极", ["甲状腺结节"]),
    ],
)
def test_the_disease_that_a_class_is_narrowed_to_is_not_lost(text: str, names: list[str]) -> None:
    assert named(text) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("肾盂肾炎和输尿管结石。", ["肾盂肾炎", "输尿管结石"]),
        ("鼻窦炎和中耳炎或乳突炎", ["鼻窦炎", "中耳炎", "乳突炎"]),
        ("痛风合并有高血压、肺大疱和肾囊肿，可能存在心脏问题。", ["痛风", "高血压", "肺大疱", "肾囊肿"]),
        ("甲状腺炎，并伴有贫血。", ["甲状腺炎", "贫血"]),
        ("慢性肝炎并发展为肝硬化", ["慢性肝炎", "肝硬化"]),
    ],
)
def test_two_diseases_in_one_breath_count_as_two(text: str, names: list[str]) -> None:
    assert named(text) == names


@pytest.mark.parametrize(
    "text",
    [
        "胃溃疡伴出血",
        "阑尾炎并穿孔",
        "慢性支气管炎伴急性发作",
        "2型糖尿病伴视网膜病变",
        "肝硬化伴脾大",
        "2型糖尿病并发症",
    ],
)
def test_a_complication_is_no_second_diagnosis(text: str) -> None:
    assert named(text) == [text]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("二度房室传导阻滞，并已成功安装起搏器。", ["二度房室传导阻滞"]),
        ("可能为熬夜和饮水少导致的不适。", []),
        ("颈椎病引起的手麻", ["颈椎病"]),
        ("肺炎可能伴有心衰风险和肾脏问题。", ["肺炎"]),
        ("可能的肾病（如肾炎或肾病综合征）", ["肾病"]),
        ("无法明确诊断，可能的疾病包括脑膜炎、脑炎等。", ["脑膜炎", "脑炎"]),
        ("考虑胃息肉可能性较大，但不能完全排除胃癌可能。", ["胃息肉", "胃癌"]),
        ("胰腺癌疑似并出血", ["胰腺癌并出血"]),
        ("血吸虫病引起的肝硬化。", ["血吸虫病引起的肝硬化"]),
    ],
)
def test_scraps_of_sentences_are_no_diagnoses(text: str, names: list[str]) -> None:
    assert named(text) == names


def test_a_suspicion_below_the_list_of_tests_is_not_lost() -> None:
    text = "#症状#\n(1)发热\n\n#辅助检查#\n(1)胸片：未做\n\n结果未回，目前可能是支气管炎或者肺结核的可能性较大。"
    assert [one.text for one in items(text, 5) if one.dimension == "diagnosis"] == ["支气管炎", "肺结核"]


@pytest.mark.parametrize(
    ("prediction", "reference"),
    [
        ("Ⅱ型呼吸衰竭", "2型呼衰"),
        ("I度房室传导阻滞", "一度房室传导阻滞"),
        ("右束支阻滞", "右束支传导阻滞"),
        ("室性早搏", "频发性室性期前收缩"),
        ("急性B型肝炎", "急性乙型病毒性肝炎"),
        ("慢性丙型肝炎", "慢性丙型病毒性肝炎"),
        ("格林-巴利综合征", "吉兰-巴雷综合征"),
        ("急性炎症性脱髓鞘性多发性神经根神经病", "格林巴利综合征"),
        ("冠状动脉疾病", "冠心病"),
        ("左心衰竭", "心功能不全"),
        ("扩张型心肌病", "扩心病"),
        ("布氏杆菌病", "布鲁菌病"),
        ("幽门螺旋杆菌感染", "HP感染"),
        ("腰2椎体压缩骨折", "腰椎压缩骨折"),
        ("急性胰腺炎", "重症急性胰腺炎"),
        ("甲状腺功能亢进症复发", "甲状腺功能亢进症"),
        ("阻塞性睡眠呼吸暂停", "中度睡眠呼吸暂停综合征"),
        ("完全性左束支传导阻滞", "心律失常：完全性左束支传导阻滞，心功能II级（NYHA）"),
        ("陈旧性脑干梗死", "缺血性脑血管病陈旧性脑干梗死"),
        ("高血压引起的脑出血", "脑出血"),
        ("腔隙性脑梗死", "脑梗死（小动脉闭塞型）"),
        ("右侧结核性胸腔积液", "右侧胸腔积液（结核性）"),
    ],
)
def test_the_same_disease_in_other_words_is_credited(prediction: str, reference: str) -> None:
    assert relation(prediction, reference) in COVERS


@pytest.mark.parametrize(
    ("prediction", "reference"),
    [
        ("Ⅰ型呼吸衰竭", "2型呼衰"),
        ("二度房室传导阻滞", "三度房室传导阻滞"),
        ("左束支阻滞", "右束支传导阻滞"),
        ("急性A型肝炎", "急性乙型病毒性肝炎"),
        ("急性胃肠炎", "急性肠炎"),
        ("病毒性肝炎", "肝炎（非病毒性）"),
        ("脑梗死", "脑梗死（心源性栓塞型）"),
        ("胸腔积液", "胸腔积液（结核性）"),
        ("腰椎压缩骨折", "腰2椎体压缩骨折"),
        ("肌无力", "重症肌无力"),
        ("心力衰竭", "左心衰竭"),
        ("肾功能不全", "肾衰竭"),
        ("睡眠呼吸暂停综合征", "阻塞性睡眠呼吸暂停"),
    ],
)
def test_a_broader_or_other_disease_is_not_credited(prediction: str, reference: str) -> None:
    assert relation(prediction, reference) not in COVERS


def test_an_infection_of_stomach_and_bowel_is_still_narrower_than_its_class() -> None:
    assert relation("病毒性胃肠炎", "胃肠炎") == "narrower"


def test_a_disease_that_has_nothing_to_do_with_the_reference_earns_no_partial_grade() -> None:
    assert relation("食管憩室", "左侧白内障") == "other"
    assert grade("食管憩室", "左侧白内障") is None


def told(*lines: tuple[str, str]) -> tuple[Turn, ...]:
    kinds = {"doctor": "question", "patient": "answer", "reporter": "report"}
    return tuple(
        Turn(index=index, round=index, role=role, kind=kinds[role], text=text)  # type: ignore[arg-type]
        for index, (role, text) in enumerate(lines)
    )


async def read(*lines: tuple[str, str]) -> tuple[str, ...]:
    reading = await KnowledgeReader(Options(), None).read(ReaderView(turns=told(*lines), seed=1, top_k=5))
    return reading.diagnoses or ()


@pytest.mark.parametrize(
    "denial",
    [
        "我没有患有糖尿病、高血压或哮喘。",
        "没有被诊断出高血压、糖尿病。",
        "我没有患过高血压或糖尿病等慢性病。",
        "没有高血压、糖尿病这些病。",
    ],
)
async def test_a_disease_denied_in_a_list_is_not_read_as_had(denial: str) -> None:
    diagnoses = await read(("patient", "我最近心慌。"), ("patient", denial), ("reporter", "心电图：心房颤动"))
    assert not [name for name in diagnoses if "糖尿病" in name or "高血压" in name]


async def test_a_disease_had_beside_a_denial_is_still_read() -> None:
    diagnoses = await read(
        ("patient", "我最近心慌。"), ("patient", "我有高血压，没有糖尿病、冠心病。"), ("reporter", "心电图：心房颤动")
    )
    assert "高血压病" in diagnoses
    assert "2型糖尿病" not in diagnoses


async def test_what_endoscopy_and_ecg_state_is_read() -> None:
    scope = await read(
        ("patient", "我大便发黑，头晕。"), ("reporter", "胃镜：十二指肠球部溃疡，反流性食管炎，慢性浅表性胃炎")
    )
    assert {"十二指肠溃疡", "反流性食管炎", "慢性浅表性胃炎"} <= set(scope)
    ecg = await read(
        ("patient", "我最近头晕、心慌。"), ("reporter", "心电图：频发多源室性早搏，室性早搏，III度房室传导阻滞")
    )
    assert [name for name in ecg if "早搏" in name] == ["频发多源室性早搏"]
    assert any("房室传导阻滞" in name for name in ecg)


async def test_a_finding_that_the_reading_already_says_is_not_named_twice() -> None:
    diagnoses = await read(
        ("patient", "我发烧三天，咳嗽，咳黄痰，胸痛。"),
        ("reporter", "胸部CT：右下肺炎，肺部感染"),
        ("reporter", "血常规：白细胞升高"),
    )
    assert not {"肺部感染"} & set(diagnoses)


async def test_a_patients_word_on_a_scan_counts_and_a_bare_claim_does_not() -> None:
    assert "胆囊结石" in await read(("patient", "我肚子疼。"), ("patient", "做过B超，结果显示有胆囊结石。"))
    assert "胆囊结石" not in await read(("patient", "我肚子疼。"), ("patient", "B超没有发现胆囊结石。"))
