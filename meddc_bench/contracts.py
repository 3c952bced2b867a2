"""What a plugin author reads: the views an adapter sees, the replies it gives, the protocols and the hooks.

A plugin is a module named by an entry point of the group `meddc_bench`. It implements some of the hooks at the end of
this file and registers factories by name:

    from meddc_bench.contracts import hookimpl

    @hookimpl
    def register_policies(register):
        register("my_doctor", "my_package.doctor:build", options="my_package.doctor:DoctorOptions")

`factory(options, context)` builds the adapter; it does no I/O. Adapters are stateless across rollouts. Methods may be
`async def` (run inline) or plain `def` (run in a thread pool). An adapter reports its own fault by raising
PolicyError, PatientError, ReaderError or JudgeError; any other exception counts as infrastructure and is retried.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, runtime_checkable

import msgspec
import pluggy
from pydantic import BaseModel, BeforeValidator, ConfigDict, SecretStr, model_serializer

from meddc_bench.actions import Call as Call
from meddc_bench.actions import MenuItem as MenuItem
from meddc_bench.records import JUDGE_STEPS as JUDGE_STEPS
from meddc_bench.records import (
    Action,
    Assignment,
    Axis,
    Case,
    Edge,
    Ended,
    Fact,
    History,
    Item,
    Media,
    Reading,
    TraceStep,
    Turn,
    Usage,
)
from meddc_bench.records import Decoding as Decoding
from meddc_bench.records import JudgeStep as JudgeStep

if TYPE_CHECKING:
    import numpy as np  # a tenth of the time of `ls`, which needs no numbers

PROJECT = "meddc_bench"
API_VERSION = 1

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


# ── options and context ──────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Local:
    """Mark an option that says where something runs, not what is measured: `base_url: Annotated[str, Local()]`."""


class Options(BaseModel):
    """Base of an adapter's options: unknown keys are refused and values never appear in an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


def _with_digest(value: Any) -> Any:
    if not isinstance(value, str | Path):
        return value
    path = Path(value).expanduser()
    try:
        return {"path": path, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}; give the path of a file") from None


class _File(BaseModel):
    """A file an option names: where it is, and the digest of its content."""

    model_config = ConfigDict(frozen=True)
    path: Path
    sha256: str

    @model_serializer
    def _by_content(self) -> str:
        return self.sha256


InputFile = Annotated[_File, BeforeValidator(_with_digest)]
"""An option that names a file: given as a path, identified by content, so that an edited file is another input."""


@dataclass(frozen=True, slots=True)
class Spec:
    """A plugin by name with its options, for adapters that build others."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)


class Context(Protocol):
    """What a factory may use of the run it belongs to."""

    label: str

    def secret(self, env: str) -> SecretStr: ...
    def build(self, kind: str, spec: Spec) -> Any: ...
    def media(self, sha256: str) -> bytes: ...


# ── messages ─────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message as a language model takes it; `images`, where the policy takes any, follow its text."""

    role: Literal["system", "user", "assistant"]
    content: str
    images: tuple[Media, ...] = ()


Render = Callable[[], "tuple[Message, ...]"]


class _Rendered:
    """Gives a view its `messages`, rendered from the task's templates when asked for."""

    __slots__ = ()
    render: Render | None

    @property
    def messages(self) -> tuple[Message, ...]:
        return self.render() if self.render is not None else ()


# ── policy ───────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Budget:
    """How many uses of something are allowed in all and how many are left."""

    total: int
    left: int


