"""Speed of the embedded search: the time a query takes over generated Chinese passages, and the time to build the index.

    python bench/search.py [--passages 100000] [--encoder package.module:name]

Passages are strings of clinical phrases drawn from the shipped corpus, 60 to 200 characters each; queries are phrases of
it. Times are of this process's CPU. Under 10 ms a query.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import resource
import tempfile
import time
from pathlib import Path

from meddc_bench.environments.index import Index
from meddc_bench.environments.library import SHIPPED, read_passages

QUERIES = 200


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--encoder", help="also rank by the vectors of this function")
    arguments = parser.parse_args()
    rng = random.Random(1)
    phrases = [part for one in read_passages(SHIPPED) for part in re.split("[，。；、]", one.text) if len(part) > 3]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "passages.jsonl")
        with open(file, "w", encoding="utf-8") as out:
            for number in range(arguments.passages):
                text = "，".join(rng.choices(phrases, k=rng.randint(6, 20)))
                line = {"id": f"g-{number}", "title": rng.choice(phrases), "text": text}
                out.write(json.dumps(line, ensure_ascii=False) + "\n")
        index = Index(file, arguments.encoder)
        begun = time.process_time()
        index.find(phrases[0], 3)
        built = time.process_time() - begun
    times = []
    for _ in range(QUERIES):
        query = " ".join(rng.choices(phrases, k=rng.randint(1, 3)))
        begun = time.process_time()
        assert len(index.find(query, 3)) == 3
        times.append(1000 * (time.process_time() - begun))
    times.sort()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    _say("passages", f"{arguments.passages:,}", "")
    _say("index built once, s", f"{built:.1f}", "for information")
    _say("a query, median, ms", f"{times[len(times) // 2]:.2f}", "under 10")
    _say("a query, 99 of 100, ms", f"{times[len(times) * 99 // 100]:.2f}", "under 10")
    _say("peak memory, MB", f"{peak:.0f}", "for information")


def _say(what: str, value: str, wanted: str) -> None:
    print(f"{what:<28} {value:>10}   {wanted}".rstrip())


if __name__ == "__main__":
    main()
