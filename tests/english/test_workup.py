"""English cases in the workup environment: the offline doctors keep its rules, and a run is the same twice."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from meddc_bench.adapters import Caller
from meddc_bench.cli import root
from meddc_bench.environments.log import workup_log
from meddc_bench.environments.workup import WorkupEnvironment, WorkupOptions
from meddc_bench.pipeline.rollout import Rollout, roll_out
from meddc_bench.records import History
from meddc_bench.task import Task, load_task
from meddc_offline.bilingual import Brief, Checklist, Eager, Grounded, WorkupDoctor

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
DATA = Path(os.environ.get("MEDDC_DATA") or Path(__file__).parents[3] / "shared" / "data")
STATIONS = DATA / "agentclinic" / "medqa_osce.jsonl"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("tasks") / "stations"
    done = CliRunner().invoke(root, ["import", "agentclinic", str(EXAMPLES / "agentclinic.jsonl"), "-o", str(made)])
    assert done.exit_code == 0, done.output
    return made


@pytest.fixture(scope="module")
def task(folder: Path) -> Task:
    return load_task(folder / "task.yaml")


async def consult(task: Task, number: int, policy: Any, **options: Any) -> History:
    environment = WorkupEnvironment(WorkupOptions(**options), None)  # type: ignore[arg-type]
    caller = Caller()
    return await roll_out(policy, Rollout(task, task.cases[number], environment, Grounded(), caller=caller), caller)


@pytest.mark.parametrize("policy", [WorkupDoctor, Checklist, Brief, Eager])
async def test_every_offline_doctor_ends_an_english_visit_without_a_breach(policy: Any, task: Task) -> None:
    for number in range(len(task.cases)):
        history = await consult(task, number, policy())
        assert history.ended in ("diagnosed", "deferred")
        assert history.breaches == ()
        assert all(turn.text.isascii() or "°" in turn.text or "³" in turn.text for turn in history.turns)


async def test_the_workup_doctor_orders_sends_to_departments_and_concludes(task: Task) -> None:
    history = await consult(task, 0, WorkupDoctor())
    log = workup_log(task.cases[0], history)
    assert log.coverage > 0.5
    assert log.invalid == 0
    action = history.diagnosis_action
    assert action is not None
    assert action.arguments["diagnoses"] == ["Acute appendicitis"]
    reports = [turn.text for turn in history.turns if turn.role == "reporter"]
    assert any("[radiology report: Abdominal Ultrasound] (ultrasound, abdomen)" in text for text in reports)
    assert any("do not take it as normal" in text for text in reports)


async def test_a_question_asked_again_and_an_action_out_of_phase_are_refused_in_english(task: Task) -> None:
    from meddc_bench.contracts import Call, Reply

    class Stubborn:
        def __init__(self) -> None:
            self.replies = [
                Reply(text="When did the pain start?"),
                Reply(text="So when did this pain start?"),
                Reply(calls=(Call("order_tests", {"tests": ["imaging:CT"]}),)),
                Reply(calls=(Call("begin_workup", {}),)),
                Reply(calls=(Call("order_tests", {"tests": ["chest film", "imaging:ultrasound"]}),)),
                Reply(calls=(Call("consult_specialist", {"department": "pathology", "tests": ["ultrasound"]}),)),
                Reply(calls=(Call("gate_verdict", {}),)),
                Reply(text="I cannot decide."),
                Reply(calls=(Call("defer_to_human", {"reason": "unclear"}),)),
            ]

        async def act(self, view: Any) -> Reply:
            return self.replies.pop(0)

    history = await consult(task, 0, Stubborn())
    told = "\n".join(turn.text for turn in history.turns if turn.role == "reporter")
    for words in (
        "All of this was asked before", "This is the history phase; order_tests cannot be carried out",
        'The catalogue has no test "chest film".', "[Order: imaging:ultrasound] Accepted",
        "[pathology] Does not report on imaging:ultrasound", "No images were received", "No conclusion was given",
    ):  # fmt: skip
        assert words in told
    assert history.ended == "deferred"


def test_a_run_of_an_english_task_needs_no_key_and_gives_the_same_bytes_twice(folder: Path, tmp_path: Path) -> None:
    found = []
    for name in ("a", "b"):
        words = ["run", "-t", f"{folder}/", "--policy", "workup", "--policy", "eager", "-o", str(tmp_path / name)]
        done = CliRunner().invoke(root, words)
        assert done.exit_code == 0, done.output
        found.append((tmp_path / name / "results.json").read_bytes())
    assert found[0] == found[1]
    assert json.loads(found[0])


def test_validate_finds_an_imported_english_task_in_order(folder: Path) -> None:
    done = CliRunner().invoke(root, ["validate", str(folder)])
    assert done.exit_code == 0, done.output
    assert "everything is in order" in done.output


@pytest.mark.skipif(not STATIONS.is_file(), reason="the public extract is not here")
async def test_the_public_stations_all_run_through_the_workup_without_a_breach(tmp_path: Path) -> None:
    words = ["import", "agentclinic", str(STATIONS), "-o", str(tmp_path / "stations"), "--importer-args", "every=true"]
    assert CliRunner().invoke(root, words).exit_code == 0
    task = load_task(tmp_path / "stations" / "task.yaml")
    histories = [await consult(task, number, WorkupDoctor()) for number in range(len(task.cases))]
    assert len(histories) == 107
    assert {history.ended for history in histories} == {"diagnosed", "deferred"}
    assert not [breach for history in histories for breach in history.breaches]
    logs = [workup_log(case, history) for case, history in zip(task.cases, histories, strict=True)]
    assert sum(log.coverage for log in logs) / len(logs) > 0.6
    assert {one for log in logs for one in (log.modality_catch, log.anatomy_catch)} == {True, None}
    assert {log.false_alarm for log in logs} <= {False, None}
