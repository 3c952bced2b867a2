"""The frozen records that stages exchange.

    Case ──rollout──> History ──read──> Reading ──judge──> Evidence ──match──> Assignment ──score──> Unit sums

Cases are written by people, so they are pydantic models that check every field. The other records are
written and read by the program, in bulk; they are msgspec structs, which decode at the speed of a JSON parser.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

import msgspec
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from meddc_bench.osce import Workup

# ── cases ────────────────────────────────────────────────────────────────────────────────────────

Topic = Literal[
    "identity",
    "onset",
    "trigger",
    "site",
    "character",
    "severity",
    "course",
    "modifying",
    "associated",
    "prior_care",
    "general",
    "past",
    "medication",
    "allergy",
    "personal",
    "obstetric",
    "development",
    "family",
]
"""What a fact is about. Every topic but `identity` is also an inquiry type of targets."""

InquiryType = Literal[
    "onset",
    "trigger",
    "site",
    "character",
    "severity",
    "course",
    "modifying",
    "associated",
    "prior_care",
    "general",
    "past",
    "medication",
    "allergy",
    "personal",
    "obstetric",
    "development",
    "family",
]

Dimension = Literal["tests", "treatment", "medication", "lifestyle", "guidance"]
"""The dimensions beside the diagnosis that a plan may cover (reported, not in Total)."""

DIMENSIONS: tuple[Dimension, ...] = ("tests", "treatment", "medication", "lifestyle", "guidance")

Axis = Literal["diagnosis", "trajectory", "tests", "treatment", "medication", "lifestyle", "guidance"]


class CaseModel(BaseModel):
    """Base of the models that make up a case: frozen, unknown keys refused, no value coerced."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)


Words = Annotated[str, StringConstraints(pattern=r"\S")]
"""Text that is not blank."""


class Fact(CaseModel):
    """One atomic thing the patient knows. `denied` marks a grounded negative; `opening` one the context already states."""

    id: str = Field(pattern=r"^[a-z][a-z0-9_-]{0,15}$")
    topic: Topic
    text: Words = Field(max_length=200)
    denied: bool = False
    opening: bool = False


class Diagnosis(CaseModel):
    """A reference diagnosis with names of the same meaning and, where known, a code (ICD-10)."""

    name: Words = Field(max_length=100)
    synonyms: tuple[Words, ...] = ()
    code: str | None = None


class Target(CaseModel):
    """An information need: the reference question and the facts it should elicit. Only importance 3 is scored.

    A `derived` target was made by a program from the facts of an imported case; no clinician wrote it.
    """

    id: str = Field(pattern=r"^[a-z][a-z0-9_-]{0,15}$")
    question: Words = Field(min_length=2, max_length=200)
    facts: tuple[str, ...] = ()
    inquiry_type: InquiryType
    importance: int = Field(ge=1, le=3)
    derived: bool = Field(default=False, exclude_if=lambda derived: not derived)


class References(CaseModel):
    """Reference items of the dimensions beside the diagnosis."""

    tests: tuple[Words, ...] = ()
    treatment: tuple[Words, ...] = ()
    medication: tuple[Words, ...] = ()
    lifestyle: tuple[Words, ...] = ()
    guidance: tuple[Words, ...] = ()


class Case(CaseModel):
    """One consultation case (Table S2): what is said first, what the patient knows, what should be found and asked."""

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
    source: str = Field(min_length=1, max_length=32)
    department: str | None = None
    language: str = "zh"
    context: Words = Field(max_length=2000)
    facts: tuple[Fact, ...] = ()
    diagnoses: tuple[Diagnosis, ...] = Field(min_length=1)
    targets: tuple[Target, ...] = ()
    turn_budget: int = Field(ge=1, le=50)
    references: References = References()
    workup: Workup | None = Field(default=None, exclude_if=lambda workup: workup is None)
    provenance: str = ""
    licence: str = ""

    @property
    def scored_targets(self) -> tuple[Target, ...]:
        """The targets that T counts: importance 3."""
        return tuple(target for target in self.targets if target.importance == 3)


# ── histories ────────────────────────────────────────────────────────────────────────────────────

Role = Literal["doctor", "patient", "reporter"]
TurnKind = Literal["opening", "question", "answer", "report", "summary", "diagnose"]
Ended = Literal["diagnosed", "budget", "deferred", "failed"]
Form = Literal["text", "tool", "xml", "json"]

Outcome = Literal[
    "scored", "policy_failed", "patient_failed", "reader_failed", "judge_failed", "infra_failed", "excluded"
]

MEASURED: frozenset[str] = frozenset({"scored", "policy_failed"})
"""Outcomes that are measurements; every other one leaves the score None."""


JudgeStep = Literal[
    "extract_items",
    "cover_items",
    "grade_diagnoses",
    "extract_questions",
    "align_questions",
    "cover_targets",
    "volunteered",
]

JUDGE_STEPS: tuple[JudgeStep, ...] = get_args(JudgeStep)
"""All steps: what a judge that can do everything `provides`."""

CONDITIONS = frozenset({"emitted", "own"})
"""Conditions of the read stage that are the core's own; any other is a reader's label."""


class Record(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, gc=False):
    """Base of the records that are stored; they hold no cycles, so the garbage collector need not look."""


class Action(Record, frozen=True):
    """What a doctor's turn does: an item of the menu, its arguments, the form it came in and what was wrong with it."""

    name: str
    arguments: dict[str, Any] = {}
    form: Form = "text"
    violations: tuple[str, ...] = ()


