"""What is asked of an audit, and what it finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from meddc_bench.analysis.audit import Audit
from meddc_bench.analysis.series import LeftOut

Over = Literal["reader", "judge", "patient", "view"]
"""The part of an instrument that an audit changes."""

FAILURES = ("patient_failed", "reader_failed", "judge_failed", "infra_failed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What to audit: over which part, against which base, which metrics, tasks and labels (None: all there are)."""

    over: Over = "reader"
    base: str | None = None
    tasks: tuple[str, ...] | None = None
    metrics: tuple[str, ...] | None = None
    labels: frozenset[str] | None = None
    readers: frozenset[str] | None = None
    without: frozenset[str] = frozenset()
    draws: int = 10_000
    seed: int = 0
    level: float = 0.95


@dataclass(frozen=True, slots=True, order=True)
class Setting:
    """What all scores of one audit have in common; None where it is audited or does not matter."""

    patient: str | None = None
    condition: str | None = None
    judge: str | None = None


@dataclass(frozen=True, slots=True)
class Gap:
    """Cases of a policy that are not measured under one instrument, and the reasons."""

    policy: str
    under: str
    cases: int
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unmeasured:
    """A policy without any score under one instrument."""

    policy: str
    under: str
    reason: str


@dataclass(frozen=True, slots=True)
class Fixed:
    """A policy's score on a metric that is the same under all instruments, in `unit`."""

    policy: str
    metric: str
    value: float
    unit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricAudit:
    """One metric of one task, in one setting, under all instruments of the audited part. Values are in `unit`.

    `cases` are those measured in every run of every policy under every instrument, of `expected`; `left_out` names the
    others. `found` is None, with the reason, where nothing can be compared.
    """

    task: str
    metric: str
    over: Over
    base: str
    setting: Setting = Setting()
    unit: str
    higher_is_better: bool = True
    instruments: tuple[str, ...]
    policies: tuple[str, ...]
    fingerprints: Mapping[str, str] = field(default_factory=dict)
    differs: tuple[str, ...] = ()
    runs: Mapping[str, int] = field(default_factory=dict)
    cases: int = 0
    expected: int = 0
    left_out: tuple[LeftOut, ...] = ()
    gaps: tuple[Gap, ...] = ()
    unmeasured: tuple[Unmeasured, ...] = ()
    fixed: tuple[Fixed, ...] = ()
    found: Audit | None = None
    reason: str | None = None

    @property
    def failed(self) -> bool:
        """Whether something was not measured because a role or the infrastructure failed."""
        reasons = [*(one.reason for one in self.unmeasured), *(words for gap in self.gaps for words in gap.reasons)]
        return any(words.startswith(FAILURES) for words in reasons)


@dataclass(frozen=True, slots=True)
class Histories:
    """The histories of a task: a digest by policy, and how many readings were checked against their bytes."""

    task: str
    digests: Mapping[str, str]
    checked: int
    mismatched: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """A metric that was not asked for by name and has nothing to measure in a task."""

    task: str
    metric: str
    reason: str


@dataclass(frozen=True, slots=True)
class Report:
    """All audits of a question, and the proof that the histories were the same."""

    over: Over
    audits: tuple[MetricAudit, ...]
    histories: tuple[Histories, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    source: str | None = None

    @property
    def mismatched(self) -> int:
        return sum(one.mismatched for one in self.histories)
