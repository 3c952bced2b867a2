"""Match: candidate edges become a one-to-one assignment. Pure and deterministic.

Maximum cardinality; of several maximum matchings the one whose sorted list of matched rounds is smallest. Predictions
are offered to augmentation in order of round, then position: the sets of predictions that can be matched together form
a matroid, so this greedy order is optimal.

Where the edges carry levels (full, core, partial) the weight of the pairs is maximised instead: see `grading`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import msgspec

from meddc_bench.pipeline.grading import graded_matching
from meddc_bench.records import CREDIT, Assignment, Edge, Evidence, Item, Level, Pair

_FAR = 1 << 30
"""Stands for the round of a question without one: after all others."""


def maximum_matching(edges: Sequence[Sequence[int]], order: Sequence[int]) -> dict[int, int]:
    """Match predictions to references, one to one, as many as possible.

    Args:
        edges: for each prediction the indices of the references it may take, in order of preference.
        order: the predictions in the order in which they are offered; an earlier one is never given up for a later one.

    Returns:
        Reference index -> prediction index.

    >>> maximum_matching([[0, 1], [0]], [0, 1])
    {0: 1, 1: 0}
    """
    owner: dict[int, int] = {}
    choice = max(map(len, edges), default=0) > 1
    for prediction in order:
        for reference in edges[prediction]:
            if reference not in owner:
                owner[reference] = prediction
                break
        else:
            if choice and edges[prediction]:  # where no prediction has a second reference, no owner can make room
                _augment(prediction, edges, owner)
    return dict(sorted(owner.items()))


def _augment(prediction: int, edges: Sequence[Sequence[int]], owner: dict[int, int]) -> None:
    """Make room for a prediction along a path of changes of owner, if there is one; any length of path will do."""
    path = [(prediction, iter(edges[prediction]))]
    wanted: list[int] = []
    seen: set[int] = set()
    while path:
        reference = next((one for one in path[-1][1] if one not in seen), None)
        if reference is None:
            path.pop()
            del wanted[len(path) - 1 :]
            continue
        seen.add(reference)
        wanted.append(reference)
        if reference not in owner:
            for (taker, _), taken in zip(path, wanted, strict=True):
                owner[taken] = taker
            return
        path.append((owner[reference], iter(edges[owner[reference]])))


def assign(evidence: Evidence, first_summary: int | None = None, *, lists: bool = True) -> Assignment:
    """Assign one axis.

    On the trajectory axis questions in or after the first summary round are dropped; a question without a round stays a
    prediction, but its edges are excluded; volunteered targets leave the references. Edges with levels are assigned by
    weight, and an edge without a level among them is excluded.

    Returns:
        The assignment; TP = pairs, FP = predictions left over, FN = references left over (equation 1). A pair of level
        partial is no TP: the prediction names but a part of the reference.
    """
    trajectory = evidence.axis == "trajectory"
    references, items = evidence.references, evidence.items
    dropped: tuple[str, ...] = ()
    if evidence.volunteered:
        references = tuple(one for one in references if one not in evidence.volunteered)
    if trajectory and first_summary is not None:
        items, dropped = _before(items, first_summary)
    owner: dict[int, int] = {}
    levels: dict[tuple[int, int], Level] = {}
    excluded: tuple[Edge, ...] = ()
    if evidence.edges:
        adjacency, excluded, levels = _adjacency(evidence, items, references)
        if levels:
            owner = graded_matching(levels)
        else:
            owner = maximum_matching(adjacency, _order(items) if trajectory else range(len(items)))
    covered = len(owner)
    if levels:
        covered -= sum(levels[row, target] == "partial" for target, row in owner.items())
    return Assignment(
        axis=evidence.axis,
        pairs=tuple([
            Pair(
                prediction=items[row].id, reference=references[target],
                round=items[row].round if trajectory else None, level=levels.get((row, target)) if levels else None,
            )
            for target, row in owner.items()
        ]),
        excluded=excluded,
        unmatched_predictions=_left(tuple(item.id for item in items), set(owner.values())) if lists else (),
        unmatched_references=_left(references, set(owner)) if lists else (),
        volunteered=evidence.volunteered,
        dropped=dropped,
        tp=covered,
        fp=len(items) - covered,
        fn=len(references) - covered,
    )  # fmt: skip


def _adjacency(
    evidence: Evidence, items: Sequence[Item], references: Sequence[str]
) -> tuple[list[list[int]], tuple[Edge, ...], dict[tuple[int, int], Level]]:
    """Return, for each prediction, the references it may take; the edges that cannot count; the levels of a graded axis."""
    position = {item.id: index for index, item in enumerate(items)}
    column = {reference: index for index, reference in enumerate(references)}
    adjacency: list[list[int]] = [[] for _ in items]
    excluded: list[Edge] = []
    levels: dict[tuple[int, int], Level] = {}
    graded = evidence.axis == "diagnosis" and any(
        edge.level in CREDIT and edge.excluded is None for edge in evidence.edges
    )
    for edge in evidence.edges:
        row, target = position.get(edge.prediction), column.get(edge.reference)
        if edge.excluded is not None:
            excluded.append(edge)
        elif row is None:
            dropped = any(item.id == edge.prediction for item in evidence.items)
            excluded.append(_because(edge, "dropped question" if dropped else "unknown prediction id"))
        elif target is None:
            volunteered = edge.reference in evidence.volunteered
            excluded.append(_because(edge, "volunteered target" if volunteered else "unknown reference id"))
        elif items[row].round is None and evidence.axis == "trajectory":
            excluded.append(_because(edge, "question without a round"))
        elif graded and edge.level not in CREDIT:
            excluded.append(_because(edge, f"level {edge.level!r} among graded edges"))
        elif graded:
            level = cast(Level, edge.level)
            levels[row, target] = max(level, levels.get((row, target), level), key=CREDIT.__getitem__)
        elif target not in adjacency[row]:
            adjacency[row].append(target)
    for wanted in adjacency:
        if len(wanted) > 1:
            wanted.sort()
    return adjacency, tuple(excluded), levels


def _left(names: Sequence[str], taken: set[int]) -> tuple[str, ...]:
    return tuple(name for index, name in enumerate(names) if index not in taken)


def _before(items: tuple[Item, ...], first_summary: int) -> tuple[tuple[Item, ...], tuple[str, ...]]:
    late = {item.id for item in items if item.round is not None and item.round >= first_summary}
    if not late:
        return items, ()
    return tuple(item for item in items if item.id not in late), tuple(item.id for item in items if item.id in late)


def _order(items: Sequence[Item]) -> list[int]:
    """Order items by round, those without one last; the sort is stable, so items of one round keep their order."""
    rounds = [_FAR if item.round is None else item.round for item in items]
    return sorted(range(len(items)), key=rounds.__getitem__)


def _because(edge: Edge, reason: str) -> Edge:
    return msgspec.structs.replace(edge, excluded=reason)
