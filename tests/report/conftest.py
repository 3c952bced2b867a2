"""Fixtures of the tests of reports: the doubles, a world to run them in, and a report of a run."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "run" / "doubles"))

from meddc_harness import World, distribution

from meddc_bench import registry
from meddc_bench.report.content import report
from meddc_bench.report.measures import Options
from meddc_bench.report.page import Report
from meddc_bench.stored import open_run


@pytest.fixture(scope="session")
def doubles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the doubles' distribution."""
    return distribution(tmp_path_factory.mktemp("plugins"))


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, doubles: Path) -> World:
    """A folder with a small task, and the ways to run."""
    return World(tmp_path, monkeypatch, doubles)


@pytest.fixture
def reported(world: World, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Report]:
    """Run a campaign of the doubles and make the report of it."""

    def make(*, include_text: bool = False, folder: str = "run", **campaign: Any) -> Report:
        world.run(folder, **campaign)
        points = world.points()
        monkeypatch.setattr(registry, "entry_points", lambda **_: points)
        with open_run(world.root / folder) as run:
            return report(run, Options(draws=100, include_text=include_text))

    return make
