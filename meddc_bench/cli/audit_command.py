"""`meddc-bench audit`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import click

from meddc_bench.cli.options import build_campaign, log_level_option, role_options

_OVER = ("reader", "judge", "patient", "view")
_VIEWS = ("cut", "mask", "full")


def statistics_options(function: Any) -> Any:
    """Add the options of the bootstrap that audits and comparisons share."""
    options = [
        click.option("--draws", type=click.IntRange(min=1), default=10_000, show_default=True, help="Draws of cases."),
        click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the draws."),
        click.option(
            "--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95, show_default=True,
            help="Level of the intervals.",
        ),
        click.option("--json", "as_json", is_flag=True, help="Print as JSON."),
        click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="Write the JSON there too."),
    ]  # fmt: skip
    for option in reversed(options):
        function = option(function)
    return function


@click.command("audit")
@click.argument("run_folders", metavar="RUN...", nargs=-1, type=click.Path(path_type=Path))
@click.option("-t", "--tasks", multiple=True, metavar="NAME", help="Only these tasks; repeatable.")
@click.option(
    "--metric",
    multiple=True,
    metavar="NAME",
    help="Metric; repeatable [default: D and Total, Acc, Strict and @50; T and E too, not over readers].",
)
@click.option("--over", type=click.Choice(_OVER), help="What differs between the scores [default: reader].")
@click.option("--base", metavar="LABEL", help="What the others are compared with [default: emitted, or the first].")
@click.option("--views", metavar="VIEW,VIEW", help="Views of early diagnoses; reads the histories under each.")
@click.option("--without", multiple=True, metavar="POLICY", help="Leave a policy out; repeatable.")
@click.option("--gate", multiple=True, metavar="EXPR", help="Exit 4 unless it holds, e.g. 'reversals<=0'; repeatable.")
@click.option(
    "--table", metavar="FILE", type=click.Path(path_type=Path), help="Audit published scores instead of a run."
)
@role_options("reader", "judge")
@click.option("--max-connections", type=click.IntRange(min=1), help="Histories read at once [default: the run's].")
@click.option("--max-retries", type=click.IntRange(min=0), help="Retries of infrastructure failures.")
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), help="Seconds an adapter's call may take.")
@click.option("--prices", metavar="FILE", help="Price table, as for `run`.")
@click.option("--cost-limit", type=click.FloatRange(min=0, min_open=True), help="Stop when the calls cost more.")
@click.option("--fail-on-error", type=click.IntRange(min=0), help="Stop when more than N records have failed.")
@log_level_option
@statistics_options
def command(run_folders: tuple[Path, ...], table: Path | None, **flags: Any) -> int:
    """Ask whether the order of the policies survives another reader, judge, patient or view, on the same histories.

    Nothing is rolled out. Readings and judgements of a --reader, --judge or --views that the run lacks are made first.

    \b
    meddc-bench audit runs/demo --gate supported
    meddc-bench audit runs/demo --reader knowledge --base emitted --metric D
    meddc-bench audit --table published.yaml
    """
    from meddc_bench.audits import parse_gate

    gates = [parse_gate(text) for text in flags["gate"]]
    question = _question(flags)
    if table is not None:
        if run_folders or flags["reader"] or flags["judge"] or flags["views"]:
            raise click.UsageError("--table FILE stands alone: it holds scores, and nothing is read")
        return _finish(_audit_table(table, question, flags), gates, flags, [])
    if not run_folders:
        raise click.UsageError("give a run folder, or --table FILE")
    asked = _changes(flags, question, run_folders)
    for folder, changes in asked:
        stopped = _make(folder, changes, question, flags) if changes else None
        if stopped is not None:
            return stopped
    from meddc_bench.audits import audit_runs

    with _opened(asked) as runs:
        report = audit_runs(runs, question)
    return _finish(report, gates, flags, [str(folder) for folder in run_folders])


def _question(flags: Mapping[str, Any]) -> Any:
    from meddc_bench.audits import Over, Question
    from meddc_bench.errors import UsageError

    over: Over = flags["over"] or ("view" if flags["views"] else "reader")
    if flags["views"] and over != "view":
        raise UsageError(f"--views audits over views, not over {over}s; give one of the two")
    labels = None
    if over == "reader" and flags["reader"]:  # judges that are named are all that the run is opened with
        labels = frozenset({*_labels("reader", flags), flags["base"] or "emitted"})
    readers = frozenset(_labels("reader", flags)) if over != "reader" and flags["reader"] else None
    return Question(
        over=over, base=flags["base"], tasks=names(flags["tasks"]), metrics=names(flags["metric"]), labels=labels,
        readers=readers, without=frozenset(flags["without"]), draws=flags["draws"], seed=flags["seed"],
        level=flags["level"],
    )  # fmt: skip


def names(given: Sequence[str]) -> tuple[str, ...] | None:
    """Split names at commas; None where none is given."""
    return tuple(part.strip() for one in given for part in one.split(",") if part.strip()) or None


def _labels(kind: str, flags: Mapping[str, Any]) -> list[str]:
    from meddc_bench.campaign import parse_roles

    return [role["label"] for role in parse_roles(kind, flags[kind], flags[f"{kind}_args"])]


_Asked = list[tuple[Path, dict[str, Any]]]


def _changes(flags: Mapping[str, Any], question: Any, folders: Sequence[Path]) -> _Asked:
    """Say for each run in which way its campaign is changed for the audit; for views it is opened once a view."""
    from meddc_bench.errors import UsageError
    from meddc_bench.run import load_manifest

    views = _views(flags) if question.over == "view" else (None,)
    named = bool(flags["reader"] or flags["judge"] or views != (None,))
    if not named and (flags["reader_args"] or flags["judge_args"]):
        raise UsageError("--reader-args and --judge-args need --reader and --judge")
    out: _Asked = []
    for folder in folders:
        manifest = load_manifest(folder)
        how = {**flags, "tasks": (), "seed": None, "config": None}
        given = build_campaign(how).model_dump(mode="json", exclude_unset=True) if named else {}
        for kind, plural in (("reader", "readers"), ("judge", "judges")):
            if flags[kind] and question.over == kind:
                given[plural] = _with_base(folder, kind, given[plural], question.base)
        for view in views:
            protocol = {**manifest["campaign"].get("protocol", {}), "view": view}
            out.append((folder, {**given, "protocol": protocol, "predict_only": False} if view else given))
    return out


def _views(flags: Mapping[str, Any]) -> tuple[str, ...]:
    from meddc_bench.errors import UsageError, suggest

    views = tuple(one.strip() for one in (flags["views"] or ",".join(_VIEWS)).split(",") if one.strip())
    for one in views:
        if one not in _VIEWS:
            raise UsageError(f"--views: {one!r} is no view; {suggest(one, _VIEWS)}")
    if len(set(views)) < 2:
        raise UsageError("--views: give at least two of cut,mask,full")
    return tuple(dict.fromkeys(views))


def _with_base(folder: Path, kind: str, given: list[dict[str, Any]], base: str | None) -> list[dict[str, Any]]:
    """Add the base, where it is one of the run's own; a label that the run has for something else is refused."""
    from meddc_bench.errors import UsageError
    from meddc_bench.stored import open_run

    with open_run(folder) as run:
        own = {}
        for bench in run.benches:
            readers = [one.reader for one in bench.conditions if one.reader is not None]
            for adapter in readers if kind == "reader" else bench.judges:
                options = adapter.identity["options"]
                own[adapter.label] = {"name": adapter.name, "label": adapter.label, "options": options}
            if kind == "reader" and any(one.label == "own" for one in bench.conditions):
                own["own"] = {"name": "own", "label": "own", "options": {}}
        roles = {
            one.label: one.model_dump() for one in (run.campaign.readers if kind == "reader" else run.campaign.judges)
        }
        own.update({label: role for label, role in roles.items() if label in own})
    if kind == "judge" and base is None and own:
        base = next(iter(own))
    for role in given:
        known = own.get(role["label"])
        if known is not None and known["name"] != role["name"]:
            raise UsageError(f"{folder} has another {kind} labelled {role['label']!r}; give this one another label")
    labels = [role["label"] for role in given]
    kept = [own[role["label"]] if role["label"] in own and not role.get("options") else role for role in given]
    return [own[base], *kept] if base in own and base not in labels else kept


