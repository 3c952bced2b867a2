"""Places labels beside points so that none lies on another label or point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_WIDE, _NARROW, _HEIGHT = 12.0, 6.6, 14.0


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in pixels, y downwards."""

    left: float
    top: float
    right: float
    bottom: float

    @classmethod
    def around(cls, x: float, y: float, width: float, height: float) -> Box:
        """Return the rectangle of that size with its middle there."""
        return cls(x - width / 2, y - height / 2, x + width / 2, y + height / 2)

    def shared(self, other: Box) -> float:
        """Return the area both have in common."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(0.0, width) * max(0.0, height)


@dataclass(frozen=True, slots=True)
class Label:
    """A text and where its middle is, in pixels."""

    text: str
    x: float
    y: float


def place_labels(
    texts: Sequence[str], points: Sequence[Box], obstacles: Sequence[Box], width: float, height: float
) -> tuple[Label, ...]:  # fmt: skip
    """Place a label beside each point, within width x height and off obstacles; where it cannot be, it overlaps least.

    The points themselves are obstacles only where they are given as such.

    >>> points = [Box(45, 45, 55, 55), Box(30, 45, 40, 55)]
    >>> [(one.text, one.x > 35) for one in place_labels(["a", "b"], points, points, 100, 100)]
    [('a', True), ('b', False)]
    """
    taken = list(obstacles)
    out: list[Label] = []
    frame = Box(0, 0, width, height)
    for text, point in zip(texts, points, strict=True):
        size = text_width(text), _HEIGHT
        boxes = [Box.around(x, y, *size) for x, y in _around(point, *size)]
        area = size[0] * size[1]

        def badness(box: Box, area: float = area) -> float:
            outside = area - box.shared(frame)
            return round(3 * outside + sum(box.shared(other) for other in taken), 6)

        best = min(boxes, key=badness)
        taken.append(best)
        out.append(Label(text, (best.left + best.right) / 2, (best.top + best.bottom) / 2))
    return tuple(out)


def text_width(text: str) -> float:
    """Estimate how wide a text is at 12 pixels: a Chinese character is as wide as it is high."""
    return sum(_WIDE if ord(one) > 0x2E7F else _NARROW for one in text) + 2


def _around(point: Box, width: float, height: float) -> list[tuple[float, float]]:
    """Return middles of a label around a point, best first: right, left, above, below, then the corners, then further."""
    x, y = (point.left + point.right) / 2, (point.top + point.bottom) / 2
    out = []
    for gap in (3.0, 12.0, 24.0):
        across, up = point.right - x + gap + width / 2, point.bottom - y + gap / 2 + height / 2
        out += [(x + across, y), (x - across, y), (x, y - up), (x, y + up)]
        out += [(x + across, y - up), (x + across, y + up), (x - across, y - up), (x - across, y + up)]
    return out
