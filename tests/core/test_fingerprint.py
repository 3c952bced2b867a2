"""Digests and seeds: the same inputs give the same, and any other input another."""

from __future__ import annotations

import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from meddc_bench.fingerprint import derive_seed, digest

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), inner, max_size=4),
    max_leaves=10,
)  # fmt: skip


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), PLAIN, max_size=6))
def test_the_order_in_which_options_are_written_makes_no_new_record(value: dict[str, object]) -> None:
    assert digest(dict(reversed(list(value.items())))) == digest(value)


def test_inputs_that_differ_in_any_way_never_share_a_record() -> None:
    values = [
        None,
        "",
        "null",
        0,
        1,
        1.5,
        "1",
        True,
        False,
        "true",
        [],
        {},
        [1],
        ["1"],
        [[1]],
        [1, 1],
        {"1": 1},
        {"a": [1]},
    ]
    values += ["阑尾炎", "闌尾炎", "阑尾炎 ", "\u00e9", "e\u0301", {"a": 1, "b": 2}, {"a": 2, "b": 1}]
    assert len({digest(value) for value in values}) == len(values)


def test_a_digest_is_the_same_in_another_process_and_on_another_day() -> None:
    value = {"任务": "meddc", "n": [1, 2.5, None, True], "o": {"b": 1, "a": "é"}}
    code = f"from meddc_bench.fingerprint import digest, derive_seed; print(digest({value!r}), derive_seed(7, 'a', 0))"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": "3"}
    )
    assert run.stdout.split() == [digest(value), str(derive_seed(7, "a", 0))]


@given(st.integers(0, 2**63 - 1), st.lists(st.text(max_size=5) | st.integers(0, 99), min_size=1, max_size=4))
def test_every_seed_fits_what_an_endpoint_takes(run_seed: int, parts: list[str | int]) -> None:
    assert 0 <= derive_seed(run_seed, *parts) < 2**63


def test_repeats_roles_and_cases_draw_apart() -> None:
    drawn = [
        derive_seed(seed, "task", case, repeat, role)
        for seed in range(3)
        for case in ("c1", "c2")
        for repeat in range(5)
        for role in ("policy", "patient", "judge")
    ]
    assert len(set(drawn)) == len(drawn)
    assert derive_seed(1, "ab", "c") != derive_seed(1, "a", "bc")
    assert derive_seed(1, 1) != derive_seed(1, "1")
