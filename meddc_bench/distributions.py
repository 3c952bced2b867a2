"""What is installed beside the program: its extras, the distributions they need, and the licences of those."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion

PROGRAM = "meddc-bench"
CORE = "core"

_CLASSIFIER = "License :: "
_LONGEST = 100

Find = Callable[[str], Distribution]


@dataclass(frozen=True, slots=True)
class Extra:
    """An extra of the program; `missing` are the requirements that are not installed, or not new enough."""

    name: str
    missing: tuple[str, ...] = ()

    @property
    def installed(self) -> bool:
        """Whether everything the extra asks for is there."""
        return not self.missing


@dataclass(frozen=True, slots=True)
class Dependency:
    """A distribution that the program, or an installed extra, needs by any number of steps.

    `version` is None where it is not installed, `licence` None where its metadata name none. `needed_by` holds "core"
    and the names of extras.
    """

    name: str
    version: str | None
    licence: str | None
    needed_by: tuple[str, ...]


def extras(find: Find = distribution) -> list[Extra]:
    """Return the extras of the program, sorted by name, and what each lacks."""
    names = find(PROGRAM).metadata.get_all("Provides-Extra") or []
    return [Extra(name, tuple(_missing(name, find))) for name in sorted(names)]


def dependencies(find: Find = distribution) -> list[Dependency]:
    """Return what the program and its installed extras need, and what that needs in turn, sorted by name."""
    needed: dict[str, list[str]] = {}
    for root in (CORE, *(extra.name for extra in extras(find) if extra.installed)):
        for name in _closure(root, find):
            needed.setdefault(name, []).append(root)
    return [_dependency(name, tuple(needed[name]), find) for name in sorted(needed)]


def editable(find: Find = distribution) -> bool:
    """Say whether the program runs from a checkout (`pip install -e`)."""
    origin = json.loads(find(PROGRAM).read_text("direct_url.json") or "{}")
    return bool(origin.get("dir_info", {}).get("editable", False))


def licence(found: Distribution) -> str | None:
    """Return the licence that a distribution's metadata name, or None.

    An SPDX expression comes first, then a licence of one line, then the classifiers: the old field may hold the text of
    a whole licence, of which the first line need not be its name.
    """
    stated = [one for key in ("License-Expression", "License") for one in found.metadata.get_all(key) or ()]
    classifiers = found.metadata.get_all("Classifier") or []
    named = [one.rpartition(" :: ")[2] for one in classifiers if one.startswith(_CLASSIFIER)]
    lines = [one.strip() for one in stated if _is_name(one.strip())]
    return lines[0] if lines else " or ".join(one for one in named if one != "OSI Approved") or None


def _is_name(text: str) -> bool:
    return bool(text) and "\n" not in text and len(text) <= _LONGEST and text.upper() != "UNKNOWN"


def _dependency(name: str, needed_by: tuple[str, ...], find: Find) -> Dependency:
    try:
        found = find(name)
    except PackageNotFoundError:
        return Dependency(name, None, None, needed_by)
    return Dependency(name, found.version, licence(found), needed_by)


def _missing(extra: str, find: Find) -> Iterator[str]:
    for wanted in _asked(find(PROGRAM), extra):
        if not _satisfied(wanted, find):
            yield f"{wanted.name}{wanted.specifier}"


def _satisfied(wanted: Requirement, find: Find) -> bool:
    try:
        return wanted.specifier.contains(find(wanted.name).version, prereleases=True)
    except (PackageNotFoundError, InvalidVersion):
        return False


def _closure(root: str, find: Find) -> set[str]:
    """The names of all that the program, or one of its extras, needs by any number of steps."""
    names: set[str] = set()
    done: set[tuple[str, str]] = set()
    waiting = [(PROGRAM, "" if root == CORE else root)]
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) in done:
            continue
        done.add((name, extra))
        try:
            asked = _asked(find(name), extra)
        except PackageNotFoundError:
            continue
        for wanted in asked:
            child = canonicalize_name(wanted.name)
            names.add(child)
            waiting += [(child, part) for part in ("", *wanted.extras)]
    return names


def _asked(found: Distribution, extra: str) -> list[Requirement]:
    """What a distribution asks for on this platform: without extras, or for one extra alone."""
    asked = []
    for line in found.requires or ():
        try:
            wanted = Requirement(line)
        except InvalidRequirement:  # of an old distribution: pip passes over it too
            continue
        always = wanted.marker is None or wanted.marker.evaluate({"extra": ""})
        if always if not extra else not always and wanted.marker and wanted.marker.evaluate({"extra": extra}):
            asked.append(wanted)
    return asked
