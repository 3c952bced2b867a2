"""Agreement, association, patterns, Holm and power against published values and SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from meddc_bench.analysis.agreement import cohen_kappa, fleiss_kappa, krippendorff_alpha
from meddc_bench.analysis.association import association, associations
from meddc_bench.analysis.multiplicity import holm
from meddc_bench.analysis.patterns import buckets, case_patterns, off_diagonal, superiority
from meddc_bench.analysis.power import cases_needed, paired_sd, power, sd_of_error
from meddc_bench.analysis.sensitivity import sensitivity
from meddc_bench.analysis.totals import weigh
from meddc_bench.errors import UsageError

NAN = float("nan")
_ = None
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
    [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
]
"""Krippendorff, Computing Krippendorff's alpha-reliability (2011): four observers, twelve units."""
SUBJECTS = [
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]  # fmt: skip
"""A worked example of Fleiss' kappa that is widely printed: ten subjects, fourteen raters, five categories, 0.210."""


@pytest.mark.parametrize(("level", "want"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_is_the_published_one_at_every_level(level: Any, want: float) -> None:
    found = krippendorff_alpha(list(zip(*OBSERVERS, strict=True)), level)
    assert found.value == pytest.approx(want, abs=0.0005)
    assert (found.items, found.ratings, found.left_out) == (11, 40, 1)


def test_fleiss_kappa_is_the_published_one() -> None:
    ratings = [[label for label, count in enumerate(row) for _ in range(count)] for row in SUBJECTS]
    found = fleiss_kappa(ratings)
    assert (round(found.value or 0, 3), round(found.observed or 0, 3), round(found.expected or 0, 3)) == (
        0.21,
        0.378,
        0.213,
    )


def test_cohen_kappa_of_a_square_table_worked_by_hand() -> None:
    """Rows 20 5, 10 15: observed 0.7, expected 0.5 x 0.6 + 0.5 x 0.4 = 0.5."""
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    assert cohen_kappa(first, second).value == pytest.approx(0.4)
    assert cohen_kappa([1, "x", 1], [1, "x", "x"]).observed == pytest.approx(2 / 3)
    gaps = cohen_kappa([*first, None, "yes", NAN], [*second, "no", None, None])
    assert (gaps.value, gaps.items, gaps.left_out) == (pytest.approx(0.4), 50, 3)


labels = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=2, max_size=30)


@given(labels)
def test_two_judges_have_one_kappa_whichever_comes_first_and_in_whatever_order(pairs: Any) -> None:
    first, second = zip(*pairs, strict=True)
    found = cohen_kappa(first, second)
    assert found == cohen_kappa(second, first)
    assert found == cohen_kappa(first[::-1], second[::-1])
    if found.value is not None:
        assert -1 - 1e-12 <= found.value <= 1 + 1e-12
    assert cohen_kappa(first, first).value in (None, pytest.approx(1))


@given(labels)
def test_alpha_of_two_judges_without_gaps_is_fleiss_kappa_corrected_for_size(pairs: Any) -> None:
    """Nominal alpha is 1 - (1 - 1/n)(1 - kappa), n the number of verdicts."""
    kappa, alpha = fleiss_kappa(pairs), krippendorff_alpha(pairs)
    if kappa.value is None:
        assert alpha.value is None
    else:
        assert alpha.value == pytest.approx(1 - (1 - 1 / (2 * len(pairs))) * (1 - kappa.value))


def test_agreement_that_cannot_be_told_from_chance_is_none_with_the_reason() -> None:
    for found in (
        cohen_kappa(["a"] * 3, ["a"] * 3), fleiss_kappa([["a", "a"]]), krippendorff_alpha([["a", "a"]]),
        cohen_kappa([None], ["a"]), krippendorff_alpha([["a", None]]), fleiss_kappa([]),
    ):  # fmt: skip
        assert found.value is None
        assert found.reason
    with pytest.raises(UsageError, match="same items"):
        cohen_kappa(["a"], [])
    with pytest.raises(UsageError, match="krippendorff_alpha"):
        fleiss_kappa([["a", "b"], ["a", None]])
    with pytest.raises(UsageError, match="finite numbers"):
        krippendorff_alpha([["a", "b"]], "ordinal")


@given(arrays(np.float64, st.tuples(st.just(2), st.integers(2, 15)), elements=st.integers(0, 5).map(float)))
def test_correlations_are_those_of_scipy(values: Any) -> None:
    x, y = values
    found = association(x, y)
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        assert (found.pearson, found.spearman, found.reason) == (None, None, "all values of one side are equal")
    else:
        assert found.pearson == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-12)
        assert found.spearman == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)


