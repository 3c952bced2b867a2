"""The judge `floor`: another judge's levels, raised where ontologies know better."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
from functools import cached_property
from typing import Any, cast

from pydantic import Field

from meddc_bench.contracts import Context, Found, InputFile, JudgeView, Options, Spec
from meddc_bench.records import CREDIT, Edge, Level
from meddc_ontology.floor import Floor, Report, higher
from meddc_ontology.index import load


class FloorOptions(Options):
    """The judge to raise, by its name and options, and the index (see `python -m meddc_ontology`)."""

    index: InputFile
    judge: str = "lexical"
    judge_args: dict[str, Any] = Field(default_factory=dict)


class Floored:
    """Asks the judge inside every step; levels of diagnoses become `max(judge, floor)`."""

    def __init__(self, options: FloorOptions, context: Context):
        self._inner = context.build("judge", Spec(options.judge, options.judge_args))
        self._path = options.index.path

    @cached_property
    def _floor(self) -> Floor:
        return Floor(load(self._path))

    async def judge(self, view: JudgeView) -> Found:
        """Answer one step; only `grade_diagnoses` is changed."""
        found = await ask(self._inner, view)
        if view.step != "grade_diagnoses":
            return found
        report = Report()
        edges = (*found.edges, *raised(found, view, self._floor, report))
        return dataclasses.replace(found, edges=edges, counts={**found.counts, **report.counts()})


def raised(found: Found, view: JudgeView, floor: Floor, report: Report) -> list[Edge]:
    """Return an edge for each pair that has a floor; the report counts them, and those above what the judge said.

    Of two edges of a pair the higher counts when they are matched, so the judge's own edges stay as they are; and a floor
    holds where the judge's edge turns out not to count.
    """
    said: dict[tuple[str, str], Level | None] = {}
    for edge in found.edges:
        if edge.level in CREDIT and edge.excluded is None:
            pair = edge.prediction, edge.reference
            said[pair] = higher(said.get(pair), cast(Level, edge.level))
    out = []
    for item in view.items:
        for one in view.references:
            verdict = floor.best(item.text, (one.text, *one.synonyms))
            before = said.get((item.id, one.id))
            report.add(verdict, raised=higher(before, verdict.level) != before)
            if verdict.level is not None:
                reason = f"ontology: {verdict.rule}"
                out.append(Edge(prediction=item.id, reference=one.id, level=verdict.level, reason=reason))
    return out


async def ask(judge: Any, view: JudgeView) -> Found:
    """Ask a judge inside this one, which may answer at once or in a thread."""
    if inspect.iscoroutinefunction(judge.judge):
        answer = judge.judge(view)
    else:
        answer = await asyncio.to_thread(judge.judge, view)
    found: Found = await answer if inspect.isawaitable(answer) else answer
    return found
