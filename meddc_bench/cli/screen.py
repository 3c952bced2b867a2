"""What is printed: text of a doctor, patient, judge or plugin is inert on any terminal."""

from __future__ import annotations

import json
import logging
import sys
from typing import Any

import click

from meddc_bench.text import clean


def say(text: str, *, err: bool = False) -> None:
    """Print a line without terminal escapes, bidi overrides or invisible characters."""
    click.echo(clean(text), err=err)


def say_json(value: Any) -> None:
    """Print plain data as one line of JSON."""
    say(json.dumps(value, ensure_ascii=False, allow_nan=False))


def log_to_screen(level: str) -> None:
    """Log what the calls of language models meet on standard error, above the progress bar."""
    from meddc_bench.store import printable

    class Screen(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            from tqdm import tqdm

            tqdm.write(printable(f"{record.levelname.lower()}: {record.getMessage()}"), file=sys.stderr)

    logger = logging.getLogger("meddc_bench")
    logger.handlers[:] = [Screen()]
    logger.setLevel(level.upper())
    logger.propagate = False
