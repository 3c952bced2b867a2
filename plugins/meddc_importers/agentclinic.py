"""Importer `agentclinic`: the OSCE cases of AgentClinic, MedQA's and NEJM's, as JSON lines.

    MedQA   {"OSCE_Examination": {"Objective_for_Doctor", "Patient_Actor": {...}, "Physical_Examination_Findings": {...},
             "Test_Results": {...}, "Correct_Diagnosis"}}
    NEJM    {"question", "image_url", "type", "answers": [{"text", "correct"}], "patient_info", "physical_exams"}

Every row becomes a case with a `workup`: the patient's part as numbered atomic facts, denials apart; examinations and
tests as records under the catalogue's items; the chief complaint as the opening. The objective, which names key
symptoms, is left out; so is the question of a NEJM row, and its picture, which is not in the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import Field

from meddc_bench import osce
from meddc_bench.contracts import About, Context, Fault, Imported
from meddc_bench.errors import InputError
from meddc_bench.osce import Workup
from meddc_bench.records import Case, Diagnosis
from meddc_importers import gold
from meddc_importers.agentclinic_actor import Actor, osce_actor
from meddc_importers.agentclinic_names import EXAMINATION
from meddc_importers.agentclinic_nejm import nejm_actor
from meddc_importers.agentclinic_profile import Profile
from meddc_importers.draft import exclude
from meddc_importers.lines import Line, found, objects
from meddc_importers.rows import CaseOptions, Row, Rows, row_id

ORIGIN = "github.com/SamuelSchmidgall/AgentClinic"


class AgentClinicOptions(CaseOptions):
    """Options: questions a doctor may ask, the split the file holds, and whether to keep rows whose answer names no disease."""

    every: bool = Field(False, description="keep the rows whose answer names no disease")


class AgentClinic:
    """Reads rows one by one: a Case each, and a Fault for whatever of a row could not be used."""

    def __init__(self, options: AgentClinicOptions, context: Context):
        self._options = options
        self.about = About(
            "AgentClinic OSCE cases", f"{ORIGIN} (agentclinic_medqa, agentclinic_nejm)", "MIT", options.split or "test",
            decide=("NEJM rows stand on image challenges whose pictures and texts have terms of their own: check them first",),
        )  # fmt: skip
        self.placed: Counter[str] = Counter()
        """Records by the catalogue's item, those of no known name as `other`; of the file read last."""

    def read(self, path: Path) -> Iterator[Case | Imported | Fault]:
        """Read a file of cases.

        Raises:
            InputError: the file is missing, empty or no UTF-8 text.
        """
        if path.is_dir():
            raise InputError("is a folder; name a file in it, such as agentclinic_medqa.jsonl", path=path)
        self.placed = Counter()
        yield from Rows().read(objects(path), lambda line, faults: Row(self._case(line, faults)))
        yield from self._summary(path)

    def _case(self, line: Line, faults: list[Fault]) -> Case:
        name = row_id(line, "agentclinic")
        if "OSCE_Examination" in line.data:
            diagnosis, actor, profile = _osce(line, faults, self._options.every)
        elif "patient_info" in line.data or "answers" in line.data:
            diagnosis, actor, profile = _nejm(line, faults, self._options.every)
        else:
            line.reject("expected OSCE_Examination (MedQA) or question, answers, patient_info (NEJM); left out")
        names = (diagnosis.name, *diagnosis.synonyms)
        actor.withhold(names, line, faults)
        for text in actor.examined:
            profile.add(EXAMINATION, "general", "Noted on examination", text)
        profile.withhold(names)
        workup = Workup.model_validate(
            {
                "actor": actor.sections(line),
                **profile.records(),
                "provenance": f"AgentClinic, {line.where.rsplit('/', 1)[-1]}",
            }
        )
        for fault in osce.faults(workup, names):
            line.reject(f"workup.{fault}; the case is left out")
        self.placed.update(profile.placed)
        return Case.model_validate(
            {
                "id": name, "source": "record", "language": "en", "context": actor.opening,
                "facts": osce.facts_of(workup.actor), "diagnoses": (diagnosis,), "turn_budget": self._options.turn_budget,
                "workup": workup, "provenance": workup.provenance, "licence": self.about.licence,
            }
        )  # fmt: skip

    def _summary(self, path: Path) -> Iterator[Fault]:
        """Say what of the file stands under the catalogue's `other` items, once."""
        other, total = self.placed["other"], sum(self.placed.values())
        if total:
            share = f"{other} of {total} records ({other / total:.1%}) are of no known examination or test"
            yield Fault(str(path), f"{share} and stand under `other` or `unmapped`", kind="note")


