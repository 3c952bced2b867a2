"""The patient's part of an AgentClinic case: prose by section into numbered atomic facts, and the opening."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from meddc_bench.contracts import Fault
from meddc_bench.osce import SECTIONS
from meddc_bench.text.english import mentioned, stems
from meddc_bench.text.mentions import mentions
from meddc_importers.agentclinic_names import plain
from meddc_importers.english_facts import Said, atomic, is_examined, says_nothing
from meddc_importers.lines import Line

CHILD = re.compile(
    r"\b(?:newborn|neonate|infant|baby|toddler|(?:\d+|one|two|three)[- ](?:day|week|month)s?[- ]old)\b", re.IGNORECASE
)
YEARS = re.compile(r"\b(\d{1,3})[- ]years?[- ]old\b", re.IGNORECASE)
_UNGRADED = frozenset(
    {"social_history", "past_medical_history", "family_history", "medication_history", "demographics"}
)
_ADULT = 12
"""From this age on the patient speaks for itself."""

_FAMILY = re.compile(
    r"\bfamily history\b|\b(?:mother|father|brother|sister|uncle|aunt|sibling|grand\w+|cousin|parents?)\b[^.]{0,40}"
    r"\b(?:had|has|have|with|died|underwent|diagnosed)\b|\bin the family\b",
    re.IGNORECASE,
)
_SURGERY = re.compile(r"\b(?:surger(?:y|ies)|surgical|underwent|operation|\w+(?:ectomy|plasty|otomy))\b", re.IGNORECASE)
_MEDICINE = re.compile(
    r"\b(?:takes|taking|took|medications?|prescribed|regimen|treated with|managed with|started on|insulin|pills?|ibuprofen|"
    r"acetaminophen|antibiotics?|drops|inhaler|discontinued|supplements?)\b",
    re.IGNORECASE,
)
_HABITS = re.compile(
    r"\b(?:smok\w+|non-?smoker|pack-years?|alcohol\w*|drinks?|drinking|beers?|wine|works? (?:as|in|at)|"
    r"lives? (?:with|alone|in)|travel\w*|"
    r"immigrat\w+|sexually active|student|occupation|retired|married|cocaine|drug use|illicit|hik\w+|camping)\b",
    re.IGNORECASE,
)
_PAST = re.compile(r"\b(?:(?:past |previous )?medical history|diagnosed with|history of(?! (?:experienc|worsen|"
    r"increas|pain))|previously healthy)\b",
                   re.IGNORECASE)  # fmt: skip
_PRESENT = re.compile(
    r"\b\d+[- ](?:hour|day|week|month|year)s?[- ]history\b|\bhistory of similar\b|\bthis episode\b", re.IGNORECASE
)
_ENCOUNTER = re.compile(
    r"\b(?:brought (?:in|to|by)|emergency (?:department|room)|referred|follow-up|well-child|check-?up|"
    r"presents? (?:to|for)|clinic)\b",
    re.IGNORECASE,
)
_FIELDS = {
    "Demographics": "demographics",
    "History": "history_of_present_illness",
    "Past_Medical_History": "past_medical_history",
    "Social_History": "social_history",
    "Review_of_Systems": "review_of_systems",
    "Family_History": "family_history",
    "Surgical_History": "surgical_history",
    "Current_Medications": "medication_history",
    "Medications": "medication_history",
    "Drug_History": "medication_history",
    "Medication_History": "medication_history",
    "Allergies": "medication_history",
}
"""Sections by the source's keys; `Symptoms` is apart."""

