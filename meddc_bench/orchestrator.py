"""The one place that knows the order of the stages: rollout, read, judge; then match and score over what is stored.

Work is pulled by at most `max_connections` workers, so only what may run exists. Every record is in the store before
the next stage begins; a record that is there and final is never made again.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec
from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, wait_exponential

from meddc_bench.adapters import Caller, StageFailure, raised_at
from meddc_bench.errors import CostLimitError, PluginError, StoreError, UsageError
from meddc_bench.llm.session import Session, running
from meddc_bench.pipeline.judge import judge_reading, judge_trajectory
from meddc_bench.pipeline.read import read_emitted, read_own, read_with
from meddc_bench.pipeline.rollout import Rollout, doctor_hash, history_hash, roll_out
from meddc_bench.plan import Condition, Job, TaskBench
from meddc_bench.records import Action, Axis, History, Key, Reading, Record, TraceStep, Turn
from meddc_bench.store import Entry, Head, Keys, Storable, Store, printable, storable
from meddc_bench.text import one_line
from meddc_bench.wiring import Adapter

CLOSING = 10.0
"""Seconds an adapter may take to close."""

FINAL = frozenset({"scored", "policy_failed", "excluded"})
"""Outcomes that are not tried again."""


@dataclass
class Progress:
    """What a run has done so far, for the screen and the manifest."""

    expected: int = 0
    done: int = 0
    made: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    reasons: dict[str, str] = field(default_factory=dict)
    interrupted: bool = False
    stopped: str | None = None
    retries: int = 0
    cost: float | None = None
    closing: list[str] = field(default_factory=list)
    """What went wrong when adapters were closed; no record depends on it."""


class TooManyFailures(Exception):
    """More records failed than --fail-on-error allows."""


class Orchestrator:
    """Makes the missing records of some benches."""

    def __init__(
        self, store: Store, *, width: int = 16, retries: int = 2, timeout: float | None = None,
        predict_only: bool = False, fail_after: int | None = None,
        on_progress: Callable[[Progress], None] | None = None, session: Session | None = None,
    ):  # fmt: skip
        self._store, self._keys = store, Keys()
        self._disk, self._synced = asyncio.Lock(), 0
        self._width, self._retries = width, retries
        self._session = session or Session(max_connections=width)
        self._caller = Caller(width, timeout)
        self._predict_only, self._fail_after = predict_only, fail_after
        self._on_progress = on_progress or (lambda _: None)
        self.progress = Progress()

    def run(self, benches: Iterable[TaskBench], wanted: Callable[[Job], bool] | None = None) -> Progress:
        """Make all missing records; SIGINT and SIGTERM stop it cleanly, a second one at once.

        Args:
            wanted: which jobs to do (default: all).

        Raises:
            UsageError, PluginError: an adapter that is needed cannot be built; nothing was made.
            StoreError: a record could not be stored.
        """
        benches = list(benches)
        self.progress.expected = sum(
            len(bench.cases) * bench.repeats * len(bench.policies) * len(bench.patients) for bench in benches
        )

        def jobs() -> Iterator[Job]:
            return (job for bench in benches for job in bench.jobs() if wanted is None or wanted(job))

        self._build_needed(jobs())
        try:
            asyncio.run(self._run(jobs(), benches))
        except asyncio.CancelledError:
            self.progress.interrupted = True
        except (TooManyFailures, CostLimitError) as error:
            self.progress.stopped = str(error)
        return self.progress

    def _build_needed(self, jobs: Iterator[Job]) -> None:
        """Build the adapters that a missing history needs: a key not set stops the run before anything is spent."""
        seen: set[tuple[int, int, int]] = set()
        for job in jobs:
            pair = (id(job.bench), id(job.policy), id(job.patient))
            if pair in seen or not self._missing(job.history_id):
                continue
            seen.add(pair)
            measuring = () if self._predict_only else (*job.bench.judges, *_readers(job.bench))
            for adapter in (job.policy, job.patient, job.bench.environment, *measuring):
                try:
                    adapter.get()
                except (UsageError, PluginError):
                    raise
                except (Exception, SystemExit):  # a plugin's defect: recorded with the first record that needs it
                    continue

    async def _run(self, work: Iterator[Job], benches: list[TaskBench]) -> None:
        main = asyncio.current_task()
        assert main is not None
        with _Signals(main), running(self._session), _settled():
            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(self._width):
                        group.create_task(self._worker(work))
            except BaseExceptionGroup as errors:
                raise _first(errors) from None
            finally:
                await self._close(benches)
                await self._session.aclose()

    async def _close(self, benches: list[TaskBench]) -> None:
        for adapter in _adapters(benches):
            try:
                async with asyncio.timeout(CLOSING):
                    await adapter.aclose()
            except (Exception, SystemExit, asyncio.CancelledError) as error:
                if isinstance(error, asyncio.CancelledError) and _cancelled():
                    raise
                # a plugin's defect: all that was to be recorded is
                words = printable(_described(error), self._keys)
                self.progress.closing.append(f"{adapter.kind} {adapter.label}: {words}")

    async def _worker(self, work: Iterator[Job]) -> None:
        made = self.progress.made
        for job in work:
            before = made.total()
            await self._do(job)
            self.progress.done += 1
            self.progress.retries, self.progress.cost = self._session.retries, self._session.cost
            self._on_progress(self.progress)
            if made.total() != before:
                await asyncio.sleep(0)

    async def _do(self, job: Job) -> None:
        history_id = job.history_id
        history = await self._history(job, history_id) if self._missing(history_id) else None
        if not self._predict_only and self._store.outcome(history_id) == "scored":
            await self.after_history(job, history_id, history)

    async def after_history(self, job: Job, history_id: str, history: History | None) -> None:
        """Make the readings and the evidence of a history that is in the store."""
        bench, case = job.bench, job.case
        loaded = _Lazy(self._store, history_id, history)
        await _side_by_side(
            *[
                self._trajectory(job, judge, ask, history_id, loaded)
                for judge in bench.judges for ask in range(bench.asks)
                if case.scored_targets and self._missing(bench.trajectory_id(judge, ask, case, history_id))
            ],
            *[
                self._after_reading(job, condition, history_id, loaded)
                for condition in bench.conditions if self._unread(job, condition, history_id)
            ],
        )  # fmt: skip

    def _unread(self, job: Job, condition: Condition, history_id: str) -> bool:
        """Tell whether a reading, or anything judged of it, is still to be made."""
        bench = job.bench
        reading_id = bench.reading_id(condition, history_id)
        if self._missing(reading_id):
            return True
        return self._store.outcome(reading_id) == "scored" and any(
            self._missing(bench.evidence_id(judge, ask, axis, job.case, reading_id))
            for judge in bench.judges for ask in range(bench.asks) for axis in bench.reading_axes(job.case, condition)
        )  # fmt: skip

    async def _after_reading(self, job: Job, condition: Condition, history_id: str, loaded: _Lazy) -> None:
        bench, case = job.bench, job.case
        reading_id = bench.reading_id(condition, history_id)
        reading = await self._reading(job, condition, reading_id, history_id, loaded)
        if self._store.outcome(reading_id) != "scored":
            return
        await _side_by_side(
            *[
                self._evidence(job, condition, judge, ask, axis, reading_id, reading)
                for judge in bench.judges for ask in range(bench.asks) for axis in bench.reading_axes(case, condition)
                if self._missing(bench.evidence_id(judge, ask, axis, case, reading_id))
            ]
        )  # fmt: skip

    def _missing(self, record_id: str) -> bool:
        return self._store.outcome(record_id) not in FINAL

    async def _history(self, job: Job, history_id: str) -> History | None:
        bench = job.bench
        key = _key(job)
        rollouts: list[Rollout] = []

        async def make() -> History:
            rollout = Rollout(
                bench.task, job.case, bench.environment.get(), job.patient.get(),
                run_seed=bench.seed, repeat=job.repeat, caller=self._caller, images=job.policy.takes_images,
            )  # fmt: skip
            rollouts.append(rollout)
            return await roll_out(job.policy.get(), rollout, self._caller)

        def partial() -> History | None:
            return rollouts[-1].history if rollouts else None

        made: History | None = await self._make("history", history_id, key, make, head_of, partial)
        return made

    async def _reading(
        self, job: Job, condition: Condition, reading_id: str, history_id: str, loaded: _Lazy
    ) -> Reading | None:
        if not self._missing(reading_id):
            return None
        bench = job.bench
        key = _key(job, condition=condition.label)
        seed = bench.reader_seed(job.case, job.repeat)

        async def make() -> Reading:
            history = loaded.history()
            hash_ = loaded.hash()
            if condition.label == "emitted":
                return read_emitted(history, hash_)
            if condition.reader is None:
                return await read_own(job.policy.get(), bench.task, history, hash_, seed=seed, caller=self._caller)
            return await read_with(condition.reader.get(), bench.task, history, hash_, seed=seed, caller=self._caller)

        made: Reading | None = await self._make("reading", reading_id, key, make, _head_of_reading)
        return made

    async def _trajectory(self, job: Job, judge: Adapter, ask: int, history_id: str, loaded: _Lazy) -> None:
        bench, case = job.bench, job.case
        record_id = bench.trajectory_id(judge, ask, case, history_id)
        key = _key(job, judge=judge.label, ask=ask, axis="trajectory")
        seed = bench.judge_seed(case, job.repeat, "trajectory", ask)

        async def make() -> Record:
            return await judge_trajectory(
                judge.get(), bench.task, case, loaded.history(), seed=seed, caller=self._caller
            )

        await self._make("evidence", record_id, key, make)

    async def _evidence(
        self, job: Job, condition: Condition, judge: Adapter, ask: int, axis: Axis, reading_id: str,
        reading: Reading | None,
    ) -> None:  # fmt: skip
        bench, case = job.bench, job.case
        record_id = bench.evidence_id(judge, ask, axis, case, reading_id)
        key = _key(job, condition=condition.label, judge=judge.label, ask=ask, axis=axis)
        seed = bench.judge_seed(case, job.repeat, axis, ask)

        async def make() -> Record:
            read = reading or self._store.record(reading_id, Reading)
            if read is None:
                raise StoreError(f"reading {reading_id} is not in the store")
            return await judge_reading(judge.get(), bench.task, case, read, axis, seed=seed, caller=self._caller)

        await self._make("evidence", record_id, key, make)

    async def _make(
        self, stage: Any, record_id: str, key: Key, make: Callable[[], Any],
        head: Callable[[Any], Head] | None = None, partial: Callable[[], Record | None] | None = None,
    ) -> Any:  # fmt: skip
        """Make one record, with retries for the infrastructure's failures, and store it with its outcome."""
        outcome: Any = "scored"
        reason: str | None = None
        found: Storable | None = None
        tries = Counter[str]()
        try:
            found = await self._tried(make, tries)
        except StageFailure as failed:
            outcome, reason = failed.outcome, printable(failed.reason, self._keys)
            found = _storable_part(partial, self._keys)
        record: Any = found.record if found is not None else None
        entry = Entry(
            stage=stage, id=record_id, outcome=outcome, key=key, reason=reason, attempts=1 + tries["again"],
            head=head(record) if head is not None and record is not None else None,
        )  # fmt: skip
        self._store.append(entry, found)
        if outcome == "scored" and _costs(key):
            await self._on_disk()
        self._count(stage, outcome, reason)
        return record if outcome == "scored" else None

    async def _tried(self, make: Callable[[], Any], tries: Counter[str]) -> Storable:
        """Make a record; a failure that may pass is tried again, each time counted."""
        try:
            return await _attributed(make, self._keys)
        except StageFailure as error:
            failed: StageFailure | None = error
        async for attempt in AsyncRetrying(
            stop=stop_after_attempt(1 + self._retries), wait=wait_exponential(multiplier=0.05, max=2),
            retry=retry_if_exception(_may_pass), reraise=True,
        ):  # fmt: skip
            with attempt:
                if failed is not None:
                    first, failed = failed, None
                    raise first
                tries["again"] += 1
                return await _attributed(make, self._keys)
        raise AssertionError("tenacity gave neither a result nor an error")

    async def _on_disk(self) -> None:
        """Wait until the disk holds what is stored by now; the others work on, and one wait serves all who wait."""
        stored = self._store.size
        async with self._disk:
            if self._synced < stored:
                now = self._store.size
                await asyncio.to_thread(self._store.sync)
                self._synced = now

    def _count(self, stage: str, outcome: str, reason: str | None) -> None:
        progress = self.progress
        progress.made[stage] += 1
        if outcome != "scored":
            progress.failed[outcome] += 1
            progress.reasons.setdefault(outcome, reason or "")
        bad = sum(count for name, count in progress.failed.items() if name not in FINAL)
        if self._fail_after is not None and bad > self._fail_after:
            limit = f"more than --fail-on-error {self._fail_after} allows"
            raise TooManyFailures(f"{bad} records failed, {limit}; last: {reason}")