def test_a_missing_score_is_refused_and_a_single_pair_has_no_correlation() -> None:
    with pytest.raises(UsageError, match="must be finite"):
        association([0.1, NAN], [0.1, 0.2])
    with pytest.raises(UsageError, match="same things"):
        association([0.1], [0.1, 0.2])
    assert association([0.1], [0.2]).reason == "fewer than two pairs"
    with pytest.raises(UsageError, match=r"a: 1 of 2 case scores are missing"):
        associations({"a": [[0.1, NAN]]}, {"a": [[0.1, 0.2]]})
    with pytest.raises(UsageError, match="only one is given for: b"):
        associations({"a": [[0.1]]}, {"a": [[0.1]], "b": [[0.2]]})
    with pytest.raises(UsageError, match="same cases, not so for: a"):
        associations({"a": [[0.1]]}, {"a": [[0.1, 0.2]]})
    with pytest.raises(UsageError, match="a: case scores must be"):
        associations({"a": [0.1]}, {"a": [0.1]})


def test_means_over_cases_count_each_case_alike_and_runs_first() -> None:
    rng = np.random.default_rng(2)
    t, d = ({policy: rng.random((5, 9)) for policy in "abc"} for _ in range(2))
    found = associations(t, d)
    assert (found.policy_means.n, found.case_means.n) == (3, 27)
    want = np.corrcoef([row.mean() for row in t.values()], [row.mean() for row in d.values()])[0, 1]
    assert found.policy_means.pearson == pytest.approx(want)
    flat = [np.concatenate([row.mean(axis=0) for row in one.values()]) for one in (t, d)]
    assert found.case_means.spearman == pytest.approx(stats.spearmanr(*flat).statistic)


def test_off_diagonal_cases_use_the_cuts_of_the_whole_split() -> None:
    rng = np.random.default_rng(6)
    t, d = ([rng.random((5, 10)) for _ in range(4)] for _ in range(2))
    found = off_diagonal(t, d)
    flat = [np.concatenate([row.mean(axis=0) for row in one]) for one in (t, d)]
    high, low = flat[0] >= np.percentile(flat[0], 67), flat[1] <= np.percentile(flat[1], 33)
    assert (found.high_low, found.n) == (int((high & low).sum()), 40)


@given(arrays(np.float64, (5, 6), elements=st.integers(0, 4).map(lambda n: n / 4)), st.randoms(use_true_random=False))
def test_buckets_follow_the_cases_whatever_their_order(t: Any, random: Any) -> None:
    d = 1 - t[:, ::-1]
    order = list(range(6))
    random.shuffle(order)
    one, other = buckets(t, d), buckets(t[:, order], d[:, order])
    assert one.cuts_t == other.cuts_t
    assert one.high_low_runs[order].tolist() == other.high_low_runs.tolist()
    assert (one.high_low, one.low_high) == (other.high_low, other.low_high)
    assert (superiority(t, d) + superiority(d, t) <= 1 + 1e-9).all()


def test_patterns_refuse_points_gaps_and_other_cases() -> None:
    with pytest.raises(UsageError, match="divide points by 100"):
        case_patterns(["c"], [[60.0]], [[50.0]], [[0.4]], [[0.5]], [0])
    with pytest.raises(UsageError, match="1 cases are named"):
        case_patterns(["c"], [[0.6, 0.5]], [[0.5]], [[0.4]], [[0.5]], [0])
    with pytest.raises(UsageError, match="missing"):
        buckets([[0.1, NAN]], [[0.1, 0.2]])
    with pytest.raises(UsageError, match="same runs and cases"):
        buckets([[0.1, 0.2]], [[0.1]])
    with pytest.raises(UsageError, match="same policies"):
        off_diagonal([], [])
    with pytest.raises(UsageError, match="same cases"):
        superiority([[0.1]], [[0.1, 0.2]])


def test_holm_is_that_of_the_published_example() -> None:
    """R's p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), "holm") is 0.05 0.08 0.09 0.09 0.09."""
    found = holm({("a", str(n)): n / 100 for n in (5, 1, 3, 2, 4)})
    assert {one.second: one.adjusted for one in found} == pytest.approx(
        {"1": 0.05, "2": 0.08, "3": 0.09, "4": 0.09, "5": 0.09}
    )
    assert [one.second for one in found if one.rejected] == ["1"]
    assert [one.second for one in found] == ["5", "1", "3", "2", "4"]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_lies_between_the_plain_value_and_bonferroni_s(values: list[float]) -> None:
    found = holm({("a", str(n)): value for n, value in enumerate(values)})
    for one, value in zip(found, values, strict=True):
        assert value <= (one.adjusted or 0) <= min(1.0, len(values) * value) or value == one.adjusted == 0
    ordered = sorted(found, key=lambda one: one.p_value or 0)
    assert [one.adjusted for one in ordered] == sorted(one.adjusted or 0 for one in ordered)


