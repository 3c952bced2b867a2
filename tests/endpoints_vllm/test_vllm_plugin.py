"""The vLLM plugin on a double of the package: options, identity, what is sent, and every failure named."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from meddc_bench.contracts import Decoding, Message
from meddc_bench.errors import EndpointError, UsageError
from meddc_bench.llm.session import Session, running
from meddc_bench.registry import Registry
from meddc_bench.wiring import Adapter
from meddc_vllm import folder as folders
from meddc_vllm.engine import Engine

from .conftest import ClientError, DeadError, Tokenizer, Vllm

MESSAGES = [{"role": "user", "content": "肚子疼。"}]
SAY = (Message("user", "肚子疼。"),)


def body(**more: Any) -> dict[str, Any]:
    """Lay out a call."""
    return {"model": "m", "messages": MESSAGES, "seed": 7, **more}


def identity(installed: Registry, **options: Any) -> Any:
    """Return the options by which a policy is known."""
    return Adapter(installed, "policy", "vllm", "p", options).identity["options"]


async def post(session: Session | None = None, arguments: dict[str, Any] | None = None, **more: Any) -> Any:
    """Start an engine, make one call and stop it."""
    engine = Engine("m", {"model": "m", **(arguments or {})}, session or Session())
    try:
        return await engine.post(body(**more), b"")
    finally:
        await engine.aclose()


class TestIdentity:
    def test_says_where_and_how_fast_does_not_count(self, installed: Registry) -> None:
        fast = identity(
            installed, model="org/m", tensor_parallel_size=4, data_parallel_size=2, gpu_memory_utilization=0.5,
            enforce_eager=True, max_num_seqs=1, enable_prefix_caching=False, download_dir="/models",
        )  # fmt: skip
        assert fast == identity(installed, model="org/m")

    @pytest.mark.parametrize(
        "changed",
        [{"dtype": "float32"}, {"max_model_len": 9}, {"quantization": "fp8"}, {"revision": "v2"}, {"seed": 1},
         {"reasoning_parser": "qwen3"}, {"extra_body": '{"top_k": 1}'}, {"model": "org/other"}],
    )  # fmt: skip
    def test_what_can_change_a_result_counts(self, installed: Registry, changed: dict[str, Any]) -> None:
        assert identity(installed, **{"model": "org/m", **changed}) != identity(installed, model="org/m")

    def test_a_moved_folder_is_the_same_model(self, installed: Registry, folder: Callable[..., Path]) -> None:
        here = identity(installed, model=str(folder()))
        there = identity(installed, model=str(folder("elsewhere")))
        assert here == there
        assert here["model"].startswith("sha256:")

    @pytest.mark.parametrize(
        "changed", ["config__json", "tokenizer__json", "model__safetensors", "chat_template__jinja"]
    )
    def test_an_edited_file_is_another_model(
        self, installed: Registry, folder: Callable[..., Path], changed: str
    ) -> None:
        edited = identity(installed, model=str(folder("edited", **{changed: b"other"})))
        assert edited != identity(installed, model=str(folder()))

    def test_what_no_engine_reads_does_not_count(self, installed: Registry, folder: Callable[..., Path]) -> None:
        more = {"README__txt": b"x", "optimizer__pt": b"x", "trainer_state__json": b"x", "pytorch_model__bin": b"x"}
        assert identity(installed, model=str(folder("more", **more))) == identity(installed, model=str(folder()))

    def test_checkpoints_of_equal_size_differ(
        self, folder: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name, value in {"WHOLE": 1000, "HEAD": 100, "BLOCK": 10}.items():
            monkeypatch.setattr(folders, name, value)
        one, other = (folder(name, model__safetensors=fill * 5000) for name, fill in (("1", b"a"), ("2", b"b")))
        tail = folder("3", model__safetensors=b"a" * 4999 + b"b")
        assert len({folders.model_digest(path) for path in (one, other, tail)}) == 3

    def test_a_file_of_weights_is_a_model(self, installed: Registry, tmp_path: Path) -> None:
        (tmp_path / "m.gguf").write_bytes(b"GGUF")
        assert identity(installed, model=str(tmp_path / "m.gguf"))["model"].startswith("sha256:")


class TestOptions:
    @pytest.mark.parametrize(
        ("options", "says"),
        [
            ({}, "option 'model'"),
            ({"model": "./nowhere"}, "there is no folder ./nowhere"),
            ({"model": "org/m", "tensor_parallel_size": 0}, "'tensor_parallel_size'"),
            ({"model": "org/m", "dtype": "int3"}, "'dtype'"),
            ({"model": "org/m", "gpu_memory_utilization": 1.5}, "'gpu_memory_utilization'"),
            ({"model": "org/m", "extra_body": {"top_kk": 1}}, "did you mean 'top_k'"),
            ({"model": "org/m", "extra_body": {"chat_template_kwargs": 1}}, "chat_template_kwargs: expected an object"),
            ({"model": "org/m", "trust_remote_code": True}, "no option 'trust_remote_code'"),
        ],
    )
    def test_a_wrong_option_is_named(self, installed: Registry, options: dict[str, Any], says: str) -> None:
        with pytest.raises(UsageError, match=says):
            identity(installed, **options)

    def test_a_folder_without_a_model_is_refused(self, installed: Registry, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match=r"holds no config\.json"):
            identity(installed, model=str(tmp_path))

    @pytest.mark.skipif(importlib.util.find_spec("vllm") is not None, reason="vLLM is installed")
    @pytest.mark.parametrize("kind", ["policy", "patient", "reader", "judge"])
    def test_says_what_to_install(self, installed: Registry, kind: str) -> None:
        with pytest.raises(UsageError, match=r"label: vLLM is not installed: pip install 'meddc-bench\[vllm\]'"):
            Adapter(installed, kind, "vllm", "label", {"model": "org/m"}).get()


class TestStart:
    async def test_roles_with_equal_options_share_one_engine(self, installed: Registry, vllm: Vllm) -> None:
        session = Session()
        with running(session):
            for _ in range(3):
                chat = Adapter(installed, "policy", "vllm", "p", {"model": "org/m"}).get().generator()
                await chat.generate(SAY, Decoding(), seed=len(vllm.sampled))
            other = Adapter(installed, "policy", "vllm", "p", {"model": "org/m", "dtype": "float32"}).get()
            await other.generator().generate(SAY, Decoding(), seed=1)
            await session.aclose()
        assert [one.get("dtype") for one in vllm.started] == ["auto", "float32"]
        assert vllm.shut == 2

    async def test_no_code_of_the_model_is_run(self, vllm: Vllm) -> None:
        await post()
        assert vllm.started[0]["trust_remote_code"] is False

    async def test_says_what_to_do_without_a_gpu(self, vllm: Vllm) -> None:
        vllm.device = False
        with pytest.raises(UsageError, match=r"finds no GPU.*CPU build.*`openai`"):
            await post()

    async def test_a_broken_installation_is_named(self, vllm: Vllm, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(__import__("sys").modules, "vllm.platforms", None)
        with pytest.raises(UsageError, match="installed but cannot be imported"):
            await post()

    async def test_the_cause_is_taken_from_the_log(self, vllm: Vllm, tmp_path: Path) -> None:
        vllm.fails = RuntimeError("Engine core initialization failed. See root cause above.")

        def write(arguments: Any) -> Any:
            (tmp_path / "vllm.log").write_text(
                "ERROR worker: failed\nTraceback\ntorch.OutOfMemoryError: CUDA out of memory.\n"
                "RuntimeError: Worker failed, see the stack trace for the root cause\n"
            )
            raise vllm.fails or AssertionError

        vllm.start = write  # type: ignore[method-assign]
        with pytest.raises(UsageError, match=r"cannot start m: torch\.OutOfMemoryError: CUDA out of memory\.; its log"):
            await with_double(vllm, Session(folder=tmp_path))

    async def test_fails_alike_for_all_who_wait(self, vllm: Vllm) -> None:
        vllm.fails = ValueError("max_model_len is too large")
        engine = Engine("m", {"model": "m"}, Session())
        for _ in range(2):
            with pytest.raises(UsageError, match="max_model_len is too large"):
                await engine.post(body(), b"")
        await engine.aclose()
        assert len(vllm.started) == 1

    async def test_a_cpu_takes_prompts_whole(self, vllm: Vllm) -> None:
        vllm.cpu = True
        await post()
        assert vllm.started[0]["enable_chunked_prefill"] is False

    async def test_leaves_no_setting_behind(self, vllm: Vllm, tmp_path: Path) -> None:
        await post(Session(folder=tmp_path))
        assert "VLLM_LOGGING_CONFIG_PATH" not in os.environ

    @pytest.mark.parametrize("logged", [True, False])
    async def test_nothing_it_prints_reaches_standard_output(
        self, vllm: Vllm, tmp_path: Path, capfd: pytest.CaptureFixture[str], logged: bool
    ) -> None:
        def prints(arguments: Any) -> Any:
            os.write(1, b"shards: 100%\n")
            return Vllm.start(vllm, arguments)

        vllm.start = prints  # type: ignore[method-assign]
        await with_double(vllm, Session(folder=tmp_path if logged else None))
        print("results")
        out, err = capfd.readouterr()
        assert out == "results\n"
        assert ("shards" in err) is not logged

    async def test_closes_what_was_never_started(self, vllm: Vllm) -> None:
        await Engine("m", {}, Session()).aclose()
        assert not vllm.started


async def with_double(vllm: Vllm, session: Session) -> Any:
    """Make one call with the double's functions as they are now."""
    import sys

    sys.modules["vllm"].AsyncLLMEngine = SimpleNamespace(from_engine_args=vllm.start)  # type: ignore[attr-defined]
    return await post(session)


