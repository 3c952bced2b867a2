"""Read: a reader, the policy's own generator, or nobody (`emitted`) turns a frozen history into diagnoses."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

from meddc_bench.actions import split_reasoning
from meddc_bench.adapters import Caller, StageFailure, failure
from meddc_bench.contracts import Completion, Message, Reader, ReaderView
from meddc_bench.errors import EndpointError, ReaderError
from meddc_bench.llm.replies import ReaderSaid
from meddc_bench.llm.structured import parse
from meddc_bench.pipeline.sighting import Sight, sight
from meddc_bench.prompts import prompts_for
from meddc_bench.records import DIMENSIONS, Decoding, History, Reading, Turn
from meddc_bench.task import Task
from meddc_bench.text import clean


def read_emitted(history: History, hash_: str) -> Reading:
    """Copy the policy's own terminal diagnosis and plan: the coupled score."""
    action = history.diagnosis_action
    last = next((turn for turn in reversed(history.turns) if turn.kind in ("summary", "diagnose")), None)
    if action is not None:
        diagnoses: tuple[str, ...] | None = _texts(action.arguments.get("diagnoses"))
        plan: dict[str, tuple[str, ...]] = {name: _texts(action.arguments.get(name)) for name in DIMENSIONS}
    else:
        diagnoses, plan = (None if last is not None else ()), {}
    return Reading(
        text=last.text if last else "", diagnoses=diagnoses, plan=plan, view="full", history_hash=hash_,
        turns_read=len(history.turns),
    )  # fmt: skip


async def read_with(reader: Reader, task: Task, history: History, hash_: str, *, seed: int, caller: Caller) -> Reading:
    """Let a reader read what it may see.

    Raises:
        StageFailure: the reader failed, or something under it did.
    """
    protocol = task.config.protocol
    seen = sight(history, protocol.view)
    render = functools.partial(reader_messages, task, seen.turns)
    decoding = protocol.sampling("reader")
    view = ReaderView(seen.turns, seed, task.config.language, protocol.top_k, render, decoding=decoding)
    try:
        reading: Reading = await caller.call(reader.read, view, returns=Reading)
        return _finished(reading, protocol.view, seen, hash_)
    except Exception as error:  # recorded as this record's outcome
        raise failure(error, ReaderError) from error


async def read_own(policy: Any, task: Task, history: History, hash_: str, *, seed: int, caller: Caller) -> Reading:
    """Put the common reader prompt and decoding before the policy's own generator.

    Its reply is read as JSON like any reader's; prose is left to the judge to extract from.

    Raises:
        StageFailure: the policy has no generator (`excluded`), or generating failed.
    """
    make = getattr(policy, "generator", None)
    generator = await caller.call(make, returns=object) if make is not None else None
    if generator is None:
        raise StageFailure("excluded", "the policy has no generator of its own")
    seen = sight(history, task.config.protocol.view)
    messages, protocol = reader_messages(task, seen.turns), task.config.protocol
    try:
        generate = functools.partial(generator.generate, messages, _as_json(protocol.sampling("reader")), seed=seed)
        completion: Completion = await caller.call(generate, returns=Completion)
        reading = Reading(text=completion.text, diagnoses=_diagnoses(completion.text), model=completion.model)
        return _finished(reading, protocol.view, seen, hash_)
    except Exception as error:  # recorded as this record's outcome
        raise failure(error, ReaderError) from error


def _as_json(decoding: Decoding) -> Decoding:
    return dataclasses.replace(decoding, schema=ReaderSaid.model_json_schema())


def _diagnoses(text: str) -> tuple[str, ...] | None:
    """Read a reply as the JSON that the reader's prompt asks for; None where it is prose."""
    try:
        return parse(text, ReaderSaid).diagnoses
    except EndpointError:
        return None


def reader_messages(task: Task, turns: tuple[Turn, ...]) -> tuple[Message, ...]:
    """Render the common reader prompt over the visible turns."""
    prompts = prompts_for(task.config.templates, task.config.language, task.path.parent)
    values = {"turns": turns, "top_k": task.config.protocol.top_k}
    return (
        Message("system", prompts.render("reader_system", values)),
        Message("user", prompts.render("reader_message", values)),
    )


def _finished(reading: Reading, view: str, seen: Sight, hash_: str) -> Reading:
    """Clean a reading, split hidden reasoning off its text, and refuse a blank one."""
    text, _ = split_reasoning(clean(reading.text))
    diagnoses = reading.diagnoses
    if diagnoses is None and not text:
        raise ReaderError("the reply is blank")
    if diagnoses is not None:
        diagnoses = _texts(diagnoses)
    return Reading(
        text=text, diagnoses=diagnoses, plan={name: _texts(items) for name, items in reading.plan.items()}, view=view,
        cut_at=seen.cut_at,
        turns_read=len(seen.turns), history_hash=hash_,
        model=_cleaned(reading.model),
    )  # fmt: skip


def _cleaned(text: str | None) -> str | None:
    return None if text is None else clean(text)


def _texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        value = [value]
    return tuple(text for one in value or () if (text := clean(str(one)).strip()))
