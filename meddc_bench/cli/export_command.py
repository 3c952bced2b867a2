"""`meddc-bench export`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from meddc_bench.cli.screen import say

FORMATS = ("every-eval-ever", "hf", "csv", "parquet")


@click.command("export")
@click.argument("source", type=click.Path(path_type=Path))
@click.option("--format", "form", type=click.Choice(FORMATS), required=True, help="What to write.")
@click.option("-o", "--output-path", type=click.Path(path_type=Path), required=True, help="File to write.")
@click.option("-t", "--tasks", metavar="NAME", help="Of a run, the task (every-eval-ever, hf).")
@click.option("--policy", metavar="LABEL", help="Of a run, the policy (every-eval-ever, hf).")
@click.option("--condition", metavar="LABEL", help="Of a run, the condition (every-eval-ever, hf).")
@click.option("--dataset", metavar="OWNER/NAME", help="The Hub dataset that hosts the benchmark (hf).")
@click.option(
    "--include-text", is_flag=True, help="Of a run, the consultations with case ids and texts (csv, parquet)."
)
def command(
    source: Path, form: str, output_path: Path, tasks: str | None, policy: str | None, condition: str | None,
    dataset: str | None, include_text: bool,
) -> int:  # fmt: skip
    """Write a run or a row for Every Eval Ever, Hugging Face, Excel or Parquet.

    No text of a case and no case id leaves a run unless --include-text is given.

    \b
    meddc-bench export row.json --format every-eval-ever -o row.eee.json
    meddc-bench export runs/mine --format csv -o scores.csv
    """
    from meddc_bench.errors import UsageError
    from meddc_bench.store import save

    tabular = form in ("csv", "parquet")
    if include_text and not (tabular and source.is_dir()):
        raise UsageError("--include-text is for a run as csv or parquet: rows and the other formats hold no texts")
    if tabular:
        _table(source, form, output_path, include_text=include_text)
    else:
        save(output_path, _exchange(_row(source, tasks, policy, condition), form, dataset))
    say(str(output_path))
    return 0


def _table(source: Path, form: str, output_path: Path, *, include_text: bool) -> None:
    from meddc_bench.publish import export
    from meddc_bench.publish.board import load
    from meddc_bench.publish.reported import ReportedTable
    from meddc_bench.stored import open_run

    if not source.is_dir():
        one = load(source)
        lines = export.reported_lines(one) if isinstance(one, ReportedTable) else export.row_lines(one)
        _write(lines, export.SCORES, form, output_path)
        return
    with open_run(source) as run:
        lines = export.text_lines(run) if include_text else export.run_lines(run)
        _write(lines, export.TEXTS if include_text else export.SCORES, form, output_path)


def _write(lines: Any, columns: tuple[str, ...], form: str, output_path: Path) -> None:
    from meddc_bench.publish import export
    from meddc_bench.store import save

    if form == "csv":
        save(output_path, export.as_csv(lines, columns))
    else:
        export.write_parquet(lines, columns, output_path)


def _row(source: Path, tasks: str | None, policy: str | None, condition: str | None) -> Any:
    """Read a row, or publish one of a run."""
    from meddc_bench.errors import UsageError
    from meddc_bench.publish.board import faults, load
    from meddc_bench.publish.checks import Checker, Refused
    from meddc_bench.publish.making import Said
    from meddc_bench.publish.publish import Wanted, publish
    from meddc_bench.publish.reported import ReportedTable
    from meddc_bench.registry import Registry
    from meddc_bench.stored import open_run

    if source.is_dir():
        with open_run(source) as run:
            rows = list(publish(run, Wanted(tasks, policy, condition=condition), Said()))
        if len(rows) != 1:
            raise UsageError(f"the run has {len(rows)} rows; name one, --tasks and --policy")
        return rows[0]
    one = load(source)
    if isinstance(one, ReportedTable):
        raise UsageError(f"{source} holds what a paper printed: csv and parquet alone")
    found = faults(one, Checker(Registry.load()))
    if found:
        raise Refused(source, found)
    return one


def _exchange(row: Any, form: str, dataset: str | None) -> bytes:
    from meddc_bench.publish.exchange import eval_results, every_eval_ever
    from meddc_bench.store import pretty

    return eval_results(row, dataset) if form == "hf" else pretty(every_eval_ever(row))
