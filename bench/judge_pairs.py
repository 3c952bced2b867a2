"""Rate the lexical judge against people's labels: python bench/judge_pairs.py [--errors] [--json] [--files PATTERN]."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "plugins")]

from meddc_bench.contracts import JudgeView, Reference  # noqa: E402
from meddc_bench.records import Item  # noqa: E402
from meddc_offline.lexical import Lexical  # noqa: E402


def cases() -> dict[str, dict[str, Any]]:
    """Load every case of the repository by id."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    found = {}
    for path in sorted(ROOT.glob("tasks/*/cases/*.yaml")):
        case = yaml.load(path.read_text(encoding="utf-8"), Loader=loader)
        found[case["id"]] = case
    return found


def pairs(files: str) -> list[dict[str, Any]]:
    """Load every labelled pair of the files of a pattern; `file` and `line` say where it stands."""
    found = []
    for path in sorted((ROOT / "bench" / "judge_pairs").glob(files)):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line.strip():
                found.append(json.loads(line) | {"file": path.name, "line": number})
    return found


def target_reference(case: dict[str, Any], target: dict[str, Any]) -> Reference:
    """Show a target as the core does."""
    texts = {fact["id"]: fact["text"] for fact in case["facts"]}
    told = tuple(texts[one] for one in target["facts"])
    return Reference(target["id"], target["question"], inquiry_type=target["inquiry_type"], facts=told)


def references(
    pair: dict[str, Any], known: dict[str, dict[str, Any]], whole: bool
) -> tuple[str, tuple[Reference, ...]]:
    """Give the id of the pair's reference and the references to show with it."""
    case = known.get(pair.get("case") or "")
    if pair["axis"] == "T":
        if case is None:
            told = tuple(pair.get("target_facts", ()))
            return "t", (Reference("t", pair["target_question"], inquiry_type=pair["inquiry_type"], facts=told),)
        shown = tuple(target_reference(case, one) for one in case["targets"] if whole or one["id"] == pair["target"])
        return pair["target"], shown
    synonyms: tuple[str, ...] = ()
    for one in (case or {}).get("diagnoses", ()):
        if one["name"] == pair["reference"]:
            synonyms = tuple(one.get("synonyms", ()))
    return "t", (Reference("t", pair["reference"], synonyms),)


def ask(judge: Lexical, pair: dict[str, Any], known: dict[str, dict[str, Any]], whole: bool) -> tuple[bool, str]:
    """Ask the judge about one pair."""
    wanted, shown = references(pair, known, whole)
    trajectory = pair["axis"] == "T"
    view = JudgeView(
        "cover_targets" if trajectory else "cover_items",
        "trajectory" if trajectory else "diagnosis",
        0,
        items=(Item(id="u0", text=pair["question"] if trajectory else pair["prediction"]),),
        references=shown,
    )
    edges = [edge for edge in asyncio.run(judge.judge(view)).edges if edge.reference == wanted]
    return bool(edges), (edges[0].reason or "") if edges else ""


def rate(rows: list[tuple[bool, bool]]) -> dict[str, Any]:
    """Count a table of (label, verdict)."""
    tp = sum(label and verdict for label, verdict in rows)
    fp = sum(verdict and not label for label, verdict in rows)
    fn = sum(label and not verdict for label, verdict in rows)
    precision = tp / (tp + fp) if tp + fp else None
    recall = tp / (tp + fn) if tp + fn else None
    f1 = 2 * tp / (2 * tp + fp + fn) if 2 * tp + fp + fn else None
    return {"pairs": len(rows), "tp": tp, "fp": fp, "fn": fn, "precision": precision, "recall": recall, "f1": f1}


def measure(files: str) -> dict[str, Any]:
    """Ask the judge about every pair and count by axis and kind; `errors` holds the wrong verdicts."""
    known, judge = cases(), Lexical()
    table: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    kinds: dict[str, list[bool]] = defaultdict(list)
    skipped = 0
    errors: list[dict[str, Any]] = []
    for pair in pairs(files):
        if pair.get("case") and pair["case"] not in known:
            skipped += 1
            continue
        verdict, reason = ask(judge, pair, known, whole=False)
        table[pair["axis"]].append((pair["match"], verdict))
        if pair["axis"] == "T" and pair.get("case"):
            table["T, all targets shown"].append((pair["match"], ask(judge, pair, known, whole=True)[0]))
        _, shown = references(pair, known, False)
        kind = f"{pair['axis']} {pair.get('kind', '-')} {shown[0].inquiry_type or ''}".strip()
        kinds[kind].append(verdict == pair["match"])
        if verdict != pair["match"]:
            errors.append({"pair": pair, "reference": shown[0].text, "facts": shown[0].facts, "reason": reason})
    rights = {kind: {"pairs": len(rows), "right": sum(rows) / len(rows)} for kind, rows in sorted(kinds.items())}
    axes = {axis: rate(rows) for axis, rows in sorted(table.items())}
    return {"axes": axes, "right_by_kind": rights, "skipped": skipped, "errors": errors}


def main() -> int:
    """Print precision, recall and F1 by axis and the share of right verdicts by kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--errors", action="store_true", help="list the wrong verdicts")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--files", default="*.jsonl", help="pattern of the files of pairs to use")
    options = parser.parse_args()
    report = measure(options.files)
    errors = report["errors"] if options.errors else report.pop("errors")
    if options.json:
        print(json.dumps(report, ensure_ascii=False, indent=1))
        return 0
    print(text(report))
    for error in errors if options.errors else ():
        pair = error["pair"]
        said = pair.get("question") or pair.get("prediction")
        wrong = "FN" if pair["match"] else "FP"
        print(f"{wrong} {pair['axis']} {pair.get('kind')} | {said} | {error['reference']} | {error['reason']}")
    return 0


def text(report: dict[str, Any]) -> str:
    """Lay a report out for the screen."""
    lines = [
        f"{axis:22} pairs {row['pairs']:5}  tp {row['tp']:5} fp {row['fp']:4} fn {row['fn']:4}  "
        + "  ".join(
            f"{key} {row[key]:.3f}" if row[key] is not None else f"{key} -" for key in ("precision", "recall", "f1")
        )
        for axis, row in report["axes"].items()
    ]
    lines += [
        f"  {kind:34} {row['pairs']:5}  right {row['right']:.3f}" for kind, row in report["right_by_kind"].items()
    ]
    return "\n".join([*lines, f"skipped (case not found): {report['skipped']}"])


if __name__ == "__main__":
    sys.exit(main())
