"""What the tests of runs and of the command line share: a small task, runs in this process and in others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import EntryPoint, PathDistribution, entry_points
from pathlib import Path
from typing import Any

import pytest
import yaml

from meddc_bench import campaign as campaigns
from meddc_bench import cli, registry, run
from meddc_bench.registry import Registry
from meddc_bench.store import Store

HERE = Path(__file__).resolve().parent
OPENINGS = ("我发烧了。", "我肚子疼。", "我头疼。", "我又发烧又头疼。", "我嗓子哑。", "我脚崴了。")
FAILED = ("patient_failed", "reader_failed", "judge_failed", "infra_failed")

PROTOCOL = """\
task: {name}
title: 测试用的任务
repeats: 2
licence: Apache-2.0
metrics: [D, T, E, Total, questions, rounds, tests_f1]
instruments:
  offline:
    patient: {{name: telling}}
    readers: [{{name: echo}}]
    judge: {{name: equal}}
"""


def case(number: int) -> dict[str, Any]:
    """Return a small case."""
    words = {"发烧": "肺炎", "肚子": "阑尾炎", "头": "偏头痛"}
    opening = OPENINGS[number % len(OPENINGS)]
    return {
        "id": f"c{number:03d}", "source": "record", "department": "内科", "context": opening,
        "facts": [
            {"id": "f1", "topic": "onset", "text": "发烧三天了。"},
            {"id": "f2", "topic": "site", "text": "肚子不疼。", "denied": True},
        ],
        "diagnoses": [{"name": next((name for word, name in words.items() if word in opening), "感冒")}],
        "targets": [
            {"id": "q1", "question": "您发烧吗？", "facts": ["f1"], "inquiry_type": "onset", "importance": 3},
            {"id": "q2", "question": "肚子疼吗？", "facts": ["f2"], "inquiry_type": "site", "importance": 3},
            {"id": "q3", "question": "以前得过什么病？", "facts": ["f1"], "inquiry_type": "past", "importance": 3},
        ],
        "turn_budget": 4, "references": {"tests": ["血常规"]}, "provenance": "测试", "licence": "Apache-2.0",
    }  # fmt: skip


def write_task(folder: Path, cases: Sequence[dict[str, Any]] | int = 3, name: str = "small") -> Path:
    """Write a task folder; return its task.yaml."""
    (folder / "cases").mkdir(parents=True, exist_ok=True)
    (folder / "task.yaml").write_text(PROTOCOL.format(name=name), encoding="utf-8")
    for one in map(case, range(cases)) if isinstance(cases, int) else cases:
        path = folder / "cases" / f"{one['id']}.yaml"
        path.write_text(yaml.safe_dump(one, allow_unicode=True), encoding="utf-8")
    return folder / "task.yaml"


def distribution(folder: Path) -> Path:
    """Make a folder that, on PYTHONPATH, is the installed distribution of the doubles."""
    info = folder / "meddc_doubles-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: meddc-doubles\nVersion: 1\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[meddc_bench]\ndoubles = meddc_doubles\n", encoding="utf-8")
    (folder / "meddc_doubles.py").write_bytes((HERE / "meddc_doubles.py").read_bytes())
    return folder


class World:
    """A task, a folder for side files, and the ways to run: in this process (`run`), by `cli`, or in another."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch, plugins: Path):
        self.root, self._patch, self._plugins = root, monkeypatch, plugins
        self.side = root / "side"
        self.side.mkdir()
        self.task = write_task(root / "task")
        monkeypatch.setenv("MEDDC_DOUBLES", str(self.side))

    # ── in this process ──

    def run(self, folder: str = "run", policies: Sequence[Any] = ("asker",), **keys: Any) -> run.Finished:
        """Run a campaign on the small task."""
        how = {key: keys.pop(key) for key in ("fail_after", "stored_only") if key in keys}
        for kind in ("patients", "readers", "judges"):
            if kind in keys:
                keys[kind] = [_role(one) for one in keys[kind]]
        roles = [_role(one) for one in policies]
        campaign = campaigns.build({"tasks": (str(self.task),), "policies": roles, "max_retries": 0, **keys})
        found = Registry.load(self.points())
        return run.execute(campaign, run.prepare(campaign, found), found, self.root / folder, **how)

    def cli(self, *words: str) -> int:
        """Run the command line in this process; return its exit code."""
        points = self.points()
        self._patch.setattr(registry, "entry_points", lambda **_: points)
        with pytest.raises(SystemExit) as left:
            cli.main(list(words))
        assert isinstance(left.value.code, int)
        return left.value.code

    def points(self) -> list[EntryPoint]:
        """Return the entry points of the installed plugins and of the doubles."""
        doubles = PathDistribution(self._plugins / "meddc_doubles-1.dist-info")
        return [*entry_points(group="meddc_bench"), *doubles.entry_points]

    # ── in another process ──

    def environment(self, **more: str | None) -> dict[str, str]:
        """Return an environment in which the doubles are installed; None takes a variable away."""
        paths = os.pathsep.join(filter(None, (str(self._plugins), os.environ.get("PYTHONPATH"))))
        env = {**os.environ, "PYTHONPATH": paths, "MEDDC_DOUBLES": str(self.side), **more}
        return {key: value for key, value in env.items() if value is not None}

    def start(self, *words: str | bytes, env: dict[str, str] | None = None, **how: Any) -> subprocess.Popen[bytes]:
        """Start the program in another process."""
        how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": self.root, **how}
        return subprocess.Popen([sys.executable, "-m", "meddc_bench", *words], env=env or self.environment(), **how)

    def finish(self, *words: str | bytes, env: dict[str, str] | None = None, **how: Any) -> Done:
        """Run the program in another process until it ends."""
        return done(self.start(*words, env=env, **how))

    # ── what is there ──

    def calls(self, start: str = "") -> list[str]:
        """Return the calls so far whose line starts with `start`."""
        path = self.side / "calls"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [line for line in lines if line.startswith(start)]

    def forget(self) -> None:
        (self.side / "calls").unlink(missing_ok=True)

    def mend(self) -> None:
        """End all failures of the doubles."""
        (self.side / "mended").touch()

    def bytes(self, folder: str = "run") -> bytes:
        return (self.root / folder / "results.json").read_bytes()

    def rows(self, folder: str = "run") -> list[dict[str, Any]]:
        found = json.loads(self.bytes(folder))
        return [row for task in found["tasks"].values() for row in task["rows"]]

    def row(self, folder: str = "run", **labels: Any) -> dict[str, Any]:
        (found,) = [row for row in self.rows(folder) if all(row[key] == value for key, value in labels.items())]
        return found


