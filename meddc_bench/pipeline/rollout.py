"""Rollout: a policy questions a simulated patient until it diagnoses or its budget ends.

This stage, never the environment, asks the patient, checks what it answers and attributes failures.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import msgspec

from meddc_bench import actions
from meddc_bench.adapters import Caller, StageFailure, failure
from meddc_bench.contracts import (
    Answer,
    Budget,
    Environment,
    Message,
    Patient,
    PatientView,
    Policy,
    PolicyView,
    Render,
    Reply,
    Step,
    Visit,
)
from meddc_bench.errors import PatientError, PolicyError
from meddc_bench.fingerprint import derive_seed, digest
from meddc_bench.prompts import prompts_for
from meddc_bench.records import Action, Case, Ended, History, Media, Note, Turn
from meddc_bench.task import Task
from meddc_bench.text import clean, mentions, squash

WORKUP_PHASES = frozenset({"workup", "integrity", "conclusion"})
"""Phases of a visit in which the patient is no longer asked."""

_encode = msgspec.json.Encoder(order="deterministic").encode
_MUCH = 6


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a visit stands when the policy is to act: the phase and the budgets."""

    phase: str
    budgets: Mapping[str, Budget]


class Rollout:
    """One consultation, a step at a time; what trainers drive and `roll_out` loops over."""

    def __init__(
        self, task: Task, case: Case, environment: Environment, patient: Patient, *,
        run_seed: int = 0, repeat: int = 0, caller: Caller | None = None, images: bool = False,
    ):  # fmt: skip
        """Begin a consultation; with `images` the policy gets pictures as such, else in words."""
        draw = functools.partial(derive_seed, run_seed, task.name, case.id, repeat)
        self._task, self._case, self._patient = task, case, patient
        self._caller = caller or Caller()
        self._policy_seed, self._patient_seed = draw("policy"), draw("patient")
        self._visit: Visit = environment.reset(case, draw("environment"))
        self._mode, self._images = task.mode(case), images
        self._transcript = Transcript(task, self._visit.budgets, images=images)
        self._prompt = PatientPrompt(task, case)
        self._turns: list[Turn] = [Turn(index=0, round=0, role="patient", kind="opening", text=clean(case.context))]
        self._notes: dict[str, Note] = {}
        self._breaches: list[str] = []
        self._used: set[str] = {fact.id for fact in case.facts if fact.opening}
        self._standings: list[Standing] = []
        self._rounds = 0
        self._ended: Ended | None = None

    @property
    def view(self) -> PolicyView:
        """What the policy sees now."""
        visit = self._visit
        turns = tuple(undescribed(turn) for turn in self._turns) if self._images else tuple(self._turns)
        standings = (*self._standings, Standing(visit.phase, visit.budgets))
        render = _once(self._transcript.messages, turns, dict(self._notes), standings)
        return PolicyView(turns, visit.menu, visit.budgets, visit.phase, self._policy_seed, self._case.language, render)

    @property
    def done(self) -> bool:
        return self._ended is not None

    async def step(self, reply: Reply) -> bool:
        """Take the policy's reply, ask the patient, and return whether the consultation has ended.

        Raises:
            StageFailure: the policy broke off (a blank reply) or the patient failed.
        """
        text, thought = actions.split_reasoning(clean(reply.text))
        standing = Standing(self._visit.phase, self._visit.budgets)
        action, public = actions.parse(text, reply.calls, getattr(self._visit, "vocabulary", self._visit.menu))
        made = self._visit.step(action, public)
        step: Step = await made if isinstance(made, Awaitable) else made
        # a round is a doctor's turn of the history, or the summary's own; turns of a workup keep the last number
        counts = standing.phase not in WORKUP_PHASES or step.kind != "question"
        self._breaches.extend(f"round {self._rounds + counts}: {breach}" for breach in step.breaches)
        if step.public:
            self._standings.append(standing)
            self._rounds += counts
            reasoning = "\n".join(part for part in (clean(reply.reasoning or ""), thought) if part) or None
            note = Note(
                raw=_different(clean(reply.raw or reply.text), step.text),
                reasoning=reasoning,
                model=clean(reply.model or "") or None,
                marks=step.marks,
            )
            self._add("doctor", step.kind, step.text, step.action or action, note)
        for turn in step.turns:
            self._add(turn.role, turn.kind, in_words(turn, self._images), turn.action, Note(), turn.media)
        if step.question is not None:
            await self._ask_patient(step.question)
        if step.ended is not None:
            self._end(step)
        return self.done

    @property
    def history(self) -> History:
        """The consultation so far, or whole once `done`."""
        first = next((turn.round for turn in self._turns if turn.kind in ("summary", "diagnose")), None)
        return History(
            turns=tuple(self._turns),
            ended=self._ended or "failed",
            first_summary=first,
            rounds=self._rounds,
            breaches=tuple(self._breaches),
            notes={index: note for index, note in self._notes.items() if note != Note()},
        )

    def _end(self, step: Step) -> None:
        if step.ended not in get_args(Ended):
            raise StageFailure("infra_failed", f"the environment ended the visit as {step.ended!r}")
        self._ended = step.ended
        if self._ended == "failed":
            reason = step.breaches[-1] if step.breaches else "the environment ended the visit"
            raise StageFailure("policy_failed", reason)

    def _add(
        self, role: Any, kind: Any, text: str, action: Action | None, note: Note, media: tuple[Media, ...] = ()
    ) -> None:
        index = len(self._turns)
        plain = action is not None and action.name == "ask" and not action.violations and action.form == "text"
        kept = None if plain else action
        self._turns.append(
            Turn(index=index, round=self._rounds, role=role, kind=kind, text=text, action=kept, media=media)
        )
        self._notes[str(index)] = note

    async def _ask_patient(self, question: str) -> None:
        case = self._case
        turns = tuple(self._turns)
        render = _once(self._prompt.messages, turns, question)
        view = PatientView(
            case.context, case.facts, frozenset(self._used), turns, question, self._mode,
            derive_seed(self._patient_seed, self._rounds), case.language, render,
            decoding=self._task.config.protocol.sampling("patient"),
        )  # fmt: skip
        try:
            answer: Answer = await self._caller.call(self._patient.answer, view, returns=Answer)
            text, thought = actions.split_reasoning(clean(answer.text))
            if not text:
                raise PatientError("the patient's answer is empty")
            limit = self._task.config.protocol.max_turn_chars
            if len(text) > limit:
                raise PatientError(f"the patient's answer is longer than {limit} characters")
        except Exception as error:  # recorded as this record's outcome
            raise failure(error, PatientError) from error
        known, checks = check_answer(case, answer, text)
        self._used.update(known)
        note = Note(
            raw=_different(clean(answer.raw or answer.text), text), reasoning=clean(answer.reasoning or thought) or None,
            status=answer.status, fact_ids=known, unknown=answer.unknown, checks=checks, model=clean(answer.model or "") or None,
        )  # fmt: skip
        self._add("patient", "answer", text, None, note)


