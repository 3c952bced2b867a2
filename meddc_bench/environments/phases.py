"""The training curriculum of TrustMed v1.0: budgets by update, their randomisation, and the reward of deferral.

For trainers, who make visits with the budgets of a phase; an evaluation always has those of the last one.
"""

from __future__ import annotations

from dataclasses import dataclass

_GROWTH = 0.3333 * 256
"""Updates over which the share of unsolvable tasks and the reward of deferring grow."""


@dataclass(frozen=True, slots=True)
class Ceilings:
    """A phase of the curriculum: the budgets of questions, workup turns and searches, and the update it begins with."""

    phase: int
    first: int
    questions: int
    workup: int
    searches: int


CURRICULUM = (
    Ceilings(1, 0, 4, 10, 1),
    Ceilings(2, 40, 6, 12, 2),
    Ceilings(3, 88, 8, 14, 3),
    Ceilings(4, 152, 10, 20, 3),
)
UPDATES = 256


@dataclass(frozen=True, slots=True)
class Bounds:
    """Inclusive bounds of the randomised budgets of one case at one update."""

    questions: tuple[int, int]
    workup: tuple[int, int]
    searches: int


def ceilings(update: int) -> Ceilings:
    """Return the phase of an update (0-255).

    >>> ceilings(88).workup
    14
    """
    _checked(update)
    return next(one for one in reversed(CURRICULUM) if update >= one.first)


def bounds(update: int, workup: int, searches: int) -> Bounds:
    """Return the bounds of a case's budgets at an update (equation 12), given what its workup was estimated to need.

    Questions in [max(1, ask - 1), ask]; workup turns in [min(work, max(2, work - 2, w + s)), work]; searches fixed.

    >>> bounds(0, 9, 0).workup
    (9, 10)
    """
    top = ceilings(update)
    low = min(top.workup, max(2, top.workup - 2, workup + searches))
    return Bounds((max(1, top.questions - 1), top.questions), (low, top.workup), top.searches)


def deferral_reward(update: int) -> float:
    """Return r_ook(n) = 0.15 + 0.30 min(1, n / (0.3333 * 256)), to four decimals (equation 17).

    >>> deferral_reward(40)
    0.2906
    """
    _checked(update)
    return round(0.15 + 0.30 * min(1.0, update / _GROWTH), 4)


def deferral_hint(update: int) -> float:
    """Return h(n) = min(0.40, r_ook(n)).

    >>> deferral_hint(255)
    0.4
    """
    return min(0.40, deferral_reward(update))


def _checked(update: int) -> None:
    if not 0 <= update < UPDATES:
        raise ValueError(f"an update is 0 to {UPDATES - 1}, found {update}")
