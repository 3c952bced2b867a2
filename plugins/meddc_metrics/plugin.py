"""Registers the metrics."""

from __future__ import annotations

from meddc_bench.contracts import Register, hookimpl

_DIMENSIONS = ("tests", "treatment", "medication", "lifestyle", "guidance")
_REVISION = "1"
_GRADED = {
    "Acc": "acc",
    "Strict": "strict",
    "Acc50": "acc50",
    "Strict50": "strict50",
    "delta_Acc": "delta_acc",
    "delta_Strict": "delta_strict",
    "soft_precision": "soft_precision",
    "soft_recall": "soft_recall",
    "findings_coverage": "findings_coverage",
    "search_rate": "search_rate",
    "deferral_rate": "deferral_rate",
    "workup_actions": "workup_actions",
    "invalid_rate": "invalid_rate",
}
"""Metric of TrustMed -> its factory."""


@hookimpl
def register_metrics(register: Register) -> None:
    def add(name: str, factory: str, options: str | None = None) -> None:
        path = f"meddc_metrics.metrics:{factory}"
        if options is None:
            register(name, path, revision=_REVISION)
        else:
            register(name, path, f"meddc_metrics.metrics:{options}", revision=_REVISION)

    for letter, axis in (("D", "diagnosis"), ("T", "trajectory")):
        add(letter, f"f1_{axis}")
        add(f"{letter}_precision", f"precision_{axis}")
        add(f"{letter}_recall", f"recall_{axis}")
    for dimension in _DIMENSIONS:
        add(f"{dimension}_f1", f"f1_{dimension}")
    add("E", "efficiency_metric")
    add("Total", "total_metric", "TotalOptions")
    add("matched_round", "matched_round_metric")
    add("first_summary_round", "first_summary_metric")
    add("rounds", "rounds_metric")
    add("questions", "questions_metric")
    add("volunteered", "volunteered_metric")
    _add_graded(register)


def _add_graded(register: Register) -> None:
    """Register the scores of TrustMed."""
    for name, factory in _GRADED.items():
        register(name, f"meddc_metrics.graded:{factory}", revision=_REVISION)
    register("Tversky", "meddc_metrics.graded:tversky", "meddc_metrics.graded:TverskyOptions", revision=_REVISION)
