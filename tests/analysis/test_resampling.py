"""Intervals: right against closed forms, paired, reproducible, and nobody's zero."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from meddc_bench.analysis import resample
from meddc_bench.analysis.audit import audit
from meddc_bench.analysis.bootstrap import Bootstrap, Estimate, bootstrap, intervals
from meddc_bench.analysis.multiplicity import holm_differences
from meddc_bench.analysis.resample import case_values, draw_counts, exactly_summable, replicate, replicate_given
from meddc_bench.analysis.series import Array, Series, complete
from meddc_bench.analysis.totals import WEIGHTS, totals, weighted
from meddc_bench.errors import PluginError, UsageError

MetricOf = Callable[..., Any]
Timing = Callable[..., Series]
NAN = float("nan")


def random_series(metric: MetricOf, policies: int = 3, runs: int = 2, cases: int = 12, seed: int = 0) -> list[Series]:
    rng = np.random.default_rng(seed)
    names = tuple(f"c{n:03}" for n in range(cases))
    found: list[Series] = []
    for number in range(policies):
        parts = []
        for name in "DT":
            counts = {key: rng.integers(0, 5, (runs, cases)) for key in ("tp", "fp", "fn")}
            parts.append(Series(f"p{number}", name, names, counts, metric(name).aggregate))
        timing = {"sum": rng.random((runs, cases)), "n": np.ones((runs, cases))}
        parts.append(Series(f"p{number}", "E", names, timing, metric("E").aggregate))
        found += [*parts, weighted(parts, WEIGHTS)]
    return found


def reordered(series: Series, order: Any) -> Series:
    statistics: Mapping[str, Array] = series.arrays
    return Series(
        series.policy, series.metric, [series.cases[n] for n in order],
        {name: array[:, order] for name, array in statistics.items()}, series.aggregate,
    )  # fmt: skip


def by_name(found: Bootstrap) -> dict[tuple[str, str], Estimate]:
    return {(one.metric, one.policy): one for one in found.estimates}


def test_the_standard_error_of_a_mean_is_that_of_the_formula(timing: Timing) -> None:
    values = np.random.default_rng(3).random(170)
    (found,) = bootstrap([timing("a", values[None])]).estimates
    assert found.interval.se == pytest.approx(values.std() / np.sqrt(170), rel=0.03)
    assert found.interval.low == pytest.approx(values.mean() - 1.96 * values.std() / np.sqrt(170), abs=0.002)
    assert found.interval.high == pytest.approx(values.mean() + 1.96 * values.std() / np.sqrt(170), abs=0.002)
    assert found.interval.draws == 10_000


def test_the_interval_of_a_mean_covers_it_about_as_often_as_it_says(timing: Timing) -> None:
    rng = np.random.default_rng(5)
    hits = 0
    for seed in range(300):
        (found,) = bootstrap([timing("a", rng.beta(2, 2, (1, 60)))], draws=500, seed=seed).estimates
        hits += bool((found.interval.low or 0) <= 0.5 <= (found.interval.high or 0))
    assert 0.90 <= hits / 300 <= 0.98


def test_all_possible_draws_give_the_interval_that_random_ones_approach(metric: MetricOf) -> None:
    series = random_series(metric, policies=1, cases=4)[:1]
    every = np.stack([np.bincount(draw, minlength=4) for draw in product(range(4), repeat=4)]).astype(float)
    (whole,) = replicate_given(series, every)
    (drawn,) = replicate(series, draws=40_000, seed=2)
    assert set(drawn.draws.round(9)) <= set(whole.draws.round(9))
    assert drawn.draws.mean() == pytest.approx(whole.draws.mean(), abs=0.003)
    assert drawn.draws.std() == pytest.approx(whole.draws.std(), rel=0.02)


def test_scipy_finds_the_same_interval(metric: MetricOf) -> None:
    (series,) = random_series(metric, policies=1, runs=5, cases=80)[:1]
    tp, fp, fn = (series.arrays[name] for name in ("tp", "fp", "fn"))

    def micro(index: Any, axis: int) -> Any:
        sums = [np.moveaxis(one[:, index.astype(int)], 0, -1).sum(axis=-2) for one in (tp, fp, fn)]
        return (2 * sums[0] / (2 * sums[0] + sums[1] + sums[2])).mean(axis=-1)

    (found,) = bootstrap([series], seed=4).estimates
    other = stats.bootstrap(
        (np.arange(80),), micro, n_resamples=10_000, batch=500, vectorized=True, method="percentile", axis=-1,
        rng=np.random.default_rng(1),
    ).confidence_interval  # fmt: skip
    assert found.interval.low == pytest.approx(other.low, abs=0.004)
    assert found.interval.high == pytest.approx(other.high, abs=0.004)


def test_every_case_is_drawn_alike_and_every_draw_has_as_many_cases() -> None:
    counts = np.concatenate(list(draw_counts(17, 20_000, seed=9)))
    assert counts.shape == (20_000, 17)
    assert (counts.sum(axis=1) == 17).all()
    assert stats.chisquare(counts.sum(axis=0)).pvalue > 1e-3
    assert counts.var(axis=0).mean() == pytest.approx(17 * (1 / 17) * (16 / 17), rel=0.02)
    assert np.corrcoef(counts[:-1, 0], counts[1:, 0])[0, 1] == pytest.approx(0, abs=0.03)


@given(st.integers(1, 40), st.integers(1, 60), st.integers(0, 2**32), st.integers(1, 70))
@settings(max_examples=50)
def test_the_number_of_draws_is_exact_and_blocks_change_none(cases: int, draws: int, seed: int, block: int) -> None:
    one = np.concatenate(list(draw_counts(cases, draws, seed, block)))
    other = np.concatenate(list(draw_counts(cases, draws + 5, seed, 1000)))
    assert one.shape == (draws, cases)
    assert (one == other[:draws]).all()


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_cases_changes_nothing(metric: MetricOf, seed: int) -> None:
    series = random_series(metric)
    order = np.random.default_rng(seed).permutation(12)
    one, other = bootstrap(series, draws=300), bootstrap([reordered(found, order) for found in series], draws=300)
    assert repr(one) == repr(other)


def test_the_order_of_policies_changes_no_estimate_and_turns_differences_round(metric: MetricOf) -> None:
    series = random_series(metric)
    one, other = bootstrap(series, draws=300), bootstrap(series[::-1], draws=300)
    assert by_name(one) == by_name(other)
    turned = {(found.metric, found.second, found.first): found for found in other.differences}
    for found in one.differences:
        back = turned[found.metric, found.first, found.second]
        assert (found.wins, found.ties, found.losses) == (back.losses, back.ties, back.wins)
        assert found.value == pytest.approx(-(back.value or 0), abs=1e-15)
        assert found.interval.low == pytest.approx(-(back.interval.high or 0), abs=1e-15)
        assert found.p_value == back.p_value


def test_another_policy_or_another_block_size_changes_no_estimate(
    metric: MetricOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    series = random_series(metric, policies=4)
    few = by_name(bootstrap(series[:4], draws=300))
    assert few.items() <= by_name(bootstrap(series, draws=300)).items()
    monkeypatch.setattr(resample, "BLOCK_BYTES", 1)
    assert few == by_name(bootstrap(series[:4], draws=300))


def test_the_seed_reproduces_and_another_seed_differs(metric: MetricOf) -> None:
    series = random_series(metric)
    one, same, other = (bootstrap(series, draws=200, seed=seed) for seed in (7, 7, 8))
    assert repr(one) == repr(same)
    assert [found.interval.low for found in one.estimates] != [found.interval.low for found in other.estimates]
    assert [found.value for found in one.estimates] == [found.value for found in other.estimates]


def test_global_random_state_is_neither_used_nor_touched(metric: MetricOf) -> None:
    np.random.seed(1)
    before = np.random.get_state()[1].copy()  # type: ignore[index, union-attr]
    bootstrap(random_series(metric), draws=50)
    assert (np.random.get_state()[1] == before).all()  # type: ignore[index]


def test_a_policy_compared_with_itself_differs_by_nothing_in_any_draw(metric: MetricOf) -> None:
    (series,) = random_series(metric, policies=1)[3:]
    twin = Series("twin", "Total", series.cases, series.arrays, series.aggregate)
    (found,) = bootstrap([series, twin], draws=500).differences
    assert (found.value, found.interval.low, found.interval.high, found.interval.se) == (0, 0, 0, 0)
    assert (found.p_above, found.p_value, found.ties) == (0, 1, 12)


def test_draws_are_paired_so_that_a_constant_lead_has_no_spread(timing: Timing) -> None:
    values = np.random.default_rng(1).random((3, 40)) / 2
    (found,) = bootstrap([timing("a", values + 0.125), timing("b", values)], draws=500).differences
    assert found.interval.low == pytest.approx(0.125, abs=1e-12)
    assert found.interval.high == pytest.approx(0.125, abs=1e-12)
    assert (found.p_above, found.wins) == (1, 40)
    assert found.p_value == pytest.approx(2 / 501)


def test_one_case_has_scores_but_no_interval_and_says_why(metric: MetricOf) -> None:
    found = bootstrap(random_series(metric, cases=1), draws=100)
    assert all(one.value is not None for one in found.estimates)
    for one in (*found.estimates, *found.differences):
        assert (one.interval.low, one.interval.high, one.interval.se) == (None, None, None)
        assert one.interval.reason == "one case: drawing cases again cannot vary it"
    assert {(one.p_above, one.p_value) for one in found.differences} == {(None, None)}


def test_a_missing_cell_is_refused_by_name_and_never_a_zero(timing: Timing) -> None:
    series = [timing("a", [[0.5, NAN, 0.7]]), timing("b", [[0.5, 0.6, 0.7]])]
    with pytest.raises(UsageError, match=r"E of a: 1 of 3 cells were not measured \(cases c001\)"):
        bootstrap(series)
    found = complete(series)
    assert found.cases == ("c000", "c002")
    assert [(one.case, one.reason) for one in found.left_out] == [("c001", "not measured: E of a")]
    assert [one.value for one in bootstrap(found.series, draws=10).estimates] == pytest.approx([0.6, 0.6])


def test_other_cases_are_refused_with_the_list(timing: Timing) -> None:
    series = [timing("a", [[0.5, 0.6]], cases=["x", "y"]), timing("b", [[0.5, 0.6]], cases=["y", "z"])]
    with pytest.raises(UsageError, match="2 of 3 are not in all: x, z"):
        bootstrap(series)
    many = [timing("a", np.ones((1, 50))), timing("b", np.ones((1, 5)))]
    with pytest.raises(UsageError, match=r"45 of 50 are not in all: .* and 25 more"):
        bootstrap(many)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda one: bootstrap([]), "no series given"),
        (lambda one: bootstrap([one, one]), "given twice: E of a"),
        (lambda one: bootstrap([one], level=95), "0.95 for 95 %"),
        (lambda one: bootstrap([one], tolerance=NAN), "tolerance"),
        (lambda one: bootstrap([one], draws=0), "at least one case and one draw"),
        (lambda one: bootstrap([one], seed=-1), "a seed is a whole number"),
        (lambda one: bootstrap([one], pairs=[("a", "z")]), "not given: z"),
        (lambda one: replicate_given([one], np.ones((3, 9))), "counts must be"),
        (lambda one: Series("a", "E", ("x", "x"), {"n": [[1, 1]]}, one.aggregate), "twice: x"),
        (lambda one: Series("a", "E", ("x",), {}, one.aggregate), "no statistic"),
        (lambda one: Series("a", "E", ("x",), {"n": [1]}, one.aggregate), "n must be"),
        (lambda one: Series("a", "E", ("x",), {"n": [[float("inf")]]}, one.aggregate), "infinite"),
        (lambda one: Series("a", "E", ("x",), {"n": [[1]], "m": [[1], [2]]}, one.aggregate), "one shape"),
        (lambda one: bootstrap([Series("a", "E", (), {"n": np.ones((1, 0))}, one.aggregate)]), "no case"),
        (lambda one: weighted([one], {"D": 1.0}), "weights are for"),
        (lambda one: weighted([one], {"E": 0.9}), "add up to 1"),
        (lambda one: totals([one], []), "weights are for"),
    ],
)
def test_a_request_that_cannot_be_is_refused_in_words(timing: Timing, change: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        change(timing("a", [[0.5, 0.6]]))


def test_a_metric_that_breaks_its_contract_is_named(timing: Timing) -> None:
    good = timing("a", [[0.5, 0.6]])
    for bad in (lambda sums: sums["sum"].sum(), lambda sums: sums["n"].astype(int), lambda sums: 0.5):
        with pytest.raises(PluginError, match="plugin E: aggregate gave"):
            bootstrap([Series("a", "E", good.cases, good.arrays, bad)])


def test_a_metric_cannot_change_the_sums_of_others(timing: Timing) -> None:
    def spoils(sums: Any) -> Any:
        sums["sum"] *= 2
        return sums["sum"]

    with pytest.raises(ValueError, match="read-only"):
        bootstrap([Series("a", "E", ("x", "y"), timing("a", [[0.5, 0.6]]).arrays, spoils)])


def test_an_undefined_score_is_none_with_the_reason(timing: Timing) -> None:
    good = timing("a", [[0.5, 0.6, 0.7]])
    nothing = Series("b", "E", good.cases, {"sum": np.zeros((1, 3)), "n": np.zeros((1, 3))}, good.aggregate)
    found = bootstrap([good, nothing], draws=50)
    assert (found.estimates[1].value, found.differences[0].value) == (None, None)
    assert found.estimates[1].reason == "E of b is undefined: nothing to average in some run"
    assert found.differences[0].interval.reason == "undefined in 50 of 50 draws"
    assert found.differences[0].undefined == 3


def test_a_score_undefined_in_some_draws_has_no_interval(timing: Timing) -> None:
    rare = {"sum": [[0.5, 0, 0]], "n": [[1, 0, 0]]}
    (found,) = bootstrap([Series("a", "rounds", ("x", "y", "z"), rare, timing("a", [[1]]).aggregate)]).estimates
    assert found.value == 0.5
    assert found.interval.low is None
    assert "of 10000 draws" in (found.interval.reason or "")


def test_any_metric_is_resampled_like_the_protocol_s_own(timing: Timing) -> None:
    good = timing("a", np.random.default_rng(2).random((2, 30)))
    squares = {"x": good.arrays["sum"], "xx": good.arrays["sum"] ** 2, "n": good.arrays["n"]}

    def variance(sums: Any) -> Any:
        return sums["xx"] / sums["n"] - (sums["x"] / sums["n"]) ** 2

    (found,) = bootstrap([Series("a", "spread", good.cases, squares, variance)], draws=200).estimates
    assert found.value == pytest.approx(good.arrays["sum"].var(axis=1).mean())


def test_unequal_numbers_of_runs_are_averaged_each_over_its_own(timing: Timing) -> None:
    one, other = timing("a", [[0.2, 0.4]]), timing("b", [[0.2, 0.4], [0.4, 0.6], [0.6, 0.8]])
    found = bootstrap([one, other], draws=20)
    assert [(found.value, found.runs) for found in found.estimates] == [
        (pytest.approx(0.3), 1),
        (pytest.approx(0.5), 3),
    ]


def test_only_the_pairs_asked_for_and_only_within_a_reader_are_compared(timing: Timing) -> None:
    series = [
        timing(policy, [[0.1, 0.2]], reader=reader, metric="D") for reader in ("own", "shared") for policy in "abc"
    ]
    assert len(bootstrap(series, draws=5).differences) == 6
    found = bootstrap(series, draws=5, pairs=[("c", "a")]).differences
    assert [(one.first, one.second, one.reader) for one in found] == [("c", "a", "own"), ("c", "a", "shared")]


def test_runs_may_be_added_up_instead_of_averaged(timing: Timing) -> None:
    one = timing("a", [[0.2, 0.4], [0.4, 0.6]])
    summed = Series("a", "E", one.cases, one.arrays, one.aggregate, over_repeats="sum")
    assert bootstrap([summed], draws=5).estimates[0].value == pytest.approx(0.8)


def test_many_policies_need_no_more_memory_than_their_estimates(timing: Timing) -> None:
    rng = np.random.default_rng(1)
    series = [timing(f"p{n}", rng.random((2, 300))) for n in range(60)]
    tracemalloc.start()
    bootstrap(series, draws=4000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64e6


def test_case_values_are_the_metric_of_each_case_alone(metric: MetricOf) -> None:
    d = random_series(metric, policies=1)[0]
    found = case_values(d)
    tp, fp, fn = (d.arrays[name] for name in ("tp", "fp", "fn"))
    below = 2 * tp + fp + fn
    assert found.values == pytest.approx(np.where(below > 0, 2 * tp / np.where(below > 0, below, 1), 0))
    (drawn,) = replicate([d], draws=1)
    assert drawn.cases == pytest.approx(found.values.mean(axis=0))


@given(arrays(np.float64, st.integers(1, 30), elements=st.floats(-1e6, 1e6)), st.randoms(use_true_random=False))
def test_sums_of_statistics_do_not_depend_on_their_order(values: Any, random: Any) -> None:
    (exact,) = exactly_summable(values[None])
    order = list(range(len(values)))
    random.shuffle(order)
    assert np.abs(exact - values).max() <= 1e-15 * max(1.0, np.abs(values).max()) * len(values)
    assert sum(exact.tolist()) == sum(exact[order].tolist())


@given(arrays(np.float64, (2, 21), elements=st.floats(-1, 1)), st.floats(0.01, 0.99))
def test_intervals_are_numpy_s_percentiles(draws: Any, level: float) -> None:
    for found, row in zip(intervals(draws, level), draws, strict=True):
        want = np.quantile(row, [(1 - level) / 2, (1 + level) / 2])
        assert [found.low, found.high] == pytest.approx(want, abs=1e-12)


def test_holm_corrects_the_pairs_of_one_metric_only(metric: MetricOf) -> None:
    found = bootstrap(random_series(metric), draws=300).differences
    one = [difference for difference in found if difference.metric == "D"]
    corrected = holm_differences(one)
    assert [(row.first, row.second) for row in corrected] == [(row.first, row.second) for row in one]
    assert all((row.adjusted or 0) >= (row.p_value or 0) for row in corrected)
    with pytest.raises(UsageError, match="one metric under one reader"):
        holm_differences(found)


def test_records_are_plain_data_without_nan(metric: MetricOf, timing: Timing) -> None:
    found = bootstrap(random_series(metric, cases=1), draws=20)
    read = [timing(policy, [[0.1, 0.2]], reader=reader, metric="D") for reader in ("own", "shared") for policy in "ab"]
    for record in (found, audit(read, "own", draws=20)):
        text = msgspec.json.encode(record).decode()
        assert "NaN" not in text
        assert msgspec.json.decode(text)["draws"] == record.draws


def test_a_metric_that_cannot_be_hashed_is_resampled_all_the_same(timing: Timing) -> None:
    class Mean:
        __hash__ = None  # type: ignore[assignment]

        def __call__(self, sums: Any) -> Any:
            return sums["sum"] / sums["n"]

    one = timing("a", [[0.2, 0.4]])
    other = Series("b", "E", one.cases, one.arrays, Mean())
    assert [found.value for found in bootstrap([one, other], draws=5).estimates] == pytest.approx([0.3, 0.3])


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([("a", "D", "own"), ("b", "E", None)], "several policies"),
        ([("a", "D", "own"), ("a", "E", "shared")], "several readers"),
    ],
)
def test_a_total_is_of_one_policy_and_one_reader(timing: Timing, parts: Any, message: str) -> None:
    series = [timing(policy, [[0.1, 0.2]], reader=reader, metric=name) for policy, name, reader in parts]
    with pytest.raises(UsageError, match=message):
        weighted(series, {"D": 0.5, "E": 0.5})
