"""`meddc-bench publish`."""

from __future__ import annotations

from pathlib import Path

import click

from meddc_bench.cli.screen import say


@click.command("publish")
@click.argument("run_folder", type=click.Path(path_type=Path))
@click.option("-t", "--tasks", metavar="NAME", help="One of the run's tasks [default: all].")
@click.option("--policy", metavar="LABEL", help="One of the run's policies [default: all].")
@click.option("--patient", metavar="LABEL", help="Which patient, where the run has several.")
@click.option("--judge", metavar="LABEL", help="Which judge, where the run has several.")
@click.option(
    "--condition",
    metavar="LABEL",
    help="A reader, `own` or `emitted` [default: the run's reader; `emitted` where the protocol scores it].",
)
@click.option("--name", "title", default="", metavar="TEXT", help="What the policy is to be called on a board.")
@click.option("--by", default="", metavar="TEXT", help="Who publishes.")
@click.option("--url", metavar="URL", help="Where the policy is described.")
@click.option("--standard", is_flag=True, help="Refuse a row that no standard instrument measured.")
@click.option("--recheck", is_flag=True, help="Make readings and evidence again and compare (deterministic adapters).")
@click.option(
    "-o", "--output-path", type=click.Path(path_type=Path),
    help="File of one row (.json), or folder of several [default: rows/ in the run].",
)  # fmt: skip
def command(
    run_folder: Path, tasks: str | None, policy: str | None, patient: str | None, judge: str | None,
    condition: str | None, title: str, by: str, url: str | None, standard: bool, recheck: bool,
    output_path: Path | None,
) -> int:  # fmt: skip
    """Make of a finished run a row that others can check.

    Every number is computed again from the stored evidence. A row holds no case text and no case id. A run that is
    partial, was edited, or does not hold together is refused, with the reasons.

    \b
    meddc-bench publish runs/mine --policy checklist -o checklist.json
    """
    from meddc_bench.publish.files import written
    from meddc_bench.publish.making import Said
    from meddc_bench.publish.publish import NotPublishable, Wanted, check_targets, publish, said
    from meddc_bench.store import save
    from meddc_bench.stored import open_run

    named: Said = said(title, by, url)
    with open_run(run_folder) as run:
        if standard:
            check_targets(bench.task for bench in run.benches if tasks in (None, bench.task.name))
        rows = list(publish(run, Wanted(tasks, policy, patient, judge, condition), named, again=recheck))
    if standard:
        for row in rows:
            if not row.instrument.standard:
                what = ", ".join(row.instrument.differs) or "the task has no standard instruments"
                raise NotPublishable(f"{row.policy.label} on {row.task.name}", [f"not standard: differs in {what}"])
    for path, row in zip(_paths(rows, output_path or run_folder / "rows"), rows, strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        save(path, written(row))
        kind = f"{row.instrument.name}（标准仪器）" if row.instrument.standard else "custom（非标准）"
        say(f"{row.task.name}: {row.policy.label} / {row.instrument.condition}, {kind}", err=True)
        say(str(path))
    return 0


def _paths(rows: list, where: Path) -> list[Path]:  # type: ignore[type-arg]
    from meddc_bench.errors import UsageError
    from meddc_bench.publish.publish import file_name

    if where.suffix == ".json":
        if len(rows) != 1:
            raise UsageError(
                f"{where} is one file and there are {len(rows)} rows; name one, --tasks and --policy, or give a folder"
            )
        return [where]
    return [where / row.task.name / file_name(row) for row in rows]
