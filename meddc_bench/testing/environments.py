"""Properties of environments: visits that repeat, end, keep apart and can be logged."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, get_args

import msgspec

from meddc_bench.contracts import Budget, MenuItem, Step
from meddc_bench.errors import UsageError
from meddc_bench.records import Action, Case, Ended, Turn
from meddc_bench.resources import shipped
from meddc_bench.task import load_task
from meddc_bench.testing.building import common
from meddc_bench.testing.properties import Breach, Property, described, same
from meddc_bench.testing.subject import Subject
from meddc_bench.testing.worlds import HOSTILE, SEED, world

MOST_STEPS = 300
_SOME = 12
Say = Callable[[Any, int], tuple[Action, str]]


@functools.cache
def _with_workup() -> tuple[Case, ...]:
    return load_task(shipped("tasks") / "osce_zh" / "task.yaml").cases[:2]


def _cases(subject: Subject, *, twin: bool = False) -> tuple[Case, ...]:
    """Two cases that the environment takes: of a consultation, or with a workup."""
    environment = subject.adapter().get()
    with world("trajectory", twin=twin, language=subject.language) as here:
        plain = here.cases[:2]
    for cases in (plain, _twins(_with_workup()) if twin else _with_workup()):
        try:
            environment.reset(cases[0], SEED)
        except UsageError as error:
            refused = error
            continue
        return cases
    raise Breach(f"it takes neither a case with a workup nor one without: {refused}")


def _twins(cases: Sequence[Case]) -> tuple[Case, ...]:
    others = [cases[1], cases[0]]
    return tuple(
        case.model_copy(update={"id": f"twin-{number}", "diagnoses": other.diagnoses})
        for number, (case, other) in enumerate(zip(cases, others, strict=True))
    )


async def _stepped(visit: Any, action: Action, text: str) -> Step:
    step = visit.step(action, text)
    step = await step if inspect.isawaitable(step) else step
    if not isinstance(step, Step):
        raise Breach(f"Visit.step gave {type(step).__name__} in place of Step")
    return step


def _talk(visit: Any, number: int) -> tuple[Action, str]:
    """Ask, try what else is on the menu in turn, and ask again."""
    menu = visit.menu
    item = menu[number % len(menu)]
    if item.name == "ask" or number < 2:
        return _ask(visit, number)
    return Action(name=item.name, arguments={}, form="tool"), ""


def _ask(visit: Any, number: int) -> tuple[Action, str]:
    name = "ask" if any(item.name == "ask" for item in visit.menu) else "say"
    return Action(name=name, form="text"), f"第{number}个问题：哪里不舒服？"


async def _log(subject: Subject, case: Case, say: Say, most: int) -> list[Any]:
    """Drive a visit and write down all that can be seen of it."""
    environment = subject.adapter().get()
    visit = environment.reset(case, SEED)
    return [one async for one in _driven(visit, say, most)]


async def _driven(visit: Any, say: Say, most: int) -> Any:
    for number in range(most):
        yield _standing(visit)
        action, text = say(visit, number)
        step = await _stepped(visit, action, text)
        yield step
        if step.ended is not None:
            return


def _standing(visit: Any) -> tuple[Any, ...]:
    return tuple(item.name for item in visit.menu), dict(visit.budgets), visit.phase


def types(subject: Subject) -> None:
    """Look at the menu, the budgets and the phase before each step, and at each step."""

    async def trial() -> None:
        for case in _cases(subject):
            visit = subject.adapter().get().reset(case, SEED)
            for number in range(_SOME):
                _check_standing(visit)
                step = await _stepped(visit, *_talk(visit, number))
                _check_step(step)
                if step.ended is not None:
                    break

    subject.run(trial)


def _check_standing(visit: Any) -> None:
    menu = visit.menu
    if not isinstance(menu, tuple) or not all(isinstance(item, MenuItem) for item in menu):
        raise Breach("Visit.menu is no tuple of MenuItem")
    names = [item.name for item in menu]
    if not names or len(set(names)) < len(names):
        raise Breach(f"Visit.menu is empty or names an action twice: {names}")
    for item in menu:
        if not isinstance(item.name, str) or not item.name.isidentifier():
            raise Breach(f"the action {item.name!r} has a name that no tool call can have")
        if not item.description or (item.parameters and item.parameters.get("type") != "object"):
            raise Breach(f"the action {item.name!r} has no description, or parameters that are no schema of an object")
    for name, budget in visit.budgets.items():
        if not isinstance(budget, Budget) or not 0 <= budget.left <= budget.total:
            raise Breach(f"the budget {name!r} is {budget!r}, not a Budget with 0 <= left <= total")
    if not isinstance(visit.phase, str) or not visit.phase:
        raise Breach(f"Visit.phase is {visit.phase!r} in place of a word")


def _check_step(step: Step) -> None:
    if step.kind not in ("question", "summary", "diagnose"):
        raise Breach(f"Step.kind is {step.kind!r} in place of question, summary or diagnose")
    if step.ended is not None and step.ended not in get_args(Ended):
        raise Breach(f"Step.ended is {step.ended!r} in place of None or one of {', '.join(get_args(Ended))}")
    if not isinstance(step.text, str) or not (step.question is None or isinstance(step.question, str)):
        raise Breach("Step.text is no text, or Step.question is neither text nor None")
    if not isinstance(step.turns, tuple) or not all(isinstance(turn, Turn) for turn in step.turns):
        raise Breach("Step.turns is no tuple of Turn")
    for name in ("breaches", "marks"):
        found = getattr(step, name)
        if not isinstance(found, tuple) or not all(isinstance(one, str) for one in found):
            raise Breach(f"Step.{name} is no tuple of texts")


def determinism(subject: Subject) -> None:
    """Drive two visits of the same case with the same seed and actions."""

    async def trial() -> None:
        for case in _cases(subject):
            first, again = [await _log(subject, case, _talk, _SOME) for _ in range(2)]
            same(again, first, "a second visit of the same case, seed and actions")

    subject.run(trial)


def state(subject: Subject) -> None:
    """Drive two visits in turns from one environment, and compare with visits alone."""

    async def trial() -> None:
        cases = _cases(subject)
        alone = [await _log(subject, case, _talk, _SOME) for case in cases]
        environment = subject.adapter().get()
        visits = [_driven(environment.reset(case, SEED), _talk, _SOME) for case in cases]
        logs: list[list[Any]] = [[], []]
        for _ in range(2 * _SOME):
            for visit, log in zip(visits, logs, strict=True):
                if (one := await anext(visit, None)) is not None:
                    log.append(one)
        same(logs, alone, "two visits in turns from one environment")

    subject.run(trial)


def ends(subject: Subject) -> None:
    """Ask for ever: the visit ends; and ends as well when every action is tried in turn."""

    async def trial() -> None:
        for say, what in ((_ask, "only asks"), (_talk, "tries every action")):
            for case in _cases(subject)[:1]:
                log = await _log(subject, case, say, MOST_STEPS)
                if log[-1].ended is None:
                    raise Breach(f"with a doctor who {what} a visit has not ended after {MOST_STEPS} turns")

    subject.run(trial)


def hostile(subject: Subject) -> None:
    """Say and do all sorts of things: each is a Step, never an error."""

    async def trial() -> None:
        case = _cases(subject)[0]
        for name, text in HOSTILE.items():
            for action in _odd_actions(subject, case, text):
                visit = subject.adapter().get().reset(case, SEED)
                try:
                    step = await _stepped(visit, action, text)
                except Breach:
                    raise
                except Exception as error:
                    raise Breach(f"{name}, action {action.name}: raised {described(error)}") from error
                _check_step(step)

    subject.run(trial)


def _odd_actions(subject: Subject, case: Case, text: str) -> Iterator[Action]:
    menu = subject.adapter().get().reset(case, SEED).menu
    for item in menu:
        named = item.parameters.get("properties", {})
        yield Action(name=item.name, arguments={}, form="tool", violations=("missing arguments",))
        yield Action(name=item.name, arguments={key: [text] for key in named}, form="tool")
    yield Action(name="say", form="text")


def log(subject: Subject) -> None:
    """Write what a visit did as JSON and read it back."""

    async def trial() -> None:
        for case in _cases(subject):
            for step in (one for one in await _log(subject, case, _talk, _SOME) if isinstance(one, Step)):
                logged = [step.action, list(step.turns), list(step.marks), list(step.breaches), step.text]
                try:
                    again = json.loads(msgspec.json.encode(logged))
                except (TypeError, ValueError) as error:
                    raise Breach(f"a step cannot be written down: {error}") from error
                same(again, json.loads(msgspec.json.encode(msgspec.to_builtins(logged))), "what was logged, read back")

    subject.run(trial)


def blindness(subject: Subject) -> None:
    """Drive visits of cases and of twins with another id and other diagnoses, targets and references."""

    async def trial() -> None:
        own = [await _log(subject, case, _talk, _SOME) for case in _cases(subject)]
        other = [await _log(subject, case, _talk, _SOME) for case in _cases(subject, twin=True)]
        same(other, own, "a visit of a case of which only the id and the references differ")

    subject.run(trial)


async def use(subject: Subject, environment: Any, out: list[Any]) -> None:
    """Drive a visit; add its steps."""
    for case in _cases(subject):
        visit = environment.reset(case, SEED)
        out.extend([visit, [one async for one in _driven(visit, _talk, _SOME)]])


def properties() -> tuple[Property, ...]:
    """Return the properties of an environment."""
    return (
        *common(("reset",), use),
        Property(
            "types",
            "menu, budgets, phase and every Step are what the contract says",
            "see docs/plugins/environment.md for each field",
            types,
            ("builds",),
        ),
        Property(
            "determinism",
            "the same case, seed and actions give the same visit",
            "draw from random.Random(seed) alone; no clock, no global random state",
            determinism,
            ("types",),
        ),
        Property(
            "state",
            "two visits at once do not touch each other",
            "keep all that changes on the Visit, nothing on the environment",
            state,
            ("determinism",),
        ),
        Property(
            "ends",
            f"whatever the doctor does, a visit ends, within {MOST_STEPS} turns here",
            "every action must use up a budget, and an empty budget must end the visit",
            ends,
            ("types",),
        ),
        Property(
            "hostile",
            "whatever is said or done gives a Step",
            "name what is wrong in Step.breaches and answer with words that are always the same; raise nothing",
            hostile,
            ("types",),
        ),
        Property(
            "log",
            "what a step logs (action, turns, marks, breaches) can be written as JSON and read back",
            "log texts, numbers, lists and mappings with text keys",
            log,
            ("types",),
        ),
        Property(
            "blindness",
            "what the doctor can see does not depend on the case's id, diagnoses, targets and references",
            "build menu, phase and replies from what the doctor has asked for",
            blindness,
            ("determinism",),
        ),
    )
