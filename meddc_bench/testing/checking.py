"""One check of one adapter: its properties, tried one after another, and the report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from meddc_bench.errors import UsageError, suggest
from meddc_bench.registry import KINDS, Registration, Registry
from meddc_bench.testing import conduct, environments, importers, metrics, tasks
from meddc_bench.testing.properties import Property, Trial, Verdict
from meddc_bench.testing.subject import Subject

PROPERTIES: Mapping[str, Callable[[], tuple[Property, ...]]] = {
    **{kind: partial(conduct.properties, kind) for kind in ("policy", "patient", "reader", "judge")},
    "metric": metrics.properties,
    "environment": environments.properties,
    "task": tasks.properties,
    "importer": importers.properties,
}
"""The properties of every kind."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a check of one adapter found, property by property."""

    entry: Registration
    verdicts: tuple[Verdict, ...]

    def named(self, result: str) -> tuple[str, ...]:
        """Return the names of the properties with a result."""
        return tuple(one.property.name for one in self.verdicts if one.result == result)

    @property
    def passed(self) -> bool:
        return not self.named("failed")

    def as_data(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {
            "kind": self.entry.kind, "name": self.entry.name, "distribution": self.entry.distribution,
            "version": self.entry.version, "revision": self.entry.revision, "passed": self.passed,
            "properties": [
                {
                    "name": one.property.name, "result": one.result, "seen": one.seen,
                    "expected": one.property.expected, "mend": one.property.mend,
                }
                for one in self.verdicts
            ],
        }  # fmt: skip


def check(subject: Subject) -> Report:
    """Try every property of a subject."""
    return Report(subject.registration, Trial(PROPERTIES[subject.kind](), subject).verdicts())


def kind_of(registry: Registry, name: str, kind: str | None = None) -> str:
    """Return the one kind under which a name is registered.

    Raises:
        UsageError: it is registered under none, or under several and none was named.
    """
    if kind is not None:
        registry.get(kind, name)
        return kind
    kinds = [one for one in KINDS if name in registry.names(one)]
    if len(kinds) == 1:
        return kinds[0]
    if kinds:
        raise UsageError(f"{name!r} is the name of a {', a '.join(kinds)}; say which: --kind {kinds[0]}")
    clashes = [one for one in KINDS if (one, name) in registry.clashes]
    if clashes:
        registry.get(clashes[0], name)  # says who took it twice
    known = sorted({one for each in KINDS for one in registry.names(each)})
    raise UsageError(f"no plugin registers the name {name!r}; {suggest(name, known)}; see `meddc-bench plugins doctor`")
