"""The charts of every kind of figure but the scatter, which has a module of its own."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Literal

from meddc_bench.report import figures as f
from meddc_bench.report.drawing import COLOURS, Say, palette, short, values
from meddc_bench.report.words import OUTCOMES, named
from meddc_bench.text import clean

_OUTCOME_COLOURS = {
    "scored": "#0072B2", "policy_failed": "#D55E00", "patient_failed": "#E69F00", "reader_failed": "#CC79A7",
    "judge_failed": "#009E73", "infra_failed": "#000000", "excluded": "#C8C8C8",
}  # fmt: skip


def scores(data: f.Scores, say: Say) -> Any:
    """Draw scores with intervals, a panel a metric."""
    import altair as alt

    names = short(data.policies)
    there = {one.condition for one in data.dots}
    order = [say.condition(one) for one in data.conditions if one in there]
    kinds = order + [say.condition(None)] * (None in there)
    colours, shapes, _ = palette(kinds, order)
    lines = max(1, len(there - {None}))
    panels = []
    for number, metric in enumerate(data.metrics):
        dots = [one for one in data.dots if one.metric == metric]
        base = alt.Chart(
            values(
                {
                    "policy": names[one.policy], "kind": say.condition(one.condition), "value": one.value, **_bar(one),
                }
                for one in dots
            )
        ).encode(
            y=_rows("policy:N", names.values(), named=number == 0),
            color=alt.Color(
                "kind:N", title=say("条件", "condition"), scale=alt.Scale(domain=kinds, range=colours)
            ),
        )  # fmt: skip
        if len({one.condition for one in dots}) > 1:
            base = base.encode(
                yOffset=alt.YOffset("kind:N", sort=order, scale=alt.Scale(domain=order, paddingOuter=0.5))
            )
        scale, axis = _points_axis([x for one in dots for x in (one.value, *(one.interval or ()))])
        x = alt.X("low:Q", title=None, scale=scale, axis=axis)
        bars = base.mark_rule(strokeWidth=2).encode(x=x, x2="high:Q")
        points = base.mark_point(filled=True, size=55, opacity=1).encode(
            x=alt.X("value:Q", title=None, scale=scale),
            shape=alt.Shape("kind:N", title=say("条件", "condition"), scale=alt.Scale(domain=kinds, range=shapes)),
        )
        height = max(60, len(names) * (12 + 8 * lines))
        title = _title(say.metric(metric))
        panels.append(alt.layer(bars, points).properties(width=118, height=height, title=title))
    return alt.hconcat(*panels, spacing=14).resolve_scale(color="shared", shape="shared")


def _rows(field: str, names: Collection[str], *, named: bool, **more: Any) -> Any:
    """Return the vertical axis of a panel: all names from the top down, written beside the first panel only."""
    import altair as alt

    axis = alt.Axis(labels=named, ticks=named, domain=named, grid=True, **more)
    return alt.Y(field, sort=list(names), scale=alt.Scale(domain=list(names)), title=None, axis=axis)


def _title(text: str) -> Any:
    """Return the title of a panel."""
    import altair as alt

    return alt.TitleParams(text, anchor="middle", fontSize=12.5, offset=6)


def _bar(one: f.Dot | f.Gap) -> dict[str, float]:
    """Return the ends of a value's bar: the value itself where it has no interval."""
    low, high = one.interval or (one.value, one.value)
    return {"low": low, "high": high}


def _points_axis(values: Sequence[float]) -> tuple[Any, Any]:
    """Return scale and axis that hold all values with a little room, and at most four labelled ticks."""
    import altair as alt

    low, high = min(values), max(values)
    room = max(1.0, 0.06 * (high - low))
    low, high = low - room, high + room
    step = next(one for one in (1, 2, 5, 10, 20, 25, 50, 100) if (high - low) / one <= 4)
    ticks = [at for at in range(-200, 201, step) if low <= at <= high]
    return alt.Scale(domain=[low, high], nice=False, zero=False), alt.Axis(
        values=ticks, tickCount=len(ticks), format="d", labelFlush=False
    )


