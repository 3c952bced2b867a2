"""Integrity probes: one picture of a visit is exchanged for a donor's, of another modality or of another part of the body.

What is drawn depends on the visit's seed alone, so that every policy meets the same: whether the visit is probed, in
which way, which record is exchanged first of those received, and with which donor. After a probed check the department
sends the pictures again, as they are: that second check, and the only check of a visit that is not probed, are the
controls on which a verdict other than `consistent` is a false alarm.

Pictures are attributes here (modality, anatomy, view, laterality, stain), not bytes.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from meddc_bench import yamlfile
from meddc_bench.osce import OsceModel, Panel

_FILE = Path(__file__).with_name("donors.yaml")
ProbeKind = Literal["modality", "anatomy"]


class Donor(OsceModel):
    """A picture that belongs to no case: what it shows."""

    modality: str
    anatomy: str
    view: str | None = None


class _Bank(OsceModel):
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


@dataclass(frozen=True, slots=True)
class Draw:
    """What a seed decides: the kind of probe, None for a control, and numbers that rank records and donors."""

    kind: ProbeKind | None
    seed: int


@functools.cache
def bank() -> tuple[Donor, ...]:
    """Return the shipped donors, read once."""
    return yamlfile.validate(_Bank, yamlfile.load(_FILE)).donors


def draw(seed: int, share: float) -> Draw:
    """Draw from a visit's seed whether and how it is probed; `share` of the visits are, half of them in each way."""
    rng = random.Random(seed)
    probed, kind = rng.random() < share, rng.choice(("modality", "anatomy"))
    return Draw(kind if probed else None, rng.getrandbits(63))  # type: ignore[arg-type]


def pictures(panels: Sequence[Panel]) -> tuple[Picture, ...]:
    """Return the pictures of the records received, as they are."""
    return tuple(
        Picture(f"I{number}", one.title, one.modality or "", one.anatomy or "", one.view, one.laterality, one.stain)
        for number, one in enumerate(panels, 1)
    )


def probed(panels: Sequence[Panel], decided: Draw) -> tuple[tuple[Picture, ...], str | None]:
    """Return the pictures of the first check, and the number of the exchanged one; None where none could be exchanged."""
    shown = pictures(panels)
    if decided.kind is None or not shown:
        return shown, None
    order = sorted(range(len(panels)), key=lambda index: random.Random(f"{decided.seed}:{panels[index].id}").random())
    for index in order:
        donor = _donor(shown[index], decided)
        if donor is not None:
            one = shown[index]
            swapped = Picture(one.number, one.title, donor.modality, donor.anatomy, donor.view)
            return (*shown[:index], swapped, *shown[index + 1 :]), one.number
    return shown, None


def _donor(one: Picture, decided: Draw) -> Donor | None:
    """Choose a donor that differs in what is probed and in nothing else where there is one."""
    if decided.kind == "modality":
        differing = [donor for donor in bank() if donor.modality != one.modality]
        close = [donor for donor in differing if donor.anatomy == one.anatomy]
    else:
        differing = [donor for donor in bank() if donor.anatomy != one.anatomy]
        close = [donor for donor in differing if donor.modality == one.modality]
    return random.Random(decided.seed).choice(close) if close else None
