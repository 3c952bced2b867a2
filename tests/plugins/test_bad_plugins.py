"""`plugins check` finds what is wrong with a plugin: each bad one fails for its reason, and there alone."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from meddc_bench.registry import Registry
from meddc_bench.scaffold import create
from meddc_bench.testing import PROPERTIES, Report, Subject, check

BAD = Path(__file__).parent / "bad"
ROLES = ("policy", "patient", "reader", "judge")
KINDS = (*ROLES, "metric", "environment", "importer")


class Point:
    """An entry point on a module of this folder."""

    dist = SimpleNamespace(name="bad-plugins", version="1")

    def __init__(self, path: Path):
        self.name, self._path = f"bad_{path.stem}", path

    def load(self) -> Any:
        spec = importlib.util.spec_from_file_location(self.name, self._path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module


@pytest.fixture(scope="module")
def registry() -> Registry:
    points: list[Any] = [Point(path) for path in sorted(BAD.glob("*.py"))]
    found = Registry.load(points)
    assert [one for one in found.plugins if one.problem or one.warnings] == []
    return found


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("example") / "example.jsonl"
    path.write_text('{"diagnosis": "急性阑尾炎"}\n', encoding="utf-8")
    return path


def checked(registry: Registry, kind: str, name: str, example: Path) -> Report:
    return check(Subject(registry, kind, name, file=example if kind == "importer" else None))


EVERY = [(kind, one.name) for kind in KINDS for one in PROPERTIES[kind]()]


@pytest.mark.parametrize(("kind", "name"), EVERY, ids=lambda one: one)
def test_a_plugin_that_breaks_one_property_fails_it_and_no_other(
    kind: str, name: str, registry: Registry, example: Path
) -> None:
    report = checked(registry, kind, f"bad-{name}", example)
    assert report.named("failed") == (name,), [str(one) for one in report.verdicts if one.result != "passed"]
    (verdict,) = [one for one in report.verdicts if one.result == "failed"]
    assert all(part in str(verdict) for part in ("expected: ", "came: ", "mend it: "))
    assert all(one.seen.startswith("needs ") for one in report.verdicts if one.result == "not tried")


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_plugin_without_its_fault_passes_everything(kind: str, registry: Registry, example: Path) -> None:
    report = checked(registry, kind, "good", example)
    assert report.named("passed") == tuple(one.name for one in PROPERTIES[kind]())


REASONS = {
    ("builds", "policy"): "start (subprocess.Popen)",
    ("options", "policy"): "a misspelt one would be ignored",
    ("secrets", "policy"): "the key BAD_PLUGIN_KEY stands in",
    ("types", "policy"): "Reply.text is int",
    ("types", "judge"): "edges in the step extract_items",
    ("state", "policy"): "case B after A",
    ("concurrency", "reader"): "at once",
    ("cancellation", "policy"): "in place of CancelledError",
    ("hostile", "reader"): "blank: raised IndexError",
    ("blindness", "policy"): "only the case's id, facts, diagnoses, targets and references differed",
    ("shapes", "metric"): "of sums of shape () aggregate() made (1,)",
    ("undefined", "metric"): "RuntimeWarning",
    ("ends", "environment"): "has not ended after 300 turns",
    ("streaming", "importer"): "MB of memory",
    ("faults", "importer"): "raised JSONDecodeError",
}


@pytest.mark.parametrize(("name", "kind"), REASONS, ids=lambda one: one)
def test_the_reason_says_what_came(name: str, kind: str, registry: Registry, example: Path) -> None:
    report = checked(registry, kind, f"bad-{name}", example)
    (verdict,) = [one for one in report.verdicts if one.result == "failed"]
    assert REASONS[name, kind] in verdict.seen


@pytest.mark.parametrize(
    ("what", "reason"), [("notes", "differed"), ("references", "differed"), ("files", "it opened ")]
)
def test_a_reader_that_peeks_is_found_out(what: str, reason: str, registry: Registry, example: Path) -> None:
    report = checked(registry, "reader", f"peeks-at-{what}", example)
    assert report.named("failed") == ("blindness",)
    assert reason in report.verdicts[-1].seen


def test_a_key_is_never_repeated_by_the_report_about_it(
    registry: Registry, example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BAD_PLUGIN_KEY", "sk-live-0123456789")
    for kind in KINDS:
        assert "sk-live-0123456789" not in str(checked(registry, kind, "bad-secrets", example).as_data())


# ── tasks ────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A package of tasks, made from the template, on the path."""
    folder = create("task", "checked_tasks", tmp_path_factory.mktemp("task") / "made", Registry()).folder
    sys.path.insert(0, str(folder))
    yield folder / "checked_tasks" / "tasks" / "checked_tasks"
    sys.path.remove(str(folder))


def _nothing(task: Path) -> None:
    """Leave it as it is."""


def _unreadable(task: Path) -> None:
    (task / "task.yaml").write_text("task: checked_tasks\nrepeatz: 1\n", encoding="utf-8")


def _leaking(task: Path) -> None:
    case = task / "cases" / "case-001.yaml"
    case.write_text(
        case.read_text(encoding="utf-8").replace("从小嗓子", "得过急性扁桃体炎，从小嗓子"), encoding="utf-8"
    )


def _unreachable(task: Path) -> None:
    case = task / "cases" / "case-001.yaml"
    text = case.read_text(encoding="utf-8").replace("对什么药物过敏吗？", "嗯嗯")
    case.write_text(text, encoding="utf-8")


def _bare(task: Path) -> None:
    (task / "README.md").unlink()


@pytest.mark.parametrize(
    ("fault", "failed"),
    [
        (_nothing, ()),
        (_unreadable, ("loads",)),
        (_leaking, ("lint",)),
        (_unreachable, ("self_check",)),
        (_bare, ("card",)),
    ],
)
def test_a_task_with_one_fault_fails_one_property(
    fault: Any, failed: tuple[str, ...], made: Path, tmp_path: Path
) -> None:
    from importlib.metadata import EntryPoint, entry_points

    shutil.copytree(made, tmp_path / "kept")
    try:
        fault(made)
        points = [*entry_points(group="meddc_bench"), EntryPoint("tasks", "checked_tasks.plugin", "meddc_bench")]
        report = check(Subject(Registry.load(points), "task", "checked_tasks"))
    finally:
        shutil.rmtree(made)
        shutil.copytree(tmp_path / "kept", made)
    assert report.named("failed") == failed, [str(one) for one in report.verdicts]
