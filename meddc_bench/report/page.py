"""What a report is made of: words in two languages, tables, figures, sections. Plain frozen records, no layout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from meddc_bench.report.figures import Data
from meddc_bench.report.words import Words

Language = Literal["zh", "en"]
Cell = str | Words
"""A cell of a table: a label or number, the same in both languages, or words."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; numbers are set to the right."""

    head: Cell
    number: bool = True


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its heading and what a reader of it must know."""

    title: Words
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[Words, ...] = ()


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure, its caption, and its numbers as a table, None where the table beside it holds them already."""

    name: str
    title: Words
    caption: Words
    data: Data
    table: Table | None


@dataclass(frozen=True, slots=True)
class Section:
    """A section: what it says first, then its tables and figures."""

    name: str
    title: Words
    lead: tuple[Words, ...] = ()
    parts: tuple[Table | Figure, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskPage:
    """All sections of a task."""

    name: str
    title: str
    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """A report of a run, task by task, between what holds for all of them."""

    title: str
    lead: tuple[Words, ...]
    tasks: tuple[TaskPage, ...]
    closing: tuple[Section, ...]

    @property
    def figures(self) -> tuple[tuple[str, Figure], ...]:
        """All figures with the name of their task."""
        return tuple(
            (task.name, part)
            for task in self.tasks
            for section in task.sections
            for part in section.parts
            if isinstance(part, Figure)
        )
