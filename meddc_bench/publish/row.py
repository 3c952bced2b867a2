"""A row of a leaderboard: one policy, measured by one instrument, with the per-case statistics behind every number.

It holds no text of a case and no case id. Statistics stand in the canonical order, that of the sorted case ids, of which
the row holds only a digest: rows with the same digest can be paired case by case. A private task has seeded bootstrap
draws in their place.
"""

from __future__ import annotations

import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

from meddc_bench.analysis.series import Series
from meddc_bench.campaign import LABEL
from meddc_bench.contracts import Metric
from meddc_bench.errors import UsageError
from meddc_bench.fingerprint import digest
from meddc_bench.records import MEASURED
from meddc_bench.registry import Registry
from meddc_bench.text import clean
from meddc_bench.wiring import Adapter

DRAWS = 10_000
PRIVATE_DRAWS = 1_000
"""Draws a row of a private task carries; every one is a number of the file."""
SEED = 0
LEVEL = 0.95


def _inert(text: str) -> str:
    if text != clean(text):
        raise ValueError("holds control characters, terminal escapes or invisible characters")
    return text


def _utc(when: datetime.datetime) -> datetime.datetime:
    if when.utcoffset() != datetime.timedelta(0):
        raise ValueError("is not in UTC")
    return when


Words = Annotated[str, StringConstraints(max_length=200), AfterValidator(_inert)]
Label = Annotated[str, StringConstraints(pattern=LABEL)]
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.@+ -]{0,63}$")]
Count = Annotated[int, Field(ge=0)]
Address = Annotated[str, StringConstraints(pattern=r"^https?://[^\s<>\"']{1,300}$")]
When = Annotated[AwareDatetime, AfterValidator(_utc)]


class Part(BaseModel):
    """Base of a row's parts: frozen, nothing unknown, nothing coerced, no NaN."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class TaskPart(Part):
    """The task. `order` is the digest of the sorted case ids, `cases_digest` that of all cases."""

    name: Name
    title: Words
    private: bool
    licence: Words
    cases: int = Field(ge=1)
    repeats: int = Field(ge=1)
    order: Digest
    cases_digest: Digest


class RolePart(Part):
    """An adapter: its plugin, and the language model it stands on as it was named and as it was served."""

    name: Words
    plugin: Words = ""
    distribution: Words = ""
    revision: Words
    model: Words | None = None
    served: tuple[Words, ...] = ()


class PolicyPart(RolePart):
    """The policy. `title`, `by` and `url` are what its publisher says of it; `sampling` is its own decoding."""

    label: Label
    title: Words
    by: Words = ""
    url: Address | None = None
    sampling: dict[Name, float | int | Words] = {}


class InstrumentPart(Part):
    """What measured. `name` and `standard` come from the fingerprints; `differs` names the parts that are not the standard's."""

    name: Name
    standard: bool
    differs: tuple[Name, ...] = ()
    condition: Label
    patient: RolePart
    reader: RolePart
    judge: RolePart


class FingerprintPart(Part):
    """What a metric's column depends on: `digest` is that of its parts, which stand in the row's `parts` by their digests."""

    digest: Digest
    parts: dict[Name, Digest]


class ScorePart(Part):
    """A metric: a value a repeat, their mean and sample SD, and the bootstrap interval over cases.

    `counts` names the metric whose statistics it is computed from; None, with the reason, where no case has any. A
    fraction is 0 to 1.
    """

    unit: Name
    higher_is_better: bool
    lowest: float | None
    highest: float | None
    counts: Name | None
    values: tuple[float | None, ...]
    mean: float | None
    sd: float | None
    low: float | None
    high: float | None
    se: float | None
    measured: Count
    expected: Count
    reason: Words | None = None


class Uncertainty(Part):
    """How intervals are made: cases drawn with replacement, all repeats and rows alike (docs/statistics.md)."""

    method: Literal["bootstrap over cases, percentile"] = "bootstrap over cases, percentile"
    draws: int = Field(ge=1)
    seed: Count
    level: float = Field(gt=0, lt=1)


class Conduct(Part):
    """How the consultations went, summed over cases and repeats."""

    outcomes: dict[Name, Count]
    ended: dict[Name, Count]
    breaches: Count
    early_assertion: Count
    patient_checks: dict[Name, Count]
    excluded_edges: Count
    fallbacks: dict[Name, Count]
    deterministic: bool | None