async def _side_by_side(*works: Coroutine[Any, Any, None]) -> None:
    """Do independent works at once: what they wait for, a language model, is asked side by side."""
    if len(works) == 1:
        await works[0]
    elif works:
        async with asyncio.TaskGroup() as group:
            for work in works:
                group.create_task(work)


class _Lazy:
    """A history that is read from the store only when a later stage needs it."""

    def __init__(self, store: Store, record_id: str, history: History | None):
        self._store, self._id, self._history, self._hash = store, record_id, history, ""

    def history(self) -> History:
        if self._history is None:
            self._history = self._store.record(self._id, History)
            if self._history is None:
                raise StoreError(f"history {self._id} has no turns in the store")
        return self._history

    def hash(self) -> str:
        if not self._hash:
            self._hash = history_hash(self.history())
        return self._hash


def head_of(history: History) -> Head:
    """Collect what scoring needs of a history."""
    trace = tuple(_trace_step(turn) for turn in history.turns if turn.role == "doctor")
    checks = Counter(check for note in history.notes.values() for check in note.checks)
    marks = [note.marks for turn in history.turns if (note := history.notes.get(str(turn.index))) and note.marks]
    return Head(
        ended=history.ended, rounds=history.rounds, first_summary=history.first_summary, hash=history_hash(history),
        doctor_hash=doctor_hash(history), trace=trace, breaches=len(history.breaches), checks=dict(checks),
        marks=tuple(marks),
    )  # fmt: skip


