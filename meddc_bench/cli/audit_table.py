"""Audits and comparisons as tables and sentences for the screen."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from meddc_bench.analysis.audit import Comparison as Reversed
from meddc_bench.analysis.bootstrap import Difference, Estimate, Interval
from meddc_bench.analysis.orderings import Ordering
from meddc_bench.audits import Checked, MetricAudit, Report, Setting
from meddc_bench.cli.table import console
from meddc_bench.comparison import Compared, Comparison, Versus
from meddc_bench.scorer import NOT_DONE
from meddc_bench.text import clean

NAMES = {"reader": "阅读者", "judge": "裁判", "patient": "患者", "view": "视图"}
_SHOWN = 10
_WIDEST = 10_000


def plain(value: Any) -> Any:
    """Turn records into plain data for JSON: series are left out, and a setting's empty parts."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        found = {one.name: plain(getattr(value, one.name)) for one in dataclasses.fields(value)}
        return {key: one for key, one in found.items() if one is not None} if isinstance(value, Setting) else found
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(one) for one in value]
    if isinstance(value, np.generic):
        return value.item()
    return value


def print_audit(report: Report, gates: Sequence[Checked]) -> None:
    """Print every audit with its scores, shifts, reversals, variance and verdicts, then what they rest on."""
    out = console()
    if report.source:
        _say(out, f"来源：{report.source}")
    for one in report.audits:
        _print_audit(out, one)
    for skipped in report.skipped:
        _say(out, f"{skipped.task} · {skipped.metric}：没有可比的内容（{skipped.reason}），未审计。", "dim")
    _print_histories(out, report)
    for line in _legend(report):
        _say(out, line, "dim")
    for gate in gates:
        _say(out, f"门限 {gate.gate}：{'成立' if gate.holds else '不成立'}", "green" if gate.holds else "bold red")
        for failure in gate.failures[:_SHOWN]:
            _say(out, f"  {failure}", "red")


def print_comparison(found: Comparison, runs: Sequence[str]) -> None:
    """Print the differences of every metric, and what they rest on."""
    out = console()
    if len(runs) > 1:
        _say(out, "；".join(f"{name} = {run}" for name, run in zip("AB", runs, strict=False)))
    for one in found.metrics:
        _print_compared(out, one)
    for words in found.only:
        _say(out, f"只有一方有，未比较：{words}", "yellow")
    _say(
        out, "差 = 前者 − 后者，按病例配对；区间与 P 来自病例重抽样；胜/平/负按单个病例计；Holm p 已按同一指标的对数校正；"
        "“所需病例”是在 0.05 水平、0.8 功效下看出这么大的差所需的病例数。", "dim",
    )  # fmt: skip


# an audit


def _print_audit(out: Console, one: MetricAudit) -> None:
    _say(out, "")
    _say(out, _heading(one), "bold")
    for line in _basis(one):
        _say(out, line, "yellow" if "未测" in line or "没有分数" in line else "")
    if one.found is None:
        _say(out, f"没有结果（null）：{one.reason}", "bold yellow")
        return
    _print_whole(out, _scores(one))
    for line in (*_comparisons(one), _variance(one)):
        _say(out, line)
    _say(out, "结论", "bold")
    for line in _verdicts(one):
        _say(out, line)


def _heading(one: MetricAudit) -> str:
    rest = [
        f"{name} {label}"
        for name, label in (
            ("患者", one.setting.patient), ("阅读者", one.setting.condition), ("裁判", one.setting.judge)
        ) if label is not None
    ]  # fmt: skip
    return f"{one.task} · {one.metric}：换{NAMES[one.over]}，基准 {one.base}" + (
        f"（{'，'.join(rest)} 不变）" if rest else ""
    )


def _basis(one: MetricAudit) -> Iterator[str]:
    """Say what the numbers rest on: cases, runs, draws, and everything that is left out."""
    size = f"{len(one.policies)} 个策略 × {len(one.instruments)} 个{NAMES[one.over]}"
    if one.found is not None and not one.found.cases:
        yield size + "；只有公布的分数，没有病例：没有区间，不下判断"
    elif one.expected:
        runs = sorted(set(one.runs.values()))
        times = "–".join(str(run) for run in (runs[0], runs[-1])[: len(runs)])
        text = f"{size}；病例 {one.cases}/{one.expected}，每例 {times} 次"
        if one.found is not None and one.found.draws:
            text += f"；{100 * one.found.level:g}% 区间来自 {one.found.draws:,} 次病例重抽样（seed {one.found.seed}）"
        yield text
    if one.left_out:
        cases = "、".join(left.case for left in one.left_out[:_SHOWN]) + ("……" if len(one.left_out) > _SHOWN else "")
        yield f"{len(one.left_out)} 例未测全，对所有策略一律不计：{cases}"
    for gap in one.gaps:
        yield f"  {gap.policy} / {gap.under}：{gap.cases} 例未测：{'；'.join(gap.reasons[:3])}"
    for lost in one.unmeasured:
        yield f"  {lost.policy} / {lost.under}：没有分数，不参与比较：{lost.reason}"
    if one.differs:
        yield f"指纹中只有这些部分不同：{', '.join(one.differs)}"


