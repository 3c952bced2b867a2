"""Importer `cmb_clin`: the cases of CMB-Clin (FreedomIntelligence/CMB), Chinese.

    {"id", "title", "description", "QA_pairs": [{"question", "answer"}]}      a JSON list upstream, JSONL as an extract

The title names the answer and is never shown. The description is cut at its headings: 现病史 becomes what the patient
knows, 体格检查 and 辅助检查 do not. The diagnosis is what a question that asks for one is answered with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from meddc_bench.contracts import About, Context, Fault, Imported
from meddc_bench.records import Case, References
from meddc_importers import gold
from meddc_importers.diagnoses import distinct
from meddc_importers.draft import Draft, Tally, Told, case_of, exclude
from meddc_importers.lines import Line, found, objects
from meddc_importers.narrative import identity_of, told_of
from meddc_importers.rows import CaseOptions, Row, Rows, row_id, text_of

LICENCE = "Apache-2.0"
NO_HISTORY = "the description has no 现病史"

_HEADING = re.compile(
    r"^[ \t\u3000]*(?:[一二三四五六七][、.．])?[ \t]*(现病史|既往史|个人史|家族史|体格检查|专科检查|辅助检查|"
    r"实验室检查|影像学检查)[ \t]*[:：]?[ \t]*$",
    re.MULTILINE,
)
_COMPLAINT = re.compile(r"(?:^|\n)[ \t\u3000]*(?:[（(]\d[）)])?[ \t]*主诉[ \t]*[:：]?\s*([^\n]+)")
_SUMMARY = re.compile(r"(?:^|\n)[ \t\u3000]*(?:[（(]\d[）)])?[ \t]*病史摘要[ \t]*[:：]?")
_TEST = re.compile(r"^[ \t\u3000]*[（(]\d{1,2}[）)][ \t]*([^\s，。：:]{2,16}?)[ \t]*[:：]?$", re.MULTILINE)
_TITLE = re.compile(r"案例分析[\s—–-]*(.+)$")
_STATED = re.compile(
    r"(?:^|[\n（(）)\d、.．])[ \t]*(?:初步|临床|"
    r"目前)?诊断[ \t]*[:：为]?[ \t]*\n?(.+?)(?=\n[ \t]*[（(]?\d?[）)、]?[ \t]*(?:诊断依据|依据|鉴别)|\n\n|"
    r"[（(]2[）)]|$)",
    re.DOTALL,
)
_FIRST = re.compile(r"^\s*([^。\n，,；]{2,30})[。\n]")
_NUMBERED = re.compile(r"[\n；;]|\s{3,}|(?:^|(?<=\s))(?:[（(]\d{1,2}[）)]|\d{1,2}[.．、](?!\d))|[①-⑳]")


class CmbClinOptions(CaseOptions):
    """Options: questions a doctor may ask, and the split the file holds (upstream has one)."""


class CmbClin:
    """Reads CMB-Clin's cases."""

    def __init__(self, options: CmbClinOptions, context: Context):
        self._options = options
        self.about = About(
            "CMB-Clin", "github.com/FreedomIntelligence/CMB (CMB-Clin)", LICENCE, options.split or "test",
            decide=("a case's diagnosis may come from its title, where the answer tells of it in prose: its provenance says so",),
        )  # fmt: skip

    def read(self, path: Path) -> Iterator[Case | Imported | Fault]:
        """Read a file of cases.

        Raises:
            InputError: the file is missing, empty or no UTF-8 text.
        """
        tally = Tally()
        yield from Rows().read(objects(path), lambda line, faults: Row(self._case(line, tally)))
        yield from tally.notes(str(path))

    def _case(self, line: Line, tally: Tally) -> Case:
        name = row_id(line, "cmb")
        sections = _sections(text_of(line, "description"))
        title = _title(text_of(line, "title", missing=True))
        answer = _asked(line)
        stated = gold.of_names(_stated(answer), "zh")
        from_title = bool(title) and (stated.reason == gold.NONE)
        found_gold = gold.of_names([title], "zh") if from_title else stated
        if found_gold.reason:
            exclude(line, found_gold.reason, "QA_pairs")
        history = sections.get("现病史", "")
        if not history.strip():
            exclude(line, NO_HISTORY, "description")
        opening, told = _opened(history)
        for key in ("既往史", "个人史", "家族史"):
            told += told_of(sections.get(key, ""), topic=key)
        told += [Told(one, finding=True) for one in _found(sections)]
        source = "CMB-Clin" + ("; diagnosis from the title" if from_title else "")
        return case_of(
            Draft(
                id=name, language="zh", source="record", opening=opening, told=told, diagnoses=found_gold.diagnoses,
                provenance=source, licence=LICENCE, turn_budget=self._options.turn_budget,
                references=References(tests=_tests(sections)),
                secrets=(title,) if title else (),
            ),
            line, tally,
        )  # fmt: skip


