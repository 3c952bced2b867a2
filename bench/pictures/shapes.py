"""Reads `shapes.yaml`: what lies where in a part of the body, by the way it is looked at."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Literal

from meddc_bench import yamlfile

Shape = tuple[str | float, ...]
Plane = Literal["axial", "frontal", "lateral", "vessels", "echo"]


@functools.cache
def shapes(plane: Plane, anatomy: str) -> tuple[Shape, ...]:
    """Return the shapes of a part of the body, in the order in which they are painted.

    Raises:
        KeyError: it is not drawn in this way.
    """
    return tuple(tuple(one) for one in _tables()[plane][anatomy])


@functools.cache
def _tables() -> dict[str, dict[str, list[list[str | float]]]]:
    tables: dict[str, dict[str, list[list[str | float]]]] = yamlfile.load(Path(__file__).with_name("shapes.yaml")).data
    return tables
