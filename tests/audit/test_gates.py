"""Gates: what can be asked, and the exit codes a script relies on."""

from __future__ import annotations

from typing import Any

import pytest

from meddc_bench.audits import parse_gate
from meddc_bench.errors import UsageError


@pytest.mark.parametrize(
    "text",
    ["", "supportd", "reversals", "reversals<=", "reversals<=x", "revrsals<=0", "tau>=nan", "tau=>0.9", "tau>=0.9 and 1",
     "__import__('os')", "tau>=1e400", "shift<=5; shift>=1", "supported==1"],
)  # fmt: skip
def test_what_is_no_gate_is_refused_with_what_is(text: str, world: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError):
        parse_gate(text)
    assert world.cli("audit", "anything", "--gate", text) == 2
    assert "--gate" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("gate", "holds"),
    [
        ("reversals<=0", False), ("reversals<2", True), ("reversals==1", True), ("tau>=0.9", False), ("tau >= -1", True),
        ("shift<=5", False), ("shift<=100", True), ("contradicted<=0", False), ("undecided<=0", True),
        ("supported", False), ("left_out<=0", True),
    ],
)  # fmt: skip
def test_a_gate_that_does_not_hold_is_exit_4(
    world: Any, gate: str, holds: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(world.sided_run(readers=("contrary",)))
    assert world.cli("audit", folder, "--metric", "D", "--gate", gate) == (0 if holds else 4)
    shown = capsys.readouterr().out
    assert f"门限 {gate}：{'成立' if holds else '不成立'}" in shown


def test_every_gate_must_hold_and_json_says_which_did_not(world: Any, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(world.sided_run(readers=("contrary",)))
    code, found = world.told(
        capsys, "audit", folder, "--metric", "D", "--gate", "reversals<=1", "--gate", "supported", "--draws", "100"
    )
    assert (code, found["exit_code"]) == (4, 4)
    assert [(one["gate"], one["holds"]) for one in found["gates"]] == [("reversals<=1", True), ("supported", False)]
    assert "undecided or contradicted = 1 of 1" in found["gates"][1]["failures"][0]


def test_supported_holds_where_all_orderings_are(world: Any) -> None:
    folder = str(world.sided_run(readers=("torn",)))
    assert world.cli("audit", folder, "--metric", "D", "--gate", "supported") == 0


def test_no_pair_of_policies_holds_no_gate_about_pairs(world: Any) -> None:
    folder = str(world.sided_run(policies=("left",)))
    assert world.cli("audit", folder, "--metric", "D", "--gate", "reversals<=0") == 4
    assert world.cli("audit", folder, "--metric", "D", "--gate", "supported") == 4
    assert world.cli("audit", folder, "--metric", "D") == 0


def test_a_gate_wins_over_low_coverage(world: Any) -> None:
    folder = str(world.sided_run(readers=("clumsy",)))
    assert world.cli("audit", folder, "--metric", "D") == 3
    assert world.cli("audit", folder, "--metric", "D", "--gate", "left_out<=0") == 4
