"""Policies, patients, readers and judges that are good but for one thing: each is named after the property it breaks."""

from __future__ import annotations

import asyncio
import gc
import random
import sys
from typing import Any

from meddc_bench import (
    Answer,
    Call,
    Context,
    Edge,
    Found,
    Item,
    JudgeView,
    Options,
    PatientView,
    PolicyView,
    ReaderView,
    Reading,
    Reply,
    hookimpl,
)
from meddc_bench.contracts import Register
from meddc_bench.errors import JudgeError, PatientError, PolicyError, ReaderError
from meddc_bench.records import Case, History

MEDDC_BENCH_API = 1

OWN = {"policy": PolicyError, "patient": PatientError, "reader": ReaderError, "judge": JudgeError}


def told(kind: str, view: Any, word: str) -> Any:
    """A good answer of a kind that has a word in it."""
    if kind == "policy":
        if view.phase == "history" and len(view.turns) < 4:
            return Reply(f"哪里不舒服？{word}")
        return Reply(calls=(Call("diagnose", {"diagnoses": [f"待查{word}"]}),))
    if kind == "patient":
        fact = view.facts[:1]
        status: Any = "stated" if fact else "not recorded"
        return Answer("".join(one.text for one in fact) + f"就这样。{word}", tuple(one.id for one in fact), status)
    if kind == "reader":
        return Reading(text=f"诊断：待查{word}", diagnoses=(f"待查{word}",))
    if view.step.startswith("extract"):
        turn = view.turns[0].index if view.turns else None
        return Found(items=(Item(id="p0", text=f"问题{word}", turn=turn, quote=None),))
    return Found(raw=word)


class Good:
    """What all of them are made of."""

    kind = ""

    def __init__(self, options: Options, context: Context):
        self.context = context

    def word(self, view: Any) -> str:
        return ""

    async def answered(self, view: Any) -> Any:
        return told(self.kind, view, self.word(view))

    async def act(self, view: PolicyView) -> Any:
        return await self.answered(view)

    async def answer(self, view: PatientView) -> Any:
        return await self.answered(view)

    async def read(self, view: ReaderView) -> Any:
        return await self.answered(view)

    async def judge(self, view: JudgeView) -> Any:
        found = await self.answered(view)
        if (
            isinstance(found, Found)
            and not view.step.startswith("extract")
            and found.raw
            and view.references
            and view.items
        ):
            level = {"grade_diagnoses": "full"}.get(view.step, "covers")
            if view.step in ("cover_items", "cover_targets", "grade_diagnoses"):
                edge = Edge(prediction=view.items[0].id, reference=view.references[0].id, level=level, reason=found.raw)
                return Found(edges=(edge,))
        return found


class BadBuilds(Good):
    """Starts a program when it is built."""

    def __init__(self, options: Options, context: Context):
        super().__init__(options, context)
        import subprocess

        subprocess.run([sys.executable, "-c", ""], check=True)


class AnyOptions(Options, extra="ignore"):
    """Takes whatever it is given."""


class BadSecrets(Good):
    """Puts its key into what it says."""

    def __init__(self, options: Options, context: Context):
        super().__init__(options, context)
        self.key = context.secret("BAD_PLUGIN_KEY").get_secret_value()

    def word(self, view: Any) -> str:
        return self.key


class BadTypes(Good):
    """Gives a list where a tuple, or a number where a text belongs."""

    async def answered(self, view: Any) -> Any:
        wrong: Any = 5
        if self.kind == "policy":
            return Reply(text=wrong)
        if self.kind == "patient":
            return Answer("好的。", ("no-such-fact",))
        if self.kind == "reader":
            return Reading(text="诊断", diagnoses=wrong)
        return Found(edges=(Edge(prediction="u99", reference="t99", level="covers"),))


class BadDeterminism(Good):
    """Draws from the global random state."""

    def word(self, view: Any) -> str:
        return str(random.random())


