"""`meddc-bench retry`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from meddc_bench.cli.options import log_level_option
from meddc_bench.cli.run_command import finish, note_changes, progress_bar


@click.command("retry")
@click.argument("run_folder", type=click.Path(path_type=Path))
@click.option("--max-connections", type=click.IntRange(min=1), help="Connections to an endpoint at once.")
@click.option("--max-retries", type=click.IntRange(min=0), help="Retries of infrastructure failures.")
@click.option("--cost-limit", type=click.FloatRange(min=0, min_open=True), help="Stop when the calls cost more.")
@log_level_option
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), help="Seconds an adapter's call may take.")
@click.option("--fail-on-error", type=click.IntRange(min=0), help="Stop when more than N records have failed.")
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
def command(run_folder: Path, fail_on_error: int | None, as_json: bool, **changes: Any) -> int:
    """Go on with a run: what is missing or failed is made, what is finished is kept.

    \b
    meddc-bench retry runs/meddc-1f0c9a2b
    """
    from meddc_bench import campaign as campaigns
    from meddc_bench import run
    from meddc_bench.errors import UsageError
    from meddc_bench.registry import Registry

    manifest = run.load_manifest(run_folder)
    if not manifest["campaign"].get("policies"):
        raise UsageError(f"{run_folder} holds imported histories; go on with the `score` command that made it")
    stored = {key: value for key, value in manifest["campaign"].items() if value is not None}
    campaign = campaigns.build({**stored, **{key: value for key, value in changes.items() if value is not None}})
    registry = Registry.load()
    benches = run.prepare(campaign, registry)
    note_changes(manifest, benches)
    with progress_bar() as show:
        finished = run.execute(campaign, benches, registry, run_folder, fail_after=fail_on_error, on_progress=show)
    return finish(finished, as_json=as_json)
