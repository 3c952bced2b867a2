"""Histories made by hand in every form, and what an importer makes of a file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from meddc_bench.contracts import Fault, Imported
from meddc_bench.records import Case
from meddc_importers.ai_hospital import AIHospital, AIHospitalOptions
from meddc_importers.native import Histories, HistoriesOptions


@dataclass(frozen=True)
class Result:
    """What an importer gave, by kind."""

    cases: list[Case]
    imported: list[Imported]
    faults: list[Fault]

    @property
    def only(self) -> Imported:
        """The one history of a file that has one."""
        (one,) = self.imported
        return one

    @property
    def case(self) -> Case:
        """The one case of a file that has one."""
        (one,) = self.cases
        return one

    def of(self, kind: str) -> list[str]:
        """The messages of one kind of fault."""
        return [one.message for one in self.faults if one.kind == kind]


def run(importer: str, path: Path, **options: Any) -> Result:
    """Import a file with one of the importers."""
    made: AIHospital | Histories
    if importer == "ai_hospital":
        made = AIHospital(AIHospitalOptions(**options), context=None)  # type: ignore[arg-type]
    else:
        made = Histories(HistoriesOptions(**options), context=None)  # type: ignore[arg-type]
    return sorted_out(made.read(path))


def sorted_out(given: Iterable[Case | Imported | Fault]) -> Result:
    """Sort what an importer gives by kind."""
    found = list(given)
    return Result(
        [one for one in found if isinstance(one, Case)],
        [one for one in found if isinstance(one, Imported)],
        [one for one in found if isinstance(one, Fault)],
    )


def turn(role: str, content: Any, number: int | None = None) -> dict[str, Any]:
    """Make a turn in AI Hospital's form."""
    return {"role": role, "content": content} | ({} if number is None else {"turn": number})


def extract(**changes: Any) -> dict[str, Any]:
    """Make a history in the layout of the extract."""
    return {
        "case_id": "a1",
        "policy": "gpt4",
        "dialogue": [
            turn("doctor", "您好，有哪里不舒服？", 0),
            turn("patient", "<对医生讲> 我咳嗽三天了。", 1),
            turn("doctor", "请拍一个胸片。", 1),
            turn("patient", "<对检查员讲> 我要拍胸片。", 2),
            turn("reporter", "胸片：右下肺炎症", 2),
            turn("doctor", "您可能是肺炎。", 2),
            turn("patient", "<结束>", 3),
        ],
        "own_final_text": "#症状#\n(1)咳嗽\n\n#诊断结果#\n肺炎\n\n#诊断依据#\n(1)胸片",
        "own_final_diagnosis": "肺炎",
    } | changes


def upstream(**changes: Any) -> dict[str, Any]:
    """Make a history in the layout in which AI Hospital publishes its runs."""
    one = extract()
    dialog = [{**said, "role": said["role"].capitalize()} for said in one["dialogue"]]
    dialog.append(turn("Doctor", one["own_final_text"], 3))
    return {
        "patient_id": 1001,
        "doctor": "Agent.Doctor.GPT",
        "doctor_engine_name": "gpt-4",
        "dialog_history": dialog,
    } | changes


def by_hand(**changes: Any) -> dict[str, Any]:
    """Make a history in the form people write by hand."""
    return {
        "case": "c1",
        "policy": "my-doctor",
        "repeat": 0,
        "turns": [
            {"role": "patient", "text": "医生，我咳嗽三天了。"},
            {"role": "doctor", "text": "发烧吗？"},
            {"role": "patient", "text": "最高38.5℃。"},
        ],
        "summary": "考虑肺炎。",
        "diagnoses": ["肺炎"],
    } | changes


def own(**changes: Any) -> dict[str, Any]:
    """Make a line of this program's own histories.jsonl; `changes` are made to its history."""
    history = {
        "turns": [
            {"index": 0, "round": 0, "role": "patient", "kind": "opening", "text": "咳嗽三天。"},
            {"index": 1, "round": 1, "role": "doctor", "kind": "question", "text": "发烧吗？"},
            {"index": 2, "round": 1, "role": "patient", "kind": "answer", "text": "最高38.5℃。"},
            {
                "index": 3, "round": 2, "role": "doctor", "kind": "diagnose", "text": "诊断：肺炎。",
                "action": {"name": "diagnose", "arguments": {"diagnoses": ["肺炎"]}, "form": "json"},
            },
        ],
        "ended": "diagnosed", "first_summary": 2, "rounds": 2,
        "notes": {"2": {"status": "stated", "fact_ids": ["f1"]}},
    }  # fmt: skip
    who = {"task": "meddc_record", "case": "c1", "policy": "checklist", "patient": "grounded", "repeat": 1}
    return who | {"history": history | changes}
