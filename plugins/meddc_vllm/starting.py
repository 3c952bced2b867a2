"""Starts and stops a vLLM engine: off the event loop, its log in a file, what went wrong in one line."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import logging
import multiprocessing
import os
import re
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from meddc_bench.errors import EndpointError, UsageError
from meddc_bench.text import one_line

log = logging.getLogger("meddc_bench.llm")

NO_DEVICE = (
    "vLLM finds no GPU, and this build of it needs one: run on a machine with one (`nvidia-smi` lists it), "
    "install a CPU build, or name a served model with the plugin `openai`; see docs/vllm.md"
)
LOG = "vllm.log"
ENDED_AFTER = 15.0
"""Seconds that an engine has to end before it is killed."""

_ENVIRONMENT = {"VLLM_WORKER_MULTIPROC_METHOD": "spawn", "VLLM_NO_USAGE_STATS": "1"}
"""A process with threads must not fork; and nothing is reported to anyone. What the user set stands."""

_FAULT = re.compile(r"\b([A-Za-z_][\w.]*(?:Error|Exception|Interrupt)): (.+)")
_ELSEWHERE = ("root cause", "background process", "stack trace")


class Starting:
    """One engine to be started once, by the first that needs it, and stopped at the end.

    Args:
        name: the model's name, for messages.
        arguments: vLLM's engine arguments.
        folder: where its log goes; None: the screen gets its warnings.
    """

    def __init__(self, name: str, arguments: Mapping[str, Any], folder: Path | None):
        self._name, self._arguments = name, arguments
        self._log = folder / LOG if folder is not None else None
        self._loading: asyncio.Future[None] | None = None
        self._engine: Any = None
        self._stopped = threading.Event()

    async def engine(self) -> Any:
        """Return the engine, once it has started.

        Raises:
            UsageError: it cannot be started.
        """
        if self._loading is None:
            self._loading = _in_thread(self._load)
            log.info("vLLM loads %s%s", self._name, self.says())
        await asyncio.shield(self._loading)
        return self._engine

    def says(self) -> str:
        """Say where the engine's log is."""
        return f"; its log is {self._log}" if self._log is not None else ""

    async def stop(self) -> None:
        """Stop the engine and every process of it, also one that is still starting."""
        self._stopped.set()
        loading, self._loading = self._loading, None
        if loading is None:
            return
        await _end_children(loading)
        loading.exception()
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.shutdown(timeout=ENDED_AFTER)
        del engine
        gc.collect()  # the engine has cycles; left to the interpreter's end, its __del__ fails and prints a traceback

    def _load(self) -> None:
        with _settings(self._log), _printing_to(self._log):
            vllm = _vllm()
            if self._stopped.is_set():
                raise EndpointError("transient", "stopped before it started")
            before = self._log.stat().st_size if self._log is not None and self._log.exists() else 0
            try:
                arguments = vllm.AsyncEngineArgs(
                    **_of_the_platform(), **self._arguments, served_model_name=self._name, trust_remote_code=False,
                    disable_log_stats=True, structured_outputs_config=_compact_json(),
                )  # fmt: skip
                self._engine = vllm.AsyncLLMEngine.from_engine_args(arguments)
            except Exception as error:  # whatever it is, no call can be made
                words = f"{type(error).__name__}: {error}"
                if _elsewhere(words):
                    words = self._cause(before) or words
                raise UsageError(f"vLLM cannot start {self._name}: {one_line(words)}{self.says()}") from None

    def _cause(self, since: int) -> str | None:
        """Find the cause in the log, where what was raised says only that a process failed."""
        if self._log is None or not self._log.exists():
            return None
        with open(self._log, encoding="utf-8", errors="replace") as file:
            file.seek(since)
            faults = [found.group() for line in file if (found := _FAULT.search(line))]
        named = [fault for fault in faults if not _elsewhere(fault)]
        return named[-1] if named else None


def _vllm() -> Any:
    """Import vLLM and see that it can run here.

    Raises:
        UsageError: it cannot.
    """
    try:
        import vllm
        from vllm.platforms import current_platform
    except Exception as error:  # a build for another machine fails in many ways
        words = one_line(f"{type(error).__name__}: {error}")
        raise UsageError(f"vLLM is installed but cannot be imported ({words}); see docs/vllm.md") from None
    if current_platform.is_unspecified():
        raise UsageError(NO_DEVICE)
    return vllm