def _make(folder: Path, changes: Mapping[str, Any], question: Any, flags: Mapping[str, Any]) -> int | None:
    """Make what is missing; return an exit code where the audit cannot go on."""
    from meddc_bench.audits import anything_missing, check_names, read_again
    from meddc_bench.cli.run_command import progress_bar
    from meddc_bench.cli.screen import say
    from meddc_bench.stored import open_run

    with open_run(folder, changes) as run:
        check_names(run, question)
        if not anything_missing(run):
            return None
    with open_run(folder, changes, writable=True) as run, progress_bar() as show:
        progress = read_again(run, fail_after=flags["fail_on_error"], on_progress=show)
    for line in progress.closing:
        say(f"warning: closing {line}", err=True)
    if progress.interrupted:
        say("interrupted; the same command goes on", err=True)
        return 130
    if progress.stopped:
        say(f"stopped: {progress.stopped}; the same command goes on", err=True)
        return 3
    made = ", ".join(f"{count} {stage}" for stage, count in sorted(progress.made.items()))
    say(f"made: {made or 'nothing'}", err=True)
    return None


@contextmanager
def _opened(asked: _Asked) -> Iterator[list[Any]]:
    from meddc_bench.stored import open_run

    with ExitStack() as stack:
        yield [stack.enter_context(open_run(folder, changes)) for folder, changes in asked]


def _audit_table(table: Path, question: Any, flags: Mapping[str, Any]) -> Any:
    from meddc_bench.audits import audit_published, read_published
    from meddc_bench.errors import UsageError

    if question.over != "reader" or question.metrics:
        raise UsageError("--table holds one metric under several readers: leave --over and --metric out")
    return audit_published(read_published(table), question)


def _finish(report: Any, gates: Sequence[Any], flags: Mapping[str, Any], runs: Sequence[str]) -> int:
    from meddc_bench.audits import check
    from meddc_bench.cli.audit_table import plain, print_audit

    checked = check(gates, report)
    code = _exit_code(report, checked)
    found = {"format": 1, "runs": list(runs), **plain(report), "gates": plain(checked), "exit_code": code}
    return show(found, flags, lambda: print_audit(report, checked), code)


def show(found: dict[str, Any], flags: Mapping[str, Any], print_it: Callable[[], None], code: int) -> int:
    """Print as JSON or as tables, and write the JSON where it is wanted."""
    from meddc_bench.cli.screen import say_json
    from meddc_bench.store import pretty, save

    if flags["output"] is not None:
        save(flags["output"], pretty(found))
    if flags["as_json"]:
        say_json(found)
    else:
        print_it()
    return code


def _exit_code(report: Any, checked: Sequence[Any]) -> int:
    """Return 1 where readings are not of the histories, 4 where a gate did not hold, 3 below full coverage, else 0."""
    if report.mismatched:
        return 1
    if not all(one.holds for one in checked):
        return 4
    return 3 if any(one.failed for one in report.audits) else 0
