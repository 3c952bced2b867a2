"""A plugin of the tests only: two policies, and readers, judges and patients whose favourite is known.

`left` emits the right diagnosis and `right` a wrong one. The reader `fair` is right about both, `contrary` about `right`
alone, `torn` about `left` alone and only where the opening lacks a headache, `clumsy` fails on headaches. The judge
`equal` (of the other doubles) covers what is the same, `never` nothing, `broken` fails.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from meddc_bench.contracts import Answer, Call, Found, JudgeView, PatientView, PolicyView, ReaderView, Reply, hookimpl
from meddc_bench.errors import JudgeError, ReaderError
from meddc_bench.records import Item, Reading

DISEASES = {"发烧": "肺炎", "肚子": "阑尾炎", "头": "偏头痛"}
MADE: list[str] = []
"""Every call of a policy and a reader, so that a test can count them."""


def truth(opening: str) -> str:
    return next((name for word, name in DISEASES.items() if word in opening), "感冒")


class Sided:
    """Asks one question that gives its side away, then diagnoses."""

    def __init__(self, side: str, right: bool):
        self._side, self._right = side, right

    async def act(self, view: PolicyView) -> Reply:
        MADE.append(f"policy {self._side}")
        if len(view.turns) == 1:
            return Reply(f"{self._side}边疼吗？")
        opening = view.turns[0].text
        return Reply(calls=(Call("diagnose", {"diagnoses": [truth(opening) if self._right else "错的"]}),))


class Reader:
    """Reads by rule."""

    def __init__(self, name: str):
        self._name = name

    async def read(self, view: ReaderView) -> Reading:
        MADE.append(f"reader {self._name}")
        opening = view.turns[0].text
        asked = "".join(turn.text for turn in view.turns if turn.role == "doctor")
        if self._name == "clumsy" and "头" in opening:
            raise ReaderError("读不下去了")
        right = {
            "fair": True, "clumsy": True, "contrary": "右" in asked, "torn": "左" in asked and "头" not in opening,
        }[self._name]  # fmt: skip
        return Reading(text="读后", diagnoses=(truth(opening) if right else "错的",))


class Judge:
    """Covers nothing, or fails."""

    def __init__(self, fails: bool):
        self._fails = fails

    async def judge(self, view: JudgeView) -> Found:
        if self._fails:
            raise JudgeError("判不了")
        if view.step == "extract_questions":
            return Found(items=tuple(Item(id="", text=one.text, turn=one.index, quote=one.text) for one in view.turns))
        return Found()


class Mute:
    """A patient who knows nothing."""

    async def answer(self, view: PatientView) -> Answer:
        return Answer("不知道。", (), "not recorded")


@hookimpl
def register_policies(register: Any) -> None:
    register("left", lambda options, context: Sided("左", right=True), revision="1")
    register("right", lambda options, context: Sided("右", right=False), revision="1")


@hookimpl
def register_readers(register: Any) -> None:
    for name in ("fair", "contrary", "torn", "clumsy"):
        register(name, lambda options, context, name=name: Reader(name), revision="1")


@hookimpl
def register_judges(register: Any) -> None:
    register("never", lambda options, context: Judge(fails=False), revision="1")
    register("broken", lambda options, context: Judge(fails=True), revision="1")


@hookimpl
def register_patients(register: Any) -> None:
    register("mute", lambda options, context: Mute(), revision="1")


class _Point:
    """What the registry needs of an entry point."""

    name = "sided"
    dist = SimpleNamespace(name="sided", version="1")

    def load(self) -> Any:
        import sided

        return sided


POINT = _Point()
