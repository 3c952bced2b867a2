"""The plan of a campaign: its tasks, adapters and conditions, and the ids of every record it needs.

A record's id is the digest of all it depends on, so an unchanged record is found again and a changed input is another.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from meddc_bench import media
from meddc_bench.campaign import Campaign, Role
from meddc_bench.contracts import JUDGE_STEPS
from meddc_bench.errors import UsageError, suggest
from meddc_bench.fingerprint import derive_seed, digest
from meddc_bench.prompts import prompts_for
from meddc_bench.records import DIMENSIONS, Axis, Case
from meddc_bench.registry import KINDS, RESERVED, Registry
from meddc_bench.task import Instrument, Sampled, Task, task_document
from meddc_bench.wiring import Adapter

CORE_REVISION = "2"
"""Bumped when the core's own behaviour changes a record: rollout, view, checks."""

_CONDITIONS = RESERVED["reader"]


JUDGE_TEMPLATES = ("judge_system", *(f"judge_{step}" for step in JUDGE_STEPS if step != "grade_diagnoses"))
"""The prompts of the judge, but for the one that only a protocol with graded diagnoses uses."""
GRADED_TEMPLATES = (*JUDGE_TEMPLATES, "judge_grade_diagnoses")


@dataclass(frozen=True)
class Condition:
    """A condition of the read stage: `emitted`, `own`, or a reader."""

    label: str
    reader: Adapter | None = None

    @property
    def identity(self) -> Any:
        return self.reader.identity if self.reader is not None else {"name": self.label, "revision": CORE_REVISION}


@dataclass(frozen=True)
class Job:
    """One history to make and all that is made of it."""

    bench: TaskBench
    case: Case
    policy: Adapter
    patient: Adapter
    repeat: int

    @property
    def history_id(self) -> str:
        return self.bench.history_id(self.policy, self.patient, self.case, self.repeat)


Started = hashlib.blake2b
"""A chain whose first parts are digested: ids that differ in the last part alone go on from a copy."""


def _start(*parts: str) -> Started:
    return hashlib.blake2b("|".join((*parts, "")).encode(), digest_size=16)


def _after(start: Started, last: str) -> str:
    """Return what `chain` gives for all parts.

    >>> from meddc_bench.fingerprint import chain
    >>> _after(_start("a", "b"), "c") == chain("a", "b", "c")
    True
    """
    found = start.copy()
    found.update(last.encode())
    return found.hexdigest()


