"""A wrong request is exit 2 and one clear line that says what to write instead; nothing was started."""

from __future__ import annotations

from pathlib import Path

import pytest
from meddc_harness import World, write_task

from meddc_bench.cli import main

Words = tuple[str, ...]
RUN = ("run", "-t", "TASK", "--policy", "asker")

WRONG: list[tuple[Words, str]] = [
    # tasks
    (("run", "--policy", "asker"), "no task: give --tasks, e.g. --tasks meddc (see `meddc-bench ls tasks`)"),
    (("run", "-t", "medc", "--policy", "asker"), "no task is named 'medc'; did you mean 'meddc'"),
    (("run", "-t", "nowhere/task.yaml", "--policy", "asker"), "task file nowhere/task.yaml: there is no such file"),
    (("run", "-t", "./nowhere", "--policy", "asker"), "there is no task.yaml or group.yaml in that folder"),
    ((*RUN, "--include-path", "nowhere"), "--include-path nowhere: there is no such folder"),
    ((*RUN, "--limit", "0"), "Invalid value for '-L' / '--limit'"),
    # adapters
    (("run", "-t", "TASK"), "no policy: give --policy, e.g. --policy checklist (see `meddc-bench ls policies`)"),
    (("run", "-t", "TASK", "--policy", "askr"), "no policy is named 'askr'; did you mean 'asker'?"),
    ((*RUN, "--patient", "tellin"), "no patient is named 'tellin'; did you mean 'telling'?"),
    ((*RUN, "--reader", "ecco"), "no reader is named 'ecco'; did you mean 'echo'"),
    ((*RUN, "--judge", "equl"), "no judge is named 'equl'; did you mean 'equal'?"),
    ((*RUN, "--instrument", "ofline"), "has no instrument 'ofline'; did you mean 'offline'?"),
    (("run", "-t", "TASK", "--policy", "absent"), "plugin doubles: cannot import 'meddc_doubles_absent:Policy'"),
    (("run", "-t", "TASK", "--policy", "keyed"), "the environment variable MEDDC_DOUBLES_NO_SUCH_KEY is not set"),
    # labels
    ((*RUN, "--policy", "asker"), "policies: the label 'asker' is used twice; give one another: NEW_LABEL=asker"),
    ((*RUN, "--policy", "asker=null"), "policies: the label 'asker' is used twice"),
    (("run", "-t", "TASK", "--policy", "医生=asker"), "policies[0].label: String should match pattern"),
    (("run", "-t", "TASK", "--policy", "org/model:v1"), "policies[0].label: String should match pattern"),
    (("run", "-t", "TASK", "--policy", "x" * 65 + "=asker"), "policies[0].label: String should match pattern"),
    # options of adapters
    ((*RUN, "--policy-args", "fial=own"), "policy 'asker' has no option 'fial'; did you mean 'fail'?"),
    ((*RUN, "--policy-args", "version=two"), "policy 'asker', option 'version'"),
    ((*RUN, "--policy-args", "fail"), "expected key=value"),
    ((*RUN, "--policy-args", "other:fail=own"), "no label 'other'; there is: asker"),
    ((*RUN, "--policy", "null", "--policy-args", "fail=own"), "there is more than one policy; write LABEL:fail="),
    ((*RUN, "--judge-args", "fail=own"), "there is no judge"),
    # flags
    ((*RUN, "--max-connections", "0"), "Invalid value for '--max-connections'"),
    ((*RUN, "--timeout", "0"), "Invalid value for '--timeout'"),
    ((*RUN, "--repeats", "many"), "Invalid value for '--repeats'"),
    ((*RUN, "--view", "all"), "Invalid value for '--view': 'all' is not one of 'cut', 'mask', 'full'."),
    ((*RUN, "--colour", "red"), "No such option '--colour'"),
    ((*RUN, "-o", "a\udcffb"), r"--output-path a\udcffb: is not valid text in this locale's encoding"),
    ((*RUN, "--policy-args", "on=\udcff"), r"--policy-args on=\udcff: is not valid text in this locale's encoding"),
    # campaign files
    ((*RUN, "-C", "nowhere.yaml"), "nowhere.yaml: cannot be read"),
    ((*RUN, "-C", "unknown.yaml"), "unknown.yaml:2:polices: unknown key; did you mean 'policies'?"),
    ((*RUN, "-C", "type.yaml"), "type.yaml:1:repeats"),
    ((*RUN, "-C", "roles.yaml"), "roles.yaml:1:policies: expected a list of names"),
    ((*RUN, "-C", "gbk.yaml"), "is not UTF-8 (it looks like GBK); save it as UTF-8"),
    ((*RUN, "-C", "broken.yaml"), "broken.yaml:2: is not valid YAML"),
    # folders
    (("retry", "nowhere"), "nowhere: is not a run folder: it has no manifest.json"),
    (("retry", "."), ".: is not a run folder: it has no manifest.json"),
    (("retry", "damaged"), "damaged/manifest.json: is not a manifest of this program"),
    (("retry", "torn"), "torn/manifest.json: cannot be read"),
    (("retry",), "Missing argument 'RUN_FOLDER'"),
    (("score", "nowhere"), "nowhere: is not a run folder: it has no manifest.json"),
    (("score",), "give one run folder, or --importer NAME --histories FILE..."),
    (("score", "one", "two"), "give one run folder, or --importer NAME --histories FILE..."),
    (("show", "results", "nowhere"), "nowhere/results.json: there are no results; is this a run folder?"),
    (("show", "results", "damaged"), "damaged/results.json: is damaged"),
    (("show", "results", "list"), "list/results.json: is not a file of this program"),
    (("show", "history", "nowhere", "c000"), "nowhere/histories.jsonl: there is no such file; is this a run folder?"),
    (("show", "history", "killed", "c000"), "there is no such file; `meddc-bench retry killed` writes it"),
    (("show", "history", "list", "c000"), "list/histories.jsonl: is damaged"),
    (("show", "history", "none", "c000"), "none has no history of case 'c000'; there is none"),
    (("show", "case", "TASK", "c009"), "has no case 'c009'; did you mean 'c00"),
    (("show", "prompt", "judge"), "Invalid value for '{doctor|patient|reader|"),
    # verbs
    (("rnu",), "No such command 'rnu'"),
    (("ls", "models"), "'models' is not one of 'tasks', 'policies', 'readers'"),
    (("validate", "medc"), "no task is named 'medc'"),
]


