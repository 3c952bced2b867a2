"""The chart of policies by T and D: intervals, quadrants, and labels placed where nothing else is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from meddc_bench.report.drawing import Say, palette, short, values
from meddc_bench.report.figures import Ends, Scatter, Spot
from meddc_bench.report.labels import Box, place_labels, text_width

_SIDE = 360
_SAME = 90.0
"""Marks of 12 x 12 pixels that share more than this lie on each other."""


@dataclass(frozen=True, slots=True)
class _Plane:
    """The square of the chart: T from left to right over `across`, D from the bottom up over `up`."""

    across: Ends
    up: Ends

    @classmethod
    def around(cls, spots: Sequence[Spot]) -> _Plane:
        """Return the plane that holds all spots and their intervals."""
        return cls(
            _span([x for one in spots for x in (one.t, *(one.t_interval or ()))]),
            _span([x for one in spots for x in (one.d, *(one.d_interval or ()))]),
        )

    def x(self, t: float) -> float:
        """Return where T is, in pixels from the left."""
        return _pixel(t, self.across)

    def y(self, d: float) -> float:
        """Return where D is, in pixels from the top."""
        return _SIDE - _pixel(d, self.up)

    def text(self, text: str, box: Box, colour: str) -> Any:
        """Write a text in the middle of a box of pixels."""
        import altair as alt

        x, y = (box.left + box.right) / 2, (box.top + box.bottom) / 2
        (left, right), (bottom, top) = self.across, self.up
        at = {"t": left + x / _SIDE * (right - left), "d": top - y / _SIDE * (top - bottom), "label": text}
        return alt.Chart(values([at])).mark_text(align="center", baseline="middle", fontSize=11.5, color=colour)


def scatter(data: Scatter, say: Say) -> Any:
    """Draw the policies by T and D."""
    import altair as alt

    plane = _Plane.around(data.spots)
    (x_scale, x_axis), (y_scale, y_axis) = _square_axis(plane.across), _square_axis(plane.up)
    x = alt.X("t:Q", title=say.metric("T"), scale=x_scale, axis=x_axis)
    y = alt.Y("d:Q", title=say.metric("D"), scale=y_scale, axis=y_axis)
    points = [Box.around(plane.x(one.t), plane.y(one.d), 12, 12) for one in data.spots]
    obstacles = [*_bars(data.spots, plane), *points]
    layers: list[Any] = []
    if data.t_middle is not None and data.d_middle is not None:
        rule = alt.Chart(values([{"t": data.t_middle, "d": data.d_middle}])).mark_rule(
            color="#888888", strokeDash=[4, 3]
        )
        corners = [one for one in _corners(say) if not any(one.box.shared(other) for other in obstacles)]
        obstacles += [one.box for one in corners]
        at_x, at_y = plane.x(data.t_middle), plane.y(data.d_middle)
        obstacles += [Box(at_x - 1, 0, at_x + 1, _SIDE), Box(0, at_y - 1, _SIDE, at_y + 1)]
        layers += [rule.encode(x=x), rule.encode(y=y)]
        layers += [plane.text(one.text, one.box, "#777777").encode(x=x, y=y, text="label:N") for one in corners]
    layers += _marks(data.spots, x, y)
    texts, boxes = _together([short([one.label])[one.label] for one in data.spots], points)
    for label in place_labels(texts, boxes, obstacles, _SIDE, _SIDE):
        box = Box.around(label.x, label.y, 0, 0)
        layers.append(plane.text(label.text, box, "#000000").encode(x=x, y=y, text="label:N"))
    return alt.layer(*layers).properties(width=_SIDE, height=_SIDE)


def _bars(spots: Sequence[Spot], plane: _Plane) -> Iterator[Box]:
    """Return what the lines of the intervals cover."""
    for one in spots:
        at_x, at_y = plane.x(one.t), plane.y(one.d)
        if one.t_interval is not None:
            left, right = map(plane.x, one.t_interval)
            yield Box(left, at_y - 2, right, at_y + 2)
        if one.d_interval is not None:
            bottom, top = map(plane.y, one.d_interval)
            yield Box(at_x - 2, top, at_x + 2, bottom)


def _marks(spots: Sequence[Spot], x: Any, y: Any) -> Iterator[Any]:
    """Draw the intervals of T, those of D, then the points."""
    import altair as alt

    policies = [one.policy for one in spots]
    names = short(policies)
    colours, shapes, _ = palette(policies, policies)
    domain = [names[one] for one in policies]
    colour = alt.Color("policy:N", scale=alt.Scale(domain=domain, range=colours), legend=None)
    shape = alt.Shape("policy:N", scale=alt.Scale(domain=domain, range=shapes), legend=None)
    rows = [{"policy": names[one.policy], "t": one.t, "d": one.d} for one in spots]
    across = [
        {**row, "t_low": one.t_interval[0], "t_high": one.t_interval[1]}
        for row, one in zip(rows, spots, strict=True) if one.t_interval is not None
    ]  # fmt: skip
    up = [
        {**row, "d_low": one.d_interval[0], "d_high": one.d_interval[1]}
        for row, one in zip(rows, spots, strict=True) if one.d_interval is not None
    ]  # fmt: skip
    if across:
        low = alt.X("t_low:Q", scale=x["scale"], title=x["title"])
        rule = alt.Chart(values(across)).mark_rule(strokeWidth=1.3, opacity=0.55)
        yield rule.encode(x=low, x2="t_high:Q", y=y, color=colour)
    if up:
        bottom = alt.Y("d_low:Q", scale=y["scale"], title=y["title"])
        rule = alt.Chart(values(up)).mark_rule(strokeWidth=1.3, opacity=0.55)
        yield rule.encode(y=bottom, y2="d_high:Q", x=x, color=colour)
    points = alt.Chart(values(rows)).mark_point(filled=True, size=95, opacity=1)
    yield points.encode(x=x, y=y, color=colour, shape=shape)


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


def _corners(say: Say) -> list[_Corner]:
    """Name the quadrants, each in its corner."""
    out = []
    for right, top in ((True, True), (False, True), (True, False), (False, False)):
        zh = f"T {'高' if right else '低'} D {'高' if top else '低'}"
        text = say(zh, f"T {'high' if right else 'low'}, D {'high' if top else 'low'}")
        width = text_width(text)
        x = _SIDE - 4 - width / 2 if right else 4 + width / 2
        out.append(_Corner(text, Box.around(x, 12 if top else _SIDE - 12, width, 14)))
    return out


def _span(values: Sequence[float]) -> Ends:
    """Return the range of an axis: all values with room around them, just beyond 0 and 100 at the most."""
    low, high = min(values), max(values)
    room = max(3.0, 0.1 * (high - low))
    return max(-2.0, low - room), min(102.0, high + room)


def _square_axis(span: Ends) -> tuple[Any, Any]:
    import altair as alt

    step = next(one for one in (1, 2, 5, 10, 20) if (span[1] - span[0]) / one <= 8)
    ticks = [at for at in range(0, 101, step) if span[0] <= at <= span[1]]
    return alt.Scale(domain=list(span), nice=False, zero=False), alt.Axis(
        values=ticks, tickCount=len(ticks), format="d", grid=False
    )


def _pixel(value: float, span: Ends) -> float:
    return (value - span[0]) / (span[1] - span[0]) * _SIDE
