"""The paper's printed tables, recomputed from other printed numbers as far as their one decimal allows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from meddc_bench.analysis.association import association
from meddc_bench.analysis.audit import Audit, audit_scores
from meddc_bench.analysis.ranks import ranks
from meddc_bench.analysis.sensitivity import SEVEN, sensitivity
from meddc_bench.analysis.totals import total_scores, weigh

TRAINED = "Qwen3-32B + GRPO"
Golden = Callable[[str], Any]
splits = pytest.mark.parametrize("split", ["record", "dialogue"])


def fixed_history(golden: Golden, split: str, without: str = "") -> Audit:
    rows = [row for row in golden("medddc_s04_fixed_history")["rows"] if row["policy"] != without]
    scores = {
        reader: {row["policy"]: row[split][f"{reader}_D"] for row in rows} for reader in ("own", "shared")
    }  # fmt: skip
    return audit_scores(scores, "own", unit="points")


def means(golden: Golden, split: str) -> dict[str, dict[str, float]]:
    table = golden({"record": "medddc_s11_record_mean_sd", "dialogue": "medddc_s12_dialogue_mean_sd"}[split])
    return {row["policy"]: {name: row[name]["mean"] for name in ("D", "T", "E", "Total")} for row in table["rows"]}


@splits
def test_table_s4_reversals_and_ranks_follow_from_its_scores(golden: Golden, split: str) -> None:
    printed = golden("medddc_s04_fixed_history")
    found = fixed_history(golden, split)
    reversals = found.comparisons[0].reversals
    assert [reversals.count, reversals.pairs] == printed["printed_reversals"]["eight_policies"][split]
    assert round(100 * (reversals.share or 0)) == printed["printed_reversal_percent"][split]
    for row in found.ranks:
        want = {one["policy"]: one[split][f"{row.reader}_rank"] for one in printed["rows"]}
        assert {one.policy: one.rank for one in row.ranks} == want
    for shift in found.shifts:
        want = next(one[split]["printed_diff"] for one in printed["rows"] if one["policy"] == shift.policy)
        assert shift.value == pytest.approx(want, abs=0.1 + 1e-9)
    kendall = found.comparisons[0].kendall
    assert kendall.tau == pytest.approx(1 - 2 * reversals.count / reversals.pairs)


@splits
def test_table_s4_reversals_without_the_trained_policy(golden: Golden, split: str) -> None:
    want = golden("medddc_s04_fixed_history")["printed_reversals"]["seven_policies_without_trained"][split]
    reversals = fixed_history(golden, split, without=TRAINED).comparisons[0].reversals
    assert [reversals.count, reversals.pairs] == want


@splits
def test_a_published_table_decides_no_ordering(golden: Golden, split: str) -> None:
    found = fixed_history(golden, split)
    assert {one.verdict for one in found.orderings} == {"undecided"}
    assert all("without cases" in one.words for one in found.orderings)
    assert {one.interval.reason for one in found.shifts} == {
        "a table of scores without cases: no interval can be drawn"
    }
    assert (found.cases, found.draws, found.seed) == (0, 0, None)


@splits
def test_tables_s11_and_s12_totals_are_the_weighted_means(golden: Golden, split: str) -> None:
    for row in means(golden, split).values():
        assert weigh(row) == pytest.approx(row["Total"], abs=0.1)


@splits
def test_table_s15_margins_and_leaders_follow_from_the_means(golden: Golden, split: str) -> None:
    printed = golden("medddc_s15_weight_sensitivity")
    assert [dict(one) for one in SEVEN] == [row["weights"] for row in printed["rows"]]
    found = sensitivity(means(golden, split), unit="points")
    assert found.stable
    for one, row in zip(found.weightings, printed["rows"], strict=True):
        assert one.top == printed["top_system_everywhere"]
        assert one.margin == pytest.approx(row[f"{split}_margin"], abs=0.105)
    ahead = [(0.55, 0.35), (0.5, 0.35), (0.55, 0.4)] if split == "dialogue" else []
    for one in found.weightings:
        other = (one.weights["D"], one.weights["T"]) in ahead
        assert one.second == ("Llama-3-70B-UltraMedical" if other else "GPT-5.4")


@splits
def test_table_s16_the_trained_policy_stays_first_under_every_reader(golden: Golden, split: str) -> None:
    scores = {"shared": {policy: row["Total"] for policy, row in means(golden, split).items()}}
    rows = golden("medddc_s16_alternative_readers")["rows"]
    for reader in ("Qwen3-32B reader", "GPT-5.4 reader"):
        scores[reader] = {row["policy"]: row[split][reader]["mean"] for row in rows}
    found = audit_scores(scores, "shared", metric="Total", unit="points")
    margins = []
    for row in found.ranks:
        assert row.ranks[0].policy == TRAINED
        margins.append(row.ranks[0].score - row.ranks[1].score)
    assert not any(TRAINED in (pair.first, pair.second) for one in found.comparisons for pair in one.reversals.reversed)
    closest = golden("medddc_s16_alternative_readers")["printed_closest_margin"]
    if split == closest["split"]:
        assert min(margins) == pytest.approx(closest["margin"], abs=0.1)


@splits
def test_table_s16_total_under_a_reader_keeps_t_and_e(golden: Golden, split: str) -> None:
    table = means(golden, split)
    rows = golden("medddc_s04_fixed_history")["rows"]
    read = {reader: {row["policy"]: row[split][f"{reader}_D"] for row in rows} for reader in ("own", "shared")}
    fixed = {policy: {"T": row["T"], "E": row["E"]} for policy, row in table.items()}
    own, shared = total_scores(read, fixed)
    for policy, row in table.items():
        assert shared.scores[policy] == pytest.approx(row["Total"], abs=0.1)
        gap = next(one[split]["shared_D"] - one[split]["own_D"] for one in rows if one["policy"] == policy)
        assert (shared.scores[policy] or 0) - (own.scores[policy] or 0) == pytest.approx(gap / 2)


@splits
def test_table_s17_correlates_means_in_which_each_case_counts_alike(golden: Golden, split: str) -> None:
    rows = [row for row in golden("medddc_s18_case_decomposition")["rows"] if row["split"] == split]
    want = next(
        row for row in golden("medddc_s17_association")["rows"]
        if row["split"] == split and row["level"] == "model means"
    )  # fmt: skip
    found = association([row["T"] for row in rows], [row["D"] for row in rows])
    assert found.n == want["n"]
    assert found.pearson == pytest.approx(want["pearson"], abs=0.003)
    assert found.spearman == pytest.approx(want["spearman"], abs=0.0006)
    micro = means(golden, split).values()
    assert association([row["T"] for row in micro], [row["D"] for row in micro]).spearman != pytest.approx(
        want["spearman"], abs=0.01
    )


@splits
def test_table_s13_differences_are_weighed_from_those_of_table_s14(golden: Golden, split: str) -> None:
    totals = {
        row["baseline"]: row["mean_diff"]
        for row in golden("medddc_s13_bootstrap_total")["rows"] if row["split"] == split
    }  # fmt: skip
    parts: dict[str, dict[str, float]] = {}
    for row in golden("medddc_s14_bootstrap_components")["rows"]:
        if row["split"] == split:
            parts.setdefault(row["baseline"], {})[row["component"]] = row["mean_diff"]
    assert sorted(parts) == ["GPT-5.4", "Qwen3-32B"]
    for baseline, row in parts.items():
        assert weigh(row) == pytest.approx(totals[baseline], abs=0.1)


@splits
def test_table_1_totals_rank_as_printed(golden: Golden, split: str) -> None:
    table = golden("medddc_t01_main")["rows"]
    found = ranks({row["policy"]: row[split]["Total"] for row in table}, unit="points")
    assert found[0].policy == TRAINED
    three = [one.rank for one in found if one.tied]
    assert three == ([6, 6, 6] if split == "dialogue" else [])
