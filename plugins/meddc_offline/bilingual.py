"""The offline adapters that work on Chinese and on English tasks: each asks the one of the view's language."""

from __future__ import annotations

import importlib
from typing import Any

from meddc_bench.contracts import (
    Answer,
    Context,
    Found,
    JudgeView,
    Options,
    PatientView,
    PolicyView,
    ReaderView,
    Reply,
)
from meddc_bench.records import Reading

LANGUAGES = ("zh", "en")


class _Both:
    """Holds the adapter of each language; that of English is made when first needed."""

    chinese: str
    english: str
    arguments: tuple[Any, ...] = ()

    def __init__(self, options: Options | None = None, context: Context | None = None) -> None:
        self._of = {"zh": _class(self.chinese)(options, context)}

    def _speaking(self, language: str) -> Any:
        found = self._of.get(language)
        if found is None:
            if language not in LANGUAGES:  # reached through a wrapper alone: a run checks what is registered
                raise ValueError(f"works on {' and '.join(LANGUAGES)}, not on {language!r}")
            found = self._of[language] = _class(self.english)(*self.arguments)
        return found


def _class(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


class Grounded(_Both):
    """The patient that answers from its facts alone."""

    chinese, english = "meddc_offline.grounded:Grounded", "meddc_offline.english.patient:EnglishGrounded"

    async def answer(self, view: PatientView) -> Answer:
        """Answer in the language of the case."""
        answer: Answer = await self._speaking(view.language).answer(view)
        return answer


class KnowledgeReader(_Both):
    """The reader that ranks the diseases of its files."""

    chinese, english = "meddc_offline.knowledge_reader:KnowledgeReader", "meddc_offline.english.reader:EnglishKnowledge"

    async def read(self, view: ReaderView) -> Reading:
        """Read a history of either language."""
        reading: Reading = await self._speaking(view.language).read(view)
        return reading


class Lexical(_Both):
    """The judge by rules of language."""

    chinese, english = "meddc_offline.lexical:Lexical", "meddc_offline.english.judge:EnglishLexical"

    async def judge(self, view: JudgeView) -> Found:
        """Answer a step in the language of the task."""
        found: Found = await self._speaking(view.language).judge(view)
        return found


class _Doctor(_Both):
    async def act(self, view: PolicyView) -> Reply:
        """Act in the language of the case."""
        reply: Reply = await self._speaking(view.language).act(view)
        return reply


class Checklist(_Doctor):
    """The doctor that asks what its differential needs."""

    chinese, english = "meddc_offline.checklist:Checklist", "meddc_offline.english.doctors:Interviewer"


class Brief(_Doctor):
    """The doctor that asks once."""

    chinese, english, arguments = "meddc_offline.policies:Brief", "meddc_offline.english.doctors:Interviewer", (1,)


class Eager(_Doctor):
    """The doctor that diagnoses at once."""

    chinese, english, arguments = "meddc_offline.policies:Eager", "meddc_offline.english.doctors:Interviewer", (0,)


class WorkupDoctor(_Doctor):
    """The doctor of a workup."""

    chinese, english = "meddc_offline.workup_policy:WorkupDoctor", "meddc_offline.english.doctors:WorkupDoctor"

    async def start(self, view: PolicyView) -> Any:
        """Begin a consultation in the language of the case."""
        doctor = self._speaking(view.language)
        return await doctor.start(view) if hasattr(doctor, "start") else doctor
