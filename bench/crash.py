"""Kill a run at random moments and show that nothing was lost, nothing was made twice and the results are the same.

    python bench/crash.py [--kills 100] [--policy checklist ...] [--tasks meddc] [--repeats N] [--seed 0]

A run of the shipped tasks is started in a process of its own, killed with SIGKILL at a random moment, and started again
with the same command, until it was killed so often; then it may end. Every second kill comes within the work of that
start, the others anywhere from its first moment on, its imports included. Results and exports must be byte for byte
those of a run that no one disturbed, and no record may stand twice in the journal with a final outcome. Exit code 1
where that is not so.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

FINAL = ("scored", "policy_failed", "excluded")
JOURNAL = "records.jsonl"


@dataclass
class Kills:
    """Where the kills came, and what they tore."""

    before: int = 0
    amid: int = 0
    after: int = 0
    torn: int = 0
    lengths: list[float] = field(default_factory=list)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--policy", action="append", help="default: checklist, shuffled, eager")
    parser.add_argument("--tasks", default="meddc")
    parser.add_argument("--repeats", type=int, help="default: the task's")
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    given = parser.parse_args()
    command = [sys.executable, "-m", "meddc_bench", "run", "--tasks", given.tasks]
    for policy in given.policy or ("checklist", "shuffled", "eager"):
        command += ["--policy", policy]
    if given.repeats:
        command += ["--repeats", str(given.repeats)]
    with tempfile.TemporaryDirectory() as root:
        whole, killed = Path(root, "whole"), Path(root, "killed")
        start = time.perf_counter()
        _finish([*command, "-o", str(whole)])
        undisturbed = time.perf_counter() - start
        found = _kill_often([*command, "-o", str(killed)], killed, given.kills, random.Random(given.seed), undisturbed)
        _finish([*command, "-o", str(killed)])
        if _inputs(whole) != _inputs(killed):
            sys.exit("tasks or plugins were edited while this ran; there is nothing to compare")
        return _report(whole, killed, found, undisturbed)


def _finish(command: list[str]) -> None:
    ended = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if ended.returncode:
        sys.exit(f"exit {ended.returncode}: {' '.join(command)}\n{ended.stderr}")


def _inputs(folder: Path) -> tuple[object, object]:
    manifest = json.loads((folder / "manifest.json").read_bytes())
    return manifest["adapters"], manifest["tasks"]


def _kill_often(command: list[str], folder: Path, kills: int, draw: random.Random, undisturbed: float) -> Kills:
    """Start and kill; the moments are drawn so that the work lasts until the last kill."""
    found = Kills()
    for number in range(kills):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        start = time.perf_counter()
        size = _size(folder)
        if number % 2:  # within the work: after the first records of this start
            while _size(folder) == size and process.poll() is None:
                time.sleep(0.0005)
            _wait(process, draw.uniform(0, 1.6 * undisturbed / kills))
        else:
            _wait(process, draw.uniform(0, 1.0))
        process.send_signal(signal.SIGKILL)
        ended = process.wait()
        grown = _size(folder)
        found.lengths.append(time.perf_counter() - start)
        found.before += grown == size and ended == -signal.SIGKILL
        found.amid += grown > size and ended == -signal.SIGKILL
        found.after += ended == 0
        found.torn += grown > 0 and not _closed(folder)
    return found


def _wait(process: subprocess.Popen[bytes], seconds: float) -> None:
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        return


def _size(folder: Path) -> int:
    try:
        return (folder / JOURNAL).stat().st_size
    except FileNotFoundError:
        return 0


def _closed(folder: Path) -> bool:
    with open(folder / JOURNAL, "rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def _finals(folder: Path) -> Counter[str]:
    found: Counter[str] = Counter()
    for line in (folder / JOURNAL).read_bytes().split(b"\n"):
        try:
            data = json.loads(line)
        except ValueError:
            continue  # torn
        if data["outcome"] in FINAL:
            found[data["id"]] += 1
    return found


def _report(whole: Path, killed: Path, found: Kills, undisturbed: float) -> int:
    wanted, made = _finals(whole), _finals(killed)
    twice = sum(count > 1 for count in made.values())
    names = sorted(path.name for path in whole.iterdir() if path.name == "results.json" or path.suffix == ".jsonl")
    differing = [
        name for name in names if name != JOURNAL and (whole / name).read_bytes() != (killed / name).read_bytes()
    ]
    left = [path.name for path in killed.iterdir() if path.name.endswith(".part")]
    rows = (
        ("kills", f"{len(found.lengths)}"),
        ("  before the first record of that start", f"{found.before}"),
        ("  amid records", f"{found.amid}"),
        ("  too late: it had ended", f"{found.after}"),
        ("torn last lines left behind", f"{found.torn}"),
        ("seconds undisturbed, and of all starts", f"{undisturbed:.1f}, {sum(found.lengths):.1f}"),
        ("records of the undisturbed run", f"{len(wanted)}"),
        ("records of the killed run", f"{len(made)}"),
        ("records lost", f"{len(wanted.keys() - made.keys())}"),
        ("finished records made twice", f"{twice}"),
        ("temporary files left", f"{len(left)}"),
        ("files that differ", ", ".join(differing) or "none"),
    )
    for what, figure in rows:
        print(f"{what:<45} {figure:>16}")
    good = not twice and not differing and not left and wanted.keys() == made.keys()
    print("the same bytes, nothing lost, nothing made twice" if good else "NOT THE SAME")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
