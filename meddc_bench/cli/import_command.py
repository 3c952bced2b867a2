"""`meddc-bench import`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from meddc_bench.cli.screen import say, say_json

if TYPE_CHECKING:
    from meddc_bench.importing.made import Made

_MOST = 10


@click.command("import")
@click.argument("format_name", metavar="FORMAT")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o", "--output-path", required=True, type=click.Path(path_type=Path), metavar="FOLDER", help="The task's folder."
)
@click.option("--importer-args", multiple=True, metavar="KEY=VALUE", help="Options of the importer.")
@click.option("--name", metavar="NAME", help="The task's name [default: the folder's].")
@click.option("-L", "--limit", type=click.IntRange(min=1), help="Only the first N cases that can be taken.")
@click.option("--overwrite", is_flag=True, help="Replace the task that is in the folder.")
@click.option("--fail-on-error", type=click.IntRange(min=0), help="Write nothing when more than N parts are defective.")
@click.option("--json", "as_json", is_flag=True, help="Print what was taken and left out as JSON.")
def command(
    format_name: str, files: tuple[Path, ...], output_path: Path, importer_args: tuple[str, ...], name: str | None,
    limit: int | None, overwrite: bool, fail_on_error: int | None, as_json: bool,
) -> int:  # fmt: skip
    """Make a task of data that others have: cases, finished consultations, and a card that says what was left out.

    FORMAT is an importer (`ls importers`); docs/importing.md says what each one reads and excludes.

    \b
    meddc-bench import mediq all_craft_md.jsonl -o tasks_of_mine/craft_md
    meddc-bench import csv clinic.csv -o tasks_of_mine/clinic
    meddc-bench validate tasks_of_mine/craft_md/task.yaml
    """
    from meddc_bench.campaign import parse_roles
    from meddc_bench.errors import UsageError
    from meddc_bench.importing.folder import make_task
    from meddc_bench.importing.made import Wanted
    from meddc_bench.registry import Registry
    from meddc_bench.task import TaskIndex
    from meddc_bench.wiring import Adapter

    registry = Registry.load()
    role = parse_roles("importer", [format_name], importer_args)[0]
    importer = Adapter(registry, "importer", role["name"], role["label"], role["options"])
    wanted = Wanted(output_path, name, limit, overwrite, fail_on_error)
    if (name or output_path.name) in TaskIndex().listings:
        raise UsageError(f"{name or output_path.name} is the name of a shipped task; give another, --name NAME")
    made = make_task(importer, files, wanted)
    if as_json:
        say_json(made.as_json())
    else:
        _report(made)
        say(str(made.folder))
    return 0


def _report(made: Made) -> None:
    """Print what was taken, what was excluded and why, and what a person must decide."""
    derived = f", {made.derived} of them derived" if made.derived else ""
    say(
        f"{made.name} ({made.language}): {made.cases} cases, {made.facts} facts, {made.targets} scored targets{derived}"
    )
    if made.histories:
        counts = ", ".join(f"{policy} {count}" for policy, count in sorted(made.histories.items()))
        say(f"histories: {counts} (histories.jsonl)")
    for reason, count in made.excluded.most_common():
        say(f"excluded: {count}: {reason} (such as {made.examples[reason][0]})")
    for line in made.notes:
        say(f"note: {line}")
    for line in made.defect_lines[:_MOST]:
        say(f"defect: {line}")
    if made.defects > _MOST:
        say(f"defect: and {made.defects - _MOST} more")
    for (level, kind), count in sorted(made.findings.items()):
        say(f"validate will say: {level}: {count}: {kind}")
    for line in made.decide:
        say(f"decide: {line}")
    say(f"licence: {made.about.licence}; private: {'yes' if made.about.private else 'no'}; card: README.md")
    say(f"next: meddc-bench validate {made.folder}/task.yaml")
