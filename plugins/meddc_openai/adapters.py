"""Builds the roles: options of an endpoint -> a Chat -> the policy, or the core's patient, reader or judge on it."""

from __future__ import annotations

import functools
import os
from typing import Annotated
from urllib.parse import urlsplit

from meddc_bench.contracts import Context, Local
from meddc_bench.errors import UsageError
from meddc_bench.llm.chat import Chat, Model
from meddc_bench.llm.endpoint import Endpoint
from meddc_bench.llm.options import ModelOptions, PolicySampling, roles

OPENAI = "https://api.openai.com/v1"


class EndpointOptions(ModelOptions):
    """A model at an OpenAI-compatible endpoint; the key comes from the environment.

    `base_url`: OPENAI_BASE_URL where left out, else OpenAI itself. `api_key_env`: the name of the variable that holds
    the key; where left out OPENAI_API_KEY for OpenAI and OPENAI_BASE_URL, and none for a `base_url` given here.
    """

    base_url: Annotated[str | None, Local()] = None
    api_key_env: Annotated[str | None, Local()] = None


class PolicyOptions(EndpointOptions, PolicySampling):
    """A model that plays the doctor."""


def _chat(options: EndpointOptions, context: Context, role: str) -> Chat:
    url = (options.base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI).strip().rstrip("/")
    wrong = _wrong_address(url)
    if wrong is not None:
        raise UsageError(f"{context.label}: base_url {wrong}: expected http://… or https://…, such as {OPENAI}")
    key = _key(options, context, url).strip()
    if not key.isascii() or not key.isprintable():
        raise UsageError(f"{context.label}: its key holds characters that no HTTP header can carry")
    model = Model(options.model, url, role, options.extra_body)
    return Chat(model, (url, key), functools.partial(Endpoint, url, key), context.media)


def _wrong_address(url: str) -> str | None:
    """Say what is wrong with an address, without repeating what may be a secret in it."""
    try:
        parts = urlsplit(url)
        if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
            return "holds a user name, a password or parameters, which would stand in files (keys come from the environment)"
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and " " not in url
        return None if good else repr(url)
    except ValueError:
        return repr(url)


def _key(options: EndpointOptions, context: Context, url: str) -> str:
    """Return the key: the one named, else OPENAI_API_KEY for OpenAI and OPENAI_BASE_URL, else none."""
    if options.api_key_env is not None or url == OPENAI:
        return context.secret(options.api_key_env or "OPENAI_API_KEY").get_secret_value()
    if options.base_url is None and os.environ.get("OPENAI_API_KEY"):
        return context.secret("OPENAI_API_KEY").get_secret_value()
    return ""


policy, patient, reader, judge = roles(_chat)
