"""Rate the grounded patient: python bench/patient_pairs.py [--files PATTERN] [--errors] [--json].

Every question is put to the patient alone, at the start of a visit. Over the target questions of the cases that the
files name: facts told per question unit, the share that gets all facts of its target, and the share that gets at least
one. Over the labelled pairs: the share of foils, and of paraphrases, that get a fact of the target. The files whose
names end in `_c` are the part that nobody tuned on: --files '*_c.jsonl'.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "plugins"), str(ROOT / "bench")]

from judge_pairs import cases, pairs  # noqa: E402

from meddc_bench.contracts import PatientView  # noqa: E402
from meddc_bench.records import Case  # noqa: E402
from meddc_offline.grounded import Grounded, question_parts  # noqa: E402


@dataclass
class Tally:
    """Counts of what the patient told."""

    targets: int = 0
    units: int = 0
    facts: int = 0
    whole: int = 0
    any: int = 0
    foils: int = 0
    elicited: int = 0
    paraphrases: int = 0
    answered: int = 0
    errors: list[str] = field(default_factory=list)

    def report(self) -> dict[str, float]:
        """Give the figures."""
        return {
            "target questions": self.targets,
            "question units": self.units,
            "facts per unit": round(self.facts / max(1, self.units), 3),
            "targets with all facts": round(self.whole / max(1, self.targets), 4),
            "targets with a fact": round(self.any / max(1, self.targets), 4),
            "foils": self.foils,
            "foils that elicit": round(self.elicited / max(1, self.foils), 4),
            "paraphrases": self.paraphrases,
            "paraphrases answered": round(self.answered / max(1, self.paraphrases), 4),
        }


def told(case: Case, question: str) -> frozenset[str]:
    """Ask one question at the start of a visit and list the ids of the facts told."""
    mode = "queue" if case.source == "dialogue" else "record"
    view = PatientView(case.context, case.facts, frozenset(), (), question, mode, seed=0)
    return frozenset(asyncio.run(Grounded().answer(view)).fact_ids)


def measure(files: str) -> Tally:
    """Ask every target question and every labelled question of the files."""
    known = {name: Case.model_validate(case, strict=False) for name, case in cases().items()}
    rows = [pair for pair in pairs(files) if pair["axis"] == "T" and pair.get("case") in known]
    tally = Tally()
    for name in sorted({pair["case"] for pair in rows}):
        _targets(known[name], tally)
    for pair in rows:
        _pair(known[pair["case"]], pair, tally)
    return tally


def _targets(case: Case, tally: Tally) -> None:
    for target in case.targets:
        got, wanted = told(case, target.question), set(target.facts)
        tally.targets += 1
        tally.units += max(1, len(question_parts(target.question)))
        tally.facts += len(got)
        tally.whole += wanted <= got
        tally.any += bool(wanted & got)
        if not wanted <= got or len(got) > len(wanted):
            tally.errors.append(_error("TARGET", case, target.question, got, wanted))


def _pair(case: Case, pair: dict[str, Any], tally: Tally) -> None:
    wanted = set(next(target.facts for target in case.targets if target.id == pair["target"]))
    got = told(case, pair["question"])
    if pair["match"]:
        tally.paraphrases += 1
        tally.answered += bool(wanted & got)
    else:
        tally.foils += 1
        tally.elicited += bool(wanted & got)
    if bool(wanted & got) != pair["match"]:
        tally.errors.append(_error("PARAPHRASE" if pair["match"] else "FOIL", case, pair["question"], got, wanted))


def _error(kind: str, case: Case, question: str, got: frozenset[str], wanted: set[str]) -> str:
    def shown(ids: set[str] | frozenset[str]) -> str:
        return " / ".join(f"{fact.topic}:{fact.text}" for fact in case.facts if fact.id in ids)

    return f"{kind} {case.id} {question}\n    wanted {shown(wanted)}\n    told   {shown(got)}"


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", default="*.jsonl", help="pattern of the files of pairs to use")
    parser.add_argument("--errors", action="store_true", help="list what was told too much or too little")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    tally = measure(options.files)
    if options.json:
        print(json.dumps(tally.report(), ensure_ascii=False))
        return 0
    print("\n".join(f"{name:24} {value}" for name, value in tally.report().items()))
    for error in tally.errors if options.errors else ():
        print(error)
    return 0


if __name__ == "__main__":
    sys.exit(main())
