"""The card of a task as a report shows it: its cases counted, its protocol, the adapters that took part."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from meddc_bench.plan import TaskBench
from meddc_bench.resources import shipped
from meddc_bench.stored import StoredRun


@dataclass(frozen=True, slots=True)
class CaseFacts:
    """What a report may say of a case, where text is allowed."""

    case: str
    source: str
    department: str
    budget: int
    targets: int
    context: str


@dataclass(frozen=True, slots=True)
class Role:
    """An adapter of the run: what it is, and the model it stands on."""

    kind: str
    label: str
    name: str
    plugin: str
    revision: str
    options: Mapping[str, Any]
    model: str | None


@dataclass(frozen=True, slots=True)
class Range:
    """Least, median, most and sum of a count over cases."""

    low: int
    median: int
    high: int
    total: int


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """A task's card. `public`: it ships with the program and its histories were not imported."""

    name: str
    title: str
    licence: str
    language: str
    public: bool
    cases: int
    repeats: int
    seed: int
    sources: Mapping[str, int]
    departments: int
    facts: Range
    targets: Range
    diagnoses: Range
    budget: Range
    cases_digest: str
    protocol: Mapping[str, Any]
    roles: tuple[Role, ...]
    case_facts: tuple[CaseFacts, ...]


def task_facts(run: StoredRun, bench: TaskBench, *, include_text: bool) -> TaskFacts:
    """Make the card of a task; its cases one by one only with `include_text`."""
    config, cases = bench.task.config, bench.cases
    imported = run.manifest.get("imported")
    return TaskFacts(
        name=bench.task.name,
        title=config.title,
        licence=config.licence,
        language=config.language,
        public=not imported and shipped("tasks").resolve() in bench.task.path.resolve().parents,
        cases=len(cases),
        repeats=bench.repeats,
        seed=bench.seed,
        sources=dict(sorted(Counter(case.source for case in cases).items())),
        departments=len({case.department for case in cases if case.department}),
        facts=_range([len(case.facts) for case in cases]),
        targets=_range([len(case.scored_targets) for case in cases]),
        diagnoses=_range([len(case.diagnoses) for case in cases]),
        budget=_range([case.turn_budget for case in cases]),
        cases_digest=bench.cases_digest,
        protocol=config.protocol.model_dump(),
        roles=tuple(_roles(run, bench)),
        case_facts=tuple(
            CaseFacts(
                case.id, case.source, case.department or "", case.turn_budget, len(case.scored_targets), case.context
            )
            for case in cases
        )
        if include_text
        else (),
    )


def _range(counts: Sequence[int]) -> Range:
    return Range(min(counts), statistics.median_low(counts), max(counts), sum(counts))


def _roles(run: StoredRun, bench: TaskBench) -> Iterator[Role]:
    imported = run.manifest.get("imported")
    adapters: list[tuple[str, str, Any]] = [("environment", "", bench.environment.identity)]
    if imported:
        adapters.append(("importer", imported["importer"], {**bench.patients[0].identity, "options": {}}))
    else:
        adapters += [("policy", one.label, one.identity) for one in bench.policies]
        adapters += [("patient", one.label, one.identity) for one in bench.patients]
    adapters += [("reader", one.label, one.identity) for one in bench.conditions]
    adapters += [("judge", one.label, one.identity) for one in bench.judges]
    for kind, label, identity in adapters:
        options = identity.get("options", {})
        model = options.get("model")
        plugin = f"{identity.get('distribution', 'meddc-bench')} / {identity.get('plugin', 'meddc_core')}"
        yield Role(
            kind, label or identity["name"], identity["name"], plugin, str(identity["revision"]), options,
            model if isinstance(model, str) else None,
        )  # fmt: skip
