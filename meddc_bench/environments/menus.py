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
def actions() -> Mapping[str, MenuItem]:
    """Return every action by name, whatever the phase."""
    known = catalogue()
    tests = [one.label for one in known.tests]
    found = (
        _item("ask", "向患者提问（可一次问几个相关的问题）", {"question": _text("问题")}, "question"),
        _item("begin_workup", "结束问诊，开始检查", {}),
        _item(
            "physical_examination", "体格检查，一次最多 4 项",
            {"examinations": _list("查体项目", (one.zh for one in known.examinations))}, "examinations",
        ),
        _item("order_tests", "开立检查，一次最多 4 项；只是申请，报告要由科室出具", {"tests": _list("检查项目", tests)}, "tests"),
        _item(
            "consult_specialist", "请科室出具已申请检查的报告，一次最多 4 份",
            {
                "department": _text("科室", (one.zh for one in known.departments)),
                "tests": _list("要报告的检查，可省略", tests),
            },
            "department",
        ),
        _item("search", "检索医学资料（同时占用一次检查轮次）", {"query": _text("检索词")}, "query"),
        _item(
            "gate_verdict", "核对影像资料与申请是否相符；检查阶段使用它表示检查结束，开始核对",
            {
                "verdict": _text("核对结论", get_args(Verdict)),
                "images": _list("不符的图像编号"),
            },
        ),
        _item("defer_to_human", "资料不足以支持任何诊断，转交上级医生", {"reason": _text("原因")}),
        _item(
            "final_diagnosis", "给出最终诊断",
            {"diagnoses": _list("诊断，按可能性从高到低"), "summary": _text("依据")}, "diagnoses",
        ),
    )  # fmt: skip
    return {item.name: item for item in found}


_MENUS: Mapping[Phase, tuple[str, ...]] = {
    "history": ("ask", "begin_workup"),
    "workup": ("physical_examination", "order_tests", "consult_specialist", "search", "gate_verdict"),
    "integrity": ("gate_verdict",),
    "conclusion": ("final_diagnosis", "defer_to_human"),
}


@functools.cache
def menu(phase: Phase) -> tuple[MenuItem, ...]:
    """Return the actions that a phase offers."""
    return tuple(actions()[name] for name in _MENUS[phase])


@functools.cache
def vocabulary() -> tuple[MenuItem, ...]:
    """Return all actions; a reply is read against them, so that one out of its phase is known for what it is."""
    return tuple(actions().values())
