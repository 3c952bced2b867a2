"""Checks of a task beyond its schema: leaks, near-duplicates, unreachable targets, and the self-check with its instrument."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

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
from meddc_bench.text import mentions, normalise, squash

NEAR = 0.5
_ROWS = 256
_PLACEHOLDER = 30
SOURCES = ("record", "dialogue", "imported")


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault of a task: where, what, and whether it must be mended."""

    level: Literal["error", "warning"]
    where: str
    message: str
    kind: str = ""
    """What it is, in words that findings of the same kind share."""


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
        found.append(Finding("warning", str(task.path), message, "no instrument"))
    return found + list(_near_duplicates(task))


def _lint_case(task: Task, case: Case) -> Iterator[Finding]:
    for key, index, text in _texts(case):
        for name in _leaked(case, text):
            yield Finding(
                "error", _where(task, case, key, index), f"names the diagnosis {name!r}", "a text names the diagnosis"
            )
    facts = {fact.id: fact for fact in case.facts}
    for index, target in enumerate(case.targets):
        where = _where(task, case, "targets", index)
        if not target.facts:
            message = f"target {target.id} names no fact: no answer can elicit it"
            yield Finding("warning", where, message, "a target names no fact")
        elif target.importance == 3 and all(facts[one].opening for one in target.facts):
            message = f"target {target.id} asks only what the opening already states"
            yield Finding("warning", where, message, "a target asks only what the opening states")
    if case.workup is not None:
        for fault in catalogue_faults(case.workup):
            where = _where(task, case, "workup", *fault.loc)
            yield Finding("error", where, fault.message, "a workup's finding is not in the catalogue")
    if not case.targets and case.workup is None:
        yield Finding("warning", _where(task, case), "has no targets: T cannot be measured", "a case without targets")
    if case.facts and not any(fact.denied for fact in case.facts):
        message = "has no denied fact: every negative answer would be `not recorded`"
        yield Finding("warning", _where(task, case, "facts"), message, "a case without a denied fact")
    if case.source not in SOURCES:
        message = f"source is {case.source!r}; expected record or dialogue (any other is treated as record)"
        yield Finding("warning", _where(task, case, "source"), message, "an unknown source")
    most = task.config.protocol.top_k
    if len(case.diagnoses) > most:
        message = f"has more diagnoses than the {most} that a policy may give: D cannot reach 1"
        yield Finding(
            "warning", _where(task, case, "diagnoses"), message, "a case with more diagnoses than may be given"
        )
    elif len(case.diagnoses) > 4:
        message = "has more than four diagnoses"
        yield Finding("warning", _where(task, case, "diagnoses"), message, message)
    for key in ("provenance", "licence"):
        if not getattr(case, key):
            yield Finding("warning", _where(task, case), f"{key} is missing", f"{key} is missing")


def _texts(case: Case) -> Iterator[tuple[str, int | None, str]]:
    yield "context", None, case.context
    for index, fact in enumerate(case.facts):
        yield "facts", index, fact.text
    for index, target in enumerate(case.targets):
        yield "targets", index, target.question


def _leaked(case: Case, text: str) -> Iterator[str]:
    for diagnosis in case.diagnoses:
        for name in (diagnosis.name, *diagnosis.synonyms):
            if mentions(text, name):
                yield name


def _near_duplicates(task: Task) -> Iterator[Finding]:
    """Compare each case with those before it: a product of sparse matrices counts the shingles that two cases share."""
    from scipy.sparse import csr_array

    pieces = [_shingles(_told(case), case.language) for case in task.cases]
    numbers: dict[str, int] = {}
    columns = [numbers.setdefault(one, len(numbers)) for shingles in pieces for one in shingles]
    sizes = np.array([len(one) for one in pieces])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    matrix = csr_array((np.ones(len(columns), np.int32), columns, starts), shape=(len(pieces), max(1, len(numbers))))
    turned = matrix.T.tocsr()
    for start in range(0, len(pieces), _ROWS):
        shared = (matrix[start : start + _ROWS] @ turned).tocoo()
        for row, other, count in sorted(zip(shared.row + start, shared.col, shared.data, strict=True)):
            share = count / min(sizes[row], sizes[other])
            if other < row and share >= NEAR:
                one, before = task.cases[row], task.cases[other]
                message = f"{share:.0%} of it stands also in case {before.id}"
                yield Finding("error", _where(task, one), message, "half of a case stands also in another")


def _told(case: Case) -> str:
    """Give what tells a case from others: its facts but for the denials, whose wording is stock; without facts its context."""
    told = "\n".join(fact.text for fact in case.facts if not fact.denied) or case.context
    return told if case.facts or len(told) >= _PLACEHOLDER else ""


def _shingles(text: str, language: str) -> frozenset[str]:
    """Give the pieces of four characters of a Chinese text, of three words of any other."""
    if language == "zh":
        squashed = squash(text)
        return (
            frozenset(squashed[index : index + 4] for index in range(max(1, len(squashed) - 3)))
            if squashed
            else frozenset()
        )
    words = normalise(text).casefold().split()
    return (
        frozenset(" ".join(words[index : index + 3]) for index in range(max(1, len(words) - 2)))
        if words
        else frozenset()
    )


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
    most = bench.task.config.protocol.top_k
    perfect = [await _perfect(bench, case, caller) for case in bench.cases if len(case.diagnoses) <= most]
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
