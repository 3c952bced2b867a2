"""MedDDC-Bench: what plugin authors and readers of results import.

Names are imported when first used, so that `meddc-bench --help` stays quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from meddc_bench.contracts import (
        API_VERSION,
        LEVELS,
        About,
        Answer,
        Budget,
        Call,
        Completion,
        Context,
        Decoding,
        Environment,
        Fault,
        Found,
        Generator,
        Imported,
        Importer,
        InputFile,
        Judge,
        JudgeView,
        Local,
        MenuItem,
        Message,
        Metric,
        Options,
        Patient,
        PatientView,
        Policy,
        PolicyView,
        Reader,
        ReaderView,
        Reference,
        Reply,
        Spec,
        Step,
        Unit,
        Visit,
        hookimpl,
    )
    from meddc_bench.records import (
        DIMENSIONS,
        MEASURED,
        Action,
        Assignment,
        Case,
        Diagnosis,
        Edge,
        Evidence,
        Fact,
        History,
        Item,
        Key,
        Media,
        Note,
        Pair,
        Reading,
        References,
        Score,
        Target,
        TraceStep,
        Turn,
        Usage,
    )

__all__ = [
    "API_VERSION",
    "DIMENSIONS",
    "LEVELS",
    "MEASURED",
    "About",
    "Action",
    "Answer",
    "Assignment",
    "Budget",
    "Call",
    "Case",
    "Completion",
    "Context",
    "Decoding",
    "Diagnosis",
    "Edge",
    "Environment",
    "Evidence",
    "Fact",
    "Fault",
    "Found",
    "Generator",
    "History",
    "Imported",
    "Importer",
    "InputFile",
    "Item",
    "Judge",
    "JudgeView",
    "Key",
    "Local",
    "Media",
    "MenuItem",
    "Message",
    "Metric",
    "Note",
    "Options",
    "Pair",
    "Patient",
    "PatientView",
    "Policy",
    "PolicyView",
    "Reader",
    "ReaderView",
    "Reading",
    "Reference",
    "References",
    "Reply",
    "Score",
    "Spec",
    "Step",
    "Target",
    "TraceStep",
    "Turn",
    "Unit",
    "Usage",
    "Visit",
    "hookimpl",
]


if not TYPE_CHECKING:  # type checkers read the imports above, and refuse a name that is not there

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        for module in ("records", "contracts"):
            found = getattr(importlib.import_module(f"{__name__}.{module}"), name, None)
            if found is not None:
                return found
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
