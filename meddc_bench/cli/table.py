"""The results as a table for the screen."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from meddc_bench.headline import CONSULTATION, WORKUP, has_accuracy, headline, leading
from meddc_bench.scorer import NOT_DONE
from meddc_bench.text import clean

_BRIEF = (*WORKUP, *CONSULTATION, "coverage")
_WIDEST = 10_000


def console(*, stderr: bool = False) -> Console:
    """Return a console that wraps nothing when it is not a terminal and honours NO_COLOR."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else 200
    return Console(file=stream, width=width, highlight=False, soft_wrap=False, legacy_windows=False)


def print_results(found: dict[str, Any]) -> None:
    """Print one table a task: its headline metrics on 0-100 as mean ± sample SD over repeats, coverage and counts."""
    out = console()
    for name, task in found["tasks"].items():
        _print_table(out, name, task)
        if _workup(task):
            out.print(_behaviour(task))
        _print_panels(out, task)
        for line in dict.fromkeys(_notes(task)):
            out.print(clean(line), style="yellow", markup=False)
    if any(_workup(task) for task in found["tasks"].values()):
        out.print(
            "Acc50、Strict50：并且收到至少一半的检查报告，所有病例都在分母里；precision、recall 是按等级计的软精确率与软召回率；"
            "findings 是收到的检查报告占比。",
            style="dim",
        )
    if not found["complete"]:
        out.print("部分结果：这次运行没有做完。", style="bold yellow")
    out.print(
        "分值 0-100，均值 ± 样本标准差（跨重复）；“确定”指各次重复里医生说的话完全相同；"
        "questions 是提问单元数；方括号是未测病例全错与全对时的界。",
        style="dim",
    )


def print_estimate(found: Any) -> None:
    """Print what a run would take."""
    out = console()
    out.print(f"{found.histories} 个问诊要做，{found.stored} 个已有。")
    if not found.models:
        out.print("没有语言模型参与，不产生调用费用。")
        return
    table = Table(title="语言模型的调用（估计）", title_justify="left")
    for name in ("role", "model", "calls", "prompt tokens", "completion tokens", "cost"):
        table.add_column(name, justify="left" if name in ("role", "model") else "right", no_wrap=True)
    for one in found.models:
        cost = "—" if one.cost is None else f"{one.cost:,.2f}"
        table.add_row(
            one.role, _plain(one.model), f"{one.calls:,}", f"{one.prompt_tokens:,}", f"{one.completion_tokens:,}", cost
        )
    out.print(table)
    if found.cost is not None:
        out.print(f"合计约 {found.cost:,.2f}（价目表的货币）")
    else:
        out.print("有模型不在价目表里，没有合计；用 --prices FILE 给出价目表。")


def _print_table(out: Console, name: str, task: dict[str, Any]) -> None:
    """Print a task's table; a screen too narrow for it gets it without the counts, and no figure is ever cut."""
    for brief in (False, True) if out.is_terminal else (False,):
        table = _table(name, task, brief=brief)
        wanted = Measurement.get(out, out.options.update(max_width=_WIDEST), table).maximum
        if wanted <= out.width:
            break
    screen, out.width = out.width, max(wanted, out.width)
    out.print(table)
    out.width = screen


def _table(name: str, task: dict[str, Any], *, brief: bool = False) -> Table:
    table = Table(
        title=_title(name, task),
        title_justify="left",
    )
    table.add_column("policy", no_wrap=True)
    table.add_column("condition", no_wrap=True)
    several = {key: len({row[key] for row in task["rows"]}) > 1 for key in ("patient", "judge", "ask")}
    for key, many in several.items():
        if many:
            table.add_column(key)
    columns = _columns(task)
    if brief:
        columns = {name: show for name, show in columns.items() if name in _BRIEF}
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    last = task["protocol"].get("scored_on") != "emitted"
    for row in sorted(task["rows"], key=lambda row: ((row["condition"] == "emitted") == last, -_rank(row))):
        extra = [_plain(row[key]) for key, many in several.items() if many]
        table.add_row(
            _plain(row["policy"]), _plain(row["condition"]), *extra, *[show(row) for show in columns.values()]
        )
    return table


