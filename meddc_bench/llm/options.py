"""Options that every language-model plugin has, and how the roles are built on a Chat."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Field

from meddc_bench.contracts import Context, Decoding, Options
from meddc_bench.llm.chat import Chat
from meddc_bench.llm.policy import ChatPolicy
from meddc_bench.llm.roles import LLMJudge, LLMPatient, LLMReader


def _from_json(value: Any) -> Any:
    """Take JSON text, as it comes from the command line."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError as error:
        raise ValueError(f'expected a JSON object such as {{"enable_thinking": false}}: {error}') from None


JSONObject = Annotated[dict[str, Any], BeforeValidator(_from_json)]


class ModelOptions(Options):
    """Which model, and what every call to it sends beside the protocol's own."""

    model: str = Field(min_length=1)
    extra_body: JSONObject = Field(default_factory=dict)


class PolicySampling(Options):
    """How a chat model acts as the doctor: its action's form, its sampling, and whether it sees: the policy's own.

    `images`: pictures are sent as such. A model that does not see is told in words what kind of pictures they are.
    """

    action: Literal["text", "tool"] = "text"
    temperature: float | None = Field(None, ge=0, le=2)
    top_p: float | None = Field(None, gt=0, le=1)
    max_tokens: int | None = Field(1024, ge=1)
    images: bool = Field(default=False, exclude_if=lambda images: not images)


class Roles(NamedTuple):
    """Factories of the four roles that a language model can play."""

    policy: Callable[[Any, Context], ChatPolicy]
    patient: Callable[[Any, Context], LLMPatient]
    reader: Callable[[Any, Context], LLMReader]
    judge: Callable[[Any, Context], LLMJudge]


def roles(chat: Callable[[Any, Context, str], Chat]) -> Roles:
    """Make the factories of a plugin from its own part: options, context and role -> a Chat."""

    def policy(options: Any, context: Context) -> ChatPolicy:
        decoding = Decoding(options.temperature, options.top_p, options.max_tokens)
        return ChatPolicy(
            chat(options, context, "policy"), decoding, tools=options.action == "tool", images=options.images
        )

    return Roles(
        policy,
        lambda options, context: LLMPatient(chat(options, context, "patient")),
        lambda options, context: LLMReader(chat(options, context, "reader")),
        lambda options, context: LLMJudge(chat(options, context, "judge")),
    )
