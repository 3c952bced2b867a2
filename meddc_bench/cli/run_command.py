"""`meddc-bench run`."""

from __future__ import annotations

import dataclasses
import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from meddc_bench.cli.options import build_campaign, judge_repeats_option, role_options, run_options


@click.command("run")
@run_options
@role_options("policy", "patient", "reader", "judge")
@judge_repeats_option
@click.option("--dry-run", is_flag=True, help="Say what would be made, with calls, tokens and cost, and make nothing.")
@click.option("-x", "--predict-only", is_flag=True, help="Roll out only; read, judge and score later with `score`.")
def command(**flags: Any) -> int:
    """Roll out policies on tasks, read, judge and score.

    \b
    meddc-bench run --tasks meddc --policy checklist --policy brief
    meddc-bench run -C campaign.yaml --repeats 1
    """
    from meddc_bench import run
    from meddc_bench.registry import Registry

    campaign = build_campaign(flags)
    registry = Registry.load()
    benches = run.prepare(campaign, registry)
    folder = Path(campaign.output_path) if campaign.output_path else run.default_folder(campaign)
    if os.path.exists(folder / run.MANIFEST):  # noqa: PTH110 - Path.exists raises where a name is too long
        note_changes(run.load_manifest(folder), benches)
    if flags["dry_run"]:
        return _dry_run(campaign, benches, folder, as_json=flags["as_json"])
    with progress_bar() as show:
        finished = run.execute(campaign, benches, registry, folder, fail_after=flags["fail_on_error"], on_progress=show)
    return finish(finished, as_json=flags["as_json"])


def _dry_run(campaign: Any, benches: list[Any], folder: Path, *, as_json: bool) -> int:
    from meddc_bench.cli.screen import say_json
    from meddc_bench.cli.table import print_estimate
    from meddc_bench.estimate import estimate
    from meddc_bench.llm.session import read_prices
    from meddc_bench.store import RECORDS, Store

    prices = read_prices(Path(campaign.prices)) if campaign.prices else {}
    store = Store(folder, writable=False) if (folder / RECORDS).is_file() else None
    found = estimate(benches, store, prices, predict_only=campaign.predict_only)
    if as_json:
        say_json({**dataclasses.asdict(found), "cost": found.cost})
    else:
        print_estimate(found)
    return 0


def note_changes(manifest: dict[str, Any], benches: list[Any]) -> None:
    """Say which inputs differ from when the run was made, so that what is redone is no surprise."""
    from meddc_bench.cli.screen import say

    lines = []
    for bench in benches:
        before = manifest.get("tasks", {}).get(bench.task.name)
        if before and before["cases_digest"] != bench.task.cases_digest:
            what = f"cases of {bench.task.name} changed since this run"
            lines.append(f"{what}; records that depend on a change are made again")
        readers = [one.reader for one in bench.conditions if one.reader is not None]
        for adapter in (*bench.policies, *bench.patients, *readers, *bench.judges):
            known = manifest.get("adapters", {}).get(f"{adapter.kind}:{adapter.label}")
            if known is not None and known != adapter.identity:
                lines.append(f"{adapter.kind} {adapter.label} changed since this run; its records are made again")
    for line in dict.fromkeys(lines):
        say(f"note: {line}", err=True)


class progress_bar:
    """A tqdm bar on standard error, fed by the orchestrator; silent where standard error is not a terminal."""

    def __enter__(self) -> Callable[[Any], None]:
        from tqdm import tqdm

        self._bar = tqdm(total=0, unit="history", disable=not sys.stderr.isatty(), dynamic_ncols=True, leave=False)
        return self._show

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def _show(self, progress: Any) -> None:
        self._bar.total = progress.expected
        self._bar.n = progress.done
        shown: dict[str, Any] = dict(progress.failed)
        if progress.retries:
            shown["retries"] = progress.retries
        if progress.cost is not None:
            shown["cost"] = f"{progress.cost:.4g}"
        if shown:
            self._bar.set_postfix(shown, refresh=False)
        self._bar.update(0)


def call_lines(calls: dict[str, Any]) -> list[str]:
    """Say what the language models of a run took, all its sessions together, and which fields they refused."""
    lines = []
    if calls["usage"]:
        total = {key: sum(row[key] for row in calls["usage"]) for key in _SUMMED}
        spent = f"{total['calls']:,} replies ({total['unusable']:,} unusable), {total['prompt_tokens']:,} prompt and "
        spent += f"{total['completion_tokens']:,} completion tokens"
        cost = "" if calls["cost"] is None else f", cost {calls['cost']:,.4g}"
        session = calls["this_session"]
        lines.append(f"calls: {spent}{cost}; now {session['retries']} retries, {session['from_cache']} from the cache")
    lines += [
        f"note: {where} refuses {', '.join(names)}; they were left out"
        for where, names in calls["stepped_down"].items()
    ]
    served = ((name, models) for name, models in calls["served_models"].items() if models != [name])
    lines += [f"note: {name} was served by {', '.join(models)}" for name, models in served]
    return lines


_SUMMED = ("calls", "unusable", "prompt_tokens", "completion_tokens")


def finish(finished: Any, *, as_json: bool, imported: bool = False) -> int:
    """Print the results, what stopped the run if anything did, and the run folder as the last line."""
    from meddc_bench.cli.screen import say, say_json
    from meddc_bench.cli.table import print_results

    progress = finished.progress
    for line in progress.closing:
        say(f"warning: closing {line}", err=True)
    if as_json:
        say_json({"run": str(finished.folder), "exit_code": finished.exit_code, **finished.results})
        return int(finished.exit_code)
    print_results(finished.results)
    for line in call_lines(finished.calls):
        say(line, err=True)
    again = f"`meddc-bench retry {shlex.quote(str(finished.folder))}`"
    if progress.interrupted:
        say(f"interrupted: partial results; go on with {again}", err=True)
    elif progress.stopped:
        say(f"stopped: {progress.stopped}; go on with {again}", err=True)
    elif finished.exit_code == 3 and imported:
        say("below full coverage: see the reasons above", err=True)
    elif finished.exit_code == 3:
        say(
            f"below full coverage: when the cause is mended, {again} makes what failed; a base_url is changed by "
            "giving the run's command again with the same -o",
            err=True,
        )
    click.echo(str(finished.folder))
    return int(finished.exit_code)
