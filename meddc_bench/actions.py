"""Reads a policy's reply as an action of the menu: a tool call, an XML element or a JSON object; else free text.

    <diagnose><diagnosis>急性阑尾炎</diagnosis></diagnose>
    <action name="diagnose">{"diagnoses": ["急性阑尾炎"]}</action>
    <action>{"name": "diagnose", "arguments": {"diagnoses": ["急性阑尾炎"]}}</action>
    <action>order_tests: CT；血常规</action>
    {"action": "diagnose", "diagnoses": ["急性阑尾炎"]}

Every reader is linear in the length of the reply, and nothing a reply holds raises.
"""

from __future__ import annotations

import functools
import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from meddc_bench.records import Action, Form
from meddc_bench.text import clean

_THINK = re.compile(
    r"[<＜]\s{0,9}(?P<close>[/／]?)\s{0,9}(?:think|thinking|reasoning)\b[^<>＜＞/]{0,80}[>＞]", re.IGNORECASE
)
_ELEMENT = re.compile(r"<([A-Za-z_]+)\s{0,9}>")
_ANY_TAG = re.compile(r"</?[A-Za-z_]+>")
_WRAPPING = re.compile(r"```[a-zA-Z]*|</?(?:tool_call|action)>")
_BARE = re.compile(r"<action>(?P<body>.*?)(?P<close></action>|\Z)", re.DOTALL | re.IGNORECASE)
_CALLED = re.compile(r"\s*(?P<name>[A-Za-z_]{1,40})\s*(?:[:：]\s*|[(（]\s*|(?=\s|$))(?P<rest>.*)", re.DOTALL)
_NUMBER = re.compile(r"^\s*(?:\d+(?:[、)）]|[.．](?!\d))|[-*•])\s*")
_SINGULAR = {"diagnosis": "diagnoses", "test": "tests", "examination": "examinations", "image": "images"}
_WIDE = dict(zip("｛｝［］：，", "{}[]:,", strict=True))
_QUOTES = {'"': '"', "＂": "＂", "“": "”", "”": "”", "'": "'", "‘": "’"}
_TRIES = 8
_MANY = 200


@dataclass(frozen=True, slots=True)
class MenuItem:
    """An action the policy may take now: name, what it does, JSON schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call as the policy made it, arguments parsed or as the JSON text the model wrote."""

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)


def split_reasoning(text: str) -> tuple[str, str]:
    """Take hidden reasoning out of a reply: closed, unclosed, nested or opened by the template.

    A block that is opened more often than it is closed ends at its last closing tag, or else with the text.

    Returns:
        The public text and the reasoning.

    >>> split_reasoning("<think>可能是阑尾炎</think>肚子疼多久了？")
    ('肚子疼多久了？', '可能是阑尾炎')
    """
    pieces: list[tuple[str, bool]] = []
    at = depth = before = 0
    last: re.Match[str] | None = None
    for tag in _THINK.finditer(text):
        if not tag["close"]:
            if not depth:
                pieces.append((text[at : tag.start()], False))
                at, last = tag.end(), None
            depth += 1
        elif depth > 1:
            depth, last = depth - 1, tag
        else:
            pieces.append((text[at : tag.start()], True))
            before = before if depth else len(pieces)  # never opened: all that stands before it is reasoning
            at, depth = tag.end(), 0
    if depth and last is not None:
        pieces.append((text[at : last.start()], True))
        again = _THINK.search(text, last.end())
        pieces.append((text[last.end() : again.start() if again else len(text)], False))
        at = again.end() if again else len(text)
    pieces.append((text[at:], depth > 0))
    public = "".join(piece for index, (piece, hidden) in enumerate(pieces) if not hidden and index >= before)
    thought = (piece.strip() for index, (piece, hidden) in enumerate(pieces) if hidden or index < before)
    return public.strip(), "\n".join(filter(None, thought))


def parse(text: str, calls: Sequence[Call], menu: Sequence[MenuItem]) -> tuple[Action, str]:
    """Read a reply (clean public text, tool calls) as an action.

    Returns:
        The action with its format violations, and the public text of the turn. A reply that names no item of the menu
        is `ask` with its text, or `say` where asking is not on the menu.
    """
    items = {item.name: item for item in menu}
    if calls:
        return _from_calls(calls, text, items)
    for reader in (_from_xml, _from_bare, _from_json):
        found = reader(text, items)
        if found is not None:
            return found
    return _said(text, items)


def _said(text: str, items: Mapping[str, MenuItem], violations: Sequence[str] = ()) -> tuple[Action, str]:
    return Action(name="ask" if "ask" in items else "say", form="text", violations=tuple(violations)), text


def _from_calls(calls: Sequence[Call], text: str, items: Mapping[str, MenuItem]) -> tuple[Action, str]:
    violations = ["more than one tool call; the first counts"] if len(calls) > 1 else []
    name, arguments = calls[0].name, calls[0].arguments
    if isinstance(arguments, str):
        found = _json_value(arguments)
        if found is None:
            violations.append("tool arguments are not JSON")
        arguments = {} if found is None else found
    if not isinstance(name, str) or name not in items:
        violations.append(f"unknown tool {clean(str(name))[:40]!r}")
        return _said(text, items, violations)
    return _checked(items[name], arguments, "tool", violations, text)


