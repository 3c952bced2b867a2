"""The rule-based doctor of a workup, and the whole way from `run` to a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from meddc_bench.adapters import Caller
from meddc_bench.cli import root
from meddc_bench.contracts import Budget, PolicyView
from meddc_bench.environments.log import workup_log
from meddc_bench.environments.menus import menu
from meddc_bench.environments.workup import WorkupEnvironment, WorkupOptions
from meddc_bench.pipeline.rollout import Rollout, roll_out
from meddc_bench.records import Case, History, Turn
from meddc_bench.task import Task, TaskIndex
from meddc_offline.grounded import Grounded
from meddc_offline.workup_policy import WorkupDoctor


@pytest.fixture(scope="module")
def osce() -> Task:
    return TaskIndex().resolve("osce_zh")[0]


async def consult(task: Task, case: Case, **options: Any) -> History:
    environment = WorkupEnvironment(WorkupOptions(**options), None)  # type: ignore[arg-type]
    caller = Caller()
    return await roll_out(WorkupDoctor(), Rollout(task, case, environment, Grounded(), caller=caller), caller)


async def test_it_keeps_to_the_rules_and_receives_most_records(osce: Task) -> None:
    coverage = []
    for case in osce.cases:
        history = await consult(osce, case)
        log = workup_log(case, history)
        assert history.ended in ("diagnosed", "deferred")
        assert history.breaches == (), case.id
        coverage.append(log.coverage)
    assert sum(coverage) / len(coverage) > 0.5


@pytest.mark.parametrize("share", [0.0, 1.0])
async def test_it_catches_every_probe_and_raises_no_false_alarm(share: float, osce: Task) -> None:
    logs = [workup_log(case, await consult(osce, case, probes=share)) for case in osce.cases]
    assert {log.false_alarm for log in logs} <= {False, None}
    met = [one for log in logs for one in (log.modality_catch, log.anatomy_catch) if one is not None]
    assert met == [True] * len(met)
    assert bool(met) == (share > 0)


async def test_the_same_consultation_is_the_same_twice(osce: Task) -> None:
    assert await consult(osce, osce.cases[0]) == await consult(osce, osce.cases[0])


async def test_it_defers_when_nothing_supports_a_diagnosis() -> None:
    turns = (Turn(index=0, round=0, role="patient", kind="opening", text="你好。"),)
    view = PolicyView(turns, menu("conclusion"), {"tries": Budget(2, 2)}, "conclusion", 0)
    reply = await WorkupDoctor().act(view)
    assert [call.name for call in reply.calls] == ["defer_to_human"]


async def test_after_a_workup_it_names_a_weakly_supported_disease_that_no_other_comes_near(osce: Task) -> None:
    graves = next(case for case in osce.cases if case.id == "osce-003")
    history = await consult(osce, graves)
    action = history.turns[-1].action
    assert history.ended == "diagnosed"
    assert action is not None
    assert action.arguments["diagnoses"] == ["Graves病"]


async def test_in_a_consultation_without_a_workup_it_asks_and_diagnoses(osce: Task) -> None:
    from meddc_bench.environments.consultation import Consultation, ConsultationOptions

    (task,) = TaskIndex().resolve("meddc_record")
    environment: Any = Consultation(ConsultationOptions(), None)  # type: ignore[arg-type]
    caller = Caller()
    history = await roll_out(
        WorkupDoctor(), Rollout(task, task.cases[0], environment, Grounded(), caller=caller), caller
    )
    assert history.ended == "diagnosed"


def test_a_run_gives_d_under_the_reader_and_emitted_and_its_histories_hold_the_marks(tmp_path: Path) -> None:
    words = [
        "run",
        "--tasks",
        "osce_zh",
        "--policy",
        "workup",
        "--limit",
        "3",
        "--repeats",
        "1",
        "-o",
        str(tmp_path / "r"),
    ]
    done = CliRunner().invoke(root, words)
    assert done.exit_code == 0, done.output
    rows = json.loads((tmp_path / "r" / "results.json").read_text(encoding="utf-8"))["tasks"]["osce_zh"]["rows"]
    assert {row["condition"] for row in rows} == {"knowledge", "emitted"}
    lines = (tmp_path / "r" / "histories.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 3
    assert all('"gate:' in line and '"record:' in line for line in lines)
    again = CliRunner().invoke(root, words)
    assert again.exit_code == 0, again.output
