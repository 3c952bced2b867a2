"""`meddc-bench info`."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version

import click

_PACKAGES = (
    "click", "jinja2", "msgspec", "numpy", "pluggy", "pydantic", "pyyaml", "rapidfuzz", "rich", "tenacity", "tqdm",
)  # fmt: skip


@click.command("info")
def command() -> None:
    """Print what a bug report needs: versions, plugins, encodings; no keys, no values of the environment."""
    from meddc_bench.cli.screen import say
    from meddc_bench.registry import Registry
    from meddc_bench.resources import shipped

    click.echo(f"meddc-bench {version('meddc-bench')}, Python {platform.python_version()}, {platform.platform()}")
    click.echo(f"tasks: {shipped('tasks')}")
    files = sys.getfilesystemencoding()
    click.echo(f"encodings: stdout {sys.stdout.encoding}, file system {files}, UTF-8 mode {sys.flags.utf8_mode}")
    for name in _PACKAGES:
        try:
            click.echo(f"  {name} {version(name)}")
        except PackageNotFoundError:
            click.echo(f"  {name} is missing")
    for plugin in Registry.load().plugins:
        problem = f": {plugin.problem}" if plugin.problem else ""
        say(f"plugin {plugin.name}: {plugin.distribution} {plugin.version}{problem}")
    names = sorted(name for name in os.environ if name.startswith("MEDDC_"))
    click.echo("environment: " + (", ".join(names) if names else "no MEDDC_ variable is set"))
