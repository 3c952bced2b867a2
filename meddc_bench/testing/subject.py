"""The adapter under check: how to build it afresh, call it, and know its keys when they show."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from meddc_bench.adapters import Caller
from meddc_bench.errors import PluginError, UsageError
from meddc_bench.llm.session import Session, running
from meddc_bench.registry import Registry
from meddc_bench.store import Keys
from meddc_bench.wiring import Adapter, secret_of_environment

CANARY = "canary-c4f3b1d7e9a2-0185"
"""Stands for every key that the environment does not hold."""

SECONDS = 60.0
"""The longest a call of an adapter under check may take."""


class Subject:
    """An adapter by name with its options, built afresh for every trial.

    `file` is an example of what an importer reads.

    Raises:
        UsageError: there is no such name, or the options are wrong.
    """

    def __init__(
        self, registry: Registry, kind: str, name: str, options: Mapping[str, Any] | None = None, *,
        file: Path | None = None,
    ):  # fmt: skip
        self.registry, self.kind, self.name = registry, kind, name
        self.options: Mapping[str, Any] = dict(options or {})
        self.registration = registry.get(kind, name)
        if file is not None and not file.exists():
            raise UsageError(f"--file {file}: there is no such file")
        self.file = file
        self.secrets: dict[str, str] = {}
        """The keys that the adapter asked for, by variable."""
        with contextlib.suppress(PluginError):  # what cannot be imported is for the checks to tell
            self.adapter()

    def adapter(self, **options: Any) -> Adapter:
        """Configure the adapter once more, with some options changed."""
        given = {**self.options, **options}
        return Adapter(self.registry, self.kind, self.name, self.name, given, secrets=self._secret)

    def _secret(self, label: str, env: str) -> SecretStr:
        try:
            value = secret_of_environment(label, env)
        except UsageError:
            value = SecretStr(CANARY)
        self.secrets[env] = value.get_secret_value()
        return value

    @contextlib.asynccontextmanager
    async def built(self) -> AsyncIterator[Any]:
        """Build the adapter, and close it afterwards."""
        adapter = self.adapter()
        try:
            yield adapter.get()
        finally:
            await adapter.aclose()

    @property
    def language(self) -> str:
        """The language it is checked in: Chinese, or the first of those it is registered for without Chinese."""
        return "zh" if self.registration.speaks("zh") else self.registration.languages[0]

    def caller(self) -> Caller:
        return Caller(timeout=SECONDS)

    def run(self, trial: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        """Run a trial in a loop and a session of its own."""

        async def alone() -> Any:
            session = Session(max_retries=2, timeout=SECONDS, hide=self.hide)
            with running(session):
                try:
                    return await trial()
                finally:
                    await session.aclose()

        return asyncio.run(alone())

    def hide(self, words: str) -> str:
        """Put the variable's name for a key."""
        for env, value in self.secrets.items():
            words = words.replace(value, f"[{env}]")
        return Keys().hide(words)
