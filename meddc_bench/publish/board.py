"""A leaderboard: rows that were checked, ranked by metric where their fingerprints are equal.

FOLDER/rows/<task>/*.json   rows, and tables that papers printed
FOLDER/<task>.json          the board of a task, written from them
FOLDER/schema.json          the JSON schemas of both
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field

from meddc_bench.analysis.bootstrap import two_sided
from meddc_bench.analysis.multiplicity import holm
from meddc_bench.analysis.ranks import ranks
from meddc_bench.analysis.resample import EQUAL, replicate
from meddc_bench.analysis.series import Array
from meddc_bench.errors import InputError, UsageError
from meddc_bench.fingerprint import digest
from meddc_bench.headline import has_accuracy, headline
from meddc_bench.publish import reported
from meddc_bench.publish.checks import Checker, Refused
from meddc_bench.publish.files import parsed, read
from meddc_bench.publish.numbers import intervals_of
from meddc_bench.publish.reported import ReportedTable
from meddc_bench.publish.row import LEVEL, SEED, Count, Digest, MeasuredRow, Name, Part, Words, series_of
from meddc_bench.registry import Registry

ALPHA = 0.05
ROWS = "rows"


class Place(Part):
    """A row in a ranking: its rank, the ranks that 95 % of the draws give it, its score and interval."""

    row: Words
    rank: int
    tied: bool
    first: int | None
    last: int | None
    mean: float
    sd: float | None
    low: float | None
    high: float | None


class PairPart(Part):
    """Two rows: `first` minus `second`, its interval, two-sided p value, that value after Holm, and whether they differ."""

    first: Words
    second: Words
    difference: float
    low: float | None
    high: float | None
    p_value: float | None
    adjusted: float | None
    differ: bool


class Ranking(Part):
    """Rows measured with one instrument, by one metric; `fingerprint` is what they have in common."""

    metric: Name
    fingerprint: Digest
    instrument: Name
    standard: bool
    cases: int
    repeats: int
    draws: int
    seed: Count
    places: tuple[Place, ...]
    pairs: tuple[PairPart, ...]


class BoardRow(Part):
    """What a board says of a row; `seal` binds it to the file."""

    row: Words
    seal: Digest
    policy: Words
    title: Words
    by: Words
    url: str | None
    model: Words | None
    served: tuple[Words, ...]
    condition: Words
    instrument: Name
    standard: bool
    differs: tuple[Name, ...]
    scores: dict[Name, tuple[float | None, float | None]] = Field(description="Mean and sample SD over repeats.")
    deterministic: bool | None
    outcomes: dict[Name, Count]
    cost_per_history: float | None
    created: str
    program: Words


class Board(Part):
    """The board of a task."""

    format: Literal[1]
    task: Name
    title: Words
    rows: tuple[BoardRow, ...]
    rankings: tuple[Ranking, ...]
    reported: tuple[ReportedTable, ...]


@dataclass(frozen=True, slots=True)
class Built:
    """The boards of a folder by task, and the files that were left out, with the reasons."""

    boards: Mapping[str, Board]
    refused: tuple[Refused | InputError, ...]


def build(folder: Path, registry: Registry, include: Sequence[str] = ()) -> Built:
    """Read and check all rows of a folder and rank them; nothing is written."""
    if not (folder / ROWS).is_dir():
        raise UsageError(f"{folder}: there is no folder {ROWS} in it; rows belong in {ROWS}/<task>/")
    checker = Checker(registry, include)
    measured: dict[str, dict[str, MeasuredRow]] = defaultdict(dict)
    tables: dict[str, list[ReportedTable]] = defaultdict(list)
    refused: list[Refused | InputError] = []
    for path in sorted((folder / ROWS).glob("*/*.json")):
        try:
            one = load(path)
            _check(path, one, checker)
        except (Refused, InputError) as error:
            refused.append(error)
            continue
        if isinstance(one, ReportedTable):
            tables[one.task].append(one)
            continue
        same = [name for name, other in measured[one.task.name].items() if _evidence(other) == _evidence(one)]
        if same:
            refused.append(Refused(path, [f"is the row of {same[0]} again: the same policy from the same records"]))
        else:
            measured[one.task.name][path.stem] = one
    names = sorted({*measured, *tables})
    return Built({name: _board(name, measured[name], tables[name], registry) for name in names}, tuple(refused))


def _evidence(row: MeasuredRow) -> tuple[str, str, str]:
    return row.provenance.evidence, row.policy.label, row.fingerprints[next(iter(row.scores))].digest


def load(path: Path) -> MeasuredRow | ReportedTable:
    """Read a row or a table that a paper printed.

    Raises:
        InputError: it is neither.
    """
    data = read(path)
    if b'"reported"' in data[:400]:
        return parsed(ReportedTable, data, path)
    return parsed(MeasuredRow, data, path)


def faults(one: MeasuredRow | ReportedTable, checker: Checker) -> list[str]:
    """Return what is wrong with a row or a reported table."""
    return list(reported.implausible(one)) if isinstance(one, ReportedTable) else checker.faults(one)


def _check(path: Path, one: MeasuredRow | ReportedTable, checker: Checker) -> None:
    found = faults(one, checker)
    task = one.task if isinstance(one, ReportedTable) else one.task.name
    if task != path.parent.name:
        found.append(f"is of the task {task} and stands in the folder of {path.parent.name}")
    if found:
        raise Refused(path, found)


def _board(task: str, rows: Mapping[str, MeasuredRow], tables: Sequence[ReportedTable], registry: Registry) -> Board:
    title = next((row.task.title for row in rows.values()), tables[0].title if tables else "")
    return Board(
        format=1, task=task, title=title, rows=tuple(_shown(name, row) for name, row in rows.items()),
        rankings=tuple(_rankings(rows, registry)), reported=tuple(tables),
    )  # fmt: skip


def _shown(name: str, row: MeasuredRow) -> BoardRow:
    policy, instrument = row.policy, row.instrument
    return BoardRow(
        row=name[:200], seal=row.seal, policy=policy.label, title=policy.title, by=policy.by, url=policy.url,
        model=policy.model, served=policy.served, condition=instrument.condition, instrument=instrument.name,
        standard=instrument.standard, differs=instrument.differs,
        scores={key: (one.mean, one.sd) for key, one in row.scores.items()}, outcomes=row.conduct.outcomes,
        deterministic=row.conduct.deterministic,
        cost_per_history=row.usage.cost_per_history if row.usage else None,
        created=row.provenance.created.isoformat(), program=row.provenance.program,
    )  # fmt: skip


def _rankings(rows: Mapping[str, MeasuredRow], registry: Registry) -> Iterator[Ranking]:
    """Rank by every fraction that has counts of its own, the rows of each fingerprint apart; standard ones come first.

    A workup is ranked by its headline metrics alone: its accuracies have their counts in common, as its behaviour has.
    """
    groups: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    seen: set[tuple[str, str, str, str]] = set()
    for name, row in rows.items():
        for metric, score in row.scores.items():
            key = (metric, row.fingerprints[metric].digest, row.provenance.evidence, row.policy.label)
            if key in seen:  # T and E have no reader: two conditions of one run are one column
                continue
            seen.add(key)
            first = headline(row.scores) if has_accuracy(row.scores) else ()
            own = metric in first if first else score.counts == metric
            if score.unit == "fraction" and own and score.mean is not None:
                groups[metric, row.fingerprints[metric].digest, row.task.order].append(name)
    found = [_ranking(metric, {name: rows[name] for name in names}, registry) for (metric, *_), names in groups.items()]
    order = {metric: at for at, metric in enumerate(dict.fromkeys(metric for metric, *_ in groups))}
    yield from sorted(found, key=lambda one: (order[one.metric], not one.standard, -len(one.places), one.fingerprint))


def _ranking(metric: str, rows: Mapping[str, MeasuredRow], registry: Registry) -> Ranking:
    first = next(iter(rows.values()))
    better = first.scores[metric].higher_is_better
    scores = {name: row.scores[metric].mean or 0.0 for name, row in rows.items()}
    size = min(row.uncertainty.draws for row in rows.values())
    draws = np.stack([_draws(row, metric, size, registry) for row in rows.values()])
    spread = _rank_ranges(draws if better else -draws, first.task.cases)
    by_name = dict(zip(rows, spread, strict=True))
    ranked = ranks(scores, higher_is_better=better)
    standard = [row.instrument for row in rows.values() if row.instrument.standard]
    shown = standard[0] if standard else first.instrument
    return Ranking(
        metric=metric, fingerprint=first.fingerprints[metric].digest, instrument=shown.name,
        standard=bool(standard), cases=first.task.cases, repeats=first.task.repeats, draws=size, seed=SEED,
        places=tuple(
            Place(
                row=one.policy, rank=one.rank, tied=one.tied, first=by_name[one.policy][0], last=by_name[one.policy][1],
                mean=one.score, sd=rows[one.policy].scores[metric].sd, low=rows[one.policy].scores[metric].low,
                high=rows[one.policy].scores[metric].high,
            )
            for one in ranked
        ),
        pairs=tuple(_pairs([one.policy for one in ranked], list(rows), scores, draws, first.task.cases)),
    )  # fmt: skip


def _draws(row: MeasuredRow, metric: str, size: int, registry: Registry) -> Array:
    """Return a row's draws: the same cases are drawn for all rows of a ranking, for they have the same order."""
    if row.counts is None:
        given = (row.draws or {})[metric]
        return np.array([np.nan if one is None else one for one in given[:size]])
    (series,) = [one for one in series_of(row, registry) if one.metric == metric]
    return replicate([series], draws=size, seed=SEED)[0].draws


