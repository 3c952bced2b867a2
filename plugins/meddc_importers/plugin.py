"""The hooks of the importers; the importers themselves are imported when one is built."""

from __future__ import annotations

from meddc_bench.contracts import Register, hookimpl

MEDDC_BENCH_API = 1

REVISION = "3"


@hookimpl
def register_importers(register: Register) -> None:
    """Register the importers of histories, and those of cases that others made."""
    for name, path in (
        ("agentclinic", "meddc_importers.agentclinic:AgentClinic"),
        ("ai_hospital", "meddc_importers.ai_hospital:AIHospital"),
        ("cmb_clin", "meddc_importers.cmb_clin:CmbClin"),
        ("csv", "meddc_importers.sheet:Sheet"),
        ("ddxplus", "meddc_importers.ddxplus:DDXPlus"),
        ("histories", "meddc_importers.native:Histories"),
        ("mediq", "meddc_importers.mediq:Mediq"),
        ("mtmeddialog", "meddc_importers.mtmeddialog:MTMedDialog"),
        ("trustmed", "meddc_importers.trustmed:TrustMed"),
    ):
        register(name, path, f"{path}Options", revision=REVISION)
