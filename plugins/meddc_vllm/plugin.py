"""The hooks of the adapters on a vLLM engine in this process."""

from __future__ import annotations

from meddc_bench.contracts import JUDGE_STEPS, Register, hookimpl

MEDDC_BENCH_API = 1

REVISION = "1"
_ADAPTERS, _OPTIONS = "meddc_vllm.adapters", "meddc_vllm.adapters:EngineOptions"


@hookimpl
def register_policies(register: Register) -> None:
    """Register the doctor."""
    options = "meddc_vllm.adapters:PolicyOptions"
    register("vllm", f"{_ADAPTERS}:policy", options, revision=REVISION, provides=("generator",))


@hookimpl
def register_patients(register: Register) -> None:
    """Register the simulated patient."""
    register("vllm", f"{_ADAPTERS}:patient", _OPTIONS, revision=REVISION)


@hookimpl
def register_readers(register: Register) -> None:
    """Register the reader."""
    register("vllm", f"{_ADAPTERS}:reader", _OPTIONS, revision=REVISION)


@hookimpl
def register_judges(register: Register) -> None:
    """Register the judge."""
    register("vllm", f"{_ADAPTERS}:judge", _OPTIONS, revision=REVISION, provides=JUDGE_STEPS)
