"""Scores of graded diagnoses against vectors made by an independent implementation, and what must hold of any of them."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meddc_bench.contracts import Unit
from meddc_bench.errors import UsageError
from meddc_bench.pipeline.grading import graded_matching
from meddc_bench.pipeline.match import assign
from meddc_bench.pipeline.score import Cell, column
from meddc_bench.records import CREDIT, Assignment, Edge, Evidence, Item, Level, Pair, TraceStep
from meddc_metrics.soft import accurate, coverage, half_covered, pass_at_k, relative_reduction, soft_scores

GOLDEN = Path(__file__).parent / "golden"
LETTERS = {"F": "full", "C": "core", "P": "partial"}
MetricOf = Callable[..., Any]
Levels = dict[tuple[int, int], Level]


def vectors(topic: str) -> list[Any]:
    data = json.loads((GOLDEN / f"{topic}.json").read_text(encoding="utf-8"))
    return [pytest.param(one["input"], one["expected"], id=one["id"]) for one in data["cases"]]


def close(expected: float) -> Any:
    return pytest.approx(expected, abs=1e-9)


def evidence(
    levels: Mapping[tuple[int, int], str], predictions: int, references: int, order: Sequence[Any] = ()
) -> Evidence:
    found = tuple(
        Edge(prediction=f"p{row}", reference=f"g{target}", level=levels[row, target])
        for row, target in (order or sorted(levels))
    )
    return Evidence(
        axis="diagnosis",
        items=tuple(Item(id=f"p{n}", text=f"p{n}") for n in range(predictions)),
        references=tuple(f"g{n}" for n in range(references)),
        edges=found,
    )


def table(labels: Sequence[Sequence[str]]) -> Evidence:
    levels = {
        (p, g): LETTERS[one] for g, row in enumerate(labels) for p, one in enumerate(row) if one in LETTERS
    }  # fmt: skip
    return evidence(levels, len(labels[0]), len(labels))


def counted(found: Assignment) -> tuple[int, int, int]:
    levels = Counter(pair.level for pair in found.pairs)
    return levels["full"], levels["core"], levels["partial"]


def mass(found: Assignment) -> float:
    return sum(CREDIT[pair.level] for pair in found.pairs if pair.level is not None)


def check_matching(labels: Sequence[Sequence[str]], expected: Mapping[str, Any]) -> None:
    found = assign(table(labels))
    assert counted(found) == (expected["F"], expected["C"], expected["P"])
    assert mass(found) == close(expected["mass"])
    assert found.tp + found.fn == len(labels)
    assert found.tp + found.fp == len(labels[0])


@pytest.mark.parametrize(("given_", "expected"), vectors("soft_match"))
def test_levels_are_matched_as_in_the_paper(given_: Any, expected: Any) -> None:
    check_matching(given_["labels"], expected)


@pytest.mark.parametrize(("given_", "expected"), vectors("ontology_floor"))
def test_a_floor_raises_labels_before_they_are_matched(given_: Any, expected: Any) -> None:
    augmented = [
        [max(label, floor, key="0PCF".index) for label, floor in zip(*rows, strict=True)]
        for rows in zip(given_["labels"], given_["floors"], strict=True)
    ]
    assert augmented == expected["labels"]
    check_matching(augmented, expected)


@pytest.mark.parametrize(("given_", "expected"), vectors("soft_scores"))
def test_soft_scores_are_those_of_the_paper(given_: Any, expected: Any) -> None:
    found = soft_scores(
        given_["F"], given_["C"], given_["P"], references=given_["m"], predictions=given_["n"],
        alpha=given_["alpha"], beta=given_["beta"],
    )  # fmt: skip
    assert found.mass == close(expected["mass"])
    assert (found.false_positive, found.false_negative) == (close(expected["FP"]), close(expected["FN"]))
    assert (found.precision, found.recall) == (close(expected["precision"]), close(expected["recall"]))
    assert found.tversky == close(expected["tversky"])


@pytest.mark.parametrize(("given_", "expected"), vectors("evidence_coverage"))
def test_coverage_counts_each_record_once(given_: Any, expected: Any) -> None:
    assert coverage(given_["available"], given_["received"]) == close(expected["coverage"])


def unit_of(case: Mapping[str, Any], judge: Mapping[str, int]) -> Unit:
    """The unit behind a vector: without a diagnosis there is no prediction, whatever a matching might have found."""
    levels: list[Level] = ["full"] * judge["F"] + ["core"] * judge["C"] if case["diagnosed"] else []
    pairs = tuple(Pair(prediction=f"p{n}", reference=f"g{n}", level=one) for n, one in enumerate(levels))
    extra = int(case["diagnosed"])
    found = Assignment(axis="diagnosis", pairs=pairs, tp=len(pairs), fp=extra, fn=case["m"] - len(pairs))
    return Unit(
        {"diagnosis": found}, "diagnosed" if case["diagnosed"] else "budget", 5, None, 10,
        records_available=case["available"], records_received=case["covered"],
    )  # fmt: skip


@pytest.mark.parametrize(("given_", "expected"), vectors("dataset_accuracy"))
def test_accuracy_over_judges_keeps_every_case(given_: Any, expected: Any, metric: MetricOf) -> None:
    cases = given_["cases"]
    flags = [
        [
            list(accurate(one["F"], one["C"], references=case["m"], diagnosed=case["diagnosed"]))
            for one in case["judges"]
        ]
        for case in cases
    ]
    assert flags == expected["flags"]
    means = {}
    for name in ("Acc", "Strict", "Acc50", "Strict50"):
        per_judge = [
            column(metric(name), [Cell(str(n), 0, "scored", unit_of(case, judge)) for n, (case, judge) in enumerate(row)], {})
            for row in ([(case, case["judges"][j]) for case in cases] for j in range(len(cases[0]["judges"])))
        ]  # fmt: skip
        assert all(one.measured == one.expected == len(cases) for one in per_judge)
        means[name] = 100 * float(np.mean([one.mean for one in per_judge]))
        assert means[name] == close(expected[name.lower()])
    for name in ("Acc", "Strict"):
        lost = relative_reduction(means[name], means[f"{name}50"])
        wanted = expected[f"delta_{name.lower()}"]
        assert lost is None if wanted is None else lost is not None and 100 * lost == close(wanted)


@pytest.mark.parametrize("row", json.loads((GOLDEN / "trustmed_t05_diagnostic_full.json").read_text())["rows"], ids=str)
def test_printed_reductions_follow_from_printed_accuracies_within_rounding(row: Any) -> None:
    for name in ("acc", "strict"):
        plain, gated, printed = (row[one]["mean"] for one in (name, f"{name}50", f"delta_{name}"))
        ends = [
            relative_reduction(plain + one, gated + other) or 0.0 for one in (-0.05, 0.05) for other in (-0.05, 0.05)
        ]
        assert 100 * min(ends) - 0.051 <= printed <= 100 * max(ends) + 0.051


# ── properties ───────────────────────────────────────────────────────────────────────────────────

SIZES = st.tuples(st.integers(1, 4), st.integers(1, 4))
LEVEL = st.sampled_from([None, "full", "core", "partial"])


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, int, Levels]:
    predictions, references = draw(SIZES)
    levels: Levels = {}
    for row in range(predictions):
        for target in range(references):
            level = draw(LEVEL)
            if level is not None:
                levels[row, target] = level
    return predictions, references, levels


def best_by_trying(predictions: int, references: int, levels: Levels) -> tuple[float, int, int]:
    size = max(predictions, references)
    tried = []
    for order in permutations(range(size), predictions):
        taken = Counter(levels.get((row, target)) for row, target in enumerate(order))
        tried.append((100 * taken["full"] + 85 * taken["core"] + 50 * taken["partial"], taken["full"], taken["core"]))
    return max(tried)


@given(graphs())
def test_no_other_matching_is_worth_more(graph: tuple[int, int, Levels]) -> None:
    predictions, references, levels = graph
    found = graded_matching(levels)
    taken = Counter(levels[row, target] for target, row in found.items())
    assert len(set(found.values())) == len(found)
    assert (100 * taken["full"] + 85 * taken["core"] + 50 * taken["partial"], taken["full"], taken["core"]) == (
        best_by_trying(predictions, references, levels)
    )


@given(graphs(), st.integers(0, 2**32))
def test_the_order_in_which_a_judge_lists_edges_decides_nothing(graph: tuple[int, int, Levels], seed: int) -> None:
    predictions, references, levels = graph
    order = sorted(levels)
    random.Random(seed).shuffle(order)
    assert assign(evidence(levels, predictions, references, order)) == assign(evidence(levels, predictions, references))


@given(graphs(), st.data())
def test_renumbering_predictions_and_references_changes_no_score(
    graph: tuple[int, int, Levels], data: st.DataObject
) -> None:
    predictions, references, levels = graph
    rows, targets = (data.draw(st.permutations(range(size))) for size in (predictions, references))
    moved = {(rows[row], targets[target]): level for (row, target), level in levels.items()}
    before, after = (assign(evidence(one, predictions, references)) for one in (levels, moved))
    assert counted(before) == counted(after)
    assert (before.tp, before.fp, before.fn) == (after.tp, after.fp, after.fn)


def scores(found: Assignment) -> tuple[float, float, float]:
    full, core, some = counted(found)
    scored = soft_scores(full, core, some, references=found.tp + found.fn, predictions=found.tp + found.fp)
    return scored.precision, scored.recall, scored.tversky


@given(graphs())
def test_scores_stay_between_nothing_and_all(graph: tuple[int, int, Levels]) -> None:
    predictions, references, levels = graph
    found = assign(evidence(levels, predictions, references))
    assert all(0 <= one <= 1 + 1e-12 for one in scores(found))
    assert mass(found) <= min(predictions, references)


@given(graphs())
def test_naming_an_unrelated_disease_more_raises_no_score(graph: tuple[int, int, Levels]) -> None:
    predictions, references, levels = graph
    plain, padded = (scores(assign(evidence(levels, predictions + more, references))) for more in (0, 1))
    assert padded[0] <= plain[0]
    assert padded[1] == plain[1]
    assert padded[2] <= plain[2]


@given(graphs(), st.data())
def test_raising_a_level_lowers_no_credit_and_no_accuracy(graph: tuple[int, int, Levels], data: st.DataObject) -> None:
    predictions, references, levels = graph
    raised = dict(levels)
    for pair in [(row, target) for row in range(predictions) for target in range(references)]:
        better = data.draw(LEVEL)
        if better is not None and CREDIT[better] > CREDIT.get(levels.get(pair, ""), 0):
            raised[pair] = better
    before, after = (assign(evidence(one, predictions, references)) for one in (levels, raised))
    assert mass(after) >= mass(before) - 1e-12


# ── edges of the record and of the metrics ───────────────────────────────────────────────────────


def test_an_axis_that_was_not_graded_keeps_its_pairs_as_they_were() -> None:
    found = assign(evidence({(0, 0): "covers"}, 1, 1))
    assert found.pairs == (Pair(prediction="p0", reference="g0"),)


def test_what_was_stored_before_levels_reads_and_writes_the_same_bytes() -> None:
    old = b'{"prediction":"p0","reference":"g0","round":2}'
    assert msgspec.json.encode(msgspec.json.decode(old, type=Pair)) == old


def test_a_pair_judged_twice_counts_at_its_higher_level() -> None:
    twice = evidence({(0, 0): "partial"}, 1, 1)
    again = Evidence(
        axis="diagnosis", items=twice.items, references=twice.references,
        edges=(*twice.edges, Edge(prediction="p0", reference="g0", level="core")),
    )  # fmt: skip
    assert [pair.level for pair in assign(again).pairs] == ["core"]


def test_an_edge_without_a_level_among_graded_ones_is_excluded_with_the_reason() -> None:
    found = assign(evidence({(0, 0): "full", (1, 1): "covers"}, 2, 2))
    assert counted(found) == (1, 0, 0)
    assert [edge.excluded for edge in found.excluded] == ["level 'covers' among graded edges"]


def unit(levels: Sequence[Level | None], references: int, predictions: int, **more: Any) -> Unit:
    pairs = tuple(Pair(prediction=f"p{n}", reference=f"g{n}", level=one) for n, one in enumerate(levels))
    found = Assignment(
        axis="diagnosis", pairs=pairs, tp=len(pairs), fp=predictions - len(pairs), fn=references - len(pairs)
    )
    return Unit({"diagnosis": found}, more.pop("ended", "diagnosed"), 5, None, 10, **more)


def value(metric: Any, *units: Unit) -> float | None:
    found: float | None = column(metric, [Cell(str(n), 0, "scored", one) for n, one in enumerate(units)], {}).mean
    return found


def test_soft_scores_of_a_run_are_means_over_its_cases(metric: MetricOf) -> None:
    run = unit(["full", "core"], 2, 3), unit([], 1, 0)
    assert value(metric("soft_precision"), *run) == close(1.85 / 3 / 2)
    assert value(metric("soft_recall"), *run) == close(1.85 / 2 / 2)
    assert value(metric("Tversky"), *run) == close(1.85 / 2.3 / 2)
    assert value(metric("Tversky", alpha=0.5, beta=0.5), *run) == close(1.85 / 2.5 / 2)


def test_weights_of_tversky_that_do_not_add_up_to_one_are_refused(metric: MetricOf) -> None:
    with pytest.raises(UsageError, match="alpha and beta must add up to 1"):
        metric("Tversky", alpha=0.5, beta=0.7)


def test_a_failed_consultation_is_not_accurate_and_stays_in_the_denominator(metric: MetricOf) -> None:
    failed = unit(["full"], 1, 1, policy_failed=True)
    assert value(metric("Acc"), failed, unit(["full"], 1, 1)) == 0.5


def test_a_case_without_test_records_never_passes_the_gate(metric: MetricOf) -> None:
    assert not half_covered(0, 0)
    assert value(metric("Acc50"), unit(["full"], 1, 1)) == 0.0
    assert value(metric("findings_coverage"), unit(["full"], 1, 1)) is None


def test_the_reduction_of_a_run_without_an_accurate_case_is_undefined(metric: MetricOf) -> None:
    assert value(metric("delta_Acc"), unit([], 1, 1)) is None
    full, thin = (unit(["full"], 1, 1, records_available=2, records_received=got) for got in (1, 0))
    assert value(metric("delta_Acc"), full, thin) == 0.5


def test_behaviour_is_read_from_the_trace(metric: MetricOf) -> None:
    def trace(*steps: tuple[str, int]) -> tuple[TraceStep, ...]:
        return tuple(TraceStep(round=n, name=name, form="tool", violations=bad) for n, (name, bad) in enumerate(steps))

    diligent = unit(
        [], 1, 0, ended="deferred", records_available=4, records_received=3,
        trace=trace(("ask", 0), ("order_tests", 0), ("order_tests", 1), ("search", 0), ("defer_to_human", 0)),
    )  # fmt: skip
    idle = unit([], 1, 1, records_available=4, trace=trace(("search", 1), ("final_diagnosis", 0), ("ask", 0)))
    assert value(metric("findings_coverage"), diligent, idle) == 0.375
    assert value(metric("workup_actions"), diligent, idle) == 2.0
    assert value(metric("search_rate"), diligent, idle) == 0.5
    assert value(metric("deferral_rate"), diligent, idle) == 0.5
    assert value(metric("invalid_rate"), diligent, idle) == 0.25


def test_one_pass_in_three_repeats_is_a_pass_at_three() -> None:
    assert pass_at_k([False, True, False], 3) == 1.0
    assert pass_at_k([False, False, False], 3) == 0.0
    assert pass_at_k([True, False, True, False], 2) == close(5 / 6)
    with pytest.raises(ValueError, match="pass@4 needs at least 4 repeats, there are 3"):
        pass_at_k([True, True, False], 4)
