"""What all charts share: words in one language, rows as data, names that fit beside an axis, colours, shapes and dashes.

Colours are those of Okabe and Ito, which people with colour-blindness tell apart; shapes and dashes say the same again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from meddc_bench.report.figures import MARKED
from meddc_bench.report.page import Language
from meddc_bench.report.words import METRICS, Words, named
from meddc_bench.text import clean

if TYPE_CHECKING:
    import altair as alt

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "stroke")
DASHES = ([1, 0], [6, 2], [2, 2], [8, 2, 2, 2], [4, 4], [10, 3], [1, 3])
GREY = "#9A9A9A"


class Say:
    """Says words in one language."""

    def __init__(self, language: Language):
        self.language = language

    def __call__(self, zh: str, en: str) -> str:
        return clean(zh if self.language == "zh" else en)

    def words(self, words: Words) -> str:
        return self(words.zh, words.en)

    def metric(self, name: str) -> str:
        return self.words(named(METRICS, name))

    def condition(self, name: str | None) -> str:
        return self("不经阅读者", "no reader") if name is None else clean(name)


def values(rows: Iterable[Mapping[str, Any]]) -> alt.InlineData:
    """Hand rows to a chart, their texts cleaned."""
    import altair as alt

    return alt.InlineData(
        values=[{key: clean(v) if isinstance(v, str) else v for key, v in row.items()} for row in rows]
    )


def short(names: Sequence[str], most: int = 28) -> dict[str, str]:
    """Cut names that are too long to stand beside an axis, so that they stay different."""
    out: dict[str, str] = {}
    for name in names:
        text = clean(name)
        cut = text if len(text) <= most else f"{text[: most - 10]}…{text[-9:]}"
        taken = sum(one == cut or one.startswith(f"{cut} (") for one in out.values())
        out[name] = cut if not taken else f"{cut} ({taken + 1})"
    return out


def palette(names: Sequence[str], marked: Sequence[str]) -> tuple[list[str], list[str], list[list[int]]]:
    """Give each name its colour, shape and dash: those marked one of their own, the others grey."""
    at = {name: index for index, name in enumerate(marked[:MARKED])}
    return (
        [COLOURS[at[one]] if one in at else GREY for one in names],
        [SHAPES[at[one]] if one in at else "circle" for one in names],
        [DASHES[at[one]] if one in at else [1, 0] for one in names],
    )
