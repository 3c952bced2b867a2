"""The judge stage: what a judge proposes is checked item by item, and what it cannot do is named."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import pytest

from meddc_bench.adapters import Caller, StageFailure
from meddc_bench.contracts import Found, JudgeView
from meddc_bench.errors import JudgeError, PolicyError
from meddc_bench.pipeline.judge import judge_reading, judge_trajectory
from meddc_bench.pipeline.match import assign
from meddc_bench.records import Edge, Evidence, History, Item, Reading
from meddc_bench.task import Task

Consult = Callable[..., History]
Demo = Callable[..., Task]

ASKED = ("什么时候开始疼的？", "有没有发热？")


class Scripted:
    """A judge that answers each step from a script: a Found, a function of the view, or an exception to raise."""

    def __init__(self, **steps: Any):
        self._steps: Mapping[str, Any] = steps
        self.seen: list[JudgeView] = []

    async def judge(self, view: JudgeView) -> Found:
        self.seen.append(view)
        found = self._steps.get(view.step, Found())
        if isinstance(found, BaseException):
            raise found
        return found(view) if callable(found) else found

    @property
    def asked(self) -> list[str]:
        return [view.step for view in self.seen]


def questions(*texts: str) -> Found:
    return Found(items=tuple(Item(id="q", text=text, quote=text) for text in texts))


def covers(*pairs: tuple[str, str], **fields: Any) -> Found:
    return Found(edges=tuple(Edge(prediction=one, reference=other, **fields) for one, other in pairs))


def on_trajectory(judge: Scripted, task: Task, history: History) -> Evidence:
    return asyncio.run(judge_trajectory(judge, task, task.cases[0], history, seed=1, caller=Caller()))


def on_reading(judge: Scripted, task: Task, reading: Reading, axis: Any = "diagnosis") -> Evidence:
    return asyncio.run(judge_reading(judge, task, task.cases[0], reading, axis, seed=1, caller=Caller()))


@pytest.fixture
def history(consult: Consult) -> History:
    return consult([(ASKED[0], "三天前。"), (ASKED[1], "没有发烧。")], ["急性阑尾炎"])


# ── edges ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("edge", "because"),
    [
        (Edge(prediction="u9", reference="t01"), "unknown prediction id"),
        (Edge(prediction="u0", reference="t99"), "unknown reference id"),
        (Edge(prediction="u0", reference="t01", level="full"), "level 'full' is not one of covers"),
        (Edge(prediction="u0", reference="t01", level=""), "level '' is not one of covers"),
        (Edge(prediction="u0", reference="t01", quote="您疼了几天？"), "quote not found in the text"),
        (Edge(prediction="u0", reference="t01", quote=""), "quote not found in the text"),
    ],
)
def test_an_edge_a_judge_made_up_earns_no_credit_and_says_why(
    edge: Edge, because: str, demo: Demo, history: History
) -> None:
    judge = Scripted(extract_questions=questions(*ASKED), cover_targets=Found(edges=(edge,)))
    evidence = on_trajectory(judge, demo(), history)
    assert [one.excluded for one in evidence.edges] == [because]
    assert assign(evidence, history.first_summary).tp == 0


def test_a_quote_is_found_whatever_its_width_script_and_punctuation(demo: Demo, history: History) -> None:
    edge = Edge(prediction="u0", reference="t01", quote="什麼時候 開始疼的?")
    judge = Scripted(extract_questions=questions(*ASKED), cover_targets=Found(edges=(edge,)))
    assert assign(on_trajectory(judge, demo(), history), history.first_summary).tp == 1


def test_a_quote_of_what_only_the_patient_said_does_not_prove_a_question(demo: Demo, history: History) -> None:
    edge = Edge(prediction="u0", reference="t01", quote="三天前")
    judge = Scripted(extract_questions=questions(*ASKED), cover_targets=Found(edges=(edge,)))
    assert on_trajectory(judge, demo(), history).edges[0].excluded == "quote not found in the text"


def test_the_same_edge_many_times_earns_one_credit(demo: Demo, history: History) -> None:
    judge = Scripted(extract_questions=questions(*ASKED), cover_targets=covers(*[("u0", "t01")] * 5))
    found = assign(on_trajectory(judge, demo(), history), history.first_summary)
    assert (found.tp, found.fp, found.fn) == (1, 1, 1)


# ── question units ───────────────────────────────────────────────────────────────────────────────


def test_units_that_share_an_id_are_kept_apart_and_in_their_own_rounds(demo: Demo, history: History) -> None:
    judge = Scripted(extract_questions=questions(*ASKED), cover_targets=covers(("u0", "t01"), ("u1", "t02")))
    evidence = on_trajectory(judge, demo(), history)
    assert [(item.id, item.text, item.round) for item in evidence.items] == [("u0", ASKED[0], 1), ("u1", ASKED[1], 2)]
    assert assign(evidence, history.first_summary).matched_rounds == (1, 2)


def test_a_question_that_no_one_asked_costs_precision_and_can_cover_nothing(demo: Demo, history: History) -> None:
    made_up = "您对青霉素等药物过敏吗"
    judge = Scripted(extract_questions=questions(*ASKED, made_up), cover_targets=covers(("u2", "t02")))
    evidence = on_trajectory(judge, demo(), history)
    found = assign(evidence, history.first_summary)
    assert evidence.items[2].round is None
    assert (found.tp, found.fp) == (0, 3)
    assert [edge.excluded for edge in found.excluded] == ["question without a round"]


def test_a_question_placed_in_the_wrong_turn_gets_the_round_in_which_it_stands(demo: Demo, history: History) -> None:
    wrong = Found(items=(Item(id="a", text=ASKED[1], quote=ASKED[1], turn=1), Item(id="b", text=ASKED[0], turn=99)))
    evidence = on_trajectory(Scripted(extract_questions=wrong), demo(), history)
    assert [item.round for item in evidence.items] == [2, 1]


def test_what_is_said_in_the_summary_is_not_shown_as_a_question(demo: Demo, history: History) -> None:
    judge = Scripted(extract_questions=questions(*ASKED))
    on_trajectory(judge, demo(), history)
    assert all("诊断" not in turn.text for view in judge.seen for turn in view.turns)


def test_a_reworded_question_gets_its_round_from_the_judge(demo: Demo, history: History) -> None:
    judge = Scripted(
        extract_questions=questions("体温是否升高过"),
        align_questions=covers(("u0", "3"), level="aligned"),
        cover_targets=covers(("u0", "t02")),
    )
    evidence = on_trajectory(judge, demo(), history)
    assert evidence.items[0].round == 2
    assert "align_questions" not in evidence.steps
    assert assign(evidence, history.first_summary).matched_rounds == (2,)


@pytest.mark.parametrize(
    "answer",
    [covers(("u0", "99"), level="aligned"), covers(("u0", "3"), level="covers"), covers(("x", "3"), level="aligned")],
)
def test_an_alignment_to_no_turn_gives_no_round(answer: Found, demo: Demo, history: History) -> None:
    judge = Scripted(extract_questions=questions("体温是否升高过"), align_questions=answer)
    assert on_trajectory(judge, demo(), history).items[0].round is None


def test_a_failed_alignment_falls_back_on_keywords_and_says_so(demo: Demo, history: History) -> None:
    judge = Scripted(extract_questions=questions("是有没有发热"), align_questions=JudgeError("refused"))
    evidence = on_trajectory(judge, demo(), history)
    assert evidence.items[0].round == 2
    assert evidence.steps["align_questions"] == "keyword containment: refused"


def test_keywords_place_a_question_that_the_judge_left_out(demo: Demo, history: History) -> None:
    judge = Scripted(extract_questions=questions("是什么时候开始疼的"))
    evidence = on_trajectory(judge, demo(), history)
    assert evidence.items[0].round == 1
    assert evidence.steps["align_questions"] == "keyword containment"


def test_a_flood_of_items_is_cut(demo: Demo, history: History) -> None:
    judge = Scripted(extract_questions=questions(*[ASKED[0]] * 5000))
    assert len(on_trajectory(judge, demo(), history).items) == 200


# ── volunteered targets ──────────────────────────────────────────────────────────────────────────


def test_only_targets_that_no_question_reached_are_checked_for_being_volunteered(demo: Demo, history: History) -> None:
    judge = Scripted(
        extract_questions=questions(*ASKED),
        cover_targets=covers(("u0", "t01")),
        volunteered=covers(("4", "t02"), ("2", "t01"), level="volunteered"),
    )
    evidence = on_trajectory(judge, demo(), history)
    assert [one.id for one in judge.seen[-1].references] == ["t02"]
    assert evidence.volunteered == ("t02",)


def test_with_the_option_all_every_target_is_checked(demo: Demo, history: History) -> None:
    judge = Scripted(
        extract_questions=questions(*ASKED),
        cover_targets=covers(("u0", "t01")),
        volunteered=covers(("2", "t01"), level="volunteered"),
    )
    evidence = on_trajectory(judge, demo(volunteered="all"), history)
    assert evidence.volunteered == ("t01",)
    assert (assign(evidence, history.first_summary).tp, assign(evidence, history.first_summary).fp) == (0, 2)


def test_with_the_option_off_no_target_leaves_the_references(demo: Demo, history: History) -> None:
    judge = Scripted(volunteered=covers(("2", "t01"), level="volunteered"))
    assert on_trajectory(judge, demo(volunteered="off"), history).volunteered == ()
    assert "volunteered" not in judge.asked


@pytest.mark.parametrize(
    "edge",
    [
        Edge(prediction="1", reference="t01", level="volunteered"),
        Edge(prediction="99", reference="t01", level="volunteered"),
        Edge(prediction="2", reference="t01", level="covers"),
        Edge(prediction="2", reference="t01", level="volunteered", quote="我一直在发烧"),
    ],
    ids=["doctor's turn", "no such turn", "level", "quote that no one said"],
)
def test_a_target_is_not_taken_out_on_a_claim_the_history_does_not_bear_out(
    edge: Edge, demo: Demo, history: History
) -> None:
    assert on_trajectory(Scripted(volunteered=Found(edges=(edge,))), demo(), history).volunteered == ()


def test_a_failed_volunteered_check_falls_back_on_strings_and_says_so(demo: Demo, consult: Consult) -> None:
    history = consult([("您好。", "我三天前开始疼，别的说不清。")])
    evidence = on_trajectory(Scripted(volunteered=JudgeError("refused")), demo(), history)
    assert evidence.volunteered == ("t01",)
    assert evidence.steps["volunteered"] == "string check: refused"


# ── failures ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("step", ["extract_questions", "cover_targets"])
def test_a_judge_that_refuses_leaves_the_axis_unmeasured_and_not_at_zero(
    step: str, demo: Demo, history: History
) -> None:
    steps: dict[str, Any] = {"extract_questions": questions(*ASKED), step: JudgeError("我不能评价")}
    with pytest.raises(StageFailure) as failed:
        on_trajectory(Scripted(**steps), demo(), history)
    assert (failed.value.outcome, failed.value.reason) == ("judge_failed", "我不能评价")


@pytest.mark.parametrize("error", [KeyError("choices"), PolicyError("not mine"), ConnectionError("reset")])
@pytest.mark.parametrize("step", ["extract_questions", "align_questions", "cover_targets", "volunteered"])
def test_a_fault_that_is_not_the_judges_is_the_infrastructures_and_is_tried_again(
    step: str, error: Exception, demo: Demo, history: History
) -> None:
    steps: dict[str, Any] = {"extract_questions": questions(ASKED[0], "体温是否升高过"), step: error}
    with pytest.raises(StageFailure) as failed:
        on_trajectory(Scripted(**steps), demo(empty_on_failure=True), history)
    assert failed.value.outcome == "infra_failed"
    assert type(error).__name__ in failed.value.reason


def test_a_judge_that_answers_with_something_else_is_named(demo: Demo, history: History) -> None:
    with pytest.raises(StageFailure, match="gave dict, expected Found") as failed:
        on_trajectory(Scripted(extract_questions=lambda view: {"items": view.items}), demo(), history)
    assert failed.value.outcome == "infra_failed"


def test_the_papers_rule_takes_a_failed_step_for_an_empty_list_and_says_so(demo: Demo, history: History) -> None:
    judge = Scripted(extract_questions=questions(*ASKED), cover_targets=JudgeError("refused"))
    evidence = on_trajectory(judge, demo(empty_on_failure=True), history)
    found = assign(evidence, history.first_summary)
    assert evidence.steps["cover_targets"] == "empty on failure: refused"
    assert (found.tp, found.fp, found.fn) == (0, 2, 2)


def test_the_papers_rule_still_checks_strings_where_the_volunteered_check_failed(demo: Demo, consult: Consult) -> None:
    history = consult([("您好。", "我三天前开始疼，别的说不清。")])
    evidence = on_trajectory(Scripted(volunteered=JudgeError("refused")), demo(empty_on_failure=True), history)
    assert evidence.volunteered == ("t01",)


# ── readings ─────────────────────────────────────────────────────────────────────────────────────


def test_only_the_first_k_diagnoses_are_scored(demo: Demo) -> None:
    reading = Reading(text="", diagnoses=(*(f"病{n}" for n in range(6)), "急性阑尾炎"))
    judge = Scripted(cover_items=covers(("p6", "g0")))
    evidence = on_reading(judge, demo(top_k=5), reading)
    assert [edge.excluded for edge in evidence.edges] == ["unknown prediction id"]
    found = assign(evidence)
    assert (found.tp, found.fp, found.fn) == (0, 5, 1)


def test_diagnoses_in_prose_are_extracted_by_the_judge_and_it_is_recorded(demo: Demo) -> None:
    extracted = Found(
        items=(Item(id="a", text="急性阑尾炎"), Item(id="b", text="血常规", dimension="tests")),
        raw="[...]",
        model="j-1",
    )
    judge = Scripted(extract_items=extracted, cover_items=covers(("p0", "g0")))
    evidence = on_reading(judge, demo(), Reading(text="考虑急性阑尾炎，查血常规。"))
    assert [item.text for item in evidence.items] == ["急性阑尾炎"]
    assert (evidence.steps, evidence.raw, evidence.model) == ({}, {"extract_items": "[...]"}, "j-1")
    assert assign(evidence).tp == 1


def test_a_reader_that_names_nothing_scores_zero_without_asking_the_judge(demo: Demo) -> None:
    judge = Scripted(cover_items=covers(("p0", "g0")))
    found = assign(on_reading(judge, demo(), Reading(text="无法判断", diagnoses=())))
    assert (found.tp, found.fp, found.fn) == (0, 0, 1)
    assert judge.asked == []


def test_a_diagnosis_named_twice_earns_one_credit(demo: Demo) -> None:
    judge = Scripted(cover_items=covers(("p0", "g0"), ("p1", "g0")))
    found = assign(on_reading(judge, demo(), Reading(text="", diagnoses=("阑尾炎", "急性阑尾炎"))))
    assert (found.tp, found.fp, found.fn) == (1, 1, 0)


@pytest.mark.parametrize("level", ["full", "core", "COVERS", "yes"])
def test_a_level_of_another_step_is_no_coverage(level: str, demo: Demo) -> None:
    judge = Scripted(cover_items=covers(("p0", "g0"), level=level))
    assert assign(on_reading(judge, demo(), Reading(text="", diagnoses=("急性阑尾炎",)))).tp == 0


def test_a_judge_never_learns_whose_history_or_which_case_it_judges(demo: Demo, history: History) -> None:
    judge = Scripted(extract_questions=questions(*ASKED))
    task = demo()
    on_trajectory(judge, task, history)
    on_reading(judge, task, Reading(text="", diagnoses=("急性阑尾炎",)))
    shown = repr(judge.seen)
    assert judge.seen
    assert task.cases[0].id not in shown
    assert task.name not in shown


def test_the_trajectory_is_judged_without_the_reading_and_the_diagnoses(demo: Demo, history: History) -> None:
    judge = Scripted(extract_questions=questions(*ASKED))
    on_trajectory(judge, demo(), history)
    assert judge.asked == ["extract_questions", "cover_targets", "volunteered"]
    assert "阑尾炎" not in repr(judge.seen)


def test_every_ask_of_every_step_has_its_own_seed(demo: Demo, history: History) -> None:
    judge = Scripted(extract_questions=questions(*ASKED))
    on_trajectory(judge, demo(), history)
    seeds = [view.seed for view in judge.seen]
    assert len(set(seeds)) == len(seeds) == 3


def test_a_history_without_a_question_still_has_its_targets_missed(demo: Demo, consult: Consult) -> None:
    found = assign(on_trajectory(Scripted(), demo(), consult([], ["急性阑尾炎"])), 1)
    assert (found.tp, found.fp, found.fn) == (0, 0, 2)


BAD = "什么时候开始疼的\ud800"


@pytest.mark.parametrize(
    ("step", "found"),
    [
        ("extract_questions", Found(items=(Item(id=BAD, text=BAD, quote=BAD, dimension=BAD),))),
        ("extract_questions", Found(raw=BAD)),
        ("extract_questions", Found(model=BAD)),
        ("cover_targets", covers(("u0", "t01"), quote=BAD)),
        ("cover_targets", covers(("u0", "t01"), reason=BAD)),
        ("cover_targets", covers((BAD, BAD), level=BAD)),
        ("align_questions", covers((BAD, BAD), level=BAD)),
        ("volunteered", covers((BAD, BAD), level=BAD)),
    ],
    ids=["item", "raw", "model", "quote", "reason", "ids", "aligned", "volunteered"],
)
def test_half_a_character_from_a_judge_does_not_stop_the_run_at_the_save(
    step: str, found: Found, demo: Demo, history: History
) -> None:
    steps: dict[str, Any] = {"extract_questions": questions(*ASKED, "体温是否升高过"), step: found}
    assert msgspec.json.encode(on_trajectory(Scripted(**steps), demo(), history))
