"""Speed and memory of the framework alone, as ratios in one run.

    python bench/speed.py [rollout] [rescore] [imported] [command]      default: all

rollout   histories of a null policy and patient, rolled out and stored, at 680 and 6,800: CPU and peak memory
rescore   6,800 stored histories of about 12 kB: match, score and aggregate against parsing the same bytes with orjson;
          resuming the finished campaign against the same
imported  the 240 AI Hospital histories read, judged and scored offline (where the public data are beside the project)
command   CPU of `meddc-bench --help` and `ls`, and the time of the demo
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
CASES = 136
ROUNDS = 7
"""Rounds of parsing, rescoring and resuming in turn: ratios are taken within a round, so a slow spell hits all three."""
REPEATS = {680: 5, 6800: 50}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", choices=["rollout", "rescore", "imported", "command", []])
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(CHILDREN[arguments.child]()))
        return
    for what in arguments.what or ["rollout", "rescore", "imported", "command"]:
        PARTS[what]()


def rollout() -> None:
    """Roll out and store with null adapters."""
    small, large = _child("rollout-680"), _child("rollout-6800")
    rate = large["histories"] / large["cpu"]
    growth = (large["cpu"] / large["histories"]) / (small["cpu"] / small["histories"])
    _say("histories rolled out and stored a CPU second", f"{rate:.0f}", "at least 400")
    _say("CPU a history, 6,800 over 680", f"{growth:.2f}x", "linear: about 1")
    _say("peak memory, 6,800 over 680", f"{large['peak'] / small['peak']:.2f}x", "at most 1.2x")
    _say("peak memory at 6,800", f"{large['peak']:.0f} MB", "at most 250 MB")


def rescore() -> None:
    """Rescore and resume a finished campaign against parsing its bytes."""
    _rescored(_child("rescore-one"), "D, T and E of one reading", bounded=True)
    _rescored(_child("rescore-two"), "of two readings")
    _rescored(_child("rescore-plans"), "and five more dimensions")


def _rescored(found: dict[str, Any], what: str, *, bounded: bool = False) -> None:
    kilobytes = found["bytes"] / found["histories"] / 1e3
    _say("store", f"{found['bytes'] / 1e6:.0f} MB, {kilobytes:.1f} kB a history", "about 12 kB")
    _say("parsing it with orjson", f"{found['parse']:.2f} s CPU", "the measure")
    for name, ratios, bound in (("rescoring", found["rescore"], "2x"), ("resuming", found["resume"], "3x")):
        _say(
            f"{name} over parsing ({what})",
            f"{statistics.median(ratios):.2f}x ({min(ratios):.2f}-{max(ratios):.2f})",
            f"at most {bound}" if bounded else "no bound",
        )


def imported() -> None:
    """Score the AI Hospital histories offline."""
    data = Path(os.environ.get("MEDDC_DATA") or ROOT.parent / "shared" / "data") / "ai_hospital"
    if not data.is_dir():
        print("imported: the public data are not beside the project: skipped")
        return
    with tempfile.TemporaryDirectory() as folder:
        files = [str(one) for one in sorted(data.glob("histories_*.jsonl"))]
        command = [
            sys.executable, "-m", "meddc_bench", "score", "--importer", "ai_hospital",
            "--importer-args", f"references={data / 'references.jsonl'}", "-o", folder + "/run",
        ]  # fmt: skip
        for file in files:
            command += ["--histories", file]
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        seconds = time.perf_counter() - start
    _say("imported histories read, judged and scored a second", f"{240 / seconds:.0f}", "at least 20")


def command() -> None:
    """CPU of the quick verbs and time of the demo."""
    program = [sys.executable, "-m", "meddc_bench"]
    for words in (["--help"], ["ls"]):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        for _ in range(3):
            subprocess.run([*program, *words], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / 3
        _say(f"meddc-bench {words[0]}", f"{cpu:.2f} s CPU", "at most 0.5 s")
    with tempfile.TemporaryDirectory() as folder:
        policies = [word for name in ("checklist", "shuffled", "brief", "eager") for word in ("--policy", name)]
        start = time.perf_counter()
        words = [*program, "run", "-t", "meddc", *policies, "-o", folder + "/demo"]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        _say("the demo", f"{time.perf_counter() - start:.1f} s", "at most 30 s")


PARTS = {"rollout": rollout, "rescore": rescore, "imported": imported, "command": command}


def _say(what: str, figure: str, wanted: str) -> None:
    print(f"{what:<55} {figure:>18}   ({wanted})", flush=True)


def _child(name: str) -> dict[str, Any]:
    """Run one measurement in a process of its own, on one core."""
    done = subprocess.run(
        [sys.executable, __file__, "--child", name], check=True, stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(HERE)},
    )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _many_cases(plain: bool) -> Any:
    """The record task with its cases repeated under other ids, up to 136; `plain` leaves only D, T and E."""
    from meddc_bench.records import References
    from meddc_bench.task import Task, TaskIndex

    (task,) = TaskIndex().resolve("meddc_record")
    update: dict[str, Any] = {"turn_budget": 5, **({"references": References()} if plain else {})}
    cases = [
        task.cases[index % len(task.cases)].model_copy(update={**update, "id": f"case-{index:03d}"})
        for index in range(CASES)
    ]
    return Task(task.config, tuple(cases), task.path)


def _bench(
    repeats: int, *, predict_only: bool = True, plain: bool = True, readers: tuple[str, ...] = ("null",)
) -> tuple[Any, Any, Any]:
    import nulls

    from meddc_bench import campaign as campaigns
    from meddc_bench.plan import build_benches

    registry = nulls.registry()
    roles = {kind: [{"name": "null", "label": "null"}] for kind in ("policies", "patients", "judges")}
    roles["readers"] = [{"name": name, "label": name} for name in readers]
    campaign = campaigns.build({"tasks": ["meddc_record"], **roles, "repeats": repeats, "predict_only": predict_only})
    return campaign, build_benches(campaign, registry, [_many_cases(plain)]), registry


def _rollout(histories: int) -> dict[str, Any]:
    from meddc_bench.orchestrator import Orchestrator
    from meddc_bench.store import Store

    os.sched_setaffinity(0, {0})
    _, benches, _ = _bench(REPEATS[histories])
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder)) as store:
        start = _cpu()
        progress = Orchestrator(store, width=16, predict_only=True).run(benches)
        cpu = _cpu() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"histories": progress.made["history"], "cpu": cpu, "peak": peak}


def _rescore(plain: bool, readers: tuple[str, ...]) -> dict[str, Any]:
    from meddc_bench import run

    os.sched_setaffinity(0, {0})
    campaign, benches, registry = _bench(50, predict_only=False, plain=plain, readers=readers)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _padded_run(campaign, benches, registry, folder)
        raw = (folder / "records.jsonl").read_bytes()
        rounds = [
            (_seconds(lambda: _parse(raw)), _seconds(lambda: _rescored_once(folder, benches, registry)),
             _seconds(lambda: run.execute(campaign, benches, registry, folder)))
            for _ in range(ROUNDS)
        ]  # fmt: skip
    return {
        "histories": CASES * 50, "bytes": len(raw), "parse": statistics.median(parse for parse, _, _ in rounds),
        "rescore": [rescored / parse for parse, rescored, _ in rounds],
        "resume": [resumed / parse for parse, _, resumed in rounds],
    }  # fmt: skip


def _parse(raw: bytes) -> None:
    import orjson

    for line in raw.splitlines():
        orjson.loads(line)


def _rescored_once(folder: Path, benches: Any, registry: Any) -> None:
    from meddc_bench.results import results
    from meddc_bench.store import Store

    with Store(folder, writable=False) as store:
        results(store, benches, registry)


def _seconds(work: Callable[[], Any]) -> float:
    """CPU seconds of some work."""
    start = _cpu()
    work()
    return _cpu() - start


def _padded_run(campaign: Any, benches: Any, registry: Any, folder: Path) -> None:
    """Make a finished campaign whose histories have the size of real ones (long replies and notes)."""
    import nulls

    from meddc_bench import run
    from meddc_bench.contracts import Answer, Reply

    long = "这个情况我想想，应该是从上个星期开始的，具体哪一天记不太清了，白天还好，晚上明显一些，睡着倒没什么。" * 3
    nulls._ANSWER = long
    nulls._ASK = Reply(nulls._ASK.text, reasoning=long * 2)
    assert Answer is not None
    run.execute(campaign, benches, registry, folder)


CHILDREN = {
    "rollout-680": lambda: _rollout(680),
    "rollout-6800": lambda: _rollout(6800),
    "rescore-one": lambda: _rescore(True, ("emitted",)),
    "rescore-two": lambda: _rescore(True, ("null",)),
    "rescore-plans": lambda: _rescore(False, ("null",)),
}

if __name__ == "__main__":
    main()
