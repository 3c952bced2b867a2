"""Importer `ai_hospital`: the dialogues of AI Hospital (LibertFan/AI_Hospital), in two layouts.

    an extract    {"case_id", "policy", "dialogue": [{"turn", "role", "content"}],
                   "own_final_text", "own_final_diagnosis"}
    upstream      {"patient_id", "doctor_engine_name" or "doctor", "dialog_history": [{"turn", "role", "content"}]},
                  whose last doctor's turn is the closing summary

Either may be JSONL or one JSON list; a folder stands for its files `histories*` and `dialog_history*`. References are
JSONL or a list of {"case_id", "diagnosis_units" or "diagnosis_raw", "treatment"} or of upstream's patients
{"id", "medical_record": {"诊断结果" or "初步诊断", "诊治经过"}}. docs/importing.md lists every fault.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from meddc_bench.contracts import About, Context, Fault, Imported, Local, Options
from meddc_bench.errors import InputError
from meddc_bench.records import Case, References
from meddc_importers.cases import NO_OPENING, Cases
from meddc_importers.diagnoses import diagnosis_section, distinct, listed, numbered, reference_diagnoses
from meddc_importers.dialogue import Closing, Dialogue, Said, assemble, cut_at_summary, summary_of, utterances
from meddc_importers.draft import Draft, Tally, Told, case_of
from meddc_importers.labels import POLICY, Seen, case_id, policy_label, repeat_of
from meddc_importers.lines import Line, found, objects
from meddc_importers.narrative import identity_of, told_of
from meddc_importers.rows import Row, Rows

BUDGET = 11
"""The questions a doctor may ask upstream: the greeting and ten more (max_conversation_turn)."""

LICENCE = "MIT; the underlying reports have terms of their own"
_HISTORY = ("现病史", "既往史", "个人史", "家族史", "婚育史", "月经史", "过敏史")
_BESIDE = "references.jsonl"
_HISTORIES = ("histories*.jsonl", "histories*.json", "dialog_history*.jsonl", "dialog_history*.json")
_CASE_KEYS = ("case_id", "patient_id", "id")


class AIHospitalOptions(Options):
    """Options: the references file (default: references.jsonl beside the histories), one label for every policy."""

    references: Annotated[str | None, Local()] = Field(
        None, description="path of the references file; left out, references.jsonl beside the histories"
    )
    policy: str | None = Field(
        None, pattern=POLICY, description="one label for all histories, instead of what the file says"
    )


class AIHospital:
    """Reads AI Hospital's dialogues: first a Case per reference, then an Imported per history."""

    def __init__(self, options: AIHospitalOptions, context: Context):
        self._options = options
        self.about = About(
            "AI Hospital", "github.com/LibertFan/AI_Hospital", LICENCE,
            decide=("the reports behind the cases come from a web site whose terms are not known: for checks only",),
            cases_first=True,
        )  # fmt: skip

    def read(self, path: Path) -> Iterator[Case | Imported | Fault]:
        """Read a file or a folder of histories.

        Raises:
            InputError: a file is missing, empty or no UTF-8 text.
        """
        files, cases, seen = _files(path), self._cases(path), Seen()
        if cases is not None:
            yield from cases.read(_case)
        patients, tally = Rows(), Tally()
        for file in files:
            for line in objects(file):
                if isinstance(line, Line) and _is_patient(line):
                    yield from patients.read((line,), lambda one, faults: Row(_case(one, tally)))
                else:
                    yield from seen.take(line, partial(self._imported, cases))
        yield from tally.notes(str(path))

    def _cases(self, path: Path) -> Cases | None:
        if self._options.references is not None:
            return Cases(Path(self._options.references))
        beside = (path if path.is_dir() else path.parent) / _BESIDE
        return Cases(beside) if beside.is_file() and beside != path else None

    def _imported(self, cases: Cases | None, line: Line, faults: list[Fault]) -> Imported:
        upstream = _is_upstream(line)
        case = case_id(line, *_CASE_KEYS)
        if cases is not None:
            cases.check(case, line, next(key for key in _CASE_KEYS if key in line.data))
        policy = policy_label(line, self._options.policy, "policy", "doctor_engine_name", "doctor")
        said = utterances(line, "dialog_history" if upstream else "dialogue", ("content",), faults)
        dialogue = _last_turn(said, line, faults) if upstream else Dialogue(said, _final_text(line, faults))
        return Imported(case, policy, assemble(cut_at_summary(dialogue, line, faults)), repeat_of(line))


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted({file for pattern in _HISTORIES for file in path.glob(pattern)})
    if not files:
        raise InputError(f"holds no file named {' or '.join(_HISTORIES)}", path=path)
    return files


def _is_patient(line: Line) -> bool:
    """Say whether a line is a patient with a diagnosis, and no consultation."""
    keys = set(line.data)
    return not keys & {"dialogue", "dialog_history", "history", "turns"} and bool(
        keys & {"medical_record", "diagnosis_units", "diagnosis_raw"}
    )


