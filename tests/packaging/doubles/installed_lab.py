"""Builds the distributions, and the wheel in an environment of its own: with the dependencies, without the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def build(source: Path, into: Path, *what: str) -> None:
    """Build a folder's distributions as `python -m build` does, with the backend of this environment."""
    words = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(into), *what, str(source)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel in it, used from a folder of its own."""

    home: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.home / "env" / "bin" / "python"

    def run(self, program: str, *words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment in its folder."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("MEDDC_", "PYTHON"))}
        return subprocess.run(
            [self.python.parent / program, *words],
            cwd=self.home, env=kept | environment, capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip


def install(wheel: Path, home: Path) -> Installed:
    """Install a wheel in a fresh environment that sees the dependencies of this one, and not the checkout."""
    found = Installed(home)
    venv.create(home / "env", symlinks=True)
    (site,) = (home / "env" / "lib").glob("python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "--python", str(found.python), "install", "--quiet", "--no-deps", "--no-index"]
    done = subprocess.run([*pip, str(wheel)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return found
