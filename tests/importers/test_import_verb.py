"""`meddc-bench import`: a task folder is whole or not there, nothing is overwritten unasked, and a run follows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from meddc_bench import validation
from meddc_bench.cli import main
from meddc_bench.contracts import About, Fault, Imported
from meddc_bench.importing import writer
from meddc_bench.importing.folder import make_task
from meddc_bench.importing.made import Made, Wanted
from meddc_bench.importing.writer import as_yaml
from meddc_bench.records import Case, Diagnosis, Fact, History, Target, Turn
from meddc_bench.task import load_task
from meddc_bench.yamlfile import load

from . import made_cases

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """Call the command line; give the exit code and what was printed."""

    def run(*words: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as left:
            main([str(word) for word in words])
        said = capsys.readouterr()
        return int(left.value.code or 0), said.out, said.err

    return run


@pytest.fixture
def sheet(tmp_path: Path) -> Path:
    path = tmp_path / "clinic.csv"
    path.write_text(made_cases.SHEET + "c-3,男,50,头晕,头晕2天。,,,,,,眩晕待查,神内\nc-4,女\n", encoding="utf-8")
    return path


class Given:
    """Stands for a configured importer that gives what it was given."""

    name = "given"

    def __init__(self, *items: Any, about: About | None = None):
        self.identity: dict[str, Any] = {"revision": "1", "options": {}}
        self.items = items
        self.registration = type("Registration", (), {"plugin": "given"})
        if about is not None:
            self.about = about

    def get(self) -> Given:
        return self

    def read(self, path: Path) -> Any:
        for one in self.items:
            if isinstance(one, Exception):
                raise one
            yield one


def case(name: str, **changes: Any) -> Case:
    facts = (Fact(id="f01", topic="onset", text=f"{name} 三天前开始的，后来越来越重"),)
    return Case(
        id=name,
        source="record",
        context="腹痛。",
        facts=facts,
        diagnoses=(Diagnosis(name="阑尾炎"),),
        turn_budget=3,
        **changes,
    )


def history(name: str, policy: str = "human") -> Imported:
    turns = (Turn(index=0, round=0, role="patient", kind="opening", text="腹痛。"),)
    return Imported(name, policy, History(turns=turns, ended="budget", rounds=0))


def make(tmp_path: Path, *items: Any, about: About | None = None, **wanted: Any) -> Made:
    source = tmp_path / "source"
    source.write_text("x", encoding="utf-8")
    folder = wanted.pop("folder", tmp_path / "task")
    return make_task(Given(*items, about=about), [source], Wanted(folder, **wanted))  # type: ignore[arg-type]


# ── from a file to a run ─────────────────────────────────────────────────────────────────────────


def test_a_sheet_becomes_a_task_that_validates_and_runs(call: Call, tmp_path: Path, sheet: Path) -> None:
    folder = tmp_path / "tasks" / "clinic"
    code, out, _ = call("import", "csv", sheet, "-o", folder)
    assert code == 0
    assert out.splitlines()[-1] == str(folder)
    assert "excluded: 1: the diagnosis is hedged" in out
    assert "expected 12 cells, found 2" in out
    assert load_task(folder / "task.yaml").config.private
    code, out, _ = call("validate", folder / "task.yaml")
    assert (code, out.splitlines()[-1]) == (0, "everything is in order")
    run = tmp_path / "run"
    code, _, _ = call("run", "--include-path", folder.parent, "--tasks", "clinic", "--policy", "checklist", "-o", run)
    assert code == 0
    results = json.loads((run / "results.json").read_text(encoding="utf-8"))["tasks"]["clinic"]
    assert results["derived_targets"] == sum(len(one.scored_targets) for one in load_task(folder / "task.yaml").cases)
    assert call("report", run, "--format", "md")[0] == 0
    told = f"T rests on {results['derived_targets']} targets derived by rules"
    assert told in (run / "report.md").read_text(encoding="utf-8")
    code, _, err = call("publish", run, "--standard", "--condition", "knowledge")
    assert code == 3
    assert "derived targets" in err


def test_no_standard_instrument_is_locked_on_derived_targets(call: Call, tmp_path: Path, sheet: Path) -> None:
    folder = tmp_path / "clinic"
    call("import", "csv", sheet, "-o", folder)
    code, _, err = call("leaderboard", "lock", folder / "task.yaml")
    assert (code, "derived targets" in err) == (3, True)
    assert not (folder / "instruments.lock.json").exists()


def test_a_target_of_a_clinicians_has_no_mark_in_any_digest() -> None:
    target = Target(id="q01", question="疼了多久？", facts=("f01",), inquiry_type="onset", importance=3)
    assert "derived" not in target.model_dump(mode="json")
    assert target.model_copy(update={"derived": True}).model_dump(mode="json")["derived"] is True


def test_finished_consultations_come_along_and_can_be_scored(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    row = {
        "id": "k1", "self_report": "膝盖上下楼时疼痛（女，58岁）。", "diagnosis": "膝关节骨关节炎", "recommendation": "少爬楼。",
        "dialogue": [{"doctor_question": ["疼了多久了？"], "patient_response": ["两个月前开始的，没有外伤。"]}],
    }  # fmt: skip
    path.write_text(json.dumps(row, ensure_ascii=False), encoding="utf-8")
    folder = tmp_path / "knees"
    assert call("import", "mtmeddialog", path, "-o", folder)[0] == 0
    code, _, err = call(
        "score", "--importer", "histories", "--histories", folder / "histories.jsonl", "--tasks", folder / "task.yaml",
        "-o", tmp_path / "run",
    )  # fmt: skip
    assert code == 0
    assert "imported: human 1" in err


def test_consultations_in_two_languages_are_not_scored_as_one_task(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    chinese = {
        "id": "k1", "self_report": "膝盖上下楼时疼痛（女，58岁）。", "diagnosis": "膝关节骨关节炎",
        "dialogue": [{"doctor_question": ["疼了多久了？"], "patient_response": ["两个月前开始的。"]}],
    }  # fmt: skip
    lines = (json.dumps(one, ensure_ascii=False) for one in (chinese, made_cases.mtmeddialog(id="k2")))
    path.write_text("\n".join(lines), encoding="utf-8")
    code, _, err = call("score", "--importer", "mtmeddialog", "--histories", path, "-o", tmp_path / "run")
    assert (code, "the cases are in en, zh" in err) == (2, True)


def test_the_json_says_what_was_taken_and_what_was_left_out(call: Call, tmp_path: Path, sheet: Path) -> None:
    _, out, _ = call("import", "csv", sheet, "-o", tmp_path / "clinic", "--json")
    told = json.loads(out)
    assert (told["cases"], told["defects"], told["excluded"]) == (2, 1, {"the diagnosis is hedged": 1})
    assert told["folder"] == str(tmp_path / "clinic")


def test_the_card_tells_origin_licence_counts_and_reasons_and_no_path(call: Call, tmp_path: Path, sheet: Path) -> None:
    call("import", "csv", sheet, "-o", tmp_path / "clinic", "--importer-args", "licence=for our own use")
    card = (tmp_path / "clinic" / "README.md").read_text(encoding="utf-8")
    for wanted in (
        "for our own use",
        "| 1 | the diagnosis is hedged |",
        "clinic.csv: sha256",
        "derived",
        "A person must decide",
    ):
        assert wanted in card
    assert str(tmp_path) not in card


def test_the_same_file_gives_the_same_bytes(call: Call, tmp_path: Path, sheet: Path) -> None:
    for name in ("one", "two"):
        call("import", "csv", sheet, "-o", tmp_path / name, "--name", "clinic")
    files = [
        sorted(file.relative_to(tmp_path / name) for file in (tmp_path / name).rglob("*")) for name in ("one", "two")
    ]
    assert files[0] == files[1]
    for file in files[0]:
        if (tmp_path / "one" / file).is_file():
            assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


# ── whole or not there ───────────────────────────────────────────────────────────────────────────


def test_what_is_there_is_never_overwritten_unasked(call: Call, tmp_path: Path, sheet: Path) -> None:
    folder = tmp_path / "clinic"
    call("import", "csv", sheet, "-o", folder)
    before = (folder / "task.yaml").read_bytes()
    code, _, err = call("import", "csv", sheet, "-o", folder, "--limit", "1")
    assert (code, "--overwrite" in err) == (2, True)
    assert (folder / "task.yaml").read_bytes() == before
    assert call("import", "csv", sheet, "-o", folder, "--limit", "1", "--overwrite")[0] == 0
    assert [file.name for file in (folder / "cases").iterdir()] == ["c-1.yaml"]
    assert sorted(one.name for one in tmp_path.iterdir()) == ["clinic", "clinic.csv"]


def test_a_folder_that_is_no_task_is_never_replaced(call: Call, tmp_path: Path, sheet: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "thesis.txt").write_text("years of work", encoding="utf-8")
    code, _, err = call("import", "csv", sheet, "-o", folder, "--overwrite")
    assert (code, "is no task" in err) == (2, True)
    assert (folder / "thesis.txt").read_text(encoding="utf-8") == "years of work"


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt(), ValueError("broken")])
def test_an_import_that_fails_on_the_way_leaves_nothing(tmp_path: Path, failure: BaseException) -> None:
    def read() -> Any:
        yield case("a")
        raise failure

    given = Given()
    given.read = lambda path: read()  # type: ignore[method-assign]
    (tmp_path / "source").write_text("x", encoding="utf-8")
    with pytest.raises(BaseException):  # noqa: B017, PT011 - each failure has a class of its own
        make_task(given, [tmp_path / "source"], Wanted(tmp_path / "task"))  # type: ignore[arg-type]
    assert [one.name for one in tmp_path.iterdir()] == ["source"]


def test_a_file_that_gives_no_case_writes_nothing_and_says_why(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "clinic.csv"
    path.write_text("主诉,诊断\n头晕,眩晕待查\n", encoding="utf-8")
    code, _, err = call("import", "csv", path, "-o", tmp_path / "clinic")
    assert code == 2
    assert "no case can be taken" in err
    assert "1 excluded: the diagnosis is hedged" in err
    assert not (tmp_path / "clinic").exists()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("csv", "nowhere.csv", "-o", "x"), 2, "there is no such file"),
        (("cvs", "FILE", "-o", "x"), 2, "did you mean 'csv'?"),
        (("csv", "FILE", "-o", "x", "--importer-args", "privat=no"), 2, "privat"),
        (("csv", "FILE", "-o", "x", "--name", "Ä"), 2, "--name"),
        (("csv", "FILE", "-o", "meddc_record"), 2, "the name of a shipped task"),
        (("csv", "FILE", "-o", "病例"), 2, "--name NAME"),
        (("csv", "FILE", "-o", "x", "--fail-on-error", "0"), 3, "1 defects, more than --fail-on-error allows"),
    ],
)
def test_what_cannot_be_is_said_with_its_exit_code(
    call: Call,
    tmp_path: Path,
    sheet: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    code: int,
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    found, _, err = call("import", *(str(sheet) if word == "FILE" else word for word in words))
    assert (found, said in err) == (code, True), err
    assert [one.name for one in tmp_path.iterdir()] == ["clinic.csv"]


# ── rows ─────────────────────────────────────────────────────────────────────────────────────────


def test_many_cases_are_lines_of_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "FILES", 2)
    few = make(tmp_path, case("a"), case("b"), folder=tmp_path / "few")
    many = make(tmp_path, case("a"), case("b"), case("c"), folder=tmp_path / "many")
    assert sorted(file.name for file in (few.folder / "cases").iterdir()) == ["a.yaml", "b.yaml"]
    assert (many.folder / "cases.jsonl").read_bytes().count(b"\n") == 3
    assert [one.id for one in load_task(many.folder / "task.yaml").cases] == ["a", "b", "c"]


def test_a_case_of_another_language_is_left_out_with_the_reason(tmp_path: Path) -> None:
    made = make(tmp_path, case("a"), case("b", language="en"))
    assert (made.cases, made.language, dict(made.excluded)) == (1, "zh", {"another language than the task's": 1})


def test_a_case_twice_is_one_and_one_that_differs_is_told(tmp_path: Path) -> None:
    made = make(tmp_path, case("a"), case("a"), case("a", department="外科"), case("b"))
    assert (made.cases, made.defects) == (2, 1)


def test_histories_without_their_case_or_twice_are_told(tmp_path: Path) -> None:
    made = make(tmp_path, case("a"), history("a"), history("a"), history("z"), history("a", "other"))
    assert (dict(made.histories), made.defects) == ({"human": 1, "other": 1}, 2)


def test_a_limit_stops_reading_unless_the_histories_come_last(tmp_path: Path) -> None:
    stop = RuntimeError("read on")
    made = make(tmp_path, case("a"), history("a"), case("b"), stop, limit=1, folder=tmp_path / "one")
    assert (made.cases, dict(made.histories)) == (1, {"human": 1})
    about = About("t", "o", "l", cases_first=True)
    made = make(
        tmp_path, case("a"), case("b"), history("a"), history("b"), about=about, limit=1, folder=tmp_path / "two"
    )
    assert (made.cases, dict(made.histories), made.defects) == (1, {"human": 1}, 0)


def test_excluded_rows_are_counted_by_reason_with_their_places(tmp_path: Path) -> None:
    rows = [Fault(f"f:{n}", "excluded: hedged", "excluded", "hedged") for n in range(7)]
    made = make(tmp_path, *rows, case("a"), Fault("f:9", "is broken"), Fault("f", "2 of them", "note"))
    assert (dict(made.excluded), made.defects, made.notes) == ({"hedged": 7}, 1, ["f: 2 of them"])
    assert made.examples["hedged"] == [f"f:{n}" for n in range(5)]


def test_an_importer_that_gives_something_else_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        Exception, match=r"plugin given: importer given failed on .*gave str; expected Case, Imported or Fault"
    ):
        make(tmp_path, "a case")


def test_cases_without_facts_are_told_to_be_scored_and_not_run(tmp_path: Path) -> None:
    bare = Case(
        id="a", source="imported", context="（导入的病例，无开场）", diagnoses=(Diagnosis(name="肺炎"),), turn_budget=3
    )
    made = make(tmp_path, bare, history("a"))
    assert any("score histories.jsonl" in one for one in made.decide)


@pytest.mark.parametrize(
    "text", ["no", "3:30", "1e5", "null", "- a", "{x}", "'", '"', "a: b", "#", "\\", "a\u2028b", "值：是", " x "]
)
def test_any_text_of_a_case_survives_the_yaml(tmp_path: Path, text: str) -> None:
    path = tmp_path / "case.yaml"
    path.write_text(
        as_yaml({"id": text, "facts": [{"text": text, "no": True}], "references": {"tests": [text]}}), encoding="utf-8"
    )
    assert load(path).data == {"id": text, "facts": [{"text": text, "no": True}], "references": {"tests": [text]}}


def test_stock_denials_and_placeholders_make_no_near_duplicates(tmp_path: Path) -> None:
    denied = tuple(
        Fact(id=f"f{n:02d}", topic="past", text=text, denied=True)
        for n, text in enumerate(("否认高血压、冠心病、糖尿病病史", "否认肝炎、结核病史", "否认外伤及输血史"))
    )
    own = {
        name: Fact(id="f10", topic="onset", text=text)
        for name, text in (("a", "三天前摔了一跤以后手腕肿"), ("b", "半年来反复口渴多尿"))
    }
    bare = (case(name).model_copy(update={"facts": (), "context": "（导入的病例，无开场）"}) for name in ("c", "d"))
    made = make(
        tmp_path, *(case(name).model_copy(update={"facts": (*denied, one)}) for name, one in own.items()), *bare
    )
    assert not [kind for _, kind in made.findings if "another" in kind]


def test_english_cases_are_compared_by_words(tmp_path: Path) -> None:
    def english(name: str, *texts: str) -> Case:
        facts = tuple(Fact(id=f"f{n:02d}", topic="course", text=text) for n, text in enumerate(texts))
        return case(name, language="en").model_copy(update={"facts": facts})

    told = "The rash on the left arm began after a walk in the woods and spread to the neck."
    made = make(
        tmp_path, english("a", told), english("b", told, "It itches."),
        english("c", "The pain in the left arm began after a fall and is worse at night."),
    )  # fmt: skip
    assert made.findings["error", "half of a case stands also in another"] == 1


def test_near_duplicates_and_leaks_are_told_at_once(tmp_path: Path) -> None:
    told = (Fact(id="f01", topic="onset", text="三天前吃了油腻的东西以后右上腹一阵阵地绞痛，阑尾炎"),)
    made = make(tmp_path, *(case(name).model_copy(update={"facts": told}) for name in ("a", "b")))
    assert made.findings["error", "a text names the diagnosis"] == 2
    assert made.findings["error", "half of a case stands also in another"] == 1
    assert validation.lint(load_task(made.folder / "task.yaml"))


def test_a_folder_that_cannot_be_made_is_one_error_that_says_so(call: Call, sheet: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    code, out, err = call("import", "csv", sheet, "-o", tmp_path / "file" / "clinic")
    assert (code, out) == (1, "")
    assert "cannot write" in err
    assert "name another folder, -o FOLDER" in err


def test_cases_without_facts_and_histories_are_not_told_to_score_histories(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "clinic.csv"
    path.write_text("主诉,诊断\n咳嗽3天,急性支气管炎\n", encoding="utf-8")
    code, out, _ = call("import", "csv", path, "-o", tmp_path / "clinic")
    assert code == 0
    assert "add facts before policies are run" in out
    assert "histories.jsonl" not in out
