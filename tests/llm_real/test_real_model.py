"""A real model in every role, in process and served: whatever it writes ends in a named outcome.

A tiny random model is as weak as a model can be: prose where JSON is asked for, noise in no language, text without end.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Ended, Place

NAMED = {"scored", "policy_failed", "patient_failed", "reader_failed", "judge_failed", "excluded"}
"""Every outcome but infra_failed: the endpoint worked, and no adapter broke."""

Consult = Callable[..., Ended]


def in_order(ended: Ended) -> None:
    """Check that a run came to its end: results on standard output, no traceback, every outcome named."""
    assert ended.code in (0, 3), ended.err
    assert "Traceback" not in ended.err
    assert json.loads(ended.out)
    assert {outcome for _, outcome in ended.outcomes} <= NAMED, sorted(ended.outcomes)


def test_guided_every_role_gives_what_can_be_read(place: Place, consult: Consult) -> None:
    ended = consult(place)
    in_order(ended)
    assert {("history", "scored"), ("reading", "scored"), ("evidence", "scored")} <= ended.outcomes
    roles = {one["role"] for one in ended.calls}
    assert roles == {"policy", "patient", "reader", "judge"}
    assert all(one["prompt_tokens"] and one["reply"]["model"] for one in ended.calls)


def test_prose_for_json_is_the_roles_failure(place: Place, consult: Consult) -> None:
    ended = consult(place, measuring={"extra_body": {"response_format": {"type": "text"}}})
    in_order(ended)
    unguided = [one for one in ended.calls if one["role"] != "policy"]
    assert unguided
    if all(one.get("unusable") for one in unguided):  # a better model may write JSON without being guided
        assert ("history", "patient_failed") in ended.outcomes


def test_text_without_end_is_the_policys_failure_or_cut(place: Place, consult: Consult) -> None:
    ended = consult(place, policy={"max_tokens": None, "extra_body": {"ignore_eos": True}})
    in_order(ended)
    assert any(one["reply"]["finish"] == "length" for one in ended.calls if one["role"] == "policy")


def test_in_process_the_same_seed_gives_the_same_bytes(engine: Place, consult: Consult) -> None:
    if engine.options.get("dtype") != "float32":
        pytest.skip(
            'in bfloat16 the size of a batch changes what is written; MEDDC_TEST_OPTIONS=\'{"dtype": "float32"}\''
        )
    one, other = (consult(engine, folder=folder) for folder in ("one", "other"))
    assert _bytes(one.folder / "histories.jsonl") == _bytes(other.folder / "histories.jsonl")
    assert _bytes(one.folder / "results.json") == _bytes(other.folder / "results.json")


def _bytes(path: Path) -> bytes:
    return path.read_bytes()
