"""A double of the `vllm` package: its names as the plugin uses them, an engine that says what it is told to."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

TEMPLATE = "{% for message in messages %}{{ message.content }}{% endfor %}{% if tools %}{% endif %}"


class ClientError(Exception):
    """As vLLM's error of a request."""


class DeadError(Exception):
    """As vLLM's error of an engine that has died."""


class Tokenizer:
    """A token for each character."""

    def __init__(self, template: str | None = TEMPLATE, opening: str = ""):
        self._template, self._opening = template, opening
        self.asked: list[dict[str, Any]] = []

    def get_chat_template(self, given: str | None, tools: Any) -> str:
        """Give the template, or fail as a base model's tokenizer does."""
        if self._template is None:
            raise ValueError("tokenizer.chat_template is not set")
        return self._template

    def apply_chat_template(self, messages: list[dict[str, str]], **kwargs: Any) -> list[int]:
        """Join the contents."""
        self.asked.append(kwargs)
        return [ord(one) for one in "".join(message["content"] for message in messages) + self._opening]

    def decode(self, ids: list[int]) -> str:
        """Give the characters."""
        return "".join(map(chr, ids))


@dataclass
class Vllm:
    """What the double does, and what it was asked."""

    says: list[Any] = field(default_factory=lambda: ["好的。"])
    finish: str | None = "stop"
    tokenizer: Tokenizer = field(default_factory=Tokenizer)
    defaults: dict[str, Any] = field(default_factory=dict)
    fails: Exception | None = None
    cpu: bool = False
    device: bool = True
    started: list[dict[str, Any]] = field(default_factory=list)
    sampled: list[Any] = field(default_factory=list)
    shut: int = 0

    def start(self, arguments: SimpleNamespace) -> Any:
        """Start an engine."""
        self.started.append(vars(arguments))
        if self.fails is not None:
            raise self.fails
        config = SimpleNamespace(
            max_model_len=vars(arguments).get("max_model_len", 100),
            get_diff_sampling_param=lambda: dict(self.defaults), hf_config=SimpleNamespace(_commit_hash=None),
        )  # fmt: skip
        return SimpleNamespace(
            model_config=config, get_tokenizer=lambda: self.tokenizer, generate=self.generate, shutdown=self.shutdown
        )

    async def generate(self, given: Any, params: Any, name: str, **more: Any) -> AsyncIterator[Any]:
        """Give what is told next; the last again and again."""
        self.sampled.append(params)
        said = self.says.pop(0) if len(self.says) > 1 else self.says[0]
        if isinstance(said, Exception):
            raise said
        output = SimpleNamespace(text=said, finish_reason=self.finish, token_ids=list(said))
        yield SimpleNamespace(outputs=[output])

    def shutdown(self, timeout: float) -> None:
        """Count."""
        self.shut += 1

    def modules(self) -> dict[str, ModuleType]:
        """Lay the package out."""

        def sampling(**given: Any) -> SimpleNamespace:
            if (given.get("temperature") or 0) < 0:
                raise ClientError("temperature must be non-negative")
            return SimpleNamespace(**given)

        platform = SimpleNamespace(is_unspecified=lambda: not self.device, is_cpu=lambda: self.cpu)
        names: dict[str, dict[str, Any]] = {
            "vllm": {
                "AsyncEngineArgs": SimpleNamespace, "AsyncLLMEngine": SimpleNamespace(from_engine_args=self.start),
            },
            "vllm.platforms": {"current_platform": platform},
            "vllm.config": {"StructuredOutputsConfig": SimpleNamespace},
            "vllm.exceptions": {"VLLMClientError": ClientError},
            "vllm.inputs": {"tokens_input": lambda ids: {"type": "token", "prompt_token_ids": ids}},
            "vllm.sampling_params": {
                "SamplingParams": sampling, "StructuredOutputsParams": SimpleNamespace,
                "RequestOutputKind": SimpleNamespace(FINAL_ONLY="final"),
            },
            "vllm.v1": {}, "vllm.v1.engine": {}, "vllm.v1.engine.exceptions": {"EngineDeadError": DeadError},
        }  # fmt: skip
        out = {}
        for name, values in names.items():
            out[name] = ModuleType(name)
            out[name].__spec__ = ModuleSpec(name, None)
            vars(out[name]).update(values)
        return out


@pytest.fixture
def vllm(monkeypatch: pytest.MonkeyPatch) -> Vllm:
    """Put the double in the place of the package."""
    double = Vllm()
    for name, module in double.modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    for name in ("VLLM_WORKER_MULTIPROC_METHOD", "VLLM_NO_USAGE_STATS", "VLLM_LOGGING_STREAM", "VLLM_LOGGING_LEVEL"):
        monkeypatch.setenv(name, "0")  # the plugin sets them where they are not
    return double


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Path]:
    """Write a model's folder; `files` are names and contents beside the usual."""

    def make(name: str = "model", **files: bytes) -> Path:
        root = tmp_path / name
        root.mkdir()
        usual = {"config.json": b"{}", "tokenizer.json": b"{}", "model.safetensors": b"weights" * 100}
        for file, content in (usual | {key.replace("__", "."): value for key, value in files.items()}).items():
            (root / file).write_bytes(content)
        return root

    return make
