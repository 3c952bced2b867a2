"""Options that several verbs share, and how they become a campaign."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from meddc_bench import campaign as campaigns
from meddc_bench.campaign import Campaign
from meddc_bench.errors import UsageError

_RETRIES = "Retries of infrastructure failures [default: 8 of an endpoint's call, 2 of others]."
LEVELS = ("debug", "info", "warning", "error")

ROLES = {"policy": "policies", "patient": "patients", "reader": "readers", "judge": "judges"}


def role_options(*kinds: str) -> Callable[[Any], Any]:
    """Add `--KIND [LABEL=]NAME` and `--KIND-args [LABEL:]k=v` for each kind, both repeatable."""

    def add(function: Any) -> Any:
        for kind in reversed(kinds):
            function = click.option(
                f"--{kind}-args", multiple=True, metavar="[LABEL:]KEY=VALUE", help=f"Options of a {kind}."
            )(function)
            function = click.option(f"--{kind}", multiple=True, metavar="[LABEL=]NAME", help=_role_help(kind))(function)
        return function

    return add


def _role_help(kind: str) -> str:
    if kind == "reader":
        return "A reader, or `own` (the policy's generator under the common prompt). `emitted` is always reported."
    return f"A {kind} by name (see `ls {ROLES[kind]}`); repeat for several."


def _log(_context: click.Context, _option: click.Parameter, level: str) -> None:
    from meddc_bench.cli.screen import log_to_screen

    log_to_screen(level)


log_level_option = click.option(
    "--log-level", type=click.Choice(LEVELS), default="warning", show_default=True, expose_value=False, callback=_log,
    help="What to say about calls of language models.",
)  # fmt: skip


judge_repeats_option = click.option(
    "--judge-repeats", "--asks", "asks", type=click.IntRange(min=1),
    help="Times each judge is asked the same, for its noise floor [default: 1].",
)  # fmt: skip


def run_options(function: Any) -> Any:
    """Add the options of how and how much to run."""
    options = [
        click.option("-C", "--config", type=click.Path(path_type=Path), help="Campaign file (YAML); flags win."),
        click.option("-t", "--tasks", multiple=True, metavar="NAME|PATH", help="Task, group or path; repeatable."),
        click.option("-o", "--output-path", metavar="FOLDER", help="Run folder [default: runs/<tasks>-<digest>]."),
        click.option("--include-path", multiple=True, metavar="FOLDER", help="More folders to look for tasks in."),
        click.option("-L", "--limit", type=click.IntRange(min=1), help="Only the first N cases of each task."),
        click.option("--repeats", type=click.IntRange(min=1), help="Repeats of each history [default: the task's]."),
        click.option("--seed", type=int, help="Seed of the run [default: 0]."),
        click.option("--instrument", help="The task's patient, readers and judge [default: offline]."),
        click.option(
            "--metric", "metrics", multiple=True, metavar="NAME", help="A metric beside the task's own; repeatable."
        ),
        click.option("--view", type=click.Choice(["cut", "mask", "full"]), help="A reader's view of early diagnoses."),
        click.option(
            "--max-connections", type=click.IntRange(min=1), help="Connections to an endpoint at once [default: 16]."
        ),
        click.option("--max-retries", type=click.IntRange(min=0), help=_RETRIES),
        click.option("--timeout", type=click.FloatRange(min=0, min_open=True), help="Seconds a call may take."),
        click.option(
            "--prices", metavar="FILE", help="Price table: MODEL: {prompt: N, completion: N} a million tokens."
        ),
        click.option(
            "--cost-limit", type=click.FloatRange(min=0, min_open=True), help="Stop when the calls cost more."
        ),
        log_level_option,
        click.option("--fail-on-error", type=click.IntRange(min=0), help="Stop when more than N records have failed."),
        click.option("--json", "as_json", is_flag=True, help="Print the results as JSON."),
    ]
    for option in reversed(options):
        function = option(function)
    return function


def build_campaign(flags: dict[str, Any]) -> Campaign:
    """Merge the campaign file and the flags; the flags win."""
    _check_text(flags)
    data: dict[str, Any] = campaigns.load(flags["config"]) if flags.get("config") else {}
    for kind, plural in ROLES.items():
        names, arguments = flags.get(kind) or (), flags.get(f"{kind}_args") or ()
        if names:
            data[plural] = campaigns.parse_roles(kind, names, arguments)
        elif arguments:
            data[plural] = _with_arguments(kind, data.get(plural, []), arguments)
    for key in ("tasks", "include_path", "metrics"):
        if flags.get(key):
            data[key] = [part for value in flags[key] for part in _parts(value)]
    for key in (
        "output_path", "limit", "repeats", "seed", "instrument", "max_connections", "max_retries", "timeout", "asks",
        "prices", "cost_limit",
    ):  # fmt: skip
        if flags.get(key) is not None:
            data[key] = flags[key]
    if flags.get("view"):
        data["protocol"] = {**data.get("protocol", {}), "view": flags["view"]}
    if flags.get("predict_only"):
        data["predict_only"] = True
    campaign = campaigns.build(data)
    _check_keys(campaign)
    return campaign


def _check_keys(campaign: Campaign) -> None:
    """Refuse a key in the campaign, which the manifest would hold for everyone to read."""
    from meddc_bench.store import Keys

    name = Keys().found_in(campaign.model_dump_json())
    if name is not None:
        raise UsageError(f"the campaign holds the value of {name}; adapters take keys from the environment alone")


def _parts(value: str) -> list[str]:
    """Split `a,b`, but not the path of something that exists."""
    there = os.path.exists(value)  # noqa: PTH110 - Path.exists raises where a name is too long
    return [value] if there else [part for part in value.split(",") if part]


def _check_text(flags: dict[str, Any]) -> None:
    """Refuse what is not text in this locale, which no file of the run could hold."""
    for name, value in flags.items():
        for text in value if isinstance(value, tuple) else (value,):
            if isinstance(text, str) and any("\ud800" <= one <= "\udfff" for one in text):
                shown = text.encode("utf-8", "backslashreplace").decode()
                raise UsageError(f"--{name.replace('_', '-')} {shown}: is not valid text in this locale's encoding")


def _with_arguments(kind: str, roles: list[Any], arguments: tuple[str, ...]) -> list[Any]:
    """Add command-line options to the roles of a campaign file."""
    parsed = campaigns.parse_roles(kind, [f"{role['label']}={role['name']}" for role in roles], arguments)
    return [
        {**role, "options": {**role.get("options", {}), **more["options"]}}
        for role, more in zip(roles, parsed, strict=True)
    ]
