"""Sections on what the ranking depends on: the reader, the weights, the judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from meddc_bench.analysis.audit import Audit, Comparison
from meddc_bench.headline import has_accuracy
from meddc_bench.report.figures import MARKED, Place, Slopes
from meddc_bench.report.measures import Readers, TaskMeasures, mean_of, row_of
from meddc_bench.report.numbers import NONE, Teller, bracket, number, points, signed
from meddc_bench.report.page import Cell, Column, Figure, Section, Table
from meddc_bench.report.scores import CONDITION, POLICY
from meddc_bench.report.words import METRICS, VERDICTS, Words, joined

MOST_PAIRS = 15


def readers(measures: TaskMeasures, teller: Teller) -> Section:
    """What a change of reader does: ranks and shifts of D, reversals by name, Total under each reader."""
    title = Words("更换阅读者", "Swapping the reader")
    d, total = measures.readers
    if d.audit is None:
        return Section("readers", title, (_why_not(d, measures),))
    lead = [
        Words(
            f"同一批病史由不同阅读者判读{_stays(measures).zh}；以 {d.audit.base} 为基准，{d.cases} 个共同病例。",
            f"The same histories under different readers{_stays(measures).en}. Base: {d.audit.base}; {d.cases} cases in common.",
        )
        + _left_out(d),
        *(_reversals(d.audit, one) for one in d.audit.comparisons),
    ]
    for gone in d.audit.unread:
        lead.append(
            Words(f"{gone.policy} 在 {gone.reader} 下没有得分。", f"{gone.policy} has no score under {gone.reader}.")
        )
    parts: list[Table | Figure] = [_slopes(d.audit), _rank_table(d.audit)]
    if d.audit.orderings:
        lead.append(_verdicts(d.audit))
        if len(d.audit.orderings) <= MOST_PAIRS:
            parts.append(_ordering_table(d.audit))
    if total.audit is not None:
        lead += [_reversals(total.audit, one) for one in total.audit.comparisons]
    if any(mean_of(row, "Total") is not None for row in measures.result["rows"]):
        parts.append(_total_table(measures))
    return Section("readers", title, tuple(lead), tuple(parts))


def _stays(measures: TaskMeasures) -> Words:
    """Name the metrics of the headline that no reader touches."""
    names = [name for name in ("T", "E") if name in measures.headline]
    return Words(f"，{' 与 '.join(names)} 不变", f"; {' and '.join(names)} stay") if names else Words("", "")


def _why_not(found: Readers, measures: TaskMeasures) -> Words:
    if len(measures.conditions) < 2:
        return Words(
            f"这次运行只有条件 {measures.conditions[0]}，没有可换的阅读者；用 `meddc-bench score RUN --reader NAME` 加一个。",
            f"This run has the condition {measures.conditions[0]} alone and no reader to swap; add one with "
            "`meddc-bench score RUN --reader NAME`.",
        )
    name = "Acc" if has_accuracy(measures.headline) else "D"
    return Words(
        f"没有两个条件在共同病例上都测到 {name}，无法比较。",
        f"No two conditions measured {name} on cases in common: nothing to compare.",
    )


def _left_out(found: Readers) -> Words:
    if not found.left_out:
        return Words("", "")
    return Words(
        f"（{found.left_out} 例未测全，不用。）", f" ({found.left_out} that were not measured throughout are not used.)"
    )


def _reversals(audit: Audit, one: Comparison) -> Words:
    """Name the pairs that a reader orders the other way round."""
    found, tau = one.reversals, number(one.kendall.tau, 2)
    if not found.pairs:
        return Words("不足两个策略，没有名次可比。", "Fewer than two policies: no ranks to compare.")
    interval = bracket(one.interval, 1, 0)
    shares = {(flip.first, flip.second): flip.share_of_draws for flip in one.flips}
    base = {rank.policy: rank.score for part in audit.ranks if part.reader == one.base for rank in part.ranks}
    names = []
    for pair in found.reversed:
        upper, lower = sorted((pair.first, pair.second), key=lambda name: -base[name])
        names.append(_flipped(upper, lower, one, shares.get((pair.first, pair.second))))
    head = Words(
        f"{audit.metric}：{one.base} → {one.reader}，{found.pairs} 对中 {found.count} 对颠倒（重抽样区间 {interval}），"
        f"Kendall τ-b = {tau}",
        f"{audit.metric}: {one.base} → {one.reader}, {found.count} of {found.pairs} pairs reversed (bootstrap interval "
        f"{interval}), Kendall's tau-b = {tau}",
    )
    if not names:
        return head + Words("。", ".")
    return head + Words("；颠倒的对：", "; reversed: ") + joined(names, "、", ", ") + Words("。", ".")


def _flipped(upper: str, lower: str, one: Comparison, share: float | None) -> Words:
    """Name a reversed pair; `upper` is the higher one under the base."""
    drawn = "" if share is None else f"{100 * share:.0f}"
    pair = Words(
        f"{upper} 与 {lower}（前者在 {one.base} 下高，后者在 {one.reader} 下高",
        f"{upper} and {lower} (the first is higher under {one.base}, the second under {one.reader}",
    )
    return pair + (
        Words(f"；{drawn}% 的抽样里颠倒）", f"; reversed in {drawn} % of draws)") if drawn else Words("）", ")")
    )


def _verdicts(audit: Audit) -> Words:
    counts = Counter[str](one.verdict for one in audit.orderings)
    told = [name + f" {counts[key]}" for key, name in VERDICTS.items() if counts[key]]
    against = [f"{one.first} / {one.second}" for one in audit.orderings if one.verdict == "contradicted"]
    text = Words("两两次序：", "Orderings: ") + joined(told, "，", ", ")
    if against:
        text = text + Words(f"；相互矛盾的：{'、'.join(against)}", f"; contradicted: {', '.join(against)}")
    return text + Words(
        "。一致支持指差的区间在每个条件下都在 0 的同一侧。",
        ". Supported: the interval of the difference lies on the same side of 0 under every condition.",
    )


def _slopes(audit: Audit) -> Figure:
    data = slopes(audit)
    caption = Words(
        f"{audit.metric} 的名次（左端为基准条件），旁为得分；等号表示并列。线相交即名次颠倒。",
        f"Ranks by {audit.metric} (left: the base condition) with scores; = marks ties. Crossing lines are reversed pairs.",
    )
    if data.marked and len(data.marked) < len(audit.policies):
        caption = caption + Words("彩色为名次变动最大的策略。", " Coloured: the policies whose rank moves most.")
    return Figure("ranks", Words("换阅读者后的名次", "Ranks when the reader is swapped"), caption, data, None)


def slopes(audit: Audit) -> Slopes:
    """Lay out ranks for drawing: equal ranks get places of their own, in the order of the base."""
    everywhere = [one for one in audit.policies if not any(gone.policy == one for gone in audit.unread)]
    ranks = {
        found.reader: {one.policy: one for one in found.ranks if one.policy in everywhere} for found in audit.ranks
    }
    base = ranks[audit.base]
    order = sorted(everywhere, key=lambda one: (base[one].rank, one))
    places: list[Place] = []
    for reader, row in ranks.items():
        by_rank = sorted(order, key=lambda one: (row[one].rank, order.index(one)))
        places += [
            Place(one, reader, row[one].rank, at, row[one].tied, 100 * row[one].score)
            for at, one in enumerate(by_rank, 1)
        ]
    moved = {one: max(abs(row[one].rank - base[one].rank) for row in ranks.values()) for one in order}
    marked = order
    if len(order) > MARKED:
        marked = sorted((one for one in order if moved[one]), key=lambda one: (-moved[one], order.index(one)))[:MARKED]
    return Slopes(tuple(ranks), tuple(marked), tuple(places))


def _rank_table(audit: Audit) -> Table:
    others = [one for one in audit.readers if one != audit.base]
    name = audit.metric
    columns = [Column(POLICY, False)]
    columns += [Column(Words(f"{name}（{one}）", f"{name} ({one})")) for one in audit.readers]
    columns += [Column(Words(f"名次（{one}）", f"rank ({one})")) for one in audit.readers]
    columns += [Column(Words(f"变动（{one}）", f"shift ({one})")) for one in others]
    ranks = {found.reader: {one.policy: one for one in found.ranks} for found in audit.ranks}
    shifts = {(one.reader, one.policy): one for one in audit.shifts}
    rows: list[tuple[Cell, ...]] = []
    for policy in audit.policies:
        row: list[Cell] = [policy]
        row += [points(ranks[one][policy].score) if policy in ranks[one] else NONE for one in audit.readers]
        row += [
            f"{'=' if ranks[one][policy].tied else ''}{ranks[one][policy].rank}" if policy in ranks[one] else NONE
            for one in audit.readers
        ]
        for one in others:
            found = shifts.get((one, policy))
            row.append(NONE if found is None else f"{signed(found.value)} {bracket(found.interval)}")
        rows.append(tuple(row))
    note = Words(
        f"变动：该条件下的 {name} 减去 {audit.base} 下的 {name}，附 95% 重抽样区间。",
        f"Shift: {name} under the condition minus {name} under {audit.base}, with its 95 % bootstrap interval.",
    )
    return Table(Words(f"{name} 与名次", f"{name} and ranks"), tuple(columns), tuple(rows), (note,))


def _ordering_table(audit: Audit) -> Table:
    columns = (
        Column(Words("前者（基准下较高）", "first (higher under the base)"), False), Column(Words("后者", "second"), False),
        *(Column(Words(f"差（{one}）", f"difference ({one})")) for one in audit.readers),
        Column(Words("结论", "verdict"), False),
    )  # fmt: skip
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            one.first, one.second, *(f"{signed(gap.value)} {bracket(gap.interval)}" for gap in one.gaps),
            VERDICTS[one.verdict],
        )
        for one in audit.orderings
    )  # fmt: skip
    return Table(Words("两两次序", "Orderings of pairs"), columns, rows)


def _total_table(measures: TaskMeasures) -> Table:
    columns = (Column(POLICY, False), *(Column(one) for one in measures.conditions))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (policy, *(points(mean_of(row_of(measures, policy, one), "Total")) for one in measures.conditions))
        for policy in measures.policies
    )
    return Table(Words("各条件下的总分（T、E 不变）", "Total under each condition (T and E fixed)"), columns, rows)


def weights(measures: TaskMeasures) -> Section | None:
    """Who is first when the weights of Total change."""
    found = measures.weights
    if found is None or len(measures.policies) < 2:
        return None
    stable = (
        Words("七组权重下第一名不变。", "The first is the same under all seven sets of weights. ")
        if found.stable
        else Words("第一名随权重而变或出现并列。", "The first changes with the weights, or is tied. ")
    )
    lead = stable + Words(
        f"最小领先 {points(found.margin, 2)} 分。", f"Smallest margin: {points(found.margin, 2)} points."
    )
    columns = (
        Column("D : T : E", False), Column(Words("第一", "first"), False), Column(Words("第二", "second"), False),
        Column(Words("第一的总分", "Total of the first")), Column(Words("领先", "margin")),
    )  # fmt: skip
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            " : ".join(f"{one.weights[name]:.2f}" for name in ("D", "T", "E")), ("= " if one.tied else "") + one.top,
            one.second or NONE, points(one.scores[one.top]), points(one.margin, 2),
        )
        for one in found.weightings
    )  # fmt: skip
    note = Words(
        f"条件 {measures.common}；第一行为论文的权重，其余六行各把 0.05 移给另一项。",
        f"Condition {measures.common}. The first line has the paper's weights; the others move 0.05 to another score.",
    )
    table = Table(Words("权重与第一名", "Weights and who is first"), columns, rows, (note,))
    return Section("weights", Words("权重敏感性", "Weight sensitivity"), (lead,), (table,))


def judges(measures: TaskMeasures) -> Section | None:
    """What several judges, or one asked several times, make of the same."""
    panels: Sequence[Mapping[str, Any]] = measures.result.get("panels", ())
    if not panels:
        return None
    names = [name for name in measures.headline if name in panels[0]["metrics"]]
    columns = (Column(POLICY, False), Column(Words("患者", "patient"), False), Column(CONDITION, False))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (one["policy"], one["patient"], one["condition"], *(_panel(one["metrics"].get(name)) for name in names))
        for one in panels
    )
    note = Words(
        "均值（裁判间极差）± 各裁判重复判读的标准差。小于裁判自身噪声的差别不算差别。",
        "Mean (largest minus smallest over judges) ± SD over each judge's asks. A difference smaller than a judge's own "
        "noise is none.",
    )
    table = Table(
        Words("裁判之间", "Between judges"), (*columns, *(Column(METRICS[name]) for name in names)), rows, (note,)
    )
    return Section("judges", Words("多个裁判", "Several judges"), (), (table,))


def _panel(metric: Mapping[str, Any] | None) -> str:
    if metric is None or metric["mean"] is None:
        return NONE
    text = points(metric["mean"])
    if metric["spread"] is not None:
        text += f" ({points(metric['spread'])})"
    noise = [one for one in metric["noise"].values() if one is not None]
    return text + (" ± " + "/".join(points(one) for one in noise) if noise else "")
