"""Environments that are good but for one thing: each is named after the property it breaks."""

from __future__ import annotations

import random
from typing import Any

from meddc_bench import Action, Budget, Case, Context, MenuItem, Options, Step, hookimpl
from meddc_bench.contracts import Register

MEDDC_BENCH_API = 1

ASK = MenuItem("ask", "提问", {"type": "object", "properties": {"question": {"type": "string"}}})
STOP = MenuItem("stop", "结束", {"type": "object", "properties": {}})


class Good:
    """A visit of a few questions."""

    def __init__(self, options: Options, context: Context):
        self.context = context

    def reset(self, case: Case, seed: int) -> Any:
        return Visit(self, case, case.turn_budget)

    def left(self, visit: Visit) -> int:
        return visit.count

    def spend(self, visit: Visit) -> None:
        visit.count -= 1

    def words(self, visit: Visit, action: Action, text: str) -> str:
        return text or "嗯。"

    def menu(self, visit: Visit) -> tuple[MenuItem, ...]:
        return ASK, STOP

    def logged(self, action: Action) -> Action:
        return action

    def phase(self, visit: Visit) -> str:
        return "history"


class Visit:
    """What all visits are."""

    def __init__(self, owner: Good, case: Case, count: int):
        self.owner, self.case, self.total, self.count = owner, case, count, count

    @property
    def menu(self) -> tuple[MenuItem, ...]:
        return self.owner.menu(self)

    @property
    def budgets(self) -> dict[str, Budget]:
        return {"questions": Budget(self.total, max(0, min(self.total, self.owner.left(self))))}

    @property
    def phase(self) -> str:
        return self.owner.phase(self)

    def step(self, action: Action, text: str) -> Step:
        said = self.owner.words(self, action, text)
        if action.name == "stop" or self.owner.left(self) <= 0:
            return Step("diagnose", said, ended="diagnosed")
        self.owner.spend(self)
        return Step("question", said, question=said, action=self.owner.logged(action))


class BadBuilds(Good):
    reset: Any = None


class AnyOptions(Options, extra="ignore"):
    """Takes whatever it is given."""


class BadSecrets(Good):
    def phase(self, visit: Visit) -> str:
        return self.context.secret("BAD_PLUGIN_KEY").get_secret_value()

    def words(self, visit: Visit, action: Action, text: str) -> str:
        return self.phase(visit)


class BadTypes(Good):
    def menu(self, visit: Visit) -> tuple[MenuItem, ...]:
        return ASK, ASK


class BadDeterminism(Good):
    def words(self, visit: Visit, action: Action, text: str) -> str:
        return f"{text}{random.random()}"


class BadState(Good):
    """Counts on the environment."""

    def reset(self, case: Case, seed: int) -> Any:
        self.count = case.turn_budget
        return super().reset(case, seed)

    def left(self, visit: Visit) -> int:
        return self.count

    def spend(self, visit: Visit) -> None:
        self.count -= 1


class BadEnds(Good):
    """Lets the doctor ask for ever."""

    def spend(self, visit: Visit) -> None:
        visit.count -= visit.count > 1


class BadHostile(Good):
    def words(self, visit: Visit, action: Action, text: str) -> str:
        return f"{text.encode('ascii', 'ignore').decode()[:0]}{text[0]}" if action.name == "ask" else "嗯。"


class BadLog(Good):
    def logged(self, action: Action) -> Action:
        return Action(name=action.name, arguments={"what": 3j})


class BadBlindness(Good):
    """Names the answer in the menu."""

    def menu(self, visit: Visit) -> tuple[MenuItem, ...]:
        return ASK, MenuItem("stop", "结束", {}) if visit.case.id.startswith("case") else MenuItem("halt", "结束", {})


@hookimpl
def register_environments(register: Register) -> None:
    made = {
        "builds": BadBuilds, "options": Good, "secrets": BadSecrets, "types": BadTypes, "determinism": BadDeterminism,
        "state": BadState, "ends": BadEnds, "hostile": BadHostile, "log": BadLog, "blindness": BadBlindness,
    }  # fmt: skip
    for name, factory in made.items():
        register(f"bad-{name}", factory, AnyOptions if name == "options" else Options)
    register("good", Good)
