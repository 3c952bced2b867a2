"""The registry: which plugins there are, what each registered, and what is wrong with any of them.

Every entry point of the group `meddc_bench` is loaded by itself, so that a plugin that fails is named and left out
while the others work.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import pluggy

from meddc_bench import contracts
from meddc_bench.contracts import API_VERSION, PROJECT, Options
from meddc_bench.deprecation import Deprecated, collected
from meddc_bench.errors import PluginError, UsageError, suggest
from meddc_bench.records import CONDITIONS

KINDS: dict[str, str] = {
    "policy": "policies",
    "patient": "patients",
    "reader": "readers",
    "judge": "judges",
    "metric": "metrics",
    "environment": "environments",
    "task": "tasks",
    "importer": "importers",
}
"""Kind -> plural, as in the hook `register_<plural>` and in `ls <plural>`."""

RESERVED = {"reader": CONDITIONS}

_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")


@dataclass(frozen=True, slots=True)
class Registration:
    """A name a plugin registered, not yet imported."""

    kind: str
    name: str
    factory: Callable[..., Any] | str
    options: type[Options] | str
    revision: str
    provides: tuple[str, ...]
    plugin: str
    distribution: str
    version: str
    languages: tuple[str, ...] = ()

    def speaks(self, language: str) -> bool:
        """Say whether it can work on tasks of a language; one that declares none takes all."""
        return not self.languages or language in self.languages

    def load_factory(self) -> Callable[..., Any]:
        """Import the factory."""
        loaded: Callable[..., Any] = _resolve(self.factory, self.plugin)
        if not callable(loaded):
            raise PluginError(self.plugin, f"factory of {self.kind} {self.name!r} cannot be called")
        return loaded

    def load_options(self) -> type[Options]:
        """Import the options model."""
        options = _resolve(self.options, self.plugin)
        if not (isinstance(options, type) and issubclass(options, Options)):
            raise PluginError(self.plugin, f"options of {self.kind} {self.name!r} must be a subclass of Options")
        return options


@dataclass(frozen=True, slots=True)
class Plugin:
    """An entry point and how loading it went; `problem` is None when it went well, `warnings` do not stop it."""

    name: str
    distribution: str
    version: str
    problem: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass
class Registry:
    """What the loaded plugins registered, by kind and name."""

    plugins: list[Plugin] = field(default_factory=list)
    clashes: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    _entries: dict[tuple[str, str], Registration] = field(default_factory=dict)

    @classmethod
    def load(cls, found: Iterable[EntryPoint] | None = None) -> Registry:
        """Load the installed plugins, or those of `found`.

        The environment variable MEDDC_LOAD_PLUGINS, a comma-separated list of entry-point names, limits them.
        """
        registry = cls()
        points = _installed() if found is None else found
        wanted = os.environ.get("MEDDC_LOAD_PLUGINS")
        names = None if wanted is None else {name.strip() for name in wanted.split(",") if name.strip()}
        points = sorted(points, key=lambda point: (_distribution(point)[0], point.name))
        for point in points:
            if names is None or point.name in names:
                registry._load_plugin(point)
        installed = {point.name for point in points}
        for name in sorted((names or set()) - installed):
            problem = f"MEDDC_LOAD_PLUGINS names it, but it is not installed; {suggest(name, sorted(installed))}"
            registry.plugins.append(Plugin(name, "(not installed)", "0", problem))
        return registry

    def _load_plugin(self, point: EntryPoint) -> None:
        distribution, version = _distribution(point)
        staged: list[Registration] = []
        with collected() as warned:
            try:
                module = point.load()
                _check_api(module, point.name)
                self._call_hooks(module, point.name, distribution, version, staged)
            except (Exception, SystemExit) as error:  # a stranger's code: whatever it raises is reported, never fatal
                problem = f"{type(error).__name__}: {error}"
                self.plugins.append(Plugin(point.name, distribution, version, problem))
                return
        problems = [found for entry in staged if (found := self._add(entry)) is not None]
        if not staged:
            problems = ["registers nothing: no function is marked with @hookimpl"]
        problem = "; ".join(problems)
        self.plugins.append(Plugin(point.name, distribution, version, problem or None, tuple(dict.fromkeys(warned))))

    def _call_hooks(
        self, module: Any, plugin: str, distribution: str, version: str, staged: list[Registration]
    ) -> None:
        manager = pluggy.PluginManager(PROJECT)
        manager.add_hookspecs(contracts)
        manager.register(module, name=plugin)
        manager.check_pending()
        for kind, plural in KINDS.items():

            def register(
                name: str,
                factory: Callable[..., Any] | str,
                options: type[Options] | str = Options,
                *,
                revision: str | None = None,
                provides: Sequence[str] = (),
                languages: Sequence[str] = (),
                kind: str = kind,
            ) -> None:
                if not isinstance(name, str) or not _NAME.fullmatch(name):
                    raise PluginError(plugin, f"{kind} name {name!r} is not 1 to 64 of A-Z a-z 0-9 . _ -")
                if name.lower() in RESERVED.get(kind, ()):
                    raise PluginError(plugin, f"{kind} name {name!r} is reserved")
                if isinstance(languages, str):
                    raise PluginError(
                        plugin, f"{kind} {name!r}: languages={languages!r}, expected a list: [{languages!r}]"
                    )
                known = (revision or version, tuple(provides), plugin, distribution, version, tuple(languages))
                staged.append(Registration(kind, name, factory, options, *known))

            getattr(manager.hook, f"register_{plural}")(register=register)

    def _add(self, entry: Registration) -> str | None:
        key = (entry.kind, entry.name)
        other = self._entries.pop(key, None)
        if other is not None or key in self.clashes:
            owners = (*self.clashes.get(key, ()), *([other.distribution] if other else []), entry.distribution)
            self.clashes[key] = owners
            return f"{entry.kind} name {entry.name!r} is taken twice, by {' and '.join(owners)}; neither can be used"
        self._entries[key] = entry
        return None

    def names(self, kind: str) -> list[str]:
        """Return the usable names of a kind, sorted."""
        return sorted(name for entry_kind, name in self._entries if entry_kind == kind)

    def entries(self, kind: str) -> list[Registration]:
        """Return the usable registrations of a kind, sorted by name."""
        return [self._entries[kind, name] for name in self.names(kind)]

    def get(self, kind: str, name: str) -> Registration:
        """Return one registration; UsageError with near names where there is none."""
        entry = self._entries.get((kind, name))
        if entry is not None:
            return entry
        if (kind, name) in self.clashes:
            owners = " and ".join(self.clashes[kind, name])
            raise UsageError(f"{kind} {name!r} is registered by {owners}; uninstall one of them or rename it there")
        raise UsageError(f"no {kind} is named {name!r}; {suggest(name, self.names(kind))}{self._broken()}")

    def task_folders(self) -> list[Path]:
        """Return the folders of tasks that plugins registered as "package:folder".

        Raises:
            PluginError: the package cannot be found or has no such folder.
        """
        return [task_folder(entry) for entry in self.entries("task")]

    def _broken(self) -> str:
        broken = [plugin.name for plugin in self.plugins if plugin.problem]
        return f" (plugins with problems: {', '.join(broken)}; see `meddc-bench plugins doctor`)" if broken else ""


def _check_api(module: Any, plugin: str) -> None:
    """Refuse a plugin made for another major version of the plugin API; one that does not say is taken as of this one."""
    made_for = getattr(module, "MEDDC_BENCH_API", None)
    if made_for is None:
        words = (
            "does not say for which version of the plugin API it was made: write MEDDC_BENCH_API = 1 beside its hooks"
        )
        warnings.warn(words, Deprecated, stacklevel=2)
    elif made_for != API_VERSION:
        raise PluginError(
            plugin,
            f"was made for version {made_for} of the plugin API, this program has version {API_VERSION}; "
            f"install a version of the plugin made for {API_VERSION}, or the meddc-bench that it was made for",
        )


def task_folder(entry: Registration) -> Path:
    """Return the folder of tasks that a plugin registered as "package:folder".

    Raises:
        PluginError: the package cannot be found or has no such folder.
    """
    package, _, name = str(entry.factory).partition(":")
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        spec = None
    roots = list(spec.submodule_search_locations or ()) if spec is not None else []
    for root in roots:
        if (folder := Path(root, name)).is_dir():
            return folder
    raise PluginError(entry.plugin, f"task {entry.name!r}: there is no folder {entry.factory!r}")


def _installed() -> Iterable[EntryPoint]:
    try:
        return entry_points(group=PROJECT)
    except Exception as error:  # a malformed entry_points.txt of any distribution
        raise PluginError("(unknown)", f"an installed distribution has malformed entry points: {error}") from error


def _distribution(point: EntryPoint) -> tuple[str, str]:
    return (point.dist.name, point.dist.version) if point.dist is not None else ("(unknown)", "0")


def _resolve(target: Any, plugin: str) -> Any:
    if not isinstance(target, str):
        return target
    module, _, name = target.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (Exception, SystemExit) as error:  # a stranger's module: whatever it raises is its plugin's fault
        raise PluginError(plugin, f"cannot import {target!r}: {type(error).__name__}: {error}") from error
