"""Importer `mtmeddialog`: the consultations of MTMedDialog (DoctorAgent-RL), as cases and as the human doctor's histories.

    {"self_report", "dialogue": [{"doctor_question": [...], "patient_response": [...]}], "diagnosis", "recommendation"}

The self report is the opening; what the patient answered becomes facts. The doctor's consultation comes along as a
history of the policy `human`. Rows are English in the published set, Chinese in its sources.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from meddc_bench.contracts import About, Context, Fault, Imported
from meddc_bench.records import Case, Diagnosis
from meddc_bench.text import mentions
from meddc_importers import gold
from meddc_importers.dialogue import Closing, Dialogue, Said, assemble
from meddc_importers.draft import Draft, Tally, Told, case_of, exclude, flat
from meddc_importers.findings_en import is_denied
from meddc_importers.lines import Line, found, objects
from meddc_importers.narrative import told_of
from meddc_importers.needs import need_of, other
from meddc_importers.rows import CaseOptions, Row, Rows, row_id, text_of

LICENCE = "Apache-2.0; the source corpora have terms of their own"
POLICY = "human"
LANGUAGE = "another language than the option names"
NAMED = "histories in which the patient names the diagnosis: left out"
BARE = "answers of yes, no or nothing that stand for nothing by themselves: left out"
ASKED_BACK = "patients' questions, greetings, thanks and talk of pictures: left out"

_HAN = re.compile(r"[㐀-鿿]")
_SENTENCE = re.compile(r"(?<=[.!?。！？;；])\s*(?=\S)")
_EMPTY = re.compile(
    r"(?:hello|hi|ok(?:ay)?|oh|thanks?|thank you|hmm+|um+|right|alright|got it|i see|please|doctor|sorry|"
    r"that'?s (?:right|all|it)|correct|sure|你好|您好|谢谢|好的?|嗯+|哦|知道了|医生)[\s,.!，。！~]*"
    r"(?:very much|so much|doctor|again|您|医生|大夫)?[\s,.!，。！~]*",
    re.IGNORECASE,
)
_BARE = re.compile(
    r"(?:yes|no|yeah|yep|nope|not (?:really|yet|sure|now|at the moment)|none|never|maybe|sometimes|normal|both|"
    r"a little|a bit|i don'?t know|i think so|i guess so|i'?m not (?:sure|certain)|not very|\d+|it does|it is|"
    r"i do|i did|i have|"
    r"i haven'?t|i don'?t|they are|是的?|不是|没有|没|有|有的|对的?|不知道|正常|会|不会)[\s,.!，。！]*",
    re.IGNORECASE,
)
_NEGATIVE = re.compile(r"^(?:no\b|nope|not\b|none|never|没|无|不)", re.IGNORECASE)
_THANKS = re.compile(
    r"\b(?:thank|thanks|should i|what (?:medicine|medication|should|could)|can i|is it serious|please help|"
    r"send (?:you|another|a)|pictures?|photos?|images?|the arrow|the location isn.t)\b|谢谢|怎么办|要紧吗",
    re.IGNORECASE,
)


class MTMedDialogOptions(CaseOptions):
    """Options: the language of the rows to take (default: that of each row's text), questions a doctor may ask, the split."""

    language: Literal["en", "zh", "auto"] = Field("auto", description="take the rows of this language alone")


@dataclass(frozen=True, slots=True)
class Exchange:
    """One round of the source: what the doctor asked and what the patient answered, blank turns left out."""

    asked: tuple[str, ...]
    answered: tuple[str, ...]


class MTMedDialog:
    """Reads MTMedDialog's consultations: a case, then the human doctor's history of it."""

    def __init__(self, options: MTMedDialogOptions, context: Context):
        self._options = options
        split = options.split or "train"
        decide = (
            ("the rows are of a training split: a policy trained on MTMedDialog has seen them",)
            if "train" in split
            else ()
        )
        self.about = About(
            "MTMedDialog", "github.com/JarvisUSTC/DoctorAgent-RL (MTMedDialog)", LICENCE, split,
            decide=(
                *decide, "the diagnoses are an online doctor's, mostly without an examination",
                "the references are the human doctor's own: D of the policy `human` under `emitted` is 1 by construction",
            ),
        )  # fmt: skip

    def read(self, path: Path) -> Iterator[Case | Imported | Fault]:
        """Read a file of consultations.

        Raises:
            InputError: the file is missing, empty or no UTF-8 text.
        """
        tally = Tally()
        yield from Rows().read(objects(path), lambda line, faults: self._row(line, tally, faults))
        yield from tally.notes(str(path))

    def _row(self, line: Line, tally: Tally, faults: list[Fault]) -> Row:
        name = row_id(line, "mtmd")
        report = text_of(line, "self_report")
        language = "zh" if len(_HAN.findall(report)) > len(report) / 5 else "en"
        if self._options.language not in ("auto", language):
            exclude(line, LANGUAGE)
        exchanges = _exchanges(line, faults)
        diagnosis = text_of(line, "diagnosis")
        advice = text_of(line, "recommendation", missing=True)
        found_gold = gold.of_sentence(diagnosis, language)
        if found_gold.reason:
            exclude(line, found_gold.reason, "diagnosis")
        told = [one for exchange in exchanges for one in _told(exchange, language, tally)]
        case = case_of(
            Draft(
                id=name, language=language, source="dialogue", opening=report, told=told, diagnoses=found_gold.diagnoses,
                provenance=f"MTMedDialog, split {self.about.split}", licence=LICENCE, turn_budget=self._options.turn_budget,
            ),
            line, tally,
        )  # fmt: skip
        if _named(exchanges, case.diagnoses):
            tally.left[NAMED] += 1
            return Row(case)
        closing = Closing(f"{diagnosis} {advice}".strip(), tuple(one.name for one in case.diagnoses))
        return Row(case, (Imported(name, POLICY, assemble(Dialogue(tuple(_said(report, exchanges)), closing))),))


def _exchanges(line: Line, faults: list[Fault]) -> list[Exchange]:
    """Read the rounds; a round without a question of the doctor's is left out and told.

    Raises:
        Rejected: there is no dialogue, or something in it is of a wrong type.
    """
    given = line.data.get("dialogue")
    if not isinstance(given, list):
        what = (
            "this key is missing" if "dialogue" not in line.data else f"expected a list of rounds, found {found(given)}"
        )
        line.reject(f"{what}; the row is left out", "dialogue")
    out: list[Exchange] = []
    for index, one in enumerate(given):
        key = f"dialogue[{index}]"
        if not isinstance(one, dict):
            line.reject(
                f"expected a round (doctor_question, patient_response), found {found(one)}; the row is left out", key
            )
        asked, answered = (
            _utterances(line, one.get(name), f"{key}.{name}") for name in ("doctor_question", "patient_response")
        )
        if asked:
            out.append(Exchange(asked, answered))
        elif answered:
            faults.append(line.fault("the doctor says nothing; this round is left out", f"{key}.doctor_question"))
    if not out:
        line.reject("the dialogue is empty; the row is left out", "dialogue")
    return out


def _utterances(line: Line, value: Any, key: str) -> tuple[str, ...]:
    given = [value] if isinstance(value, str) else [] if value is None else value
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        line.reject(f"expected a list of texts, found {found(value)}; the row is left out", key)
    return tuple(text for one in given if (text := flat(one)))


def _told(exchange: Exchange, language: str, tally: Tally) -> Iterator[Told]:
    """Make facts of what the patient answered; a bare yes or no means something only after a single question."""
    questions = [one for asked in exchange.asked for one in _SENTENCE.split(asked) if one.endswith(("?", "？"))]
    for answer in exchange.answered:
        for raw in _SENTENCE.split(answer):
            text = raw.strip(" ,，;；")
            if not text:
                continue
            if _EMPTY.fullmatch(text) or text.endswith(("?", "？")) or _THANKS.search(text):
                tally.left[ASKED_BACK] += 1
            elif _BARE.fullmatch(text):
                if len(questions) != 1:
                    tally.left[BARE] += 1
                    continue
                question = questions[0]
                yield Told(f"{question} {text}", need_of(question, language), denied=_NEGATIVE.match(text) is not None)
            else:
                yield from _fact(text, questions, language)


def _fact(text: str, questions: Sequence[str], language: str) -> Iterator[Told]:
    denied = is_denied(text) or (language == "en" and re.match(r"no\b", text, re.IGNORECASE) is not None)
    need = need_of(text, language)
    if need is other(language) and len(questions) == 1:
        need = need_of(questions[0], language)
    if language == "zh":
        denied = next((one.denied for one in told_of(text)), denied)
    yield Told(text, need, denied=denied)


def _named(exchanges: Sequence[Exchange], diagnoses: Sequence[Diagnosis]) -> bool:
    said = [text for exchange in exchanges for text in exchange.answered]
    return any(mentions(text, name) for text in said for one in diagnoses for name in (one.name, *one.synonyms))


def _said(report: str, exchanges: Sequence[Exchange]) -> Iterator[Said]:
    yield Said("patient", report)
    for exchange in exchanges:
        yield Said("doctor", "\n".join(exchange.asked))
        if exchange.answered:
            yield Said("patient", "\n".join(exchange.answered))
