"""Histories that others made: stored once, cleaned on entry, scored like any other, never a reason to lose a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from meddc_harness import World, finals

from meddc_bench.records import History
from meddc_bench.store import RECORDS, Store


def lines(world: World, *found: dict[str, Any], name: str = "theirs.jsonl") -> Path:
    path = world.root / name
    path.write_text("\n".join(json.dumps(one, ensure_ascii=False) for one in found), encoding="utf-8")
    return path


def score(world: World, *files: Path, more: tuple[str, ...] = ()) -> int:
    histories = [word for file in files for word in ("--histories", str(file))]
    folder = str(world.root / "run")
    return world.cli("score", "--importer", "lines", "-t", str(world.task), *histories, "-o", folder, *more)


def test_imported_histories_are_scored_and_the_same_command_makes_nothing_again(world: World) -> None:
    path = lines(world, *({"case": f"c00{n}", "repeat": r, "text": "您发烧吗？"} for n in range(3) for r in range(2)))
    assert score(world, path) == 0
    row = world.row(condition="echo")
    assert (row["policy"], row["patient"], row["outcomes"]) == ("theirs", "imported", {"scored": 6})
    assert row["metrics"]["T"]["sums"] == [{"fn": 6, "fp": 0, "tp": 3}] * 2
    before, calls = world.bytes(), world.calls()
    assert score(world, path) == 0
    assert (world.bytes(), world.calls()) == (before, calls)
    assert set(finals(world.root / "run").values()) == {1}


def test_more_histories_later_change_no_earlier_record(world: World) -> None:
    first = lines(world, {"case": "c000", "text": "您发烧吗？"})
    assert score(world, first) == 0
    journal = (world.root / "run" / RECORDS).read_bytes()
    more = lines(world, {"case": "c001", "text": "肚子疼吗？"}, name="more.jsonl")
    assert score(world, first, more) == 0
    assert (world.root / "run" / RECORDS).read_bytes().startswith(journal)
    assert world.row(condition="echo")["outcomes"] == {"scored": 2}


def test_a_case_that_one_policy_lacks_stays_in_its_count(world: World) -> None:
    both = {"case": "c000", "text": "您发烧吗？"}, {"case": "c001", "text": "肚子疼吗？"}
    path = lines(world, *both, {**both[0], "policy": "another"})
    assert score(world, path) == 3
    row = world.row(policy="another", condition="echo")
    assert row["outcomes"] == {"infra_failed": 1, "scored": 1}
    assert (row["metrics"]["D"]["measured"], row["metrics"]["D"]["expected"]) == (1, 2)
    assert world.row(policy="theirs", condition="echo")["outcomes"] == {"scored": 2}


def test_an_edited_history_is_another_history(world: World) -> None:
    assert score(world, lines(world, {"case": "c000", "text": "您发烧吗？"})) == 0
    before = world.row(condition="echo")["metrics"]["T"]["mean"]
    assert score(world, lines(world, {"case": "c000", "text": "吃了吗？"})) == 0
    assert before > world.row(condition="echo")["metrics"]["T"]["mean"] == 0.0
    (exported,) = (world.root / "run" / "histories.jsonl").read_text(encoding="utf-8").splitlines()
    assert "吃了吗？" in exported


def test_hostile_imported_words_are_cleaned_and_hidden_reasoning_is_kept_apart(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "<think>我猜是肺炎</think>\x1b[2J您发烧吗？\u202e\ud83d"
    path = world.root / "theirs.jsonl"
    path.write_text(json.dumps({"case": "c000", "text": text}), encoding="utf-8")
    assert score(world, path) == 0
    with Store(world.root / "run", writable=False) as store:
        history = store.record(next(store.ids()), History)
    assert history is not None
    assert history.turns[1].text == "您发烧吗？\ufffd"
    assert history.notes["1"].reasoning == "我猜是肺炎"
    assert world.cli("show", "history", str(world.root / "run"), "c000") == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "肺炎" not in out.split("/ equal")[0].split("医生")[1]


def test_what_cannot_be_used_is_named_and_costs_only_itself(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    path = lines(
        world, {"fault": "no doctor\x1b[2J speaks"}, {"case": "c000", "text": "您发烧吗？"},
        {"case": "c000", "text": "第二次"}, {"case": "c999", "text": "没有这个病例"},
        {"case": "c001", "repeat": 10**9, "text": "太多次"}, {"case": "c001", "repeat": -1, "text": "负一次"},
    )  # fmt: skip
    assert score(world, path) == 0
    err = capsys.readouterr().err
    for words in (
        f"note: {path}:1: no doctor speaks",
        "note: c000: a second history of theirs, repeat 0; the first counts",
        "note: c999: no references for this case: its histories are kept but not scored",
        "note: c001: repeat 1000000000 is not one of 0 to 999",
        "note: c001: repeat -1 is not one of 0 to 999",
        "imported: theirs 2; 1 cases with references",
    ):
        assert words in err
    assert world.row(condition="echo")["outcomes"] == {"scored": 1}


def test_an_importer_of_broken_records_is_named_and_spoils_no_store(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = {"case": "c000", "text": "您发烧吗？"}, {"case": "c001", "poison": 1, "text": "x"}
    assert score(world, lines(world, good, bad)) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: plugin doubles: lines failed on {world.root / 'theirs.jsonl'}: Expected `int`")
    assert score(world, lines(world, good)) == 0


def test_a_full_disk_is_not_blamed_on_the_importer(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(fd: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    path = lines(world, {"case": "c000", "text": "您发烧吗？"})
    with monkeypatch.context() as patch:
        patch.setattr("meddc_bench.store.os.write", full)
        assert score(world, path) == 1
    assert "error: cannot write" in capsys.readouterr().err
    assert score(world, path) == 0


@pytest.mark.parametrize("verb", ["retry", "score"])
def test_going_on_with_an_import_says_how(world: World, verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert score(world, lines(world, {"case": "c000", "text": "您发烧吗？"})) == 0
    capsys.readouterr()
    assert world.cli(verb, str(world.root / "run")) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "holds imported histories" in line


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--importer", "lins", "--histories", "x"), "no importer is named 'lins'; did you mean 'lines'?"),
        (("--importer", "lines"), "give the files of histories: --histories FILE..."),
        (("--importer", "lines", "--histories", "nowhere.jsonl"), "nowhere.jsonl: there is no such file"),
        (("--importer", "lines", "--importer-args", "colour=red", "--histories", "x"), "has no option 'colour'"),
    ],
)
def test_a_wrong_import_is_one_clear_line(
    world: World, words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert world.cli("score", "-t", str(world.task), "-o", str(world.root / "run"), *words) == 2
    assert message in capsys.readouterr().err.splitlines()[-1]


def test_no_usable_history_at_all_is_an_error_with_the_first_reason(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    assert score(world, lines(world, {"fault": "不是对话"})) == 2
    assert "first: " in capsys.readouterr().err
