"""Which language an environment speaks: English for English cases, Chinese for all others."""

from __future__ import annotations

from types import ModuleType

from meddc_bench.environments import replies, replies_en


def speech(language: str) -> ModuleType:
    """Return the module of fixed sentences of a language; every one has the same names."""
    return replies_en if language == "en" else replies
