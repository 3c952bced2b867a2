"""The documented audit of the AI Hospital histories, where the public data are there."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("MEDDC_DATA") or ROOT.parent / "shared" / "data")


@pytest.mark.skipif(not (DATA / "ai_hospital").is_dir(), reason="the public data are not there")
def test_the_page_says_what_the_audit_of_ai_hospital_finds(
    world: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(world.root)
    page = (ROOT / "docs" / "audit.md").read_text(encoding="utf-8")
    block = re.search(r"```ai-hospital\n(.*?)```", page, re.DOTALL)
    assert block is not None
    shown = []
    for command in block[1].strip().splitlines():
        words = shlex.split(command.replace("$MEDDC_DATA", str(DATA)))[1:]
        assert world.cli(*words) == 0
        shown.append(capsys.readouterr().out)
    _, readers, views = shown
    assert "病例 120/120" in readers
    assert "480 份，全部一致" in readers
    assert "1 对策略中反转 1 对" in readers
    assert "未定（至少一处差的区间含 0）：1/1 对" in readers
    for policy in ("qwen_max", "gpt4"):
        emitted, cut = scores(readers, policy)[:2]
        again, full, mask = scores(views, policy)[:3]
        assert again == cut
        assert f"| {policy} | {emitted} | {cut} | {mask} | {full} |" in page


def scores(shown: str, policy: str) -> list[str]:
    """The numbers of a policy's line, without intervals."""
    (line,) = [line for line in shown.splitlines() if line.startswith(f"│ {policy} ")]
    return [cell.split()[0] for cell in line.split("│")[2:-1]]
