"""Makes a plugin's distribution from templates: `meddc-bench plugins new KIND NAME`."""

from __future__ import annotations

import importlib.util
import keyword
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from meddc_bench.errors import StoreError, UsageError
from meddc_bench.registry import KINDS, RESERVED, Registry

_TEMPLATES = Path(__file__).resolve().parent / "templates"
_NAME = re.compile(r"[a-z][a-z0-9]*([_-][a-z0-9]+)*")
_USE = {
    "policy": "meddc-bench run --tasks meddc_record --policy {name}",
    "patient": "meddc-bench run --tasks meddc_record --policy checklist --patient {name}",
    "reader": "meddc-bench run --tasks meddc_record --policy checklist --reader {name}",
    "judge": "meddc-bench run --tasks meddc_record --policy checklist --judge {name}",
    "metric": "meddc-bench ls metrics",
    "environment": "meddc-bench plugins doctor",
    "task": "meddc-bench run --tasks {name} --policy checklist",
    "importer": "meddc-bench score --importer {name} --histories tests/example.jsonl",
}


@dataclass(frozen=True, slots=True)
class Made:
    """A distribution that was written: its folder and its files."""

    folder: Path
    files: tuple[Path, ...]


def create(kind: str, name: str, folder: Path, registry: Registry) -> Made:
    """Write a distribution with a plugin of a kind that works.

    Raises:
        UsageError: the name cannot be one, or is taken; the folder is there already.
        StoreError: the folder cannot be written.
    """
    _check_name(kind, name, registry)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is there already; name another folder with -o FOLDER, or move it away")
    values = _values(kind, name)
    written = []
    for source, target in _files(kind, values):
        path = folder / target
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_render(source, values), encoding="utf-8")
        except OSError as error:
            raise StoreError(f"cannot write {path}: {error.strerror}") from error
        written.append(path)
    return Made(folder, tuple(sorted(written)))


def _check_name(kind: str, name: str, registry: Registry) -> None:
    if not _NAME.fullmatch(name) or len(name) > 64:
        expected = "1 to 64 of a-z 0-9, parts joined by _ or -, a letter first, such as my_doctor"
        raise UsageError(f"{name!r} cannot be the name of a distribution and a package: expected {expected}")
    package = name.replace("-", "_")
    if keyword.iskeyword(package) or package in sys.stdlib_module_names:
        raise UsageError(f"{name!r} is a word of Python's own; choose another, such as my_{package}")
    if name in RESERVED.get(kind, ()):
        raise UsageError(f"{name!r} is a condition of the program's own and no {kind}'s name; choose another")
    if name in registry.names(kind) or (kind, name) in registry.clashes:
        owner = registry.get(kind, name).distribution
        raise UsageError(f"a {kind} named {name!r} is registered already, by {owner}; choose another name")
    if importlib.util.find_spec(package) is not None:
        raise UsageError(f"a package {package!r} is installed already and would be hidden; choose another name")


def _values(kind: str, name: str) -> dict[str, str]:
    package = name.replace("-", "_")
    example = " --file tests/example.jsonl" if kind == "importer" else ""
    return {
        "kind": kind, "plural": KINDS[kind], "name": name, "package": package, "distribution": name.replace("_", "-"),
        "class_name": "".join(part.capitalize() for part in package.split("_")), "task": package,
        "module": f"tasks/{package}/" if kind == "task" else f"{kind}.py",
        "use": _USE[kind].format(name=package if kind == "task" else name), "check_more": example,
    }  # fmt: skip


def _files(kind: str, values: dict[str, str]) -> Iterator[tuple[Path, Path]]:
    """Iterate over the templates of a kind, each with where it goes."""
    for root in (_TEMPLATES / "common", _TEMPLATES / kind):
        for source in sorted(root.rglob("*.jinja")):
            parts = [
                part.replace("__package__", values["package"]).replace("__task__", values["task"])
                for part in source.relative_to(root).parts
            ]
            yield source, Path(*parts).with_suffix("")


def _render(source: Path, values: dict[str, str]) -> str:
    environment = ImmutableSandboxedEnvironment(
        undefined=jinja2.StrictUndefined, autoescape=False, keep_trailing_newline=True, trim_blocks=True
    )
    return environment.from_string(source.read_text(encoding="utf-8")).render(values)
