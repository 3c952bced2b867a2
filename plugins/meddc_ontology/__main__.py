"""Build an index: python -m meddc_ontology INDEX [LABEL=]FILE ...   (OBO, JSON lines, CSV, TSV)."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from meddc_bench.errors import MedDDCError, UsageError
from meddc_ontology.index import build


def labelled(given: Sequence[str]) -> dict[str, Path]:
    """Read `LABEL=FILE`; a file without a label has its stem for one.

    Raises:
        UsageError: a label given twice: two files of one label would count as one ontology.
    """
    found: dict[str, Path] = {}
    for one in given:
        label, equals, path = one.partition("=")
        label, path = (label, path) if equals else (Path(one).stem, one)
        if label in found:
            raise UsageError(f"the label {label!r} is given twice; write LABEL=FILE")
        found[label] = Path(path)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Build an index and say what is in it; exit code 2 where a file is at fault."""
    parser = argparse.ArgumentParser(prog="python -m meddc_ontology", description=__doc__)
    parser.add_argument("index", type=Path)
    parser.add_argument("files", nargs="+", metavar="[LABEL=]FILE")
    given = parser.parse_args(arguments)
    try:
        index = build(labelled(given.files))
        index.save(given.index)
    except (MedDDCError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return getattr(error, "exit_code", 1)
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(Counter(index.kinds).items()))
    print(f"{', '.join(index.sources)}: {len(index.ids)} terms ({kinds}), {len(index.names)} names")
    if index.unknown_parents:
        print(f"{index.unknown_parents} parents are in no file; the hierarchy goes without them")
    print(given.index)
    return 0


if __name__ == "__main__":
    sys.exit(main())
