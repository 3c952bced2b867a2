"""The ontology floor: files at fault are named, names are found, and no pair is lifted that should not be."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meddc_bench.contracts import Found, JudgeView, Reference
from meddc_bench.errors import InputError, UsageError
from meddc_bench.records import CREDIT, Edge, Item
from meddc_bench.registry import Registry
from meddc_bench.wiring import Adapter
from meddc_ontology.__main__ import main
from meddc_ontology.floor import Floor, Report, core_term, higher
from meddc_ontology.index import build, load
from meddc_ontology.judges import raised
from meddc_ontology.rules import RULES, levelled, messages
from meddc_ontology.terms import read_terms

Write = Callable[[str, str], Path]
ZH = """\
id,name,synonyms,parents,xrefs,type
X:0,代谢病,,,,group
X:1,糖尿病,消渴病,X:0,ORDO:1,disorder
X:2,2型糖尿病,非胰岛素依赖型糖尿病|成人型糖尿病,X:1,ORDO:2,subtype
X:3,1型糖尿病,,X:1,,subtype
X:4,痛风,,X:0,,disorder
X:5,阑尾炎,盲肠炎,,,
"""
EN = """\
{"id": "Y:1", "name": "diabetes mellitus", "xrefs": {"X": ["1"]}}
{"id": "Y:2", "name": "糖尿病", "synonyms": [["消渴病", "EXACT"], ["糖病", "RELATED"]], "xrefs": {"X": ["1"]}}
{"id": "Y:3", "name": "type 2 diabetes mellitus", "xrefs": {"X": ["2"]}}
"""
OBO = """\
format-version: 1.2

[Term]
id: MONDO:1
name: Marfan syndrome
synonym: "Marfan's disease" EXACT [ORDO:558, GARD:7]
synonym: "MFS" RELATED [ORDO:558]
xref: Orphanet:558

[Term]
id: MONDO:2
name: gone
is_obsolete: true

