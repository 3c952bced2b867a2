"""A doctor's turn falls into the questions it asks, and into nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meddc_bench.text import clauses, question_units, sentences

TURNS = [
    ("您好，请问哪里不舒服？", ["请问哪里不舒服？"]),
    ("有没有发热、怕冷？", ["有没有发热、怕冷？"]),
    ("有没有发热、怕冷，什么时候开始的？", ["有没有发热、怕冷", "什么时候开始的？"]),
    ("什么时候开始的，持续多久了？", ["什么时候开始的，持续多久了？"]),
    ("疼痛是什么样的？比如压榨样、针刺样？", ["疼痛是什么样的？比如压榨样、针刺样？"]),
    ("1. 什么时候开始的？\n2. 疼在哪里？\n3. 有没有发热？", ["什么时候开始的？", "疼在哪里？", "有没有发热？"]),
    ("您抽烟吗，喝酒吗，平时有没有高血压？", ["您抽烟吗", "喝酒吗", "平时有没有高血压？"]),
    ("建议您先休息，最近有没有熬夜？", ["最近有没有熬夜？"]),
    ("还有吗？", ["还有吗？"]),
    ("请您描述一下疼痛的部位和性质", ["请您描述一下疼痛的部位和性质"]),
    ("说说您平时的饮食和睡眠", ["说说您平时的饮食和睡眠"]),
    ("疼的时候，会往胳膊串吗？", ["疼的时候，会往胳膊串吗？"]),
    ("是刀割样的，还是闷痛？", ["是刀割样的，还是闷痛？"]),
    ("除了头痛，有没有恶心？", ["除了头痛，有没有恶心？"]),
    ("**症状**：请问有没有恶心、呕吐？", ["请问有没有恶心、呕吐？"]),
    ("体温最高多少度，吃过什么药，有没有效果？", ["体温最高多少度", "吃过什么药", "有没有效果？"]),
    ("疼得厉害？", ["疼得厉害？"]),
    ("平时身体怎么样", ["平时身体怎么样"]),
]


@pytest.mark.parametrize(("turn", "units"), TURNS)
def test_a_turn_is_cut_into_its_questions(turn, units):
    assert [unit.quote for unit in question_units(turn)] == units


@pytest.mark.parametrize(
    "turn",
    [
        "你好！",
        "好的，我明白了。根据您的描述，可能是胃炎，建议做胃镜检查。",
        "多喝水，注意休息，过几天再来复查",
        "请您完成检查后告诉我结果。",
        "建议做心电图看看是否缺血，可以吗？",
        "我建议您做一下血液检查，以便我们能更准确地了解您的状况。",
        "没什么大问题，别担心。",
        "",
    ],
)
def test_greetings_statements_and_advice_ask_nothing(turn):
    assert question_units(turn) == ()


@given(st.text(st.one_of(st.characters(), st.sampled_from("有没有发热吗？，。几什么建议1.\n比如还是"))))
def test_a_unit_is_always_an_exact_piece_of_the_turn(turn):
    for unit in question_units(turn):
        assert unit.quote == turn[unit.start : unit.end]


def test_decimals_and_list_numbers_do_not_end_a_sentence():
    assert [span.text for span in sentences("体温38.5℃。咳嗽3天！1. 发热？")] == [
        "体温38.5℃。",
        "咳嗽3天！",
        "1. 发热？",
    ]
    assert [span.text for span in clauses("有发热，1,000次，咳嗽（干咳，无痰），好")] == [
        "有发热",
        "1,000次",
        "咳嗽（干咳，无痰）",
        "好",
    ]