class CallsPart(Part):
    """What a role of the run spent on a model."""

    role: Words
    model: Words
    calls: Count
    unusable: Count
    prompt_tokens: Count
    completion_tokens: Count
    cost: float | None = Field(None, ge=0)


class Usage(Part):
    """What the language models of the whole run took, over all its histories; cost in the price table's currency."""

    histories: int = Field(ge=1)
    calls: tuple[CallsPart, ...]
    cost: float | None = Field(None, ge=0)
    cost_per_history: float | None = Field(None, ge=0)


class Provenance(Part):
    """Where the numbers come from. `evidence` is the SHA-256 of the run's records, which stay with the publisher."""

    histories: Literal["rolled out", "imported"]
    created: When
    program: Words
    plugins: dict[Words, Words]
    seed: int
    evidence: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


Statistics = dict[Name, tuple[tuple[int | float, ...], ...]]
"""Additive statistics by name: a list a repeat, a number a case in canonical order."""


class MeasuredRow(Part):
    """One row. `counts` (or, of a private task, `draws`) is what every score is recomputed from.

    `protocol` are the options of measurement; `parts` the values that the fingerprints name; `seal` the digest of all
    else in the row: it shows a slip or a careless edit and is no signature.
    """

    format: Literal[1]
    kind: Literal["measured"]
    task: TaskPart
    policy: PolicyPart
    instrument: InstrumentPart
    protocol: dict[str, Any]
    scores: dict[Name, ScorePart] = Field(min_length=1)
    uncertainty: Uncertainty
    conduct: Conduct
    usage: Usage | None
    provenance: Provenance
    fingerprints: dict[Name, FingerprintPart]
    parts: dict[Digest, Any]
    counts: dict[Name, Statistics] | None
    draws: dict[Name, tuple[float | None, ...]] | None
    seal: Digest

    def computed_seal(self) -> str:
        """Return the digest of everything in the row but the seal."""
        return digest(self.model_dump(mode="json", exclude={"seal"}))

    @property
    def partial(self) -> bool:
        """Tell whether a unit is missing."""
        units = self.task.cases * self.task.repeats
        return sum(self.conduct.outcomes.values()) != units or not set(self.conduct.outcomes) <= MEASURED


def sealed(row: MeasuredRow) -> MeasuredRow:
    """Return the row with its seal."""
    return row.model_copy(update={"seal": row.computed_seal()})


def metric_of(row: MeasuredRow, name: str, registry: Registry) -> Metric:
    """Build the metric a column was computed with.

    Raises:
        UsageError: it is not installed here, or is another revision.
    """
    fingerprint = row.fingerprints.get(name)
    known = None if fingerprint is None else row.parts.get(fingerprint.parts.get("metric", ""))
    if not isinstance(known, dict) or known.get("name") != name or not isinstance(known.get("options"), dict):
        raise UsageError(f"fingerprints.{name}: its part `metric` is missing or is another metric's")
    adapter = Adapter(registry, "metric", name, name, known["options"])
    if adapter.identity != known:
        raise UsageError(
            f"the metric {name} is revision {adapter.identity['revision']} here and {known.get('revision')} in the "
            f"row: its numbers cannot be recomputed"
        )
    metric: Metric = adapter.get()
    return metric


def series_of(row: MeasuredRow, registry: Registry | None = None) -> tuple[Series, ...]:
    """Return the row's metrics as series for `meddc_bench.analysis`, cases named by the order and their place in it.

    So rows on the same cases can be paired, and rows on others are refused by whatever pairs them. Metrics without
    statistics are left out.

    Raises:
        UsageError: the row is of a private task, which has draws and no counts; a metric is not installed here.
    """
    if row.counts is None:
        raise UsageError(f"the row of {row.policy.label} is of a private task: it holds draws, no statistics by case")
    registry = registry or Registry.load()
    cases = [f"{row.task.order[:8]}-{place:06d}" for place in range(row.task.cases)]
    out: list[Series] = []
    for name, score in row.scores.items():
        if score.counts is not None:
            metric = metric_of(row, name, registry)
            needs_reader = any(axis != "trajectory" for axis in metric.needs)
            over: Any = metric.over_repeats
            out.append(
                Series(
                    row.policy.label, name, cases, row.counts[score.counts], metric.aggregate,
                    reader=row.instrument.condition if needs_reader else None,
                    unit="proportion" if metric.unit == "fraction" else metric.unit, over_repeats=over,
                )
            )  # fmt: skip
    return tuple(out)
