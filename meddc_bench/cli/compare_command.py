"""`meddc-bench compare`."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from meddc_bench.cli.audit_command import names, show, statistics_options


@click.command("compare")
@click.argument("first", metavar="RUN", type=click.Path(path_type=Path))
@click.argument("second", metavar="[OTHER_RUN]", required=False, type=click.Path(path_type=Path))
@click.option("-t", "--tasks", multiple=True, metavar="NAME", help="Only these tasks; repeatable.")
@click.option(
    "--metric", multiple=True, metavar="NAME", help="Metric; repeatable [default: D, T, E, Total; Acc, Strict and @50]."
)
@click.option(
    "--policy",
    "policy",
    multiple=True,
    metavar="A=B",
    help="Compare A of the first run with B of the second; repeatable.",
)
@click.option("--policies", nargs=2, multiple=True, metavar="A B", help="Compare two policies of one run; repeatable.")
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0),
    default=1.0,
    show_default=True,
    help="Points up to which a case is a tie.",
)
@statistics_options
def command(first: Path, second: Path | None, **flags: Any) -> int:
    """Compare the policies of two runs, of one, or two published rows, paired by case.

    What was not measured alike is refused, with the list of what differs.

    \b
    meddc-bench compare runs/demo
    meddc-bench compare runs/demo --policies checklist brief --metric Total
    meddc-bench compare checklist.json brief.json
    meddc-bench compare runs/old runs/new --policy checklist=checklist2
    """
    from meddc_bench.comparison import compare_sides, pair_up, side_of, side_of_row
    from meddc_bench.errors import UsageError
    from meddc_bench.stored import open_run

    if second is not None and flags["policies"]:
        raise UsageError("--policies names two policies of one run; for two runs give --policy A=B")
    if second is None and flags["policy"]:
        raise UsageError("--policy A=B is for two runs; for two policies of one run give --policies A B")
    with ExitStack() as stack:
        sides = []
        given_paths = [first] if second is None else [first, second]
        rows = [path.suffix == ".json" for path in given_paths]
        if any(rows) and (second is None or not all(rows) or flags["tasks"]):
            raise UsageError("a published row is compared with another row: give two .json files, and no --tasks")
        for name, folder in zip("AB", given_paths, strict=False):
            if folder.suffix == ".json":
                sides.append(side_of_row(folder, name, metrics=names(flags["metric"])))
            else:
                run = stack.enter_context(open_run(folder))
                sides.append(side_of(run, name, tasks=names(flags["tasks"]), metrics=names(flags["metric"])))
        given = list(flags["policies"]) or [_pair(text) for text in flags["policy"]]
        pairs = pair_up(sides[0], sides[-1], given)
        found = compare_sides(
            sides[0], sides[-1], pairs, draws=flags["draws"], seed=flags["seed"], level=flags["level"],
            tolerance=flags["tolerance"] / 100,
        )  # fmt: skip
    return _finish(found, [first, *([second] if second else [])], flags)


def _pair(text: str) -> tuple[str, str]:
    from meddc_bench.errors import UsageError

    one, equals, other = text.partition("=")
    if not equals or not one or not other:
        raise UsageError(f"--policy {text!r}: expected A=B, a policy of the first run and one of the second")
    return one, other


def _finish(found: Any, folders: list[Path], flags: Mapping[str, Any]) -> int:
    from meddc_bench.cli.audit_table import plain, print_comparison

    code = 3 if any(one.failed for one in found.metrics) else 0
    runs = [str(folder) for folder in folders]
    data = {"format": 1, "runs": runs, **plain(found), "exit_code": code}
    return show(data, flags, lambda: print_comparison(found, runs), code)
