"""What is published is what the records give, and a run that does not hold together is refused for the right reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from publish_lab import Line, edit_json, edit_records, forbidden, make_run, reasons, resave, rows_of, write_task

from meddc_bench.errors import UsageError
from meddc_bench.publish.checks import Checker
from meddc_bench.publish.files import load_row, written
from meddc_bench.publish.publish import Wanted, said
from meddc_bench.publish.row import MeasuredRow, series_of
from meddc_bench.registry import Registry


def test_a_row_prints_what_the_results_print(finished: Path, rows: dict[str, MeasuredRow]) -> None:
    found = json.loads((finished / "results.json").read_bytes())["tasks"]["meddc_record"]["rows"]
    for line in (one for one in found if one["condition"] == "knowledge"):
        row = rows[line["policy"]]
        assert row.scores.keys() == line["metrics"].keys()
        for name, score in row.scores.items():
            assert (score.mean, score.sd, list(score.values)) == tuple(
                line["metrics"][name][key] for key in ("mean", "sd", "values")
            )
            assert row.fingerprints[name].digest == line["fingerprints"][name]
        assert row.conduct.outcomes == line["outcomes"]


def test_a_row_can_be_read_back_as_it_was_written(row: MeasuredRow, tmp_path: Path) -> None:
    (tmp_path / "row.json").write_bytes(written(row))
    assert load_row(tmp_path / "row.json") == row
    assert b"NaN" not in written(row)


def test_a_row_holds_no_text_of_a_case_and_no_case_id(finished: Path, rows: dict[str, MeasuredRow]) -> None:
    secret = forbidden(finished)
    for row in rows.values():
        text = written(row).decode()
        assert [one for one in secret if one in text or json.dumps(one)[1:-1] in text] == []


def test_publishing_twice_gives_the_same_row_but_for_the_time(finished: Path, row: MeasuredRow) -> None:
    again = rows_of(finished, Wanted(policy="shuffled"))["shuffled"]
    same: dict[str, Any] = {"provenance": row.provenance, "seal": row.seal}
    assert again.model_copy(update=same) == row


def test_the_whole_task_with_the_offline_instrument_is_standard_and_a_part_of_it_is_not(row: MeasuredRow) -> None:
    assert (row.instrument.name, row.instrument.standard) == ("custom", False)
    assert row.instrument.differs == ("cases", "repeats")


# ── refused ──────────────────────────────────────────────────────────────────────────────────────


def test_a_number_edited_in_the_results_is_named(run: Path) -> None:
    def change(data: Any) -> None:
        data["tasks"]["meddc_record"]["rows"][0]["metrics"]["D"]["mean"] = 0.99

    edit_json(run / "results.json", change)
    assert "results.json is not what the records give: tasks.meddc_record.rows[0].metrics.D.mean is 0.99" in reasons(
        run
    )


def test_an_interrupted_run_is_refused(run: Path) -> None:
    edit_json(run / "manifest.json", lambda data: data.update(status="interrupted"))
    assert "the run is interrupted, not complete" in reasons(run)


def test_a_run_below_full_coverage_is_refused(run: Path) -> None:
    assert edit_records(
        run, lambda line: None if line["stage"] == "evidence" and line["key"]["case"] == "rec-002" else line
    )
    resave(run)
    assert "partial coverage: D, D_precision, D_recall, T, T_precision: 4 of 6 units" in reasons(run)


def test_a_failed_judge_is_partial_coverage_and_its_words_stay_in_the_run(run: Path) -> None:
    def change(line: Line) -> Line:
        if line["stage"] == "evidence" and line["key"]["case"] == "rec-001":
            return {**line, "outcome": "judge_failed", "reason": "患者张三说", "record": None}
        return line

    def ordered(line: Line) -> Line:
        keys = ("stage", "id", "outcome", "key", "reason", "head", "record", "seal")
        return {key: change(line)[key] for key in keys if key in change(line)}

    assert edit_records(run, ordered)
    resave(run)
    found = reasons(run)
    assert "2 judge_failed" in found
    assert "张三" not in found


def test_a_model_that_changed_during_the_run_blocks_publishing(run: Path) -> None:
    edit_json(run / "manifest.json", lambda data: data["calls"].update(served_models={"big": ["big-0324", "big-0801"]}))
    assert "the model big was served as big-0324, big-0801: it changed during the run" in reasons(run)


def test_records_written_by_two_models_block_publishing(run: Path) -> None:
    def change(line: Line) -> Line:
        if line["stage"] == "evidence" and line["key"]["case"] == "rec-001":
            line["record"]["model"] = "another"
        return line

    assert edit_records(run, change)
    assert "the judge's records were written by another, lexical" in reasons(run)


def test_another_revision_of_an_adapter_is_refused(run: Path) -> None:
    edit_json(run / "manifest.json", lambda data: data["adapters"]["patient:grounded"].update(revision="2"))
    assert "patient:grounded is not the one the manifest names" in reasons(run)


def test_other_cases_than_the_manifests_are_refused(run: Path) -> None:
    edit_json(run / "manifest.json", lambda data: data["tasks"]["meddc_record"].update(cases_digest="0" * 32))
    assert "the cases of meddc_record are not those the manifest names" in reasons(run)


def test_a_record_made_again_until_it_pleased_is_refused(run: Path) -> None:
    path = run / "records.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines, lines[0]]))
    assert "1 records stand again after they were final" in reasons(run)


def test_usage_that_the_call_journal_does_not_give_is_refused(run: Path) -> None:
    usage = {"role": "judge", "model": "m", "calls": 1, "unusable": 0, "prompt_tokens": 1, "completion_tokens": 1}
    edit_json(run / "manifest.json", lambda data: data["calls"].update(usage=[usage]))
    (run / "calls.jsonl").write_text("", encoding="utf-8")
    assert "the manifest's usage is not what the call journal adds up to" in reasons(run)


def _history_text(line: Line) -> None:
    line["record"]["turns"][1]["text"] += "还有别的吗？"


def _head(line: Line) -> None:
    line["head"]["rounds"] += 1


def _hash(line: Line) -> None:
    line["record"]["history_hash"] = "0" * 32


def _view(line: Line) -> None:
    line["record"]["turns_read"] += 1


def _own_diagnosis(line: Line) -> None:
    line["record"]["diagnoses"] = ["急性阑尾炎"]


def _more_items(line: Line) -> None:
    line["record"].setdefault("items", []).append({"id": "p9", "text": "急性阑尾炎"})


def _round(line: Line) -> None:
    line["record"]["items"][0]["round"] = 7


def _let_in(line: Line) -> None:
    line["record"].setdefault("edges", []).append({"prediction": "p0", "reference": "g9"})


def _volunteered(line: Line) -> None:
    line["record"]["volunteered"] = ["t99"]


def _key(line: Line) -> None:
    line["key"]["case"] = "rec-003"


@pytest.mark.parametrize(
    ("stage", "which", "change", "reason"),
    [
        ("history", {}, _history_text, "a history was edited"),
        ("history", {}, _head, "a history was edited"),
        ("history", {"case": "rec-001"}, _key, "a history stands under the id of another"),
        ("reading", {"condition": "knowledge"}, _hash, "a reading was made of another history"),
        ("reading", {"condition": "knowledge"}, _view, "a reading was made of another view"),
        ("evidence", {"axis": "diagnosis", "condition": "knowledge"}, _more_items, "judges other diagnoses"),
        ("evidence", {"axis": "diagnosis", "condition": "knowledge"}, _let_in, "admits an edge that cannot count"),
        ("evidence", {"axis": "trajectory"}, _round, "a round that is not its turn's"),
        ("evidence", {"axis": "trajectory"}, _volunteered, "a volunteered target that there is not"),
        ("evidence", {"axis": "trajectory", "case": "rec-001"}, _key, "evidence stands under the id of another"),
    ],
    ids=lambda value: value.__name__ if callable(value) else None,
)  # fmt: skip
def test_a_record_edited_by_hand_is_refused(run: Path, stage: str, which: Line, change: Any, reason: str) -> None:
    def edit(line: Line) -> Line:
        if line["stage"] == stage and which.items() <= line["key"].items():
            change(line)
        return line

    assert edit_records(run, edit)
    resave(run)
    assert reason in reasons(run)


def test_an_emitted_diagnosis_edited_by_hand_is_refused(run: Path) -> None:
    def edit(line: Line) -> Line:
        if line["stage"] == "reading" and line["key"]["condition"] == "emitted":
            _own_diagnosis(line)
        return line

    assert edit_records(run, edit)
    resave(run)
    assert "an `emitted` reading is not the policy's own diagnosis" in reasons(run, Wanted(condition="emitted"))


def test_an_edge_taken_out_with_care_shows_only_when_the_evidence_is_made_again(run: Path) -> None:
    def edit(line: Line) -> Line:
        if line["stage"] == "evidence" and line["key"]["axis"] == "trajectory":
            line["record"].pop("edges", None)
        return line

    assert edit_records(run, edit)
    resave(run)
    assert rows_of(run)["checklist"].scores["T"].mean == 0
    assert "evidence made again is another" in reasons(run, again=True)


def test_an_honest_run_passes_when_it_is_made_again(finished: Path) -> None:
    assert set(rows_of(finished, again=True)) == {"checklist", "shuffled"}


def test_several_judges_are_mixed_instruments_until_one_is_named(tmp_path: Path) -> None:
    judges = [{"name": "lexical", "label": label} for label in ("one", "two")]
    folder = make_run(tmp_path / "run", tasks=["meddc_record"], limit=2, policies=["brief"], judges=judges)
    assert "mixed instruments: it has 2 judges (one, two); name one, --judge" in reasons(folder)
    assert rows_of(folder, Wanted(judge="two"))["brief"].instrument.judge.name == "lexical"


def test_a_label_that_is_not_in_the_run_is_a_usage_error(finished: Path) -> None:
    for wanted in (
        Wanted(policy="chceklist"),
        Wanted(condition="gpt"),
        Wanted(task="meddc_dialogue"),
        Wanted(judge="x"),
    ):
        with pytest.raises(UsageError):
            rows_of(finished, wanted)


@pytest.mark.parametrize(
    "given", [{"title": "a\x1b[31mb"}, {"by": "x" * 201}, {"url": "javascript:alert(1)"}, {"title": "a\u202eb"}]
)
def test_what_a_publisher_says_is_refused_where_a_screen_would_run_it(given: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        said(**{"title": "", "by": "", "url": None, **given})


# ── private ──────────────────────────────────────────────────────────────────────────────────────


def test_a_private_task_gives_draws_and_no_counts(private: tuple[Path, MeasuredRow], registry: Registry) -> None:
    folder, row = private
    assert row.task.private
    assert row.counts is None
    assert row.draws is not None
    assert {len(draws) for draws in row.draws.values()} == {1000}
    assert all(one.parts["cases"] not in row.parts for one in row.fingerprints.values())
    text = written(row).decode()
    assert [one for one in forbidden(folder) if one in text or json.dumps(one)[1:-1] in text] == []
    assert Checker(registry).faults(row) == []
    with pytest.raises(UsageError, match="private"):
        series_of(row, registry)


def test_a_task_of_ones_own_has_no_standard_and_one_that_takes_a_shipped_name_is_custom(tmp_path: Path) -> None:
    own = make_run(tmp_path / "own", tasks=[str(write_task(tmp_path / "ward"))], policies=["brief"])
    assert rows_of(own)["brief"].instrument.name == "custom"
    posing = write_task(tmp_path / "meddc_record", name="meddc_record")
    folder = make_run(tmp_path / "posing", tasks=[str(posing)], policies=["brief"], repeats=5)
    row = rows_of(folder)["brief"]
    assert (row.instrument.standard, row.instrument.differs) == (False, ("cases",))
