"""Registers the policy; what it is made of is imported when it is first needed."""

from __future__ import annotations

from meddc_bench import hookimpl
from meddc_bench.contracts import Register

MEDDC_BENCH_API = 1


@hookimpl
def register_policies(register: Register) -> None:
    register(
        "example_agent",
        "example_agent.policy:ExampleAgent",
        "example_agent.policy:ExampleAgentOptions",
        revision="1",
    )
