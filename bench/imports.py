"""Speed and memory of imports, and of the checks of a task.

    python bench/imports.py [--count 2000]

histories    histories of 10 kB made by hand (importer `histories`), into a task folder: a second, and peak memory
dialogues    consultations of 2 kB with facts, targets and leak scan (importer `mtmeddialog`), the same
rows         rows of 1 kB of a clinic's sheet (importer `csv`), the same
validate     170 cases of 25 facts: schema, leaks and near-duplicates, without the self-check

Memory is the peak over that of a tenth of the rows. All texts are made up of a few clauses, anew for each row.
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
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

SIZE = 10_000
_PARTS = (
    "腹部",
    "胸口",
    "后背",
    "右腿",
    "左肩",
    "头顶",
    "膝盖",
    "手指",
    "脚踝",
    "脖子",
    "腰上",
    "喉咙",
    "额头",
    "手腕",
)
_SAYS = (
    "一阵阵地疼",
    "酸胀得难受",
    "走路的时候发麻",
    "夜里更明显",
    "按着有点痛",
    "休息以后好一些",
    "吃过饭会加重",
    "没有肿",
)
_BODY = ("belly", "chest", "back", "leg", "shoulder", "head", "knee", "finger", "ankle", "neck", "hip", "throat")
_FEELS = (
    "hurts at night",
    "burns after meals",
    "feels numb when I walk",
    "is stiff in the morning",
    "aches on and off",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000)
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(_child(*sys.argv[2:])))
        return
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, write in (("histories", _histories), ("mtmeddialog", _dialogues), ("csv", _sheet)):
            _import(Path(folder), name, write, arguments.count)
        _validate(Path(folder), 170)


def _import(folder: Path, importer: str, write: Callable[[Path, int], list[str]], count: int) -> None:
    """Import a tenth of the rows and all of them, each in a process of its own; print the speed and the memory."""
    found = []
    for rows in (count // 10, count):
        work = folder / f"{importer}-{rows}"
        work.mkdir()
        options = write(work / "rows", rows)
        size = (work / "rows").stat().st_size / rows
        words = ["import", importer, str(work / "rows"), "-o", str(work / "task"), "--name", "bench", *options]
        found.append(_run(words))
    few, all_of_them = found
    rate = count / all_of_them["cpu"]
    print(
        f"{importer:12} {count} rows of {size / 1000:.1f} kB: {rate:,.0f} a CPU second, "
        f"{count / all_of_them['wall']:,.0f} a second; peak {all_of_them['peak']:.0f} MB, {few['peak']:.0f} MB for a tenth"
    )


def _validate(folder: Path, count: int) -> None:
    work = folder / f"validate-{count}"
    (work / "cases").mkdir(parents=True)
    (work / "task.yaml").write_text("task: bench\ninclude: meddc/protocol.yaml\ncases: cases.jsonl\n", encoding="utf-8")
    lines = (json.dumps(_case(number), ensure_ascii=False) for number in range(count))
    (work / "cases.jsonl").write_text("\n".join(lines), encoding="utf-8")
    found = _run(["validate", str(work / "task.yaml"), "--no-self-check"])
    print(f"validate     {count} cases: {found['wall']:.1f} s, CPU {found['cpu']:.1f} s, peak {found['peak']:.0f} MB")


def _run(words: list[str]) -> dict[str, float]:
    done = subprocess.run([sys.executable, __file__, "--child", *words], check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _child(*words: str) -> dict[str, float]:
    """Run a command of the command line in this process and say what it took, its imports among it."""
    from meddc_bench.cli import main as run

    start = time.perf_counter()
    try:
        run(list(words))
    except SystemExit as left:
        if left.code:
            raise
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {"wall": time.perf_counter() - start, "cpu": used.ru_utime + used.ru_stime, "peak": used.ru_maxrss / 1024}


def _histories(path: Path, count: int) -> list[str]:
    references = path.with_name("references")
    references.write_text(
        "\n".join(json.dumps({"case": f"c{n}", "diagnoses": ["肺炎"]}) for n in range(count)), encoding="utf-8"
    )
    _lines(path, ({"case": f"c{n}", "policy": "p", "turns": _turns(n), "diagnoses": ["肺炎"]} for n in range(count)))
    return ["--importer-args", f"references={references}"]


def _turns(number: int) -> list[dict[str, str]]:
    rng, turns, size = random.Random(number), [{"role": "patient", "text": "医生，我不舒服。"}], 0
    while size < SIZE:
        said = "，".join(rng.choice(_PARTS) + rng.choice(_SAYS) for _ in range(6)) + "。"
        turns.append({"role": "doctor" if len(turns) % 2 else "patient", "text": said})
        size += len(said.encode()) + 40
    return turns


def _dialogues(path: Path, count: int) -> list[str]:
    _lines(path, (_dialogue(number) for number in range(count)))
    return []


def _dialogue(number: int) -> dict[str, Any]:
    rng, rounds, size = random.Random(number), [], 0
    while size < SIZE / 5:
        asked = [f"How long has the {rng.choice(_BODY)} been like that?", "Does anything make it better?"]
        told = [f"My {rng.choice(_BODY)} {rng.choice(_FEELS)} since day {rng.randrange(99)}." for _ in range(4)]
        rounds.append({"doctor_question": asked, "patient_response": told})
        size += sum(map(len, asked + told)) + 60
    return {
        "id": number,
        "self_report": "I feel unwell.",
        "dialogue": rounds,
        "diagnosis": "You have gout.",
        "recommendation": "",
    }


def _sheet(path: Path, count: int) -> list[str]:
    with path.open("w", encoding="utf-8") as file:
        file.write("编号,主诉,现病史,诊断\n")
        for number in range(count):
            rng = random.Random(number)
            told = "。".join(f"{rng.randrange(2, 30)}天前{rng.choice(_PARTS)}{rng.choice(_SAYS)}" for _ in range(30))
            file.write(f"r{number},乏力{number % 9 + 1}天,{told}。,痛风\n")
    return []


def _lines(path: Path, rows: Iterator[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _case(number: int) -> dict[str, Any]:
    rng = random.Random(number)
    texts = [
        f"{rng.randrange(2, 99)}天前{rng.choice(_PARTS)}{rng.choice(_SAYS)}，{rng.choice(_PARTS)}{rng.choice(_SAYS)}"
        for _ in range(25)
    ]
    facts = [{"id": f"f{at:02d}", "topic": "course", "text": text} for at, text in enumerate(texts)]
    return {
        "id": f"c{number:04d}", "source": "record", "context": "乏力。", "facts": facts,
        "diagnoses": [{"name": "痛风"}], "turn_budget": 5,
        "targets": [{"id": "q01", "question": "怎么变化的？", "facts": ["f00"], "inquiry_type": "course", "importance": 3}],
    }  # fmt: skip


if __name__ == "__main__":
    main()
