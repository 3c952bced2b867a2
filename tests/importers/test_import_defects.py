"""Each defect is one clear message, and the rest of the file is imported."""

from __future__ import annotations

import json
import re
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from meddc_bench.errors import InputError

from .made import by_hand, extract, own, run, turn, upstream

DOCS = Path(__file__).parents[2] / "docs" / "importing.md"


def without(line: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in line.items() if name != key}


def said(**changes: Any) -> list[Any]:
    """The dialogue of the extract with its second turn changed."""
    first, second, *rest = extract()["dialogue"]
    return [first, second | changes, *rest]


def turns(**changes: Any) -> list[Any]:
    first, *rest = own()["history"]["turns"]
    return [first | changes, *rest]


LINES = [
    ("{\"a\": 1,, }", "", "is not valid JSON (", 0),
    ("咳嗽三天", "", "is not valid JSON (", 0),
    ("{\"a\": NaN}", "", "is not valid JSON (NaN is no JSON number)", 0),
    ("[" * 100_000, "", "is nested too deeply; this line is left out", 0),
    ("[1, 2]", "", "expected an object, found a list; this line is left out", 0),
    ("null", "", "expected an object, found null; this line is left out", 0),
    (b"{\"a\": \"\xff\xfe\"}", "", "is not UTF-8; this line is left out", 0),
]  # fmt: skip

AI_HOSPITAL = [
    (extract(dialogue=None), "dialogue", "the dialogue is null; left out", 0),
    (extract(dialogue=[]), "dialogue", "the dialogue is empty; left out", 0),
    (extract(dialogue=[turn("patient", "<结束>")]), "dialogue", "the dialogue is empty; left out", 0),
    (extract(dialogue="您好"), "dialogue", "expected a list of turns, found text; left out", 0),
    (extract(dialogue=["您好"]), "dialogue[0]", "expected a turn (role and content), found text; the history is", 0),
    (extract(dialogue=said(content=None)), "dialogue[1].content", "expected text, found null; this turn is left", 1),
    (extract(dialogue=said(content=["a"])), "dialogue[1].content", "expected text, found a list; this turn is", 1),
    (extract(dialogue=said(role="nurse")), "dialogue[1].role", "unknown role 'nurse'; expected doctor, patient", 0),
    (extract(dialogue=said(role=None)), "dialogue[1].role", "expected a role, found null; the history is left out", 0),
    (without(extract(), "case_id"), "case_id", "this key is missing; left out", 0),
    (extract(case_id="病例 1"), "case_id", "'病例 1' cannot be a case id", 0),
    (extract(case_id="../../etc"), "case_id", "cannot be a case id", 0),
    (extract(case_id="x" * 65), "case_id", "cannot be a case id", 0),
    (extract(case_id=1.5), "case_id", "expected the case's id as text, found a number; left out", 0),
    (without(extract(), "policy"), "policy", "this key is missing; left out", 0),
    (extract(policy=""), "policy", "this key is missing or empty; left out", 0),
    (extract(policy="我的医生"), "policy", "cannot be a policy's label", 0),
    (extract(policy=["a"]), "policy", "expected the policy's name as text, found a list; left out", 0),
    (extract(repeat=-1), "repeat", "expected a whole number from 0 up; left out", 0),
    (extract(repeat=True), "repeat", "expected a whole number from 0 up; left out", 0),
    (without(extract(), "dialogue"), "", "expected the key dialogue or dialog_history; left out", 0),
    ({"patient_id": 1, "diagnosis": "肺炎"}, "", "holds a diagnosis and no dialogue: there is no history to import", 0),
    (by_hand(), "", "is not AI Hospital's; import it with the importer histories; left out", 0),
    (upstream(dialog_history=None), "dialog_history", "the dialogue is null; left out", 0),
    (without(extract(), "own_final_text"), "own_final_text", "the history is imported without a summary", 1),
]  # fmt: skip

