"""A board ranks what can be compared and nothing else, whatever the order of its files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from publish_lab import Line, edited, make_run, rows_of

from meddc_bench.analysis.bootstrap import bootstrap
from meddc_bench.analysis.series import same_cases
from meddc_bench.errors import UsageError
from meddc_bench.publish.board import Board, build, load_board, schema
from meddc_bench.publish.files import laid_out, load_row, written
from meddc_bench.publish.reported import ReportedTable, implausible
from meddc_bench.publish.row import MeasuredRow, series_of
from meddc_bench.registry import Registry
from meddc_bench.resources import shipped

SHIPPED = shipped("leaderboards")
PAPER = SHIPPED / "rows" / "meddc_record" / "paper-medddc-eval.json"


def folder_of(root: Path, rows: dict[str, MeasuredRow]) -> Path:
    for name, row in rows.items():
        path = root / "rows" / row.task.name / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(written(row))
    return root


@pytest.fixture
def boards(tmp_path: Path, rows: dict[str, MeasuredRow]) -> Path:
    return folder_of(tmp_path / "boards", rows)


def test_the_shipped_boards_and_schema_are_what_their_rows_give(registry: Registry) -> None:
    built = build(SHIPPED, registry)
    assert built.refused == ()
    for name, board in built.boards.items():
        assert (SHIPPED / f"{name}.json").read_bytes() == written(board), "run: meddc-bench leaderboard build"
    assert (SHIPPED / "schema.json").read_bytes() == laid_out(schema()), "run: meddc-bench leaderboard build"


def test_the_shipped_rows_are_standard_and_of_five_repeats() -> None:
    paths = [one for one in (SHIPPED / "rows").glob("meddc_*/*.json") if not one.name.startswith("paper")]
    rows = [load_row(path) for path in paths]
    assert sorted((row.task.name, row.policy.label) for row in rows) == sorted(
        (task, policy)
        for task in ("meddc_record", "meddc_dialogue")
        for policy in ("checklist", "shuffled", "brief", "eager")
    )
    assert {(row.instrument.name, row.instrument.standard, row.task.repeats) for row in rows} == {("offline", True, 5)}


def test_a_shipped_row_is_what_a_run_made_now_gives(tmp_path: Path) -> None:
    made = rows_of(make_run(tmp_path / "run", tasks=["meddc_dialogue"], policies=["shuffled"], repeats=5))["shuffled"]
    there = load_row(SHIPPED / "rows" / "meddc_dialogue" / "shuffled-knowledge-offline.json")
    varying = {"provenance", "seal", "policy"}
    assert made.model_dump(exclude=varying) == there.model_dump(exclude=varying)


def test_the_first_repeat_of_every_shipped_row_is_what_a_run_made_now_gives(tmp_path: Path) -> None:
    names = ["checklist", "shuffled", "brief", "eager"]
    folder = make_run(tmp_path / "run", tasks=["meddc"], policies=names, repeats=1)
    for task in ("meddc_record", "meddc_dialogue"):
        from meddc_bench.publish.publish import Wanted

        for policy, made in rows_of(folder, Wanted(task=task)).items():
            there = load_row(SHIPPED / "rows" / task / f"{policy}-knowledge-offline.json")
            assert made.counts is not None
            assert there.counts is not None
            for metric, statistics in made.counts.items():
                assert statistics.items() == {key: (runs[0],) for key, runs in there.counts[metric].items()}.items(), (
                    task,
                    policy,
                    metric,
                )
            if there.conduct.deterministic:
                assert all(set(runs) == {runs[0]} for one in there.counts.values() for runs in one.values())


def test_rows_of_one_instrument_are_ranked_and_the_draws_are_those_of_the_bootstrap(
    boards: Path, rows: dict[str, MeasuredRow], registry: Registry
) -> None:
    board = build(boards, registry).boards["meddc_record"]
    assert {one.metric for one in board.rankings} == {"D", "T", "E", "Total"}
    (total,) = [one for one in board.rankings if one.metric == "Total"]
    assert [one.rank for one in total.places] == [1, 2]
    assert all(
        one.first is not None and one.last is not None and one.first <= one.rank <= one.last for one in total.places
    )
    series = [one for name in rows for one in series_of(rows[name], registry) if one.metric == "Total"]
    (expected,) = bootstrap(series, pairs=[(total.places[0].row, total.places[1].row)]).differences
    (pair,) = total.pairs
    assert expected.value is not None
    assert pair.difference == pytest.approx(expected.value, abs=1e-12)
    assert (pair.low, pair.high, pair.p_value) == (expected.interval.low, expected.interval.high, expected.p_value)


def test_rows_of_other_instruments_are_ranked_apart(
    tmp_path: Path, rows: dict[str, MeasuredRow], registry: Registry
) -> None:
    other = rows_of(make_run(tmp_path / "run", tasks=["meddc_record"], limit=3, seed=7))
    both = folder_of(tmp_path / "boards", {**rows, **{f"{name}-7": row for name, row in other.items()}})
    board = build(both, registry).boards["meddc_record"]
    totals = [one for one in board.rankings if one.metric == "Total"]
    assert sorted(sorted(place.row for place in one.places) for one in totals) == [
        ["checklist", "shuffled"],
        ["checklist-7", "shuffled-7"],
    ]


def test_one_run_under_two_conditions_has_one_trajectory(
    tmp_path: Path, finished: Path, rows: dict[str, MeasuredRow], registry: Registry
) -> None:
    from meddc_bench.publish.publish import Wanted

    emitted = {f"{name}-own": row for name, row in rows_of(finished, Wanted(condition="emitted")).items()}
    board = build(folder_of(tmp_path / "boards", {**rows, **emitted}), registry).boards["meddc_record"]
    assert [len(one.places) for one in board.rankings if one.metric == "T"] == [2]
    assert [len(one.places) for one in board.rankings if one.metric == "D"] == [2, 2]


def test_the_names_of_files_do_not_change_a_number(
    tmp_path: Path, rows: dict[str, MeasuredRow], registry: Registry
) -> None:
    def numbers(names: tuple[str, str]) -> list[tuple[float, int, int | None, int | None]]:
        given = dict(zip(names, rows.values(), strict=True))
        board = build(folder_of(tmp_path / names[0], given), registry).boards["meddc_record"]
        return [(one.mean, one.rank, one.first, one.last) for ranking in board.rankings for one in ranking.places]

    assert numbers(("a", "b")) == numbers(("z", "c"))


def test_a_refused_row_is_left_out_with_the_reason(boards: Path, row: MeasuredRow, registry: Registry) -> None:
    (boards / "rows" / "meddc_record" / "forged.json").write_bytes(written(edited(row, "scores/Total/mean", 0.9)))
    shutil.copy(boards / "rows" / "meddc_record" / "shuffled.json", boards / "rows" / "meddc_record" / "zweite.json")
    (boards / "rows" / "meddc_dialogue").mkdir()
    (boards / "rows" / "meddc_dialogue" / "lost.json").write_bytes(written(row))
    built = build(boards, registry)
    words = " ".join(str(one) for one in built.refused)
    assert len(built.refused) == 3
    assert "scores.Total.mean: 0.9 is printed" in words
    assert "is the row of shuffled again" in words
    assert "is of the task meddc_record and stands in the folder of meddc_dialogue" in words
    assert [one.row for one in built.boards["meddc_record"].rows] == ["checklist", "shuffled"]


def test_private_rows_are_ranked_from_their_draws(
    tmp_path: Path, private: tuple[Path, MeasuredRow], registry: Registry
) -> None:
    _, row = private
    board = build(folder_of(tmp_path / "boards", {"shuffled": row}), registry).boards["ward"]
    (total,) = [one for one in board.rankings if one.metric == "Total"]
    assert (total.draws, [one.rank for one in total.places]) == (1000, [1])


def test_a_reported_table_is_shown_and_never_ranked(boards: Path, registry: Registry) -> None:
    shutil.copy(PAPER, boards / "rows" / "meddc_record" / PAPER.name)
    board = build(boards, registry).boards["meddc_record"]
    assert [one.title for one in board.reported] == ["MedDDC-Eval, record split"]
    ranked = {place.row for one in board.rankings for place in one.places}
    assert ranked == {"checklist", "shuffled"}


def test_the_paper_s_table_is_as_printed() -> None:
    board = load_board(SHIPPED, "meddc_record")
    (table,) = board.reported
    first = table.rows[0]
    assert (first.policy, first.scores["D"].mean, first.scores["D"].sd) == ("Qwen3-32B + GRPO", 44.6, 3.0)
    assert len(table.rows) == 8
    (dialogue,) = load_board(SHIPPED, "meddc_dialogue").reported
    assert (dialogue.cases, dialogue.rows[-1].scores["Total"].mean) == (70, 42.5)


def test_printed_numbers_that_cannot_be_are_named() -> None:
    def found(change: Line) -> str:
        data = json.loads(PAPER.read_bytes())
        data["rows"][0]["scores"].update(change)
        return " ".join(implausible(ReportedTable.model_validate_json(json.dumps(data))))

    assert found({}) == ""
    assert "Total 63.4 does not follow from its parts" in found({"Total": {"mean": 63.4, "sd": 1.0}})
    assert "144.6 is no number of points" in found({"D": {"mean": 144.6, "sd": 1.0}})
    assert "44.65 is no number of points with 1 decimals" in found({"D": {"mean": 44.65, "sd": 1.0}})


def test_rows_give_series_that_pair_on_the_same_cases_and_on_no_others(
    tmp_path: Path, rows: dict[str, MeasuredRow], registry: Registry
) -> None:
    one, other = (series_of(rows[name], registry) for name in ("checklist", "shuffled"))
    assert [series.metric for series in one] == [
        name for name, score in rows["checklist"].scores.items() if score.counts
    ]
    assert {series.reader for series in one if series.metric in ("T", "E")} == {None}
    assert len(same_cases([one[0], other[0]])) == 3
    away = load_row(SHIPPED / "rows" / "meddc_dialogue" / "brief-knowledge-offline.json")
    with pytest.raises(UsageError, match="not on the same cases"):
        same_cases([one[0], series_of(away, registry)[0]])
    for series in one:
        assert not np.isnan(series.arrays[next(iter(series.arrays))]).any()


def test_a_board_is_found_by_its_task_alone(tmp_path: Path) -> None:
    assert isinstance(load_board(SHIPPED, "trustmed"), Board)
    for name in ("meddc_recrod", "../leaderboards/meddc_record", "rows/meddc_record/checklist-knowledge-offline"):
        with pytest.raises(UsageError, match=r"there is: meddc_dialogue, meddc_record, osce_zh, trustmed"):
            load_board(SHIPPED, name)