_TOPICS = (
    ("allergy", re.compile(r"\ballerg", re.IGNORECASE)),
    ("obstetric", re.compile(r"\b(?:menarche|menses|menstrua\w*|pregnan\w*|postpartum|gravida|gestational diabetes|"
        r"vaginal deliver)", re.IGNORECASE)),
    ("development", re.compile(r"\b(?:born|birth|delivered|gestation|vaccin\w+|immuni[sz]\w+|milestones?|"
        r"prenatal)\b", re.IGNORECASE)),
)  # fmt: skip
_AMOUNTS = {
    "duration": re.compile(
        r"\b(?:for|over|during|lasting|persisting for)\s+(?:the )?(?:past |last |about |approximately |over |more than )*"
        r"(?:\d+(?:[–-]\d+)?|an?|one|two|three|four|five|six|several|few)\s+(?:second|minute|hour|day|week|month|year)s?\b"
        r"|\b\d+-(?:hour|day|week|month|year)(?= history)",
        re.IGNORECASE,
    ),
    "onset": re.compile(
        r"\b(?:\d+|an?|one|two|three|several|few)\s+(?:minute|hour|day|week|month|year)s? ago\b|\byesterday\b|\bthis morning\b"
        r"|\bsudden(?:ly)?\b|\bgradual(?:ly)?\b|\bsince birth\b|\blast night\b",
        re.IGNORECASE,
    ),
    "frequency": re.compile(r"\b(?:daily|nightly|twice (?:a|per) \w+|\d+(?:[–-]\d+)? times (?:a|per|during the) \w+|"
    r"recurrent|episodic)\b", re.IGNORECASE),
    "severity": re.compile(r"\b(?:severe|mild|moderate|intense|excruciating|\d+/10)\b", re.IGNORECASE),
}  # fmt: skip


class Actor:
    """The facts of one case by section, while they are put together."""

    def __init__(self) -> None:
        self._facts: dict[str, list[Said]] = {section: [] for section in SECTIONS}
        self._complaint = ""
        self.examined: list[str] = []
        """Sentences that report an examination: no patient knowledge, but findings."""

    @property
    def opening(self) -> str:
        """What is said first: the chief complaint; for a child, by who brings it."""
        complaint = (
            self._complaint[:1].lower() + self._complaint[1:] if self._complaint[1:2].islower() else self._complaint
        )
        return f"What brings {'us' if self._spoken_for() else 'me'} here today: {complaint}."

    def complain(self, text: str) -> None:
        """Set the chief complaint, which the opening states."""
        self._complaint = re.sub(r"\s+", " ", text).strip(" .")
        self._facts["chief_complaint"] = [Said(one.text, one.denied) for one in atomic(text)] or [Said(self._complaint)]

    def take(self, section: str, text: str) -> None:
        """Sort the statements of a text into sections, the field's own where nothing points elsewhere."""
        for one in atomic(text):
            if is_examined(one.text) and section != "demographics":
                self.examined.append(one.text)
            else:
                self._add(_section(section, one), one)

    def _add(self, section: str, one: Said) -> None:
        if not any(_holds(other, one) for facts in self._facts.values() for other in facts):
            self._facts[section].append(one)

    def withhold(self, names: Sequence[str], line: Line, faults: list[Fault]) -> None:
        """Leave out what states the diagnosis; a chief complaint that does is no case.

        Raises:
            Rejected: the chief complaint states the diagnosis.
        """
        for section, facts in self._facts.items():
            for one in [one for one in facts if any(mentions(one.text, name) for name in names)]:
                if section == "chief_complaint":
                    line.reject("the chief complaint states the diagnosis; the case is left out")
                faults.append(line.fault(f"a fact of {section} states the diagnosis; the fact is left out"))
                facts.remove(one)
        self.examined = [one for one in self.examined if not any(mentions(one, name) for name in names)]

    def sections(self, line: Line) -> dict[str, tuple[dict[str, Any], ...]]:
        """Number the facts through all sections.

        Raises:
            Rejected: there is no chief complaint, or nothing about the present illness.
        """
        if not self._complaint:
            line.reject("has no primary symptom, so no chief complaint to open with; the case is left out")
        if not self._facts["history_of_present_illness"]:  # everything was told in the opening, or denied
            self._facts["history_of_present_illness"] = [Said(self._facts["chief_complaint"][0].text)]
        if not self._facts["demographics"]:
            self._facts["demographics"] = [Said("Age and sex are not recorded")]
        numbered: dict[str, tuple[dict[str, Any], ...]] = {}
        number = 0
        for section, facts in self._facts.items():
            made = []
            for one in facts:
                number += 1
                made.append(_fact(f"f{number}", section, one))
            numbered[section] = tuple(made)
        return numbered

    def _spoken_for(self) -> bool:
        about = " ".join(one.text for one in self._facts["demographics"])
        years = YEARS.search(about)
        return CHILD.search(about) is not None or (years is not None and int(years[1]) < _ADULT)


