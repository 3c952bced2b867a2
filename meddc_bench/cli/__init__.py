"""The command line: one small file a verb, imported only when it is used."""

from __future__ import annotations

import importlib
import io
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import click

from meddc_bench.errors import MedDDCError

VERBS = {
    "run": "Roll out policies on tasks, read, judge and score.",
    "score": "Read, judge and score histories that are stored or that others made.",
    "retry": "Go on with a run from its folder.",
    "audit": "Ask whether the order of policies survives another reader, judge, patient or view.",
    "compare": "Compare two runs, or two policies, paired by case.",
    "publish": "Make of a finished run a row that others can check.",
    "leaderboard": "Check rows, and build and show leaderboards.",
    "export": "Write a run or a row for Every Eval Ever, Hugging Face, Excel or Parquet.",
    "import": "Make a task of cases and consultations that others have.",
    "ls": "List tasks, policies, patients, readers, judges, metrics or importers.",
    "show": "Show a case, a history, a template or a run's results.",
    "report": "Write the report of a run: tables and figures in one HTML file.",
    "validate": "Check tasks and campaigns.",
    "plugins": "List, make and check plugins, and say what is wrong with any of them.",
    "cache": "List or clear the kept replies of language models.",
    "info": "Print what a bug report needs.",
}


class LazyGroup(click.Group):
    """Imports a verb's module when the verb is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"meddc_bench.cli.{cmd_name}_command")
        command: click.Command = module.command
        _read_environment(command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


def _read_environment(command: click.Command) -> None:
    """Let the environment give a flag: MEDDC_<FLAG>, e.g. MEDDC_MAX_CONNECTIONS."""
    for option in command.params:
        if isinstance(option, click.Option) and option.envvar is None:
            option.envvar = "MEDDC_" + max(option.opts, key=len).lstrip("-").upper().replace("-", "_")


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="meddc-bench")
def root() -> None:
    """Evaluate multi-turn Chinese medical-consultation agents: frozen histories, swappable readers, exact scoring."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; every known error is one clear message and its exit code."""
    if arguments is None:
        _leave_ascii()
    _print_anywhere()
    try:
        with _interruptible():
            code = root.main(args=arguments, standalone_mode=False)
    except (click.exceptions.Abort, KeyboardInterrupt):
        with suppress(OSError):
            click.echo("interrupted", err=True)
        code = 130
    except click.ClickException as error:
        error.show()
        code = 2
    except MedDDCError as error:
        from meddc_bench.store import printable

        for line in (str(error), *getattr(error, "__notes__", ())):
            click.echo(printable(f"error: {line}"), err=True)
        code = error.exit_code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except OSError as error:
        click.echo(f"error: {error}", err=True)
        code = 1
    except Exception as error:
        if os.environ.get("MEDDC_DEBUG"):
            raise
        words = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        click.echo(f"error: unexpected {words}; please report it (MEDDC_DEBUG=1 shows where)", err=True)
        code = 1
    sys.exit(code if isinstance(code, int) else 0)


@contextmanager
def _interruptible() -> Iterator[None]:
    """Take SIGTERM as Ctrl-C, and Ctrl-C even where the shell that started this ignores it, as for a job of a script."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    try:
        before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not the main thread
        yield
        return
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _leave_ascii() -> None:
    """Start again in UTF-8 mode where the locale's encoding cannot name a Chinese file (LC_ALL=C, PYTHONUTF8=0)."""
    try:
        "中文".encode(sys.getfilesystemencoding())
    except UnicodeEncodeError:
        os.execv(sys.executable, [sys.orig_argv[0], "-X", "utf8", *sys.orig_argv[1:]])


def _print_anywhere() -> None:
    """Make printing Chinese safe on any console: what its encoding lacks is written as an escape, never an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


__all__ = ["main"]