def _osce(line: Line, faults: list[Fault], every: bool) -> tuple[Diagnosis, Actor, Profile]:
    row = _object(line, line.data, "OSCE_Examination", "")
    where = "OSCE_Examination."
    diagnosis = _diagnosis(line, row.get("Correct_Diagnosis"), f"{where}Correct_Diagnosis", every)
    actor = osce_actor(_object(line, row, "Patient_Actor", where), line, f"{where}Patient_Actor", faults)
    profile = Profile()
    for key, tests in (("Physical_Examination_Findings", False), ("Test_Results", True)):
        value = row.get(key)
        if value in (None, {}, "", []):
            faults.append(
                Fault(f"{line.where}:{where}{key}", "is missing or empty: the case has no such records", "note")
            )
        elif not isinstance(value, dict):
            faults.append(line.fault(f"expected an object, found {found(value)}; not used", f"{where}{key}"))
        else:
            profile.take(value, tests=tests)
    return diagnosis, actor, profile


def _nejm(line: Line, faults: list[Fault], every: bool) -> tuple[Diagnosis, Actor, Profile]:
    answers = line.data.get("answers")
    if not isinstance(answers, list) or not all(isinstance(one, dict) for one in answers):
        line.reject(f"expected a list of answers, found {found(answers)}; the case is left out", "answers")
    right = [one.get("text") for one in answers if one.get("correct") is True]
    if len(right) != 1:
        line.reject(f"expected one answer that is correct, found {len(right)}; the case is left out", "answers")
    if isinstance(question := line.data.get("question"), str) and not gold.asks_diagnosis(question, "en"):
        exclude(line, gold.NOT_ASKED, "question")
    diagnosis = _diagnosis(line, right[0], "answers", every)
    info = line.data.get("patient_info")
    if not isinstance(info, str) or not info.strip():
        line.reject(
            f"expected what the patient knows as text, found {found(info)}; the case is left out", "patient_info"
        )
    actor, profile = nejm_actor(info, line), Profile()
    exams = line.data.get("physical_exams")
    if isinstance(exams, str) and exams.strip():
        profile.take_text(exams)
    else:
        faults.append(
            Fault(f"{line.where}:physical_exams", "is missing or empty: the case has no such records", "note")
        )
    return diagnosis, actor, profile


def _object(line: Line, data: dict[str, Any], key: str, where: str) -> dict[str, Any]:
    value = data.get(key)
    if not isinstance(value, dict) or not value:
        what = "this key is missing" if key not in data else f"expected an object, found {found(value)}"
        line.reject(f"{what}; the case is left out", f"{where}{key}")
    return value


def _diagnosis(line: Line, value: Any, key: str, every: bool) -> Diagnosis:
    """Read the diagnosis; what stands in brackets after it is another name of it: `... vertigo (BPPV)`."""
    if not isinstance(value, str) or not value.strip():
        what = "this key is missing" if value is None else f"expected the diagnosis as text, found {found(value)}"
        line.reject(f"{what}; the case is left out", key)
    read = gold.of_names([value], "en")
    if read.reason == gold.UNNAMED and every:
        return Diagnosis(name=value.strip())
    if read.reason:
        exclude(line, read.reason, key)
    return read.diagnoses[0]