HISTORIES = [
    (by_hand(turns=None), "turns", "the dialogue is null; left out", 0),
    (by_hand(turns=[]), "turns", "the dialogue is empty; left out", 0),
    (by_hand(turns=[{"role": "docter", "text": "好"}]), "turns[0].role", "unknown role 'docter'", 0),
    (by_hand(turns=[{"role": "doctor"}, {"role": "doctor", "text": "好"}]), "turns[0].text",
     "expected text, found nothing; this turn is left out", 1),
    (by_hand(summary=3), "summary", "expected text, found a number; the history is left out", 0),
    (by_hand(diagnoses="肺炎"), "diagnoses", 'expected a list of names, such as ["肺炎"], found text', 0),
    (without(by_hand(), "turns"), "", "expected the key history (this program's own) or turns (by hand); left out", 0),
    (extract(), "", "looks like AI Hospital's; import it with the importer ai_hospital; left out", 0),
    (own() | {"history": None}, "history", "expected a history, found null; left out", 0),
    (own(turns=[]), "history.turns", "the dialogue is empty; left out", 0),
    (own(turns=turns(text=None)), "history.turns[0].text", "expected `str`, got `null`; the history is left out", 0),
    (own(turns=turns(role="docter")), "history.turns[0].role", "the history is left out", 0),
    (own(turns=turns(index=4)), "history.turns", "the turns' index does not count 0, 1, 2 ...;", 0),
    (own(turns=turns(round=9)), "history.turns", "the turns' rounds go back or past the history's rounds;", 0),
    (own(first_summary=1), "history.first_summary", "expected 2 by the turns; the history is left out", 0),
]  # fmt: skip


@pytest.mark.parametrize(
    ("importer", "bad", "key", "message", "kept"),
    [("ai_hospital", *one) for one in [*LINES, *AI_HOSPITAL]] + [("histories", *one) for one in [*LINES, *HISTORIES]],
)
def test_one_defect_is_one_message_and_the_rest_is_imported(
    write: Any, importer: str, bad: Any, key: str, message: str, kept: int
) -> None:
    good = extract(case_id="good1", policy="ok") if importer == "ai_hospital" else by_hand(case="good1", policy="ok")
    again = good | {"case_id": "good2", "case": "good2"}
    path = write(good, bad, again)
    result = run(importer, path)
    (fault,) = result.faults
    assert fault.where == f"{path}:2" + (f":{key}" if key else "")
    assert message in fault.message
    assert len(result.imported) == 2 + kept
    assert [one.case for one in result.imported if one.policy == "ok"] == ["good1", "good2"]


