"""Times, ages, sexes and sides as patients say them."""

import pytest

from meddc_bench.text import age, durations, laterality, sex


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("咳嗽3天，加重两小时", [3.0, 0.083]),
        ("半年了", [182.5]),
        ("一个半月", [45.0]),
        ("两三年", [912.5]),
        ("一两个礼拜", [10.5]),
        ("两个多月", [69.0]),
        ("十来天", [10.0]),
        ("昨天晚上开始", [1.0]),
        ("一天拉七八次水", []),
        ("每天三次", []),
        ("2019年查的，10月又查", []),
    ],
)
def test_durations_are_read_in_days_and_rates_and_dates_are_not_durations(text, days):
    assert [one.days for one in durations(text)] == days


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("性别：男；年龄：62岁；主诉：胸闷", 62.0),
        ("孩子8个月大，发烧", 0.667),
        ("3岁半", 3.5),
        ("出生20天", 0.055),
        ("我爸60岁，我35岁", 35.0),
        ("五岁的时候得过肺炎", None),
        ("十一个月的宝宝", 0.917),
        ("咳嗽三天", None),
    ],
)
def test_the_patients_age_is_read_in_years(text, years):
    assert age(text) == years


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("性别：男；年龄：62岁", "男"),
        ("62岁女性", "女"),
        ("月经不调", "女"),
        ("我女儿3岁", "女"),
        ("没男朋友", None),
        ("胸口闷", None),
    ],
)
def test_sex_is_read_only_where_something_tells_it(text, expected):
    assert sex(text) == expected


@pytest.mark.parametrize(
    ("text", "sides"),
    [
        ("左膝疼", {"左"}),
        ("右肺", {"右"}),
        ("双膝", {"双"}),
        ("左右两边都疼", {"双"}),
        ("三天左右", set()),
        ("两只眼睛", {"双"}),
    ],
)
def test_sides_are_read_and_approximate_numbers_are_not_sides(text, sides):
    assert laterality(text) == sides
