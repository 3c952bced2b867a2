"""`plugins new` makes distributions that work as they are: code, tests, README, CI file."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import pytest

from meddc_bench.adapters import Caller
from meddc_bench.errors import UsageError
from meddc_bench.pipeline.rollout import Rollout, roll_out
from meddc_bench.registry import KINDS, Registry
from meddc_bench.scaffold import create
from meddc_bench.task import TaskIndex
from meddc_bench.testing import PROPERTIES, Subject, check
from meddc_bench.wiring import Adapter

NAMES = {kind: f"made_{kind}" for kind in KINDS}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, installed: Registry) -> dict[str, Path]:
    """A distribution of each kind."""
    root = tmp_path_factory.mktemp("made")
    return {kind: create(kind, name, root / name, installed).folder for kind, name in NAMES.items()}


def info(folder: Path) -> None:
    """Write what installing in place would: the distribution's metadata beside its package."""
    name = folder.name
    place = folder / f"{name}-0.1.0.dist-info"
    place.mkdir(exist_ok=True)
    metadata = f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: 0.1.0\n"
    (place / "METADATA").write_text(metadata, encoding="utf-8")
    (place / "entry_points.txt").write_text(f"[meddc_bench]\n{name} = {name}.plugin\n", encoding="utf-8")


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_plugin_passes_the_check(kind: str, made: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(made[kind])
    point = EntryPoint(NAMES[kind], f"{NAMES[kind]}.plugin", "meddc_bench")
    registry = Registry.load([*entry_points(group="meddc_bench"), point])
    assert [one for one in registry.plugins if one.problem or one.warnings] == []
    example = made[kind] / "tests" / "example.jsonl"
    report = check(Subject(registry, kind, NAMES[kind], file=example if kind == "importer" else None))
    assert report.named("passed") == tuple(one.name for one in PROPERTIES[kind]()), [
        str(one) for one in report.verdicts
    ]


async def test_a_new_policy_ends_a_consultation_with_a_workup_without_a_breach(
    made: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(made["policy"])
    point = EntryPoint(NAMES["policy"], f"{NAMES['policy']}.plugin", "meddc_bench")
    registry = Registry.load([*entry_points(group="meddc_bench"), point])
    policy, patient, environment = (
        Adapter(registry, kind, name, name, {}).get()
        for kind, name in (("policy", NAMES["policy"]), ("patient", "grounded"), ("environment", "workup"))
    )
    (task,) = TaskIndex().resolve("osce_zh")
    caller = Caller()
    for case in task.cases[:3]:
        history = await roll_out(policy, Rollout(task, case, environment, patient, caller=caller), caller)
        assert (history.ended, history.breaches) == ("diagnosed", ())


def test_the_tests_of_every_new_plugin_pass(made: dict[str, Path], tmp_path: Path) -> None:
    for folder in made.values():
        info(folder)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, made.values())), "MEDDC_CACHE_DIR": str(tmp_path)}
    words = [
        "-q",
        "-p",
        "no:cacheprovider",
        "--import-mode=importlib",
        "-o",
        "asyncio_default_fixture_loop_scope=function",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, *(str(folder / "tests") for folder in made.values())],
        cwd=tmp_path, env=env, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert int(done.stdout.split(" passed")[0].split()[-1]) > 70, done.stdout[-300:]


def test_a_new_plugin_is_in_order_for_ruff_and_its_files_are_all_there(made: dict[str, Path]) -> None:
    for kind, folder in made.items():
        name = NAMES[kind]
        for file in (
            "pyproject.toml",
            "README.md",
            ".github/workflows/ci.yml",
            f"{name}/plugin.py",
            f"tests/test_{kind}.py",
        ):
            assert (folder / file).is_file(), file
        assert "MEDDC_BENCH_API = 1" in (folder / name / "plugin.py").read_text(encoding="utf-8")
    for words in (["check"], ["format", "--check"]):
        done = subprocess.run(
            [Path(sys.executable).with_name("ruff"), *words, "--isolated", "--line-length", "120", *made.values()],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("kind", "name", "words"),
    [
        ("policy", "我的医生", "expected 1 to 64 of a-z 0-9"),
        ("policy", "My Doctor", "expected 1 to 64 of a-z 0-9"),
        ("policy", "../up", "expected 1 to 64 of a-z 0-9"),
        ("policy", "a__b", "expected 1 to 64 of a-z 0-9"),
        ("policy", "x" * 65, "expected 1 to 64 of a-z 0-9"),
        ("policy", "class", "a word of Python's own"),
        ("metric", "json", "a word of Python's own"),
        ("reader", "own", "a condition of the program's own"),
        ("policy", "checklist", "registered already, by meddc-bench"),
        ("reader", "checklist", None),
        ("policy", "pydantic", "is installed already"),
        ("judge", "meddc-offline", "is installed already"),
    ],
)
def test_a_name_that_cannot_be_used_is_refused_with_the_reason(
    kind: str, name: str, words: str | None, installed: Registry, tmp_path: Path
) -> None:
    if words is None:
        assert create(kind, name, tmp_path / "new", installed).files
        return
    with pytest.raises(UsageError, match=words):
        create(kind, name, tmp_path / "new", installed)
    assert not (tmp_path / "new").exists()


def test_nothing_that_is_there_is_written_over(installed: Registry, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="is there already; name another folder with -o"):
        create("policy", "my_doctor", tmp_path, installed)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_name_with_a_dash_becomes_a_package_with_an_underscore(installed: Registry, tmp_path: Path) -> None:
    made: Any = create("metric", "my-score", tmp_path / "x", installed)
    assert tmp_path / "x" / "my_score" / "metric.py" in made.files
    assert 'name = "my-score"' in (tmp_path / "x" / "pyproject.toml").read_text(encoding="utf-8")
