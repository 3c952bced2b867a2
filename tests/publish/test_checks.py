"""A row that was touched is refused, and the reason names what was touched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from publish_lab import edited, numbers_in

from meddc_bench.errors import InputError
from meddc_bench.publish.checks import Checker
from meddc_bench.publish.files import load_row, parsed, written
from meddc_bench.publish.row import MeasuredRow

PRINTED = ("mean", "sd", "low", "high", "se", "lowest", "highest", "measured", "expected")


def test_a_row_of_an_honest_run_passes(rows: dict[str, MeasuredRow], checker: Checker) -> None:
    assert {name: checker.faults(row) for name, row in rows.items()} == {name: [] for name in rows}


def test_every_printed_number_that_is_edited_and_sealed_again_is_named(row: MeasuredRow, checker: Checker) -> None:
    scores = json.loads(written(row))["scores"]
    places = [where for where, _ in numbers_in(scores)]
    assert len(places) > 80
    assert {where.split("/")[1] for where in places} == {*PRINTED, "values"}
    missed = []
    for where, value in numbers_in(scores):
        new = value + 1 if isinstance(value, int) else value + 1e-6
        found = checker.faults(edited(row, f"scores/{where}", new))
        name = where.split("/")[0]
        if not any(f"scores.{name}" in reason for reason in found):
            missed.append((where, found))
    assert missed == []


def test_every_other_number_that_is_edited_breaks_the_seal(row: MeasuredRow, checker: Checker) -> None:
    data = json.loads(written(row))
    places = [(where, value) for where, value in numbers_in(data) if not where.startswith(("counts/", "parts/"))]
    outside = [(where, value) for where, value in places if not where.startswith(("scores/", "format"))]
    assert {where.split("/")[0] for where, _ in outside} >= {"task", "conduct", "uncertainty", "protocol"}
    for where, value in outside:
        try:
            changed = edited(row, where, value + 1, seal=False)
        except InputError:
            continue
        assert "seal: the row was edited after it was written" in checker.faults(changed), where


def test_a_count_that_is_edited_and_sealed_again_no_longer_gives_the_printed_numbers(
    row: MeasuredRow, checker: Checker
) -> None:
    for metric, key in (("D", "tp"), ("T", "fp"), ("E", "sum"), ("rounds", "sum")):
        assert row.counts is not None
        found = checker.faults(edited(row, f"counts/{metric}/{key}/0/0", row.counts[metric][key][0][0] + 1))
        assert any(reason.startswith(f"scores.{metric}.") for reason in found)


@pytest.mark.parametrize(
    ("where", "value", "reason"),
    [
        ("instrument/standard", True, "instrument: says custom (standard), is custom: its cases, repeats differ"),
        ("instrument/name", "offline", "instrument: says offline, is custom"),
        ("instrument/differs", [], "instrument: says custom, is custom"),
        ("instrument/patient/revision", "4", "instrument.patient: is not the one that D was measured with"),
        ("instrument/patient/name", "kinder", "instrument.patient: is not the one that D was measured with"),
        ("instrument/judge/name", "gpt", "instrument.judge: is not the one that D was measured with"),
        ("instrument/reader/model", "gpt", "instrument.reader: is not the one that D was measured with"),
        ("instrument/judge/served", ["a", "b"], "judge: the model changed during the run: a, b"),
        ("policy/served", ["a", "b"], "policy: the model changed during the run: a, b"),
        ("fingerprints/D/digest", "0" * 32, "fingerprints.D: its digest is not that of its parts"),
        ("fingerprints/T/parts/patient", "0" * 32, "fingerprints.T: without its patient"),
        ("conduct/outcomes", {"scored": 5, "judge_failed": 1}, "conduct.outcomes: a partial run: judge_failed"),
        ("conduct/outcomes", {"scored": 5}, "conduct.outcomes: 5 consultations, but 3 cases x 2 repeats"),
        ("conduct/early_assertion", 7, "conduct.early_assertion: 7 of 6 consultations"),
        ("scores/D/measured", 5, "scores.D: a partial run: 5 of 6 units measured"),
        ("uncertainty/draws", 10, "uncertainty: rows have 10000 draws of seed 0 at level 0.95"),
        ("uncertainty/seed", 1, "uncertainty: rows have 10000 draws of seed 0 at level 0.95"),
        ("counts", None, "counts: a row has counts, or draws where its task is private"),
        ("task/private", True, "counts: a row has counts, or draws where its task is private"),
        ("task/repeats", 3, "expected 3 repeats of 3 cases"),
        ("task/name", "meddc_dialogue", "fingerprints.D: its task is not the row's"),
        ("provenance/seed", 7, "fingerprints.D: its seed is not the row's"),
        ("counts/D/tp/0", [1, 2], "counts.D.tp: expected 2 repeats of 3 cases"),
        ("scores/D/counts", "nothing", "scores.D: there is nothing to compute it from"),
        ("scores/D/counts", None, "scores.D: a value without counts"),
    ],
)
def test_what_a_row_says_of_itself_is_compared(
    row: MeasuredRow, checker: Checker, where: str, value: Any, reason: str
) -> None:
    found = checker.faults(edited(row, where, value))
    assert any(reason in one for one in found), found


def test_a_patient_put_in_the_parts_too_makes_the_row_custom_and_no_other(row: MeasuredRow, checker: Checker) -> None:
    data = json.loads(written(row))
    key = data["fingerprints"]["D"]["parts"]["patient"]
    data["parts"][key]["revision"] = "kind"
    changed = parsed(MeasuredRow, json.dumps(data).encode(), Path("row.json"))
    assert any(reason == f"parts.{key}: its digest is another" for reason in checker.faults(changed))


def test_a_standard_row_that_was_decoded_otherwise_is_no_standard_row(checker: Checker) -> None:
    from meddc_bench.resources import shipped

    row = load_row(shipped("leaderboards") / "rows" / "meddc_record" / "brief-knowledge-offline.json")
    assert checker.faults(row) == []
    found = checker.faults(edited(row, "protocol/decoding/cover_items/temperature", 0.9))
    assert found == ["instrument: says offline (standard), is custom: its options differ from the nearest standard"]


def test_counts_that_cannot_be_are_named(row: MeasuredRow, checker: Checker) -> None:
    from meddc_bench.publish.plausible import implausible

    def found(where: str, value: Any) -> str:
        return " ".join(implausible(edited(row, where, value), None))

    assert "not whole numbers" in found("counts/D/tp/0/0", 0.5)
    assert "a number below 0" in found("counts/D/fp/0/0", -1)
    assert "Total is not counted from the row's D" in found("counts/Total/d_tp/0/0", 9)
    assert "Total is not counted from the row's T" in found("counts/T/tp/0/0", 99)
    assert "Total is not counted from the row's E" in found("counts/Total/e/0/0", 0.123)
    assert "a case's E is from 0.1 to 1" in found("counts/E/sum/0/0", 1.5)
    assert "are not the predictions of T" in found("counts/questions/sum/0/0", 99)


def test_counts_that_the_cases_cannot_give_are_named_where_the_task_is_installed(registry: Any) -> None:
    from meddc_bench.publish.plausible import implausible
    from meddc_bench.resources import shipped
    from meddc_bench.run import task_index

    row = load_row(shipped("leaderboards") / "rows" / "meddc_record" / "checklist-knowledge-offline.json")
    (task,) = task_index((), registry).resolve("meddc_record")
    assert list(implausible(row, task)) == []
    assert "diagnoses are not as many" in " ".join(implausible(edited(row, "counts/D/fn/0/0", 9), task))
    assert "targets are not as many" in " ".join(implausible(edited(row, "counts/T/fn/0/0", 99), task))
    assert "more rounds than the cases allow" in " ".join(implausible(edited(row, "counts/rounds/sum/0/0", 99), task))


def test_a_private_row_is_checked_against_its_draws(private: tuple[Path, MeasuredRow], checker: Checker) -> None:
    _, row = private
    for where in ("mean", "sd", "low", "high", "se"):
        value = getattr(row.scores["D"], where)
        assert any(f"scores.D.{where}" in one for one in checker.faults(edited(row, f"scores/D/{where}", value + 1e-6)))
    assert row.draws is not None
    lowest = min(range(1000), key=lambda at: row.draws["D"][at] or 0.0) if row.draws else 0
    assert checker.faults(edited(row, f"draws/D/{lowest}", 0.999)) != []


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda text: text.replace('"mean": 0.', '"mean": NaN, "x": 0.', 1), "NaN is no number"),
        (lambda text: text.replace('"mean": 0.', '"mean": Infinity, "x": 0.', 1), "Infinity is no number"),
        (lambda text: text.replace('"format": 1', '"format": 2', 1), "format: "),
        (lambda text: text.replace('"kind": "measured"', '"kind": "measured", "rank": 1', 1), "rank: Extra inputs"),
        (lambda text: text.replace('"kind"', '"format": 1, "kind"', 1), "the key 'format' is there twice"),
        (lambda text: text.replace('"by": ""', '"by": "a\\u001b[31mb"', 1), "policy.by: Value error, holds control"),
        (lambda text: text.replace('"by": ""', '"by": "\\u202egnp"', 1), "policy.by: Value error, holds control"),
        (lambda text: text.replace('"url": null', '"url": "javascript:alert(1)"', 1), "policy.url: String should match"),
        (lambda text: text.replace('"label": "shuffled"', '"label": "=cmd|\' /C calc\'!A0"', 1), "policy.label: String"),
        (lambda text: text.replace('"counts": {', '"count": {', 1), "counts: Field required"),
        (lambda text: text.replace('+00:00"', '+08:00"').replace('Z"', '+08:00"'), "created: Value error, is not in UTC"),
        (lambda text: text[:200], "is no JSON"),
        (lambda text: "[" * 100_000, "is no JSON"),
    ],
    ids=["nan", "infinity", "format", "unknown", "twice", "escape", "bidi", "url", "label", "counts", "zone", "torn", "deep"],
)  # fmt: skip
def test_a_file_that_is_no_row_is_refused_by_its_key(
    row: MeasuredRow, tmp_path: Path, change: Any, reason: str
) -> None:
    path = tmp_path / "row.json"
    path.write_text(change(written(row).decode()), encoding="utf-8")
    with pytest.raises(InputError) as refused:
        load_row(path)
    assert reason in str(refused.value)
    assert "\x1b" not in str(refused.value)