@dataclass(frozen=True, slots=True)
class PolicyView(_Rendered):
    """What the doctor sees: the turns so far, the menu, the budgets and the phase. No case id, facts or references.

    Pictures come with a turn's `media`; their bytes are had from `Context.media`. To a policy that takes images the turns
    and messages do not say in words what a picture shows.
    """

    turns: tuple[Turn, ...]
    menu: tuple[MenuItem, ...]
    budgets: Mapping[str, Budget]
    phase: str
    seed: int
    language: str = "zh"
    render: Render | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Reply:
    """A policy's turn: text (which may hold an XML or JSON action), tool calls, hidden reasoning, finish reason."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    reasoning: str | None = None
    finish: str | None = None
    usage: Usage | None = None
    model: str | None = None
    raw: str | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """A generation: text with the reasoning kept apart."""

    text: str
    reasoning: str | None = None
    finish: str | None = None
    usage: Usage | None = None
    model: str | None = None


class Generator(Protocol):
    """Turns messages into text; the condition `own` puts the common reader prompt before it."""

    async def generate(self, messages: Sequence[Message], decoding: Decoding, *, seed: int) -> Completion: ...


class Policy(Protocol):
    """The doctor. Optional: `start(view)` returns a per-rollout object with `act` and `finish`; `generator()` serves `own`.

    One registered with `provides=("images",)` gets pictures, unless it has an attribute `images` that is false.
    """

    def act(self, view: PolicyView) -> Reply | Awaitable[Reply]: ...


# ── patient ──────────────────────────────────────────────────────────────────────────────────────

AnswerStatus = Literal["stated", "denied", "not recorded"]


@dataclass(frozen=True, slots=True)
class PatientView(_Rendered):
    """What the simulated patient sees: its opening and facts, the ids already used, the turns, the question, the mode."""

    opening: str
    facts: tuple[Fact, ...]
    used: frozenset[str]
    turns: tuple[Turn, ...]
    question: str
    mode: str
    seed: int
    language: str = "zh"
    decoding: Decoding = field(default=Decoding(), kw_only=True)
    render: Render | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """The patient's reply with the facts it used. `status` sums it up: something stated, only denied, or nothing recorded.

    `unknown` names the parts of the question the facts do not record.
    """

    text: str
    fact_ids: tuple[str, ...] = ()
    status: AnswerStatus = "stated"
    unknown: tuple[str, ...] = ()
    usage: Usage | None = None
    model: str | None = None
    raw: str | None = None
    reasoning: str | None = None


class Patient(Protocol):
    """The simulated patient."""

    def answer(self, view: PatientView) -> Answer | Awaitable[Answer]: ...


# ── reader ───────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class ReaderView(_Rendered):
    """What a reader sees: the turns before the first summary, and nothing that tells whose history or which case it is."""

    turns: tuple[Turn, ...]
    seed: int
    language: str = "zh"
    top_k: int = 5
    decoding: Decoding = field(default=Decoding(), kw_only=True)
    render: Render | None = field(default=None, repr=False, compare=False)


class Reader(Protocol):
    """Writes the diagnoses from a frozen history."""

    def read(self, view: ReaderView) -> Reading | Awaitable[Reading]: ...


# ── judge ────────────────────────────────────────────────────────────────────────────────────────

LEVELS: Mapping[str, tuple[str, ...]] = {
    "cover_items": ("covers",),
    "grade_diagnoses": ("full", "core", "partial"),
    "align_questions": ("aligned",),
    "cover_targets": ("covers",),
    "volunteered": ("volunteered",),
}
"""The vocabulary of edge levels by step; an edge with another level is left, excluded."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference as a judge sees it: a diagnosis or plan item with synonyms, or a target with its type and fact texts."""

    id: str
    text: str
    synonyms: tuple[str, ...] = ()
    inquiry_type: str | None = None
    facts: tuple[str, ...] = ()
    code: str | None = None


@dataclass(frozen=True, slots=True)
class JudgeView(_Rendered):
    """One step of one axis.

    extract_items       text -> items (with `dimension`)
    cover_items         items x references -> edges of level `covers` (directional: the prediction is as specific or more)
    grade_diagnoses     items x references -> edges of level `full`, `core` or `partial`
    extract_questions   turns (doctor's, before the summary) -> items, one per question unit, with `turn` and `quote`
    align_questions     items without a round x turns -> edges (prediction = item id, reference = str(turn index))
    cover_targets       items x references -> edges of level `covers`
    volunteered         references x turns (all before the summary) -> edges (prediction = str(turn index), reference = id, quote)
    """

    step: JudgeStep
    axis: Axis
    seed: int
    language: str = "zh"
    text: str = ""
    turns: tuple[Turn, ...] = ()
    items: tuple[Item, ...] = ()
    references: tuple[Reference, ...] = ()
    top_k: int = 5
    decoding: Decoding = field(default=Decoding(), kw_only=True)
    render: Render | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Found:
    """A judge's answer to one step; `counts` of its work, by name, are added up over a run and shown beside its scores."""

    items: tuple[Item, ...] = ()
    edges: tuple[Edge, ...] = ()
    raw: str | None = None
    usage: Usage | None = None
    model: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)


class Judge(Protocol):
    """Proposes items and candidate edges; the core checks and assigns them."""

    def judge(self, view: JudgeView) -> Found | Awaitable[Found]: ...


# ── metric ───────────────────────────────────────────────────────────────────────────────────────


class Unit(msgspec.Struct, frozen=True):
    """What a metric sees of one case of one run: assignments by axis, how it ended, rounds, the action trace. No text.

    Of a workup also how many test records the case has and how many of them were received, and the environment's marks
    (`record:p5`, `gate:modality:caught`), turn by turn.
    """

    assignments: Mapping[Axis, Assignment]
    ended: str
    rounds: int
    first_summary: int | None
    budget: int
    trace: tuple[TraceStep, ...] = ()
    policy_failed: bool = False
    records_available: int = 0
    records_received: int = 0
    marks: tuple[tuple[str, ...], ...] = ()


Sums = Mapping[str, "np.ndarray"]


