"""Tables of published scores: Table S4 gives its counts and ranks, in every format; what is no table is refused."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from meddc_bench.audits import Published, Question, audit_published, read_published
from meddc_bench.errors import InputError

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "docs" / "examples" / "published_readers.yaml"
TRAINED = "Qwen3-32B + GRPO"
PRINTED = json.loads((ROOT / "tests" / "analysis" / "golden" / "medddc_s04_fixed_history.json").read_bytes())


def audits(published: Published, **asked: Any) -> dict[str, Any]:
    return {one.task: one for one in audit_published(published, Question(**asked)).audits}


def test_the_example_holds_the_printed_scores() -> None:
    found = read_published(EXAMPLE)
    for row in PRINTED["rows"]:
        for split in ("record", "dialogue"):
            for reader in ("own", "shared"):
                assert found.tables[split][reader][row["policy"]] == row[split][f"{reader}_D"]
    assert (found.unit, found.base, found.metric) == ("points", "own", "D")
    assert found.source is not None
    assert "S4" in found.source


@pytest.mark.parametrize(
    ("without", "key"), [(frozenset(), "eight_policies"), (frozenset({TRAINED}), "seven_policies_without_trained")]
)
def test_table_s4_gives_the_printed_reversals(without: frozenset[str], key: str) -> None:
    found = audits(read_published(EXAMPLE), without=without)
    for split, printed in PRINTED["printed_reversals"][key].items():
        (comparison,) = found[split].found.comparisons
        assert [comparison.reversals.count, comparison.reversals.pairs] == printed


def test_table_s4_gives_the_printed_ranks_and_shifts() -> None:
    found = audits(read_published(EXAMPLE))
    for row in PRINTED["rows"]:
        for split in ("record", "dialogue"):
            ranks = {
                one.reader: next(rank.rank for rank in one.ranks if rank.policy == row["policy"])
                for one in found[split].found.ranks
            }
            assert ranks == {"own": row[split]["own_rank"], "shared": row[split]["shared_rank"]}
            (shift,) = [one for one in found[split].found.shifts if one.policy == row["policy"]]
            assert shift.value == pytest.approx(row[split]["printed_diff"], abs=0.11), "they are printed rounded"


def test_a_table_has_no_cases_so_nothing_is_supported() -> None:
    for one in audits(read_published(EXAMPLE)).values():
        assert {ordering.verdict for ordering in one.found.orderings} == {"undecided"}
        assert {score.interval.low for score in one.found.scores} == {None}


def test_yaml_json_and_csv_of_one_table_are_one_table(tmp_path: Path) -> None:
    given = yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))
    (tmp_path / "t.json").write_text(json.dumps(given), encoding="utf-8")
    text = io.StringIO()
    rows = csv.writer(text)
    rows.writerow(["task", "policy", "reader", "score"])
    for task, readers in given["tasks"].items():
        for reader, scores in readers.items():
            rows.writerows([task, policy, reader, score] for policy, score in scores.items())
    (tmp_path / "t.csv").write_text("\ufeff" + text.getvalue(), encoding="utf-8")
    wanted = audits(read_published(EXAMPLE))
    assert audits(read_published(tmp_path / "t.json")) == wanted
    assert audits(read_published(tmp_path / "t.csv"), base="own") == wanted


def test_the_order_of_policies_and_readers_in_a_table_changes_nothing(tmp_path: Path) -> None:
    given = yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))
    given["tasks"] = {
        task: {reader: dict(reversed(scores.items())) for reader, scores in reversed(readers.items())}
        for task, readers in given["tasks"].items()
    }
    (tmp_path / "t.json").write_text(json.dumps(given), encoding="utf-8")
    assert audits(read_published(tmp_path / "t.json")) == audits(read_published(EXAMPLE))


def test_a_plain_table_in_proportions_is_told_from_points_and_a_mixture_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "t.yaml"
    file.write_text("own: {a: 0.4, b: 0.3}\nshared: {a: 0.2, b: null}\n", encoding="utf-8")
    found = read_published(file)
    assert (found.unit, list(found.tables), found.tables["t"]["shared"]["b"]) == ("proportion", ["t"], None)
    assert audits(found)["t"].unmeasured[0].reason == "no score in the table"
    file.write_text("own: {a: 0.4, b: 30}\nshared: {a: 20, b: 30}\n", encoding="utf-8")
    with pytest.raises(InputError, match="mixes scores below and above 1"):
        read_published(file)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("t.yaml", "", "expected a table"),
        ("t.yaml", "own: {a: yes}\nshared: {a: 1}", "t.yaml:1:own.a: expected a score"),
        ("t.yaml", "own: {a: .nan}\nshared: {a: 1}", "expected a score"),
        ("t.yaml", "own: {a: true}\nshared: {a: 1}", "expected a score"),
        ("t.yaml", "own: [1, 2]\nshared: {a: 1}", "expected policies with their scores"),
        ("t.yaml", "own: {a: 1, a: 2}", "this key is there twice"),
        ("t.yaml", "tasks: {x: {own: {a: 1}}}\nsorce: y", "unknown key; did you mean 'source'"),
        ("t.yaml", "tasks: {x: {own: {a: 1}}}\nunit: percent", "expected one of points, proportion"),
        ("t.yaml", "tasks: {}", "expected tasks"),
        ("t.json", "{", "is not valid JSON"),
        ("t.json", '{"own": {"a": 1, "a": 2}}', "there twice"),
        ("t.json", "[" * 100_000, "t.json"),
        ("t.json", '[{"policy": "a", "score": 1}]', "has no reader"),
        ("t.csv", "policy,reader,score\na,own,1\na,own,2\n", "t.csv:3:.*there twice"),
        ("t.csv", "policy,reader,score\na,own,much\n", "expected a score.*'much'"),
        ("t.csv", "policy,reader,score\na,own\n", "another number of fields"),
        ("t.csv", "policy,reader,points\na,own,1\n", "has no score"),
        ("t.csv", "policy,reader,score,taks\na,own,1,x\n", "unknown column 'taks'; did you mean 'task'"),
        ("t.csv", "policy,reader,score\n,own,1\n", "is empty"),
        ("t.csv", "", "holds no row"),
    ],
)
def test_what_is_no_table_is_refused_with_its_place(tmp_path: Path, name: str, text: str, words: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=words):
        read_published(tmp_path / name)


def test_gbk_is_named(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes("policy,reader,score\n甲,own,1\n".encode("gbk"))
    with pytest.raises(InputError, match="looks like GBK"):
        read_published(tmp_path / "t.csv")


def test_the_verb_prints_counts_ranks_and_source_and_leaves_a_policy_out(
    world: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert world.cli("audit", "--table", str(EXAMPLE)) == 0
    shown = capsys.readouterr().out
    assert "MedDDC-Eval, Table S4" in shown
    assert "28 对策略中反转 5 对" in shown
    assert "28 对策略中反转 10 对" in shown
    assert "没有病例" in shown
    assert world.cli("audit", "--table", str(EXAMPLE), "--without", TRAINED, "--tasks", "record") == 0
    shown = capsys.readouterr().out
    assert "21 对策略中反转 5 对" in shown
    assert "GRPO" not in shown
    assert world.cli("audit", "--table", str(EXAMPLE), "--without", "GRPO") == 2
    assert world.cli("audit", "--table", str(EXAMPLE), "--over", "judge") == 2
    assert world.cli("audit", "--table", str(EXAMPLE), "--gate", "reversals<=4") == 4
    assert world.cli("audit", "--table", str(EXAMPLE), "--gate", "reversals<=10", "--gate", "tau>0") == 0


def test_hostile_labels_of_a_table_are_inert(world: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    evil = "\x1b[2J[bold]红[/bold]\u202e{{7*7}}\n下一行"
    table = {"own": {evil: 3, "b": 2}, "[red]x[/red]\x07": {evil: 1, "b": 2}}
    (tmp_path / "t.json").write_text(json.dumps(table), encoding="utf-8")
    assert world.cli("audit", "--table", str(tmp_path / "t.json")) == 0
    shown = capsys.readouterr().out
    assert not set("\x1b\x07\u202e") & set(shown)
    assert "[bold]红[/bold]{{7*7}} 下一行" in shown
    assert "[red]x[/red]" in shown
    code, found = world.told(capsys, "audit", "--table", str(tmp_path / "t.json"))
    assert (code, found["audits"][0]["found"]["comparisons"][0]["reversals"]["count"]) == (0, 1)
