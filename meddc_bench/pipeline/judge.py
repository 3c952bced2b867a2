"""Judge: one axis at a time, a judge proposes items and candidate edges; this stage checks each of them.

diagnosis, tests ...   (extract_items) -> cover_items; grade_diagnoses where the protocol grades diagnoses
trajectory             extract_questions -> rounds -> cover_targets -> volunteered
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from meddc_bench.adapters import Caller, StageFailure, failure
from meddc_bench.contracts import LEVELS, Found, Judge, JudgeView, Message, Reference, Render
from meddc_bench.errors import JudgeError
from meddc_bench.fingerprint import derive_seed
from meddc_bench.pipeline.sighting import before_summary
from meddc_bench.prompts import prompts_for
from meddc_bench.records import Axis, Case, Dimension, Edge, Evidence, History, Item, JudgeStep, Reading, Target, Turn
from meddc_bench.task import Task
from meddc_bench.text import clean, contains, squash

_HAVE_FALLBACKS = frozenset({"align_questions", "volunteered"})
"""Steps whose failure falls back to a string rule (Table S3)."""
_AXIS_NAMES: dict[Axis, str] = {
    "diagnosis": "诊断", "trajectory": "问诊", "tests": "检查", "treatment": "治疗", "medication": "用药",
    "lifestyle": "生活方式", "guidance": "就医指导",
}  # fmt: skip
NO_LEVEL = "none"
"""What a judge that lists every pair calls one without a correspondence, when it grades; it is no edge."""
_LONG_ENOUGH = 6
_MAX_ITEMS = 200


class Panel:
    """A judge at work on one axis of one record: calls its steps, keeps its raw replies, its counts and the fallbacks used."""

    def __init__(self, judge: Judge, task: Task, axis: Axis, *, seed: int, caller: Caller):
        self._judge, self._axis, self._seed, self._caller = judge, axis, seed, caller
        self._task = task
        self._protocol = task.config.protocol
        self.steps: dict[str, str] = {}
        self.raw: dict[str, str] = {}
        self.model: str | None = None
        self.counts: Counter[str] = Counter()

    async def ask(self, step: Any, **fields: Any) -> Found:
        """Ask one step.

        Raises:
            StageFailure: the judge failed, unless the protocol takes an empty answer for it.
        """
        language = self._task.config.language
        render = _once(judge_messages, self._task, step, self._axis, fields)
        seed = derive_seed(self._seed, step)
        decoding = self._protocol.sampling(step)
        view = JudgeView(
            step, self._axis, seed, language, top_k=self._protocol.top_k, render=render, decoding=decoding, **fields
        )
        try:
            found: Found = await self._caller.call(self._judge.judge, view, returns=Found)
        except Exception as error:  # recorded as this record's outcome
            failed = failure(error, JudgeError)
            if self._protocol.empty_on_failure and failed.outcome == "judge_failed" and step not in _HAVE_FALLBACKS:
                self.steps[step] = f"empty on failure: {failed.reason}"
                return Found()
            raise failed from error
        if found.raw is not None:
            self.raw[step] = clean(found.raw)
        self.model = clean(found.model) if found.model else self.model
        self.counts.update({clean(name): count for name, count in found.counts.items()})
        items = tuple(_clean_item(item) for item in found.items)
        return Found(items, tuple(_clean_edge(edge) for edge in found.edges))


def _once(render: Callable[..., tuple[Message, ...]], *args: Any) -> Render:
    def messages() -> tuple[Message, ...]:
        return render(*args)

    return messages


def judge_messages(task: Task, step: str, axis: Axis, fields: Mapping[str, Any]) -> tuple[Message, ...]:
    """Render the prompt of one judge step."""
    prompts = prompts_for(task.config.templates, task.config.language, task.path.parent)
    nothing: dict[str, Any] = {"text": "", "turns": (), "items": (), "references": ()}
    asked = {"step": step, "axis": axis, "dimension": _AXIS_NAMES[axis], "top_k": task.config.protocol.top_k}
    values = {**nothing, **fields, **asked}
    return (
        Message("system", prompts.render("judge_system", values)),
        Message("user", prompts.render(f"judge_{step}", values)),
    )


async def judge_trajectory(
    judge: Judge, task: Task, case: Case, history: History, *, seed: int, caller: Caller
) -> Evidence:
    """Judge which targets the doctor's questions cover, and which the patient volunteered (supplement B).

    Raises:
        StageFailure: a step failed.
    """
    panel = Panel(judge, task, "trajectory", seed=seed, caller=caller)
    turns = before_summary(history)
    doctor = tuple(turn for turn in turns if turn.role == "doctor")
    references = tuple(target_reference(case, target) for target in case.scored_targets)
    items = await _questions(panel, doctor) if doctor else ()
    edges: tuple[Edge, ...] = ()
    if items and references:
        found = await panel.ask("cover_targets", items=items, references=references, turns=doctor)
        texts = tuple(turn.text for turn in doctor)
        edges = checked(found.edges, items, references, LEVELS["cover_targets"], lambda edge: texts)
    volunteered = await _volunteered(panel, task, references, edges, items, turns)
    return Evidence(
        axis="trajectory", items=items, references=tuple(one.id for one in references), edges=edges,
        volunteered=volunteered, steps=panel.steps, raw=panel.raw, model=panel.model, counts=dict(panel.counts),
    )  # fmt: skip


async def judge_reading(
    judge: Judge, task: Task, case: Case, reading: Reading, axis: Axis, *, seed: int, caller: Caller
) -> Evidence:
    """Judge which references of one axis the reading's predictions cover.

    Raises:
        StageFailure: a step failed.
    """
    panel = Panel(judge, task, axis, seed=seed, caller=caller)
    references = axis_references(case, axis)
    given = reading.diagnoses if axis == "diagnosis" else reading.plan.get(axis)
    if given is None and reading.text:
        found = await panel.ask("extract_items", text=reading.text)
        given = tuple(item.text for item in found.items if (item.dimension or "diagnosis") == axis)
    top_k = task.config.protocol.top_k if axis == "diagnosis" else _MAX_ITEMS
    items = tuple(Item(id=f"p{index}", text=text) for index, text in enumerate((given or ())[:top_k]))
    edges: tuple[Edge, ...] = ()
    if items and references:
        step = reading_step(task, axis)
        found = await panel.ask(step, items=items, references=references, text=reading.text)
        by_id = {item.id: item.text for item in items}
        edges = checked(
            [edge for edge in found.edges if edge.level != NO_LEVEL or step != "grade_diagnoses"],
            items, references, LEVELS[step], lambda edge: (by_id.get(edge.prediction, ""), reading.text),
        )  # fmt: skip
    return Evidence(
        axis=axis, items=items, references=tuple(one.id for one in references), edges=edges,
        steps=panel.steps, raw=panel.raw, model=panel.model, counts=dict(panel.counts),
    )  # fmt: skip


def reading_step(task: Task, axis: Axis) -> JudgeStep:
    """Return the step that relates a reading's items to the references of an axis."""
    return task.config.protocol.diagnosis_step if axis == "diagnosis" else "cover_items"


