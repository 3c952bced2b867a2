"""`meddc-bench score`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from meddc_bench.cli.options import build_campaign, judge_repeats_option, role_options, run_options
from meddc_bench.cli.run_command import finish, progress_bar


@click.command("score")
@click.argument("run_folder", required=False, type=click.Path(path_type=Path))
@run_options
@role_options("reader", "judge", "patient")
@click.option("--importer", metavar="NAME", help="Importer of histories that others made (see `ls importers`).")
@click.option("--importer-args", multiple=True, metavar="KEY=VALUE", help="Options of the importer.")
@click.option("--histories", multiple=True, type=click.Path(path_type=Path), help="Files of histories; repeatable.")
@click.argument("more", nargs=-1, type=click.Path(path_type=Path))
@judge_repeats_option
def command(run_folder: Path | None, more: tuple[Path, ...], **flags: Any) -> int:
    """Read, judge and score histories that are stored or that others made.

    \b
    meddc-bench score RUN --reader knowledge
    meddc-bench score --importer ai_hospital --importer-args references=REFS --histories FILE...
    """
    if flags["importer"]:
        files = [*flags["histories"], *([run_folder] if run_folder else []), *more]
        return _score_imported(files, flags)
    if run_folder is None or more:
        raise click.UsageError("give one run folder, or --importer NAME --histories FILE...")
    return _score_run(run_folder, flags)


def _score_run(folder: Path, flags: dict[str, Any]) -> int:
    """Score the stored histories of a run again, with the readers and judges given; nothing is rolled out."""
    from meddc_bench import campaign as campaigns
    from meddc_bench import run
    from meddc_bench.errors import UsageError
    from meddc_bench.registry import Registry

    manifest = run.load_manifest(folder)
    stored = {key: value for key, value in manifest["campaign"].items() if value is not None}
    given = build_campaign({**flags, "policy": (), "policy_args": ()}).model_dump(mode="json", exclude_unset=True)
    if not stored.get("policies"):
        raise UsageError(f"{folder} holds imported histories; score it with the command that made it")
    protocol = {**stored.get("protocol", {}), **given.get("protocol", {})}
    campaign = campaigns.build({**stored, **given, "protocol": protocol, "predict_only": False})
    registry = Registry.load()
    benches = run.prepare(campaign, registry)
    target = run.with_records_of(folder, Path(flags["output_path"])) if flags["output_path"] else folder
    with progress_bar() as show:
        finished = run.execute(
            campaign, benches, registry, target, fail_after=flags["fail_on_error"], on_progress=show,
            stored_only=True, command="score",
        )  # fmt: skip
    return finish(finished, as_json=flags["as_json"])


def _score_imported(files: list[Path], flags: dict[str, Any]) -> int:
    from meddc_bench import imports, run
    from meddc_bench.campaign import parse_roles
    from meddc_bench.errors import UsageError
    from meddc_bench.registry import Registry
    from meddc_bench.store import Store
    from meddc_bench.wiring import Adapter

    if not files:
        raise click.UsageError("give the files of histories: --histories FILE...")
    if flags["patient"] or flags["patient_args"]:
        raise click.UsageError("imported histories have no simulated patient: leave --patient out")
    campaign = build_campaign(flags)
    registry = Registry.load()
    role = parse_roles("importer", [flags["importer"]], flags["importer_args"])[0]
    importer = Adapter(registry, "importer", role["name"], role["label"], role["options"])
    index = run.task_index(campaign.include_path, registry)
    tasks = [task for name in campaign.tasks for task in index.resolve(name)]
    if len(tasks) > 1:
        names = ", ".join(task.name for task in tasks)
        raise UsageError(f"imported histories belong to one task; --tasks names {names}")
    folder = (
        Path(campaign.output_path)
        if campaign.output_path
        else imports.default_folder(importer, role["options"], campaign, files)
    )
    with Store(folder) as store:
        bench, found = imports.import_benches(campaign, registry, store, importer, files, tasks[0] if tasks else None)
    _report(found)
    with progress_bar() as show:
        finished = run.execute(
            campaign, [bench], registry, folder, fail_after=flags["fail_on_error"], on_progress=show, command="score",
            imported={"importer": role["name"], "options": role["options"], "files": [str(one.resolve()) for one in files]},
        )  # fmt: skip
    return finish(finished, as_json=flags["as_json"], imported=True)


def _report(found: Any) -> None:
    from meddc_bench.cli.screen import say
    from meddc_bench.imports import fault_lines

    counts = ", ".join(f"{policy} {count}" for policy, count in sorted(found.histories.items()))
    say(f"imported: {counts}; {len(found.cases)} cases with references", err=True)
    for line in fault_lines(found.faults):
        say(f"note: {line}", err=True)
