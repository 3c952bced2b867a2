"""Class-wise error of a judge's levels, with and without the ontology floor, on 100 pairs made from an ontology.

    python bench/judge_conformance.py DO=$MEDDC_DATA/disease_ontology/do_terms.jsonl [MORE=FILE ...]
        [--judge lexical] [--judge-args k=v ...] [--passes 1] [--seed 20261] [--pairs FILE] [--json]

The pairs come from the first file, after Table 12 of TrustMed-RL; the floor reads all files. Each term is used once.

    synonym          20  a term's name, one of its EXACT synonyms                               full
    narrower         20  a subtype predicted for its disorder                                   core
    broader          20  the same 20 edges the other way round                                  core
    sibling subtype  10  two subtypes of one disorder                                           core
    sibling group    10  two disorders under one group, neither a subtype                       none
    unrelated        20  two terms without an ancestor in common but the root                   none

Kinds (group, disorder, subtype) are those of the file, else inferred: see docs/trustmed.md.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "plugins")]

from meddc_bench.contracts import Found, JudgeView, Message, Reference  # noqa: E402
from meddc_bench.errors import MedDDCError, UsageError  # noqa: E402
from meddc_bench.prompts import Prompts  # noqa: E402
from meddc_bench.records import CREDIT, Item  # noqa: E402
from meddc_bench.registry import Registry  # noqa: E402
from meddc_bench.text import squash  # noqa: E402
from meddc_bench.wiring import Adapter  # noqa: E402
from meddc_ontology.__main__ import labelled  # noqa: E402
from meddc_ontology.floor import Floor, Report  # noqa: E402
from meddc_ontology.index import Index, build  # noqa: E402
from meddc_ontology.judges import ask, raised  # noqa: E402
from meddc_ontology.terms import read_terms  # noqa: E402

SIZES = {
    "synonym": 20, "narrower": 20, "broader": 20, "sibling subtype": 10, "sibling group": 10, "unrelated": 20,
}  # fmt: skip
TARGETS = {
    "synonym": 1.0,
    "narrower": 0.85,
    "broader": 0.85,
    "sibling subtype": 0.85,
    "sibling group": 0.0,
    "unrelated": 0.0,
}
NATIVE = {"rarearena": {"synonym": 1.0, "broader": 0.85}, "medxagent": {"synonym": 1.0, "narrower": 1.0}}
"""What the rules of other benchmarks should give, as credit of their verdicts' levels; 0 for every other class."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A pair of names with the class it was made for."""

    relation: str
    prediction: str
    reference: str


