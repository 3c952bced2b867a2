"""Plain doctors to compare against: `shuffled`, `brief` and `eager`."""

from __future__ import annotations

import random

from meddc_bench.contracts import Context, Options, PolicyView, Reply
from meddc_bench.text import squash
from meddc_offline.checklist import diagnosis, may_ask, per_turn
from meddc_offline.ending import ended
from meddc_offline.interview import Interview

_BRIEF = 3


class Eager:
    """Diagnoses at once from the opening."""

    def __init__(self, options: Options | None = None, context: Context | None = None) -> None:
        pass

    async def act(self, view: PolicyView) -> Reply:
        """Give the diagnosis that the opening suggests."""
        return ended(view, diagnosis(Interview(view.turns)))


class Brief:
    """Asks the checklist's first three questions, then diagnoses."""

    def __init__(self, options: Options | None = None, context: Context | None = None) -> None:
        pass

    async def act(self, view: PolicyView) -> Reply:
        """Ask the three questions in the first turn, then diagnose."""
        interview = Interview(view.turns)
        if may_ask(view) and not any(turn.role == "doctor" for turn in view.turns):
            chosen = interview.choose(_BRIEF)
            if chosen:
                return Reply(text="".join(item.text for item in chosen))
        return ended(view, diagnosis(interview))


class Shuffled:
    """Asks the checklist's questions for the opening in seeded random order, whatever the answers are."""

    def __init__(self, options: Options | None = None, context: Context | None = None) -> None:
        pass

    async def act(self, view: PolicyView) -> Reply:
        """Ask the next questions of the shuffled list, then diagnose."""
        interview = Interview(view.turns)
        if may_ask(view):
            first = next((turn for turn in view.turns if turn.role == "patient"), None)
            texts = [item.text for item in Interview((first,) if first else ()).plan()]
            random.Random(f"{view.seed}:shuffled").shuffle(texts)
            fresh = [text for text in texts if squash(text) not in interview.spoken][: per_turn(view)]
            if fresh:
                return Reply(text="".join(fresh))
        return ended(view, diagnosis(interview))
