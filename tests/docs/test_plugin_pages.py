"""Every hook and every contract method has a section, an example that works, and a test."""

from __future__ import annotations

import dataclasses
import re
import sys
import types
from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import msgspec
import pytest

from meddc_bench import contracts
from meddc_bench.campaign import build
from meddc_bench.registry import KINDS, Registry
from meddc_bench.run import execute, prepare
from meddc_bench.scaffold import create
from meddc_bench.testing import PROPERTIES, SUITES, Subject, check

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "plugins"
CODE = re.compile(r"```python (\w+)\.py\n(.*?)```", re.DOTALL)
EXAMPLE = re.compile(r"```text (example\.\w+)\n(.*?)```", re.DOTALL)

PROTOCOLS: dict[str, tuple[Any, ...]] = {
    "policy": (contracts.Policy, contracts.Generator),
    "patient": (contracts.Patient,),
    "reader": (contracts.Reader,),
    "judge": (contracts.Judge,),
    "metric": (contracts.Metric,),
    "environment": (contracts.Environment, contracts.Visit),
    "importer": (contracts.Importer,),
    "task": (),
}
RECORDS: dict[str, tuple[Any, ...]] = {
    "policy": (contracts.PolicyView, contracts.Reply, contracts.Budget, contracts.MenuItem, contracts.Call,
               contracts.Completion, contracts.Message),
    "patient": (contracts.PatientView, contracts.Answer, contracts.Fact),
    "reader": (contracts.ReaderView, contracts.Reading),
    "judge": (contracts.JudgeView, contracts.Found, contracts.Reference, contracts.Item, contracts.Edge),
    "metric": (contracts.Unit, contracts.Assignment, contracts.TraceStep),
    "environment": (contracts.Step, contracts.Action),
    "importer": (contracts.Imported, contracts.Fault, contracts.About),
    "task": (),
}  # fmt: skip
OWN = {"render", "axis"}
"""Fields that are the program's own affair, or the key of a mapping."""


def page(kind: str) -> str:
    return (PAGES / f"{kind}.md").read_text(encoding="utf-8")


def methods(protocol: Any) -> set[str]:
    """The public names that a protocol asks for."""
    return {name for name in vars(protocol) if not name.startswith("_")}


def fields(record: Any) -> set[str]:
    if dataclasses.is_dataclass(record):
        return {one.name for one in dataclasses.fields(record)}
    if issubclass(record, msgspec.Struct):
        return set(record.__struct_fields__)
    return set(record.model_fields)


def documented(text: str) -> set[str]:
    """The names in code marks, whatever stands beside them: `act(view)`, `view.turns`."""
    return {name for marked in re.findall(r"`([^`\n]+)`", text) for name in re.findall(r"\w+", marked)}


def hooks() -> set[str]:
    """The hooks of the plugin API, as pluggy sees them."""
    return {name for name, found in vars(contracts).items() if hasattr(found, "meddc_bench_spec")}


def test_every_hook_has_a_page_with_a_section_of_its_own_an_example_and_a_template(
    installed: Registry, tmp_path: Path
) -> None:
    assert hooks() == {f"register_{plural}" for plural in KINDS.values()}
    for kind, plural in KINDS.items():
        (_, code), *_ = CODE.findall(page(kind))
        assert f"## register_{plural}\n" in page(kind)
        assert f"@hookimpl\ndef register_{plural}(register):" in code
        made = create(kind, f"tried_{kind}", tmp_path / kind, installed)
        plugin = made.folder / f"tried_{kind}" / "plugin.py"
        assert f"def register_{plural}(" in plugin.read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", KINDS)
