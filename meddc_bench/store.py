"""The store of a run folder: an append-only journal, one JSON record a line, one write(2) a record.

    {"stage":"history","id":"…","outcome":"scored","key":{…},"head":{…},"record":{…},"seal":"…"}

A line is whole when it ends with the seal, the first eight digits of its id; a line torn by a crash is passed over and
closed with a newline before the next record. A later line with the same id replaces an earlier one. `head` holds the
scalars that scoring needs, so that scoring never parses texts.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import json
import mmap
import os
import re
import socket
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from meddc_bench.errors import StoreError
from meddc_bench.records import Key, Outcome, Record, Stage, TraceStep
from meddc_bench.text import clean

RECORDS = "records.jsonl"
LOCK = ".lock"

_SURROGATES = re.compile("[\ud800-\udfff]")
_KEY_NAMES = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")

_encoder = msgspec.json.Encoder()
_RecordType = TypeVar("_RecordType", bound=Record)


class Head(Record, frozen=True):
    """What scoring needs of a history, without its texts; `hash` is of all turns, `doctor_hash` of the doctor's."""

    ended: str = ""
    rounds: int = 0
    first_summary: int | None = None
    hash: str = ""
    doctor_hash: str = ""
    trace: tuple[TraceStep, ...] = ()
    breaches: int = 0
    checks: dict[str, int] = {}  # noqa: RUF012 - msgspec copies it
    cut_at: int | None = None


class Entry(Record, frozen=True, kw_only=True):
    """A line of the store without its record: who it belongs to and how it went."""

    stage: Stage
    id: str
    outcome: Outcome
    key: Key
    reason: str | None = None
    attempts: int = 1
    head: Head | None = None


@dataclass(frozen=True, slots=True)
class Storable:
    """A record as it will stand in the store: its bytes, and what reading them gives."""

    raw: bytes
    record: Any


class Keys:
    """The keys of the environment as it is now, which no file and no screen may show.

    They are told by their variable's name. In an error's words whatever is eight characters or longer is hidden; in a
    record, which holds consultations, only what cannot be a word: twelve or longer, with letters and digits.
    """

    def __init__(self) -> None:
        named = [(name, value) for name, value in os.environ.items() if _KEY_NAMES.search(name) and len(value) >= 8]
        self._words = sorted(named, key=lambda pair: -len(pair[1]))
        self._strong = [
            (name, value)
            for name, value in self._words
            if len(value) >= 12 and any(map(str.isdigit, value)) and any(map(str.isalpha, value))
        ]
        self._raw = [(f"[{name}]".encode(), _encoded(value)[1:-1]) for name, value in self._strong]

    def hide(self, words: str) -> str:
        """Put the variable's name for its value."""
        for name, value in self._words:
            words = words.replace(value, f"[{name}]")
        return words

    def hide_in(self, raw: bytes) -> bytes:
        """Put the variable's name for its value in a record's JSON."""
        for name, value in self._raw:
            if value in raw:
                raw = raw.replace(value, name)
        return raw

    def found_in(self, text: str) -> str | None:
        """Return the name of the variable whose value a text holds."""
        return next((name for name, value in self._strong if value in text), None)


def storable(record: Record, keys: Keys | None = None) -> Storable:
    """Encode a record and read it back, so that what is stored can be read again and later stages see the same.

    A lone surrogate, which no UTF-8 file can hold, becomes U+FFFD; a key becomes the name of its variable.

    Raises:
        msgspec.ValidationError: a field holds what its type does not allow.
        TypeError: a field holds what JSON cannot express.
    """
    raw = _encoded(record) if keys is None else keys.hide_in(_encoded(record))
    return Storable(raw, _decoder(type(record)).decode(raw))


