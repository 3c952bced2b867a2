"""The prompts of a case with an invented beginning of its consultation, for people to read."""

from __future__ import annotations

from typing import Any

from meddc_bench.contracts import Budget, Message
from meddc_bench.pipeline.judge import axis_references, judge_messages
from meddc_bench.pipeline.read import reader_messages
from meddc_bench.pipeline.rollout import PatientPrompt, Transcript
from meddc_bench.records import Axis, Case, Item, Turn
from meddc_bench.task import Task

_SAID = {
    "zh": ("您哪里不舒服，什么时候开始的？", "不清楚。", "考虑{}。", "、"),
    "en": ("What is the matter, and when did it begin?", "I don't know.", "Diagnosis: {}.", "; "),
}
"""A first question, an answer that knows nothing, and a summary, by language."""


def messages(name: str, task: Task, case: Case) -> tuple[Message, ...]:
    """Render the prompt of a role (doctor, patient, reader) or of a judge step."""
    opening = Turn(index=0, round=0, role="patient", kind="opening", text=case.context)
    turns = (opening, *_asked(case))
    if name == "doctor":
        budgets = {"questions": Budget(case.turn_budget, case.turn_budget)}
        return Transcript(task, budgets).messages((opening,), {})
    if name == "patient":
        return PatientPrompt(task, case).messages(turns[:2], turns[1].text)
    if name == "reader":
        return reader_messages(task, turns)
    return _judge(name, task, case, turns)


def _asked(case: Case) -> tuple[Turn, ...]:
    """Ask the case's first targets, and answer with their facts."""
    facts = {fact.id: fact.text for fact in case.facts}
    first, nothing, *_ = _said(case)
    between = ". " if case.language == "en" else ""
    out: list[Turn] = []
    for round_, target in enumerate(case.scored_targets[:2], 1):
        told = between.join(facts[one] for one in target.facts) or nothing
        at = 2 * round_ - 1
        out.append(Turn(index=at, round=round_, role="doctor", kind="question", text=target.question))
        out.append(Turn(index=at + 1, round=round_, role="patient", kind="answer", text=told))
    return tuple(out) or (Turn(index=1, round=1, role="doctor", kind="question", text=first),)


def _said(case: Case) -> tuple[str, str, str, str]:
    return _SAID["en" if case.language == "en" else "zh"]


def _judge(step: str, task: Task, case: Case, turns: tuple[Turn, ...]) -> tuple[Message, ...]:
    doctor = tuple(turn for turn in turns if turn.role == "doctor")
    questions = tuple(Item(id=f"u{number}", text=turn.text, turn=turn.index) for number, turn in enumerate(doctor))
    names = tuple(Item(id=f"p{number}", text=one.name) for number, one in enumerate(case.diagnoses))
    *_, closing, joined = _said(case)
    summary = closing.format(joined.join(one.name for one in case.diagnoses))
    fields: dict[str, tuple[Axis, dict[str, Any]]] = {
        "extract_items": ("diagnosis", {"text": summary}),
        "cover_items": ("diagnosis", {"items": names, "references": axis_references(case, "diagnosis"), "text": summary}),
        "grade_diagnoses": ("diagnosis", {"items": names, "references": axis_references(case, "diagnosis")}),
        "extract_questions": ("trajectory", {"turns": doctor}),
        "align_questions": ("trajectory", {"items": questions, "turns": doctor}),
        "cover_targets": (
            "trajectory", {"items": questions, "references": axis_references(case, "trajectory"), "turns": doctor},
        ),
        "volunteered": ("trajectory", {"references": axis_references(case, "trajectory"), "turns": turns}),
    }  # fmt: skip
    axis, values = fields[step]
    return judge_messages(task, step, axis, values)