class BadState(Good):
    """Counts its calls, and says so from the fifth on: the first case of an adapter is as it should be."""

    def __init__(self, options: Options, context: Context):
        super().__init__(options, context)
        self.openings: list[str] = []

    def word(self, view: Any) -> str:
        opening = view.turns[0].text if view.turns else ""
        if self.kind == "judge":
            opening = view.references[0].text if view.references else ""
            if not opening or view.step == "volunteered":
                return ""
        if opening not in self.openings and len(self.openings) < 50:
            self.openings.append(opening)
        return "" if opening in self.openings[: self.first()] else "又来一个"

    def first(self) -> int:
        return 2 if self.kind == "judge" else 1


class BadConcurrency(Good):
    """Keeps the view on itself while it waits."""

    async def answered(self, view: Any) -> Any:
        self.view = view
        await asyncio.sleep(0.001)
        mixed = self.view
        return told(self.kind, view, "" if mixed is view else f"串了{len(str(mixed.turns))}")


class BadCancellation(Good):
    """Makes an error of its own of a cancellation."""

    async def answered(self, view: Any) -> Any:
        try:
            await asyncio.sleep(0.001)
        except asyncio.CancelledError:
            raise OWN[self.kind]("被打断了") from None
        return told(self.kind, view, "")


class BadHostile(Good):
    """Cannot do without an answer of the patient's that is not blank."""

    async def answered(self, view: Any) -> Any:
        return told(self.kind, view, self.word_of(view))

    def word_of(self, view: Any) -> str:
        if self.kind == "patient":
            said = view.question
        elif self.kind == "judge":
            said = view.text + "".join(turn.text for turn in view.turns) + "".join(one.text for one in view.items)
        else:
            said = view.turns[-1].text
        return said.strip()[0][:0]


class BadBlindness(Good):
    """Peeks: looks through the frames above it for the case, and through living objects where it finds none."""

    def word(self, view: Any) -> str:
        frame: Any = sys._getframe()
        while frame is not None:
            for value in frame.f_locals.values():
                if isinstance(value, Case):
                    return self.seen(value)
            frame = frame.f_back
        found = [one for one in gc.get_objects() if isinstance(one, Case)]
        return self.seen(min(found, key=lambda case: case.id)) if found else ""

    def seen(self, case: Case) -> str:
        return case.id


class ReaderOfNotes(BadBlindness):
    """A reader that peeks at the whole history: the notes with the hidden reasoning."""

    def word(self, view: Any) -> str:
        frame: Any = sys._getframe()
        while frame is not None:
            for value in frame.f_locals.values():
                if isinstance(value, History):
                    return str(sorted(value.notes.items()))[:400]
            frame = frame.f_back
        return ""


class ReaderOfReferences(BadBlindness):
    """A reader that peeks at the reference diagnoses."""

    def seen(self, case: Case) -> str:
        return case.diagnoses[0].name


class ReaderOfFiles(BadBlindness):
    """A reader that looks into the files of the shipped tasks, where the answer to many a case stands."""

    def word(self, view: Any) -> str:
        from meddc_bench.resources import shipped

        files = sorted((shipped("tasks") / "meddc_record" / "cases").glob("*.yaml"))
        return "" if files[0].read_text(encoding="utf-8") else "空"


BROKEN: dict[str, type[Good]] = {
    "builds": BadBuilds,
    "options": Good,
    "secrets": BadSecrets,
    "types": BadTypes,
    "determinism": BadDeterminism,
    "state": BadState,
    "concurrency": BadConcurrency,
    "cancellation": BadCancellation,
    "hostile": BadHostile,
    "blindness": BadBlindness,
}
"""Property -> what breaks it."""


def register_all(register: Register, kind: str) -> None:
    for name, made in BROKEN.items():
        factory = type(made.__name__, (made,), {"kind": kind})
        register(f"bad-{name}", factory, AnyOptions if name == "options" else Options)
    register("good", type("Good", (Good,), {"kind": kind}))


@hookimpl
def register_policies(register: Register) -> None:
    register_all(register, "policy")


@hookimpl
def register_patients(register: Register) -> None:
    register_all(register, "patient")


@hookimpl
def register_readers(register: Register) -> None:
    register_all(register, "reader")
    for name, made in (("notes", ReaderOfNotes), ("references", ReaderOfReferences), ("files", ReaderOfFiles)):
        register(f"peeks-at-{name}", type(made.__name__, (made,), {"kind": "reader"}))


@hookimpl
def register_judges(register: Register) -> None:
    register_all(register, "judge")