class TestSampling:
    async def test_the_body_becomes_sampling_parameters(self, vllm: Vllm) -> None:
        await post(temperature=0.5, top_p=0.9, max_tokens=11, top_k=3, stop=["\n"])
        sent = vars(vllm.sampled[0])
        wanted = {"seed": 7, "temperature": 0.5, "top_p": 0.9, "max_tokens": 11, "top_k": 3, "stop": ["\n"]}
        assert wanted.items() <= sent.items()
        assert sent["structured_outputs"] is None

    async def test_the_models_own_defaults_hold_where_nothing_is_said(self, vllm: Vllm) -> None:
        vllm.defaults = {"temperature": 0.6, "top_k": 20, "max_tokens": 30}
        await post(temperature=0)
        sent = vars(vllm.sampled[0])
        assert (sent["temperature"], sent["top_k"], sent["max_tokens"]) == (0, 20, 30)

    @pytest.mark.parametrize(("asked", "given"), [({}, 96), ({"max_tokens": 500}, 96), ({"max_tokens": 5}, 5)])
    async def test_a_reply_never_outgrows_the_context(self, vllm: Vllm, asked: dict[str, int], given: int) -> None:
        await post(**asked)
        assert vllm.sampled[0].max_tokens == given

    async def test_a_schema_guides_the_reply(self, vllm: Vllm) -> None:
        schema = {"type": "object", "required": ["a"]}
        await post(response_format={"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}})
        assert vllm.sampled[0].structured_outputs.json == schema
        assert vllm.started[0]["structured_outputs_config"].disable_any_whitespace is True

    async def test_plain_json_guides_too(self, vllm: Vllm) -> None:
        await post(response_format={"type": "json_object"})
        assert vllm.sampled[0].structured_outputs.json_object is True

    async def test_tools_and_settings_reach_the_template(self, vllm: Vllm) -> None:
        tools = [{"type": "function", "function": {"name": "diagnose"}}]
        await post(tools=tools, chat_template_kwargs={"enable_thinking": False, "tokenize": False})
        asked = vllm.tokenizer.asked[0]
        assert (asked["tools"], asked["enable_thinking"], asked["tokenize"]) == (tools, False, True)


class TestAnswer:
    async def test_is_as_an_endpoint_gives_it(self, vllm: Vllm) -> None:
        answer = await post()
        assert answer["choices"][0]["message"]["content"] == "好的。"
        assert answer["choices"][0]["finish_reason"] == "stop"
        assert answer["usage"] == {"prompt_tokens": 4, "completion_tokens": 3}
        assert answer["model"] == "m"

    async def test_reasoning_that_the_template_opened_stays_hidden(self, vllm: Vllm) -> None:
        vllm.tokenizer, vllm.says, vllm.finish = Tokenizer(opening="<think>\n"), ["也许是阑尾炎，先想"], "length"
        answer = await post()
        assert answer["choices"][0]["message"]["content"] == "<think>也许是阑尾炎，先想"


class TestFailures:
    @pytest.mark.parametrize(
        ("said", "kind"),
        [(ClientError("bad grammar"), "permanent"), (ValueError("bad"), "permanent"), (OSError("odd"), "transient"),
         (DeadError(), "permanent")],
    )  # fmt: skip
    async def test_an_error_of_the_engine_has_a_kind(self, vllm: Vllm, said: Exception, kind: str) -> None:
        vllm.says = [said]
        with pytest.raises(EndpointError) as caught:
            await post()
        assert caught.value.kind == kind

    async def test_a_dead_engine_is_not_asked_again(self, vllm: Vllm) -> None:
        vllm.says = [DeadError(), "好的。"]
        engine = Engine("m", {"model": "m"}, Session())
        for _ in range(2):
            with pytest.raises(EndpointError, match="permanent: the vLLM engine has died"):
                await engine.post(body(), b"")
        await engine.aclose()
        assert len(vllm.sampled) == 1

    @pytest.mark.parametrize("finish", ["abort", "error", None])
    async def test_a_call_given_up_is_tried_again(self, vllm: Vllm, finish: str | None) -> None:
        vllm.finish = finish
        with pytest.raises(EndpointError, match="transient"):
            await post()

    async def test_a_prompt_beyond_the_context_is_the_roles_failure(self, vllm: Vllm) -> None:
        with pytest.raises(EndpointError, match="context: 4 tokens of prompt in a context of 4"):
            await post(arguments={"max_model_len": 4})

    async def test_a_value_vllm_refuses_is_permanent(self, vllm: Vllm) -> None:
        with pytest.raises(EndpointError, match="permanent: temperature"):
            await post(temperature=-1)

    async def test_a_base_model_is_a_usage_error(self, vllm: Vllm) -> None:
        vllm.tokenizer = Tokenizer(None)
        with pytest.raises(UsageError, match="has no chat template"):
            await post()

    async def test_tools_are_left_out_where_the_template_takes_none(self, installed: Registry, vllm: Vllm) -> None:
        vllm.tokenizer = Tokenizer("{{ messages }}")
        chat = Adapter(installed, "policy", "vllm", "p", {"model": "org/m"}).get().generator()
        with running(Session()) as session:
            tools = [{"type": "function", "function": {"name": "diagnose"}}]
            found = await chat.ask(SAY, Decoding(), seed=1, accept=lambda completion, calls: completion, tools=tools)
            await session.aclose()
        assert found.text == "好的。"
        assert list(session.stepped_down.values()) == [["tools"]]

    async def test_a_slow_reply_is_given_up(self, vllm: Vllm) -> None:
        import asyncio

        async def hangs(*args: Any, **kwargs: Any) -> Any:
            await asyncio.Event().wait()
            yield

        vllm.generate = hangs  # type: ignore[method-assign]
        with pytest.raises(EndpointError, match="transient: no answer within"):
            await post(Session(timeout=0.01))
