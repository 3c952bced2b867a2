"""Checks of a task beyond its schema: leaks, near-duplicates, unreachable targets, and the self-check with its instrument."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from meddc_bench.adapters import Caller
from meddc_bench.contracts import Call, PolicyView, Reply, Unit
from meddc_bench.environments.catalogue import catalogue_faults
from meddc_bench.pipeline.judge import judge_reading, judge_trajectory
from meddc_bench.pipeline.match import assign
from meddc_bench.pipeline.read import read_with
from meddc_bench.pipeline.rollout import Rollout, history_hash, roll_out
from meddc_bench.pipeline.score import Cell, column
from meddc_bench.plan import TaskBench
from meddc_bench.records import Assignment, Axis, Case, Evidence, History, Reading, Turn
from meddc_bench.registry import Registry
from meddc_bench.results import build_metrics
from meddc_bench.task import Task
from meddc_bench.text import squash

NEAR = 0.5
SOURCES = ("record", "dialogue", "imported")


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault of a task: where, what, and whether it must be mended."""

    level: Literal["error", "warning"]
    where: str
    message: str


@dataclass(frozen=True)
class SelfCheck:
    """The self-check's figures, 0-1: each should be as its name says; the last two are baselines to know."""

    asks_all_T: float | None
    references_D: float | None
    silent_T: float | None
    silent_E: float | None
    opening_only_D: float | None
    all_facts_D: float | None
    E_range: tuple[float, float] | None


def lint(task: Task) -> list[Finding]:
    """Check the cases of a task one by one and against each other."""
    found = [finding for case in task.cases for finding in _lint_case(task, case)]
    if not task.config.instruments:
        message = "has no instrument: the self-check is not run, and a run must name patient, reader and judge"
        found.append(Finding("warning", str(task.path), message))
    return found + list(_near_duplicates(task))


def _lint_case(task: Task, case: Case) -> Iterator[Finding]:
    for key, index, text in _texts(case):
        for name in _leaked(case, text):
            yield Finding("error", _where(task, case, key, index), f"names the diagnosis {name!r}")
    facts = {fact.id: fact for fact in case.facts}
    for index, target in enumerate(case.targets):
        where = _where(task, case, "targets", index)
        if not target.facts:
            yield Finding("warning", where, f"target {target.id} names no fact: no answer can elicit it")
        elif target.importance == 3 and all(facts[one].opening for one in target.facts):
            yield Finding("warning", where, f"target {target.id} asks only what the opening already states")
    if case.workup is not None:
        for fault in catalogue_faults(case.workup):
            yield Finding("error", _where(task, case, "workup", *fault.loc), fault.message)
    if not case.targets and case.workup is None:
        yield Finding("warning", _where(task, case), "has no targets: T cannot be measured")
    if case.facts and not any(fact.denied for fact in case.facts):
        yield Finding(
            "warning", _where(task, case, "facts"), "has no denied fact: every negative answer would be `not recorded`"
        )
    if case.source not in SOURCES:
        message = f"source is {case.source!r}; expected record or dialogue (any other is treated as record)"
        yield Finding("warning", _where(task, case, "source"), message)
    if len(case.diagnoses) > 4:
        yield Finding("warning", _where(task, case, "diagnoses"), "has more than four diagnoses")
    for key in ("provenance", "licence"):
        if not getattr(case, key):
            yield Finding("warning", _where(task, case), f"{key} is missing")


def _texts(case: Case) -> Iterator[tuple[str, int | None, str]]:
    yield "context", None, case.context
    for index, fact in enumerate(case.facts):
        yield "facts", index, fact.text
    for index, target in enumerate(case.targets):
        yield "targets", index, target.question


def _leaked(case: Case, text: str) -> Iterator[str]:
    squashed = squash(text)
    for diagnosis in case.diagnoses:
        for name in (diagnosis.name, *diagnosis.synonyms):
            if len(short := squash(name)) > 1 and short in squashed:
                yield name


def _near_duplicates(task: Task) -> Iterator[Finding]:
    shingles = {case.id: _shingles("".join(fact.text for fact in case.facts) or case.context) for case in task.cases}
    for index, one in enumerate(task.cases):
        for other in task.cases[:index]:
            a, b = shingles[one.id], shingles[other.id]
            shared = len(a & b) / max(1, min(len(a), len(b)))
            if shared >= NEAR:
                yield Finding("error", _where(task, one), f"{shared:.0%} of it stands also in case {other.id}")


def _shingles(text: str) -> frozenset[str]:
    squashed = squash(text)
    return frozenset(squashed[index : index + 4] for index in range(max(1, len(squashed) - 3)))


def _where(task: Task, case: Case, *loc: str | int | None) -> str:
    document = task.sources.get(case.id)
    plain = tuple(part for part in loc if part is not None)
    if document is None:
        return case.id
    path, line = document.where(plain)
    return f"{path}:{line}" if line else str(path)


# ── the self-check ───────────────────────────────────────────────────────────────────────────────


def self_check(bench: TaskBench, registry: Registry) -> SelfCheck:
    """Run the task's instrument on doctors whose scores are known beforehand."""
    return asyncio.run(_self_check(bench, registry))


