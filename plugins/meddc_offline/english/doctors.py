"""The offline doctors for English cases: they interview; `workup` also examines, orders, sends to departments and "
"checks pictures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from meddc_bench.contracts import Call, PolicyView, Reply
from meddc_bench.records import Turn
from meddc_offline.ending import AFTER_TALKING, ended
from meddc_offline.english.handbook import named, ranked
from meddc_offline.english.interview import chart_of, next_question

_A_TURN = 4
_MOST_DIAGNOSES = 2
_LEADING = 4
_MOST_TESTS = 14

_FIRST_EXAMINED = ("vital signs", "general")
_EXAMINED: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"\beye|vision|visual|blind", ("eyes", "neurologic")),
    (r"\bear\b|hearing|earring|dizz|vertigo|spinning", ("ears", "neurologic", "head")),
    (r"chest|heart|palpit|breath|cough|wheez|faint|conscious|stridor|cyanosis", ("cardiovascular", "respiratory", "extremities")),
    (r"abdom|stomach|belly|vomit|bowel|stool|diarrhea|jaundice|yellow|swallow|feeding|rectal", ("abdomen", "rectal", "skin")),
    (r"urin|flank|kidney|testic|penis|scrot|vagin|pelvic|uter|period|menarche|intercourse|sexual|pregnan|labor|fetal",
     ("genitourinary", "abdomen")),
    (r"joint|knee|hip|shoulder|finger|wrist|hand|leg|foot|toe|back|arm|limp|"
        r"groin", ("musculoskeletal", "extremities", "neurologic")),
    (r"skin|rash|lesion|itch|blister|wound|bruis|bleed|spot|mole|acne|petechia", ("skin", "mouth and throat", "lymph nodes")),
    (r"headache|weak|numb|seizure|gait|tremor|confus|memory|mental|speech|walking|stiff|staring|"
        r"restless", ("neurologic", "mental status")),
    (r"mood|behav|sleep|anxi|depress|voices|telepath|school|irritab|agitat|aggress|belie", ("mental status", "neurologic")),
    (r"breast|nipple", ("breast", "lymph nodes")),
    (r"neck|thyroid|throat|swell|lump|mass|node", ("neck", "lymph nodes", "mouth and throat")),
    (r"fever|fatigue|tired|weight|sweat|pale|malaise", ("lymph nodes", "abdomen", "skin")),
    (r"newborn|infant|baby|child", ("respiratory", "cardiovascular", "abdomen")),
)  # fmt: skip
"""Regions to examine by what the patient complains of."""

_FIRST_ORDERED = ("laboratory:hematology", "laboratory:clinical chemistry")
_ORDERED: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"chest|breath|cough|wheez|sputum|stridor", ("imaging:computed "
        "radiography", "imaging:CT", "physiologic:pulmonary function testing")),
    (r"heart|palpit|murmur|faint|conscious|blood pressure", ("physiologic:cardiovascular physiologic "
        "testing", "physiologic:echocardiography")),
    (r"abdom|stomach|belly|vomit|jaundice|yellow", ("imaging:ultrasound", "imaging:CT", "imaging:computed radiography")),
    (r"stool|diarrhea|bowel", ("laboratory:general laboratory testing", "imaging:endoscopy")),
    (r"urin|flank|kidney|edema|swelling in the legs", ("laboratory:urinalysis", "imaging:ultrasound")),
    (r"vagin|pelvic|uter|period|menarche|intercourse|sexual",
     ("imaging:ultrasound", "laboratory:microbiology", "laboratory:endocrinology")),
    (r"joint|knee|hip|shoulder|finger|wrist|hand|leg|foot|toe|back|limp|groin", ("imaging:computed radiography", "imaging:MRI")),
    (r"skin|rash|lesion|blister|mole|wound|spot",
     ("pathology:histopathology", "laboratory:microbiology", "laboratory:immunology")),
    (r"bruis|bleed|petechia|nosebleed", ("laboratory:coagulation", "pathology:peripheral blood smear")),
    (r"lump|mass|node|swelling", ("imaging:ultrasound", "pathology:histopathology")),
    (r"headache|weak|numb|seizure|gait|tremor|confus|memory|mental|speech|walking|staring|vision",
     ("imaging:MRI", "physiologic:neurophysiologic testing", "laboratory:general laboratory testing")),
    (r"dizz|vertigo|spinning|hearing|\bear\b|sleep", ("physiologic:other physiologic testing", "imaging:MRI")),
    (r"mood|behav|anxi|depress|voices|school|irritab|agitat|aggress|belie",
     ("physiologic:psychological testing", "laboratory:general laboratory testing", "laboratory:endocrinology")),
    (r"breast|nipple", ("imaging:other imaging modality", "pathology:histopathology")),
    (r"fever|sore throat|sputum|chills", ("laboratory:microbiology", "imaging:computed radiography")),
    (r"fatigue|tired|weight|sweat|pale", ("pathology:peripheral blood "
        "smear", "laboratory:endocrinology", "laboratory:urinalysis")),
)  # fmt: skip
"""Tests by what the patient complains of; an id of the catalogue is category and name."""

_ROUTES: Mapping[str, str] = {
    "imaging:endoscopy": "gastroenterology",
    "imaging:ophthalmic photography": "ophthalmology",
    "imaging:external-camera photography": "dermatology",
    "physiologic:cardiovascular physiologic testing": "cardiology",
    "physiologic:echocardiography": "cardiology",
    "physiologic:pulmonary function testing": "cardiology",
    "physiologic:neurophysiologic testing": "neurology",
    "physiologic:other physiologic testing": "neurology",
    "physiologic:psychological testing": "neurology",
    "physiologic:ophthalmic examination and testing": "ophthalmology",
}
_BY_CATEGORY: Mapping[str, str] = {
    "imaging": "radiology",
    "laboratory": "laboratory medicine",
    "pathology": "pathology",
}
_ACCEPTED = re.compile(r"\[Order: (?P<label>[^\]]+)\] Accepted")
_REPORT = re.compile(r"report: (?P<title>[^\]]+)\] \((?P<source>[^)]+)\)")
_PICTURE = re.compile(
    r"(?P<number>I\d+) \| came with: (?P<title>[^|\n]+) \| shows: modality (?P<modality>[^,\n]+), anatomy (?P<anatomy>[^,\n]+)"
)


class Interviewer:
    """Asks at most so many turns, then gives the diagnoses that the history supports; a workup is passed by."""

    def __init__(self, questions: int | None = None) -> None:
        self._questions = questions

    async def act(self, view: PolicyView) -> Reply:
        """Ask the next question, or close."""
        if view.phase not in AFTER_TALKING and self._questions != 0 and (text := next_question(view, self._questions)):
            return Reply(text=text)
        return ended(view, closing(view))


class WorkupDoctor:
    """Plans every turn from the turns alone; in a visit without a workup it is an interviewer."""

    async def act(self, view: PolicyView) -> Reply:
        """Do what the phase asks for."""
        offered = {item.name for item in view.menu}
        if view.phase not in AFTER_TALKING and (text := next_question(view)):
            return Reply(text=text)
        if "begin_workup" in offered:
            return _call("begin_workup")
        if view.phase == "workup":
            return _work_up(view)
        if view.phase == "integrity":
            return _verdict(view.turns)
        chosen = named(chart_of(view), _MOST_DIAGNOSES)
        if not chosen and "defer_to_human" in offered:
            return _call("defer_to_human", reason="History, findings and reports support no diagnosis.")
        return ended(view, closing(view))


def closing(view: PolicyView) -> Reply:
    """Give the diagnoses that the visit supports; the best guess where nothing is supported well."""
    chart = chart_of(view)
    chosen = named(chart, _MOST_DIAGNOSES) or ranked(chart)[:1]
    diagnoses = [one.disease.name for one in chosen] or ["Diagnosis undetermined"]
    tests = list(dict.fromkeys(test.partition(":")[2] for one in chosen for test in one.disease.tests))
    return Reply(
        text=f"Diagnosis: {'; '.join(diagnoses)}.", calls=(Call("diagnose", {"diagnoses": diagnoses, "tests": tests}),)
    )


def _call(name: str, **arguments: Any) -> Reply:
    return Reply(calls=(Call(name, arguments),))


# ── workup ───────────────────────────────────────────────────────────────────────────────────────


def _work_up(view: PolicyView) -> Reply:
    done = _done(view.turns)
    pending = _pending(view.turns, done["consult_specialist"])
    left = view.budgets["workup"].left
    if pending and left <= len({_department(label) for label in pending}) + 1:
        return _consult(pending)
    if not done["order_tests"]:
        regions = [name for name in _regions(view.turns) if name not in done["physical_examination"]]
        if regions and len(done["physical_examination"]) < 2 * _A_TURN:
            return _call("physical_examination", examinations=regions[:_A_TURN])
    orders = [label for label in _tests(view) if label not in done["order_tests"]]
    if orders and left > 6 and len(done["order_tests"]) < _MOST_TESTS:
        return _call("order_tests", tests=orders[:_A_TURN])
    if pending:
        return _consult(pending)
    return _call("gate_verdict")


def _done(turns: Sequence[Turn]) -> Mapping[str, list[str]]:
    """List what was already examined, ordered and reported."""
    done: dict[str, list[str]] = {"physical_examination": [], "order_tests": [], "consult_specialist": []}
    keys = {"physical_examination": "examinations", "order_tests": "tests", "consult_specialist": "tests"}
    for turn in turns:
        if turn.action is not None and turn.action.name in done:
            done[turn.action.name] += turn.action.arguments.get(keys[turn.action.name]) or []
    return done


def _pending(turns: Sequence[Turn], reported: Iterable[str]) -> list[str]:
    """List the tests that were accepted and not yet sent to a department."""
    accepted = [found["label"] for turn in turns if turn.role == "reporter" for found in _ACCEPTED.finditer(turn.text)]
    return [label for label in dict.fromkeys(accepted) if label not in set(reported)]


def _department(label: str) -> str:
    return _ROUTES.get(label) or _BY_CATEGORY.get(label.partition(":")[0], "laboratory medicine")


def _consult(pending: Sequence[str]) -> Reply:
    department = _department(pending[0])
    tests = [label for label in pending if _department(label) == department]
    return _call("consult_specialist", department=department, tests=tests[:_A_TURN])


def _complaints(turns: Sequence[Turn]) -> tuple[str, str]:
    """Return the opening and all else that the patient said, small letters."""
    said = [turn.text.lower() for turn in turns if turn.role == "patient"]
    return said[0] if said else "", " ".join(said[1:])


def _regions(turns: Sequence[Turn]) -> list[str]:
    """Choose the regions to examine from what the patient says, those of the opening first."""
    found = list(_FIRST_EXAMINED)
    for text in _complaints(turns):
        found += [name for pattern, names in _EXAMINED if re.search(pattern, text) for name in names]
    return list(dict.fromkeys(found))


def _tests(view: PolicyView) -> list[str]:
    """Choose tests: the basic ones, those of the leading diseases, and what the complaints call for."""
    leading = [test for one in ranked(chart_of(view))[:_LEADING] for test in one.disease.tests]
    opening, rest = _complaints(view.turns)
    called = [
        [label for pattern, labels in _ORDERED if re.search(pattern, text) for label in labels]
        for text in (opening, rest)
    ]
    return list(dict.fromkeys((*_FIRST_ORDERED, *called[0][:4], *leading, *called[0], *called[1])))


# ── integrity check ──────────────────────────────────────────────────────────────────────────────


def _verdict(turns: Sequence[Turn]) -> Reply:
    """Compare the newest listing of pictures with the sources that the reports named."""
    reporter = [turn.text for turn in turns if turn.role == "reporter"]
    sources = {found["title"]: found["source"].split(", ") for text in reporter for found in _REPORT.finditer(text)}
    for one in _PICTURE.finditer(next((text for text in reversed(reporter) if _PICTURE.search(text)), "")):
        source = sources.get(one["title"].strip(), [])
        if source and one["modality"].strip() not in source:
            return _call("gate_verdict", verdict="modality_mismatch", images=[one["number"]])
        if source and one["anatomy"].strip() not in source:
            return _call("gate_verdict", verdict="anatomy_mismatch", images=[one["number"]])
    return _call("gate_verdict", verdict="consistent")