def _scores(one: MetricAudit) -> Table:
    """Lay out the score, its interval and its rank under every instrument, and how far it moved from the base."""
    assert one.found is not None
    table = Table(title=_unit_words(one), title_justify="left")
    table.add_column("policy", no_wrap=True)
    for under in one.instruments:
        table.add_column(_plain(under + ("（基准）" if under == one.base else "")), justify="right", no_wrap=True)
    for under in one.instruments[1:]:
        table.add_column(_plain(f"{under} − {one.base}"), justify="right", no_wrap=True)
    fixed = list(dict.fromkeys(found.metric for found in one.fixed))
    for metric in fixed:
        table.add_column(f"{metric}（不变）", justify="right", no_wrap=True)
    scores = {(found.policy, found.reader): found for found in one.found.scores}
    places = {(rank.policy, row.reader): rank for row in one.found.ranks for rank in row.ranks}
    shifts = {(shift.policy, shift.reader): shift for shift in one.found.shifts}
    kept = {(found.policy, found.metric): found.value for found in one.fixed}
    for policy in sorted(one.policies, key=lambda name: _rank(places.get((name, one.base)), name)):
        cells = [_score(scores.get((policy, under)), places.get((policy, under))) for under in one.instruments]
        for under in one.instruments[1:]:
            shift = shifts.get((policy, under))
            cells.append("—" if shift is None else _signed(shift.value, shift.interval, one.unit))
        cells += [_number(kept.get((policy, metric)), one.unit) for metric in fixed]
        table.add_row(_plain(policy), *cells)
    return table


def _legend(report: Report) -> Iterator[str]:
    if _unfinished(report):
        yield "有的阅读或判读还没有做：用 `meddc-bench score RUN` 补上，或在 audit 里写明 --reader。"
    if any("emitted" in one.instruments and one.over == "reader" for one in report.audits):
        yield "emitted 是策略自己写出的诊断，其得分混有策略自己读病史的本领；其余阅读者读的是同一批问诊。"
    if any(one.found is not None and one.found.draws for one in report.audits):
        yield "名次后的 = 表示同分。区间没有按策略的对数校正；未测的病例不当作 0 分。各统计量的算法见 docs/statistics.md。"


def _unfinished(report: Report) -> bool:
    reasons = [one.reason or "" for one in report.audits]
    reasons += [lost.reason for one in report.audits for lost in one.unmeasured]
    reasons += [words for one in report.audits for gap in one.gaps for words in gap.reasons]
    return any(NOT_DONE in words for words in reasons)


def _unit_words(one: MetricAudit) -> str:
    unit = {"proportion": "0–100", "points": "0–100"}.get(one.unit, one.unit)
    return f"得分（{unit}）[区间] #名次；差 [区间]" if one.found and one.found.draws else f"得分（{unit}）#名次；差"


def _rank(place: Any, name: str) -> tuple[int, str]:
    return (10**9, name) if place is None else (place.rank, name)


def _score(found: Estimate | None, place: Any) -> str:
    if found is None or found.value is None:
        return "—"
    text = _number(found.value, found.unit) + _interval(found.interval, found.unit)
    return text + ("" if place is None else f" #{place.rank}" + ("=" if place.tied else ""))


def _comparisons(one: MetricAudit) -> Iterator[str]:
    assert one.found is not None
    for found in one.found.comparisons:
        yield _reversed(found)
        shares = {(flip.first, flip.second): flip.share_of_draws for flip in found.flips}
        pairs = [(pair.first, pair.second, shares.get((pair.first, pair.second))) for pair in found.reversals.reversed]
        if pairs:
            words = (f"{a} ↔ {b}" + ("" if share is None else f"（{100 * share:.1f}%）") for a, b, share in pairs)
            yield "  反转的对" + ("" if pairs[0][2] is None else "（占重抽样的比例）") + "：" + "；".join(words)


