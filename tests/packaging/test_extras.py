"""A feature whose extra is not installed says so in one line, with the command that installs it."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest
from installed_lab import ROOT

from meddc_bench.errors import UsageError
from meddc_bench.publish.export import write_parquet
from meddc_bench.report.charts import check_installed
from meddc_ontology.__main__ import main as build_index
from meddc_vllm.adapters import MISSING


@pytest.mark.parametrize("module", ["altair", "vl_convert"])
def test_charts_without_their_extra(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UsageError, match=rf"{module} is missing.*pip install 'meddc-bench\[report\]'"):
        check_installed()


def test_parquet_without_its_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"pip install 'meddc-bench\[report\]'"):
        write_parquet(iter([{"a": 1}]), ["a"], tmp_path / "a.parquet")
    assert not (tmp_path / "a.parquet").exists()


def test_an_ontology_in_obo_without_its_extra(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "fastobo", None)
    obo = tmp_path / "疾病.obo"
    obo.write_text("format-version: 1.4\n\n[Term]\nid: X:1\nname: 肺炎\n", encoding="utf-8")
    assert build_index([str(tmp_path / "index"), str(obo)]) == 2
    said = capsys.readouterr().err
    assert "疾病.obo" in said
    assert "pip install 'meddc-bench[ontology]'" in said
    assert "Traceback" not in said


def test_every_extra_that_an_error_names_exists() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert "meddc-bench[vllm]" in MISSING
    named = {part.split("]")[0] for path in (*ROOT.glob("meddc_bench/**/*.py"), *ROOT.glob("plugins/meddc_*/**/*.py"))
             for part in path.read_text(encoding="utf-8").split("meddc-bench[")[1:]}  # fmt: skip
    assert named <= set(extras)
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    assert [name for name in set(extras) - {"dev", "bench"} if f"`[{name}]`" not in page] == []
