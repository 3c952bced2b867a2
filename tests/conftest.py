"""Small fixtures: golden vectors, task folders on disk, plugins without a distribution, histories and metrics."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import settings

from meddc_bench.contracts import hookimpl
from meddc_bench.records import Action, History, Turn
from meddc_bench.registry import Registry
from meddc_bench.task import Task, load_task
from meddc_bench.wiring import Adapter

settings.register_profile("meddc", deadline=None, derandomize=True, max_examples=150)
settings.load_profile("meddc")

CASE = """\
id: c1
source: record
context: 腹痛三天。
facts:
  - {id: f01, topic: onset, text: 三天前开始疼, opening: true}
  - {id: f02, topic: associated, text: 没有发热, denied: true}
diagnoses:
  - {name: 急性阑尾炎, synonyms: [阑尾炎]}
targets:
  - {id: t01, question: 什么时候开始疼的？, facts: [f01], inquiry_type: onset, importance: 3}
  - {id: t02, question: 有没有发热？, facts: [f02], inquiry_type: associated, importance: 3}
turn_budget: 3
"""


@pytest.fixture(scope="session")
def vectors() -> Callable[[str], dict[str, Any]]:
    """Read a golden vector file by its topic."""
    return lambda topic: json.loads((Path(__file__).parent / "vectors" / f"{topic}.json").read_text(encoding="utf-8"))


@pytest.fixture
def make_task(tmp_path: Path) -> Callable[..., Path]:
    """Write a task folder; return its task.yaml. `cases` are file names and texts (or bytes), `more` further files."""

    def make(
        text: str = "task: demo\n",
        cases: Mapping[str, str | bytes] | None = None,
        more: Mapping[str, str | bytes] | None = None,
        folder: str = "demo",
    ) -> Path:
        root = tmp_path / folder
        files = {"task.yaml": text, **(more or {})}
        files |= {f"cases/{name}": body for name, body in (cases if cases is not None else {"c1.yaml": CASE}).items()}
        for name, body in files.items():
            file = root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(body if isinstance(body, bytes) else body.encode("utf-8"))
        return root / "task.yaml"

    return make


@pytest.fixture(scope="session")
def case_text() -> str:
    """The YAML of a case that is in order."""
    return CASE


@pytest.fixture
def demo(make_task: Callable[..., Path]) -> Callable[..., Task]:
    """Load the demo task, with the protocol options given."""

    def load(**protocol: Any) -> Task:
        return load_task(make_task(f"task: demo\nprotocol: {json.dumps(protocol)}\n"))

    return load


@dataclass(frozen=True)
class Point:
    """What the registry needs of an entry point."""

    name: str
    module: Any
    dist: Any = field(default_factory=lambda: SimpleNamespace(name="third-party", version="1.2"))

    def load(self) -> Any:
        """Give the module, or fail as importing it would."""
        if isinstance(self.module, BaseException):
            raise self.module
        return self.module


@pytest.fixture(scope="session")
def point() -> Callable[..., Point]:
    """Make an entry point whose module registers what is given by kind: `policies={"name": factory}` or a function."""

    def make(name: str, *, dist: str = "third-party", fails: BaseException | None = None, **hooks: Any) -> Point:
        functions = {f"register_{plural}": _hook(found) for plural, found in hooks.items()}
        module = fails if fails is not None else SimpleNamespace(**functions)
        return Point(name, module, SimpleNamespace(name=dist, version="1.2"))

    return make


def _hook(found: Any) -> Any:
    def register_all(register: Any) -> None:
        for name, factory in found.items():
            options = factory if isinstance(factory, tuple) else (factory,)
            register(name, *options)

    return hookimpl(register_all if isinstance(found, Mapping) else found)


@pytest.fixture(scope="session")
def installed() -> Registry:
    """The registry of what is installed."""
    return Registry.load()


@pytest.fixture(scope="session")
def metric(installed: Registry) -> Callable[..., Any]:
    """Build an installed metric by name."""
    return lambda name, **options: Adapter(installed, "metric", name, name, options).get()


@pytest.fixture(scope="session")
def consult() -> Callable[..., History]:
    """Make a history of questions with their answers, and a structured diagnosis at the end if one is given."""

    def make(
        rounds: Iterable[tuple[str, str]], diagnoses: Iterable[str] | None = None, opening: str = "腹痛三天。"
    ) -> History:
        turns = [Turn(index=0, round=0, role="patient", kind="opening", text=opening)]
        number = 0
        for number, (question, answer) in enumerate(rounds, 1):
            turns.append(Turn(index=len(turns), round=number, role="doctor", kind="question", text=question))
            turns.append(Turn(index=len(turns), round=number, role="patient", kind="answer", text=answer))
        if diagnoses is None:
            return History(turns=tuple(turns), ended="budget", rounds=number)
        names = list(diagnoses)
        action = Action(name="diagnose", arguments={"diagnoses": names}, form="tool")
        text = "诊断：" + "；".join(names)
        last = Turn(index=len(turns), round=number + 1, role="doctor", kind="diagnose", text=text, action=action)
        return History(turns=(*turns, last), ended="diagnosed", first_summary=number + 1, rounds=number + 1)

    return make
