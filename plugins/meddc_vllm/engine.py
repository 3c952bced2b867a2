"""A vLLM engine in this process: started when the first call comes, it batches the calls of all consultations.

body as for an endpoint -> chat template -> token ids -> AsyncLLM.generate -> an answer as an endpoint gives it
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Mapping
from typing import Any

from meddc_bench.errors import EndpointError, UsageError
from meddc_bench.llm.session import Session
from meddc_bench.text import one_line
from meddc_vllm.starting import Starting

log = logging.getLogger("meddc_bench.llm")

SAMPLING = frozenset({
    "temperature", "top_p", "top_k", "min_p", "seed", "min_tokens", "stop", "stop_token_ids", "bad_words", "ignore_eos",
    "presence_penalty", "frequency_penalty", "repetition_penalty", "logit_bias", "skip_special_tokens",
    "spaces_between_special_tokens", "include_stop_str_in_output",
})  # fmt: skip
"""Fields of a body that vLLM's SamplingParams has under the same name."""

SENT = SAMPLING | {"max_tokens", "max_completion_tokens", "response_format", "chat_template_kwargs"}
"""Fields that `extra_body` may set."""

_OPENED = 16
"""Tokens at a prompt's end in which a template may have opened a block of reasoning."""


class Engine:
    """One engine, shared by the roles with the same options.

    Once it has died every further call fails at once; `retry` starts another.

    Args:
        name: the model's name, as reported.
        arguments: vLLM's own engine arguments.
    """

    def __init__(self, name: str, arguments: Mapping[str, Any], session: Session):
        self._name = name
        self._slots, self._timeout = asyncio.Semaphore(session.max_connections), session.timeout
        self._hide = session.hide
        self._starting = Starting(name, arguments, session.folder)
        self._ids = itertools.count()
        self._dead = False

    async def post(self, body: Mapping[str, Any], raw: bytes) -> Mapping[str, Any]:
        """Generate one chat completion.

        Raises:
            EndpointError: by kind.
            UsageError: the engine cannot be started.
        """
        async with self._slots:
            llm = await self._starting.engine()
            if self._dead:
                raise _died()
            ids = prompt(llm, body)
            params = sampling(llm, body, room=llm.model_config.max_model_len - len(ids))
            try:
                async with asyncio.timeout(self._timeout):
                    output = await self._generate(llm, ids, params, body)
            except TimeoutError:
                raise EndpointError("transient", f"no answer within {self._timeout:g} seconds") from None
        return self._answer(llm, ids, output.outputs[0])

    async def _generate(self, llm: Any, ids: list[int], params: Any, body: Mapping[str, Any]) -> Any:
        from vllm.exceptions import VLLMClientError
        from vllm.inputs import tokens_input
        from vllm.v1.engine.exceptions import EngineDeadError

        template = {"chat_template_kwargs": dict(body.get("chat_template_kwargs") or {})}
        name, found = f"meddc-{next(self._ids)}", None
        try:
            async for output in llm.generate(tokens_input(ids), params, name, reasoning_parser_kwargs=template):
                found = output
        except EngineDeadError:
            if not self._dead:
                self._dead = True
                log.error("the vLLM engine of %s has died%s", self._name, self._starting.says())
            raise _died() from None
        except (VLLMClientError, ValueError) as error:
            raise EndpointError("permanent", self._words(error)) from None
        except Exception as error:  # whatever else the engine raises fails this call alone
            raise EndpointError("transient", f"{type(error).__name__}: {self._words(error)}") from None
        if found is None or found.outputs[0].finish_reason in (None, "abort", "error"):
            raise EndpointError("transient", "the engine gave the call up")
        return found

    def _answer(self, llm: Any, ids: list[int], output: Any) -> Mapping[str, Any]:
        """Lay an output out as an endpoint's answer; a block of reasoning that the template opened is opened in it too."""
        opened = llm.get_tokenizer().decode(ids[-_OPENED:]).rstrip().endswith("<think>")
        message = {"role": "assistant", "content": f"<think>{output.text}" if opened else output.text}
        commit = getattr(llm.model_config.hf_config, "_commit_hash", None)
        usage = {"prompt_tokens": len(ids), "completion_tokens": len(output.token_ids)}
        return {
            "model": f"{self._name}@{commit[:12]}" if commit else self._name,
            "choices": [{"index": 0, "finish_reason": output.finish_reason, "message": message}],
            "usage": usage,
        }

    def _words(self, error: BaseException) -> str:
        return one_line(self._hide(str(error)), 300)

    async def aclose(self) -> None:
        """Stop the engine and its processes, also while it is starting."""
        await self._starting.stop()


def prompt(llm: Any, body: Mapping[str, Any]) -> list[int]:
    """Render the messages, and the tools, by the model's own chat template, as token ids.

    Raises:
        UsageError: the model has no chat template.
        EndpointError: the template takes no tools, or not these messages; or they do not fit the context.
    """
    tokenizer, tools = llm.get_tokenizer(), body.get("tools")
    kwargs = {
        **(body.get("chat_template_kwargs") or {}),
        "add_generation_prompt": True, "tokenize": True, "return_dict": False,
    }  # fmt: skip
    if hasattr(tokenizer, "get_chat_template"):  # Mistral's own tokenizer has none and needs none
        try:
            template = tokenizer.get_chat_template(None, tools)
        except ValueError as error:
            raise UsageError(f"the model has no chat template; take its instruct or chat variant: {error}") from None
        if tools and "tools" not in template:
            raise EndpointError("permanent", "the model's chat template takes no tools")
    try:
        ids = list(tokenizer.apply_chat_template([dict(one) for one in body["messages"]], tools=tools, **kwargs))
    except Exception as error:  # a template is the model's own program: it raises what it likes
        raise EndpointError("permanent", f"the chat template refuses the dialogue: {error}") from None
    limit = llm.model_config.max_model_len
    if len(ids) >= limit:
        raise EndpointError("context", f"{len(ids)} tokens of prompt in a context of {limit} (max_model_len)")
    return ids


def sampling(llm: Any, body: Mapping[str, Any], *, room: int) -> Any:
    """Make vLLM's sampling parameters; what the body leaves out is as in the model's generation_config.json.

    Raises:
        EndpointError: vLLM refuses a value.
    """
    from vllm.exceptions import VLLMClientError
    from vllm.sampling_params import RequestOutputKind, SamplingParams

    given = dict(llm.model_config.get_diff_sampling_param())
    wanted = body.get("max_completion_tokens") or body.get("max_tokens") or given.pop("max_tokens", None) or room
    given.update({name: body[name] for name in SAMPLING if body.get(name) is not None})
    given["max_tokens"] = min(room, wanted)
    try:
        return SamplingParams(**given, structured_outputs=_structured(body), output_kind=RequestOutputKind.FINAL_ONLY)
    except (VLLMClientError, ValueError, TypeError) as error:
        raise EndpointError("permanent", one_line(str(error), 300)) from None


def _structured(body: Mapping[str, Any]) -> Any:
    from vllm.sampling_params import StructuredOutputsParams

    wanted = body.get("response_format") or {}
    if wanted.get("type") == "json_schema":
        return StructuredOutputsParams(json=dict(wanted["json_schema"]["schema"]))
    return StructuredOutputsParams(json_object=True) if wanted.get("type") == "json_object" else None


def _died() -> EndpointError:
    return EndpointError("permanent", "the vLLM engine has died")