def _rank_ranges(draws: Array, cases: int) -> list[tuple[int | None, int | None]]:
    """Rank the rows in every draw; return for each the 2.5th and 97.5th percentile of its ranks."""
    if cases < 2 or np.isnan(draws).any():
        return [(None, None)] * len(draws)
    places = np.stack([1 + (draws > one + EQUAL).sum(axis=0) for one in draws])
    tail = (1 - LEVEL) / 2
    low = np.quantile(places, tail, axis=1, method="inverted_cdf")
    high = np.quantile(places, 1 - tail, axis=1, method="inverted_cdf")
    return [(int(one), int(other)) for one, other in zip(low, high, strict=True)]


def _pairs(
    names: Sequence[str], order: Sequence[str], scores: Mapping[str, float], draws: Array, cases: int
) -> Iterator[PairPart]:
    """Compare every two rows on the same draws; p values as in docs/statistics.md, after Holm over all pairs."""
    at = {name: place for place, name in enumerate(order)}
    pairs = list(itertools.combinations(names, 2))
    if not pairs:
        return
    differences = [draws[at[one]] - draws[at[other]] for one, other in pairs]
    bounds = intervals_of(differences, cases=cases, level=LEVEL)
    p_values = {
        pair: None if bound.low is None else float(two_sided(difference))
        for pair, difference, bound in zip(pairs, differences, bounds, strict=True)
    }
    for (one, other), bound, corrected in zip(pairs, bounds, holm(p_values, ALPHA), strict=True):
        yield PairPart(
            first=one, second=other, difference=scores[one] - scores[other], low=bound.low, high=bound.high,
            p_value=corrected.p_value, adjusted=corrected.adjusted, differ=corrected.rejected,
        )  # fmt: skip


def schema() -> dict[str, Any]:
    """Return the JSON schemas of rows, reported tables and boards, from their models."""
    models: dict[str, type[Part]] = {"row": MeasuredRow, "reported": ReportedTable, "board": Board}
    found = {name: model.model_json_schema() for name, model in models.items()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "MedDDC-Bench leaderboards",
        "format": 1, "digest": digest(found), "schemas": found,
    }  # fmt: skip


def load_board(folder: Path, task: str) -> Board:
    """Read the board of a task.

    Raises:
        UsageError: there is none, with those that there are.
        InputError: it is none.
    """
    path = folder / f"{task}.json"
    if "/" in task or "\\" in task or not path.is_file():
        there = sorted(one.stem for one in folder.glob("*.json") if one.name != "schema.json")
        raise UsageError(f"{folder} has no board of {task!r}; there is: {', '.join(there) or 'none'}")
    return parsed(Board, read(path), path)