def _reversed(found: Reversed) -> str:
    if not found.reversals.pairs:
        return f"{found.reader} 对 {found.base}：只有一个策略，没有可比的对"
    text = f"{found.reader} 对 {found.base}：{found.reversals.pairs} 对策略中反转 {found.reversals.count} 对"
    if found.interval.low is not None and found.interval.high is not None:
        text += f"（重抽样中 {found.interval.low:g}–{found.interval.high:g} 对）"
    tau = found.kendall.tau
    text += f"，Kendall τ = {tau:.2f}" if tau is not None else f"，Kendall τ 无（{found.kendall.reason}）"
    return text + (f"；{found.reversals.tied} 对同分" if found.reversals.tied else "")


def _variance(one: MetricAudit) -> str:
    assert one.found is not None
    found = one.found.variance
    if found.policy is None or found.reader is None or found.interaction is None:
        return f"方差分解：无（{found.reason}）"
    parts = [("策略", found.policy), (NAMES[one.over], found.reader), ("两者交互", found.interaction)]
    parts += [
        (name, source) for name, source in (("重复", found.repeat), ("残差", found.residual)) if source is not None
    ]
    text = "，".join(f"{name} {100 * (source.share or 0):.1f}%" for name, source in parts)
    return f"方差占比：{text}" + ("" if found.repeats > 1 else "（只有一次重复：交互里含单次运行的噪声）")


def _verdicts(one: MetricAudit) -> Iterator[str]:
    """Say which orderings are supported by all instruments, contradicted or undecided."""
    assert one.found is not None
    found, name = one.found, NAMES[one.over]
    if not found.orderings:
        yield "  没有两个可比的策略，谈不上排序。"
        return
    silent = [under for under in one.instruments if under not in found.readers]
    if silent:
        yield f"  {'、'.join(silent)} 没有分数，不在下面的“每个{name}”之内。"
    if not found.draws:
        yield from _without_cases(one, found.orderings)
        return
    kinds: list[tuple[str, str, Callable[[Ordering], str]]] = [
        ("supported", f"成立（每个{name}下差的区间都在 0 的同一侧）", _supported),
        ("contradicted", f"矛盾（换{name}后差的区间落到 0 的另一侧）", _contradicted),
        ("undecided", "未定（至少一处差的区间含 0）", _undecided),
    ]
    for verdict, words, say in kinds:
        pairs = [pair for pair in found.orderings if pair.verdict == verdict]
        yield f"  {words}：{len(pairs)}/{len(found.orderings)} 对" + ("" if pairs else "。")
        for pair in pairs:
            yield f"    {say(pair)}"


def _without_cases(one: MetricAudit, orderings: Sequence[Ordering]) -> Iterator[str]:
    agreed = [pair for pair in orderings if len({gap.value > 0 for gap in pair.gaps if gap.value}) == 1]
    other = [pair for pair in orderings if pair not in agreed]
    yield f"  {len(agreed)}/{len(orderings)} 对策略的先后在每个{NAMES[one.over]}下相同；没有病例，差是否超出偶然无从判断。"
    for pair in other:
        under = "、".join(gap.reader for gap in pair.gaps if gap.value < 0)
        yield f"    {pair.first} 在 {one.base} 下高于 {pair.second}" + (
            f"，在 {under} 下低于它" if under else "或与它同分"
        )


def _supported(pair: Ordering) -> str:
    above = pair.gaps[0].value > 0
    return f"{pair.first} 高于 {pair.second}" if above else f"{pair.second} 高于 {pair.first}"


def _contradicted(pair: Ordering) -> str:
    above = "、".join(gap.reader for gap in pair.gaps if gap.interval.low is not None and gap.interval.low > 0)
    below = "、".join(gap.reader for gap in pair.gaps if gap.interval.high is not None and gap.interval.high < 0)
    return f"{pair.first} 在 {above} 下高于 {pair.second}，在 {below} 下低于它"


def _undecided(pair: Ordering) -> str:
    unknown = next((gap.interval.reason for gap in pair.gaps if gap.interval.low is None), None)
    if unknown is not None:
        return f"{pair.first} 与 {pair.second}：没有区间（{unknown}）"
    open_ = [gap.reader for gap in pair.gaps if _holds_zero(gap.interval)]
    rest = [gap for gap in pair.gaps if not _holds_zero(gap.interval)]
    text = f"{pair.first} 与 {pair.second}：在 {'、'.join(open_)} 下分不出高低"
    for words, names in (
        ("高于", [gap.reader for gap in rest if gap.value > 0]), ("低于", [gap.reader for gap in rest if gap.value < 0])
    ):  # fmt: skip
        text += f"，在 {'、'.join(names)} 下前者{words}后者" if names else ""
    return text


def _holds_zero(interval: Interval) -> bool:
    return interval.low is None or interval.high is None or interval.low <= 0 <= interval.high


