"""Audits: what a swap of readers does to shifts, ranks, reversals, orderings and variance."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from meddc_bench.analysis.audit import audit, audit_scores
from meddc_bench.analysis.bootstrap import Interval, bootstrap
from meddc_bench.analysis.orderings import Gap, ordering
from meddc_bench.analysis.ranks import kendall, ranks, reversals
from meddc_bench.analysis.series import Series
from meddc_bench.analysis.totals import totals
from meddc_bench.analysis.variance import Variance, variance
from meddc_bench.errors import UsageError

Timing = Callable[..., Series]
scores = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 6).map(float), min_size=2)


@st.composite
def two_scores(draw: st.DrawFn) -> tuple[dict[str, float], dict[str, float]]:
    first = draw(scores)
    return first, {policy: float(draw(st.integers(0, 6))) for policy in first}


def read(timing: Timing, lead: dict[str, dict[str, float]], cases: int = 60, runs: int = 2, noise: float = 0.1) -> Any:
    rng = np.random.default_rng(3)
    return [
        timing(policy, 0.4 + by + noise * rng.standard_normal((runs, cases)), reader=reader, metric="D")
        for reader, row in lead.items()
        for policy, by in row.items()
    ]


@given(two_scores())
def test_tau_and_reversals_are_those_of_scipy_and_of_counting(both: Any) -> None:
    first, second = both
    found, flipped = kendall(first, second), reversals(first, second)
    pairs = list(combinations(first, 2))
    signs = [np.sign(first[a] - first[b]) * np.sign(second[a] - second[b]) for a, b in pairs]
    assert (flipped.count, flipped.tied, flipped.pairs) == (signs.count(-1), signs.count(0), len(pairs))
    assert [(one.first, one.second) for one in flipped.reversed] == [
        pair for pair, sign in zip(pairs, signs, strict=True) if sign < 0
    ]
    assert (found.concordant, found.discordant) == (signs.count(1), flipped.count)
    if len(set(first.values())) > 1 and len(set(second.values())) > 1:
        assert found.tau == pytest.approx(stats.kendalltau(list(first.values()), list(second.values())).statistic)
    else:
        assert found.tau is None
        assert found.reason == "all scores of one side are equal"


@given(scores, st.integers(-3, 3))
def test_a_constant_shift_reverses_nothing(first: dict[str, float], by: int) -> None:
    found = audit_scores({"own": first, "shared": {policy: value + by for policy, value in first.items()}}, "own")
    assert found.comparisons[0].reversals.count == 0
    assert {one.value for one in found.shifts} == {by}
    assert found.comparisons[0].kendall.tau in (None, pytest.approx(1))


@given(scores, st.randoms(use_true_random=False))
def test_the_order_of_policies_changes_no_rank_and_ties_share_the_better_one(first: Any, random: Any) -> None:
    names = list(first)
    random.shuffle(names)
    found = ranks(first)
    assert found == ranks({policy: first[policy] for policy in names})
    for one in found:
        assert one.rank == 1 + sum(value > one.score for value in first.values())
        assert one.tied == (list(first.values()).count(one.score) > 1)
    down = {one.policy: one.rank for one in ranks(first, higher_is_better=False)}
    assert down == {one.policy: one.rank for one in ranks({policy: -value for policy, value in first.items()})}


def test_scores_that_differ_by_rounding_alone_are_tied() -> None:
    found = ranks({"a": 0.1 + 0.2, "b": 0.3})
    assert [(one.rank, one.tied) for one in found] == [(1, True), (1, True)]
    assert reversals({"a": 0.1 + 0.2, "b": 0.3}, {"a": 0.0, "b": 1.0}).count == 0


def test_no_policy_or_one_has_no_pairs_and_says_so() -> None:
    assert ranks({}) == ()
    found = audit_scores({"own": {"a": 0.3}, "shared": {"a": 0.4}}, "own").comparisons[0]
    assert (found.reversals.share, found.kendall.tau) == (None, None)
    assert found.reversals.reason == "fewer than two policies: there is no pair"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: reversals({"a": 1}, {"b": 1}), "only one has: a, b"),
        (lambda: ranks({"a": float("nan")}), "finite numbers, not so for: a"),
        (lambda: audit_scores({}, "own"), "base reader 'own'; there is: none"),
        (lambda: audit_scores({"own": {"a": 1.0}}, "shared"), "there is: own"),
        (lambda: audit_scores({"own": {"a": float("nan")}}, "own"), "not so for: a"),
    ],
)
def test_what_cannot_be_audited_is_refused_in_words(call: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        call()


def test_orderings_are_supported_contradicted_or_undecided_by_their_intervals(timing: Timing) -> None:
    lead = {
        "own": {"top": 0.5, "up": 0.2, "even": 0.1, "same": 0.1},
        "shared": {"top": 0.5, "up": 0.1, "even": 0.2, "same": 0.2},
    }
    found = audit(read(timing, lead), "own", draws=2000)
    verdicts = {frozenset((one.first, one.second)): one.verdict for one in found.orderings}
    assert verdicts[frozenset(("top", "up"))] == "supported"
    assert verdicts[frozenset(("up", "even"))] == "contradicted"
    assert verdicts[frozenset(("even", "same"))] == "undecided"
    words = {one.words for one in found.orderings}
    assert "top is above up under every reader" in words
    assert "up is above even under own, below under shared" in words
    assert any("are not told apart under own, shared" in one for one in words)


def gap(reader: str, low: float | None, high: float | None) -> Gap:
    reason = "one case" if low is None else None
    return Gap(reader, 0.1, Interval(low, high, None, 0.95, 100, reason))


def test_an_interval_that_touches_zero_or_is_missing_supports_nothing() -> None:
    assert ordering("a", "b", (gap("own", 0.1, 0.2), gap("shared", 0.0, 0.2))).verdict == "undecided"
    assert ordering("a", "b", (gap("own", 0.1, 0.2), gap("shared", None, None))).verdict == "undecided"
    assert ordering("a", "b", ()).verdict == "undecided"
    found = ordering("a", "b", (gap("own", -0.2, -0.1), gap("shared", -0.3, -0.1)))
    assert (found.verdict, found.words) == ("supported", "b is above a under every reader")


def test_shifts_and_gaps_have_the_intervals_of_the_bootstrap(timing: Timing) -> None:
    lead = {"own": {"a": 0.1, "b": 0.2}, "shared": {"a": 0.3, "b": 0.1}}
    series = read(timing, lead)
    found = audit(series, "own", draws=400, seed=5)
    for one in bootstrap(series, draws=400, seed=5).differences:
        (order,) = found.orderings
        value = next(each for each in order.gaps if each.reader == one.reader)
        sign = 1 if (order.first, order.second) == (one.first, one.second) else -1
        assert value.value == pytest.approx(sign * (one.value or 0))
        got = [sign * (bound or 0) for bound in (value.interval.low, value.interval.high)][::sign]
        assert got == pytest.approx([one.interval.low, one.interval.high])
    shift = found.shifts[0]
    assert (shift.interval.low or 0) < shift.value < (shift.interval.high or 0)
    moved = shift.interval.se
    assert moved == pytest.approx(np.sqrt(2) * 0.1 / np.sqrt(2 * 60), rel=0.3)


def test_a_constant_shift_reverses_nothing_in_any_draw(timing: Timing) -> None:
    rng = np.random.default_rng(1)
    values = {policy: rng.random((2, 30)) / 2 for policy in "abcd"}
    series = [
        timing(policy, found + by, reader=reader, metric="D")
        for reader, by in (("own", 0.0), ("shared", 0.25))
        for policy, found in values.items()
    ]
    (one,) = audit(series, "own", draws=500).comparisons
    assert (one.reversals.count, one.interval.low, one.interval.high) == (0, 0, 0)
    assert one.flips == ()
    assert one.kendall.tau == pytest.approx(1)


def test_reversals_are_counted_in_the_same_draws_for_all_pairs(timing: Timing) -> None:
    lead = {"own": {"a": 0.0, "b": 0.02, "c": 0.3}, "shared": {"a": 0.02, "b": 0.0, "c": 0.3}}
    (one,) = audit(read(timing, lead, noise=0.2), "own", draws=1000).comparisons
    shares = {(flip.first, flip.second): flip.share_of_draws for flip in one.flips}
    assert 0.3 < (shares["a", "b"] or 0) < 1
    assert ("a", "c") not in shares
    assert (one.interval.low, one.interval.high) == (0, 1)


def test_the_order_of_readers_policies_and_cases_changes_no_audit(timing: Timing) -> None:
    lead = {"own": {"a": 0.1, "b": 0.2, "c": 0.15}, "shared": {"a": 0.3, "b": 0.1, "c": 0.1}}
    series = read(timing, lead)
    one, other = audit(series, "own", draws=200), audit(series[::-1], "own", draws=200)
    assert {row.reader: row.ranks for row in one.ranks} == {row.reader: row.ranks for row in other.ranks}
    assert {(row.policy, row.reader): row for row in one.shifts} == {
        (row.policy, row.reader): row for row in other.shifts
    }
    assert [(row.first, row.second, row.verdict) for row in one.orderings] == [
        (row.first, row.second, row.verdict) for row in other.orderings
    ]
    assert one.comparisons[0].reversals.count == other.comparisons[0].reversals.count
    assert one.comparisons[0].interval == other.comparisons[0].interval


def test_a_policy_that_a_reader_could_not_score_is_named_and_compared_where_it_can_be() -> None:
    found = audit_scores(
        {"own": {"a": 0.1, "b": None, "c": 0.3}, "shared": {"a": 0.3, "b": 0.2, "c": 0.1}}, "shared"
    )  # fmt: skip
    assert [(one.policy, one.reader) for one in found.unread] == [("b", "own")]
    assert found.comparisons[0].policies == ("a", "c")
    assert found.comparisons[0].reversals.pairs == 1
    assert found.variance.policies == 2
    assert [(one.first, one.second) for one in found.orderings] == [("a", "c")]


def test_one_case_gives_an_audit_without_intervals(timing: Timing) -> None:
    found = audit(read(timing, {"own": {"a": 0.1, "b": 0.2}, "shared": {"a": 0.3, "b": 0.1}}, cases=1), "own")
    assert found.draws == 0
    assert found.orderings[0].verdict == "undecided"
    assert {one.interval.reason for one in found.shifts} == {"one case: drawing cases again cannot vary it"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda timing: [timing("a", [[0.1, 0.2]], metric="D")], "names no reader"),
        (lambda timing: [timing("a", [[0.1, 0.2]], reader="own", metric=name) for name in "DT"], "of one metric"),
        (lambda timing: [timing("a", [[0.1, 0.2]], reader="own", metric="D")] * 2, "given twice"),
        (lambda timing: [timing("a", [[0.1, 0.2]], reader="x", metric="D")], "base reader 'own'; there is: x"),
        (lambda timing: [timing("a", [[0.1, float("nan")]], reader="own", metric="D")], "not measured"),
    ],
)
def test_series_that_are_no_audit_are_refused(timing: Timing, change: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        audit(change(timing), "own")


def test_total_under_each_reader_moves_by_half_the_shift_of_d(timing: Timing) -> None:
    d = read(timing, {"own": {"a": 0.1, "b": 0.2}, "shared": {"a": 0.3, "b": 0.1}})
    rng = np.random.default_rng(8)
    fixed = [timing(policy, rng.random((2, 60)), metric=name) for policy in "ab" for name in "TE"]
    of_d, total = audit(d, "own", draws=100), audit(totals(d, fixed), "own", draws=100)
    assert (total.metric, total.readers) == ("Total", ("own", "shared"))
    for one, other in zip(of_d.shifts, total.shifts, strict=True):
        assert other.value == pytest.approx(one.value / 2)
        assert other.interval.low == pytest.approx((one.interval.low or 0) / 2)


def shares(found: Variance) -> dict[str, float]:
    sources = (found.policy, found.reader, found.interaction, found.repeat, found.residual)
    return {one.name: one.share or 0.0 for one in sources if one is not None}


def test_variance_without_interaction_is_policy_and_reader_alone() -> None:
    found = variance(np.array([0.1, 0.3, 0.5])[:, None] + np.array([0.0, 0.2])[None, :])
    assert shares(found) == pytest.approx({"policy": 0.16 / 0.22, "reader": 0.06 / 0.22, "interaction": 0}, abs=1e-12)
    assert found.reason is not None


def test_variance_worked_by_hand_with_repeats() -> None:
    """Means 3 and 7 of policies, 4 and 6 of readers, 5 of all; each policy's sets of histories differ by 2."""
    scores = np.array([[[1.0, 3.0], [3.0, 5.0]], [[6.0, 6.0], [6.0, 10.0]]])
    found = variance(scores)
    squares = {
        one.name: one.sum_of_squares
        for one in (found.policy, found.reader, found.interaction, found.repeat, found.residual) if one is not None
    }  # fmt: skip
    assert squares == pytest.approx({"policy": 32, "reader": 8, "interaction": 0, "repeat": 8, "residual": 4})
    assert sum(squares.values()) == pytest.approx(((scores - 5) ** 2).sum())
    assert sum(shares(found).values()) == pytest.approx(1)


