"""The hooks of the importers; the importers themselves are imported when one is built."""

from __future__ import annotations

from meddc_bench.contracts import Register, hookimpl

REVISION = "2"


@hookimpl
def register_importers(register: Register) -> None:
    """Register the importers of AI Hospital's dialogues and of histories as JSON lines."""
    for name, path in (
        ("ai_hospital", "meddc_importers.ai_hospital:AIHospital"),
        ("histories", "meddc_importers.native:Histories"),
    ):
        register(name, path, f"{path}Options", revision=REVISION)