class Done:
    """How another process ended."""

    def __init__(self, code: int, out: bytes, err: bytes):
        self.code, self.raw_out, self.raw_err = code, out, err
        self.out, self.err = out.decode("utf-8", "replace"), err.decode("utf-8", "replace")

    def __repr__(self) -> str:
        return f"exit {self.code}\n{self.out}\n{self.err}"


def done(process: subprocess.Popen[bytes], timeout: float = 60) -> Done:
    """Wait for a process."""
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"still running after {timeout} s: {err.decode(errors='replace')}") from None
    return Done(process.returncode, out or b"", err or b"")


def wait_until(what: Callable[[], Any], process: subprocess.Popen[bytes] | None = None, timeout: float = 30) -> None:
    """Poll until something is so; fail when the process ends before, or when it takes too long."""
    deadline = time.monotonic() + timeout
    while not what():
        assert process is None or process.poll() is None, done(process)
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.002)


def finals(folder: Path) -> Counter[str]:
    """Count, by id, the whole lines of a journal that hold a final outcome."""
    found: Counter[str] = Counter()
    for line in (folder / "records.jsonl").read_bytes().splitlines():
        try:
            data = json.loads(line)
        except ValueError:
            continue  # torn
        if data["outcome"] in ("scored", "policy_failed", "excluded"):
            found[data["id"]] += 1
    return found


def stored(folder: Path) -> dict[str, bytes]:
    """Return the current line of every record."""
    with Store(folder, writable=False) as store:
        return dict(zip(store.ids(), store.lines(), strict=True))


def texts(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """Iterate over all files below a folder."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path, path.read_bytes()


def _role(given: Any) -> dict[str, Any]:
    """`name`, `label=name`, or `(name, {option: value})` with the name as label."""
    name, options = given if isinstance(given, tuple) else (given, {})
    label, equals, plugin = name.partition("=")
    return {"name": plugin if equals else label, "label": label, "options": options}