def outcomes(data: f.Outcomes, say: Say) -> Any:
    """Draw a bar a row, a part an outcome."""
    import altair as alt

    names = short(data.rows, 44)
    there = [one for one in _OUTCOME_COLOURS if any(share.outcome == one for share in data.shares)]
    labels = [say.words(named(OUTCOMES, one)) for one in there]
    return (
        alt.Chart(
            values(
                {
                    "row": names[one.row], "count": one.count, "outcome": say.words(named(OUTCOMES, one.outcome)),
                    "order": there.index(one.outcome),
                }
                for one in data.shares
            )
        )
        .mark_bar(stroke="#FFFFFF", strokeWidth=1)
        .encode(
            y=alt.Y("row:N", sort=list(names.values()), title=None, axis=alt.Axis(labelLimit=320)),
            x=alt.X(
                "count:Q", stack="zero", title=say("问诊数", "consultations"), scale=alt.Scale(nice=False),
                axis=alt.Axis(format="d", tickMinStep=1, tickCount=6, labelFlush=False),
            ),
            color=alt.Color(
                "outcome:N", title=say("结局", "outcome"),
                scale=alt.Scale(domain=labels, range=[_OUTCOME_COLOURS[one] for one in there]),
            ),
            order=alt.Order("order:Q"),
        )
        .properties(width=430, height={"step": 18})
    )  # fmt: skip


def slopes(data: f.Slopes, say: Say) -> Any:
    """Draw ranks joined from condition to condition."""
    import altair as alt

    policies = list(dict.fromkeys(one.policy for one in data.places))
    names = short(policies)
    colours, shapes, dashes = palette(policies, data.marked)
    domain = [names[one] for one in policies]
    rows = [
        {
            "policy": names[one.policy], "condition": clean(one.condition), "place": one.place,
            "label": f"{'=' if one.tied else ''}{one.rank}  {names[one.policy]}  {one.score:.1f}",
            "score": f"{one.score:.1f}",
        }
        for one in data.places
    ]  # fmt: skip
    conditions = [clean(one) for one in data.conditions]
    most = max(one.place for one in data.places)
    y = alt.Y("place:Q", scale=alt.Scale(domain=[0.5, most + 0.5], reverse=True), axis=None)
    x = alt.X(
        "condition:N", sort=conditions, scale=alt.Scale(domain=conditions, padding=0.02), title=None,
        axis=alt.Axis(
            orient="top", offset=12, labelAngle=0, labelFontWeight="bold", domain=False, ticks=False, grid=True,
            labelLimit=150,
        ),
    )  # fmt: skip
    colour = alt.Color("policy:N", scale=alt.Scale(domain=domain, range=colours), legend=None)
    base = alt.Chart(values(rows)).encode(x=x, y=y, color=colour)
    lines = base.mark_line(strokeWidth=2.2).encode(
        strokeDash=alt.StrokeDash("policy:N", scale=alt.Scale(domain=domain, range=dashes), legend=None)
    )
    points = base.mark_point(filled=True, size=75, opacity=1).encode(
        shape=alt.Shape("policy:N", scale=alt.Scale(domain=domain, range=shapes), legend=None)
    )
    texts = [one.encode(x=x, y=y, color=alt.value("#000000")) for one in _rank_texts(rows, conditions)]
    return alt.layer(lines, points, *texts).properties(
        width=170 * (len(conditions) - 1), height=max(90, 24 * most), view=alt.ViewBackground(stroke=None)
    )


def _rank_texts(rows: Sequence[Mapping[str, Any]], conditions: Sequence[str]) -> Iterator[Any]:
    """Write ranks, names and scores at both ends of the lines, the scores alone at the conditions between."""
    import altair as alt

    sides: tuple[tuple[int, Literal["left", "right"], int], ...] = ((0, "right", -10), (-1, "left", 10))
    for at, align, shift in sides:
        ends = alt.Chart(values(row for row in rows if row["condition"] == conditions[at]))
        yield ends.mark_text(align=align, dx=shift, fontSize=12).encode(text="label:N")
    between = [row for row in rows if row["condition"] in conditions[1:-1]]
    if between:
        yield alt.Chart(values(between)).mark_text(dy=-11, fontSize=11).encode(text="score:N")


