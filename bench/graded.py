"""Speed of TrustMed scoring: 2,500 workups of three repeats, from stored evidence, against parsing it with orjson.

    python bench/graded.py

score      a finished run opened and scored, all metrics of the task: against parsing the run's records
evidence   the stored evidence decoded, matched by level and added up to the scores: against parsing that evidence

The cases are those of osce_zh under other ids, the consultations those of the policy `workup`; each gives three
diagnoses, which a judge grades at random and says so in a raw reply, as a language model does. CPU seconds of one core
and one thread; the two sides of a ratio are timed in turn.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import speed

AIM = 2.0
CASES = 2500
ROUNDS = 7
SCORES = (
    "Acc",
    "Strict",
    "Acc50",
    "Strict50",
    "delta_Acc",
    "delta_Strict",
    "soft_precision",
    "soft_recall",
    "Tversky",
    "D",
)


def main() -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    found = measure()
    print(f"{found['units']:,} units; the run's records: {found['bytes'] / 1e6:.0f} MB, of them evidence: "
          f"{found['evidence_bytes'] / 1e6:.1f} MB")  # fmt: skip
    for what in ("score", "evidence"):
        ratios, parsed, took = (found[what][name] for name in ("ratios", "parse", "took"))
        print(f"{what:<9} parsing {parsed:.3f} s, all of it {took:.3f} s: {statistics.median(ratios):.2f}x "
              f"({min(ratios):.2f}-{max(ratios):.2f})   (aim: at most {AIM:g}x)")  # fmt: skip


def measure() -> dict[str, Any]:
    """Make a store of that size, then parse and score it in turn."""
    from meddc_bench import campaign as campaigns
    from meddc_bench.plan import build_benches
    from meddc_bench.registry import Registry
    from meddc_bench.results import build_metrics

    registry = Registry.load()
    roles = {"policies": [{"name": "workup", "label": "workup"}], "readers": [{"name": "emitted", "label": "emitted"}]}
    campaign = campaigns.build({"tasks": ["osce_zh"], **roles})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small = build_benches(campaign, registry, [_task(None)])[0]
        bench = build_benches(campaign, registry, [_task(CASES)])[0]
        _fill(small, bench, registry, folder)
        raw = (folder / "records.jsonl").read_bytes()
        lines = [line for line in raw.splitlines() if line.startswith(b'{"stage":"evidence"')]
        metrics = [build_metrics(bench, registry)[one][1] for one in SCORES]
        return {
            "units": len(lines), "bytes": len(raw), "evidence_bytes": sum(map(len, lines)),
            "score": _in_turn(partial(speed._parse, raw), partial(speed._rescored_once, folder, [bench], registry)),
            "evidence": _in_turn(partial(speed._parse, b"\n".join(lines)), partial(_from_evidence, lines, metrics)),
        }  # fmt: skip


def _in_turn(parse: Callable[[], None], work: Callable[[], None]) -> dict[str, Any]:
    rounds = [(speed._seconds(parse), speed._seconds(work)) for _ in range(ROUNDS)]
    return {
        "parse": statistics.median(one for one, _ in rounds), "took": statistics.median(one for _, one in rounds),
        "ratios": [took / parsed for parsed, took in rounds],
    }  # fmt: skip


def _from_evidence(lines: list[bytes], metrics: list[Any]) -> None:
    """Decode the records of the lines, match and add up as the scorer does, three repeats."""
    import msgspec

    from meddc_bench.contracts import Unit
    from meddc_bench.pipeline.score import Cell, column
    from meddc_bench.scorer import _Brief, _few, no_collection

    decode = msgspec.json.Decoder(_Brief).decode
    with no_collection():
        cells = []
        for at, line in enumerate(lines):
            one = decode(line[line.find(b',"record":') + 10 : line.rfind(b',"seal":')])
            found = _few(one.axis, one.items, one.references, one.edges, one.volunteered)
            unit = Unit({"diagnosis": found}, "diagnosed", 11, 11, 10, (), False, 9, at % 10)
            cells.append(Cell(str(at % CASES), at // CASES, "scored", unit))
        known: dict[object, Any] = {}
        for metric in metrics:
            column(metric, cells, {}, known)


def _task(cases: int | None) -> Any:
    """The task osce_zh; with its cases repeated under other ids, up to so many."""
    from meddc_bench.task import Task, TaskIndex

    (task,) = TaskIndex().resolve("osce_zh")
    if cases is None:
        return task
    found = [
        task.cases[index % len(task.cases)].model_copy(update={"id": f"case-{index:04d}"}) for index in range(cases)
    ]
    return Task(task.config, tuple(found), task.path)


def _fill(small: Any, bench: Any, registry: Any, folder: Path) -> None:
    """Roll the task out once, and write its consultations, readings and graded evidence under the ids of the large one."""
    from meddc_bench.orchestrator import Orchestrator
    from meddc_bench.records import History, Key
    from meddc_bench.store import Entry, Store

    with tempfile.TemporaryDirectory() as other, Store(Path(other)) as made, Store(folder) as store:
        Orchestrator(made, width=1).run([small])
        first = [(made.entry(job.history_id), made.record(job.history_id, History)) for job in small.jobs()]
        judge, condition = bench.judges[0], bench.conditions[0]
        for at, job in enumerate(bench.jobs()):
            entry, history = first[at % len(small.cases) + job.repeat * len(small.cases)]
            key = Key(task="osce_zh", case=job.case.id, policy="workup", patient="grounded", repeat=job.repeat)
            store.append(Entry(stage="history", id=job.history_id, outcome="scored", key=key, head=entry.head), history)
            reading_id = bench.reading_id(condition, job.history_id)
            draw = random.Random(at)
            reading, evidence = _judged(len(job.case.diagnoses), entry.head.hash, draw)
            store.append(Entry(stage="reading", id=reading_id, outcome="scored", key=key), reading)
            evidence_id = bench.evidence_id(judge, 0, "diagnosis", job.case, reading_id)
            store.append(Entry(stage="evidence", id=evidence_id, outcome="scored", key=key), evidence)


def _judged(references: int, hash_: str, draw: random.Random) -> tuple[Any, Any]:
    """Make three diagnoses and what a judge says of them."""
    from meddc_bench.records import Evidence, Item, Reading

    names = draw.sample(_NAMES, 3)
    edges = tuple(_edges(len(names), references, draw))
    said = [
        {"prediction": one.prediction, "reference": one.reference, "level": one.level, "reason": one.reason}
        for one in edges
    ]
    evidence = Evidence(
        axis="diagnosis", items=tuple(Item(id=f"p{at}", text=name) for at, name in enumerate(names)),
        references=tuple(f"g{at}" for at in range(references)), edges=edges, model="judge",
        raw={"grade_diagnoses": json.dumps({"matches": said}, ensure_ascii=False)},
    )  # fmt: skip
    return Reading(text="；".join(names), diagnoses=tuple(names), history_hash=hash_), evidence


def _edges(predictions: int, references: int, draw: random.Random) -> Iterator[Any]:
    from meddc_bench.records import Edge

    for prediction in range(predictions):
        for reference in range(references):
            level = draw.choice((None, None, "full", "core", "partial"))
            if level is not None:
                yield Edge(
                    prediction=f"p{prediction}",
                    reference=f"g{reference}",
                    level=level,
                    reason="同一疾病，部位或类型不同",
                )


_NAMES = (
    "胃癌", "急性心肌梗死", "Graves病", "多发性骨髓瘤", "系统性红斑狼疮", "重症肌无力", "溃疡性结肠炎", "痛风", "肺血栓栓塞症",
    "IgA肾病", "急性闭角型青光眼", "乳腺癌", "感染性心内膜炎", "肾上腺皮质功能减退症", "肺结核", "大疱性类天疱疮",
)  # fmt: skip

if __name__ == "__main__":
    main()
