"""The docs tell the truth: their commands run, their names exist, and the public surface is the one that is listed."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import meddc_bench
from meddc_bench.cli import VERBS
from meddc_bench.registry import KINDS, Registry
from meddc_openai.loopback import Loopback

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "plugins").glob("*.md")])
BASH = re.compile(r"```bash\n(.*?)```", re.DOTALL)
NOT_HERE = ("make ", "python3 -m venv", ".venv/", "pip ", "uv ", "pipx ", "export ", "python -m meddc_openai.loopback")


def commands(page: Path) -> list[str]:
    """The lines of a page's bash blocks that this test can run: all but setting up and what needs other data."""
    blocks = BASH.findall(page.read_text(encoding="utf-8"))
    lines = [line.split("  #")[0].strip() for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    return [line for line in lines if line and not line.startswith(("#", *NOT_HERE))]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with what the docs' commands name: a campaign, a task, histories of others."""
    page = (ROOT / "docs" / "campaign.md").read_text(encoding="utf-8")
    campaign = re.search(r"```yaml\n(tasks:.*?)```", page, re.DOTALL)
    assert campaign is not None
    (tmp_path / "campaign.yaml").write_text(campaign[1], encoding="utf-8")
    task = tmp_path / "my_task"
    shutil.copytree(ROOT / "tasks" / "meddc_record" / "cases", task / "cases")
    text = (ROOT / "tasks" / "meddc_record" / "task.yaml").read_text(encoding="utf-8")
    shutil.copytree(ROOT / "tasks" / "meddc", tmp_path / "meddc")
    (task / "task.yaml").write_text(text.replace("task: meddc_record", "task: my_task"), encoding="utf-8")
    said = [("doctor", "哪里不舒服？"), ("patient", "肚子疼。")]
    history = {
        "case_id": "a1", "policy": "gpt4", "own_final_text": "诊断：急性阑尾炎", "own_final_diagnosis": "急性阑尾炎",
        "dialogue": [{"turn": 1, "role": role, "content": text} for role, text in said],
    }  # fmt: skip
    (tmp_path / "histories_gpt4.jsonl").write_text(json.dumps(history, ensure_ascii=False) + "\n", encoding="utf-8")
    (tmp_path / "references.jsonl").write_text(
        '{"case_id": "a1", "diagnosis_raw": "急性阑尾炎", "diagnosis_units": ["急性阑尾炎"]}\n', encoding="utf-8"
    )
    for name in ("bench", "docs", "tasks", "plugins"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


@pytest.fixture(scope="module")
def loopback() -> Iterator[Loopback]:
    """The server that the pages tell to start."""
    with Loopback().serving() as server:
        yield server


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=lambda page: page.stem)
def test_every_command_of_a_page_works_as_it_is_written(page: Path, folder: Path, loopback: Loopback) -> None:
    environment = {
        **os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "MEDDC_REPEATS": "1", "MEDDC_LIMIT": "2", "OPENAI_BASE_URL": loopback.url,
        "XDG_CACHE_HOME": str(folder / "cache"),
    }  # fmt: skip
    for command in commands(page):
        if page.stem == "importing" and "--histories" in command and not _files_exist(command, folder):
            continue
        if command.startswith("python bench/") and "judge_pairs" not in command:
            continue
        done = subprocess.run(
            command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=240, check=False
        )
        assert done.returncode in (0, 3) if "score" in command else done.returncode == 0, (
            f"{command}\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}"
        )


def _files_exist(command: str, folder: Path) -> bool:
    words = shlex.split(command)
    return all((folder / words[at + 1]).exists() for at, word in enumerate(words[:-1]) if word == "--histories")


def test_every_verb_is_in_the_command_line_page() -> None:
    page = (ROOT / "docs" / "campaign.md").read_text(encoding="utf-8")
    assert [verb for verb in VERBS if f"### {verb}\n" not in page] == []


def test_every_built_in_adapter_is_described() -> None:
    page = (ROOT / "docs" / "offline.md").read_text(encoding="utf-8")
    registry = Registry.load()
    entries = [entry for kind in ("policy", "patient", "reader", "judge") for entry in registry.entries(kind)]
    named = [entry.name for entry in entries if entry.plugin == "meddc_offline"]
    assert named
    assert [name for name in named if f"`{name}`" not in page] == []


def test_every_link_between_pages_leads_somewhere() -> None:
    broken = []
    for page in [*PAGES, ROOT / "CONTRIBUTING.md", *(ROOT / "tasks").glob("*/README.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            if "://" not in target and not (page.parent / target).exists():
                broken.append(f"{page.name}: {target}")
    assert broken == []


def test_the_public_names_are_the_ones_listed() -> None:
    assert all(hasattr(meddc_bench, name) for name in meddc_bench.__all__)
    assert {"Case", "History", "PolicyView", "Reply", "hookimpl"} <= set(meddc_bench.__all__)


def test_every_kind_of_plugin_has_a_hook() -> None:
    from meddc_bench import contracts

    assert all(hasattr(contracts, f"register_{plural}") for plural in KINDS.values())
