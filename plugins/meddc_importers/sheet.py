"""Importer `csv`: a clinic's own sheet, one case a row, Chinese or English. The task it makes is private by default.

    编号,性别,年龄,主诉,现病史,既往史,过敏史,诊断
    1,女,34,咳嗽3天,3天前受凉后咳嗽，咳白痰，无发热。,体健,否认,急性支气管炎

docs/importing.md lists the columns. Facts and targets are derived from the text; 体格检查 and 辅助检查 are no patient's
knowledge and are counted only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import Field

from meddc_bench.contracts import About, Context, Fault, Imported
from meddc_bench.records import Case, References
from meddc_importers import gold
from meddc_importers.draft import Draft, Tally, Told, case_of, exclude
from meddc_importers.findings_en import is_denied, is_finding
from meddc_importers.lines import Line
from meddc_importers.narrative import told_of
from meddc_importers.rows import CaseOptions, Row, Rows
from meddc_importers.table import records_of

COLUMNS: dict[str, tuple[str, ...]] = {
    "id": ("编号", "病例号", "id", "case", "case_id"),
    "sex": ("性别", "sex", "gender"),
    "age": ("年龄", "age"),
    "complaint": ("主诉", "chief_complaint", "complaint", "chief complaint"),
    "present": ("现病史", "history_of_present_illness", "present_illness", "hpi"),
    "past": ("既往史", "past_history", "past_medical_history", "pmh"),
    "allergy": ("过敏史", "allergies", "allergy"),
    "medication": ("用药史", "medications", "medication"),
    "personal": ("个人史", "personal_history", "social_history"),
    "obstetric": ("月经史", "婚育史", "月经婚育史", "obstetric_history"),
    "family": ("家族史", "family_history"),
    "examination": ("体格检查", "查体", "physical_examination", "examination"),
    "tests": ("辅助检查", "检查结果", "test_results", "investigations"),
    "diagnosis": ("诊断", "诊断结果", "出院诊断", "门诊诊断", "diagnosis", "diagnoses"),
    "department": ("科室", "department"),
    "treatment": ("治疗", "处理", "treatment"),
}
"""The columns of the sheet: what people may write over them; only complaint, present and diagnosis are needed."""

_HISTORY = {
    "past": "既往史", "allergy": "过敏史", "medication": "用药史", "personal": "个人史", "obstetric": "月经婚育史",
    "family": "家族史",
}  # fmt: skip
_ENGLISH = {
    "past": "Past history", "allergy": "Allergies", "medication": "Medicines", "personal": "Personal history",
    "obstetric": "Obstetric history", "family": "Family history",
}  # fmt: skip
_HAN = re.compile(r"[㐀-鿿]")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+")
_ITEMS = re.compile(r"[；;\n]+")
_NO = re.compile(r"(?:无|否认|没有|无特殊|none|no|nil|denied|denies|nkda)[。.]?", re.IGNORECASE)


class SheetOptions(CaseOptions):
    """Options: whether the task is private (no case text leaves a run then), its licence and language, the turn budget."""

    private: bool = Field(True, description="no case text, case id or per-case count leaves a run")
    licence: str = Field("not said; private", min_length=1, description="the licence of the cases")
    language: Literal["zh", "en", "auto"] = Field("auto", description="take the rows of this language alone")


class Sheet:
    """Reads a clinic's sheet."""

    def __init__(self, options: SheetOptions, context: Context):
        self._options = options
        self.about = About(
            "A clinic's own sheet", "a file of the user's", options.licence, options.split or "", options.private,
            decide=(
                "a row must point to no person: names, addresses, numbers and dates are not looked for",
                *(() if options.private else ("the task is not private: its case texts leave a run",)),
            ),
        )  # fmt: skip

    def read(self, path: Path) -> Iterator[Case | Imported | Fault]:
        """Read a sheet.

        Raises:
            InputError: the file is no table, or lacks a column that is needed.
        """
        tally = Tally()
        renamed = {name: column for column, names in COLUMNS.items() for name in names}
        lines = records_of(path, ("complaint", "diagnosis"), renamed=renamed)
        yield from Rows().read(_known(lines, path), lambda line, faults: Row(self._case(line, tally)))
        yield from tally.notes(str(path))

    def _case(self, line: Line, tally: Tally) -> Case:
        data = {key: value for key, value in line.data.items() if isinstance(value, str)}
        complaint, given = data.get("complaint", ""), data.get("diagnosis", "")
        if not complaint:
            line.reject("the chief complaint (主诉) is empty; the row is left out", "complaint")
        language = "zh" if _HAN.search(complaint + given) else "en"
        if self._options.language not in ("auto", language):
            exclude(line, "another language than the option names")
        found = gold.of_names(_ITEMS.split(given), language)
        if found.reason:
            exclude(line, found.reason, "diagnosis")
        told = list(_told(data, language))
        return case_of(
            Draft(
                id=_id(line, data), language=language, source="record", opening=_opening(data, complaint, language), told=told,
                diagnoses=found.diagnoses, provenance=f"imported from a sheet, row {line.where.rpartition(':')[2]}",
                licence=self._options.licence, turn_budget=self._options.turn_budget, department=data.get("department") or None,
                references=References(treatment=_items(data.get("treatment", ""))),
            ),
            line, tally, empty=True,
        )  # fmt: skip


