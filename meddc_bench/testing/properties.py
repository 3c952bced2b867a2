"""What a conformance check is made of: properties, breaches of them, and the report of one adapter."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from meddc_bench.errors import MedDDCError
from meddc_bench.text import one_line

Result = Literal["passed", "failed", "not tried"]


class Breach(Exception):
    """A property does not hold; the text says what came instead of what was expected."""


class NotTried(Exception):
    """A property cannot be tried here; the text says what is missing."""


@dataclass(frozen=True)
class Property:
    """One thing that every adapter of a kind must do.

    `expected` completes "expected: ..."; `mend` says what to do about a breach; `check` raises Breach where it does not
    hold. It is tried only when the properties that it `needs` hold, so that one fault is told once.
    """

    name: str
    expected: str
    mend: str
    check: Callable[[Any], None] = field(repr=False)
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """How trying a property went: `seen` is what came of it where it failed, or why it was not tried."""

    property: Property
    result: Result
    seen: str = ""

    def __str__(self) -> str:
        if self.result != "failed":
            return f"{self.property.name}: {self.result}" + (f": {self.seen}" if self.seen else "")
        return f"{self.property.name}: expected: {self.property.expected}; came: {self.seen}; mend it: {self.property.mend}"


class Trial:
    """Tries the properties of one subject, each once and when it is asked for."""

    def __init__(self, properties: Sequence[Property], subject: Any):
        self._properties = {one.name: one for one in properties}
        self._subject = subject
        self._verdicts: dict[str, Verdict] = {}

    def verdict(self, name: str) -> Verdict:
        """Try a property, after those it needs."""
        if name not in self._verdicts:
            self._verdicts[name] = self._tried(self._properties[name])
        return self._verdicts[name]

    def verdicts(self) -> tuple[Verdict, ...]:
        """Try all properties."""
        return tuple(self.verdict(name) for name in self._properties)

    def _tried(self, one: Property) -> Verdict:
        for need in one.needs:
            if (other := self.verdict(need)).result != "passed":
                return Verdict(one, "not tried", f"needs {need}, which {_was(other.result)}")
        try:
            one.check(self._subject)
        except Breach as breach:
            return Verdict(one, "failed", self._shown(str(breach)))
        except NotTried as missing:
            return Verdict(one, "not tried", str(missing))
        except (Exception, SystemExit) as error:  # a stranger's code, outside what a check foresaw
            return Verdict(one, "failed", self._shown(described(error)))
        return Verdict(one, "passed")

    def _shown(self, words: str) -> str:
        hide: Callable[[str], str] = getattr(self._subject, "hide", str)
        return one_line(hide(words), 600)


def _was(result: Result) -> str:
    return "failed" if result == "failed" else "was not tried"


def described(error: BaseException) -> str:
    """Name an exception, with the place in the plugin where it was raised."""
    words = str(error) if isinstance(error, MedDDCError) else f"{type(error).__name__}: {error}"
    frames = traceback.extract_tb(error.__traceback__)
    return f"{words.rstrip(': ')} (at {frames[-1].filename}:{frames[-1].lineno})" if frames else words


def same(found: Any, expected: Any, what: str) -> None:
    """Compare two lists of answers.

    Raises:
        Breach: they differ; with the first difference.
    """
    if found == expected:
        return
    if isinstance(found, Mapping) and isinstance(expected, Mapping):
        key = next(key for key in (*found, *expected) if found.get(key) != expected.get(key))
        same(found.get(key), expected.get(key), f"{what}, {key}")
    elif isinstance(found, Sequence) and isinstance(expected, Sequence) and not isinstance(found, str):
        for number, (one, other) in enumerate(zip(found, expected, strict=False), 1):
            same(one, other, f"{what}, number {number}")
        raise Breach(f"{what}: {len(found)} in place of {len(expected)}")
    raise Breach(f"{what}: {one_line(repr(found), 160)} in place of {one_line(repr(expected), 160)}")
