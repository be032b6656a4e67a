"""Examples as the text fields of a stored row, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any, cast

from ..errors import ExampleStoreError
from .example import Example
from .messages import brief_repr, one_line

_NAMES = frozenset(field.name for field in fields(Example))
_TEXTS = sorted(_NAMES - {"shared", "added", "turn", "earlier"})


def to_json(example: Example) -> str:
    """One line of JSON; times in ISO 8601."""
    content = asdict(example)
    content["added"] = example.added.isoformat() if example.added else None
    return json.dumps(content, ensure_ascii=False)


def from_mapping(content: Mapping[str, Any]) -> Example:
    """An example from untrusted content.

    Raises:
        ExampleStoreError: If fields are missing, unknown or of another type.
    """
    unknown = content.keys() - _NAMES - {"id"}  # `examples list --json` prints it; it follows from the rest
    if unknown:
        raise ExampleStoreError(
            f"an example has no field {brief_repr(sorted(unknown)[0])}; the fields are {sorted(_NAMES)}"
        )
    for name in ("question", "sql", "database"):
        if not isinstance(content.get(name), str) or not content[name].strip():
            raise ExampleStoreError(f"an example needs a non-empty text {name!r}")
    for name in _TEXTS:
        if not isinstance(content.get(name, ""), str):
            raise ExampleStoreError(f"an example's {name!r} is text, not {brief_repr(content[name])}")
    if not isinstance(content.get("shared", True), bool):
        raise ExampleStoreError(f"an example's 'shared' is true or false, not {brief_repr(content['shared'])}")
    turn = content.get("turn", 0)
    if type(turn) is not int or turn < 0:
        raise ExampleStoreError(f"an example's 'turn' is a whole number, not {brief_repr(turn)}")
    earlier = content.get("earlier", ())
    if not isinstance(earlier, (list, tuple)) or not all(isinstance(one, str) for one in cast(list[Any], earlier)):
        raise ExampleStoreError(f"an example's 'earlier' is a list of texts, not {brief_repr(earlier)}")
    added = content.get("added")
    try:
        when = datetime.fromisoformat(added) if added else None
    except (TypeError, ValueError):
        raise ExampleStoreError(f"an example's 'added' is a time in ISO 8601, not {brief_repr(added)}") from None
    given = {name: content[name] for name in _NAMES if name in content}
    values: dict[str, Any] = {"source": "import", **given, "added": when, "earlier": tuple(cast(list[str], earlier))}
    return Example(**values)


def from_json(line: str) -> Example:
    """The inverse of `to_json`, for untrusted lines.

    Raises:
        ExampleStoreError: If the line is not an example.
    """
    try:
        content = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ExampleStoreError(f"not a line of JSON: {one_line(error)}") from None
    if not isinstance(content, dict):
        raise ExampleStoreError("an example is a JSON object")
    return from_mapping(content)
