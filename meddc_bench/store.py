"""The store of a run folder: an append-only journal, one JSON record a line, one write(2) a record.

    {"stage":"history","id":"…","outcome":"scored","key":{…},"head":{…},"record":{…},"seal":"…"}

A line is whole when it ends with the seal, the first eight digits of its id; a line torn by a crash is passed over and
closed with a newline before the next record. A later line with the same id replaces an earlier one. `head` holds the
scalars that scoring needs, so that scoring never parses texts.
"""

from __future__ import annotations

import fcntl
import functools
import json
import mmap
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from meddc_bench.errors import StoreError
from meddc_bench.records import Key, Outcome, Record, Stage, TraceStep, Usage

RECORDS = "records.jsonl"
LOCK = ".lock"

_encoder = msgspec.json.Encoder()
_RecordType = TypeVar("_RecordType", bound=Record)


class Head(Record):
    """What scoring needs of a history, without its texts; `hash` is of the turns, `doctor_hash` of the doctor's alone."""

    ended: str = ""
    rounds: int = 0
    first_summary: int | None = None
    hash: str = ""
    doctor_hash: str = ""
    trace: tuple[TraceStep, ...] = ()
    breaches: int = 0
    checks: dict[str, int] = {}
    questions: int = 0
    cut_at: int | None = None


class Entry(Record, kw_only=True):
    """A line of the store without its record: who it belongs to, how it went, and what it cost."""

    stage: Stage
    id: str
    outcome: Outcome
    key: Key
    reason: str | None = None
    attempts: int = 1
    usage: Usage | None = None
    head: Head | None = None


class _Sealed(Entry, kw_only=True):
    record: msgspec.Raw = msgspec.Raw(b"null")
    seal: str


_entry_decoder = msgspec.json.Decoder(Entry)
_RECORD = b',"record":'
_SEAL = b',"seal":"'


@functools.cache
def _decoder(kind: type[_RecordType]) -> msgspec.json.Decoder[_RecordType]:
    return msgspec.json.Decoder(kind)


