"""One OpenAI-compatible chat endpoint: one attempt, and every way it can fail named."""

from __future__ import annotations

import asyncio
import datetime
import email.utils
import json
from collections.abc import Callable, Mapping
from typing import Any

import aiohttp
import httpx2
import msgspec
import openai

from meddc_bench.errors import EndpointError
from meddc_bench.llm.session import Session
from meddc_bench.text import one_line

_CONTEXT = (
    "context length", "context_length", "maximum context", "too many tokens", "prompt is too long", "input length",
    "input is too long", "max_model_len", "上下文", "输入过长",
)  # fmt: skip
_FILTER = (
    "content_filter",
    "content filter",
    "content_policy",
    "data_inspection",
    "inappropriate",
    "内容安全",
    "违规",
    "敏感",
)
_QUOTA = ("insufficient_quota", "insufficient balance", "arrearage", "余额", "欠费")
_SPENT = "exceeded your current quota"
"""Said of an empty account, and of a limit a minute with the time to wait."""

_LONG_ENOUGH = 8
"""Characters a key must have to be looked for in what comes back; a shorter one is none, such as `none`."""

_decode = msgspec.json.Decoder().decode


OPENING = 0.001
"""Seconds between the first calls to an endpoint."""


class Endpoint:
    """An endpoint by base URL and key, with so many connections at most and a time limit for each attempt.

    The requests go through the openai library's own aiohttp client, with its headers, but past its typed models, which
    cost more than all the rest of a call (docs/benchmarks.md). Once it has refused the key, or a model to the account,
    further calls of that fail at once with its words. The key stands in nothing that comes back: a server may repeat it
    in its errors and in its replies.
    """

    def __init__(self, base_url: str, api_key: str, session: Session):
        width = self._width = session.max_connections
        self._opened = 0
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=width, keepalive_expiry=60)
        self._timeout, self._slots = session.timeout, asyncio.Semaphore(width)
        self._key, self._shown = api_key, session.hide(api_key)
        if self._shown == api_key:
            self._shown = "[key]"
        self._hide = session.hide
        self._denied: dict[str | None, EndpointError] = {}
        self._http = openai.DefaultAioHttpClient(limits=limits, timeout=None, trust_env=not _here(base_url))
        self._client = openai.AsyncOpenAI(base_url=base_url, api_key=api_key or "none", http_client=self._http)
        self._url = httpx2.URL(f"{base_url}/chat/completions")
        self._headers = httpx2.Headers(_headers(self._client))

    async def post(self, body: Mapping[str, Any], raw: bytes) -> Mapping[str, Any]:
        """Send one chat completion, `body` encoded as `raw`; return the decoded answer.

        Raises:
            EndpointError: by kind; the words are the server's.
        """
        await self._open_gently()
        request = httpx2.Request("POST", self._url, headers=self._headers, content=raw)
        async with self._slots:
            for one in (None, str(body.get("model"))):
                if (denied := self._denied.get(one)) is not None:
                    raise EndpointError(denied.kind, denied.message)
            try:
                async with asyncio.timeout(self._timeout):
                    answer = await self._http.send(request)
            except TimeoutError:
                raise EndpointError("transient", f"no answer within {self._timeout:g} seconds") from None
            except (httpx2.HTTPError, aiohttp.ClientError, OSError) as error:
                words = one_line(self._covered(str(error.__cause__ or error))) or type(error).__name__
                raise EndpointError("transient", f"cannot reach the endpoint: {words}") from None
        if answer.status_code == 200:
            await asyncio.sleep(0)  # who waits for the connection sends first, and this answer is worked on meanwhile
            found: Mapping[str, Any] = self._cleared(_checked(answer.content, self._covered))
            return found
        words = _words(answer.content, self._covered) or answer.reason_phrase
        fault = status_fault(answer.status_code, words, answer.headers)
        if fault.kind in ("auth", "quota"):
            self._denied[None if answer.status_code == 401 else str(body.get("model"))] = fault
        raise fault

    async def _open_gently(self) -> None:
        """Space the first calls, one a connection: a herd that starts together stays together and waits for itself."""
        if self._opened < self._width:
            pause = self._opened * OPENING
            self._opened += 1
            await asyncio.sleep(pause)

    def _covered(self, words: str) -> str:
        """Put a name for the keys of the environment and for this endpoint's own, where a server repeats them."""
        return self._hide(self._cleared(words))

    def _cleared(self, value: Any) -> Any:
        """Put a name for the key in an answer; it is looked for in the decoded texts, which no escape hides."""
        if isinstance(value, str):
            return value.replace(self._key, self._shown) if len(self._key) >= _LONG_ENOUGH else value
        if isinstance(value, dict):
            return {name: self._cleared(one) for name, one in value.items()}
        return [self._cleared(one) for one in value] if isinstance(value, list) else value

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()


