"""Importer `mediq`: the interactive cases of MediQ (stellalisy/mediQ), iMedQA and iCRAFT-MD, English.

    {"id", "question", "context": [sentence ...], "options": {"A": ...}, "answer", "facts": ["1. ...", ...],
     "patient": {"gender", "age"}}

The first sentence of the context is the opening; `facts` are its atomic facts. A question that asks for no diagnosis
(a mechanism, the next step, a drug) gives no case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from meddc_bench.contracts import About, Context, Fault, Imported
from meddc_bench.records import Case
from meddc_importers import gold
from meddc_importers.draft import Draft, Tally, Told, case_of, exclude
from meddc_importers.findings_en import is_denied, is_finding, is_identity, says_nothing, unnumbered
from meddc_importers.lines import Line, objects
from meddc_importers.rows import CaseOptions, Row, Rows, row_id, text_of, texts_of

LICENCE = "CC BY 4.0"
IN_THE_FACTS = "the case's own text tells the diagnosis"
_WORD = re.compile(r"[a-z0-9]+")


class MediqOptions(CaseOptions):
    """Options: questions a doctor may ask (upstream: 10), and the split the file holds."""


class Mediq:
    """Reads the cases of iMedQA and iCRAFT-MD."""

    def __init__(self, options: MediqOptions, context: Context):
        self._options = options
        self.about = About(
            "MediQ", "github.com/stellalisy/mediQ (all_dev_good, all_craft_md)", LICENCE, options.split or "dev"
        )

    def read(self, path: Path) -> Iterator[Case | Imported | Fault]:
        """Read a file of cases.

        Raises:
            InputError: the file is missing, empty or no UTF-8 text.
        """
        tally = Tally()
        yield from Rows().read(objects(path), lambda line, faults: Row(self._case(line, tally)))
        yield from tally.notes(str(path))

    def _case(self, line: Line, tally: Tally) -> Case:
        name = row_id(line, "mediq")
        question = text_of(line, "question")
        answer = text_of(line, "answer")
        context = _sentences(line)
        facts = [fact for one in texts_of(line, "facts") if (fact := unnumbered(one))]
        if not gold.asks_diagnosis(question, "en"):
            exclude(line, gold.NOT_ASKED, "question")
        found = gold.of_names([answer], "en")
        if found.reason:
            exclude(line, found.reason, "answer")
        told = [one for fact in facts if (one := _told(fact, context))]
        return case_of(
            Draft(
                id=name, language="en", source="record", opening=_ended(context[0]), told=told, diagnoses=found.diagnoses,
                provenance=f"MediQ {'iCRAFT-MD' if 'craft' in name else 'iMedQA or iCRAFT-MD'}", licence=LICENCE,
                turn_budget=self._options.turn_budget,
            ),
            line, tally,
        )  # fmt: skip


def _sentences(line: Line) -> list[str]:
    """Read the context; as one text it is cut at its sentences, as upstream does."""
    value = line.data.get("context")
    if isinstance(value, str) and value.strip():
        return [one for one in re.split(r"(?<=[.!?])\s+", value.strip()) if one]
    return texts_of(line, "context")


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "!", "?", "”", '"')) else f"{sentence}."


def _told(fact: str, context: Sequence[str]) -> Told | None:
    """Make a fact what the patient tells; None where it only says that the patient came."""
    identity = is_identity(fact)
    if says_nothing(fact) and not identity:
        return None
    sentence = max(context, key=lambda one: _shared(fact, one))
    return Told(
        fact,
        denied=is_denied(fact),
        identity=identity,
        finding=sentence is not context[0] and is_finding(fact, sentence),
    )


def _shared(fact: str, sentence: str) -> float:
    words = set(_WORD.findall(fact.casefold()))
    return len(words & set(_WORD.findall(sentence.casefold()))) / max(1, len(words))
