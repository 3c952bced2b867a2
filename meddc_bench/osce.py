"""The `workup` part of a case, in the style of an OSCE station: what the patient can tell, and what can be found.

    actor     eleven history sections of numbered atomic facts (f1, f2, ...), some of them explicit denials
    profile   records (p1, p2, ...) in five categories, each with its findings (e1, e2, ...) and where they come from;
              findings made after treatment began are quarantined and never released

The models check the shape. `faults` checks what a shape cannot say, and `retry_message` puts all that is wrong with a
generated record into one message to its author.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

Category = Literal["physical_examination", "laboratory", "physiologic", "imaging", "pathology"]
CATEGORIES: tuple[Category, ...] = get_args(Category)
"""The categories of the hidden profile, in the order in which its records stand."""

MOST_CHARACTERS, MOST_WORDS = 80, 40
"""Longest text of an atomic fact: Chinese characters, or words of a text without any."""

_HAN = re.compile(r"[\u3400-\u9fff]")
_NEGATION = re.compile(r"没|无|不|未|否认|从来|\b(?:no|not|never|denies|denied|without)\b", re.IGNORECASE)
_AFTER = re.compile(
    r"术后|(?:治疗|用药|化疗|放疗|溶栓|手术|输血|抗感染)(?:后|\d+[天周月]后)|复查|出院时|随访|after (?:treatment|surgery)",
    re.IGNORECASE,
)

Words = Annotated[str, StringConstraints(pattern=r"\S")]


class OsceModel(BaseModel):
    """Base of the models of a workup and its environment: frozen, unknown keys refused, no value coerced."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)


class HistoryFact(OsceModel):
    """One atomic thing the patient can tell. The four attributes are quotes from its text."""

    id: str = Field(pattern=r"^f[1-9][0-9]{0,2}$")
    text: Words = Field(max_length=400)
    topic: str | None = None
    denied: bool = False
    opening: bool = False
    onset: str | None = None
    duration: str | None = None
    frequency: str | None = None
    severity: str | None = None


Section = tuple[HistoryFact, ...]


class Actor(OsceModel):
    """What the simulated patient knows, by history section; the order of the fields is the order of the numbers."""

    encounter_context: Section = ()
    demographics: Section = Field(min_length=1)
    chief_complaint: Section = Field(min_length=1)
    history_of_present_illness: Section = Field(min_length=1)
    denied_symptoms: Section = ()
    past_medical_history: Section = ()
    medication_history: Section = ()
    surgical_history: Section = ()
    family_history: Section = ()
    social_history: Section = ()
    review_of_systems: Section = ()

    @property
    def facts(self) -> tuple[HistoryFact, ...]:
        """All facts, in the order of the sections."""
        return tuple(fact for name in SECTIONS for fact in getattr(self, name))


SECTIONS: tuple[str, ...] = tuple(Actor.model_fields)
_TOPICS: Mapping[str, str] = {
    "encounter_context": "prior_care",
    "demographics": "identity",
    "chief_complaint": "onset",
    "history_of_present_illness": "course",
    "denied_symptoms": "associated",
    "past_medical_history": "past",
    "medication_history": "medication",
    "surgical_history": "past",
    "family_history": "family",
    "social_history": "personal",
    "review_of_systems": "associated",
}
"""The topic of a section's facts, where a fact names none of its own."""


class Finding(OsceModel):
    """One thing found, as its report words it."""

    id: str = Field(pattern=r"^e[1-9][0-9]{0,2}$")
    text: Words = Field(max_length=300)


class PictureFile(OsceModel):
    """The picture of a record: a file below the task's folder, and the digest of its bytes."""

    file: str = Field(pattern=r"^[^\\]+\.(?:png|jpg|jpeg|webp)$", max_length=200)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")

    @property
    def type(self) -> str:
        """The media type, by the file's name."""
        suffix = self.file.rpartition(".")[2]
        return f"image/{'jpeg' if suffix == 'jpg' else suffix}"


class Panel(OsceModel):
    """A record that one examination or test yields: its findings, bound to the source they come from.

    `item` is a name of the catalogue within the category; `title` says what was done (腹部CT平扫).
    """

    id: str = Field(pattern=r"^p[1-9][0-9]{0,2}$")
    category: Category
    item: Words = Field(max_length=60)
    title: Words = Field(max_length=60)
    modality: str | None = None
    anatomy: str | None = None
    view: str | None = None
    laterality: Literal["left", "right", "bilateral", "midline"] | None = None
    stain: str | None = None
    picture: PictureFile | None = Field(default=None, exclude_if=lambda picture: picture is None)
    findings: tuple[Finding, ...] = Field(min_length=1)

    @property
    def key(self) -> str:
        """The catalogue's id of the examination or test: category and name."""
        return f"{self.category}:{self.item}"

    @property
    def pictured(self) -> bool:
        """Whether the record comes with a picture, whose modality and anatomy can be checked."""
        return self.category in ("imaging", "pathology") and self.modality is not None and self.anatomy is not None


