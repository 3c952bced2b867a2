"""The checks as pytest suites: subclass the one of your adapter's kind, and give its name."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from meddc_bench.registry import Registry
from meddc_bench.testing.checking import PROPERTIES
from meddc_bench.testing.properties import Trial
from meddc_bench.testing.subject import Subject


class Suite:
    """Tests of one adapter, one a property; `plugins check` tries the same.

    name      the name under which the adapter is registered
    options   its options, if it needs any
    file      of an importer: an example of what it reads
    waived    property -> the reason why it does not hold; the test is then expected to fail

    A standard test cannot be replaced; tests of your own may stand beside them and use `self.subject()`.
    """

    kind: ClassVar[str] = ""
    name: ClassVar[str] = ""
    options: ClassVar[Mapping[str, Any]] = {}
    file: ClassVar[Path | None] = None
    waived: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls, kind: str = "", **more: Any) -> None:
        super().__init_subclass__(**more)
        if kind:
            cls.kind = kind
            for one in PROPERTIES[kind]():
                setattr(cls, f"test_{one.name}", _test(one.name, one.expected))
            return
        standard = {one.name for one in PROPERTIES[cls.kind]()} if cls.kind else set()
        replaced = sorted(name for name in cls.__dict__ if name.removeprefix("test_") in standard and "test_" in name)
        if replaced or "_trial" in cls.__dict__:
            what = replaced[0] if replaced else "_trial"
            wanted = what.removeprefix("test_")
            raise TypeError(
                f"{cls.__name__} replaces the standard {what}; where the property cannot hold, say why: "
                f'waived = {{"{wanted}": "the reason"}}'
            )
        for name, reason in cls.waived.items():
            if name not in standard:
                raise TypeError(f"{cls.__name__} waives {name!r}; the properties are {', '.join(sorted(standard))}")
            if not isinstance(reason, str) or len(reason.strip()) < 8:
                raise TypeError(f"{cls.__name__} waives {name!r} without a reason; write a sentence that says why")

    @classmethod
    def subject(cls) -> Subject:
        """Return the adapter under test, to be built afresh.

        Raises:
            UsageError: the name is not registered: the distribution is not installed, or `plugins doctor` says why.
        """
        return Subject(_registry(), cls.kind, cls.name, cls.options, file=cls.file)

    @classmethod
    def _trial(cls) -> Trial:
        found: Trial = _trial_of(cls)  # type: ignore[arg-type]  # a class is hashable
        return found


def _test(name: str, expected: str) -> Callable[[Suite], None]:
    def test(self: Suite) -> None:
        import pytest

        verdict = self._trial().verdict(name)
        reason = self.waived.get(name)
        if verdict.result == "not tried":
            pytest.skip(verdict.seen)
        if reason is not None and verdict.result == "failed":
            pytest.xfail(f"waived: {reason}")
        if reason is not None:
            pytest.fail(f"{name} is waived and holds; take the waiver away", pytrace=False)
        if verdict.result == "failed":
            pytest.fail(str(verdict), pytrace=False)

    test.__name__, test.__qualname__ = f"test_{name}", f"Suite.test_{name}"
    test.__doc__ = f"{expected[:1].upper()}{expected[1:]}."
    return test


@functools.cache
def _trial_of(suite: type[Suite]) -> Trial:
    return Trial(PROPERTIES[suite.kind](), suite.subject())


@functools.cache
def _registry() -> Registry:
    return Registry.load()


class PolicySuite(Suite, kind="policy"):
    """Tests of a policy."""


class PatientSuite(Suite, kind="patient"):
    """Tests of a patient."""


class ReaderSuite(Suite, kind="reader"):
    """Tests of a reader."""


class JudgeSuite(Suite, kind="judge"):
    """Tests of a judge."""


class MetricSuite(Suite, kind="metric"):
    """Tests of a metric."""


class EnvironmentSuite(Suite, kind="environment"):
    """Tests of an environment."""


class TaskSuite(Suite, kind="task"):
    """Tests of a plugin's tasks."""


class ImporterSuite(Suite, kind="importer"):
    """Tests of an importer; give an example as `file`."""


SUITES: Mapping[str, type[Suite]] = {
    "policy": PolicySuite,
    "patient": PatientSuite,
    "reader": ReaderSuite,
    "judge": JudgeSuite,
    "metric": MetricSuite,
    "environment": EnvironmentSuite,
    "task": TaskSuite,
    "importer": ImporterSuite,
}
"""The suite of every kind."""
