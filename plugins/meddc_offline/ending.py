"""How doctors that only talk end a visit: with the diagnosis, on past a workup where the visit has one."""

from __future__ import annotations

from collections.abc import Mapping

from meddc_bench.contracts import Call, PolicyView, Reply

AFTER_TALKING = frozenset({"diagnosis", "workup", "integrity", "conclusion"})
"""Phases of a visit in which the patient is no longer asked."""


def ended(view: PolicyView, closing: Reply) -> Reply:
    """Return a closing diagnosis as the visit's menu takes it; a workup is passed by, with nothing ordered."""
    offered = {item.name for item in view.menu}
    if "begin_workup" in offered:
        return Reply(calls=(Call("begin_workup", {}),))
    if "final_diagnosis" in offered:
        given = [call.arguments for call in closing.calls]
        names = [name for one in given if isinstance(one, Mapping) for name in one.get("diagnoses", ())]
        return Reply(calls=(Call("final_diagnosis", {"diagnoses": names}),))
    if "gate_verdict" in offered:
        return Reply(calls=(Call("gate_verdict", {"verdict": "consistent"}),))
    return closing
