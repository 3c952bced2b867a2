"""Sections -> HTML and Markdown. One HTML file: no script, nothing from elsewhere, everything escaped."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

from meddc_bench.report.page import Cell, Figure, Language, Report, Section, Table
from meddc_bench.report.svg import sanitised
from meddc_bench.report.words import Words
from meddc_bench.text import clean

Languages = Literal["zh", "en", "both"]
Drawn = Mapping[tuple[str, str], Mapping[Language, str]]
"""SVG of each figure, by task and name, in each language."""

_HERE = Path(__file__).resolve().parent
_WORDS = {
    "report": Words("评测报告", "evaluation report"),
    "numbers": Words("数值表", "The numbers"),
    "stop": Words("。", ". "),
}
_MARKS = re.compile(r"([\\`*_{}\[\]()<>#+!|~&])")


def languages_of(language: Languages) -> tuple[Language, ...]:
    """Return the languages a report is in."""
    return ("zh", "en") if language == "both" else (language,)


def to_html(report: Report, language: Languages, drawn: Drawn, notes: Sequence[Words] = ()) -> str:
    """Render a report as one HTML file; figures that were not drawn show their numbers as tables.

    Raises:
        ValueError: what was drawn is no SVG.
    """
    style = (_HERE / "report.css").read_text(encoding="utf-8")
    charts: dict[tuple[str, str], dict[Language, Markup]] = {}
    numbers: dict[tuple[str, str], Words] = {}
    for at, (task, figure) in enumerate(report.figures, 1):
        numbers[task, figure.name] = Words(f"图 {at}", f"Figure {at}")
        charts[task, figure.name] = {
            shown: Markup(sanitised(svg, f"figure-{at}-{shown}-", clean(figure.title.zh if shown == "zh" else figure.title.en)))
            for shown, svg in drawn.get((task, figure.name), {}).items()
        }  # fmt: skip
    title = f"{report.title}: {', '.join(task.name for task in report.tasks)}"
    return _environment().get_template("report.html.jinja").render(
        report=report, language=language, charts=charts, numbers=numbers, notes=notes, words=_WORDS, title=title,
        style=Markup(style), style_hash=_hash(style),
    )  # fmt: skip


@cache
def _environment() -> Environment:
    return ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(_HERE), autoescape=True, undefined=StrictUndefined, finalize=_inert, trim_blocks=True
    )


def _inert(value: Any) -> Any:
    """Take escapes, bidi overrides and invisible characters off every text; what is escaped already stays."""
    return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _hash(style: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()


def to_markdown(report: Report, language: Languages, notes: Sequence[Words] = ()) -> str:
    """Render a report as Markdown: tables as they are, each figure by its numbers."""
    lines = [f"# {_said(report.title, language)} {_said(_WORDS['report'], language)}", ""]
    for one in (*report.lead, *notes):
        lines += [*_paragraph(one, language), ""]
    for task in report.tasks:
        lines += [f"## {_said(task.title, language)}", ""]
        for section in task.sections:
            lines += _section(section, language, "###")
    for section in report.closing:
        lines += _section(section, language, "##")
    return "\n".join(lines).rstrip() + "\n"


def _section(section: Section, language: Languages, mark: str) -> Iterator[str]:
    yield from (f"{mark} {_said(section.title, language)}", "")
    for one in section.lead:
        yield from (*_paragraph(one, language), "")
    for part in section.parts:
        if isinstance(part, Figure) and part.table is not None:
            yield from (*_paragraph(part.caption, language), "", *_table(part.table, language))
        elif isinstance(part, Table):
            yield from _table(part, language)


def _table(table: Table, language: Languages) -> Iterator[str]:
    yield from (f"**{_said(table.title, language)}**", "")
    yield _line(_said(column.head, language) for column in table.columns)
    yield _line("---:" if column.number else ":---" for column in table.columns)
    for row in table.rows:
        yield _line(_said(cell, language) for cell in row)
    yield ""
    for note in table.notes:
        yield from (*_paragraph(note, language), "")


def _line(cells: Iterator[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _paragraph(words: Words, language: Languages) -> Iterator[str]:
    """Say a sentence: in both languages one below the other."""
    texts = {"zh": words.zh, "en": words.en}
    for at, one in enumerate(dict.fromkeys(texts[shown] for shown in languages_of(language))):
        yield from ([""] if at else [])
        yield _escaped(one)


def _said(cell: Cell, language: Languages) -> str:
    if isinstance(cell, str):
        return _escaped(cell)
    if language == "both" and cell.zh != cell.en:
        return f"{_escaped(cell.zh)} / {_escaped(cell.en)}"
    return _escaped(cell.en if language == "en" else cell.zh)


def _escaped(text: str) -> str:
    """Make a text stand for itself in Markdown: no mark-up, no line break, no HTML.

    >>> _escaped("a|<b>\\nc")
    'a\\\\|\\\\<b\\\\> c'
    """
    return _MARKS.sub(r"\\\1", " ".join(clean(text).split()))