class Metric(Protocol):
    """A score built from additive statistics, so that a run, one case and 10,000 resamples are aggregated alike.

    `case` returns numbers to be added over cases (None leaves the case out, e.g. no references on that axis);
    `aggregate` takes arrays of sums, of any one shape, and returns the array of values in `range`, NaN where undefined.
    `needs` names the axes that must be present; metrics whose `case` is the same
    may say so by an equal attribute `shares`. `over_repeats` is "mean" or "sum".

    Optional: `join(repeats)` makes one mapping of those of all repeats of a case, which then stands in each of them;
    `absent` says why no case may have a value; `pooled`, of a ratio, that over several judges it is taken of their sums.
    """

    @property
    def unit(self) -> str: ...
    @property
    def range(self) -> tuple[float, float]: ...
    @property
    def higher_is_better(self) -> bool: ...
    @property
    def needs(self) -> tuple[Axis, ...]: ...
    @property
    def over_repeats(self) -> str: ...

    def case(self, unit: Unit) -> Mapping[str, float] | None: ...
    def aggregate(self, sums: Sums) -> np.ndarray: ...


# ── environment ──────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Step:
    """What a doctor's action led to: the kind of its turn, the question for the patient if any, turns of others, the end.

    `action`: the action as it is logged, where the environment found more wrong with it than its form. `marks`: what is
    noted of the turn and stands in no view.
    """

    kind: Literal["question", "summary", "diagnose"]
    text: str
    question: str | None = None
    turns: tuple[Turn, ...] = ()
    ended: Ended | None = None
    public: bool = True
    breaches: tuple[str, ...] = ()
    action: Action | None = None
    marks: tuple[str, ...] = ()


class Visit(Protocol):
    """One consultation in progress. `step` may be `async def` where it must wait, as for a library on another machine."""

    @property
    def menu(self) -> tuple[MenuItem, ...]: ...
    @property
    def budgets(self) -> Mapping[str, Budget]: ...
    @property
    def phase(self) -> str: ...

    def step(self, action: Action, text: str) -> Step | Awaitable[Step]: ...


class Environment(Protocol):
    """Makes visits; deterministic for a case and a seed.

    Optional: `media(sha256)` returns the bytes of a picture that the environment itself brings, None of any other.
    """

    def reset(self, case: Case, seed: int) -> Visit: ...


# ── importer ─────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Imported:
    """A history others made, with the labels it is stored under.

    The importer marks the first summary; a closing summary is the last turn, of kind `summary`, with the diagnosis as an
    action where the source gives it as a list.
    """

    case: str
    policy: str
    history: History
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class Fault:
    """A part of an imported file that could not be used: where, and a message fit for the screen.

    A `defect` is the file's. What was `excluded` was left out on purpose, for a `reason` in words that many rows share,
    which are counted. A `note` says what a person should know of the file as a whole.
    """

    where: str
    message: str
    kind: Literal["defect", "excluded", "note"] = "defect"
    reason: str = ""


@dataclass(frozen=True, slots=True)
class About:
    """What an importer says of the data it reads, for the card of the task it makes: its attribute `about`, if it has one.

    `decide` are the questions only a person can answer; of a `private` task no case text leaves a run.
    An importer that gives all its cases before the first history says `cases_first`.
    """

    title: str
    origin: str
    licence: str
    split: str = ""
    private: bool = False
    decide: tuple[str, ...] = ()
    cases_first: bool = False


class Importer(Protocol):
    """Reads a file others made; yields what it can use and a Fault for what it cannot."""

    def read(self, path: Path) -> Iterator[Case | Imported | Fault]: ...


# ── hooks ────────────────────────────────────────────────────────────────────────────────────────


@runtime_checkable
class Register(Protocol):
    """Registers a factory under a name. `factory` and `options` may be "module:name" strings, imported when needed.

    `revision` names the behaviour (default: the distribution's version); bump it when results change. `provides` lists
    what an adapter can do beside its one method: judge steps, "generator", "images". `languages` lists the languages of
    the tasks it can work on ("zh", "en"); without any it takes all, and a run on a task of another language is refused.
    """

    def __call__(
        self,
        name: str,
        factory: Callable[[Any, Context], Any] | str,
        options: type[Options] | str = Options,
        *,
        revision: str | None = None,
        provides: Sequence[str] = (),
        languages: Sequence[str] = (),
    ) -> None: ...


@hookspec
def register_policies(register: Register) -> None:
    """Register doctor policies."""


@hookspec
def register_patients(register: Register) -> None:
    """Register simulated patients."""


@hookspec
def register_readers(register: Register) -> None:
    """Register readers."""


@hookspec
def register_judges(register: Register) -> None:
    """Register judges."""


@hookspec
def register_metrics(register: Register) -> None:
    """Register metrics."""


@hookspec
def register_environments(register: Register) -> None:
    """Register environments."""


@hookspec
def register_tasks(register: Register) -> None:
    """Register folders of tasks: `register("name", "package:folder")`."""


@hookspec
def register_importers(register: Register) -> None:
    """Register importers of histories and cases."""
