"""The four roles of a consultation as the checks see them: how a role is played, single views, what an answer may be."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Mapping
from typing import Any, get_args

from meddc_bench.adapters import Caller, StageFailure
from meddc_bench.contracts import (
    LEVELS,
    Answer,
    AnswerStatus,
    Budget,
    Call,
    Found,
    JudgeView,
    PatientView,
    PolicyView,
    ReaderView,
    Reference,
    Reply,
)
from meddc_bench.environments.consultation import ASK, DIAGNOSE
from meddc_bench.errors import JudgeError, PatientError, PolicyError, ReaderError
from meddc_bench.pipeline.judge import Panel, axis_references
from meddc_bench.pipeline.read import read_with
from meddc_bench.pipeline.rollout import Rollout, history_hash
from meddc_bench.pipeline.sighting import before_summary
from meddc_bench.records import DIMENSIONS, JUDGE_STEPS, Axis, Edge, Item, Reading
from meddc_bench.testing.seats import Role, Seat, messages, not_json, opening, raised, said, wrong_texts
from meddc_bench.testing.worlds import SEED, World, environment

# ── policy ───────────────────────────────────────────────────────────────────────────────────────

_TOLD = ("就是难受。", "没有发热，不恶心。", "以前身体还行，没动过手术。", "记不清了。", "嗯。")


class _Stock:
    """A patient that says the same to every doctor, whatever its facts are."""

    async def answer(self, view: PatientView) -> Answer:
        asked = sum(turn.role == "doctor" for turn in view.turns)
        return Answer(_TOLD[asked % len(_TOLD)], (), "not recorded")


async def _play_policy(policy: Any, world: World, number: int, caller: Caller) -> Any:
    case = world.cases[number]  # a policy that looks for it finds it here, as it would in a run
    rollout = Rollout(world.task, case, environment(), _Stock(), caller=caller)
    actor, seat = policy, None
    try:
        if hasattr(policy, "start"):
            view = dataclasses.replace(rollout.view, seed=SEED)
            actor = await caller.call(policy.start, view, returns=object)
        seat = Seat(actor.act, Reply, caller, _wrong_reply)
        while not rollout.done:
            await rollout.step(await seat(rollout.view))
    except StageFailure as failure:
        raise raised(failure) from failure
    finally:
        finish = getattr(actor, "finish", None) if actor is not policy else None
        if finish is not None:
            await caller.call(finish, returns=object)
    return [(one.text, [(call.name, call.arguments) for call in one.calls]) for one in seat.answers]


def _policy_view(text: str) -> PolicyView:
    turns = (opening(text), said(1, "doctor", "question", "哪里不舒服？"), said(2, "patient", "answer", text))
    return PolicyView(
        turns, (ASK, DIAGNOSE), {"questions": Budget(3, 2)}, "history", SEED, "zh", lambda: messages(text)
    )


def _wrong_reply(reply: Reply, view: PolicyView) -> str | None:
    if not isinstance(reply.text, str):
        return f"Reply.text is {type(reply.text).__name__} in place of text"
    if not isinstance(reply.calls, tuple) or not all(isinstance(one, Call) for one in reply.calls):
        return "Reply.calls is no tuple of Call"
    for call in reply.calls:
        if not isinstance(call.name, str) or not isinstance(call.arguments, Mapping | str):
            return f"a Call {call.name!r} whose name is no text or whose arguments are no mapping and no JSON"
        if (problem := not_json(call.arguments)) is not None:
            return f"the arguments of the Call {call.name!r}: {problem}"
    if not reply.text.strip() and not reply.calls:
        return "a Reply with neither text nor calls"
    return wrong_texts(reply, "reasoning", "finish", "model", "raw")


# ── patient ──────────────────────────────────────────────────────────────────────────────────────

_ASKED = (
    "什么时候开始的？怎么不舒服？",
    "有没有发烧、恶心、呕吐？",
    "以前得过什么病？吃什么药？",
    "您家的狗叫什么名字？",
)


async def _play_patient(patient: Any, world: World, number: int, caller: Caller) -> Any:
    seat = Seat(patient.answer, Answer, caller, _wrong_answer)
    stage: Any = seat
    case, policy_name = world.cases[number], world.policy_name  # there to be found, as in a run
    rollout = Rollout(world.task, case, environment(), stage, caller=caller)
    try:
        for question in _ASKED:
            await rollout.step(Reply(question, model=policy_name))
    except StageFailure as failure:
        raise raised(failure) from failure
    return [(one.text, one.fact_ids, one.status, one.unknown) for one in seat.answers]


def _patient_view(text: str) -> PatientView:
    turns = (opening("肚子疼。"), said(1, "doctor", "question", text))
    return PatientView("肚子疼。", (), frozenset(), turns, text, "record", SEED, "zh", render=lambda: messages(text))


def _wrong_answer(answer: Answer, view: PatientView) -> str | None:
    if not isinstance(answer.text, str) or not answer.text.strip():
        return "Answer.text is blank or no text"
    known = {fact.id for fact in view.facts}
    if not isinstance(answer.fact_ids, tuple) or (strange := [one for one in answer.fact_ids if one not in known]):
        return f"Answer.fact_ids is no tuple of the view's fact ids: {strange if answer.fact_ids else 'no tuple'}"
    if answer.status not in get_args(AnswerStatus):
        return f"Answer.status is {answer.status!r} in place of one of {', '.join(get_args(AnswerStatus))}"
    if not isinstance(answer.unknown, tuple) or not all(isinstance(one, str) for one in answer.unknown):
        return "Answer.unknown is no tuple of texts"
    if answer.status == "stated" and not answer.fact_ids:
        return "Answer.status is 'stated' and no fact id stands behind it"
    return wrong_texts(answer, "model", "raw", "reasoning")


# ── reader ───────────────────────────────────────────────────────────────────────────────────────


async def _play_reader(reader: Any, world: World, number: int, caller: Caller) -> Any:
    case, history = world.cases[number], world.history(number)
    policy_name = world.policy_name
    seat = Seat(reader.read, Reading, caller, _wrong_reading)
    stage: Any = seat
    try:
        await read_with(stage, world.task, history, history_hash(history), seed=SEED, caller=caller)
    except StageFailure as failure:
        raise raised(failure) from failure
    del case, policy_name  # they were there to be found
    return [(one.text, one.diagnoses, one.plan) for one in seat.answers]


def _reader_view(text: str) -> ReaderView:
    turns = (opening(text), said(1, "doctor", "question", text), said(2, "patient", "answer", text)) if text else ()
    return ReaderView(turns, SEED, "zh", 5, lambda: messages(text))


def _wrong_reading(reading: Reading, view: ReaderView) -> str | None:
    if not isinstance(reading.text, str):
        return f"Reading.text is {type(reading.text).__name__} in place of text"
    found = reading.diagnoses
    if found is not None and not (isinstance(found, tuple) and all(isinstance(one, str) for one in found)):
        return "Reading.diagnoses is no tuple of texts and not None"
    if found is None and not reading.text.strip():
        return "Reading.diagnoses is None, for prose, and its text is blank"
    if not isinstance(reading.plan, dict) or not set(reading.plan) <= set(DIMENSIONS):
        return f"Reading.plan has keys outside {', '.join(DIMENSIONS)}"
    return wrong_texts(reading, "model")


# ── judge ────────────────────────────────────────────────────────────────────────────────────────


async def _play_judge(judge: Any, world: World, number: int, caller: Caller, steps: tuple[str, ...] = ()) -> Any:
    case, history = world.cases[number], world.history(number)
    policy_name = world.policy_name
    seat = Seat(judge.judge, Found, caller, _wrong_found)
    stage: Any = seat
    try:
        for step in steps or JUDGE_STEPS:
            axis, fields = _asked(step, world, number)
            await Panel(stage, world.task, axis, seed=SEED, caller=caller).ask(step, **fields)
    except StageFailure as failure:
        raise raised(failure) from failure
    del case, history, policy_name  # they were there to be found
    return [(one.items, one.edges) for one in seat.answers]


def _asked(step: str, world: World, number: int) -> tuple[Axis, dict[str, Any]]:
    """Return the axis of a step and what is asked in it."""
    case, reading = world.cases[number], world.reading(number)
    turns = before_summary(world.history(number))
    doctor = tuple(turn for turn in turns if turn.role == "doctor")
    units = tuple(
        Item(id=f"u{at}", text=turn.text, quote=turn.text, turn=turn.index, round=turn.round)
        for at, turn in enumerate(doctor)
    )
    items = tuple(Item(id=f"p{at}", text=name) for at, name in enumerate(reading.diagnoses or ()))
    targets = axis_references(case, "trajectory")
    by_step: dict[str, tuple[Axis, dict[str, Any]]] = {
        "extract_items": ("diagnosis", {"text": reading.text}),
        "extract_questions": ("trajectory", {"turns": doctor}),
        "align_questions": ("trajectory", {"items": units, "turns": doctor}),
        "cover_targets": ("trajectory", {"items": units, "references": targets, "turns": doctor}),
        "volunteered": ("trajectory", {"references": targets, "turns": turns}),
    }
    relate: dict[str, Any] = {"items": items, "references": axis_references(case, "diagnosis"), "text": reading.text}
    return by_step.get(step, ("diagnosis", relate))


def _judge_view(text: str, step: Any = "cover_targets") -> JudgeView:
    axis: Axis = "diagnosis" if step in ("extract_items", "cover_items", "grade_diagnoses") else "trajectory"
    turns = (said(1, "doctor", "question", text), said(2, "patient", "answer", text))
    items = (Item(id="u0", text=text, turn=1, round=1),) if text else ()
    references = _hostile_references(text)
    return JudgeView(
        step, axis, SEED, text=text, turns=turns, items=items, references=references, render=lambda: messages(text)
    )


def _hostile_references(text: str) -> tuple[Any, ...]:
    return (Reference("t1", "有没有发烧？", (), "associated", ("没有发烧。",)), Reference("t2", text or "无", (text,)))


def _wrong_found(found: Found, view: JudgeView) -> str | None:
    if not isinstance(found.items, tuple) or not all(isinstance(one, Item) for one in found.items):
        return "Found.items is no tuple of Item"
    if not isinstance(found.edges, tuple) or not all(isinstance(one, Edge) for one in found.edges):
        return "Found.edges is no tuple of Edge"
    if view.step.startswith("extract") and found.edges:
        return f"edges in the step {view.step}, which asks for items"
    levels = LEVELS.get(view.step, ())
    turns, items = ({str(turn.index) for turn in view.turns}, {one.id for one in view.items})
    references = {one.id for one in view.references}
    predictions = turns if view.step == "volunteered" else items
    wanted = turns if view.step == "align_questions" else references
    for edge in found.edges:
        if edge.prediction not in predictions or edge.reference not in wanted:
            return f"in the step {view.step} an edge {edge.prediction!r} - {edge.reference!r} whose ids are not in the view"
        if edge.level not in levels:
            return f"in the step {view.step} an edge of level {edge.level!r} in place of one of {', '.join(levels)}"
    return wrong_texts(found, "raw", "model")


ROLES: Mapping[str, Role] = {
    role.kind: role
    for role in (
        Role("policy", "act", PolicyError, Reply, _play_policy, _policy_view, _wrong_reply),
        Role("patient", "answer", PatientError, Answer, _play_patient, _patient_view, _wrong_answer),
        Role("reader", "read", ReaderError, Reading, _play_reader, _reader_view, _wrong_reading),
        Role("judge", "judge", JudgeError, Found, _play_judge, _judge_view, _wrong_found),
    )
}


def role_of(kind: str, provides: tuple[str, ...]) -> Role:
    """Return the role of a kind; a judge is asked only the steps that it says it provides."""
    role = ROLES[kind]
    steps = tuple(step for step in JUDGE_STEPS if step in provides)
    if kind != "judge" or not steps:
        return role
    return dataclasses.replace(
        role, play=functools.partial(_play_judge, steps=steps), views=functools.partial(_judge_view, step=steps[-1])
    )


def hostile_views(role: Role, steps: tuple[str, ...], text: str) -> Iterator[Any]:
    """Make the views that hold a text: one, but of a judge one a step."""
    if role.kind != "judge":
        yield role.views(text)
        return
    for step in steps or JUDGE_STEPS:
        yield _judge_view(text, step)
