"""The actions of protocol TrustMed v1.0 and the menu of each phase."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

from meddc_bench.contracts import MenuItem
from meddc_bench.environments.catalogue import catalogue

Phase = Literal["history", "workup", "integrity", "conclusion"]
Verdict = Literal["consistent", "modality_mismatch", "anatomy_mismatch"]
VERDICTS: Mapping[str, Verdict] = {
    "consistent": "consistent",
    "一致": "consistent",
    "相符": "consistent",
    "modality_mismatch": "modality_mismatch",
    "成像方式不符": "modality_mismatch",
    "成像方式不一致": "modality_mismatch",
    "anatomy_mismatch": "anatomy_mismatch",
    "部位不符": "anatomy_mismatch",
    "部位不一致": "anatomy_mismatch",
}
"""What a verdict may be called."""


def _item(name: str, description: str, properties: Mapping[str, Any], *required: str) -> MenuItem:
    schema = {"type": "object", "properties": dict(properties), "required": list(required)}
    return MenuItem(name, description, schema)


def _text(description: str, names: Iterable[str] = ()) -> dict[str, Any]:
    choice = list(names)
    return {"type": "string", "description": description, **({"enum": choice} if choice else {})}


def _list(description: str, names: Iterable[str] = ()) -> dict[str, Any]:
    choice = list(names)
    return {
        "type": "array",
        "items": {"type": "string", **({"enum": choice} if choice else {})},
        "description": description,
    }


@functools.cache
def actions(language: str = "zh", items: int = 4) -> Mapping[str, MenuItem]:
    """Return every action by name, whatever the phase, in the words of a language; `items` are allowed an action."""
    known, english = catalogue(), language == "en"
    say = {key: words.replace("{items}", str(items)) for key, words in (ENGLISH if english else CHINESE).items()}
    tests = [one.id if english else one.label for one in known.tests]
    examinations = [one.name if english else one.zh for one in known.examinations]
    departments = [one.name if english else one.zh for one in known.departments]
    found = (
        _item("ask", say["ask"], {"question": _text(say["question"])}, "question"),
        _item("begin_workup", say["begin_workup"], {}),
        _item(
            "physical_examination", say["physical_examination"],
            {"examinations": _list(say["examinations"], examinations)}, "examinations",
        ),
        _item("order_tests", say["order_tests"], {"tests": _list(say["tests"], tests)}, "tests"),
        _item(
            "consult_specialist", say["consult_specialist"],
            {"department": _text(say["department"], departments), "tests": _list(say["reported"], tests)},
            "department",
        ),
        _item("search", say["search"], {"query": _text(say["query"])}, "query"),
        _item(
            "gate_verdict", say["gate_verdict"],
            {"verdict": _text(say["verdict"], get_args(Verdict)), "images": _list(say["images"])},
        ),
        _item("defer_to_human", say["defer_to_human"], {"reason": _text(say["reason"])}),
        _item(
            "final_diagnosis", say["final_diagnosis"],
            {"diagnoses": _list(say["diagnoses"]), "summary": _text(say["summary"])}, "diagnoses",
        ),
    )  # fmt: skip
    return {item.name: item for item in found}


CHINESE: Mapping[str, str] = {
    "ask": "向患者提问（可一次问几个相关的问题）",
    "question": "问题",
    "begin_workup": "结束问诊，开始检查",
    "physical_examination": "体格检查，一次最多 {items} 项",
    "examinations": "查体项目",
    "order_tests": "开立检查，一次最多 {items} 项；只是申请，报告要由科室出具",
    "tests": "检查项目",
    "consult_specialist": "请科室出具已申请检查的报告，一次最多 {items} 份",
    "department": "科室",
    "reported": "要报告的检查，可省略",
    "search": "检索医学资料（同时占用一次检查轮次）",
    "query": "检索词",
    "gate_verdict": "核对影像资料与申请是否相符；检查阶段使用它表示检查结束，开始核对",
    "verdict": "核对结论",
    "images": "不符的图像编号",
    "defer_to_human": "资料不足以支持任何诊断，转交上级医生",
    "reason": "原因",
    "final_diagnosis": "给出最终诊断",
    "diagnoses": "诊断，按可能性从高到低",
    "summary": "依据",
}
ENGLISH: Mapping[str, str] = {
    "ask": "Ask the patient (a few related questions at once are fine)",
    "question": "the question",
    "begin_workup": "End the history and begin the workup",
    "physical_examination": "Examine the patient, up to {items} regions at a time",
    "examinations": "regions to examine",
    "order_tests": "Order up to {items} tests; an order yields no result, its department reports on it",
    "tests": "tests to order",
    "consult_specialist": "Have a department report on up to {items} ordered tests",
    "department": "the department",
    "reported": "the tests to report on; may be left out",
    "search": "Search medical literature (also takes a workup turn)",
    "query": "search terms",
    "gate_verdict": "Check whether the images fit their reports; in the workup it ends the workup and begins the check",
    "verdict": "the verdict",
    "images": "numbers of the images that do not fit",
    "defer_to_human": "Defer to a senior doctor: what is known supports no diagnosis",
    "reason": "the reason",
    "final_diagnosis": "Give the final diagnosis",
    "diagnoses": "diagnoses, the most likely first",
    "summary": "what they rest on",
}


_MENUS: Mapping[Phase, tuple[str, ...]] = {
    "history": ("ask", "begin_workup"),
    "workup": ("physical_examination", "order_tests", "consult_specialist", "search", "gate_verdict"),
    "integrity": ("gate_verdict",),
    "conclusion": ("final_diagnosis", "defer_to_human"),
}


@functools.cache
def menu(phase: Phase, language: str = "zh", items: int = 4) -> tuple[MenuItem, ...]:
    """Return the actions that a phase offers."""
    return tuple(actions(language, items)[name] for name in _MENUS[phase])


@functools.cache
def vocabulary(language: str = "zh", items: int = 4) -> tuple[MenuItem, ...]:
    """Return all actions; a reply is read against them, so that one out of its phase is known for what it is."""
    return tuple(actions(language, items).values())
