"""`meddc-bench plugins`."""

from __future__ import annotations

import click


@click.group("plugins")
def command() -> None:
    """List plugins and what is wrong with any of them."""


@command.command("list")
def list_plugins() -> None:
    """List the installed plugins and what each registers."""
    from meddc_bench.cli.screen import say
    from meddc_bench.registry import KINDS, Registry

    registry = Registry.load()
    for plugin in registry.plugins:
        say(f"{plugin.name}  ({plugin.distribution} {plugin.version})" + ("  PROBLEM" if plugin.problem else ""))
        for kind, plural in KINDS.items():
            names = [entry.name for entry in registry.entries(kind) if entry.plugin == plugin.name]
            if names:
                say(f"  {plural}: {', '.join(names)}")


@command.command("doctor")
def doctor() -> int:
    """Import every factory and options model, and say what is wrong; exit 1 when anything is."""
    from meddc_bench.cli.screen import say
    from meddc_bench.errors import PluginError
    from meddc_bench.registry import KINDS, Registry

    registry = Registry.load()
    problems = [
        f"{plugin.name} ({plugin.distribution} {plugin.version}): {plugin.problem}"
        for plugin in registry.plugins
        if plugin.problem
    ]
    for kind in KINDS:
        for entry in registry.entries(kind):
            try:
                entry.load_factory()
                entry.load_options()
            except PluginError as error:
                where = f"{entry.plugin} ({entry.distribution} {entry.version})"
                problems.append(f"{where}: {kind} {entry.name}: {error.message}")
            except (Exception, SystemExit) as error:  # a stranger's module: whatever it raises is reported
                problems.append(f"{entry.plugin}: {kind} {entry.name}: {type(error).__name__}: {error}")
    for problem in problems:
        say(problem)
    click.echo(f"{len(registry.plugins)} plugins, {len(problems)} problems")
    return 1 if problems else 0
