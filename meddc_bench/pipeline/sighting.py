"""What may be seen of a history: the turns before the first summary, and what of them a reader gets."""

from __future__ import annotations

from typing import Literal

from meddc_bench.records import History, Record, Turn
from meddc_bench.text import asserted_diagnosis, mask_assertions


class Sight(Record, frozen=True):
    """What a reader may see of a history, and where an early assertion of a diagnosis stands in it."""

    turns: tuple[Turn, ...]
    cut_at: int | None = None


def sight(history: History, view: Literal["cut", "mask", "full"]) -> Sight:
    """Return the turns before the first summary, under the view `cut`, `mask` or `full`.

    `cut_at` is the index of the first doctor's turn before the summary that asserts a diagnosis in free text: `cut`
    ends the view before it, `mask` leaves the asserting words out, `full` keeps them.
    """
    turns = before_summary(history)
    asserting = [turn.index for turn in turns if turn.role == "doctor" and asserted_diagnosis(turn.text) is not None]
    if not asserting:
        return Sight(turns=turns)
    first = asserting[0]
    if view == "cut":
        return Sight(turns=tuple(turn for turn in turns if turn.index < first), cut_at=first)
    if view == "mask":
        return Sight(turns=tuple(_masked(turn) for turn in turns), cut_at=first)
    return Sight(turns=turns, cut_at=first)


def before_summary(history: History) -> tuple[Turn, ...]:
    """Return the turns before the first one of kind summary or diagnose."""
    for position, turn in enumerate(history.turns):
        if turn.kind in ("summary", "diagnose"):
            return history.turns[:position]
    return history.turns


def _masked(turn: Turn) -> Turn:
    if turn.role != "doctor" or asserted_diagnosis(turn.text) is None:
        return turn
    return Turn(
        index=turn.index,
        round=turn.round,
        role=turn.role,
        kind=turn.kind,
        text=mask_assertions(turn.text),
        media=turn.media,
    )
