"""Options that every language-model plugin has, and how the roles are built on a Chat."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from meddc_bench.contracts import Decoding, Options
from meddc_bench.llm.chat import Chat
from meddc_bench.llm.policy import ChatPolicy


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
    """How a chat model acts as the doctor: its action's form and its sampling, which are the policy's own."""

    action: Literal["text", "tool"] = "text"
    temperature: float | None = Field(None, ge=0, le=2)
    top_p: float | None = Field(None, gt=0, le=1)
    max_tokens: int | None = Field(1024, ge=1)


def chat_policy(chat: Chat, options: PolicySampling) -> ChatPolicy:
    """Build the doctor on a model."""
    decoding = Decoding(options.temperature, options.top_p, options.max_tokens)
    return ChatPolicy(chat, decoding, tools=options.action == "tool")
