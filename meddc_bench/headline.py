"""Which metrics of a task come first: on the screen, in reports, comparisons, audits and on boards."""

from __future__ import annotations

from collections.abc import Collection

CONSULTATION = ("D", "T", "E", "Total")
"""The components of MedDDC and their total."""
WORKUP = ("Acc", "Strict", "Acc50", "Strict50")
"""The accuracies of TrustMed."""


def has_accuracy(names: Collection[str]) -> bool:
    """Tell whether a task with these metrics is scored by TrustMed's accuracies."""
    return "Acc50" in names


def headline(names: Collection[str]) -> tuple[str, ...]:
    """Return the metrics that come first of those that there are.

    >>> headline(["rounds", "Acc", "Acc50", "D"]), headline(["T", "D", "Acc"])
    (('Acc', 'Acc50', 'D'), ('D', 'T'))
    """
    first = (*WORKUP, *CONSULTATION) if has_accuracy(names) else CONSULTATION
    return tuple(name for name in first if name in names)


def leading(names: Collection[str]) -> tuple[str, ...]:
    """Return the metrics that rows are ordered by: the first of them that was measured.

    Of a workup it is Acc50: a diagnosis without the evidence for it leads nothing.
    """
    return ("Acc50", "Acc", "D") if has_accuracy(names) else ("Total", "D")
