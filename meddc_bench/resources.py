"""Where the shipped tasks, templates and leaderboards are: in a checkout beside the package, in a wheel inside it."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def shipped(name: str) -> Path:
    """Return the folder `tasks`, `templates` or `leaderboards` that came with the program."""
    installed = _PACKAGE / "_data" / name
    return installed if installed.is_dir() else _PACKAGE.parent / name
