"""Registers what the core brings itself, through the same hooks as everyone else."""

from __future__ import annotations

from meddc_bench.contracts import Register, hookimpl

MEDDC_BENCH_API = 1


@hookimpl
def register_environments(register: Register) -> None:
    register(
        "consultation",
        "meddc_bench.environments.consultation:Consultation",
        "meddc_bench.environments.consultation:ConsultationOptions",
        revision="1",
    )
    register(
        "workup",
        "meddc_bench.environments.workup:WorkupEnvironment",
        "meddc_bench.environments.workup:WorkupOptions",
        revision="2",
    )