def _columns(task: dict[str, Any]) -> dict[str, Show]:
    """Return the columns of a task: those of its protocol, of T and E where a case has targets, and those asked for."""
    beside: dict[str, Show] = {name: partial(_beside, name=name) for name in task.get("beside", ())}
    asked = any(_measured(row, "T") for row in task["rows"])
    if _workup(task):
        targets = {name: _TRAJECTORY[name] for name in _ASKED} if asked else {}
        return {**_ACCURACY, **targets, "coverage": _coverage, **beside}
    return {**(_TRAJECTORY if asked else _DIAGNOSIS), **beside}


def _beside(row: dict[str, Any], name: str) -> str:
    return _score(row, name) if row["metrics"].get(name, {}).get("unit") == "fraction" else _told(row, name)


def _workup(task: dict[str, Any]) -> bool:
    return any(has_accuracy(row["metrics"]) for row in task["rows"])


def _behaviour(task: dict[str, Any]) -> Table:
    """Show what the policies did in the workup, which no reader touches."""
    table = Table(title="检查与核对：均值", title_justify="left")
    table.add_column("policy", no_wrap=True)
    for name in _BEHAVIOUR:
        table.add_column(name, justify="right", no_wrap=True)
    shown: set[tuple[str, str]] = set()
    for row in task["rows"]:
        key = (row["policy"], row["patient"])
        if key not in shown:
            shown.add(key)
            table.add_row(_plain(row["policy"]), *[_told(row, name) for name in _BEHAVIOUR.values()])
    return table


def _told(row: dict[str, Any], name: str) -> str:
    metric = row["metrics"].get(name, {})
    if metric.get("mean") is None:
        return "—"
    return f"{100 * metric['mean']:.1f}" if metric["unit"] == "fraction" else f"{metric['mean']:.1f}"


def _print_panels(out: Console, task: dict[str, Any]) -> None:
    """Print what several judges, or one asked several times, make of the same; nothing where one was asked once."""
    found = task.get("panels", ())
    if not found:
        return
    names = [
        name for name in headline(found[0]["metrics"]) if any(one["metrics"][name]["mean"] is not None for one in found)
    ]
    names += [name for name in _DELTAS if name in found[0]["metrics"]]
    table = Table(title="裁判之间：均值，（极差），各裁判重复判读的标准差", title_justify="left")
    for column in ("policy", "condition", *names):
        table.add_column(column, no_wrap=True, justify="left" if column in ("policy", "condition") else "right")
    for one in found:
        cells = [_panel(one["metrics"].get(name, {})) for name in names]
        table.add_row(_plain(one["policy"]), _plain(one["condition"]), *cells)
    out.print(table)


def _panel(metric: dict[str, Any]) -> str:
    if metric.get("mean") is None:
        return "—"
    text = f"{100 * metric['mean']:.1f}"
    if metric["spread"] is not None:
        text += f" ({100 * metric['spread']:.1f})"
    noise = [one for one in metric["noise"].values() if one is not None]
    return text + (" ± " + "/".join(f"{100 * one:.1f}" for one in noise) if noise else "")


def _title(name: str, task: dict[str, Any]) -> Text:
    view = task["protocol"]["view"]
    return Text(f"{clean(name)}：{task['cases']} 例 × {task['repeats']} 次，view {view}")


def _plain(value: Any) -> Text:
    """A label as it is: no markup, no escapes."""
    return Text(clean(str(value)))


def _rank(row: dict[str, Any]) -> float:
    for name in leading(row["metrics"]):
        value = row["metrics"].get(name, {}).get("mean")
        if value is not None:
            return float(value)
    return -1.0


def _score(row: dict[str, Any], name: str) -> str:
    metric = row["metrics"].get(name)
    if metric is None or metric["mean"] is None:
        return "—"
    text = f"{100 * metric['mean']:.1f}"
    if row["deterministic"]:
        text += " 确定"
    elif metric["sd"] is not None:
        text += f" ± {100 * metric['sd']:.1f}"
    if metric.get("bounds"):
        low, high = metric["bounds"]
        text += f" [{100 * low:.1f}, {100 * high:.1f}]"
    return text


def _counts(row: dict[str, Any], name: str) -> str:
    """TP/FP/FN a repeat, over the repeats that were measured."""
    metric = row["metrics"].get(name, {})
    sums = [
        one for one, value in zip(metric.get("sums", ()), metric.get("values", ()), strict=False) if value is not None
    ]
    if not sums:
        return "—"
    return "/".join(f"{sum(one[key] for one in sums) / len(sums):.4g}" for key in ("tp", "fp", "fn"))


