"""`meddc-bench ls`."""

from __future__ import annotations

from pathlib import Path

import click

PLURALS = ("tasks", "policies", "readers", "judges", "patients", "metrics", "importers")


@click.command("ls")
@click.argument("kind", type=click.Choice(PLURALS), default="tasks")
@click.option("--include-path", multiple=True, metavar="FOLDER", help="More folders to look for tasks in.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(kind: str, include_path: tuple[str, ...], as_json: bool) -> None:
    """List what can be named: tasks, policies, readers, judges, patients, metrics, importers."""
    from meddc_bench.cli.screen import say, say_json

    lines = _tasks(include_path) if kind == "tasks" else _plugins(kind)
    if as_json:
        say_json([dict(zip(("name", "kind", "about"), line, strict=True)) for line in lines])
        return
    width = max((len(name) for name, _, _ in lines), default=0)
    for name, what, about in lines:
        say(f"{name:<{width}}  {what:<6}  {about}".rstrip())


def _tasks(include_path: tuple[str, ...]) -> list[tuple[str, str, str]]:
    from meddc_bench.cli.screen import say
    from meddc_bench.registry import Registry
    from meddc_bench.task import TaskIndex

    index = TaskIndex(map(Path, include_path), Registry.load().task_folders())
    for error in index.broken:
        say(f"warning: {error}", err=True)
    return [(one.name, one.kind, one.title) for one in sorted(index.listings.values(), key=lambda one: one.name)]


def _plugins(kind: str) -> list[tuple[str, str, str]]:
    from meddc_bench.cli.screen import say
    from meddc_bench.registry import KINDS, Registry

    singular = next(one for one, plural in KINDS.items() if plural == kind)
    registry = Registry.load()
    for plugin in registry.plugins:
        if plugin.problem:
            say(f"warning: plugin {plugin.name} ({plugin.distribution}): {plugin.problem}", err=True)
    lines = [
        (one.name, singular, f"{one.distribution} {one.version}, revision {one.revision}{_spoken(one.languages)}")
        for one in registry.entries(singular)
    ]
    if singular == "reader":
        lines.append(("emitted", "built-in", "the policy's own terminal diagnosis"))
        lines.append(("own", "built-in", "the policy's generator under the common prompt"))
    return sorted(lines)


def _spoken(languages: tuple[str, ...]) -> str:
    return f", languages {', '.join(languages)}" if languages else ""