class TaskBench:
    """A task with the adapters and conditions it is measured with."""

    def __init__(
        self, task: Task, seed: int, environment: Adapter, policies: list[Adapter], patients: list[Adapter],
        conditions: list[Condition], judges: list[Adapter], repeats: int, asks: int, limit: int | None,
    ):  # fmt: skip
        self.task, self.seed, self.environment = task, seed, environment
        self.policies, self.patients, self.judges = policies, patients, judges
        self.conditions, self.repeats, self.asks = conditions, repeats, asks
        self.cases = task.cases[:limit] if limit else task.cases

    @functools.cached_property
    def axes(self) -> dict[str, tuple[Axis, ...]]:
        """For each case the axes beside the trajectory that have references."""
        return {
            case.id: ("diagnosis", *(one for one in DIMENSIONS if getattr(case.references, one))) for case in self.cases
        }

    def reading_axes(self, case: Case, condition: Condition) -> tuple[Axis, ...]:
        """Return the axes judged on a reading; the plan's dimensions are the policy's own, so only under `emitted`."""
        return self.axes[case.id] if condition.label == "emitted" else ("diagnosis",)

    def expects(self, policy: Adapter, case: Case, repeat: int) -> bool:
        """Tell whether this history belongs to the bench, made or not."""
        return True

    beside: tuple[str, ...] = ()
    """Metrics that the campaign asks for beside the task's own, for the screen."""
    missing_because = "not done yet"
    """Why a history that belongs to the bench is not there."""

    def history_id(self, policy: Adapter, patient: Adapter, case: Case, repeat: int) -> str:
        return _after(self._history_start(policy.label, patient.label, case.id), str(repeat))

    def reading_id(self, condition: Condition, history_id: str) -> str:
        return _after(self._reading_start(condition.label), history_id)

    def trajectory_id(self, judge: Adapter, ask: int, case: Case, history_id: str) -> str:
        return _after(self._evidence_start(judge.label, ask, "trajectory", case.id), history_id)

    def evidence_id(self, judge: Adapter, ask: int, axis: Axis, case: Case, reading_id: str) -> str:
        return _after(self._evidence_start(judge.label, ask, axis, case.id), reading_id)

    @functools.cache  # noqa: B019 - a bench lives as long as its run
    def _history_start(self, policy: str, patient: str, case_id: str) -> Started:
        return _start(self._history_prefix(policy, patient), self.rollout_digest(case_id))

    @functools.cache  # noqa: B019
    def _reading_start(self, label: str) -> Started:
        return _start(self._reading_prefix(label))

    @functools.cache  # noqa: B019
    def _evidence_start(self, judge: str, ask: int, axis: Axis, case_id: str) -> Started:
        return _start(self._judge_prefix(judge), self.axis_digest(axis, case_id), str(ask))

    def reader_seed(self, case: Case, repeat: int) -> int:
        """Draw the seed of a reading: the same for all policies and readers."""
        return derive_seed(self.seed, self.task.name, case.id, repeat, "reader")

    def judge_seed(self, case: Case, repeat: int, axis: Axis, ask: int) -> int:
        """Draw the seed of a judgement: the same for all policies, readers and judges."""
        named = () if axis == "trajectory" else (axis,)
        return derive_seed(self.seed, self.task.name, case.id, repeat, "judge", *named, ask)

    @functools.cached_property
    def cases_digest(self) -> str:
        """Digest of the cases this bench uses, whatever their order."""
        return digest([case.model_dump(mode="json") for case in self.cases])

    @functools.cached_property
    def _by_id(self) -> dict[str, Case]:
        return {case.id: case for case in self.cases}

    @functools.cache  # noqa: B019
    def templates(self, *names: str) -> str:
        config = self.task.config
        return prompts_for(config.templates, config.language, self.task.path.parent).digest(*names)

    def judge_prompts(self) -> tuple[str, ...]:
        """Return the digest of the judge's prompts; where diagnoses are graded, the name of that step comes after it."""
        if self.task.config.protocol.diagnosis_step == "cover_items":
            return (self.templates(*JUDGE_TEMPLATES),)
        return self.templates(*GRADED_TEMPLATES), self.task.config.protocol.diagnosis_step

    def sampling(self, *steps: Sampled) -> dict[str, Any]:
        """Return the decoding of some roles or judge steps, as a part of ids and fingerprints."""
        given = self.task.config.protocol.decoding
        return {step: given[step].model_dump() for step in steps if step in given}

    @functools.cache  # noqa: B019 - a bench lives as long as its run
    def _history_prefix(self, policy: str, patient: str) -> str:
        one = next(adapter for adapter in self.policies if adapter.label == policy)
        other = next(adapter for adapter in self.patients if adapter.label == patient)
        return digest(
            ["history", CORE_REVISION, self.seed, self.task.name, self.task.config.language, policy, one.identity,
             patient, other.identity, self.environment.identity, self.task.config.protocol.name,
             self.templates("doctor_system", "doctor_message", "patient_system", "patient_message"),
             self.sampling("patient")]
        )  # fmt: skip

    @functools.cache  # noqa: B019
    def rollout_digest(self, case_id: str) -> str:
        case = self._by_id[case_id]
        facts = [fact.model_dump(mode="json") for fact in case.facts]
        workup = [] if case.workup is None else [case.workup.model_dump(mode="json")]
        return digest([case.id, case.context, facts, case.turn_budget, self.task.mode(case), case.language, *workup])

    @functools.cache  # noqa: B019
    def _reading_prefix(self, label: str) -> str:
        condition = next(one for one in self.conditions if one.label == label)
        protocol = self.task.config.protocol
        if label == "emitted":
            return digest(["reading", CORE_REVISION, label])
        return digest(
            ["reading", CORE_REVISION, self.seed, label, condition.identity, protocol.view, protocol.top_k,
             self.templates("reader_system", "reader_message"), self.sampling("reader")]
        )  # fmt: skip

    @functools.cache  # noqa: B019
    def _judge_prefix(self, label: str) -> str:
        judge = next(one for one in self.judges if one.label == label)
        protocol = self.task.config.protocol
        return digest(
            ["evidence", CORE_REVISION, self.seed, label, judge.identity, protocol.volunteered,
             protocol.empty_on_failure, protocol.top_k,
             *self.judge_prompts(), self.sampling(*JUDGE_STEPS)]
        )  # fmt: skip

    @functools.cache  # noqa: B019
    def axis_digest(self, axis: Axis, case_id: str) -> str:
        case = self._by_id[case_id]
        if axis == "trajectory":
            texts = {fact.id: fact.text for fact in case.facts}
            return digest(
                [
                    axis,
                    [
                        [one.id, one.question, one.inquiry_type, [texts[f] for f in one.facts]]
                        for one in case.scored_targets
                    ],
                ]
            )
        if axis == "diagnosis":
            return digest([axis, [one.model_dump(mode="json") for one in case.diagnoses]])
        return digest([axis, list(getattr(case.references, axis))])

    def jobs(self) -> Iterator[Job]:
        """Iterate over the histories, repeat by repeat, so that an interrupted run has whole repeats first."""
        for repeat in range(self.repeats):
            for policy in self.policies:
                for patient in self.patients:
                    for case in self.cases:
                        yield Job(self, case, policy, patient, repeat)


