"""A text names a disease: what a leak check must find, and what it must not take for one."""

from __future__ import annotations

import pytest

from meddc_bench.text import mentions


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("外院诊为急性 阑尾炎。", "急性阑尾炎"), ("她有Ⅱ型糖尿病", "2型糖尿病"),
        ("I have had Acne-vulgaris for years", "acne vulgaris"),
        ("Known SEIZURES since birth", "seizure"), ("two warts", "Warts"), ("ＧＥＲＤ since 2019", "GERD"),
    ],
)  # fmt: skip
def test_a_name_is_found_whatever_its_width_case_number_and_punctuation(text: str, name: str) -> None:
    assert mentions(text, name)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("scolded by her mother", "cold"), ("acneiform lesions", "acne"), ("gas in the belly", "ga"), ("痔疮", "痔"),
        ("nothing", ""), ("nothing", "…"), ("an ulcer of the leg", "leg ulcer"),
    ],
)  # fmt: skip
def test_a_part_of_a_word_is_no_name(text: str, name: str) -> None:
    assert not mentions(text, name)
