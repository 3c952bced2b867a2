"""Tasks on disk: each fault of a file is its own clear error, and no task stands in for another."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from meddc_bench.errors import InputError, UsageError
from meddc_bench.resources import shipped
from meddc_bench.task import TaskIndex, load_task
from meddc_bench.validation import lint

Make = Callable[..., Path]


def fault(path: Path) -> str:
    """The message of the fault that loading a task meets, without the folder."""
    with pytest.raises(InputError) as failed:
        load_task(path)
    return str(failed.value).replace(f"{path.parent}/", "")


def load_yaml(text: str) -> Any:
    import yaml

    return yaml.safe_load(text)


# ── cases ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("importance: 3}\n  - {id: t02", "importance: 4}\n  - {id: t02", "cases/c1.yaml:10:targets[0].importance: "),
        ("importance: 3}\nturn", "importance: 0}\nturn", "cases/c1.yaml:11:targets[1].importance: "),
        (
            "importance: 3}\nturn",
            "importnace: 3}\nturn",
            "cases/c1.yaml:11:targets[1].importnace: unknown key; did you",
        ),
        (
            "  - {name: 急性阑尾炎, synonyms: [阑尾炎]}",
            "  []",
            "cases/c1.yaml:7:diagnoses: expected at least 1 of them",
        ),
        ("turn_budget: 3", "turn_budget: 0", "cases/c1.yaml:12:turn_budget: "),
        ("turn_budget: 3", "turn_budget: '3'", "cases/c1.yaml:12:turn_budget: "),
        ("turn_budget: 3", "turn_budegt: 3", "cases/c1.yaml:12:turn_budegt: unknown key; did you mean 'turn_budget'?"),
        ("topic: onset", "topic: onsett", "cases/c1.yaml:5:facts[0].topic: "),
        ("inquiry_type: onset", "inquiry_type: identity", "cases/c1.yaml:10:targets[0].inquiry_type: "),
        ("id: f02", "id: f01", "cases/c1.yaml:6:facts[1].id: id 'f01' is there twice"),
        ("id: t02", "id: t01", "cases/c1.yaml:11:targets[1].id: id 't01' is there twice"),
        ("facts: [f02]", "facts: [f03]", "cases/c1.yaml:11:targets[1].facts: target t02 names an unknown fact 'f03'"),
        ("id: c1", "id: 病例一", "cases/c1.yaml:1:id: "),
        ("id: c1", "id: ../c1", "cases/c1.yaml:1:id: "),
        ("id: c1", "id: 17", "cases/c1.yaml:1:id: expected text; put it in quotes (found 17)"),
        ("context: 腹痛三天。", "context: ''", "cases/c1.yaml:3:context: "),
        ("context: 腹痛三天。", "context: no", ""),
        ("context: 腹痛三天。", "context: 3:30", ""),
        (
            "source: record",
            "source: record\nlanguage: en",
            "cases/c1.yaml:3:language: language is 'en', the task's is 'zh'",
        ),
    ],
)
def test_a_fault_of_a_case_says_its_file_line_and_key(
    old: str, new: str, message: str, make_task: Make, case_text: str
) -> None:
    assert old in case_text
    path = make_task(cases={"c1.yaml": case_text.replace(old, new)})
    if message:
        assert fault(path).startswith(message)
    else:
        assert load_task(path).cases[0].context == new.partition(": ")[2]


def test_the_same_case_id_in_two_files_names_both(make_task: Make, case_text: str) -> None:
    found = fault(make_task(cases={"a.yaml": case_text, "b.yaml": case_text}))
    assert found == "cases/b.yaml:1:id: case 'c1' is also in cases/a.yaml"


@pytest.mark.parametrize("encoding", ["gbk", "utf-16"])
def test_a_case_saved_by_another_editor_is_named_with_what_to_do(
    encoding: str, make_task: Make, case_text: str
) -> None:
    found = fault(make_task(cases={"c1.yaml": case_text.encode(encoding)}))
    assert found.startswith("cases/c1.yaml:")
    assert "save it as UTF-8" in found


def test_a_case_with_a_byte_order_mark_is_the_same_case(make_task: Make, case_text: str) -> None:
    plain = load_task(make_task(folder="plain"))
    marked = load_task(make_task(cases={"c1.yaml": case_text.encode("utf-8-sig")}, folder="marked"))
    assert marked.cases_digest == plain.cases_digest


def test_neither_the_order_nor_the_files_of_cases_change_their_digest(make_task: Make, case_text: str) -> None:
    other = case_text.replace("id: c1", "id: c2")
    one = load_task(make_task(cases={"a.yaml": case_text, "b.yaml": other}, folder="one"))
    lines = "\n".join(json.dumps(load_yaml(text), ensure_ascii=False) for text in (other, case_text))
    two = load_task(make_task("task: demo\ncases: cases/*.jsonl\n", cases={"all.jsonl": lines}, folder="two"))
    assert [case.id for case in two.cases] == ["c1", "c2"]
    assert one.cases_digest == two.cases_digest


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("三天前开始疼", "四天前开始疼"),
        ("denied: true", "denied: false"),
        ("[阑尾炎]", "[]"),
        ("turn_budget: 3", "turn_budget: 4"),
    ],
)
def test_any_change_of_a_case_changes_the_digest(old: str, new: str, make_task: Make, case_text: str) -> None:
    one = load_task(make_task(folder="one"))
    two = load_task(make_task(cases={"c1.yaml": case_text.replace(old, new)}, folder="two"))
    assert one.cases_digest != two.cases_digest


def jsonl(make_task: Make, text: str) -> Path:
    return make_task("task: demo\ncases: cases/*.jsonl\n", cases={"all.jsonl": text})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": "c2"', "cases/all.jsonl:3: is not valid JSON"),
        ('{"id": "c2", "id": "c3"}', "cases/all.jsonl:3: is not valid JSON: the key 'id' is there twice"),
        ("[1]", "cases/all.jsonl:3: expected keys and values"),
        ("[" * 100_000, "cases/all.jsonl:3: is nested too deep"),
        ('{"id": ' + "9" * 5000 + "}", "cases/all.jsonl:3: is not valid JSON"),
        ("CASE-with-text-budget", "cases/all.jsonl:3:turn_budget: Input should be a valid integer (found '3')"),
        ("CASE-with-importance-4", "cases/all.jsonl:3:targets[1].importance: "),
        ("CASE-again", "cases/all.jsonl:3:id: case 'c1' is also in cases/all.jsonl"),
    ],
    ids=lambda value: str(value)[:24],
)
def test_a_fault_in_a_line_of_cases_says_which_line_and_key(
    line: str, message: str, make_task: Make, case_text: str
) -> None:
    good = load_yaml(case_text)
    if line.startswith("CASE"):
        bad = load_yaml(case_text)
        bad |= {} if "again" in line else {"id": "c2"}
        bad |= {"turn_budget": "3"} if "budget" in line else {}
        bad["targets"][1]["importance"] = 4 if "importance" in line else 3
        line = json.dumps(bad)
    assert fault(jsonl(make_task, f"{json.dumps(good)}\n\n{line}\n")).startswith(message)


def test_a_line_separator_inside_a_case_does_not_tear_its_line(make_task: Make, case_text: str) -> None:
    case = load_yaml(case_text) | {"context": "腹痛\u2028三天\x85。"}
    task = load_task(jsonl(make_task, json.dumps(case, ensure_ascii=False) + "\r\n"))
    assert task.cases[0].context == "腹痛\u2028三天\x85。"


def test_a_fact_that_names_the_diagnosis_is_reported_before_it_gives_it_away(make_task: Make, case_text: str) -> None:
    path = make_task(cases={"c1.yaml": case_text.replace("三天前开始疼", "三天前查出急性阑尾炎")})
    found = [finding for finding in lint(load_task(path)) if finding.level == "error"]
    assert [(finding.where, finding.message) for finding in found] == [
        (f"{path.parent}/cases/c1.yaml:5", "names the diagnosis '急性阑尾炎'"),
        (f"{path.parent}/cases/c1.yaml:5", "names the diagnosis '阑尾炎'"),
    ]


# ── task files ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("task: demo\nprotcol: {}", "task.yaml:2:protcol: unknown key; did you mean 'protocol'?"),
        ("task: demo\nprotocol: {top_kk: 3}", "task.yaml:2:protocol.top_kk: unknown key; did you mean 'top_k'?"),
        (
            "task: demo\nprotocol: {weights: {D: 0.5, F: 0.5}}",
            "task.yaml:2:protocol.weights.F: unknown key; known keys",
        ),
        ("task: demo\nprotocol: {view: half}", "task.yaml:2:protocol.view: Input should be 'cut', 'mask' or 'full'"),
        ("task: demo\nprotocol: {view: no}", "task.yaml:2:protocol.view: "),
        ("task: demo\nrepeats: 0", "task.yaml:2:repeats: "),
        ("task: demo\nrepeats: five", "task.yaml:2:repeats: Input should be a valid integer (found 'five')"),
        (
            "task: demo\nprotocol: {empty_on_failure: no}",
            "task.yaml:2:protocol.empty_on_failure: Input should be a valid boolean (found 'no')",
        ),
        ("task: Demo Task", "task.yaml:1:task: String should match pattern"),
        ("task: demo\ncases: none/*.yaml", "task.yaml:2:cases: no case file matches"),
        ("task: demo\ncases: []", "task.yaml:2:cases: no case file matches"),
        ("task: demo\ncases: ''", "task.yaml:2:cases: '': expected a pattern below the task's folder"),
        ("task: demo\ncases: ../*/cases/*.yaml", "task.yaml:2:cases: '../*/cases/*.yaml': expected a pattern below"),
        ("task: demo\ncases: /etc/*.yaml", "task.yaml:2:cases: '/etc/*.yaml': expected a pattern below"),
        ("task: demo\ninclude: none.yaml", "task.yaml:2:include: none.yaml: there is no such file"),
        ("task: demo\ninclude:", "task.yaml:2:include: expected the name of a file"),
        ("task: demo\ninclude: 3", "task.yaml:2:include: expected the name of a file"),
        ("task: demo\ninclude: {a: b}", "task.yaml:2:include: expected the name of a file"),
        (
            "task: demo\ninstruments: {x: {patient: {name: a}, judge: {name: b}}}",
            "task.yaml:2:instruments.x.readers: this",
        ),
        ("- task", "task.yaml:1: expected keys and values"),
        ("", "task.yaml:1: expected keys and values"),
    ],
)
def test_a_fault_of_a_task_file_says_line_and_key(text: str, message: str, make_task: Make) -> None:
    assert fault(make_task(text)).startswith(message)


def test_a_pattern_that_also_matches_folders_and_the_same_file_twice_loads_each_case_once(make_task: Make) -> None:
    task = load_task(
        make_task("task: demo\ncases: [cases/*, 'cas*/**/*.yaml', cases/c1.yaml]", more={"cases/sub/x.txt": ""})
    )
    assert [case.id for case in task.cases] == ["c1"]


def test_an_include_that_includes_itself_is_named_with_the_way_it_came(make_task: Make) -> None:
    more = {"a.yaml": "include: b.yaml", "b.yaml": "include: a.yaml"}
    found = fault(make_task("task: demo\ninclude: a.yaml", more=more))
    assert "includes itself" in found
    assert found.index("a.yaml -> ") < found.index("b.yaml -> ")


def test_a_fault_in_an_included_file_points_at_that_file(make_task: Make) -> None:
    more = {"base.yaml": "title: x\nprotocol:\n  veiw: cut\n"}
    found = fault(make_task("task: demo\ninclude: base.yaml\n", more=more))
    assert found.startswith("base.yaml:3:protocol.veiw: unknown key; did you mean 'view'?")


def test_what_a_task_says_itself_wins_over_its_include_key_by_key(make_task: Make) -> None:
    more = {"base.yaml": "repeats: 2\nprotocol: {view: mask, top_k: 3}\nmetrics: [D, T]\n"}
    config = load_task(
        make_task("task: demo\ninclude: [base.yaml]\nprotocol: {top_k: 4}\nmetrics: [E]\n", more=more)
    ).config
    assert (config.repeats, config.protocol.view, config.protocol.top_k, config.metrics) == (2, "mask", 4, ("E",))


def test_the_mode_of_a_patient_follows_the_source_of_its_case_unless_the_task_fixes_it(
    make_task: Make, case_text: str
) -> None:
    cases = {"a.yaml": case_text, "b.yaml": case_text.replace("id: c1", "id: c2").replace("record", "dialogue")}
    task = load_task(make_task(cases=cases))
    fixed = load_task(make_task("task: demo\npatient_mode: record", cases=cases, folder="fixed"))
    assert [task.mode(case) for case in task.cases] == ["record", "queue"]
    assert [fixed.mode(case) for case in fixed.cases] == ["record", "record"]


# ── finding tasks ────────────────────────────────────────────────────────────────────────────────


def index(tmp_path: Path) -> TaskIndex:
    return TaskIndex([tmp_path])


def test_a_typo_in_a_tasks_file_is_shown_and_not_called_not_found(make_task: Make, tmp_path: Path) -> None:
    make_task("task: demo\n  title: x: y\n")
    with pytest.raises(InputError, match=r"demo/task\.yaml:2: is not valid YAML"):
        index(tmp_path).resolve("demo")


def test_a_typo_in_a_tasks_name_offers_the_near_one(make_task: Make, tmp_path: Path) -> None:
    make_task()
    with pytest.raises(UsageError, match="no task is named 'dmeo'; did you mean 'demo'"):
        index(tmp_path).resolve("dmeo")


def test_a_broken_task_is_mentioned_when_another_name_is_not_found(make_task: Make, tmp_path: Path) -> None:
    make_task("task: [", folder="broken")
    with pytest.raises(UsageError, match=r"(?s)no task is named 'other'.*broken/task\.yaml"):
        index(tmp_path).resolve("other")


def test_a_broken_task_is_not_silently_replaced_by_the_shipped_one_of_its_name(make_task: Make, tmp_path: Path) -> None:
    make_task("task: meddc_record\ntitle: [", folder="meddc_record")
    with pytest.raises(InputError, match=r"meddc_record/task\.yaml:"):
        index(tmp_path).resolve("meddc_record")
    with pytest.raises(InputError, match=r"meddc_record/task\.yaml:"):
        index(tmp_path).resolve("meddc")


def test_a_broken_task_does_not_hide_one_of_its_name_that_comes_first(make_task: Make, tmp_path: Path) -> None:
    make_task(folder="first/demo")
    make_task("task: [", folder="then/demo")
    assert TaskIndex([tmp_path / "first", tmp_path / "then"]).resolve("demo")[0].name == "demo"


def test_a_folder_named_like_a_task_in_the_working_directory_does_not_hide_it(
    make_task: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_task()
    (tmp_path / "here" / "demo").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    assert index(tmp_path).resolve("demo")[0].path == tmp_path / "demo" / "task.yaml"


def test_a_folder_in_the_working_directory_is_a_task_by_its_name_where_no_task_has_that_name(
    make_task: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_task()
    monkeypatch.chdir(tmp_path)
    assert [task.path for task in TaskIndex(()).resolve("demo")] == [Path("demo/task.yaml")]
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=r"empty/: there is no task\.yaml"):
        TaskIndex(()).resolve("empty")
    with pytest.raises(UsageError, match="no task is named ''"):
        TaskIndex(()).resolve("")


def test_of_two_tasks_with_one_name_the_first_folder_wins_and_the_clash_is_told(
    make_task: Make, tmp_path: Path
) -> None:
    make_task("task: demo\ntitle: first", folder="one/demo")
    make_task("task: demo\ntitle: second", folder="two/other")
    found = TaskIndex([tmp_path / "one", tmp_path / "two"])
    assert found.resolve("demo")[0].config.title == "first"
    assert [str(error) for error in found.broken] == [
        f"{tmp_path}/two/other/task.yaml: the name 'demo' is already taken by {tmp_path}/one/demo/task.yaml"
    ]


def test_the_same_folder_given_twice_is_no_clash(make_task: Make, tmp_path: Path) -> None:
    make_task()
    assert TaskIndex([tmp_path, tmp_path / "demo" / ".."]).broken == []


def test_an_include_path_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"--include-path {tmp_path}/none: there is no such folder"):
        TaskIndex([tmp_path / "none"])


@pytest.mark.parametrize("wanted", ["{}/demo/task.yaml", "{}/demo", "{}/demo/"])
def test_a_task_can_be_named_by_its_file_or_folder(wanted: str, make_task: Make, tmp_path: Path) -> None:
    make_task()
    assert TaskIndex().resolve(wanted.format(tmp_path))[0].name == "demo"


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ("{}/none.yaml", "there is no such file"),
        ("{}/none/", "there is no task.yaml or group.yaml"),
        ("{}/demo/cases/c1.yaml", "expected `task: NAME` or `group: NAME`"),
    ],
)
def test_a_path_to_something_else_says_what_is_missing(
    wanted: str, words: str, make_task: Make, tmp_path: Path
) -> None:
    make_task()
    with pytest.raises(UsageError, match=words):
        TaskIndex().resolve(wanted.format(tmp_path))


def test_an_include_path_may_be_the_folder_of_the_task_itself(make_task: Make) -> None:
    assert TaskIndex([make_task().parent]).resolve("demo")[0].name == "demo"


# ── groups ───────────────────────────────────────────────────────────────────────────────────────


def group(tmp_path: Path, members: str, name: str = "all") -> Path:
    folder = tmp_path / name
    folder.mkdir(exist_ok=True)
    (folder / "group.yaml").write_text(f"group: {name}\ntitle: x\ntasks: {members}\n", encoding="utf-8")
    return folder / "group.yaml"


def test_a_group_with_an_unknown_member_says_file_line_and_near_name(make_task: Make, tmp_path: Path) -> None:
    make_task()
    group(tmp_path, "[demo, dmeo]")
    with pytest.raises(InputError) as failed:
        index(tmp_path).resolve("all")
    message = f"{tmp_path}/all/group.yaml:3:tasks[1]: group all names an unknown task 'dmeo'; did you mean 'demo'?"
    assert str(failed.value) == message


def test_a_group_that_names_a_group_is_told_so(make_task: Make, tmp_path: Path) -> None:
    make_task()
    group(tmp_path, "[demo]", "inner")
    group(tmp_path, "[inner]")
    with pytest.raises(InputError, match="names 'inner', which is a group, not a task"):
        index(tmp_path).resolve("all")


@pytest.mark.parametrize("members", ["[]", "demo", "[1]"])
def test_a_group_without_a_list_of_names_is_refused(members: str, make_task: Make, tmp_path: Path) -> None:
    make_task()
    group(tmp_path, members)
    with pytest.raises(InputError, match=r"group\.yaml:3:tasks"):
        index(tmp_path).resolve("all")


def test_a_group_given_by_its_path_takes_the_tasks_beside_it_and_not_the_shipped_ones(
    make_task: Make, tmp_path: Path
) -> None:
    make_task("task: meddc_record\ntitle: mine", folder="meddc_record")
    found = TaskIndex().resolve(str(group(tmp_path, "[meddc_record]")))
    assert [task.config.title for task in found] == ["mine"]


def test_a_task_on_the_include_path_replaces_the_shipped_member_of_a_group(make_task: Make, tmp_path: Path) -> None:
    make_task("task: meddc_record\ntitle: mine", folder="meddc_record")
    found = {task.name: task for task in index(tmp_path).resolve("meddc")}
    assert found["meddc_record"].config.title == "mine"
    assert found["meddc_dialogue"].path.is_relative_to(shipped("tasks"))


def test_a_group_from_elsewhere_can_use_shipped_tasks(tmp_path: Path) -> None:
    names = [task.name for task in TaskIndex().resolve(str(group(tmp_path, "[meddc_dialogue, meddc_record]")))]
    assert names == ["meddc_dialogue", "meddc_record"]


def test_every_shipped_task_loads() -> None:
    tasks = TaskIndex().resolve("meddc")
    assert [task.name for task in tasks] == ["meddc_record", "meddc_dialogue"]
    assert all(case.scored_targets and case.diagnoses for task in tasks for case in task.cases)