def osce_actor(data: dict[str, Any], line: Line, where: str, faults: list[Fault]) -> Actor:
    """Read the Patient_Actor of a MedQA row."""
    actor = Actor()
    symptoms = data.get("Symptoms")
    primary = symptoms.get("Primary_Symptom") if isinstance(symptoms, dict) else symptoms
    complaint = "; ".join(_texts(primary))
    for key in ("Demographics", "History"):
        if not "".join(_texts(data.get(key))).strip():
            faults.append(line.fault("this key is missing or empty; the case goes without it", f"{where}.{key}"))
    if not complaint:
        faults.append(line.fault("this key is missing or empty", f"{where}.Symptoms.Primary_Symptom"))
        complaint = next(
            (one.text for text in _texts(data.get("History")) for one in atomic(text) if not one.denied), ""
        )
    actor.take("demographics", ". ".join(_texts(data.get("Demographics"))))
    if complaint:
        actor.complain(complaint)
    for key, value in data.items():
        section = _FIELDS.get(key)
        if key in ("Demographics", "Symptoms"):
            continue
        if section is None:
            faults.append(line.fault("unknown key, taken as part of the history", f"{where}.{key}"))
        for text in _texts(value):
            actor.take(section or "history_of_present_illness", text)
    if isinstance(symptoms, dict):
        for key, value in symptoms.items():
            if key != "Primary_Symptom":
                for text in _texts(value):
                    actor.take("history_of_present_illness", text)
    return actor


def _texts(value: Any) -> list[str]:
    """Return the texts of a field, a nested one's too, in order; the names of nested fields are left out."""
    if isinstance(value, str):
        return [value] if value.strip() and not says_nothing(value) else []
    if isinstance(value, dict):
        return [text for one in value.values() for text in _texts(one)]
    if isinstance(value, list):
        return [text for one in value for text in _texts(one)]
    return [plain(str(value))] if isinstance(value, (int, float)) and not isinstance(value, bool) else []


def _section(section: str, one: Said) -> str:
    text = one.text
    if section in ("demographics", "family_history", "surgical_history", "medication_history"):
        return section
    if _FAMILY.search(re.sub(r"\([^)]*\)", "", text)):
        return "family_history"
    if _SURGERY.search(text) and section in ("past_medical_history", "history_of_present_illness") and not one.denied:
        return "surgical_history"
    if _MEDICINE.search(text) and section != "review_of_systems" and not _PRESENT.search(text):
        return "medication_history"
    if section == "history_of_present_illness" and _HABITS.search(text) and not _PRESENT.search(text):
        return "social_history"
    if one.denied:
        return section if section in ("past_medical_history", "social_history") else "denied_symptoms"
    if section == "history_of_present_illness":
        if _PAST.search(text) and not _PRESENT.search(text):
            return "past_medical_history"
        if _ENCOUNTER.search(text):
            return "encounter_context"
    return section


def _holds(known: Said, one: Said) -> bool:
    """Say whether a known fact already tells another, so that it need not be there twice."""
    return (
        known.denied == one.denied
        and stems(one.text) <= stems(known.text)
        and mentioned(one.text)[1] <= mentioned(known.text)[1]
    )


def _fact(name: str, section: str, one: Said) -> dict[str, Any]:
    fact: dict[str, Any] = {"id": name, "text": one.text, "denied": one.denied, "opening": section == "chief_complaint"}
    for topic, pattern in _TOPICS:
        if pattern.search(one.text) and section not in ("demographics", "chief_complaint"):
            fact["topic"] = topic
            break
    if not one.denied:
        for key, pattern in _AMOUNTS.items():
            if (match := pattern.search(one.text)) is not None and (key != "severity" or section not in _UNGRADED):
                fact[key] = match.group()
    return fact