class Maker:
    """Draws the pairs of an ontology; terms that were used are not used again."""

    def __init__(self, path: Path, seed: int):
        self._index: Index = build({"pairs": path})
        self._draw = random.Random(seed)
        self._used: set[int] = set()
        self._synonyms = [
            [one.text for one in term.synonyms if one.scope == "EXACT" and self._only(number, one.text)]
            for number, term in enumerate(read_terms(path))
        ]
        self._below: dict[int, list[int]] = {}
        for term, parents in enumerate(self._index.parents):
            for parent in parents:
                self._below.setdefault(parent, []).append(term)

    def _only(self, term: int, name: str) -> bool:
        """Tell whether a name is a synonym of this term alone and not its first name in another spelling."""
        return [(use.term, use.first) for use in self._index.names.get(squash(name), ())] == [(term, False)]

    def pairs(self) -> list[Sample]:
        """Return all pairs, class by class.

        Raises:
            UsageError: the ontology does not hold enough of a class.
        """
        label = self._index.labels
        edges = self._take("narrower", self._edges())
        found = [Sample("narrower", label[low], label[high]) for low, high in edges]
        found += [Sample("broader", label[high], label[low]) for low, high in edges]
        found += [
            Sample("sibling subtype", label[a], label[b])
            for a, b in self._take("sibling subtype", self._siblings("disorder", "subtype"))
        ]
        found += [
            Sample("sibling group", label[a], label[b])
            for a, b in self._take("sibling group", self._siblings("group", "disorder"))
        ]
        found += [Sample("synonym", self._synonym(a), label[a]) for a, _ in self._take("synonym", self._named())]
        found += [Sample("unrelated", label[a], label[b]) for a, b in self._take("unrelated", self._strangers())]
        return sorted(found, key=lambda one: list(SIZES).index(one.relation))

    def _take(self, relation: str, candidates: Iterator[tuple[int, int]]) -> list[tuple[int, int]]:
        out: list[tuple[int, int]] = []
        for a, b in candidates:
            if len(out) == SIZES[relation]:
                break
            if not {a, b} & self._used and squash(self._index.labels[a]) and (a == b or self._apart(a, b)):
                self._used |= {a, b}
                out.append((a, b))
        if len(out) < SIZES[relation]:
            raise UsageError(
                f"the ontology gives {len(out)} pairs of the class {relation!r}, {SIZES[relation]} are needed"
            )
        return out

    def _apart(self, a: int, b: int) -> bool:
        return squash(self._index.labels[a]) != squash(self._index.labels[b])

    def _shuffled(self, kind: str | None = None) -> list[int]:
        terms = [term for term, one in enumerate(self._index.kinds) if kind in (None, one)]
        self._draw.shuffle(terms)
        return terms

    def _edges(self) -> Iterator[tuple[int, int]]:
        for low in self._shuffled("subtype"):
            yield from ((low, high) for high in self._index.parents[low] if self._index.kinds[high] == "disorder")

    def _siblings(self, above: str, kind: str) -> Iterator[tuple[int, int]]:
        for parent in self._shuffled(above):
            below = [term for term in self._below.get(parent, ()) if self._index.kinds[term] == kind]
            if len(below) > 1:
                a, b = self._draw.sample(below, 2)
                yield a, b

    def _named(self) -> Iterator[tuple[int, int]]:
        return ((term, term) for term in self._shuffled() if self._synonyms[term])

    def _synonym(self, term: int) -> str:
        return self._draw.choice(sorted(self._synonyms[term]))

    def _strangers(self) -> Iterator[tuple[int, int]]:
        terms = [term for kind in ("disorder", "subtype") for term in self._shuffled(kind)]
        self._draw.shuffle(terms)
        for a, b in zip(terms[::2], terms[1::2], strict=False):
            if not self._above(a) & self._above(b):
                yield a, b

    def _above(self, term: int) -> set[int]:
        """Return the ancestors of a term but the roots."""
        found: set[int] = set()
        open_ = [term]
        while open_:
            for parent in self._index.parents[open_.pop()]:
                if parent not in found and self._index.parents[parent]:
                    found.add(parent)
                    open_.append(parent)
        return found


def view_of(sample: Sample) -> JudgeView:
    """Show a pair to a judge as the pipeline does."""
    items, references = (Item(id="p0", text=sample.prediction),), (Reference("g0", sample.reference),)

    def render() -> tuple[Message, ...]:
        prompts = Prompts("trustmed", "zh")
        values = {"items": items, "references": references}
        return (
            Message("system", prompts.render("judge_system", values)),
            Message("user", prompts.render("judge_grade_diagnoses", values)),
        )

    return JudgeView("grade_diagnoses", "diagnosis", 0, items=items, references=references, render=render)


def credit(found: Found) -> float:
    """Return the credit of the best edge that counts."""
    return max((CREDIT.get(edge.level, 0.0) for edge in found.edges if edge.excluded is None), default=0.0)


async def credits(judge: Any, floor: Floor, samples: list[Sample], report: Report) -> list[tuple[float, float]]:
    """Return each pair's credit without and with the floor."""
    out = []
    for sample in samples:
        view = view_of(sample)
        found = await ask(judge, view)
        more = Found(edges=(*found.edges, *raised(found, view, floor, report)))
        out.append((credit(found), credit(more)))
    return out


