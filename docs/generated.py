"""Writes the generated parts of the docs; `make docs` runs it through cog, `make check` fails when they are out of date."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from click.testing import CliRunner
from meddc_bench.campaign import HOW, Campaign, ProtocolChoices, Role
from meddc_bench.cli import VERBS, root

Out = Callable[[str], Any]


def campaign_keys(out: Out) -> None:
    """Write the keys of a campaign file from its model."""
    _keys(Campaign, out)
    out("\nA role is a name, or:\n")
    _keys(Role, out)
    out("\n`protocol` applies to every task and makes the instrument a custom one; what is left out is the task's:\n")
    _keys(ProtocolChoices, out)
    out(f"\nThese say how to run, not what is measured, and change no id: {', '.join(f'`{one}`' for one in sorted(HOW))}.")


def verbs(out: Out) -> None:
    """Write the help of every verb."""
    for words in ([], *([verb] for verb in VERBS)):
        if words:
            out(f"### {words[0]}\n")
        result = CliRunner().invoke(root, [*words, "--help"], prog_name="meddc-bench", terminal_width=110)
        out("```text")
        out("\n".join(line.rstrip() for line in result.output.rstrip().splitlines()))
        out("```\n")


def _keys(model: Any, out: Out) -> None:
    schema = model.model_json_schema()
    out("| key | type | default | meaning |")
    out("| --- | --- | --- | --- |")
    for name, field in schema["properties"].items():
        default = "required" if name in schema.get("required", ()) else _default(field)
        out(f"| `{name}` | {_type(field)} | {default} | {field.get('description', '')} |")


def _default(field: dict[str, Any]) -> str:
    value = field.get("default")
    return "" if value in (None, [], {}) or isinstance(value, dict) else f"`{value}`".lower()


def _type(field: dict[str, Any]) -> str:
    if "anyOf" in field:
        return _type(next(one for one in field["anyOf"] if one.get("type") != "null"))
    if "enum" in field:
        return " \\| ".join(f"`{one}`" for one in field["enum"])
    if "$ref" in field:
        return {"ProtocolChoices": "see below", "Role": "role"}[field["$ref"].rsplit("/", 1)[-1]]
    if field.get("type") == "array":
        return f"list of {_type(field['items'])}"
    return {"string": "text", "integer": "number", "boolean": "true \\| false", "object": "keys and values"}.get(
        field.get("type", ""), field.get("type", "")
    )
