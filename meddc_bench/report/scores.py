"""Sections on the scores themselves: the summary, the paired differences, the other metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from meddc_bench.analysis.bootstrap import Estimate
from meddc_bench.headline import has_accuracy, leading
from meddc_bench.report.figures import Dot, Forest, Gap, Scores
from meddc_bench.report.measures import ALL_PAIRS, Compared, Key, TaskMeasures, mean_of, setting_of
from meddc_bench.report.numbers import NONE, Teller, bracket, ends, number, points, probability, signed
from meddc_bench.report.page import Cell, Column, Figure, Section, Table
from meddc_bench.report.words import METRICS, Words, joined, named

NOT_WHOLE = Words("有单元没有测到的不画。", " What was not measured whole is not drawn.")
POLICY, CONDITION = Words("策略", "policy"), Words("条件", "condition")


def summary(measures: TaskMeasures, teller: Teller) -> Section:
    """D, T, E and Total of every row, with intervals and coverage."""
    facts = measures.facts
    lead = [
        Words(
            f"{facts.cases} 例 × {facts.repeats} 次重复；患者 {measures.main.patient}，裁判 {measures.main.judge}，"
            f"协议 {facts.protocol['name']}，种子 {facts.seed}。",
            f"{facts.cases} cases × {facts.repeats} repeat{'s' if facts.repeats > 1 else ''}; patient "
            f"{measures.main.patient}, judge {measures.main.judge}, protocol {facts.protocol['name']}, seed {facts.seed}.",
        ),
        _order(measures),
    ]
    if len(measures.settings) > 1:
        lead.append(
            Words(
                f"有多个患者、裁判或多次判读；图与以下各节取第一个：患者 {measures.main.patient}，裁判 "
                f"{measures.main.judge}，第 {measures.main.ask + 1} 次判读。",
                f"There are several patients, judges or asks; figures and later sections are of the first: patient "
                f"{measures.main.patient}, judge {measures.main.judge}, ask {measures.main.ask + 1}.",
            )
        )
    for one in measures.result.get("shared_models", ()):
        lead.append(
            Words(
                f"注意：{one['role']} {one['label']} 与被测策略 {one['policy']} 出自同一模型（{one['model']}），可能偏袒。",
                f"Note: {one['role']} {one['label']} stands on the same model as policy {one['policy']} "
                f"({one['model']}) and may favour it.",
            )
        )
    figure = _dots(measures)
    parts = (_summary_table(measures, teller), *((figure,) if figure else ()))
    return Section("summary", Words("概要", "Summary"), tuple(lead), parts)


def _order(measures: TaskMeasures) -> Words:
    if has_accuracy(measures.headline):
        return Words(
            f"排序依据条件 {measures.common} 下的 Acc@50。诊断按完全（1）、核心（0.85）、部分（0.5）分级，一对一匹配；"
            "Acc：参考诊断全部至少达到核心；Strict：全部完全；@50：并且收到至少一半的检查报告，所有病例都在分母里。",
            f"Ordered by Acc@50 under the condition {measures.common}. Diagnoses are graded full (1), core (0.85), partial "
            "(0.5) and matched one to one. Acc: every reference at least core; Strict: every one full; @50: and at least "
            "half of the test records received, with every case in the denominator.",
        )
    return Words(
        f"排序依据条件 {measures.common} 下的总分（没有总分时按 D）。",
        f"Ordered by Total under the condition {measures.common} (by D where there is no Total).",
    )


def _rows(measures: TaskMeasures) -> list[Mapping[str, Any]]:
    """Return the rows: the headline condition first, each in the order of the policies."""
    order = [measures.common, *(one for one in measures.conditions if one != measures.common)]
    rank = {name: at for at, name in enumerate(measures.policies)}
    return sorted(measures.result["rows"], key=lambda row: (order.index(row["condition"]), rank[row["policy"]]))


def _summary_table(measures: TaskMeasures, teller: Teller) -> Table:
    rows = _rows(measures)
    extra = [key for key in ("patient", "judge", "ask") if len({row[key] for row in rows}) > 1]
    heads = {"patient": Words("患者", "patient"), "judge": Words("裁判", "judge"), "ask": Words("判读", "ask")}
    columns = [Column(POLICY, False), Column(CONDITION, False), *(Column(heads[key], False) for key in extra)]
    columns += [Column(METRICS[name]) for name in measures.headline]
    columns += [Column(Words("重复间 SD", "SD over repeats")), Column(Words("覆盖", "coverage"))]
    body: list[tuple[Cell, ...]] = []
    for row in rows:
        labels = [str(row[key]) for key in ("policy", "condition", *extra)]
        body.append(
            (*labels, *(_score(measures, row, name) for name in measures.headline), _spread(row), _measured(row))
        )
    accuracy = has_accuracy(measures.headline)
    first = (
        Words(" Acc@50 ", "Acc@50") if accuracy else Words("总分（无总分时 D）", "Total (of D where there is no Total)")
    )
    notes = [
        Words(
            f"方括号：95% 重抽样区间；花括号：有单元没有测到时，它们全错与全对的界。重复间 SD 为{first.zh}的样本标准差；"
            "只有一次重复则没有；“确定”指各次重复里医生说的话完全相同。",
            "Square brackets: 95 % bootstrap interval. Braces: where units were not measured, the bounds, had all of "
            f"them gone worst or best. SD over repeats: sample SD of {first.en}, none for a "
            "single repeat; “deterministic”: the doctor said the same in every repeat.",
        ),
        *_nulls(measures, rows, teller),
    ]
    if derived := measures.result.get("derived_targets"):
        notes.append(
            Words(
                f"T 所依据的 {derived} 个目标由规则得出，不是临床医生所写，不是标准结果。",
                f"T rests on {derived} targets derived by rules, which no clinician wrote: it is not standard.",
            )
        )
    return Table(Words("得分", "Scores"), tuple(columns), tuple(body), tuple(notes))


def estimate_of(measures: TaskMeasures, row: Mapping[str, Any], metric: str) -> Estimate | None:
    """Return the estimate of a row's metric, which for T and E is that of any condition."""
    keys = (Key(row["policy"], metric, condition) for condition in (row["condition"], None))
    found = (measures.estimates.get((setting_of(row), key)) for key in keys)
    return next((one for one in found if one is not None), None)


