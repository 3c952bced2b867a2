"""Model text as JSON: strict first, then a repair library where the repair is unambiguous, then the schema."""

from __future__ import annotations

import json
import re
from typing import Any, TypeVar

import json_repair
from pydantic import BaseModel, ValidationError

from meddc_bench.errors import EndpointError

Model = TypeVar("Model", bound=BaseModel)

_FENCE = re.compile(r"```(?:json)?[ \t]*\n?(.*?)(?:```|\Z)", re.DOTALL | re.IGNORECASE)
_FULL_WIDTH = str.maketrans("“”＂：，｛｝［］【】", '"""' + ":,{}[][]")
_OPENING = re.compile(r"""[{｛](?=\s*["'“＂‘}｝A-Za-z_])|[\[［](?=\s*[{\[｛［"'“＂‘\]］])""")
"""Where JSON begins: a bracket in prose, such as that of [话轮 1], is none."""
_CLOSING_QUOTES = {'"': '"', "'": "'", "“": "”“", "”": "”“", "＂": "＂", "‘": "’"}
_DEEPEST = 50
_TOO_DEEP = "JSON that is nested too deeply"


def parse(text: str, model: type[Model]) -> Model:
    """Read a reply as one object of a model.

    A bare list stands for the model's only list field, where it has exactly one required field of that kind.

    Raises:
        EndpointError: of kind unparsable: no JSON, two different objects, or one that does not fit.
    """
    try:
        data = _load(text)
        return model.model_validate(_wrapped(data, model) if isinstance(data, list) else data)
    except RecursionError:
        raise EndpointError("unparsable", _TOO_DEEP) from None
    except ValidationError as failure:
        detail = failure.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in detail["loc"]) or "its top"
        raise EndpointError("unparsable", f"the JSON does not fit at {where}: {detail['msg']}") from None


def _wrapped(data: list[Any], model: type[BaseModel]) -> Any:
    """Read a list as the field it must be, or as the one object it holds."""
    if len(data) == 1 and isinstance(data[0], dict) and set(model.model_fields) & set(data[0]):
        return data[0]
    required = [name for name, one in model.model_fields.items() if one.is_required()]
    return {required[0]: data} if len(required) == 1 else data


def _load(text: str) -> Any:
    fences = {body.strip() for body in _FENCE.findall(text) if body.strip()}
    body = fences.pop() if len(fences) == 1 else text.strip()
    for whole in (text, body):
        try:
            return json.loads(whole)
        except ValueError:
            continue
    return _one(_values(body) or _mended(body))


def _one(found: list[Any]) -> Any:
    if any(one != found[0] for one in found):
        raise EndpointError("unparsable", f"{len(found)} different JSON objects where one was asked for")
    return found[0]


def _values(text: str) -> list[Any]:
    """Find the JSON objects and lists that stand in a text, side by side; none where one of them is broken."""
    decoder, out, at = json.JSONDecoder(), [], 0
    while (opening := _OPENING.search(text, at)) is not None:
        try:
            one, at = decoder.raw_decode(text, opening.start())
        except ValueError:
            return []
        out.append(one)
    return out


def _mended(text: str) -> list[Any]:
    """Mend the objects and lists of a text, each of which must have an end: what is cut has lost something."""
    out, at = [], 0
    while (opening := _OPENING.search(text, at)) is not None:
        at = _end(text, opening.start())
        out.append(_repaired(text[opening.start() : at]))
    if not out:
        raise EndpointError("unparsable", "prose where JSON was asked for")
    return out


def _end(text: str, start: int) -> int:
    """Find where the bracket at a place is closed, whatever quotes the strings have."""
    depth, closing, escaped = 0, "", False
    for at in range(start, len(text)):
        char = text[at]
        if closing:
            closing = "" if char in closing and not escaped else closing
            escaped = char == "\\" and not escaped
        elif char in _CLOSING_QUOTES:
            closing, escaped = _CLOSING_QUOTES[char], False
        elif char in "{[｛［":
            depth += 1
            if depth > _DEEPEST:
                raise EndpointError("unparsable", _TOO_DEEP)
        elif char in "}]｝］":
            depth -= 1
            if not depth:
                return at + 1
    raise EndpointError("unparsable", "JSON that is cut")


def _repaired(text: str) -> Any:
    plain = json_repair.loads(text)
    if isinstance(plain, dict) and plain:
        return plain
    wide = json_repair.loads(text.translate(_FULL_WIDTH))
    if isinstance(wide, dict | list) and wide:
        return wide
    raise EndpointError("unparsable", "JSON that cannot be mended")
