"""What every policy must do, and what this one does."""

from __future__ import annotations

from meddc_bench import Budget, PolicyView, Turn
from meddc_bench.testing import PolicySuite


class TestExampleAgent(PolicySuite):
    name = "example_agent"


class TestASureOne(PolicySuite):
    name = "example_agent"
    options = {"sure": 0.2, "least": 1}  # noqa: RUF012


async def acted(policy, *said: str, phase: str = "history"):
    turns = [Turn(index=0, round=0, role="patient", kind="opening", text=said[0])]
    for text in said[1:]:
        for role, kind, words in (("doctor", "question", "还有呢？"), ("patient", "answer", text)):
            turns.append(Turn(index=len(turns), round=len(turns) // 2 + 1, role=role, kind=kind, text=words))
    return await policy.act(PolicyView(tuple(turns), (), {"questions": Budget(9, 9)}, phase, 1))


def run(policy, *said: str, **more):
    import asyncio

    return asyncio.run(acted(policy, *said, **more))


def test_it_asks_a_patient_with_a_cough_about_the_cough(meddc_adapter) -> None:
    assert "痰" in run(meddc_adapter("policy", "example_agent"), "咳嗽三天了。").text


def test_it_takes_a_denied_finding_for_what_it_is(meddc_adapter) -> None:
    policy = meddc_adapter("policy", "example_agent")
    names = [
        run(policy, "肚子疼。", said, phase="diagnosis").calls[0].arguments["diagnoses"]
        for said in ("右下腹疼，有点恶心。", "不是右下腹疼，拉肚子，水样的。")
    ]
    assert [one[0] for one in names] == ["急性阑尾炎", "急性胃肠炎"]


def test_it_stops_asking_when_it_is_sure(meddc_adapter) -> None:
    eager = meddc_adapter("policy", "example_agent", sure=0.3, least=1)
    assert run(eager, "肚子疼。", "右下腹疼，转移过来的，恶心，发烧。").calls


def test_it_asks_and_then_diagnoses(meddc_run) -> None:
    results = meddc_run(policies=["example_agent"], limit=2)
    rows = results["tasks"]["meddc_record"]["rows"]
    assert {row["policy"] for row in rows} == {"example_agent"}
    assert all(row["outcomes"] == {"scored": 2} for row in rows)
