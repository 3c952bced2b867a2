"""Which topics of facts answer a question of an inquiry type, and how well."""

from __future__ import annotations

from collections.abc import Mapping

from meddc_bench.text import normalise
from meddc_offline.inquiry import inquiry_types

_NEIGHBOURS = {
    ("associated", "site"): 0.4, ("associated", "character"): 0.4, ("associated", "severity"): 0.3,
    ("associated", "course"): 0.3, ("associated", "general"): 0.5, ("general", "associated"): 0.5,
    ("severity", "general"): 0.5, ("severity", "associated"): 0.4, ("severity", "course"): 0.4,
    ("course", "severity"): 0.4, ("course", "onset"): 0.5, ("onset", "course"): 0.5, ("onset", "trigger"): 0.3,
    ("trigger", "onset"): 0.3, ("trigger", "personal"): 0.5, ("personal", "trigger"): 0.5,
    ("trigger", "modifying"): 0.6, ("modifying", "trigger"): 0.6, ("modifying", "course"): 0.3,
    ("prior_care", "medication"): 0.6, ("medication", "prior_care"): 0.6, ("past", "personal"): 0.3,
    ("past", "medication"): 0.3, ("past", "course"): 0.3, ("past", "prior_care"): 0.4, ("prior_care", "past"): 0.4,
    ("character", "associated"): 0.5, ("site", "associated"): 0.5, ("modifying", "associated"): 0.3,
    ("course", "associated"): 0.3, ("personal", "general"): 0.3, ("general", "personal"): 0.3,
    ("personal", "obstetric"): 0.4, ("obstetric", "personal"): 0.4, ("past", "obstetric"): 0.4,
    ("obstetric", "past"): 0.3, ("development", "general"): 0.4, ("general", "development"): 0.3,
    ("development", "past"): 0.4, ("past", "development"): 0.4, ("obstetric", "associated"): 0.2,
    ("course", "past"): 0.3, ("onset", "past"): 0.2,
}  # fmt: skip
"""How well a fact of the second topic answers a question of the first; 1 for its own, 0 for pairs not named."""


def type_weights(question: str) -> dict[str, float]:
    """Weigh the inquiry types of a question relative to the strongest."""
    types = inquiry_types(normalise(question))
    top = max(types.values(), default=1.0)
    return {kind: value / top for kind, value in types.items()}


def topic_fit(topic: str, weights: Mapping[str, float]) -> float:
    """Say how well a fact of a topic suits a question of the weighted types, 0 to 1."""
    best = 0.0
    for kind, weight in weights.items():
        fit = 1.0 if kind == topic else _NEIGHBOURS.get((kind, topic), 0.0)
        best = max(best, weight * fit)
    return best
