"""Numbers that a paper printed: no counts, no fingerprint, never ranked with what was measured here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from meddc_bench.publish.row import Name, Part, Words


class Printed(Part):
    """A printed mean with its printed SD, if any."""

    mean: float | None
    sd: float | None = Field(None, ge=0)


class ReportedRow(Part):
    """A policy as the paper names it."""

    policy: Words
    group: Words = ""
    scores: dict[Name, Printed]


class Source(Part):
    """Which paper and which tables."""

    paper: Words
    tables: tuple[Words, ...]
    year: int = Field(ge=1900, le=2100)


class ReportedTable(Part):
    """A table of a paper. Values are as printed, in `unit`; `total` gives the weights of a column Total, if it has one."""

    format: Literal[1]
    kind: Literal["reported"]
    task: Name
    title: Words
    source: Source
    cases: int = Field(ge=1)
    repeats: int | None = Field(None, ge=1)
    unit: Literal["points"]
    decimals: int = Field(ge=0, le=6)
    total: dict[Name, float] | None = None
    notes: Words = ""
    rows: tuple[ReportedRow, ...] = Field(min_length=1)


def implausible(table: ReportedTable) -> Iterator[str]:
    """Name printed numbers that cannot be: out of range, more decimals than printed, a Total that does not follow."""
    slack = 0.5 * 10**-table.decimals + 1e-9
    for row in table.rows:
        for name, one in row.scores.items():
            for value in (one.mean, one.sd):
                if value is not None and (not 0 <= value <= 100 or value != round(value, table.decimals)):
                    yield f"{row.policy}, {name}: {value} is no number of points with {table.decimals} decimals"
        means = {name: one.mean for name, one in row.scores.items()}
        parts = [means.get(name) for name in table.total or ()]
        total = means.get("Total")
        if table.total and total is not None and None not in parts:
            due = sum(weight * (means[name] or 0.0) for name, weight in table.total.items())
            if abs(due - total) > slack * (1 + sum(table.total.values())):
                yield f"{row.policy}: Total {total} does not follow from its parts ({due:.2f}), rounding allowed for"
    names = [row.policy for row in table.rows]
    if len(set(names)) != len(names):
        yield "a policy is there twice"
