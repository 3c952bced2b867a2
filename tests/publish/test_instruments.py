"""`standard` is computed from fingerprints that are locked; who changes an instrument changes the lock, visibly."""

from __future__ import annotations

import pytest

from meddc_bench.errors import InputError
from meddc_bench.publish.files import written
from meddc_bench.publish.instruments import known_lock, lock_file, locked, recognise
from meddc_bench.registry import Registry
from meddc_bench.run import task_index
from meddc_bench.task import LOCK, load_lock


@pytest.mark.parametrize("name", ["meddc_record", "meddc_dialogue", "osce_zh"])
def test_the_locks_are_current(name: str, registry: Registry) -> None:
    (task,) = task_index((), registry).resolve(name)
    assert lock_file(task).read_bytes() == written(locked(task, registry)), f"run: meddc-bench leaderboard lock {name}"


def test_the_paper_s_instrument_names_the_printed_model_and_needs_no_key_to_be_locked(registry: Registry) -> None:
    (task,) = task_index((), registry).resolve("meddc_record")
    paper = task.config.instruments["paper"]
    assert {one.options["model"] for one in (paper.patient, *paper.readers, paper.judge)} == {"DeepSeek-v3"}
    lock = known_lock("meddc_record", registry)
    assert lock is not None
    assert set(lock.instruments) == {"offline", "paper"}
    assert set(lock.instruments["paper"]) == {"emitted", "openai"}


def test_an_instrument_is_told_by_its_fingerprints(registry: Registry) -> None:
    lock = known_lock("meddc_record", registry)
    assert lock is not None
    for name, conditions in lock.instruments.items():
        for one in conditions.values():
            assert recognise(lock, one.metrics, one.parts).name == name
    known = lock.instruments["offline"]["knowledge"]
    other = recognise(lock, {**known.metrics, "D": "0" * 32}, {**known.parts, "patient": "0" * 32})
    assert (other.name, other.standard, other.differs) == ("custom", False, ("patient",))
    fewer = recognise(lock, {"D": known.metrics["D"]}, known.parts)
    assert (fewer.standard, fewer.differs) == (False, ("metrics",))
    assert recognise(None, known.metrics, known.parts).name == "custom"


def test_a_lock_that_is_none_is_named(tmp_path) -> None:  # type: ignore[no-untyped-def]
    assert load_lock(tmp_path) is None
    (tmp_path / LOCK).write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="is no lock of instruments"):
        load_lock(tmp_path)
