"""The judge `lexical`: every step by rules of language and the offline knowledge, the same answer every time."""

from __future__ import annotations

import re
from collections.abc import Iterator

from meddc_bench.contracts import Context, Found, JudgeView, Options, Reference
from meddc_bench.records import Edge, Item, Turn
from meddc_bench.text import contains, normalise, similarity
from meddc_offline.judging import coverage, plans, prose, relations, telling
from meddc_offline.judging.units import need_units

MODEL = "lexical"
_ALIKE = 0.75


class Lexical:
    """Answers each judge step without a language model."""

    def __init__(self, options: Options | None = None, context: Context | None = None):
        self._steps = {
            "extract_items": self._extract_items,
            "cover_items": self._cover_items,
            "grade_diagnoses": self._grade_diagnoses,
            "extract_questions": self._extract_questions,
            "align_questions": self._align_questions,
            "cover_targets": self._cover_targets,
            "volunteered": self._volunteered,
        }

    async def judge(self, view: JudgeView) -> Found:
        """Answer one step of one axis."""
        return self._steps[view.step](view)

    def _extract_items(self, view: JudgeView) -> Found:
        found = prose.items(view.text, view.top_k)
        return Found(
            items=tuple(
                Item(id=f"p{number}", text=one.text, quote=one.quote, dimension=one.dimension)
                for number, one in enumerate(found)
            ),
            model=MODEL,
        )

    def _cover_items(self, view: JudgeView) -> Found:
        edges = (
            Edge(prediction=item.id, reference=reference.id, reason=reason)
            for item in view.items
            for reference in view.references
            if (reason := _covers(view.axis, item.text, reference)) is not None
        )
        return Found(edges=tuple(edges), model=MODEL)

    def _grade_diagnoses(self, view: JudgeView) -> Found:
        edges = []
        for item in view.items:
            for reference in view.references:
                level = relations.grade(item.text, reference.text, reference.synonyms)
                if level is not None:
                    edges.append(
                        Edge(prediction=item.id, reference=reference.id, level=level, reason=_RELATIONS[level])
                    )
        return Found(edges=tuple(edges), model=MODEL)

    def _extract_questions(self, view: JudgeView) -> Found:
        return Found(items=tuple(_units(view.turns)), model=MODEL)

    def _align_questions(self, view: JudgeView) -> Found:
        edges = []
        for item in view.items:
            if (turn := _turn_of(item, view.turns)) is not None:
                edges.append(
                    Edge(prediction=item.id, reference=str(turn.index), level="aligned", reason="原文包含或措辞相近")
                )
        return Found(edges=tuple(edges), model=MODEL)

    def _cover_targets(self, view: JudgeView) -> Found:
        edges = (
            Edge(prediction=item.id, reference=one.id, quote=item.quote, reason=reason)
            for item in view.items
            for one in view.references
            if (reason := coverage.verdict(item.text, one.text, one.inquiry_type or "associated", one.facts))
            is not None
        )
        return Found(edges=tuple(edges), model=MODEL)

    def _volunteered(self, view: JudgeView) -> Found:
        edges = []
        for reference in view.references:
            for turn in view.turns:
                quote = telling.volunteered(turn.text, reference.facts) if turn.role == "patient" else None
                if quote:
                    edges.append(
                        Edge(
                            prediction=str(turn.index), reference=reference.id, level="volunteered", quote=quote,
                            reason="患者已说出该信息",
                        )
                    )  # fmt: skip
                    break
        return Found(edges=tuple(edges), model=MODEL)


_RELATIONS = {"full": "同一诊断", "core": "同一疾病，限定或亚型不同", "partial": "参考里明写的一个组成部分"}
_REASONS = {"same": "同义", "narrower": "更具体"}


_SEVERAL = re.compile(
    r"[/／|｜;；]|\bvs\b|vs\.?|[？?]|可疑|待排|(?:伴|合并|并发).*(?:伴|合并|并发)|[：:].*、", re.IGNORECASE
)


def _offers_several(prediction: str, reference: Reference) -> bool:
    """Say whether a prediction lists alternatives or many names in one, which name no diagnosis."""
    if any(normalise(prediction) == normalise(name) for name in (reference.text, *reference.synonyms)):
        return False
    return _SEVERAL.search(prediction) is not None


def _covers(axis: str, prediction: str, reference: Reference) -> str | None:
    """Say why a prediction covers a reference; None when it does not."""
    if axis == "diagnosis":
        if _offers_several(prediction, reference):
            return None
        return _REASONS.get(relations.relation(prediction, reference.text, reference.synonyms))
    return plans.covers(prediction, reference.text, reference.synonyms, axis)


def _units(turns: tuple[Turn, ...]) -> Iterator[Item]:
    number = 0
    for turn in turns:
        if turn.role != "doctor":
            continue
        for unit in need_units(turn.text):
            yield Item(id=f"u{number}", text=unit.quote, quote=unit.quote, turn=turn.index, round=turn.round)
            number += 1


def _turn_of(item: Item, turns: tuple[Turn, ...]) -> Turn | None:
    """Find the first doctor's turn that holds a question, else the one with the most similar unit."""
    doctor = [turn for turn in turns if turn.role == "doctor"]
    for text in filter(None, (item.quote, item.text)):
        for turn in doctor:
            if contains(turn.text, text):
                return turn
    rated = [
        (similarity(item.text, unit.quote), -turn.index, turn) for turn in doctor for unit in need_units(turn.text)
    ]
    best = max(rated, key=lambda row: row[:2], default=None)
    return best[2] if best is not None and best[0] >= _ALIKE else None
