"""Whether a finding is there, and whose it is."""

import pytest

from meddc_bench.text import polarity, subject

POLARITY = [
    ("没有发热、咳嗽和胸痛", "发热", "absent"),
    ("没有发热、咳嗽和胸痛", "胸痛", "absent"),
    ("没有发烧，但是咳嗽", "咳嗽", "present"),
    ("没发烧，咳嗽得厉害", "咳嗽", "present"),
    ("没发烧，就是咳嗽", "咳嗽", "present"),
    ("不是不疼", "疼", "present"),
    ("没有以前疼", "疼", "present"),
    ("不但咳嗽，还胸闷", "咳嗽", "present"),
    ("无明显诱因出现胸痛", "胸痛", "present"),
    ("不咳嗽时不疼", "疼", "absent"),
    ("发热、咳嗽都没有", "发热", "absent"),
    ("发热、咳嗽都没有", "咳嗽", "absent"),
    ("咳嗽没有好转", "咳嗽", "present"),
    ("无发热，咳嗽，胸痛", "胸痛", "absent"),
    ("没有发热，咳嗽、头晕这些", "咳嗽", "absent"),
    ("有没有发热", "发热", "uncertain"),
    ("不清楚有没有发热", "发热", "uncertain"),
    ("不怎么疼", "疼", "uncertain"),
    ("不动也疼", "疼", "present"),
    ("没吃药就不疼了", "疼", "absent"),
    ("否认高血压、糖尿病病史", "糖尿病", "absent"),
    ("除了咳嗽没有别的", "咳嗽", "present"),
    ("并非胸痛", "胸痛", "absent"),
    ("不是压着疼，是闷疼", "压着疼", "absent"),
    ("不是压着疼，是闷疼", "闷疼", "present"),
    ("药物过敏没有", "药物过敏", "absent"),
    ("没什么胃口，恶心", "恶心", "present"),
]
SUBJECT = [
    ("我爸有高血压", "高血压", "family"),
    ("我爸有高血压，我有糖尿病", "糖尿病", "patient"),
    ("我爱人说我打呼噜", "打呼噜", "patient"),
    ("家里没有人得过糖尿病", "糖尿病", "family"),
    ("同事也发烧了", "发烧", "other"),
    ("孩子发烧，他妈妈有哮喘", "哮喘", "family"),
    ("高血压家族史", "高血压", "family"),
    ("我妈说我脸色发黄", "发黄", "patient"),
    ("孩子发烧两天了", "发烧", "patient"),
]


@pytest.mark.parametrize(("text", "word", "expected"), POLARITY)
def test_negation_reaches_what_it_governs_and_no_more(text, word, expected):
    start = text.rindex(word)
    assert polarity(text, start, start + len(word)) == expected


@pytest.mark.parametrize(("text", "word", "expected"), SUBJECT)
def test_a_relatives_illness_is_not_the_patients(text, word, expected):
    start = text.rindex(word)
    assert subject(text, start, start + len(word)) == expected
