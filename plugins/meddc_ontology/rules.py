"""The verdicts of two other benchmarks as levels: RareArena's 0, 1 or 2, MeDxAgent's true or false.

RareArena   2 a synonym -> full · 1 a hypernym -> core · 0 -> no level
MeDxAgent   true a synonym or a more specific subtype -> full · false -> no level
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import msgspec
from pydantic import Field

from meddc_bench.contracts import Context, Found, JudgeView, Message, Options, Spec
from meddc_bench.prompts import Prompts
from meddc_bench.records import Edge, Level
from meddc_ontology.judges import ask

RULES: Mapping[str, Mapping[str, Level | None]] = {
    "rarearena": {"2": "full", "1": "core", "0": None},
    "medxagent": {"true": "full", "false": None},
}
"""Rule -> verdict -> level (TrustMed-RL, Table 14)."""
_FAMILY = "trustmed"


class RuleOptions(Options):
    """The judge that is asked, by its name and options: one that stands on a language model."""

    judge: str = "openai"
    judge_args: dict[str, Any] = Field(default_factory=dict)


class Ruled:
    """Asks for the verdicts of a rule instead of levels, in the rule's own prompt; other steps pass through."""

    def __init__(self, rule: str, options: RuleOptions, context: Context):
        self._rule = rule
        self._inner = context.build("judge", Spec(options.judge, options.judge_args))

    async def judge(self, view: JudgeView) -> Found:
        """Answer one step; a verdict that the rule does not have leaves its edge, excluded."""
        if view.step != "grade_diagnoses":
            return await ask(self._inner, view)
        found = await ask(self._inner, dataclasses.replace(view, render=lambda: messages(self._rule, view)))
        edges = (levelled(self._rule, edge) for edge in found.edges)
        return dataclasses.replace(found, edges=tuple(edge for edge in edges if edge is not None))


def levelled(rule: str, edge: Edge) -> Edge | None:
    """Give an edge the level of its verdict; None where the verdict is that nothing corresponds.

    >>> levelled("rarearena", Edge(prediction="p0", reference="g0", level="1")).level
    'core'
    >>> levelled("medxagent", Edge(prediction="p0", reference="g0", level="maybe")).excluded
    "verdict 'maybe' is not one of true, false"
    """
    verdicts = RULES[rule]
    if edge.level not in verdicts:
        because = f"verdict {edge.level!r} is not one of {', '.join(verdicts)}"
        return edge if edge.excluded is not None else msgspec.structs.replace(edge, excluded=because)
    level = verdicts[edge.level]
    return None if level is None else msgspec.structs.replace(edge, level=level)


def messages(rule: str, view: JudgeView) -> tuple[Message, ...]:
    """Render the prompt of a rule in the language of the view."""
    prompts = Prompts(_FAMILY, view.language)
    values = {"items": view.items, "references": view.references}
    return (
        Message("system", prompts.render("judge_rule_system", values)),
        Message("user", prompts.render(f"judge_{rule}", values)),
    )


def rarearena(options: RuleOptions, context: Context) -> Ruled:
    return Ruled("rarearena", options, context)


def medxagent(options: RuleOptions, context: Context) -> Ruled:
    return Ruled("medxagent", options, context)
