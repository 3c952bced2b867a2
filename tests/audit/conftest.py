"""A world whose readers are known to favour one policy or the other."""

from __future__ import annotations

import json
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "run" / "doubles"))
sys.path.insert(0, str(Path(__file__).resolve().parent / "doubles"))

import sided
from meddc_harness import World, distribution, write_task


class SidedWorld(World):
    """A world with the policies, readers and judges of `sided` installed as well."""

    def points(self) -> list[EntryPoint]:
        return [*super().points(), sided.POINT]  # type: ignore[list-item]

    def sided_run(self, folder: str = "run", **keys: Any) -> Path:
        """Run `left` and `right` on six cases, two repeats; readers `fair` and `contrary` unless others are given."""
        keys = {"policies": ("left", "right"), "readers": ("fair", "contrary"), "patients": ("telling",), **keys}
        keys.setdefault("judges", ("equal",))
        self.run(folder, **keys)
        return self.root / folder

    def told(self, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
        """Run a verb with --json; return its exit code and what it printed, which holds no NaN."""
        code = self.cli(*words, "--json")
        (line,) = capsys.readouterr().out.splitlines()

        def refuse(name: str) -> None:
            raise AssertionError(f"{name} in JSON")

        found: dict[str, Any] = json.loads(line, parse_constant=refuse)
        return code, found


@pytest.fixture(scope="session")
def doubles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the doubles' distribution."""
    return distribution(tmp_path_factory.mktemp("plugins"))


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, doubles: Path) -> SidedWorld:
    """A folder with a task of six cases, and the ways to run."""
    found = SidedWorld(tmp_path, monkeypatch, doubles)
    write_task(tmp_path / "task", 6)
    return found
