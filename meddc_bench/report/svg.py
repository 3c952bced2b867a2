"""Lets into the page only what draws: an allow-list of SVG elements and attributes; nothing runs, loads or links."""

from __future__ import annotations

import re
from xml.etree import ElementTree

_SPACE = "{http://www.w3.org/2000/svg}"
_ELEMENTS = frozenset(
    {
        "svg",
        "g",
        "path",
        "rect",
        "line",
        "circle",
        "ellipse",
        "polygon",
        "polyline",
        "text",
        "tspan",
        "defs",
        "clipPath",
        "linearGradient",
        "stop",
        "title",
        "desc",
    }
)
_ATTRIBUTES = frozenset(
    {
        "viewBox",
        "width",
        "height",
        "x",
        "y",
        "x1",
        "y1",
        "x2",
        "y2",
        "cx",
        "cy",
        "r",
        "rx",
        "ry",
        "d",
        "points",
        "transform",
        "fill",
        "fill-opacity",
        "stroke",
        "stroke-width",
        "stroke-opacity",
        "stroke-dasharray",
        "stroke-dashoffset",
        "stroke-linecap",
        "stroke-linejoin",
        "stroke-miterlimit",
        "opacity",
        "font-family",
        "font-size",
        "font-style",
        "font-weight",
        "text-anchor",
        "dominant-baseline",
        "dx",
        "dy",
        "clip-path",
        "id",
        "offset",
        "stop-color",
    }
)
_LOCAL = re.compile(r"url\(\s*(['\"]?)#([\w-]+)\1\s*\)")


def sanitised(svg: str, prefix: str, label: str) -> str:
    """Return the SVG with what draws and nothing else; its ids start with `prefix`, its name for readers is `label`.

    Raises:
        ValueError: it is no SVG.

    >>> sanitised('<svg xmlns="http://www.w3.org/2000/svg" onload="x()"><script>x()</script><g id="a"/></svg>', "f-", "F")
    '<svg role="img" aria-label="F"><g id="f-a" /></svg>'
    """
    if "<!" in svg:
        raise ValueError("an SVG with a declaration is not let in")
    try:
        root = ElementTree.fromstring(svg)
    except ElementTree.ParseError as error:
        raise ValueError(f"is no SVG: {error}") from error
    _keep(root, prefix)
    if root.tag != "svg":
        raise ValueError("is no SVG: its root is another element")
    root.attrib.update({"role": "img", "aria-label": label})
    return ElementTree.tostring(root, encoding="unicode")


def _keep(element: ElementTree.Element, prefix: str) -> None:
    element.tag = element.tag.removeprefix(_SPACE)
    element.attrib = {
        name: found for name, value in element.attrib.items() if name in _ATTRIBUTES
        and (found := _local(name, value, prefix)) is not None
    }  # fmt: skip
    for child in list(element):
        if isinstance(child.tag, str) and child.tag.removeprefix(_SPACE) in _ELEMENTS:
            _keep(child, prefix)
        else:
            element.remove(child)


def _local(name: str, value: str, prefix: str) -> str | None:
    """Return the attribute's value with its ids renamed; None for one that points out of the figure."""
    if name == "id":
        return prefix + value
    inside = _LOCAL.sub(lambda found: f"url(#{prefix}{found[2]})", value)
    rest = _LOCAL.sub("", value)
    return None if ("url(" in rest.lower() or "javascript:" in rest.lower()) else inside