def table(samples: list[Sample], passes: list[list[tuple[float, float]]], rule: str) -> dict[str, Any]:
    """Return mean credit and mean absolute error by class and overall, without and with the floor, over all passes."""
    rows: dict[str, Any] = {}
    for relation in [*SIZES, "all"]:
        chosen = [n for n, sample in enumerate(samples) if relation in ("all", sample.relation)]
        targets = [TARGETS[samples[n].relation] for n in chosen] * len(passes)
        row: dict[str, Any] = {"n": len(chosen), "target": statistics.fmean(targets)}
        for side, name in enumerate(("without_floor", "with_floor")):
            got = [one[n][side] for one in passes for n in chosen]
            errors = [abs(value - target) for value, target in zip(got, targets, strict=True)]
            row[name] = {"mean": statistics.fmean(got), "mae": statistics.fmean(errors)}
        if rule in NATIVE:
            kept = [one[n][0] == NATIVE[rule].get(samples[n].relation, 0.0) for one in passes for n in chosen]
            row["native"] = sum(kept) / len(passes)
        rows[relation] = row
    return rows


def shown(rows: dict[str, Any], report: Report) -> str:
    """Lay the table out for people."""
    lines = [f"{'':16}{'n':>4}{'target':>8}{'mean':>9}{'floored':>9}{'error':>9}{'floored':>9}"]
    for name, row in rows.items():
        plain, floored = row["without_floor"], row["with_floor"]
        line = f"{name:16}{row['n']:>4}{row['target']:>8.3f}{plain['mean']:>9.3f}{floored['mean']:>9.3f}"
        line += f"{plain['mae']:>9.3f}{floored['mae']:>9.3f}"
        lines.append(line + (f"   native rule kept {row['native']:g}" if "native" in row else ""))
    lines.append(
        f"floor: of {report.pairs} pairs both names found {report.resolved}, fired {report.fired}, "
        f"raised {report.raised}, abstained {report.abstained}"
    )
    lines += [f"  {count:>4}  {rule}" for rule, count in sorted(report.rules.items())]
    return "\n".join(lines)


async def conform(given: argparse.Namespace) -> int:
    """Make the pairs, ask the judge, print the table."""
    files = labelled(given.files)
    first = next(iter(files))
    samples = Maker(files[first], given.seed).pairs()
    if given.pairs:
        lines = [
            json.dumps(
                {
                    "relation": one.relation,
                    "prediction": one.prediction,
                    "reference": one.reference,
                    "target": TARGETS[one.relation],
                },
                ensure_ascii=False,
            )
            for one in samples
        ]
        given.pairs.write_text("\n".join(lines) + "\n", encoding="utf-8")
    floor, report = Floor(build(files)), Report()
    options = dict(pair.split("=", 1) for pair in given.judge_args)
    adapter = Adapter(Registry.load(), "judge", given.judge, given.judge, options)
    try:
        passes = [await credits(adapter.get(), floor, samples, report) for _ in range(given.passes)]
    finally:
        await adapter.aclose()
    rows = table(samples, passes, given.judge)
    counts = {"pairs": report.pairs, "resolved": report.resolved, "fired": report.fired, "raised": report.raised}
    counts |= {"abstained": report.abstained, "rules": dict(report.rules)}
    print(json.dumps({"judge": given.judge, "classes": rows, "floor": counts}) if given.json else shown(rows, report))
    return 0


def main() -> int:
    """Run the command; exit 2 where the request or a file is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="[LABEL=]FILE")
    parser.add_argument("--judge", default="lexical")
    parser.add_argument("--judge-args", nargs="*", default=[], metavar="k=v")
    parser.add_argument("--passes", type=int, default=1)
    parser.add_argument("--seed", type=int, default=20261)
    parser.add_argument("--pairs", type=Path, help="write the pairs as JSON lines")
    parser.add_argument("--json", action="store_true")
    try:
        return asyncio.run(conform(parser.parse_args()))
    except MedDDCError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
