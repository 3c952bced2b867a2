"""What the calls of one run share: the call journal, limits, backends, usage and cost so far, what endpoints refused."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import os
from collections.abc import AsyncIterator, Callable, Hashable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from meddc_bench import yamlfile
from meddc_bench.errors import CostLimitError, UsageError
from meddc_bench.llm.calls import CLEARED, NAME, CallJournal, Kept, Spent, spent

log = logging.getLogger("meddc_bench.llm")

RETRIES = 8
"""Retries of a call where the campaign names none."""
TIMEOUT = 300.0
"""Seconds an attempt may take where the campaign names none."""

Prices = Mapping[str, "Price"]


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs, for a million tokens, in whatever currency the table is in."""

    prompt: float
    completion: float

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Return the cost of some tokens."""
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1e6


@dataclass(slots=True)
class Tally:
    """What one role spent on one model: paid replies, those that could not be used, those without a count of tokens;
    tokens, and cost, which is None without a price or where a reply's tokens are not known.
    """

    calls: int = 0
    unusable: int = 0
    unreported: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None


class Backend(Protocol):
    """Where calls go: an endpoint or an engine in this process."""

    async def post(self, body: Mapping[str, Any], raw: bytes) -> Mapping[str, Any]: ...
    async def aclose(self) -> None: ...


_Shared = TypeVar("_Shared", bound=Backend)


@dataclass
class Session:
    """The state that the calls of one run share."""

    folder: Path | None = None
    max_connections: int = 16
    max_retries: int = RETRIES
    timeout: float = TIMEOUT
    prices: Prices = field(default_factory=dict)
    cost_limit: float | None = None
    hide: Callable[[str], str] = lambda words: words
    """Takes the keys of the environment out of what is shown or stored."""
    tallies: dict[tuple[str, str], Tally] = field(default_factory=dict)
    served: dict[str, set[str]] = field(default_factory=dict)
    stepped_down: dict[str, list[str]] = field(default_factory=dict)
    cached: int = 0
    retries: int = 0
    _backends: dict[Hashable, Backend] = field(default_factory=dict)
    _asking: dict[str, asyncio.Event] = field(default_factory=dict)

    @functools.cached_property
    def _journals(self) -> list[CallJournal]:
        """The run's own journal, then the shared one of MEDDC_CACHE_DIR; opened when the first call asks for them."""
        folders = [folder for folder in (self.folder, shared_cache()) if folder is not None]
        return [CallJournal(folder) for folder in dict.fromkeys(folders)]

    def recall(self, key: str, model: str) -> Kept | None:
        """Return the reply of a model kept under a key, from this run or from the shared cache."""
        for journal in self._journals:
            kept = journal.get(key)
            if kept is not None:
                self.cached += 1
                self._note_served(model, kept.model)
                return kept
        return None

    @contextlib.asynccontextmanager
    async def alone(self, key: str) -> AsyncIterator[None]:
        """Let one of several equal calls go first; those that wait find its reply kept."""
        while key in self._asking:
            await self._asking[key].wait()
        self._asking[key] = asyncio.Event()
        try:
            yield
        finally:
            self._asking.pop(key).set()

    def keep(self, paid: Spent, reply: Kept) -> None:
        """Write a paid reply to the journals and add what it took."""
        for journal in self._journals:
            journal.put(paid, reply)
        self._add(paid)
        self._note_served(paid.model, reply.model)

    def _note_served(self, model: str, served: str | None) -> None:
        if served:
            self.served.setdefault(model, set()).add(served)

    def _add(self, paid: Spent) -> None:
        one = self.tallies.setdefault((paid.role, paid.model), Tally())
        one.calls += 1
        one.unusable += paid.unusable not in (None, CLEARED)
        one.unreported += paid.unreported
        one.prompt_tokens += paid.prompt_tokens
        one.completion_tokens += paid.completion_tokens
        price = self.prices.get(paid.model)
        if one.unreported:
            one.cost = None
        elif price is not None:
            one.cost = (one.cost or 0.0) + price.of(paid.prompt_tokens, paid.completion_tokens)

    def count_earlier(self, report: Mapping[str, Any] | None = None) -> None:
        """Add what earlier sessions of this run spent, were served and were refused, the last from their report."""
        for model, served in (report or {}).get("served_models", {}).items():
            self.served.setdefault(model, set()).update(served)
        for where, what in (report or {}).get("stepped_down", {}).items():
            self.stepped_down[where] = list(what)
        if self.folder is not None and (self.folder / NAME).is_file():
            for one in spent(self.folder / NAME):
                self._add(one)
                self._note_served(one.model, one.reply.model)

    @property
    def cost(self) -> float | None:
        """Cost of the run so far; None where no model has a price, or a reply's tokens are not known."""
        if any(one.unreported and model in self.prices for (_, model), one in self.tallies.items()):
            return None
        costs = [one.cost for one in self.tallies.values() if one.cost is not None]
        return sum(costs) if costs else None

    def check_cost(self, model: str) -> None:
        """Stop the run before a call of a model when it has become too dear.

        Raises:
            UsageError: there is a limit, and what the model costs is not known.
            CostLimitError: it has cost more than the limit.
        """
        if self.cost_limit is None:
            return
        if model not in self.prices:
            raise UsageError(f"--cost-limit needs a price of {model!r} in --prices; what costs nothing is 0")
        if any(one.unreported for one in self.tallies.values()):
            raise CostLimitError("a server does not report tokens: --cost-limit cannot be kept; leave it out")
        if (self.cost or 0.0) >= self.cost_limit:
            raise CostLimitError(f"the run has cost {self.cost or 0:.4g}, --cost-limit is {self.cost_limit:g}")

    def backend(self, key: Hashable, make: Callable[[Session], _Shared]) -> _Shared:
        """Return the backend of a key, made once: roles on one endpoint share its connections."""
        found = self._backends.get(key)
        if found is None:
            found = self._backends[key] = make(self)
        return found  # type: ignore[return-value]

    def step_down(self, where: str, what: str) -> None:
        """Record, and say once, that an endpoint refuses a field."""
        steps = self.stepped_down.setdefault(where, [])
        if what not in steps:
            steps.append(what)
            log.warning("%s refuses %s: going on without it", where, what)

    async def aclose(self) -> None:
        """Close the backends, each whatever becomes of the others, and the journals."""
        backends, self._backends = list(self._backends.values()), {}
        for one in backends:
            with contextlib.suppress(Exception):  # all that was to be kept is
                await one.aclose()
        for journal in self.__dict__.pop("_journals", ()):
            journal.close()

    def report(self) -> dict[str, Any]:
        """Return what the manifest says about calls: usage and cost by role and model, served ids, refused fields."""
        usage = [
            {
                "role": role,
                "model": model,
                **{key: value for key, value in asdict(one).items() if key not in _NOTHING or value != _NOTHING[key]},
            }
            for (role, model), one in sorted(self.tallies.items())
        ]
        served = {name: sorted(models) for name, models in sorted(self.served.items())}
        return {
            "usage": usage, "cost": self.cost, "served_models": served,
            "stepped_down": dict(sorted(self.stepped_down.items())),
            "this_session": {"retries": self.retries, "from_cache": self.cached},
        }  # fmt: skip


