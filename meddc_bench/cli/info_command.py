"""`meddc-bench info`."""

from __future__ import annotations

import locale
import os
import platform
import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from meddc_bench.registry import Registry

_MATTERS = re.compile(
    r"MEDDC_.*|.*_API_KEY|OPENAI_.*|VLLM_.*|HF_.*|CUDA_VISIBLE_DEVICES|OMP_NUM_THREADS|NO_COLOR|LANG|LC_.*"
    r"|PYTHON(UTF8|IOENCODING|HASHSEED|PATH|WARNINGS)|(HTTP|HTTPS|ALL|NO)_PROXY|SSL_CERT_(FILE|DIR)",
    re.IGNORECASE,
)
"""Environment variables that can change what the program does; only their names are ever shown."""


@click.command("info")
@click.option("--licences", "--licenses", "licences", is_flag=True, help="List the licences of what it depends on.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(licences: bool, as_json: bool) -> None:
    """Print what a bug report needs: versions, extras, plugins, encodings; no keys, no values of the environment."""
    from meddc_bench.cli.screen import say, say_json

    found: Any = _licences() if licences else _facts()
    if as_json:
        say_json(found)
        return
    for line in _licence_lines(found) if licences else _lines(found):
        say(line)


def _facts() -> dict[str, Any]:
    from importlib.metadata import version

    from meddc_bench.distributions import PROGRAM, dependencies, editable, extras
    from meddc_bench.registry import Registry

    registry = Registry.load()
    return {
        "program": {"name": PROGRAM, "version": version(PROGRAM), "editable": editable()},
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "platform": platform.platform(),
        "cores": {"machine": os.cpu_count(), "usable": _usable_cores()},
        "encodings": _encodings(),
        "tasks": _task_folders(registry),
        "extras": {one.name: {"installed": one.installed, "missing": list(one.missing)} for one in extras()},
        "dependencies": [
            {"name": one.name, "version": one.version, "needed_by": list(one.needed_by)} for one in dependencies()
        ],
        "plugins": [
            {"name": one.name, "distribution": one.distribution, "version": one.version, "problem": one.problem}
            for one in registry.plugins
        ],
        "environment": sorted(name for name in os.environ if _MATTERS.fullmatch(name)),
    }


def _usable_cores() -> int | None:
    """The cores this process may run on, which a container or `taskset` can limit."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def _encodings() -> dict[str, str | bool]:
    return {
        "locale": locale.setlocale(locale.LC_CTYPE),
        "preferred": locale.getpreferredencoding(False),
        "stdout": sys.stdout.encoding,
        "file_system": sys.getfilesystemencoding(),
        "utf8_mode": bool(sys.flags.utf8_mode),
    }


def _task_folders(registry: Registry) -> list[str]:
    from meddc_bench.errors import PluginError
    from meddc_bench.resources import shipped

    try:
        more = [str(path) for path in registry.task_folders()]
    except PluginError as error:
        more = [str(error)]
    return [*more, str(shipped("tasks"))]


def _lines(found: dict[str, Any]) -> Iterator[str]:
    program, cores, encodings = found["program"], found["cores"], found["encodings"]
    how = " (from a checkout)" if program["editable"] else ""
    yield f"{program['name']} {program['version']}{how}, {found['python']}, {found['platform']}"
    yield f"cores: {cores['usable']} of {cores['machine']}"
    yield "encodings: " + ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in encodings.items())
    for path in found["tasks"]:
        yield f"tasks: {path}"
    yield "dependencies: " + ", ".join(
        f"{one['name']} {one['version'] or 'is missing'}" for one in found["dependencies"]
    )
    extras = found["extras"]
    yield "extras: " + (", ".join(name for name in extras if extras[name]["installed"]) or "none installed")
    for name, extra in extras.items():
        if extra["missing"]:
            yield f"extra {name} lacks {', '.join(extra['missing'])}"
    for plugin in found["plugins"]:
        yield f"plugin {plugin['name']}: {plugin['distribution']} {plugin['version']}, {plugin['problem'] or 'ok'}"
    yield "environment: " + (", ".join(found["environment"]) or "no variable that matters is set")


def _licences() -> list[dict[str, Any]]:
    from meddc_bench.distributions import dependencies

    return [
        {"name": one.name, "version": one.version, "licence": one.licence, "needed_by": list(one.needed_by)}
        for one in dependencies()
    ]


def _licence_lines(found: list[dict[str, Any]]) -> Iterator[str]:
    rows = [
        (one["name"], one["version"] or "is missing", one["licence"] or "unknown", _whose(one["needed_by"]))
        for one in found
    ]
    widths = [max(len(row[at]) for row in rows) for at in range(3)]
    for row in rows:
        yield "  ".join(f"{cell:<{width}}" for cell, width in zip(row, (*widths, 0), strict=True))
    unknown = [one["name"] for one in found if one["version"] and not one["licence"]]
    yield f"{len(rows)} distributions; licence unknown: {', '.join(unknown) or 'none'}"


def _whose(needed_by: list[str]) -> str:
    return "core" if "core" in needed_by else ", ".join(needed_by)
