"""The hooks of the adapters on OpenAI-compatible endpoints."""

from __future__ import annotations

from meddc_bench.contracts import JUDGE_STEPS, Register, hookimpl

MEDDC_BENCH_API = 1

REVISION = "1"
_ADAPTERS, _OPTIONS = "meddc_openai.adapters", "meddc_openai.adapters:EndpointOptions"


@hookimpl
def register_policies(register: Register) -> None:
    """Register the doctor."""
    options = "meddc_openai.adapters:PolicyOptions"
    register("openai", f"{_ADAPTERS}:policy", options, revision=REVISION, provides=("generator", "images"))


@hookimpl
def register_patients(register: Register) -> None:
    """Register the simulated patient."""
    register("openai", f"{_ADAPTERS}:patient", _OPTIONS, revision=REVISION)


@hookimpl
def register_readers(register: Register) -> None:
    """Register the reader."""
    register("openai", f"{_ADAPTERS}:reader", _OPTIONS, revision=REVISION)


@hookimpl
def register_judges(register: Register) -> None:
    """Register the judge."""
    register("openai", f"{_ADAPTERS}:judge", _OPTIONS, revision=REVISION, provides=JUDGE_STEPS)
