"""What the tests of the importers share: a fixture that writes files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a file: bytes and text as they are, objects as JSON lines."""

    def make(*lines: Any, name: str = "histories.jsonl") -> Path:
        path = tmp_path / name
        parts = [one if isinstance(one, bytes) else _text(one).encode() for one in lines]
        path.write_bytes(b"".join(part if part.endswith(b"\n") else part + b"\n" for part in parts))
        return path

    return make


def _text(line: Any) -> str:
    return line if isinstance(line, str) else json.dumps(line, ensure_ascii=False)
