"""Two published rows are compared from the rows alone, as the runs behind them would be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from meddc_bench.cli import root
from meddc_bench.errors import UsageError
from meddc_bench.publish.checks import Refused
from meddc_bench.resources import shipped

ROWS = shipped("leaderboards") / "rows"
CHECKLIST, BRIEF = (ROWS / "meddc_record" / f"{name}-knowledge-offline.json" for name in ("checklist", "brief"))


def compare(*words: str | Path) -> Result:
    return CliRunner().invoke(root, ["compare", *map(str, words), "--draws", "500"])


def test_two_rows_give_the_differences_of_their_printed_scores() -> None:
    done = compare(CHECKLIST, BRIEF, "--json")
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    one, other = (json.loads(path.read_text(encoding="utf-8"))["scores"] for path in (CHECKLIST, BRIEF))
    differences = {metric["place"]["metric"]: metric["pairs"][0]["difference"]["value"] for metric in found["metrics"]}
    assert set(differences) == {"D", "T", "E", "Total"}
    for name, value in differences.items():
        assert value == pytest.approx(one[name]["mean"] - other[name]["mean"])


def test_a_row_that_was_edited_is_not_compared(tmp_path: Path) -> None:
    row = json.loads(CHECKLIST.read_text(encoding="utf-8"))
    row["scores"]["D"]["mean"] += 0.1
    (tmp_path / "row.json").write_text(json.dumps(row, ensure_ascii=False), encoding="utf-8")
    done = compare(tmp_path / "row.json", BRIEF)
    assert isinstance(done.exception, Refused)
    assert "scores.D.mean" in str(done.exception)


def test_rows_of_other_cases_have_nothing_in_common() -> None:
    done = compare(CHECKLIST, ROWS / "meddc_dialogue" / BRIEF.name)
    assert isinstance(done.exception, UsageError)
    assert "no scores in common" in str(done.exception)


def test_a_row_and_a_run_are_told_apart(tmp_path: Path) -> None:
    done = compare(tmp_path, BRIEF)
    assert isinstance(done.exception, UsageError)
    assert "give two .json files" in str(done.exception)
