"""Units of several rows at once are those of each row alone, whatever is missing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from meddc_bench import registry
from meddc_bench.scorer import Scorer, rows, together
from meddc_bench.store import RECORDS
from meddc_bench.stored import open_run

if TYPE_CHECKING:
    from conftest import SidedWorld


def finished(world: SidedWorld, patch: pytest.MonkeyPatch) -> Path:
    """Run the campaign, and let the run be opened with the doubles installed."""
    points = world.points()
    patch.setattr(registry, "entry_points", lambda **_: points)
    return world.sided_run()


LOST = {"nothing": None, "trajectories": b'"axis":"trajectory"', "readings": b'"condition":"fair"},"head"'}


@pytest.mark.parametrize("lost", LOST)
def test_rows_together_have_the_units_of_each_alone(
    world: SidedWorld, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:  # fmt: skip
    folder = finished(world, monkeypatch)
    part = LOST[lost]
    lines = (folder / RECORDS).read_bytes().splitlines(keepends=True)
    kept = [line for at, line in enumerate(lines) if part is None or part not in line or at % 3]
    assert (len(kept) < len(lines)) == (part is not None)
    (folder / RECORDS).write_bytes(b"".join(kept))
    with open_run(folder) as run:
        (bench,) = run.benches
        found = [one for group in together(rows(bench)) for one in Scorer(run.store, bench).of_rows(group)]
        alone = [list(Scorer(run.store, bench).units(row)) for row in rows(bench)]
    assert found == alone
    missing = [one for units in alone for one in units if one.cell.outcome == "infra_failed"]
    assert bool(missing) == (part is not None)


def test_columns_without_a_reader_are_the_same_object_under_all_readers(
    world: SidedWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = finished(world, monkeypatch)
    with open_run(folder) as run:
        (bench,) = run.benches
        columns = [one for one in run.columns(bench, ("D", "T")) if one.row.policy.label == "left"]
    shared = {id(one.series) for one in columns if one.metric == "T"}
    assert len(shared) == 1
    assert len({id(one.series) for one in columns if one.metric == "D"}) == 3
    assert [one.row.condition.label for one in columns if one.metric == "T"] == ["emitted", "fair", "contrary"]
