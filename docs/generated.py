"""Writes the generated parts of the docs; `make docs` runs it through cog, `make check` fails when they are out of date."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from click.testing import CliRunner

from meddc_bench.campaign import HOW, Campaign, ProtocolChoices, Role
from meddc_bench.cli import VERBS, root
from meddc_bench.plan import build_benches
from meddc_bench.registry import Registry
from meddc_bench.task import TaskIndex
from meddc_bench.validation import self_check

Out = Callable[[str], Any]


def campaign_keys(out: Out) -> None:
    """Write the keys of a campaign file from its model."""
    _keys(Campaign, out)
    out("\nA role is a name, or:\n")
    _keys(Role, out)
    out("\n`protocol` applies to every task; what is left out is the task's:\n")
    _keys(ProtocolChoices, out)
    out(
        f"\nThese say how to run, not what is measured, and change no id: {', '.join(f'`{one}`' for one in sorted(HOW))}."
    )


def verbs(out: Out) -> None:
    """Write the help of every verb."""
    for words in ([], *([verb] for verb in VERBS)):
        if words:
            out(f"### {words[0]}\n")
        result = CliRunner().invoke(root, [*words, "--help"], prog_name="meddc-bench", terminal_width=110)
        out("```text")
        out("\n".join(line.rstrip() for line in result.output.rstrip().splitlines()))
        out("```\n")


def importer_options(out: Out) -> None:
    """Write the options of every importer from its model."""
    registry = Registry.load()
    for one in registry.entries("importer"):
        if one.distribution == "meddc-bench":
            out(f"\n`{one.name}`\n")
            _keys(one.load_options(), out)


def task_card(name: str, out: Out) -> None:
    """Write what a task holds: counts, departments, ages of the budget, and its self-check."""
    (task,) = TaskIndex().resolve(name)
    cases = task.cases
    out("| | |")
    out("| --- | --- |")
    out(f"| cases | {len(cases)} |")
    departments = sorted({str(case.department) for case in cases})
    out(f"| departments | {len(departments)}: {'、'.join(departments)} |")
    for label, counts in (
        ("facts a case", [len(case.facts) for case in cases]),
        ("of them denied", [sum(fact.denied for fact in case.facts) for case in cases]),
        ("scored targets (importance 3)", [len(case.scored_targets) for case in cases]),
        ("diagnoses", [len(case.diagnoses) for case in cases]),
        ("turn budget", [case.turn_budget for case in cases]),
    ):
        out(f"| {label} | {min(counts)}-{max(counts)}, median {statistics.median_low(counts)}, {sum(counts)} in all |")
    bench = build_benches(Campaign(tasks=(name,)), Registry.load(), [task], imported=True)[0]
    check = self_check(bench, Registry.load())
    out(f"| D with all facts in the history (offline reader) | {100 * (check.all_facts_D or 0):.1f} |")
    out(f"| D of the opening alone (offline reader) | {100 * (check.opening_only_D or 0):.1f} |")


def judge_agreement(out: Out, *words: str) -> None:
    """Write the offline judge's precision and recall on the labelled pairs, as the command prints them."""
    done = subprocess.run(
        [sys.executable, "bench/judge_pairs.py", "--json", *words], check=True, capture_output=True, text=True
    )
    found = json.loads(done.stdout)
    out("| axis | pairs | TP | FP | FN | precision | recall |")
    out("| --- | --- | --- | --- | --- | --- | --- |")
    for name, one in found["axes"].items():
        out(
            f"| {name} | {one['pairs']} | {one['tp']} | {one['fp']} | {one['fn']} "
            f"| {one['precision']:.3f} | {one['recall']:.3f} |"
        )


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
        return {"ProtocolChoices": "see below", "Role": "role", "RoleSpec": "name and options"}[
            field["$ref"].rsplit("/", 1)[-1]
        ]
    if field.get("type") == "array":
        return f"list of {_type(field['items'])}"
    return {"string": "text", "integer": "number", "boolean": "true \\| false", "object": "keys and values"}.get(
        field.get("type", ""), field.get("type", "")
    )
