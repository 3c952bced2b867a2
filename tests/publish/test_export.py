"""What leaves in other formats is well-formed there, runs in no spreadsheet, and holds no text that was not asked for."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from publish_lab import edited, forbidden

from meddc_bench.cli import main
from meddc_bench.errors import UsageError
from meddc_bench.publish.exchange import eval_results, every_eval_ever
from meddc_bench.publish.export import SCORES, as_csv, row_lines, run_lines, write_parquet
from meddc_bench.publish.files import written
from meddc_bench.publish.row import MeasuredRow
from meddc_bench.resources import shipped
from meddc_bench.stored import open_run

HOSTILE = "=cmd|' /C calc'!A0"


def cli(*words: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(list(words))
    assert isinstance(left.value.code, int)
    return left.value.code


def table(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))


@pytest.mark.parametrize("words", [HOSTILE, "+1", "-1", "@SUM(A1)", "\t=1", " =1", "＝1", "<script>alert(1)</script>"])
def test_no_cell_of_a_spreadsheet_is_a_formula(row: MeasuredRow, words: str) -> None:
    named = row.model_copy(update={"policy": row.policy.model_copy(update={"title": words})})
    data = as_csv(row_lines(named), SCORES)
    assert data.startswith(b"\xef\xbb\xbf"), "Excel reads it as UTF-8"
    cells = [cell for line in table(data) for cell in line.values()]
    assert [cell for cell in cells if cell[:1] in tuple("=+-@\t＝＋－＠")] == []
    assert any(cell in (words, f"'{words}") for cell in cells)


def test_the_numbers_of_a_table_are_those_of_the_row(row: MeasuredRow) -> None:
    found = {line["metric"]: line for line in table(as_csv(row_lines(row), SCORES))}
    for name, score in row.scores.items():
        mean = found[name]["mean"]
        assert (float(mean) if mean else None) == score.mean


def test_a_run_s_table_has_every_row_and_no_text(finished: Path) -> None:
    with open_run(finished) as run:
        data = as_csv(run_lines(run), SCORES)
    lines = table(data)
    assert {(line["policy"], line["condition"]) for line in lines} == {
        (policy, condition) for policy in ("checklist", "shuffled") for condition in ("knowledge", "emitted")
    }
    text = data.decode("utf-8-sig")
    assert [one for one in forbidden(finished) if one in text] == []


def test_no_export_holds_a_case_id_or_a_text_of_a_case(finished: Path, row: MeasuredRow) -> None:
    exported = [json.dumps(every_eval_ever(row), ensure_ascii=False), eval_results(row, "me/meddc").decode()]
    exported.append(as_csv(row_lines(row), SCORES).decode("utf-8-sig"))
    assert [one for one in forbidden(finished) for text in exported if one in text] == []


def test_texts_leave_a_private_run_only_when_they_are_asked_for(
    private: tuple[Path, MeasuredRow], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, _ = private
    secret = forbidden(folder)
    assert cli("export", str(folder), "--format", "csv", "-o", str(tmp_path / "scores.csv")) == 0
    text = (tmp_path / "scores.csv").read_text(encoding="utf-8-sig")
    assert [one for one in secret if one in text] == []
    assert cli("export", str(folder), "--format", "csv", "--include-text", "-o", str(tmp_path / "texts.csv")) == 0
    asked = table((tmp_path / "texts.csv").read_bytes())
    assert {line["case"] for line in asked} == {f"canary-patient-{number}" for number in range(3)}
    assert all("医生：" in line["consultation"] for line in asked)
    assert cli("export", str(folder), "--format", "hf", "--include-text", "-o", str(tmp_path / "x.yaml")) == 2


def test_a_record_for_every_eval_ever_has_what_its_schema_requires(row: MeasuredRow) -> None:
    found = every_eval_ever(row)
    assert found.keys() >= {
        "schema_version", "evaluation_id", "retrieved_timestamp", "source_metadata", "model_info", "eval_library",
        "evaluation_results",
    }  # fmt: skip
    assert found["source_metadata"]["source_type"] in ("documentation", "evaluation_run")
    by_name = {one["metric_config"]["metric_name"]: one for one in found["evaluation_results"]}
    assert by_name["D"]["score_details"]["score"] == row.scores["D"].mean
    assert by_name["D"]["score_details"]["uncertainty"]["confidence_interval"]["lower"] == row.scores["D"].low
    assert by_name["rounds"]["metric_config"]["lower_is_better"]
    assert "score_type" not in by_name["rounds"]["metric_config"], "a continuous score needs both limits"


def test_a_record_for_every_eval_ever_passes_its_own_package(row: MeasuredRow, tmp_path: Path) -> None:
    python = os.environ.get("MEDDC_TEST_EEE_PYTHON", sys.executable)
    there = subprocess.run([python, "-c", "import every_eval_ever"], capture_output=True, check=False)
    if there.returncode:
        pytest.skip(
            "every-eval-ever (Python 3.12) is not installed; MEDDC_TEST_EEE_PYTHON names an interpreter with it"
        )
    (tmp_path / "one.json").write_text(json.dumps(every_eval_ever(row)), encoding="utf-8")
    check = "import sys; from every_eval_ever.eval_types import EvaluationLog\n"
    check += "EvaluationLog.model_validate_json(open(sys.argv[1]).read())"
    done = subprocess.run(
        [python, "-c", check, str(tmp_path / "one.json")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_hugging_face_gets_an_entry_a_headline_metric(row: MeasuredRow) -> None:
    named = row.model_copy(
        update={"policy": row.policy.model_copy(update={"url": "https://example.org/p", "by": HOSTILE})}
    )
    entries = yaml.safe_load(eval_results(named, "me/meddc"))
    assert [one["dataset"]["task_id"] for one in entries] == [
        f"meddc_record_{name}" for name in ("Total", "D", "T", "E")
    ]
    assert entries[0]["value"] == round(100 * (row.scores["Total"].mean or 0), 2)
    assert entries[0]["source"] == {"url": "https://example.org/p", "name": HOSTILE}
    for dataset in (None, "meddc", "a/b/c", "/x", "x/"):
        with pytest.raises(UsageError, match="--dataset OWNER/NAME"):
            eval_results(row, dataset)


def test_parquet_without_pyarrow_says_what_to_install(
    row: MeasuredRow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"pip install 'meddc-bench\[report\]'"):
        write_parquet(row_lines(row), SCORES, tmp_path / "x.parquet")


def test_parquet_holds_the_row(row: MeasuredRow, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    import pyarrow.parquet as parquet

    write_parquet(row_lines(row), SCORES, tmp_path / "x.parquet")
    found = parquet.read_table(tmp_path / "x.parquet").to_pylist()
    assert {one["metric"]: one["mean"] for one in found} == {name: score.mean for name, score in row.scores.items()}


# ── the command line ─────────────────────────────────────────────────────────────────────────────


def test_publish_validate_build_show_and_export_go_together(finished: Path, tmp_path: Path, capsys: Any) -> None:
    boards = tmp_path / "boards"
    assert cli("publish", str(finished), "--by", "实验室", "-o", str(boards / "rows")) == 0
    files = sorted((boards / "rows" / "meddc_record").glob("*.json"))
    assert [one.name for one in files] == ["checklist-knowledge-custom.json", "shuffled-knowledge-custom.json"]
    assert cli("leaderboard", "validate", *map(str, files)) == 0
    assert cli("leaderboard", "validate", "--standard", str(files[0])) == 3
    assert cli("leaderboard", "build", str(boards)) == 0
    capsys.readouterr()
    assert cli("leaderboard", "show", "meddc_record", "--folder", str(boards)) == 0
    shown = capsys.readouterr().out
    assert "非标准仪器" in shown
    assert "shuffled" in shown
    assert cli("leaderboard", "show", "meddc_record", "--folder", str(boards), "--metric", "F") == 2
    assert cli("leaderboard", "show", "meddc_record", "--folder", str(boards), "--json") == 0
    assert cli("export", str(files[0]), "--format", "every-eval-ever", "-o", str(tmp_path / "eee.json")) == 0
    assert cli("export", str(finished), "--format", "hf", "--dataset", "me/x", "-o", str(tmp_path / "x.yaml")) == 2
    assert (
        cli(
            "export",
            str(finished),
            "--policy",
            "shuffled",
            "--format",
            "every-eval-ever",
            "-o",
            str(tmp_path / "y.json"),
        )
        == 0
    )


def test_refusals_have_their_exit_codes_and_write_nothing(
    finished: Path, row: MeasuredRow, tmp_path: Path, capsys: Any
) -> None:
    out = tmp_path / "row.json"
    assert cli("publish", str(finished), "-o", str(out)) == 2, "two rows do not fit into one file"
    assert cli("publish", str(finished), "--policy", "shuffled", "--standard", "-o", str(out)) == 3
    assert "not standard: differs in cases, repeats" in capsys.readouterr().err
    assert cli("publish", str(tmp_path), "-o", str(out)) == 2, "no run"
    assert not out.exists()
    out.write_bytes(written(edited(row, "scores/D/mean", 0.9)))
    assert cli("leaderboard", "validate", str(out)) == 3
    assert "scores.D.mean: 0.9 is printed, the counts give" in capsys.readouterr().out
    out.write_text("{}", encoding="utf-8")
    assert cli("leaderboard", "validate", str(out)) == 2
    assert cli("leaderboard", "validate", str(tmp_path / "none.json")) == 2


def test_a_hostile_name_is_inert_on_the_screen(finished: Path, tmp_path: Path, capsys: Any) -> None:
    name = "[red]<script>alert(1)</script>"
    assert cli("publish", str(finished), "--policy", "shuffled", "--name", name, "-o", str(tmp_path / "rows")) == 0
    assert cli("leaderboard", "build", str(tmp_path)) == 0
    capsys.readouterr()
    assert cli("leaderboard", "show", "meddc_record", "--folder", str(tmp_path)) == 0
    shown = capsys.readouterr().out
    assert name in shown
    assert "\x1b" not in shown


def test_a_reported_table_leaves_as_a_table_alone(tmp_path: Path) -> None:
    paper = str(shipped("leaderboards") / "rows" / "meddc_record" / "paper-medddc-eval.json")
    assert cli("export", paper, "--format", "csv", "-o", str(tmp_path / "x.csv")) == 0
    assert {line["kind"] for line in table((tmp_path / "x.csv").read_bytes())} == {"reported"}
    assert cli("export", paper, "--format", "every-eval-ever", "-o", str(tmp_path / "x.json")) == 2
    assert cli("leaderboard", "validate", paper) == 0