@pytest.mark.parametrize("importer", ["ai_hospital", "histories"])
def test_a_file_cut_short_keeps_what_is_whole(write: Any, importer: str) -> None:
    whole = extract() if importer == "ai_hospital" else by_hand()
    line = json.dumps(whole, ensure_ascii=False).encode()
    for length in (len(line) - 1, len(line) // 2, 20, line.index("咳".encode()) + 1):
        path = write(whole)
        path.write_bytes(path.read_bytes() + line[:length])
        result = run(importer, path)
        assert len(result.imported) == 1
        assert result.faults[0].where == f"{path}:2"
        assert "is cut short" in result.faults[0].message


def test_a_last_line_without_a_line_end_is_whole(write: Any) -> None:
    path = write(by_hand())
    path.write_bytes(path.read_bytes().rstrip())
    assert run("histories", path).only.case == "c1"


def test_a_list_cut_short_keeps_its_whole_elements(write: Any) -> None:
    lines = [extract(case_id=f"a{index}") for index in range(3)]
    text = json.dumps(lines, ensure_ascii=False)
    middle = run("ai_hospital", write(text[:-40], name="a.json"))
    assert [one.case for one in middle.imported] == ["a0", "a1"]
    assert "is cut short" in middle.faults[0].message
    open_end = run("ai_hospital", write(text[:-1], name="b.json"))
    assert len(open_end.imported) == 3
    assert "is cut short" in open_end.faults[0].message


def test_a_broken_element_of_a_list_does_not_break_the_others(write: Any) -> None:
    good = [json.dumps(extract(case_id=f"a{index}"), ensure_ascii=False, indent=1) for index in range(2)]
    path = write(f'[\n{good[0]},\n{{"case_id": oops}},\n7,\n{good[1]}\n]', name="a.json")
    result = run("ai_hospital", path)
    assert [one.case for one in result.imported] == ["a0", "a1"]
    line = good[0].count("\n") + 3
    assert [one.where for one in result.faults] == [f"{path}:{line}", f"{path}:{line + 1}"]


def test_brackets_and_quotes_inside_texts_do_not_cut_a_list(write: Any) -> None:
    nasty = '他说："]}, {[\\" \\\\'
    lines = [extract(case_id=f"a{index}", own_final_text=nasty * (index * 5_000 + 1)) for index in range(4)]
    result = run("ai_hospital", write(json.dumps(lines, ensure_ascii=False), name="a.json"))
    assert [one.history.turns[-1].text for one in result.imported] == [one["own_final_text"] for one in lines]


def test_a_case_policy_and_repeat_counts_once(write: Any) -> None:
    path = write(by_hand(), by_hand(repeat=1), by_hand(summary="别的"))
    result = run("histories", path)
    assert [one.repeat for one in result.imported] == [0, 1]
    assert result.faults[0].where == f"{path}:3"
    assert f"case c1, policy my-doctor, repeat 0 is already at {path}:1; left out" in result.faults[0].message


def test_careless_json_is_read(write: Any) -> None:
    raw = json.dumps(by_hand(), ensure_ascii=False).replace("发烧吗？", "发烧\t吗\\ud800？")
    assert run("histories", write(raw)).only.history.turns[1].text == "发烧\t吗\ufffd？"


# ── whole files ──────────────────────────────────────────────────────────────────────────────────

TEXT = json.dumps(by_hand(), ensure_ascii=False)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty; expected one JSON object a line"),
        (b" \n\n", "is empty; expected one JSON object a line"),
        (b"[]", "is empty; expected one JSON object a line"),
        (TEXT.encode("gbk"), "is not UTF-8 (it looks like GBK); save it as UTF-8"),
        (TEXT.encode("utf-16"), "is UTF-16 or no text at all; save it as UTF-8"),
        (TEXT.encode("utf-16-le"), "is UTF-16 or no text at all; save it as UTF-8"),
        (b"PK\x03\x04abc", "is compressed; unpack it first"),
        (b"\x1f\x8babc", "is compressed; unpack it first"),
        (b"{\n \"case\": 1\n}", "is one JSON object over several lines; expected one object a line (JSONL)"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_used_stops_the_import(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        run("histories", path)
    assert caught.value.path == path
    assert message in DOCS.read_text(encoding="utf-8") or "JSONL" in message


def test_a_gbk_line_is_named(write: Any) -> None:
    with pytest.raises(InputError, match="GBK") as caught:
        run("histories", write({"case": 1}, TEXT.encode("gbk")))
    assert caught.value.line == 2


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + TEXT.encode() + b"\r\n\r\n")
    assert run("histories", path).only.case == "c1"
    path.write_bytes(b"\xef\xbb\xbf[" + TEXT.encode() + b"]")
    assert run("histories", path).only.case == "c1"


@pytest.mark.parametrize("importer", ["ai_hospital", "histories"])
def test_a_missing_file_is_an_error_with_its_path(write: Any, tmp_path: Path, importer: str) -> None:
    with pytest.raises(InputError, match=r"nowhere.jsonl: cannot be read: No such file"):
        run(importer, tmp_path / "nowhere.jsonl")
    with pytest.raises(InputError, match=r"nowhere.jsonl: cannot be read: No such file"):
        run(importer, write(extract()), references=str(tmp_path / "nowhere.jsonl"))


def test_a_folder_given_as_a_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder; name a file in it"):
        run("histories", tmp_path)


# ── references ───────────────────────────────────────────────────────────────────────────────────

REFERENCE = {"case": "c1", "diagnoses": ["肺炎"]}
TARGET = {"id": "t1", "question": "发烧吗？", "inquiry_type": "general", "importance": 3}


@pytest.mark.parametrize(
    ("bad", "key", "message"),
    [
        ({"case": "c2"}, "diagnoses", "this key is missing; the case is left out"),
        ({"case": "c2", "diagnoses": []}, "diagnoses", "the case is left out"),
        ({"case": "c2", "diagnoses": "肺炎"}, "diagnoses", "input should be a valid array; the case is left out"),
        ({"case": "c2", "diagnoses": ["肺炎", 3]}, "diagnoses[1]", "the case is left out"),
        ({"case": "c2", "diagnoses": ["肺炎"], "contxt": "x"}, "contxt", "unknown key; the case is left out"),
        ({"case": "c2", "diagnoses": [{"name": "肺炎", "cod": "x"}]}, "diagnoses[0].cod", "unknown key"),
        ({"diagnoses": ["肺炎"]}, "case", "this key is missing; left out"),
        (REFERENCE, "", "case c1 is already at"),
        ({"case": "c2", "diagnoses": ["肺炎"], "targets": [TARGET, TARGET]}, "targets[1].id", "id 't1' is there twice"),
        ({"case": "c2", "diagnoses": ["肺炎"], "targets": [TARGET | {"facts": ["f9"]}]}, "targets[0].facts",
         "there is no fact 'f9'; the case is left out"),
        ({"case": "c2", "diagnoses": ["肺炎"], "targets": [TARGET | {"importance": 4}]}, "targets[0].importance",
         "input should be less than or equal to 3"),
    ],
)  # fmt: skip
def test_a_bad_reference_is_one_message_and_the_others_are_used(write: Any, bad: Any, key: str, message: str) -> None:
    references = write(REFERENCE, bad, {"case": "c3", "diagnoses": ["贫血"]}, name="refs.jsonl")
    result = run("histories", write(by_hand(), by_hand(case="c3")), references=str(references))
    (fault,) = result.faults
    assert fault.where == f"{references}:2" + (f":{key}" if key else "")
    assert message in fault.message
    assert [one.id for one in result.cases] == ["c1", "c3"]
    assert len(result.imported) == 2


@pytest.mark.parametrize("importer", ["ai_hospital", "histories"])
def test_a_history_without_a_reference_is_reported(write: Any, importer: str) -> None:
    line, key = (extract(), "case_id") if importer == "ai_hospital" else (by_hand(), "case")
    reference = {"case": "other", "case_id": "other", "diagnosis_units": ["肺炎"]}
    if importer == "histories":
        reference = {"case": "other", "diagnoses": ["肺炎"]}
    references = write(reference, name="refs.jsonl")
    result = run(importer, write(line), references=str(references))
    assert not result.imported
    assert result.faults[0].where.endswith(f":1:{key}")
    assert f"holds no usable reference for case {line[key]}; left out" in result.faults[0].message


def test_a_reference_without_a_diagnosis_is_reported(write: Any) -> None:
    references = write(
        {"case_id": "a1", "diagnosis_units": ["肺炎"]}, {"case_id": "a2", "diagnosis_units": []}, name="r.jsonl"
    )
    result = run("ai_hospital", write(extract()), references=str(references))
    assert [one.message for one in result.faults] == [
        "expected a diagnosis (diagnosis_units or diagnosis_raw); the case is left out"
    ]


def test_references_of_which_none_can_be_used_stop_the_import(write: Any) -> None:
    references = write({"case": "c1"}, name="refs.jsonl")
    with pytest.raises(InputError, match="holds no case that can be used"):
        run("histories", write(by_hand()), references=str(references))


# ── the documentation, and the size ──────────────────────────────────────────────────────────────


def test_every_message_is_in_the_documentation(write: Any, tmp_path: Path) -> None:
    known = [
        re.compile(".+".join(re.escape(part.strip()) for part in cell.split("…")))
        for row in DOCS.read_text(encoding="utf-8").splitlines()
        if row.startswith("| ")
        for cell in re.split(r"left out, ", row.split(" | ")[0][2:].removesuffix(" (and the like)"))
    ]
    for index, (bad, _, _, _) in enumerate([*LINES, *AI_HOSPITAL, *HISTORIES]):
        importer = "histories" if index >= len(LINES) + len(AI_HOSPITAL) else "ai_hospital"
        good = extract(policy="ok") if importer == "ai_hospital" else by_hand(policy="ok")
        for fault in run(importer, write(good, bad)).faults:
            found = re.sub(r"found (an? \w+|text|null|nothing)", "found a list", fault.message)
            spoken = "expected `str`" in found or "nvalid enum" in found
            assert spoken or any(one.search(fault.message) or one.search(found) for one in known), fault.message


def test_no_message_quotes_what_a_patient_said(write: Any) -> None:
    secret = "隐私内容"
    broken = json.dumps(extract(own_final_text=secret), ensure_ascii=False)[:-2] + ",,"
    lines = [broken, extract(dialogue=[{"role": "doctor", "content": {"x": secret}}]), extract(dialogue=secret)]
    result = run("ai_hospital", write(*lines))
    assert len(result.faults) == 4
    assert all(secret not in one.message for one in result.faults)


@pytest.mark.parametrize("as_list", [False, True])
def test_a_large_file_is_never_held_whole(write: Any, as_list: bool) -> None:
    lines = [extract(case_id=f"a{index}", own_final_text="总结" * 1_500) for index in range(400)]
    path = write(json.dumps(lines, ensure_ascii=False), name="a.json") if as_list else write(*lines)
    del lines
    from meddc_importers.ai_hospital import AIHospital, AIHospitalOptions

    importer = AIHospital(AIHospitalOptions(), context=None)  # type: ignore[arg-type]
    tracemalloc.start()
    count = sum(1 for _ in importer.read(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 400
    assert peak < path.stat().st_size / 2
