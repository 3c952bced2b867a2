"""Do the files of a run folder agree: manifest, results and call journal with the records, and with this program."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Any

from meddc_bench.llm.calls import NAME as CALLS
from meddc_bench.llm.session import Session
from meddc_bench.orchestrator import FINAL
from meddc_bench.results import results
from meddc_bench.run import RESULTS
from meddc_bench.store import RECORDS, pretty
from meddc_bench.stored import StoredRun

_SHOWN = 5
_LINE = re.compile(rb'\{"stage":"[^"]*","id":"([0-9a-f]{16,})","outcome":"([a-z_]+)"')


def run_faults(run: StoredRun) -> list[str]:
    """Say what of a run's own files disagrees with its records or with the program that is to publish it."""
    manifest, out = run.manifest, []
    if manifest.get("status") != "complete":
        out.append(f"the run is {manifest.get('status')}, not complete: `meddc-bench retry` goes on with it")
    if run.campaign.predict_only:
        out.append("the run only rolled out: `meddc-bench score` makes readings and evidence")
    out += _changed(run)
    if not out:  # else the numbers cannot agree
        out += _results_differ(run)
    out += _made_again(run) + _calls_differ(run) + _served_changed(run) + _decoding_refused(run)
    return out


def _changed(run: StoredRun) -> list[str]:
    out: list[str] = []
    known, tasks = run.manifest.get("adapters", {}), run.manifest.get("tasks", {})
    for bench in run.benches:
        before = tasks.get(bench.task.name, {}).get("cases_digest")
        if before != bench.task.cases_digest and not run.manifest.get("imported"):
            out.append(f"the cases of {bench.task.name} are not those the manifest names")
        readers = [(one.label, one.identity) for one in bench.conditions]
        adapters = [
            (f"{one.kind}:{one.label}", one.identity) for one in (*bench.patients, *bench.judges, *bench.policies)
        ]
        for name, identity in [*adapters, *((f"reader:{label}", one) for label, one in readers)]:
            if known.get(name) != identity:
                out.append(f"{name} is not the one the manifest names (another revision or other options)")
    return out


def _results_differ(run: StoredRun) -> list[str]:
    path = run.folder / RESULTS
    if not path.is_file():
        return [f"{RESULTS} is missing: the run's command writes it again"]
    found = pretty(results(run.store, run.benches, run.registry, complete=True))
    given = path.read_bytes()
    if found == given:
        return []
    try:
        where = list(_differences(json.loads(found), json.loads(given), ""))
    except (ValueError, RecursionError):
        where = ["it is no JSON"]
    return [f"{RESULTS} is not what the records give: {'; '.join(where[:_SHOWN]) or 'its bytes differ'}"]


def _differences(one: Any, other: Any, where: str) -> Iterator[str]:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other}):
            yield from _differences(one.get(key), other.get(key), f"{where}.{key}".lstrip("."))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (mine, theirs) in enumerate(zip(one, other, strict=True)):
            yield from _differences(mine, theirs, f"{where}[{index}]")
    elif one != other:
        yield f"{where} is {_short(other)}, the records give {_short(one)}"


def _short(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:40]


def _made_again(run: StoredRun) -> list[str]:
    """Find records that were replaced although they were final: a run never does that, whoever picks does."""
    final: set[bytes] = set()
    again = 0
    with open(run.folder / RECORDS, "rb") as file:
        for line in file:
            found = _LINE.match(line)
            if found is not None:
                again += found[1] in final
                if found[2].decode() in FINAL:
                    final.add(found[1])
    return [f"{again} records stand again after they were final: results were replaced"] if again else []


def _calls_differ(run: StoredRun) -> list[str]:
    """Compare what the manifest says was spent with the call journal, where there is one."""
    path, said = run.folder / CALLS, run.manifest.get("calls") or {}
    if not path.is_file():
        return []
    session = Session(folder=run.folder)
    session.count_earlier()
    keys = ("role", "model", "calls", "unusable", "prompt_tokens", "completion_tokens")
    mine = [[row[key] for key in keys] for row in session.report()["usage"]]
    theirs = [[row.get(key) for key in keys] for row in said.get("usage", ())]
    return [] if mine == theirs else ["the manifest's usage is not what the call journal adds up to"]


def _decoding_refused(run: StoredRun) -> list[str]:
    """Find what measures a policy and could not be sampled as the protocol says."""
    refused = (run.manifest.get("calls") or {}).get("stepped_down", {})
    return [
        f"{where} refused {', '.join(lost)}: it did not sample as the protocol says"
        for where, what in sorted(refused.items())
        if not where.startswith("policy ") and (lost := [one for one in what if one in ("temperature", "top_p")])
    ]


def _served_changed(run: StoredRun) -> list[str]:
    served = (run.manifest.get("calls") or {}).get("served_models", {})
    return [
        f"the model {name} was served as {', '.join(models)}: it changed during the run"
        for name, models in sorted(served.items())
        if len(set(models)) > 1
    ]


def evidence_digest(run: StoredRun) -> str:
    """Return the SHA-256 of the records, in hex."""
    with open(run.folder / RECORDS, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
