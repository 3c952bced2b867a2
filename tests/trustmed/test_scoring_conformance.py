"""The conformance set is made as Table 12 says, the same every time, and the floor brings the error down to the printed range."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "golden"
FILE = Path(os.environ.get("MEDDC_DATA") or ROOT.parent / "shared" / "data") / "disease_ontology" / "do_terms.jsonl"
needs_data = pytest.mark.skipif(not FILE.is_file(), reason="MEDDC_DATA holds no disease_ontology")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "bench" / "judge_conformance.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@cache
def measured() -> Any:
    return json.loads(run(f"DO={FILE}", "--json").stdout)


@needs_data
def test_the_pairs_are_those_of_table_12_and_the_same_for_a_seed(tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert run(f"DO={FILE}", "--seed", "5", "--pairs", str(tmp_path / name)).returncode == 0
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    pairs = [json.loads(line) for line in (tmp_path / "one").read_text(encoding="utf-8").splitlines()]
    table = json.loads((GOLDEN / "trustmed_t12_ordo_set.json").read_text(encoding="utf-8"))
    assert Counter(one["relation"] for one in pairs) == {row["relation"]: row["n"] for row in table["rows"]}
    assert {one["relation"]: one["target"] for one in pairs} == {
        row["relation"]: row["target"] for row in table["rows"]
    }
    assert sum(one["target"] for one in pairs) / len(pairs) == pytest.approx(table["printed_mean_target"])
    edges = {(one["prediction"], one["reference"]) for one in pairs if one["relation"] == "narrower"}
    assert edges == {(one["reference"], one["prediction"]) for one in pairs if one["relation"] == "broader"}


@needs_data
def test_the_floor_lowers_the_error_of_the_lexical_judge_and_lifts_no_unrelated_pair() -> None:
    classes = measured()["classes"]
    printed = json.loads((GOLDEN / "trustmed_t11_judge_floor.json").read_text(encoding="utf-8"))["rows"]
    most = max(row["ordo_mae"]["with_floor"] for row in printed)
    assert classes["all"]["with_floor"]["mae"] <= most < classes["all"]["without_floor"]["mae"]
    assert classes["unrelated"]["with_floor"]["mean"] == 0.0
    for row in classes.values():
        assert row["with_floor"]["mean"] >= row["without_floor"]["mean"]


@needs_data
def test_the_report_says_how_often_the_floor_resolved_fired_and_abstained() -> None:
    floor = measured()["floor"]
    assert floor["pairs"] == 100 == floor["fired"] + floor["abstained"]
    assert floor["fired"] == sum(floor["rules"].values())


def test_an_ontology_too_small_for_the_set_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "small.csv"
    path.write_text("id,name\nA:1,a\n", encoding="utf-8")
    done = run(str(path))
    assert done.returncode == 2
    assert "the ontology gives 0 pairs of the class 'narrower', 20 are needed" in done.stderr