def _sections(description: str) -> dict[str, str]:
    """Cut a description at its headings; one that stands there twice is joined."""
    marks = list(_HEADING.finditer(description))
    out: dict[str, str] = {} if marks else {"现病史": description}
    ends = [mark.start() for mark in marks[1:]] + [len(description)]
    for mark, end in zip(marks, ends, strict=False):
        text = description[mark.end() : end].strip("\n")
        out[mark[1]] = f"{out[mark[1]]}\n{text}" if mark[1] in out else text
    return out


def _title(title: str) -> str:
    match = _TITLE.search(title)
    return re.sub(r"(?:的诊治|一例|1例)$", "", match[1].strip()) if match else ""


def _asked(line: Line) -> str:
    """Return the answer of the first question that asks for the diagnosis.

    Raises:
        Rejected: none does, or the pairs are none.
    """
    pairs = line.data.get("QA_pairs")
    if not isinstance(pairs, list):
        what = (
            "this key is missing"
            if "QA_pairs" not in line.data
            else f"expected a list of questions, found {found(pairs)}"
        )
        line.reject(f"{what}; the row is left out", "QA_pairs")
    for index, pair in enumerate(pairs):
        question, answer = (_of(pair, key) for key in ("question", "answer"))
        if question is None or answer is None:
            line.reject("expected a question and its answer as texts; the row is left out", f"QA_pairs[{index}]")
        if gold.asks_diagnosis(question, "zh"):
            return answer
    return exclude(line, gold.NOT_ASKED, "QA_pairs")


def _of(pair: Any, key: str) -> str | None:
    value = pair.get(key) if isinstance(pair, dict) else None
    return value if isinstance(value, str) else None


def _stated(answer: str) -> list[str]:
    """Take the diagnosis where the answer states it as one: after 诊断：, or as its first short sentence; else nothing."""
    match = _STATED.search(answer)
    body = match[1].strip() if match else ""
    if not body or re.match(r"依据|要点|明确", body):
        first = _FIRST.match(answer)
        body = (
            first[1]
            if first and not re.search(r"病人|患者|病儿|男性|女性|本例|病史|病程|中年|老年|青年", first[1])
            else ""
        )
    if not body or len(body) > 160:
        return []
    return [one for part in _NUMBERED.split(body) if (one := part.strip(" \t\u3000。.；;，,"))]


def _opened(history: str) -> tuple[str, list[Told]]:
    """Make the opening of sex, age and chief complaint; without one, of what the history says first."""
    complaint = _COMPLAINT.search(history)
    body = history.replace(complaint[0], "\n") if complaint else history
    told = list(told_of(_SUMMARY.sub("\n", body)))
    if complaint:
        chief = complaint[1].strip(" 。.；;")
    else:
        chief = "，".join(one.text for one in told[:2] if not one.finding)
        told = told[2:] if chief else told
    parts = [one for one in (identity_of(body), f"主诉：{chief}" if chief else "") if one]
    return "；".join(parts) + "。", told


def _found(sections: dict[str, str]) -> Iterator[str]:
    """Give what was found on examination, line by line: it is counted and left out."""
    for key in ("体格检查", "专科检查", "辅助检查", "实验室检查", "影像学检查"):
        yield from (one for one in sections.get(key, "").splitlines() if one.strip())


def _tests(sections: dict[str, str]) -> tuple[str, ...]:
    text = "\n".join(sections.get(key, "") for key in ("辅助检查", "实验室检查", "影像学检查"))
    return distinct(_TEST.findall(text))
