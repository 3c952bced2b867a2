"""Several judges and a judge's own noise stand beside each other, and kinship of models is said."""

from __future__ import annotations

from typing import Any

import pytest

from meddc_bench.panel import panels


def row(judge: str, ask: int, mean: float | None, policy: str = "p") -> dict[str, Any]:
    return {
        "policy": policy, "patient": "q", "condition": "r", "judge": judge, "ask": ask, "metrics": {"D": {"mean": mean}},
    }  # fmt: skip


def test_one_judge_asked_once_has_no_panel() -> None:
    assert panels([row("a", 0, 0.5), row("a", 0, 0.4, policy="other")]) == []


def test_the_spread_is_between_judges_and_the_noise_within_one() -> None:
    (found,) = panels([row("a", 0, 0.4), row("a", 1, 0.6), row("b", 0, 0.8), row("b", 1, 0.8)])
    panel = found["metrics"]["D"]
    assert panel["judges"] == pytest.approx({"a": 0.5, "b": 0.8})
    assert (panel["mean"], panel["spread"]) == pytest.approx((0.65, 0.3))
    assert panel["noise"] == pytest.approx({"a": 0.02**0.5, "b": 0.0})


def test_a_judge_that_failed_leaves_the_mean_null_and_is_not_averaged_away() -> None:
    (found,) = panels([row("a", 0, 0.4), row("b", 0, None)])
    panel = found["metrics"]["D"]
    assert (panel["judges"], panel["mean"], panel["spread"]) == ({"a": 0.4, "b": None}, None, None)
    assert panel["noise"] == {"a": None, "b": None}