def _of_the_platform() -> Mapping[str, Any]:
    """Return what this platform needs: on a CPU, a seeded request whose prompt is taken in chunks kills the engine."""
    from vllm.platforms import current_platform

    return {"enable_chunked_prefill": False} if current_platform.is_cpu() else {}


def _compact_json() -> Any:
    """Keep guided JSON free of blanks between its parts: a weak model writes them without end."""
    from vllm.config import StructuredOutputsConfig

    return StructuredOutputsConfig(backend="xgrammar", disable_any_whitespace=True)


def _elsewhere(words: str) -> bool:
    return any(mark in words.lower() for mark in _ELSEWHERE)


def _in_thread(function: Callable[[], None]) -> asyncio.Future[None]:
    """Run a function in a thread that the program does not wait for when it ends."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[None] = loop.create_future()

    def settle(error: Exception | None) -> None:
        if not future.done():
            future.set_exception(error) if error is not None else future.set_result(None)

    def work() -> None:
        error = None
        try:
            function()
        except BaseException as raised:  # handed to those who wait
            error = raised if isinstance(raised, Exception) else RuntimeError(f"{type(raised).__name__}: {raised}")
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(settle, error)

    threading.Thread(target=work, daemon=True, name="vllm-start").start()
    return future


async def _end_children(loading: asyncio.Future[Any]) -> None:
    """While an engine is still starting, end the processes it has started: asked first, then killed."""
    loop = asyncio.get_running_loop()
    kill_at = loop.time() + ENDED_AFTER
    while not loading.done():
        for child in multiprocessing.active_children():
            if child.name.startswith("EngineCore"):
                child.terminate() if loop.time() < kill_at else child.kill()
        await asyncio.wait([loading], timeout=0.2)


@contextlib.contextmanager
def _settings(log_file: Path | None) -> Iterator[None]:
    """Set vLLM's environment for the start: what the user set stands; what is only for the start goes again."""
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    os.environ.setdefault("VLLM_LOGGING_STREAM", "ext://sys.stderr")
    if log_file is None:
        os.environ.setdefault("VLLM_LOGGING_LEVEL", "WARNING")
    if log_file is None or {"VLLM_LOGGING_CONFIG_PATH", "VLLM_CONFIGURE_LOGGING"} & set(os.environ):
        yield
        return
    with tempfile.TemporaryDirectory(prefix="meddc-vllm-") as folder:
        config = Path(folder) / "logging.json"
        config.write_text(json.dumps(_logging(log_file)), encoding="utf-8")
        os.environ["VLLM_LOGGING_CONFIG_PATH"] = str(config)
        try:
            yield
        finally:
            os.environ.pop("VLLM_LOGGING_CONFIG_PATH", None)


def _logging(log_file: Path) -> Mapping[str, Any]:
    """Lay out a configuration of Python's logging that writes what vLLM and its processes say to a file."""
    level = os.environ.get("VLLM_LOGGING_LEVEL", "INFO").upper()
    handler = {"class": "logging.FileHandler", "filename": str(log_file), "formatter": "plain", "encoding": "utf-8"}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"plain": {"format": "%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"}},
        "handlers": {"file": handler},
        "loggers": {"vllm": {"handlers": ["file"], "level": level, "propagate": False}},
    }


@contextlib.contextmanager
def _printing_to(log_file: Path | None) -> Iterator[None]:
    """Send what is printed to the log while the engine starts: its processes inherit that, for good.

    Without a log it goes to standard error: standard output is for results.
    """
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError, ValueError):  # standard output or error is closed
            sys.stdout.flush()
            sys.stderr.flush()
            target = 2
            if log_file is not None:
                target = os.open(log_file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
                stack.callback(os.close, target)
            for one in (1, 2):
                kept = os.dup(one)
                stack.callback(os.close, kept)
                os.dup2(target, one)
                stack.callback(os.dup2, kept, one)
        yield
