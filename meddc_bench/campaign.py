"""The campaign: what to run on what, from a YAML file (`-C`), the command line, or both (the command line wins)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from meddc_bench import yamlfile
from meddc_bench.errors import UsageError, suggest
from meddc_bench.records import CONDITIONS
from meddc_bench.task import Config, RoleSpec, named

LABEL = r"^[a-z0-9._-]{1,64}$"


class Role(Config):
    """An adapter of the campaign."""

    name: str = Field(description="The plugin's name.")
    label: str = Field(pattern=LABEL, description="What it is called in results; its name in lower case if left out.")
    options: dict[str, Any] = Field({}, description="The plugin's options.")


class ProtocolChoices(Config):
    """Protocol options that a campaign may set for all its tasks."""

    view: Literal["cut", "mask", "full"] | None = Field(None, description="What a reader sees of an early diagnosis.")
    volunteered: Literal["unmatched", "all", "off"] | None = Field(
        None, description="Which targets are checked for having been volunteered."
    )
    empty_on_failure: bool | None = Field(None, description="The paper's rule: a failed judge step is an empty list.")
    top_k: int | None = Field(None, ge=1, le=50, description="Diagnoses that count.")


class Campaign(Config):
    """A campaign. Every key but `tasks` and `policies` has a default; the task's instrument fills roles left out."""

    tasks: tuple[str, ...] = Field((), description="Tasks or groups, by name or path.")
    policies: tuple[Role, ...] = Field((), description="The policies to evaluate.")
    patients: tuple[Role, ...] = Field((), description="Simulated patients; the instrument's where left out.")
    readers: tuple[Role, ...] = Field((), description="Readers, or `own`; the instrument's where left out.")
    judges: tuple[Role, ...] = Field((), description="Judges; the instrument's where left out.")
    metrics: tuple[str, ...] = Field(
        (), exclude_if=lambda metrics: not metrics, description="Metrics beside those that the tasks name."
    )
    instrument: str = Field("offline", description="The task's named patient, readers and judge.")
    include_path: tuple[str, ...] = Field((), description="More folders to look for tasks in.")
    repeats: int | None = Field(None, ge=1, le=1000, description="Repeats of each history; the task's where left out.")
    asks: int = Field(1, ge=1, le=100, description="Times each judge is asked, for noise floors.")
    seed: int = Field(0, description="Seed of the run.")
    limit: int | None = Field(None, ge=1, description="Only the first N cases of each task.")
    protocol: ProtocolChoices = ProtocolChoices()
    environment: Annotated[RoleSpec | None, BeforeValidator(named)] = Field(
        None,
        exclude_if=lambda environment: environment is None,
        description="Options that go over a task's own, for the tasks in this environment.",
    )
    max_connections: int = Field(
        16,
        ge=1,
        le=4096,
        description="Connections to an endpoint at once; a quarter more consultations are in progress.",
    )
    max_retries: int | None = Field(
        None, ge=0, le=100, description="Retries of infrastructure failures: of an endpoint's call 8, of others 2."
    )
    timeout: float | None = Field(
        None,
        gt=0,
        allow_inf_nan=False,
        description="Seconds an adapter's call, or an attempt at an endpoint, may take.",
    )
    prices: str | None = Field(None, description="Price table: MODEL: {prompt: 2.0, completion: 8.0} a million tokens.")
    cost_limit: float | None = Field(
        None,
        gt=0,
        allow_inf_nan=False,
        description="Stop when the calls have cost more, in the price table's currency.",
    )
    predict_only: bool = Field(False, description="Roll out only.")
    output_path: str | None = Field(None, description="Run folder.")


HOW: frozenset[str] = frozenset(
    {"max_connections", "max_retries", "timeout", "output_path", "include_path", "prices", "cost_limit"}
)
"""Keys that say how to run, not what is measured."""


