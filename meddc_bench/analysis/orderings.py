"""Orderings: what several readers together say of two policies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from meddc_bench.analysis.bootstrap import Interval
from meddc_bench.analysis.resample import EQUAL

Verdict = Literal["supported", "contradicted", "undecided"]


@dataclass(frozen=True, slots=True)
class Gap:
    """`first` minus `second` under one reader, in the unit of the audit, with the interval."""

    reader: str
    value: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class Ordering:
    """What the readers say of two policies; `first` is the higher one under the base reader.

    supported      the interval of the difference excludes 0, on the same side, under every reader
    contradicted   it excludes 0 on one side under some reader and on the other under another
    undecided      all else
    """

    first: str
    second: str
    verdict: Verdict
    gaps: tuple[Gap, ...]
    words: str


def ordering(first: str, second: str, gaps: tuple[Gap, ...]) -> Ordering:
    """Decide whether the readers agree on which of two policies scores higher; gaps are `first` minus `second`.

    An interval that just touches 0 does not exclude it. No correction for the number of pairs is made. No gap, or one
    without an interval, leaves the pair undecided or contradicted, never supported.

    Source: this project's rule; not in the paper.

    >>> ordering("a", "b", (Gap("own", 0.1, Interval(0.05, 0.15, 0.02, 0.95, 1000)),)).words
    'a is above b under every reader'
    """
    above = [gap.reader for gap in gaps if gap.interval.low is not None and gap.interval.low > EQUAL]
    below = [gap.reader for gap in gaps if gap.interval.high is not None and gap.interval.high < -EQUAL]
    if above and below:
        words = f"{first} is above {second} under {', '.join(above)}, below under {', '.join(below)}"
        return Ordering(first, second, "contradicted", gaps, words)
    if gaps and len(gaps) in (len(above), len(below)):
        one, other = (first, second) if above else (second, first)
        return Ordering(first, second, "supported", gaps, f"{one} is above {other} under every reader")
    return Ordering(first, second, "undecided", gaps, _undecided(first, second, gaps))


def _undecided(first: str, second: str, gaps: tuple[Gap, ...]) -> str:
    unknown = next((gap.interval.reason for gap in gaps if gap.interval.low is None), None)
    if unknown is None:
        open_under = [gap.reader for gap in gaps if gap.interval.low <= EQUAL and gap.interval.high >= -EQUAL]  # type: ignore[operator]
        return f"{first} and {second} are not told apart under {', '.join(open_under)}"
    flipped = [gap.reader for gap in gaps if gap.value < -EQUAL]
    scores = f"below it under {', '.join(flipped)}" if flipped else "nowhere below it"
    return f"{first} scores above {second} under the base reader, {scores}; not decided: {unknown}"
