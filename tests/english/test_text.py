"""English text: what counts as a sentence, a question, a denial, an assertion and a repeated question."""

from __future__ import annotations

import pytest

from meddc_bench.environments.wording import is_repeat, question_keys
from meddc_bench.text import asserted_diagnosis, mask_assertions
from meddc_bench.text.english import denials, english_questions, english_sentences, mentioned, stems


def test_forms_of_a_word_and_both_spellings_are_one_stem() -> None:
    assert stems("She vomits") == stems("vomiting")
    assert stems("no fever, never a rash, without or denies it, nor isn't") == {"fever", "rash"}
    assert stems("haemorrhage, oedema, anaemia, diarrhoea, tumour") == stems("hemorrhage edema anemia diarrhea tumor")


def test_abbreviations_and_decimals_do_not_end_a_sentence() -> None:
    text = "Dr. Smith found a 3.5 cm lesion. It is firm; it moves."
    assert [span.text for span in english_sentences(text)] == [
        "Dr. Smith found a 3.5 cm lesion.", "It is firm;", "it moves."
    ]  # fmt: skip
    assert all(text[span.start : span.end] == span.text for span in english_sentences(text))


@pytest.mark.parametrize(
    ("text", "affirmed", "denied"),
    [
        ("Denies fever, chills, or night sweats, but reports a cough.", "cough", "fever chills sweats"),
        ("No cough. Has a rash.", "rash", "cough"),
        ("He does not report chest pain", "", "chest pain"),
        ("Pain with no relief from ibuprofen", "pain ibuprofen", ""),
        ("Has not wanted to eat since yesterday", "wanted eat", ""),
    ],
)
def test_a_denial_reaches_over_its_list_and_no_further(text: str, affirmed: str, denied: str) -> None:
    said, refused = mentioned(text)
    assert stems(affirmed) <= said
    assert stems(denied) <= refused
    assert not stems(affirmed) & refused
    assert all(0 <= start <= end <= len(text) for start, end in denials(text))


def test_questions_and_requests_are_units_and_greetings_and_advice_are_not() -> None:
    turn = "Hello, I'm the doctor. How long has it hurt? Please describe the pain. If it gets worse, come back."
    assert [unit.quote for unit in english_questions(turn)] == ["How long has it hurt?", "Please describe the pain."]


def test_a_question_in_other_words_of_no_content_is_the_same_and_another_side_is_not() -> None:
    asked = question_keys("When did the pain start? Is your left arm weak?", "en")
    assert is_repeat(question_keys("So when did this pain start?", "en"), asked)
    assert not is_repeat(question_keys("Is your right arm weak?", "en"), asked)
    assert not is_repeat(question_keys("When did the cough start?", "en"), asked)


@pytest.mark.parametrize(
    ("turn", "asserts"),
    [
        ("You most likely have pneumonia.", True),
        ("Your symptoms suggest a urinary tract infection. Any allergies?", True),
        ("Diagnosis: acute appendicitis", True),
        ("Have you ever had asthma?", False),
        ("We need a scan to rule out pulmonary embolism.", False),
        ("This is not a heart attack.", False),
        ("If you have a seizure, call us.", False),
    ],
)
def test_an_english_turn_that_names_the_diagnosis_ends_the_readers_view(turn: str, asserts: bool) -> None:
    assert (asserted_diagnosis(turn) is not None) == asserts
    assert (mask_assertions(turn) != turn) == asserts
