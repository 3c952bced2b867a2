"""The kept results of `plugins check`: of an adapter's distribution, version and revision, when it was checked and how it went.

They are small files below MEDDC_CACHE_DIR, or below the user's cache folder where that is not set; a run's manifest says
what they say of each adapter in it.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

import msgspec

from meddc_bench.registry import Registration
from meddc_bench.store import pretty, save
from meddc_bench.text import safe_name

Result = Literal["passed", "failed"]


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """How a check went: `not_tried` are properties that could not be tried, such as without an importer's example."""

    result: Result
    when: str
    program: str
    failed: tuple[str, ...] = ()
    not_tried: tuple[str, ...] = ()


def cache_folder() -> Path:
    """Return where small things are kept between runs: MEDDC_CACHE_DIR, else the user's cache folder."""
    named = os.environ.get("MEDDC_CACHE_DIR")
    if named:
        return Path(named).expanduser()
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path("~/.cache").expanduser()) / "meddc-bench"


def _file(entry: Registration) -> Path:
    parts = (entry.distribution, entry.version, entry.kind, entry.name, entry.revision)
    return cache_folder() / "checks" / (safe_name("_".join(parts), 200) + ".json")


def keep(entry: Registration, failed: Iterable[str], not_tried: Iterable[str]) -> Checked:
    """Keep the result of a check.

    Raises:
        StoreError: the folder cannot be written.
    """
    names = tuple(failed)
    found = Checked(
        result="failed" if names else "passed", program=version("meddc-bench"), failed=names, not_tried=tuple(not_tried),
        when=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    )  # fmt: skip
    path = _file(entry)
    path.parent.mkdir(parents=True, exist_ok=True)
    save(path, pretty(msgspec.to_builtins(found)))
    return found


def kept(entry: Registration) -> Checked | None:
    """Return the kept result for this version and revision; None where there is none that can be read."""
    try:
        return msgspec.json.decode(_file(entry).read_bytes(), type=Checked)
    except (OSError, msgspec.DecodeError):
        return None


def said(entry: Registration) -> dict[str, Any]:
    """Say for a manifest whether an adapter was checked, when and how it went."""
    found = kept(entry)
    return {"result": "never"} if found is None else dict(msgspec.to_builtins(found))