class Media(Record, frozen=True):
    """A picture of a turn, by content hash.

    `label` announces it to who sees it; `description` stands for it where there is nothing but text, and says what kind
    of picture it is, never what is found on it.
    """

    sha256: str
    type: str
    description: str = ""
    label: str = ""


class Turn(Record, frozen=True):
    """One public utterance. `round` k is the k-th doctor turn with its reply; the opening is round 0."""

    index: int
    round: int
    role: Role
    kind: TurnKind
    text: str
    action: Action | None = None
    media: tuple[Media, ...] = ()


class Note(Record, frozen=True):
    """What belongs to a turn but is in no view: raw reply, hidden reasoning, ids of facts and evidence, checks that fired.

    `marks` are the environment's: records released (`record:p3`), outcomes of integrity probes (`gate:modality:caught`).
    """

    raw: str | None = None
    reasoning: str | None = None
    status: str | None = None
    fact_ids: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    model: str | None = None
    marks: tuple[str, ...] = ()


class Usage(Record, frozen=True):
    """Tokens and calls of one adapter call or the sum over several."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Decoding:
    """Sampling fields sent with a generation; None leaves the endpoint's default.

    `schema`: the JSON schema the reply should keep to, for endpoints that can see to it.
    """

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    schema: Mapping[str, Any] | None = None


class TraceStep(Record, frozen=True, array_like=True):
    """One doctor's action without its text: round, name, form, number of violations."""

    round: int
    name: str
    form: str
    violations: int


class History(Record, frozen=True):
    """A finished consultation. `turns` are public and hashed; `notes` (by turn index) are in no view.

    `first_summary` is the round of the first turn of kind summary or diagnose, None without one; `rounds` counts the
    doctor's turns; `breaches` are the policy's violations of the protocol, in order.
    """

    turns: tuple[Turn, ...]
    ended: Ended
    first_summary: int | None = None
    rounds: int = 0
    breaches: tuple[str, ...] = ()
    notes: dict[str, Note] = {}

    @property
    def diagnosis_action(self) -> Action | None:
        """The structured diagnosis that ended the consultation, if there is one."""
        for turn in reversed(self.turns):
            if turn.kind in ("diagnose", "summary") and turn.action is not None:
                return turn.action
        return None


class Reading(Record, frozen=True):
    """What was made of one history under one condition.

    `diagnoses` are in the reader's order; None means prose, which the judge extracts from; () means none was given.
    `cut_at` is the index of the first turn that asserts a diagnosis and bounded or masked the view, if any.
    """

    text: str = ""
    diagnoses: tuple[str, ...] | None = None
    plan: dict[str, tuple[str, ...]] = {}
    view: str = "cut"
    cut_at: int | None = None
    turns_read: int = 0
    history_hash: str = ""
    model: str | None = None


class Item(Record, frozen=True):
    """A prediction on one axis: an extracted diagnosis, test, ... or question unit (with its round and turn)."""

    id: str
    text: str
    round: int | None = None
    turn: int | None = None
    quote: str | None = None
    dimension: str | None = None


class Edge(Record, frozen=True):
    """A candidate edge: the judge says that the prediction covers the reference. `excluded` holds why it cannot count."""

    prediction: str
    reference: str
    level: str = "covers"
    quote: str | None = None
    reason: str | None = None
    excluded: str | None = None


class Evidence(Record, frozen=True):
    """What a judge proposed on one axis, and the reference ids it was asked about.

    `steps` records, for a step that had to fall back, the fallback used; `raw` the judge's raw replies by step; `counts`
    what the judge counted of its own work, as how often an ontology knew both names.
    """

    axis: Axis
    items: tuple[Item, ...] = ()
    references: tuple[str, ...] = ()
    edges: tuple[Edge, ...] = ()
    volunteered: tuple[str, ...] = ()
    steps: dict[str, str] = {}
    raw: dict[str, str] = {}
    model: str | None = None
    counts: dict[str, int] = {}


Level = Literal["full", "core", "partial"]
"""How far a predicted diagnosis corresponds to a reference; no level is no correspondence."""

CREDIT: Mapping[str, float] = {"full": 1.0, "core": 0.85, "partial": 0.5}
"""What a matched pair of a level is worth, best first (TrustMed-RL, Table 10)."""


class Pair(Record, frozen=True):
    """A prediction assigned to a reference.

    `round` counts for timing (None outside the trajectory); `level` is there where the judge graded the axis.
    """

    prediction: str
    reference: str
    round: int | None = None
    level: Level | None = None


class Assignment(Record, frozen=True):
    """The deterministic one-to-one assignment on one axis and its counts."""

    axis: Axis
    pairs: tuple[Pair, ...] = ()
    excluded: tuple[Edge, ...] = ()
    unmatched_predictions: tuple[str, ...] = ()
    unmatched_references: tuple[str, ...] = ()
    volunteered: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    tp: int = 0
    fp: int = 0
    fn: int = 0

    @property
    def matched_rounds(self) -> tuple[int, ...]:
        """Rounds of the matched targets, ascending, one per target."""
        return tuple(sorted([pair.round for pair in self.pairs if pair.round is not None]))


class Score(Record, frozen=True):
    """A metric's value, or None and the reason."""

    value: float | None
    reason: str | None = None
    empty: bool = False


# ── what the store holds ─────────────────────────────────────────────────────────────────────────

Stage = Literal["history", "reading", "evidence"]


class Key(Record, frozen=True):
    """Who a record belongs to. Labels and numbers only; identity of the adapters is in the record's id."""

    task: str
    case: str
    policy: str
    patient: str
    repeat: int
    condition: str | None = None
    judge: str | None = None
    ask: int | None = None
    axis: str | None = None
