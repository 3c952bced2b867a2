"""A doctor on a chat model: asks in text, diagnoses by tool call, XML or JSON."""

from __future__ import annotations

from typing import Any

from meddc_bench.contracts import Call, Completion, Decoding, MenuItem, PolicyView, Reply
from meddc_bench.errors import EndpointError
from meddc_bench.llm.chat import Chat

_BLIND = "(pictures were sent: if the model does not see, set its option images to false)"


class ChatPolicy:
    """Sends the rendered messages and gives the reply as it came; the core parses the action.

    `images`: the model sees, so that pictures come as such and not in words.
    """

    times_its_attempts = True

    def __init__(self, chat: Chat, decoding: Decoding, *, tools: bool = False, images: bool = False):
        self._chat, self._decoding, self._tools, self.images = chat, decoding, tools, images

    async def act(self, view: PolicyView) -> Reply:
        """Take the doctor's next turn."""
        tools = [_tool(item) for item in view.menu if item.name != "ask"] if self._tools else []
        asked = sum(turn.role == "doctor" for turn in view.turns)
        messages = view.messages
        try:
            reply: Reply = await self._chat.ask(
                messages, self._decoding, seed=view.seed + asked, accept=_reply, tools=tools
            )
        except EndpointError as error:
            if error.kind == "permanent" and any(one.images for one in messages):
                raise EndpointError("permanent", f"{error.message} {_BLIND}") from None
            raise
        return reply

    def generator(self) -> Chat:
        """Return the model itself, for the condition `own`."""
        return self._chat


def _reply(completion: Completion, calls: tuple[tuple[str, str], ...]) -> Reply:
    return Reply(
        completion.text, tuple(Call(name, arguments) for name, arguments in calls), completion.reasoning,
        completion.finish, completion.usage, completion.model,
    )  # fmt: skip


def _tool(item: MenuItem) -> dict[str, Any]:
    function = {"name": item.name, "description": item.description, "parameters": dict(item.parameters)}
    return {"type": "function", "function": function}