def test_every_method_of_a_contract_is_described_shown_and_checked(kind: str) -> None:
    assert set(PROTOCOLS) == set(KINDS) == set(SUITES)
    (_, code), *_ = CODE.findall(page(kind))
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "meddc_bench" / "testing").glob("*.py"))
    for protocol in PROTOCOLS[kind]:
        wanted = methods(protocol)
        assert wanted
        assert wanted - documented(page(kind)) == set(), f"docs/plugins/{kind}.md says nothing of {protocol.__name__}"
        if protocol is not contracts.Generator:
            shown = {name for name in wanted if re.search(rf"\b{name}\b", code)}
            assert wanted - shown == set(), f"the example of docs/plugins/{kind}.md does not show {protocol.__name__}"
        untried = {name for name in wanted if not re.search(rf"\.{name}\b|\"{name}\"", sources)}
        assert untried == set(), f"no check calls {protocol.__name__}"


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_of_what_goes_in_and_out_is_described(kind: str) -> None:
    names = documented(page(kind))
    for record in RECORDS[kind]:
        assert fields(record) - names - OWN == set(), f"docs/plugins/{kind}.md says nothing of {record.__name__}"


def test_every_parameter_of_register_and_every_part_of_a_context_is_described() -> None:
    import inspect

    names = documented((PAGES / "README.md").read_text(encoding="utf-8")) | {"name", "factory"}
    wanted = set(inspect.signature(contracts.Register.__call__).parameters) - {"self"}
    assert wanted - names == set()
    assert {"label", "secret", "build", "media"} <= names


def test_every_property_and_fixture_is_listed() -> None:
    from meddc_bench.testing import fixtures

    text = (PAGES / "README.md").read_text(encoding="utf-8")
    names = documented(text) | documented("".join(map(page, ("metric", "environment", "importer", "task"))))
    assert {one.name for found in PROPERTIES.values() for one in found()} - names == set()
    assert {name for name in vars(fixtures) if name.startswith("meddc_")} - names == set()
    assert {suite.__name__ for suite in SUITES.values()} - names == set()


# ── the examples ─────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def shown(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Registry]]:
    """The plugin of a page, as it is written, beside what is installed."""
    kind: str = request.param
    ((name, code),) = CODE.findall(page(kind))
    module = types.ModuleType(name)
    exec(code, module.__dict__)  # the page's own code
    sys.modules[name] = module
    try:
        yield kind, Registry.load([*entry_points(group="meddc_bench"), EntryPoint(name, name, "meddc_bench")])
    finally:
        del sys.modules[name]


@pytest.mark.parametrize("shown", [kind for kind in KINDS if kind != "task"], indirect=True)
def test_the_plugin_of_a_page_passes_the_check(shown: tuple[str, Registry], tmp_path: Path) -> None:
    kind, registry = shown
    (name,) = [one.name for one in registry.entries(kind) if one.distribution == "(unknown)"]
    example = None
    for file, text in EXAMPLE.findall(page(kind)):
        example = tmp_path / file
        example.write_text(text, encoding="utf-8")
    report = check(Subject(registry, kind, name, file=example))
    assert report.named("passed") == tuple(one.name for one in PROPERTIES[kind]()), [
        str(one) for one in report.verdicts
    ]


@pytest.mark.parametrize("shown", ["policy", "patient", "reader", "judge"], indirect=True)
def test_the_plugin_of_a_page_runs(shown: tuple[str, Registry], tmp_path: Path) -> None:
    kind, registry = shown
    (name,) = [one.name for one in registry.entries(kind) if one.distribution == "(unknown)"]
    roles = {"policies": [{"name": "checklist", "label": "doctor"}]}
    roles |= {KINDS[kind]: [{"name": name, "label": "mine"}]}
    campaign = build({"tasks": ["meddc_record"], "limit": 2, "repeats": 1, **roles})
    finished = execute(campaign, prepare(campaign, registry), registry, tmp_path / "run")
    rows = finished.results["tasks"]["meddc_record"]["rows"]
    assert rows
    assert all(row["outcomes"] == {"scored": 2} for row in rows)
    assert any("mine" in row.values() for row in rows)


@pytest.mark.parametrize("shown", ["task"], indirect=True)
def test_the_tasks_of_the_page_are_found_and_checked(
    shown: tuple[str, Registry], tmp_path: Path, installed: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, registry = shown
    made = create("task", "clinic", tmp_path / "made", installed).folder / "clinic"
    made.rename(tmp_path / "clinic_tasks_data")
    monkeypatch.syspath_prepend(tmp_path)
    assert [path.name for path in registry.task_folders()] == ["tasks"]
    assert check(Subject(registry, "task", "clinic_tasks")).named("passed") == ("loads", "lint", "self_check", "card")
