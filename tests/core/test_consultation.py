"""The consultation: its budget to the turn, and breaches that are named and never reach the patient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from meddc_bench.actions import Call, parse
from meddc_bench.adapters import StageFailure
from meddc_bench.contracts import Answer, PatientView, PolicyView, Reply, Step
from meddc_bench.environments.consultation import Consultation, ConsultationOptions, ConsultationVisit
from meddc_bench.pipeline.rollout import Rollout
from meddc_bench.task import Task

Demo = Callable[..., Task]
DIAGNOSIS = Reply(calls=(Call("diagnose", {"diagnoses": ["急性阑尾炎"]}),))


class Listens:
    """A patient that answers everything and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def answer(self, view: PatientView) -> Answer:
        self.asked.append(view.question)
        return Answer("不清楚。", status="not recorded")


def begin(task: Task, patient: Listens, limit: int = 4000) -> Rollout:
    environment: Any = Consultation(ConsultationOptions(max_turn_chars=limit), None)  # type: ignore[arg-type]
    return Rollout(task, task.cases[0], environment, patient)


def visit(budget: int = 3, limit: int = 4000) -> ConsultationVisit:
    return ConsultationVisit(budget, limit)


def take(one: ConsultationVisit, text: str, *calls: Call) -> Step:
    return one.step(*parse(text, calls, one.menu))


# ── the budget ───────────────────────────────────────────────────────────────────────────────────


async def test_after_the_last_answer_there_is_exactly_one_turn_and_it_is_for_the_diagnosis(demo: Demo) -> None:
    patient = Listens()
    rollout = begin(demo(), patient)
    views: list[PolicyView] = []
    while not rollout.done:
        views.append(rollout.view)
        await rollout.step(Reply(f"第{len(views)}个问题？") if views[-1].phase == "history" else DIAGNOSIS)
    history = rollout.history
    assert [view.budgets["questions"].left for view in views] == [3, 2, 1, 0]
    assert [[item.name for item in view.menu] for view in views] == [["ask", "diagnose"]] * 3 + [["diagnose"]]
    assert patient.asked == ["第1个问题？", "第2个问题？", "第3个问题？"]
    assert [turn.kind for turn in history.turns] == ["opening", *["question", "answer"] * 3, "diagnose"]
    assert (history.ended, history.first_summary, history.rounds) == ("diagnosed", 4, 4)
    assert history.breaches == ()


async def test_a_policy_that_never_diagnoses_ends_at_its_budget_with_no_extra_question(demo: Demo) -> None:
    patient = Listens()
    rollout = begin(demo(), patient)
    while not rollout.done:
        await rollout.step(Reply("还有吗？"))
    history = rollout.history
    assert len(patient.asked) == 3
    assert (history.ended, history.first_summary, history.rounds) == ("budget", None, 3)
    assert history.breaches == ("round 4: no diagnosis at the end",)
    assert history.turns[-1].role == "patient"


async def test_a_policy_that_diagnoses_at_once_is_taken_at_its_word(demo: Demo) -> None:
    patient = Listens()
    rollout = begin(demo(), patient)
    assert await rollout.step(DIAGNOSIS)
    history = rollout.history
    assert (history.ended, history.first_summary, history.rounds, patient.asked) == ("diagnosed", 1, 1, [])
    assert history.diagnosis_action is not None
    assert history.diagnosis_action.arguments == {"diagnoses": ["急性阑尾炎"]}


async def test_a_policy_that_asks_nothing_for_seven_turns_uses_up_its_budget_and_harms_no_one(demo: Demo) -> None:
    task = demo()
    case = task.cases[0].model_copy(update={"turn_budget": 7})
    environment: Any = Consultation(ConsultationOptions(), None)  # type: ignore[arg-type]
    rollout = Rollout(task, case, environment, Listens())
    for _ in range(7):
        assert not await rollout.step(Reply("好的。"))
    assert await rollout.step(DIAGNOSIS)
    assert (rollout.history.ended, rollout.history.rounds, rollout.history.breaches) == ("diagnosed", 8, ())


@given(st.integers(1, 12), st.integers(0, 20))
def test_no_policy_is_answered_more_often_than_its_budget(budget: int, tries: int) -> None:
    one, answered = visit(budget), 0
    for _ in range(tries):
        step = take(one, "疼多久了？")
        answered += step.question is not None
        if step.ended:
            break
    assert answered == min(budget, tries)
    assert one.budgets["questions"].left == budget - answered
    assert one.budgets["questions"].total == budget


