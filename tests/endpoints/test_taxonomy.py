"""However an endpoint fails over HTTP, the run ends, waits no longer than it must, and says what the server said."""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web
from endpoint_lab import FAULTS, answer, error

from meddc_bench.contracts import Decoding, Message
from meddc_bench.errors import EndpointError
from meddc_bench.llm import chat as chats
from meddc_bench.llm.chat import Chat, Model
from meddc_bench.llm.endpoint import Endpoint
from meddc_bench.llm.session import Session, running
from meddc_openai.loopback import Loopback

ASK = (Message("user", "好吗？"),)
KEY = "sk-test-0123456789"


async def ask(
    url: str, *, times: int = 1, models: tuple[str, ...] = ("judge",), session: Session | None = None, **how: Any
) -> list[Any]:
    """Ask models at an endpoint at once; return their words or errors."""
    with running(session or Session(**{"max_retries": 2, "timeout": 5.0, **how})) as now:
        chat = [Chat(Model(name, url, "judge"), url, functools.partial(Endpoint, url, KEY)) for name in models]
        asked = [one.generate(ASK, Decoding(), seed=seed) for seed in range(times) for one in chat]
        try:
            found = await asyncio.gather(*asked, return_exceptions=True)
        finally:
            await now.aclose()
    return [one if isinstance(one, BaseException) else one.text for one in found]


def asked(url: str, **how: Any) -> Any:
    (found,) = asyncio.run(ask(url, **how))
    return found


PERMANENT: dict[str, tuple[Callable[[], web.Response], str]] = {
    "a refused key": (lambda: error(401, "Incorrect API key", "invalid_api_key"), "auth: HTTP 401: Incorrect API key (inv"),
    "a model not allowed": (lambda: error(403, "no access to model"), "auth: HTTP 403: no access to model"),
    "an empty purse": (lambda: error(402, "Insufficient Balance"), "quota: HTTP 402: Insufficient Balance"),
    "a used-up quota": (
        lambda: error(429, "You exceeded your plan", "insufficient_quota", Retry_After="1"),
        "quota: HTTP 429: You exceeded your plan (insufficient_quota)",
    ),
    "a wrong request": (lambda: error(400, "messages: 不合法"), "permanent: HTTP 400: messages: 不合法"),
    "too long a prompt": (lambda: error(400, "maximum context length is 8"), "context: HTTP 400: maximum context length is 8"),
    "no such model": (lambda: error(404, "The model `x` does not exist"), "permanent: HTTP 404: The model `x` does not exist"),
    "too large a body": (lambda: web.Response(status=413), "permanent: HTTP 413: Request Entity Too Large"),
    "FastAPI's words": (
        lambda: answer({"detail": [{"loc": ["body", "x"], "msg": "Extra inputs are not permitted"}]}, 422),
        "permanent: HTTP 422: {'detail': [{'loc': ['body', 'x'], 'msg': 'Extra inputs are not permitted'}]}",
    ),
    "a filter": (lambda: error(400, "blocked", "content_filter"), "refusal: HTTP 400: blocked (content_filter)"),
    "plain text": (lambda: web.Response(status=400, text="nope\n\x00"), "permanent: HTTP 400: nope"),
}  # fmt: skip


@pytest.mark.parametrize("how", list(PERMANENT))
def test_what_cannot_pass_costs_one_request_and_is_told_in_the_servers_words(server: Loopback, how: str) -> None:
    make, words = PERMANENT[how]
    server.script("judge", make())
    found = asked(server.url)
    assert isinstance(found, EndpointError)
    assert str(found).startswith(words)
    assert server.counts["requests"] == 1


def no_completion(said: Any) -> Callable[[], web.Response]:
    return lambda: answer(said)


PASSING: dict[str, Callable[[], web.Response]] = {
    "500": lambda: error(500, "The server had an error"),
    "503": lambda: web.Response(status=503),
    "529": lambda: error(529, "overloaded"),
    "429 with seconds": lambda: error(429, "slow", Retry_After="0"),
    "429 with a date that has passed": lambda: error(429, "slow", Retry_After="Wed, 21 Oct 2015 07:28:00 GMT"),
    "429 with nonsense": lambda: error(429, "slow", Retry_After="bientôt"),
    "a page with 200": lambda: web.Response(text="<html>502 Bad Gateway</html>", content_type="text/html"),
    "an error with 200": no_completion({"error": {"message": "engine died", "code": 500}}),
    "no choices": no_completion({"choices": []}),
    "no message": no_completion({"choices": [{"finish_reason": "stop"}]}),
    "null": no_completion(None),
    "nothing": no_completion(b""),
    "half a character": no_completion(b'{"choices": [{"message": {"content": "\xe5\xa5"}}]}'),
    "an event stream": no_completion(b"data: {}\n\ndata: [DONE]\n"),
    "broken gzip": lambda: answer(b"\x1f\x8bno", Content_Encoding="gzip"),
}


@pytest.mark.parametrize("how", list(PASSING))
def test_what_may_pass_is_tried_again(server: Loopback, how: str) -> None:
    server.script("judge", PASSING[how](), PASSING[how](), "好")
    assert asked(server.url) == "好"
    assert server.counts["requests"] == 3
    server.script("judge", *(PASSING[how]() for _ in range(3)))
    found = asked(server.url)
    assert isinstance(found, EndpointError)
    assert found.kind == "transient"
    assert server.counts["requests"] == 6


