"""The examples of docs/importing.md are imported without a fault, and the plugin registers what it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from meddc_bench.contracts import Options
from meddc_bench.registry import Registration, Registry
from meddc_importers import plugin

from . import made_cases
from .made import run
from .made_cases import take

DOCS = Path(__file__).parents[2] / "docs" / "importing.md"


def example(name: str, kind: str = "jsonl") -> str:
    """Return one example of the documentation."""
    found = re.search(rf"```{kind} {name}\n(.+?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
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


@pytest.mark.parametrize("name", ["mediq", "mtmeddialog", "cmb_clin"])
def test_the_examples_of_cases_become_cases(write: Any, name: str) -> None:
    result = take(name, write(example(name)))
    assert len(result.cases) == 1
    assert not result.of("defect")


def test_the_example_of_a_sheet_becomes_a_case(write: Any) -> None:
    assert [case.id for case in take("csv", write(example("sheet", "csv"), name="clinic.csv")).cases] == ["c-1"]


def test_the_example_of_ddxplus_becomes_a_case(tmp_path: Path) -> None:
    _, row = example("ddxplus", "csv").splitlines()
    assert take("ddxplus", made_cases.ddxplus(tmp_path, row)).case.diagnoses[0].name == "Bronchitis"


def test_every_importer_has_its_line_and_its_options_in_the_documentation() -> None:
    text = DOCS.read_text(encoding="utf-8")
    for one in Registry.load().entries("importer"):
        if one.distribution == "meddc-bench":
            assert f"| `{one.name}` |" in text
            for key in one.load_options().model_fields:
                assert f"| `{key}` |" in text


@pytest.mark.parametrize("name", ["ai_hospital", "cmb_clin", "csv", "ddxplus", "histories", "mediq", "mtmeddialog"])
def test_the_importers_are_registered_by_names_that_exist(name: str) -> None:
    registry = Registry()
    staged: list[Registration] = []
    registry._call_hooks(plugin, "meddc_importers", "meddc-bench", "0", staged)
    entry = next(one for one in staged if one.name == name)
    assert (entry.kind, entry.revision) == ("importer", plugin.REVISION)
    assert issubclass(entry.load_options(), Options)
    assert hasattr(entry.load_factory()(entry.load_options()(), None), "read")
