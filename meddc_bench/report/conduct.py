"""Sections on how it was measured: outcomes, checks and exclusions, instruments and fingerprints, cases."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from meddc_bench.report.card import Range
from meddc_bench.report.figures import Outcomes, Share
from meddc_bench.report.measures import TaskMeasures
from meddc_bench.report.numbers import LONGEST, NONE, Teller, points
from meddc_bench.report.page import Cell, Column, Figure, Section, Table
from meddc_bench.report.scores import CONDITION, POLICY
from meddc_bench.report.words import (
    CHECKS,
    ENDED,
    EXCLUDED,
    FALLBACKS,
    JUDGE_COUNTS,
    OUTCOMES,
    ROLES,
    VIEWS,
    Words,
    named,
)
from meddc_bench.text import one_line

_CASE_POLICIES = 6
_SHOWN = 4


def outcomes(measures: TaskMeasures, teller: Teller) -> Section:
    """What became of the consultations of each row."""
    rows = _main(measures)
    label = {id(row): f"{row['policy']} · {row['condition']}" for row in rows}
    bars = _bars(rows)
    shares = tuple(Share(bar, name, count) for bar, counts in bars.items() for name, count in counts.items())
    there = [name for name in OUTCOMES if any(name in row["outcomes"] for row in rows)]
    columns = (Column(POLICY, False), Column(CONDITION, False), *(Column(OUTCOMES[name]) for name in there))
    body = tuple(
        (row["policy"], row["condition"], *(str(row["outcomes"].get(name, 0)) for name in there)) for row in rows
    )
    reasons: dict[tuple[str, Words], list[str]] = {}
    for row in rows:
        for name, text in row["reasons"].items():
            if name != "scored":
                reasons.setdefault((name, teller.reason(text)), []).append(label[id(row)])
    lead = [_because(name, told, where) for (name, told), where in reasons.items()]
    if lead:
        lead = [Words("各类结局的第一条原因：", "The first reason of each outcome:"), *lead]
    caption = Words(
        "每行为一个策略的全部问诊（病例 × 重复）；各条件的结局不同时分行。",
        "A bar is all consultations of a policy (cases × repeats), one a condition where their outcomes differ.",
    )
    data = Outcomes(tuple(bars), shares)
    title = Words("结局", "Outcomes")
    table = Table(Words("结局计数", "Outcomes counted"), columns, body)
    return Section("outcomes", title, tuple(lead), (Figure("outcomes", title, caption, data, table),))


def _bars(rows: list[Mapping[str, Any]]) -> dict[str, Mapping[str, int]]:
    """Give each row a bar; the rows of a policy that came to the same under all conditions share one."""
    out: dict[str, Mapping[str, int]] = {}
    for policy in dict.fromkeys(str(row["policy"]) for row in rows):
        mine = [row for row in rows if row["policy"] == policy]
        if all(row["outcomes"] == mine[0]["outcomes"] for row in mine):
            out[policy] = mine[0]["outcomes"]
        else:
            out.update({f"{policy} · {row['condition']}": row["outcomes"] for row in mine})
    return out


def _because(outcome: str, told: Words, where: list[str]) -> Words:
    more = " …" if len(where) > _SHOWN else ""
    rows = Words(f"（{'、'.join(where[:_SHOWN])}{more}）：", f" ({', '.join(where[:_SHOWN])}{more}): ")
    return named(OUTCOMES, outcome) + rows + told


def _main(measures: TaskMeasures) -> list[Mapping[str, Any]]:
    rank = {name: at for at, name in enumerate(measures.policies)}
    return sorted(measures.rows, key=lambda row: (rank[row["policy"]], measures.conditions.index(row["condition"])))


def checks(measures: TaskMeasures, teller: Teller) -> Section:
    """Endings, breaches, checks of the patient, early diagnoses and the view, excluded edges, fallbacks."""
    view = str(measures.facts.protocol["view"])
    columns = (
        Column(POLICY, False), Column(CONDITION, False), Column(Words("结束方式", "how it ended"), False),
        Column(Words("违反规程", "breaches")), Column(Words("提前断言诊断", "early diagnosis")),
        Column(Words("患者核查", "patient checks"), False), Column(Words("排除的候选边", "excluded edges"), False),
        Column(Words("裁判退路", "judge fallbacks"), False),
    )  # fmt: skip
    rows = tuple(
        (
            row["policy"], row["condition"], teller.counts(row["ended"], ENDED), str(row["breaches"]),
            NONE if row["condition"] == "emitted" else str(row["early_assertion"]),
            teller.counts(row["patient_checks"], CHECKS), teller.counts(row["excluded_edges"], EXCLUDED),
            teller.counts(row["fallbacks"], FALLBACKS),
        )
        for row in _main(measures)
    )  # fmt: skip
    notes: tuple[Words, ...] = (
        Words("阅读者的视野 ", "The reader's view, ") + named(VIEWS, view) + Words("。", "."),
        Words(
            "提前断言诊断：小结之前医生已说出诊断的病史数，即视野被截或被遮的病史数；emitted 不经阅读者，故无此数。",
            "Early diagnosis: histories whose doctor asserts a diagnosis before the summary, that is, whose view was cut "
            "or masked; emitted has no reader, hence no number.",
        ),
    )
    told = [
        Words(f"{row['policy']} / {row['condition']}：", f"{row['policy']} / {row['condition']}: ")
        + teller.counts(row["judge_counts"], JUDGE_COUNTS)
        for row in _main(measures) if "judge_counts" in row
    ]  # fmt: skip
    if told:
        notes = (*notes, Words("裁判自报的计数：", "What the judge counted: "), *told)
    table = Table(Words("核查计数", "Checks counted"), columns, rows, notes)
    return Section("checks", Words("过程核查", "Checks of the process"), (), (table,))


def instruments(measures: TaskMeasures) -> Section:
    """What measured: adapters, the task's card, the protocol, and the fingerprint of each column."""
    return Section(
        "instruments", Words("仪器、任务与指纹", "Instruments, task and fingerprints"), (),
        (_roles(measures), _card(measures), _fingerprints(measures)),
    )  # fmt: skip


