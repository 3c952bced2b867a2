"""The journal: what is whole is found, what is torn is passed over, and nothing written before is ever lost."""

from __future__ import annotations

import itertools
import json
import os
import resource
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from meddc_harness import World, done, stored, wait_until

from meddc_bench.errors import StoreError
from meddc_bench.records import Evidence, History, Item, Key, Reading, Turn
from meddc_bench.store import LOCK, RECORDS, Entry, Head, Store, pretty, save, storable


def key(case: str = "c1") -> Key:
    return Key(task="t", case=case, policy="p", patient="q", repeat=0)


def ident(number: int) -> str:
    return f"{number:032x}"


def entry(number: int, outcome: str = "scored", **more: object) -> Entry:
    return Entry(stage="reading", id=ident(number), outcome=outcome, key=key(), **more)  # type: ignore[arg-type]


def reading(text: str) -> Reading:
    return Reading(text=text, diagnoses=("肺炎",))


def fill(folder: Path, texts: list[str]) -> bytes:
    with Store(folder) as store:
        for number, text in enumerate(texts):
            store.append(entry(number), reading(text))
    return (folder / RECORDS).read_bytes()


def texts_of(folder: Path) -> dict[str, str | None]:
    with Store(folder, writable=False) as store:
        found = {one: store.record(one, Reading) for one in store.ids()}
        return {one: record.text if record is not None else None for one, record in found.items()}


def test_a_record_comes_back_as_it_was_written(tmp_path: Path) -> None:
    history = History(turns=(Turn(index=0, round=0, role="patient", kind="opening", text="“疼”\n3天"),), ended="budget")
    with Store(tmp_path) as store:
        head = Head(ended="budget", rounds=3, checks={"unknown fact": 2})
        store.append(Entry(stage="history", id=ident(1), outcome="scored", key=key(), head=head), history)
        store.append(entry(2, "reader_failed", reason="说不出", attempts=3), None)
    with Store(tmp_path, writable=False) as store:
        assert store.record(ident(1), History) == history
        assert store.entry(ident(1)).head == head
        failed = store.entry(ident(2))
        assert (failed.outcome, failed.reason, failed.attempts) == ("reader_failed", "说不出", 3)
        assert store.record(ident(2), Reading) is None
        assert [store.outcome(ident(one)) for one in (1, 2, 3)] == ["scored", "reader_failed", None]


def test_a_crash_in_the_last_record_loses_that_record_alone_wherever_it_was_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)  # hundreds of them
    whole = fill(tmp_path / "whole", ["第一条", "第二条", '最后一条 }"},"seal":"00000002"}'])
    start = whole.rindex(b"\n", 0, -1) + 1
    folder = tmp_path / "cut"
    folder.mkdir()
    for size in range(start, len(whole) + 1):
        (folder / RECORDS).write_bytes(whole[:size])
        last = {ident(2)} if size >= len(whole) - 1 else set()  # all but the newline is enough
        assert set(texts_of(folder)) == {ident(0), ident(1)} | last, size
        with Store(folder) as store:
            assert store.torn == (not last and size > start)
            store.append(entry(7), reading("接着写"))
        found = texts_of(folder)
        assert found[ident(7)] == "接着写"
        assert set(found) == {ident(0), ident(1), ident(7)} | last
        assert (folder / RECORDS).read_bytes().startswith(whole[:size]), "nothing older may be deleted"


@pytest.mark.parametrize(
    "tail", [b"}", b'"}', b'","seal":"00000002"}', b"\x00" * 50, b'{"stage":"reading"}', b"\xff\xfe{}"]
)
def test_a_torn_line_that_looks_finished_is_not_taken_for_a_record(tmp_path: Path, tail: bytes) -> None:
    whole = fill(tmp_path, ["第一条", "第二条"])
    (tmp_path / RECORDS).write_bytes(whole[: whole.rindex(b"\n", 0, -1) + 60] + tail)
    assert texts_of(tmp_path) == {ident(0): "第一条"}


