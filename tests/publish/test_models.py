"""Rows of language models: the model as named and as served, what it cost, and a served model that changed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from publish_lab import make_run, reasons, rows_of

from meddc_bench.publish.checks import Checker
from meddc_bench.registry import Registry
from meddc_openai.loopback import Loopback


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Loopback]:
    with Loopback().serving() as found:
        monkeypatch.setenv("OPENAI_BASE_URL", found.url)
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        monkeypatch.delenv("MEDDC_CACHE_DIR", raising=False)
        yield found


def on_models(folder: Path, **keys: object) -> Path:
    roles = {
        kind: [{"name": "openai", "label": "openai", "options": {"model": model, **more}}]
        for kind, model, more in (
            ("policies", "doctor", {"temperature": 0.7}), ("patients", "patient", {}), ("readers", "reader", {}),
            ("judges", "judge", {}),
        )
    }  # fmt: skip
    return make_run(folder, tasks=["meddc_record"], limit=2, **roles, **keys)


def test_a_row_names_its_models_as_served_and_what_they_cost(
    server: Loopback, tmp_path: Path, registry: Registry
) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text(
        "".join(f"{name}: {{prompt: 1, completion: 2}}\n" for name in ("doctor", "patient", "reader", "judge"))
    )
    row = rows_of(on_models(tmp_path / "run", prices=str(prices)))["openai"]
    assert (row.policy.model, row.policy.served, row.policy.sampling["temperature"]) == ("doctor", ("doctor",), 0.7)
    assert [getattr(row.instrument, kind).served for kind in ("patient", "reader", "judge")] == [
        ("patient",),
        ("reader",),
        ("judge",),
    ]
    assert row.usage is not None
    assert {one.role for one in row.usage.calls} == {"policy", "patient", "reader", "judge"}
    assert row.usage.cost is not None
    assert row.usage.cost_per_history == row.usage.cost / 4
    assert Checker(registry).faults(row) == []


def test_a_model_that_the_endpoint_swapped_during_the_run_blocks_publishing(server: Loopback, tmp_path: Path) -> None:
    server.model = "judge-0324"
    folder = on_models(tmp_path / "run", repeats=1)
    server.model = "judge-0801"
    on_models(tmp_path / "run", repeats=2)
    found = reasons(folder)
    assert "the model judge was served as judge-0324, judge-0801: it changed during the run" in found
