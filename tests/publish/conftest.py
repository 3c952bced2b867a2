"""Fixtures of the tests of publishing: a real small run, and rows of it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent / "doubles"))

from publish_lab import make_run, rows_of, write_task

from meddc_bench.publish.checks import Checker
from meddc_bench.publish.row import MeasuredRow
from meddc_bench.registry import Registry


@pytest.fixture(scope="session")
def registry() -> Registry:
    return Registry.load()


@pytest.fixture(scope="session")
def checker(registry: Registry) -> Checker:
    return Checker(registry)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of three shipped cases, two policies, two repeats; not to be changed."""
    return make_run(tmp_path_factory.mktemp("finished") / "run", tasks=["meddc_record"], limit=3)


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    """A copy of the run, to be changed."""
    return Path(shutil.copytree(finished, tmp_path / "run"))


@pytest.fixture(scope="session")
def rows(finished: Path) -> dict[str, MeasuredRow]:
    """The rows of the run, by policy."""
    return rows_of(finished)


@pytest.fixture(scope="session")
def row(rows: dict[str, MeasuredRow]) -> MeasuredRow:
    return rows["shuffled"]


@pytest.fixture(scope="session")
def private(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, MeasuredRow]:
    """A finished run of a private task, and its row."""
    root = tmp_path_factory.mktemp("private")
    task = write_task(root / "ward", "private: true\n")
    folder = make_run(root / "run", tasks=[str(task)], policies=["shuffled"])
    return folder, rows_of(folder)["shuffled"]
