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
from typing import Any, TypeVar, get_args

import msgspec

from meddc_bench.errors import StoreError
from meddc_bench.places import USUAL, Places
from meddc_bench.records import Key, Outcome, Record, Stage, TraceStep
from meddc_bench.text import clean

RECORDS = "records.jsonl"
LOCK = ".lock"
_LINE = 2_000
"""Bytes a line may have on average, for the first size of the index."""
_RESIDENT = 8 << 20
"""Bytes of the mapped journal that are read before its pages are let go."""

_SURROGATES = re.compile("[\ud800-\udfff]")
_KEY_NAMES = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")

_encoder = msgspec.json.Encoder()
_RecordType = TypeVar("_RecordType", bound=Record)


class Head(Record, frozen=True):
    """What scoring needs of a history, without its texts; `hash` is of all turns, `doctor_hash` of the doctor's.

    `marks` are the environment's, turn by turn in order, of the turns that have any.
    """

    ended: str = ""
    rounds: int = 0
    first_summary: int | None = None
    hash: str = ""
    doctor_hash: str = ""
    trace: tuple[TraceStep, ...] = ()
    breaches: int = 0
    checks: dict[str, int] = {}  # noqa: RUF012 - msgspec copies it
    cut_at: int | None = None
    marks: tuple[tuple[str, ...], ...] = ()


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
_OUTCOMES: tuple[str, ...] = get_args(Outcome)
_TAGS = {outcome: tag for tag, outcome in enumerate(_OUTCOMES)}
_TAGS_READ = {outcome.encode(): tag for outcome, tag in _TAGS.items()}
_HEAD = re.compile(
    rb'\{"stage":"[^"]*","id":"(([0-9a-f]{8})[0-9a-f]{8,})","outcome":"(%b)"' % "|".join(_OUTCOMES).encode()
)
_RECORD = b',"record":'
_SEAL = b',"seal":"'
_SEALED = len(_SEAL) + 8 + len(b'"}\n')


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
        self._mapped: mmap.mmap | bytes = b""
        self._places = Places()
        """Where the current line of each record is, with its outcome as the tag."""
        self._lock: int | None = None
        self._fd: int | None = None
        self._end = self._touched = 0
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
        return isinstance(record_id, str) and self._places.find(record_id) >= 0

    def __len__(self) -> int:
        return len(self._places)

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
        self._mapped = b""
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
        at = self._places.find(record_id)
        return None if at < 0 else _OUTCOMES[self._places.tags[at]]

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
        self._places.put(entry.id, self._end, len(line), _TAGS[entry.outcome])
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

    def get(self, record_id: str) -> Entry | None:
        """Read an entry without its record; None where there is none."""
        at = self._places.find(record_id)
        return None if at < 0 else self._entry(record_id, at)

    def entry(self, record_id: str) -> Entry:
        """Read an entry without its record.

        Raises:
            StoreError: there is none, or its line is damaged.
        """
        return self._entry(record_id, self._slot(record_id))

    def _entry(self, record_id: str, at: int) -> Entry:
        data, start, end = self._line(at)
        cut = data.find(_RECORD, start, end)
        try:
            return _entry_decoder.decode(data[start:end] if cut < 0 else data[start:cut] + b"}")
        except msgspec.DecodeError as error:
            raise self._damaged(record_id, error) from error

    def record(self, record_id: str, kind: type[_RecordType]) -> _RecordType | None:
        """Read a record; None where its stage failed."""
        data, start, end = self._line(self._slot(record_id))
        cut = data.find(_RECORD, start, end)
        body = data[cut + len(_RECORD) : end - _SEALED] if cut >= 0 else b"null"
        try:
            return None if body == b"null" else _decoder(kind).decode(body)
        except msgspec.DecodeError as error:
            raise self._damaged(record_id, error) from error

    def saying(self, record_ids: Iterable[str], field: str, text: str) -> int:
        """Count the records of which a field, at any depth, holds a text that needs no escape, without decoding them."""
        wanted = f'"{field}":"{text}"'.encode()  # inside a text the quotes would be escaped
        found = 0
        for record_id in record_ids:
            data, start, end = self._line(self._slot(record_id))
            found += data.find(wanted, start, end) >= 0
        return found

    def ids(self) -> Iterator[str]:
        """Iterate over the ids of the records, in the order of their current lines."""
        for line in self.lines():
            head = _HEAD.match(line)
            assert head is not None  # it was indexed by it
            yield head[1].decode("ascii")

    def lines(self) -> Iterator[bytes]:
        """Iterate over the current line of each record."""
        for at in self._places:
            yield os.pread(self._reading(), self._places.lengths[at], self._places.starts[at])

    def _damaged(self, record_id: str, error: Exception) -> StoreError:
        what = f"the line of record {record_id} is damaged ({error})"
        return StoreError(f"{self.path}: {what}; take the line out, and `retry` makes the record again")

    def _slot(self, record_id: str) -> int:
        at = self._places.find(record_id)
        if at < 0:
            raise StoreError(f"{self.path} holds no record {record_id}")
        return at

    def _line(self, at: int) -> tuple[mmap.mmap | bytes, int, int]:
        """Return bytes that hold the line in a slot, and where it begins and ends in them."""
        start, length = self._places.starts[at], self._places.lengths[at]
        self._touched += length
        if self._touched > _RESIDENT:
            self._let_go()
        if start + length <= len(self._mapped):
            return self._mapped, start, start + length
        return os.pread(self._reading(), length, start), 0, length

    def map(self) -> None:
        """Map the journal as it is now into memory, so that its records are read without a system call each."""
        if self._end > len(self._mapped):
            self._mapped = mmap.mmap(self._reading(), self._end, access=mmap.ACCESS_READ)

    def _let_go(self) -> None:
        """Let the system take back the pages that were read, so that a long journal is never in memory as a whole."""
        self._touched = 0
        if isinstance(self._mapped, mmap.mmap):
            self._mapped.madvise(mmap.MADV_DONTNEED)

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
        """Index the journal by both ends of its lines, which is far cheaper than parsing them."""
        size = self._end = self.path.stat().st_size
        self.map()
        self._places = Places(max(USUAL, size // _LINE))
        data, start = self._mapped, 0
        digests: list[bytes] = []
        starts: list[int] = []
        lengths: list[int] = []
        tags = bytearray()
        while start < size:
            if start - self._touched > _RESIDENT:
                self._places.put_all(digests, starts, lengths, bytes(tags))
                for one in (digests, starts, lengths, tags):
                    one.clear()
                self._let_go()
                self._touched = start
            end = data.find(b"\n", start)
            end = size if end < 0 else end
            found = _HEAD.match(data, start, end)
            if found is not None and data[end - 19 : end] == _SEAL + found[2] + b'"}':
                digests.append(found[1])
                starts.append(start)
                lengths.append(end + 1 - start)
                tags.append(_TAGS_READ[found[3]])
            elif end > start:
                self.torn += 1
            start = end + 1
        self._places.put_all(digests, starts, lengths, bytes(tags))
        self._let_go()


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