async def roll_out(policy: Policy, rollout: Rollout, caller: Caller) -> History:
    """Let a policy act until the consultation ends.

    Raises:
        StageFailure: with the outcome of whoever failed; `rollout.history` holds the turns until then.
    """
    actor: Any = policy
    starts = getattr(policy, "start", None)
    try:
        if starts is not None:
            actor = await _acting(caller, starts, rollout.view, object)
        while not rollout.done:
            await rollout.step(await _acting(caller, actor.act, rollout.view, Reply))
    finally:
        finish = getattr(actor, "finish", None) if actor is not policy else None
        if finish is not None:
            with contextlib.suppress(Exception):  # what it elicited is whole, and why it failed is known already
                await caller.call(finish, returns=object)
    return rollout.history


async def _acting(caller: Caller, method: Callable[..., Any], view: PolicyView, returns: type) -> Any:
    try:
        return await caller.call(method, view, returns=returns)
    except Exception as error:  # recorded as this record's outcome
        raise failure(error, PolicyError) from error


def in_words(turn: Turn, images: bool) -> str:
    """Return the words of a turn: of each picture that is announced where it is seen, and described where it is not."""
    if not turn.media:
        return clean(turn.text)
    lines = [one.label if images else one.description for one in turn.media]
    return clean("\n".join([turn.text, *(line for line in lines if line)]))


def undescribed(turn: Turn) -> Turn:
    """Take from a turn what it says in words of its pictures, for a policy that is to look at them."""
    if not turn.media:
        return turn
    return msgspec.structs.replace(
        turn, media=tuple(Media(sha256=one.sha256, type=one.type, label=one.label) for one in turn.media)
    )


def _once(render: Callable[..., tuple[Message, ...]], *args: Any) -> Render:
    """Render when asked; what it renders from is no attribute of what an adapter gets."""

    def messages() -> tuple[Message, ...]:
        return render(*args)

    return messages


def history_hash(history: History) -> str:
    """Digest of the public turns: equal hashes mean that readers saw the same bytes."""
    return digest(_encode(history.turns))


def doctor_hash(history: History) -> str:
    """Digest of what the doctor said and did, to tell whether a policy is deterministic."""
    return digest(_encode([(turn.text, turn.action) for turn in history.turns if turn.role == "doctor"]))


