"""A model behind a backend: cache, bounded retries, refused fields left out; each reply checked before it may be kept."""

from __future__ import annotations

import base64
import contextlib
import functools
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, wait_exponential, wait_random

from meddc_bench.actions import split_reasoning
from meddc_bench.contracts import Completion, Decoding, Message
from meddc_bench.errors import EndpointError, UsageError
from meddc_bench.fingerprint import canonical, digest
from meddc_bench.llm.calls import Kept, Spent
from meddc_bench.llm.session import Backend, Session, current, log
from meddc_bench.records import Usage
from meddc_bench.text import clean

Result = TypeVar("Result")
Accept = Callable[[Completion, tuple[tuple[str, str], ...]], Result]

REVISION = "1"
"""Bumped when what is sent, or what is made of a reply, changes."""

FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0
"""Seconds before the first retry, and at most; a server's Retry-After is honoured up to the latter."""

UNUSABLE_TRIES = 4
"""Replies that can be blank, cut or unparsable before the role has failed."""

WARMER = 0.3
"""Temperature of a retry after an unusable reply: at 0 the same model would write the same again."""

KEPT_PICTURES = 64
"""Pictures of a chat that are kept as they are sent: each stands in every later call of its consultation."""

_MOST_TOKENS = 1 << 40

REFUSABLE = (
    "response_format", "tools", "seed", "temperature", "top_p", "max_tokens", "max_completion_tokens",
)  # fmt: skip
"""Fields an endpoint may refuse; each is left out from then on."""


@dataclass(frozen=True)
class Model:
    """A model at a place (a base URL, or `in process`), with what every call to it sends."""

    name: str
    place: str
    role: str
    extra_body: Mapping[str, Any] = field(default_factory=dict)


class _Request:
    """A body and its bytes, encoded once."""

    __slots__ = ("body", "raw")

    def __init__(self, body: dict[str, Any], raw: bytes | None = None):
        self.body, self.raw = body, canonical(body) if raw is None else raw


