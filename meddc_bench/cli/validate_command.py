"""`meddc-bench validate`."""

from __future__ import annotations

from pathlib import Path

import click

from meddc_bench.cli.screen import say


@click.command("validate")
@click.argument("names", nargs=-1, metavar="[TASK|PATH|CAMPAIGN]...")
@click.option("--include-path", multiple=True, metavar="FOLDER", help="More folders to look for tasks in.")
@click.option("--no-self-check", is_flag=True, help="Check files only; do not run the task's instrument.")
def command(names: tuple[str, ...], include_path: tuple[str, ...], no_self_check: bool) -> int:
    """Check tasks (default: all shipped ones) and campaign files: schema, leaks, near-duplicates, self-check.

    \b
    meddc-bench validate meddc
    meddc-bench validate my_task/task.yaml campaign.yaml
    """
    from meddc_bench.errors import InputError
    from meddc_bench.registry import Registry
    from meddc_bench.task import TaskIndex

    index = TaskIndex(map(Path, include_path), Registry.load().task_folders())
    problems = 0
    for error in index.broken:
        say(f"error: {error}")
        problems += 1
    wanted = names or tuple(name for name, one in index.listings.items() if one.kind == "task")
    for name in wanted:
        try:
            checked = _campaign(Path(name)) if _is_campaign(name) else None
            problems += _tasks(index, name, self_check=not no_self_check) if checked is None else checked
        except InputError as error:
            for line in (str(error), *getattr(error, "__notes__", ())):
                say(f"error: {line}")
                problems += 1
    say("everything is in order" if not problems else f"{problems} errors")
    return 2 if problems else 0


def _is_campaign(name: str) -> bool:
    from meddc_bench import yamlfile

    path = Path(name)
    if path.suffix not in (".yaml", ".yml") or not path.is_file():
        return False
    data = yamlfile.load(path).data
    return isinstance(data, dict) and not ({"task", "group"} & set(data))


def _campaign(path: Path) -> int:
    from meddc_bench import campaign as campaigns
    from meddc_bench import run
    from meddc_bench.registry import Registry

    campaign = campaigns.build(campaigns.load(path))
    run.prepare(campaign, Registry.load())
    say(f"{path}: campaign in order")
    return 0


def _tasks(index: object, name: str, *, self_check: bool) -> int:
    from meddc_bench import validation
    from meddc_bench.campaign import Campaign
    from meddc_bench.plan import build_benches
    from meddc_bench.registry import Registry

    registry = Registry.load()
    problems = 0
    for task in index.resolve(name):  # type: ignore[attr-defined]
        targets = sorted(len(case.scored_targets) for case in task.cases)
        say(
            f"{task.name}: {len(task.cases)} cases, {len({case.department for case in task.cases})} departments, "
            f"{targets[0]}-{targets[-1]} scored targets (median {targets[len(targets) // 2]})"
        )
        for finding in validation.lint(task):
            say(f"{finding.level}: {finding.where}: {finding.message}")
            problems += finding.level == "error"
        if self_check and task.config.instruments:
            campaign = Campaign(tasks=(task.name,), instrument=next(iter(task.config.instruments)))
            (bench,) = build_benches(campaign, registry, [task], imported=True)
            check = validation.self_check(bench, registry)
            for key, value in vars(check).items():
                say(f"  self-check {key} = {_shown(value)}")
            for fault in validation.judged_faults(check):
                say(f"error: {task.name}: {fault}")
                problems += 1
    return problems


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return "-".join(f"{one:.3f}" for one in value)
    return "null" if value is None else f"{value:.3f}"
