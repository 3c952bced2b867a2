"""Adapters say which languages they work on, and a run that does not fit is refused before anything is paid."""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from meddc_bench.cli import root
from meddc_bench.contracts import ReaderView, hookimpl
from meddc_bench.environments import replies, replies_en
from meddc_bench.environments.catalogue import catalogue
from meddc_bench.environments.menus import actions
from meddc_bench.errors import UsageError
from meddc_bench.registry import Registry
from meddc_offline.bilingual import KnowledgeReader

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


@pytest.fixture(scope="module")
def english(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An English task, imported."""
    folder = tmp_path_factory.mktemp("tasks") / "stations"
    done = CliRunner().invoke(root, ["import", "agentclinic", str(EXAMPLES / "agentclinic.jsonl"), "-o", str(folder)])
    assert done.exit_code == 0, done.output
    return folder


@pytest.fixture
def run(english: Path, tmp_path: Path) -> Callable[..., Any]:
    def go(*words: str, task: str | None = None) -> Any:
        return CliRunner().invoke(root, ["run", "-t", task or f"{english}/", *words, "-o", str(tmp_path / "run")])

    return go


def test_a_chinese_doctor_on_an_english_task_is_refused_with_what_to_use_instead(run: Callable[..., Any]) -> None:
    error = run("--policy", "shuffled").exception
    assert isinstance(error, UsageError)
    for word in ("stations", "'en'", "shuffled", "only zh", "brief or checklist or eager or workup", "ls policies"):
        assert word in str(error)


def test_a_plugin_that_declares_no_language_takes_all() -> None:
    registry = Registry.load()
    assert registry.get("policy", "openai").languages == ()
    assert registry.get("policy", "openai").speaks("sw")
    assert registry.get("patient", "grounded").languages == ("zh", "en")
    assert not registry.get("policy", "shuffled").speaks("en")


def test_a_plugin_of_before_still_registers_and_one_with_a_language_is_held_to_it(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    module = types.ModuleType("swahili_plugin")

    @hookimpl
    def register_policies(register: Any) -> None:
        register("plain", "meddc_offline.bilingual:Eager")
        register("swahili", "meddc_offline.bilingual:Eager", languages=["sw"])

    module.register_policies = register_policies  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "swahili_plugin", module)
    points = [*entry_points(group="meddc_bench"), EntryPoint("swahili", "swahili_plugin", "meddc_bench")]
    found = Registry.load(points)
    assert (found.get("policy", "plain").languages, found.get("policy", "swahili").languages) == ((), ("sw",))
    monkeypatch.setattr(Registry, "load", classmethod(lambda cls, *_: found))
    assert run("--policy", "plain").exit_code == 0
    assert "speaks only sw" in str(run("--policy", "swahili").exception)


def test_languages_given_as_one_text_are_refused_with_the_plugin_named(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("careless_plugin")

    @hookimpl
    def register_readers(register: Any) -> None:
        register("careless", "meddc_offline.bilingual:KnowledgeReader", languages="en")

    module.register_readers = register_readers  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "careless_plugin", module)
    found = Registry.load([EntryPoint("careless", "careless_plugin", "meddc_bench")])
    assert "languages='en', expected a list: ['en']" in str(found.plugins[0].problem)


async def test_a_language_that_neither_side_knows_is_an_error_and_never_taken_for_english() -> None:
    view = ReaderView((), 0, "fr")
    with pytest.raises(ValueError, match="not on 'fr'"):
        await KnowledgeReader().read(view)


def test_ls_shows_the_languages() -> None:
    lines = CliRunner().invoke(root, ["ls", "policies"]).output.splitlines()
    assert any(line.startswith("workup") and line.endswith("languages zh, en") for line in lines)
    assert any(line.startswith("shuffled") and line.endswith("languages zh") for line in lines)
    assert any(line.startswith("openai") and "languages" not in line for line in lines)


def test_the_environment_says_the_same_things_in_both_languages() -> None:
    def public(module: types.ModuleType) -> dict[str, Any]:
        own = {name: value for name, value in vars(module).items() if not name.startswith("_")}
        return {
            name: inspect.signature(value) if inspect.isfunction(value) else type(value)
            for name, value in own.items()
            if (inspect.isfunction(value) and value.__module__ == module.__name__) or name.isupper()
        }

    chinese, english = public(replies), public(replies_en)
    chinese.pop("SIDES", None)
    english.pop("SIDES", None)
    assert chinese == english
    assert not [
        line
        for name, line in vars(replies_en).items()
        if name.isupper() and isinstance(line, str) and any("一" <= c <= "鿿" for c in line)
    ]


def test_english_menus_name_what_the_catalogue_finds() -> None:
    known = catalogue()
    for name, argument, kind in (
        ("physical_examination", "examinations", "examination"), ("order_tests", "tests", "test"),
    ):  # fmt: skip
        listed = actions("en")[name].parameters["properties"][argument]["items"]["enum"]
        assert len(listed) in (21, 42)
        assert all(known.find(kind, one).entry is not None for one in listed)  # type: ignore[arg-type]
    assert all(item.description.isascii() for item in actions("en").values())
    assert actions("zh").keys() == actions("en").keys()


def test_the_english_names_of_doctors_lead_to_one_item_each() -> None:
    known = catalogue()
    for name, item in (
        ("Complete Blood Count", "laboratory:hematology"), ("chest x-ray", "imaging:computed radiography"),
        ("Lumbar puncture", "laboratory:general laboratory testing"), ("echocardiogram", "physiologic:echocardiography"),
    ):  # fmt: skip
        found = known.find("test", name).entry
        assert found is not None
        assert found.id == item
    for entry in (*known.tests, *known.examinations):
        kind: Any = "examination" if entry.category == "physical_examination" else "test"
        english = [alias for alias in entry.aliases if alias.isascii()]
        assert [alias for alias in english if known.find(kind, alias).entry not in (entry, None)] == []
