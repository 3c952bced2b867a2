"""Properties of what answers in a consultation: policies, patients, readers and judges."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import gc
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from meddc_bench.adapters import StageFailure
from meddc_bench.contracts import Completion, Decoding, Message
from meddc_bench.errors import EndpointError
from meddc_bench.records import JUDGE_STEPS
from meddc_bench.resources import shipped
from meddc_bench.testing.building import common
from meddc_bench.testing.properties import Breach, Property, described, same
from meddc_bench.testing.roles import hostile_views, role_of
from meddc_bench.testing.seats import Role
from meddc_bench.testing.subject import Subject
from meddc_bench.testing.watching import opened_below, watched
from meddc_bench.testing.worlds import COUNT, HOSTILE, SEED, SHORT, World, world

AT_ONCE = 12
PATIENCE = 5.0
"""Seconds an adapter has to let go when its call is cancelled, and to close."""

_CASES = "ABC"


def _role(subject: Subject) -> Role:
    return role_of(subject.kind, subject.registration.provides)


def _in_world(subject: Subject, trial: Callable[[World], Awaitable[Any]]) -> Any:
    async def inside() -> Any:
        with world(language=subject.language) as here:
            return await trial(here)

    return subject.run(inside)


async def _alone(subject: Subject, here: World, number: int) -> Any:
    """Play one case with an adapter built for it."""
    async with subject.built() as adapter:
        return await _role(subject).play(adapter, here, number, subject.caller())


def types(subject: Subject) -> None:
    """Play an ordinary case; every answer is what the contract says."""

    async def trial(here: World) -> None:
        for number in range(COUNT):
            try:
                await _alone(subject, here, number)
            except (Breach, SystemExit):
                raise
            except Exception as error:
                raise Breach(f"on an ordinary case it raised {described(error)}") from error
        if subject.kind == "policy" and "generator" in subject.registration.provides:
            await _generates(subject)

    _in_world(subject, trial)


async def _generates(subject: Subject) -> None:
    async with subject.built() as policy:
        make = getattr(policy, "generator", None)
        if make is None:
            raise Breach("it is registered with provides=('generator',) and has no method generator()")
        generate = make().generate
        found = await subject.caller().call(
            lambda: generate((Message("user", "你好"),), Decoding(), seed=SEED), returns=object
        )
        if not isinstance(found, Completion):
            raise Breach(f"generator().generate gave {type(found).__name__} in place of Completion")


def determinism(subject: Subject) -> None:
    """Play each case twice with adapters built afresh."""

    async def trial(here: World) -> None:
        for number in range(COUNT):
            first, again = [await _alone(subject, here, number) for _ in range(2)]
            same(again, first, f"the second time case {_CASES[number]} was played with the same seed")

    _in_world(subject, trial)


def state(subject: Subject) -> None:
    """Play A, B, A with one adapter, and compare with adapters built afresh."""

    async def trial(here: World) -> None:
        role, caller = _role(subject), subject.caller()
        fresh = [await _alone(subject, here, number) for number in (0, 1)]
        async with subject.built() as adapter:
            for number, what in ((0, "case A"), (1, "case B after A"), (0, "case A after A and B")):
                same(await role.play(adapter, here, number, caller), fresh[number], what)

    _in_world(subject, trial)


def concurrency(subject: Subject) -> None:
    """Play many cases at once with one adapter, and compare with one at a time."""

    async def trial(here: World) -> None:
        role, caller = _role(subject), subject.caller()
        fresh = [await _alone(subject, here, number) for number in range(COUNT)]
        async with subject.built() as adapter:
            plays = [role.play(adapter, here, number % COUNT, caller) for number in range(AT_ONCE)]
            for number, found in enumerate(await asyncio.gather(*plays)):
                same(found, fresh[number % COUNT], f"case {_CASES[number % COUNT]} among {AT_ONCE} at once")

    _in_world(subject, trial)


def cancellation(subject: Subject) -> None:
    """Cancel a call while it waits, then close the adapter; and use another one to see that nothing is left locked."""

    async def trial(here: World) -> None:
        role, caller = _role(subject), subject.caller()
        adapter = subject.adapter()
        built = adapter.get()
        view = dataclasses.replace(role.views("肚子疼三天了。"), language=subject.language)
        actor = built.start(view) if hasattr(built, "start") else built
        actor = await actor if asyncio.iscoroutine(actor) else actor
        call = asyncio.ensure_future(caller.call(getattr(actor, role.method), view, returns=object))
        for _ in range(3):
            await asyncio.sleep(0)
        call.cancel()
        done, _pending = await asyncio.wait({call}, timeout=PATIENCE)
        if not done:
            raise Breach(f"a cancelled call went on for more than {PATIENCE:g} s")
        if not call.cancelled() and (error := call.exception()) is not None:
            raise Breach(f"a cancelled call raised {described(error)} in place of CancelledError")
        finish = getattr(actor, "finish", None) if actor is not built else None
        if finish is not None:
            await _in_time(caller.call(finish, returns=object), "finish() after a cancelled call")
        await _in_time(role.play(built, here, 0, caller), "the next case after a cancelled call", PATIENCE * 4)
        await _in_time(adapter.aclose(), "aclose()")

    _in_world(subject, trial)


async def _in_time(what: Awaitable[Any], name: str, seconds: float = PATIENCE) -> None:
    try:
        await asyncio.wait_for(what, seconds)
    except TimeoutError:
        raise Breach(f"{name} took more than {seconds:g} s") from None
    except Exception as error:
        raise Breach(f"{name} raised {described(error)}") from error


def hostile(subject: Subject) -> None:
    """Hand over hostile texts: each is answered, or refused by the role's own error."""
    role = _role(subject)

    async def trial() -> None:
        caller = subject.caller()
        for name, text in HOSTILE.items():
            for view in _views(subject, role, text):
                async with subject.built() as adapter:
                    await _one(role, adapter, view, name, caller)

    subject.run(trial)


