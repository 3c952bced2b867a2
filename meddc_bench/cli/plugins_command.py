"""`meddc-bench plugins`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from meddc_bench.cli.screen import say, say_json

if TYPE_CHECKING:
    from meddc_bench.testing import Report

KINDS = ("policy", "patient", "reader", "judge", "metric", "environment", "task", "importer")


@click.group("plugins")
def command() -> None:
    """List plugins, make one, check one, and say what is wrong with any of them."""


@command.command("list")
def list_plugins() -> None:
    """List the installed plugins and what each registers."""
    from meddc_bench.registry import KINDS, Registry

    registry = Registry.load()
    for plugin in registry.plugins:
        say(f"{plugin.name}  ({plugin.distribution} {plugin.version})" + ("  PROBLEM" if plugin.problem else ""))
        for kind, plural in KINDS.items():
            names = [entry.name for entry in registry.entries(kind) if entry.plugin == plugin.name]
            if names:
                say(f"  {plural}: {', '.join(names)}")


@command.command("new")
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("name")
@click.option("-o", "--output-path", type=click.Path(path_type=Path), help="Folder to make [default: ./NAME].")
def new(kind: str, name: str, output_path: Path | None) -> None:
    """Make a distribution with a plugin that works: code, tests, README and CI file, to be changed into yours.

    \b
    meddc-bench plugins new policy my_doctor
    """
    from meddc_bench.registry import Registry
    from meddc_bench.scaffold import create

    made = create(kind, name, output_path or Path(name), Registry.load())
    for path in made.files:
        say(str(path))
    say(f"next: pip install -e {made.folder} && meddc-bench plugins check {name} --kind {kind}", err=True)
    click.echo(made.folder)


@command.command("check")
@click.argument("name")
@click.option("--kind", type=click.Choice(KINDS), help="Its kind, where several have the name.")
@click.option("--args", "arguments", multiple=True, metavar="KEY=VALUE", help="Options of the adapter; repeatable.")
@click.option("--file", type=click.Path(path_type=Path), help="Of an importer: an example of what it reads.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def check_plugin(name: str, kind: str | None, arguments: tuple[str, ...], file: Path | None, as_json: bool) -> int:
    """Try what every adapter of its kind must do, and keep the result for the manifests of runs; exit 1 on a breach.

    \b
    meddc-bench plugins check checklist
    meddc-bench plugins check histories --file runs/demo/histories.jsonl
    """
    from meddc_bench import campaign, checked
    from meddc_bench.errors import UsageError
    from meddc_bench.registry import Registry
    from meddc_bench.testing import Subject, check
    from meddc_bench.testing.checking import kind_of

    registry = Registry.load()
    kind = kind_of(registry, name, kind)
    if file is not None and kind != "importer":
        raise UsageError(f"--file is an importer's example; {name!r} is a {kind}")
    (role,) = campaign.parse_roles(kind, (name,), arguments)
    report = check(Subject(registry, kind, name, role["options"], file=file))
    kept = checked.keep(report.entry, report.named("failed"), report.named("not tried"))
    if as_json:
        say_json({**report.as_data(), "when": kept.when})
    else:
        _print(report)
    return 0 if report.passed else 1


def _print(report: Report) -> None:
    entry = report.entry
    say(f"{entry.kind} {entry.name} ({entry.distribution} {entry.version}, revision {entry.revision})")
    width = max(len(one.property.name) for one in report.verdicts)
    for one in report.verdicts:
        words = one.seen if one.result == "not tried" else one.property.expected
        say(f"  {one.result:<9}  {one.property.name:<{width}}  {words}")
        if one.result == "failed":
            say(f"             came: {one.seen}")
            say(f"             mend it: {one.property.mend}")
    counts = [f"{len(report.named(result))} {result}" for result in ("passed", "failed", "not tried")]
    say(", ".join(counts))


@command.command("doctor")
def doctor() -> int:
    """Import every factory and options model, and say what is wrong; exit 1 when anything is. Warnings do not count."""
    from meddc_bench.registry import Registry

    registry = Registry.load()
    problems = [
        f"{plugin.name} ({plugin.distribution} {plugin.version}): {plugin.problem}"
        for plugin in registry.plugins
        if plugin.problem
    ]
    warned = [
        f"{plugin.name} ({plugin.distribution} {plugin.version}): {warning}"
        for plugin in registry.plugins
        for warning in plugin.warnings
    ]
    found, more = _imported(registry)
    problems += found
    warned += more
    for problem in problems:
        say(problem)
    for warning in dict.fromkeys(warned):
        say(f"warning: {warning}")
    click.echo(f"{len(registry.plugins)} plugins, {len(problems)} problems" + _also(len(dict.fromkeys(warned))))
    return 1 if problems else 0


def _also(warnings: int) -> str:
    return f", {warnings} warnings" if warnings else ""


def _imported(registry: Any) -> tuple[list[str], list[str]]:
    """Import all that is registered; return what went wrong and what was warned of."""
    from meddc_bench.deprecation import collected
    from meddc_bench.errors import PluginError
    from meddc_bench.registry import KINDS

    problems: list[str] = []
    warned: list[str] = []
    for kind in KINDS:
        for entry in registry.entries(kind):
            where = f"{entry.plugin} ({entry.distribution} {entry.version})"
            with collected() as warnings:
                try:
                    if kind == "task":
                        _check_task(entry)
                    else:
                        entry.load_factory()
                        entry.load_options()
                except PluginError as error:
                    problems.append(f"{where}: {kind} {entry.name}: {error.message}")
                except (Exception, SystemExit) as error:  # a stranger's module: whatever it raises is reported
                    problems.append(f"{entry.plugin}: {kind} {entry.name}: {type(error).__name__}: {error}")
            warned += [f"{where}: {warning}" for warning in warnings]
    return problems, warned


def _check_task(entry: Any) -> None:
    from meddc_bench.registry import task_folder

    task_folder(entry)