def _print_histories(out: Console, report: Report) -> None:
    for one in report.histories:
        _say(out, "")
        if report.over == "patient":
            head = f"{one.task}：患者不同，问诊也不同，各自另行推演；每份阅读所读的字节与其问诊核对"
        else:
            head = f"{one.task}：每个{NAMES[report.over]}面对的是同一批问诊；每份阅读所读的字节与存下的问诊核对"
        if not one.checked:
            _say(out, f"{one.task}：没有可核对的阅读")
            continue
        good = "全部一致" if not one.mismatched else f"{one.mismatched} 份不一致"
        _say(out, f"{head} {one.checked:,} 份，{good}", "bold red" if one.mismatched else "")
        _say(
            out,
            "  问诊摘要（SHA-256 前 128 位）：" + "，".join(f"{name} {digest}" for name, digest in one.digests.items()),
            "dim",
        )


# a comparison


def _print_compared(out: Console, one: Compared) -> None:
    _say(out, "")
    place = one.place
    rest = [f"患者 {place.patient}", *([f"阅读者 {place.condition}"] if place.condition else []), f"裁判 {place.judge}"]
    if place.ask:
        rest[-1] += f"#{place.ask + 1}"
    _say(out, f"{place.task} · {place.metric}（{'，'.join(rest)}）：病例 {one.cases}/{one.expected}", "bold")
    if one.left_out:
        cases = "、".join(left.case for left in one.left_out[:_SHOWN]) + ("……" if len(one.left_out) > _SHOWN else "")
        _say(out, f"{len(one.left_out)} 例未测全，对所有策略一律不计：{cases}；例如 {one.left_out[0].reason}", "yellow")
    for pair in one.uncompared:
        _say(out, f"{pair.first} 与 {pair.second} 没有比较：{pair.reason}", "yellow")
    if one.pairs:
        _print_whole(out, _differences(one))


def _differences(one: Compared) -> Table:
    table = Table()
    for name in ("前者", "后者"):
        table.add_column(name, no_wrap=True)
    for name in ("前者得分", "后者得分", "差 [区间]", "P(差>0)", "胜/平/负", "p", "Holm p", "所需病例"):
        table.add_column(name, justify="right", no_wrap=True)
    for pair in one.pairs:
        found = pair.difference
        table.add_row(
            _plain(found.first), _plain(found.second), _number(pair.first.value, one.unit),
            _number(pair.second.value, one.unit), _signed(found.value, found.interval, one.unit), _above(found),
            f"{found.wins}/{found.ties}/{found.losses}", _p(found.p_value, found.interval.draws),
            _p(pair.corrected.adjusted, 0) + ("*" if pair.corrected.rejected else ""), _needed(pair),
        )  # fmt: skip
    return table


def _above(found: Difference) -> str:
    """Write the share of draws above 0 as Table S13 does: not 1 but more than what the draws can tell."""
    if found.p_above is None or not (found.wins or found.losses or found.value):
        return "—"
    edge = 1 / found.interval.draws
    if found.p_above >= 1 - edge / 2:
        return f"> {1 - edge:.4g}"
    return f"< {edge:.4g}" if found.p_above < edge / 2 else f"{found.p_above:.4f}"


def _p(value: float | None, draws: int) -> str:
    return "—" if value is None else f"{value:.4f}"


def _needed(pair: Versus) -> str:
    if pair.needed is None or pair.needed.cases is None:
        return "—"
    return f"{pair.needed.cases:,}"


# numbers and words


def _number(value: float | None, unit: str) -> str:
    if value is None:
        return "—"
    if unit in ("proportion", "points"):
        return f"{value * (100 if unit == 'proportion' else 1) + 0.0:.1f}"
    return f"{value:.2f}"


def _signed(value: float | None, interval: Interval, unit: str) -> str:
    if value is None:
        return "—"
    text = _number(value, unit)
    text = text.removeprefix("-") if float(text) == 0 else text
    return ("" if text.startswith("-") or float(text) == 0 else "+") + text + _interval(interval, unit)


def _interval(interval: Interval, unit: str) -> str:
    if interval.low is None or interval.high is None:
        return ""
    return f" [{_number(interval.low, unit)}, {_number(interval.high, unit)}]"


def _plain(text: str) -> Text:
    """A label as it is: no markup, no escapes, one line."""
    return Text(" ".join(clean(text).split("\n")))


def _say(out: Console, text: str, style: str = "") -> None:
    out.print(_plain(text), style=style, soft_wrap=True)


def _print_whole(out: Console, table: Table) -> None:
    """Print a table in full width: a terminal wraps it, and no figure is cut."""
    wanted = Measurement.get(out, out.options.update(max_width=_WIDEST), table).maximum
    screen, out.width = out.width, max(wanted, out.width)
    out.print(table)
    out.width = screen
