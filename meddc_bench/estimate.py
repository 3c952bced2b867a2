"""What a run would take before it is run: records still to be made, and calls, tokens and cost of each language model.

Prompts are rendered for some cases, with turns of a usual length in the place of what will be said; a token is taken as
1.4 characters. Every policy is taken to use its whole budget, no reply to come from the cache, every question to be
placed by its quote, and no call to be repeated.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from meddc_bench.contracts import Budget, Message
from meddc_bench.llm.session import Prices
from meddc_bench.orchestrator import FINAL
from meddc_bench.pipeline.judge import axis_references, judge_messages, reading_step
from meddc_bench.pipeline.read import reader_messages
from meddc_bench.pipeline.rollout import PatientPrompt, Transcript
from meddc_bench.plan import Job, TaskBench
from meddc_bench.records import Axis, Case, Item, Turn
from meddc_bench.store import Store
from meddc_bench.wiring import Adapter

SAMPLE = 5
"""Cases of a task whose prompts are rendered."""

CHARACTERS_A_TOKEN = 1.4
NEVER_READ = frozenset({"policy_failed", "excluded"})
"""Outcomes of a history that leave nothing to read."""
_TURN = "这种情况是从什么时候开始的？是突然出现的，还是慢慢加重的？有没有发热、恶心或者别的不舒服？"
_WRITTEN = {"policy": 60, "patient": 90, "reader": 150, "judge": 250}
"""Tokens a reply has, by role."""


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls of one role to one model; the cost is None where the model has no price."""

    role: str
    model: str
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is missing of a campaign, and what its language models would be asked."""

    histories: int
    stored: int
    models: tuple[Calls, ...]

    @property
    def cost(self) -> float | None:
        """The cost of all models; None where one has no price."""
        costs = [one.cost for one in self.models]
        return sum(one for one in costs if one is not None) if costs and None not in costs else None


def estimate(
    benches: Iterable[TaskBench], store: Store | None, prices: Prices, *, predict_only: bool = False
) -> Estimate:
    """Estimate what a run would take, beyond what its store holds."""
    missing = stored = 0
    asked: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for bench in benches:
        parts: Counter[_Part] = Counter()
        for job in bench.jobs():
            outcome = store.outcome(job.history_id) if store is not None else None
            done = outcome in FINAL
            stored, missing = stored + done, missing + (not done)
            if not done:
                parts["rollout", job.policy.label, job.patient.label] += 1
            if not predict_only and outcome not in NEVER_READ:
                parts.update(_after(bench, job, store if outcome == "scored" else None))
        for part, times in parts.items():
            for name, (calls, tokens) in _mean(bench, part).items():
                asked[name][0] += times * calls
                asked[name][1] += times * tokens
    rows = []
    for (role, model), (calls, tokens) in sorted(asked.items()):
        written = round(calls) * _WRITTEN[role]
        price = prices.get(model)
        cost = None if price is None else price.of(round(tokens), written)
        rows.append(Calls(role, model, round(calls), round(tokens), written, cost))
    return Estimate(missing, stored, tuple(rows))


_Part = tuple[str, str, str]
"""A kind of record and whose it is: rollout (policy, patient), reading (condition, policy), evidence (judge, axis)."""


def _after(bench: TaskBench, job: Job, store: Store | None) -> Iterator[_Part]:
    """Iterate over the readings and judgements a history still lacks; all of them without a store."""

    def lacks(record_id: str) -> bool:
        return store is None or store.outcome(record_id) not in FINAL

    history_id, asked = job.history_id, [(judge, ask) for judge in bench.judges for ask in range(bench.asks)]
    for judge, ask in asked if job.case.scored_targets else ():
        if lacks(bench.trajectory_id(judge, ask, job.case, history_id)):
            yield "evidence", judge.label, "trajectory"
    for condition in bench.conditions:
        reading_id = bench.reading_id(condition, history_id)
        if lacks(reading_id):
            yield "reading", condition.label, job.policy.label
        for judge, ask in asked:
            for axis in bench.reading_axes(job.case, condition):
                if lacks(bench.evidence_id(judge, ask, axis, job.case, reading_id)):
                    yield "evidence", judge.label, axis


_Asked = dict[tuple[str, str], tuple[float, float]]


def _mean(bench: TaskBench, part: _Part) -> _Asked:
    """Return mean calls and prompt tokens of a record by role and model, over some cases."""
    sample = bench.cases[:SAMPLE]
    tokens: dict[tuple[str, str], list[float]] = defaultdict(list)
    for case in sample:
        for name, size in _calls(bench, part, case):
            tokens[name].append(size)
    return {name: (len(sizes) / len(sample), sum(sizes) / len(sample)) for name, sizes in tokens.items()}


_Call = tuple[tuple[str, str], float]


def _calls(bench: TaskBench, part: _Part, case: Case) -> Iterator[_Call]:
    """Iterate over the calls that a record takes: role and model, and the tokens of the prompt."""
    kind, one, other = part
    turns = _turns(case)
    if kind == "rollout":
        yield from _rolled_out(bench, case, turns, _named(bench.policies, one), _named(bench.patients, other))
    elif kind == "reading":
        reader = next(condition.reader for condition in bench.conditions if condition.label == one)
        if one == "own":
            yield from _one("policy", _named(bench.policies, other), reader_messages(bench.task, turns))
        elif reader is not None:
            yield from _one("reader", reader, reader_messages(bench.task, turns))
    else:
        yield from _judged(bench, case, turns, _named(bench.judges, one), other)


def _named(adapters: Iterable[Adapter], label: str) -> Adapter:
    return next(one for one in adapters if one.label == label)


def _turns(case: Case) -> tuple[Turn, ...]:
    turns = [Turn(index=0, round=0, role="patient", kind="opening", text=case.context)]
    for round_ in range(1, case.turn_budget + 1):
        turns.append(Turn(index=len(turns), round=round_, role="doctor", kind="question", text=_TURN))
        turns.append(Turn(index=len(turns), round=round_, role="patient", kind="answer", text=_TURN))
    return tuple(turns)


def _rolled_out(
    bench: TaskBench, case: Case, turns: tuple[Turn, ...], policy: Adapter, patient: Adapter
) -> Iterator[_Call]:
    transcript = Transcript(bench.task, {"questions": Budget(case.turn_budget, case.turn_budget)})
    prompt = PatientPrompt(bench.task, case)
    talk = (*turns, *_workup(bench, case, len(turns)))
    for told in range(1, len(talk) + 1, 2):
        yield from _one("policy", policy, transcript.messages(talk[:told], {}))
        if told < len(turns):
            yield from _one("patient", patient, prompt.messages(turns[: told + 1], _TURN))


def _workup(bench: TaskBench, case: Case, index: int) -> Iterator[Turn]:
    """Iterate over the turns of a workup, if the environment has one: its whole budget, and the check of the pictures."""
    budget = bench.environment.get().reset(case, 0).budgets.get("workup")
    for _ in range(budget.total + 1 if budget is not None else 0):
        yield Turn(index=index, round=case.turn_budget, role="doctor", kind="question", text=_TURN)
        yield Turn(index=index + 1, round=case.turn_budget, role="reporter", kind="report", text=_TURN)
        index += 2


def _judged(bench: TaskBench, case: Case, turns: tuple[Turn, ...], judge: Adapter, axis: str) -> Iterator[_Call]:
    doctor = tuple(turn for turn in turns if turn.role == "doctor")
    questions = tuple(Item(id=f"u{index}", text=_TURN, turn=turn.index) for index, turn in enumerate(doctor))
    names = tuple(Item(id=f"p{index}", text="急性上呼吸道感染") for index in range(2))
    found: Axis = axis  # type: ignore[assignment]
    references = axis_references(case, found)
    if not references:
        return
    steps: list[tuple[str, dict[str, Any]]] = [
        (reading_step(bench.task, found), {"items": names, "references": references, "text": _TURN})
    ]
    if axis == "trajectory":
        steps = [
            ("extract_questions", {"turns": doctor}),
            ("cover_targets", {"items": questions, "references": references, "turns": doctor}),
            ("volunteered", {"references": references, "turns": turns}),
        ]
    for step, fields in steps:
        yield from _one("judge", judge, judge_messages(bench.task, step, found, fields))


def _one(role: str, adapter: Adapter, messages: tuple[Message, ...]) -> Iterator[_Call]:
    model = adapter.model
    if model is not None:
        yield (role, model), sum(len(one.content) for one in messages) / CHARACTERS_A_TOKEN
