"""Adapters from a campaign: their options checked at once, their secrets nowhere, their parts closed."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, field_validator

from meddc_bench.contracts import Local, Options, Spec
from meddc_bench.errors import MedDDCError, PluginError, UsageError
from meddc_bench.fingerprint import canonical
from meddc_bench.registry import Registry
from meddc_bench.wiring import Adapter

MakePoint = Callable[..., Any]
CANARY = "sk-canary-0123456789"


class Endpoint(Options):
    """Options of an adapter that calls an endpoint."""

    model: str = "m"
    base_url: Annotated[str, Local()] = "http://localhost"
    retries: Annotated[int | None, Field(ge=0), Local()] = None
    temperature: float = Field(0.0, ge=0, le=2)
    mode: Literal["fast", "slow"] = "fast"
    names: tuple[str, ...] = ()


class Checked(Options):
    """Options whose own validator fails in its own way."""

    key: str = ""

    @field_validator("key")
    @classmethod
    def check(cls, value: str) -> str:
        """Refuse everything, as a careless plugin does."""
        raise KeyError(value)


class Built:
    """An adapter that knows what it was built from and whether it was closed."""

    def __init__(self, options: Any, context: Any):
        self.options, self.context, self.closed = options, context, 0

    async def aclose(self) -> None:
        self.closed += 1


class Ensemble(Built):
    """An adapter that builds another."""

    def __init__(self, options: Any, context: Any):
        super().__init__(options, context)
        self.part = context.build("judge", Spec("plain", {"model": "inner"}))


def fails(options: Any, context: Any) -> Any:
    raise ValueError("no GPU")


def nothing(options: Any, context: Any) -> None:
    return None


def keyed(options: Any, context: Any) -> Any:
    return context.secret("SOME_KEY")


def orphan(options: Any, context: Any) -> Any:
    return context.build("judge", Spec("plian"))


@pytest.fixture
def registry(point: MakePoint) -> Registry:
    judges = {
        "plain": (Built, Endpoint), "ensemble": (Ensemble, Endpoint), "fails": fails, "nothing": nothing,
        "checked": (Built, Checked), "missing": "no_such_module_x:y",
        "keyed": keyed,
        "orphan": orphan,
    }  # fmt: skip
    return Registry.load([point("p", judges=judges)])


def adapter(registry: Registry, name: str, label: str = "label", **options: Any) -> Adapter:
    return Adapter(registry, "judge", name, label, options)


# ── options ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"modle": "x"}, "judge 'plain' has no option 'modle'; did you mean 'mode' or 'model'?"),
        ({"zzz": 1}, "judge 'plain' has no option 'zzz'; there is: base_url, mode, model, names, retries, temperature"),
        ({"temperature": "hot"}, "judge 'plain', option 'temperature': Input should be a valid number"),
        ({"temperature": 9}, "judge 'plain', option 'temperature': Input should be less than or equal to 2"),
        ({"mode": "x"}, "judge 'plain', option 'mode': Input should be 'fast' or 'slow'"),
        ({"retries": -1}, "judge 'plain', option 'retries': Input should be greater than or equal to 0"),
    ],
)
def test_an_option_that_no_one_reads_or_can_use_stops_the_run_before_it_begins(
    options: dict[str, Any], message: str, registry: Registry
) -> None:
    with pytest.raises(UsageError) as failed:
        adapter(registry, "plain", **options)
    assert str(failed.value).startswith(message)


def test_an_adapter_without_options_says_so(registry: Registry) -> None:
    with pytest.raises(UsageError, match="judge 'fails' has no option 'file'; there is none"):
        adapter(registry, "fails", file="x")


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("plain", {"api_key": CANARY}),
        ("plain", {"temperature": CANARY}),
        ("plain", {"mode": CANARY}),
        ("plain", {"model": {"key": CANARY}}),
        ("plain", {"names": [CANARY, 3]}),
        ("plain", {"retries": CANARY}),
        ("checked", {"key": CANARY}),
    ],
)
def test_a_secret_given_as_an_option_is_in_no_message_note_or_traceback(
    name: str, options: dict[str, Any], registry: Registry
) -> None:
    with pytest.raises(MedDDCError) as failed:
        adapter(registry, name, **options)
    assert CANARY not in "".join(traceback.format_exception(failed.value))
    assert not isinstance(failed.value.__cause__, BaseException)


def test_words_of_the_command_line_become_numbers_and_truth_values(registry: Registry) -> None:
    built = adapter(registry, "plain", temperature="0.5", retries="3").get()
    assert (built.options.temperature, built.options.retries) == (0.5, 3)


# ── identity ─────────────────────────────────────────────────────────────────────────────────────


def test_moving_an_endpoint_redoes_nothing(registry: Registry) -> None:
    here = adapter(registry, "plain", base_url="http://a", retries=1)
    there = adapter(registry, "plain", "other-label", base_url="http://b", retries=2)
    assert canonical(here.identity) == canonical(there.identity)
    assert set(here.identity["options"]) == {"model", "temperature", "mode", "names"}


@pytest.mark.parametrize("options", [{"model": "n"}, {"temperature": 0.5}, {"mode": "slow"}, {"names": ["a"]}])
def test_changing_what_is_measured_makes_another_identity(options: dict[str, Any], registry: Registry) -> None:
    assert canonical(adapter(registry, "plain", **options).identity) != canonical(adapter(registry, "plain").identity)


def test_an_option_written_out_at_its_default_is_the_same_adapter(registry: Registry) -> None:
    assert adapter(registry, "plain", model="m").identity == adapter(registry, "plain").identity


def test_another_plugin_or_revision_under_the_same_name_is_another_adapter(point: MakePoint) -> None:
    def revised(register: Any) -> None:
        register("plain", Built, Endpoint, revision="2")

    sources = [
        point("p", judges={"plain": (Built, Endpoint)}),
        point("p", judges=revised),
        point("q", judges={"plain": (Built, Endpoint)}),
        point("p", dist="fork", judges={"plain": (Built, Endpoint)}),
    ]
    identities = {canonical(adapter(Registry.load([one]), "plain").identity) for one in sources}
    assert len(identities) == 4


# ── building and closing ─────────────────────────────────────────────────────────────────────────


def test_an_adapter_is_built_once_and_only_when_it_is_needed(registry: Registry) -> None:
    broken = adapter(registry, "missing")
    assert broken.identity["name"] == "missing"
    with pytest.raises(PluginError, match="cannot import 'no_such_module_x:y'"):
        broken.get()
    one = adapter(registry, "plain")
    assert one.get() is one.get()
    assert one.get().context.label == "label"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("fails", "plugin p: judge 'fails': its factory raised ValueError: no GPU"),
        ("nothing", "plugin p: judge 'nothing': its factory gave nothing"),
    ],
)
def test_a_factory_that_fails_is_named_with_its_plugin(name: str, message: str, registry: Registry) -> None:
    with pytest.raises(PluginError) as failed:
        adapter(registry, name).get()
    assert str(failed.value) == message


def test_a_key_that_is_not_set_is_asked_for_by_the_name_of_its_variable(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SOME_KEY", raising=False)
    with pytest.raises(UsageError, match="label: the environment variable SOME_KEY is not set"):
        adapter(registry, "keyed").get()


def test_a_key_that_is_set_shows_in_no_print(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", CANARY)
    secret = adapter(registry, "keyed").get()
    assert secret.get_secret_value() == CANARY
    assert CANARY not in f"{secret} {secret!r}"


def test_an_unknown_part_of_an_ensemble_is_named(registry: Registry) -> None:
    with pytest.raises(UsageError, match="no judge is named 'plian'; did you mean 'plain'"):
        adapter(registry, "orphan").get()


async def test_closing_an_ensemble_closes_what_it_was_built_of(registry: Registry) -> None:
    outer = adapter(registry, "ensemble")
    built = outer.get()
    await outer.aclose()
    assert (built.closed, built.part.closed, built.part.options.model) == (1, 1, "inner")


async def test_the_parts_are_closed_even_when_closing_the_whole_fails(registry: Registry) -> None:
    outer = adapter(registry, "ensemble")
    built = outer.get()

    async def breaks() -> None:
        raise ConnectionError("gone")

    built.aclose = breaks
    with pytest.raises(ConnectionError):
        await outer.aclose()
    assert built.part.closed == 1


def test_closing_what_was_never_built_builds_nothing(registry: Registry) -> None:
    assert asyncio.run(adapter(registry, "missing").aclose()) is None
