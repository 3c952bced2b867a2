"""Integrity probes: one picture of a visit is exchanged for a donor's, of another modality or of another part of the body.

What is drawn depends on the visit's seed alone, so that every policy meets the same: whether the visit is probed, in
which way, which record is exchanged first of those received, and with which donor. After a probed check the department
sends the pictures again, as they are: that second check, and the only check of a visit that is not probed, are the
controls on which a verdict other than `consistent` is a false alarm.

A picture is its attributes (modality, anatomy, view, laterality, stain) and, where the record names one, a file.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from meddc_bench import media, yamlfile
from meddc_bench.osce import OsceModel, Panel, PictureFile

_FILE = Path(__file__).with_name("donors.yaml")
ProbeKind = Literal["modality", "anatomy"]


class Donor(OsceModel):
    """A picture that belongs to no case: what it shows."""

    modality: str
    anatomy: str
    view: str | None = None
    stain: str | None = None
    picture: PictureFile


class _Bank(OsceModel):
    modalities: dict[str, str]
    anatomies: dict[str, str]
    others: dict[str, str]
    contains: dict[str, tuple[str, ...]]
    donors: tuple[Donor, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture as it reaches the policy: its number, the title of the record it came with, and what it shows."""

    number: str
    title: str
    modality: str
    anatomy: str
    view: str | None = None
    laterality: str | None = None
    stain: str | None = None
    file: PictureFile | None = None


@dataclass(frozen=True, slots=True)
class Draw:
    """What a seed decides: the kind of probe, None for a control, and numbers that rank records and donors."""

    kind: ProbeKind | None
    seed: int


@functools.cache
def _shipped() -> _Bank:
    return yamlfile.validate(_Bank, yamlfile.load(_FILE))


@functools.cache
def bank(language: str = "zh") -> tuple[Donor, ...]:
    """Return the shipped donors, read once, in the words of a language."""
    shipped = _shipped()
    if language != "en":
        return shipped.donors
    words = {**shipped.others, **shipped.anatomies, **shipped.modalities}
    return tuple(
        Donor(
            modality=words[one.modality], anatomy=words[one.anatomy], view=words.get(one.view or ""),
            stain=words.get(one.stain or ""), picture=one.picture,
        )
        for one in shipped.donors
    )  # fmt: skip


@functools.cache
def _modalities(language: str) -> frozenset[str]:
    """What a modality may be called in a language: of any other word it is not known what it excludes."""
    found = _shipped().modalities
    return frozenset(found.values() if language == "en" else found)


@functools.cache
def _apart(language: str) -> Mapping[str, frozenset[str]]:
    """For each part of the body those that neither lie in it nor hold it: whose pictures show the wrong part."""
    shipped = _shipped()
    inside = {name: _within(name, shipped.contains) for name in shipped.anatomies}
    say = shipped.anatomies if language == "en" else {name: name for name in shipped.anatomies}
    return {
        say[one]: frozenset(say[other] for other in inside if other not in inside[one] and one not in inside[other])
        for one in inside
    }


def _within(name: str, contains: Mapping[str, tuple[str, ...]]) -> frozenset[str]:
    return frozenset({name}).union(*[_within(part, contains) for part in contains.get(name, ())])


def donor_picture(sha256: str) -> bytes | None:
    """Return the bytes of a donor's picture; None where no donor has one with this digest.

    Raises:
        InputError: its file is gone, or another.
    """
    found = _donors_by_digest().get(sha256)
    return media.read(_FILE.parent / found.picture.file, sha256) if found is not None else None


@functools.cache
def _donors_by_digest() -> Mapping[str, Donor]:
    return {one.picture.sha256: one for one in bank()}


def draw(seed: int, share: float) -> Draw:
    """Draw from a visit's seed whether and how it is probed; `share` of the visits are, half of them in each way."""
    rng = random.Random(seed)
    probed, kind = rng.random() < share, rng.choice(("modality", "anatomy"))
    return Draw(kind if probed else None, rng.getrandbits(63))  # type: ignore[arg-type]


def pictures(panels: Sequence[Panel]) -> tuple[Picture, ...]:
    """Return the pictures of the records received, as they are."""
    return tuple(
        Picture(
            f"I{number}",
            one.title,
            one.modality or "",
            one.anatomy or "",
            one.view,
            one.laterality,
            one.stain,
            one.picture,
        )
        for number, one in enumerate(panels, 1)
    )


def probed(panels: Sequence[Panel], decided: Draw, language: str = "zh") -> tuple[tuple[Picture, ...], str | None]:
    """Return the pictures of the first check, and the number of the exchanged one; None where none could be exchanged."""
    shown = pictures(panels)
    if decided.kind is None or not shown:
        return shown, None
    order = sorted(range(len(panels)), key=lambda index: random.Random(f"{decided.seed}:{panels[index].id}").random())
    for index in order:
        donor = _donor(shown[index], decided, language)
        if donor is not None:
            one = shown[index]
            swapped = replace(
                one, modality=donor.modality, anatomy=donor.anatomy, view=donor.view, laterality=None, stain=donor.stain,
                file=donor.picture,
            )  # fmt: skip
            return (*shown[:index], swapped, *shown[index + 1 :]), one.number
    return shown, None


def _donor(one: Picture, decided: Draw, language: str) -> Donor | None:
    """Choose a donor that differs in what is probed and not in the other; None where there is none, or no saying."""
    if one.modality not in _modalities(language) or one.anatomy not in _apart(language):
        return None
    if decided.kind == "modality":
        close = [donor for donor in bank(language) if donor.modality != one.modality and donor.anatomy == one.anatomy]
    else:
        apart = _apart(language)[one.anatomy]
        close = [donor for donor in bank(language) if donor.modality == one.modality and donor.anatomy in apart]
    return random.Random(decided.seed).choice(close) if close else None
