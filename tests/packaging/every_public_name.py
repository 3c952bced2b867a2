"""A third party's module that uses every public name; `test_types` checks it under `mypy --strict` against the wheel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import numpy as np

from meddc_bench import (
    API_VERSION,
    DIMENSIONS,
    LEVELS,
    MEASURED,
    About,
    Action,
    Answer,
    Assignment,
    Budget,
    Call,
    Case,
    Completion,
    Context,
    Decoding,
    Diagnosis,
    Edge,
    Environment,
    Evidence,
    Fact,
    Fault,
    Found,
    Generator,
    History,
    Imported,
    Importer,
    InputFile,
    Item,
    Judge,
    JudgeView,
    Key,
    Local,
    Media,
    MenuItem,
    Message,
    Metric,
    Note,
    Options,
    Pair,
    Patient,
    PatientView,
    Policy,
    PolicyView,
    Reader,
    ReaderView,
    Reading,
    Reference,
    References,
    Reply,
    Score,
    Spec,
    Step,
    Target,
    TraceStep,
    Turn,
    Unit,
    Usage,
    Visit,
    hookimpl,
)
from meddc_bench.contracts import Register
from meddc_bench.records import Axis


class Settings(Options):
    """Options of every adapter here."""

    greeting: str = "您好。"
    words: InputFile | None = None
    base_url: Annotated[str, Local()] = "http://localhost"


class Doctor:
    """Asks once, then diagnoses."""

    def __init__(self, options: Settings, context: Context):
        self.options, self.label = options, context.label
        key: str = context.secret("OPENAI_API_KEY").get_secret_value()
        self.has_key, self.other = bool(key), context.build("policy", Spec("brief", {"limit": 1}))

    def act(self, view: PolicyView) -> Reply:
        """Ask while there is a budget."""
        budget: Budget = view.budgets["questions"]
        first: Message | None = view.messages[0] if view.messages else None
        names: list[str] = [item.name for item in view.menu]
        if budget.left or first is None or "diagnose" not in names:
            return Reply(self.options.greeting, usage=Usage(calls=1))
        return Reply(calls=(Call("diagnose", {"diagnoses": ["急性阑尾炎"]}),))

    def generator(self) -> Generator:
        """Serve the condition `own`."""
        return Writer()


class Writer:
    """Writes one sentence whatever it is asked."""

    async def generate(self, messages: Sequence[Message], decoding: Decoding, *, seed: int) -> Completion:
        """Write."""
        return Completion(text=f"诊断：感冒（{len(messages)}，{decoding.temperature}，{seed}）")


class Teller:
    """Tells the first fact."""

    async def answer(self, view: PatientView) -> Answer:
        """Answer."""
        fact: Fact = view.facts[0]
        return Answer(fact.text, (fact.id,), "denied" if fact.denied else "stated")


class First:
    """Reads the patient's first words as the diagnosis."""

    async def read(self, view: ReaderView) -> Reading:
        """Read."""
        turn: Turn = view.turns[0]
        kinds: list[str] = [media.type for media in turn.media if isinstance(media, Media)]
        return Reading(text=turn.text, diagnoses=(turn.text, *kinds)[: view.top_k])


class Equal:
    """Finds equal texts."""

    async def judge(self, view: JudgeView) -> Found:
        """Judge."""
        level: str = LEVELS[view.step][0]
        return Found(edges=tuple(edge(item, one, level) for item in view.items for one in view.references))


def edge(item: Item, reference: Reference, level: str) -> Edge:
    """Return the candidate edge of two."""
    return Edge(prediction=item.id, reference=reference.id, level=level, excluded=None if item.text else "blank")


class Pairs:
    """Counts the matched pairs of the trajectory."""

    unit, range, higher_is_better, over_repeats = "pairs", (0.0, float("inf")), True, "mean"
    needs: tuple[Axis, ...] = ("trajectory",)

    def case(self, unit: Unit) -> Mapping[str, float] | None:
        """Count."""
        found: Assignment = unit.assignments["trajectory"]
        pairs: tuple[Pair, ...] = found.pairs
        steps: tuple[TraceStep, ...] = unit.trace
        return {"pairs": len(pairs), "steps": len(steps)}

    def aggregate(self, sums: Mapping[str, np.ndarray]) -> np.ndarray:
        """Give the sums as they are."""
        return sums["pairs"]


class Talk:
    """A consultation of one question."""

    menu = (MenuItem("diagnose", "下诊断", {"type": "object"}),)
    phase = "history"

    def __init__(self, case: Case):
        self.case, self.budgets = case, {"questions": Budget(case.turn_budget, case.turn_budget)}

    def step(self, action: Action, text: str) -> Step:
        """Take a turn."""
        return (
            Step("question", text, question=text) if action.name == "ask" else Step("diagnose", text, ended="diagnosed")
        )


class Ward:
    """Makes talks."""

    def reset(self, case: Case, seed: int) -> Visit:
        """Start."""
        return Talk(case)


class Sheet:
    """Reads names of diagnoses, one a line."""

    about = About("Names", "a sheet of ours", "CC0-1.0", decide=("is every line a diagnosis?",))

    def read(self, path: Path) -> Iterator[Case | Imported | Fault]:
        """Read."""
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if not line:
                yield Fault(f"line {number}", "it is blank")
                continue
            yield case(f"c{number}", line)
            yield Imported(f"c{number}", "others", history(line))


def case(name: str, diagnosis: str) -> Case:
    """Return a case."""
    target = Target(id="t1", question="疼多久了？", facts=("f1",), inquiry_type="onset", importance=3)
    return Case(
        id=name, source="record", context="腹痛。", facts=(Fact(id="f1", topic="onset", text="三天前开始疼"),), turn_budget=3,
        diagnoses=(Diagnosis(name=diagnosis),), targets=(target,), references=References(tests=("血常规",)),
    )  # fmt: skip


def history(said: str) -> History:
    """Return a history of the opening alone."""
    turn = Turn(index=0, round=0, role="patient", kind="opening", text=said)
    return History(turns=(turn,), ended="budget", notes={"0": Note(raw=said)})


def best(scores: Mapping[Key, Score], evidence: Evidence) -> float | None:
    """Return the best score of a policy that has evidence."""
    values = [score.value for score in scores.values() if score.value is not None and evidence.items]
    return max(values, default=None)


def dimensions() -> tuple[int, set[str]]:
    """Return the version of the contracts, and what is measured."""
    return API_VERSION, {*DIMENSIONS, *MEASURED}


@hookimpl
def register_policies(register: Register) -> None:
    """Register under every kind; here for brevity."""
    register("doctor", Doctor, Settings, revision="1", provides=("generator",))


def every_contract(
    settings: Settings, context: Context
) -> tuple[Policy, Patient, Reader, Judge, Metric, Environment, Importer]:
    """Each class keeps its contract."""
    return Doctor(settings, context), Teller(), First(), Equal(), Pairs(), Ward(), Sheet()
