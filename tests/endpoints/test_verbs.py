"""What a user sees of language models on the command line: what a run would take, what it took, what is kept."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from meddc_bench.cli import root
from meddc_bench.llm.calls import NAME, CallJournal
from meddc_bench.records import JUDGE_STEPS
from meddc_openai.loopback import Loopback

PRICES = "doctor: {prompt: 2, completion: 8}\npatient: {prompt: 1, completion: 4}\njudge: {prompt: 2, completion: 8}\n"


@pytest.fixture(scope="module")
def server() -> Iterator[Loopback]:
    with Loopback().serving() as server:
        yield server


@pytest.fixture
def arguments(server: Loopback, tmp_path: Path) -> list[str]:
    (tmp_path / "prices.yaml").write_text(PRICES, encoding="utf-8")
    url = f"base_url={server.url}"
    return [
        "run", "--tasks", "meddc_record", "-L", "2", "--repeats", "1", "-o", str(tmp_path / "run"),
        "--policy", "openai", "--policy-args", f"model=doctor,{url}", "--patient", "openai",
        "--patient-args", f"model=patient,{url}", "--judge", "openai", "--judge-args", f"model=judge,{url}",
        "--prices", str(tmp_path / "prices.yaml"),
    ]  # fmt: skip


def invoke(*words: str) -> Result:
    return CliRunner().invoke(root, list(words))


def test_a_dry_run_tells_the_cost_and_asks_nobody(arguments: list[str], server: Loopback, tmp_path: Path) -> None:
    before = server.counts["requests"]
    done = invoke(*arguments, "--dry-run", "--json")
    found = json.loads(done.stdout)
    assert (found["histories"], found["stored"]) == (2, 0)
    assert {(one["role"], one["model"]) for one in found["models"]} == {
        ("policy", "doctor"), ("patient", "patient"), ("judge", "judge"),
    }  # fmt: skip
    assert found["cost"] == pytest.approx(sum(one["cost"] for one in found["models"]))
    assert server.counts["requests"] == before
    assert not (tmp_path / "run").exists()


def test_a_dry_run_is_never_below_what_the_run_takes_and_not_far_above(arguments: list[str], tmp_path: Path) -> None:
    expected = json.loads(invoke(*arguments, "--dry-run", "--json").stdout)
    assert invoke(*arguments).exit_code == 0
    taken = json.loads((tmp_path / "run" / "manifest.json").read_text(encoding="utf-8"))["calls"]
    for one in expected["models"]:
        (spent,) = [row for row in taken["usage"] if (row["role"], row["model"]) == (one["role"], one["model"])]
        assert spent["calls"] <= one["calls"] <= 3 * spent["calls"]
    after = json.loads(invoke(*arguments, "--dry-run", "--json").stdout)
    assert (after["histories"], after["stored"], after["models"]) == (0, 2, [])


def test_a_run_says_what_its_calls_took(arguments: list[str]) -> None:
    done = invoke(*arguments)
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("calls: ")]
    assert " replies (0 unusable), " in line
    assert ", cost " in line
    (again,) = [line for line in invoke(*arguments).stderr.splitlines() if line.startswith("calls: ")]
    assert again.partition("; now")[0] == line.partition("; now")[0]


def test_kept_replies_are_listed_and_cleared_model_by_model(arguments: list[str], tmp_path: Path) -> None:
    folder = str(tmp_path / "run")
    invoke(*arguments)
    listed = invoke("cache", "list", folder).stdout
    assert all(model in listed for model in ("doctor", "patient", "judge"))
    kept = (tmp_path / "run" / NAME).read_bytes().splitlines()
    of_judge = sum(json.loads(line)["model"] == "judge" for line in kept)
    assert invoke("cache", "clear", folder, "--model", "judge", "--yes").stdout == f"{of_judge} replies deleted\n"
    left = (tmp_path / "run" / NAME).read_bytes().splitlines()
    assert [line for line in left if json.loads(line)["model"] != "judge"] == [
        line for line in kept if json.loads(line)["model"] != "judge"
    ]
    cleared = [json.loads(line) for line in left if json.loads(line)["model"] == "judge"]
    assert {(one["unusable"], str(one["reply"])) for one in cleared} == {("cleared", "{}")}
    assert (tmp_path / "run" / NAME).stat().st_mode & 0o077 == 0, "what patients said is for the owner alone"


def test_clearing_replies_keeps_the_account_of_what_they_cost(arguments: list[str], tmp_path: Path) -> None:
    invoke(*arguments)
    before = json.loads((tmp_path / "run" / "manifest.json").read_text(encoding="utf-8"))["calls"]
    invoke("cache", "clear", str(tmp_path / "run"), "--yes")
    invoke(*arguments)
    after = json.loads((tmp_path / "run" / "manifest.json").read_text(encoding="utf-8"))["calls"]
    assert (after["usage"], after["cost"]) == (before["usage"], before["cost"])


def test_replies_are_not_cleared_under_a_run_that_uses_them(arguments: list[str], tmp_path: Path) -> None:
    invoke(*arguments)
    journal = CallJournal(tmp_path / "run")
    try:
        done = invoke("cache", "clear", str(tmp_path / "run"), "--yes")
        assert "is in use" in str(done.exception)
    finally:
        journal.close()


def test_a_dry_run_counts_what_is_to_be_read_and_judged_of_stored_histories(arguments: list[str]) -> None:
    assert invoke(*arguments, "-x").exit_code == 0
    assert json.loads(invoke(*arguments, "-x", "--dry-run", "--json").stdout)["models"] == []
    found = json.loads(invoke(*arguments, "--dry-run", "--json").stdout)
    assert (found["histories"], found["stored"]) == (0, 2)
    assert [(one["role"], one["calls"] > 0) for one in found["models"]] == [("judge", True)]


def test_an_address_with_a_password_is_refused_and_not_repeated(arguments: list[str]) -> None:
    at = arguments.index("--policy-args") + 1
    arguments[at] = "model=doctor,base_url=http://bob:hunter2secret@localhost/v1"
    done = invoke(*arguments)
    assert "holds a user name, a password or parameters" in str(done.exception)
    assert "hunter2" not in str(done.exception)


def test_a_clearing_that_is_not_confirmed_deletes_nothing(arguments: list[str], tmp_path: Path) -> None:
    invoke(*arguments)
    before = (tmp_path / "run" / NAME).read_bytes()
    CliRunner().invoke(root, ["cache", "clear", str(tmp_path / "run")], input="n\n")
    assert (tmp_path / "run" / NAME).read_bytes() == before


def test_listing_what_is_not_there_is_one_clear_line(tmp_path: Path) -> None:
    program = [sys.executable, "-m", "meddc_bench", "cache", "list"]
    for words, message in (([], "MEDDC_CACHE_DIR"), ([str(tmp_path)], "there are no kept replies")):
        done = subprocess.run([*program, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert message in done.stderr
        assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("name", ["doctor", "patient", "reader", *JUDGE_STEPS])
def test_every_prompt_can_be_read_for_a_case(name: str) -> None:
    done = invoke("show", "prompt", name, "--case", "rec-003")
    assert done.exit_code == 0
    assert done.stdout.startswith("【system】\n")
    assert "\n【user】\n" in done.stdout


def test_kinship_of_the_reader_and_the_policy_is_said(arguments: list[str], server: Loopback) -> None:
    more = ["--reader", "openai", "--reader-args", f"model=doctor,base_url={server.url}", "--judge", "lexical"]
    arguments[arguments.index("--judge-args") + 1] = "openai:" + arguments[arguments.index("--judge-args") + 1]
    done = invoke(*arguments, *more)
    assert "reader openai stands on the same model as policy openai (doctor)" in done.stdout
    assert "裁判之间" in done.stdout