class Quarantined(OsceModel):
    """A finding made after treatment began: kept for the record, never released. `source` names where it was found."""

    id: str = Field(pattern=r"^e[1-9][0-9]{0,2}$")
    text: Words = Field(max_length=300)
    source: Words = Field(max_length=60)


class DiseaseCode(OsceModel):
    """A code of one of the case's diagnoses in a classification or an ontology."""

    diagnosis: Words
    system: Literal["ICD-10", "DOID", "MONDO", "ORDO"]
    code: Words = Field(max_length=32)


class Workup(OsceModel):
    """The OSCE part of a case: the patient actor, the hidden profile, and what a sound workup involves."""

    actor: Actor
    profile: tuple[Panel, ...] = ()
    quarantined: tuple[Quarantined, ...] = ()
    departments: tuple[Words, ...] = ()
    codes: tuple[DiseaseCode, ...] = ()
    provenance: str = ""
    sources: tuple[Words, ...] = Field(default=(), exclude_if=lambda sources: not sources)
    """Documents that the case was made from, by id or title: no search returns them."""

    @property
    def test_records(self) -> tuple[Panel, ...]:
        """The records that tests yield; what is found on the body is not among them."""
        return tuple(panel for panel in self.profile if panel.category != "physical_examination")


def facts_of(actor: Actor) -> tuple[dict[str, Any], ...]:
    """Write the actor's facts as the fields of a case's facts; the topic is the section's unless a fact has its own."""
    return tuple(_fact(section, one.model_dump()) for section in SECTIONS for one in getattr(actor, section))


def with_facts(data: Any) -> Any:
    """Give the data of a case file that has an actor and no facts the actor's facts; anything else is returned as it is."""
    workup = data.get("workup") if isinstance(data, Mapping) else None
    actor = workup.get("actor") if isinstance(workup, Mapping) else None
    if not isinstance(actor, Mapping) or data.get("facts"):
        return data
    facts = [
        _fact(section, one)
        for section in SECTIONS
        if isinstance(found := actor.get(section), (list, tuple))
        for one in found
        if isinstance(one, Mapping)
    ]
    return {**data, "facts": facts}


