"""The recorded episodes on Inspect AI, for `endpoints.py cpu --inspect PYTHON`: a Python in which inspect-ai is installed.

Each episode is a sample; its solver sends the recorded messages one call after another, with Inspect's log as it is by
default. Prints the CPU of the evaluation, imports and a first small evaluation apart.

    PYTHON bench/on_inspect.py URL BODIES EPISODES WIDTH
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
from pathlib import Path
from typing import Any

from inspect_ai import Task, eval  # type: ignore[import-not-found]
from inspect_ai.dataset import MemoryDataset, Sample  # type: ignore[import-not-found]
from inspect_ai.model import (  # type: ignore[import-not-found]
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    get_model,
)
from inspect_ai.solver import solver  # type: ignore[import-not-found]

KINDS = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
SENT = ("temperature", "top_p", "max_tokens", "seed")


def cpu() -> float:
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in both)


def main() -> None:
    url, path, episodes, width = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    os.environ.update(LOOPBACK_BASE_URL=url, LOOPBACK_API_KEY="x")
    bodies = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
    size = -(-len(bodies) // episodes)
    chains = [bodies[at : at + size] for at in range(0, len(bodies), size)]

    @solver  # type: ignore[untyped-decorator]
    def replay() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            for body in chains[state.metadata["at"]]:
                kept = {name: body[name] for name in SENT if name in body}
                extra = {"response_format": body["response_format"]} if "response_format" in body else None
                said = [KINDS[one["role"]](content=one["content"]) for one in body["messages"]]
                model = get_model(f"openai-api/loopback/{body['model']}")
                assert (await model.generate(said, config=GenerateConfig(**kept, extra_body=extra))).completion
            return state

        return solve

    def run(count: int, log_dir: str) -> None:
        samples = [Sample(id=at, input="问诊", metadata={"at": at}) for at in range(count)]
        (log,) = eval(
            Task(dataset=MemoryDataset(samples), solver=replay()), model="openai-api/loopback/doctor",
            max_connections=width, max_samples=width, display="none", log_dir=log_dir,
        )  # fmt: skip
        assert log.status == "success", log.error

    with tempfile.TemporaryDirectory() as folder:
        run(4, folder)
        before = cpu()
        run(len(chains), folder)
        print(json.dumps({"cpu": cpu() - before}))


if __name__ == "__main__":
    main()