def _roles(measures: TaskMeasures) -> Table:
    columns = tuple(
        Column(head, False)
        for head in (
            Words("角色", "role"), Words("标签", "label"), Words("插件", "plugin"), Words("修订", "revision"),
            Words("模型", "model"), Words("选项", "options"),
        )
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for one in measures.facts.roles:
        options = json.dumps(one.options, ensure_ascii=False, sort_keys=True, default=str) if one.options else NONE
        name = one.label if one.label == one.name else f"{one.label} ({one.name})"
        rows.append(
            (named(ROLES, one.kind), name, one.plugin, one.revision, one.model or NONE, one_line(options, LONGEST))
        )
    return Table(Words("适配器", "Adapters"), columns, tuple(rows))


def _card(measures: TaskMeasures) -> Table:
    facts, protocol = measures.facts, measures.facts.protocol
    weights = ", ".join(f"{name} {value:g}" for name, value in protocol["weights"].items())
    rows: list[tuple[Cell, ...]] = [
        (Words("病例", "cases"), f"{facts.cases} ({', '.join(f'{name} {n}' for name, n in facts.sources.items())})"),
        (Words("科室", "departments"), str(facts.departments) if facts.departments else NONE),
        (Words("每例事实", "facts a case"), _span(facts.facts)),
        (Words("每例计分目标（重要度 3）", "scored targets a case (importance 3)"), _span(facts.targets)),
        (Words("每例诊断", "diagnoses a case"), _span(facts.diagnoses)),
        (Words("轮数上限", "turn budget"), _span(facts.budget)),
        (Words("重复", "repeats"), str(facts.repeats)),
        (Words("种子", "seed"), str(facts.seed)),
        (Words("语言", "language"), facts.language),
        (Words("许可", "licence"), facts.licence or NONE),
        (Words("协议", "protocol"), str(protocol["name"])),
        (Words("权重", "weights"), weights),
        (Words("视野", "view"), str(protocol["view"])),
        (Words("主动说出的目标", "volunteered targets"), str(protocol["volunteered"])),
        (Words("每份判读最多诊断数", "diagnoses a reading may give"), str(protocol["top_k"])),
        (Words("裁判失败按空列表计", "a failed judge step counts as empty"), _yes(protocol["empty_on_failure"])),
        (Words("病例摘要值", "digest of the cases"), facts.cases_digest),
    ]
    columns = (Column(Words("项", "item"), False), Column(Words("值", "value"), False))
    return Table(Words("任务与协议", "Task and protocol"), columns, tuple(rows))


def _yes(value: Any) -> Words:
    return Words("是", "yes") if value else Words("否", "no")


def _span(counts: Range) -> Words:
    ends = f"{counts.low}–{counts.high}" if counts.low != counts.high else str(counts.low)
    return Words(
        f"{ends}，中位数 {counts.median}，共 {counts.total}", f"{ends}, median {counts.median}, {counts.total} in all"
    )


def _fingerprints(measures: TaskMeasures) -> Table:
    """One line a column: policies are in no fingerprint, so they share it."""
    found: dict[tuple[str, ...], list[str]] = {}
    several = len(measures.settings) > 1
    for row in measures.result["rows"]:
        setting = f"{row['patient']} · {row['judge']} · {row['ask']}" if several else ""
        for name, digest in row["fingerprints"].items():
            if name in measures.headline:
                condition = NONE if name in ("T", "E") else row["condition"]
                digests = found.setdefault((setting, name, condition), [])
                if digest not in digests:
                    digests.append(digest)
    columns = [Column(Words("指标", "metric"), False), Column(CONDITION, False)]
    columns += [Column(Words("患者 · 裁判 · 判读", "patient · judge · ask"), False)] if several else []
    columns += [Column(Words("指纹", "fingerprint"), False)]
    order = {name: at for at, name in enumerate(measures.headline)}
    rows = tuple(
        (name, condition, *([setting] if several else []), " ".join(digests))
        for (setting, name, condition), digests in sorted(
            found.items(), key=lambda one: (one[0][0], order[one[0][1]], one[0][2])
        )
    )
    note = Words(
        "指纹相同的列才可以同榜比较；T 与 E 的指纹里没有阅读者，任何指纹里都没有策略。",
        "Only columns with equal fingerprints rank together; those of T and E have no reader in them, and none has a policy.",
    )
    return Table(Words("各列的指纹", "Fingerprints of the columns"), tuple(columns), rows, (note,))


def cases(measures: TaskMeasures) -> Section | None:
    """The cases one by one, with their texts: only where it was asked for."""
    if not measures.facts.case_facts:
        return None
    shown = measures.policies[:_CASE_POLICIES]
    scores = {(one.policy, one.case): one for one in measures.case_scores}
    columns = [
        Column(Words("病例", "case"), False), Column(Words("来源", "source"), False), Column(Words("科室", "department"), False),
        Column(Words("轮数上限", "turn budget")), Column(Words("目标", "targets")),
        *(Column(f"{policy} T / D") for policy in shown), Column(Words("开场", "opening"), False),
    ]  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for one in measures.facts.case_facts:
        found = [scores.get((policy, one.case)) for policy in shown]
        cells = [NONE if score is None else f"{points(score.t, 0)} / {points(score.d, 0)}" for score in found]
        rows.append(
            (one.case, one.source, one.department or NONE, str(one.budget), str(one.targets), *cells, one.context)
        )
    table = Table(Words("逐例", "Case by case"), tuple(columns), tuple(rows))
    return Section("case-list", Words("病例一览", "The cases"), (), (table,))
