"""`meddc-bench cache`."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import click


@click.group("cache")
def command() -> None:
    """List or clear the kept replies of language models.

    A run keeps them in its folder. Where MEDDC_CACHE_DIR names a folder, runs share those kept there too.
    """


@command.command("list")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
def list_calls(folder: Path | None) -> None:
    """List the replies kept in a run folder, or in the shared cache, by role and model.

    \b
    meddc-bench cache list runs/meddc-1f0c9a2b
    """
    from rich.table import Table

    from meddc_bench.cli.screen import say
    from meddc_bench.cli.table import console
    from meddc_bench.llm.calls import spent

    path = _journal(folder)
    rows: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for one in spent(path):
        row = rows[one.role, one.model]
        row[0] += 1
        row[1] += one.unusable is None
        row[2] += one.prompt_tokens
        row[3] += one.completion_tokens
    table = Table()
    for name in ("role", "model", "paid replies", "kept usable", "prompt tokens", "completion tokens"):
        table.add_column(name, justify="left" if name in ("role", "model") else "right", no_wrap=True)
    for (role, model), counts in sorted(rows.items()):
        table.add_row(role, model, *[f"{count:,}" for count in counts])
    console().print(table)
    say(f"{path}: {path.stat().st_size:,} bytes")


@command.command("clear")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option("--model", help="Only the replies of this model, as it was named.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def clear(folder: Path | None, model: str | None, yes: bool) -> None:
    """Delete the replies kept in a run folder, or in the shared cache; records stay, and so does what they took.

    \b
    meddc-bench cache clear --model qwen3-32b
    """
    from meddc_bench.cli.screen import say
    from meddc_bench.llm.calls import drop

    path = _journal(folder)
    what = f"the replies of {model}" if model else "all replies"
    if not yes:
        click.confirm(f"delete {what} in {path}?", abort=True)
    say(f"{drop(path, model)} replies deleted")


def _journal(folder: Path | None) -> Path:
    from meddc_bench.errors import InputError, UsageError
    from meddc_bench.llm.calls import NAME
    from meddc_bench.llm.session import shared_cache

    where = folder or shared_cache()
    if where is None:
        raise UsageError("give a run folder, or name the shared cache by MEDDC_CACHE_DIR")
    if not (where / NAME).is_file():
        raise InputError("there are no kept replies", path=where / NAME)
    return where / NAME