class Chat:
    """Calls one model for one role; the backend is opened when first used and belongs to the run's session.

    Args:
        model: what to call.
        key: what tells its backend from others: roles of equal key share one.
        make: opens the backend.
        media: finds the bytes of a picture by its digest; only a policy that takes images needs it.
    """

    times_its_attempts = True

    def __init__(
        self, model: Model, key: Hashable, make: Callable[[Session], Backend],
        media: Callable[[str], bytes] | None = None,
    ):  # fmt: skip
        self.model = model
        self._key, self._make, self._media = key, make, media
        self._data_url = functools.lru_cache(maxsize=KEPT_PICTURES)(self._encoded)
        self._refused: set[str] = set()

    async def generate(self, messages: Sequence[Message], decoding: Decoding, *, seed: int) -> Completion:
        """Generate text; a blank, cut or refused reply is an error.

        Raises:
            EndpointError: nothing usable came, after the retries.
        """
        found: Completion = await self.ask(messages, decoding, seed=seed, accept=_uncut)
        return found

    async def ask(
        self, messages: Sequence[Message], decoding: Decoding, *, seed: int, accept: Accept[Any],
        tools: Sequence[Mapping[str, Any]] = (),
    ) -> Any:  # fmt: skip
        """Generate, check the reply with `accept`, and keep it as usable only when it passes.

        Raises:
            EndpointError: nothing usable came, after the retries.
            CostLimitError: the run has become too dear.
        """
        session = current()
        body = self._body(messages, decoding, seed, tools)
        raw = canonical(body)
        # The seed stands beside the body, whose own seed extra_body may have fixed: repeats and asks differ by it.
        parts = (REVISION, self.model.role, self.model.place, str(seed))
        key = digest(b"\0".join((*(part.encode() for part in parts), raw)))
        async with session.alone(key):
            kept = session.recall(key, self.model.name)
            if kept is not None:
                with contextlib.suppress(EndpointError):  # kept when more was accepted: it is asked again
                    return accept(_completion(kept, None), kept.calls)
            return await self._retrying(session, key, _Request(body, raw), accept)

    async def _retrying(self, session: Session, key: str, request: _Request, accept: Accept[Any]) -> Any:
        """Try until a reply is accepted or no try is left; the machinery of retries starts with the first failure."""
        try:
            return await self._attempt(session, key, request, accept)
        except EndpointError as error:
            failed: EndpointError | None = error
        tries = _Tries(session, self.model)
        async for attempt in AsyncRetrying(
            stop=tries.stop, wait=tries.wait, retry=retry_if_exception(_again), before_sleep=tries.tell, reraise=True
        ):
            with attempt:
                if failed is not None:
                    first, failed = failed, None
                    raise first
                if tries.unusable:
                    request = _Request(_another(request.body, attempt.retry_state.attempt_number))
                return await self._attempt(session, key, request, accept)
        raise AssertionError("tenacity gave neither a result nor an error")

    async def aclose(self) -> None:
        """Nothing: the session closes the backend, which other roles may share."""

    def _body(
        self, messages: Sequence[Message], decoding: Decoding, seed: int, tools: Sequence[Mapping[str, Any]]
    ) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.model.name,
            "messages": [
                {"role": one.role, "content": self._parts(one) if one.images else one.content} for one in messages
            ],
            "seed": seed % (1 << 31),
        }
        for name in ("temperature", "top_p", "max_tokens"):
            value = getattr(decoding, name)
            if value is not None:
                body[name] = value
        if decoding.schema is not None:
            schema = {"name": "reply", "schema": decoding.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        if tools:
            body["tools"] = list(tools)
        body.update(self.model.extra_body)
        return body

    def _parts(self, message: Message) -> list[dict[str, Any]]:
        """Lay a message with pictures out: its text, then each picture after the words that announce it."""
        parts: list[dict[str, Any]] = [{"type": "text", "text": message.content}]
        for one in message.images:
            if one.label:
                parts.append({"type": "text", "text": one.label})
            parts.append({"type": "image_url", "image_url": {"url": self._data_url(one.sha256, one.type)}})
        return parts

    def _encoded(self, sha256: str, kind: str) -> str:
        if self._media is None:
            raise UsageError(f"{self.model.role} {self.model.name}: gets pictures and does not know where they are")
        return f"data:{kind};base64,{base64.b64encode(self._media(sha256)).decode('ascii')}"

    async def _attempt(self, session: Session, key: str, request: _Request, accept: Accept[Any]) -> Any:
        """Send once, record what it took, and judge the reply; only one that passes is kept as usable."""
        session.check_cost(self.model.name)
        answer = await self._send(session, request)
        reply, told = _kept(answer), _usage(answer)
        usage = told or Usage(calls=1)
        unusable: str | None = "unparsable"
        try:
            _check(answer, reply)
            found = accept(_completion(reply, usage), reply.calls)
            unusable = "cut" if reply.finish == "length" else None  # a doctor's cut speech is taken, and not kept
        except EndpointError as error:
            unusable = error.kind
            raise
        finally:
            tokens = usage.prompt_tokens, usage.completion_tokens
            session.keep(Spent(
                id=key, role=self.model.role, model=self.model.name, prompt_tokens=tokens[0],
                completion_tokens=tokens[1], unusable=unusable, unreported=told is None,
            ), reply)  # fmt: skip
        return found

    async def _send(self, session: Session, request: _Request) -> Mapping[str, Any]:
        """Send, leaving out what the endpoint refuses."""
        backend = session.backend(self._key, self._make)
        while True:
            sent = self._allowed(request)
            try:
                return await backend.post(sent.body, sent.raw)
            except EndpointError as error:
                if error.kind != "permanent" or not self._steps_down(session, sent.body, error.message):
                    raise

    def _allowed(self, request: _Request) -> _Request:
        body, refused = request.body, self._refused
        if not refused:
            return request
        sent = {name: value for name, value in body.items() if name not in refused}
        if "max_tokens" in refused and "max_completion_tokens" not in refused and "max_tokens" in body:
            sent["max_completion_tokens"] = body["max_tokens"]
        if "json_schema" in refused and sent.get("response_format", {}).get("type") == "json_schema":
            sent["response_format"] = {"type": "json_object"}
        return _Request(sent)

    def _steps_down(self, session: Session, sent: Mapping[str, Any], words: str) -> bool:
        """Leave out, from now on, the field the endpoint refused; false when none of them is to blame."""
        low = words.lower()
        if sent.get("response_format", {}).get("type") == "json_schema" and (
            "schema" in low or "response_format" in low
        ):
            refused = "json_schema"
        else:
            found = ((re.search(rf"(?<![\w-]){name}(?![\w-])", low), name) for name in REFUSABLE if name in sent)
            named = [(at.start(), name) for at, name in found if at is not None]
            if not named:
                return False
            refused = min(named)[1]
        self._refused.add(refused)
        session.step_down(f"{self.model.role} {self.model.name} at {self.model.place}", refused)
        return True


class _Tries:
    """How often one call is tried, and how long it waits between."""

    def __init__(self, session: Session, model: Model):
        self._session, self._model = session, model
        self._backoff = wait_exponential(FIRST_WAIT) + wait_random(0, FIRST_WAIT)
        self.unusable = 0

    def stop(self, state: RetryCallState) -> bool:
        error = _error(state)
        if error is not None and error.kind in EndpointError.UNUSABLE:
            self.unusable += 1
        return state.attempt_number > self._session.max_retries or self.unusable >= UNUSABLE_TRIES

    def wait(self, state: RetryCallState) -> float:
        error = _error(state)
        if error is None or error.kind != "transient":
            return 0.0
        wait = error.retry_after if error.retry_after is not None else self._backoff(state)
        return min(LONGEST_WAIT, wait)

    def tell(self, state: RetryCallState) -> None:
        self._session.retries += 1
        pause = state.next_action.sleep if state.next_action is not None else 0.0
        left = f"retry {state.attempt_number} of {self._session.max_retries}"
        say = log.warning if pause >= 5 else log.info
        say("%s %s: %s; %s in %.1f s", self._model.role, self._model.name, _error(state), left, pause)


def _error(state: RetryCallState) -> EndpointError | None:
    error = state.outcome.exception() if state.outcome is not None else None
    return error if isinstance(error, EndpointError) else None


def _again(error: BaseException) -> bool:
    return isinstance(error, EndpointError) and error.kind in EndpointError.RETRIED


def _another(body: dict[str, Any], attempt: int) -> dict[str, Any]:
    """Ask otherwise after an unusable reply: with another seed, and not at temperature 0."""
    seed, temperature = body.get("seed"), body.get("temperature")
    changed = dict(body)
    if isinstance(seed, int):
        changed["seed"] = (seed + attempt) % (1 << 31)
    if isinstance(temperature, int | float) and temperature < WARMER:
        changed["temperature"] = WARMER
    return changed


def _kept(answer: Mapping[str, Any]) -> Kept:
    choice = answer["choices"][0]
    message = choice["message"]
    text, thought = split_reasoning(clean(_text(message.get("content"))))
    hidden = message.get("reasoning_content") or message.get("reasoning") or ""
    finish, model = choice.get("finish_reason"), answer.get("model")
    return Kept(
        text=text,
        reasoning="\n".join(part for part in (clean(_text(hidden)), thought) if part) or None,
        calls=tuple(_calls(message)),
        finish=finish if isinstance(finish, str) else None,
        model=clean(model) if isinstance(model, str) else None,
    )


def _text(content: Any) -> str:
    """Read a message's content: text, or a list of parts of which some are text."""
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _calls(message: Mapping[str, Any]) -> list[tuple[str, str]]:
    out = []
    given = message.get("tool_calls")
    for call in given if isinstance(given, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict) and isinstance(function.get("name"), str):
            arguments = function.get("arguments")
            out.append(
                (function["name"], arguments if isinstance(arguments, str) else canonical(arguments or {}).decode())
            )
    return out


def _usage(answer: Mapping[str, Any]) -> Usage | None:
    """Read the tokens a reply took; None where the server does not say."""
    given = answer.get("usage")
    if not isinstance(given, dict) or not {"prompt_tokens", "completion_tokens"} & set(given):
        return None
    prompt, completion = (_count(given.get(name)) for name in ("prompt_tokens", "completion_tokens"))
    return Usage(calls=1, prompt_tokens=prompt, completion_tokens=completion)


def _count(given: Any) -> int:
    """Read a number of tokens; what can be none, a negative one among it, is 0."""
    good = isinstance(given, int | float) and not isinstance(given, bool) and 0 <= given <= _MOST_TOKENS
    return int(given) if good else 0


def _check(answer: Mapping[str, Any], reply: Kept) -> None:
    """Refuse a reply that says nothing.

    Raises:
        EndpointError: refusal, cut or blank.
    """
    refusal = answer["choices"][0]["message"].get("refusal")
    if reply.finish == "content_filter" or refusal:
        raise EndpointError("refusal", clean(str(refusal or "stopped by a content filter"))[:300])
    if not reply.text and not reply.calls:
        if reply.finish == "length":
            raise EndpointError("cut", "the reply was cut before any text: max_tokens went into hidden reasoning")
        raise EndpointError("blank", "the reply is blank")


def _uncut(completion: Completion, calls: object) -> Completion:
    if completion.finish == "length":
        raise EndpointError("cut", "the reply was cut at max_tokens")
    return completion


def _completion(reply: Kept, usage: Usage | None) -> Completion:
    return Completion(reply.text, reply.reasoning, reply.finish, usage, reply.model)
