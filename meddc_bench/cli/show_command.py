"""`meddc-bench show`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from meddc_bench.cli.screen import say, say_json
from meddc_bench.records import JUDGE_STEPS


@click.group("show")
def command() -> None:
    """Show a case, a history with its assignments, a prompt, or a run's results."""


@command.command("case")
@click.argument("task")
@click.argument("case")
@click.option("--include-path", multiple=True, metavar="FOLDER")
def show_case(task: str, case: str, include_path: tuple[str, ...]) -> None:
    """Show a case: opening, facts, targets, diagnoses.

    \b
    meddc-bench show case meddc_record rec-001
    """
    found = _case(task, case, include_path)[1]
    say(f"{found.id}（{found.department}，{found.source}，最多 {found.turn_budget} 轮）")
    say(f"开场：{found.context}\n\n事实")
    for fact in found.facts:
        marks = ("否认 " if fact.denied else "") + ("开场已说 " if fact.opening else "")
        say(f"  {fact.id} [{fact.topic}] {marks}{fact.text}")
    say("\n目标")
    for target in found.targets:
        kind = f"[{target.inquiry_type} {target.importance}]"
        say(f"  {target.id} {kind} {target.question} ← {', '.join(target.facts)}")
    say("\n诊断")
    for diagnosis in found.diagnoses:
        say(f"  {diagnosis.name}（{'、'.join(diagnosis.synonyms)}）{diagnosis.code or ''}")
    for name, items in found.references.model_dump().items():
        if items:
            say(f"{name}：{'；'.join(items)}")


@command.command("history")
@click.argument("run_folder", type=click.Path(path_type=Path))
@click.argument("case")
@click.option("--policy", help="Only this policy.")
@click.option("--repeat", type=int, default=0, show_default=True)
@click.option("--notes", is_flag=True, help="Show what is in no view: fact ids, checks, hidden reasoning.")
def show_history(run_folder: Path, case: str, policy: str | None, repeat: int, notes: bool) -> None:
    """Show the consultations of a case in a run, and what was matched.

    \b
    meddc-bench show history runs/meddc-1f0c9a2b rec-001 --policy checklist
    """
    from meddc_bench.errors import UsageError, suggest

    cases: set[str] = set()
    shown = 0
    for line in _lines(run_folder / "histories.jsonl"):
        cases.add(line["case"])
        if line["case"] != case or line["repeat"] != repeat or policy not in (None, line["policy"]):
            continue
        shown += 1
        say(f"── {line['task']} {case} · {line['policy']} · {line['patient']} · repeat {repeat}")
        _print_turns(line["history"], notes=notes)
        for sample in _samples(run_folder, line):
            _print_sample(sample)
    if not shown and case in cases:
        raise UsageError(f"{run_folder} has no whole history of case {case} with that policy and repeat")
    if not shown:
        raise UsageError(f"{run_folder} has no history of case {case!r}; {suggest(case, sorted(cases))}")
    say("✓ 命中　✗ 多余的问题或诊断　○ 遗漏　△ 患者主动说出，不计　！ 违反规程")


@command.command("prompt")
@click.argument("name", type=click.Choice(["doctor", "patient", "reader", *JUDGE_STEPS]))
@click.option("-t", "--tasks", "task", default="meddc_record", show_default=True)
@click.option("--case", help="A case of the task [default: the first].")
@click.option("--include-path", multiple=True, metavar="FOLDER")
def show_prompt(name: str, task: str, case: str | None, include_path: tuple[str, ...]) -> None:
    """Render the prompt of a role or judge step for a case, as a language model would get it.

    The doctor's questions in it are those of the case's first targets.

    \b
    meddc-bench show prompt doctor --tasks meddc_record --case rec-001
    meddc-bench show prompt cover_targets --case rec-001
    """
    from meddc_bench.cli.sample_prompts import messages

    found, one = _case(task, case, include_path)
    for message in messages(name, found, one):
        say(f"【{message.role}】\n{message.content}\n")


@command.command("results")
@click.argument("run_folder", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def show_results(run_folder: Path, as_json: bool) -> None:
    """Show the results of a run again.

    \b
    meddc-bench show results runs/meddc-1f0c9a2b
    """
    from meddc_bench.cli.table import print_results
    from meddc_bench.errors import InputError

    path = run_folder / "results.json"
    if not path.is_file():
        raise InputError("there are no results; is this a run folder?", path=path)
    found = _parsed(path, path.read_bytes())
    if as_json:
        say_json(found)
    else:
        print_results(found)


def _case(task: str, case: str | None, include_path: tuple[str, ...]) -> tuple[Any, Any]:
    from meddc_bench.errors import UsageError, suggest
    from meddc_bench.registry import Registry
    from meddc_bench.run import task_index

    loaded = task_index(include_path, Registry.load()).resolve(task)
    for one in loaded:
        for found in one.cases:
            if case in (None, found.id):
                return one, found
    ids = [found.id for one in loaded for found in one.cases]
    raise UsageError(f"task {task} has no case {case!r}; {suggest(case or '', ids)}")


def _lines(path: Path) -> Any:
    from meddc_bench.errors import InputError

    if not path.is_file():
        unfinished = (path.parent / "manifest.json").is_file()
        hint = f"`meddc-bench retry {path.parent}` writes it" if unfinished else "is this a run folder?"
        raise InputError(f"there is no such file; {hint}", path=path)
    with open(path, "rb") as file:
        for line in file:
            yield _parsed(path, line)


def _parsed(path: Path, text: bytes) -> dict[str, Any]:
    from meddc_bench.errors import InputError

    try:
        found = json.loads(text)
    except ValueError as error:
        hint = f"take it away, and `meddc-bench retry {path.parent}` writes it again"
        raise InputError(f"is damaged: {error}; {hint}", path=path) from error
    if not isinstance(found, dict):
        raise InputError("is not a file of this program", path=path)
    return found


def _samples(folder: Path, line: dict[str, Any]) -> Any:
    from meddc_bench.text import safe_name

    path = folder / f"samples_{safe_name(line['task'], 80)}.jsonl"
    wanted = ("case", "policy", "patient", "repeat")
    return (one for one in (_lines(path) if path.is_file() else ()) if all(one[key] == line[key] for key in wanted))


def _print_turns(history: dict[str, Any], *, notes: bool) -> None:
    names = {"doctor": "医生", "patient": "患者", "reporter": "检查"}
    for turn in history["turns"]:
        say(f"[{turn['round']}] {names[turn['role']]}：{turn['text']}")
        note = history.get("notes", {}).get(str(turn["index"]))
        if notes and note:
            say(f"      {json.dumps(note, ensure_ascii=False)}")
    for breach in history.get("breaches", ()):
        say(f"  ！{breach}")


_LEVELS = {"full": ("✓", "（完全）"), "core": ("✓", "（核心）"), "partial": ("≈", "（部分，不算命中）")}


def _print_sample(sample: dict[str, Any]) -> None:
    say(f"  {sample['condition']} / {sample['judge']}: {sample['outcome']}")
    for axis, found in sample["axes"].items():
        say(f"    {axis}: TP {found['tp']} FP {found['fp']} FN {found['fn']}")
        for prediction, reference, round_, *level in found["matched"]:
            mark, told = _LEVELS[level[0]] if level else ("✓", "")
            say(f"      {mark} {prediction} → {reference}{told}" + (f"（第 {round_} 轮）" if round_ else ""))
        for key, mark in (("unmatched_predictions", "✗"), ("unmatched_references", "○"), ("volunteered", "△")):
            for text in found[key]:
                say(f"      {mark} {text}")
