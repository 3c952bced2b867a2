"""What a row says, part by part, from a run's columns, its recomputed results and its manifest."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from meddc_bench.contracts import Metric
from meddc_bench.fingerprint import digest
from meddc_bench.plan import TaskBench
from meddc_bench.publish.evidence import Checked
from meddc_bench.publish.instruments import known_lock, recognise, shared_parts
from meddc_bench.publish.numbers import Numbers, numbers
from meddc_bench.publish.row import (
    DRAWS,
    LEVEL,
    PRIVATE_DRAWS,
    SEED,
    CallsPart,
    Conduct,
    FingerprintPart,
    InstrumentPart,
    MeasuredRow,
    PolicyPart,
    Provenance,
    RolePart,
    ScorePart,
    Statistics,
    TaskPart,
    Uncertainty,
    Usage,
    sealed,
)
from meddc_bench.scorer import Row
from meddc_bench.stored import StoredColumn, StoredRun
from meddc_bench.text import clean

_SAMPLING = ("temperature", "top_p", "max_tokens", "action")
_HIDDEN = ("cases", "references")
"""Parts of a fingerprint that a private task keeps to itself: one digest stands for the list of its cases."""


@dataclass(frozen=True, slots=True)
class Said:
    """What the publisher says of a policy: a name, who publishes, and where it is described."""

    title: str = ""
    by: str = ""
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """What a row is made from: `shown` is its line of the recomputed results."""

    run: StoredRun
    bench: TaskBench
    row: Row
    shown: Mapping[str, Any]
    evidence: str
    now: datetime.datetime
    metrics: Mapping[str, Metric]


def make_row(source: Source, columns: Sequence[StoredColumn], checked: Checked, said: Said) -> MeasuredRow:
    """Write a row of columns that were measured throughout."""
    private = source.bench.task.config.private
    uncertainty = Uncertainty(draws=PRIVATE_DRAWS if private else DRAWS, seed=SEED, level=LEVEL)
    there = [one for one in columns if one.series is not None]
    found = numbers([one.series for one in there if one.series is not None], draws=uncertainty.draws)
    known = {column.metric: number for column, number in zip(there, found, strict=True)}
    counts, shared = _counts(there, source.metrics)
    fingerprints, parts = _fingerprints(columns, private=private)
    return sealed(
        MeasuredRow(
            format=1, kind="measured", task=_task(source), policy=_policy(source, said, checked),
            instrument=_instrument(source, columns, checked),
            protocol=source.bench.task.config.protocol.model_dump(mode="json"),
            scores={one.metric: _score(source, one, shared.get(one.metric), known.get(one.metric)) for one in columns},
            uncertainty=uncertainty, conduct=_conduct(source), usage=_usage(source), provenance=_provenance(source),
            fingerprints=fingerprints, parts=parts, counts=None if private else counts,
            draws={name: _draws(known[name]) for name in known} if private else None, seal="0" * 32,
        )
    )  # fmt: skip


def _counts(
    columns: Sequence[StoredColumn], metrics: Mapping[str, Metric]
) -> tuple[dict[str, Statistics], dict[str, str]]:
    """Lay the statistics out, once where metrics say that they share them; and return whose each metric uses."""
    first: dict[object, str] = {}
    out: dict[str, Statistics] = {}
    shared: dict[str, str] = {}
    for one in columns:
        if one.series is None:
            continue
        found: Statistics = {
            name: tuple(tuple(_whole(value) for value in run) for run in array.tolist())
            for name, array in one.series.arrays.items()
        }
        known = first.setdefault(getattr(metrics[one.metric], "shares", one.metric), one.metric)
        shared[one.metric] = known if out.setdefault(known, found) == found else one.metric
        out.setdefault(shared[one.metric], found)
    return out, shared


def _whole(value: float) -> int | float:
    return int(value) if value.is_integer() else value


def _draws(found: Numbers) -> tuple[float | None, ...]:
    return tuple(None if value != value else value for value in found.draws.tolist())


def _score(source: Source, column: StoredColumn, shared: str | None, found: Numbers | None) -> ScorePart:
    low, high = (None if abs(limit) == float("inf") else limit for limit in source.metrics[column.metric].range)
    reason = column.reason if found is None else found.interval.reason
    return ScorePart(
        unit=column.unit, higher_is_better=column.higher_is_better, lowest=low, highest=high, counts=shared,
        values=found.values if found else (), mean=found.mean if found else None, sd=found.sd if found else None,
        low=found.interval.low if found else None, high=found.interval.high if found else None,
        se=found.interval.se if found else None, measured=column.measured, expected=column.expected,
        reason=None if reason is None else clean(reason)[:200],
    )  # fmt: skip


def _fingerprints(
    columns: Sequence[StoredColumn], *, private: bool
) -> tuple[dict[str, FingerprintPart], dict[str, Any]]:
    values: dict[str, Any] = {}
    out: dict[str, FingerprintPart] = {}
    for one in columns:
        names: dict[str, str] = {}
        for name, value in one.fingerprint["parts"].items():
            names[name] = digest(value)
            if not (private and name in _HIDDEN):
                values[names[name]] = value
        out[one.metric] = FingerprintPart(digest=one.fingerprint["digest"], parts=names)
    return out, dict(sorted(values.items()))


def _task(source: Source) -> TaskPart:
    bench, config = source.bench, source.bench.task.config
    return TaskPart(
        name=config.task, title=clean(config.title)[:200], private=config.private, licence=clean(config.licence)[:200],
        cases=len(bench.cases), repeats=_repeats(source), order=digest(sorted(case.id for case in bench.cases)),
        cases_digest=bench.cases_digest,
    )  # fmt: skip


def _repeats(source: Source) -> int:
    bench, policy = source.bench, source.row.policy
    return sum(bench.expects(policy, bench.cases[0], repeat) for repeat in range(bench.repeats))


def _role(identity: Mapping[str, Any], served: Sequence[str]) -> dict[str, Any]:
    model = identity.get("options", {}).get("model")
    return {
        "name": identity["name"], "plugin": identity.get("plugin", ""),
        "distribution": identity.get("distribution", ""), "revision": str(identity["revision"]),
        "model": model if isinstance(model, str) else None, "served": tuple(served),
    }  # fmt: skip


def _served(source: Source, identity: Mapping[str, Any], records: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the model that says it answered: from the records, else from the calls of the run."""
    calls = (source.run.manifest.get("calls") or {}).get("served_models", {})
    return tuple(sorted(records or calls.get(str(identity.get("options", {}).get("model")), ())))


