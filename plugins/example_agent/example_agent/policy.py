"""A doctor that asks what the complaint calls for, stops when one disease stands out, and says how sure it is.

Findings told add their weight, denied ones take it away; a softmax over the sums gives the share of each disease.
"""

from __future__ import annotations

import math
import random

from meddc_bench import Call, Context, Options, PolicyView, Reply
from meddc_bench.text import normalise, polarity
from pydantic import Field

from example_agent.knowledge import COMPLAINTS, DISEASES, GENERAL, Disease


class ExampleAgentOptions(Options):
    """Options of the doctor; a run gives them with --policy-args sure=0.9."""

    sure: float = Field(0.9, gt=0, le=1, description="The share of a disease at which no more is asked.")
    least: int = Field(3, ge=0, description="The fewest questions before a diagnosis.")
    most: int = Field(3, ge=1, le=5, description="The most diagnoses given.")


class ExampleAgent:
    """Asks, weighs and diagnoses. It keeps nothing between calls: all that it knows of a patient is in the view."""

    def __init__(self, options: ExampleAgentOptions, context: Context):
        self._options = options

    async def act(self, view: PolicyView) -> Reply:
        """Take the doctor's next turn: the next question, or the likeliest diseases."""
        said = normalise("。".join(turn.text for turn in view.turns if turn.role == "patient"))
        asked = sum(turn.role == "doctor" for turn in view.turns)
        ranked = _ranked(said, view.seed)
        plan = _plan(said)
        settled = asked >= self._options.least and ranked[0][1] >= self._options.sure
        if view.phase == "history" and asked < len(plan) and not settled:
            return Reply(plan[asked])
        names = [name for name, share in ranked if share >= ranked[0][1] / 4][: self._options.most]
        return Reply(calls=(Call("diagnose", {"diagnoses": names}),))


def _plan(said: str) -> tuple[str, ...]:
    """The questions for the complaint named first, the general ones between them; the general ones alone for any other."""
    places = {one: min((at for word in one.words if (at := said.find(word)) >= 0), default=-1) for one in COMPLAINTS}
    named = [one for one in COMPLAINTS if places[one] >= 0]
    if not named:
        return GENERAL
    first = min(named, key=lambda one: places[one])
    return (first.questions[0], GENERAL[0], *first.questions[1:], *GENERAL[1:])


def _ranked(said: str, seed: int) -> list[tuple[str, float]]:
    """Rank the diseases by their share; those that are equal stand in an order drawn from the seed."""
    scores = {name: _score(disease, said) for name, disease in DISEASES.items()}
    whole = sum(math.exp(score) for score in scores.values())
    names = sorted(scores)
    random.Random(seed).shuffle(names)
    return [(name, math.exp(scores[name]) / whole) for name in sorted(names, key=lambda name: -scores[name])]


def _score(disease: Disease, said: str) -> float:
    """Sum the weights of the findings that are told, less half of those denied."""
    score = math.log(disease.prior)
    for word, weight in disease.findings.items():
        at = said.find(word)
        if at >= 0:
            found = polarity(said[max(0, at - 40) : at + 40], min(at, 40), min(at, 40) + len(word))
            score += {"present": weight, "absent": -weight / 2, "uncertain": 0.0}[found]
    return score
