"""Numbers of a run -> what its report says: sections of words, tables and figures."""

from __future__ import annotations

from typing import Any

from meddc_bench.headline import has_accuracy
from meddc_bench.report import agreement, conduct, scores, trajectory
from meddc_bench.report.measures import Options, TaskMeasures, measure
from meddc_bench.report.numbers import NONE, Teller
from meddc_bench.report.page import Cell, Column, Report, Section, Table, TaskPage
from meddc_bench.report.words import Words
from meddc_bench.results import results
from meddc_bench.stored import StoredRun

STATUS = {
    "complete": Words("运行已完成", "The run is complete"),
    "running": Words("运行尚未结束，以下为部分结果", "The run has not ended: partial results"),
    "interrupted": Words("运行被中断，以下为部分结果", "The run was interrupted: partial results"),
    "stopped": Words("运行提前停止，以下为部分结果", "The run was stopped: partial results"),
    "partial": Words("只有部分病史，以下为部分结果", "Only some histories are there: partial results"),
}


def report(run: StoredRun, options: Options) -> Report:
    """Make the report of a run; every number is computed again from the stored records."""
    manifest = run.manifest
    found = results(
        run.store, run.benches, run.registry, complete=manifest.get("status") == "complete",
        predict_only=bool(manifest["campaign"].get("predict_only")),
    )  # fmt: skip
    measured = [measure(run, bench, found["tasks"][bench.task.name], options) for bench in run.benches]
    pages = [task_page(one, options) for one in measured]
    workup = any(has_accuracy(one.headline) for one in measured)
    return Report(
        title="MedDDC-Bench", lead=tuple(_lead(manifest)), tasks=tuple(pages),
        closing=(_rules(options, workup=workup), _calls(manifest)),
    )  # fmt: skip


def task_page(measures: TaskMeasures, options: Options) -> TaskPage:
    """Lay the numbers of one task out in sections; one without anything to say is left out."""
    teller = Teller(measures.facts.public or options.include_text)
    sections = [
        scores.summary(measures, teller),
        conduct.outcomes(measures, teller),
        agreement.readers(measures, teller),
        scores.differences(measures),
        trajectory.d_and_t(measures),
        trajectory.rounds(measures),
        agreement.weights(measures),
        agreement.judges(measures),
        scores.others(measures),
        conduct.checks(measures, teller),
        conduct.instruments(measures),
        conduct.cases(measures),
    ]
    facts = measures.facts
    title = f"{facts.name}　{facts.title}" if facts.title else facts.name
    return TaskPage(facts.name, title, tuple(one for one in sections if one is not None))


def _lead(manifest: dict[str, Any]) -> list[Words]:
    status = STATUS.get(str(manifest.get("status")), Words("运行状态不明", "The run's status is unknown"))
    when = str(manifest.get("finished") or manifest.get("started") or "")[:16].replace("T", " ")
    made = Words(f"，{when} UTC。" if when else "。", f", {when} UTC. " if when else ". ")
    program = str(manifest.get("program", "?"))
    lead = [status + made + Words(f"程序版本 {program}。", f"Program version {program}.")]
    if manifest.get("imported"):
        lead.append(
            Words(
                f"问诊由他处完成，经导入器 {manifest['imported']['importer']} 读入；没有模拟患者参与。",
                f"The consultations took place elsewhere and were read by the importer "
                f"{manifest['imported']['importer']}; no simulated patient took part.",
            )
        )
    return lead


