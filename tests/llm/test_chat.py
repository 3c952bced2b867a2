"""A call is paid once, asked again only where that can help, and never answered with another's reply."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from meddc_bench.contracts import Completion, Decoding, Message
from meddc_bench.errors import CostLimitError, EndpointError
from meddc_bench.llm import chat as chats
from meddc_bench.llm.calls import NAME, spent
from meddc_bench.llm.chat import Chat
from meddc_bench.llm.policy import ChatPolicy
from meddc_bench.llm.session import Price, Session, running

Made = Callable[..., Any]
ASK = (Message("system", "你是裁判。"), Message("user", "好吗？"))
SAMPLING = Decoding(0.2, 0.9, 256)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    """The session of a run that retries four times."""
    with running(Session(folder=tmp_path / "run", max_retries=4)) as found:
        yield found
        asyncio.run(found.aclose())


async def one(chat: Chat, messages: Any = ASK, decoding: Decoding = SAMPLING, seed: int = 1, **more: Any) -> str:
    found: str = await chat.ask(messages, decoding, seed=seed, accept=lambda completion, _: completion.text, **more)
    return found


def failed(chat: Chat, **how: Any) -> EndpointError:
    with pytest.raises(EndpointError) as raised:
        asyncio.run(one(chat, **how))
    return raised.value


def transient(after: float | None = 0.0) -> EndpointError:
    return EndpointError("transient", "HTTP 503: busy", retry_after=after)


def picky(completion: Completion, calls: object) -> str:
    """Accept what is a number."""
    if not completion.text.isdigit():
        raise EndpointError("unparsable", "no number")
    return completion.text


# ── the cache ────────────────────────────────────────────────────────────────────────────────────


def test_an_equal_call_is_paid_once_now_and_after_a_restart(
    session: Session, scripted: Made, chat: Made, tmp_path: Path
) -> None:
    backend = scripted("一", "二")
    assert [asyncio.run(one(chat(backend))) for _ in range(2)] == ["一", "一"]
    asyncio.run(session.aclose())
    with running(Session(folder=tmp_path / "run")) as later:
        assert asyncio.run(one(chat(backend))) == "一"
        asyncio.run(later.aclose())
    assert (len(backend.bodies), session.cached, later.cached) == (1, 1, 1)


async def test_equal_calls_at_once_are_paid_once(session: Session, scripted: Made, chat: Made) -> None:
    backend = scripted("一", "二")
    asked = chat(backend)
    assert await asyncio.gather(*(one(asked) for _ in range(5))) == ["一"] * 5
    assert len(backend.bodies) == 1


FLIPS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("model", {"name": "m-2"}, {}),
    ("role", {"role": "reader"}, {}),
    ("endpoint", {"place": "http://elsewhere/v1"}, {}),
    ("extra_body", {"enable_thinking": False}, {}),
    ("another value in extra_body", {"top_k": 2}, {}),
    ("temperature", {}, {"decoding": Decoding(0.3, 0.9, 256)}),
    ("temperature left to the endpoint", {}, {"decoding": Decoding(None, 0.9, 256)}),
    ("top_p", {}, {"decoding": Decoding(0.2, 0.8, 256)}),
    ("max_tokens", {}, {"decoding": Decoding(0.2, 0.9, 257)}),
    ("schema", {}, {"decoding": Decoding(0.2, 0.9, 256, {"type": "object"})}),
    ("seed", {}, {"seed": 2}),
    ("a byte of the prompt", {}, {"messages": (ASK[0], Message("user", "好吗?"))}),
    ("a space of the prompt", {}, {"messages": (ASK[0], Message("user", "好吗？ "))}),
    ("a role in the prompt", {}, {"messages": (Message("user", "你是裁判。"), ASK[1])}),
    ("tools", {}, {"tools": [{"type": "function", "function": {"name": "diagnose"}}]}),
]


@pytest.mark.parametrize(("made", "asked"), [flip[1:] for flip in FLIPS], ids=[flip[0] for flip in FLIPS])
async def test_a_changed_input_is_never_answered_with_the_old_reply(
    session: Session, scripted: Made, chat: Made, made: dict[str, Any], asked: dict[str, Any]
) -> None:
    backend = scripted("旧", "新")
    assert await one(chat(backend)) == "旧"
    assert await one(chat(backend, **made), **asked) == "新"


async def test_repeats_stay_repeats_where_extra_body_fixes_the_seed(
    session: Session, scripted: Made, chat: Made
) -> None:
    backend = scripted("一", "二")
    fixed = chat(backend)
    fixed.model.extra_body["seed"] = 42
    assert [await one(fixed, seed=seed) for seed in (1, 2, 1)] == ["一", "二", "一"]
    assert [body["seed"] for body in backend.bodies] == [42, 42]


async def test_a_large_seed_is_sent_as_endpoints_take_it_and_stays_another(
    session: Session, scripted: Made, chat: Made
) -> None:
    backend = scripted("一", "二")
    asked = chat(backend)
    assert [await one(asked, seed=seed) for seed in (5, 5 + (1 << 31))] == ["一", "二"]
    assert [body["seed"] for body in backend.bodies] == [5, 5]


UNUSABLE = {
    "blank": {"text": ""},
    "white": {"text": " \n\u200b"},
    "null": {"text": None},
    "thought alone": {"text": "<think>想</think>"},
    "unclosed thought": {"text": "<think>想着想着"},
    "null beside reasoning": {"text": None, "reasoning_content": "想"},
    "parts without text": {"text": [{"type": "image"}]},
    "refused": {"text": None, "refusal": "不行"},
    "refused beside text": {"text": "5", "refusal": "不行"},
    "filtered": {"text": "5", "finish": "content_filter"},
    "cut in thought": {"text": "", "finish": "length"},
    "unparsable": {"text": "不是数"},
    "a tool no one offered": {"text": "", "tool_calls": [{"function": {"name": "x"}}]},
}


@pytest.mark.parametrize("how", list(UNUSABLE))
def test_a_reply_that_could_not_be_used_is_counted_and_never_served_again(
    session: Session, scripted: Made, chat: Made, said: Made, how: str, tmp_path: Path
) -> None:
    session.max_retries = 0
    given = dict(UNUSABLE[how])
    backend = scripted(said(given.pop("text"), **given), said("7"))
    asking = chat(backend)
    with pytest.raises(EndpointError) as raised:
        asyncio.run(asking.ask(ASK, SAMPLING, seed=1, accept=picky))
    assert raised.value.kind in ("blank", "refusal", "cut", "unparsable")
    assert asyncio.run(asking.ask(ASK, SAMPLING, seed=1, accept=picky)) == "7"
    assert session.report()["usage"] == [
        {"role": "judge", "model": "m-1", "calls": 2, "unusable": 1, "prompt_tokens": 14, "completion_tokens": 6}
    ]
    assert [one.unusable for one in spent(tmp_path / "run" / NAME)] == [raised.value.kind, None]


def test_a_kept_reply_that_is_accepted_no_more_is_asked_again(session: Session, scripted: Made, chat: Made) -> None:
    backend = scripted("以前可以", "7")
    asking = chat(backend)
    assert asyncio.run(one(asking)) == "以前可以"
    assert asyncio.run(asking.ask(ASK, SAMPLING, seed=1, accept=picky)) == "7"
    assert asyncio.run(one(asking)) == "7", "the newer one is served"


async def test_text_cut_at_max_tokens_is_no_reading(session: Session, scripted: Made, chat: Made, said: Made) -> None:
    backend = scripted(said('{"diagnoses": ["急性', finish="length"), said("整句。"))
    assert (await chat(backend).generate(ASK, SAMPLING, seed=1)).text == "整句。"
    assert len(backend.bodies) == 2


# ── retries ──────────────────────────────────────────────────────────────────────────────────────


def test_what_may_pass_is_tried_again_with_the_same_request(session: Session, scripted: Made, chat: Made) -> None:
    backend = scripted(transient(), transient(), "好")
    assert asyncio.run(one(chat(backend))) == "好"
    assert backend.bodies[0] == backend.bodies[1] == backend.bodies[2]
    assert session.retries == 2


@pytest.mark.parametrize(("retries", "requests"), [(0, 1), (1, 2), (4, 5)])
def test_retries_are_as_many_as_the_user_allows_and_zero_means_zero(
    session: Session, scripted: Made, chat: Made, retries: int, requests: int
) -> None:
    session.max_retries = retries
    backend = scripted(transient())
    assert failed(chat(backend)).kind == "transient"
    assert len(backend.bodies) == requests


@pytest.mark.parametrize("kind", ["auth", "quota", "permanent", "context", "refusal"])
def test_what_cannot_pass_fails_at_once_with_one_request(
    session: Session, scripted: Made, chat: Made, kind: Any
) -> None:
    backend = scripted(EndpointError(kind, "HTTP 400: 没有这回事"))
    assert str(failed(chat(backend))) == f"{kind}: HTTP 400: 没有这回事"
    assert (len(backend.bodies), session.retries) == (1, 0)


def test_a_model_that_never_answers_as_asked_is_given_up_after_a_few_tries(
    session: Session, scripted: Made, chat: Made
) -> None:
    session.max_retries = 50
    backend = scripted("")
    assert failed(chat(backend)).kind == "blank"
    assert len(backend.bodies) == chats.UNUSABLE_TRIES


@pytest.mark.parametrize(("temperature", "asked"), [(0.0, [0.0, 0.3, 0.3]), (0.8, [0.8] * 3), (None, [None] * 3)])
def test_after_an_unusable_reply_the_model_is_not_asked_for_the_very_same_again(
    session: Session, scripted: Made, chat: Made, temperature: float | None, asked: list[float | None]
) -> None:
    backend = scripted("", "", "好")
    assert asyncio.run(one(chat(backend), decoding=Decoding(temperature))) == "好"
    assert [body.get("temperature") for body in backend.bodies] == asked
    assert len({body["seed"] for body in backend.bodies}) == 3
    assert asyncio.run(one(chat(backend), decoding=Decoding(temperature))) == "好"
    assert len(backend.bodies) == 3, "it is kept for the call as it was first made"


@pytest.mark.parametrize("extra", [{"temperature": None}, {"seed": None}, {"seed": "x", "temperature": "y"}])
def test_odd_values_in_extra_body_do_not_break_a_retry(
    session: Session, scripted: Made, chat: Made, extra: dict[str, Any]
) -> None:
    backend = scripted("", "好")
    assert asyncio.run(one(chat(backend, **extra))) == "好"


def waits(session: Session, scripted: Made, chat: Made, monkeypatch: pytest.MonkeyPatch, *errors: Any) -> list[float]:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr("asyncio.sleep", sleep)
    assert asyncio.run(one(chat(scripted(*errors, "好")))) == "好"
    return slept


@pytest.mark.parametrize(("after", "waited"), [(0.0, 0.0), (1.5, 1.5), (7200.0, 60.0), (float("inf"), 60.0)])
def test_the_servers_wait_is_kept_to_but_never_for_hours(
    session: Session, scripted: Made, chat: Made, monkeypatch: pytest.MonkeyPatch, after: float, waited: float
) -> None:
    assert waits(session, scripted, chat, monkeypatch, transient(after)) == [waited]


def test_without_the_servers_word_the_waits_grow_up_to_a_cap(
    session: Session, scripted: Made, chat: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.max_retries = 20
    monkeypatch.setattr(chats, "FIRST_WAIT", 0.5)
    slept = waits(session, scripted, chat, monkeypatch, *[transient(None)] * 12)
    assert all(low <= wait <= 60 for low, wait in zip((0.5, 1, 2, 4, 8, 16, 32, 60), slept, strict=False))
    assert slept[-1] == 60


def test_a_wait_is_said_with_its_length_and_what_is_left(
    session: Session, scripted: Made, chat: Made, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "meddc_bench.llm")
    waits(session, scripted, chat, monkeypatch, transient(30.0), transient(0.0))
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("WARNING", "judge m-1: transient: HTTP 503: busy; retry 1 of 4 in 30.0 s"),
        ("INFO", "judge m-1: transient: HTTP 503: busy; retry 2 of 4 in 0.0 s"),
    ]


def test_a_run_that_is_interrupted_does_not_wait_for_a_retry(session: Session, scripted: Made, chat: Made) -> None:
    async def interrupted() -> None:
        task = asyncio.create_task(one(chat(scripted(transient(50.0)))))
        await asyncio.sleep(0.02)
        task.cancel()
        async with asyncio.timeout(1):
            await asyncio.wait([task])

    asyncio.run(interrupted())


# ── fields an endpoint refuses ───────────────────────────────────────────────────────────────────

TOOLS = [{"type": "function", "function": {"name": "diagnose"}}]
WANTED = Decoding(0.2, 0.9, 256, {"type": "object"})


def refusing(*fields: str) -> Callable[[Any], Any]:
    """Answer as an endpoint that refuses some fields, the first of them in its words."""

    def reply(body: Any) -> Any:
        kind = body.get("response_format", {}).get("type")
        there = {*body, *([kind] if kind else [])}
        named = [one for one in fields if one in there]
        return EndpointError("permanent", f"HTTP 400: Unsupported parameter: '{named[0]}'") if named else "好"

    return reply


@pytest.mark.parametrize(
    ("fields", "gone", "left"),
    [
        (("json_schema",), ["json_schema"], {"response_format": {"type": "json_object"}}),
        (("response_format",), ["json_schema", "response_format"], {"response_format": None}),
        (("seed",), ["seed"], {"seed": None}),
        (("tools",), ["tools"], {"tools": None}),
        (("temperature", "top_p"), ["temperature", "top_p"], {"temperature": None, "top_p": None}),
        (("max_tokens",), ["max_tokens"], {"max_tokens": None, "max_completion_tokens": 256}),
        (("max_tokens", "max_completion_tokens"), ["max_tokens", "max_completion_tokens"], {"max_completion_tokens": None}),
        (("seed", "response_format", "tools"), ["seed", "json_schema", "response_format", "tools"], {"seed": None}),
    ],
)  # fmt: skip
def test_a_field_an_endpoint_refuses_is_left_out_once_and_said(
    session: Session, scripted: Made, chat: Made, fields: tuple[str, ...], gone: list[str], left: dict[str, Any]
) -> None:
    backend = scripted(refusing(*fields))
    asking = chat(backend)
    for seed in (1, 2):
        assert asyncio.run(one(asking, decoding=WANTED, seed=seed, tools=TOOLS)) == "好"
    assert len(backend.bodies) == len(gone) + 2, "what was refused once is not tried again"
    assert {name: backend.bodies[-1].get(name) for name in left} == left
    assert session.report()["stepped_down"] == {"judge m-1 at http://there/v1": gone}
    assert session.retries == 0
    asyncio.run(one(asking, decoding=WANTED, tools=TOOLS))
    assert len(backend.bodies) == len(gone) + 2, "the reply is kept for the call as it was meant"


@pytest.mark.parametrize(
    "words",
    [
        "The model `doubao-seed-1-6` does not exist",
        "model: seed-oss is not loaded",
        "my_tools.py: no such deployment",
        "Unknown parameter: 'stream_options'",
        "Unsupported parameter: 'logprobs'",
    ],
)
def test_a_refusal_that_is_not_about_a_field_changes_no_request(
    session: Session, scripted: Made, chat: Made, words: str
) -> None:
    backend = scripted(EndpointError("permanent", f"HTTP 404: {words}"))
    assert words in str(failed(chat(backend), tools=TOOLS))
    assert len(backend.bodies) == 1
    assert session.report()["stepped_down"] == {}


def test_an_endpoint_that_refuses_everything_is_not_asked_for_ever(
    session: Session, scripted: Made, chat: Made
) -> None:
    words = "response_format json_schema tools seed temperature top_p max_tokens max_completion_tokens model messages"
    backend = scripted(EndpointError("permanent", f"HTTP 400: {words}"))
    assert failed(chat(backend), decoding=WANTED, tools=TOOLS).kind == "permanent"
    assert len(backend.bodies) <= 9


async def test_calls_under_way_when_a_field_is_refused_step_down_too(session: Session, chat: Made) -> None:
    class Slow:
        bodies: list[Any] = []  # noqa: RUF012

        async def post(self, body: Any, raw: bytes) -> Any:
            self.bodies.append(body)
            await asyncio.sleep(0.001)
            if "seed" in body:
                raise EndpointError("permanent", "HTTP 400: seed is not supported")
            return {"choices": [{"message": {"content": "好"}}]}

        async def aclose(self) -> None: ...

    backend = Slow()
    asking = chat(backend)
    assert await asyncio.gather(*(one(asking, seed=seed) for seed in range(6))) == ["好"] * 6
    assert len(backend.bodies) == 12
    assert session.report()["stepped_down"] == {"judge m-1 at http://there/v1": ["seed"]}


# ── what comes back ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("message", "text", "reasoning"),
    [
        ({"content": "<think>想</think>好"}, "好", "想"),
        ({"content": "想</think>好"}, "好", "想"),
        ({"content": "<think>甲<think>乙</think>丙</think>好"}, "好", "甲<think>乙</think>丙"),
        ({"content": "好", "reasoning_content": "想"}, "好", "想"),
        ({"content": "好", "reasoning": "想"}, "好", "想"),
        ({"content": "<think>乙</think>好", "reasoning_content": "甲"}, "好", "甲\n乙"),
        ({"content": [{"type": "text", "text": "好"}, {"type": "x"}, 5]}, "好", None),
        ({"content": "\x1b[2J好\u202e\ud800"}, "好\ufffd", None),
    ],
)
async def test_hidden_reasoning_is_kept_apart(
    session: Session, scripted: Made, chat: Made, message: dict[str, Any], text: str, reasoning: str | None
) -> None:
    backend = scripted({"choices": [{"message": message}]})
    for _ in range(2):  # as it comes, and from the cache
        found = await chat(backend).generate(ASK, SAMPLING, seed=1)
        assert (found.text, found.reasoning) == (text, reasoning)


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"prompt_tokens": 5, "completion_tokens": 2}, (5, 2)),
        ({"prompt_tokens": 5.0, "completion_tokens": None}, (5, 0)),
        ({"prompt_tokens": -5, "completion_tokens": True}, (0, 0)),
        ({"prompt_tokens": 10**30, "completion_tokens": float("nan")}, (0, 0)),
        (None, (0, 0)), ([], (0, 0)), ("5", (0, 0)),
    ],
)  # fmt: skip
async def test_no_usage_a_server_reports_breaks_the_account_or_lowers_it(
    session: Session, scripted: Made, chat: Made, usage: Any, tokens: tuple[int, int]
) -> None:
    session.prices = {"m-1": Price(1.0, 1.0)}
    await one(chat(scripted({"choices": [{"message": {"content": "好"}}], "usage": usage})))
    (found,) = session.report()["usage"]
    assert (found["prompt_tokens"], found["completion_tokens"]) == tokens
    if isinstance(usage, dict):
        assert found["cost"] >= 0
    else:
        assert "cost" not in found, "what it cost is not known, and not 0"
        assert found["unreported"] == 1


async def test_a_cost_limit_that_cannot_be_kept_stops_the_run(session: Session, scripted: Made, chat: Made) -> None:
    session.prices, session.cost_limit = {"m-1": Price(1.0, 1.0)}, 5.0
    silent = chat(scripted({"choices": [{"message": {"content": "好"}}], "usage": None}))
    await one(silent)
    with pytest.raises(CostLimitError, match="does not report tokens"):
        await one(silent, seed=2)


@pytest.mark.parametrize(
    "message",
    [
        {"content": {"a": 1}}, {"content": 5}, {"content": "好", "tool_calls": 5}, {"content": "好", "tool_calls": {}},
        {"content": "好", "tool_calls": [5, {"function": 5}, {"function": {"name": 5}}]}, {"content": "好", "refusal": ""},
        {"content": "好", "tool_calls": [{"function": {"name": "diagnose", "arguments": {"a": [1]}}}]},
        {"content": "好", "reasoning_content": 5}, {},
    ],
)  # fmt: skip
async def test_no_message_whatever_breaks_the_run(
    session: Session, scripted: Made, chat: Made, message: dict[str, Any]
) -> None:
    session.max_retries = 0
    backend = scripted({"choices": [{"message": message, "finish_reason": 5}], "model": 5})
    kind = ""
    try:
        assert await one(chat(backend)) == "好"
    except EndpointError as error:
        kind = error.kind
    assert kind == ("" if message.get("content") == "好" else "blank")


# ── the doctor ───────────────────────────────────────────────────────────────────────────────────


async def test_a_doctors_tool_call_survives_the_cache(session: Session, scripted: Made, chat: Made, said: Made) -> None:
    from meddc_bench.contracts import MenuItem, PolicyView
    from meddc_bench.records import Turn

    calls = [{"function": {"name": "diagnose", "arguments": '{"diagnoses": ["肺炎"]}'}}]
    backend = scripted(said(None, finish="tool_calls", tool_calls=calls))
    policy = ChatPolicy(chat(backend, role="policy"), Decoding(), tools=True)
    menu = (MenuItem("ask", "问"), MenuItem("diagnose", "诊断", {"type": "object"}))
    turns = (Turn(index=0, round=0, role="patient", kind="opening", text="发烧。"),)
    view = PolicyView(turns, menu, {}, "history", 5, "zh", lambda: ASK)
    for _ in range(2):
        reply = await policy.act(view)
        assert [(one.name, one.arguments) for one in reply.calls] == [("diagnose", '{"diagnoses": ["肺炎"]}')]
    (body,) = backend.bodies
    assert [one["function"]["name"] for one in body["tools"]] == ["diagnose"], "asking is done in words"
