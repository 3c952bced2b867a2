"""How a name of the plugin API goes: it warns first, says what to use instead, and is gone in the next major version.

A renamed name of a module:      __getattr__ = renamed(__name__, {"OldName": Renamed("NewName", gone="2")})
A hook or an argument of one:    hookspec(warn_on_impl=Deprecated("..."), warn_on_impl_args={"argument": Deprecated("...")})

What a plugin is warned of stands in `meddc-bench plugins doctor`.
"""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any


class Deprecated(DeprecationWarning):
    """A name of the plugin API that still works and will go."""


@dataclass(frozen=True, slots=True)
class Renamed:
    """What a name is called now, and the major version of the plugin API in which the old one is gone."""

    new: str
    gone: str


def renamed(module: str, names: Mapping[str, Renamed]) -> Callable[[str], Any]:
    """Return a module's `__getattr__` that still finds names by their old name, and warns."""

    def find(name: str) -> Any:
        found = names.get(name)
        if found is None:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        words = (
            f"{module}.{name} is called {found.new} now; the old name goes with version {found.gone} of the plugin API"
        )
        warnings.warn(words, Deprecated, stacklevel=2)
        return getattr(sys.modules[module], found.new)

    return find


@contextlib.contextmanager
def collected() -> Iterator[list[str]]:
    """Collect what is warned of as deprecated meanwhile; other warnings go on their way."""
    found: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", Deprecated)
        try:
            yield found
        finally:
            found += [str(one.message) for one in caught if issubclass(one.category, Deprecated)]
    for one in caught:
        if not issubclass(one.category, Deprecated):
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