def _rules(options: Options, *, workup: bool) -> Section:
    """Say how the numbers came about: denominators, intervals, what is left out."""
    graded = Words(
        "诊断分级的任务：裁判给每对诊断定完全、核心或部分，再做总分最大的一对一匹配；Acc、Strict、软精确率、软召回率都是病例的均值。"
        "@50 要求收到至少一半的检查报告，没有检查记录的病例不可能通过，仍留在分母里。D 只计核心以上的对。",
        "Where diagnoses are graded: a judge calls each pair full, core or partial, and the one-to-one matching of largest "
        "credit is taken; Acc, Strict and the soft scores are means over cases. @50 asks for at least half of the test "
        "records; a case without any cannot pass and stays in the denominator. D counts pairs from core upwards.",
    )
    lead = (
        Words(
            "分值为 0–100。D、T：一次重复内先把各病例的 TP、FP、FN 相加，再算 F1（微平均）；E：各病例时机得分的均值；"
            "Total 按协议的权重合成。各量先按重复计算，再对重复取均值。",
            "Scores are 0–100. D and T: within a repeat the TP, FP and FN of all cases are added, then F1 is taken "
            "(micro average); E: the mean of the cases' timing scores; Total weighs them as the protocol says. Each is "
            "computed by repeat, then averaged over repeats.",
        ),
        *([graded] if workup else []),
        Words(
            "分母：被测策略自身失败（policy_failed）是测量结果，按没有任何预测计分，留在分母里；患者、阅读者、裁判或基础设施"
            "失败的单元没有测到，不计入也绝不当作 0，覆盖率随之下降，并给出它们全错与全对时的界；"
            "不适用（excluded）的单元同样没有测到。没有参考答案的病例不进入该指标。",
            "Denominators: a policy's own failure (policy_failed) is a measurement, scored as no prediction at all, and "
            "stays in the denominator. Units lost to the patient, reader, judge or infrastructure were not measured: "
            "they are in no score and never count as 0, coverage falls, and the bounds say what the score would be had "
            "all of them gone worst or best; excluded units were not measured either. A case without references for a "
            "metric is not in it.",
        ),
        Words(
            f"区间：对病例有放回重抽样 {options.draws:,} 次（种子 {options.seed}），所有策略、条件与重复用同一批抽样，"
            "取 2.5% 与 97.5% 分位数；它反映病例的抽样误差，不含模型、患者与裁判自身的随机性。只有全部测到的列才有区间。"
            "成对比较只用各策略都测到的共同病例。p 值为双侧重抽样 p 值，Holm 校正在同一指标的各对之间进行。",
            f"Intervals: cases are drawn with replacement {options.draws:,} times (seed {options.seed}), the same draws "
            "for all policies, conditions and repeats; 2.5 % and 97.5 % quantiles. They hold the sampling error of "
            "cases, not the randomness of models, patient or judge. Only columns measured whole have one. Paired "
            "comparisons use the cases that all policies measured. p values are two-sided, from the draws; Holm's "
            "correction is over the pairs of a metric.",
        ),
        Words(
            "— 表示没有测到或没有定义，原因列在表后。T 与 E 只取决于问诊过程，与阅读者无关。",
            "— means not measured or not defined; the reason is below the table. T and E depend on the consultation "
            "alone, on no reader.",
        ),
    )
    return Section("rules", Words("口径说明", "How to read the numbers"), lead)


def _calls(manifest: dict[str, Any]) -> Section:
    """Say what the language models of the run took, which models served, and which fields endpoints refused."""
    calls = manifest.get("calls") or {}
    lead: list[Words] = []
    parts: tuple[Table, ...] = ()
    usage = calls.get("usage") or []
    if usage:
        parts = (_usage(usage),)
        if calls.get("cost") is not None:
            lead.append(Words(f"合计费用 {calls['cost']:,.4g}（价目表的货币）。", f"Cost {calls['cost']:,.4g} in all."))
    else:
        lead.append(Words("没有语言模型参与。", "No language model took part."))
    for where, names in (calls.get("stepped_down") or {}).items():
        lead.append(
            Words(f"{where} 不接受 {'、'.join(names)}，已省去。", f"{where} refuses {', '.join(names)}: left out.")
        )
    for name, models in (calls.get("served_models") or {}).items():
        if models != [name]:
            lead.append(
                Words(f"{name} 实际由 {'、'.join(models)} 应答。", f"{name} was served by {', '.join(models)}.")
            )
    return Section("calls", Words("模型调用", "Model calls"), tuple(lead), parts)


def _usage(usage: list[dict[str, Any]]) -> Table:
    heads = [
        Words("角色", "role"), Words("模型", "model"), Words("回复", "replies"), Words("不可用", "unusable"),
        Words("提示 token", "prompt tokens"), Words("生成 token", "completion tokens"), Words("费用", "cost"),
    ]  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for one in usage:
        cost = NONE if one.get("cost") is None else f"{one['cost']:,.4g}"
        counts = (f"{one[key]:,}" for key in ("calls", "unusable", "prompt_tokens", "completion_tokens"))
        rows.append((str(one["role"]), str(one["model"]), *counts, cost))
    columns = tuple(Column(head, number=at > 1) for at, head in enumerate(heads))
    return Table(
        Words("用量（含重试与历次会话）", "Usage, retries and earlier sessions included"), columns, tuple(rows)
    )
