"""The index of the offline knowledge finds lay and formal words alike, and the knowledge is sound."""

import pytest

from meddc_bench.errors import InputError
from meddc_offline.lexicon import Disease, Finding, Lexicon


@pytest.fixture(scope="module")
def small() -> Lexicon:
    return Lexicon(
        [
            Finding(name="腹痛", kind="symptom", system="消化", also=("肚子疼",)),
            Finding(name="右下腹痛", kind="symptom", system="消化", also=("右下腹疼", "右下腹痛"), broader=("腹痛",)),
            Finding(name="放射至肩", kind="site", system="消化", also=("疼…肩膀",)),
            Finding(name="发热", kind="symptom", system="全身", also=("发烧", "烧了两周")),
            Finding(name="腹痛", kind="symptom", system="消化", also=("肚子痛",), broader=("消化道症状",)),
        ],
        [Disease(name="2型糖尿病", synonyms=("II型糖尿病",), broader=("糖尿病",))],
    )


def test_the_longest_form_wins_and_its_ancestors_are_known(small):
    assert [mention.name for mention in small.find("右下腹疼得厉害")] == ["右下腹痛"]
    assert small.ancestors("右下腹痛") == {"腹痛", "消化道症状"}


def test_gap_forms_reach_over_a_few_characters_only(small):
    assert [mention.name for mention in small.find("疼得往右边肩膀串")] == ["放射至肩"]
    assert small.find("疼得一晚上翻来覆去睡不着觉，肩膀没事") == ()


def test_places_polarity_and_subject_are_those_of_the_original_text(small):
    text = "肚子　疼，沒有發燒；我爸烧了两周"
    mentions = small.find(text)
    assert [(m.name, text[m.start : m.end], m.polarity, m.subject) for m in mentions] == [
        ("腹痛", "肚子　疼", "present", "patient"),
        ("发热", "發燒", "absent", "patient"),
        ("发热", "烧了两周", "present", "family"),
    ]


def test_entries_of_one_name_in_several_files_are_joined(small):
    assert small.findings["腹痛"].also == ("肚子疼", "肚子痛")


def test_a_disease_is_known_by_any_spelling_of_a_full_synonym(small):
    assert small.canonical_disease("Ⅱ型糖尿病") == "2型糖尿病"
    assert small.canonical_disease("糖尿病") is None


def test_a_bad_entry_names_file_and_key(tmp_path):
    (tmp_path / "findings_x.yaml").write_text("- {name: 咳嗽, kind: nonsense, system: 呼吸}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"findings_x\.yaml:咳嗽\.kind"):
        Lexicon.load(tmp_path)


def test_a_file_that_is_no_list_is_refused(tmp_path):
    (tmp_path / "diseases_x.yaml").write_text("name: 咳嗽\n", encoding="utf-8")
    with pytest.raises(InputError, match="expected a list"):
        Lexicon.load(tmp_path)


def test_every_finding_that_a_shipped_disease_weighs_exists():
    lexicon = Lexicon.load()
    unknown = {
        (disease.name, finding)
        for disease in lexicon.diseases.values()
        for finding in (*disease.findings, *disease.key, *disease.against)
        if finding not in lexicon.findings
    }
    assert not unknown


@pytest.mark.parametrize(
    ("text", "name"),
    [("一天拉肚子好几回", "腹泻"), ("胸口疼", "胸痛"), ("发高烧", "发热"), ("想吐", "恶心"), ("喘不上气", "呼吸困难")],
)
def test_lay_words_lead_to_the_finding(text, name):
    lexicon = Lexicon.load()
    found = {mention.name for mention in lexicon.find(text)}
    assert name in found | {wide for one in found for wide in lexicon.ancestors(one)}
