"""What is printed: text of a doctor, patient, judge or plugin is inert on any terminal."""

from __future__ import annotations

import json
from typing import Any

import click

from meddc_bench.text import clean


def say(text: str, *, err: bool = False) -> None:
    """Print a line without terminal escapes, bidi overrides or invisible characters."""
    click.echo(clean(text), err=err)


def say_json(value: Any) -> None:
    """Print plain data as one line of JSON."""
    say(json.dumps(value, ensure_ascii=False, allow_nan=False))
