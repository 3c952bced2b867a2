"""Importers that are good but for one thing: each is named after the property it breaks."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from meddc_bench import Case, Context, Fault, Options, hookimpl
from meddc_bench.contracts import Register
from meddc_bench.errors import InputError

MEDDC_BENCH_API = 1


def case(name: Any) -> Case:
    """A case of a diagnosis."""
    data = {"id": "a1", "source": "imported", "context": "无", "diagnoses": [{"name": name}], "turn_budget": 3}
    return Case.model_validate_json(json.dumps(data))


class Good:
    """Reads `{"diagnosis": "..."}` a line."""

    def __init__(self, options: Options, context: Context):
        self.context = context

    def read(self, path: Path) -> Iterator[Any]:
        try:
            with path.open("rb") as file:
                for number, raw in enumerate(file, 1):
                    yield self.line(raw, f"{path}:{number}")
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", path=path) from None

    def line(self, raw: bytes, where: str) -> Any:
        try:
            return case(json.loads(raw.decode())["diagnosis"])
        except (ValueError, KeyError, TypeError):
            return Fault(where, "expected an object with the key diagnosis")


class BadBuilds(Good):
    read: Any = None


class AnyOptions(Options, extra="ignore"):
    """Takes whatever it is given."""


class BadSecrets(Good):
    def line(self, raw: bytes, where: str) -> Any:
        key = self.context.secret("BAD_PLUGIN_KEY").get_secret_value()
        found = super().line(raw, where)
        return found.model_copy(update={"provenance": key}) if isinstance(found, Case) else found


class BadTypes(Good):
    def line(self, raw: bytes, where: str) -> Any:
        found = super().line(raw, where)
        return found if isinstance(found, Fault) else {"case": found.id}


class BadDeterminism(Good):
    def line(self, raw: bytes, where: str) -> Any:
        found = super().line(raw, where)
        return found if isinstance(found, Fault) else case(str(random.random()))


class BadStreaming(Good):
    """Holds the whole file."""

    def read(self, path: Path) -> Iterator[Any]:
        try:
            lines = path.read_bytes().splitlines()
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", path=path) from None
        for number, raw in enumerate(lines, 1):
            yield self.line(raw, f"{path}:{number}")


class BadFaults(Good):
    """Stops at the first bad line."""

    def line(self, raw: bytes, where: str) -> Any:
        return case(json.loads(raw.decode())["diagnosis"])


@hookimpl
def register_importers(register: Register) -> None:
    made = {
        "builds": BadBuilds, "options": Good, "secrets": BadSecrets, "types": BadTypes, "determinism": BadDeterminism,
        "streaming": BadStreaming, "faults": BadFaults,
    }  # fmt: skip
    for name, factory in made.items():
        register(f"bad-{name}", factory, AnyOptions if name == "options" else Options)
    register("good", Good)