# ── XML ──────────────────────────────────────────────────────────────────────────────────────────


def _from_xml(text: str, items: Mapping[str, MenuItem]) -> tuple[Action, str] | None:
    opening = _openings(tuple(items)).search(text) if "<" in text else None
    if opening is None:
        return None
    name = (opening["tag"] or opening["named"]).lower()
    item = next(one for key, one in items.items() if key.lower() == name)
    body, rest, violations = "", text[opening.end() :], []
    if not opening[0].endswith("/>"):
        closing = re.compile(rf"</{'action' if opening['named'] else re.escape(name)}\s*>", re.IGNORECASE)
        body, *after = closing.split(rest, maxsplit=1)
        violations = [] if after else [f"<{name}> is not closed"]
        rest = after[0] if after else ""
    outside = (text[: opening.start()] + rest).strip()
    if outside:
        violations.append("text outside the action")
    return _checked(item, _body_arguments(_WRAPPING.sub("", body).strip(), item), "xml", violations, outside)


@functools.lru_cache(maxsize=64)
def _openings(names: tuple[str, ...]) -> re.Pattern[str]:
    any_name = "|".join(map(re.escape, names))
    return re.compile(
        rf"<(?:(?P<tag>{any_name})(?=[\s/>])[^<>]*|action\s{{1,9}}name\s?=\s?[\"'](?P<named>{any_name})[\"']\s{{0,9}}/?)>",
        re.IGNORECASE,
    )


def _body_arguments(body: str, item: MenuItem) -> Any:
    """Arguments in an XML action: JSON, child elements, or plain text (one item a line)."""
    found = _json_value(body) if body.startswith(("{", "[", "｛", "［")) else None
    if found is not None or (body.startswith(("{", "｛")) and item.name != "ask"):
        return found
    if not item.parameters.get("properties"):
        return {}
    arguments: dict[str, list[str]] = {}
    for tag, value in _children(body):
        nested = list(_children(value))
        values = [inner.strip() for name, inner in nested if name == "name"] or [inner.strip() for _, inner in nested]
        arguments.setdefault(_SINGULAR.get(tag, tag), []).extend(values or _lines(value))
    if not arguments.keys().isdisjoint(item.parameters.get("properties", {})):
        return arguments
    return {_main(item): body if item.name == "ask" else _lines(_ANY_TAG.sub("\n", body))}


def _children(body: str) -> Iterator[tuple[str, str]]:
    """Iterate over the outermost elements of a body, the first few hundred of them."""
    at = 0
    for tag in itertools.islice(_ELEMENT.finditer(body), _MANY):
        if tag.start() >= at and (end := body.find(f"</{tag[1]}>", tag.end())) >= 0:
            yield tag[1].lower(), body[tag.end() : end]
            at = end


def _main(item: MenuItem) -> str:
    """The argument that an action is about: the only required one, or the first where none is required."""
    required = tuple(item.parameters.get("required", ()))
    if required:
        return required[0] if len(required) == 1 else ""
    return next(iter(item.parameters.get("properties", {})), "")


def _from_bare(text: str, items: Mapping[str, MenuItem]) -> tuple[Action, str] | None:
    """Read `<action>name: arguments</action>` or `<action>name(arguments)</action>`; JSON in it is left to JSON."""
    found = _BARE.search(text) if "<" in text else None
    called = _CALLED.fullmatch(found["body"]) if found else None
    if found is None or called is None or called["name"].lower() not in items:
        return None
    item = items[called["name"].lower()]
    rest = called["rest"].strip()
    if rest.endswith((")", "）")):
        rest = rest[:-1].strip()
    if rest[:1] in _QUOTES and rest[1:].find(_QUOTES[rest[0]]) == len(rest) - 2:
        rest = rest[1:-1]
    violations = [] if found["close"] else ["<action> is not closed"]
    outside = (text[: found.start()] + text[found.end() :]).strip()
    if outside:
        violations.append("text outside the action")
    arguments = _body_arguments(rest, item) if rest else {}
    return _checked(item, arguments, "xml", violations, outside)


# ── JSON ─────────────────────────────────────────────────────────────────────────────────────────


def _from_json(text: str, items: Mapping[str, MenuItem]) -> tuple[Action, str] | None:
    for data, start, end in _objects(text):
        name = data.get("action") or data.get("name") or _implied(data, items)
        if not isinstance(name, str) or name not in items:
            continue
        arguments = data.get("arguments", data.get("parameters"))
        if isinstance(arguments, str):
            arguments = _json_value(arguments)
        if not isinstance(arguments, Mapping):
            arguments = {key: value for key, value in data.items() if key not in ("action", "name")}
        outside = _WRAPPING.sub("", text[:start] + text[end:]).strip()
        violations = ["text outside the action"] if outside else []
        return _checked(items[name], arguments, "json", violations, outside)
    return None


