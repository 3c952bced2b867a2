"""Makes a task's folder of what an importer reads: written beside the target, and put in its place at the end."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from meddc_bench import validation
from meddc_bench.contracts import About
from meddc_bench.errors import InputError, MedDDCError, PluginError, StoreError, UsageError
from meddc_bench.importing.card import card
from meddc_bench.importing.made import Made, Wanted
from meddc_bench.importing.writer import HISTORIES, Writer, as_yaml, write_text
from meddc_bench.task import NAME, load_task
from meddc_bench.text import one_line
from meddc_bench.wiring import Adapter

CHECKED = 500
"""Up to so many cases are checked for leaks and near-duplicates at once."""


def make_task(importer: Adapter, files: Sequence[Path], wanted: Wanted) -> Made:
    """Read the files and write the task.

    Raises:
        UsageError: the target is there already, the name is none, or no case can be taken.
        InputError: a whole file cannot be used.
        PluginError: the importer broke its contract.
        TooManyDefects: see `Wanted.fail_after`.
        StoreError: the folder cannot be written.
    """
    name = _name(wanted)
    _check_target(wanted)
    built = importer.get()
    about = getattr(built, "about", None) or About(importer.name, f"read by the importer {importer.name}", "not said")
    made = Made(name, wanted.folder, about, decide=list(about.decide))
    try:
        wanted.folder.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f".{name[:40]}-", dir=wanted.folder.parent))
    except OSError as error:
        raise StoreError(f"cannot write {wanted.folder}: {error.strerror}; name another folder, -o FOLDER") from error
    try:
        with Writer(work, made, wanted) as writer:
            for file in files:
                _read(importer, built, file, writer)
        _judge(made, files)
        made.origin = _origin(importer, files)
        write_text(work / "task.yaml", _task_file(made, importer.name, lines=writer.lines))
        write_text(work / "README.md", card(made))
        _replace(work, wanted.folder)
    except OSError as error:
        raise StoreError(f"cannot write {wanted.folder}: {error.strerror}; nothing was changed") from error
    finally:
        shutil.rmtree(work, ignore_errors=True)
    _look(made)
    return made


def _name(wanted: Wanted) -> str:
    """Take the task's name from the folder where none is given."""
    if wanted.name is not None:
        if not re.fullmatch(NAME, wanted.name):
            raise UsageError(
                f"--name {wanted.name}: expected small letters, digits, `_`, `.`, `-`, a letter first, at most 64"
            )
        return wanted.name
    name = re.sub(r"[^a-z0-9_.-]+", "_", wanted.folder.resolve().name.lower()).strip("_.-")
    if not re.fullmatch(NAME, name):
        raise UsageError(f"{wanted.folder}: no name for the task can be made of this folder's; give one, --name NAME")
    return name


def _check_target(wanted: Wanted) -> None:
    folder = wanted.folder
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise UsageError(f"{folder} is no folder; name another, -o FOLDER")
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    if not wanted.overwrite:
        raise UsageError(f"{folder} is there already and not empty; name another, or say --overwrite to replace it")
    if not (folder / "task.yaml").is_file():
        raise UsageError(f"{folder} is no task (it has no task.yaml), and is not replaced; name another folder")


def _read(importer: Adapter, built: Any, file: Path, writer: Writer) -> None:
    if not file.exists():
        raise InputError("there is no such file", path=file)
    try:
        for one in built.read(file):
            if not writer.take(one):
                break
    except (MedDDCError, OSError):
        raise
    except Exception as error:
        words = one_line(str(error), 200)
        raise PluginError(
            importer.registration.plugin, f"importer {importer.name} failed on {file}: {type(error).__name__}: {words}"
        ) from error


def _judge(made: Made, files: Sequence[Path]) -> None:
    """Refuse an import that took nothing, and say what only a person can decide of one that did.

    Raises:
        UsageError: there is no case.
    """
    if not made.cases:
        why = [f"{count} excluded: {reason}" for reason, count in made.excluded.most_common()]
        why += [f"{made.defects} defects; the first: {made.defect_lines[0]}"] if made.defects else []
        why += made.notes[:3]
        told = "".join(f"\n  {one}" for one in why)
        raise UsageError(f"no case can be taken from {', '.join(map(str, files))}; nothing was written{told}")
    if made.derived:
        made.decide.append(
            f"{made.derived} of {made.targets} targets are derived by rules, not written by a clinician: T on them is labelled, "
            "and refused by publish --standard"
        )
    if not made.facts and not made.workups:
        instead = (
            f"score {HISTORIES} instead of running policies" if made.histories else "add facts before policies are run"
        )
        made.decide.append(f"the cases hold no facts, so no simulated patient can answer: {instead}")
    if made.about.licence == "not said":
        made.decide.append("the licence of the data is not said: find out before cases or results are shared")
    if made.defects:
        made.decide.append(f"{made.defects} defective parts of the file were left out: mend the file, or accept it")


def _origin(importer: Adapter, files: Sequence[Path]) -> dict[str, Any]:
    """Say what the task was made of: importer, revision, options, files by name and digest."""
    sums = {}
    for file in files:
        if file.is_file():
            with file.open("rb") as stream:
                sums[file.name] = hashlib.file_digest(stream, "sha256").hexdigest()
    identity = importer.identity
    return {"importer": importer.name, "revision": identity["revision"], "options": identity["options"], "files": sums}


def _task_file(made: Made, importer: str, *, lines: bool) -> str:
    protocol = "trustmed/protocol.yaml" if made.workups else "meddc/protocol.yaml"
    data: dict[str, Any] = {
        "task": made.name, "title": made.about.title,
        "description": f"Imported with the importer {importer}; README.md says what was taken and what was left out.",
        "include": protocol, "language": made.language, "licence": made.about.licence,
        "cases": "cases.jsonl" if lines else "cases/*.yaml", "repeats": 1,
    }  # fmt: skip
    if made.about.private:
        data["private"] = True
    return as_yaml(data)


def _replace(work: Path, folder: Path) -> None:
    """Put the finished folder in the target's place; what stood there goes only then."""
    work.chmod(0o755)
    with (work / "task.yaml").open("rb") as last:
        os.fsync(last.fileno())
    if not folder.exists():
        work.rename(folder)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{folder.name[:40]}-old-", dir=folder.parent))
    folder.rename(old / "task")
    try:
        work.rename(folder)
    except OSError:
        (old / "task").rename(folder)
        raise
    finally:
        if folder.exists():
            shutil.rmtree(old, ignore_errors=True)


def _look(made: Made) -> None:
    """Count what `validate` will say of the cases: leaks, near-duplicates, what is missing."""
    if made.cases > CHECKED:
        made.notes.append(f"{made.cases} cases are too many to be checked at once: meddc-bench validate {made.folder}")
        return
    task = load_task(made.folder / "task.yaml")
    for finding in validation.lint(task):
        made.findings[finding.level, finding.kind] += 1
