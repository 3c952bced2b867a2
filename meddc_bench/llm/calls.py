"""The call journal: every paid reply is on disk before its caller goes on, and a usable one is never paid for twice.

    {"id":"…","role":"judge","model":"…","prompt_tokens":812,"completion_tokens":64,"reply":{…},"seal":"…"}

One JSON line a reply, appended with one write(2). A reply that could not be used (blank, cut, unparsable, refused) has
`unusable` and the kind: it counts as spent, is there to be looked at, and satisfies no later call.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import msgspec

from meddc_bench.errors import StoreError
from meddc_bench.places import Places
from meddc_bench.records import Record

NAME = "calls.jsonl"


class Kept(Record, frozen=True):
    """A reply of an endpoint, its hidden reasoning apart; `calls` are (tool name, arguments as JSON)."""

    text: str = ""
    reasoning: str | None = None
    calls: tuple[tuple[str, str], ...] = ()
    finish: str | None = None
    model: str | None = None


CLEARED = "cleared"
"""Stands for the kind of a reply that was usable and is deleted: what it took is still counted."""


class Spent(Record, frozen=True):
    """A line of the journal without its reply: who asked which model, what it took, and why it could not be used.

    `unreported`: the server did not say how many tokens it took.
    """

    id: str
    role: str = ""
    model: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    unusable: str | None = None
    unreported: bool = False


class Served(Record, frozen=True):
    """Of a reply, the model that says it wrote it."""

    model: str | None = None


class Earlier(Spent, frozen=True):
    """A line of the journal with as much of its reply as a later session needs."""

    reply: Served = Served()


class _Line(Spent, frozen=True):
    reply: msgspec.Raw = msgspec.Raw(b"{}")
    seal: str = ""


_encode = msgspec.json.Encoder().encode
_line = msgspec.json.Decoder(_Line)
_earlier = msgspec.json.Decoder(Earlier)
_kept = msgspec.json.Decoder(Kept)


class CallJournal:
    """A journal of calls in a folder; several processes may append to it at once."""

    def __init__(self, folder: Path):
        self.path = folder / NAME
        self._places = Places()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._fd, fcntl.LOCK_SH)
            self._scan()
        except OSError as error:
            raise StoreError(f"cannot write {self.path}: {error.strerror}") from error

    def __len__(self) -> int:
        return len(self._places)

    def get(self, key: str) -> Kept | None:
        """Return the usable reply that was kept under a key."""
        places = self._places
        at = places.find(key)
        if at < 0:
            return None
        try:
            line = _line.decode(os.pread(self._fd, places.lengths[at], places.starts[at]))
            return _kept.decode(line.reply) if line.id == key and line.unusable is None else None
        except (msgspec.DecodeError, OSError):
            return None  # edited or damaged: it is asked again

    def put(self, spent: Spent, reply: Kept) -> None:
        """Write a reply; it survives the death of this process.

        Raises:
            StoreError: it could not be written whole.
        """
        line = _encode(_Line(**msgspec.structs.asdict(spent), reply=msgspec.Raw(_encode(reply)), seal=spent.id[:8]))
        line += b"\n"
        try:
            written = os.write(self._fd, line)
            end = os.lseek(self._fd, 0, os.SEEK_CUR)
        except OSError as error:
            raise StoreError(f"cannot write {self.path}: {error.strerror}; what was written before is kept") from error
        if written != len(line):
            with contextlib.suppress(OSError):  # so that another process's next line is not lost with the torn one
                os.write(self._fd, b"\n")
            raise StoreError(f"cannot write {self.path}: the disk is full; what was written before is kept")
        if spent.unusable is None:
            self._note(spent.id, end - len(line), len(line))

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._fd)

    def _scan(self) -> None:
        start = 0
        with open(self.path, "rb") as file:
            for line in file:
                if _whole(line) and b',"unusable":"' not in line[: line.find(b',"reply":')]:
                    self._note(line[7:39].decode("ascii", "replace"), start, len(line))
                start += len(line)
        if start and os.pread(self._fd, 1, start - 1) != b"\n":
            os.write(self._fd, b"\n")

    def _note(self, key: str, start: int, length: int) -> None:
        with contextlib.suppress(
            ValueError, OverflowError
        ):  # a reply too long, or an id that is none: it is asked again
            self._places.put(key, start, length)


def spent(path: Path) -> Iterator[Earlier]:
    """Read what the calls of a journal took, and who served them; a torn line is passed over.

    Raises:
        OSError: the file cannot be read.
    """
    with open(path, "rb") as file:
        for line in file:
            if _whole(line):
                try:
                    yield _earlier.decode(line)
                except msgspec.DecodeError:
                    continue


def _whole(line: bytes) -> bool:
    return line.endswith(b'"}\n') and line.startswith(b'{"id":"') and line[-12:-3] == b'"' + line[7:15]


def drop(path: Path, model: str | None = None) -> int:
    """Delete the replies of a model, or all, and return how many there were; what they took stays in the journal.

    Raises:
        StoreError: a process has the journal open, or it could not be written; it is as it was.
    """
    temporary = path.with_name(f".{path.name}.part")
    try:
        with open(path, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as kept:
                dropped = sum(_copied(line, kept, model) for line in file)
                kept.flush()
                os.fsync(kept.fileno())
            os.replace(temporary, path)
    except BlockingIOError:
        raise StoreError(f"{path} is in use; wait until the run has ended") from None
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}") from error
    return dropped


def _copied(line: bytes, kept: IO[bytes], model: str | None) -> bool:
    """Copy a line, without its reply where that is of the model to be dropped; tell whether a usable one was dropped."""
    try:
        one = _line.decode(line) if _whole(line) else None
    except msgspec.DecodeError:
        one = None
    if one is None:
        return False
    if model not in (None, one.model):
        kept.write(line)
        return False
    unusable = one.unusable or CLEARED
    kept.write(_encode(msgspec.structs.replace(one, unusable=unusable, reply=msgspec.Raw(b"{}"))) + b"\n")
    return one.unusable is None
