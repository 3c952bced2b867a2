"""CITATION.cff says what the project says of itself."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest
import yaml
from installed_lab import ROOT


@pytest.fixture
def citation() -> dict[str, Any]:
    """The citation as it is written."""
    found: dict[str, Any] = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    return found


def test_the_citation_agrees_with_the_project(citation: dict[str, Any]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {key: citation[key] for key in ("cff-version", "type", "version", "license", "keywords")} == {
        "cff-version": "1.2.0", "type": "software", "version": project["version"], "license": project["license"],
        "keywords": project["keywords"],
    }  # fmt: skip
    assert citation["authors"] == project["authors"]
    assert all(citation[key] for key in ("message", "title", "abstract"))


def test_a_release_has_the_same_version_and_date_in_the_changelog(citation: dict[str, Any]) -> None:
    newest = re.search(r"^## (\S+) \((.+)\)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert newest is not None
    assert citation["version"] == newest[1]
    released = citation.get("date-released")
    assert (str(released) if released else "unreleased") == newest[2]
