"""The hooks of the offline adapters; the adapters themselves are imported when one is built."""

from __future__ import annotations

from meddc_bench.contracts import Register, hookimpl

REVISION = "1"
"""Of what behaves as it did; an adapter whose behaviour changes gets a revision of its own."""
CHANGED = "2"

_STEPS = (
    "extract_items",
    "cover_items",
    "grade_diagnoses",
    "extract_questions",
    "align_questions",
    "cover_targets",
    "volunteered",
)


@hookimpl
def register_policies(register: Register) -> None:
    """Register the rule-based doctors."""
    register("checklist", "meddc_offline.checklist:Checklist", revision=CHANGED)
    register("shuffled", "meddc_offline.policies:Shuffled", revision=CHANGED)
    register("brief", "meddc_offline.policies:Brief", revision=CHANGED)
    register("eager", "meddc_offline.policies:Eager", revision=CHANGED)
    register("scripted", "meddc_offline.scripted:Scripted", "meddc_offline.scripted:ScriptedOptions", revision=REVISION)


@hookimpl
def register_patients(register: Register) -> None:
    """Register the patient that answers from its facts alone."""
    register("grounded", "meddc_offline.grounded:Grounded", revision=CHANGED)


@hookimpl
def register_readers(register: Register) -> None:
    """Register the reader that ranks the diseases of the knowledge files."""
    register("knowledge", "meddc_offline.knowledge_reader:KnowledgeReader", revision=CHANGED)


@hookimpl
def register_judges(register: Register) -> None:
    """Register the lexical judge and the replay of human adjudications."""
    register("lexical", "meddc_offline.lexical:Lexical", revision=CHANGED, provides=_STEPS)
    register(
        "replay",
        "meddc_offline.replay:Replay",
        "meddc_offline.replay:ReplayOptions",
        revision=CHANGED,
        provides=_STEPS,
    )
