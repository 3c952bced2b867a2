"""The JSON that each prompt asks for, as models: what a language model in that role has to answer with."""

from __future__ import annotations

import json
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, field_validator


class Said(BaseModel):
    """Base of what a model says."""

    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)


class PatientSaid(Said):
    text: str = Field(min_length=1)
    fact_ids: tuple[str, ...] = ()
    status: str = "stated"
    unknown: tuple[str, ...] = ()

    @field_validator("status")
    @classmethod
    def _known(cls, value: str) -> str:
        plain = value.strip().lower().replace("_", " ")
        return plain if plain in ("stated", "denied", "not recorded") else "stated"


class ReaderSaid(Said):
    diagnoses: tuple[str, ...]
    reason: str = ""


class Extracted(Said):
    text: str
    dimension: str | None = None
    quote: str | None = None


class ItemsSaid(Said):
    items: tuple[Extracted, ...]


class Question(Said):
    text: str
    turn: int | None = None
    quote: str | None = None


class QuestionsSaid(Said):
    questions: tuple[Question, ...]


class Match(Said):
    prediction: str
    reference: str
    level: str = ""
    quote: str | None = None
    reason: str | None = None


class MatchesSaid(Said):
    matches: tuple[Match, ...]


Reply = TypeVar("Reply", bound=Said)


def parse(text: str, model: type[Reply]) -> Reply:
    """Read a reply strictly."""
    return model.model_validate(json.loads(text))
