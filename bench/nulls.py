"""A policy, patient, reader and judge that cost nothing, so that what is measured is the framework."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import Any

from meddc_bench.contracts import Answer, Call, Found, JudgeView, PatientView, PolicyView, ReaderView, Reply, hookimpl
from meddc_bench.records import Item, Reading
from meddc_bench.registry import Registry

_ANSWER = "这个情况我想想，应该是从上个星期开始的，具体哪一天记不太清了，白天还好，晚上明显一些。"
_ASK = Reply("这次不舒服是从什么时候开始的？最近是加重了还是减轻了，有没有什么情况会让它更明显？")
_STOP = Reply(calls=(Call("diagnose", {"diagnoses": ["慢性胃炎"]}),))


class NullPolicy:
    """Asks the same question until the budget is used up."""

    async def act(self, view: PolicyView) -> Reply:
        return _ASK if view.budgets["questions"].left else _STOP


class NullPatient:
    """Always answers with the first fact."""

    async def answer(self, view: PatientView) -> Answer:
        return Answer(_ANSWER, (view.facts[0].id,))


class NullReader:
    """Always reads the same."""

    async def read(self, view: ReaderView) -> Reading:
        return Reading(text="", diagnoses=("慢性胃炎",))


class NullJudge:
    """Finds one question a turn and no edge."""

    async def judge(self, view: JudgeView) -> Found:
        if view.step != "extract_questions":
            return Found()
        return Found(items=tuple(Item(id="", text=turn.text, turn=turn.index, quote=turn.text) for turn in view.turns))


def _factory(kind: type[Any]) -> Any:
    return lambda options, context: kind()


@hookimpl
def register_policies(register: Any) -> None:
    register("null", _factory(NullPolicy), revision="1")


@hookimpl
def register_patients(register: Any) -> None:
    register("null", _factory(NullPatient), revision="1")


@hookimpl
def register_readers(register: Any) -> None:
    register("null", _factory(NullReader), revision="1")


@hookimpl
def register_judges(register: Any) -> None:
    register("null", _factory(NullJudge), revision="1")


def registry() -> Registry:
    """Return the installed plugins and the null ones."""
    from importlib.metadata import entry_points

    return Registry.load([*entry_points(group="meddc_bench"), EntryPoint("null", "nulls", "meddc_bench")])
