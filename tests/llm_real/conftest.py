"""A real model for the opt-in suite: the one the user names, or a tiny random one; in process or served.

MEDDC_TEST_LLM=1                the tiny random model, built here
MEDDC_TEST_MODEL=FOLDER         a model's folder
MEDDC_TEST_OPTIONS={"…": …}     options of the engine, such as {"tensor_parallel_size": 2}
MEDDC_TEST_BASE_URL=URL         a server that runs already (key in OPENAI_API_KEY)
MEDDC_TEST_NAME=NAME            the model to ask there (default: its first)
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from meddc_bench.contracts import LEVELS

MODEL, URL = os.environ.get("MEDDC_TEST_MODEL"), os.environ.get("MEDDC_TEST_BASE_URL")
WANTED = bool(MODEL or URL or os.environ.get("MEDDC_TEST_LLM"))
GIVEN: dict[str, Any] = json.loads(os.environ.get("MEDDC_TEST_OPTIONS") or "{}")

EXTRACTING = ("extract_items", "extract_questions")
FOR_TINY = {"enforce_eager": True, "gpu_memory_utilization": 0.2, "dtype": "float32", "max_num_seqs": 8}
OFFLINE = {"VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"}
UP_AFTER = 900.0
"""Seconds a server has to start."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the suite out unless it is asked for."""
    if not WANTED:
        skip = pytest.mark.skip(reason="opt-in: set MEDDC_TEST_LLM, MEDDC_TEST_MODEL or MEDDC_TEST_BASE_URL")
        for item in items:
            if Path(__file__).parent in item.path.parents:
                item.add_marker(skip)


@dataclass(frozen=True)
class Place:
    """Where the model is: a plugin and its options."""

    plugin: str
    options: dict[str, Any]


@dataclass(frozen=True)
class Ended:
    """How a run of the command line ended."""

    code: int
    out: str
    err: str
    folder: Path

    @property
    def outcomes(self) -> set[tuple[str, str]]:
        """The stages and outcomes of its records."""
        lines = (self.folder / "records.jsonl").read_text(encoding="utf-8").splitlines()
        return {(one["stage"], one["outcome"]) for one in map(json.loads, lines) if "outcome" in one}

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The journal of calls."""
        lines = (self.folder / "calls.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the model."""
    if MODEL:
        return Path(MODEL).expanduser()
    if URL:
        pytest.skip("MEDDC_TEST_BASE_URL alone: no model to load in process")
    script = Path(__file__).with_name("tiny_model.py")
    folder = tmp_path_factory.mktemp("model") / "tiny"
    subprocess.run([sys.executable, script, folder], check=True, capture_output=True, env={**os.environ, **OFFLINE})
    return folder


@pytest.fixture(scope="session", params=["in process", "served"])
def place(request: pytest.FixtureRequest) -> Place:
    """Each way to reach the model."""
    if request.param == "in process":
        return request.getfixturevalue("engine")  # type: ignore[no-any-return]
    return request.getfixturevalue("served")  # type: ignore[no-any-return]


@pytest.fixture(scope="session")
def engine(model: Path) -> Place:
    """The model on an engine in process."""
    if importlib.util.find_spec("vllm") is None:
        pytest.skip("vLLM is not installed")
    return Place("vllm", {"model": str(model), **_options()})


@pytest.fixture(scope="session")
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """The model at an endpoint: the user's, or one that is started here."""
    if URL:
        name = os.environ.get("MEDDC_TEST_NAME") or _models(URL)[0]
        yield Place("openai", {"model": name, "base_url": URL})
        return
    folder: Path = request.getfixturevalue("model")
    if importlib.util.find_spec("vllm") is None:
        pytest.skip("vLLM is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url, log = f"http://127.0.0.1:{port}/v1", tmp_path_factory.mktemp("server") / "server.log"
    with open(log, "wb") as file:
        server = subprocess.Popen(
            [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", folder, "--port", str(port),
             "--host", "127.0.0.1", "--served-model-name", "served", *_flags()],
            stdout=file, stderr=subprocess.STDOUT, env={**OFFLINE, **os.environ}, start_new_session=True,
        )  # fmt: skip
    try:
        _wait_for(server, url, log)
        yield Place("openai", {"model": "served", "base_url": url})
    finally:
        server.send_signal(signal.SIGINT)
        try:
            server.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(server.pid, signal.SIGKILL)


def _options() -> dict[str, Any]:
    return ({} if MODEL else FOR_TINY) | GIVEN


def _flags() -> list[str]:
    """Lay the options out as the server's flags, with what the plugin sets by itself."""
    guided = json.dumps({"backend": "xgrammar", "disable_any_whitespace": True})
    flags = ["--structured-outputs-config", guided]
    if not MODEL:  # on a CPU, a seeded request whose prompt is taken in chunks kills vLLM's engine
        flags += ["--no-enable-chunked-prefill"]
    for name, value in _options().items():
        flag = name.replace("_", "-")
        flags += (
            ([f"--{flag}"] if value else [f"--no-{flag}"]) if isinstance(value, bool) else [f"--{flag}", str(value)]
        )
    return flags


def _wait_for(server: subprocess.Popen[bytes], url: str, log: Path) -> None:
    until = time.monotonic() + UP_AFTER
    while time.monotonic() < until:
        if server.poll() is not None:
            break
        try:
            _models(url)
        except OSError:
            time.sleep(1)
        else:
            return
    tail = log.read_text(encoding="utf-8", errors="replace")[-3000:]
    pytest.fail(f"the server did not start:\n{tail}")


def _models(url: str) -> list[str]:
    key = os.environ.get("OPENAI_API_KEY", "none")
    request = urllib.request.Request(f"{url.rstrip('/')}/models", headers={"Authorization": f"Bearer {key}"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return [one["id"] for one in json.load(answer)["data"]]


@pytest.fixture
def consult(make_task: Callable[..., Path], case_text: str, tmp_path: Path) -> Callable[..., Ended]:
    """Run two cases with one model in every role; `policy` and `measuring` are options of the roles."""
    cases = {f"{name}.yaml": case_text.replace("id: c1", f"id: {name}") for name in ("c1", "c2")}
    decoding = json.dumps({step: {"max_tokens": 300} for step in ("patient", "reader", *LEVELS, *EXTRACTING)})
    task = make_task(f"task: demo\nrepeats: 1\nprotocol:\n  decoding: {decoding}\n", cases)

    def run(
        place: Place, *, policy: dict[str, Any] | None = None, measuring: dict[str, Any] | None = None,
        folder: str = "run",
    ) -> Ended:  # fmt: skip
        def role(**options: Any) -> dict[str, Any]:
            return {"name": place.plugin, "options": {**place.options, **options}}

        campaign = tmp_path / f"{folder}.yaml"
        weak = measuring or {}
        roles = {
            "policies": [role(**{"max_tokens": 40, **(policy or {})})], "patients": [role(**weak)],
            "readers": [role(**weak), {"name": "own"}], "judges": [role(**weak)],
        }  # fmt: skip
        campaign.write_text(json.dumps({"tasks": [str(task)], **roles}), encoding="utf-8")
        command = [sys.executable, "-m", "meddc_bench", "run", "-C", campaign, "-o", tmp_path / folder, "--json"]
        done = subprocess.run(command, capture_output=True, text=True, env={**OFFLINE, **os.environ}, timeout=1800)
        return Ended(done.returncode, done.stdout, done.stderr, tmp_path / folder)

    return run
