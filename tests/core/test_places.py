"""A record or a kept reply is found again among a million others, whatever its digest."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meddc_bench.places import Places

KEYS = st.integers(0, 2**64 - 2) | st.integers(0, 3) | st.sampled_from([0, 1, 256, 512, 2**64 - 2])
PUTS = st.tuples(KEYS, st.integers(0, 2**50), st.integers(0, 2**32 - 1), st.integers(0, 255))


def digest(key: int) -> str:
    return 16 * "a" + f"{key:016x}"


def found(places: Places, one: str) -> tuple[int, int, int] | None:
    at = places.find(one)
    return None if at < 0 else (places.starts[at], places.lengths[at], places.tags[at])


@given(st.lists(PUTS, max_size=300), st.integers(0, 400))
def test_every_line_is_found_where_it_was_put_last(puts: list[tuple[int, int, int, int]], expected: int) -> None:
    places, plain = Places(expected), dict[str, tuple[int, int, int]]()
    for key, start, length, tag in puts:
        places.put(digest(key), start, length, tag)
        plain[digest(key)] = (start, length, tag)
    assert len(places) == len(plain)
    assert {one: found(places, one) for one in plain} == plain
    assert [places.starts[at] for at in places] == sorted(start for start, _, _ in plain.values())


@given(st.lists(PUTS, max_size=300), st.integers(0, 400), st.integers(1, 80))
def test_many_at_once_are_put_as_one_after_the_other(
    puts: list[tuple[int, int, int, int]], expected: int, batch: int
) -> None:
    once, single = Places(expected), Places(expected)
    for at in range(0, len(puts), batch):
        part = puts[at : at + batch]
        once.put_all(
            [digest(key).encode() for key, *_ in part], [start for _, start, _, _ in part],
            [length for *_, length, _ in part], bytes(tag for *_, tag in part),
        )  # fmt: skip
        for key, start, length, tag in part:
            single.put(digest(key), start, length, tag)
    assert len(once) == len(single)
    assert {key: found(once, digest(key)) for key, *_ in puts} == {key: found(single, digest(key)) for key, *_ in puts}
    assert [once.starts[at] for at in once] == [single.starts[at] for at in single]


def test_a_long_run_loses_no_place() -> None:
    draw, places = random.Random(1), Places(0)
    keys = [digest(draw.getrandbits(64)) for _ in range(20_000)]
    for number, key in enumerate(keys):
        places.put(key, 1000 * number, number)
    assert all(found(places, key) == (1000 * number, number, 0) for number, key in enumerate(keys))


def test_an_empty_table_holds_nothing() -> None:
    assert Places().find(digest(5)) == -1
    assert len(Places()) == 0


@pytest.mark.parametrize(("start", "length", "tag"), [(0, 1 << 32, 0), (1 << 64, 5, 0), (0, 5, 256)])
def test_a_line_that_has_no_place_is_refused_and_changes_nothing(start: int, length: int, tag: int) -> None:
    places = Places()
    with pytest.raises(OverflowError):
        places.put(digest(5), start, length, tag)
    assert places.find(digest(5)) == -1


def test_of_many_a_line_that_has_no_place_is_refused_and_changes_nothing() -> None:
    places = Places()
    with pytest.raises(OverflowError):
        places.put_all([digest(5).encode(), digest(6).encode()], [0, 9], [3, 1 << 32], bytes(2))
    assert places.find(digest(5)) == -1


def test_what_is_no_digest_is_refused() -> None:
    with pytest.raises(ValueError, match="no digest"):
        Places().put("short", 0, 1)
    with pytest.raises(ValueError, match="no digest"):
        Places().put_all([digest(5).encode(), b"short"], [0, 1], [1, 1], bytes(2))
