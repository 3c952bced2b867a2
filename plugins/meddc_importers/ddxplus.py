"""Importer `ddxplus`: the simulated patients of DDXPlus (Fansi Tchango et al., 2022), English.

    patients    CSV: AGE, DIFFERENTIAL_DIAGNOSIS, SEX, PATHOLOGY, EVIDENCES, INITIAL_EVIDENCE
    evidences   release_evidences.json: {"E_53": {"name", "question_en", "data_type", "value_meaning", "is_antecedent"}}
    conditions  release_conditions.json: {"Anemia": {"condition_name", "cond-name-eng", "icd10-id"}}

Each evidence is a question with its answer: question and answer are the fact, and the question is the target's. A patient's
evidences are those that are there; what is not among them is not recorded, and never a no.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

import msgspec
from pydantic import Field

from meddc_bench.contracts import About, Context, Fault, Imported, Local
from meddc_bench.errors import InputError
from meddc_bench.records import Case, Diagnosis, Topic
from meddc_bench.text import clean
from meddc_importers import gold
from meddc_importers.draft import Draft, Tally, Told, case_of, exclude
from meddc_importers.lines import Line, found
from meddc_importers.needs import Need, need, need_of
from meddc_importers.rows import CaseOptions, Row, Rows
from meddc_importers.table import records_of

LICENCE = "CC BY 4.0"
_COLUMNS = ("AGE", "SEX", "PATHOLOGY", "EVIDENCES", "INITIAL_EVIDENCE")
_NO = frozenset({"n", "na", "no", "nowhere", "none", "0"})


class DDXPlusOptions(CaseOptions):
    """Options: the two description files (default: beside the patients), questions a doctor may ask, the split of the file."""

    evidences: Annotated[str | None, Local()] = Field(
        None, description="path of release_evidences.json; left out, beside the patients"
    )
    conditions: Annotated[str | None, Local()] = Field(
        None, description="path of release_conditions.json; left out, beside the patients"
    )


class DDXPlus:
    """Reads DDXPlus' patients, line by line."""

    def __init__(self, options: DDXPlusOptions, context: Context):
        self._options = options
        self.about = About(
            "DDXPlus", "github.com/mila-iqia/ddxplus (release_*_patients, English release)", LICENCE, options.split or "not said",
            decide=("the patients are simulated from a knowledge base: a policy trained on DDXPlus has seen their rules",),
        )  # fmt: skip

    def read(self, path: Path) -> Iterator[Case | Imported | Fault]:
        """Read a file of patients.

        Raises:
            InputError: a file is missing or of another form.
        """
        evidences = _described(self._options.evidences, path, "release_evidences.json")
        conditions = _described(self._options.conditions, path, "release_conditions.json")
        tally = Tally()
        lines = (one for one in records_of(path, _COLUMNS))
        yield from Rows().read(lines, lambda line, faults: Row(self._case(line, evidences, conditions, tally)))
        yield from tally.notes(str(path))

    def _case(self, line: Line, evidences: Mapping[str, Any], conditions: Mapping[str, Any], tally: Tally) -> Case:
        data = line.data
        codes = _codes(line)
        pathology = data["PATHOLOGY"]
        condition = conditions.get(pathology)
        if not isinstance(condition, dict):
            line.reject(f"{pathology!r} is not in the conditions file; the row is left out", "PATHOLOGY")
        age, sex = data["AGE"], {"M": "man", "F": "woman"}.get(data["SEX"])
        if not age.isdigit() or sex is None:
            line.reject("expected a whole AGE and the SEX M or F; the row is left out", "AGE")
        diagnosis = _diagnosis(pathology, condition)
        checked = gold.of_names([diagnosis.name], "en")
        if checked.reason:
            exclude(line, checked.reason, "PATHOLOGY")
        grouped: dict[str, list[str]] = {}
        for code in codes:
            base, _, value = code.partition("_@_")
            grouped.setdefault(base, []).extend([value] if value else [])
        told = [_told(line, code, values, evidences, data["INITIAL_EVIDENCE"]) for code, values in grouped.items()]
        first = next((f" Chief complaint: {one.text}" for one in told if one.opening), "")
        told.insert(0, Told(f"I am a {age}-year-old {sex}.", identity=True))
        number = line.where.rpartition(":")[2]
        return case_of(
            Draft(
                id=f"ddx-{int(number):07d}", language="en", source="record",
                opening=f"A {age}-year-old {sex}.{first}", told=told, diagnoses=(diagnosis,),
                provenance=f"DDXPlus, split {self.about.split}, simulated", licence=LICENCE,
                turn_budget=self._options.turn_budget,
            ),
            line, tally,
        )  # fmt: skip


