"""Every importer of cases does what `plugins check` asks of an importer: it streams, repeats itself, and says what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from meddc_bench.registry import Registry
from meddc_bench.testing.checking import check
from meddc_bench.testing.subject import Subject

from . import made_cases


@pytest.mark.parametrize("name", ["mediq", "mtmeddialog", "cmb_clin", "csv", "ddxplus"])
def test_an_importer_of_cases_passes_the_conformance_suite(name: str, write: Any, tmp_path: Path) -> None:
    options: dict[str, str] = {}
    if name == "csv":
        file = write(made_cases.SHEET, name="clinic.csv")
    elif name == "ddxplus":
        file = made_cases.ddxplus(tmp_path, made_cases.patient())
        options = {key: str(tmp_path / f"release_{key}.json") for key in ("evidences", "conditions")}
    else:
        file = write(getattr(made_cases, name)(id=1))
    report = check(Subject(Registry.load(), "importer", name, options, file=file))
    assert report.passed, report.as_data()
    assert "streaming" in report.named("passed")