_NOTHING: Mapping[str, Any] = {"unreported": 0, "cost": None}
"""Parts of a tally that are left out of a report at these values."""

_current: ContextVar[Session | None] = ContextVar("meddc_session", default=None)


def current() -> Session:
    """Return the run's session, or a fresh one that keeps nothing outside a run."""
    session = _current.get()
    if session is None:
        session = Session()
        _current.set(session)
    return session


@contextlib.contextmanager
def running(session: Session) -> Iterator[Session]:
    """Make a session the current one of this context and of the tasks started in it."""
    token = _current.set(session)
    try:
        yield session
    finally:
        _current.reset(token)


def shared_cache() -> Path | None:
    """Return the folder of the cache that runs share, where MEDDC_CACHE_DIR names one."""
    named = os.environ.get("MEDDC_CACHE_DIR")
    return Path(named).expanduser() if named else None


def read_prices(path: Path) -> Prices:
    """Read a price table: `model: {prompt: 2.0, completion: 8.0}`, for a million tokens.

    Raises:
        InputError: the file is not of that form.
    """
    document = yamlfile.load(path)
    if not isinstance(document.data, dict):
        raise document.error("expected `MODEL: {prompt: NUMBER, completion: NUMBER}`, for a million tokens")
    out: dict[str, Price] = {}
    for model, row in document.data.items():
        good = isinstance(row, dict) and set(row) == {"prompt", "completion"}
        if not good or any(
            isinstance(one, bool) or not isinstance(one, int | float) or one < 0 for one in row.values()
        ):
            raise document.error("expected {prompt: NUMBER, completion: NUMBER}, for a million tokens", model)
        out[str(model)] = Price(float(row["prompt"]), float(row["completion"]))
    return out
