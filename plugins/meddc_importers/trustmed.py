"""Importer `trustmed`: cases with an OSCE profile in the shape of protocol TrustMed v1.0, as JSON lines or one JSON list.

    {"id": "osce-1", "language": "zh", "context": "...", "diagnoses": ["...", {"name", "synonyms", "code"}],
     "actor": {"demographics": ["...", {"text", "denied", "onset", ...}], "chief_complaint": [...], ...},
     "profile": [{"category", "item", "title", "modality", "anatomy", "findings": ["...", ...]}, ...],
     "quarantined": [{"text", "source"}], "departments": [...], "codes": [...], "provenance": "..."}

`actor` and `profile` may also stand under `workup`, as in this program's own cases. Facts and findings may be texts or
objects; where they have no ids they are numbered, and `context` may be left out when the chief complaint is there. What
is wrong with a row is said at once, in the words that a generator of such records can act on.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from pydantic import Field

from meddc_bench import osce
from meddc_bench.contracts import About, Context, Fault, Imported
from meddc_bench.environments.catalogue import catalogue, catalogue_faults
from meddc_bench.errors import InputError
from meddc_bench.osce import CATEGORIES, SECTIONS, Workup
from meddc_bench.records import Case
from meddc_bench.text import mentions
from meddc_importers.draft import exclude
from meddc_importers.lines import Line, found, objects
from meddc_importers.rows import CaseOptions, Row, Rows, row_id

_WORKUP = ("actor", "profile", "quarantined", "departments", "codes", "provenance", "sources")
_OWN = (
    "id",
    "case_id",
    "case",
    "language",
    "context",
    "diagnoses",
    "department",
    "turn_budget",
    "licence",
    "source",
    "workup",
)


class TrustMedOptions(CaseOptions):
    """Options: questions a doctor may ask where the row does not say, the split, and the language where the row does not say."""

    language: str = Field("zh", description="the language of rows that do not say theirs")


class TrustMed:
    """Reads records one by one: a Case each, or all that is wrong with it."""

    def __init__(self, options: TrustMedOptions, context: Context):
        self._options = options
        self.about = About(
            "OSCE records of protocol TrustMed v1.0", "the author of the file", "not said", options.split or ""
        )

    def read(self, path: Path) -> Iterator[Case | Imported | Fault]:
        """Read a file of records.

        Raises:
            InputError: the file is missing, empty or no UTF-8 text.
        """
        if path.is_dir():
            raise InputError("is a folder; name a file in it, such as records.jsonl", path=path)
        yield from Rows().read(objects(path), lambda line, faults: Row(self._case(line, faults)))

    def _case(self, line: Line, faults: list[Fault]) -> Case:
        data = line.data
        name = row_id(line, "osce")
        for key in data:
            if key not in (*_WORKUP, *_OWN):
                faults.append(line.fault(f"unknown key, not used; known: {', '.join((*_OWN[:5], *_WORKUP))}", key))
        diagnoses = _diagnoses(line)
        workup = _workup(line)
        for panel in workup["profile"]:
            if panel.pop("picture", None) is not None:
                message = "the picture is not taken along: the record goes without it"
                faults.append(Fault(f"{line.where}:profile", f"{panel['id']}: {message}", "note"))
        names = [one for row in diagnoses for one in (row["name"], *row.get("synonyms", ()))]
        if (wrong := osce.retry_message(workup, names)) is not None:
            line.reject(f"{wrong}\nthe case is left out", "workup")
        record = Workup.model_validate_json(msgspec.json.encode(workup))
        unknown = list(catalogue_faults(record))
        if unknown:
            line.reject(f"{'; '.join(map(str, unknown))}; the case is left out", "workup")
        context = data.get("context") or _opening(record)
        if not isinstance(context, str):
            line.reject(
                f"expected what the patient says first as text, found {found(context)}; the case is left out", "context"
            )
        if any(mentions(context, one) for one in names):
            exclude(line, "the opening names the diagnosis", "context")
        case = {
            "id": name, "source": data.get("source") or "record", "language": data.get("language") or self._options.language,
            "department": data.get("department"), "context": context,
            "facts": list(osce.facts_of(record.actor)), "diagnoses": diagnoses, "workup": workup,
            "turn_budget": data.get("turn_budget") or self._options.turn_budget,
            "provenance": record.provenance, "licence": data.get("licence") or "",
        }  # fmt: skip
        return Case.model_validate_json(msgspec.json.encode(case))


def _diagnoses(line: Line) -> list[dict[str, Any]]:
    """Read the diagnoses: names, or names with synonyms and a code.

    Raises:
        Rejected: there is none.
    """
    given = line.data.get("diagnoses")
    if not isinstance(given, list) or not given:
        what = "this key is missing" if given is None else f"expected a list of diagnoses, found {found(given)}"
        line.reject(
            f"{what if given != [] else 'is empty'}; a case needs a diagnosis; the case is left out", "diagnoses"
        )
    rows = [{"name": one.strip()} if isinstance(one, str) else one for one in given]
    for index, one in enumerate(rows):
        if not isinstance(one, dict) or not isinstance(one.get("name"), str) or not one["name"].strip():
            line.reject("expected a name, or an object with `name`; the case is left out", f"diagnoses[{index}]")
        others: Any = one.get("synonyms", [])
        if not isinstance(others, list) or not all(isinstance(other, str) and other.strip() for other in others):
            line.reject("expected a list of other names; the case is left out", f"diagnoses[{index}].synonyms")
    return rows


def _workup(line: Line) -> dict[str, Any]:
    """Take the record out of a row, its facts and findings numbered where they have no ids.

    Raises:
        Rejected: there is no actor.
    """
    inner = line.data.get("workup")
    data: dict[str, Any] = inner if isinstance(inner, dict) else line.data
    record = {key: data[key] for key in _WORKUP if key in data}
    record.setdefault("provenance", line.where.rsplit("/", 1)[-1])
    actor = record.get("actor")
    if not isinstance(actor, dict):
        what = "this key is missing" if actor is None else f"expected an object of sections, found {found(actor)}"
        line.reject(f"{what}; expected actor: {{{', '.join(SECTIONS[1:4])}, ...}}; the case is left out", "actor")
    facts = itertools.count(1)
    record["actor"] = {
        section: [_numbered(one, "f", facts) for one in _listed(actor[section])]
        for section in (*SECTIONS, *(key for key in actor if key not in SECTIONS))
        if section in actor
    }
    findings = itertools.count(1)
    panels = sorted((one for one in _listed(record.get("profile")) if isinstance(one, dict)), key=_category)
    record["profile"] = [
        {
            **_itemed(one),
            "id": one.get("id") or f"p{number}",
            "findings": [_numbered(each, "e", findings) for each in _listed(one.get("findings"))],
        }
        for number, one in enumerate(panels, 1)
    ]
    record["quarantined"] = [_numbered(one, "e", findings) for one in _listed(record.get("quarantined"))]
    return record


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [] if value is None else [value]


def _numbered(one: Any, letter: str, numbers: Iterator[int]) -> Any:
    number = next(numbers)
    row = {"text": one} if isinstance(one, str) else one
    return {"id": f"{letter}{number}", **row} if isinstance(row, dict) else row


def _category(panel: dict[str, Any]) -> int:
    category = panel.get("category")
    return CATEGORIES.index(category) if category in CATEGORIES else len(CATEGORIES)


def _itemed(panel: dict[str, Any]) -> dict[str, Any]:
    """Write an item by the catalogue's name, where the record says it in other words."""
    item, category = panel.get("item"), panel.get("category")
    if not isinstance(item, str) or f"{category}:{item}" in catalogue().by_id:
        return panel
    kind: Any = "examination" if category == "physical_examination" else "test"
    known = catalogue().find(kind, item)
    entry = known.entry or next((one for one in known.between if one.category == category), None)
    return {**panel, "item": entry.name} if entry is not None and entry.category == category else panel


def _opening(record: Workup) -> str:
    """Open with the chief complaint."""
    return " ".join(fact.text for fact in record.actor.chief_complaint)
