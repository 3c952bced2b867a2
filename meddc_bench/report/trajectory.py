"""Sections on the consultations: D against T, and the rounds in which targets are covered."""

from __future__ import annotations

import statistics
from collections import Counter

from meddc_bench.analysis.association import Association
from meddc_bench.report.figures import MARKED, Bubble, Cases, Coverage, Reached, Scatter, Spot
from meddc_bench.report.measures import Key, TaskMeasures
from meddc_bench.report.numbers import ends, number
from meddc_bench.report.page import Cell, Column, Figure, Section, Table
from meddc_bench.report.scores import NOT_WHOLE, POLICY
from meddc_bench.report.words import REASONS, Words, named

PANELS = 6
"""Case means are drawn for so many policies at most."""
_GRID = 10


def d_and_t(measures: TaskMeasures) -> Section | None:
    """Does a good history go with a good diagnosis? Policies, then cases."""
    parts = [one for one in (_scatter(measures), _cases(measures)) if one is not None]
    if not parts:
        return None
    lead = [Words(f"D 取条件 {measures.common}。", f"D under the condition {measures.common}.")]
    found = measures.association
    if found is not None:
        lead.append(
            _correlation(
                found.policy_means, Words("策略间（各病例等权的均值）", "Over policies (means, each case alike)")
            )
        )
        if found.policy_means.n < len(measures.policies):
            lead.append(
                Words("没有测全的策略不在相关系数里。", "Policies that were not measured whole are in no coefficient.")
            )
        lead.append(_correlation(found.case_means, Words("病例间（各策略各病例的均值）", "Over cases of all policies")))
    return Section("d-and-t", Words("D 与 T", "D against T"), tuple(lead), tuple(parts))


def _correlation(found: Association, what: Words) -> Words:
    if found.pearson is None:
        why = named(REASONS, found.reason or "")
        return what + Words(f"：没有相关系数（{why.zh}）。", f": no coefficient ({why.en}).")
    r, rho = number(found.pearson, 2), number(found.spearman, 2)
    return what + Words(
        f"：Pearson r = {r}，Spearman ρ = {rho}，n = {found.n}。",
        f": Pearson's r = {r}, Spearman's rho = {rho}, n = {found.n}.",
    )


def _scatter(measures: TaskMeasures) -> Figure | None:
    spots = []
    for policy in measures.policies:
        t = measures.estimates.get((measures.main, Key(policy, "T", None)))
        d = measures.estimates.get((measures.main, Key(policy, "D", measures.common)))
        if t is not None and d is not None and t.value is not None and d.value is not None:
            label = policy if len(measures.policies) <= MARKED else str(measures.policies.index(policy) + 1)
            spots.append(Spot(policy, label, 100 * t.value, 100 * d.value, ends(t.interval), ends(d.interval)))
    if not spots:
        return None
    several = len(spots) > 2
    data = Scatter(
        tuple(spots),
        statistics.median(one.t for one in spots) if several else None,
        statistics.median(one.d for one in spots) if several else None,
    )
    caption = Words(
        "各策略的 T 与 D，细线为 95% 重抽样区间。", "T and D of each policy; thin lines are 95 % bootstrap intervals."
    )
    if len(spots) < len(measures.policies):
        caption = caption + NOT_WHOLE
    if several:
        caption = caption + Words(
            "虚线为各策略的中位数，分出四个象限。", " Dashed: medians over the policies, which part the quadrants."
        )
    table = None
    if len(measures.policies) > MARKED:
        caption = caption + Words("数字所指的策略见数值表。", " The table of numbers says which policy is which.")
        columns = (Column(Words("序", "number")), Column(POLICY, False), Column("T"), Column("D"))
        rows = tuple((one.label, one.policy, number(one.t), number(one.d)) for one in spots)
        table = Table(Words("图中的策略", "The policies in the figure"), columns, rows)
    return Figure("d-and-t", Words("策略的 D 与 T", "D against T by policy"), caption, data, table)


def _cases(measures: TaskMeasures) -> Figure | None:
    shown = measures.policies[:PANELS]
    both = [
        (one.policy, 100 * one.t, 100 * one.d) for one in measures.case_scores
        if one.policy in shown and one.t is not None and one.d is not None
    ]  # fmt: skip
    if not both:
        return None
    counted = Counter((policy, _cell(t), _cell(d)) for policy, t, d in both)
    policies = tuple(one for one in shown if any(policy == one for policy, _, _ in both))
    data = Cases(policies, tuple(Bubble(*where, cases) for where, cases in sorted(counted.items())))
    columns = [Column(POLICY, False), Column(Words("例数", "cases"))]
    columns += [Column(f"T {t} 50, D {d} 50") for t in ("≥", "<") for d in ("≥", "<")]
    rows: list[tuple[Cell, ...]] = []
    for policy in policies:
        mine = [(t >= 50, d >= 50) for name, t, d in both if name == policy]
        counts = (str(mine.count((t, d))) for t in (True, False) for d in (True, False))
        rows.append((policy, str(len(mine)), *counts))
    caption = Words(
        f"每例对重复取均值，按 {_GRID} 分一格计数，圆面积为病例数。"
        + ("只画前六名。" if len(shown) < len(measures.policies) else ""),
        f"Means of each case over repeats, counted on a grid of {_GRID} points; the area is the number of cases."
        + (" The first six policies." if len(shown) < len(measures.policies) else ""),
    )
    table = Table(Words("病例按 T 与 D 的高低", "Cases by high and low T and D"), tuple(columns), tuple(rows))
    return Figure("cases", Words("病例的 D 与 T", "D against T by case"), caption, data, table)


def _cell(value: float) -> float:
    return float(_GRID * int(value / _GRID + 0.5))


def rounds(measures: TaskMeasures) -> Section | None:
    """By which round which share of the targets was covered."""
    if not measures.curves:
        return None
    last = max((round_ for one in measures.curves for round_ in one.covered), default=1)
    reached = []
    for one in measures.curves:
        so_far = 0
        for round_ in range(last + 1):
            so_far += one.covered.get(round_, 0)
            reached.append(Reached(one.policy, round_, 100 * so_far / one.targets))
    policies = tuple(one.policy for one in measures.curves)
    data = Coverage(policies, policies[:MARKED], tuple(reached))
    columns = [Column(POLICY, False), Column(Words("目标数", "targets"))]
    columns += [Column(Words(f"第 {one} 轮", f"round {one}")) for one in range(1, last + 1)]
    shares = {(one.policy, one.round): one.share for one in reached}
    rows: list[tuple[Cell, ...]] = [
        (one.policy, str(one.targets), *(number(shares[one.policy, at]) for at in range(1, last + 1)))
        for one in measures.curves
    ]
    caption = Words(
        "到各轮为止已覆盖的计分目标占全部目标的百分比（各病例、各重复合计；患者主动说出的目标不在分母里）。",
        "Scored targets covered by the end of each round, of all targets (cases and repeats together; targets the "
        "patient volunteered are not in the denominator).",
    )
    if len(policies) > MARKED:
        caption = caption + Words("彩色为前七名。", " Coloured: the first seven.")
    table = Table(Words("累计覆盖（%）", "Covered so far (%)"), tuple(columns), tuple(rows))
    title = Words("目标在第几轮被问到", "Rounds in which targets are covered")
    none = [one.policy for one in measures.curves if not one.covered]
    lead = [Words(f"{'、'.join(none)} 没有覆盖任何目标。", f"{', '.join(none)} covered no target.")] if none else []
    return Section("rounds", title, tuple(lead), (Figure("rounds", title, caption, data, table),))
