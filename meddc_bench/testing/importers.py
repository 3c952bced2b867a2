"""Properties of importers: they stream, say what is wrong with a file, and give the same every time."""

from __future__ import annotations

import itertools
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from meddc_bench.contracts import Fault, Imported
from meddc_bench.errors import UsageError
from meddc_bench.records import Case, History
from meddc_bench.testing.building import common
from meddc_bench.testing.properties import Breach, NotTried, Property, described, same
from meddc_bench.testing.subject import Subject

_LARGE = 6_000_000
_LINES = (".jsonl", ".ndjson", ".txt", ".csv", ".tsv")
_HEADED = (".csv", ".tsv")


def _example(subject: Subject) -> Path:
    if subject.file is None:
        raise NotTried(
            "no example was given: name a file that the importer reads (--file FILE, or `file` of the suite)"
        )
    return subject.file


def _read(subject: Subject, path: Path) -> Iterator[Any]:
    found: Iterator[Any] = subject.adapter().get().read(path)
    return found


def types(subject: Subject) -> None:
    """Read the example: cases, histories and faults, and some of what is of use."""
    found = list(_read(subject, _example(subject)))
    for one in found:
        if not isinstance(one, Case | Imported | Fault):
            raise Breach(f"it gave {type(one).__name__} in place of Case, Imported or Fault")
        if isinstance(one, Fault) and not (one.where and one.message):
            raise Breach(f"a Fault does not say where and what: {one!r}")
        if isinstance(one, Imported) and not isinstance(one.history, History):
            raise Breach(f"Imported.history is {type(one.history).__name__} in place of History")
    if not any(isinstance(one, Case | Imported) for one in found):
        faults = "; ".join(f"{one.where}: {one.message}" for one in found[:2])
        raise Breach(f"of its example it made no case and no history: {faults or 'nothing at all'}")


def determinism(subject: Subject) -> None:
    """Read the example twice."""
    path = _example(subject)
    same(list(_read(subject, path)), list(_read(subject, path)), "what the same file gave a second time")


def streaming(subject: Subject) -> None:
    """Read the example many times over in one file: one thing at a time, and memory does not grow with the file."""
    path = _example(subject)
    found = _read(subject, path)
    if isinstance(found, list | tuple | set | dict) or iter(found) is not found:
        raise Breach(f"read() gave {type(found).__name__} in place of an iterator")
    if path.suffix not in _LINES:
        return
    with tempfile.TemporaryDirectory(prefix="meddc-check-") as name:
        large = Path(name) / path.name
        size = _repeated(path, large)
        tracemalloc.start()
        try:
            for _ in itertools.islice(_read(subject, large), 400):
                pass
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    if peak > size // 2:
        raise Breach(f"for the first 400 things of a file of {size / 1e6:.0f} MB it took {peak / 1e6:.0f} MB of memory")


def _repeated(path: Path, target: Path) -> int:
    lines = path.read_bytes().splitlines(keepends=True)
    head = lines[:1] if path.suffix in _HEADED else []
    body = b"".join(line if line.endswith(b"\n") else line + b"\n" for line in lines[len(head) :])
    times = 1 + _LARGE // max(1, len(body))
    with target.open("wb") as file:
        file.write(b"".join(head))
        for _ in range(times):
            file.write(body)
    return len(body) * times


def faults(subject: Subject) -> None:
    """Read files that are missing, empty, cut, of another encoding or garbled: a Fault or an InputError, no other error."""
    with tempfile.TemporaryDirectory(prefix="meddc-check-") as name:
        folder = Path(name)
        missing = folder / "missing.jsonl"
        if not _survives(subject, missing, "a file that is not there"):
            raise Breach("of a file that is not there it says nothing")
        for what, content in _broken(subject):
            path = folder / (subject.file.name if subject.file is not None else "example.jsonl")
            path.write_bytes(content)
            _survives(subject, path, what)


def _broken(subject: Subject) -> Iterator[tuple[str, bytes]]:
    good = subject.file.read_bytes() if subject.file is not None and subject.file.is_file() else b'{"a": 1}\n'
    yield "an empty file", b""
    yield "a blank file", b" \n\n\t\n"
    yield "a file that is cut off", good[: len(good) // 2]
    yield "a file in GBK", good.decode("utf-8", "replace").encode("gbk", "replace")
    yield "a file of NUL bytes", b"\x00" * 64
    yield "a file of another kind", "<html><body>没有</body></html>".encode()
    yield "a list in place of an object", b"[1, 2, 3]\n"
    yield "null in place of an object", b"null\n" + good
    yield "numbers in place of texts", good.replace(b'"', b"7")


def _survives(subject: Subject, path: Path, what: str) -> bool:
    """Read a file that is at fault; say whether the importer said so."""
    try:
        return any(isinstance(one, Fault) for one in _read(subject, path))
    except UsageError:
        return True
    except Exception as error:
        raise Breach(f"{what}: raised {described(error)}") from error


async def use(subject: Subject, importer: Any, out: list[Any]) -> None:
    """Read the example, if there is one, and a file that is not there."""
    for path in (subject.file, Path("no_such_file.jsonl")):
        if path is not None:
            out.extend(importer.read(path))


def properties() -> tuple[Property, ...]:
    """Return the properties of an importer."""
    tried: list[tuple[str, str, str, Callable[[Subject], None], tuple[str, ...]]] = [
        (
            "types",
            "of its example it makes Case, Imported and Fault, and not faults alone",
            "give an example that it reads; yield the records of meddc_bench",
            types,
            ("builds",),
        ),
        (
            "determinism",
            "the same file gives the same, in the same order",
            "no clock, no random ids, no order of a set; derive labels from the file's content",
            determinism,
            ("types",),
        ),
        (
            "streaming",
            "read() gives an iterator and never holds the whole file (files of lines are tried with 6 MB)",
            "write read() as a generator over the open file; no read_text(), no list of all lines",
            streaming,
            ("types",),
        ),
        (
            "faults",
            "a bad line gives a Fault, a file that cannot be used at all raises InputError",
            "check every key before use; yield Fault(f'{path}:{line}', words) and go on with the next line",
            faults,
            ("builds",),
        ),
    ]
    return (*common(("read",), use), *(Property(*one) for one in tried))
