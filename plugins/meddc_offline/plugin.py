"""The hooks of the offline adapters; the adapters themselves are imported when one is built.

A `revision` is bumped when an adapter's behaviour changes, and only that adapter's.
"""

from __future__ import annotations

from meddc_bench.contracts import JUDGE_STEPS, Register, hookimpl

MEDDC_BENCH_API = 1

LANGUAGES = ("zh", "en")
"""What most of them work on: `bilingual` asks the adapter of the view's language."""


@hookimpl
def register_policies(register: Register) -> None:
    """Register the rule-based doctors."""
    register("checklist", "meddc_offline.bilingual:Checklist", revision="2", languages=LANGUAGES)
    register("shuffled", "meddc_offline.policies:Shuffled", revision="2", languages=("zh",))
    register("brief", "meddc_offline.bilingual:Brief", revision="2", languages=LANGUAGES)
    register("eager", "meddc_offline.bilingual:Eager", revision="2", languages=LANGUAGES)
    register("workup", "meddc_offline.bilingual:WorkupDoctor", revision="2", languages=LANGUAGES)
    register("scripted", "meddc_offline.scripted:Scripted", "meddc_offline.scripted:ScriptedOptions", revision="1")


@hookimpl
def register_patients(register: Register) -> None:
    """Register the patient that answers from its facts alone."""
    register("grounded", "meddc_offline.bilingual:Grounded", revision="3", languages=LANGUAGES)


@hookimpl
def register_readers(register: Register) -> None:
    """Register the reader that ranks the diseases of the knowledge files."""
    register("knowledge", "meddc_offline.bilingual:KnowledgeReader", revision="3", languages=LANGUAGES)


@hookimpl
def register_judges(register: Register) -> None:
    """Register the lexical judge and the replay of human adjudications."""
    register(
        "lexical", "meddc_offline.bilingual:Lexical", revision="3", provides=JUDGE_STEPS, languages=LANGUAGES,
    )  # fmt: skip
    register(
        "replay",
        "meddc_offline.replay:Replay",
        "meddc_offline.replay:ReplayOptions",
        revision="3",
        provides=JUDGE_STEPS,
    )
