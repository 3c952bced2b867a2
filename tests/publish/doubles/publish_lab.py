"""What the tests of publishing share: runs, rows, edited records and edited rows."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from meddc_bench import campaign as campaigns
from meddc_bench import run as runs
from meddc_bench.publish.files import parsed, written
from meddc_bench.publish.making import Said
from meddc_bench.publish.publish import NotPublishable, Wanted, publish
from meddc_bench.publish.row import MeasuredRow
from meddc_bench.registry import Registry
from meddc_bench.resources import shipped
from meddc_bench.results import results
from meddc_bench.store import pretty
from meddc_bench.stored import open_run

Line = dict[str, Any]


def make_run(folder: Path, **keys: Any) -> Path:
    """Run a small campaign with the offline instrument."""
    names = keys.pop("policies", ["checklist", "shuffled"])
    roles = [one if isinstance(one, dict) else {"name": one, "label": one} for one in names]
    campaign = campaigns.build({"repeats": 2, "policies": roles, **keys})
    registry = Registry.load()
    finished = runs.execute(campaign, runs.prepare(campaign, registry), registry, folder)
    assert finished.exit_code == 0
    return folder


def rows_of(folder: Path, wanted: Wanted | None = None, **how: Any) -> dict[str, MeasuredRow]:
    """Publish a run; return its rows by policy."""
    with open_run(folder) as run:
        return {one.policy.label: one for one in publish(run, wanted or Wanted(), how.pop("said", Said()), **how)}


def reasons(folder: Path, wanted: Wanted | None = None, **how: Any) -> str:
    """Publish a run that must be refused; return the reasons."""
    with pytest.raises(NotPublishable) as refused:
        rows_of(folder, wanted, **how)
    return "\n".join(refused.value.reasons)


def edit_records(folder: Path, change: Callable[[Line], Line | None]) -> int:
    """Rewrite the records by hand; None takes a line out. Return how many lines changed."""
    path, out, changed = folder / "records.jsonl", [], 0
    for line in path.read_text(encoding="utf-8").splitlines():
        new = change(json.loads(line))
        changed += new != json.loads(line)
        if new is not None:
            out.append(json.dumps(new, ensure_ascii=False, separators=(",", ":")))
    path.write_text("\n".join(out) + "\n", encoding="utf-8")
    return changed


def resave(folder: Path) -> None:
    """Write the results again, so that only the records tell of an edit."""
    with open_run(folder) as run:
        (folder / "results.json").write_bytes(pretty(results(run.store, run.benches, run.registry)))


def edit_json(path: Path, change: Callable[[Any], None]) -> None:
    data = json.loads(path.read_text(encoding="utf-8"))
    change(data)
    path.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")


def write_task(folder: Path, more: str = "", name: str = "ward", cases: int = 3) -> Path:
    """Write a task of a few shipped cases under other ids; return its task.yaml."""
    (folder / "cases").mkdir(parents=True)
    for number, path in enumerate(sorted((shipped("tasks") / "meddc_record" / "cases").glob("*.yaml"))[:cases]):
        text = path.read_text(encoding="utf-8").replace(f"id: {path.stem}", f"id: canary-patient-{number}", 1)
        (folder / "cases" / f"{number}.yaml").write_text(text, encoding="utf-8")
    shutil.copy(shipped("tasks") / "meddc" / "protocol.yaml", folder / "protocol.yaml")
    (folder / "task.yaml").write_text(f"task: {name}\ninclude: protocol.yaml\n{more}", encoding="utf-8")
    return folder / "task.yaml"


def edited(row: MeasuredRow, where: str, value: Any, *, seal: bool = True) -> MeasuredRow:
    """Return a row with one value changed, sealed again as a forger would."""
    data = json.loads(written(row))
    place = data
    *steps, last = where.split("/")
    for step in steps:
        place = place[int(step) if isinstance(place, list) else step]
    if isinstance(place, list):
        place[int(last)] = value
    else:
        place[last] = value
    changed = parsed(MeasuredRow, json.dumps(data).encode(), Path("row.json"))
    return changed.model_copy(update={"seal": changed.computed_seal()}) if seal else changed


def numbers_in(value: Any, where: str = "") -> Iterator[tuple[str, float]]:
    """Iterate over every number of plain data, with the place where it stands."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from numbers_in(one, f"{where}/{key}".lstrip("/"))
    elif isinstance(value, list):
        for index, one in enumerate(value):
            yield from numbers_in(one, f"{where}/{index}")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield where, value


def forbidden(folder: Path) -> set[str]:
    """Return what no published file of a run may hold: its case ids, and every text of its cases and consultations."""
    found: set[str] = set()
    with open_run(folder) as run:
        for bench in run.benches:
            for case in bench.cases:
                found |= {case.id, case.context, *(fact.text for fact in case.facts)}
                found |= {target.question for target in case.targets} | {one.name for one in case.diagnoses}
    for line in (folder / "histories.jsonl").read_text(encoding="utf-8").splitlines():
        found |= {turn["text"] for turn in json.loads(line)["history"]["turns"]}
    return {one for one in found if len(one) > 3}
