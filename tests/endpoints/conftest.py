"""Fixtures of the tests over HTTP: a server on the loopback, and a world whose roles are on it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "run" / "doubles"))
sys.path.insert(0, str(Path(__file__).resolve().parent / "doubles"))

from endpoint_lab import Lab
from meddc_harness import distribution

from meddc_openai.loopback import Loopback


@pytest.fixture(scope="session")
def doubles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the doubles' distribution."""
    return distribution(tmp_path_factory.mktemp("plugins"))


@pytest.fixture(autouse=True)
def nothing_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away what the environment says about endpoints, and the waits before a retry."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "MEDDC_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("meddc_bench.llm.chat.FIRST_WAIT", 0.0)


@pytest.fixture
def server() -> Iterator[Loopback]:
    """A server on a thread of its own."""
    with Loopback(keep_bodies=True).serving() as found:
        yield found


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, doubles: Path, server: Loopback) -> Lab:
    """A world whose roles are on the server."""
    return Lab(tmp_path, monkeypatch, doubles, server)
