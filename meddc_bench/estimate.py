"""What a run would take before it is run: records still to be made, and calls, tokens and cost of each language model.

Prompts are rendered for some cases, with turns of a usual length in the place of what will be said; a token is taken as
1.4 characters. The numbers are upper estimates: every policy uses its whole budget, and no reply comes from the cache.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from meddc_bench.contracts import Budget, Message
from meddc_bench.llm.session import Prices
from meddc_bench.orchestrator import FINAL
from meddc_bench.pipeline.judge import axis_references, judge_messages
from meddc_bench.pipeline.read import reader_messages
from meddc_bench.pipeline.rollout import PatientPrompt, Transcript
from meddc_bench.plan import Job, TaskBench
from meddc_bench.records import Axis, Case, Item, Turn
from meddc_bench.store import Store
from meddc_bench.wiring import Adapter

SAMPLE = 5
"""Cases of a task whose prompts are rendered."""

CHARACTERS_A_TOKEN = 1.4
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


def estimate(benches: Iterable[TaskBench], store: Store | None, prices: Prices) -> Estimate:
    """Estimate what a run would take, beyond what its store holds."""
    missing = stored = 0
    asked: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for bench in benches:
        known: dict[tuple[str, str], _Asked] = {}
        for job in bench.jobs():
            if store is not None and store.outcome(job.history_id) in FINAL:
                stored += 1
                continue
            missing += 1
            for name, (calls, tokens) in _mean(bench, job, known).items():
                asked[name][0] += calls
                asked[name][1] += tokens
    rows = []
    for (role, model), (calls, tokens) in sorted(asked.items()):
        written = round(calls) * _WRITTEN[role]
        price = prices.get(model)
        cost = None if price is None else price.of(round(tokens), written)
        rows.append(Calls(role, model, round(calls), round(tokens), written, cost))
    return Estimate(missing, stored, tuple(rows))


_Asked = dict[tuple[str, str], tuple[float, float]]


def _mean(bench: TaskBench, job: Job, known: dict[tuple[str, str], _Asked]) -> _Asked:
    """Return mean calls and prompt tokens of a history with all that is made of it, over some cases."""
    pair = (job.policy.label, job.patient.label)
    if pair not in known:
        sample = bench.cases[:SAMPLE]
        tokens: dict[tuple[str, str], list[float]] = defaultdict(list)
        for case in sample:
            for name, size in _calls(bench, job, case):
                tokens[name].append(size)
        known[pair] = {name: (len(sizes) / len(sample), sum(sizes) / len(sample)) for name, sizes in tokens.items()}
    return known[pair]


def _calls(bench: TaskBench, job: Job, case: Case) -> Iterator[tuple[tuple[str, str], float]]:
    """Iterate over the calls one history leads to: role and model, and the tokens of the prompt."""
    task = bench.task
    total = case.turn_budget
    turns = [Turn(index=0, round=0, role="patient", kind="opening", text=case.context)]
    transcript, patient = Transcript(task, {"questions": Budget(total, total)}), PatientPrompt(task, case)
    for round_ in range(1, total + 1):
        yield from _one("policy", job.policy, transcript.messages(tuple(turns), {}))
        turns.append(Turn(index=len(turns), round=round_, role="doctor", kind="question", text=_TURN))
        yield from _one("patient", job.patient, patient.messages(tuple(turns), _TURN))
        turns.append(Turn(index=len(turns), round=round_, role="patient", kind="answer", text=_TURN))
    yield from _one("policy", job.policy, transcript.messages(tuple(turns), {}))
    reading = reader_messages(task, tuple(turns))
    for condition in bench.conditions:
        reader = job.policy if condition.label == "own" else condition.reader
        if reader is not None:
            yield from _one("policy" if condition.label == "own" else "reader", reader, reading)
    yield from _judged(bench, case, tuple(turns))


def _judged(bench: TaskBench, case: Case, turns: tuple[Turn, ...]) -> Iterator[tuple[tuple[str, str], float]]:
    task, asks = bench.task, bench.asks
    doctor = tuple(turn for turn in turns if turn.role == "doctor")
    questions = tuple(Item(id=f"u{index}", text=_TURN, turn=turn.index) for index, turn in enumerate(doctor))
    names = tuple(Item(id=f"p{index}", text="急性上呼吸道感染") for index in range(2))
    targets = axis_references(case, "trajectory")
    steps: list[tuple[str, Axis, dict[str, Any]]] = []
    if targets:
        steps = [
            ("extract_questions", "trajectory", {"turns": doctor}),
            ("cover_targets", "trajectory", {"items": questions, "references": targets, "turns": doctor}),
            ("volunteered", "trajectory", {"references": targets, "turns": turns}),
        ]
    for condition in bench.conditions:
        for axis in bench.reading_axes(case, condition):
            fields = {"items": names, "references": axis_references(case, axis), "text": _TURN}
            steps.append(("cover_items", axis, fields))
    for judge in bench.judges:
        for step, axis, fields in steps * asks:
            yield from _one("judge", judge, judge_messages(task, step, axis, fields))


def _one(role: str, adapter: Adapter, messages: tuple[Message, ...]) -> Iterator[tuple[tuple[str, str], float]]:
    model = adapter.model
    if model is not None:
        yield (role, model), sum(len(one.content) for one in messages) / CHARACTERS_A_TOKEN
