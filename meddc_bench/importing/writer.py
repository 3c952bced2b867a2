"""Writes cases and histories as an importer gives them, and counts what it does not."""

from __future__ import annotations

import contextlib
import itertools
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from meddc_bench.contracts import Fault, Imported
from meddc_bench.fingerprint import digest
from meddc_bench.importing.made import Made, TooManyDefects, Wanted
from meddc_bench.imports import PATIENT
from meddc_bench.records import Case

FILES = 200
"""Up to so many cases are one YAML file each; more are the lines of one file."""
HISTORIES = "histories.jsonl"
_EXAMPLES = 5


class Writer:
    """Writes cases and histories as they come, and counts what does not."""

    def __init__(self, folder: Path, made: Made, wanted: Wanted):
        self._folder, self._made, self._wanted = folder, made, wanted
        self._first: list[Case] = []
        self._ids: dict[str, int] = {}
        self._skipped: set[str] = set()
        self._said: set[tuple[str, str, int]] = set()
        self._open = contextlib.ExitStack()
        self._cases: Any = None
        self._histories: Any = None

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *error: object) -> None:
        if error[0] is None:
            self._finish()
        self._open.close()

    @property
    def lines(self) -> bool:
        """Whether the cases are the lines of one file."""
        return self._cases is not None

    def take(self, one: Any) -> bool:
        """Take what the importer gave; False where nothing that follows can matter.

        Raises:
            TypeError: it is nothing an importer may give.
            TooManyDefects: too much is broken.
        """
        if isinstance(one, Fault):
            self._fault(one)
        elif isinstance(one, Case):
            full = self._wanted.limit is not None and self._made.cases >= self._wanted.limit
            if full and one.id not in self._ids:
                self._skipped.add(one.id)
                return self._made.about.cases_first
            self._case(one)
        elif isinstance(one, Imported):
            self._history(one)
        else:
            raise TypeError(f"gave {type(one).__name__}; expected Case, Imported or Fault")
        return True

    def _fault(self, fault: Fault) -> None:
        made = self._made
        where = f"{fault.where}: {fault.message}"
        if fault.kind == "note":
            if where not in made.notes:
                made.notes.append(where)
        elif fault.kind == "excluded":
            reason = fault.reason or fault.message
            made.excluded[reason] += 1
            examples = made.examples.setdefault(reason, [])
            if len(examples) < _EXAMPLES:
                examples.append(fault.where)
        else:
            made.defects += 1
            if len(made.defect_lines) < 20:
                made.defect_lines.append(where)
            if self._wanted.fail_after is not None and made.defects > self._wanted.fail_after:
                raise TooManyDefects(f"{made.defects} defects, more than --fail-on-error allows; the last: {where}")

    def _case(self, case: Case) -> None:
        made = self._made
        known = int(digest(case.model_dump(mode="json"))[:15], 16)  # a number: of a million cases only this is kept
        before = self._ids.setdefault(case.id, known)
        if before != known:
            self._fault(Fault(case.id, "this case is there already and differs; the second is left out"))
            return
        if len(self._ids) == made.cases:  # the same case in another file
            return
        if made.cases and case.language != made.language:
            del self._ids[case.id]
            self._fault(
                Fault(
                    case.id,
                    f"its language is {case.language}, the task's is {made.language}",
                    "excluded",
                    "another language than the task's",
                )
            )
            return
        made.language = case.language
        made.cases += 1
        made.facts += len(case.facts)
        made.targets += len(case.scored_targets)
        made.derived += sum(one.derived for one in case.scored_targets)
        made.workups += case.workup is not None
        self._put(case)

    def _put(self, case: Case) -> None:
        if self._cases is None:
            self._first.append(case)
            if len(self._first) <= FILES:
                return
            self._cases = self._open.enter_context((self._folder / "cases.jsonl").open("wb"))
            waiting, self._first = self._first, []
        else:
            waiting = [case]
        for one in waiting:
            self._cases.write(msgspec.json.encode(plain(one)) + b"\n")

    def _history(self, one: Imported) -> None:
        if one.case not in self._ids:
            if one.case not in self._skipped:
                self._fault(Fault(one.case, f"policy {one.policy}: a history without a case; left out"))
            return
        key = (one.case, one.policy, one.repeat)
        if key in self._said:
            self._fault(Fault(one.case, f"policy {one.policy}, repeat {one.repeat} is there already; left out"))
            return
        self._said.add(key)
        if self._histories is None:
            self._histories = self._open.enter_context((self._folder / HISTORIES).open("wb"))
        self._made.histories[one.policy] += 1
        self._histories.write(
            msgspec.json.encode(
                {
                    "task": self._made.name,
                    "case": one.case,
                    "policy": one.policy,
                    "patient": PATIENT,
                    "repeat": one.repeat,
                    "history": one.history,
                }
            )
            + b"\n"
        )

    def _finish(self) -> None:
        if self._first:
            (self._folder / "cases").mkdir()
        for case in self._first:
            write_text(self._folder / "cases" / f"{case.id}.yaml", as_yaml(plain(case)))


def plain(case: Case) -> dict[str, Any]:
    """Give a case as a task's file holds it: without defaults, and without the facts that a workup's actor tells."""
    out = case.model_dump(mode="json", exclude_defaults=True)
    if case.workup is not None:
        out.pop("facts", None)
    return out


def as_yaml(data: Mapping[str, Any]) -> str:
    """Write plain data as YAML that a person can edit: one line a key, one line an item of a list.

    >>> print(as_yaml({"id": "a", "facts": [{"id": "f1", "text": "3:30"}]}), end="")
    id: "a"
    facts:
      - {id: "f1", text: "3:30"}
    """
    return "".join(itertools.chain.from_iterable(_lines(data, "")))


def _lines(data: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, value in data.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            yield f"{indent}{key}:\n"
            yield from (f"{indent}  - {_flow(one)}\n" for one in value)
        elif isinstance(value, dict) and any(isinstance(one, list | dict) for one in value.values()):
            yield f"{indent}{key}:\n"
            yield from _lines(value, f"{indent}  ")
        else:
            yield f"{indent}{key}: {_flow(value)}\n"


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(key)}: {_flow(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(one) for one in value) + "]"
    text = json.dumps(value, ensure_ascii=False)
    return re.sub(r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]", lambda match: f"\\u{ord(match[0]):04x}", text)


def _key(key: str) -> str:
    return (
        key
        if re.fullmatch(r"[A-Za-z_][\w-]*", key) and key not in ("no", "yes", "on", "off", "null", "true", "false")
        else json.dumps(key, ensure_ascii=False)
    )


def write_text(path: Path, text: str) -> None:
    """Write a text file as it is on every system."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)
