"""One spelling for what means the same, and nothing hidden in a text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from meddc_bench.text import aligned, clean, contains, normalise, safe_name, same, similarity, squash

ANY = st.text(
    st.one_of(st.characters(), st.sampled_from("一二三十半年天个岁型iⅡ点度著後乾。.-1 3第两，\x1b[\u202e\u200b"))
)


@settings(max_examples=300)
@given(ANY)
def test_cleaning_and_normalising_again_change_nothing(text):
    assert clean(clean(text)) == clean(text)
    assert normalise(normalise(text)) == normalise(text)


@settings(max_examples=300)
@given(ANY, ANY)
def test_similarity_is_symmetric_and_one_for_a_text_and_itself(left, right):
    assert similarity(left, right) == similarity(right, left)
    assert similarity(left, left) == 1.0
    assert 0.0 <= similarity(left, right) <= 1.0


@settings(max_examples=300)
@given(ANY)
def test_every_character_of_an_aligned_text_leads_back_into_its_source(text):
    form = aligned(text)
    assert len(form.text) == len(form.starts) == len(form.ends)
    assert all(0 <= start < end <= len(text) for start, end in zip(form.starts, form.ends, strict=True))


@pytest.mark.parametrize(
    ("given_text", "expected"),
    [
        ("三天", "3天"),
        ("两周", "2周"),
        ("十二岁", "12岁"),
        ("半年", "6个月"),
        ("一个半月", "1个半月"),
        ("两三天", "2-3天"),
        ("四五十岁", "40-50岁"),
        ("七八次", "7-8次"),
        ("一型糖尿病", "1型糖尿病"),
        ("Ⅱ型糖尿病", "2型糖尿病"),
        ("II型糖尿病", "2型糖尿病"),
        ("高血压Ⅲ级", "高血压3级"),
        ("３８．５℃", "38.5°c"),
        ("三十八度五", "38.5度"),
        ("發燒兩天", "发烧2天"),
        ("乾咳", "干咳"),
        ("好的。三天", "好的.3天"),
        ("ＣＴ检查", "ct检查"),
    ],
)
def test_variants_get_one_spelling(given_text, expected):
    assert normalise(given_text) == expected


@pytest.mark.parametrize(
    "text", ["十二指肠溃疡", "三叉神经痛", "一般情况", "五官科", "二尖瓣", "一点", "千万别", "三分之一", "显著"]
)
def test_words_that_only_look_like_numerals_stay(text):
    assert normalise(text) == text


def test_white_space_and_punctuation_do_not_count_but_marks_inside_numbers_do():
    assert squash("胸痛， 3 天！") == "胸痛3天"
    assert squash("38.5℃") != squash("385℃")
    assert same("Ⅱ型 糖尿病", "二型糖尿病")
    assert similarity("急性阑尾炎", "急性阑尾炎。") == 1.0
    assert not same("胸痛", "腹痛")


def test_a_quote_is_found_in_any_width_and_script_and_an_invented_one_is_not():
    assert contains("我發燒３８．５℃，咳嗽。", "发烧38.5℃,咳嗽")
    assert contains("疼了\u200b三天", "三天")
    assert not contains("我有点咳嗽", "胸痛")
    assert not contains("我有点咳嗽", "")


def test_terminal_escapes_overrides_and_surrogates_are_taken_off():
    assert clean("\x1b[31m胸痛\x1b[0m\u202e\ufeff\r\n一\u200b天\x00\ud800") == "胸痛\n一天\ufffd"
    assert clean("\x1b]0;title\x07好\x9b2J") == "好"
    assert clean("a\tb\nc") == "a\tb\nc"


@settings(max_examples=300)
@given(ANY)
def test_a_file_name_is_short_and_cannot_leave_its_folder(text):
    name = safe_name(text)
    assert name
    assert len(name.encode()) <= 100
    assert name not in (".", "..")
    assert not name.startswith(".")
    assert not set(name) & set('/\\:*?"<>|\0\n')


def test_file_names_stay_unique_when_cut_or_changed():
    long = "很长的名字" * 40
    assert safe_name(long) != safe_name(long + "一")
    assert safe_name("a/b") != safe_name("a:b") != safe_name("a_b")
    assert safe_name("a_b") == "a_b"
    assert safe_name("Ab") != safe_name("ab")
    assert safe_name("..") != safe_name(".")
    with pytest.raises(ValueError, match="at least 16"):
        safe_name("a", 4)