def test_a_pair_without_a_p_value_is_carried_and_not_counted() -> None:
    missing, other = holm({("a", "b"): None, ("a", "c"): 0.03})
    assert (missing.adjusted, missing.rejected, missing.reason) == (None, False, "no p value")
    assert (other.adjusted, other.comparisons) == (0.03, 1)
    with pytest.raises(UsageError, match="between 0 and 1"):
        holm({("a", "b"): 1.5})


@pytest.mark.parametrize(("effect", "want"), [(0.2, 199), (0.5, 34), (0.8, 15)])
def test_cases_needed_are_those_of_the_published_tables(effect: float, want: int) -> None:
    """Paired t test, two-sided, alpha 0.05, power 0.8: 199, 34 and 15 pairs for small, medium and large effects."""
    assert cases_needed(effect, 1.0).cases == want
    assert (power(want, effect, 1.0).power or 0) >= 0.8 > (power(want - 1, effect, 1.0).power or 0)


@given(st.floats(0.001, 2), st.floats(0.01, 3), st.floats(0.1, 0.99), st.sampled_from([0.01, 0.05, 0.1]))
def test_the_cases_needed_are_the_fewest_that_have_the_power(
    difference: float, sd: float, wanted: float, alpha: float
) -> None:
    if wanted <= alpha:
        return
    found = cases_needed(difference, sd, power=wanted, alpha=alpha)
    assert found.cases is not None
    assert (found.power or 0) >= wanted
    assert found.cases == cases_needed(-difference, sd, power=wanted, alpha=alpha).cases
    if found.cases > 2:
        assert (power(found.cases - 1, difference, sd, alpha).power or 0) < wanted


def test_power_is_that_of_the_test_tried_many_times() -> None:
    rng = np.random.default_rng(1)
    drawn = rng.normal(0.04, 0.1, (20_000, 40))
    rejected = (stats.ttest_1samp(drawn, 0, axis=1).pvalue < 0.05).mean()
    assert power(40, 0.04, 0.1).power == pytest.approx(rejected, abs=0.01)


def test_power_of_nothing_to_see_is_alpha_and_of_no_spread_is_none() -> None:
    assert power(50, 0.0, 0.1).power == pytest.approx(0.05)
    assert power(1, 0.1, 0.1).reason == "fewer than two cases"
    assert power(10, 0.1, 0.0).power is None
    assert cases_needed(0.0, 0.1).reason == "no difference to see"
    assert cases_needed(0.1, 0.0).cases is None
    assert cases_needed(1e-9, 1.0).reason == "more than 100000000 cases"
    assert power(200, 5.0, 1.0).power == power(1600, 1.0, 1.0).power == power(3, 30.0, 1.0).power == pytest.approx(1)
    for wrong in (lambda: power(9, NAN, 1.0), lambda: power(9, 0.1, -1.0), lambda: power(9, 0.1, 1.0, alpha=2)):
        with pytest.raises(UsageError):
            wrong()
    with pytest.raises(UsageError, match="between alpha"):
        cases_needed(0.1, 1.0, power=0.01)


def test_the_spread_of_a_difference_comes_from_cases_or_from_its_error() -> None:
    rng = np.random.default_rng(1)
    one, other = rng.random(50), rng.random(50)
    assert paired_sd(one, other).sd == pytest.approx((one - other).std(ddof=1))
    assert paired_sd([0.1], [0.2]).reason == "fewer than two cases: no spread"
    assert sd_of_error((one - other).std(ddof=1) / np.sqrt(50), 50).sd == pytest.approx(paired_sd(one, other).sd)
    with pytest.raises(UsageError, match="must be finite"):
        paired_sd([NAN, 1], [0, 0])
    with pytest.raises(UsageError, match="same cases"):
        paired_sd([1, 2], [0])
    with pytest.raises(UsageError, match="standard error"):
        sd_of_error(-1.0, 10)


def test_weights_are_refused_where_they_or_the_scores_do_not_fit() -> None:
    row = {"D": 0.4, "T": 0.5, "E": 0.8}
    with pytest.raises(UsageError, match="add up to 1"):
        sensitivity({"a": row}, [{"D": 0.5, "T": 0.5, "E": 0.5}])
    with pytest.raises(UsageError, match="no score of E"):
        weigh({"D": 0.4, "T": 0.5})
    with pytest.raises(UsageError, match="at least one"):
        sensitivity({})
    with pytest.raises(UsageError, match="finite"):
        sensitivity({"a": {**row, "D": NAN}, "b": row})


def test_a_tie_at_the_top_or_a_single_policy_is_said() -> None:
    row = {"D": 0.4, "T": 0.5, "E": 0.8}
    tie = sensitivity({"b": row, "a": row})
    assert (tie.stable, tie.margin, tie.weightings[0].top, tie.weightings[0].tied) == (False, 0, "a", True)
    alone = sensitivity({"a": row})
    assert (alone.stable, alone.margin, alone.weightings[0].second) == (True, None, None)