def test_a_text_that_quotes_a_whole_line_of_the_store_is_only_text(tmp_path: Path) -> None:
    line = fill(tmp_path / "one", ["无"]).decode().strip()
    fill(tmp_path / "two", [line, f"{line}\n{line}"])
    assert list(texts_of(tmp_path / "two").values()) == [line, f"{line}\n{line}"]


def test_a_retry_replaces_a_failure_and_a_failure_never_hides_in_the_index(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.append(entry(1, "infra_failed", reason="away"), None)
        store.append(entry(2), reading("二"))
        store.append(entry(1), reading("一"))
        assert store.outcome(ident(1)) == "scored"
    with Store(tmp_path, writable=False) as store:
        assert store.outcome(ident(1)) == "scored"
        assert store.entry(ident(1)).reason is None
        assert store.record(ident(1), Reading) == reading("一")
        assert list(store.ids()) == [ident(2), ident(1)]
        assert len(store) == 2


def test_what_was_there_at_opening_and_what_came_later_are_read_alike(tmp_path: Path) -> None:
    fill(tmp_path, ["旧一", "旧二"])
    with Store(tmp_path) as store:
        for number, text in ((1, "新二"), (2, "三"), (3, "四")):
            store.append(entry(number), reading(text))
            if number == 2:
                store.map()
        texts = ["旧一", "新二", "三", "四"]
        assert [store.record(ident(number), Reading) for number in range(4)] == [reading(text) for text in texts]
        assert [store.entry(ident(number)).id for number in range(4)] == [ident(number) for number in range(4)]
        assert [json.loads(line)["record"]["text"] for line in store.lines()] == texts


def test_a_last_line_that_lacks_only_its_end_of_line_is_read_by_one_who_only_looks(tmp_path: Path) -> None:
    whole = fill(tmp_path, ["第一条", "第二条"])
    (tmp_path / RECORDS).write_bytes(whole[:-1])
    assert texts_of(tmp_path) == {ident(0): "第一条", ident(1): "第二条"}


def test_people_can_read_the_journal_line_by_line(tmp_path: Path) -> None:
    fill(tmp_path, ["右下腹疼三天，发烧38.5℃"])
    (line,) = (tmp_path / RECORDS).read_text(encoding="utf-8").splitlines()
    assert "右下腹疼三天，发烧38.5℃" in line
    data = json.loads(line)
    assert data["key"]["case"] == "c1"
    assert data["record"]["diagnoses"] == ["肺炎"]


@settings(max_examples=60, deadline=None)
@given(texts=st.lists(st.text(max_size=40), min_size=1, max_size=6))
def test_no_text_whatever_breaks_the_journal(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    folder = tmp_path_factory.mktemp("any")
    fill(folder, texts)
    plain = [text.encode("utf-8", "replace").decode() for text in texts]
    assert [len(one or "") for one in texts_of(folder).values()] == [len(text) for text in plain]


def test_a_lone_surrogate_in_a_reply_costs_one_character_and_not_the_run(tmp_path: Path) -> None:
    found = Evidence(axis="trajectory", items=(Item(id="u0", text="发\ud83d烧"),), raw={"a\udc00": "原\udfff话"})
    with Store(tmp_path) as store:
        store.append(entry(1, reason="原因\ud800"), found)
        assert store.record(ident(1), Evidence) == storable(found).record
        assert store.entry(ident(1)).reason == "原因\ufffd"
    assert "发\ufffd烧" in (tmp_path / RECORDS).read_text(encoding="utf-8")


@pytest.mark.parametrize("bad", [Reading(text=5), Reading(plan=["x"]), Reading(diagnoses=("a", 3))])  # type: ignore[arg-type]
def test_a_record_that_could_not_be_read_again_is_refused_and_the_journal_stays_whole(
    tmp_path: Path, bad: Reading
) -> None:
    with Store(tmp_path) as store:
        store.append(entry(1), reading("好"))
        with pytest.raises((msgspec.ValidationError, TypeError)):
            store.append(entry(2), bad)
        store.append(entry(3), reading("也好"))
    assert texts_of(tmp_path) == {ident(1): "好", ident(3): "也好"}


def test_a_line_damaged_in_the_middle_is_named_instead_of_a_traceback(tmp_path: Path) -> None:
    whole = fill(tmp_path, ["第一条", "第二条"])
    (tmp_path / RECORDS).write_bytes(whole.replace("第二条".encode(), b"\xff\xff\xff\xff\xff\xff\xff\xff\xff"))
    with Store(tmp_path, writable=False) as store:
        assert store.record(ident(0), Reading) == reading("第一条")
        with pytest.raises(StoreError, match=rf"record {ident(1)} is damaged.*retry"):
            store.record(ident(1), Reading)


# ── one writer ───────────────────────────────────────────────────────────────────────────────────


def test_a_second_writer_is_told_who_holds_the_folder(tmp_path: Path) -> None:
    script = "import sys; from meddc_bench.store import *; s=Store(Path(sys.argv[1])); print(1,flush=True); input()"
    holder = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"1\n"
    with pytest.raises(StoreError, match=rf"in use by process {holder.pid} on \S+; wait for it or use another"):
        Store(tmp_path)
    with Store(tmp_path, writable=False) as reader:
        assert len(reader) == 0
    holder.kill()
    done(holder)
    with Store(tmp_path) as store:  # a killed holder holds nothing
        store.append(entry(1), reading("轮到我了"))


def test_a_folder_can_be_opened_again_at_once_after_a_refusal(tmp_path: Path) -> None:
    first = Store(tmp_path)
    with pytest.raises(StoreError):
        Store(tmp_path)
    first.close()
    Store(tmp_path).close()


# ── no room, no right ────────────────────────────────────────────────────────────────────────────


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_is_an_error_that_leaves_whole_lines_and_all_work_behind(tmp_path: Path) -> None:
    assert signal.getsignal(signal.SIGXFSZ) == signal.SIG_IGN
    kept = fill(tmp_path, ["第一条", "第二条"])
    with largest_file(len(kept) + 100), Store(tmp_path) as store:
        for attempt in range(2):
            with pytest.raises(StoreError, match=r"cannot write .*records.jsonl: .*; what was written before is kept"):
                store.append(entry(5), reading(f"放不下了{attempt}"))
        assert ident(5) not in store
    assert (tmp_path / RECORDS).read_bytes() == kept
    with Store(tmp_path) as store:
        store.append(entry(5), reading("又有地方了"))
    assert list(texts_of(tmp_path).values()) == ["第一条", "第二条", "又有地方了"]


def test_a_disk_that_fills_up_under_a_whole_file_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    save(path, b"old")
    with largest_file(10), pytest.raises(StoreError, match=r"cannot write .*results.json"):
        save(path, b"x" * 100)
    assert path.read_bytes() == b"old"
    assert [one.name for one in tmp_path.iterdir()] == ["results.json"]


def test_a_full_disk_stops_the_run_with_one_clear_line_and_the_next_run_goes_on(world: World) -> None:
    script = textwrap.dedent("""
        import resource, sys
        resource.setrlimit(resource.RLIMIT_FSIZE, (9000, resource.RLIM_INFINITY))
        from meddc_bench.cli import main
        main(sys.argv[1:])
    """)
    words = ["run", "-t", str(world.task), "--policy", "asker", "-o", "run", "--max-connections", "2"]
    full = done(
        subprocess.Popen(
            [sys.executable, "-c", script, *words], cwd=world.root, env=world.environment(), stderr=subprocess.PIPE
        )
    )
    assert full.code == 1
    (line,) = full.err.splitlines()
    assert line.startswith("error: cannot write run/records.jsonl: ")
    kept = (world.root / "run" / RECORDS).read_bytes()
    assert kept.endswith(b"\n")
    assert len(stored(world.root / "run")) == kept.count(b"\n") > 0
    begun = len(world.calls("end"))
    assert world.finish(*words).code == 0
    assert (world.root / "run" / RECORDS).read_bytes().startswith(kept)
    assert len(world.calls("end")) - begun == 6 - kept.count(b'"stage":"history"')
    world.run("whole")
    assert world.bytes() == world.bytes("whole")


def test_a_folder_one_may_not_write_is_refused_in_one_line(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    file = world.root / "file"
    file.touch()
    for bad in (str(file), str(file / "below"), "/proc/nobody/run", "x" * 300):
        assert world.cli("run", "-t", str(world.task), "--policy", "asker", "-o", bad) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"error: cannot write to {bad}: ")


def test_a_read_only_folder_is_refused_in_one_line_and_loses_no_old_result(world: World) -> None:
    script = textwrap.dedent("""
        import ctypes, sys
        libc = ctypes.CDLL(None)  # root without the right to pass over modes is like anyone
        head, caps = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
        libc.capget(head, caps)
        caps[0] &= ~0b110
        libc.capset(head, caps)
        from meddc_bench.cli import main
        main(sys.argv[1:])
    """)
    world.run()
    before = world.bytes()
    folder = world.root / "run"
    for path in (*folder.iterdir(), folder):
        path.chmod(0o555 if path.is_dir() else 0o444)
    program = [sys.executable, "-c", script, "run", "-t", "task/task.yaml", "--policy", "asker", "-o", "run"]
    refused = done(subprocess.Popen(program, cwd=world.root, env=world.environment(), stderr=subprocess.PIPE))
    folder.chmod(0o755)
    assert refused.code == 1
    assert refused.err.splitlines() == ["error: cannot write to run: Permission denied"]
    assert world.bytes() == before


# ── what is written ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_a_file_with_nan_is_never_written(bad: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        pretty({"D": [bad]})


def test_equal_data_gives_equal_bytes_whatever_the_order_of_its_keys() -> None:
    assert pretty({"b": 1, "a": {"d": "肺炎", "c": None}}) == pretty({"a": {"c": None, "d": "肺炎"}, "b": 1})


def test_a_killed_save_leaves_nothing_that_grows(tmp_path: Path) -> None:
    script = f"""
import os
from pathlib import Path
from meddc_bench import store
os.replace = lambda *_: os.kill(os.getpid(), 9)
store.save(Path({str(tmp_path)!r}) / "results.json", b"new")
"""
    for _ in range(2):
        assert subprocess.run([sys.executable, "-c", script]).returncode == -9
    assert len(list(tmp_path.iterdir())) == 1
    save(tmp_path / "results.json", b"new")
    assert [one.name for one in tmp_path.iterdir()] == ["results.json"]


def test_a_history_and_a_reading_are_on_the_disk_before_anything_builds_on_them(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    whole = os.fdatasync

    def fdatasync(fd: int) -> None:
        whole(fd)
        synced.append(os.fstat(fd).st_size)

    monkeypatch.setattr(os, "fdatasync", fdatasync)
    world.run(repeats=1, max_connections=1)
    lines = (world.root / "run" / RECORDS).read_bytes().splitlines(keepends=True)
    whole_to = list(itertools.accumulate(map(len, lines)))
    records = [json.loads(line) for line in lines]
    assert {one["stage"] for one in records} == {"history", "reading", "evidence"}
    for end, after, data in zip(whole_to, [*records[1:], None], records, strict=True):
        if data["stage"] == "history" and after is not None:
            assert end in synced  # nothing else is under way at that time, and nothing went before it
        if data["stage"] == "reading" and data["key"].get("condition") == "echo":
            built = next(
                at for at, one in zip(whole_to, records, strict=True)
                if at > end and one["stage"] == "evidence" and one["key"].get("condition") == "echo"
            )  # fmt: skip
            assert any(end <= at < built for at in synced)


def test_a_disk_that_fails_late_is_an_error_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(fd: int) -> None:
        raise OSError(28, "No space left on device")

    with Store(tmp_path) as store:
        store.append(entry(1), reading("好"))
        monkeypatch.setattr(os, "fdatasync", fails)
        with pytest.raises(StoreError, match="No space left"):
            store.sync()
        monkeypatch.setattr(os, "fsync", fails)
        with pytest.raises(StoreError, match="No space left"):
            store.close()
    monkeypatch.undo()
    Store(tmp_path).close()


def test_the_lock_names_its_holder_in_words(tmp_path: Path) -> None:
    with Store(tmp_path):
        wait_until(lambda: (tmp_path / LOCK).read_text().startswith(f"process {os.getpid()} on "))