class _AsksAll:
    """Asks every scored target, spread over the budget, then diagnoses."""

    def __init__(self, case: Case):
        questions = [target.question for target in case.scored_targets]
        size = -(-len(questions) // case.turn_budget) or 1
        self._turns = ["".join(questions[start : start + size]) for start in range(0, len(questions), size)]

    async def act(self, view: PolicyView) -> Reply:
        asked = sum(turn.role == "doctor" for turn in view.turns)
        return Reply(self._turns[asked]) if asked < len(self._turns) else _diagnose()


class _Silent:
    """Diagnoses nothing at once."""

    async def act(self, view: PolicyView) -> Reply:
        return _diagnose()


def _diagnose() -> Reply:
    return Reply(calls=(Call("diagnose", {"diagnoses": []}),))


async def _self_check(bench: TaskBench, registry: Registry) -> SelfCheck:
    caller = Caller()
    asked = [await _units(bench, case, _AsksAll(case), caller) for case in bench.cases]
    silent = [await _units(bench, case, _Silent(), caller) for case in bench.cases]
    told = [await _reading_unit(bench, case, _all_facts(case), caller) for case in bench.cases]
    perfect = [await _perfect(bench, case, caller) for case in bench.cases]
    e_values = [value for unit in (*asked, *silent) if (value := _value(bench, registry, "E", [unit])) is not None]
    return SelfCheck(
        asks_all_T=_value(bench, registry, "T", asked), references_D=_value(bench, registry, "D", perfect),
        silent_T=_value(bench, registry, "T", silent), silent_E=_value(bench, registry, "E", silent),
        opening_only_D=_value(bench, registry, "D", silent), all_facts_D=_value(bench, registry, "D", told),
        E_range=(min(e_values), max(e_values)) if e_values else None,
    )  # fmt: skip


async def _units(bench: TaskBench, case: Case, policy: Any, caller: Caller) -> Unit:
    rollout = Rollout(bench.task, case, bench.environment.get(), bench.patients[0].get(), caller=caller)
    history = await roll_out(policy, rollout, caller)
    judge = bench.judges[0].get()
    assignments: dict[Axis, Assignment] = {}
    if case.scored_targets:
        found = await judge_trajectory(judge, bench.task, case, history, seed=0, caller=caller)
        assignments["trajectory"] = assign(found, history.first_summary)
    read = await _reading_unit(bench, case, history, caller)
    return Unit(
        {**read.assignments, **assignments}, history.ended, history.rounds, history.first_summary, case.turn_budget
    )


async def _reading_unit(bench: TaskBench, case: Case, history: History, caller: Caller) -> Unit:
    readers = [condition.reader for condition in bench.conditions if condition.reader is not None]
    if not readers:
        return Unit({}, history.ended, history.rounds, history.first_summary, case.turn_budget)
    reading = await read_with(readers[0].get(), bench.task, history, history_hash(history), seed=0, caller=caller)
    return await _judged(bench, case, reading, history, caller)


async def _perfect(bench: TaskBench, case: Case, caller: Caller) -> Unit:
    names = tuple(one.name for one in case.diagnoses)
    reading = Reading(text="诊断：" + "；".join(names), diagnoses=names)
    return await _judged(bench, case, reading, _all_facts(case), caller)


async def _judged(bench: TaskBench, case: Case, reading: Reading, history: History, caller: Caller) -> Unit:
    found: Evidence = await judge_reading(
        bench.judges[0].get(), bench.task, case, reading, "diagnosis", seed=0, caller=caller
    )
    return Unit({"diagnosis": assign(found)}, history.ended, history.rounds, history.first_summary, case.turn_budget)


def _all_facts(case: Case) -> History:
    """A history in which the patient tells every fact, each as the answer to an open prompt."""
    turns = [Turn(index=0, round=0, role="patient", kind="opening", text=case.context)]
    for number, fact in enumerate(case.facts, 1):
        turns.append(Turn(index=len(turns), round=number, role="doctor", kind="question", text="请继续说。"))
        turns.append(Turn(index=len(turns), round=number, role="patient", kind="answer", text=fact.text))
    return History(turns=tuple(turns), ended="budget", rounds=len(case.facts))


def _value(bench: TaskBench, registry: Registry, name: str, units: Sequence[Unit]) -> float | None:
    metrics = build_metrics(bench, registry)
    if name not in metrics:
        return None
    cells = [Cell(str(index), 0, "scored", unit) for index, unit in enumerate(units)]
    return column(metrics[name][1], cells, {}).mean


def judged_faults(check: SelfCheck) -> Iterator[str]:
    """Say which figures of a self-check are not as they must be."""
    expected: Iterable[tuple[str, float | None, float]] = (
        ("a history that asks all targets must score T = 1", check.asks_all_T, 1.0),
        ("the references as predictions must score D = 1", check.references_D, 1.0),
        ("a silent doctor must score T = 0", check.silent_T, 0.0),
        ("a silent doctor must score E = 0.1", check.silent_E, 0.1),
    )
    for text, value, wanted in expected:
        if value is not None and abs(value - wanted) > 1e-9:
            yield f"{text}, found {value:.4f}"
    if check.E_range is not None and not (check.E_range[0] >= 0.1 - 1e-9 and check.E_range[1] <= 1 + 1e-9):
        yield f"E must lie in [0.1, 1], found {check.E_range}"
