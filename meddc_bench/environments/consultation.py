"""The consultation of protocol MedDDC v1.0: the doctor asks within a budget, then gives a structured diagnosis.

Round k is the doctor's k-th turn with the patient's reply. After the budget's last answer the policy has one more turn,
for its diagnosis only. Breaches of the protocol are named, deterministic and never reach the patient:

    an empty reply              the policy failed: the visit ends
    a question past the budget  it is not asked: the visit ends at the budget
    lines spoken for the patient, text over the limit    cut off, and the rest is the turn
"""

from __future__ import annotations

from typing import Any

from pydantic import Field

from meddc_bench.contracts import Budget, Context, MenuItem, Options, Step
from meddc_bench.environments.wording import own_words, within
from meddc_bench.records import Action, Case

_LIST = {"type": "array", "items": {"type": "string"}}

ASK = MenuItem(
    "ask",
    "向患者提问（可一次问几个相关的问题）",
    {"type": "object", "properties": {"question": {"type": "string"}}, "required": ["question"]},
)
DIAGNOSE = MenuItem(
    "diagnose",
    "给出诊断并结束问诊",
    {
        "type": "object",
        "properties": {
            "diagnoses": {**_LIST, "description": "诊断，按可能性从高到低"},
            "tests": {**_LIST, "description": "建议的检查"},
            "treatment": {**_LIST, "description": "治疗"},
            "medication": {**_LIST, "description": "用药"},
            "lifestyle": {**_LIST, "description": "生活方式建议"},
            "guidance": {**_LIST, "description": "就医与随访指导"},
            "summary": {"type": "string", "description": "病情小结"},
        },
        "required": ["diagnoses"],
    },
)

ASK_EN = MenuItem("ask", "Ask the patient (a few related questions at once are fine)", ASK.parameters)
DIAGNOSE_EN = MenuItem(
    "diagnose",
    "Give the diagnosis and end the consultation",
    {
        "type": "object",
        "properties": {
            "diagnoses": {**_LIST, "description": "diagnoses, the most likely first"},
            "tests": {**_LIST, "description": "tests advised"},
            "treatment": {**_LIST, "description": "treatment"},
            "medication": {**_LIST, "description": "medication"},
            "lifestyle": {**_LIST, "description": "advice on lifestyle"},
            "guidance": {**_LIST, "description": "where and when to seek care, follow-up"},
            "summary": {"type": "string", "description": "summary of the case"},
        },
        "required": ["diagnoses"],
    },
)


class ConsultationOptions(Options):
    """Options of the environment: the longest doctor's turn, in characters."""

    max_turn_chars: int = Field(4000, ge=1)


class Consultation:
    """Makes visits; stateless."""

    def __init__(self, options: ConsultationOptions, context: Context):
        self._limit = options.max_turn_chars

    def reset(self, case: Case, seed: int) -> ConsultationVisit:
        """Start a visit of one case."""
        return ConsultationVisit(case.turn_budget, self._limit, case.language)


class ConsultationVisit:
    """One consultation in progress."""

    def __init__(self, budget: int, limit: int, language: str = "zh"):
        self._total = self._left = budget
        self._limit, self._english = limit, language == "en"

    @property
    def phase(self) -> str:
        """`history` while questions are left, then `diagnosis`."""
        return "history" if self._left else "diagnosis"

    @property
    def menu(self) -> tuple[MenuItem, ...]:
        ask, diagnose = (ASK_EN, DIAGNOSE_EN) if self._english else (ASK, DIAGNOSE)
        return (ask, diagnose) if self._left else (diagnose,)

    @property
    def budgets(self) -> dict[str, Budget]:
        return {"questions": Budget(self._total, self._left)}

    def step(self, action: Action, text: str) -> Step:
        """Take the doctor's action and say what follows."""
        breaches = list(action.violations)
        if action.name == "diagnose":
            text = within(text or _written(action, self._english), self._limit, breaches)
            return Step("diagnose", text, ended="diagnosed", breaches=tuple(breaches))
        text = within(own_words(text, breaches), self._limit, breaches)
        if not text:
            return Step("question", "", ended="failed", public=False, breaches=(*breaches, "empty reply"))
        if not self._left:
            return Step("question", "", ended="budget", public=False, breaches=(*breaches, "no diagnosis at the end"))
        self._left -= 1
        return Step("question", text, question=text, breaches=tuple(breaches))


def _written(action: Action, english: bool) -> str:
    """Write a structured diagnosis that came without text as a doctor's sentence."""
    diagnoses: Any = action.arguments.get("diagnoses") or []
    if english:
        return f"Diagnosis: {'; '.join(diagnoses)}." if diagnoses else "(no diagnosis given)"
    return "诊断：" + "；".join(diagnoses) + "。" if diagnoses else "（未给出诊断）"