def build_benches(
    campaign: Campaign, registry: Registry, tasks: list[Task], *, imported: bool = False
) -> list[TaskBench]:
    """Turn a campaign into benches, every name and option checked; imported histories need no policy.

    Raises:
        UsageError: no task or policy, an unknown name, option or instrument.
    """
    if not campaign.tasks:
        raise UsageError("no task: give --tasks, e.g. --tasks meddc (see `meddc-bench ls tasks`)")
    if not campaign.policies and not imported:
        raise UsageError("no policy: give --policy, e.g. --policy checklist (see `meddc-bench ls policies`)")
    pictures = _Pictures()
    policies = [_adapter(registry, "policy", role, pictures) for role in campaign.policies]
    pictures.benches = [_bench(campaign, registry, task, policies) for task in tasks]
    environment = campaign.environment
    if environment is not None and all(environment.name != one.environment.name for one in pictures.benches):
        used = ", ".join(sorted({one.environment.name for one in pictures.benches}))
        raise UsageError(
            f"campaign, `environment`: no task of it has the environment {environment.name!r}, only {used}"
        )
    return pictures.benches


def with_choices(task: Task, campaign: Campaign) -> Task:
    """Apply the campaign's protocol choices to a task, and add its metrics."""
    chosen = {key: value for key, value in campaign.protocol.model_dump().items() if value is not None}
    if not chosen and not campaign.metrics:
        return task
    protocol = task.config.protocol.model_copy(update=chosen)
    metrics = type(task.config.metrics)(dict.fromkeys((*task.config.metrics, *campaign.metrics)))
    config = task.config.model_copy(update={"protocol": protocol, "metrics": metrics})
    return Task(config, task.cases, task.path, task.sources, task.media)


def _bench(campaign: Campaign, registry: Registry, task: Task, policies: list[Adapter]) -> TaskBench:
    beside = tuple(name for name in dict.fromkeys(campaign.metrics) if name not in task.config.metrics)
    task = with_choices(task, campaign)
    for name in task.config.metrics:
        registry.get("metric", name)
    standard = _instrument(campaign, task)
    patients = _roles(campaign.patients, standard and standard.patient, "patient", task)
    judges = _roles(campaign.judges, standard and standard.judge, "judge", task)
    readers = list(campaign.readers) or [_as_role(one) for one in (standard.readers if standard else ())]
    conditions = [Condition("emitted")]
    for role in readers:
        if role.name == "own":
            conditions.append(Condition("own"))
        elif role.name not in _CONDITIONS:
            conditions.append(Condition(role.label, _adapter(registry, "reader", role)))
    measuring = [_adapter(registry, "judge", role) for role in judges]
    _check_judges(measuring, task)
    asked = [_adapter(registry, "patient", role) for role in patients]
    _check_languages(registry, task, [*policies, *asked, *(one.reader for one in conditions if one.reader), *measuring])
    bench = TaskBench(
        task, campaign.seed, _environment(campaign, registry, task), policies,
        asked, conditions,
        measuring, campaign.repeats or task.config.repeats, campaign.asks, campaign.limit,
    )  # fmt: skip
    bench.beside = beside
    return bench


