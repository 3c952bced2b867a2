"""The patient, the reader and the judge on a language model: they send the rendered messages and check what comes back."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from meddc_bench.contracts import Answer, Completion, Decoding, Found, JudgeView, Message, PatientView, ReaderView
from meddc_bench.errors import EndpointError
from meddc_bench.llm.chat import Chat
from meddc_bench.llm.replies import STEPS, MatchesSaid, PatientSaid, QuestionsSaid, ReaderSaid, Said
from meddc_bench.llm.structured import parse
from meddc_bench.records import Edge, Item, Reading

Reply = TypeVar("Reply", bound=Said)


class _OnChat:
    """An adapter on a chat model."""

    times_its_attempts = True

    def __init__(self, chat: Chat):
        self._chat = chat


class LLMPatient(_OnChat):
    """The simulated patient on a language model."""

    async def answer(self, view: PatientView) -> Answer:
        """Answer the doctor from the facts."""
        said, completion = await _ask(self._chat, view.messages, view.decoding, view.seed, PatientSaid)
        return Answer(
            said.text, said.fact_ids, said.status, said.unknown, completion.usage, completion.model, completion.text,
            completion.reasoning,
        )  # fmt: skip


class LLMReader(_OnChat):
    """A reader on a language model."""

    async def read(self, view: ReaderView) -> Reading:
        """Write the diagnoses from the visible turns."""
        said, completion = await _ask(self._chat, view.messages, view.decoding, view.seed, ReaderSaid)
        return Reading(text=completion.text, diagnoses=said.diagnoses, model=completion.model)


class LLMJudge(_OnChat):
    """A judge on a language model."""

    async def judge(self, view: JudgeView) -> Found:
        """Answer one step; whether its ids, levels and quotes hold is for the core to check."""
        model, level = STEPS[view.step]
        said, completion = await _ask(self._chat, view.messages, view.decoding, view.seed, model)
        return Found(_items(said), _edges(said, level), completion.text, completion.usage, completion.model)


async def _ask(
    chat: Chat, messages: Sequence[Message], decoding: Decoding, seed: int, model: type[Reply]
) -> tuple[Reply, Completion]:
    """Ask for one object of a model; a reply that is none is tried again."""

    def accept(completion: Completion, calls: object) -> tuple[Reply, Completion]:
        try:
            return parse(completion.text, model), completion
        except EndpointError as error:
            if completion.finish == "length":
                raise EndpointError("cut", f"the reply was cut at max_tokens: {error.message}") from None
            raise

    wanted = Decoding(decoding.temperature, decoding.top_p, decoding.max_tokens, schema(model))
    found: tuple[Reply, Completion] = await chat.ask(messages, wanted, seed=seed, accept=accept)
    return found


@functools.cache
def schema(model: type[Said]) -> Mapping[str, Any]:
    """Return the JSON schema of a reply."""
    return model.model_json_schema()


def _items(said: Said) -> tuple[Item, ...]:
    if isinstance(said, MatchesSaid):
        return ()
    if isinstance(said, QuestionsSaid):
        return tuple(
            Item(id=f"u{index}", text=one.text, turn=one.turn, quote=one.quote)
            for index, one in enumerate(said.questions)
        )
    return tuple(
        Item(id=f"p{index}", text=one.text, quote=one.quote, dimension=one.dimension)
        for index, one in enumerate(said.items)  # type: ignore[attr-defined]
    )


def _edges(said: Said, level: str) -> tuple[Edge, ...]:
    if not isinstance(said, MatchesSaid):
        return ()
    return tuple(
        Edge(
            prediction=one.prediction, reference=one.reference, level=one.level or level, quote=one.quote,
            reason=one.reason,
        )
        for one in said.matches
    )  # fmt: skip
