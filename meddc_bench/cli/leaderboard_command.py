"""`meddc-bench leaderboard`."""

from __future__ import annotations

from pathlib import Path

import click

from meddc_bench.cli.screen import say


@click.group("leaderboard")
def command() -> None:
    """Check rows, and build and show leaderboards."""


@command.command("validate")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--include-path", multiple=True, metavar="FOLDER", help="More folders to look for tasks in.")
@click.option("--standard", is_flag=True, help="Refuse a row that no standard instrument measured.")
def validate(files: tuple[Path, ...], include_path: tuple[str, ...], standard: bool) -> int:
    """Compute every number of rows again from their counts, and check what they say of themselves.

    Exit code 0 when all hold, 2 when one is no row, 3 when one is refused.
    """
    from meddc_bench.errors import InputError
    from meddc_bench.publish.board import faults, load
    from meddc_bench.publish.checks import Checker
    from meddc_bench.publish.reported import ReportedTable
    from meddc_bench.registry import Registry

    checker, code = Checker(Registry.load(), include_path), 0
    for path in files:
        try:
            one = load(path)
        except InputError as error:
            say(f"refused: {error}")
            code = 2
            continue
        found = faults(one, checker)
        if standard and not found and (isinstance(one, ReportedTable) or not one.instrument.standard):
            found = ["not measured by a standard instrument"]
        for reason in found:
            say(f"refused: {path}: {reason}")
        if found:
            code = code or 3
        elif isinstance(one, ReportedTable):
            say(f"{path}: {len(one.rows)} rows as a paper printed them; nothing to compute them from")
        else:
            kind = f"{one.instrument.name}, standard" if one.instrument.standard else "custom"
            say(f"{path}: every number follows from its counts ({one.task.name}, {kind})")
    return code


@command.command("build")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option("--include-path", multiple=True, metavar="FOLDER", help="More folders to look for tasks in.")
def build_boards(folder: Path | None, include_path: tuple[str, ...]) -> int:
    """Check FOLDER/rows/<task>/*.json and write FOLDER/<task>.json and FOLDER/schema.json [default: leaderboards].

    A row that is refused is left out, and the exit code is 3.
    """
    from meddc_bench.publish.board import build, schema
    from meddc_bench.publish.files import laid_out, written
    from meddc_bench.registry import Registry
    from meddc_bench.store import save

    folder = folder or Path("leaderboards")
    built = build(folder, Registry.load(), include_path)
    for refused in built.refused:
        say(f"refused: {refused}", err=True)
    for name, board in built.boards.items():
        save(folder / f"{name}.json", written(board))
        say(
            f"{folder / name}.json: {len(board.rows)} rows, {len(board.rankings)} rankings, {len(board.reported)} reported"
        )
    for stale in folder.glob("*.json"):
        if stale.stem not in built.boards and (folder / "rows" / stale.stem).is_dir():
            stale.unlink()
            say(f"{stale}: deleted, no row of it holds", err=True)
    save(folder / "schema.json", laid_out(schema()))
    return 3 if built.refused else 0


@command.command("show")
@click.argument("task")
@click.option("--metric", help="Rank by this metric [default: Total; Acc50 of a workup].")
@click.option("--folder", type=click.Path(path_type=Path), help="Folder of boards [default: the shipped ones].")
@click.option("--json", "as_json", is_flag=True, help="Print the board as JSON.")
def show(task: str, metric: str | None, folder: Path | None, as_json: bool) -> int:
    """Print the board of a task: ranks within equal instruments, and what papers reported."""
    from meddc_bench.cli.board_table import print_board
    from meddc_bench.cli.screen import say_json
    from meddc_bench.publish.board import load_board
    from meddc_bench.resources import shipped

    board = load_board(folder or shipped("leaderboards"), task)
    if as_json:
        say_json(board.model_dump(mode="json"))
    else:
        print_board(board, metric)
    return 0


@command.command("lock")
@click.argument("tasks", nargs=-1, required=True)
@click.option("--include-path", multiple=True, metavar="FOLDER", help="More folders to look for tasks in.")
def lock(tasks: tuple[str, ...], include_path: tuple[str, ...]) -> int:
    """Write a task's instruments.lock.json: the fingerprints of its named instruments."""
    from meddc_bench.publish.files import written
    from meddc_bench.publish.instruments import lock_file, locked
    from meddc_bench.publish.publish import check_targets
    from meddc_bench.registry import Registry
    from meddc_bench.run import task_index
    from meddc_bench.store import save

    registry = Registry.load()
    index = task_index(include_path, registry)
    for name in tasks:
        for task in index.resolve(name):
            check_targets([task])
            save(lock_file(task), written(locked(task, registry)))
            say(str(lock_file(task)))
    return 0
