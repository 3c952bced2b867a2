"""Figures as charts: Altair makes the specification, vl-convert draws it as SVG or PNG. Nothing is fetched.

Colours are those of Okabe and Ito, which people with colour-blindness tell apart; shapes and dashes say the same again.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from meddc_bench.errors import UsageError
from meddc_bench.report import figures as f
from meddc_bench.report.labels import Box, place_labels, text_width
from meddc_bench.report.page import Figure, Language
from meddc_bench.report.words import METRICS, OUTCOMES, Words, named
from meddc_bench.text import clean

if TYPE_CHECKING:
    import altair as alt

INSTALL = "pip install 'meddc-bench[report]'"
FONTS = (
    "Arial, Helvetica, 'Liberation Sans', 'Noto Sans CJK SC', 'Noto Sans SC', 'Source Han Sans SC', 'PingFang SC', "
    "'Microsoft YaHei', 'WenQuanYi Micro Hei', 'Droid Sans Fallback', sans-serif"
)
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "stroke")
DASHES = ([1, 0], [6, 2], [2, 2], [8, 2, 2, 2], [4, 4], [10, 3], [1, 3])
GREY = "#9A9A9A"

_OUTCOME_COLOURS = {
    "scored": "#0072B2", "policy_failed": "#D55E00", "patient_failed": "#E69F00", "reader_failed": "#CC79A7",
    "judge_failed": "#009E73", "infra_failed": "#000000", "excluded": "#C8C8C8",
}  # fmt: skip
_LABEL = 200
_CJK = re.compile(
    r"cjk|notosanssc|notoserifsc|sourcehan|wqy|pingfang|hiragino.?sans.?gb|st(heiti|song|hei)|songti|heiti|msyh|sim(hei|sun)"
    r"|deng(b|l)?\.ttf|droidsansfallback|uming|ukai|fandol|lxgw|harmonyos|puhui",
    re.IGNORECASE,
)
_FONT_FOLDERS = (
    "/usr/share/fonts", "/usr/local/share/fonts", "~/.fonts", "~/.local/share/fonts", "/System/Library/Fonts",
    "/Library/Fonts", "~/Library/Fonts", "C:/Windows/Fonts",
)  # fmt: skip


def check_installed() -> None:
    """Refuse to go on without what draws.

    Raises:
        UsageError: with the command that installs it.
    """
    try:
        import altair  # noqa: F401
        import vl_convert  # noqa: F401
    except ImportError as error:
        raise UsageError(
            f"charts need the extra `report` ({error.name} is missing): {INSTALL}; or give --no-charts, or --format md"
        ) from error


def use_fonts(folder: Path) -> None:
    """Let charts use the fonts of a folder too.

    Raises:
        UsageError: it is no folder.
    """
    if not folder.is_dir():
        raise UsageError(f"--font {folder}: there is no such folder")
    import vl_convert

    vl_convert.register_font_directory(str(folder))


def has_chinese_font(more: Iterable[Path] = ()) -> bool:
    """Tell whether a font with Chinese characters is installed, by the names of the font files."""
    folders = [Path(one).expanduser() for one in _FONT_FOLDERS]
    for root in (*folders, *more):
        for _, _, files in os.walk(root):
            if any(_CJK.search(name) for name in files):
                return True
    return sys.platform == "darwin"


def to_svg(figure: Figure, language: Language) -> str:
    """Draw a figure as SVG, its labels in one language."""
    import vl_convert

    spec = build(figure.data, language).to_dict()
    return str(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]))


def to_png(figure: Figure, language: Language, *, ppi: int = 300) -> bytes:
    """Draw a figure as PNG with its title, its labels in one language."""
    import vl_convert

    title = clean(figure.title.zh if language == "zh" else figure.title.en)
    spec = build(figure.data, language).properties(title=title).to_dict()
    return bytes(vl_convert.vegalite_to_png(spec, scale=1, ppi=ppi, allowed_base_urls=[]))


def build(data: f.Data, language: Language) -> alt.TopLevelMixin:
    """Make the specification of a figure."""
    chart = _BUILDERS[type(data)](data, _Say(language))
    return chart.configure(**_config())  # type: ignore[no-any-return]


class _Say:
    """Says words in one language."""

    def __init__(self, language: Language):
        self.language = language

    def __call__(self, zh: str, en: str) -> str:
        return clean(zh if self.language == "zh" else en)

    def words(self, words: Words) -> str:
        return self(words.zh, words.en)

    def metric(self, name: str) -> str:
        return self.words(named(METRICS, name))

    def condition(self, name: str | None) -> str:
        return self("不经阅读者", "no reader") if name is None else clean(name)


def _config() -> dict[str, Any]:
    text = {"labelFont": FONTS, "titleFont": FONTS, "labelColor": "#000", "titleColor": "#000"}
    sizes = {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"}
    return {
        "background": "#FFFFFF", "font": FONTS, "padding": 6,
        "axis": {**text, **sizes, "labelLimit": _LABEL, "gridColor": "#E6E6E6", "domainColor": "#666", "tickColor": "#666"},
        "legend": {
            **text, **sizes, "labelLimit": _LABEL, "symbolSize": 80, "symbolStrokeWidth": 2, "symbolLimit": 0,
            "orient": "bottom", "columns": 4, "direction": "horizontal",
        },
        "header": {**text, **sizes, "labelLimit": 260, "labelFontWeight": "bold", "labelFontSize": 12.5},
        "title": {"font": FONTS, "fontSize": 14, "anchor": "start", "fontWeight": "bold", "offset": 10},
        "view": {"stroke": "#BBBBBB"}, "text": {"font": FONTS, "fontSize": 12},
    }  # fmt: skip


def _values(rows: Iterable[Mapping[str, Any]]) -> alt.InlineData:
    import altair as alt

    return alt.InlineData(
        values=[{key: clean(v) if isinstance(v, str) else v for key, v in row.items()} for row in rows]
    )


def _short(names: Sequence[str], most: int = 28) -> dict[str, str]:
    """Cut names that are too long to stand beside an axis, so that they stay different."""
    out: dict[str, str] = {}
    for name in names:
        text = clean(name)
        short = text if len(text) <= most else f"{text[: most - 10]}…{text[-9:]}"
        taken = sum(one == short or one.startswith(f"{short} (") for one in out.values())
        out[name] = short if not taken else f"{short} ({taken + 1})"
    return out


def _palette(names: Sequence[str], marked: Sequence[str]) -> tuple[list[str], list[str], list[list[int]]]:
    """Give each name its colour, shape and dash: those marked one of their own, the others grey."""
    at = {name: index for index, name in enumerate(marked[: f.MARKED])}
    return (
        [COLOURS[at[one]] if one in at else GREY for one in names],
        [SHAPES[at[one]] if one in at else "circle" for one in names],
        [DASHES[at[one]] if one in at else [1, 0] for one in names],
    )


def _scores(data: f.Scores, say: _Say) -> Any:
    import altair as alt

    names = _short(data.policies)
    there = {one.condition for one in data.dots}
    order = [say.condition(one) for one in data.conditions if one in there]
    kinds = order + [say.condition(None)] * (None in there)
    colours, shapes, _ = _palette(kinds, order)
    lines = max(1, sum(one is not None for one in {dot.condition for dot in data.dots}))
    panels = []
    for number, metric in enumerate(data.metrics):
        dots = [one for one in data.dots if one.metric == metric]
        base = alt.Chart(
            _values(
                {
                    "policy": names[one.policy], "kind": say.condition(one.condition), "value": one.value,
                    "low": one.value if one.low is None else one.low, "high": one.value if one.high is None else one.high,
                }
                for one in dots
            )
        ).encode(
            y=alt.Y(
                "policy:N", sort=list(names.values()), scale=alt.Scale(domain=list(names.values())), title=None,
                axis=alt.Axis(labels=number == 0, ticks=number == 0, domain=number == 0, grid=True),
            ),
            color=alt.Color(
                "kind:N", title=say("条件", "condition"), scale=alt.Scale(domain=kinds, range=colours)
            ),
        )  # fmt: skip
        if len({one.condition for one in dots}) > 1:
            base = base.encode(
                yOffset=alt.YOffset("kind:N", sort=order, scale=alt.Scale(domain=order, paddingOuter=0.5))
            )
        scale, axis = _points_axis([x for one in dots for x in (one.value, one.low, one.high) if x is not None])
        x = alt.X("low:Q", title=None, scale=scale, axis=axis)
        bars = base.mark_rule(strokeWidth=2).encode(x=x, x2="high:Q")
        points = base.mark_point(filled=True, size=55, opacity=1).encode(
            x=alt.X("value:Q", title=None, scale=scale),
            shape=alt.Shape("kind:N", title=say("条件", "condition"), scale=alt.Scale(domain=kinds, range=shapes)),
        )
        height = max(60, len(names) * (12 + 8 * lines))
        title = alt.TitleParams(say.metric(metric), anchor="middle", fontSize=12.5, offset=6)
        panels.append(alt.layer(bars, points).properties(width=118, height=height, title=title))
    return alt.hconcat(*panels, spacing=14).resolve_scale(color="shared", shape="shared")


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


def _outcomes(data: f.Outcomes, say: _Say) -> Any:
    import altair as alt

    names = _short(data.rows, 44)
    there = [one for one in _OUTCOME_COLOURS if any(share.outcome == one for share in data.shares)]
    labels = [say.words(named(OUTCOMES, one)) for one in there]
    return (
        alt.Chart(
            _values(
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


def _slopes(data: f.Slopes, say: _Say) -> Any:
    import altair as alt

    policies = list(dict.fromkeys(one.policy for one in data.places))
    names = _short(policies)
    colours, shapes, dashes = _palette(policies, data.marked)
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
    base = alt.Chart(_values(rows)).encode(x=x, y=y, color=colour)
    lines = base.mark_line(strokeWidth=2.2).encode(
        strokeDash=alt.StrokeDash("policy:N", scale=alt.Scale(domain=domain, range=dashes), legend=None)
    )
    points = base.mark_point(filled=True, size=75, opacity=1).encode(
        shape=alt.Shape("policy:N", scale=alt.Scale(domain=domain, range=shapes), legend=None)
    )
    sides: tuple[tuple[int, Literal["left", "right"], int], ...] = ((0, "right", -10), (-1, "left", 10))
    ends = [
        alt.Chart(_values(row for row in rows if row["condition"] == conditions[at]))
        .mark_text(align=align, dx=shift, fontSize=12)
        .encode(x=x, y=y, text="label:N", color=alt.value("#000000"))
        for at, align, shift in sides
    ]
    between = [row for row in rows if row["condition"] in conditions[1:-1]]
    if between:
        scores = alt.Chart(_values(between)).mark_text(dy=-11, fontSize=11)
        ends.append(scores.encode(x=x, y=y, text="score:N", color=alt.value("#000000")))
    width = 170 * (len(conditions) - 1)
    return alt.layer(lines, points, *ends).properties(
        width=width, height=max(90, 24 * most), view=alt.ViewBackground(stroke=None)
    )


def _forest(data: f.Forest, say: _Say) -> Any:
    import altair as alt

    short = _short([*dict.fromkeys(name for pair in data.pairs for name in pair)], 22)
    names = {pair: f"{short[pair[0]]} − {short[pair[1]]}" for pair in data.pairs}
    panels = []
    kinds = [say("区间不含 0", "interval excludes 0"), say("区间含 0", "interval includes 0")]
    for number, metric in enumerate(data.metrics):
        gaps = [one for one in data.gaps if one.metric == metric]
        base = alt.Chart(
            _values(
                {
                    "pair": names[one.first, one.second], "value": one.value, "low": one.value if one.low is None else one.low,
                    "high": one.value if one.high is None else one.high,
                    "kind": kinds[0] if one.low is not None and one.high is not None and (one.low > 0 or one.high < 0)
                    else kinds[1],
                }
                for one in gaps
            )
        ).encode(
            y=alt.Y(
                "pair:N", sort=list(names.values()), scale=alt.Scale(domain=list(names.values())), title=None,
                axis=alt.Axis(labels=number == 0, ticks=number == 0, domain=number == 0, grid=True, labelLimit=330),
            ),
            color=alt.Color("kind:N", title=None, scale=alt.Scale(domain=kinds, range=[COLOURS[0], "#7A7A7A"])),
        )  # fmt: skip
        scale, axis = _points_axis([0.0, *(x for one in gaps for x in (one.value, one.low, one.high) if x is not None)])
        zero = alt.Chart(_values([{"at": 0}])).mark_rule(color="#000000", strokeDash=[4, 3]).encode(x="at:Q")
        bars = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=None, scale=scale, axis=axis), x2="high:Q")
        points = base.mark_point(filled=True, size=60, opacity=1).encode(
            x=alt.X("value:Q", title=None, scale=scale),
            shape=alt.Shape("kind:N", title=None, scale=alt.Scale(domain=kinds, range=["circle", "diamond"])),
        )
        title = alt.TitleParams(say.metric(metric), anchor="middle", fontSize=12.5, offset=6)
        height = max(60, 20 * len(data.pairs))
        panels.append(alt.layer(zero, bars, points).properties(width=112, height=height, title=title))
    return alt.hconcat(*panels, spacing=14).resolve_scale(color="shared", shape="shared")


_SIDE = 360
_SAME = 90.0
"""Marks of 12 x 12 pixels that share more than this lie on each other."""


def _scatter(data: f.Scatter, say: _Say) -> Any:
    import altair as alt

    policies = [one.policy for one in data.spots]
    names = _short(policies)
    colours, shapes, _ = _palette(policies, policies)
    domain = [names[one] for one in policies]
    across = _span([x for one in data.spots for x in (one.t, *(one.t_interval or ()))])
    up = _span([x for one in data.spots for x in (one.d, *(one.d_interval or ()))])
    (x_scale, x_axis), (y_scale, y_axis) = _square_axis(across), _square_axis(up)
    x = alt.X("t:Q", title=say.metric("T"), scale=x_scale, axis=x_axis)
    y = alt.Y("d:Q", title=say.metric("D"), scale=y_scale, axis=y_axis)
    rows = [{"policy": names[one.policy], "t": one.t, "d": one.d} for one in data.spots]
    colour = alt.Color("policy:N", scale=alt.Scale(domain=domain, range=colours), legend=None)
    shape = alt.Shape("policy:N", scale=alt.Scale(domain=domain, range=shapes), legend=None)
    points, obstacles = [], []
    for one in data.spots:
        at_x, at_y = _pixel(one.t, across), _SIDE - _pixel(one.d, up)
        points.append(Box.around(at_x, at_y, 12, 12))
        if one.t_interval is not None:
            obstacles.append(
                Box(_pixel(one.t_interval[0], across), at_y - 2, _pixel(one.t_interval[1], across), at_y + 2)
            )
        if one.d_interval is not None:
            bottom, top = (_SIDE - _pixel(end, up) for end in one.d_interval)
            obstacles.append(Box(at_x - 2, top, at_x + 2, bottom))
    obstacles += points
    layers: list[Any] = []
    if data.t_middle is not None and data.d_middle is not None:
        middle = _values([{"t": data.t_middle, "d": data.d_middle}])
        rule = alt.Chart(middle).mark_rule(color="#888888", strokeDash=[4, 3])
        corners = [one for one in _corners(say) if not any(one.box.shared(other) for other in obstacles)]
        obstacles += [one.box for one in corners]
        at_x, at_y = _pixel(data.t_middle, across), _SIDE - _pixel(data.d_middle, up)
        obstacles += [Box(at_x - 1, 0, at_x + 1, _SIDE), Box(0, at_y - 1, _SIDE, at_y + 1)]
        layers += [rule.encode(x=x), rule.encode(y=y)]
        layers += [_text(one.text, one.box, across, up, "#777777").encode(x=x, y=y, text="label:N") for one in corners]
    for low, high, kind in (("t_low", "t_high", "t"), ("d_low", "d_high", "d")):
        bars = [
            {**row, low: ends[0], high: ends[1]} for row, one in zip(rows, data.spots, strict=True)
            if (ends := one.t_interval if kind == "t" else one.d_interval) is not None
        ]  # fmt: skip
        rule = alt.Chart(_values(bars)).mark_rule(strokeWidth=1.3, opacity=0.55)
        if bars and kind == "t":
            layers.append(
                rule.encode(
                    x=alt.X(f"{low}:Q", scale=x_scale, title=say.metric("T")), x2=f"{high}:Q", y=y, color=colour
                )
            )
        elif bars:
            layers.append(
                rule.encode(
                    y=alt.Y(f"{low}:Q", scale=y_scale, title=say.metric("D")), y2=f"{high}:Q", x=x, color=colour
                )
            )
    layers.append(
        alt.Chart(_values(rows)).mark_point(filled=True, size=95, opacity=1).encode(x=x, y=y, color=colour, shape=shape)
    )
    texts, boxes = _together([_short([one.label])[one.label] for one in data.spots], points)
    for label in place_labels(texts, boxes, obstacles, _SIDE, _SIDE):
        box = Box.around(label.x, label.y, 0, 0)
        layers.append(_text(label.text, box, across, up, "#000000").encode(x=x, y=y, text="label:N"))
    return alt.layer(*layers).properties(width=_SIDE, height=_SIDE)


def _text(text: str, box: Box, across: tuple[float, float], up: tuple[float, float], colour: str) -> Any:
    """Write a text in the middle of a box of pixels."""
    import altair as alt

    x, y = (box.left + box.right) / 2, (box.top + box.bottom) / 2
    at = {
        "t": across[0] + x / _SIDE * (across[1] - across[0]), "d": up[1] - y / _SIDE * (up[1] - up[0]), "label": text,
    }  # fmt: skip
    return alt.Chart(_values([at])).mark_text(align="center", baseline="middle", fontSize=11.5, color=colour)


def _together(texts: Sequence[str], points: Sequence[Box]) -> tuple[list[str], list[Box]]:
    """Give points that lie on each other one label."""
    out: list[tuple[str, Box]] = []
    for text, point in zip(texts, points, strict=True):
        for at, (known, box) in enumerate(out):
            if box.shared(point) > _SAME:
                out[at] = (f"{known}, {text}", box)
                break
        else:
            out.append((text, point))
    return [text for text, _ in out], [box for _, box in out]


@dataclass(frozen=True, slots=True)
class _Corner:
    text: str
    box: Box


def _corners(say: _Say) -> list[_Corner]:
    """Name the quadrants, each in its corner."""
    out = []
    for right, top in ((True, True), (False, True), (True, False), (False, False)):
        zh = f"T {'高' if right else '低'} D {'高' if top else '低'}"
        text = say(zh, f"T {'high' if right else 'low'}, D {'high' if top else 'low'}")
        width = text_width(text)
        x = _SIDE - 4 - width / 2 if right else 4 + width / 2
        out.append(_Corner(text, Box.around(x, 12 if top else _SIDE - 12, width, 14)))
    return out


def _span(values: Sequence[float]) -> tuple[float, float]:
    """Return the range of an axis: all values with room around them, just beyond 0 and 100 at the most."""
    low, high = min(values), max(values)
    room = max(3.0, 0.1 * (high - low))
    return max(-2.0, low - room), min(102.0, high + room)


def _square_axis(span: tuple[float, float]) -> tuple[Any, Any]:
    import altair as alt

    step = next(one for one in (1, 2, 5, 10, 20) if (span[1] - span[0]) / one <= 8)
    ticks = [at for at in range(0, 101, step) if span[0] <= at <= span[1]]
    return alt.Scale(domain=list(span), nice=False, zero=False), alt.Axis(
        values=ticks, tickCount=len(ticks), format="d", grid=False
    )


def _pixel(value: float, span: tuple[float, float]) -> float:
    return (value - span[0]) / (span[1] - span[0]) * _SIDE


def _cases(data: f.Cases, say: _Say) -> Any:
    import altair as alt

    names = _short(data.policies)
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
        marks = alt.Chart(_values(rows)).mark_circle(color=COLOURS[0], opacity=0.65, stroke="#003A5C", strokeWidth=0.5)
        title = alt.TitleParams(names[policy], anchor="middle", fontSize=12.5, offset=6)
        panels.append(
            marks.encode(
                x=alt.X("t:Q", title=say.metric("T"), scale=scale, axis=axis),
                y=alt.Y("d:Q", title=say.metric("D"), scale=scale, axis=axis), size=size,
            ).properties(width=136, height=136, title=title)
        )  # fmt: skip
    return alt.concat(*panels, columns=4 if len(panels) == 4 else 3, spacing=16).resolve_scale(size="shared")


def _coverage(data: f.Coverage, say: _Say) -> Any:
    import altair as alt

    names = _short(data.policies)
    others = say("其余", "others")
    marked = [one for one in data.policies if one in data.marked]
    domain = [names[one] for one in marked] + ([others] if len(marked) < len(data.policies) else [])
    colours, shapes, dashes = _palette([*marked, others][: len(domain)], marked)
    rows = [
        {
            "policy": names[one.policy], "kind": names[one.policy] if one.policy in marked else others,
            "round": one.round, "share": one.share,
        }
        for one in data.reached
    ]  # fmt: skip
    last = max(one.round for one in data.reached)
    title = say("策略", "policy")
    base = alt.Chart(_values(rows)).encode(
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


_BUILDERS: dict[type, Callable[[Any, _Say], Any]] = {
    f.Scores: _scores, f.Outcomes: _outcomes, f.Slopes: _slopes, f.Forest: _forest, f.Scatter: _scatter,
    f.Cases: _cases, f.Coverage: _coverage,
}  # fmt: skip
