"""The hidden profile of an AgentClinic case: nested findings into records of the catalogue's items."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from meddc_bench.environments.catalogue import catalogue
from meddc_bench.osce import CATEGORIES
from meddc_bench.text.english import stems
from meddc_bench.text.mentions import mentions
from meddc_importers.agentclinic_names import (
    Place,
    anatomy,
    is_examination_group,
    is_test_group,
    laterality,
    modality,
    place_of_examination,
    place_of_test,
    plain,
)

MOST_TITLE, MOST_FINDING = 60, 300
WITHHELD = "[withheld]"
"""In the place of the diagnosis, where a finding cannot be told without it."""

_MISSING = re.compile(
    r"^\W*(?:n/?a|none provided|pending.*|optional|(?:(?:data|information|details?|results?)\s+)?(?:is |are |was |were )?not\s+"
    r"(?:provided|specified|available|applicable|performed|done|reported|indicated|given|recorded|tested)\b(?!.*imagine).*)\W*$",
    re.IGNORECASE,
)
_IMAGINED = re.compile(
    r"^.*\bimagine\s+|^the provided .*?\b(?:image|scan|film)s? (?:would show|shows?)\s+", re.IGNORECASE
)
_UNMADE = re.compile(r"\boptional\b|\bcan be considered\b|\bif performed\b|\bwould be recommended\b", re.IGNORECASE)
_CONCLUDES = re.compile(
    r"[,;:]?\s*(?:(?:and|which|that|these findings|this|the findings?|findings?|features?|changes?)\s+)*(?:(?:is|"
    r"are|was|were|with)\s+)?"
    r"(?:(?:highly|most|strongly)\s+)?(?:consistent with|compatible with|suggestive of|suggesting|suggests?|"
    r"indicative of|indicating|"
    r"indicates?|confirming|confirms?|confirmatory (?:findings )?of|diagnostic of|characteristic of|typical of|in keeping with|"
    r"(?:which (?:is|are) )?associated with|features suggestive of)\s+(?:the )?(?:diagnosis of |presence of )?[^.;]*$",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"\bafter (?:treatment|surgery|therapy|starting|initiati\w+|completing|administration|the operation|discharge|"
    r"\d+ (?:day|week|month)s? of"
    r"(?: treatment| therapy)?)|\bfollowing (?:treatment|surgery|therapy)|\bpost-?(?:operative|treatment|op|"
    r"therapy)\w*|\bat discharge\b|"
    r"\bon follow-?up\b|\bresponse to (?:treatment|therapy)\b|\bfollow-?up (?:ct|mri|x-?ray|scan|visit|study)\b",
    re.IGNORECASE,
)
_BARE = re.compile(r"^(?:findings?|results?|general|level|analysis|preliminary findings|appearance)$", re.IGNORECASE)
_ON_THE_BODY = re.compile(
    r"\bexam(?:ination)?s?\b|\bvital signs\b|\bauscultation\b|\bpalpation\b|\binspection\b", re.IGNORECASE
)
_SPLIT = re.compile(r"\s*;\s+|(?<=[a-z)\d%])\.\s+(?=[A-Z])")


@dataclass
class _Record:
    place: Place
    title: str
    findings: list[str] = field(default_factory=list)


class Profile:
    """The records of one case, while they are put together."""

    def __init__(self) -> None:
        self._records: dict[tuple[str, str, str], _Record] = {}
        self._after: list[tuple[str, str]] = []

    @property
    def placed(self) -> Counter[str]:
        """Count the records by item; those that no rule knew as `other`."""
        return Counter(
            "other" if one.place.other else f"{one.place.category}:{one.place.item}" for one in self._records.values()
        )

    def take(self, sections: dict[str, Any], *, tests: bool) -> None:
        """Take the findings of the examinations or the results of the tests; groups are taken member by member."""
        for key, value in sections.items():
            name = plain(key)
            grouped = is_test_group(name) if tests else is_examination_group(name)
            if grouped and isinstance(value, dict):
                for member, inner in value.items():
                    short = plain(member)
                    place = place_of_test(short, name) if tests else place_of_examination(short, name)
                    whole = _BARE.match(short) or (place.category == "laboratory" and not isinstance(inner, dict))
                    self._fill(place, name if whole else short, inner, name=short)
            else:
                self._fill(place_of_test(name) if tests else place_of_examination(name), name, value)

    def take_text(self, text: str) -> None:
        """Take results that are one text, with bullets or numbers: a record each, by what stands before its colon."""
        for part in re.split(r"\n+|(?:^|\s)-\s+(?=\S)|\s\d{1,2}\.\s+(?=[A-Z])", text.strip()):
            head, colon, body = part.partition(":")
            if not colon or len(head) > 80:
                head, body = part.partition(" show")[0] if " show" in part[:60] else "", part
            if not stems(body):
                continue
            name = plain(head) or "Findings"
            if _ON_THE_BODY.search(name):
                self._fill(place_of_examination(name, body), name, body)
            else:
                self._fill(place_of_test(name, body) if head else place_of_test(body), name, body)

    def add(self, category: str, item: str, title: str, text: str) -> None:
        """Add one finding to a record."""
        self._fill(Place(category, item), title, text)

    def _fill(self, place: Place, title: str, value: Any, name: str = "") -> None:
        title = _short(f"{title[:1].upper()}{title[1:]}", MOST_TITLE)
        label = "" if not name or name.lower() == title.lower() or _BARE.match(name) else name
        for text in _leaves(value, label):
            for one in _pieces(text):
                if _AFTER.search(one):
                    self._after.append((one, title))
                    continue
                record = self._records.setdefault((place.category, place.item, title), _Record(place, title))
                if one not in record.findings:
                    record.findings.append(one)

    def withhold(self, names: Sequence[str]) -> None:
        """Take the diagnosis out of what is reported: its conclusion is cut off, or its name is blotted out."""
        for record in self._records.values():
            record.findings = [clear for one in record.findings if (clear := _withheld(one, names))]
            record.title = _blotted(record.title, names)
        self._after = [(one, title) for one, title in self._after if not any(mentions(one, name) for name in names)]
        self._records = {key: one for key, one in self._records.items() if one.findings}

    def records(self) -> dict[str, Any]:
        """Return profile, quarantined findings and departments as a Workup takes them, numbered through."""
        ordered = sorted(self._records.values(), key=lambda one: CATEGORIES.index(one.place.category))
        number, profile = 0, []
        for index, one in enumerate(ordered, 1):
            findings = []
            for text in one.findings:
                number += 1
                findings.append({"id": f"e{number}", "text": text})
            profile.append(
                {
                    "id": f"p{index}", "category": one.place.category, "item": one.place.item, "title": one.title,
                    "modality": modality(one.place, one.title), "anatomy": anatomy(one.place, one.title),
                    "laterality": laterality(one.title), "findings": tuple(findings),
                }
            )  # fmt: skip
        after = [
            {"id": f"e{number + place}", "text": text, "source": title}
            for place, (text, title) in enumerate(self._after, 1)
        ]
        known = catalogue()
        reporting = {known.by_id[f"{one.place.category}:{one.place.item}"].department for one in ordered}
        departments = tuple(one.name for one in known.departments if one.name in reporting)
        return {"profile": tuple(profile), "quarantined": tuple(after), "departments": departments}


def _leaves(value: Any, label: str = "") -> Iterator[str]:
    """Write the values of a nested field as lines: `Palpation, Both knee caps: tenderness`."""
    if isinstance(value, dict):
        for key, inner in value.items():
            short = plain(str(key))
            yield from _leaves(inner, label if _BARE.match(short) else f"{label}, {short}" if label else short)
    elif isinstance(value, list):
        texts = [plain(str(one)) for one in value if isinstance(one, (str, int, float))]
        yield from _leaves("; ".join(texts), label)
        yield from (text for one in value if isinstance(one, (dict, list)) for text in _leaves(one, label))
    elif value is not None:
        text = _IMAGINED.sub("", str(value).strip()) if isinstance(value, str) else str(value)
        if text and _MISSING.match(text) is None and _UNMADE.search(f"{label} {text}") is None:
            yield f"{label}: {text}" if label else f"{text[:1].upper()}{text[1:]}"


def _pieces(text: str) -> Iterator[str]:
    """Cut a line at its sentences; the label stays with the first."""
    for one in _SPLIT.split(text):
        if stems(one):
            yield _short(one.strip(" ."), MOST_FINDING)


def _withheld(text: str, names: Sequence[str]) -> str:
    if not any(mentions(text, name) for name in names):
        return text
    if (match := _CONCLUDES.search(text)) is not None and any(mentions(match.group(), name) for name in names):
        rest = text[: match.start()].strip(" ,;:.")
        if stems(rest) and not any(mentions(rest, name) for name in names):
            return rest
    return _blotted(text, names)


def _blotted(text: str, names: Sequence[str]) -> str:
    """Put a mark in the place of every name, whatever the case, plural and apostrophe."""
    for name in sorted(names, key=len, reverse=True):
        words = [
            re.escape(word.removesuffix("'s").removesuffix("’s").removesuffix("s"))
            for word in re.split(r"[\s-]+", name)
            if word
        ]
        pattern = r"[\s-]+".join(f"{word}(?:['’]?s)?" for word in words)
        text = re.sub(rf"\b{pattern}\b", WITHHELD, text, flags=re.IGNORECASE)
    return re.sub(rf"\(\s*{re.escape(WITHHELD)}\s*\)", "", text).strip()


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rsplit(" ", 1)[0] + "…"
