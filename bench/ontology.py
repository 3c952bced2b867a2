"""Time to load an ontology and names resolved a second: python bench/ontology.py [--check] [--json] [[LABEL=]FILE ...]

Without files a synthetic ontology of the size of MONDO is made: 24,000 terms, 105,000 synonyms, a seeded hierarchy. The
index is loaded in a process of its own; the names to resolve are known names, spelt in other ways, and unknown ones.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "plugins")]

from meddc_ontology.__main__ import labelled  # noqa: E402
from meddc_ontology.floor import Floor  # noqa: E402
from meddc_ontology.index import build, load  # noqa: E402

TERMS, SYNONYMS = 24_000, 105_000
NAMES = 50_000
MOST_SECONDS, LEAST_NAMES = 2.0, 10_000
"""At most so long until an ontology is ready; at least so many names a second."""
_PARTS = ("hereditary", "acute", "renal", "cardiac", "juvenile", "cutaneous", "ataxia", "anemia", "neuropathy", "type")


def synthetic(path: Path, seed: int = 20261) -> None:
    """Write an ontology of the size of MONDO as JSON lines."""
    draw = random.Random(seed)
    counts = [SYNONYMS // TERMS + (number < SYNONYMS % TERMS) for number in range(TERMS)]
    with open(path, "w", encoding="utf-8") as out:
        for number, count in enumerate(counts):
            words = " ".join(draw.choices(_PARTS, k=3))
            term = {
                "id": f"S:{number}", "name": f"{words} {number}",
                "synonyms": [[f"{words} {number}, form {more}", "EXACT"] for more in range(count)],
                "parents": [f"S:{draw.randrange(number)}"] if number else [],
                "xrefs": {"UMLS": [f"C{number:07}"], "ORDO": [str(number)]},
            }  # fmt: skip
            out.write(json.dumps(term) + "\n")


def asked(names: list[str], seed: int = 7) -> list[str]:
    """Draw names to look up: as they are, in capitals, with other punctuation, and unknown."""
    draw = random.Random(seed)
    spell = (str, str.upper, lambda name: name.replace(" ", "-"), lambda name: f"{name} unheard of")
    return [draw.choice(spell)(draw.choice(names)) for _ in range(NAMES)]


def measure(path: Path) -> dict[str, float]:
    """Load an index and resolve names, in this process."""
    began = time.perf_counter()
    index = load(path)
    floor = Floor(index)
    ready = time.perf_counter() - began
    names = asked(index.labels)
    began = time.perf_counter()
    found = sum(bool(floor.resolve(name)) for name in names)
    resolving = time.perf_counter() - began
    began = time.perf_counter()
    for one, other in pairwise(names):
        floor.of(one, other)
    return {
        "ready_seconds": ready, "names_a_second": len(names) / resolving, "resolved": found / len(names),
        "pairs_a_second": (len(names) - 1) / (time.perf_counter() - began),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }  # fmt: skip


def main() -> int:
    """Print what was measured; with --check exit 1 where a limit is broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", metavar="[LABEL=]FILE")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(measure(given.measure)))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        files = labelled(given.files)
        if not files:
            files = {"synthetic": Path(folder) / "synthetic.jsonl"}
            synthetic(files["synthetic"])
        path = Path(folder) / "index"
        began = time.perf_counter()
        index = build(files)
        index.save(path)
        row: dict[str, Any] = {"terms": len(index.ids), "names": len(index.names)}
        row |= {"build_seconds": time.perf_counter() - began, "index_mb": path.stat().st_size / 2**20}
        done = subprocess.run([sys.executable, __file__, "--measure", path], capture_output=True, text=True, check=True)
        row |= json.loads(done.stdout)
    print(json.dumps(row) if given.json else "\n".join(f"{name:16} {value:,.4g}" for name, value in row.items()))
    good = row["ready_seconds"] < MOST_SECONDS and row["names_a_second"] >= LEAST_NAMES
    return 0 if good or not given.check else 1


if __name__ == "__main__":
    sys.exit(main())
