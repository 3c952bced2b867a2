"""A library on another machine, in the form of Search-R1's retrieval server.

    POST URL/retrieve  {"queries": ["…"], "topk": 3, "return_scores": true}
    -> {"result": [[{"document": {"id": "…", "contents": "\\"Title\\"\\ntext"}, "score": 12.3}, …]]}

What goes wrong with it is the infrastructure's failure, never a policy's.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from typing import Any

import aiohttp
from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, wait_exponential

from meddc_bench.environments.library import QUERY_CHARACTERS, Passage
from meddc_bench.errors import MedDDCError
from meddc_bench.text import clean, one_line

SPARE = 7
"""Passages asked for beyond those wanted, where some may come from the case's own source."""
LARGEST = 4 * 2**20
"""Bytes of an answer that are read."""
WAIT = wait_exponential(multiplier=0.2, max=5)


class SearchError(MedDDCError):
    """A library on another machine gave nothing usable; `passes` where another try may go better."""

    def __init__(self, message: str, *, passes: bool = True):
        super().__init__(message)
        self.passes = passes


class Retriever:
    """A client of one server: each attempt has its time limit, and what may pass is tried again."""

    def __init__(self, url: str, *, timeout: float = 10.0, retries: int = 2):
        url = url.rstrip("/")
        self._url = url if url.endswith("/retrieve") else f"{url}/retrieve"
        self._timeout, self._retries = timeout, retries
        self._http: aiohttp.ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def find(self, query: str, most: int, sources: frozenset[str] = frozenset()) -> tuple[Passage, ...]:
        """Return the passages that the server finds best, without those that come from `sources`.

        Raises:
            SearchError: nothing usable came, after the retries.
        """
        wanted = most + SPARE if sources else most
        body = {"queries": [query[:QUERY_CHARACTERS]], "topk": wanted, "return_scores": True}
        async for attempt in AsyncRetrying(
            stop=stop_after_attempt(1 + self._retries), wait=WAIT, retry=retry_if_exception(_may_pass), reraise=True
        ):
            with attempt:
                found = list(_passages(await self._post(body), self._url))
                return tuple([one for one in found if not one.comes_from(sources)][:most])
        raise AssertionError("tenacity gave neither a result nor an error")

    async def aclose(self) -> None:
        """Close the connections."""
        session, self._http = self._http, None
        if session is not None:
            await session.close()

    async def _post(self, body: Mapping[str, Any]) -> Any:
        session = self._session()
        try:
            async with asyncio.timeout(self._timeout), session.post(self._url, json=body) as answer:
                content, status = await _within(answer, self._url), answer.status
        except TimeoutError:
            raise SearchError(f"{self._url}: no answer within {self._timeout:g} seconds") from None
        except (aiohttp.ClientError, OSError) as error:
            words = one_line(str(error), 200) or type(error).__name__
            raise SearchError(f"{self._url}: cannot be reached: {words}") from None
        if status != 200:
            words = one_line(content.decode("utf-8", "replace"), 200)
            passes = status in (408, 425, 429) or status >= 500
            raise SearchError(f"{self._url}: HTTP {status}: {words}", passes=passes)
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            raise SearchError(f"{self._url}: the answer is no JSON") from None

    def _session(self) -> aiohttp.ClientSession:
        """Return the connections of the running loop; another loop, as in a trainer, has its own."""
        loop = asyncio.get_running_loop()
        if self._http is None or self._loop is not loop:
            self._http, self._loop = aiohttp.ClientSession(), loop
        return self._http


async def _within(answer: aiohttp.ClientResponse, url: str) -> bytes:
    """Read an answer, unless it is too long to be one."""
    content = bytearray()
    async for chunk in answer.content.iter_chunked(1 << 16):
        content += chunk
        if len(content) > LARGEST:
            raise SearchError(f"{url}: the answer is longer than {LARGEST} bytes", passes=False)
    return bytes(content)


def _may_pass(error: BaseException) -> bool:
    return isinstance(error, SearchError) and error.passes


def _passages(answer: Any, url: str) -> Iterator[Passage]:
    """Read an answer: one list for the one query, of documents, with their scores or without.

    Raises:
        SearchError: it is not of the form.
    """
    result = answer.get("result") if isinstance(answer, dict) else None
    if not isinstance(result, list) or len(result) != 1 or not isinstance(result[0], list):
        raise SearchError(f'{url}: expected {{"result": [[{{"document": …, "score": …}}, …]]}}, one list for the query')
    for number, one in enumerate(result[0], 1):
        document = one.get("document", one) if isinstance(one, dict) else None
        contents = document.get("contents", document.get("text")) if isinstance(document, dict) else None
        if not isinstance(document, dict) or not isinstance(contents, str):
            raise SearchError(f"{url}: document {number} has no `contents`")
        yield _passage(document, contents, number)


def _passage(document: Mapping[str, Any], contents: str, number: int) -> Passage:
    """Take title and text apart: the first line of `contents` is the title, in quotes, unless there is a field for it."""
    title, text = _text(document, "title"), contents
    head, newline, rest = contents.partition("\n")
    if not title and newline and rest.strip():
        title, text = head.strip().strip('"'), rest
    source = _text(document, "source") or _text(document, "pmid") or _text(document, "pmcid")
    return Passage(_text(document, "id") or str(number), clean(title), clean(text), source)


def _text(document: Mapping[str, Any], key: str) -> str:
    value = document.get(key)
    return clean(str(value)) if isinstance(value, str | int) else ""
