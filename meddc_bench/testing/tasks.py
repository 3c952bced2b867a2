"""Properties of a plugin's tasks: they load, pass `validate`, and have a card."""

from __future__ import annotations

from pathlib import Path

from meddc_bench import validation
from meddc_bench.campaign import Campaign
from meddc_bench.errors import MedDDCError
from meddc_bench.plan import build_benches
from meddc_bench.registry import task_folder
from meddc_bench.task import Task, TaskIndex, load_task
from meddc_bench.testing.properties import Breach, NotTried, Property
from meddc_bench.testing.subject import Subject


def _folder(subject: Subject) -> Path:
    try:
        return task_folder(subject.registration)
    except MedDDCError as error:
        raise Breach(str(error)) from error


def _tasks(subject: Subject) -> list[Task]:
    folder = _folder(subject)
    files = sorted([*folder.glob("task.yaml"), *folder.glob("*/task.yaml")])
    if not files:
        raise Breach(f"{folder} holds no task.yaml, nor does a folder in it")
    try:
        return [load_task(file) for file in files]
    except MedDDCError as error:
        raise Breach(str(error)) from error


def loads(subject: Subject) -> None:
    """Load every task of the folder, and see that no other task has its name."""
    found = _tasks(subject)
    others = TaskIndex().listings
    for task in found:
        other = others.get(task.name)
        if other is not None and other.path.resolve() != task.path.resolve():
            raise Breach(f"the name {task.name!r} is taken by {other.path}")


def lint(subject: Subject) -> None:
    """Check the cases as `validate` does; warnings pass."""
    errors = [one for task in _tasks(subject) for one in validation.lint(task) if one.level == "error"]
    if errors:
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        raise Breach(f"{errors[0].where}: {errors[0].message}{more}")


def self_check(subject: Subject) -> None:
    """Run the task's first instrument on doctors whose scores are known."""
    tasks = [task for task in _tasks(subject) if task.config.instruments]
    if not tasks:
        raise NotTried("the task names no instrument")
    for task in tasks:
        campaign = Campaign(tasks=(task.name,), instrument=next(iter(task.config.instruments)))
        (bench,) = build_benches(campaign, subject.registry, [task], imported=True)
        for fault in validation.judged_faults(validation.self_check(bench, subject.registry)):
            raise Breach(f"{task.name}: {fault}")


def card(subject: Subject) -> None:
    """Look for the card of each task, and for the licence and provenance of each case."""
    for task in _tasks(subject):
        card = task.path.parent / "README.md"
        if not card.is_file() or not card.read_text(encoding="utf-8").strip():
            raise Breach(f"{card} is missing or empty")
        if not task.config.licence:
            raise Breach(f"{task.path}: licence is missing")
        bare = [case.id for case in task.cases if not (case.licence and case.provenance)]
        if bare:
            raise Breach(f"case {bare[0]} has no licence or no provenance")


def properties() -> tuple[Property, ...]:
    """Return the properties of a task."""
    return (
        Property(
            "loads",
            "the folder that was registered holds tasks, each loads, and its name is its own",
            'register("name", "package:folder") with a folder inside the package, and ship it in the wheel',
            loads,
        ),
        Property(
            "lint",
            "no text names its diagnosis, no case is in it twice, every fact and target fits",
            "run `meddc-bench validate FOLDER/task.yaml`, which lists all findings; docs/cases.md says how cases are written",
            lint,
            ("loads",),
        ),
        Property(
            "self_check",
            "with the task's instrument a doctor who asks everything scores T = 1, the references score D = 1, a silent "
            "doctor scores T = 0",
            "see docs/cases.md: a target must be asked in words that the judge finds, and stand on facts that answer it",
            self_check,
            ("lint",),
        ),
        Property(
            "card",
            "every task has a README.md and a licence, every case its provenance and licence",
            "write them: who made the cases, how, and what may be done with them",
            card,
            ("loads",),
        ),
    )