def _trace_step(turn: Turn) -> TraceStep:
    action = turn.action or Action(name="ask")
    return TraceStep(round=turn.round, name=action.name, form=action.form, violations=len(action.violations))


def _costs(key: Key) -> bool:
    """Tell a history and a reader's reading, on which later records build, from what can be made again as it was."""
    return key.axis is None and key.condition != "emitted"


def _may_pass(error: BaseException) -> bool:
    return isinstance(error, StageFailure) and error.may_pass


def _head_of_reading(reading: Reading) -> Head:
    return Head(cut_at=reading.cut_at)


async def _attributed(make: Callable[[], Any], keys: Keys) -> Storable:
    """Make a record fit for the store; whatever a plugin raises instead is that record's outcome and no one else's.

    Only the run's own cancellation and a full disk go through: not a plugin's `sys.exit()`, nor a cancellation of its
    own that leaks. What a plugin made of the run's cancellation is dropped.
    """
    try:
        made = storable(await make(), keys)
    except (StoreError, UsageError, CostLimitError, GeneratorExit):
        raise
    except BaseException as error:
        if _cancelled():
            raise asyncio.CancelledError from error
        if isinstance(error, StageFailure):
            raise
        raise StageFailure("infra_failed", _described(error), may_pass=True) from error
    if _cancelled():
        raise asyncio.CancelledError
    return made


