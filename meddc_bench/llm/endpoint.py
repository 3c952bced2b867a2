"""One OpenAI-compatible chat endpoint: one attempt, and every way it can fail named."""

from __future__ import annotations

import asyncio
import datetime
import email.utils
from collections.abc import Mapping
from typing import Any

import httpx2
import msgspec
import openai

from meddc_bench.errors import EndpointError
from meddc_bench.llm.session import Session

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
_QUOTA = ("insufficient_quota", "insufficient balance", "exceeded your current quota", "arrearage", "余额", "欠费")

_decode = msgspec.json.Decoder().decode


class Endpoint:
    """An endpoint by base URL and key, with so many connections at most and a time limit for each attempt.

    Once it has refused the key or the account, further calls fail at once with its words.
    """

    def __init__(self, base_url: str, api_key: str, session: Session):
        width = session.max_connections
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=width, keepalive_expiry=60)
        self._timeout, self._slots = session.timeout, asyncio.Semaphore(width)
        self._hide = session.hide
        self._denied: EndpointError | None = None
        self._client = openai.AsyncOpenAI(
            base_url=base_url, api_key=api_key or "none", max_retries=0, timeout=None,
            http_client=openai.DefaultAioHttpClient(limits=limits, timeout=None, trust_env=False),
        )  # fmt: skip

    async def post(self, body: Mapping[str, Any], raw: bytes) -> Mapping[str, Any]:
        """Send one chat completion, `body` encoded as `raw`; return the decoded answer.

        Raises:
            EndpointError: by kind; the words are the server's.
        """
        async with self._slots:
            if self._denied is not None:
                raise self._denied
            try:
                async with asyncio.timeout(self._timeout):
                    answer = await self._client.post("/chat/completions", cast_to=httpx2.Response, content=raw)
            except openai.APIStatusError as error:
                raise self._fault(error) from None
            except (TimeoutError, openai.APITimeoutError):
                raise EndpointError("transient", f"no answer within {self._timeout:g} seconds") from None
            except (openai.OpenAIError, httpx2.HTTPError, OSError) as error:
                words = self._hide(_short(error.__cause__ or error) or type(error).__name__)
                raise EndpointError("transient", f"cannot reach the endpoint: {words}") from None
        return _checked(answer.content)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    def _fault(self, error: openai.APIStatusError) -> EndpointError:
        fault = status_fault(error.status_code, self._hide(_words(error)), error.response.headers)
        if fault.kind in ("auth", "quota"):
            self._denied = fault
        return fault


def status_fault(status: int, words: str, headers: Mapping[str, str]) -> EndpointError:
    """Name the kind of an HTTP error by its status and the server's words."""
    low = words.lower()
    words = f"HTTP {status}: {words}"
    if status == 402 or any(mark in low for mark in _QUOTA):
        return EndpointError("quota", words)
    if status in (400, 403, 451) and any(mark in low for mark in _FILTER):
        return EndpointError("refusal", words)
    if status in (401, 403):
        return EndpointError("auth", words)
    if status in (400, 413, 422) and any(mark in low for mark in _CONTEXT):
        return EndpointError("context", words)
    if status in (408, 409, 425, 429) or status >= 500:
        return EndpointError("transient", words, retry_after=_retry_after(headers))
    return EndpointError("permanent", words)


def _checked(content: bytes) -> Mapping[str, Any]:
    """Decode an answer; one that is no chat completion (a gateway's HTML page, an error with status 200) is an error."""
    try:
        found = _decode(content)
    except (msgspec.DecodeError, UnicodeError):
        raise EndpointError(
            "transient", f"the answer is no JSON: {_short(content[:80].decode('utf-8', 'replace'))}"
        ) from None
    if not isinstance(found, dict):
        raise EndpointError("transient", "the answer is no chat completion")
    choices = found.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict) or not isinstance(choice.get("message"), dict):
        raise EndpointError("transient", f"the answer is no chat completion: {_short(found.get('error') or found)}")
    return found


def _words(error: openai.APIStatusError) -> str:
    body = error.body
    if not isinstance(body, dict):
        return _short(body or error.message)
    inner = body.get("error", body)
    message = inner.get("message") if isinstance(inner, dict) else inner
    code = inner.get("code") if isinstance(inner, dict) else None
    return _short(message or body) + (f" ({code})" if code and str(code) not in str(message) else "")


def _short(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 300 else text[:299] + "…"


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