# ── breaches ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "text", ["", " \n\t", "<think>只想不说</think>", "<think>没有说完", "\u200b\u202e", "<ask></ask>"]
)
async def test_an_empty_reply_is_the_policys_failure_and_is_never_asked(text: str, demo: Demo) -> None:
    patient = Listens()
    rollout = begin(demo(), patient)
    with pytest.raises(StageFailure) as failed:
        await rollout.step(Reply(text))
    assert (failed.value.outcome, failed.value.reason) == ("policy_failed", "empty reply")
    assert (patient.asked, rollout.history.ended) == ([], "failed")


@pytest.mark.parametrize(
    "text",
    [
        "疼多久了？\n患者：三天了。\n医生：发烧吗？",
        "疼多久了？\n病人: 三天了。",
        "疼多久了？\n\n  家属：三天了。",
        "疼多久了？\nPatient: 三天了。",
        "疼多久了？\n\u3000患者：三天了。",
        "疼多久了？\n**患者**：三天了。",
        "疼多久了？\n【患者】：三天了。",
        "疼多久了？\n[病人]: 三天了。",
        "疼多久了？患者：三天了。",
        "疼多久了？ 患者回答：三天了。",
        "疼多久了？\n> 患者说：三天了。",
    ],
)
def test_words_put_into_the_patients_mouth_never_become_part_of_the_history(text: str) -> None:
    step = take(visit(), text)
    assert (step.text, step.question) == ("疼多久了？", "疼多久了？")
    assert step.breaches == ("speaks for the patient",)


@pytest.mark.parametrize(
    "text",
    [
        "您是患者本人，还是家属？",
        "请问患者：多大年纪？",
        "家里还有别的病人吗？",
        "患者的年龄是多少？",
        "陪同的是家属吗：是或不是？",
    ],
)
def test_a_doctor_who_speaks_of_the_patient_is_not_cut_off(text: str) -> None:
    step = take(visit(), text)
    assert (step.question, step.breaches) == (text, ())


def test_a_reply_that_is_all_the_patients_is_an_empty_one() -> None:
    step = take(visit(), "患者：我疼了三天。")
    assert (step.ended, step.public, step.breaches) == ("failed", False, ("speaks for the patient", "empty reply"))


def test_an_over_long_turn_is_cut_where_the_limit_is_and_said_so() -> None:
    step = take(visit(limit=100), "疼" * 100_000)
    assert (len(step.text), step.text, step.question) == (100, "疼" * 100, "疼" * 100)
    assert step.breaches == ("longer than 100 characters",)


def test_an_over_long_diagnosis_is_cut_too_and_its_names_are_kept() -> None:
    step = take(visit(limit=100), "因此" * 1000, Call("diagnose", {"diagnoses": ["急性阑尾炎"]}))
    assert (len(step.text), step.ended) == (100, "diagnosed")
    assert step.breaches == ("longer than 100 characters",)


def test_a_case_summary_in_the_diagnosis_turn_is_not_taken_for_speaking_for_the_patient() -> None:
    step = take(visit(), "患者：男，45岁，腹痛三天。", Call("diagnose", {"diagnoses": ["急性阑尾炎"]}))
    assert (step.text, step.breaches) == ("患者：男，45岁，腹痛三天。", ())


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (Call("diagnose", {"diagnoses": ["急性阑尾炎", "肠炎"]}), "诊断：急性阑尾炎；肠炎。"),
        (Call("diagnose", {"diagnoses": []}), "（未给出诊断）"),
        (Call("diagnose", {}), "（未给出诊断）"),
    ],
)
def test_a_diagnosis_without_words_is_written_out_for_people_to_read(call: Call, text: str) -> None:
    step = take(visit(), "", call)
    assert (step.kind, step.text, step.ended) == ("diagnose", text, "diagnosed")


async def test_format_faults_are_in_the_history_with_their_round(demo: Demo) -> None:
    rollout = begin(demo(), Listens())
    await rollout.step(Reply("疼多久了？", calls=(Call("order_ct", {}),)))
    await rollout.step(Reply(calls=(Call("diagnose", {"diagnoses": "肠炎"}),)))
    assert rollout.history.breaches == ("round 1: unknown tool 'order_ct'", "round 2: diagnoses is text, not a list")


async def test_hidden_reasoning_is_kept_in_the_notes_and_out_of_every_turn(demo: Demo) -> None:
    patient = Listens()
    rollout = begin(demo(), patient)
    await rollout.step(Reply("<think>像阑尾炎</think>疼多久了？", reasoning="先问时间"))
    history = rollout.history
    assert patient.asked == ["疼多久了？"]
    assert "阑尾炎" not in "".join(turn.text for turn in history.turns)
    assert history.notes["1"].reasoning == "先问时间\n像阑尾炎"


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_that_would_silence_every_doctor_is_refused(limit: int) -> None:
    with pytest.raises(ValidationError):
        ConsultationOptions(max_turn_chars=limit)