def _score(measures: TaskMeasures, row: Mapping[str, Any], metric: str) -> str:
    value = mean_of(row, metric)
    if value is None:
        return NONE
    text = points(value)
    found = estimate_of(measures, row, metric)
    if found is not None and found.interval.low is not None:
        text += f" {bracket(found.interval)}"
    bounds = row["metrics"][metric].get("bounds")
    return text + (f" {{{points(bounds[0])},\u00a0{points(bounds[1])}}}" if bounds else "")


def _headline(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the leading metric that the row has: Total, or D where no case has what Total needs; Acc of a workup."""
    metrics: Mapping[str, Any] = row["metrics"]
    found: list[Mapping[str, Any]] = [metrics.get(name, {}) for name in leading(metrics)]
    return next((one for one in found if one.get("mean") is not None), found[-1] or found[0])


def _spread(row: Mapping[str, Any]) -> Cell:
    """Say how repeats differ; a doctor that repeats itself may still be read or judged differently each time."""
    sd = points(_headline(row).get("sd"))
    if not row["deterministic"]:
        return sd
    same = Words("确定", "deterministic")
    return same if sd in (NONE, "0.0") else Words(f"{sd}，", f"{sd}, ") + same


def _measured(row: Mapping[str, Any]) -> str:
    found = _headline(row)
    if not found:
        return NONE
    return f"{found['measured']}/{found['expected']}"


def _nulls(measures: TaskMeasures, rows: list[Mapping[str, Any]], teller: Teller) -> Iterator[Words]:
    """Say why scores are missing: each reason once, with the rows it holds for."""
    found: dict[tuple[str, Words], list[str]] = {}
    for row in rows:
        for name in measures.headline:
            metric = row["metrics"].get(name)
            if metric is not None and metric["mean"] is None:
                notes = [one for one in metric.get("notes", ()) if one]
                told = teller.reason(metric.get("reason") or next(iter(notes), None))
                found.setdefault((name, told), []).append(f"{row['policy']} / {row['condition']}")
    for (name, told), where in found.items():
        shown = "、".join(where[:6]) + (" …" if len(where) > 6 else "")
        listed = ", ".join(where[:6]) + (" …" if len(where) > 6 else "")
        yield Words(f"{name} 为空（{shown}）：{told.zh}。", f"{name} is null ({listed}): {told.en}.")


def _dots(measures: TaskMeasures) -> Figure | None:
    dots: list[Dot] = []
    for (setting, key), one in measures.estimates.items():
        if setting == measures.main and one.value is not None:
            dots.append(Dot(key.policy, key.metric, key.condition, 100 * one.value, ends(one.interval)))
    metrics = tuple(name for name in measures.headline if any(dot.metric == name for dot in dots))
    if not dots:
        return None
    data = Scores(measures.policies, metrics, measures.conditions, tuple(dots))
    caption = Words(
        "各策略的得分与 95% 重抽样区间。横轴各自取范围，不从 0 起。",
        "Scores of the policies with 95 % bootstrap intervals. Each axis has its own range and does not start at 0.",
    )
    drawn = {(dot.policy, dot.metric, dot.condition) for dot in dots}
    if any(
        mean_of(row, name) is not None
        and not {(row["policy"], name, row["condition"]), (row["policy"], name, None)} & drawn
        for row in measures.rows for name in measures.headline
    ):  # fmt: skip
        caption = caption + NOT_WHOLE
    return Figure("scores", Words("得分与区间", "Scores and intervals"), caption, data, None)


def differences(measures: TaskMeasures) -> Section | None:
    """Paired differences of policies, with intervals."""
    if not any(one.differences for one in measures.compared):
        return None
    data = Forest(
        tuple(dict.fromkeys((one.first, one.second) for part in measures.compared for one in part.differences)),
        tuple(part.metric for part in measures.compared if part.differences),
        tuple(
            Gap(one.first, one.second, part.metric, 100 * one.value, ends(one.interval))
            for part in measures.compared for one in part.differences if one.value is not None
        ),
    )  # fmt: skip
    which = [
        Words(
            f"{part.metric}：{part.cases} 个共同病例"
            + (f"（{part.left_out} 例有策略没有测到，不用）" if part.left_out else ""),
            f"{part.metric}: {part.cases} cases in common"
            + (f" ({part.left_out} that some policy lacks are not used)" if part.left_out else ""),
        )
        for part in measures.compared
    ]
    lead = [
        Words(
            "同一批病例上的成对差（前者减后者，分）。",
            "Differences on the same cases (first minus second, in points). ",
        )
    ]
    lead[0] = lead[0] + joined(which) + Words("。", ".")
    if len(measures.policies) > ALL_PAIRS:
        lead.append(
            Words(
                "策略较多，只列各策略与第一名之差。", "There are many policies: each is compared with the first alone."
            )
        )
    caption = Words(
        f"成对差与 95% 重抽样区间；{'诊断得分' if has_accuracy(measures.headline) else 'D 与 Total '}取条件 {measures.common}。",
        f"Paired differences with 95 % bootstrap intervals; "
        f"{'scores of diagnoses' if has_accuracy(measures.headline) else 'D and Total'} under the condition {measures.common}.",
    )
    figure = Figure("differences", Words("成对差", "Paired differences"), caption, data, _gap_table(measures.compared))
    return Section("differences", Words("成对差", "Paired differences"), tuple(lead), (figure,))


def _pair(first: str, second: str) -> str:
    return f"{first} − {second}"


def _gap_table(compared: tuple[Compared, ...]) -> Table:
    columns = (
        Column(Words("指标", "metric"), False), Column(Words("对", "pair"), False),
        Column(Words("差 [95% 区间]", "difference [95 %]")), Column(Words("P(差 > 0)", "P(difference > 0)")),
        Column("p"), Column(Words("p（Holm）", "p (Holm)")),
        Column(Words("胜/平/负（例）", "wins/ties/losses (cases)")),
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for part in compared:
        for one, corrected in zip(part.differences, part.corrected, strict=True):
            draws = one.interval.draws or 1
            rows.append(
                (
                    part.metric, _pair(one.first, one.second), f"{signed(one.value)} {bracket(one.interval)}",
                    probability(one.p_above, draws), probability(one.p_value, draws),
                    probability(corrected.adjusted, draws), f"{one.wins}/{one.ties}/{one.losses}",
                )
            )  # fmt: skip
    note = Words(
        "胜平负：逐例比较，相差不超过 1 分为平。区间未作多重校正。",
        "Wins, ties, losses: case by case, a difference of up to 1 point is a tie. Intervals are not corrected for the "
        "number of pairs.",
    )
    return Table(Words("成对差的数值", "Paired differences in numbers"), columns, tuple(rows), (note,))


def others(measures: TaskMeasures) -> Section | None:
    """Every other metric of the task, as means: where a reader has a say in it, by condition."""
    rows = [row for row in _rows(measures) if setting_of(row) == measures.main]
    found: dict[tuple[str, str | None], dict[str, Mapping[str, Any]]] = {}
    for row in rows:
        for name, metric in row["metrics"].items():
            if name not in measures.headline and metric["mean"] is not None:
                found.setdefault((name, row["condition"]), {})[row["policy"]] = metric
    lines: list[tuple[Words, dict[str, Mapping[str, Any]]]] = []
    for name in dict.fromkeys(name for name, _ in found):
        by_condition = {condition: one for (metric, condition), one in found.items() if metric == name}
        means = {tuple(one["mean"] for one in row.values()) for row in by_condition.values()}
        if len(means) == 1:
            lines.append((named(METRICS, name), next(iter(by_condition.values()))))
        else:
            lines += [
                (named(METRICS, name) + Words(f"（{condition}）", f" ({condition})"), one)
                for condition, one in by_condition.items()
            ]
    if not lines:
        return None
    note = Words(
        "比例以 0–100 计；轮次与个数为每例均值。计划的各维度只按策略自己的输出（emitted）评分。",
        "Fractions are 0–100; rounds and counts are means per case. The plan's dimensions are scored on the policy's own "
        "output (emitted) alone.",
    )
    title = Words("均值", "Means")
    if len(measures.policies) <= ALL_PAIRS:
        columns = (Column(Words("指标", "metric"), False), *(Column(one) for one in measures.policies))
        body: list[tuple[Cell, ...]] = [
            (words, *(_other(row.get(one)) for one in measures.policies)) for words, row in lines
        ]
    else:
        columns = (Column(POLICY, False), *(Column(words) for words, _ in lines))
        body = [(one, *(_other(row.get(one)) for _, row in lines)) for one in measures.policies]
    return Section("others", Words("其他指标", "Other metrics"), (), (Table(title, columns, tuple(body), (note,)),))


def _other(metric: Mapping[str, Any] | None) -> str:
    if metric is None or metric["mean"] is None:
        return NONE
    return points(metric["mean"]) if metric["unit"] == "fraction" else number(metric["mean"])
