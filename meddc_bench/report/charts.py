"""Figures as charts: Altair makes the specification, vl-convert draws it as SVG or PNG. Nothing is fetched."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from meddc_bench.errors import UsageError
from meddc_bench.report import figures, plots
from meddc_bench.report.drawing import Say
from meddc_bench.report.page import Figure, Language
from meddc_bench.report.scatter import scatter

if TYPE_CHECKING:
    import altair as alt

INSTALL = "pip install 'meddc-bench[report]'"
FONTS = (
    "Arial, Helvetica, 'Liberation Sans', 'Noto Sans CJK SC', 'Noto Sans SC', 'Source Han Sans SC', 'PingFang SC', "
    "'Microsoft YaHei', 'WenQuanYi Micro Hei', 'Droid Sans Fallback', sans-serif"
)

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

    title = Say(language).words(figure.title)
    spec = build(figure.data, language).properties(title=title).to_dict()
    return bytes(vl_convert.vegalite_to_png(spec, scale=1, ppi=ppi, allowed_base_urls=[]))


def build(data: figures.Data, language: Language) -> alt.TopLevelMixin:
    """Make the specification of a figure."""
    chart = _BUILDERS[type(data)](data, Say(language))
    return chart.configure(**_config())  # type: ignore[no-any-return]


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


_BUILDERS: Mapping[type, Callable[[Any, Say], Any]] = {
    figures.Scores: plots.scores, figures.Outcomes: plots.outcomes, figures.Slopes: plots.slopes,
    figures.Forest: plots.forest, figures.Scatter: scatter, figures.Cases: plots.cases, figures.Coverage: plots.coverage,
}  # fmt: skip