def forest(data: f.Forest, say: Say) -> Any:
    """Draw paired differences with intervals, a panel a metric."""
    import altair as alt

    cut = short([*dict.fromkeys(name for pair in data.pairs for name in pair)], 22)
    names = {pair: f"{cut[pair[0]]} − {cut[pair[1]]}" for pair in data.pairs}
    panels = []
    kinds = [say("区间不含 0", "interval excludes 0"), say("区间含 0", "interval includes 0")]
    for number, metric in enumerate(data.metrics):
        gaps = [one for one in data.gaps if one.metric == metric]
        base = alt.Chart(
            values(
                {
                    "pair": names[one.first, one.second], "value": one.value, **_bar(one),
                    "kind": kinds[0] if one.interval and (one.interval[0] > 0 or one.interval[1] < 0) else kinds[1],
                }
                for one in gaps
            )
        ).encode(
            y=_rows("pair:N", names.values(), named=number == 0, labelLimit=330),
            color=alt.Color("kind:N", title=None, scale=alt.Scale(domain=kinds, range=[COLOURS[0], "#7A7A7A"])),
        )  # fmt: skip
        scale, axis = _points_axis([0.0, *(x for one in gaps for x in (one.value, *(one.interval or ())))])
        zero = alt.Chart(values([{"at": 0}])).mark_rule(color="#000000", strokeDash=[4, 3]).encode(x="at:Q")
        bars = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=None, scale=scale, axis=axis), x2="high:Q")
        points = base.mark_point(filled=True, size=60, opacity=1).encode(
            x=alt.X("value:Q", title=None, scale=scale),
            shape=alt.Shape("kind:N", title=None, scale=alt.Scale(domain=kinds, range=["circle", "diamond"])),
        )
        title = _title(say.metric(metric))
        height = max(60, 20 * len(data.pairs))
        panels.append(alt.layer(zero, bars, points).properties(width=112, height=height, title=title))
    return alt.hconcat(*panels, spacing=14).resolve_scale(color="shared", shape="shared")


def cases(data: f.Cases, say: Say) -> Any:
    """Draw circles on a grid of T and D, a panel a policy."""
    import altair as alt

    names = short(data.policies)
    scale = alt.Scale(domain=[-8, 108], nice=False)
    axis = alt.Axis(values=[0, 25, 50, 75, 100], tickCount=5, format="d", labelFontSize=11)
    most = max(one.cases for one in data.bubbles)
    size = alt.Size(
        "cases:Q", title=say("病例数", "cases"), scale=alt.Scale(domain=[0, max(most, 8)], range=[0, 240]),
        legend=alt.Legend(values=sorted({1, (most + 1) // 2, most}), format="d", symbolFillColor=COLOURS[0]),
    )  # fmt: skip
    panels = []
    for policy in data.policies:
        rows = [{"t": one.t, "d": one.d, "cases": one.cases} for one in data.bubbles if one.policy == policy]
        marks = alt.Chart(values(rows)).mark_circle(color=COLOURS[0], opacity=0.65, stroke="#003A5C", strokeWidth=0.5)
        title = _title(names[policy])
        panels.append(
            marks.encode(
                x=alt.X("t:Q", title=say.metric("T"), scale=scale, axis=axis),
                y=alt.Y("d:Q", title=say.metric("D"), scale=scale, axis=axis), size=size,
            ).properties(width=136, height=136, title=title)
        )  # fmt: skip
    return alt.concat(*panels, columns=4 if len(panels) == 4 else 3, spacing=16).resolve_scale(size="shared")


def coverage(data: f.Coverage, say: Say) -> Any:
    """Draw a line a policy over the rounds."""
    import altair as alt

    names = short(data.policies)
    others = say("其余", "others")
    marked = [one for one in data.policies if one in data.marked]
    domain = [names[one] for one in marked] + ([others] if len(marked) < len(data.policies) else [])
    colours, shapes, dashes = palette([*marked, others][: len(domain)], marked)
    rows = [
        {
            "policy": names[one.policy], "kind": names[one.policy] if one.policy in marked else others,
            "round": one.round, "share": one.share,
        }
        for one in data.reached
    ]  # fmt: skip
    last = max(one.round for one in data.reached)
    title = say("策略", "policy")
    base = alt.Chart(values(rows)).encode(
        x=alt.X(
            "round:Q", title=say("轮次", "round"), scale=alt.Scale(domain=[0, last], nice=False),
            axis=alt.Axis(values=_ticks(last), tickCount=len(_ticks(last)), format="d", grid=False, labelFlush=False),
        ),
        y=alt.Y("share:Q", title=say("已覆盖目标（%）", "targets covered (%)"), scale=alt.Scale(zero=True, nice=True)),
        color=alt.Color("kind:N", title=title, scale=alt.Scale(domain=domain, range=colours)),
        detail="policy:N",
    )  # fmt: skip
    lines = base.mark_line(strokeWidth=2).encode(
        strokeDash=alt.StrokeDash("kind:N", legend=None, scale=alt.Scale(domain=domain, range=dashes))
    )
    points = base.mark_point(filled=True, size=45, opacity=1).encode(
        shape=alt.Shape("kind:N", title=title, scale=alt.Scale(domain=domain, range=shapes))
    )
    return alt.layer(lines, points).resolve_legend(strokeDash="independent").properties(width=430, height=280)


def _ticks(last: int) -> list[int]:
    step = max(1, -(-last // 12))
    return list(range(0, last + 1, step))
