"""Whether a patient's turn already told what a target's facts say."""

from __future__ import annotations

import re

from meddc_bench.text import aligned, clauses, normalise, squash
from meddc_offline.judging.targets import content_words
from meddc_offline.lexicon import Lexicon


def volunteered(turn: str, facts: tuple[str, ...]) -> str | None:
    """Quote where a patient's turn already tells a fact with the same polarity; None when it does not."""
    for fact in facts:
        for quote in (_told_whole(turn, fact), _told_findings(turn, fact)):
            if quote:
                return quote
    return None


_AMOUNT = re.compile(r"\d+(?:\.\d+)?(?:个?[一-鿿%])?")


def _amounts(text: str) -> frozenset[str]:
    return frozenset(_AMOUNT.findall(normalise(text)))


def _told_whole(turn: str, fact: str) -> str | None:
    """Find a fact's own words in a turn, or the clauses that hold most of its content words and all its amounts."""
    form, whole = aligned(turn), squash(fact)
    if whole and (at := form.text.find(whole)) >= 0:
        start, end = form.source(at, at + len(whole))
        return turn[start:end]
    words = content_words(fact)
    if not words or not _amounts(fact) <= _amounts(turn) or _contrary(turn, fact):
        return None
    hits = [word for word in words if word in form.text]
    if len(hits) < 2 or sum(map(len, hits)) < 0.75 * sum(map(len, words)):
        return None
    spans = [span for span in clauses(turn) if any(word in squash(span.text) for word in hits)]
    return turn[spans[0].start : spans[-1].end] if spans else None


def _told_findings(turn: str, fact: str) -> str | None:
    """Find in a turn all findings a fact states, with the same polarity, when they are most of what it says."""
    lexicon = Lexicon.load()
    stated = [mention for mention in lexicon.find(fact) if mention.subject == "patient"]
    theirs = {(mention.name, mention.polarity) for mention in stated}
    hits = [
        mention
        for mention in lexicon.find(turn)
        if mention.subject == "patient" and (mention.name, mention.polarity) in theirs
    ]
    if not theirs or {(hit.name, hit.polarity) for hit in hits} != theirs or not _amounts(fact) <= _amounts(turn):
        return None
    covered = len({at for mention in stated for at in range(mention.start, mention.end)})
    if covered < (0.35 if len(theirs) > 1 else 0.5) * len(squash(fact)):
        return None
    return turn[min(hit.start for hit in hits) : max(hit.end for hit in hits)]


def _contrary(turn: str, fact: str) -> bool:
    """Say whether a turn states a finding of the fact with the other polarity."""
    lexicon = Lexicon.load()
    theirs = {mention.name: mention.polarity for mention in lexicon.find(fact)}
    return any(
        mention.name in theirs and {mention.polarity, theirs[mention.name]} == {"present", "absent"}
        for mention in lexicon.find(turn)
    )
