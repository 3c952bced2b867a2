"""The policy `checklist`: asks what its differential needs next, then gives a structured diagnosis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from meddc_bench.contracts import Call, Context, Options, PolicyView, Reply
from meddc_offline.chart import Chart
from meddc_offline.conclusion import conclude
from meddc_offline.differential import Candidate, engine
from meddc_offline.ending import AFTER_TALKING, ended
from meddc_offline.interview import Interview
from meddc_offline.knowledge_reader import with_side

_MOST_DIAGNOSES = 3
_ROOMY = 4
_LIFESTYLE: Mapping[str, tuple[str, ...]] = {
    "心血管内科": ("低盐低脂饮食", "戒烟限酒", "避免劳累和情绪激动"),
    "呼吸内科": ("戒烟", "注意休息、多饮水", "避免受凉和刺激性气味"),
    "消化内科": ("清淡易消化饮食", "戒烟限酒", "规律进餐"),
    "神经内科": ("规律作息", "戒烟限酒", "避免劳累"),
    "内分泌科": ("合理控制饮食", "规律运动", "控制体重"),
    "风湿免疫科": ("注意休息和保暖", "适度关节活动"),
    "肾内科": ("低盐饮食", "适量优质蛋白", "避免劳累"),
    "妇科": ("注意外阴清洁", "避免劳累"),
    "产科": ("卧床休息", "规律产检"),
    "儿科": ("充分休息、多饮水", "清淡饮食"),
    "皮肤科": ("避免搔抓和刺激", "避免可疑过敏原"),
    "精神心理科": ("规律作息", "适度运动"),
}
_MOST_PLANNED = 4096
_PLAIN_LIFESTYLE = ("注意休息", "清淡饮食")


class Checklist:
    """Plans every turn from the complaint and the answers so far."""

    def __init__(self, options: Options | None = None, context: Context | None = None) -> None:
        self._planned: dict[Any, Reply] = {}

    async def act(self, view: PolicyView) -> Reply:
        """Ask the next questions, or diagnose when nothing is worth asking or only that is left."""
        key = (
            tuple((turn.role, turn.kind, turn.round, turn.text) for turn in view.turns),
            may_ask(view),
            per_turn(view),
        )
        if key not in self._planned:
            if len(self._planned) >= _MOST_PLANNED:
                self._planned.clear()
            self._planned[key] = self._plan(view)
        return ended(view, self._planned[key]) if self._planned[key].calls else self._planned[key]

    def _plan(self, view: PolicyView) -> Reply:
        """Plan from the turns alone: the same turns, as in another repeat, have the same plan."""
        interview = Interview(view.turns)
        if may_ask(view):
            chosen = interview.choose(per_turn(view))
            if chosen:
                return Reply(text="".join(item.text for item in chosen))
        return diagnosis(interview)


def may_ask(view: PolicyView) -> bool:
    """Say whether the visit still takes questions."""
    budget = view.budgets.get("questions")
    return view.phase not in AFTER_TALKING and (budget is None or budget.left > 0)


def per_turn(view: PolicyView) -> int:
    """Ask two questions a turn, three when the budget is short."""
    budget = view.budgets.get("questions")
    return 2 if budget is None or budget.total > _ROOMY else 3


def diagnosis(interview: Interview) -> Reply:
    """Close the consultation with the structured diagnosis and a plan."""
    chart = interview.chart
    chosen = conclude(chart, engine(), _MOST_DIAGNOSES, interview.ranked) or interview.ranked[:1]
    names = [with_side(candidate, chart) for candidate in chosen] or [_pending(chart)]
    text = f"根据您说的情况，初步诊断：{'；'.join(names)}。"
    return Reply(text=text, calls=(Call("diagnose", {"diagnoses": names, **_plan(chosen, chart)}),))


def _pending(chart: Chart) -> str:
    """Name the complaint as not yet explained, as a doctor writes it: 腹痛待查."""
    symptoms = sorted(name for name in chart.chief if engine().lexicon.findings[name].kind == "symptom")
    return f"{symptoms[0] if symptoms else '症状'}待查"


def _plan(chosen: list[Candidate], chart: Chart) -> dict[str, list[str]]:
    diseases = [engine().diseases[candidate.name] for candidate in chosen]
    departments = list(dict.fromkeys(disease.department for disease in diseases if disease.department))
    tests = list(dict.fromkeys(test for disease in diseases for test in disease.tests))
    lifestyle = [item for name in departments for item in _LIFESTYLE.get(name, ())] or list(_PLAIN_LIFESTYLE)
    treatment = [f"{name}专科治疗" for name in departments] or ["对症治疗"]
    return {
        "tests": tests[:8],
        "treatment": treatment,
        "medication": [],
        "lifestyle": list(dict.fromkeys(lifestyle)),
        "guidance": ["症状加重及时就医", "按时复诊"],
    }
