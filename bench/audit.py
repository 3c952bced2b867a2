"""Speed of an audit: 6,800 stored histories under three readers, against parsing the same store with orjson.

    python bench/audit.py

Five policies of 136 cases and ten repeats; D and Total, 10,000 draws of cases. Both are timed in CPU seconds of one core
and one thread, in turn; ratios are taken within a round.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import nulls
import speed

from meddc_bench import campaign as campaigns
from meddc_bench.contracts import Call, Found, JudgeView, PolicyView, ReaderView, Reply, hookimpl
from meddc_bench.records import Edge, Reading
from meddc_bench.registry import Registry

AIM = 3.0
ROUNDS = 7
POLICIES = 5
REPEATS = 10
READERS = ("emitted", "first", "second")


class NumberedPolicy(nulls.NullPolicy):
    """Puts its number into what it asks and emits, so that policies differ."""

    def __init__(self, number: int):
        self._number = number

    async def act(self, view: PolicyView) -> Reply:
        reply = await super().act(view)
        if reply.calls:
            return Reply(calls=(Call("diagnose", {"diagnoses": [f"{self._number}型胃炎"]}),))
        return Reply(f"{self._number}：{reply.text}", reasoning=reply.reasoning)


class OtherReader(nulls.NullReader):
    """Reads a diagnosis that depends on the reader and on the policy."""

    def __init__(self, name: str):
        self._name = name

    async def read(self, view: ReaderView) -> Reading:
        asked = next(turn.text for turn in view.turns if turn.role == "doctor")
        return Reading(text="", diagnoses=(f"{self._name}{asked[:1]}型胃炎", "慢性胃炎"))


class CoinJudge(nulls.NullJudge):
    """Lets every item cover one reference or none, by the digest of what it sees: the same every time."""

    async def judge(self, view: JudgeView) -> Found:
        if view.step == "extract_questions":
            return await super().judge(view)
        if view.step not in ("cover_targets", "cover_items", "grade_diagnoses") or not view.references:
            return Found()
        bits = hashlib.sha256(
            repr((view.step, view.text, [one.text for one in view.items], view.seed)).encode()
        ).digest()
        chosen = [(item, bits[at % len(bits)] % (2 * len(view.references))) for at, item in enumerate(view.items)]
        return Found(
            edges=tuple(
                Edge(prediction=item.id, reference=view.references[number].id, level="covers")
                for item, number in chosen if number < len(view.references)
            )
        )  # fmt: skip


@hookimpl
def register_policies(register: Any) -> None:
    for number in range(POLICIES):
        register(f"policy-{number}", lambda options, context, number=number: NumberedPolicy(number), revision="1")


@hookimpl
def register_readers(register: Any) -> None:
    for name in READERS[1:]:
        register(name, lambda options, context, name=name: OtherReader(name), revision="1")


@hookimpl
def register_judges(register: Any) -> None:
    register("coin", lambda options, context: CoinJudge(), revision="1")


def registry() -> Registry:
    """Return the installed plugins, the null ones and those of this file."""
    mine = [EntryPoint(name, name, "meddc_bench") for name in ("nulls", "audit")]
    return Registry.load([*entry_points(group="meddc_bench"), *mine])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        import audit  # the module of that name holds the plugins, not this script

        print(json.dumps(audit.measure()))
        return
    done = subprocess.run(
        [sys.executable, __file__, "--child"], check=True, stdout=subprocess.PIPE,
        env={
            **os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent),
            "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1",
        },
    )  # fmt: skip
    found = json.loads(done.stdout.splitlines()[-1])
    ratios = found["ratios"]
    ratio = statistics.median(ratios)
    print(f"store: {found['bytes'] / 1e6:.0f} MB, {found['histories']} histories, {len(READERS)} readers")
    print(f"parsing it with orjson: {found['parse']:.2f} s CPU; the audit: {found['audit']:.2f} s")
    print(f"the audit over parsing: {ratio:.2f}x ({min(ratios):.2f}-{max(ratios):.2f})   (aim: at most {AIM:g}x)")
    print(f"of it the columns: {found['columns']:.2f} s, the statistics the rest; {found['draws']:,} draws")


def measure() -> dict[str, Any]:
    """Make a store of that size, then parse it and audit it in turn."""
    from meddc_bench.audits import Question
    from meddc_bench.plan import build_benches

    os.sched_setaffinity(0, {0})
    found = registry()
    roles: dict[str, Any] = {"patients": [{"name": "null", "label": "null"}]}
    roles["policies"] = [{"name": f"policy-{number}", "label": f"policy-{number}"} for number in range(POLICIES)]
    roles["readers"] = [{"name": name, "label": name} for name in READERS[1:]]
    roles["judges"] = [{"name": "coin", "label": "coin"}]
    campaign = campaigns.build({"tasks": ["meddc_record"], **roles, "repeats": REPEATS})
    benches = build_benches(campaign, found, [speed._many_cases(plain=True)])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        speed._padded_run(campaign, benches, found, folder)
        raw = (folder / "records.jsonl").read_bytes()
        question = Question()
        work = partial(_audited, folder, campaign, benches, found, question)
        rounds = [(speed._seconds(partial(speed._parse, raw)), speed._seconds(work)) for _ in range(ROUNDS)]
        columns = speed._seconds(partial(_columns, folder, campaign, benches, found))
    return {
        "histories": POLICIES * REPEATS * speed.CASES, "bytes": len(raw), "draws": question.draws, "columns": columns,
        "parse": statistics.median(parse for parse, _ in rounds), "audit": statistics.median(one for _, one in rounds),
        "ratios": [one / parse for parse, one in rounds],
    }  # fmt: skip


def _audited(folder: Path, campaign: Any, benches: Any, found: Registry, question: Any) -> None:
    """Audit the store as the verb does: open it, take its columns, check the bytes, compute."""
    from meddc_bench.audits import audit_runs
    from meddc_bench.store import Store
    from meddc_bench.stored import StoredRun

    with Store(folder, writable=False) as store:
        store.map()
        audit_runs([StoredRun(folder, campaign, {}, store, benches, found)], question)


def _columns(folder: Path, campaign: Any, benches: Any, found: Registry) -> None:
    from meddc_bench.store import Store
    from meddc_bench.stored import StoredRun

    with Store(folder, writable=False) as store:
        store.map()
        run = StoredRun(folder, campaign, {}, store, benches, found)
        for bench in benches:
            for _ in run.columns(bench, ("D", "Total", "T", "E")):
                pass


if __name__ == "__main__":
    main()
