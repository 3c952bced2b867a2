"""Builds the roles: options of an engine -> a Chat -> the policy, or the core's patient, reader or judge on it."""

from __future__ import annotations

import functools
import importlib.util
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_serializer

from meddc_bench.contracts import Context, Local, Options
from meddc_bench.errors import UsageError, suggest
from meddc_bench.fingerprint import canonical
from meddc_bench.llm.chat import Chat, Model
from meddc_bench.llm.options import JSONObject, PolicySampling, roles
from meddc_vllm.engine import SENT, Engine
from meddc_vllm.folder import model_digest

MISSING = "vLLM is not installed: pip install 'meddc-bench[vllm]' (for a machine without GPU see docs/vllm.md)"


class _Model(BaseModel):
    """A model by its name on a hub, or a folder by its content."""

    model_config = ConfigDict(frozen=True)
    at: str
    """What the engine is told to load."""
    name: str
    """What is sent, reported and priced."""
    identity: str

    @model_serializer
    def _by_content(self) -> str:
        return self.identity


def _model(value: Any) -> Any:
    if not isinstance(value, str) or not value.strip():
        return value
    path = Path(value).expanduser()
    if not path.exists():
        if value.startswith(("/", "./", "../", "~")):
            raise ValueError(f"there is no folder {value}")
        return {"at": value, "name": value, "identity": value}
    if path.is_dir() and not any((path / name).is_file() for name in ("config.json", "params.json")):
        raise ValueError(f"the folder {value} holds no config.json: give the folder of a model")
    try:
        found = model_digest(path)
    except OSError as error:
        raise ValueError(f"{error.filename or path} cannot be read: {error.strerror}") from None
    whole = path.resolve()
    return {"at": str(whole), "name": f"{whole.name}@{found[:12]}", "identity": f"sha256:{found}"}


class EngineOptions(Options):
    """A model on a vLLM engine in this process; roles with equal options share one engine.

    What can change a result counts as the instrument's identity. `Local` options say where and how fast.
    """

    model: Annotated[_Model, BeforeValidator(_model)]
    revision: str | None = None
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    max_model_len: int | None = Field(None, ge=1)
    quantization: str | None = None
    reasoning_parser: str | None = None
    seed: int = Field(0, ge=0)
    extra_body: JSONObject = Field(default_factory=dict)
    tensor_parallel_size: Annotated[int, Local(), Field(ge=1)] = 1
    data_parallel_size: Annotated[int, Local(), Field(ge=1)] = 1
    gpu_memory_utilization: Annotated[float | None, Local(), Field(gt=0, le=1)] = None
    enforce_eager: Annotated[bool, Local()] = False
    max_num_seqs: Annotated[int | None, Local(), Field(ge=1)] = None
    enable_prefix_caching: Annotated[bool | None, Local()] = None
    download_dir: Annotated[str | None, Local()] = None

    @field_validator("extra_body")
    @classmethod
    def _known(cls, value: dict[str, Any]) -> dict[str, Any]:
        unknown = sorted(set(value) - SENT)
        if unknown:
            raise ValueError(f"{unknown[0]!r} is not known; {suggest(unknown[0], sorted(SENT))}")
        if not isinstance(value.get("chat_template_kwargs", {}), dict):
            raise ValueError('chat_template_kwargs: expected an object such as {"enable_thinking": false}')
        return value


class PolicyOptions(EngineOptions, PolicySampling):
    """A model that plays the doctor."""

    @field_validator("images")
    @classmethod
    def _no_pictures(cls, value: bool) -> bool:
        if value:
            raise ValueError("an engine in this process takes no pictures: run `vllm serve` and use the policy openai")
        return value


_OF_THE_RESULT = ("revision", "dtype", "max_model_len", "quantization", "reasoning_parser", "seed")
_OF_THE_MACHINE = (
    "tensor_parallel_size", "data_parallel_size", "gpu_memory_utilization", "enforce_eager", "max_num_seqs",
    "enable_prefix_caching", "download_dir",
)  # fmt: skip


def _chat(options: EngineOptions, context: Context, role: str) -> Chat:
    if importlib.util.find_spec("vllm") is None:
        raise UsageError(f"{context.label}: {MISSING}")
    counted = _given(options, _OF_THE_RESULT)
    arguments = {"model": options.model.at, **counted, **_given(options, _OF_THE_MACHINE)}
    place = f"in process {canonical(counted).decode()}"
    make = functools.partial(Engine, options.model.name, arguments)
    return Chat(Model(options.model.name, place, role, options.extra_body), canonical(arguments), make)


def _given(options: EngineOptions, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the options that were given; the engine has defaults of its own for the rest."""
    values = ((name, getattr(options, name)) for name in names)
    return {name: value for name, value in values if value is not None}


policy, patient, reader, judge = roles(_chat)
