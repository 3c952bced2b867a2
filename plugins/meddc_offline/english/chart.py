"""What an English history tells, sentence by sentence: terms affirmed and denied, age and sex, a few measured values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from meddc_bench.records import Turn
from meddc_bench.text.english import english_sentences
from meddc_offline.english.terms import names, told

_NORMAL = re.compile(
    r"\b(?:normal|negative|unremarkable|intact|within normal|no abnormalit\w+|not detected|nonreactive|absent|clear|"
    r"full range)\b",
    re.IGNORECASE,
)
_CONTRAST = re.compile(r"\b(?:but|although|except|however|with|abnormal|elevated|decreased|increased)\b", re.IGNORECASE)
_AGE = re.compile(r"\b(\d{1,3})[- ](year|month|week|day)s?[- ]old\b|\b(newborn|neonate)\b", re.IGNORECASE)
_SEX = re.compile(r"\b(?:(female|woman|girl|lady|mother of)|(male|man|boy|gentleman))\b", re.IGNORECASE)
_IN_YEARS = {"year": 1.0, "month": 1 / 12, "week": 1 / 52, "day": 1 / 365}
_PLACE = re.compile(r"^\[[^\]]*\]\s*(?:\([^)]*\)\s*)?")

_MEASURED: tuple[tuple[re.Pattern[str], float, float, str], ...] = (
    (re.compile(r"temperature\D{0,12}(\d{2}(?:\.\d)?) ?°? ?c", re.I), 38.0, 43.0, "fever"),
    (re.compile(r"temperature\D{0,12}(1\d\d(?:\.\d)?) ?°? ?f", re.I), 100.4, 110.0, "fever"),
    (re.compile(r"(?:heart rate|pulse)\D{0,6}(\d{2,3})", re.I), 101, 300, "tachycardia"),
    (re.compile(r"blood pressure\D{0,6}(\d{2,3})/", re.I), 140, 300, "hypertension"),
    (re.compile(r"blood pressure\D{0,6}(\d{2,3})/", re.I), 40, 90, "hypotension"),
    (re.compile(r"oxygen saturation\D{0,6}(\d{2,3}) ?%", re.I), 40, 92, "low oxygen"),
    (re.compile(r"(?:wbc|leu[kc]ocyte(?: count)?)\D{0,10}(\d{1,3},\d{3})", re.I), 11_001, 900_000, "leukocytosis"),
    (re.compile(r"platelets?(?: count)?\D{0,10}(\d{1,3},\d{3})", re.I), 1_000, 149_999, "low platelets"),
    (re.compile(r"h(?:a?e)moglobin\D{0,6}(\d{1,2}(?:\.\d)?) ?g/dl", re.I), 2, 11.4, "anemia"),
    (re.compile(r"glucose\D{0,8}(\d{3,4}) ?mg/dl", re.I), 200, 2000, "glucose elevated"),
    (re.compile(r"bilirubin(?: total)?\D{0,8}(\d{1,2}(?:\.\d)?) ?mg/dl", re.I), 2, 60, "elevated bilirubin"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Chart:
    """The sentences of a history as sets of terms, and who the patient is."""

    present: tuple[frozenset[str], ...]
    absent: tuple[frozenset[str], ...]
    age: float | None = None
    female: bool | None = None


def read_chart(turns: Sequence[Turn]) -> Chart:
    """Read what the patient says and the reports tell; the doctor's words are no evidence."""
    present: list[frozenset[str]] = []
    absent: list[frozenset[str]] = []
    who = ""
    for turn in turns:
        if turn.role == "doctor":
            continue
        who += f" {turn.text}" if turn.role == "patient" else ""
        for piece in _pieces(turn):
            if turn.role == "reporter" and _NORMAL.search(piece) and not _CONTRAST.search(piece):
                absent.append(names(piece))
                continue
            said, denied = told(piece)
            present.append(said)
            if denied:
                absent.append(denied)
            present += _measured(piece)
    return Chart(tuple(one for one in present if one), tuple(one for one in absent if one), _age(who), _female(who))


def _pieces(turn: Turn) -> Iterator[str]:
    for line in turn.text.split("\n"):
        plain = _PLACE.sub("", line) if turn.role == "reporter" else line
        if turn.role == "reporter" and (plain == line or "do not take it as normal" in line):
            continue  # only reports and findings have a place; other lines are the reporter's own words
        for span in english_sentences(plain):
            yield span.text


def _measured(piece: str) -> Iterator[frozenset[str]]:
    for pattern, low, high, name in _MEASURED:
        match = pattern.search(piece)
        if match is not None and low <= float(match[1].replace(",", "")) <= high:
            yield names(name)


def _age(text: str) -> float | None:
    match = _AGE.search(text)
    if match is None:
        return None
    return 0.0 if match[3] else int(match[1]) * _IN_YEARS[match[2].lower()]


def _female(text: str) -> bool | None:
    match = _SEX.search(text)
    return None if match is None else match[1] is not None
