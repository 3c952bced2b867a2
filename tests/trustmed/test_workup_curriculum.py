"""Budgets by update and the reward of deferring, as the golden vectors have them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from meddc_bench.environments import phases


def _cases(topic: str) -> list[Any]:
    for folder in (Path(__file__).parent / "golden", Path(__file__).parents[1] / "vectors"):
        if (folder / f"{topic}.json").is_file():
            cases = json.loads((folder / f"{topic}.json").read_text(encoding="utf-8"))["cases"]
            return [pytest.param(one["input"], one["expected"], id=one["id"]) for one in cases]
    raise FileNotFoundError(topic)


@pytest.mark.parametrize(("given", "expected"), _cases("phase_budget"))
def test_a_trainers_budgets_are_those_of_equation_12(given: Any, expected: Any) -> None:
    top, bounds = phases.ceilings(given["n"]), phases.bounds(given["n"], given["w"], given["s"])
    assert top.phase == expected["phase"]
    assert [top.questions, top.workup, top.searches] == expected["ceilings"]
    assert (list(bounds.questions), list(bounds.workup), bounds.searches) == (
        expected["ask"],
        expected["work"],
        expected["search"],
    )


@pytest.mark.parametrize(("given", "expected"), _cases("deferral_schedule"))
def test_the_reward_of_deferring_grows_as_equation_17_says(given: Any, expected: Any) -> None:
    assert phases.deferral_reward(given["n"]) == pytest.approx(expected["r_ook"], abs=1e-12)
    assert phases.deferral_hint(given["n"]) == pytest.approx(expected["h"], abs=1e-12)


@pytest.mark.parametrize("update", [-1, 256])
def test_an_update_outside_the_training_is_refused(update: int) -> None:
    with pytest.raises(ValueError, match="0 to 255"):
        phases.ceilings(update)
    with pytest.raises(ValueError, match="0 to 255"):
        phases.deferral_reward(update)
