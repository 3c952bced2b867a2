"""The examples of docs/importing.md are imported without a fault, and the plugin registers what it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from meddc_bench.contracts import Options
from meddc_bench.registry import Registration, Registry
from meddc_importers import plugin

from .made import run

DOCS = Path(__file__).parents[2] / "docs" / "importing.md"


def example(name: str) -> str:
    """Return one example of the documentation."""
    found = re.search(rf"```jsonl {name}\n(.+?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


@pytest.mark.parametrize(
    ("importer", "histories", "references", "count"),
    [
        ("histories", "histories", "references", 2),
        ("histories", "own", None, 1),
        ("ai_hospital", "upstream", None, 1),
        ("ai_hospital", "extract", "ai_hospital-references", 1),
    ],
)
def test_the_examples_of_the_documentation_work(
    write: Any, importer: str, histories: str, references: str | None, count: int
) -> None:
    options = {"references": str(write(example(references), name="refs.jsonl"))} if references else {}
    result = run(importer, write(example(histories)), **options)
    assert not result.faults
    assert len(result.imported) == count


def test_the_upstream_example_shows_the_list_it_speaks_of(write: Any) -> None:
    action = run("ai_hospital", write(example("upstream"))).only.history.diagnosis_action
    assert action is not None
    assert action.arguments == {"diagnoses": ["脑梗死", "高血压"]}


@pytest.mark.parametrize("name", ["ai_hospital", "histories"])
def test_the_importers_are_registered_by_names_that_exist(name: str) -> None:
    registry = Registry()
    staged: list[Registration] = []
    registry._call_hooks(plugin, "meddc_importers", "meddc-bench", "0", staged)
    entry = next(one for one in staged if one.name == name)
    assert (entry.kind, entry.revision) == ("importer", plugin.REVISION)
    assert issubclass(entry.load_options(), Options)
    assert hasattr(entry.load_factory()(entry.load_options()(), None), "read")
