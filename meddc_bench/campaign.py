"""The campaign: what to run on what, from a YAML file (`-C`), the command line, or both (the command line wins)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from meddc_bench import yamlfile
from meddc_bench.errors import UsageError, suggest
from meddc_bench.task import Config

LABEL = r"^[a-z0-9._-]{1,64}$"


class Role(Config):
    """An adapter of the campaign: its label, the plugin's name and options."""

    name: str
    label: str = Field(pattern=LABEL)
    options: dict[str, Any] = {}


class ProtocolChoices(Config):
    """Protocol options that a campaign may set for all its tasks; each makes the instrument a custom one."""

    view: Literal["cut", "mask", "full"] | None = None
    volunteered: Literal["unmatched", "all", "off"] | None = None
    empty_on_failure: bool | None = None
    top_k: int | None = Field(None, ge=1, le=50)


class Campaign(Config):
    """A campaign. Every key but `tasks` and `policies` has a default; roles left out come from the task's instrument."""

    tasks: tuple[str, ...] = ()
    policies: tuple[Role, ...] = ()
    patients: tuple[Role, ...] = ()
    readers: tuple[Role, ...] = ()
    judges: tuple[Role, ...] = ()
    instrument: str = "offline"
    include_path: tuple[str, ...] = ()
    repeats: int | None = Field(None, ge=1, le=1000)
    asks: int = Field(1, ge=1, le=100)
    seed: int = 0
    limit: int | None = Field(None, ge=1)
    protocol: ProtocolChoices = ProtocolChoices()
    max_connections: int = Field(16, ge=1, le=4096)
    max_retries: int = Field(2, ge=0, le=100)
    timeout: float | None = Field(None, gt=0)
    predict_only: bool = False
    output_path: str | None = None


HOW: frozenset[str] = frozenset({"max_connections", "max_retries", "timeout", "output_path", "include_path"})
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
    return campaign


def parse_roles(kind: str, names: Sequence[str], arguments: Sequence[str]) -> list[dict[str, Any]]:
    """Read `[LABEL=]NAME` and `[LABEL:]key=value[,key=value]` of the command line.

    >>> parse_roles("policy", ["a=scripted"], ["file=turns.jsonl"])
    [{'name': 'scripted', 'label': 'a', 'options': {'file': 'turns.jsonl'}}]
    """
    roles = [_short(name) for name in names]
    labels = [role["label"] for role in roles]
    for argument in arguments:
        label, given = _split_label(argument, labels)
        if label is None and len(roles) != 1:
            raise UsageError(
                f"--{kind}-args {argument}: there is {'no' if not roles else 'more than one'} {kind}; "
                f"write LABEL:{argument}" + (f" with one of {', '.join(labels)}" if labels else "")
            )
        role = roles[0] if label is None else roles[labels.index(label)]
        role["options"].update(_options(kind, given))
    return roles


def _split_label(argument: str, labels: Sequence[str]) -> tuple[str | None, str]:
    head, colon, rest = argument.partition(":")
    if colon and "=" not in head:
        if head not in labels:
            raise UsageError(f"{argument}: no label {head!r}; {suggest(head, labels)}")
        return head, rest
    return None, argument


def _options(kind: str, text: str) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"--{kind}-args {text}: expected key=value")
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


def environment_default(flag: str) -> str | None:
    """Return the environment's value of a flag: MEDDC_<FLAG>."""
    return os.environ.get("MEDDC_" + flag.upper().replace("-", "_"))
