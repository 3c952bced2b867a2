"""What an import is to make, and what it made: counts of what was taken and left out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from meddc_bench.contracts import About
from meddc_bench.errors import MedDDCError


class TooManyDefects(MedDDCError):
    """More rows are defective than was allowed; nothing was written."""

    exit_code = 3


@dataclass
class Made:
    """What an import took and left out."""

    name: str
    folder: Path
    about: About
    language: str = "zh"
    cases: int = 0
    facts: int = 0
    targets: int = 0
    derived: int = 0
    workups: int = 0
    histories: Counter[str] = field(default_factory=Counter)
    excluded: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)
    defects: int = 0
    defect_lines: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    decide: list[str] = field(default_factory=list)
    findings: Counter[tuple[str, str]] = field(default_factory=Counter)
    origin: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Give the same as plain data."""
        return {
            "task": self.name, "folder": str(self.folder), "language": self.language, "private": self.about.private,
            "licence": self.about.licence, "split": self.about.split, "cases": self.cases, "facts": self.facts,
            "targets": self.targets, "derived_targets": self.derived, "histories": dict(sorted(self.histories.items())),
            "excluded": dict(sorted(self.excluded.items())), "defects": self.defects, "defect_lines": self.defect_lines,
            "notes": self.notes, "decide": self.decide,
            "findings": [
                {"level": level, "message": message, "count": count}
                for (level, message), count in sorted(self.findings.items())
            ],
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to make: the name of the task, its folder, how many cases, what may be replaced and how much may be broken."""

    folder: Path
    name: str | None = None
    limit: int | None = None
    overwrite: bool = False
    fail_after: int | None = None