def check_answer(case: Case, answer: Answer, text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Check a patient's answer against its case.

    Returns:
        The fact ids that exist, and the names of the checks that fired: `unknown fact`, `no fact behind it`,
        `status against facts`, `volunteers much`, `names the diagnosis`, `speaks as the doctor`.
    """
    facts = {fact.id: fact for fact in case.facts}
    known = tuple(dict.fromkeys(one for one in answer.fact_ids if one in facts))
    checks: list[str] = []
    if len(known) < len(set(answer.fact_ids)):
        checks.append("unknown fact")
    if answer.status != "not recorded" and not known:
        checks.append("no fact behind it")
    if answer.status == "denied" and any(not facts[one].denied for one in known):
        checks.append("status against facts")
    if len(known) >= max(_MUCH, len(facts) // 2):
        checks.append("volunteers much")
    if names_diagnosis(case, text):
        checks.append("names the diagnosis")
    if text.startswith(("医生：", "医生:", "大夫：", "大夫:", "Doctor:")):
        checks.append("speaks as the doctor")
    return known, tuple(checks)


def names_diagnosis(case: Case, text: str) -> bool:
    """Tell whether a text names a diagnosis of the case or a synonym of it."""
    if case.language == "en":
        return any(mentions(text, name) for one in case.diagnoses for name in (one.name, *one.synonyms))
    squashed = squash(text)
    return any(name in squashed for name in _names(tuple((one.name, *one.synonyms) for one in case.diagnoses)))


@functools.lru_cache(maxsize=4096)
def _names(diagnoses: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    return tuple(sorted({squashed for names in diagnoses for name in names if len(squashed := squash(name)) > 1}))


def _different(raw: str, text: str) -> str | None:
    return raw if raw != text else None


class Transcript:
    """The policy's messages: they only grow, roles alternate, the newest states the budget; each is rendered once."""

    def __init__(self, task: Task, budgets: Mapping[str, Budget], *, images: bool = False):
        self._images = images
        self._prompts = prompts_for(task.config.templates, task.config.language, task.path.parent)
        self._total = budgets["questions"].total
        self._first = Standing("history", budgets)
        self._values = {
            "budget": self._total,
            "top_k": task.config.protocol.top_k,
            "budgets": budgets,
            "images": images,
        }
        self._messages: list[Message] = []

    def messages(
        self, turns: tuple[Turn, ...], notes: Mapping[str, Note], standings: Sequence[Standing] = ()
    ) -> tuple[Message, ...]:
        """Render the messages of a consultation up to its turns, of which earlier calls saw a beginning.

        `standings` say where the visit stood at each of the doctor's turns, and where it stands now.
        """
        known = self._messages or [Message("system", self._prompts.render("doctor_system", self._values))]
        observed: list[Turn] = []
        asked = 0
        for turn in turns:
            if turn.role != "doctor":
                observed.append(turn)
                continue
            if len(known) < 2 * asked + 2:
                known.append(self._observation(observed, asked, standings))
            if len(known) < 2 * asked + 3:
                note = notes.get(str(turn.index))
                known.append(Message("assistant", (note.raw if note else None) or turn.text))
            observed, asked = [], asked + 1
        if len(known) < 2 * asked + 2:
            known.append(self._observation(observed, asked, standings))
        self._messages = known
        return tuple(known[: 2 * asked + 2])

    def _observation(self, turns: list[Turn], asked: int, standings: Sequence[Standing]) -> Message:
        standing = standings[asked] if asked < len(standings) else self._first
        values = {
            "turns": turns, "total": self._total, "left": self._total - asked,
            "phase": standing.phase, "budgets": standing.budgets,
        }  # fmt: skip
        seen = tuple(one for turn in turns for one in turn.media) if self._images else ()
        return Message("user", self._prompts.render("doctor_message", values), seen)


class PatientPrompt:
    """The patient's messages: its facts and rules, rendered once, then the talk so far and the question."""

    def __init__(self, task: Task, case: Case):
        self._prompts = prompts_for(task.config.templates, task.config.language, task.path.parent)
        self._values = {"facts": case.facts, "opening": case.context, "mode": task.mode(case)}

    @functools.cached_property
    def _system(self) -> Message:
        return Message("system", self._prompts.render("patient_system", self._values))

    def messages(self, turns: tuple[Turn, ...], question: str) -> tuple[Message, ...]:
        """Render the messages for a question, which the last of the turns asks."""
        values = {**self._values, "turns": turns, "question": question}
        return self._system, Message("user", self._prompts.render("patient_message", values))
