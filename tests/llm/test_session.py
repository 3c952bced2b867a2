"""What a run spent is what all its sessions spent; a limit holds; prices are read or refused with their place."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from meddc_bench.errors import CostLimitError, InputError, UsageError
from meddc_bench.fingerprint import digest
from meddc_bench.llm.calls import Kept, Spent
from meddc_bench.llm.session import Price, Session, current, read_prices, running

PRICES = {"m-1": Price(2.0, 8.0), "m-2": Price(0.0, 0.0)}


def spend(session: Session, number: int, model: str = "m-1", unusable: str | None = None, served: str = "s-1") -> None:
    paid = Spent(
        id=digest(number), role="judge", model=model, prompt_tokens=1000, completion_tokens=100, unusable=unusable
    )
    session.keep(paid, Kept(text="好", model=served))


def closed(session: Session) -> Session:
    asyncio.run(session.aclose())
    return session


def test_usage_and_cost_are_of_the_whole_run_and_not_of_its_last_session(tmp_path: Path) -> None:
    first = Session(folder=tmp_path, prices=PRICES)
    spend(first, 1)
    spend(first, 2, unusable="blank")
    closed(first)
    again = Session(folder=tmp_path, prices=PRICES)
    again.count_earlier()
    spend(again, 3, served="s-2")
    report = closed(again).report()
    assert report["usage"] == [
        {"role": "judge", "model": "m-1", "calls": 3, "unusable": 1, "prompt_tokens": 3000, "completion_tokens": 300,
         "cost": pytest.approx(3 * (0.002 + 0.0008))}
    ]  # fmt: skip
    assert report["cost"] == pytest.approx(0.0084)
    assert report["served_models"] == {"m-1": ["s-1", "s-2"]}, "a change of the served model shows after a resume"


def test_what_the_cache_served_says_which_model_wrote_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEDDC_CACHE_DIR", str(tmp_path / "cache"))
    first = Session(folder=tmp_path / "one")
    spend(first, 1)
    closed(first)
    other = Session(folder=tmp_path / "two")
    assert other.recall(digest(1), "m-1") == Kept(text="好", model="s-1")
    report = closed(other).report()
    assert (report["served_models"], report["usage"]) == ({"m-1": ["s-1"]}, [])
    assert report["this_session"]["from_cache"] == 1


def test_a_run_stops_at_its_limit_and_not_before() -> None:
    session = Session(prices=PRICES, cost_limit=0.005)
    spend(session, 1)
    session.check_cost("m-1")
    spend(session, 2)
    with pytest.raises(CostLimitError, match=r"the run has cost 0.0056, --cost-limit is 0.005"):
        session.check_cost("m-1")


def test_a_limit_on_a_model_without_a_price_is_refused_before_the_first_call() -> None:
    session = Session(prices=PRICES, cost_limit=0.005)
    session.check_cost("m-2")
    with pytest.raises(UsageError, match="--cost-limit needs a price of 'm-9' in --prices"):
        session.check_cost("m-9")


def test_no_price_is_no_cost_and_not_zero() -> None:
    session = Session(prices={})
    spend(session, 1)
    assert session.cost is None
    assert "cost" not in session.report()["usage"][0]
    closed(session)


def test_what_endpoints_refused_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    session = Session()
    for _ in range(3):
        session.step_down("m-1 at http://there/v1", "seed")
    session.step_down("m-1 at http://there/v1", "json_schema")
    assert session.report()["stepped_down"] == {"m-1 at http://there/v1": ["seed", "json_schema"]}
    assert len(caplog.records) == 2


async def test_of_equal_calls_one_goes_and_the_others_wait() -> None:
    session, order = Session(), list[str]()

    async def one(name: str) -> None:
        async with session.alone("key"):
            order.append(f"{name} in")
            await asyncio.sleep(0)
            order.append(f"{name} out")

    await asyncio.gather(*(one(name) for name in "abc"))
    assert [order[at : at + 2] for at in (0, 2, 4)] == [[f"{name} in", f"{name} out"] for name in "abc"]


async def test_a_call_that_is_cancelled_does_not_hold_back_its_equals() -> None:
    session = Session()

    async def hangs() -> None:
        async with session.alone("key"):
            await asyncio.Event().wait()

    hung = asyncio.create_task(hangs())
    await asyncio.sleep(0)
    hung.cancel()
    await asyncio.wait([hung])
    async with asyncio.timeout(1), session.alone("key"):
        pass


async def test_a_backend_that_cannot_be_closed_does_not_keep_the_others_open() -> None:
    class Backend:
        closed = False

        async def post(self, body: Any, raw: bytes) -> Any:
            raise NotImplementedError

        async def aclose(self) -> None:
            self.closed = True
            raise RuntimeError("no")

    session = Session()
    backends = [session.backend(key, lambda _: Backend()) for key in "ab"]
    assert session.backend("a", lambda _: Backend()) is backends[0], "roles on one endpoint share its connections"
    await session.aclose()
    assert all(one.closed for one in backends)


def test_outside_a_run_calls_share_a_session_that_keeps_nothing() -> None:
    with running(Session(folder=Path("nowhere"))) as session:
        assert current() is session
    assert current().folder is None


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("- m-1\n", r"prices.yaml:1: expected `MODEL: "),
        ("m-0: {prompt: 1, completion: 2}\nm-1: {prompt: 1}\n", r"prices.yaml:2:m-1: expected {prompt: NUMBER"),
        ("m-1: {prompt: 1, completion: -2}\n", r"prices.yaml:1:m-1: expected"),
        ("m-1: {prompt: yes, completion: 2}\n", r"prices.yaml:1:m-1: expected"),
        ("m-1: {prompt: '1', completion: 2}\n", r"prices.yaml:1:m-1: expected"),
        ("m-1: {prompt: .nan, completion: 2}\n", r"prices.yaml:1:m-1: expected"),
        ("m-1: {prompt: .inf, completion: 2}\n", r"prices.yaml:1:m-1: expected"),
        ("m-1: 5\n", r"prices.yaml:1:m-1: expected"),
        ("m-1: {prompt: 1, completion: 2, cached: 1}\n", r"prices.yaml:1:m-1: expected"),
        ("m-1: {prompt: 1, completion: 2\n", r"prices.yaml:\d: is not valid YAML"),
    ],
)
def test_a_price_table_with_a_fault_says_file_line_and_model(tmp_path: Path, text: str, where: str) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=where):
        read_prices(path)


def test_a_price_table_is_for_a_million_tokens(tmp_path: Path) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text("org/m-1:free: {prompt: 2, completion: 8.5}\n", encoding="utf-8")
    (price,) = read_prices(path).values()
    assert price.of(1_000_000, 2_000_000) == pytest.approx(19.0)
