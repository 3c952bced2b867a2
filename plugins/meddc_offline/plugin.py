"""The hooks of the offline adapters; the adapters themselves are imported when one is built.

A `revision` is bumped when an adapter's behaviour changes, and only that adapter's.
"""

from __future__ import annotations

from meddc_bench.contracts import JUDGE_STEPS, Register, hookimpl


@hookimpl
def register_policies(register: Register) -> None:
    """Register the rule-based doctors."""
    register("checklist", "meddc_offline.checklist:Checklist", revision="2")
    register("shuffled", "meddc_offline.policies:Shuffled", revision="2")
    register("brief", "meddc_offline.policies:Brief", revision="2")
    register("eager", "meddc_offline.policies:Eager", revision="2")
    register("workup", "meddc_offline.workup_policy:WorkupDoctor", revision="1")
    register("scripted", "meddc_offline.scripted:Scripted", "meddc_offline.scripted:ScriptedOptions", revision="1")


@hookimpl
def register_patients(register: Register) -> None:
    """Register the patient that answers from its facts alone."""
    register("grounded", "meddc_offline.grounded:Grounded", revision="3")


@hookimpl
def register_readers(register: Register) -> None:
    """Register the reader that ranks the diseases of the knowledge files."""
    register("knowledge", "meddc_offline.knowledge_reader:KnowledgeReader", revision="3")


@hookimpl
def register_judges(register: Register) -> None:
    """Register the lexical judge and the replay of human adjudications."""
    register("lexical", "meddc_offline.lexical:Lexical", revision="3", provides=JUDGE_STEPS)
    register(
        "replay",
        "meddc_offline.replay:Replay",
        "meddc_offline.replay:ReplayOptions",
        revision="3",
        provides=JUDGE_STEPS,
    )
