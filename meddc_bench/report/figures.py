"""What each kind of figure shows: numbers by policy, in points (0-100) where they are scores."""

from __future__ import annotations

from dataclasses import dataclass

MARKED = 7
"""So many policies can be told apart by colour and shape; the others are grey."""

Ends = tuple[float, float]
"""The low and the high end of an interval; in its place None where there is none."""


@dataclass(frozen=True, slots=True)
class Dot:
    """A score of a policy with its interval; `condition` is None for a metric that no reader touches."""

    policy: str
    metric: str
    condition: str | None
    value: float
    interval: Ends | None


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores with intervals, one panel a metric; policies from the top down."""

    policies: tuple[str, ...]
    metrics: tuple[str, ...]
    conditions: tuple[str, ...]
    dots: tuple[Dot, ...]


@dataclass(frozen=True, slots=True)
class Share:
    """How many consultations of a row came to an outcome."""

    row: str
    outcome: str
    count: int


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What became of the consultations, a bar a row."""

    rows: tuple[str, ...]
    shares: tuple[Share, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a policy stands under a condition; `place` tells equal ranks apart, for drawing."""

    policy: str
    condition: str
    rank: int
    place: int
    tied: bool
    score: float


@dataclass(frozen=True, slots=True)
class Slopes:
    """Ranks under each condition, joined; `marked` policies are drawn in colour."""

    conditions: tuple[str, ...]
    marked: tuple[str, ...]
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Gap:
    """A paired difference, `first` minus `second`, with its interval."""

    first: str
    second: str
    metric: str
    value: float
    interval: Ends | None


@dataclass(frozen=True, slots=True)
class Forest:
    """Paired differences, one panel a metric; pairs from the top down."""

    pairs: tuple[tuple[str, str], ...]
    metrics: tuple[str, ...]
    gaps: tuple[Gap, ...]


@dataclass(frozen=True, slots=True)
class Spot:
    """A policy by T and D, with both intervals; `label` stands beside it."""

    policy: str
    label: str
    t: float
    d: float
    t_interval: Ends | None
    d_interval: Ends | None


@dataclass(frozen=True, slots=True)
class Scatter:
    """Policies by T and D; the quadrants meet at `t_middle`, `d_middle`, None where there are too few policies."""

    spots: tuple[Spot, ...]
    t_middle: float | None
    d_middle: float | None


@dataclass(frozen=True, slots=True)
class Bubble:
    """How many cases of a policy have about these means of T and D."""

    policy: str
    t: float
    d: float
    cases: int


@dataclass(frozen=True, slots=True)
class Cases:
    """Case means of each policy by T and D, counted on a grid; one panel a policy."""

    policies: tuple[str, ...]
    bubbles: tuple[Bubble, ...]


@dataclass(frozen=True, slots=True)
class Reached:
    """The share of all targets that a policy had covered by the end of a round."""

    policy: str
    round: int
    share: float


@dataclass(frozen=True, slots=True)
class Coverage:
    """Targets covered by round; `marked` policies are drawn in colour."""

    policies: tuple[str, ...]
    marked: tuple[str, ...]
    reached: tuple[Reached, ...]


Data = Scores | Outcomes | Slopes | Forest | Scatter | Cases | Coverage
"""What a figure shows."""
