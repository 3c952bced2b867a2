"""`meddc-bench info`."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version

import click

_PACKAGES = ("click", "jinja2", "msgspec", "numpy", "pluggy", "pydantic", "pyyaml", "rapidfuzz", "rich", "tenacity", "tqdm")


@click.command("info")
def command() -> None:
    """Print what a bug report needs: versions, plugins, encodings; no keys, no values of the environment."""
    from meddc_bench.registry import Registry
    from meddc_bench.resources import shipped

    click.echo(f"meddc-bench {version('meddc-bench')}, Python {platform.python_version()}, {platform.platform()}")
    click.echo(f"tasks: {shipped('tasks')}")
    click.echo(f"encodings: stdout {sys.stdout.encoding}, file system {sys.getfilesystemencoding()}, UTF-8 mode {sys.flags.utf8_mode}")
    for name in _PACKAGES:
        try:
            click.echo(f"  {name} {version(name)}")
        except PackageNotFoundError:
            click.echo(f"  {name} is missing")
    for plugin in Registry.load().plugins:
        click.echo(f"plugin {plugin.name}: {plugin.distribution} {plugin.version}" + (f": {plugin.problem}" if plugin.problem else ""))
    names = sorted(name for name in os.environ if name.startswith("MEDDC_"))
    click.echo("environment: " + (", ".join(names) if names else "no MEDDC_ variable is set"))