@pytest.fixture
def here(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """The world's folder with campaign files and run folders that are each wrong in their own way."""
    monkeypatch.chdir(world.root)
    files: dict[str, bytes] = {
        "unknown.yaml": b"tasks: [meddc]\npolices: [asker]\n",
        "type.yaml": b"repeats: [3]\n",
        "roles.yaml": b"policies: asker\n",
        "gbk.yaml": "tasks: [医疗]\n".encode("gbk"),
        "broken.yaml": b"tasks: [a\n",
        "damaged/manifest.json": b'{"campaign": 3}',
        "damaged/results.json": b'{"tasks"',
        "torn/manifest.json": b'{"campaign"',
        "list/results.json": b"[]",
        "list/histories.jsonl": b'{"case": "c0\n',
        "killed/manifest.json": b'{"campaign": {}}',
        "none/histories.jsonl": b"",
    }
    for name, raw in files.items():
        path = world.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(raw)
    return world


@pytest.mark.parametrize(("words", "message"), WRONG, ids=[" ".join(words)[:60] for words, _ in WRONG])
def test_a_wrong_request_is_exit_2_and_one_clear_line(
    here: World, words: Words, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert here.cli(*(str(here.task) if word == "TASK" else word for word in words)) == 2
    shown = capsys.readouterr()
    assert "Traceback" not in shown.out + shown.err
    lines = [line for line in (shown.out + shown.err).splitlines() if line.lower().startswith("error: ")]
    assert len(lines) == 1, shown
    assert message in lines[0]
    assert here.calls() == []
    assert not [path for path in Path("runs").glob("*/*.json*") if path.stat().st_size and path.name == "results.json"]


def test_a_task_without_an_instrument_asks_for_the_roles_and_never_lets_the_policy_grade_itself(
    here: World, capsys: pytest.CaptureFixture[str]
) -> None:
    text = here.task.read_text(encoding="utf-8")
    here.task.write_text(text[: text.index("instruments:")], encoding="utf-8")
    roles = ["--patient", "telling", "--judge", "equal"]
    for left, said in ((0, "patient"), (2, "judge")):
        given = roles[:left]
        assert here.cli("run", "-t", str(here.task), "--policy", "asker", *given) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line == (f"error: task small ships no standard {said}; give --{said} (no role is filled by the policy)")
    assert here.cli("run", "-t", str(here.task), "--policy", "asker", *roles, "-o", "run") == 0
    assert {row["condition"] for row in here.rows()} == {"emitted"}


def test_a_fault_in_a_case_file_names_file_and_line(here: World, capsys: pytest.CaptureFixture[str]) -> None:
    path = here.root / "task" / "cases" / "c001.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace("importance: 3", "importance: 4", 1), encoding="utf-8")
    assert here.cli("run", "-t", str(here.task), "--policy", "asker") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: {path}:")
    assert "importance" in line


def test_two_tasks_of_one_name_are_refused_and_neither_is_dropped(
    here: World, capsys: pytest.CaptureFixture[str]
) -> None:
    other = write_task(here.root / "other", 1)
    words = ("run", "-t", str(here.task), "-t", str(other), "--policy", "asker")
    assert here.cli(*words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"error: {here.task} and {other} are both named 'small'; run them one by one"
    assert here.cli("run", "-t", str(here.task), "-t", "./task", "--policy", "asker", "-o", "run") == 0


def test_the_same_case_file_twice_is_no_silent_choice(here: World, capsys: pytest.CaptureFixture[str]) -> None:
    write_task(here.root / "other", 1, name="small")
    assert here.cli("ls", "--include-path", str(here.root)) == 0
    assert "the name 'small' is already taken by" in capsys.readouterr().err


def test_what_no_one_foresaw_is_one_line_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "results.json").write_text("{}", encoding="utf-8")
    with pytest.raises(SystemExit) as left:
        main(["show", "results", str(tmp_path)])
    assert left.value.code in (1, 2)
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert "Traceback" not in said
