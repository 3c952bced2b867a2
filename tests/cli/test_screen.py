"""On any console, in any locale, with any names: no crash; and the quick verbs stay quick."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
import textwrap
from pathlib import Path

import pytest
from meddc_harness import Done, World, done, write_task

LOCALES = {
    "c": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "gbk": {"LC_ALL": "C.UTF-8", "PYTHONUTF8": "0", "PYTHONIOENCODING": "gbk"},
    "ascii": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"},
}


STARTS = pytest.mark.skipif(
    not sys.prefix.isascii(), reason="an ASCII locale keeps Python itself from an editable install under such a path"
)


@pytest.mark.parametrize(
    "locale", [pytest.param(name, marks=STARTS if env["LC_ALL"] == "C" else ()) for name, env in LOCALES.items()]
)
def test_no_console_crashes_the_program_and_no_folder_name_does(world: World, locale: str) -> None:
    folder = world.root / "空 格" / "病历"
    write_task(folder / "任务", 2)
    env = world.environment(LANG=None, **LOCALES[locale])
    run = world.finish("run", "-t", "任务/task.yaml", "--policy", "hostile", "-o", "结 果", cwd=folder, env=env)
    assert run.code == 0, run
    assert b"Traceback" not in run.raw_err
    assert (folder / "结 果" / "results.json").is_file(), list(folder.iterdir())
    script = textwrap.dedent("""
        import sys
        from meddc_bench import cli
        for words in (["--help"], ["run", "--help"], ["ls"], ["ls", "policies"], ["show", "results", "结 果"],
                      ["show", "history", "结 果", "c000"], ["show", "case", "任务/task.yaml", "c000"], ["info"],
                      ["run", "-t", "没有"], ["retry", "没有"], ["retry", "结 果"]):
            try:
                cli.main(words)
            except SystemExit as left:
                print("exit", left.code)
    """)
    program = [sys.executable, *(["-X", "utf8"] if env["LC_ALL"] == "C" else []), "-c", script]
    shown = done(subprocess.Popen(program, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    codes = [line for line in shown.out.splitlines() if line.startswith("exit ")]
    assert codes == ["exit 0"] * 8 + ["exit 2"] * 2 + ["exit 0"], shown


@STARTS
def test_an_ascii_locale_finds_and_names_chinese_files_like_any_other(world: World) -> None:
    env = world.environment(LANG=None, **LOCALES["c"])
    write_task(world.root / "任务", 1)
    words = ("run", "-t", "任务/task.yaml", "--policy", "asker")
    one, other = world.finish(*words, env=env), world.finish(*words)
    assert (one.code, other.code) == (0, 0), one
    assert one.out.splitlines()[-1] == other.out.splitlines()[-1]
    assert world.finish("retry", other.out.splitlines()[-1], env=env).code == 0


def test_names_of_two_hundred_characters_stay_inside_the_runs_folder(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(world.root)
    deep = world.root
    for part in ("甲" * 80, "a:b", "..c", "乙" * 80):
        deep = deep / part
    task = write_task(deep, 1)
    other = write_task(deep.parent / ("乙" * 79 + "丙"), 1)
    seen = set()
    for one in (task, other, Path("..") / world.root.name / task.relative_to(world.root)):
        assert world.cli("run", "-t", str(one), "--policy", "asker") == 0
        last = capsys.readouterr().out.splitlines()[-1]
        seen.add(last)
        assert Path(last).parent == Path("runs")
        assert all(len(os.fsencode(part)) <= 255 for part in Path(last).parts)
    assert len(seen) == 3
    assert {path.name for path in world.root.iterdir()} == {"runs", "side", "task", "甲" * 80}


def test_a_run_folder_too_long_for_the_disk_is_one_clear_line(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    name = str(world.root / ("长" * 200))
    assert world.cli("run", "-t", str(world.task), "--policy", "asker", "-o", name) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("File name too long")
    assert world.cli("run", "-t", "长" * 200, "--policy", "asker") == 2
    assert world.cli("retry", name) == 2


@pytest.mark.parametrize("columns", [20, 60, 80, 200])
def test_no_figure_is_cut_on_a_narrow_terminal(world: World, columns: int) -> None:
    world.run(policies=["asker", "a-rather-long-name-for-a-policy=hostile"])
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    env = world.environment(COLUMNS=None, NO_COLOR="1", TERM="xterm")
    process = world.start("show", "results", "run", env=env, stdout=slave, stdin=slave)
    os.close(slave)
    shown = b""
    with contextlib.suppress(OSError):  # the terminal is gone once the program ends
        while piece := os.read(master, 4096):
            shown += piece
    os.close(master)
    assert done(process).code == 0
    text = shown.decode()
    assert "…" not in text
    for figure in ("60.0 确定", "66.7 确定", "85.0 确定", "65.2 确定", "6/6", "a-rather-long-name-for-a-policy"):
        assert figure in text
    assert ("TP/FP/FN" in text) == (columns == 200)


# ── quick and quiet ──────────────────────────────────────────────────────────────────────────────


def loaded_by(world: World, *words: str) -> set[str]:
    script = textwrap.dedent("""
        import sys
        from meddc_bench import cli
        try:
            cli.main(sys.argv[1:])
        except SystemExit as left:
            assert not left.code
        print()
        print(" ".join(sys.modules))
    """)
    program = [sys.executable, "-c", script, *words]
    ended = done(subprocess.Popen(program, env=world.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    assert ended.code == 0, ended
    return set(ended.out.splitlines()[-1].split())


@pytest.mark.parametrize("words", [("--help",), ("run", "--help"), ("score", "-h"), ("retry", "-h"), ("--version",)])
def test_help_imports_no_plugin_and_nothing_heavy(world: World, words: tuple[str, ...]) -> None:
    loaded = loaded_by(world, *words)
    heavy = {"numpy", "rich.table", "rapidfuzz", "opencc", "asyncio", "jinja2", "meddc_doubles"}
    assert not {name for name in loaded if name in heavy or name.startswith(("meddc_offline", "meddc_metrics"))}


def test_ls_tasks_reads_hooks_and_imports_no_adapter(world: World) -> None:
    loaded = loaded_by(world, "ls")
    assert not loaded & {"meddc_offline.lexical", "meddc_offline.grounded", "ahocorasick"}


@pytest.mark.parametrize("kind", ["policies", "readers", "judges", "importers"])
def test_ls_of_adapters_reads_hooks_and_imports_no_adapter(world: World, kind: str) -> None:
    loaded = loaded_by(world, "ls", kind)
    assert "meddc_offline.plugin" in loaded
    allowed = {"plugin", "revision"}
    for package in ("meddc_offline", "meddc_metrics", "meddc_importers"):
        inner = {name.removeprefix(f"{package}.") for name in loaded if name.startswith(f"{package}.")}
        assert inner <= allowed, inner


def test_ls_lists_the_doubles_too_and_as_json(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    assert world.cli("ls", "policies", "--json") == 0
    found = {one["name"]: one for one in json.loads(capsys.readouterr().out)}
    assert found["asker"]["about"] == "meddc-doubles 1, revision 1"
    assert world.cli("ls", "readers") == 0
    assert {"emitted", "own", "echo"} <= {line.split()[0] for line in capsys.readouterr().out.splitlines()}


def piped(world: World, *words: str) -> Done:
    """Run with a reader of standard output that leaves after one byte."""
    process = world.start(*words)
    assert process.stdout is not None
    process.stdout.read(1)
    process.stdout.close()
    process.stdout = None
    return done(process)


@pytest.mark.parametrize("words", [("ls", "policies"), ("show", "results", "run"), ("--help",)])
def test_a_reader_that_leaves_early_gets_no_traceback(world: World, words: tuple[str, ...]) -> None:
    world.run()
    ended = piped(world, *words)
    assert ended.err == ""
    assert ended.code in (0, 1)


def test_a_long_listing_cut_by_head_is_clean(world: World) -> None:
    write_task(world.root / "task", 6)
    world.run(repeats=1)
    path = world.root / "run" / "histories.jsonl"
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0] * 3000)
    ended = piped(world, "show", "history", "run", "c000")
    assert ended.err == ""
    assert ended.code == 1