def load(path: Path) -> dict[str, Any]:
    """Read a campaign file into plain data, checked by itself.

    Roles may be written short: `policies: [checklist, {name: brief, label: short, options: {...}}]`.
    """
    document = yamlfile.load(path)
    if not isinstance(document.data, dict):
        raise document.error("expected keys and values, such as `tasks: [meddc]`")
    for kind in ("policies", "patients", "readers", "judges"):
        given = document.data.get(kind)
        if given is not None:
            if not isinstance(given, list):
                raise document.error("expected a list of names or of {name, label, options}", kind)
            document.data[kind] = [_long(role) for role in given]
    yamlfile.validate(Campaign, document)
    return dict(document.data)


def build(data: Mapping[str, Any]) -> Campaign:
    """Check merged data as a campaign; labels must be unique within a kind."""
    campaign = yamlfile.validate(Campaign, yamlfile.Document(dict(data), Path("campaign")))
    for kind in ("policies", "patients", "readers", "judges"):
        labels = [role.label for role in getattr(campaign, kind)]
        for label in labels:
            if labels.count(label) > 1:
                raise UsageError(f"{kind}: the label {label!r} is used twice; give one another: NEW_LABEL={label}")
    for role in campaign.readers:
        _check_condition(role)
    return campaign


def _check_condition(role: Role) -> None:
    """Keep the conditions `emitted` and `own` apart from readers: they have no options and only their own labels."""
    reserved = CONDITIONS
    if role.name in reserved and role.options:
        raise UsageError(f"reader {role.name!r} is a condition of the core and has no options")
    if role.name != role.label and not reserved.isdisjoint((role.name, role.label)):
        kept = ", ".join(sorted(reserved))
        raise UsageError(f"readers: {role.label}={role.name}: {kept} are conditions of the core and keep their labels")


def parse_roles(kind: str, names: Sequence[str], arguments: Sequence[str]) -> list[dict[str, Any]]:
    """Read `[LABEL=]NAME` and `[LABEL:]key=value[,key=value]` of the command line.

    >>> parse_roles("policy", ["a=scripted"], ["file=turns.jsonl"])
    [{'name': 'scripted', 'label': 'a', 'options': {'file': 'turns.jsonl'}}]
    """
    roles = [_short(name) for name in names]
    labels = [role["label"] for role in roles]
    for argument in arguments:
        label, given = _split_label(argument, labels)
        open_to = [role for role in roles if role["name"] not in CONDITIONS] or roles
        if label is None and len(open_to) != 1:
            shown = _without_values(argument)
            raise UsageError(
                f"--{kind}-args {shown}: there is {'no' if not roles else 'more than one'} {kind}; "
                f"write LABEL:{shown}" + (f" with one of {', '.join(labels)}" if labels else "")
            )
        role = open_to[0] if label is None else roles[labels.index(label)]
        role["options"].update(_options(kind, given))
    return roles


def _split_label(argument: str, labels: Sequence[str]) -> tuple[str | None, str]:
    head, colon, rest = argument.partition(":")
    if colon and "=" not in head:
        if head.lower() not in labels:
            raise UsageError(f"{_without_values(argument)}: no label {head!r}; {suggest(head, labels)}")
        return head.lower(), rest
    return None, argument


def _without_values(argument: str) -> str:
    """Show an argument's label and keys: a value may be a key to an endpoint."""
    return re.sub(r"=[^,]*", "=…", argument)


def _options(kind: str, text: str) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for part in re.split(r",(?=\s*[A-Za-z_][\w.-]*=)", text):
        key, equals, value = part.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"--{kind}-args {_without_values(text)}: expected key=value[,key=value]")
        out[key.strip()] = value
    return out


def _short(text: str) -> dict[str, Any]:
    label, equals, name = text.partition("=")
    name = name if equals else label
    return {"name": name, "label": (label if equals else name).lower(), "options": {}}


def _long(role: Any) -> Any:
    if isinstance(role, str):
        return _short(role)
    if isinstance(role, dict) and isinstance(role.get("name"), str):
        return {"label": role["name"].lower(), "options": {}, **role}
    return role
