"""The reader `knowledge` for English cases: names the diseases of the handbook that the history supports."""

from __future__ import annotations

from meddc_bench.contracts import Context, Options, ReaderView
from meddc_bench.records import Reading
from meddc_offline.english.chart import read_chart
from meddc_offline.english.handbook import Supported, named

MOST = 3


class EnglishKnowledge:
    """Ranks the diseases of the handbook; names none where too little speaks for any."""

    def __init__(self, options: Options | None = None, context: Context | None = None) -> None:
        pass

    async def read(self, view: ReaderView) -> Reading:
        """Read a history and give its diagnoses with what they rest on."""
        chosen = named(read_chart(view.turns), min(MOST, view.top_k))
        return Reading(text=grounds(chosen), diagnoses=tuple(one.disease.name for one in chosen))


def grounds(chosen: list[Supported]) -> str:
    """Say in a line for each diagnosis what speaks for it."""
    if not chosen:
        return "The history supports no diagnosis."
    return "\n".join(
        f"{one.disease.name}: {', '.join(sorted(one.support, key=lambda name: (-one.support[name], name))[:6])}."
        for one in chosen
    )