async def _one(role: Role, adapter: Any, view: Any, name: str, caller: Any) -> None:
    actor = adapter
    try:
        if hasattr(adapter, "start"):
            actor = await caller.call(adapter.start, view, returns=object)
        answer = await caller.call(getattr(actor, role.method), view, returns=object)
    except role.fault:
        return
    except EndpointError as error:
        if error.kind in EndpointError.OF_THE_ROLE:
            return
        raise Breach(f"{name}: raised {described(error)}") from error
    except Exception as error:
        raise Breach(f"{name}: raised {described(error)}") from error
    if not isinstance(answer, role.returns):
        raise Breach(f"{name}: gave {type(answer).__name__} in place of {role.returns.__name__}")
    problem = role.wrong(answer, view)
    if problem is not None:
        raise Breach(f"{name}: {problem}")


def _views(subject: Subject, role: Role, text: str) -> Iterator[Any]:
    for view in hostile_views(role, _steps(subject), text):
        yield dataclasses.replace(view, language=subject.language)


def _steps(subject: Subject) -> tuple[str, ...]:
    return tuple(step for step in JUDGE_STEPS if step in subject.registration.provides)


def blindness(subject: Subject) -> None:
    """Play cases and their twins, which differ only in what this role must not see."""
    if subject.kind == "judge":
        steps = _steps(subject) or JUDGE_STEPS
        diagnosis = tuple(step for step in steps if step in ("extract_items", "cover_items", "grade_diagnoses"))
        trajectory = tuple(step for step in steps if step not in diagnosis)
        _compare_twins(subject, "diagnosis", diagnosis)
        _compare_twins(subject, "trajectory", trajectory)
    else:
        _compare_twins(subject, subject.kind, ())