def _cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _storable_part(partial: Callable[[], Record | None] | None, keys: Keys) -> Storable | None:
    """Keep what there is of a record that failed, where it can be kept."""
    record = partial() if partial is not None else None
    try:
        return storable(record, keys) if record is not None else None
    except (msgspec.ValidationError, TypeError):
        return None


def _described(error: BaseException) -> str:
    return f"{type(error).__name__}: {one_line(str(error))}{raised_at(error)}"


def _key(job: Job, **parts: Any) -> Key:
    return Key(
        task=job.bench.task.name, case=job.case.id, policy=job.policy.label, patient=job.patient.label,
        repeat=job.repeat, **parts,
    )  # fmt: skip


def _readers(bench: TaskBench) -> list[Adapter]:
    return [condition.reader for condition in bench.conditions if condition.reader is not None]


def _adapters(benches: Iterable[TaskBench]) -> list[Adapter]:
    found: dict[int, Adapter] = {}
    for bench in benches:
        for adapter in (bench.environment, *bench.policies, *bench.patients, *bench.judges, *_readers(bench)):
            found[id(adapter)] = adapter
    return list(found.values())


@contextlib.contextmanager
def _settled() -> Iterator[None]:
    """Keep the garbage collector from walking, again and again, what was loaded before the run and stays until its end."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


class _Signals:
    """The first SIGINT or SIGTERM cancels the run, a second one leaves at once, even from an adapter that blocks."""

    def __init__(self, main: asyncio.Task[Any]):
        self._main, self._stopping = main, False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> None:
        self._loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            try:
                self._before[number] = signal.signal(number, self._stop)
            except ValueError:  # not the main thread: the host program takes the signals
                return

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _stop(self, number: int, frame: object) -> None:
        if self._stopping:
            os._exit(130)
        self._stopping = True
        self._loop.call_soon_threadsafe(self._main.cancel)


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return what really stopped the workers: a store error, else a limit that was passed, else the first."""
    flat: list[BaseException] = []
    stack: list[BaseException] = [errors]
    while stack:
        one = stack.pop()
        if isinstance(one, BaseExceptionGroup):
            stack.extend(one.exceptions)
        else:
            flat.append(one)
    for kind in (StoreError, CostLimitError, TooManyFailures):
        for one in flat:
            if isinstance(one, kind):
                return one
    return flat[0]
