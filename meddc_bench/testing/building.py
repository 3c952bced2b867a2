"""Properties of every adapter: it can be built, refuses options it does not know, and keeps its keys to itself."""

from __future__ import annotations

import traceback
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, get_args

from meddc_bench.contracts import InputFile, Options
from meddc_bench.errors import MedDDCError, PluginError, UsageError
from meddc_bench.testing.properties import Breach, Property, described
from meddc_bench.testing.subject import Subject
from meddc_bench.testing.watching import overheard, watched

_FILE = get_args(InputFile)[0]
_KEY_NAMES = ("key", "token", "secret", "password", "credential")
_ABSURD: tuple[Any, ...] = (object(), ["canary-option-77e1"], {"canary-option-77e1": 1}, "canary-option-77e1", -1)
_CANARY_OPTION = "canary-option-77e1"


def builds(subject: Subject, methods: Iterable[str]) -> None:
    """Build the adapter: its factory and options are there, it does no I/O on the network, and has its methods."""

    async def trial() -> None:
        with watched() as heard:
            adapter = subject.adapter()
            built = adapter.get()
        loud = sorted({what for what, _ in heard} & {"connect", "start"})
        if loud:
            raise Breach(f"building it makes it {' and '.join(loud)} ({heard[-1][1]})")
        missing = [name for name in methods if not callable(getattr(built, name, None))]
        if missing:
            raise Breach(f"{type(built).__name__} has no method {', '.join(missing)}")
        await adapter.aclose()

    try:
        subject.run(trial)
    except (PluginError, UsageError) as error:
        raise Breach(str(error)) from error


def options(subject: Subject) -> None:
    """Refuse an unknown option; never repeat a value; ask for no key."""
    model = subject.registration.load_options()
    _refuses_unknown(subject, model)
    for name, field in model.model_fields.items():
        words = name.lower().split("_")
        if any(one in words for one in _KEY_NAMES) and words[-1] not in ("env", "file", "limit", "tokens"):
            raise Breach(f"the option {name} takes a key, which would stand in the manifest; take it by context.secret")
        if field.exclude:
            raise Breach(
                f"the option {name} is left out of what identifies a result; mark it Local where it is no input"
            )
        if field.annotation is not _FILE:  # a path may be named in words about it
            _hides_values(subject, name)


def _refuses_unknown(subject: Subject, model: type[Options]) -> None:
    """Try an option of a name that no one has, past the check that the program makes itself."""
    try:
        model.model_validate({**subject.options, "no_such_option_x": 1})
    except Exception as error:
        if "no_such_option_x" not in str(error):
            raise Breach(f"an unknown option raised something else: {described(error)}") from error
        return
    raise Breach(f"{model.__name__} takes any option: a misspelt one would be ignored")


def _hides_values(subject: Subject, name: str) -> None:
    for value in _ABSURD:
        try:
            subject.adapter(**{name: value})
        except MedDDCError as error:
            if _CANARY_OPTION in str(error):
                raise Breach(f"the error about the option {name} repeats its value: {error}") from error
        except Exception as error:
            raise Breach(f"a wrong value of the option {name} raised {described(error)}") from error


def secrets(subject: Subject, use: Callable[[Subject, Any, list[Any]], Awaitable[None]]) -> None:
    """Use the adapter in every way and look for its keys in all that comes out of it.

    `use` plays it and adds whatever comes out to a list, errors included.
    """
    out: list[Any] = []

    async def trial() -> None:
        adapter = subject.adapter()
        out.append(adapter.identity)
        try:
            built = adapter.get()
            out.append(built)
            await use(subject, built, out)
        except Exception as error:  # what it says is looked at too
            out.append(error)
        finally:
            await adapter.aclose()

    with overheard() as words:
        subject.run(trial)
    shown = {"what it printed or logged": words.getvalue()}
    shown |= {f"{type(one).__name__}": _everything(one) for one in out}
    for env, value in subject.secrets.items():
        for where, text in shown.items():
            if value in text:
                raise Breach(f"the key {env} stands in {where}")


def _everything(one: Any) -> str:
    if isinstance(one, BaseException):
        return "".join(traceback.format_exception(one)) + repr(one.args)
    return f"{one!r} {one}"


def common(methods: Iterable[str], use: Callable[[Subject, Any, list[Any]], Awaitable[None]]) -> tuple[Property, ...]:
    """Return the properties that every adapter has."""
    names = tuple(methods)
    return (
        Property(
            "builds",
            "factory(options, context) gives an object with the methods of its kind, at once and without a connection",
            "register a factory that exists; open connections and start programs in the first call, not before",
            lambda subject: builds(subject, names),
        ),
        Property(
            "options",
            "an option that the adapter does not have is refused, a wrong value is refused without repeating it, and no "
            "option takes a key",
            "derive the options from meddc_bench.Options without changing its model_config; raise ValueError with words "
            "that do not hold the value; take keys by context.secret(ENV)",
            options,
            ("builds",),
        ),
        Property(
            "secrets",
            "a key stands in no answer, error, repr, log or printed line",
            "keep what context.secret gives as the SecretStr it is; call get_secret_value() only where the key is sent; "
            "raise errors without it",
            lambda subject: secrets(subject, use),
            ("builds",),
        ),
    )
