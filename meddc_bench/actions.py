"""Reads a policy's reply as an action of the menu: a tool call, an XML element or a JSON object; else free text.

    <diagnose><diagnosis>急性阑尾炎</diagnosis></diagnose>
    <action name="diagnose">{"diagnoses": ["急性阑尾炎"]}</action>
    {"action": "diagnose", "diagnoses": ["急性阑尾炎"]}
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from meddc_bench.records import Action
from meddc_bench.text import clean

_FENCE = re.compile(r"```[a-zA-Z]*\s*(.*?)```", re.DOTALL)
_THINK = re.compile(r"<(think|thinking|reasoning)>(.*?)</\1>", re.DOTALL | re.IGNORECASE)
_THINK_OPEN = re.compile(r"<(?:think|thinking|reasoning)>(.*)\Z", re.DOTALL | re.IGNORECASE)
_THINK_CLOSE = re.compile(r"\A(.*?)</(?:think|thinking|reasoning)>", re.DOTALL | re.IGNORECASE)
_SINGULAR = {"diagnosis": "diagnoses", "test": "tests"}


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

    Returns:
        The public text and the reasoning.

    >>> split_reasoning("<think>可能是阑尾炎</think>肚子疼多久了？")
    ('肚子疼多久了？', '可能是阑尾炎')
    """
    found: list[str] = []
    while match := _THINK.search(text):
        found.append(match[2])
        text = text[: match.start()] + text[match.end() :]
    for pattern in (_THINK_CLOSE, _THINK_OPEN):
        if match := pattern.search(text):
            found.append(match[1])
            text = text[: match.start()] + text[match.end() :]
    return text.strip(), "\n".join(part.strip() for part in found if part.strip())


def parse(text: str, calls: Sequence[Call], menu: Sequence[MenuItem]) -> tuple[Action, str]:
    """Read a reply (clean public text, tool calls) as an action.

    Returns:
        The action with its format violations, and the public text of the turn. A reply that names no item of the menu
        is `ask` with its text, or `say` where asking is not on the menu.
    """
    items = {item.name: item for item in menu}
    if calls:
        return _from_calls(calls, text, items)
    for reader in (_from_xml, _from_json):
        found = reader(text, items)
        if found is not None:
            return found
    name = "ask" if "ask" in items else "say"
    return Action(name=name, form="text"), text


def _from_calls(calls: Sequence[Call], text: str, items: Mapping[str, MenuItem]) -> tuple[Action, str]:
    violations = ["more than one tool call; the first counts"] if len(calls) > 1 else []
    call = calls[0]
    arguments: Any = call.arguments
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            violations.append("tool arguments are not JSON")
            arguments = {}
    if call.name not in items:
        violations.append(f"unknown tool {clean(call.name)[:40]!r}")
        return Action(name="ask" if "ask" in items else "say", form="text", violations=tuple(violations)), text
    return _checked(items[call.name], arguments, "tool", violations, text)


def _from_xml(text: str, items: Mapping[str, MenuItem]) -> tuple[Action, str] | None:
    for name, item in items.items():
        pattern = rf"<{name}\b[^<>]*>(.*?)(</{name}>|\Z)|<action\s+name=[\"']{name}[\"']\s*>(.*?)(</action>|\Z)"
        match = re.search(pattern, text, re.DOTALL)
        if match is None:
            continue
        body, close = (match[1], match[2]) if match[1] is not None else (match[3], match[4])
        violations = [] if close else [f"<{name}> is not closed"]
        arguments = _body_arguments(body)
        outside = (text[: match.start()] + text[match.end() :]).strip()
        if outside:
            violations.append("text outside the action")
        if name == "ask":
            question = arguments.get("question") if isinstance(arguments, Mapping) else None
            return Action(name="ask", form="xml", violations=tuple(violations)), str(question or body).strip()
        return _checked(item, arguments, "xml", violations, outside)
    return None


def _body_arguments(body: str) -> Any:
    """Arguments in an XML action: a JSON object, child elements, or plain text (one item a line)."""
    stripped = body.strip()
    if stripped.startswith("{"):
        try:
            return json.loads(stripped)
        except ValueError:
            pass
    children = re.findall(r"<([a-z_]+)>(.*?)</\1>", stripped, re.DOTALL)
    if not children:
        return {"diagnoses": _lines(stripped)}
    arguments: dict[str, list[str]] = {}
    for tag, value in children:
        nested = re.findall(r"<([a-z_]+)>(.*?)</\1>", value, re.DOTALL)
        values = [one.strip() for _, one in nested] if nested else _lines(value)
        arguments.setdefault(_SINGULAR.get(tag, tag), []).extend(values)
    return arguments


def _from_json(text: str, items: Mapping[str, MenuItem]) -> tuple[Action, str] | None:
    fenced = _FENCE.search(text)
    body = fenced[1] if fenced else text
    start = body.find("{")
    if start < 0:
        return None
    try:
        data, end = json.JSONDecoder().raw_decode(body[start:])
    except ValueError:
        return None
    if not isinstance(data, dict):
        return None
    name = data.get("action") or data.get("name") or ("diagnose" if "diagnoses" in data else None)
    if not isinstance(name, str) or name not in items:
        return None
    arguments = data.get("arguments") if isinstance(data.get("arguments"), dict) else data
    outside = (text.replace(fenced[0], "") if fenced else body[:start] + body[start + end :]).strip()
    violations = ["text outside the action"] if outside else []
    if name == "ask":
        return Action(name="ask", form="json", violations=tuple(violations)), str(arguments.get("question", "")).strip()
    plain = {key: value for key, value in arguments.items() if key not in ("action", "name")}
    return _checked(items[name], plain, "json", violations, outside)


def _checked(
    item: MenuItem, arguments: Any, form: Any, violations: list[str], text: str
) -> tuple[Action, str]:
    """Keep the arguments the menu item declares; lists of text are cleaned, a lone text becomes a list."""
    if not isinstance(arguments, Mapping):
        violations.append("arguments are not an object")
        arguments = {}
    kept: dict[str, Any] = {}
    declared = item.parameters.get("properties", {})
    for key, value in arguments.items():
        if key not in declared:
            violations.append(f"unknown argument {clean(str(key))[:40]!r}")
        elif declared[key].get("type") == "array":
            kept[key] = _texts(value, key, violations)
        else:
            kept[key] = clean(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    violations.extend(f"missing argument {key!r}" for key in item.parameters.get("required", ()) if not kept.get(key))
    if item.name == "ask":
        text = str(kept.get("question") or text)
        kept = {}
    return Action(name=item.name, arguments=kept, form=form, violations=tuple(violations)), text


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
        if isinstance(one, str) and (stripped := clean(one).strip()):
            out.append(stripped)
        else:
            violations.append(f"an item of {key} is not text")
    return out


def _lines(text: str) -> list[str]:
    parts = re.split(r"[\n；;]", text)
    return [item for part in parts if (item := re.sub(r"^\s*(?:\d+[.、)）]|[-*•])\s*", "", part).strip())]
