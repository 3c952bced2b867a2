"""The policy `scripted`: replays the doctor's turns of a file, one a line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from meddc_bench.contracts import Call, Context, InputFile, Options, PolicyView, Reply
from meddc_bench.errors import InputError, PolicyError
from meddc_bench.text import asserted_diagnosis

_KEYS = frozenset({"text", "calls"})
_DIAGNOSIS = re.compile(r"(?:初步|最后|最终)?诊断[:：]\s*(.+)")


class ScriptedOptions(Options):
    """Options of `scripted`: the file whose lines are the doctor's turns."""

    file: InputFile


class Scripted:
    """Says line k of its file as the doctor's k-th turn."""

    def __init__(self, options: ScriptedOptions, context: Context | None = None) -> None:
        self._path = options.file.path
        self._script: tuple[Reply, ...] | None = None

    async def act(self, view: PolicyView) -> Reply:
        """Give the turn whose number comes next, or the closing diagnosis when nothing else may be done."""
        script = self._load()
        spoken = sum(1 for turn in view.turns if turn.role == "doctor")
        may_ask = any(item.name != "diagnose" for item in view.menu) and view.phase != "diagnosis"
        if spoken < len(script) and (may_ask or _diagnoses(script[spoken])):
            return script[spoken]
        if _diagnoses(script[-1]):
            return script[-1]
        raise PolicyError(
            f"the script {self._path.name} has {len(script)} turns and none is left for turn {spoken + 1}"
        )

    def _load(self) -> tuple[Reply, ...]:
        if self._script is None:
            self._script = read_script(self._path)
        return self._script


def read_script(path: Path) -> tuple[Reply, ...]:
    """Read a script, a turn a line: plain text (`诊断：甲；乙` diagnoses) or a JSON object with `text` and `calls`."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InputError(
            f"not UTF-8 text ({error.reason} at byte {error.start}); save it as UTF-8", path=path
        ) from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(
            f"cannot read the script: {reason}; give file=PATH of a text or JSONL file", path=path
        ) from None
    replies = tuple(_reply(line.strip(), path, number) for number, line in enumerate(lines, 1) if line.strip())
    if not replies:
        raise InputError("the script is empty; expected one doctor turn a line", path=path)
    return replies


def _reply(line: str, path: Path, number: int) -> Reply:
    if not line.startswith("{"):
        said = _DIAGNOSIS.match(line)
        return Reply(text=line, calls=_diagnose(said[1]) if said else ())
    try:
        data = json.loads(line)
    except json.JSONDecodeError as error:
        raise InputError(f"not a JSON object: {error.msg} (column {error.colno})", path=path, line=number) from None
    if extra := sorted(set(data) - _KEYS):
        raise InputError(f"unknown key; expected {sorted(_KEYS)}", path=path, line=number, key=extra[0])
    text = data.get("text", "")
    if not isinstance(text, str):
        raise InputError(f"expected text, got {type(text).__name__}", path=path, line=number, key="text")
    calls = data.get("calls", [])
    if not isinstance(calls, list):
        raise InputError(f"expected a list, got {type(calls).__name__}", path=path, line=number, key="calls")
    if not text.strip() and not calls:
        raise InputError("expected `text` or `calls`", path=path, line=number)
    return Reply(text=text, calls=tuple(_call(call, path, number) for call in calls))


def _diagnose(names: str) -> tuple[Call, ...]:
    """Make the diagnosis action of a line `诊断：甲；乙`."""
    found = [name for part in re.split(r"[；;、]", names) if (name := part.strip(" 。.").strip())]
    return (Call("diagnose", {"diagnoses": found}),) if found else ()


def _call(call: Any, path: Path, number: int) -> Call:
    if not isinstance(call, dict) or not isinstance(call.get("name"), str):
        raise InputError('expected {"name": ..., "arguments": {...}}', path=path, line=number, key="calls")
    arguments = call.get("arguments", {})
    if not isinstance(arguments, dict | str):
        raise InputError("expected an object of arguments", path=path, line=number, key="calls.arguments")
    return Call(call["name"], arguments)


def _diagnoses(reply: Reply) -> bool:
    return any(call.name == "diagnose" for call in reply.calls) or asserted_diagnosis(reply.text) is not None
