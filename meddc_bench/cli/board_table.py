"""A leaderboard as tables for the screen."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from meddc_bench.cli.table import console
from meddc_bench.errors import UsageError, suggest
from meddc_bench.headline import headline, leading
from meddc_bench.publish.board import Board, BoardRow, Ranking
from meddc_bench.publish.reported import ReportedTable
from meddc_bench.text import clean


def print_board(board: Board, metric: str | None) -> None:
    """Print the rankings by a metric, one table an instrument, then what papers reported."""
    out = console()
    names = list(dict.fromkeys(one.metric for one in board.rankings))
    if metric is not None and names and metric not in names:
        raise UsageError(f"{board.task} is not ranked by {metric!r}; {suggest(metric, names)}")
    chosen = metric or next((name for name in leading(names) if name in names), next(iter(names), ""))
    rows = {one.row: one for one in board.rows}
    for ranking in board.rankings:
        if ranking.metric == chosen:
            _print_ranking(out, board, ranking, rows)
    for table in board.reported:
        _print_reported(out, table)


def _print_ranking(out: Console, board: Board, ranking: Ranking, rows: dict[str, BoardRow]) -> None:
    kind = "标准仪器" if ranking.standard else "非标准仪器"
    title = f"{clean(board.task)}，按 {clean(ranking.metric)} 排名；{kind} {clean(ranking.instrument)}"
    table = Table(title=plain_text(f"{title}；{ranking.cases} 例 × {ranking.repeats} 次"), title_justify="left")
    for name in ("名次", "95% 名次范围", "策略", "模型", "条件", *_scored(ranking, rows), "95% 区间"):
        left = name in ("策略", "模型", "条件")
        table.add_column(name, justify="left" if left else "right", no_wrap=True)
    for place in ranking.places:
        row = rows[place.row]
        spread = "—" if place.first is None else f"{place.first}–{place.last}"
        bounds = "—" if place.low is None or place.high is None else f"{100 * place.low:.1f}–{100 * place.high:.1f}"
        table.add_row(
            f"{place.rank}{' =' if place.tied else ''}", spread, plain_text(row.title), plain_text(_model(row)),
            plain_text(row.condition), *[_score(row, name) for name in _scored(ranking, rows)], bounds,
        )  # fmt: skip
    out.print(table)
    close = [pair for pair in ranking.pairs if not pair.differ]
    out.print(
        f"{len(ranking.pairs)} 对中有 {len(close)} 对在 Holm 校正后分不出高下；分值 0-100，均值 ± 样本标准差"
        f"（跨重复；“确定”指各次重复里医生说的话完全相同）；区间与名次范围来自 {ranking.draws} 次病例重抽样。",
        style="dim",
    )


def plain_text(text: str) -> Text:
    """A text of whoever published it: no markup, no escapes."""
    return Text(clean(text))


def _scored(ranking: Ranking, rows: dict[str, BoardRow]) -> list[str]:
    there = {name for place in ranking.places for name, (mean, _) in rows[place.row].scores.items() if mean is not None}
    names = list(headline(there))
    return names if ranking.metric in names else [*names, ranking.metric]


def _model(row: BoardRow) -> str:
    if row.model is None:
        return "—"
    return row.model if row.served in ((), (row.model,)) else f"{row.model}（{', '.join(row.served)}）"


def _score(row: BoardRow, name: str) -> str:
    mean, sd = row.scores.get(name, (None, None))
    if mean is None:
        return "—"
    if row.deterministic:
        return f"{100 * mean:.1f} 确定"
    return f"{100 * mean:.1f}" + ("" if sd is None else f" ± {100 * sd:.1f}")


def _print_reported(out: Console, reported: ReportedTable) -> None:
    names = list(dict.fromkeys(name for row in reported.rows for name in row.scores))
    title = f"论文报告，未在此测量，不参与排名：{clean(reported.title)}；{reported.cases} 例"
    table = Table(title=plain_text(title), title_justify="left")
    table.add_column("策略", no_wrap=True)
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    for row in reported.rows:
        cells = []
        for name in names:
            one = row.scores.get(name)
            cells.append(
                "—" if one is None or one.mean is None
                else f"{one.mean:.{reported.decimals}f}" + ("" if one.sd is None else f" ± {one.sd:.{reported.decimals}f}")
            )  # fmt: skip
        table.add_row(plain_text(row.policy), *cells)
    out.print(table)
    source = f"{reported.source.paper}，表 {', '.join(reported.source.tables)}。{reported.notes}"
    out.print(plain_text(source), style="dim")