def _mean(row: dict[str, Any], name: str) -> str:
    value = row["metrics"].get(name, {}).get("mean")
    return "—" if value is None else f"{value:.1f}"


def _coverage(row: dict[str, Any]) -> str:
    metrics = row["metrics"]
    name = next((name for name in leading(metrics) if metrics.get(name, {}).get("expected")), "D")
    metric = metrics.get(name, {})
    return f"{metric.get('measured', 0)}/{metric.get('expected', 0)}"


def _measured(row: dict[str, Any], name: str) -> bool:
    return bool(row["metrics"].get(name, {}).get("expected"))


Show = Callable[[dict[str, Any]], str]

_DIAGNOSIS: dict[str, Show] = {
    "D": functools.partial(_score, name="D"),
    "precision": functools.partial(_score, name="D_precision"),
    "recall": functools.partial(_score, name="D_recall"),
    "D TP/FP/FN": functools.partial(_counts, name="D"),
    "coverage": _coverage,
}
"""Columns where no case has targets."""

_TRAJECTORY: dict[str, Show] = {
    **{name: functools.partial(_score, name=name) for name in ("D", "T", "E", "Total")},
    "D TP/FP/FN": functools.partial(_counts, name="D"),
    "T TP/FP/FN": functools.partial(_counts, name="T"),
    "questions": functools.partial(_mean, name="questions"),
    "coverage": _coverage,
}

_ASKED = ("T", "E", "Total", "T TP/FP/FN", "questions")
_DELTAS = ("delta_Acc", "delta_Strict")
_ACCURACY: dict[str, Show] = {
    **{name: functools.partial(_score, name=name) for name in WORKUP},
    "precision": functools.partial(_score, name="soft_precision"),
    "recall": functools.partial(_score, name="soft_recall"),
    "findings": functools.partial(_score, name="findings_coverage"),
    "D": functools.partial(_score, name="D"),
    "D TP/FP/FN": functools.partial(_counts, name="D"),
}
"""Columns where diagnoses are graded; precision and recall are the soft ones."""
_BEHAVIOUR = {
    "ordered": "ordering_coverage",
    "findings": "findings_coverage",
    "productive": "productive_actions",
    "workup": "workup_actions",
    "search": "search_rate",
    "invalid": "invalid_rate",
    "deferred": "deferral_rate",
    "modality": "modality_catch",
    "anatomy": "anatomy_catch",
    "false alarm": "false_alarm",
}
"""Columns of what a policy did, and their metrics."""


def _notes(task: dict[str, Any]) -> list[str]:
    """Say what a reader of the table must know: failures, missing axes, early diagnoses, checks, breaches."""
    lines: list[str] = [
        f"{one['role']} {one['label']} stands on the same model as policy {one['policy']} ({one['model']})"
        for one in task.get("shared_models", ())
    ]
    if task.get("derived_targets"):
        lines.append(
            f"T rests on {task['derived_targets']} targets derived by rules, which no clinician wrote: not standard"
        )
    for row in task["rows"]:
        name = f"{row['policy']} / {row['condition']}"
        for outcome, count in row["outcomes"].items():
            if row["reasons"].get(outcome) == NOT_DONE:
                lines.append(f"{name}: {count} not done yet")
            elif outcome != "scored":
                lines.append(f"{name}: {count} {outcome}: {row['reasons'].get(outcome, '')}")
        for metric in ("D", "T"):
            reason = row["metrics"].get(metric, {}).get("reason")
            if reason and row["outcomes"].get("scored") and (metric == "D" or not _workup(task)):
                lines.append(f"{name}: {metric} is null: {reason}")
        if row["early_assertion"]:
            early = f"{row['early_assertion']} histories assert a diagnosis before the summary"
            lines.append(f"{name}: {early} (view: {task['protocol']['view']})")
        if row["condition"] == "emitted":
            if row["patient_checks"]:
                checks = ", ".join(f"{key} {n}" for key, n in row["patient_checks"].items())
                lines.append(f"{row['policy']}: patient checks: {checks}")
            if row["breaches"]:
                lines.append(f"{row['policy']}: {row['breaches']} breaches of the protocol")
    return lines