def _is_upstream(line: Line) -> bool:
    """Tell the layouts apart by their keys."""
    if "dialogue" in line.data or "dialog_history" in line.data:
        return "dialogue" not in line.data
    if "history" in line.data or "turns" in line.data:
        line.reject("is not AI Hospital's; import it with the importer histories; left out")
    if "diagnosis" in line.data:
        line.reject("holds a diagnosis and no dialogue: there is no history to import; left out")
    return line.reject("expected the key dialogue or dialog_history; left out")


def _final_text(line: Line, faults: list[Fault]) -> Closing | None:
    """Read the summary that an extract keeps outside the dialogue."""
    text = line.data.get("own_final_text")
    closing = summary_of(text) if isinstance(text, str) else None
    if closing is None or not closing.text:
        state = "empty" if isinstance(text, str) else found(text) if "own_final_text" in line.data else "missing"
        faults.append(line.fault(f"is {state}: the history is imported without a summary", "own_final_text"))
        return None
    given = line.data.get("own_final_diagnosis")
    if isinstance(given, list):
        names = distinct(one.strip() for one in given if isinstance(one, str) and one.strip())
        return replace(closing, diagnoses=names or None)
    written = given if isinstance(given, str) and given.strip() else diagnosis_section(closing.text)
    return replace(closing, diagnoses=listed(written) if written else None)


def _last_turn(said: tuple[Said, ...], line: Line, faults: list[Fault]) -> Dialogue:
    """Take the last doctor's turn off as the summary; one that others speak after, only if it states a diagnosis."""
    at = max((index for index, one in enumerate(said) if one.role == "doctor"), default=0)
    last, rest = said[at], len(said) - at - 1
    section = diagnosis_section(last.text)
    if at == 0 or (rest and section is None):
        message = "does not end with the doctor's summary: the history is imported without one"
        faults.append(line.fault(message, "dialog_history"))
        return Dialogue(said)
    if rest:
        faults.append(line.fault(f"{rest} turns after the closing summary are left out", "dialog_history"))
    return Dialogue(said[:at], Closing(last.text, listed(section) if section else None, last.reasoning))


def _case(line: Line, tally: Tally | None = None) -> Case:
    """Make a case of one reference; a medical record gives its opening, facts and targets too.

    Raises:
        Rejected: it has no id or no diagnosis.
        ValidationError: it is no Case.
    """
    name = case_id(line, *_CASE_KEYS)
    record = line.data.get("medical_record")
    written = record if isinstance(record, dict) else {}
    treatment = written.get("诊治经过") if written else line.data.get("treatment")
    diagnoses = reference_diagnoses(_units(line.data) if not written else _written(written, "诊断结果", "初步诊断"))
    if not diagnoses:
        line.reject("expected a diagnosis (diagnosis_units or diagnosis_raw); the case is left out")
    told = [one for key in _HISTORY for one in told_of(_text(written, key), topic="" if key == "现病史" else key)]
    if told and tally is not None:
        told += [
            Told(one, finding=True)
            for key in ("查体", "辅助检查")
            for one in _text(written, key).splitlines()
            if one.strip()
        ]
        opening = (
            "；".join(one for one in (identity_of(_text(written, "一般资料")), _chief(written)) if one) or NO_OPENING
        )
        draft = Draft(
            name, "zh", "record", opening, told, diagnoses, "AI Hospital", LICENCE, BUDGET,
            References(treatment=_steps(treatment)),
        )  # fmt: skip
        return case_of(draft, line, tally)
    context = line.data.get("context")
    return Case(
        id=name, source="imported", context=context if isinstance(context, str) and context.strip() else NO_OPENING,
        diagnoses=diagnoses, turn_budget=BUDGET, references=References(treatment=_steps(treatment)),
        provenance="AI Hospital", licence=LICENCE,
    )  # fmt: skip


def _text(record: dict[str, Any], key: str) -> str:
    value = record.get(key)
    return value if isinstance(value, str) else ""


def _chief(record: dict[str, Any]) -> str:
    chief = " ".join(_text(record, "主诉").split()).strip("。 ")
    return f"主诉：{chief}。" if chief else ""


def _units(data: dict[str, Any]) -> list[str]:
    given = data.get("diagnosis_units")
    if isinstance(given, list):
        return [one for one in given if isinstance(one, str) and one.strip()]
    return _written(data, "diagnosis_raw", "diagnosis")


def _written(data: dict[str, Any], *keys: str) -> list[str]:
    """Split a diagnosis as it was written: by lines and numbers, else by ； and ，."""
    text = next((data[key] for key in keys if isinstance(data.get(key), str) and data[key].strip()), "")
    return list(numbered(text) or listed(text) or ([text] if text else []))


def _steps(treatment: Any) -> tuple[str, ...]:
    """Take a treatment as references only where it is a list: what is told of a stay, numbered or not, is none."""
    given = treatment if isinstance(treatment, list) else ()
    return tuple(one.strip() for one in given if isinstance(one, str) and one.strip())