[Term]
id: MONDO:3 ! a comment
name: connective tissue disorder
synonym: "connective tissue disease" EXACT [GARD:9]
is_a: MONDO:9 ! not here
"""


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def made(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return made


@pytest.fixture
def floor(write: Write) -> Floor:
    return Floor(build({"zh": write("zh.csv", ZH), "en": write("en.jsonl", EN)}))


TERM = '{"id": "A:1", "name": "a"}\n'
FAULTS = {
    "broken JSON": ("a.jsonl", TERM + '{"id": "A:2", "name": \n', "a.jsonl:2: Input data was truncated"),
    "no name": ("a.jsonl", TERM + '{"id": "A:2"}\n', "a.jsonl:2: Object missing required field `name`"),
    "unknown key": ("a.jsonl", '{"id": "A:1", "name": "a", "isa": []}\n', "a.jsonl:1: .*unknown field `isa`"),
    "unknown scope": ("a.jsonl", '{"id": "A:1", "name": "a", "synonyms": [["b", "NEAR"]]}\n', "a.jsonl:1: .*NEAR"),
    "blank name": ("a.jsonl", '{"id": "A:1", "name": " "}\n', "a.jsonl:1: a term needs an id and a name"),
    "id twice": ("a.jsonl", TERM + "\n" + TERM, "a.jsonl:3: id 'A:1' is already that of line 1"),
    "nothing": ("a.jsonl", "\n", "a.jsonl: there is no term in it"),
    "no column": ("a.csv", "id,names\nA:1,a\n", "a.csv:1: expected the columns id, name"),
    "short row": ("a.csv", "id,name,type\nA:1,a,group\nA:2,b\n", "a.csv:3: another number of cells"),
    "long row": ("a.csv", "id,name\nA:1,a,b\n", "a.csv:2: another number of cells"),
    "unknown type": ("a.tsv", "id\tname\ttype\nA:1\ta\tclass\n", "a.tsv:2: type 'class' is not one of"),
    "id twice in a table": ("a.csv", "id,name\nA:1,a\nA:1,b\n", "a.csv:3: id 'A:1' is already that of line 2"),
    "open quote": ("a.csv", 'id,name\nA:1,"a\n', "a.csv:2: unexpected end of data"),
    "broken OBO": ("a.obo", "format-version: 1.2\n\n[Term]\nid: A:1\nnam: a b : \n!\nx\n", r"a.obo:\d+: expected"),
    "id twice in OBO": ("a.obo", OBO + "\n[Term]\nid: MONDO:1\nname: b\n", "a.obo:22: id 'MONDO:1' is already that of line 4"),
    "a cycle": (
        "a.csv", "id,name,parents\nA:1,a,A:3\nA:2,b,A:1\nA:3,c,A:2\nA:4,d,A:3\n",
        r"a.csv:[234]: 'A:[123]' is its own ancestor",
    ),
    "its own parent": ("a.csv", "id,name,parents\nA:1,a,A:1\n", "a.csv:2: 'A:1' is its own ancestor"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_file_is_named_with_its_line(fault: str, write: Write) -> None:
    name, text, message = FAULTS[fault]
    with pytest.raises(InputError, match=message):
        build({"a": write(name, text)})


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none.csv: cannot be read: No such file"):
        read_terms(tmp_path / "none.csv")
    with pytest.raises(UsageError, match=r"a.xlsx: an ontology is a file of .obo, .jsonl"):
        read_terms(tmp_path / "a.xlsx")
    (tmp_path / "gbk.csv").write_bytes("id,name\nA:1,糖尿病\n".encode("gbk"))
    with pytest.raises(InputError, match=r"gbk.csv: not UTF-8"):
        read_terms(tmp_path / "gbk.csv")
    with pytest.raises(UsageError, match="at least one"):
        build({})


def test_obo_is_read_with_what_attests_a_synonym(write: Write) -> None:
    index = build({"MONDO": write("m.obo", OBO)})
    assert (index.ids, index.unknown_parents) == (["MONDO:1", "MONDO:3"], 1)
    floor = Floor(index)
    assert floor.of("Marfan syndrome", "Marfan's disease").level == "full"
    assert floor.of("connective tissue disorder", "connective tissue disease").level == "core"
    assert floor.of("MFS", "Marfan syndrome").level is None


@pytest.mark.parametrize(
    ("one", "other", "level", "rule"),
    [
        ("糖尿病", "消渴病", "full", "equivalence of two ontologies"),
        ("糖尿病", "diabetes mellitus", "core", "equivalence of one ontology"),
        ("阑尾炎", "盲肠炎", "core", "equivalence of one ontology"),
        ("闌尾炎", "盲腸炎", "core", "equivalence of one ontology"),
        ("2型糖尿病", "Ⅱ型糖尿病", "core", "equivalence of one ontology"),
        ("糖尿病", "成人型糖尿病", "core", "subtype"),
        ("type 2 diabetes mellitus", "糖尿病", "core", "subtype"),
        ("二型糖尿病", "1型糖尿病", "core", "sibling subtypes"),
        ("糖尿病", "痛风", None, None),
        ("糖尿病", "代谢病", None, None),
        ("糖尿病", "阑尾炎", None, None),
        ("糖病", "糖尿病", None, None),
        ("急性阑尾炎", "阑尾炎", "core", "core term"),
        ("急性阑尾炎", "慢性盲肠炎", "core", "core term"),
        ("急性阑尾炎", "痛风", None, None),
        ("阑尾炎伴糖尿病", "阑尾炎", None, None),
        ("慢性代谢病", "代谢病", None, None),
        ("阑尾炎或痛风", "阑尾炎", None, None),
        ("无阑尾炎", "阑尾炎", None, None),
    ],
)
def test_each_rule_lifts_what_it_should_and_nothing_else(
    floor: Floor, one: str, other: str, level: str | None, rule: str | None
) -> None:
    assert (floor.of(one, other).level, floor.of(one, other).rule) == (level, rule)
    assert (floor.of(other, one).level, floor.of(other, one).rule) == (level, rule)


def test_hierarchy_comes_before_equivalence(write: Write) -> None:
    zh = write("zh.csv", ZH)
    loose = write("loose.csv", "id,name,synonyms\nZ:1,糖尿病,2型糖尿病\n")
    other = write("other.csv", "id,name,synonyms\nW:1,糖尿病,2型糖尿病\n")
    assert Floor(build({"loose": loose, "other": other})).of("糖尿病", "2型糖尿病").level == "full"
    assert Floor(build({"zh": zh, "loose": loose, "other": other})).of("糖尿病", "2型糖尿病").rule == "subtype"


def test_a_name_of_several_diseases_stands_for_none_but_its_own(write: Write) -> None:
    text = "id,name,synonyms\nA:1,肺炎,感染\nA:2,肠炎,感染\nA:3,疹,痘\nA:4,痘,\n"
    floor = Floor(build({"a": write("a.csv", text)}))
    assert floor.resolve("感染") == ()
    assert floor.of("感染", "肺炎").level is None
    assert floor.of("痘", "疹").level is None


def test_kinds_are_inferred_where_a_file_does_not_state_them(write: Write) -> None:
    text = (
        "id,name,parents\nA:0,disease,\nA:1,skin disease,A:0\nA:2,ichthyosis,A:1\nA:3,lamellar ichthyosis,A:2\n"
        "A:4,ichthyosis vulgaris,A:2\nA:5,psoriasis,A:1\n"
    )
    index = build({"a": write("a.csv", text)})
    assert index.kinds == ["group", "group", "disorder", "subtype", "subtype", "disorder"]
    floor = Floor(index)
    assert floor.of("ichthyosis", "lamellar ichthyosis").rule == "subtype"
    assert floor.of("ichthyosis vulgaris", "lamellar ichthyosis").rule == "sibling subtypes"
    assert floor.of("psoriasis", "ichthyosis").level is None
    assert floor.of("skin disease", "psoriasis").level is None


def test_an_index_is_the_same_bytes_whatever_the_order_of_files(write: Write, tmp_path: Path) -> None:
    zh, en = write("zh.csv", ZH), write("en.jsonl", EN)
    build({"zh": zh, "en": en}).save(tmp_path / "one")
    build({"en": en, "zh": zh}).save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert load(tmp_path / "one") == build({"zh": zh, "en": en})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["en.jsonl", "one", "two", "zh.csv"]


def test_a_torn_or_older_index_is_refused(write: Write, tmp_path: Path) -> None:
    index = build({"zh": write("zh.csv", ZH)})
    path = tmp_path / "index"
    index.save(path)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(InputError, match="no whole index"):
        load(path)
    msgspec.structs.replace(index, format=0).save(path)
    with pytest.raises(InputError, match="an index of format 0, expected 1; build it anew"):
        load(path)
    with pytest.raises(InputError, match="cannot be read"):
        load(tmp_path / "none")


def test_the_command_builds_an_index_or_names_the_fault(
    write: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    zh = write("zh.csv", ZH)
    assert main([str(tmp_path / "index"), f"中文={zh}"]) == 0
    assert "中文: 6 terms (3 disorder, 1 group, 2 subtype), 10 names" in capsys.readouterr().out
    assert main([str(tmp_path / "index"), str(zh), str(zh)]) == 2
    assert "the label 'zh' is given twice" in capsys.readouterr().err
    assert main([str(tmp_path / "index"), str(write("bad.csv", "id,name\n,x\n"))]) == 2
    assert "bad.csv:2" in capsys.readouterr().err


NAMES = ("糖尿病", "消渴病", "2型糖尿病", "1型糖尿病", "痛风", "代谢病", "急性阑尾炎", "阑尾炎", "no such disease", "")


@given(st.sampled_from(NAMES), st.sampled_from(NAMES))
def test_a_floor_is_the_same_from_both_sides(tmp_path_factory: pytest.TempPathFactory, one: str, other: str) -> None:
    path = tmp_path_factory.getbasetemp() / "symmetric.csv"
    path.write_text(ZH, encoding="utf-8")
    floor = Floor(build({"zh": path}))
    assert (floor.of(one, other).level, floor.of(one, other).rule) == (
        floor.of(other, one).level,
        floor.of(other, one).rule,
    )


LEVELS = st.sampled_from([None, *CREDIT])


@given(LEVELS, LEVELS)
def test_a_floor_never_lowers_a_level(level: Any, under: Any) -> None:
    assert CREDIT.get(higher(level, under) or "", 0) == max(CREDIT.get(one or "", 0) for one in (level, under))


@given(st.text("急性慢左右侧型期伴炎肺 (acute)with2", max_size=20))
def test_taking_qualifiers_away_always_ends(name: str) -> None:
    assert core_term(core_term(name)) == core_term(name)


def view(*predictions: str, reference: str, synonyms: tuple[str, ...] = ()) -> JudgeView:
    items = tuple(Item(id=f"p{n}", text=text) for n, text in enumerate(predictions))
    return JudgeView("grade_diagnoses", "diagnosis", 0, items=items, references=(Reference("g0", reference, synonyms),))


def test_a_floor_adds_edges_above_the_judges_and_reports_what_it_did(floor: Floor) -> None:
    said = (Edge(prediction="p0", reference="g0", level="partial"), Edge(prediction="p1", reference="g0", level="full"))
    asked = view("消渴病", "2型糖尿病", "痛风", "没有的病", reference="糖尿病")
    report = Report()
    found = raised(Found(edges=said), asked, floor, report)
    assert [(edge.prediction, edge.level, edge.reason) for edge in found] == [
        ("p0", "full", "ontology: equivalence of two ontologies"),
        ("p1", "core", "ontology: subtype"),
    ]
    assert (report.pairs, report.resolved, report.fired, report.abstained, report.raised) == (4, 3, 2, 2, 1)
    assert dict(report.rules) == {"equivalence of two ontologies": 1, "subtype": 1}


def test_a_floor_looks_at_the_synonyms_of_a_reference_too(floor: Floor) -> None:
    found = raised(Found(), view("盲肠炎", reference="不在册的名字", synonyms=("阑尾炎",)), floor, Report())
    assert [edge.level for edge in found] == ["core"]


def test_a_floor_holds_where_the_judges_edge_does_not_count(floor: Floor) -> None:
    said = Edge(prediction="p0", reference="g0", level="full", excluded="quote not found in the text")
    report = Report()
    found = raised(Found(edges=(said,)), view("盲肠炎", reference="阑尾炎"), floor, report)
    assert [edge.level for edge in found] == ["core"]
    assert report.raised == 1


async def test_the_judge_floor_raises_another_judge(installed: Registry, write: Write, tmp_path: Path) -> None:
    path = tmp_path / "index"
    build({"zh": write("zh.csv", ZH)}).save(path)
    adapter = Adapter(installed, "judge", "floor", "floor", {"index": str(path), "judge": "lexical"})
    found = await adapter.get().judge(view("盲肠炎", "阑尾炎", reference="阑尾炎"))
    levels: dict[str, set[str]] = {}
    for edge in found.edges:
        levels.setdefault(edge.prediction, set()).add(edge.level)
    assert "full" in levels["p1"]
    assert levels["p0"] & {"core", "full"}
    other = await adapter.get().judge(JudgeView("cover_items", "diagnosis", 0, items=(Item(id="p0", text="痛风"),)))
    assert other.edges == ()


def test_an_edited_index_is_another_judge(installed: Registry, write: Write, tmp_path: Path) -> None:
    path = tmp_path / "index"
    identities = []
    for text in (ZH, ZH.replace("痛风", "痛风病")):
        build({"zh": write("zh.csv", text)}).save(path)
        identities.append(Adapter(installed, "judge", "floor", "floor", {"index": str(path)}).identity)
    assert identities[0] != identities[1]


@pytest.mark.parametrize(
    ("rule", "verdict", "level"),
    [
        ("rarearena", "2", "full"), ("rarearena", "1", "core"), ("rarearena", "0", None),
        ("medxagent", "true", "full"), ("medxagent", "false", None),
    ],
)  # fmt: skip
def test_verdicts_of_other_rules_become_levels(rule: str, verdict: str, level: str | None) -> None:
    found = levelled(rule, Edge(prediction="p0", reference="g0", level=verdict))
    assert (found.level if found else None) == level


def test_a_verdict_outside_the_rule_is_excluded_with_the_reason() -> None:
    found = levelled("rarearena", Edge(prediction="p0", reference="g0", level="full"))
    assert found is not None
    assert found.excluded == "verdict 'full' is not one of 2, 1, 0"


@pytest.mark.parametrize("rule", RULES)
def test_the_prompt_of_a_rule_shows_ids_verdicts_and_fenced_names(rule: str) -> None:
    system, user = messages(rule, view("外睑腺炎</prediction>", reference="睑腺炎", synonyms=("麦粒肿",)))
    assert (system.role, user.role) == ("system", "user")
    assert "[p0]" in user.content
    assert "[g0]" in user.content
    assert "外睑腺炎＜/prediction>" in user.content
    assert "麦粒肿" in user.content
    assert all(f'"{verdict}"' in user.content for verdict in RULES[rule])


async def test_a_rule_asks_its_judge_with_its_own_prompt(installed: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    class Said:
        def judge(self, view: JudgeView) -> Found:
            assert "RareArena" in view.messages[1].content
            return Found(edges=tuple(Edge(prediction=f"p{n}", reference="g0", level=str(n)) for n in range(4)))

    judge = Adapter(installed, "judge", "rarearena", "rarearena", {"judge": "lexical"}).get()
    monkeypatch.setattr(judge, "_inner", Said())
    found = await judge.judge(view("甲", "乙", "丙", "丁", reference="丙"))
    assert [(edge.prediction, edge.level, edge.excluded is not None) for edge in found.edges] == [
        ("p1", "core", False), ("p2", "full", False), ("p3", "3", True),
    ]  # fmt: skip


DATA = Path(os.environ.get("MEDDC_DATA") or Path(__file__).parents[3] / "shared" / "data") / "disease_ontology"


@pytest.mark.skipif(not DATA.is_dir(), reason="MEDDC_DATA holds no disease_ontology")
def test_the_disease_ontology_is_indexed_and_lifts_no_unrelated_pair() -> None:
    index = build({"DO": DATA / "do_terms.jsonl"})
    floor = Floor(index)
    assert len(index.ids) == 6574
    assert floor.of("angiosarcoma", "Hemangiosarcoma").level == "core"
    assert floor.of("angiosarcoma", "pterygium").level is None
    assert floor.of("multiple sclerosis", "relapsing-remitting multiple sclerosis").rule == "subtype"
    assert floor.of("lung cancer", "cancer").level is None
