"""Calls to adapters: plain and async methods, limits of time and type, and faults that stay the adapter's own."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from meddc_bench.adapters import Caller, DaemonPool, StageFailure, failure
from meddc_bench.contracts import Reply
from meddc_bench.errors import JudgeError, PatientError, PolicyError

SOON = 0.05


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """Something to hang on, opened at the end so that no thread stays."""
    event = threading.Event()
    yield event
    event.set()


class Plain:
    """An adapter with plain methods."""

    def act(self, view: Any) -> Reply:
        return Reply(f"{view}-{threading.current_thread().name}")


class Async:
    """An adapter with async methods."""

    async def act(self, view: Any) -> Reply:
        return Reply(f"{view}-{threading.current_thread().name}")


async def test_a_plain_method_runs_in_a_daemon_thread_so_that_it_cannot_stall_other_consultations() -> None:
    reply = await Caller(2).call(Plain().act, "v", returns=Reply)
    assert reply.text.startswith("v-adapter-")
    assert all(thread.daemon for thread in threading.enumerate() if thread.name.startswith("adapter-"))


async def test_an_async_method_runs_where_it_is_without_a_thread() -> None:
    reply = await Caller(2).call(Async().act, "v", returns=Reply)
    assert reply.text == f"v-{threading.current_thread().name}"


async def test_a_plain_method_that_gives_a_coroutine_is_awaited() -> None:
    reply = await Caller(2).call(lambda view: Async().act(view), "v", returns=Reply)
    assert reply.text == f"v-{threading.current_thread().name}"


async def test_a_partial_of_an_async_method_is_still_async() -> None:
    assert await Caller(2).call(functools.partial(Async().act, "v"), returns=Reply)


@pytest.mark.parametrize("given", [None, "text", {"text": "x"}, [Reply("x")]])
async def test_a_reply_of_another_type_is_refused_by_name_before_it_does_harm(given: Any) -> None:
    def act() -> Any:
        return given

    with pytest.raises(TypeError, match=f"act gave {type(given).__name__}, expected Reply"):
        await Caller(2).call(act, returns=Reply)


async def test_as_many_plain_calls_run_at_once_as_the_pool_is_wide(gate: threading.Event) -> None:
    barrier = threading.Barrier(4, timeout=5)
    caller = Caller(4)
    found = await asyncio.gather(*(caller.call(barrier.wait, returns=int) for _ in range(4)))
    assert sorted(found) == [0, 1, 2, 3]


async def test_no_more_plain_calls_run_at_once_than_the_pool_is_wide() -> None:
    running, most, lock = 0, 0, threading.Lock()

    def act() -> int:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        threading.Event().wait(0.001)
        with lock:
            running -= 1
        return most

    caller = Caller(3)
    await asyncio.gather(*(caller.call(act, returns=int) for _ in range(40)))
    assert most == 3


async def test_a_hundred_calls_one_after_another_take_one_thread() -> None:
    caller, names = Caller(16), set()
    for _ in range(100):
        names.add(await caller.call(lambda: threading.current_thread().name, returns=str))
    assert len(names) == 1


# ── time ─────────────────────────────────────────────────────────────────────────────────────────


async def test_a_plain_call_that_hangs_is_given_up_on_and_says_after_how_long(gate: threading.Event) -> None:
    with pytest.raises(TimeoutError, match=r"no answer within 0\.05 seconds"):
        await Caller(1, timeout=SOON).call(gate.wait, returns=bool)


async def test_an_async_call_that_hangs_is_given_up_on_and_cancelled() -> None:
    cancelled = []

    async def act() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    with pytest.raises(TimeoutError, match=r"no answer within 0\.05 seconds"):
        await Caller(1, timeout=SOON).call(act, returns=object)
    assert cancelled == [True]


async def test_calls_that_hang_do_not_starve_those_that_do_not(gate: threading.Event) -> None:
    caller = Caller(2, timeout=SOON)
    for _ in range(4):
        with pytest.raises(TimeoutError):
            await caller.call(gate.wait, returns=bool)
    assert await Caller.call(caller, lambda: "answered", returns=str) == "answered"


async def test_a_call_that_waited_behind_hanging_ones_is_run_once_they_are_given_up_on(gate: threading.Event) -> None:
    pool = DaemonPool(1)
    hanging, waiting = pool.submit(gate.wait), pool.submit(lambda: "answered")
    assert not hanging.done()
    pool.write_off()
    assert await asyncio.wait_for(asyncio.wrap_future(waiting), 5) == "answered"


async def test_an_adapter_that_always_hangs_cannot_make_threads_without_end(gate: threading.Event) -> None:
    caller = Caller(1, timeout=0.001)
    before = threading.active_count()
    for _ in range(40):
        with pytest.raises(TimeoutError):
            await caller.call(gate.wait, returns=bool)
    assert threading.active_count() - before <= 10


async def test_an_adapters_own_time_out_keeps_its_words() -> None:
    def act() -> None:
        raise TimeoutError("the endpoint gave up")

    with pytest.raises(TimeoutError, match="the endpoint gave up"):
        await Caller(1, timeout=5).call(act, returns=object)


async def test_a_cancelled_run_does_not_start_calls_that_still_wait(gate: threading.Event) -> None:
    started: list[int] = []
    caller = Caller(1)
    first = asyncio.ensure_future(caller.call(gate.wait, returns=bool))
    second = asyncio.ensure_future(caller.call(lambda: started.append(1) or True, returns=bool))
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.gather(second, return_exceptions=True)
    gate.set()
    assert await first
    assert await caller.call(lambda: True, returns=bool)
    assert started == []


# ── faults ───────────────────────────────────────────────────────────────────────────────────────


def raises(error: BaseException) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """A plain and an async method that raise."""

    def plain() -> None:
        raise error

    async def inline() -> None:
        raise error

    return plain, inline


@pytest.mark.parametrize("index", [0, 1], ids=["plain", "async"])
@pytest.mark.parametrize("error", [StopIteration("no more turns"), SystemExit(0), asyncio.CancelledError()])
async def test_an_adapter_that_runs_out_exits_or_cancels_itself_can_neither_hang_nor_end_a_run(
    error: BaseException, index: int
) -> None:
    with pytest.raises(RuntimeError, match=type(error).__name__) as failed:
        await asyncio.wait_for(Caller(1).call(raises(error)[index], returns=object), 5)
    assert failure(failed.value, PolicyError).outcome == "infra_failed"


@pytest.mark.parametrize("index", [0, 1], ids=["plain", "async"])
async def test_an_adapters_own_error_arrives_as_it_was_raised(index: int) -> None:
    error = PolicyError("refused")
    with pytest.raises(PolicyError) as failed:
        await Caller(1).call(raises(error)[index], returns=object)
    assert failed.value is error


async def test_stopping_a_run_still_cancels_an_adapter_at_work() -> None:
    task = asyncio.ensure_future(Caller(1).call(asyncio.Event().wait, returns=bool))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize(
    ("error", "allowed", "outcome", "reason"),
    [
        (PolicyError("refused"), PolicyError, "policy_failed", "refused"),
        (PatientError("blank"), PatientError, "patient_failed", "blank"),
        (JudgeError(""), JudgeError, "judge_failed", "JudgeError"),
        (JudgeError("not mine"), PolicyError, "infra_failed", "JudgeError: not mine"),
        (KeyError("choices"), PolicyError, "infra_failed", "KeyError: 'choices'"),
        (OSError(104, "reset"), PolicyError, "infra_failed", "ConnectionResetError: [Errno 104] reset"),
        (ValueError("a\nb\n  c"), PolicyError, "infra_failed", "ValueError: a b c"),
        (ValueError("半\ud800\x1b[31m红"), PolicyError, "infra_failed", "ValueError: 半\ufffd红"),
    ],
)
def test_a_fault_is_blamed_on_its_role_only_when_the_role_says_so(
    error: Exception, allowed: Any, outcome: str, reason: str
) -> None:
    found = failure(error, allowed)
    assert (found.outcome, found.reason) == (outcome, reason)
    assert isinstance(found, StageFailure)


def test_a_reason_of_a_megabyte_does_not_fill_the_log() -> None:
    assert len(failure(ValueError("x" * 1_000_000), PolicyError).reason) < 600