def _policy(source: Source, said: Said, checked: Checked) -> PolicyPart:
    policy = source.row.policy
    options = policy.identity.get("options", {})
    sampling = {name: options[name] for name in _SAMPLING if isinstance(options.get(name), int | float | str)}
    return PolicyPart(
        **_role(policy.identity, _served(source, policy.identity, sorted(checked.served.get("policy", ())))), label=policy.label,
        title=said.title or policy.label, by=said.by, url=said.url, sampling=sampling,
    )  # fmt: skip


def _instrument(source: Source, columns: Sequence[StoredColumn], checked: Checked) -> InstrumentPart:
    row, task = source.row, source.bench.task
    lock = known_lock(task.name, source.run.registry, task.path.parent)
    metrics = {one.metric: one.fingerprint["digest"] for one in columns}
    protocol = task.config.protocol.model_dump(mode="json")
    found = recognise(lock, metrics, shared_parts(protocol, (one.fingerprint["parts"] for one in columns)))
    roles = {
        kind: RolePart(**_role(identity, _served(source, identity, sorted(checked.served.get(kind, ())))))
        for kind, identity in (
            ("patient", row.patient.identity), ("reader", row.condition.identity), ("judge", row.judge.identity),
        )
    }  # fmt: skip
    return InstrumentPart(
        name=found.name, standard=found.standard, differs=found.differs, condition=row.condition.label, **roles
    )


def _conduct(source: Source) -> Conduct:
    shown = source.shown
    fallbacks: dict[str, int] = {}
    for words, count in shown["fallbacks"].items():
        fallbacks[words.split(":")[0]] = fallbacks.get(words.split(":")[0], 0) + count
    return Conduct(
        outcomes=shown["outcomes"], ended=shown["ended"], breaches=shown["breaches"],
        early_assertion=shown["early_assertion"], patient_checks=shown["patient_checks"],
        excluded_edges=sum(shown["excluded_edges"].values()), fallbacks=fallbacks, deterministic=shown["deterministic"],
    )  # fmt: skip


def _usage(source: Source) -> Usage | None:
    calls = source.run.manifest.get("calls") or {}
    if not calls.get("usage"):
        return None
    histories = sum(len(list(bench.jobs())) for bench in source.run.benches)
    cost = calls.get("cost")
    return Usage(
        histories=histories, calls=tuple(CallsPart(**row) for row in calls["usage"]), cost=cost,
        cost_per_history=None if cost is None else cost / histories,
    )  # fmt: skip


def _provenance(source: Source) -> Provenance:
    manifest = source.run.manifest
    return Provenance(
        histories="imported" if manifest.get("imported") else "rolled out", created=source.now,
        program=version("meddc-bench"), plugins=dict(sorted(manifest.get("plugins", {}).items())),
        seed=source.bench.seed, evidence=source.evidence,
    )  # fmt: skip
