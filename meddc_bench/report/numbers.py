"""How numbers and reasons are written: points with one digit, intervals, p values; what is missing is a dash, never 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from meddc_bench.analysis.bootstrap import Interval
from meddc_bench.report.figures import Ends
from meddc_bench.report.words import REASONS, Words, joined, named
from meddc_bench.text import one_line

NONE = "—"
LONGEST = 200


def points(value: float | None, digits: int = 1) -> str:
    """Write a proportion as points of 100.

    >>> points(0.5172), points(None), points(-0.001)
    ('51.7', '—', '−0.1')
    """
    return NONE if value is None else number(100 * value, digits)


def number(value: float | None, digits: int = 1) -> str:
    """Write a number with a true minus sign, and no minus before a zero.

    >>> number(-1.25, 2), number(-0.0001)
    ('−1.25', '0.0')
    """
    if value is None:
        return NONE
    text = f"{value:.{digits}f}"
    return text[1:] if text.startswith("-") and not float(text) else text.replace("-", "−")


def signed(value: float | None) -> str:
    """Write a difference of proportions in points, with its sign.

    >>> signed(0.05), signed(-0.05), signed(0.0)
    ('+5.0', '−5.0', '0.0')
    """
    text = points(value)
    return f"+{text}" if value is not None and value > 0 and float(text) else text


def ends(interval: Interval, scale: float = 100.0) -> Ends | None:
    """Return both ends of an interval, of proportions in points; None where there is none."""
    if interval.low is None or interval.high is None:
        return None
    return scale * interval.low, scale * interval.high


def bracket(interval: Interval, scale: float = 100.0, digits: int = 1) -> str:
    """Write an interval, a dash where there is none."""
    found = ends(interval, scale)
    return NONE if found is None else f"[{number(found[0], digits)},\u00a0{number(found[1], digits)}]"


def probability(value: float | None, draws: int) -> str:
    """Write a share of draws or a p value; one that so many draws cannot tell from 0 or 1 is bounded.

    >>> probability(1.0, 2000), probability(0.0004, 2000), probability(0.975, 2000)
    ('> 0.999', '< 0.001', '0.975')
    """
    if value is None:
        return NONE
    least = max(0.001, 1 / draws)
    if value < least:
        return f"< {least:.3f}"
    return f"> {1 - least:.3f}" if value > 1 - least else f"{value:.3f}"


@dataclass(frozen=True, slots=True)
class Teller:
    """Tells reasons and counts; words that may hold text of a case only where they are `allowed`."""

    allowed: bool

    def reason(self, text: str | None) -> Words:
        """Tell a reason: the program's own in both languages, any other as it is, if it may be told."""
        if not text:
            return Words("没有给出原因", "no reason was given")
        if text in REASONS:
            return REASONS[text]
        if not self.allowed:
            return Words("原因的原文可能含病例内容，未收入", "its words may hold case text and are left out")
        words = one_line(text, LONGEST)
        return Words(words, words)

    def counts(self, found: Mapping[str, Any], names: Mapping[str, Words]) -> Words:
        """Tell counts by name; names that the program does not know are added up where they may not be told."""
        if not found:
            return Words(NONE, NONE)
        told: dict[Words, int] = {}
        for key, count in found.items():
            known = names.get(key) or (names.get("level") if key.startswith("level ") else None)
            name = known or (named({}, one_line(key, 60)) if self.allowed else Words("其他", "other"))
            told[name] = told.get(name, 0) + int(count)
        return joined([name + f" {count}" for name, count in told.items()])
