"""Where an adapter under check sits: between it and a stage, with one seed for every view and the answers kept."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from meddc_bench.adapters import Caller, StageFailure
from meddc_bench.contracts import Message
from meddc_bench.errors import StageError
from meddc_bench.records import Turn
from meddc_bench.testing.properties import Breach
from meddc_bench.testing.worlds import SEED, World


@dataclass(frozen=True)
class Role:
    """How one kind of adapter is checked.

    `play` uses an adapter on one case as a run does, and returns what it answered; `views` makes one view of a text;
    `wrong` says what is wrong with an answer to a view, if anything.
    """

    kind: str
    method: str
    fault: type[StageError]
    returns: type
    play: Callable[[Any, World, int, Caller], Any]
    views: Callable[[str], Any]
    wrong: Callable[[Any, Any], str | None]


class Seat:
    """Stands between a stage and an adapter: one seed for every view, and the answers kept as they came."""

    def __init__(
        self, method: Callable[..., Any], returns: type, caller: Caller, wrong: Callable[[Any, Any], str | None]
    ):
        self._method, self._returns, self._caller, self._wrong = method, returns, caller, wrong
        self.answers: list[Any] = []

    async def __call__(self, view: Any) -> Any:
        """Hand a view on.

        Raises:
            Breach: the answer is not what the contract says.
        """
        answer = await self._caller.call(self._method, dataclasses.replace(view, seed=SEED), returns=object)
        if not isinstance(answer, self._returns):
            raise Breach(f"it gave {type(answer).__name__} in place of {self._returns.__name__}")
        problem = self._wrong(answer, view)
        if problem is not None:
            raise Breach(problem)
        self.answers.append(answer)
        return answer

    answer = judge = read = __call__


def raised(failure: StageFailure) -> Exception:
    """What the adapter itself raised, or the stage's words where it raised nothing."""
    cause = failure.__cause__
    return cause if isinstance(cause, Exception) else Breach(failure.reason)


def opening(text: str) -> Turn:
    return Turn(index=0, round=0, role="patient", kind="opening", text=text)


def said(index: int, role: Any, kind: Any, text: str) -> Turn:
    return Turn(index=index, round=(index + 1) // 2, role=role, kind=kind, text=text)


def messages(text: str) -> tuple[Message, ...]:
    return Message("system", "你是医生。"), Message("user", text)


def wrong_texts(answer: Any, *names: str) -> str | None:
    """Say which field is neither text nor None."""
    for name in names:
        value = getattr(answer, name)
        if value is not None and not isinstance(value, str):
            return f"{type(answer).__name__}.{name} is {type(value).__name__} in place of text or None"
    return None


def not_json(value: Any) -> str | None:
    try:
        msgspec.json.encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        return f"cannot be written as JSON: {error}"
    return None
