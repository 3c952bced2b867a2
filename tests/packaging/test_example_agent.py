"""A third party's distribution beside the installed wheel: built, installed, checked, run, its row published and valid."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from installed_lab import ROOT, Installed, build, install

from meddc_bench.registry import Registry
from meddc_bench.scaffold import create

SOURCE = ROOT / "plugins" / "example_agent"


@pytest.fixture(scope="module")
def beside(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """A fresh environment with the program's wheel and the example's wheel."""
    home = tmp_path_factory.mktemp("beside")
    found = install(wheel, home)
    source = shutil.copytree(SOURCE, home / "source", ignore=shutil.ignore_patterns("__pycache__", ".*cache"))
    build(source, home / "dist", "--wheel")
    (made,) = (home / "dist").glob("*.whl")
    pip = [sys.executable, "-m", "pip", "--python", str(found.python), "install", "--quiet", "--no-deps", "--no-index"]
    done = subprocess.run([*pip, str(made)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return found


def ran(beside: Installed, *words: str | Path) -> str:
    done = beside.run("meddc-bench", *words, MEDDC_CACHE_DIR=str(beside.home / "cache"))
    assert done.returncode == 0, f"{words}\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}"
    return done.stdout


def test_an_agent_of_a_third_party_is_installed_checked_run_and_published(beside: Installed) -> None:
    assert "policies: example_agent" in ran(beside, "plugins", "list")
    ran(beside, "plugins", "doctor")
    report = json.loads(ran(beside, "plugins", "check", "example_agent", "--json"))
    assert (report["passed"], report["distribution"]) == (True, "example-agent")
    run = ("run", "--tasks", "meddc_record", "--policy", "example_agent", "--repeats", "1", "-o", "run")
    ran(beside, *run)
    manifest = json.loads((beside.home / "run" / "manifest.json").read_bytes())
    assert manifest["checked"]["policy:example_agent"]["result"] == "passed"
    assert manifest["plugins"]["example_agent"] == "example-agent 0.1.0"
    ran(beside, "publish", "run", "--by", "a third party", "-o", "row.json")
    ran(beside, "leaderboard", "validate", "row.json")
    row = json.loads((beside.home / "row.json").read_bytes())
    assert "example_agent" in json.dumps(row)


def test_its_own_tests_pass_where_it_is_installed(beside: Installed) -> None:
    words = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "asyncio_default_fixture_loop_scope=function")
    done = beside.run("python", *words, "source/tests", MEDDC_CACHE_DIR=str(beside.home / "cache"))
    assert done.returncode == 0, done.stdout[-2000:]
    assert " passed" in done.stdout


def test_it_has_the_files_that_plugins_new_makes(tmp_path: Path) -> None:
    made = create("policy", "example_agent2", tmp_path / "made", Registry())
    names = {path.relative_to(made.folder).as_posix().replace("example_agent2", "example_agent") for path in made.files}
    assert {name for name in names if not (SOURCE / name).is_file()} == set()