def _fact(section: str, one: Mapping[str, Any]) -> dict[str, Any]:
    fact = {key: one[key] for key in ("id", "text", "denied", "opening") if key in one}
    return {**fact, "topic": one.get("topic") or _TOPICS[section]}


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong: where in the workup, and what to do about it."""

    loc: tuple[str | int, ...]
    message: str

    def __str__(self) -> str:
        """Write the place as people do: `actor.chief_complaint[0]: ...`."""
        place = ""
        for part in self.loc:
            place += f"[{part}]" if isinstance(part, int) else (f".{part}" if place else part)
        return f"{place or 'workup'}: {self.message}"


def faults(workup: Workup, names: Sequence[str]) -> tuple[Fault, ...]:
    """Check what the models cannot: numbering, lengths, denials, order, quarantine, and that no diagnosis is stated.

    Args:
        workup: the record.
        names: the diagnoses of the case and their synonyms.
    """
    known = {name: short for name in names if len(short := _short(name)) > 1}
    return (*_actor_faults(workup.actor, known), *_profile_faults(workup, known))


def retry_message(data: Any, names: Sequence[str]) -> str | None:
    """Say all that is wrong with a generated workup in one message to its author; None when nothing is."""
    try:
        workup = data if isinstance(data, Workup) else Workup.model_validate(_tuples(data))
    except ValidationError as error:
        found = [Fault(tuple(one["loc"]), one["msg"]) for one in error.errors(include_url=False, include_context=False)]
    else:
        found = list(faults(workup, names))
    if not found:
        return None
    lines = "\n".join(f"{number}. {one}" for number, one in enumerate(found, 1))
    return f"The record has {len(found)} fault(s). Mend all of them and give the whole record again.\n{lines}"


def _tuples(data: Any) -> Any:
    if isinstance(data, Mapping):
        return {key: _tuples(value) for key, value in data.items()}
    return tuple(_tuples(one) for one in data) if isinstance(data, (list, tuple)) else data


def _actor_faults(actor: Actor, names: Mapping[str, str]) -> Iterator[Fault]:
    placed = [(section, index, one) for section in SECTIONS for index, one in enumerate(getattr(actor, section))]
    for number, (section, index, fact) in enumerate(placed, 1):
        loc: tuple[str | int, ...] = ("actor", section, index)
        if fact.id != f"f{number}":
            yield Fault(
                (*loc, "id"), f"is {fact.id}, expected f{number}: number the facts f1, f2, ... through all sections"
            )
        if _too_long(fact.text):
            yield Fault(
                (*loc, "text"), f"is longer than {MOST_CHARACTERS} characters (or {MOST_WORDS} words): split the fact"
            )
        if fact.denied and not _NEGATION.search(fact.text):
            yield Fault((*loc, "text"), "is marked as denied but denies nothing: say plainly what is not there")
        if section == "denied_symptoms" and not fact.denied:
            yield Fault((*loc, "denied"), "a denied symptom must be marked `denied: true`")
        yield from _stated((*loc, "text"), fact.text, names)
        for name in ("onset", "duration", "frequency", "severity"):
            value = getattr(fact, name)
            if value is not None and (not value.strip() or value not in fact.text):
                yield Fault((*loc, name), "must be a quote from the fact's own text")


def _short(text: str) -> str:
    """Squash a text for comparison; the text layer is loaded with the first workup, not with every case."""
    from meddc_bench.text import squash

    return squash(text)


def _too_long(text: str) -> bool:
    return len(text) > MOST_CHARACTERS if _HAN.search(text) else len(text.split()) > MOST_WORDS


def _stated(loc: tuple[str | int, ...], text: str, names: Mapping[str, str]) -> Iterator[Fault]:
    from meddc_bench.text import mentions

    for name in names:
        if mentions(text, name):
            yield Fault(loc, f"states the diagnosis {name!r}: describe what is found, name no disease of the answer")


def _profile_faults(workup: Workup, names: Mapping[str, str]) -> Iterator[Fault]:
    for index, panel in enumerate(workup.profile):
        if panel.id != f"p{index + 1}":
            yield Fault(("profile", index, "id"), f"is {panel.id}, expected p{index + 1}: number without gaps")
    order = [CATEGORIES.index(panel.category) for panel in workup.profile]
    for index, (before, after) in enumerate(itertools.pairwise(order), 1):
        if after < before:
            yield Fault(("profile", index), f"records must stand in the order {', '.join(CATEGORIES)}")
    expected = 0
    for index, panel in enumerate(workup.profile):
        yield from _panel_faults(("profile", index), panel, names)
        for place, finding in enumerate(panel.findings):
            expected += 1
            loc: tuple[str | int, ...] = ("profile", index, "findings", place)
            if finding.id != f"e{expected}":
                yield Fault(
                    (*loc, "id"), f"is {finding.id}, expected e{expected}: number the findings through all records"
                )
            if _AFTER.search(finding.text):
                yield Fault((*loc, "text"), "was found after treatment: move it to `quarantined`")
            yield from _stated((*loc, "text"), finding.text, names)
    for index, one in enumerate(workup.quarantined):
        expected += 1
        if one.id != f"e{expected}":
            yield Fault(
                ("quarantined", index, "id"), f"is {one.id}, expected e{expected}: go on after the last finding"
            )
    yield from _whole(workup, names)


def _panel_faults(loc: tuple[str | int, ...], panel: Panel, names: Mapping[str, str]) -> Iterator[Fault]:
    yield from _stated((*loc, "title"), panel.title, names)
    if panel.category == "imaging":
        for name in ("modality", "anatomy"):
            if not getattr(panel, name):
                yield Fault((*loc, name), f"an imaging record must name its {name}")
    if panel.category == "pathology" and not panel.anatomy:
        yield Fault((*loc, "anatomy"), "a pathology record must name where the specimen comes from")
    if panel.stain is not None and panel.category not in ("pathology", "laboratory"):
        yield Fault((*loc, "stain"), "only a specimen is stained")
    if panel.picture is not None and not panel.pictured:
        yield Fault((*loc, "picture"), "only an imaging or pathology record with modality and anatomy has a picture")
    if panel.category == "physical_examination" and panel.modality is not None:
        yield Fault((*loc, "modality"), "a physical examination has no modality")


def _whole(workup: Workup, names: Mapping[str, str]) -> Iterator[Fault]:
    keys = [panel.key for panel in workup.profile]
    for index, panel in enumerate(workup.profile):
        if keys.index(panel.key) < index and panel.title in [one.title for one in workup.profile[:index]]:
            yield Fault(("profile", index, "title"), "is the title of an earlier record of the same test")
    for index, code in enumerate(workup.codes):
        if _short(code.diagnosis) not in set(names.values()):
            yield Fault(("codes", index, "diagnosis"), f"{code.diagnosis!r} is no diagnosis of the case")
    if not workup.provenance.strip():
        yield Fault(("provenance",), "is missing: say where the record comes from")
