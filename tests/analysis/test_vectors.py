"""The paper's statistics against vectors made by an independent implementation."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from meddc_bench.analysis.association import association
from meddc_bench.analysis.audit import audit_scores
from meddc_bench.analysis.bootstrap import bootstrap, intervals
from meddc_bench.analysis.patterns import buckets, case_patterns
from meddc_bench.analysis.resample import replicate_given
from meddc_bench.analysis.sensitivity import sensitivity
from meddc_bench.analysis.series import Series
from meddc_bench.analysis.totals import WEIGHTS, weighted

FOLDER = Path(__file__).parent / "golden"


def vectors(topic: str) -> list[Any]:
    data = json.loads((FOLDER / f"{topic}.json").read_text(encoding="utf-8"))
    return [pytest.param(one["input"], one["expected"], id=one["id"]) for one in data["cases"]]


def close(expected: Any) -> Any:
    return pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("given", "expected"), vectors("fixed_history"))
def test_shifts_ranks_and_reversals_are_those_of_supplement_c(given: Any, expected: Any) -> None:
    found = audit_scores({"own": given["own"], "shared": given["shared"]}, "own", unit="points")
    assert {one.policy: one.value for one in found.shifts} == close(expected["shift"])
    for row, key in zip(found.ranks, ("own_rank", "shared_rank"), strict=True):
        assert {one.policy: one.rank for one in row.ranks} == expected[key]
    reversals = found.comparisons[0].reversals
    assert (reversals.count, reversals.pairs, reversals.tied) == (
        expected["reversals"], expected["pairs"], expected["tied_pairs"],
    )  # fmt: skip
    assert [[one.first, one.second] for one in reversals.reversed] == expected["reversed_pairs"]


def three_and_total(policy: str, runs: Sequence[Sequence[Any]], metric: Callable[..., Any]) -> list[Series]:
    names = tuple(f"c{n:03}" for n in range(len(runs[0])))
    d, t = (
        Series(
            policy, key.upper(), names,
            {name: [[case[key][n] for case in run] for run in runs] for n, name in enumerate(("tp", "fp", "fn"))},
            metric(key.upper()).aggregate,
        )
        for key in "dt"
    )  # fmt: skip
    e = {"sum": [[case["e"] for case in run] for run in runs], "n": [[1] * len(names) for _ in runs]}
    timing = Series(policy, "E", names, e, metric("E").aggregate)
    return [d, t, timing, weighted([d, t, timing], WEIGHTS)]


@pytest.mark.parametrize(("given", "expected"), vectors("bootstrap"))
def test_differences_are_resampled_run_by_run_on_the_same_cases(
    given: Any, expected: Any, metric: Callable[..., Any]
) -> None:
    first = three_and_total("policy", given["policy_runs"], metric)
    second = three_and_total("baseline", given["baseline_runs"], metric)
    cases = len(first[0].cases)
    counts = np.stack([np.bincount(draw, minlength=cases) for draw in given["draws"]]).astype(float)
    found = replicate_given([*first, *second], counts)
    for one, other, series in zip(found[:4], found[4:], first, strict=True):
        wanted = expected["components"][series.metric]
        assert 100 * (one.value - other.value) == close(wanted["point"])
        draws = one.draws - other.draws
        assert (100 * draws).tolist() == close(wanted["diffs"])
        (interval,) = intervals(draws[None], 0.95)
        assert interval.low is not None
        assert interval.high is not None
        assert [100 * interval.low, 100 * interval.high] == close(wanted["ci"])
        assert (draws > 1e-12).mean() == close(wanted["p_gt_0"])
    assert (100 * (found[3].cases - found[7].cases)).tolist() == close(expected["case_total_diff"])


@pytest.mark.parametrize(("given", "expected"), vectors("bootstrap"))
def test_cases_won_tied_and_lost_are_counted_within_a_point(
    given: Any, expected: Any, metric: Callable[..., Any]
) -> None:
    series = [
        three_and_total("policy", given["policy_runs"], metric)[3],
        three_and_total("baseline", given["baseline_runs"], metric)[3],
    ]
    (found,) = bootstrap(series, draws=10).differences
    assert (found.wins, found.ties, found.losses) == (expected["W"], expected["T"], expected["L"])
    assert found.value == close(expected["components"]["Total"]["point"] / 100)


@pytest.mark.parametrize(("given", "expected"), vectors("bootstrap"))
def test_total_weighed_from_its_parts_is_the_metric_total(
    given: Any, expected: Any, metric: Callable[..., Any]
) -> None:
    parts = three_and_total("policy", given["policy_runs"], metric)
    d, t, timing, total = parts
    statistics = {f"d_{name}": array for name, array in d.statistics.items()}
    statistics |= {f"t_{name}": array for name, array in t.statistics.items()}
    statistics |= {"e": timing.statistics["sum"], "n": timing.statistics["n"]}
    whole = Series("metric", "Total", total.cases, statistics, metric("Total").aggregate)
    one, other = replicate_given([total, whole], np.eye(len(total.cases)))
    assert one.value == close(other.value)
    assert one.draws.tolist() == close(other.draws.tolist())


@pytest.mark.parametrize(("given", "expected"), vectors("weight_sensitivity"))
def test_margins_under_other_weights(given: Any, expected: Any) -> None:
    scores = {policy: dict(zip("DTE", row, strict=True)) for policy, row in given["components"].items()}
    weights = [dict(zip("DTE", row, strict=True)) for row in given["weights"]]
    found = sensitivity(scores, weights, unit="points").weightings
    for one, row in zip(found, expected["rows"], strict=True):
        assert one.scores == close(row["scores"])
        assert (one.top, one.second) == (row["top"], row["second"])
        assert one.margin == close(row["margin"])


@pytest.mark.parametrize(("given", "expected"), vectors("association"))
def test_correlations_of_two_scores(given: Any, expected: Any) -> None:
    found = association(given["x"], given["y"])
    assert found.pearson == close(expected["pearson"])
    assert found.spearman == close(expected["spearman"])


@pytest.mark.parametrize(("given", "expected"), vectors("tertile_buckets"))
def test_cases_high_on_one_metric_and_low_on_the_other_in_three_of_five_runs(given: Any, expected: Any) -> None:
    found = buckets(given["T_runs"], given["D_runs"], scope=given["scope"])
    assert [[cut.low, cut.high] for cut in found.cuts_t] == [close(one) for one in expected["cuts_T"]]
    assert [[cut.low, cut.high] for cut in found.cuts_d] == [close(one) for one in expected["cuts_D"]]
    assert found.high_low_runs.tolist() == expected["runs_HT_LD"]
    assert found.low_high_runs.tolist() == expected["runs_LT_HD"]
    assert (found.high_low, found.low_high) == (expected["HT_LD"], expected["LT_HD"])


@pytest.mark.parametrize(("given", "expected"), vectors("case_patterns"))
def test_a_case_is_a_stable_or_a_sparse_gain_by_table_s19(given: Any, expected: Any) -> None:
    runs = [np.array(given[name])[:, None] / 100 for name in ("trained_T", "base_T", "trained_D", "base_D")]
    (found,) = case_patterns(["c1"], *runs, [given["lthd_runs"]]).cases
    assert [100 * found.d_t, 100 * found.d_d] == close([expected["dT"], expected["dD"]])
    assert [found.s_t, found.s_d] == close([expected["S_T"], expected["S_D"]])
    assert (found.stable_gain, found.sparse_gain) == (expected["S2"], expected["S3"])
