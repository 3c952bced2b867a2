"""What the tests of endpoints share: a loopback server, the roles on it, and runs of a small task against it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from meddc_harness import World

from meddc_bench import run
from meddc_openai.loopback import Loopback

KINDS = {"policies": "doctor", "patients": "patient", "readers": "reader", "judges": "judge"}
FAULTS = ("429", "500", "reset", "truncated", "html", "blank", "badjson")

TASK = """\
task: small
title: 测试用的任务
repeats: 1
licence: Apache-2.0
metrics: [D, T, E, Total, questions, rounds]
protocol:
  decoding:
    patient: {temperature: 0.3, top_p: 0.9, max_tokens: 512}
    reader: {temperature: 0.2, max_tokens: 1024}
    cover_items: {temperature: 0.0, max_tokens: 2048}
    cover_targets: {temperature: 0.0, max_tokens: 2048}
instruments:
  offline:
    patient: {name: telling}
    readers: [{name: echo}]
    judge: {name: equal}
"""


class Always:
    """A script that never ends: each request of a role gets what a function makes of it."""

    def __init__(self, make: Callable[[Any], Any]):
        self._make = make

    def popleft(self) -> Any:
        return self._make


def answer(said: Any, status: int = 200, **headers: str) -> web.Response:
    """Return a response of the server's own making: JSON, or the bytes given."""
    body = said if isinstance(said, bytes) else json.dumps(said, ensure_ascii=False).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return web.Response(body=body, status=status, headers=named, content_type="application/json")


def error(status: int, words: str, code: str = "", **headers: str) -> web.Response:
    return answer({"error": {"message": words, "code": code}}, status, **headers)


class Lab(World):
    """A world with a server, and the roles on it."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch, plugins: Path, server: Loopback):
        super().__init__(root, monkeypatch, plugins)
        self.server = server
        monkeypatch.chdir(root)
        self.task.write_text(TASK, encoding="utf-8")

    def always(self, role: str, make: Callable[[Any], Any]) -> None:
        """Give each request of a role what a function makes of it; None: what the server says by itself."""
        self.server.scripted[role] = Always(make)  # type: ignore[assignment]

    def obey(self) -> None:
        """Let the server answer by itself again, without faults."""
        self.server.scripted.clear()
        self.server.faults.clear()

    def role(self, kind: str, label: str = "openai", **options: Any) -> tuple[str, dict[str, Any]]:
        """Return a role on the server."""
        name = label if label == "openai" else f"{label}=openai"
        return name, {"base_url": self.server.url, "model": KINDS[kind], **options}

    def roles(self, **more: Any) -> dict[str, Any]:
        """Return all roles on the server, but for those given."""
        return {kind: [self.role(kind)] for kind in KINDS} | more

    def play(self, folder: str = "run", *, roles: Mapping[str, Any] | None = None, **keys: Any) -> run.Finished:
        """Run the first case of the small task, each role on the server."""
        how = {"limit": 1, "repeats": 1, "max_connections": 4, "timeout": 5.0, **keys}
        return self.run(folder, **(roles if roles is not None else self.roles()), **how)

    def words(self, *more: str, folder: str = "run", roles: tuple[str, ...] = tuple(KINDS)) -> tuple[str, ...]:
        """Return the command line of such a run."""
        out = ["run", "-t", str(self.task), "-L", "1", "-o", folder]
        for kind in roles:
            flag = {"policies": "--policy"}.get(kind, f"--{kind[:-1]}")
            out += [flag, "openai", f"{flag}-args", f"model={KINDS[kind]},base_url={self.server.url}"]
        return (*out, *more)

    @property
    def requests(self) -> int:
        return self.server.counts["requests"]

    def calls(self, folder: str = "run") -> dict[str, Any]:
        """Return what the manifest says of calls."""
        found: dict[str, Any] = json.loads((self.root / folder / "manifest.json").read_bytes())["calls"]
        return found

    def journal(self, folder: str = "run") -> list[dict[str, Any]]:
        """Return the lines of the call journal."""
        lines = (self.root / folder / "calls.jsonl").read_bytes().splitlines()
        return [json.loads(line) for line in lines]
