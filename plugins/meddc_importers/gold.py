"""The linter of reference diagnoses: what may stand as the answer of a case, and why a row has none.

    prose   "Based on your symptoms, you likely have gastritis."    -> hedged
    a name  "Cataract surgery"                                      -> a procedure

A row whose diagnosis hedges, offers alternatives, is only a symptom or a procedure has no reference that can be scored.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from meddc_bench.records import Diagnosis
from meddc_importers.diagnoses import distinct, numbered, reference_diagnoses
from meddc_importers.gold_rules import EN, ZH, Rules, asked

NOT_ASKED = "no diagnosis is asked for"
NONE = "no diagnosis is given"
HEDGED = "the diagnosis is hedged"
ALTERNATIVES = "the diagnosis offers alternatives"
SYMPTOM = "the diagnosis is only a symptom"
PROCEDURE = "the answer is a procedure"
UNNAMED = "no disease is named"
REASONS = (NOT_ASKED, NONE, HEDGED, ALTERNATIVES, SYMPTOM, PROCEDURE, UNNAMED)
_LONGEST = 100
_BRACKETS = re.compile(r"^(.+?)\s*[（(]([^（）()]+)[）)]$")
_ARTICLE = re.compile(r"^(?:an?|the|your|his|her)\s+", re.IGNORECASE)
_TAIL = re.compile(
    r"[,;:(.]|\s(?:which|that|who|likely|possibly|probably|perhaps|due to|caused by|causing|related to|"
    r"rather than|as well as a"
    r"|along with|with (?:a |accompanying)|and (?:this|you|it)|based on|from|since|because|triggered|during|"
    r"in (?:the|your)|contributing)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Gold:
    """What a row's diagnosis is good for: the references, or the reason why there is none."""

    diagnoses: tuple[Diagnosis, ...] = ()
    reason: str = ""


def asks_diagnosis(question: str, language: str) -> bool:
    """Say whether a question asks which disease it is, and not for a test, a treatment, a mechanism or a difference.

    >>> asks_diagnosis("Which of the following is the most likely diagnosis?", "en")
    True
    >>> asks_diagnosis("Which study would confirm the diagnosis?", "en"), asks_diagnosis("简述鉴别诊断。", "zh")
    (False, False)
    """
    return asked(question, language)


def of_sentence(text: str, language: str) -> Gold:
    """Read the diagnosis of a doctor's sentence; a name that stands alone is taken as it is.

    >>> of_sentence("Based on your symptoms, you have gastritis, likely caused by stress.", "en").diagnoses[0].name
    'gastritis'
    >>> of_sentence("You likely have a cold or stomach flu.", "en").reason
    'the diagnosis offers alternatives'
    """
    if not text.strip():
        return Gold(reason=NONE)
    if language == "zh":
        return of_names(_zh_units(text), "zh")
    return _of_english(text)


def of_names(names: Sequence[str], language: str) -> Gold:
    """Judge diagnoses that are given as names; a symptom beside a disease is dropped.

    >>> of_names(["Constipation"], "en").reason, of_names(["发热待查"], "zh").reason
    ('the diagnosis is only a symptom', 'the diagnosis is hedged')
    """
    given = [one.strip(" \t\n.。；;，,") for one in names]
    given = [one for one in given if one]
    if not given:
        return Gold(reason=NONE)
    rules = ZH if language == "zh" else EN
    for one in given:
        if fault := _fault(one, rules):
            return Gold(reason=fault)
    kept = [one for one in given if not rules.symptom.fullmatch(one)]
    if not kept:
        return Gold(reason=SYMPTOM)
    found = reference_diagnoses(kept) if language == "zh" else tuple(_named(one) for one in distinct(kept))
    return Gold(found) if found else Gold(reason=UNNAMED)


def _fault(name: str, rules: Rules) -> str:
    if rules.alternatives.search(name):
        return ALTERNATIVES
    if rules.hedge.search(name):
        return HEDGED
    if rules.procedure.search(name):
        return PROCEDURE
    if len(name) > _LONGEST or rules.unnamed.search(name):
        return UNNAMED
    return ""


def _zh_units(text: str) -> list[str]:
    body = ZH.lead.sub("", text.strip())
    parts = numbered(body) or tuple(re.split(r"[；;\n]", body))
    return [one for part in parts if (one := re.sub(r"^\s*(?:[（(]?\d{1,2}[）).、]|[①-⑳])\s*", "", part).strip())]


def _of_english(text: str) -> Gold:
    """Find what is asserted, and whether anything before or after it takes the assertion back."""
    flat = " ".join(text.split())
    if len(flat.split()) <= 6 and not EN.lead.search(flat):
        return of_names(_apart(flat), "en")
    match = EN.lead.search(flat)
    if match is None:
        return Gold(reason=HEDGED if EN.hedge.search(flat) else UNNAMED)
    start = flat.rfind(". ", 0, match.start()) + 1
    rest = flat[match.end() :]
    end = _TAIL.search(rest)
    name = rest[: end.start()] if end else rest
    if re.search(r"\bor\b|/", name):
        return Gold(reason=ALTERNATIVES)
    if EN.hedge.search(flat[start : match.end()] + " " + name) or EN.unsure.search(rest):
        return Gold(reason=HEDGED)
    return of_names(_apart(name), "en")


def _apart(name: str) -> list[str]:
    parts = re.split(r"\s+(?:and|as well as)\s+|,\s*", name.strip(" ."))
    return [_ARTICLE.sub("", part.strip()) for part in parts if part.strip()]


def _named(name: str) -> Diagnosis:
    name = EN.names.get(name.casefold(), name)
    match = _BRACKETS.fullmatch(name)
    return Diagnosis(name=match[1], synonyms=(match[2].strip(),)) if match else Diagnosis(name=name)