class Store:
    """The journal of one run folder, open for appending by one process at a time.

    Use it as a context manager. `writable=False` opens it for reading only, without the lock.
    """

    def __init__(self, folder: Path, *, writable: bool = True):
        self.folder = folder
        self.path = folder / RECORDS
        self.torn = 0
        self._index: dict[str, tuple[int, int]] = {}
        self._outcomes: dict[str, str] = {}
        self._lock: int | None = None
        self._fd: int | None = None
        self._end = 0
        if writable:
            self._open_for_writing()
        if self.path.exists():
            self._scan()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __contains__(self, record_id: object) -> bool:
        return record_id in self._index

    def __len__(self) -> int:
        return len(self._index)

    def close(self) -> None:
        """Flush to disk and let go of the lock."""
        if self._fd is not None:
            os.fsync(self._fd)
            os.close(self._fd)
            self._fd = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def outcome(self, record_id: str) -> str | None:
        """Return the outcome of a record, None where there is none."""
        if record_id not in self._index:
            return None
        return self._outcomes.get(record_id, "scored")

    def append(self, entry: Entry, record: Record | None) -> None:
        """Write one record durably: it survives the death of this process.

        Raises:
            StoreError: nothing, or only a part that will be passed over, could be written.
        """
        if self._fd is None:
            raise StoreError(f"{self.path} is open for reading only")
        fields = {name: getattr(entry, name) for name in Entry.__struct_fields__}
        raw = msgspec.Raw(_encoder.encode(record))
        line = _encoder.encode(_Sealed(**fields, record=raw, seal=entry.id[:8])) + b"\n"
        try:
            written = os.write(self._fd, line)
        except OSError as error:
            raise StoreError(f"cannot write {self.path}: {error.strerror}; what was written before is kept") from error
        if written != len(line):
            self._close_torn_line()
            raise StoreError(f"cannot write {self.path}: the disk is full; what was written before is kept")
        self._note(entry.id, self._end, len(line), entry.outcome)
        self._end += len(line)

    def entry(self, record_id: str) -> Entry:
        """Read an entry without its record."""
        line = self._line(record_id)
        cut = line.find(_RECORD)
        return _entry_decoder.decode(line if cut < 0 else line[:cut] + b"}")

    def record(self, record_id: str, kind: type[_RecordType]) -> _RecordType | None:
        """Read a record; None where its stage failed."""
        line = self._line(record_id)
        start = line.find(_RECORD)
        body = line[start + len(_RECORD) : line.rfind(_SEAL)] if start >= 0 else b"null"
        return None if body == b"null" else _decoder(kind).decode(body)

    def ids(self) -> Iterator[str]:
        """Iterate over the ids of the records, in the order of their first writing."""
        return iter(tuple(self._index))

    def lines(self) -> Iterator[bytes]:
        """Iterate over the current line of each record."""
        for record_id in self.ids():
            yield self._line(record_id)

    def _note(self, record_id: str, start: int, length: int, outcome: str) -> None:
        self._index[record_id] = (start, length)
        if outcome == "scored":
            self._outcomes.pop(record_id, None)
        else:
            self._outcomes[record_id] = outcome

    def _line(self, record_id: str) -> bytes:
        try:
            start, length = self._index[record_id]
        except KeyError:
            raise StoreError(f"{self.path} holds no record {record_id}") from None
        return os.pread(self._reading(), length, start)

    def _reading(self) -> int:
        if self._fd is None:
            self._fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        return self._fd

    def _open_for_writing(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self.folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise StoreError(f"cannot write to {self.folder}: {error.strerror}") from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.pread(self._lock, 200, 0).decode("utf-8", "replace").strip() or "another process"
            os.close(self._lock)
            self._lock = None
            raise StoreError(f"{self.folder} is in use by {holder}; wait for it or use another --output-path") from None
        os.ftruncate(self._lock, 0)
        os.pwrite(self._lock, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)
        try:
            self._fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise StoreError(f"cannot write {self.path}: {error.strerror}") from error
        self._close_torn_line()

    def _close_torn_line(self) -> None:
        assert self._fd is not None
        self._end = os.fstat(self._fd).st_size
        if self._end and os.pread(self._fd, 1, self._end - 1) != b"\n":
            try:
                self._end += os.write(self._fd, b"\n")
            except OSError as error:
                raise StoreError(f"cannot write {self.path}: {error.strerror}") from error

    def _scan(self) -> None:
        """Index the journal by slicing lines, which is far cheaper than parsing them."""
        size = self.path.stat().st_size
        if not size:
            return
        with open(self.path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            start = 0
            while start < size:
                end = data.find(b"\n", start)
                end = size if end < 0 else end
                found = _whole(data[start : min(end, start + 120)], data[max(start, end - 20) : end])
                if found is not None:
                    self._note(*_located(found, start, end + 1 - start))
                elif end > start:
                    self.torn += 1
                start = end + 1


def _located(found: tuple[str, str], start: int, length: int) -> tuple[str, int, int, str]:
    return found[0], start, length, found[1]


def _whole(head: bytes, tail: bytes) -> tuple[str, str] | None:
    """Return id and outcome of a whole line from its first 120 and last 20 bytes; None for a torn one."""
    parts = head.split(b'"', 12)
    if len(parts) < 12 or parts[0] != b"{" or parts[5] != b"id" or parts[9] != b"outcome":
        return None
    record_id = parts[7]
    if tail[-19:] != b',"seal":"' + record_id[:8] + b'"}':
        return None
    return record_id.decode("ascii", "replace"), parts[11].decode("ascii", "replace")


def save(path: Path, data: bytes) -> None:
    """Write a whole file: a temporary beside it, fsync, rename.

    Raises:
        StoreError: it could not be written; the old file, if any, is untouched.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise StoreError(f"cannot write {path}: {error.strerror}") from error


def pretty(value: Any) -> bytes:
    """Encode plain data as indented JSON with sorted keys: the same value, the same bytes; NaN is refused."""
    plain = msgspec.to_builtins(value)
    text = json.dumps(plain, ensure_ascii=False, indent=1, sort_keys=True, allow_nan=False)
    return (text + "\n").encode("utf-8")
