"""Registers the judge `floor` and the verdict rules of other benchmarks."""

from __future__ import annotations

from meddc_bench.contracts import JUDGE_STEPS, Register, hookimpl

MEDDC_BENCH_API = 1


@hookimpl
def register_judges(register: Register) -> None:
    register(
        "floor",
        "meddc_ontology.judges:Floored",
        "meddc_ontology.judges:FloorOptions",
        revision="1",
        provides=JUDGE_STEPS,
    )
    for rule in ("rarearena", "medxagent"):
        register(
            rule, f"meddc_ontology.rules:{rule}", "meddc_ontology.rules:RuleOptions", revision="1", provides=JUDGE_STEPS
        )
