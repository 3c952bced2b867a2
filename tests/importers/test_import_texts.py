"""Tags come off whatever their spelling; lists of diagnoses are told from prose."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meddc_importers.diagnoses import diagnosis_section, listed, numbered, reference_diagnoses
from meddc_importers.tags import untagged


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<对医生讲> 我咳嗽。", "我咳嗽。"),
        ("<对医生讲>\n1. 是。\n2. 不是。", "1. 是。\n2. 不是。"),
        ("< 对 检查员 讲 >您好", "您好"),
        ("＜对医生讲＞：您好", "您好"),
        ("【对医生说】您好", "您好"),
        ("（对检查员讲）您好", "您好"),
        ("《对医生讲》您好", "您好"),
        ("<對醫生講>您好", "您好"),
        ("&lt;对医生讲&gt; 您好", "您好"),
        ("<<对医生讲>> 您好", "您好"),
        ("<对医生讲 您好", "您好"),
        ("对医生讲：您好", "您好"),
        ("对医生讲> 您好", "您好"),
        ("您好。<对医<对医生讲>生讲>好", "您好。好"),
        ("谢谢您的帮助！<结束>", "谢谢您的帮助！"),
        ("谢谢。 （结束）", "谢谢。"),
        ("谢谢。【结 束】", "谢谢。"),
        ("谢谢。<结束", "谢谢。"),
        ("谢谢。结束>", "谢谢。"),
        ("祝您身体健康。结束。", "祝您身体健康。"),
        ("<结束> 谢谢医生", "谢谢医生"),
        ("<结束>", ""),
        ("<结束>。", ""),
        ("<对医生讲>", ""),
        ("<对检查员讲> 请问结果？\n\n<检查员> 正常。\n\n<对医生讲> 正常。", "请问结果？\n\n正常。\n\n正常。"),
        ("治疗结束。", "治疗结束。"),
        ("疗程（结束后复查）", "疗程（结束后复查）"),
        ("我对医生讲：头晕。", "我对医生讲：头晕。"),
        ("CRP <5 mg/L，WBC >10", "CRP <5 mg/L，WBC >10"),
        ("（医生说没事）", "（医生说没事）"),
    ],
)
def test_tags_come_off_and_words_stay(text: str, expected: str) -> None:
    assert untagged(text) == expected


@given(st.text(alphabet="<>＜＞（）对医生检查员讲结束 。\n好", max_size=40))
def test_no_tag_survives_whatever_the_text(text: str) -> None:
    bare = untagged(text)
    assert untagged(bare) == bare
    for tag in ("<对医生讲>", "<对检查员讲>", "<结束>", "＜结束＞"):
        assert tag not in bare


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("肺炎", ("肺炎",)),
        ("肺炎。", ("肺炎",)),
        ("(1) 心源性胸闷\n(2) 消化不良", ("心源性胸闷", "消化不良")),
        ("1. 肺炎 2. 贫血", ("肺炎", "贫血")),
        ("- 心房颤动\n- 高血压病史", ("心房颤动", "高血压病史")),
        ("①肺炎；②贫血", ("肺炎", "贫血")),
        ("肺炎；贫血；肺炎", ("肺炎", "贫血")),
        ("食管溃疡，胃窦粘膜增生性隆起，肺部感染", ("食管溃疡", "胃窦粘膜增生性隆起", "肺部感染")),
        ("高血压、腰椎间盘突出症", ("高血压", "腰椎间盘突出症")),
        ("右心衰竭和肺炎", ("右心衰竭", "肺炎")),
        ("高血压病（2级，很高危）、糖尿病（2型）", ("高血压病（2级，很高危）", "糖尿病（2型）")),
        ("二、三尖瓣反流、肺动脉高压", ("二、三尖瓣反流", "肺动脉高压")),
        ("右侧基底节区、双侧侧脑室旁、顶叶腔隙性脑梗塞", ("右侧基底节区、双侧侧脑室旁、顶叶腔隙性脑梗塞",)),
        ("初步诊断为2型糖尿病。", ("2型糖尿病",)),
        ("根据患者的描述，初步诊断为部分性癫痫发作。", ("部分性癫痫发作",)),
        ("脑卒中（暂定）", ("脑卒中",)),
        ("肺结核（待查）；贫血待查", ("肺结核", "贫血")),
        ("疑似短暂性脑缺血发作（TIA）。", ("短暂性脑缺血发作（TIA）",)),
        ("冠状动脉粥样硬化性心脏病可能。", ("冠状动脉粥样硬化性心脏病",)),
        ("初步诊断可能为：\n\n1. 肺炎\n2. 贫血", ("肺炎", "贫血")),
        ("卵圆孔未闭", ("卵圆孔未闭",)),
        ("可能诊断为下肢深静脉血栓、肺部感染以及慢性心功能不全。", ("下肢深静脉血栓", "肺部感染", "慢性心功能不全")),
        ("高血压病三级，高危组；腔隙性脑梗塞。", ("高血压病三级，高危组", "腔隙性脑梗塞")),
        ("初步诊断可能为：\n\n1. 感染性疾病（如病毒性或细菌性感染）。", None),
        ("蛛网膜下腔出血（可能为左侧丘脑出血）", None),
        ("", None),
        ("病毒性肠胃炎或食物中毒", None),
        ("脑梗塞，具体为右侧基底节区腔隙性脑梗塞", None),
        ("冠状动脉疾病，可能存在糖尿病的风险。", None),
        ("无法明确诊断，可能的疾病包括脊髓病变等。", None),
        ("考虑胰腺炎的可能。然而，由于没有结果，无法确认。", None),
        ("布鲁氏菌病，并伴有糖尿病。", None),
        ("腱鞘囊肿和骨岛。", None),
        ("子宫内膜息肉待排除", None),
        ("根据目前的检查，尚不能给出诊断", None),
    ],
)
def test_lists_are_split_and_prose_is_left_to_the_judge(text: str, expected: tuple[str, ...] | None) -> None:
    assert listed(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#症状#\n咳嗽\n\n#诊断结果#\n肺炎\n\n#诊断依据#\n(1)胸片", "肺炎"),
        ("# 诊断结果\n\n1. 肺炎\n2. 贫血\n\n# 诊断依据\n1. 胸片", "1. 肺炎\n2. 贫血"),
        ("**诊断结果**：肺炎\n**治疗方案**：休息", "肺炎"),
        ("【诊断结果】肺炎", "肺炎"),
        ("诊断结果：肺炎\n诊断依据：胸片", "肺炎"),
        ("#诊断结果#\n肺炎\n\n请注意，以上仅供参考。", "肺炎"),
        ("暂时无法给出#诊断结果#、#诊断依据#。", None),
        ("很抱歉，无法诊断。", None),
        ("#诊断依据#\n(1)胸片", None),
    ],
)
def test_the_diagnosis_of_a_summary_is_found(text: str, expected: str | None) -> None:
    assert diagnosis_section(text) == expected


@pytest.mark.parametrize(
    ("units", "names"),
    [
        (
            ["冠心病（主动脉瓣返流", "三尖瓣返流）心功能III级", "肾结石"],
            ["冠心病（主动脉瓣返流；三尖瓣返流）心功能III级", "肾结石"],
        ),
        (["高血压病1级", "很高危组", "高脂血症"], ["高血压病1级，很高危组", "高脂血症"]),
        (["患者最终诊断为冠心病、心功能III级、肺动脉高压。"], ["冠心病，心功能III级", "肺动脉高压"]),
        (["心律失常：一度房室传导阻滞、完全性左束支传导阻滞"], ["心律失常：一度房室传导阻滞", "完全性左束支传导阻滞"]),
        (["早期肝硬化？", "早期肝硬化"], ["早期肝硬化"]),
        (["右侧胸腔大量积液（结核性）"], ["右侧胸腔大量积液（结核性）"]),
    ],
)
def test_reference_units_are_mended(units: list[str], names: list[str]) -> None:
    assert [one.name for one in reference_diagnoses(units)] == names


@pytest.mark.parametrize(
    ("units", "names"),
    [
        (["痛风合并肾结石"], ["痛风", "肾结石"]),
        (["肺结核并胸膜炎", "贫血"], ["肺结核", "胸膜炎", "贫血"]),
        (["胆管结石伴急性胆管炎"], ["胆管结石", "急性胆管炎"]),
        (["胃溃疡伴出血"], ["胃溃疡伴出血"]),
        (["2型糖尿病并肾病"], ["2型糖尿病并肾病"]),
        (["主动脉瓣狭窄伴重度关闭不全"], ["主动脉瓣狭窄伴重度关闭不全"]),
        (["妊娠合并甲状腺功能减退症"], ["妊娠合并甲状腺功能减退症"]),
        (["慢性阻塞性肺疾病伴急性加重"], ["慢性阻塞性肺疾病伴急性加重"]),
    ],
)
def test_two_diseases_joined_in_one_reference_can_each_be_found(units: list[str], names: list[str]) -> None:
    assert [one.name for one in reference_diagnoses(units)] == names


@pytest.mark.parametrize(
    ("units", "names"),
    [
        (["慢性胃炎2型糖尿病"], ["慢性胃炎", "2型糖尿病"]),
        (["痛风高血压病1级"], ["痛风", "高血压病1级"]),
        (["瓣膜性心脏病心力衰竭（心功能III级）"], ["瓣膜性心脏病", "心力衰竭（心功能III级）"]),
        (["急性胆囊炎(重度) I型呼吸衰竭"], ["急性胆囊炎(重度)", "I型呼吸衰竭"]),
        (["轻症急性胰腺炎"], ["轻症急性胰腺炎"]),
        (["慢性肾功能不全急性加重"], ["慢性肾功能不全急性加重"]),
        (["冠心病急性心肌梗死"], ["冠心病急性心肌梗死"]),
    ],
)
def test_references_written_without_a_sign_between_them_are_told_apart(units: list[str], names: list[str]) -> None:
    assert [one.name for one in reference_diagnoses(units)] == names


def test_a_class_and_its_member_count_once() -> None:
    units = ["心律失常", "心房扑动", "频发房早", "电解质紊乱", "低钾血症", "肺炎"]
    names = [one.name for one in reference_diagnoses(units)]
    assert names == ["心律失常：心房扑动", "频发房早", "电解质紊乱：低钾血症", "肺炎"]
    assert listed("心律失常（房性早搏和心房颤动）") == ("房性早搏", "心房颤动")


def test_a_vessel_alone_is_no_reference() -> None:
    names = [one.name for one in reference_diagnoses(["脑栓塞", "左大脑中动脉", "高脂血症"])]
    assert names == ["脑栓塞（左大脑中动脉）", "高脂血症"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("痛风合并肾结石", ("痛风", "肾结石")),
        ("甲状腺炎并伴有贫血", ("甲状腺炎", "贫血")),
        ("肝硬化并伴有腹水和胆管结石", ("肝硬化并伴有腹水", "胆管结石")),
        ("胰腺炎并伴有胰周渗出、腹膜炎", None),
    ],
)
def test_a_list_gives_one_name_for_each_disease(text: str, expected: tuple[str, ...] | None) -> None:
    assert listed(text) == expected


@pytest.mark.parametrize(
    ("unit", "name", "synonyms"),
    [
        ("急性呼吸窘迫综合征 (ARDS)", "急性呼吸窘迫综合征", ("ARDS",)),
        ("脑梗死（又称脑梗塞、中风）", "脑梗死", ("脑梗塞", "中风")),
        ("甲状腺癌（T2N1M0）", "甲状腺癌（T2N1M0）", ()),
        ("心力衰竭（NYHA）", "心力衰竭（NYHA）", ()),
        ("肾囊肿（右）", "肾囊肿（右）", ()),
    ],
)
def test_names_in_brackets_become_synonyms_where_they_are_names(
    unit: str, name: str, synonyms: tuple[str, ...]
) -> None:
    (one,) = reference_diagnoses([unit])
    assert (one.name, one.synonyms) == (name, synonyms)


def test_only_a_text_of_numbered_lines_is_numbered() -> None:
    assert numbered("1. 肺炎。\n2. 贫血。") == ("肺炎", "贫血")
    assert numbered("1. 肺炎\n贫血") == ()
    assert numbered("1. 肺炎") == ()
