"""What a language model answers with in each role, as models: the JSON that the prompts ask for."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field, field_validator

from meddc_bench.contracts import AnswerStatus, JudgeStep


class Said(BaseModel):
    """Base of what a model says: unknown keys are passed over, and numbers may stand for text."""

    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)


class PatientSaid(Said):
    """The patient's answer with the facts behind it."""

    text: str = Field(min_length=1)
    fact_ids: tuple[str, ...] = ()
    status: AnswerStatus = "stated"
    unknown: tuple[str, ...] = ()

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


class QuestionsSaid(Said):
    """The question units of the doctor's turns."""

    questions: tuple[Question, ...]


class Match(Said):
    """A candidate edge."""

    prediction: str
    reference: str
    level: str = ""
    quote: str | None = None
    reason: str | None = None


class MatchesSaid(Said):
    """The candidate edges of a step."""

    matches: tuple[Match, ...]


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
