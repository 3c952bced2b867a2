"""The catalogue of protocol TrustMed v1.0: what can be examined and ordered, and which department reports on it."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from meddc_bench import yamlfile
from meddc_bench.osce import Category, Fault, OsceModel, Workup
from meddc_bench.text import squash

_FILE, _ENGLISH = (Path(__file__).with_name(name) for name in ("catalogue.yaml", "aliases_en.yaml"))
Kind = Literal["examination", "test", "department"]
PREFIX: Mapping[str, str] = {
    "physical_examination": "查体",
    "laboratory": "检验",
    "physiologic": "功能",
    "imaging": "影像",
    "pathology": "病理",
}
"""How a category is written before a name, where the name alone would be taken for another."""


class _Entry(OsceModel):
    name: str
    zh: str
    aliases: tuple[str, ...] = ()


class _Test(_Entry):
    category: Category
    department: str


class _File(OsceModel):
    examinations: tuple[_Entry, ...]
    tests: tuple[_Test, ...]
    departments: tuple[_Entry, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """An examination, a test or a department: its id (category and name), its Chinese name, who reports on it."""

    id: str
    name: str
    zh: str
    aliases: tuple[str, ...]
    category: str = ""
    department: str = ""

    @property
    def label(self) -> str:
        """The Chinese name with its category, as menus list it: 影像:CT."""
        return f"{PREFIX[self.category]}:{self.zh}" if self.category in PREFIX else self.zh


@dataclass(frozen=True, slots=True)
class Found:
    """What a name means: the entry; or the entries it may mean, when it says too little."""

    entry: Entry | None
    between: tuple[Entry, ...] = ()


class Catalogue:
    """Looks names up: ids, English and Chinese names and aliases, whatever their width, case and spacing."""

    def __init__(self, examinations: Iterable[Entry], tests: Iterable[Entry], departments: Iterable[Entry]):
        self.examinations, self.tests, self.departments = tuple(examinations), tuple(tests), tuple(departments)
        self._tables = {
            "examination": _table(self.examinations),
            "test": _table(self.tests),
            "department": _table(self.departments),
        }
        self.by_id = {one.id: one for one in (*self.examinations, *self.tests)}

    def find(self, kind: Kind, name: str) -> Found:
        """Look a name up; a name that two entries share needs its category."""
        entries = self._tables[kind].get(squash(name), ())
        return Found(entries[0]) if len(entries) == 1 else Found(None, entries)


def _table(entries: Iterable[Entry]) -> dict[str, tuple[Entry, ...]]:
    """Index entries by every spelling; a full name wins over the alias of another entry."""
    exact: dict[str, list[Entry]] = {}
    alias: dict[str, list[Entry]] = {}
    for entry in entries:
        for table, spellings in ((exact, _names(entry)), (alias, entry.aliases)):
            for spelling in spellings:
                known = table.setdefault(squash(spelling), [])
                if entry not in known:
                    known.append(entry)
    return {key: tuple(found) for key, found in {**alias, **exact}.items()}


def _names(entry: Entry) -> Iterator[str]:
    yield from (entry.id, entry.name, entry.zh, entry.label)
    if entry.category in PREFIX:
        yield f"{PREFIX[entry.category]}:{entry.name}"
        yield f"{entry.category}:{entry.zh}"


@functools.cache
def catalogue() -> Catalogue:
    """Return the shipped catalogue, read once."""
    data = yamlfile.validate(_File, yamlfile.load(_FILE))
    return Catalogue(
        (_entry(one, "physical_examination") for one in data.examinations),
        (_entry(one, one.category, one.department) for one in data.tests),
        (Entry(one.name, one.name, one.zh, one.aliases) for one in data.departments),
    )


def _entry(one: _Entry, category: str, department: str = "") -> Entry:
    key = f"{category}:{one.name}"
    return Entry(key, one.name, one.zh, (*one.aliases, *_english().get(key, ())), category, department)


@functools.cache
def _english() -> Mapping[str, tuple[str, ...]]:
    """Return the English aliases by id."""
    found: Mapping[str, list[str]] = yamlfile.load(_ENGLISH).data
    return {key: tuple(names) for key, names in found.items()}


def catalogue_faults(workup: Workup) -> Iterator[Fault]:
    """Check a workup against the catalogue: every item and department is in it, and the expected departments report."""
    known = catalogue()
    routed: set[str] = set()
    for index, panel in enumerate(workup.profile):
        entry = known.by_id.get(panel.key)
        if entry is None:
            yield Fault(("profile", index, "item"), f"{panel.key!r} is not in the catalogue")
        else:
            routed.add(entry.department)
    departments = {one.name for one in known.departments}
    for index, name in enumerate(workup.departments):
        if name not in departments:
            yield Fault(("departments", index), f"{name!r} is no department; known: {', '.join(sorted(departments))}")
        elif name not in routed:
            yield Fault(("departments", index), f"no record of the case is reported by {name}")
