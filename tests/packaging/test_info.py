"""`info` holds what a bug report needs, never a key, and the licences of what is installed."""

from __future__ import annotations

import json
from importlib.metadata import Distribution, PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from meddc_bench.cli import root
from meddc_bench.distributions import CORE, Find, dependencies, extras, licence

KEY = "sk-canary-1234567890"


def said(*words: str) -> str:
    """What `meddc-bench info` prints."""
    done = CliRunner().invoke(root, ["info", *words])
    assert done.exit_code == 0, done.output
    return done.output


def told(*words: str) -> Any:
    """The JSON that `meddc-bench info` prints."""
    return json.loads(said("--json", *words))


@pytest.fixture
def find(tmp_path: Path) -> Find:
    """Distributions of our own: the program, a dependency of it, what that needs, and an extra too old."""
    for name, version, *lines in (
        ("meddc-bench", "9.9", "Provides-Extra: draw", "Provides-Extra: gpu", "Requires-Dist: first>=1",
         "Requires-Dist: pencil>=2; extra == 'draw'", "Requires-Dist: huge; extra == 'gpu'",
         "Requires-Dist: elsewhere; sys_platform == 'nowhere'"),
        ("first", "1.0", "License: MIT", "Requires-Dist: Second_One", "Requires-Dist: first[fast]"),
        ("second-one", "2.0", "License: a whole text\n        of a licence"),
        ("pencil", "1.9", "License-Expression: 0BSD"),
    ):  # fmt: skip
        folder = tmp_path / f"{name.replace('-', '_')}-{version}.dist-info"
        folder.mkdir()
        head = f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n"
        (folder / "METADATA").write_text(head + "\n".join(lines) + "\n", encoding="utf-8")

    def look(name: str) -> Distribution:
        for found in Distribution.discover(name=name, path=[str(tmp_path)]):
            return found
        raise PackageNotFoundError(name)

    return look


def test_a_dependency_of_a_dependency_is_listed_and_an_unknown_licence_is_none(find: Find) -> None:
    found = {one.name: one for one in dependencies(find)}
    assert {name: (one.version, one.licence, one.needed_by) for name, one in found.items()} == {
        "first": ("1.0", "MIT", (CORE,)),
        "second-one": ("2.0", None, (CORE,)),
    }


def test_an_extra_too_old_or_absent_says_what_it_lacks(find: Find) -> None:
    assert [(one.name, one.missing) for one in extras(find)] == [("draw", ("pencil>=2",)), ("gpu", ("huge",))]


def test_a_dependency_that_is_not_installed_is_named(find: Find, tmp_path: Path) -> None:
    (tmp_path / "second_one-2.0.dist-info" / "METADATA").unlink()
    (tmp_path / "second_one-2.0.dist-info").rmdir()
    assert {one.name: one.version for one in dependencies(find)} == {"first": "1.0", "second-one": None}


@pytest.mark.parametrize(
    ("lines", "name"),
    [
        ("License-Expression: MIT\nLicense: something else", "MIT"),
        ("License: UNKNOWN\nClassifier: License :: OSI Approved :: BSD License", "BSD License"),
        ("Classifier: License :: OSI Approved\nClassifier: License :: OSI Approved :: MIT License", "MIT License"),
        ("License: Copyright\n        and more\nClassifier: License :: OSI Approved :: BSD License", "BSD License"),
        ("Classifier: Programming Language :: Python", None),
    ],
)
def test_a_licence_is_read_wherever_it_is_stated(lines: str, name: str | None, tmp_path: Path) -> None:
    folder = tmp_path / "one-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.4\nName: one\nVersion: 1.0\n{lines}\n", encoding="utf-8")
    assert licence(Distribution.at(folder)) == name


def test_every_core_dependency_is_installed_and_has_a_known_licence() -> None:
    core = [one for one in told("--licences") if CORE in one["needed_by"]]
    assert {"click", "openai", "packaging", "pydantic-core"} <= {one["name"] for one in core}
    assert [one["name"] for one in core if not (one["version"] and one["licence"])] == []


def test_the_table_of_licences_names_what_is_unknown() -> None:
    lines = said("--licences").splitlines()
    (click,) = [line.split() for line in lines if line.startswith("click ")]
    assert click[2:] == ["BSD-3-Clause", "core"]
    assert "licence unknown: " in lines[-1]


def test_info_holds_what_a_bug_report_needs() -> None:
    found = told()
    assert {"program", "python", "platform", "cores", "encodings", "tasks", "extras", "dependencies", "plugins",
            "environment"} == set(found)  # fmt: skip
    assert {"installed", "missing"} == set(found["extras"]["vllm"])
    assert {"name": "meddc_core", "distribution": "meddc-bench", "version": found["program"]["version"],
            "problem": None}.items() <= next(one for one in found["plugins"] if one["name"] == "meddc_core").items()  # fmt: skip
    text = said()
    for line in (
        "meddc-bench ",
        "cores: ",
        "encodings: ",
        "tasks: ",
        "dependencies: ",
        "extras: ",
        "plugin meddc_core: ",
    ):
        assert any(one.startswith(line) for one in text.splitlines()), line


def test_variables_are_named_and_their_values_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MEDDC_CANARY", "DASHSCOPE_API_KEY", "https_proxy", "MY_PASSWORD"):
        monkeypatch.setenv(name, KEY)
    for text in (said(), said("--json")):
        assert "MEDDC_CANARY" in text
        assert "DASHSCOPE_API_KEY" in text
        assert "https_proxy" in text
        assert "MY_PASSWORD" not in text
        assert KEY not in text
