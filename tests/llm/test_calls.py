"""What was paid for is on disk and found again; what could not be used is counted and never served."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from meddc_bench.errors import StoreError
from meddc_bench.fingerprint import digest
from meddc_bench.llm.calls import NAME, CallJournal, Kept, Spent, spent

ONE, TWO = digest("one"), digest("two")
REPLY = Kept(
    text="好的", reasoning="想想", calls=(("diagnose", '{"diagnoses":["肺炎"]}'),), finish="stop", model="served-1"
)


def paid(key: str = ONE, **more: Any) -> Spent:
    return Spent(**{"id": key, "role": "judge", "model": "m-1", "prompt_tokens": 7, "completion_tokens": 3, **more})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "run"


class Opened:
    """A journal that is closed at the end."""

    def __init__(self, folder: Path):
        self.journal = CallJournal(folder)

    def __enter__(self) -> CallJournal:
        return self.journal

    def __exit__(self, *_: object) -> None:
        self.journal.close()


def reopened(folder: Path, key: str = ONE) -> Kept | None:
    with Opened(folder) as journal:
        return journal.get(key)


def test_a_paid_reply_is_found_now_and_by_the_next_process(folder: Path) -> None:
    with Opened(folder) as journal:
        journal.put(paid(), REPLY)
        assert journal.get(ONE) == REPLY
        assert journal.get(TWO) is None
    assert reopened(folder) == REPLY
    assert (folder / NAME).stat().st_mode & 0o077 == 0, "consultations are for their owner alone"


@pytest.mark.parametrize("name", ["m", "模型" * 100, 'm","unusable":"x', 'm","reply":{"text":"x"}'])
@pytest.mark.parametrize("kind", ["blank", "cut", "unparsable", "refusal"])
def test_an_unusable_reply_is_counted_and_never_served(folder: Path, kind: str, name: str) -> None:
    with Opened(folder) as journal:
        journal.put(paid(unusable=kind, model=name), Kept(text=""))
        journal.put(paid(TWO, model=name), REPLY)
        assert journal.get(ONE) is None
    assert reopened(folder) is None
    assert reopened(folder, TWO) == REPLY
    found = list(spent(folder / NAME))
    assert [(one.unusable, one.prompt_tokens, one.model) for one in found] == [(kind, 7, name), (None, 7, name)]


def test_a_usable_reply_after_an_unusable_one_is_the_one_served(folder: Path) -> None:
    with Opened(folder) as journal:
        journal.put(paid(unusable="blank"), Kept())
        journal.put(paid(), REPLY)
    assert reopened(folder) == REPLY


def test_text_that_looks_like_the_journal_is_text(folder: Path) -> None:
    reply = Kept(text='x","unusable":"blank"\n{"id":"' + TWO + '","seal":"' + TWO[:8] + '"}', model="\u2028")
    with Opened(folder) as journal:
        journal.put(paid(), reply)
    assert reopened(folder) == reply
    assert reopened(folder, TWO) is None


@pytest.mark.parametrize("share", [0.01, 0.3, 0.6, 0.99])
def test_a_line_torn_by_a_crash_costs_itself_alone(folder: Path, share: float) -> None:
    with Opened(folder) as journal:
        journal.put(paid(), REPLY)
        size = (folder / NAME).stat().st_size
        journal.put(paid(TWO), REPLY)
    whole = (folder / NAME).read_bytes()
    (folder / NAME).write_bytes(whole[: size + int(share * (len(whole) - size))])
    with Opened(folder) as journal:
        assert journal.get(ONE) == REPLY
        assert journal.get(TWO) is None
        journal.put(paid(TWO), REPLY)
    assert reopened(folder) == reopened(folder, TWO) == REPLY
    assert len(list(spent(folder / NAME))) == 2


@pytest.mark.parametrize(
    "line",
    [
        b'{"id":"zzzzzzzzzzzzzzzzzzzz","seal":"zzzzzzzz"}\n',
        b'{"id":"\xff\xfe3456789012345678","seal":"\xff\xfe345678"}\n',
        b'{"id":"' + ONE.encode() + b'","reply":5,"seal":"' + ONE[:8].encode() + b'"}\n',
        b'{"id":"' + ONE.encode() + b'","reply":{"text":5},"seal":"' + ONE[:8].encode() + b'"}\n',
        b'{"id":"' + ONE.encode() + b'" oh,"seal":"' + ONE[:8].encode() + b'"}\n',
        b"\n",
        b"null\n",
        b'{"seal":""}\n',
    ],
)
def test_a_line_someone_damaged_is_asked_again_and_stops_nothing(folder: Path, line: bytes) -> None:
    folder.mkdir()
    (folder / NAME).write_bytes(line)
    with Opened(folder) as journal:
        assert journal.get(ONE) is None
        journal.put(paid(TWO), REPLY)
    assert reopened(folder, TWO) == REPLY
    assert sum(one.completion_tokens for one in spent(folder / NAME)) == 3


def test_a_line_that_was_edited_after_it_was_read_is_not_served(folder: Path) -> None:
    with Opened(folder) as journal:
        journal.put(paid(), REPLY)
        text = (folder / NAME).read_bytes()
        (folder / NAME).write_bytes(text.replace(ONE.encode(), TWO.encode()))
        assert journal.get(ONE) is None


def test_two_processes_may_write_one_cache(folder: Path) -> None:
    with Opened(folder) as one, Opened(folder) as other:
        for number in range(20):
            (one if number % 3 else other).put(paid(digest(number)), Kept(text=str(number)))
        assert one.get(digest(1)) == Kept(text="1")
    with Opened(folder) as journal:
        assert [journal.get(digest(number)) for number in range(20)] == [Kept(text=str(one)) for one in range(20)]


def test_an_id_that_is_none_does_not_lock_the_user_out_of_the_run(folder: Path) -> None:
    with Opened(folder) as journal:
        journal.put(paid(TWO), REPLY)
    path = folder / NAME
    path.write_bytes(path.read_bytes().replace(TWO.encode(), b"g" * 32).replace(TWO[:8].encode(), b"g" * 8))
    with Opened(folder) as journal:
        journal.put(paid(ONE), REPLY)
    assert reopened(folder) == REPLY


def test_a_full_disk_says_so_and_keeps_what_was_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Opened(folder) as journal:
        journal.put(paid(), REPLY)
        write = os.write
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", lambda fd, data: write(fd, data[: len(data) // 2]))
            with pytest.raises(StoreError, match="the disk is full; what was written before is kept"):
                journal.put(paid(TWO), REPLY)
        assert journal.get(TWO) is None
    assert reopened(folder) == REPLY
    assert reopened(folder, TWO) is None


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(StoreError, match="cannot write"):
        CallJournal(tmp_path / "file" / "run")