def _known(lines: Iterator[Line | Fault], path: Path) -> Iterator[Line | Fault]:
    """Say once which columns nobody reads."""
    first = True
    for line in lines:
        if first and isinstance(line, Line):
            first = False
            for name in line.data:
                if name not in COLUMNS:
                    yield Fault(f"{path}:1:{name}", "this column is not read", "note", f"column {name} is not read")
        yield line


def _id(line: Line, data: dict[str, str]) -> str:
    given = data.get("id", "")
    if given and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", given):
        line.reject("cannot be a case id: up to 64 of A-Z a-z 0-9 . _ - are; the row is left out", "id")
    return given or f"row-{int(line.where.rpartition(':')[2]):05d}"


def _items(text: str) -> tuple[str, ...]:
    return tuple(one.strip() for one in _ITEMS.split(text) if one.strip())


def _opening(data: dict[str, str], complaint: str, language: str) -> str:
    sex, age = data.get("sex", ""), data.get("age", "")
    if language == "zh":
        years = f"{age}岁" if age.isdigit() else age
        parts = [f"性别：{sex}"] * bool(sex) + [f"年龄：{years}"] * bool(years) + [f"主诉：{complaint.strip('。 ')}"]
        return "；".join(parts) + "。"
    parts = [f"Sex: {sex}"] * bool(sex) + [f"age: {age}"] * bool(age) + [f"chief complaint: {complaint.strip('. ')}"]
    return "; ".join(parts) + "."


def _told(data: dict[str, str], language: str) -> Iterator[Told]:
    """Give what the history columns tell, and what the patient cannot know."""
    yield from _pieces(data.get("present", ""), language, "")
    for key, zh in _HISTORY.items():
        yield from _pieces(data.get(key, ""), language, zh if language == "zh" else _ENGLISH[key])
    for key in ("examination", "tests"):
        yield from (Told(one, finding=True) for one in _ITEMS.split(data.get(key, "")) if one.strip())


def _pieces(text: str, language: str, topic: str) -> Iterator[Told]:
    if _NO.fullmatch(text.strip()):
        yield Told(f"{topic}：无" if language == "zh" else f"{topic}: none", denied=True)
    elif language == "zh":
        yield from told_of(text, topic=topic)
    else:
        for one in filter(None, (piece.strip() for piece in _SENTENCE.split(text))):
            yield Told(f"{topic}: {one}" if topic else one, denied=is_denied(one), finding=is_finding(one))
