"""A record or a kept reply is found again among a million others, whatever its digest."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meddc_bench.places import Place, Places

KEYS = st.integers(0, 2**64 - 2) | st.integers(0, 3) | st.sampled_from([0, 1, 256, 512, 2**64 - 2])
PUTS = st.tuples(KEYS, st.integers(0, 2**34 - 1), st.integers(0, 2**26 - 1), st.integers(0, 15))


def digest(key: int) -> str:
    return 16 * "a" + f"{key:016x}"


@given(st.lists(PUTS, max_size=300))
def test_every_line_is_found_where_it_was_put_last(puts: list[tuple[int, int, int, int]]) -> None:
    places, plain = Places(), dict[str, Place]()
    for key, start, length, tag in puts:
        places.put(digest(key), start, length, tag)
        plain[digest(key)] = Place(start, length, tag)
    assert len(places) == len(plain)
    assert {key: places.get(key) for key in plain} == plain
    assert [place.start for place in places] == sorted(place.start for place in plain.values())


def test_a_long_run_loses_no_place() -> None:
    draw, places = random.Random(1), Places()
    keys = [digest(draw.getrandbits(64)) for _ in range(20_000)]
    for number, key in enumerate(keys):
        places.put(key, 1000 * number, number)
    assert all(places.get(key) == (1000 * number, number, 0) for number, key in enumerate(keys))


def test_an_empty_table_holds_nothing() -> None:
    assert Places().get(digest(5)) is None
    assert len(Places()) == 0


@pytest.mark.parametrize(("start", "length", "tag"), [(0, 1 << 26, 0), (1 << 34, 5, 0), (0, 5, 16)])
def test_a_line_that_has_no_place_is_refused_and_changes_nothing(start: int, length: int, tag: int) -> None:
    places = Places()
    with pytest.raises(ValueError, match="no place"):
        places.put(digest(5), start, length, tag)
    assert places.get(digest(5)) is None


def test_what_is_no_digest_is_refused() -> None:
    with pytest.raises(ValueError, match=r"."):
        Places().put("short", 0, 1)