@pytest.mark.parametrize("fault", FAULTS)
def test_the_connections_own_failures_are_tried_again_and_end(server: Loopback, fault: str) -> None:
    server.faults = {fault: 1.0}
    server.script("judge", '{"matches": []}')
    found = asked(server.url, max_retries=1)
    if fault == "badjson":
        assert found == '{"match', "prose is for whoever asked to judge"
        return
    assert found.kind == ("blank" if fault == "blank" else "transient")
    assert server.counts["requests"] == 2
    server.faults = {}
    server.script("judge", "好")
    assert asked(server.url) == "好"


GARBAGE = {
    "no HTTP": b"garbage\r\n\r\n",
    "a header without end": b"HTTP/1.1 200 OK\r\nX: " + b"a" * 100_000,
    "a negative length": b"HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\n",
    "a broken chunk": b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    "half a chunk": b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab",
    "nothing at all": b"",
}


@pytest.mark.parametrize("how", list(GARBAGE))
async def test_a_server_that_speaks_no_http_is_infrastructure_and_no_crash(how: str) -> None:
    async def garble(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(GARBAGE[how])
        writer.close()

    async with await asyncio.start_server(garble, "127.0.0.1", 0) as listening:
        (found,) = await ask(f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1", max_retries=1)
    assert isinstance(found, EndpointError)
    assert (found.kind, found.message.split(":")[0]) == ("transient", "cannot reach the endpoint")


def test_no_server_there_is_said_as_that_and_not_as_a_time_out() -> None:
    started = time.monotonic()
    found = asked("http://127.0.0.1:9/v1", max_retries=1)
    assert time.monotonic() - started < 3
    assert "cannot reach the endpoint: Cannot connect to host 127.0.0.1:9" in str(found)


def test_a_hang_is_given_up_and_tried_again_each_attempt_by_itself(server: Loopback) -> None:
    server.faults, server.slow = {"slow": 1.0}, 10.0
    started = time.monotonic()
    found = asked(server.url, max_retries=1, timeout=0.15)
    assert str(found) == "transient: no answer within 0.15 seconds"
    assert 0.3 <= time.monotonic() - started < 3
    assert server.counts["requests"] == 2


async def test_an_answer_that_drips_without_end_is_given_up() -> None:
    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        while not writer.is_closing():
            writer.write(b"1\r\n{\r\n")
            await asyncio.sleep(0.01)

    listening = await asyncio.start_server(drip, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
    (found,) = await ask(url, max_retries=0, timeout=0.2)
    listening.close()
    await asyncio.sleep(0.05)  # the server sees that the client has left
    assert str(found) == "transient: no answer within 0.2 seconds"


async def test_waiting_for_a_connection_is_no_time_out(server: Loopback) -> None:
    server.latency = 0.1
    found = await ask(server.url, times=6, max_connections=1, timeout=0.4, max_retries=0)
    assert not [one for one in found if isinstance(one, Exception)], "the last waited longer than its time-out"


async def test_no_more_requests_are_under_way_than_allowed(server: Loopback) -> None:
    now, most = [0], [0]
    plain = server._completion

    server.latency = 0.02
    draw = server._draw

    def begins(name: bytes) -> str:
        now[0] += 1
        most[0] = max(most[0], now[0])
        return draw(name)

    def ends(body: Any, said: Any) -> Any:
        now[0] -= 1
        return plain(body, said)

    server._draw, server._completion = begins, ends  # type: ignore[method-assign]
    await ask(server.url, times=20, max_connections=3)
    assert most[0] == 3


async def test_a_refused_key_stops_all_further_requests_of_the_run(server: Loopback) -> None:
    server.key = "another"
    found = await ask(server.url, times=10, models=("judge", "reader"), max_connections=1)
    assert {one.kind for one in found} == {"auth"}
    assert server.counts["requests"] == 1


@pytest.mark.parametrize("make", [PERMANENT["a model not allowed"][0], PERMANENT["an empty purse"][0]])
async def test_a_model_the_account_may_not_use_does_not_stop_the_others(
    server: Loopback, make: Callable[[], web.Response]
) -> None:
    server.script("judge", make())
    found = await ask(server.url, times=5, models=("judge", "doctor"), max_connections=1)
    assert [isinstance(one, EndpointError) for one in found] == [True, False] * 5
    assert (server.counts["judge"], server.counts["doctor"]) == (1, 5)


def test_retry_after_hours_is_capped(server: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chats, "LONGEST_WAIT", 0.1)
    server.script("judge", error(429, "slow", Retry_After="7200"), "好")
    started = time.monotonic()
    assert asked(server.url) == "好"
    assert 0.1 <= time.monotonic() - started < 3


@pytest.mark.parametrize("refused", ["response_format", "json_schema", "seed", "temperature", "max_tokens"])
def test_a_refused_field_costs_one_request_more_each_and_no_failure(server: Loopback, refused: str) -> None:
    server.refuses = frozenset({refused})
    session = Session(max_retries=0)
    decoding = Decoding(0.2, 0.9, 64, {"type": "object"})

    async def both() -> None:
        with running(session):
            chat = Chat(Model("judge", server.url, "judge"), server.url, functools.partial(Endpoint, server.url, KEY))
            for seed in (1, 2):
                await chat.generate(ASK, decoding, seed=seed)
            await session.aclose()

    asyncio.run(both())
    steps = session.report()["stepped_down"][f"judge judge at {server.url}"]
    assert steps == (["json_schema", "response_format"] if refused == "response_format" else [refused])
    assert server.counts["requests"] == 2 + len(steps)
    last = server.bodies[-1]
    kind = last.get("response_format", {}).get("type")
    assert kind == {"json_schema": "json_object", "response_format": None}.get(refused, "json_schema")
    assert (refused in last) is (refused == "json_schema" and "json_schema" in last)
    assert ("max_completion_tokens" in last) is (refused == "max_tokens")
