"""Calls adapters: `async def` methods run inline, plain ones in a pool of daemon threads, each under a time limit."""

from __future__ import annotations

import asyncio
import inspect
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from meddc_bench.errors import StageError


class DaemonPool:
    """Threads that never keep the process alive, started as they are needed."""

    def __init__(self, width: int):
        self._width = width
        self._jobs: queue.SimpleQueue[tuple[Future[Any], Callable[..., Any], tuple[Any, ...]]] = queue.SimpleQueue()
        self._threads = 0
        self._idle = threading.Semaphore(0)

    def submit(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        """Run a function in the pool."""
        future: Future[Any] = Future()
        self._jobs.put((future, function, args))
        if not self._idle.acquire(blocking=False) and self._threads < self._width:
            self._threads += 1
            threading.Thread(target=self._work, daemon=True, name=f"adapter-{self._threads}").start()
        return future

    def _work(self) -> None:
        while True:
            future, function, args = self._jobs.get()
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(function(*args))
                except BaseException as error:  # handed to the caller, whatever it is
                    future.set_exception(error)
            self._idle.release()


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
        if self._timeout is None:
            result = await self._run(method, args)
        else:
            async with asyncio.timeout(self._timeout):
                result = await self._run(method, args)
        if not isinstance(result, returns):
            owner = getattr(method, "__qualname__", repr(method))
            raise TypeError(f"{owner} gave {type(result).__name__}, expected {returns.__name__}")
        return result

    async def _run(self, method: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        if inspect.iscoroutinefunction(method):
            return await method(*args)
        result = await asyncio.wrap_future(self._pool.submit(method, *args))
        return await result if inspect.isawaitable(result) else result


class StageFailure(Exception):
    """Carries a stage's outcome and reason to whoever records it."""

    def __init__(self, outcome: str, reason: str):
        super().__init__(reason)
        self.outcome, self.reason = outcome, reason


def failure(error: Exception, allowed: type[StageError]) -> StageFailure:
    """Attribute an exception: the role's own error to the role, anything else to the infrastructure."""
    if isinstance(error, allowed):
        return StageFailure(allowed.outcome, _words(error))
    return StageFailure("infra_failed", f"{type(error).__name__}: {_words(error)}")


def _words(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 500 else text[:499] + "…"
