"""`meddc-bench retry`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from meddc_bench.cli.run_command import finish, progress_bar


@click.command("retry")
@click.argument("run_folder", type=click.Path(path_type=Path))
@click.option("--max-connections", type=click.IntRange(min=1), help="Consultations in progress at once.")
@click.option("--max-retries", type=click.IntRange(min=0), help="Retries of infrastructure failures.")
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
    if manifest.get("command") == "score" and not manifest["campaign"].get("policies"):
        raise UsageError(f"{run_folder} holds imported histories; go on with the `score` command that made it")
    stored = {key: value for key, value in manifest["campaign"].items() if value is not None}
    campaign = campaigns.build({**stored, **{key: value for key, value in changes.items() if value is not None}})
    registry = Registry.load()
    benches = run.prepare(campaign, registry)
    for line in changed_inputs(manifest, benches):
        click.echo(f"note: {line}", err=True)
    with progress_bar() as show:
        finished = run.execute(
            campaign, benches, registry, run_folder, fail_after=fail_on_error, on_progress=show,
            stored_only=manifest.get("command") == "score", command=manifest.get("command", "run"),
        )  # fmt: skip
    return finish(finished, as_json=as_json)


def changed_inputs(manifest: dict[str, Any], benches: list[Any]) -> list[str]:
    """Say which inputs differ from when the run was made, so that what is redone is no surprise."""
    lines = []
    for bench in benches:
        before = manifest.get("tasks", {}).get(bench.task.name)
        if before and before["cases_digest"] != bench.task.cases_digest:
            lines.append(f"cases of {bench.task.name} changed since this run; records that depend on a change are made again")
        for adapter in (*bench.policies, *bench.patients, *bench.judges):
            known = manifest.get("adapters", {}).get(f"{adapter.kind}:{adapter.label}")
            if known is not None and known != adapter.identity:
                lines.append(f"{adapter.kind} {adapter.label} changed since this run; its records are made again")
    return list(dict.fromkeys(lines))