def axis_references(case: Case, axis: Axis) -> tuple[Reference, ...]:
    """Return what a case has as references on an axis."""
    if axis == "diagnosis":
        return tuple(
            Reference(f"g{index}", one.name, one.synonyms, code=one.code) for index, one in enumerate(case.diagnoses)
        )
    if axis == "trajectory":
        return tuple(target_reference(case, target) for target in case.scored_targets)
    dimension: Dimension = axis
    return tuple(Reference(f"r{index}", text) for index, text in enumerate(getattr(case.references, dimension)))


def target_reference(case: Case, target: Target) -> Reference:
    """Show a target to a judge: its question, its type and the texts of the facts it should elicit."""
    texts = {fact.id: fact.text for fact in case.facts}
    return Reference(
        target.id, target.question, inquiry_type=target.inquiry_type, facts=tuple(texts[one] for one in target.facts)
    )


def checked(
    edges: Iterable[Edge],
    items: Sequence[Item],
    references: Sequence[Reference],
    levels: Sequence[str],
    texts: Callable[[Edge], Iterable[str]],
) -> tuple[Edge, ...]:
    """Exclude, with the reason, an edge of unknown ids, of a level outside the step's vocabulary, or whose quote is not found."""
    item_ids, reference_ids = {item.id for item in items}, {one.id for one in references}
    out: list[Edge] = []
    for edge in edges:
        because = None
        if edge.prediction not in item_ids:
            because = "unknown prediction id"
        elif edge.reference not in reference_ids:
            because = "unknown reference id"
        elif edge.level not in levels:
            because = f"level {edge.level!r} is not one of {', '.join(levels)}"
        elif edge.quote is not None and not any(contains(text, edge.quote) for text in texts(edge)):
            because = "quote not found in the text"
        out.append(_with(edge, because) if because else edge)
    return tuple(out)


