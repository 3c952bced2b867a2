"""The registry: a plugin at fault is named and left out, and no name is ever taken in silence."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from meddc_bench.contracts import Options, hookimpl
from meddc_bench.errors import PluginError, UsageError
from meddc_bench.registry import KINDS, Registry

MakePoint = Callable[..., Any]


def build(options: Any, context: Any) -> object:
    """A factory."""
    return object()


def problems(registry: Registry) -> dict[str, str | None]:
    return {plugin.name: plugin.problem for plugin in registry.plugins}


@pytest.fixture
def good(point: MakePoint) -> Any:
    """A plugin that is in order."""
    return point("good", dist="good-plugin", policies={"doctor": build}, readers={"careful": build})


# ── plugins at fault ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "error",
    [
        ImportError("no module named vllm"),
        SyntaxError("bad"),
        ZeroDivisionError("x"),
        SystemExit(3),
        AttributeError("y"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_plugin_that_fails_to_import_is_named_and_the_others_still_work(
    error: BaseException, good: Any, point: MakePoint
) -> None:
    registry = Registry.load([point("bad", fails=error), good])
    assert registry.names("policy") == ["doctor"]
    assert problems(registry) == {"good": None, "bad": f"{type(error).__name__}: {error}"}


def test_stopping_the_program_while_plugins_load_stops_it(point: MakePoint) -> None:
    with pytest.raises(KeyboardInterrupt):
        Registry.load([point("slow", fails=KeyboardInterrupt())])


def test_a_hook_that_raises_leaves_nothing_of_its_plugin_behind(good: Any, point: MakePoint) -> None:
    def half(register: Any) -> None:
        register("half", build)
        raise KeyError("settings")

    registry = Registry.load([point("broken", policies=half, judges={"mine": build}), good])
    assert (registry.names("policy"), registry.names("judge")) == (["doctor"], [])
    assert problems(registry)["broken"] == "KeyError: 'settings'"


def test_a_misspelt_hook_is_reported_and_not_silently_left_out(good: Any, point: MakePoint) -> None:
    registry = Registry.load([point("typo", polices={"doctor2": build}), good])
    assert "register_polices" in (problems(registry)["typo"] or "")
    assert registry.names("policy") == ["doctor"]


def test_a_hook_without_its_mark_is_reported(point: MakePoint) -> None:
    module = SimpleNamespace(register_policies=lambda register: register("doctor", build))
    registry = Registry.load([point("unmarked").__class__("unmarked", module)])
    assert problems(registry) == {"unmarked": "registers nothing: no function is marked with @hookimpl"}


def test_a_hook_that_asks_for_something_else_is_reported(point: MakePoint) -> None:
    module = SimpleNamespace(register_policies=hookimpl(lambda registry: registry))
    registry = Registry.load([point("old").__class__("old", module)])
    assert "registry" in (problems(registry)["old"] or "")


# ── names ────────────────────────────────────────────────────────────────────────────────────────


def test_a_name_two_distributions_take_is_usable_for_neither_and_both_are_named(good: Any, point: MakePoint) -> None:
    other = point("other", dist="other-plugin", policies={"doctor": build, "nurse": build})
    for order in ([good, other], [other, good]):
        registry = Registry.load(order)
        assert registry.names("policy") == ["nurse"]
        with pytest.raises(UsageError, match="policy 'doctor' is registered by good-plugin and other-plugin"):
            registry.get("policy", "doctor")
        told = "policy name 'doctor' is taken twice, by good-plugin and other-plugin; neither can be used"
        assert told in problems(registry).values()


def test_a_third_claim_to_a_name_does_not_bring_it_back(point: MakePoint) -> None:
    points = [point(name, dist=f"dist-{name}", policies={"doctor": build}) for name in "abc"]
    registry = Registry.load(points)
    assert registry.names("policy") == []
    with pytest.raises(UsageError, match="dist-a and dist-b and dist-c"):
        registry.get("policy", "doctor")


def test_every_clash_of_a_plugin_is_told(good: Any, point: MakePoint) -> None:
    other = point("other", dist="other-plugin", policies={"doctor": build}, readers={"careful": build})
    told = problems(Registry.load([good, other]))["other"] or ""
    assert "policy name 'doctor'" in told
    assert "reader name 'careful'" in told


def test_the_same_name_in_two_kinds_is_no_clash(point: MakePoint) -> None:
    registry = Registry.load([point("a", policies={"x": build}, readers={"x": build})])
    assert problems(registry) == {"a": None}
    assert registry.get("reader", "x").kind == "reader"


@pytest.mark.parametrize("name", ["emitted", "own", "OWN"])
def test_a_reader_cannot_take_the_name_of_a_condition_of_the_core(name: str, point: MakePoint) -> None:
    registry = Registry.load([point("sly", readers={name: build})])
    assert problems(registry) == {"sly": f"PluginError: plugin sly: reader name {name!r} is reserved"}
    assert registry.names("reader") == []


def test_a_policy_may_be_called_own(point: MakePoint) -> None:
    assert Registry.load([point("fine", policies={"own": build})]).names("policy") == ["own"]


@pytest.mark.parametrize("name", ["", "a b", "a=b", "a:b", "a,b", "a/b", "医生", "x" * 65, None, 3])
def test_a_name_that_the_command_line_could_not_write_is_refused(name: Any, point: MakePoint) -> None:
    registry = Registry.load([point("odd", policies=lambda register: register(name, build))])
    assert repr(name) in (problems(registry)["odd"] or "")
    assert registry.names("policy") == []


def test_an_unknown_name_offers_near_ones_and_mentions_plugins_that_failed(good: Any, point: MakePoint) -> None:
    registry = Registry.load([good, point("bad", fails=ImportError("x"))])
    with pytest.raises(UsageError) as failed:
        registry.get("policy", "docter")
    assert str(failed.value) == (
        "no policy is named 'docter'; did you mean 'doctor'? "
        "(plugins with problems: bad; see `meddc-bench plugins doctor`)"
    )


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_can_be_registered(kind: str, point: MakePoint) -> None:
    assert Registry.load([point("all", **{KINDS[kind]: {"x": build}})]).names(kind) == ["x"]


def test_a_behaviours_revision_defaults_to_its_distributions_version(point: MakePoint) -> None:
    def both(register: Any) -> None:
        register("plain", build)
        register("bumped", build, revision="7", provides=("generator",))

    registry = Registry.load([point("p", policies=both)])
    found = [(one.name, one.revision, one.version, one.provides) for one in registry.entries("policy")]
    assert found == [("bumped", "7", "1.2", ("generator",)), ("plain", "1.2", "1.2", ())]


# ── which plugins are loaded ─────────────────────────────────────────────────────────────────────


def test_load_plugins_limits_what_is_loaded(good: Any, point: MakePoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEDDC_LOAD_PLUGINS", " good , ")
    registry = Registry.load([good, point("bad", fails=ImportError("x"))])
    assert problems(registry) == {"good": None}


def test_an_empty_list_of_plugins_loads_none(good: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEDDC_LOAD_PLUGINS", "")
    assert Registry.load([good]).plugins == []


def test_a_typo_in_load_plugins_is_reported_and_not_taken_for_no_plugins(
    good: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEDDC_LOAD_PLUGINS", "goood")
    assert problems(Registry.load([good])) == {
        "goood": "MEDDC_LOAD_PLUGINS names it, but it is not installed; did you mean 'good'?"
    }


def test_the_order_in_which_plugins_are_found_changes_nothing(good: Any, point: MakePoint) -> None:
    points = [good, *(point(name, dist=name, policies={f"p-{name}": build}) for name in "cab")]
    one, other = Registry.load(points), Registry.load(reversed(points))
    assert one.plugins == other.plugins
    assert one.entries("policy") == other.entries("policy")


def test_everything_installed_here_loads_and_can_be_imported(installed: Registry) -> None:
    assert [plugin for plugin in installed.plugins if plugin.problem] == []
    entries = [entry for kind in KINDS for entry in installed.entries(kind)]
    assert len(entries) > 20
    assert all(callable(entry.load_factory()) and issubclass(entry.load_options(), Options) for entry in entries)


# ── "module:name" ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "target",
    [
        "json",
        "json:",
        ":dumps",
        "",
        "no_such_module_x:y",
        "json:no_such_name",
        "json:dumps:x",
        ".relative:x",
        "a b:c",
        "broken_plugin_module:x",
        "unreadable_plugin_module:x",
    ],
)
def test_a_bad_module_name_is_its_plugins_fault_and_is_quoted(
    target: str, point: MakePoint, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_plugin_module.py").write_text("1 / 0\n", encoding="utf-8")
    (tmp_path / "unreadable_plugin_module.py").write_text("def (\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    entry = Registry.load([point("p", policies={"x": (target, target)})]).get("policy", "x")
    for load in (entry.load_factory, entry.load_options):
        with pytest.raises(PluginError) as failed:
            load()
        assert str(failed.value).startswith(f"plugin p: cannot import {target!r}: ")


@pytest.mark.parametrize("options", [dict, "json:JSONDecoder", "json:dumps", 3])
def test_options_that_are_no_options_are_refused(options: Any, point: MakePoint) -> None:
    entry = Registry.load([point("p", policies={"x": (build, options)})]).get("policy", "x")
    with pytest.raises(PluginError, match="options of policy 'x' must be a subclass of Options"):
        entry.load_options()


@pytest.mark.parametrize("factory", [3, None, "json:__version__"])
def test_a_factory_that_cannot_be_called_is_refused(factory: Any, point: MakePoint) -> None:
    entry = Registry.load([point("p", policies={"x": factory})]).get("policy", "x")
    with pytest.raises(PluginError, match="factory of policy 'x' cannot be called"):
        entry.load_factory()


def test_nothing_is_imported_until_a_name_is_used(point: MakePoint) -> None:
    registry = Registry.load([point("p", policies={"x": ("no_such_module_x:y", "no_such_module_x:z")})])
    assert registry.names("policy") == ["x"]
    assert problems(registry) == {"p": None}
