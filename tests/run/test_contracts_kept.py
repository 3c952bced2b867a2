"""What a plugin that breaks its contract can take from the others: nothing; and what a view can give away."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from meddc_bench.campaign import Campaign
from meddc_bench.contracts import Unit
from meddc_bench.pipeline.rollout import Rollout
from meddc_bench.pipeline.score import Cell
from meddc_bench.plan import build_benches
from meddc_bench.records import Assignment
from meddc_bench.registry import Registry
from meddc_bench.results import _guarded
from meddc_bench.scorer import Scorer
from meddc_bench.store import Store
from meddc_bench.task import TaskIndex


class Odd:
    """A metric whose aggregate gives what it is told to."""

    unit, range, higher_is_better, needs, over_repeats = "fraction", (0.0, 1.0), True, ("diagnosis",), "mean"

    def __init__(self, gives: Any):
        self._gives = gives

    def case(self, unit: Unit) -> dict[str, float]:
        return {"n": 1.0}

    def aggregate(self, sums: Any) -> Any:
        if isinstance(self._gives, BaseException):
            raise self._gives
        return self._gives


@pytest.fixture
def bench() -> Any:
    (task,) = TaskIndex().resolve("meddc_record")
    return build_benches(Campaign(tasks=("meddc_record",), limit=1), Registry.load(), [task], imported=True)[0]


@pytest.mark.parametrize(
    "gives",
    [
        SystemExit(0), RuntimeError("boom"), "text", np.array(["a"]), np.array([55.0]), np.array([np.inf]), np.array([]),
        np.array([0.1, 0.2]), 0.5, np.array([1j]), np.array([1]),
    ],
    ids=repr,
)  # fmt: skip
def test_a_metric_that_breaks_its_contract_loses_its_own_column_with_a_reason(
    gives: Any, bench: Any, tmp_path: Any
) -> None:
    case = bench.cases[0].id
    cells = [Cell(case, 0, "scored", Unit({"diagnosis": Assignment(axis="diagnosis", tp=1)}, "diagnosed", 1, 1, 1))]
    with Store(tmp_path) as store:
        found = _guarded("odd", Odd(gives), cells, Scorer(store, bench), None)  # type: ignore[arg-type]
    assert found.mean is None
    assert found.reason is not None
    assert found.reason.startswith("the metric odd failed: ")


def test_a_view_gives_no_way_to_the_case_or_the_visit(bench: Any) -> None:
    case = bench.cases[0]
    rollout = Rollout(bench.task, case, bench.environment.get(), bench.patients[0].get())
    view = rollout.view
    reachable = [getattr(view.render, name, None) for name in ("args", "keywords", "func", "__self__")]
    assert reachable == [None] * 4
    shown = repr(view) + "".join(message.content for message in view.messages)
    assert case.id not in shown
    assert [one.name for one in case.diagnoses if one.name in shown] == []
    assert [fact.text for fact in case.facts if fact.text in shown] == []
