"""Fixtures for the tests of a plugin: `pytest_plugins = ["meddc_bench.testing.fixtures"]` in its conftest.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from meddc_bench import campaign, run
from meddc_bench.contracts import Unit
from meddc_bench.registry import Registry
from meddc_bench.testing import metrics, worlds
from meddc_bench.testing.worlds import World
from meddc_bench.wiring import Adapter


@pytest.fixture(scope="session")
def meddc_registry() -> Registry:
    """All that is installed."""
    return Registry.load()


@pytest.fixture(scope="session")
def meddc_adapter(meddc_registry: Registry) -> Callable[..., Any]:
    """Build an installed adapter: `meddc_adapter("metric", "D", option=1)`."""
    return lambda kind, name, **options: Adapter(meddc_registry, kind, name, name, options).get()


@pytest.fixture
def meddc_world() -> Iterator[World]:
    """Three cases with their histories and readings: `.cases`, `.history(0)`, `.reading(0)`."""
    with worlds.world() as here:
        yield here


@pytest.fixture(scope="session")
def meddc_units() -> tuple[Unit, ...]:
    """Sixty units of all sorts for a metric, the same every time."""
    return metrics.units()


@pytest.fixture
def meddc_run(meddc_registry: Registry, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Run a campaign and return its results: `meddc_run(policies=["my_doctor"], limit=2)`."""

    def start(**keys: Any) -> dict[str, Any]:
        roles: dict[str, list[dict[str, Any]]] = {
            plural: [one if isinstance(one, dict) else {"name": one, "label": one} for one in keys.pop(plural)]
            for plural in ("policies", "patients", "readers", "judges")
            if plural in keys
        }
        data = {"tasks": ["meddc_record"], "limit": 1, "repeats": 1, **keys, **roles}
        built = campaign.build(data)
        benches = run.prepare(built, meddc_registry)
        return run.execute(built, benches, meddc_registry, tmp_path / "run").results

    return start