async def _questions(panel: Panel, doctor: tuple[Turn, ...]) -> tuple[Item, ...]:
    """Extract question units and give each its round: containment, then the judge, then keyword containment."""
    found = await panel.ask("extract_questions", turns=doctor)
    by_index = {turn.index: turn for turn in doctor}
    placed: list[Item] = []
    for number, item in enumerate(found.items[:_MAX_ITEMS]):
        turn = by_index.get(item.turn) if item.turn is not None else None
        if turn is None or not contains(turn.text, item.quote or item.text):
            turn = next((one for one in doctor if contains(one.text, item.quote or item.text)), None)
        placed.append(_placed(item, f"u{number}", turn))
    open_items = tuple(item for item in placed if item.round is None)
    if open_items:
        aligned = await _align(panel, open_items, doctor)
        placed = [_placed(item, item.id, by_index.get(aligned.get(item.id, -1))) if item.round is None else item
                  for item in placed]  # fmt: skip
    return tuple(placed)


async def _align(panel: Panel, items: tuple[Item, ...], doctor: tuple[Turn, ...]) -> dict[str, int]:
    indices = {str(turn.index): turn.index for turn in doctor}
    aligned: dict[str, int] = {}
    try:
        found = await panel.ask("align_questions", items=items, turns=doctor)
        for edge in found.edges:
            if edge.level == "aligned" and edge.reference in indices:
                aligned.setdefault(edge.prediction, indices[edge.reference])
    except StageFailure as failed:
        if failed.outcome != "judge_failed":
            raise
        panel.steps["align_questions"] = f"keyword containment: {failed.reason}"
    for item in items:
        if item.id not in aligned and (turn := _by_keywords(item.text, doctor)) is not None:
            aligned[item.id] = turn.index
            panel.steps.setdefault("align_questions", "keyword containment")
    return aligned


def _by_keywords(question: str, doctor: Sequence[Turn]) -> Turn | None:
    """Find the first turn that holds most character pairs of a question of six characters or more."""
    text = squash(question)
    if len(text) < _LONG_ENOUGH:
        return None
    pairs = {text[index : index + 2] for index in range(len(text) - 1)}
    for turn in doctor:
        squashed = squash(turn.text)
        if sum(pair in squashed for pair in pairs) >= 0.8 * len(pairs):
            return turn
    return None


def _placed(item: Item, new_id: str, turn: Turn | None) -> Item:
    return Item(
        id=new_id, text=item.text, quote=item.quote,
        round=turn.round if turn else None, turn=turn.index if turn else None,
    )  # fmt: skip


async def _volunteered(
    panel: Panel, task: Task, references: tuple[Reference, ...], edges: Sequence[Edge], items: Sequence[Item],
    turns: tuple[Turn, ...],
) -> tuple[str, ...]:  # fmt: skip
    rule = task.config.protocol.volunteered
    placed = {item.id for item in items if item.round is not None}
    reached = {edge.reference for edge in edges if edge.excluded is None and edge.prediction in placed}
    asked = tuple(one for one in references if rule == "all" or one.id not in reached)
    patient = {str(turn.index): turn.text for turn in turns if turn.role == "patient"}
    if rule == "off" or not asked or not patient:
        return ()
    try:
        found = await panel.ask("volunteered", references=asked, turns=turns)
    except StageFailure as failed:
        if failed.outcome != "judge_failed":
            raise
        panel.steps["volunteered"] = f"string check: {failed.reason}"
        return _volunteered_by_string(asked, patient)
    good = {
        edge.reference
        for edge in found.edges
        if edge.level == "volunteered" and edge.prediction in patient
        and (edge.quote is None or contains(patient[edge.prediction], edge.quote))
    }  # fmt: skip
    return tuple(one.id for one in asked if one.id in good)


def _volunteered_by_string(references: Sequence[Reference], patient: Mapping[str, str]) -> tuple[str, ...]:
    """The paper's fallback: does the question's or the condition's text stand in a patient's turn?"""
    return tuple(
        one.id
        for one in references
        if any(contains(text, needle) for text in patient.values() for needle in (one.text, *one.facts))
    )


def _clean_item(item: Item) -> Item:
    quote = None if item.quote is None else clean(item.quote)
    return msgspec.structs.replace(item, text=clean(item.text), quote=quote)


def _clean_edge(edge: Edge) -> Edge:
    quote, reason = (None if one is None else clean(one) for one in (edge.quote, edge.reason))
    ids = clean(edge.prediction), clean(edge.reference), clean(edge.level)
    return Edge(prediction=ids[0], reference=ids[1], level=ids[2], quote=quote, reason=reason, excluded=edge.excluded)


def _with(edge: Edge, because: str) -> Edge:
    return msgspec.structs.replace(edge, excluded=because)
