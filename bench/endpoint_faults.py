"""Run a campaign against an endpoint that fails, and show that nothing is lost and no score moves.

    python bench/endpoint_faults.py [--episodes 400] [--faults 5 30] [--connections 16] [--seed 1]

A server on the loopback plays every role. The same campaign is run without faults, then with a mixture of them (429,
500, hangs, resets, truncated bodies, HTML pages, blank and cut replies) at each of the given percentages. Every history
must end in one named outcome, 99 % of them scored, a scored one must be as it is without faults, and the journal must
hold each reply that came once. Exit code 1 where that is not so.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from meddc_openai.loopback import Loopback

PARTS = {"429": 5, "500": 5, "slow": 1, "reset": 4, "truncated": 4, "html": 4, "blank": 4, "badjson": 3}
TRANSPORT = ("429", "500", "slow", "reset", "truncated", "html")
TASK, CASES = "meddc_record", 8


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=400)
    parser.add_argument("--faults", type=float, nargs="+", default=[5, 30], metavar="PERCENT")
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1, help="of the faults")
    given = parser.parse_args()
    good = True
    with tempfile.TemporaryDirectory() as root, Loopback(seed=given.seed, slow=30.0).serving() as server:
        whole: dict[Any, Any] = {}
        for percent in (0, *given.faults):
            server.counts.clear()
            server.faults = {fault: percent / 100 * part / sum(PARTS.values()) for fault, part in PARTS.items()}
            folder, start = Path(root, f"{percent:g}"), time.perf_counter()
            _run(folder, server.url, given.episodes, given.connections)
            seconds = time.perf_counter() - start
            found = _samples(folder)
            whole = whole or found
            good &= _report(percent, seconds, folder, dict(server.counts), found, whole)
    print("nothing lost, no score moved" if good else "NOT AS IT SHOULD BE")
    return 0 if good else 1


def _run(folder: Path, url: str, episodes: int, connections: int) -> None:
    command = [sys.executable, "-m", "meddc_bench", "run", "-t", TASK, "-L", str(CASES), "-o", str(folder)]
    command += ["--repeats", str(-(-episodes // CASES)), "--max-connections", str(connections), "--timeout", "2"]
    for role, model in (("policy", "doctor"), ("patient", "patient"), ("reader", "reader"), ("judge", "judge")):
        command += [f"--{role}", "openai", f"--{role}-args", f"model={model},base_url={url}"]
    ended = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if ended.returncode not in (0, 3):
        sys.exit(f"exit {ended.returncode}: {ended.stderr}")


def _samples(folder: Path) -> dict[tuple[str, str, int], Any]:
    with open(folder / f"samples_{TASK}.jsonl", encoding="utf-8") as file:
        return {(one["condition"], one["case"], one["repeat"]): one for one in map(json.loads, file)}


def _report(
    percent: float, seconds: float, folder: Path, counts: dict[str, int], found: dict[Any, Any], whole: dict[Any, Any]
) -> bool:
    with open(folder / "calls.jsonl", encoding="utf-8") as file:
        journal = [json.loads(line) for line in file]
    usable = [one["id"] for one in journal if "unusable" not in one]
    outcomes = Counter(one["outcome"] for one in found.values())
    lost = sum(counts.get(f"fault {fault}", 0) for fault in TRANSPORT)
    moved = sum(one["outcome"] == "scored" and one != whole[key] for key, one in found.items())
    calls = json.loads((folder / "manifest.json").read_bytes())["calls"]
    rows = (
        ("seconds", f"{seconds:.1f}"),
        ("requests", f"{counts['requests']}"),
        ("faults", ", ".join(f"{name[6:]} {n}" for name, n in sorted(counts.items()) if name.startswith("fault"))),
        ("retries", f"{calls['this_session']['retries']}"),
        ("replies in the journal", f"{len(journal)}, {len(journal) - len(usable)} of them unusable"),
        ("outcomes of both conditions", ", ".join(f"{name} {n}" for name, n in sorted(outcomes.items()))),
        ("scored", f"{outcomes['scored'] / len(found):.2%}"),
        ("scored otherwise than without faults", f"{moved}"),
        ("replies paid for twice", f"{len(usable) - len(set(usable))}"),
        ("replies that came and are not in the journal", f"{counts['requests'] - lost - len(journal)}"),
    )
    print(f"{percent:g} % faults")
    for what, figure in rows:
        print(f"  {what:<46} {figure}")
    whole_journal = len(usable) == len(set(usable)) and counts["requests"] - lost == len(journal)
    return found.keys() == whole.keys() and not moved and outcomes["scored"] >= 0.99 * len(found) and whole_journal


if __name__ == "__main__":
    sys.exit(main())