def _encoded(value: Any) -> bytes:
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:
        return _encoder.encode(_without_surrogates(msgspec.to_builtins(value)))


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATES.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_surrogates(one) for one in value]
    return value


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
        self._mapped: mmap.mmap | None = None
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

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            self.close()
        except StoreError:
            if kind is None:  # else what went wrong first is what counts
                raise

    def __contains__(self, record_id: object) -> bool:
        return record_id in self._index

    def __len__(self) -> int:
        return len(self._index)

    @property
    def size(self) -> int:
        """Bytes of the journal: it only grows, so an equal size means equal records."""
        return self._end

    def close(self) -> None:
        """Flush to disk and let go of the lock.

        Raises:
            StoreError: the disk did not take what was written.
        """
        fd, lock, self._fd, self._lock = self._fd, self._lock, None, None
        try:
            if fd is not None:
                os.fsync(fd)
        except OSError as error:
            raise StoreError(f"cannot write {self.path}: {error.strerror}") from error
        finally:
            for one in (fd, lock):
                if one is not None:
                    os.close(one)

    def outcome(self, record_id: str) -> str | None:
        """Return the outcome of a record, None where there is none."""
        if record_id not in self._index:
            return None
        return self._outcomes.get(record_id, "scored")

    def append(self, entry: Entry, record: Record | Storable | None) -> None:
        """Write one record: it survives the death of this process, and after `sync` that of the machine.

        Raises:
            StoreError: it could not be written whole; the journal is as it was.
            msgspec.ValidationError, TypeError: as `storable`.
        """
        if self._fd is None:
            raise StoreError(f"{self.path} is open for reading only")
        if record is not None and not isinstance(record, Storable):
            record = storable(record)
        raw = record.raw if record is not None else b"null"
        line = b"".join((_encoded(entry)[:-1], _RECORD, raw, _SEAL, entry.id[:8].encode(), b'"}\n'))
        try:
            written = os.write(self._fd, line)
        except OSError as error:
            raise StoreError(f"cannot write {self.path}: {error.strerror}; what was written before is kept") from error
        if written != len(line):
            self._take_back(written)
            raise StoreError(f"cannot write {self.path}: the disk is full; what was written before is kept")
        self._note(entry.id, self._end, len(line), entry.outcome)
        self._end += len(line)

    def sync(self) -> None:
        """Wait until the disk holds what was appended.

        Raises:
            StoreError: the disk did not take it.
        """
        if self._fd is None:
            return
        try:
            os.fdatasync(self._fd)
        except OSError as error:
            raise StoreError(f"cannot write {self.path}: {error.strerror}; what was written before is kept") from error

    def entry(self, record_id: str) -> Entry:
        """Read an entry without its record."""
        line = self._line(record_id)
        cut = line.find(_RECORD)
        try:
            return _entry_decoder.decode(line if cut < 0 else line[:cut] + b"}")
        except msgspec.DecodeError as error:
            raise self._damaged(record_id, error) from error

    def record(self, record_id: str, kind: type[_RecordType]) -> _RecordType | None:
        """Read a record; None where its stage failed."""
        line = self._line(record_id)
        start = line.find(_RECORD)
        body = line[start + len(_RECORD) : line.rfind(_SEAL)] if start >= 0 else b"null"
        try:
            return None if body == b"null" else _decoder(kind).decode(body)
        except msgspec.DecodeError as error:
            raise self._damaged(record_id, error) from error

    def ids(self) -> Iterator[str]:
        """Iterate over the ids of the records, in the order of their first writing."""
        return iter(tuple(self._index))

    def lines(self) -> Iterator[bytes]:
        """Iterate over the current line of each record."""
        for record_id in self.ids():
            yield self._line(record_id)

    def _damaged(self, record_id: str, error: Exception) -> StoreError:
        what = f"the line of record {record_id} is damaged ({error})"
        return StoreError(f"{self.path}: {what}; take the line out, and `retry` makes the record again")

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
        if self._mapped is not None:
            return self._mapped[start : start + length]
        return os.pread(self._reading(), length, start)

    @contextlib.contextmanager
    def mapped(self) -> Iterator[None]:
        """Read many records quickly: the journal as it is now is mapped into memory for a while."""
        if not self._index:
            yield
            return
        with mmap.mmap(self._reading(), 0, access=mmap.ACCESS_READ) as data:
            self._mapped = data
            try:
                yield
            finally:
                self._mapped = None

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
        except BlockingIOError:
            holder = os.pread(self._lock, 200, 0).decode("utf-8", "replace").strip() or "another process"
            self._unlock()
            raise StoreError(f"{self.folder} is in use by {holder}; wait for it or use another --output-path") from None
        except OSError as error:
            self._unlock()
            raise StoreError(
                f"{self.folder} cannot be locked: {error.strerror}; use an --output-path on a local disk"
            ) from error
        with contextlib.suppress(OSError):  # a full disk: the lock holds without its holder's name
            os.ftruncate(self._lock, 0)
            os.pwrite(self._lock, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)
        try:
            self._fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
            self._close_torn_line()
        except OSError as error:
            self._unlock()
            raise StoreError(f"cannot write {self.path}: {error.strerror}") from error

    def _unlock(self) -> None:
        for one in (self._fd, self._lock):
            if one is not None:
                os.close(one)
        self._fd = self._lock = None

    def _take_back(self, written: int) -> None:
        """Cut off the part of a line that did not fit; where that fails, the next to open the store passes over it."""
        assert self._fd is not None
        with contextlib.suppress(OSError):
            if os.fstat(self._fd).st_size == self._end + written:
                os.ftruncate(self._fd, self._end)

    def _close_torn_line(self) -> None:
        assert self._fd is not None
        self._end = os.fstat(self._fd).st_size
        if self._end and os.pread(self._fd, 1, self._end - 1) != b"\n":
            self._end += os.write(self._fd, b"\n")

    def _scan(self) -> None:
        """Index the journal by slicing lines, which is far cheaper than parsing them."""
        size = self._end = self.path.stat().st_size
        if not size:
            return
        with open(self.path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            start = 0
            while start < size:
                end = data.find(b"\n", start)
                end = size if end < 0 else end
                found = _whole(data[start : min(end, start + 120)], data[max(start, end - 20) : end])
                if found is not None:
                    self._note(found[0], start, end + 1 - start, found[1])
                elif end > start:
                    self.torn += 1
                start = end + 1


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
    save_lines(path, (data,), end=b"")


def save_lines(path: Path, lines: Iterable[bytes], *, end: bytes = b"\n") -> None:
    """Write a file of lines as `save` does, without holding it in memory.

    The temporary's name is always the same, so that what a crash left of one is written over by the next.

    Raises:
        StoreError: it could not be written; the old file, if any, is untouched.
    """
    temporary = path.with_name(f".{path.name}.part")
    try:
        with open(temporary, "wb") as file:
            for line in lines:
                file.write(line + end)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise StoreError(f"cannot write {path}: {error.strerror}; the records are kept") from error


def printable(words: str, keys: Keys | None = None) -> str:
    """Make the words of an exception fit for the store and the screen: no escapes, no key, no address in memory."""
    return clean(_ADDRESS.sub("0x…", (keys or Keys()).hide(words)))


def pretty(value: Any) -> bytes:
    """Encode plain data as indented JSON with sorted keys: the same value, the same bytes; NaN is refused."""
    plain = msgspec.to_builtins(value)
    text = json.dumps(plain, ensure_ascii=False, indent=1, sort_keys=True, allow_nan=False)
    return _SURROGATES.sub("\ufffd", text + "\n").encode("utf-8")