def _here(url: str) -> bool:
    """Tell whether a server is on this machine, where no proxy of the environment is wanted."""
    host = httpx2.URL(url).host
    return host == "localhost" or host.startswith("127.") or host == "::1"


def _headers(client: openai.AsyncOpenAI) -> dict[str, str]:
    """Take the library's headers, but not the dozen that describe this machine: each costs, and none is needed."""
    given = {**client.default_headers, **client.auth_headers}
    return {
        name: value for name, value in given.items() if isinstance(value, str) and not name.startswith("X-Stainless")
    }


def status_fault(status: int, words: str, headers: Mapping[str, str]) -> EndpointError:
    """Name the kind of an HTTP error by its status and the server's words."""
    low = words.lower()
    words = f"HTTP {status}: {words}"
    later = _retry_after(headers)
    if status == 402 or any(mark in low for mark in _QUOTA) or (later is None and _SPENT in low):
        return EndpointError("quota", words)
    if status in (400, 403, 451) and any(mark in low for mark in _FILTER):
        return EndpointError("refusal", words)
    if status in (401, 403):
        return EndpointError("auth", words)
    if status in (400, 413, 422) and any(mark in low for mark in _CONTEXT):
        return EndpointError("context", words)
    if status in (408, 409, 425, 429) or status >= 500:
        return EndpointError("transient", words, retry_after=later)
    if status == 404 and "model" not in low:
        words += " (is it the right base_url? many end in /v1)"
    return EndpointError("permanent", words)


def _decoded(content: bytes) -> Any:
    """Decode JSON; half a character, as some servers write it, is for the reader to replace."""
    try:
        return _decode(content)
    except ValueError:
        return json.loads(content)


def _checked(content: bytes, covered: Callable[[str], str]) -> Mapping[str, Any]:
    """Decode an answer; one that is no chat completion (a gateway's HTML page, an error with status 200) is an error."""
    try:
        found = _decoded(content)
    except ValueError:
        page = one_line(covered(content.decode("utf-8", "replace")))[:80]
        raise EndpointError("transient", f"the answer is no JSON: {page}") from None
    if not isinstance(found, dict):
        raise EndpointError("transient", "the answer is no chat completion")
    choices = found.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict) or not isinstance(choice.get("message"), dict):
        words = one_line(covered(str(found.get("error") or found)))
        raise EndpointError("transient", f"the answer is no chat completion: {words}")
    return found


def _words(content: bytes, covered: Callable[[str], str]) -> str:
    """Find the server's words in the body of an error."""
    try:
        body = _decoded(content)
    except ValueError:
        return one_line(covered(content.decode("utf-8", "replace")))
    if not isinstance(body, dict):
        return one_line(covered(str(body)))
    inner = body.get("error", body)
    message = inner.get("message") if isinstance(inner, dict) else inner
    code = inner.get("code") if isinstance(inner, dict) else None
    said = covered(str(message or body))
    return one_line(said) + (f" ({one_line(covered(str(code)))})" if code and str(code) not in said else "")


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Read Retry-After, in seconds or as a date."""
    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        seconds = float(value)
        return seconds if seconds >= 0 else None
    except ValueError:
        pass
    try:
        when = email.utils.parsedate_to_datetime(value)
    except ValueError:
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=datetime.UTC)
    return max(0.0, (when - datetime.datetime.now(datetime.UTC)).total_seconds())
