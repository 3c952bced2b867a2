"""Registers the metrics."""

from __future__ import annotations

from meddc_bench.contracts import Register, hookimpl

MEDDC_BENCH_API = 1

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
}
"""Score of TrustMed -> its factory."""
_BEHAVIOUR = (
    "ordering_coverage",
    "findings_coverage",
    "productive_actions",
    "workup_actions",
    "search_rate",
    "invalid_rate",
    "deferral_rate",
    "modality_catch",
    "anatomy_catch",
    "false_alarm",
)
"""Metrics of what a policy did in a workup; their factories have their names."""


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
    """Register the scores and the behaviour metrics of TrustMed."""
    graded = "meddc_metrics.graded"
    for name, factory in _GRADED.items():
        register(name, f"{graded}:{factory}", revision=_REVISION)
    register("Tversky", f"{graded}:tversky", f"{graded}:TverskyOptions", revision=_REVISION)
    register("Acc_at_k", f"{graded}:acc_at_k", f"{graded}:PassOptions", revision=_REVISION)
    register("Strict_at_k", f"{graded}:strict_at_k", f"{graded}:PassOptions", revision=_REVISION)
    for name in _BEHAVIOUR:
        register(name, f"meddc_metrics.behaviour:{name}", revision=_REVISION)
