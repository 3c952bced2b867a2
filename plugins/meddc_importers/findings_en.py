"""Tells what an English sentence says of a patient from what was found on examination or in a laboratory."""

from __future__ import annotations

import re

_FOUND = re.compile(
    r"\bon (?:\w+ )?(?:exam|examination|inspection|auscultation|palpation)\b|\b(?:physical|skin|neurologic|pelvic|"
    r"abdominal|cardiac|clinical|mental status|"
    r"dermoscopic|dermatologic|laboratory|slit[- ]lamp)\w* (?:exam|examination|finding|test)|"
    r"examination (?:reveal|show|demonstrat|is|was|of)|exam (?:reveal|show|is|was)|"
    r"to palpation|on palpation|palpa(?:ble|ted)|auscult|percuss|vital signs|\btemperature (?:is|of|was)|\b(?:his|"
    r"her) (?:temperature|blood pressure|pulse|respirations?|oxygen|heart rate|bmi)|"
    r"blood pressure (?:is|of|was)|\bpulse (?:is|of|was|oximetry)|respirat(?:ory rate|ions are)|oxygen saturation|"
    r"\bBMI\b|mm ?hg|\bmg/d|/mm\b|mm\^?3|\bmeq|\bu/l\b|\bng/m|\bpg/m|°[CF]|"
    r"h(?:a)?emoglobin|h(?:a)?ematocrit|leukocyte|white blood cell|platelet|creatinine|\bserum\b|laborator|"
    r"\blabs?\b|\bcultures?\b|biops|histolog|histopath|patholog|microscop|"
    r"\bKOH\b|potassium hydroxide|dermoscop|wood'?s? (?:lamp|light)|x-?ray|radiograph|\bCT\b|\bMRI\b|ultraso|"
    r"\bECG\b|\bEKG\b|electrocardio|echocardio|\bstain(?:ing|s)?\b|\bsmear|antibod(?:y|ies)|"
    r"\btiters?\b|immunofluor|immunofix|\bPCR\b|\bmurmur|\breflexes\b|\bpupils?\b|tympanic|\bsclera|"
    r"lymphadenopathy|lymph nodes?\b|adenopathy|hepatospleno|nikolsky|darier sign|auspitz|diascopy|\bpatch test|"
    r"percentile|\bappears? (?:emaciated|ill|thin|pale|uncomfortable|well|anxious)|well-appearing|ill-appearing|"
    r"no acute distress|afebrile|cranial nerve|babinski|deep tendon|range of motion|"
    r"\b(?:is|are|was|were) (?:also )?(?:identified|found|observed|noted|seen|visuali[sz]ed|appreciated|"
    r"palpated)\b|\b(?:physician|doctor|dermatologist|clinician) (?:finds?|notes?|observes?|orders?|suspects?)|"
    r"is consulted|was consulted|differential diagnosis|\bblood test",
    re.IGNORECASE,
)
_SURELY = re.compile(
    r"\bon (?:\w+ )?examination\b|examination (?:results?|reveals?|shows?)|evaluation reveals?|\bis (?:a)?febrile\b|leukopenia|"
    r"leukocytosis|neutropenia|koebneri|nikolsky",
    re.IGNORECASE,
)
_SAID = re.compile(
    r"\b(?:states?|stated|reports?|reported|says?|said|denie[sd]|denying|complains?|recalls?|noticed|admits?|"
    r"describes?|endorses?|believes?|history|feels?|"
    r"since (?:his|her|birth|childhood)|ago|had (?:a|an) .{0,40}(?:year|month|week)s? ago|told)\b",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\bdenie[sd]\b|\bdenying\b|\b(?:has|had|have|having|with|takes?|took|reports?|is on|are) (?:had )?(?:no|"
    r"neither|not had|never)\b|^no(?:\.|,|\s)|\bno (?:known |other |personal |family |significant |relevant |"
    r"associated "
    r"|systemic |past |prior |recent |new )*(?:history|allerg|medical|symptom|medication|fever|pain|chills|nausea|"
    r"vomiting|rash|itch)|"
    r"\b(?:does|do|did|has|have|is|was|were) ?n[o']t (?:currently )?(?:take|taking|use|using|smoke|drink|have|had|"
    r"been|on any|report|experience|vomit|feel|travel|pruritic|painful|itch)|"
    r"\bhaven['’]t\b|\bdidn['’]t\b|\bdon['’]t (?:have|take)|\bnever\b|without (?:any|fever|pain|associated)|"
    r"unremarkable|\bnone\b|\bare not (?:pruritic|painful|itchy)|no one in",
    re.IGNORECASE,
)
_IDENTITY = re.compile(
    r"^(?:an?|the (?:patient|boy|girl|infant|child|man|woman|baby) is|(?:he|she) is|patient is|i am|"
    r"i'm)\b[^,;]*?\b(?:\d+[- ](?:year|month|week|day)s?[- ]old|newborn|years? of age)\b"
    r"(?: (?:[\w-]+ )?(?:african[- ]american|caucasian|white|black|hispanic|asian|latino|[\w-]+))?(?: (?:man|"
    r"woman|male|female|boy|girl|infant|child|adolescent|patient|adult))*"
    r"(?: (?:presents?|presented|comes|came|is brought|was brought|visits?|was referred|was seen|"
    r"is seen)[^,;]{0,60}?(?:clinic|office|department|physician|hospital|dermatology|complaints|parents|mother|"
    r"father|concern|examination)?)?\.?$"
    r"|^the (?:patient|woman|man) is (?:a |an )?(?:man|woman|male|female|boy|girl|hispanic|caucasian|white|"
    r"african[- ]american|asian)\.?$",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    r"^(?:the |an? )?[\w' -]{2,40}? (?:presents?|presented|comes|came|returns?|is brought|was brought|visits?|"
    r"was referred|is referred|is seen|was seen)(?: (?:to|at|in|for|by|with)[^,;]*?"
    r"(?:clinic|office|department|care|examination|hospital|dermatology|physician|parents|mother|concern|"
    r"evaluation))?(?: for (?:an |a )?(?:evaluation|examination|concern))?\.?$",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"^\s*\(?\d{1,3}[.):]\s*")


def is_finding(text: str, sentence: str = "") -> bool:
    """Say whether a fact is of examination or laboratory: by its own words, or by the sentence it was taken from.

    >>> is_finding("The KOH test result is negative."), is_finding("She reports that a biopsy was done two years ago.")
    (True, False)
    """
    if _SURELY.search(text):
        return True
    if _SAID.search(text):
        return False
    return _FOUND.search(text) is not None or (_FOUND.search(sentence) is not None and _SAID.search(sentence) is None)


def is_denied(text: str) -> bool:
    """Say whether a fact is a grounded no.

    >>> is_denied("The man denied having a fever."), is_denied("The cream did not help.")
    (True, False)
    """
    return _DENIED.search(text) is not None


def is_identity(text: str) -> bool:
    """Say whether a fact is who the patient is, and nothing of the illness."""
    return _IDENTITY.search(text) is not None


def says_nothing(text: str) -> bool:
    """Say whether a fact only tells that the patient came."""
    return _NOTHING.search(text) is not None


def unnumbered(text: str) -> str:
    """Take the number off a fact: `3. The man ...`; one without a number stays as it is."""
    return _NUMBER.sub("", text).strip()
