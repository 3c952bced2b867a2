"""What is shipped: the wheel holds all that the program needs and nothing else, and works where there is no checkout."""

from __future__ import annotations

import json
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path
from typing import Any

import pytest
from installed_lab import ROOT, Installed, build

JUNK = ("__pycache__", ".pyc", ".egg-info", "runs/", ".venv", "~")


@pytest.fixture(scope="session")
def project() -> dict[str, Any]:
    """The project's metadata as they are written."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def names(wheel: Path) -> set[str]:
    """The files of the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def files(folder: Path) -> set[str]:
    """The files of a folder of the checkout that belong to the project."""
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return {name for name in found if not any(junk in name for junk in JUNK)}


def test_the_wheel_holds_every_task_template_and_board(names: set[str]) -> None:
    for folder in ("tasks", "templates", "leaderboards"):
        wanted = {f"meddc_bench/_data/{folder}/{name}" for name in files(ROOT / folder)}
        assert wanted
        assert wanted - names == set()


def test_the_wheel_holds_every_package_whole_and_its_types(names: set[str], project: dict[str, Any]) -> None:
    packages = [ROOT / name for name in project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]]
    assert {path.name for path in packages} == {"meddc_bench", *(path.name for path in ROOT.glob("plugins/meddc_*"))}
    for path in packages:
        assert {f"{path.name}/{name}" for name in files(path)} - names == set()
        assert f"{path.name}/py.typed" in names
    for module in project["project"]["entry-points"]["meddc_bench"].values():
        assert f"{module.replace('.', '/')}.py" in names


def test_the_wheel_holds_nothing_else(names: set[str], project: dict[str, Any]) -> None:
    tops = {name.partition("/")[0] for name in names}
    packages = {Path(one).name for one in project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]}
    (metadata,) = tops - packages
    assert metadata == f"meddc_bench-{project['project']['version']}.dist-info"
    assert [name for name in names if any(junk in name for junk in JUNK)] == []
    assert f"{metadata}/licenses/LICENSE" in names


def test_the_sdist_holds_the_checkout_and_builds_the_same_wheel(dist: Path, wheel: Path, tmp_path: Path) -> None:
    (archive,) = dist.glob("*.tar.gz")
    with tarfile.open(archive) as found:
        held = {name.partition("/")[2] for name in found.getnames()}
    for folder in ("tests", "docs", "bench", ".ci"):
        assert {f"{folder}/{name}" for name in files(ROOT / folder)} - held == set()
    assert {"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "CITATION.cff", "LICENSE", "Makefile"} <= held
    build(ROOT, tmp_path, "--wheel")
    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()


def test_all_asks_for_every_extra_but_vllm_and_those_of_developers(wheel: Path, project: dict[str, Any]) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (file,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = Parser().parsestr(archive.read(file).decode("utf-8"))
    written = set(project["project"]["optional-dependencies"])
    assert set(metadata.get_all("Provides-Extra") or ()) == written
    asked = {name: {line.partition(";")[0] for line in metadata.get_all("Requires-Dist") or ()
                    if line.endswith(f"extra == '{name}'")} for name in written}  # fmt: skip
    assert asked["all"] == set().union(*(asked[name] for name in written - {"all", "vllm", "dev", "bench"}))
    assert asked["vllm"]
    assert not asked["vllm"] & asked["all"]


def test_the_installed_wheel_works_without_the_checkout(installed_wheel: Installed) -> None:
    info = json.loads(installed_wheel.run("meddc-bench", "info", "--json").stdout)
    assert info["program"]["editable"] is False
    assert [Path(path).is_relative_to(installed_wheel.home) for path in info["tasks"]] == [True]
    assert [plugin["name"] for plugin in info["plugins"] if plugin["problem"]] == []
    assert "meddc_record" in installed_wheel.run("meddc-bench", "ls").stdout
    words = ("run", "--tasks", "meddc_record", "--policy", "checklist", "--limit", "2", "--repeats", "1", "-o", "run")
    done = installed_wheel.run("meddc-bench", *words)
    assert done.returncode == 0, done.stderr
    rows = json.loads((installed_wheel.home / "run" / "results.json").read_bytes())["tasks"]["meddc_record"]["rows"]
    assert {row["policy"] for row in rows} == {"checklist"}
    shown = installed_wheel.run("meddc-bench", "leaderboard", "show", "meddc_record")
    assert shown.returncode == 0, shown.stderr
    assert "checklist" in shown.stdout
