"""Series made of plain numbers, and the golden files beside these tests."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from meddc_bench.analysis.series import Array, Series, Sums

GOLDEN = Path(__file__).parent / "golden"


def mean(sums: Sums) -> Array:
    return np.asarray(sums["sum"] / sums["n"])


@pytest.fixture(scope="session")
def golden() -> Callable[[str], Any]:
    """Read a golden file by its name."""
    return lambda name: json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def timing() -> Callable[..., Series]:
    """Make a series of a mean over cases, from values (runs, cases)."""

    def make(
        policy: str, values: Any, *, cases: Sequence[str] | None = None, reader: str | None = None, metric: str = "E"
    ) -> Series:
        array = np.asarray(values, dtype=float)
        names = tuple(cases) if cases is not None else tuple(f"c{n:03}" for n in range(array.shape[1]))
        holes = np.where(np.isnan(array), np.nan, 1.0)
        return Series(policy, metric, names, {"sum": array, "n": holes}, mean, reader)

    return make
