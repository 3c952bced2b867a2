"""Fixtures of the tests of runs: the doubles and a world to run them in."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent / "doubles"))

from meddc_harness import World, distribution


@pytest.fixture(scope="session")
def doubles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the doubles' distribution."""
    return distribution(tmp_path_factory.mktemp("plugins"))


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, doubles: Path) -> World:
    """A folder with a small task, and the ways to run."""
    return World(tmp_path, monkeypatch, doubles)
