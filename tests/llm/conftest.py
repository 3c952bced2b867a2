"""Fixtures of the tests of the language-model layer: a backend that is scripted, and nothing of the user's environment."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from meddc_bench.llm.chat import Chat, Model
from meddc_bench.llm.session import Session


class Scripted:
    """A backend that gives answers in order, the last one again and again; an exception among them is raised."""

    def __init__(self, *answers: Any):
        self.answers = deque(answers)
        self.bodies: list[Mapping[str, Any]] = []
        self.closed = 0

    async def post(self, body: Mapping[str, Any], raw: bytes) -> Mapping[str, Any]:
        self.bodies.append(body)
        found = self.answers.popleft() if len(self.answers) > 1 else self.answers[0]
        found = found(body) if callable(found) else found
        if isinstance(found, BaseException):
            raise found
        return answer(found) if isinstance(found, str) else found

    async def aclose(self) -> None:
        self.closed += 1


def answer(text: Any = "好的", *, finish: str = "stop", tokens: Any = (7, 3), **message: Any) -> dict[str, Any]:
    """Return a chat completion."""
    usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}
    return {"model": "served-1", "choices": [choice], "usage": usage}


@pytest.fixture
def said() -> Callable[..., dict[str, Any]]:
    """Make a chat completion."""
    return answer


@pytest.fixture
def scripted() -> Callable[..., Scripted]:
    """Make a backend of answers."""
    return Scripted


@pytest.fixture
def chat() -> Callable[..., Chat]:
    """Make a Chat on a backend."""

    def make(
        backend: Scripted, *, name: str = "m-1", place: str = "http://there/v1", role: str = "judge", **extra: Any
    ) -> Chat:
        def opened(session: Session) -> Scripted:
            return backend

        return Chat(Model(name, place, role, extra), (place, id(backend)), opened)

    return make


@pytest.fixture(autouse=True)
def nothing_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away what the environment says about endpoints, and the waits."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "MEDDC_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("meddc_bench.llm.chat.FIRST_WAIT", 0.0)
