"""What an adapter does beside answering: the files it opens, the connections it makes, what it prints and logs."""

from __future__ import annotations

import contextlib
import functools
import io
import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_watching: list[list[tuple[str, str]]] = []
"""The lists that events are written to now; an audit hook cannot be taken away again."""

_CONNECTING = ("socket.connect", "socket.getaddrinfo")
_STARTING = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn")


@functools.cache
def _install() -> None:
    sys.addaudithook(_hear)


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if not _watching:
        return
    if event == "open" and isinstance(arguments[0], str | bytes | os.PathLike):
        _note("open", os.fsdecode(arguments[0]))
    elif event in _CONNECTING:
        _note("connect", event)
    elif event in _STARTING:
        _note("start", event)


def _note(what: str, where: str) -> None:
    for heard in _watching:
        heard.append((what, where))


@contextlib.contextmanager
def watched() -> Iterator[list[tuple[str, str]]]:
    """Collect what is opened (`open`, path), connected to (`connect`) and started (`start`) meanwhile."""
    _install()
    heard: list[tuple[str, str]] = []
    _watching.append(heard)
    try:
        yield heard
    finally:
        _watching[:] = [one for one in _watching if one is not heard]


def opened_below(heard: list[tuple[str, str]], *folders: Path) -> list[str]:
    """Return the files below some folders that were opened."""
    roots = [folder.resolve() for folder in folders]
    paths = [Path(where).absolute() for what, where in heard if what == "open"]
    return sorted({str(path) for path in paths if any(path.is_relative_to(root) for root in roots)})


@contextlib.contextmanager
def overheard() -> Iterator[io.StringIO]:
    """Collect what is printed and logged meanwhile."""
    words = io.StringIO()
    handler = logging.StreamHandler(words)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        with contextlib.redirect_stdout(words), contextlib.redirect_stderr(words):
            yield words
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