def _described(given: str | None, path: Path, name: str) -> Mapping[str, Any]:
    """Load a description file: the one named, else the one of upstream's name beside the patients."""
    file = Path(given) if given else path.parent / name
    try:
        data = msgspec.json.decode(file.read_bytes())
    except OSError as error:
        option = "evidences" if "evidences" in name else "conditions"
        raise InputError(f"cannot be read: {error.strerror}; give it as the option {option}=FILE", path=file) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"is not valid JSON ({error})", path=file) from error
    if not isinstance(data, dict):
        raise InputError(f"expected an object of codes, found {found(data)}", path=file)
    return data


def _codes(line: Line) -> list[str]:
    """Read the evidences, a list as Python writes it: ['E_53', 'E_54_@_V_161']."""
    try:
        value = ast.literal_eval(line.data["EVIDENCES"])
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        value = None
    if not isinstance(value, list) or not value or not all(isinstance(one, str) for one in value):
        line.reject("expected a list of codes, such as ['E_53', 'E_54_@_V_161']; the row is left out", "EVIDENCES")
    return value


def _diagnosis(pathology: str, condition: Mapping[str, Any]) -> Diagnosis:
    name = condition.get("cond-name-eng") or condition.get("condition_name") or pathology
    code = condition.get("icd10-id")
    made = gold.of_names([str(name)], "en").diagnoses
    base = made[0] if made else Diagnosis(name=str(name))
    return base.model_copy(update={"code": code.upper() if isinstance(code, str) and code else None})


def _told(line: Line, code: str, values: list[str], evidences: Mapping[str, Any], first: str) -> Told:
    """Make a fact of one evidence and its values; the values of a question are told together."""
    evidence = evidences.get(code)
    question = evidence.get("question_en") if isinstance(evidence, dict) else None
    if not isinstance(question, str) or not isinstance(evidence, dict):
        line.reject(f"{code} is not in the evidences file, or has no question_en; the row is left out", "EVIDENCES")
    meanings = [_meaning(evidence, value) for value in values]
    said = [one for one in meanings if one.casefold() not in _NO]
    answer = ", ".join(said) if said else "No" if values else "Yes"
    text = f"{clean(question).strip()} {answer}."
    need = _need(code, clean(question).strip(), bool(evidence.get("is_antecedent")))
    return Told(text, need, denied=bool(values) and not said, opening=code == first.partition("_@_")[0])


def _meaning(evidence: Mapping[str, Any], value: str) -> str:
    meanings = evidence.get("value_meaning")
    meaning = meanings.get(value) if isinstance(meanings, dict) else None
    text = meaning.get("en") if isinstance(meaning, dict) else None
    return text if isinstance(text, str) and text else value


@lru_cache(maxsize=1024)
def _need(code: str, question: str, antecedent: bool) -> Need:
    """Make the need of an evidence: its own question, of the kind that its words tell."""
    kind = need_of(question, "en").topic
    topic: Topic = (
        "past" if antecedent and kind in ("associated", "character", "course", "onset", "site", "severity") else kind
    )
    return need(code, "associated" if topic == "identity" else topic, question[:200], r"$^")