def _compare_twins(subject: Subject, twin_of: str, steps: tuple[str, ...]) -> None:
    if subject.kind == "judge" and not steps:
        return
    role = role_of(subject.kind, steps or subject.registration.provides)

    async def played(twin: bool) -> list[Any]:
        with world(twin_of, twin=twin, language=subject.language) as here:
            caller, found = subject.caller(), []
            for number in range(COUNT):
                async with subject.built() as adapter:
                    with watched() as heard:
                        found.append(await role.play(adapter, here, number, caller))
                    opened = opened_below(heard, here.task.path.parent, shipped("tasks"))
                    opened = [path for path in opened if not path.endswith(".jinja")]
                if opened:
                    raise Breach(f"it opened {opened[0]}, a file of a task, while it answered")
            return found

    own = subject.run(lambda: played(False))
    gc.collect()  # so that of the first world nothing lives on to be found
    other = subject.run(lambda: played(True))
    try:
        same(other, own, "with other")
    except Breach as breach:
        raise Breach(f"another answer where only {_HIDDEN[twin_of]} differed ({breach})") from None


_HIDDEN = {
    "policy": "the case's id, facts, diagnoses, targets and references",
    "patient": "the case's id, diagnoses, targets and references and the policy's name",
    "reader": "the case's id, facts, targets and references, the notes, the summary and the policy's name",
    "diagnosis": "the case's id, facts and targets and the policy's name",
    "trajectory": "the case's id, diagnoses and references and the policy's name",
}


async def use(subject: Subject, adapter: Any, out: list[Any]) -> None:
    """Play the role once and hand it every hostile text; add what comes out, errors included."""
    role, caller = _role(subject), subject.caller()
    with world(language=subject.language) as here, contextlib.suppress(StageFailure):
        try:
            out.append(await role.play(adapter, here, 0, caller))
        except Exception as error:
            out.append(error)
    for text in SHORT:
        for view in _views(subject, role, text):
            try:
                actor = await caller.call(adapter.start, view, returns=object) if hasattr(adapter, "start") else adapter
                out.append(await caller.call(getattr(actor, role.method), view, returns=object))
            except Exception as error:
                out.append(error)


_STATELESS = (
    "keep nothing on the adapter between calls; a policy that needs a memory has start(view), which gives an object for "
    "one rollout"
)


def properties(kind: str) -> tuple[Property, ...]:
    """Return the properties of a policy, patient, reader or judge."""
    method = {"policy": (), "patient": ("answer",), "reader": ("read",), "judge": ("judge",)}[kind]
    fault = {"policy": "PolicyError", "patient": "PatientError", "reader": "ReaderError", "judge": "JudgeError"}[kind]
    return (
        *common(method, use),
        Property(
            "types",
            "on an ordinary case every answer is what the contract says, field by field",
            "see the page of this kind in docs/plugins; ids, levels and statuses come from the view's own vocabulary",
            types,
            ("builds",),
        ),
        Property(
            "determinism",
            "the same view and seed give the same answer",
            "draw from random.Random(view.seed) alone; no clock, no global random state, no order of a set",
            determinism,
            ("types",),
        ),
        Property("state", "no case changes the answer to another", _STATELESS, state, ("determinism",)),
        Property(
            "concurrency", "many cases at once are answered as one at a time", _STATELESS, concurrency, ("state",)
        ),
        Property(
            "cancellation",
            f"a cancelled call ends within {PATIENCE:g} s by CancelledError, and the adapter can be used and closed after it",
            "let asyncio.CancelledError pass (finally, not except); release locks in `async with`; close in aclose()",
            cancellation,
            ("types",),
        ),
        Property(
            "hostile",
            f"any text is answered, or refused by {fault}",
            f"take text as data: expect blank, huge, fenced and invisible characters; raise {fault} where there is no answer",
            hostile,
            ("types",),
        ),
        Property(
            "blindness",
            "the answer depends on the view alone",
            "use nothing but the view: no case files, no frames, no closures, no living objects of the program",
            blindness,
            ("state",),
        ),
    )
