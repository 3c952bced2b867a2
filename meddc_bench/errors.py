"""The exceptions of the project: each names its culprit.

MedDDCError
├── UsageError          the command line or a call asks for what cannot be       exit 2
│   └── InputError      a file the user gave: path, line, key                    exit 2
├── StoreError          a run folder that cannot be read, written or locked      exit 1
├── PluginError         a distribution that broke its contract                   exit 2
├── CostLimitError      the run has become dearer than allowed; it stops         exit 3
├── EndpointError       a language model's endpoint gave nothing usable: which kind of failure
└── StageError          raised inside a stage, recorded as that stage's outcome
    ├── PolicyError     -> policy_failed
    ├── PatientError    -> patient_failed
    ├── ReaderError     -> reader_failed
    └── JudgeError      -> judge_failed
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import ClassVar, Literal


class MedDDCError(Exception):
    """Any error the project raises on purpose; its text is fit for the screen."""

    exit_code = 1


class UsageError(MedDDCError):
    """The request itself is wrong: an unknown name, a clash, a missing option."""

    exit_code = 2


class InputError(UsageError):
    """A file of the user's is wrong; says which file, line and key, and what was expected."""

    def __init__(
        self, message: str, *, path: Path | str | None = None, line: int | None = None, key: str | None = None
    ):
        where = ":".join(str(part) for part in (path, line, key) if part not in (None, ""))
        super().__init__(f"{where}: {message}" if where else message)
        self.message, self.path, self.line, self.key = message, path, line, key


class StoreError(MedDDCError):
    """The run folder cannot be read, written or locked."""


class PluginError(MedDDCError):
    """A plugin broke its contract; names the plugin."""

    exit_code = 2

    def __init__(self, plugin: str, message: str):
        super().__init__(f"plugin {plugin}: {message}")
        self.plugin, self.message = plugin, message


class CostLimitError(MedDDCError):
    """The calls of a run have cost more than --cost-limit allows."""

    exit_code = 3


Fault = Literal["auth", "quota", "permanent", "transient", "context", "refusal", "blank", "cut", "unparsable"]
"""How an endpoint can fail: its key, its purse, the request, itself; or what the model wrote."""


class EndpointError(MedDDCError):
    """A language model's endpoint gave nothing usable, after its retries; `retry_after` is in seconds.

    What lies with the model or with what it was asked (`context`, `refusal`, `blank`, `cut`, `unparsable`) becomes the
    outcome of the role it plays; everything else is the infrastructure's.
    """

    UNUSABLE: ClassVar[frozenset[str]] = frozenset({"blank", "cut", "unparsable"})
    RETRIED: ClassVar[frozenset[str]] = UNUSABLE | {"transient"}
    OF_THE_ROLE: ClassVar[frozenset[str]] = UNUSABLE | {"context", "refusal"}

    def __init__(self, kind: Fault, message: str, *, retry_after: float | None = None):
        super().__init__(f"{kind}: {message}")
        self.kind, self.message, self.retry_after = kind, message, retry_after


class StageError(MedDDCError):
    """Base of the errors an adapter raises about its own role; a stage records them."""

    outcome = "infra_failed"


class PolicyError(StageError):
    """The policy itself failed (refused, blank, overflowed): a measurement."""

    outcome = "policy_failed"


class PatientError(StageError):
    """The simulated patient failed."""

    outcome = "patient_failed"


class ReaderError(StageError):
    """The reader failed."""

    outcome = "reader_failed"


class JudgeError(StageError):
    """The judge failed."""

    outcome = "judge_failed"


def suggest(name: str, known: Iterable[str]) -> str:
    """Say which known names are near, or list them all.

    >>> suggest("checklst", ["brief", "checklist"])
    "did you mean 'checklist'?"
    """
    choices = list(known)
    near = get_close_matches(name, choices, n=3, cutoff=0.6)
    if near:
        return "did you mean " + " or ".join(repr(one) for one in near) + "?"
    return "there is: " + ", ".join(choices) if choices else "there is none"
