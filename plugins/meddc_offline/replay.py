"""The judge `replay`: people's adjudications from a JSONL file, looked up by step, axis and texts.

    {"step": "cover_items", "axis": "diagnosis", "prediction": "UA", "reference": "不稳定型心绞痛", "level": "covers"}
    {"step": "extract_questions", "turn_text": "疼多久了？有没有发烧？", "items": ["疼多久了？", "有没有发烧？"]}
    {"step": "extract_items", "text": "考虑肺炎。", "items": [{"text": "肺炎", "dimension": "diagnosis"}]}

A pair without a line is no edge. A turn or text without a line is cut by question units or by lines.
"""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import msgspec
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from meddc_bench.contracts import LEVELS, Context, Found, InputFile, JudgeView, Options, Reference
from meddc_bench.errors import InputError
from meddc_bench.records import Edge, Item, Turn
from meddc_bench.text import contains, squash
from meddc_offline.judging import prose
from meddc_offline.judging.units import need_units

MODEL = "replay"


class ReplayOptions(Options):
    """`file`: the JSONL of adjudications."""

    file: InputFile


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _EdgeLine(_Line):
    step: Literal["cover_items", "grade_diagnoses", "align_questions", "cover_targets", "volunteered"]
    axis: str | None = None
    prediction: str = Field(min_length=1)
    reference: str = Field(min_length=1)
    level: str
    quote: str | None = None
    reason: str | None = None


class _QuestionsLine(_Line):
    step: Literal["extract_questions"]
    axis: str | None = None
    turn_text: str
    items: tuple[str, ...]


class _Extracted(_Line):
    text: str = Field(min_length=1)
    dimension: str | None = None
    quote: str | None = None


class _ItemsLine(_Line):
    step: Literal["extract_items"]
    axis: str | None = None
    text: str
    items: tuple[_Extracted, ...]


_LINES: dict[str, type[_EdgeLine] | type[_QuestionsLine] | type[_ItemsLine]] = {
    "extract_questions": _QuestionsLine,
    "extract_items": _ItemsLine,
}
_LINES.update(dict.fromkeys(LEVELS, _EdgeLine))


class _Sheet(msgspec.Struct, frozen=True):
    """The adjudications by key; an axis of None stands for every axis."""

    edges: dict[tuple[str, str | None, str, str], _EdgeLine]
    questions: dict[str, tuple[str, ...]]
    items: dict[str, tuple[_Extracted, ...]]


class Replay:
    """Answers each step from the file, read at the first call."""

    def __init__(self, options: ReplayOptions, context: Context | None = None):
        self._path = options.file.path

    @cached_property
    def _sheet(self) -> _Sheet:
        return _read(self._path)

    async def judge(self, view: JudgeView) -> Found:
        """Answer one step of one axis."""
        sheet = self._sheet
        if view.step == "extract_items":
            return Found(items=_extracted(sheet, view), model=MODEL)
        if view.step == "extract_questions":
            return Found(items=_questions(sheet, view), model=MODEL)
        return Found(edges=_edges(sheet, view), model=MODEL)


def _extracted(sheet: _Sheet, view: JudgeView) -> tuple[Item, ...]:
    held = sheet.items.get(squash(view.text))
    if held is None:
        held = tuple(
            _Extracted(text=one.text, dimension=one.dimension, quote=one.quote) for one in prose.lines(view.text)
        )[: view.top_k]
    return tuple(
        Item(id=f"p{number}", text=one.text, quote=one.quote, dimension=one.dimension)
        for number, one in enumerate(held)
    )


def _questions(sheet: _Sheet, view: JudgeView) -> tuple[Item, ...]:
    found: list[Item] = []
    for turn in view.turns:
        held = sheet.questions.get(squash(turn.text))
        texts = held if held is not None else tuple(unit.quote for unit in need_units(turn.text))
        for text in texts:
            quote = text if contains(turn.text, text) else None
            found.append(Item(id=f"u{len(found)}", text=text, quote=quote, turn=turn.index, round=turn.round))
    return tuple(found)


def _edges(sheet: _Sheet, view: JudgeView) -> tuple[Edge, ...]:
    found = []
    for left, left_text in _left(view):
        for right, right_texts in _right(view):
            line = _line(sheet, view, left_text, right_texts)
            if line is not None:
                found.append(
                    Edge(prediction=left, reference=right, level=line.level, quote=line.quote, reason=line.reason)
                )
    return tuple(found)


def _line(sheet: _Sheet, view: JudgeView, left: str, rights: tuple[str, ...]) -> _EdgeLine | None:
    for right in rights:
        for axis in (view.axis, None):
            line = sheet.edges.get((view.step, axis, squash(left), squash(right)))
            if line is not None:
                return line
    return None


def _left(view: JudgeView) -> list[tuple[str, str]]:
    """List what stands on the prediction's side of a step: items, or the patient's turns."""
    if view.step == "volunteered":
        return [(str(turn.index), turn.text) for turn in view.turns if turn.role == "patient"]
    return [(item.id, item.text) for item in view.items]


def _right(view: JudgeView) -> list[tuple[str, tuple[str, ...]]]:
    """List what stands on the reference's side: references with synonyms, or the doctor's turns."""
    if view.step == "align_questions":
        return [(str(turn.index), (turn.text,)) for turn in _doctor(view.turns)]
    return [(one.id, _names(one)) for one in view.references]


def _doctor(turns: tuple[Turn, ...]) -> list[Turn]:
    return [turn for turn in turns if turn.role == "doctor"]


def _names(reference: Reference) -> tuple[str, ...]:
    return (reference.text, *reference.synonyms)


def _read(path: Path) -> _Sheet:
    sheet = _Sheet({}, {}, {})
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"expected a readable UTF-8 JSONL file of adjudications: {error}", path=path) from error
    for number, row in enumerate(text.splitlines(), 1):
        if row.strip():
            _enter(sheet, _parsed(row, path, number), path, number)
    return sheet


def _parsed(row: str, path: Path, number: int) -> _EdgeLine | _QuestionsLine | _ItemsLine:
    try:
        raw: Any = json.loads(row)
    except json.JSONDecodeError as error:
        raise InputError(f"expected one JSON object a line: {error.msg}", path=path, line=number) from error
    step = raw.get("step") if isinstance(raw, dict) else None
    model = _LINES.get(step) if isinstance(step, str) else None
    if model is None:
        raise InputError(f"expected one of {', '.join(_LINES)}", path=path, line=number, key="step")
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(first["msg"], path=path, line=number, key=".".join(map(str, first["loc"]))) from error


def _enter(sheet: _Sheet, line: _EdgeLine | _QuestionsLine | _ItemsLine, path: Path, number: int) -> None:
    """Put a line into the sheet; two lines for one pair that disagree are an error."""
    if isinstance(line, _QuestionsLine):
        sheet.questions[squash(line.turn_text)] = line.items
    elif isinstance(line, _ItemsLine):
        sheet.items[squash(line.text)] = line.items
    else:
        if line.level not in LEVELS[line.step]:
            raise InputError(f"expected one of {', '.join(LEVELS[line.step])}", path=path, line=number, key="level")
        key = (line.step, line.axis, squash(line.prediction), squash(line.reference))
        held = sheet.edges.get(key)
        if held is not None and held.level != line.level:
            raise InputError(f"contradicts an earlier line that says {held.level}", path=path, line=number, key="level")
        sheet.edges[key] = line
