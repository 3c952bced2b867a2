"""What a call of a language model costs the client, beside bare clients on the same requests, in one run.

    python bench/endpoints.py cpu         CPU per call: this framework, AsyncOpenAI as installed, its low-level post, aiohttp;
                                          with --inspect PYTHON (one that has inspect-ai) Inspect AI as well
    python bench/endpoints.py latency     calls per second at 200 ms latency and 64 connections, beside aiohttp
    python bench/endpoints.py widths      CPU per call at 16, 64 and 256 connections
    python bench/endpoints.py memory      peak memory of 400 and of 6,800 episodes
    python bench/endpoints.py             all of them

Everything is on: prompts rendered, replies checked, calls and records stored, results scored. The server is the
project's loopback server, in processes of its own. The bare clients send the very bodies that the framework sent, as
many episodes at once, one call of an episode after another. Their CPU is that of sending alone; the framework's is of
its whole process after the imports. Needs `pip install -e .[bench]`.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

EPISODES = 392  # 56 cases x 7 repeats


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


# ── in processes of their own ────────────────────────────────────────────────────────────────────


def ours(url: str, folder: str, width: int, repeats: int) -> dict[str, float]:
    """Run a campaign in which every role is a model of the server."""
    from meddc_bench import campaign, run
    from meddc_bench.registry import Registry

    def role(kind: str) -> dict[str, Any]:
        return {"name": "openai", "label": "openai", "options": {"model": kind, "base_url": url}}

    wanted = campaign.build(
        {"tasks": ["meddc"], "policies": [role("doctor")], "patients": [role("patient")], "readers": [role("reader")],
         "judges": [role("judge")], "repeats": repeats, "max_connections": width}
    )  # fmt: skip
    import meddc_openai.adapters  # noqa: F401 - what is imported late is no cost of a call

    before = _cpu()
    registry = Registry.load()
    benches = run.prepare(wanted, registry)
    rolled, start = None, time.perf_counter()

    def note(progress: Any) -> None:
        nonlocal rolled
        if progress.done == progress.expected:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            rolled = _cpu() - before, time.perf_counter() - start, peak

    finished = run.execute(wanted, benches, registry, Path(folder), on_progress=note)
    assert finished.exit_code == 0
    assert rolled is not None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"cpu": _cpu() - before, "wall": rolled[1], "peak_mb": rolled[2], "peak_mb_with_scoring": peak}


def bare(client: str, url: str, bodies: str, width: int) -> dict[str, float]:
    """Send recorded bodies with a bare client."""
    queue = [json.loads(line) for line in Path(bodies).read_text(encoding="utf-8").splitlines()]

    async def go() -> tuple[float, float]:
        async with contextlib.AsyncExitStack() as stack:
            call = await _caller(client, url, stack)
            size = -(-len(queue) // EPISODES)
            todo = iter([queue[at : at + size] for at in range(0, len(queue), size)])

            async def worker() -> None:
                for episode in todo:
                    for body in episode:
                        assert await call(body)

            before, start = _cpu(), time.perf_counter()
            await asyncio.gather(*(worker() for _ in range(width)))
            return _cpu() - before, time.perf_counter() - start

    cpu, wall = asyncio.run(go())
    return {"cpu": cpu, "wall": wall, "calls": len(queue)}


async def _caller(client: str, url: str, stack: contextlib.AsyncExitStack) -> Any:
    if client == "aiohttp":
        import aiohttp
        import orjson

        session = await stack.enter_async_context(aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)))
        head = {"content-type": "application/json", "authorization": "Bearer x"}

        async def post(body: dict[str, Any]) -> str:
            async with session.post(f"{url}/chat/completions", data=orjson.dumps(body), headers=head) as response:
                return str(orjson.loads(await response.read())["choices"][0]["message"]["content"])

        return post
    import openai

    options: dict[str, Any] = {"http_client": openai.DefaultAioHttpClient()} if client == "openai low-level" else {}
    sdk = await stack.enter_async_context(openai.AsyncOpenAI(base_url=url, api_key="x", **options))
    if client == "openai low-level":

        async def low(body: dict[str, Any]) -> str:
            found: Any = await sdk.post("/chat/completions", cast_to=object, body=body)
            return str(found["choices"][0]["message"]["content"])

        return low

    async def create(body: dict[str, Any]) -> str:
        found = await sdk.chat.completions.create(**body)
        return found.choices[0].message.content or ""

    return create


def record(bodies: str) -> dict[str, float]:
    """Run the campaign once against a server in this process, and keep what it was asked."""
    from meddc_openai.loopback import Loopback

    with tempfile.TemporaryDirectory() as folder, Loopback(keep_bodies=True).serving() as server:
        ours(server.url, folder, 64, EPISODES // 56)
        lines = (json.dumps(body, ensure_ascii=False) for body in server.bodies)
        Path(bodies).write_text("\n".join(lines), encoding="utf-8")
        return {"calls": len(server.bodies)}


# ── the comparisons ──────────────────────────────────────────────────────────────────────────────


@contextlib.contextmanager
def _server(port: int, latency_ms: int = 0) -> Iterator[str]:
    command = [sys.executable, "-m", "meddc_openai.loopback", "--port", str(port), "--latency-ms", str(latency_ms)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    try:
        yield url
    finally:
        process.terminate()
        process.wait()


_ports = itertools.count(8480)


def _apart(*arguments: object) -> dict[str, float]:
    done = subprocess.run([sys.executable, __file__, *map(str, arguments)], stdout=subprocess.PIPE, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _ours(latency_ms: int, width: int, repeats: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder, _server(next(_ports), latency_ms) as url:
        return _apart("_ours", url, folder, width, repeats)


def _bare(client: str, bodies: str, latency_ms: int = 0, width: int = 64) -> dict[str, float]:
    with _server(next(_ports), latency_ms) as url:
        return _apart("_bare", client, url, bodies, width)


def _inspect(python: str, bodies: str) -> float:
    with _server(next(_ports)) as url:
        script = str(Path(__file__).with_name("on_inspect.py"))
        done = subprocess.run(
            [python, script, url, bodies, str(EPISODES), "64"], stdout=subprocess.PIPE, check=True
        )  # fmt: skip
        return float(json.loads(done.stdout.splitlines()[-1])["cpu"])


def cpu(bodies: str, calls: int, rounds: int, inspect: str | None = None) -> None:
    clients = ("openai", "openai low-level", "aiohttp")
    found: dict[str, list[float]] = {name: [] for name in ("this framework", *clients)}
    for _ in range(rounds):
        found["this framework"].append(_ours(0, 64, EPISODES // 56)["cpu"] / calls)
        for client in clients:
            found[client].append(_bare(client, bodies)["cpu"] / calls)
        if inspect is not None:
            found.setdefault("Inspect AI", []).append(_inspect(inspect, bodies) / calls)
    base = statistics.median(found["openai"])
    print(f"CPU per call, {calls} calls of {EPISODES} episodes, 64 at once, median of {rounds} interleaved rounds")
    for name, values in found.items():
        middle = statistics.median(values)
        print(f"  {name:18} {1000 * middle:6.2f} ms   {middle / base:5.2f} x AsyncOpenAI as installed")
    if inspect is not None:
        ratios = [one / other for one, other in zip(found["this framework"], found["Inspect AI"], strict=True)]
        print(f"  {statistics.median(ratios):.3f} of Inspect AI")


def latency(bodies: str, calls: int, rounds: int) -> None:
    mine, theirs = [], []
    for _ in range(rounds):
        mine.append(calls / _ours(200, 64, EPISODES // 56)["wall"])
        theirs.append(calls / _bare("aiohttp", bodies, 200)["wall"])
    ratio = statistics.median(one / other for one, other in zip(mine, theirs, strict=True))
    print(
        f"calls/s at 200 ms and 64 connections: {statistics.median(mine):.0f}, aiohttp {statistics.median(theirs):.0f}"
    )
    print(f"  {ratio:.3f} of bare aiohttp")


def widths(calls: int, rounds: int) -> None:
    found: dict[int, list[float]] = {16: [], 64: [], 256: []}
    for _ in range(rounds):
        for width, values in found.items():
            values.append(_ours(20, width, EPISODES // 56)["cpu"] / calls)
    middle = {width: statistics.median(values) for width, values in found.items()}
    print("CPU per call at 16, 64, 256 at once: " + ", ".join(f"{1000 * one:.2f} ms" for one in middle.values()))
    print(f"  256 over 16: {middle[256] / middle[16]:.2f} x")


def memory() -> None:
    small, large = _ours(0, 64, 7), _ours(0, 64, 121)
    for name in ("peak_mb", "peak_mb_with_scoring"):
        print(
            f"{name}: 392 episodes {small[name]:.0f}, 6,776 episodes {large[name]:.0f} MB: +{large[name] - small[name]:.1f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", default="all", choices=["all", "cpu", "latency", "widths", "memory"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--inspect", metavar="PYTHON", help="a Python that has inspect-ai, to compare with")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bodies = str(Path(folder) / "bodies.jsonl")
        calls = int(_apart("_record", bodies)["calls"])
        if given.what in ("all", "cpu"):
            cpu(bodies, calls, given.rounds, given.inspect)
        if given.what in ("all", "latency"):
            latency(bodies, calls, given.rounds)
        if given.what in ("all", "widths"):
            widths(calls, given.rounds)
        if given.what in ("all", "memory"):
            memory()


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1].startswith("_"):
        what, *rest = sys.argv[1:]
        if what == "_ours":
            result = ours(rest[0], rest[1], int(rest[2]), int(rest[3]))
        elif what == "_bare":
            result = bare(rest[0], rest[1], rest[2], int(rest[3]))
        else:
            result = record(rest[0])
        print(json.dumps(result))
    else:
        main()
