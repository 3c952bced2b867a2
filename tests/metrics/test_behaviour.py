"""What a workup's marks and trace are made into: coverage, productive turns, catches, alarms, chances over repeats."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meddc_bench.contracts import Unit
from meddc_bench.pipeline.match import assign
from meddc_bench.pipeline.score import Cell, column
from meddc_bench.records import Assignment, Edge, Evidence, Item, Pair
from meddc_bench.scorer import received
from meddc_metrics.behaviour import behaviour

MetricOf = Callable[..., Any]
Marks = tuple[tuple[str, ...], ...]


def visit(*marks: tuple[str, ...], available: int = 4, ended: str = "diagnosed") -> Unit:
    known = frozenset(f"record:p{n}" for n in range(3, 3 + available))
    return Unit(
        {}, ended, 5, None, 10, records_available=available, records_received=received(known, marks), marks=tuple(marks)
    )


GOLDEN = json.loads((Path(__file__).parents[1] / "trustmed" / "golden" / "evidence_coverage.json").read_text("utf-8"))


@pytest.mark.parametrize("vector", GOLDEN["cases"], ids=[one["id"] for one in GOLDEN["cases"]])
def test_coverage_is_that_of_the_vectors_whatever_was_repeated_or_unknown(vector: Any, metric: MetricOf) -> None:
    available = vector["input"]["available"]
    known = frozenset(f"record:{one}" for one in available)
    marks = tuple((f"record:{one}",) for one in vector["input"]["received"])
    unit = Unit({}, "diagnosed", 5, None, 10, (), False, len(known), received(known, marks), marks)
    found = value(metric("findings_coverage"), unit)
    assert found == (pytest.approx(vector["expected"]["coverage"], abs=1e-9) if available else None)


def value(metric: Any, *units: Unit) -> float | None:
    found: float | None = column(metric, [Cell(str(n), 0, "scored", one) for n, one in enumerate(units)], {}).mean
    return found


def test_a_record_counts_once_however_often_it_was_ordered_or_sent(metric: MetricOf) -> None:
    one = visit(("ordered:p3", "ordered:p4"), ("record:p3", "record:p3"), ("record:p3",))
    assert value(metric("ordering_coverage"), one) == 0.5
    assert value(metric("findings_coverage"), one) == 0.25


def test_ordering_without_asking_for_the_report_covers_no_findings(metric: MetricOf) -> None:
    one = visit(("ordered:p3",), ("ordered:p4", "unavailable:imaging:MRI"))
    assert (value(metric("ordering_coverage"), one), value(metric("findings_coverage"), one)) == (0.5, 0.0)


def test_a_turn_is_productive_when_it_brings_or_orders_what_there_is(metric: MetricOf) -> None:
    one = visit(
        ("examined:p1", "examined:p2"),
        ("ordered:p3",),
        ("record:p3",),
        ("unavailable:imaging:MRI",),
        ("gate:clean:passed",),
    )
    assert value(metric("productive_actions"), one, visit()) == 1.5


def test_cases_without_records_are_left_out_of_the_coverages(metric: MetricOf) -> None:
    assert value(metric("findings_coverage"), visit(("record:p3",)), visit(available=0)) == 0.25
    assert value(metric("ordering_coverage"), visit(available=0)) is None


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (("caught", "missed"), 0.5), (("misnamed",), 0.0), (("none",), 0.0), (("caught", "caught", "caught"), 1.0), ((), None),
    ],
)  # fmt: skip
def test_a_catch_is_a_verdict_that_names_the_very_mismatch(
    verdicts: tuple[str, ...], expected: float | None, metric: MetricOf
) -> None:
    met = [visit((f"gate:modality:{one}",), ("gate:modality:located", "gate:clean:passed")) for one in verdicts]
    clean = visit(("gate:clean:passed",))
    assert value(metric("modality_catch"), *met, clean) == expected
    assert value(metric("anatomy_catch"), *met, clean) is None
    assert value(metric("false_alarm"), *met, clean) == 0.0


def test_a_located_picture_alone_is_no_catch(metric: MetricOf) -> None:
    assert value(metric("anatomy_catch"), visit(("gate:anatomy:located", "gate:anatomy:missed"))) == 0.0


def test_an_alarm_on_clean_pictures_counts_over_the_checks_that_took_place(metric: MetricOf) -> None:
    assert value(metric("false_alarm"), visit(("gate:clean:false_alarm",)), visit(("gate:clean:none",)), visit()) == 0.5


@given(st.lists(st.lists(st.text(max_size=12), max_size=3).map(tuple), max_size=5).map(tuple))
def test_no_mark_breaks_the_statistics(marks: Marks) -> None:
    found = behaviour(visit(*marks))
    assert found["ordering"] >= 0
    assert all(found[kind] <= found[f"{kind}_met"] <= 1 for kind in ("modality", "anatomy", "clean"))


# ── over repeats ─────────────────────────────────────────────────────────────────────────────────


def diagnosed(right: bool) -> Unit:
    pairs = (Pair(prediction="p0", reference="g0", level="full"),) if right else ()
    return Unit(
        {"diagnosis": Assignment(axis="diagnosis", pairs=pairs, tp=int(right), fp=1, fn=int(not right))},
        "diagnosed",
        5,
        None,
        10,
    )


def repeats(**right: str) -> list[Cell]:
    """Cells of cases whose repeats were right (+), wrong (-) or not measured (?)."""
    return [
        Cell(
            case,
            number,
            "judge_failed" if one == "?" else "scored",
            None if one == "?" else diagnosed(one == "+"),
            "why",
        )
        for case, told in right.items()
        for number, one in enumerate(told)
    ]


def test_acc_at_3_takes_a_case_that_any_of_three_repeats_got_right(metric: MetricOf) -> None:
    found = column(metric("Acc_at_k"), repeats(a="--+", b="---", c="+++", d="-+-"), {})
    assert (found.mean, found.sd) == (0.75, 0.0)
    assert column(metric("Acc"), repeats(a="--+", b="---", c="+++", d="-+-"), {}).mean == pytest.approx(5 / 12)


def test_acc_at_k_estimates_from_more_repeats_than_k(metric: MetricOf) -> None:
    assert column(metric("Acc_at_k", k=1), repeats(a="--+-"), {}).mean == pytest.approx(0.25)
    assert column(metric("Strict_at_k", k=2), repeats(a="--+-"), {}).mean == pytest.approx(0.5)


def test_a_case_with_an_unmeasured_repeat_has_no_chance_over_repeats(metric: MetricOf) -> None:
    references = {"a": {"diagnosis": 1}, "b": {"diagnosis": 1}}
    found = column(metric("Acc_at_k"), repeats(a="+?+", b="---"), references)  # type: ignore[arg-type]
    assert found.mean == 0.0
    assert found.measured < found.expected


# ── counts and bounds of graded diagnoses ────────────────────────────────────────────────────────


def test_a_part_of_a_diagnosis_is_no_true_positive_of_d(metric: MetricOf) -> None:
    edges = (
        Edge(prediction="p0", reference="g0", level="core"),
        Edge(prediction="p1", reference="g1", level="partial"),
    )
    items = (Item(id="p0", text="肺炎"), Item(id="p1", text="结膜炎"))
    found = assign(Evidence(axis="diagnosis", items=items, references=("g0", "g1"), edges=edges))
    assert [pair.level for pair in found.pairs] == ["core", "partial"]
    assert (found.tp, found.fp, found.fn) == (1, 1, 1)
    unit = Unit({"diagnosis": found}, "diagnosed", 5, None, 10)
    assert value(metric("D"), unit) == 0.5
    assert value(metric("soft_recall"), unit) == pytest.approx(1.35 / 2)


def test_bounds_of_acc_at_50_know_that_a_case_without_records_cannot_pass(metric: MetricOf) -> None:
    cells = repeats(a="?", b="?", c="-")
    references = {one: {"diagnosis": 1} for one in "abc"}
    found = column(metric("Acc50"), cells, references, records={"a": 3})  # type: ignore[arg-type]
    assert found.bounds == (0.0, pytest.approx(1 / 3))
    assert column(metric("Acc"), cells, references).bounds == (0.0, pytest.approx(2 / 3))  # type: ignore[arg-type]