def _implied(data: Mapping[str, Any], items: Mapping[str, MenuItem]) -> str | None:
    """Name the action of an object that names none but has diagnoses."""
    if "diagnoses" not in data:
        return None
    return next((name for name in ("diagnose", "final_diagnosis") if name in items), None)


def _objects(text: str) -> Iterator[tuple[dict[str, Any], int, int]]:
    """Iterate over the JSON objects in a text, each with its place; only the first few braces are tried."""
    at = 0
    for brace in itertools.islice(re.finditer("[{｛]", text), _TRIES):
        if brace.start() >= at and (found := _decoded(text, brace.start())) is not None and isinstance(found[0], dict):
            yield found[0], brace.start(), found[1]
            at = found[1]


def _json_value(text: str) -> Any:
    """Read a text that is a JSON object or list, perhaps fenced; None when it is not."""
    inner = _WRAPPING.sub("", text).strip()
    found = _decoded(inner, 0)
    return found[0] if found is not None and found[1] == len(inner) and isinstance(found[0], (dict, list)) else None


def _decoded(text: str, start: int) -> tuple[Any, int] | None:
    """Decode the JSON value at a place, as it stands or repaired; None when that is not to be had."""
    decoder = json.JSONDecoder(strict=False)
    try:
        return decoder.raw_decode(text, start)
    except RecursionError:
        return None
    except ValueError:
        plain, places = _repaired(text, start)
    try:
        value, end = decoder.raw_decode(plain)
    except (ValueError, RecursionError):
        return None
    return value, places[end - 1] + 1


def _repaired(text: str, start: int) -> tuple[str, list[int]]:
    """Write JSON with other quotes, full-width marks or trailing commas as plain JSON; what strings hold stays.

    Returns:
        The text, and for each of its characters the place it came from.
    """
    out: list[str] = []
    places: list[int] = []
    close, escaped = "", False
    for at in range(start, len(text)):
        char = text[at]
        if close and (escaped or char != close):
            escaped = char == "\\" and not escaped
            char = '\\"' if char == '"' else char
        elif close or char in _QUOTES:
            close, char = "" if close else _QUOTES[char], '"'
        else:
            char = _WIDE.get(char, char)
            if char in "}]":
                _drop_comma(out, places)
        out.extend(char)
        places.extend([at] * len(char))
    return "".join(out), places


def _drop_comma(out: list[str], places: list[int]) -> None:
    """Take back a comma, and the blanks after it, that nothing follows."""
    kept = len(out)
    while kept and out[kept - 1].isspace():
        kept -= 1
    if kept and out[kept - 1] == ",":
        del out[kept - 1 :], places[kept - 1 :]


# ── arguments ────────────────────────────────────────────────────────────────────────────────────


def _checked(item: MenuItem, arguments: Any, form: Form, violations: list[str], text: str) -> tuple[Action, str]:
    """Keep the arguments the menu item declares; lists of text are cleaned, a lone text becomes a list."""
    declared = item.parameters.get("properties", {})
    main = _main(item)
    if isinstance(arguments, (list, tuple)) and declared.get(main, {}).get("type") == "array":
        violations.append("arguments are a list, not an object")
        arguments = {main: arguments}
    if not isinstance(arguments, Mapping):
        violations.append("arguments are not an object")
        arguments = {}
    kept: dict[str, Any] = {}
    for key, value in arguments.items():
        if key not in declared:
            violations.append(f"unknown argument {clean(str(key))[:40]!r}")
        elif value is None:
            continue
        elif declared[key].get("type") == "array":
            kept[key] = _texts(value, key, violations)
        else:
            kept[key] = _text(value)
    violations.extend(f"missing argument {key!r}" for key in item.parameters.get("required", ()) if not kept.get(key))
    if item.name == "ask":
        text = kept.get("question") or text
        kept = {}
    return Action(name=item.name, arguments=kept, form=form, violations=tuple(violations[:_MANY])), text


def _public(text: str) -> str:
    """Clean a text that came out of JSON or a tool call, where escapes can hide controls and reasoning."""
    return split_reasoning(clean(text))[0]


def _text(value: Any) -> str:
    """Write a value as text: a list of texts one a line, anything else that is not text as JSON."""
    if isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value):
        value = "\n".join(value)
    if not isinstance(value, str):
        try:
            value = json.dumps(value, ensure_ascii=False, default=str)
        except (TypeError, ValueError, RecursionError):  # what a plugin's own mapping may hold
            value = ""
    return _public(value)


def _texts(value: Any, key: str, violations: list[str]) -> list[str]:
    if isinstance(value, str):
        violations.append(f"{key} is text, not a list")
        value = _lines(value)
    if not isinstance(value, (list, tuple)):
        violations.append(f"{key} is not a list")
        return []
    out: list[str] = []
    for one in value:
        one = one.get("name") if isinstance(one, Mapping) else one
        if isinstance(one, str) and (public := _public(one)):
            out.append(public)
        else:
            violations.append(f"an item of {key} is not text")
    return out


def _lines(text: str) -> list[str]:
    return [item for part in re.split(r"[\n；;]", text) if (item := _NUMBER.sub("", part).strip())]