@given(st.integers(0, 1000), st.integers(2, 4), st.integers(2, 4), st.integers(1, 4))
def test_variance_shares_add_up_and_do_not_depend_on_order(
    seed: int, policies: int, readers: int, repeats: int
) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.random((policies, readers, repeats))
    found = shares(variance(scores))
    assert sum(found.values()) == pytest.approx(1)
    assert min(found.values()) >= 0
    assert shares(variance(scores[::-1, ::-1, ::-1] + 0.25)) == pytest.approx(found)


def test_variance_components_are_those_the_scores_were_drawn_with() -> None:
    rng = np.random.default_rng(4)
    spread = {"policy": 1.0, "reader": 0.5, "interaction": 0.7, "repeat": 0.4, "residual": 0.3}
    totals_ = dict.fromkeys(spread, 0.0)
    for _ in range(400):
        draw = {name: np.sqrt(value) for name, value in spread.items()}
        scores = (
            draw["policy"] * rng.standard_normal((12, 1, 1)) + draw["reader"] * rng.standard_normal((1, 8, 1))
            + draw["interaction"] * rng.standard_normal((12, 8, 1)) + draw["repeat"] * rng.standard_normal((12, 1, 5))
            + draw["residual"] * rng.standard_normal((12, 8, 5))
        )  # fmt: skip
        found = variance(scores)
        for one in (found.policy, found.reader, found.interaction, found.repeat, found.residual):
            assert one is not None
            totals_[one.name] += (one.component or 0.0) / 400
    assert totals_ == pytest.approx(spread, rel=0.08)


@pytest.mark.parametrize(
    ("scores", "reason"), [([[1.0, 2.0]], "two policies and two readers"), ([[1.0, 1.0]] * 2, "all scores are equal")]
)
def test_variance_that_cannot_be_shared_out_says_why(scores: Any, reason: str) -> None:
    found = variance(scores)
    assert found.policy is None
    assert reason in (found.reason or "")


@pytest.mark.parametrize("wrong", [[1.0], [[1.0, float("nan")], [1.0, 2.0]]])
def test_variance_refuses_gaps_and_other_shapes(wrong: Any) -> None:
    with pytest.raises(UsageError):
        variance(wrong)
