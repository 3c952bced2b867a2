"""Builds the adapters a campaign names: options checked at once, factories called only when a record is missing."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import SecretStr, ValidationError

from meddc_bench.contracts import Local, Options, Spec
from meddc_bench.errors import MedDDCError, PluginError, UsageError, suggest
from meddc_bench.registry import Registration, Registry


def secret_of_environment(label: str, env: str) -> SecretStr:
    """Return a key from the environment.

    Raises:
        UsageError: it is not set.
    """
    value = os.environ.get(env)
    if not value:
        raise UsageError(f"{label}: the environment variable {env} is not set")
    return SecretStr(value)


class Adapter:
    """A configured adapter: its identity now, itself when first needed."""

    def __init__(
        self, registry: Registry, kind: str, name: str, label: str, options: Mapping[str, Any], *,
        secrets: Callable[[str, str], SecretStr] = secret_of_environment, media: Callable[[str], bytes] | None = None,
    ):  # fmt: skip
        self.kind, self.name, self.label = kind, name, label
        self._secrets, self._media = secrets, media
        self.registration: Registration = registry.get(kind, name)
        self._registry = registry
        self._options = _checked_options(self.registration, options)
        self._built: Any = None
        self._parts: list[Adapter] = []

    @property
    def identity(self) -> dict[str, Any]:
        """What of this adapter a result depends on: plugin, revision and options, without the local ones."""
        entry = self.registration
        local = _local_names(type(self._options))
        options = {key: value for key, value in self._options.model_dump(mode="json").items() if key not in local}
        return {
            "name": entry.name, "plugin": entry.plugin, "distribution": entry.distribution,
            "revision": entry.revision, "options": options,
        }  # fmt: skip

    @property
    def model(self) -> str | None:
        """The language model it names in its options, if it stands on one."""
        named = self.identity["options"].get("model")
        return named if isinstance(named, str) else None

    @property
    def takes_images(self) -> bool:
        """Whether it gets pictures as images: it was registered so, and as configured it wants them."""
        return "images" in self.registration.provides and bool(getattr(self.get(), "images", True))

    @property
    def version(self) -> str:
        return self.registration.version

    def get(self) -> Any:
        """Build the adapter, once."""
        if self._built is None:
            factory = self.registration.load_factory()
            try:
                self._built = factory(
                    self._options, _Context(self._registry, self.label, self._parts, self._secrets, self._media)
                )
            except MedDDCError:
                raise
            except Exception as error:  # a plugin's own code
                raise self._broken(f"its factory raised {type(error).__name__}: {error}") from error
            if self._built is None:
                raise self._broken("its factory gave nothing")
        return self._built

    def _broken(self, message: str) -> PluginError:
        return PluginError(self.registration.plugin, f"{self.kind} {self.name!r}: {message}")

    async def aclose(self) -> None:
        """Close the adapter if it was built and can be closed, then those that it built itself."""
        try:
            close = getattr(self._built, "aclose", None)
            if close is not None:
                result = close()
                if inspect.isawaitable(result):
                    await result
        finally:
            while self._parts:
                await self._parts.pop().aclose()


class _Context:
    """What a factory may use."""

    def __init__(
        self, registry: Registry, label: str, parts: list[Adapter], secrets: Callable[[str, str], SecretStr],
        media: Callable[[str], bytes] | None,
    ):  # fmt: skip
        self._registry, self._parts, self._secrets, self._media = registry, parts, secrets, media
        self.label = label

    def secret(self, env: str) -> SecretStr:
        """Return a key from the environment; UsageError where it is not set."""
        return self._secrets(self.label, env)

    def build(self, kind: str, spec: Spec) -> Any:
        """Build another adapter, for ensembles and wrappers."""
        part = Adapter(
            self._registry, kind, spec.name, self.label, spec.options, secrets=self._secrets, media=self._media
        )
        self._parts.append(part)
        return part.get()

    def media(self, sha256: str) -> bytes:
        """Return the bytes of a picture that a turn of the run came with.

        Raises:
            UsageError: there is none with this digest.
            InputError: its file is gone, or another.
        """
        if self._media is None:
            raise UsageError(f"{self.label}: no picture has the sha256 {sha256}; only policies get pictures")
        return self._media(sha256)


def _checked_options(entry: Registration, given: Mapping[str, Any]) -> Options:
    model = entry.load_options()
    unknown = [key for key in given if key not in model.model_fields]
    if unknown:
        hint = suggest(unknown[0], sorted(model.model_fields))
        raise UsageError(f"{entry.kind} {entry.name!r} has no option {unknown[0]!r}; {hint}")
    try:
        return model.model_validate(dict(given))
    except ValidationError as failure:
        detail = failure.errors(include_input=False, include_url=False)[0]
        key = ".".join(str(part) for part in detail["loc"])
        message = detail["msg"].removeprefix("Value error, ")
        raise UsageError(f"{entry.kind} {entry.name!r}, option {key!r}: {message}") from None
    except Exception as error:  # a plugin's own validator; its words may hold the value
        message = f"options of {entry.kind} {entry.name!r}: their validator raised {type(error).__name__}"
        raise PluginError(entry.plugin, message) from None


def _local_names(model: type[Options]) -> frozenset[str]:
    fields = model.model_fields.items()
    return frozenset(
        name for name, info in fields if any(mark is Local or isinstance(mark, Local) for mark in info.metadata)
    )
