"""Calls adapters: `async def` methods run inline, plain ones in a pool of daemon threads, each under a time limit."""

from __future__ import annotations

import asyncio
import functools
import inspect
import queue
import threading
import traceback
from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError as FutureCancelledError
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from meddc_bench.errors import CostLimitError, EndpointError, StageError, StoreError, UsageError
from meddc_bench.text import one_line

_CORE = Path(__file__).resolve().parent


class DaemonPool:
    """Threads that never keep the process alive, started as they are needed, as many as the pool is wide.

    A thread whose caller has given up on it is written off: another may take its place, so that a call that hangs does
    not starve the others. At most nine times the width are written off.
    """

    def __init__(self, width: int):
        self._width, self._limit = width, 10 * width
        self._jobs: queue.SimpleQueue[tuple[Future[Any], Callable[..., Any], tuple[Any, ...]]] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._threads = self._unfinished = 0

    def submit(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        """Run a function in the pool."""
        future: Future[Any] = Future()
        self._jobs.put((future, function, args))
        with self._lock:
            self._unfinished += 1
            self._start_if_short()
        return future

    def write_off(self) -> None:
        """Let another thread take the place of one that hangs."""
        with self._lock:
            self._width = min(self._width + 1, self._limit)
            self._start_if_short()

    def _start_if_short(self) -> None:
        if self._threads < min(self._unfinished, self._width):
            self._threads += 1
            threading.Thread(target=self._work, daemon=True, name=f"adapter-{self._threads}").start()

    def _work(self) -> None:
        while True:
            future, function, args = self._jobs.get()
            if future.set_running_or_notify_cancel():
                try:
                    result = function(*args)
                except BaseException as error:  # handed to the caller, whatever it is
                    self._finish()
                    future.set_exception(_raisable(error))
                else:
                    self._finish()
                    future.set_result(result)
            else:
                self._finish()

    def _finish(self) -> None:
        with self._lock:
            self._unfinished -= 1


def _raisable(error: BaseException) -> BaseException:
    """Replace what a future cannot carry, or what would stop the loop or its task, by a RuntimeError."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration | FutureCancelledError):
        return error
    replacement = RuntimeError(f"raised {type(error).__name__}: {error}".rstrip(": "))
    replacement.__cause__ = error
    return replacement


class Caller:
    """Calls adapters' methods for the stages."""

    def __init__(self, width: int = 16, timeout: float | None = None):
        self._pool = DaemonPool(width)
        self._timeout = timeout

    async def call(self, method: Callable[..., Any], *args: Any, returns: type) -> Any:
        """Call a method and check the type of what it gives.

        Raises:
            TypeError: the adapter gave something else.
            TimeoutError: it took longer than the limit.
        """
        if self._timeout is None or _times_its_attempts(method):
            result = await self._run(method, args)
        else:
            try:
                async with asyncio.timeout(self._timeout) as limit:
                    result = await self._run(method, args)
            except TimeoutError as error:
                if not limit.expired():
                    raise
                raise TimeoutError(f"no answer within {self._timeout:g} seconds") from error
        if not isinstance(result, returns):
            owner = getattr(method, "__qualname__", repr(method))
            raise TypeError(f"{owner} gave {type(result).__name__}, expected {returns.__name__}")
        return result

    async def _run(self, method: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        if _is_async(getattr(method, "__func__", method)):
            return await _contained(method(*args))
        future = self._pool.submit(method, *args)
        try:
            result = await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            if not future.cancel() and not future.done():
                self._pool.write_off()
            raise
        return await _contained(result) if inspect.isawaitable(result) else result


@functools.lru_cache(maxsize=256)
def _is_async(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function)


def _times_its_attempts(method: Callable[..., Any]) -> bool:
    """Tell whether an adapter limits each attempt itself, so that waiting for a retry is not its time."""
    inner = method.func if isinstance(method, functools.partial) else method
    return bool(getattr(getattr(inner, "__self__", None), "times_its_attempts", False))


async def _contained(result: Awaitable[Any]) -> Any:
    """Await what an adapter gave; it can end neither the program nor the task it is called from."""
    try:
        return await result
    except SystemExit as error:
        raise _raisable(error) from error
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise _raisable(error) from error


class StageFailure(Exception):
    """Carries a stage's outcome and reason to whoever records it; `may_pass` where another try may end otherwise."""

    def __init__(self, outcome: str, reason: str, *, may_pass: bool = False):
        super().__init__(reason)
        self.outcome, self.reason, self.may_pass = outcome, reason, may_pass


def failure(error: Exception, allowed: type[StageError]) -> StageFailure:
    """Attribute an exception: the role's own error and what its model wrote to the role, the rest to the infrastructure."""
    if isinstance(error, allowed):
        return StageFailure(allowed.outcome, _words(error))
    if isinstance(error, EndpointError):  # it had its retries
        outcome = allowed.outcome if error.kind in EndpointError.OF_THE_ROLE else "infra_failed"
        return StageFailure(outcome, _words(error))
    if isinstance(error, UsageError | CostLimitError | StoreError):  # nothing further can go well
        raise error
    words = f"{type(error).__name__}: {_words(error)}{raised_at(error)}"
    return StageFailure("infra_failed", words, may_pass=True)


def raised_at(error: BaseException) -> str:
    """Say which file and line of a plugin an exception came from; nothing where it is the core's own."""
    frames = traceback.extract_tb(error.__traceback__)
    outside = [frame for frame in frames if not Path(frame.filename).is_relative_to(_CORE)]
    return f" (at {Path(outside[-1].filename).name}:{outside[-1].lineno})" if outside else ""


def _words(error: Exception) -> str:
    return one_line(str(error), 500) or type(error).__name__
