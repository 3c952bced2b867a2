"""What a language model answers with in each role, as models: the JSON that the prompts ask for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, field_validator, model_validator

from meddc_bench.actions import split_reasoning
from meddc_bench.contracts import AnswerStatus, JudgeStep
from meddc_bench.text import clean

_NO = frozenset({"false", "no", "否", "不覆盖"})


class Said(BaseModel):
    """Base of what a model says: unknown keys and nulls are passed over, and numbers may stand for text."""

    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, data: Any) -> Any:
        return {key: one for key, one in data.items() if one is not None} if isinstance(data, dict) else data


class PatientSaid(Said):
    """The patient's answer with the facts behind it."""

    text: str
    fact_ids: tuple[str, ...] = ()
    status: AnswerStatus = "stated"
    unknown: tuple[str, ...] = ()

    @field_validator("text")
    @classmethod
    def _says_something(cls, text: str) -> str:
        if not split_reasoning(clean(text))[0]:
            raise ValueError("the answer is blank")
        return text

    @field_validator("status", mode="before")
    @classmethod
    def _spelling(cls, value: object) -> object:
        return value.strip().lower().replace("_", " ") if isinstance(value, str) else value


class ReaderSaid(Said):
    """A reader's diagnoses, the likeliest first."""

    diagnoses: tuple[str, ...]
    reason: str = ""


class Extracted(Said):
    """An item of a conclusion, with its dimension."""

    text: str
    dimension: str | None = None
    quote: str | None = None


class ItemsSaid(Said):
    """The items of a conclusion."""

    items: tuple[Extracted, ...]


class Question(Said):
    """A question unit of a doctor's turn."""

    text: str
    turn: int | None = None
    quote: str | None = None

    @field_validator("turn", mode="before")
    @classmethod
    def _number(cls, turn: object) -> object:
        """Pass over what is no number: the core finds the turn by the question's words."""
        return turn if isinstance(turn, int) or (isinstance(turn, str) and turn.strip().isdecimal()) else None


class QuestionsSaid(Said):
    """The question units of the doctor's turns."""

    questions: tuple[Question, ...]


class Match(Said):
    """A candidate edge."""

    # One that names no prediction or no reference costs itself alone: the core excludes and counts it.
    model_config = ConfigDict(json_schema_extra={"required": ["prediction", "reference"]})

    prediction: str = ""
    reference: str = ""
    level: str = ""
    quote: str | None = None
    reason: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _denied(cls, data: Any) -> Any:
        """Read a pair listed with a false verdict, under whatever key, as what it is: none."""
        extra = [one for key, one in data.items() if key not in cls.model_fields] if isinstance(data, dict) else []
        return {**data, "level": "none"} if any(str(one).strip().lower() in _NO for one in extra) else data

    @field_validator("level", mode="before")
    @classmethod
    def _spelling(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        return _LEVELS.get(value.strip(), value.strip().lower())


_LEVELS = {"完全": "full", "核心": "core", "部分": "partial", "无": "none", "null": "none", "0": "none"}
"""What a level may be called beside its name in the prompt."""


class MatchesSaid(Said):
    """The candidate edges of a step."""

    matches: tuple[Match, ...]

    @model_validator(mode="after")
    def _name_something(self) -> Self:
        if self.matches and not any(one.prediction for one in self.matches):
            raise ValueError("no item names a prediction")
        return self


STEPS: Mapping[JudgeStep, tuple[type[Said], str]] = {
    "extract_items": (ItemsSaid, ""),
    "cover_items": (MatchesSaid, "covers"),
    "grade_diagnoses": (MatchesSaid, ""),
    "extract_questions": (QuestionsSaid, ""),
    "align_questions": (MatchesSaid, "aligned"),
    "cover_targets": (MatchesSaid, "covers"),
    "volunteered": (MatchesSaid, "volunteered"),
}
"""The model of each judge step, and the level its edges have where the reply does not say one."""
