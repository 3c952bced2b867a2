"""What is finished is never made again, what changed is, and what does not matter changes no byte of the results."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path
from typing import Any

import pytest
import yaml
from meddc_harness import World, case, finals, stored, write_task

from meddc_bench.records import History
from meddc_bench.store import Store


def values(row: dict[str, Any]) -> dict[str, list[float | None]]:
    return {name: one["values"] for name, one in row["metrics"].items()}


def test_the_same_command_twice_makes_nothing_and_changes_no_byte(world: World) -> None:
    world.run()
    before, calls, journal = world.bytes(), world.calls(), (world.root / "run" / "records.jsonl").read_bytes()
    exports = {path: path.stat().st_mtime_ns for path in (world.root / "run").glob("*s*.jsonl")}
    assert len(exports) >= 3
    again = world.run()
    assert not again.progress.made
    assert world.bytes() == before
    assert world.calls() == calls
    assert (world.root / "run" / "records.jsonl").read_bytes() == journal
    assert {path: path.stat().st_mtime_ns for path in exports} == exports


def test_another_policy_changes_no_number_and_no_record_of_the_first(world: World) -> None:
    world.run()
    before, lines = world.rows(), stored(world.root / "run")
    world.forget()
    world.run(policies=["hostile", "asker", "null"])
    assert world.calls("start asker") == []
    assert [row for row in world.rows() if row["policy"] == "asker"] == before
    after = stored(world.root / "run")
    assert {one: after[one] for one in lines} == lines
    world.run()
    assert world.rows() == before, "and taking them away again leaves what was"


def test_another_repeat_changes_no_earlier_one(world: World) -> None:
    world.run(repeats=2)
    before, lines = world.row(condition="echo"), stored(world.root / "run")
    world.forget()
    world.run(repeats=4)
    after = world.row(condition="echo")
    assert len(world.calls("start")) == 2 * 3
    assert {name: found[:2] for name, found in values(after).items()} == values(before)
    found = stored(world.root / "run")
    assert {one: found[one] for one in lines} == lines


def test_another_case_changes_no_earlier_record(world: World) -> None:
    world.run()
    lines = stored(world.root / "run")
    samples = (world.root / "run" / "samples_small.jsonl").read_bytes().splitlines()
    world.forget()
    write_task(world.root / "task", 5)
    world.run()
    assert len(world.calls("start")) == 2 * 2
    found = stored(world.root / "run")
    assert {one: found[one] for one in lines} == lines
    assert set(samples) <= set((world.root / "run" / "samples_small.jsonl").read_bytes().splitlines())


def test_a_case_taken_away_and_put_back_costs_nothing(world: World) -> None:
    world.run()
    before = world.bytes()
    (world.root / "task" / "cases" / "c001.yaml").unlink()
    world.run()
    assert world.row(condition="echo")["outcomes"] == {"scored": 4}
    write_task(world.root / "task", 3)
    world.forget()
    world.run()
    assert world.calls() == []
    assert world.bytes() == before


def edit(world: World, number: int, **changes: Any) -> None:
    write_task(world.root / "task", [{**case(number), **changes}])


def test_an_edited_case_is_rolled_out_again_and_the_others_are_not(world: World) -> None:
    world.run()
    world.forget()
    edit(world, 1, context="我肚子疼得打滚。")
    world.run()
    assert {call.split()[2] for call in world.calls("start")} == {"我肚子疼得打滚。"}
    assert len(world.calls("start")) == 2


def test_a_new_synonym_is_judged_again_and_never_replayed(world: World) -> None:
    world.run()
    world.forget()
    edit(world, 0, diagnoses=[{"name": "肺炎", "synonyms": ["肺部感染"]}])
    world.run()
    assert world.calls("start") == world.calls("read") == []
    assert set(world.calls()) == {"judge cover_items"}
    assert len(world.calls()) == 2 * 2  # emitted and echo, two repeats


def test_an_option_of_the_reader_redoes_only_its_readings_and_never_the_trajectory(world: World) -> None:
    world.run()
    before = world.row(condition="echo")
    world.forget()
    world.run(readers=[("echo", {"version": 1})])
    assert world.calls("start") == []
    assert len(world.calls("read")) == 6
    assert world.calls("judge cover_targets") == []
    assert world.row(condition="echo")["metrics"]["T"] == before["metrics"]["T"]
    assert world.row(condition="echo")["fingerprints"]["T"] == before["fingerprints"]["T"]
    assert world.row(condition="echo")["fingerprints"]["D"] != before["fingerprints"]["D"]


def test_the_exports_follow_an_edit_that_is_taken_back(world: World) -> None:
    world.run()
    files = sorted((world.root / "run").glob("[hs]*s*.jsonl"))
    before = [path.read_bytes() for path in files]
    edit(world, 0, targets=[{**case(0)["targets"][0], "question": "发烧吗，多少度？"}])
    world.run()
    assert [path.read_bytes() for path in files] != before
    edit(world, 0)
    world.run()
    assert [path.read_bytes() for path in files] == before


def test_a_crash_after_the_last_record_and_before_the_exports_leaves_no_stale_export(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.run(judges=[("equal", {"fail": "own", "on": "阑尾炎"})])
    with monkeypatch.context() as patch:
        patch.setattr("meddc_bench.run.write_outputs", _interrupt)
        world.mend()
        with pytest.raises(KeyboardInterrupt):
            world.run(judges=[("equal", {"fail": "own", "on": "阑尾炎"})])
    world.run(judges=[("equal", {"fail": "own", "on": "阑尾炎"})])
    samples = [json.loads(line) for line in (world.root / "run" / "samples_small.jsonl").read_bytes().splitlines()]
    assert {one["outcome"] for one in samples} == {"scored"}
    assert world.row(condition="echo")["outcomes"] == {"scored": 6}


def _interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_an_export_that_was_deleted_is_written_again(world: World) -> None:
    world.run()
    path = world.root / "run" / "samples_small.jsonl"
    before = path.read_bytes()
    path.unlink()
    world.run()
    assert path.read_bytes() == before


def test_width_file_names_and_the_order_of_cases_change_no_byte(world: World) -> None:
    write_task(world.root / "task", 6)
    world.run("one", policies=["asker", "hostile"], max_connections=1)
    cases = [case(number) for number in range(6)]
    random.Random(4).shuffle(cases)
    for path in (world.root / "task" / "cases").iterdir():
        path.unlink()
    for number, one in enumerate(cases[:3]):
        text = yaml.safe_dump(dict(reversed(one.items())), allow_unicode=True, sort_keys=False)
        (world.root / "task" / "cases" / f"{number}.yaml").write_text(text, encoding="utf-8")
    config = world.task.read_text(encoding="utf-8")
    world.task.write_text(config + "cases: [more.jsonl, cases/*.yaml]\n", encoding="utf-8")
    lines = [json.dumps(one, ensure_ascii=False) for one in cases[3:]]
    (world.root / "task" / "more.jsonl").write_text("\n".join(lines), encoding="utf-8")
    world.run("many", policies=["asker", "hostile"], max_connections=64)
    assert world.bytes("one") == world.bytes("many")
    for name in ("histories.jsonl", "samples_small.jsonl"):
        assert (world.root / "one" / name).read_bytes() == (world.root / "many" / name).read_bytes()


def test_the_seed_of_hashing_changes_no_byte(world: World) -> None:
    digests = set()
    for seed in ("0", "4711"):
        words = ("run", "-t", str(world.task), "--policy", "asker", "--policy", "hostile", "-o", f"seed{seed}")
        assert world.finish(*words, env=world.environment(PYTHONHASHSEED=seed)).code == 0
        digests.add(hashlib.sha256(world.bytes(f"seed{seed}")).hexdigest())
    assert len(digests) == 1


def test_an_address_in_memory_in_the_words_of_an_error_changes_no_byte(world: World) -> None:
    found = set()
    for name in ("one", "two"):
        words = ("--policy", "asker", "--policy-args", "fail=address", "--max-retries", "0", "-o", name)
        assert world.finish("run", "-t", str(world.task), *words).code == 3
        found.add(world.bytes(name))
    assert len(found) == 1
    assert "ssl:<object object at 0x…>" in found.pop().decode()


def test_the_order_of_policies_on_the_command_line_changes_no_number(world: World) -> None:
    world.run("ab", policies=["asker", "hostile"])
    world.run("ba", policies=["hostile", "asker"])
    one, other = (sorted(world.rows(name), key=lambda row: (row["policy"], row["condition"])) for name in ("ab", "ba"))
    assert one == other


def test_results_hold_no_time_no_usage_and_no_nan(world: World) -> None:
    patients = [("telling", {"fail": "infra", "on": "头"})]
    world.run(policies=["asker", "null"], patients=patients, readers=["own", "echo"])
    text = world.bytes().decode()
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    keys: set[str] = set()

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            keys.update(value)
            value = list(value.values())
        for one in value if isinstance(value, list) else ():
            walk(one)

    walk(json.loads(text))
    banned = ("time", "usage", "token", "start", "finish", "pid")
    assert not {key for key in keys if any(word in key for word in banned)}
    for path in (world.root / "run").glob("*.jsonl"):
        for line in path.read_bytes().splitlines():
            json.loads(line, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def test_a_stored_history_is_never_final_twice(world: World) -> None:
    for _ in range(2):
        world.run(policies=["asker", "null", "hostile"], readers=["echo", "own"])
    assert set(finals(world.root / "run").values()) == {1}


# ── failures, and trying again ───────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("roles", "redone"),
    [
        ({"policies": [("asker", {"fail": "infra", "on": "肚子"})]}, {"start": 2, "end": 2, "read": 2}),
        ({"patients": [("telling", {"fail": "own", "on": "肚子"})]}, {"start": 2, "end": 2, "read": 2}),
        ({"readers": [("echo", {"fail": "own", "on": "肚子"})]}, {"start": 0, "end": 0, "read": 2}),
        ({"judges": [("equal", {"fail": "own", "on": "阑尾炎"})]}, {"start": 0, "end": 0, "read": 0}),
    ],
)
def test_a_retry_redoes_the_failed_alone_and_ends_where_an_unfailed_run_ends(
    world: World, roles: dict[str, Any], redone: dict[str, int]
) -> None:
    assert world.run(**roles).exit_code == 3
    failed = stored(world.root / "run")
    world.mend()
    world.forget()
    assert world.run(**roles).exit_code == 0
    assert {what: len(world.calls(what)) for what in redone} == redone
    world.run("fresh", **roles)
    assert world.bytes() == world.bytes("fresh")
    assert set(finals(world.root / "run").values()) == {1}
    kept = {one: line for one, line in failed.items() if b'"outcome":"scored"' in line[:130]}
    after = stored(world.root / "run")
    assert {one: after[one] for one in kept} == kept


def test_a_policy_that_failed_by_itself_is_measured_and_not_asked_again(world: World) -> None:
    policies = [("asker", {"fail": "own", "on": "肚子"}), "null"]
    first = world.run(policies=policies)
    assert first.exit_code == 0
    world.mend()
    world.forget()
    world.run(policies=policies)
    assert world.calls() == []
    assert world.row(policy="asker", condition="echo")["outcomes"] == {"policy_failed": 2, "scored": 4}


def test_infra_failures_are_retried_as_often_as_asked_and_zero_means_zero(world: World) -> None:
    for retries in (0, 2):
        world.forget()
        world.run(f"run{retries}", policies=[("asker", {"fail": "infra"})], max_retries=retries)
        assert len(world.calls("start")) == (1 + retries) * 6
        with Store(world.root / f"run{retries}", writable=False) as store:
            assert {store.entry(one).attempts for one in store.ids()} == {1 + retries}


def test_the_turns_of_a_failed_history_are_kept_for_people_and_scored_by_no_one(world: World) -> None:
    world.run(policies=[("asker", {"fail": "infra"})])
    with Store(world.root / "run", writable=False) as store:
        for one in store.ids():
            found = store.record(one, History)
            assert found is not None
            assert [turn.role for turn in found.turns] == ["patient", "doctor", "patient"]
            assert (store.outcome(one), found.ended) == ("infra_failed", "failed")
    assert (world.root / "run" / "histories.jsonl").read_bytes() == b""


def test_only_rolling_out_and_scoring_later_gives_the_results_of_one_run(world: World) -> None:
    world.run(predict_only=True)
    assert world.calls("read") == world.calls("judge") == []
    world.run()
    assert len(world.calls("end")) == 6
    world.run("at-once")
    assert world.bytes() == world.bytes("at-once")


def test_only_rolling_out_is_complete_when_all_is_rolled_out(world: World) -> None:
    finished = world.run(predict_only=True)
    assert world.row(condition="emitted")["outcomes"] == {"scored": 6}
    assert finished.exit_code == 0


def test_scoring_what_is_stored_rolls_nothing_out_not_even_what_failed(world: World) -> None:
    policies = [("asker", {"fail": "infra", "on": "肚子"})]
    world.run(policies=policies)
    world.forget()
    finished = world.run(policies=policies, judges=["other=equal"], stored_only=True)
    assert world.calls("start") == []
    assert finished.exit_code == 3
    assert world.row(condition="echo", judge="other")["outcomes"] == {"infra_failed": 2, "scored": 4}


def test_scoring_half_a_run_does_not_call_it_complete(world: World) -> None:
    world.run(repeats=1)
    finished = world.run(repeats=2, stored_only=True)
    assert finished.results["complete"] is False
    assert json.loads((world.root / "run" / "manifest.json").read_bytes())["status"] == "partial"
    assert finished.exit_code == 3


def test_a_run_moved_to_another_place_is_the_same_run(world: World, tmp_path: Path) -> None:
    world.run()
    before = world.bytes()
    moved = tmp_path / "另一个 地方"
    (world.root / "run").rename(moved)
    world.forget()
    world.run(moved.name)
    assert world.calls() == []
    assert world.bytes(moved.name) == before