def _environment(campaign: Campaign, registry: Registry, task: Task) -> Adapter:
    """Configure the task's environment: by the task's options, over which the campaign's go."""
    spec, chosen = task.config.environment, campaign.environment
    options = {"max_turn_chars": task.config.protocol.max_turn_chars, **spec.options}
    try:
        found = Adapter(registry, "environment", spec.name, "environment", options)
    except UsageError as error:
        raise task_document(task.path).error(str(error), "environment") from None
    if chosen is None or chosen.name != spec.name or not chosen.options:
        return found
    try:
        return Adapter(registry, "environment", spec.name, "environment", {**options, **chosen.options})
    except UsageError as error:
        raise UsageError(f"campaign, `environment`: {error}") from None


class _Pictures:
    """Finds the bytes of a picture by its digest: one of the tasks' cases, or one that their environments bring."""

    def __init__(self) -> None:
        self.benches: list[TaskBench] = []

    def __call__(self, sha256: str) -> bytes:
        for bench in self.benches:
            if sha256 in bench.task.media:
                return media.read(bench.task.media[sha256], sha256)
            brings = getattr(bench.environment.get(), "media", None)
            found: bytes | None = brings(sha256) if brings is not None else None
            if found is not None:
                return found
        raise UsageError(f"no task of this run has a picture with the sha256 {sha256}")


def _check_judges(judges: list[Adapter], task: Task) -> None:
    """Refuse a judge that says what it provides and does not provide the task's step for diagnoses."""
    step = task.config.protocol.diagnosis_step
    for judge in judges:
        provides = judge.registration.provides
        if provides and step not in provides:
            raise UsageError(
                f"task {task.name} has its diagnoses judged by {step}, which the judge {judge.name!r} does not provide "
                f"(it provides {', '.join(provides)}); name another one, --judge"
            )


def _check_languages(registry: Registry, task: Task, adapters: list[Adapter]) -> None:
    """Refuse an adapter that declares its languages and not the task's."""
    language = task.config.language
    for one in adapters:
        if not one.registration.speaks(language):
            others = [entry.name for entry in registry.entries(one.kind) if language in entry.languages]
            use = f"use --{one.kind} {' or '.join(others)}, or one" if others else f"name a --{one.kind}"
            raise UsageError(
                f"task {task.name} is in {language!r}, and {one.kind} {one.name!r} speaks only "
                f"{', '.join(one.registration.languages)}; {use} that takes any language (`meddc-bench ls {KINDS[one.kind]}`)"
            )


def _instrument(campaign: Campaign, task: Task) -> Instrument | None:
    found = task.config.instruments.get(campaign.instrument)
    if found is None and task.config.instruments and not (campaign.patients and campaign.judges and campaign.readers):
        hint = suggest(campaign.instrument, task.config.instruments)
        raise UsageError(f"task {task.name} has no instrument {campaign.instrument!r}; {hint}")
    return found


def _roles(given: tuple[Role, ...], standard: Any, kind: str, task: Task) -> list[Role]:
    if given:
        return list(given)
    if standard is None:
        raise UsageError(f"task {task.name} ships no standard {kind}; give --{kind} (no role is filled by the policy)")
    return [_as_role(standard)]


def _as_role(spec: Any) -> Role:
    return Role(name=spec.name, label=spec.name.lower(), options=spec.options)


def _adapter(registry: Registry, kind: str, role: Role, pictures: Callable[[str], bytes] | None = None) -> Adapter:
    return Adapter(registry, kind, role.name, role.label, role.options, media=pictures)
