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
_OPENING = re.compile(r"[{\[｛［]")


def parse(text: str, model: type[Model]) -> Model:
    """Read a reply as one object of a model.

    A bare list stands for the model's only list field, where it has exactly one required field of that kind.

    Raises:
        EndpointError: of kind unparsable: no JSON, two different objects, or one that does not fit.
    """
    data = _load(text)
    if isinstance(data, list):
        data = _wrapped(data, model)
    try:
        return model.model_validate(data)
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
    try:
        return json.loads(body)
    except ValueError:
        pass
    found = _objects(body)
    if found:
        if any(one != found[0] for one in found):
            raise EndpointError("unparsable", f"{len(found)} different JSON objects where one was asked for")
        return found[0]
    opening = _OPENING.search(body)
    if opening is None:
        raise EndpointError("unparsable", "prose where JSON was asked for")
    repaired = _repaired(body[opening.start() :])
    if not isinstance(repaired, dict | list) or not repaired:
        raise EndpointError("unparsable", "JSON that cannot be mended")
    return repaired


def _objects(text: str) -> list[Any]:
    """Find the whole JSON objects that stand in a text, side by side; none where one of them is broken."""
    decoder, out, at = json.JSONDecoder(), [], 0
    while (start := text.find("{", at)) >= 0:
        try:
            one, at = decoder.raw_decode(text, start)
        except ValueError:
            return []
        out.append(one)
    return out


def _repaired(text: str) -> Any:
    plain = json_repair.loads(text)
    if isinstance(plain, dict) and plain:
        return plain
    return json_repair.loads(text.translate(_FULL_WIDTH))
