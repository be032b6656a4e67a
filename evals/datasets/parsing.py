"""Reading JSON of any content, such as a person's own file."""

from __future__ import annotations

import json

TOO_DEEP = "its parts are nested too deeply"


def read_json(text: str) -> object:
    """The value of a JSON text.

    Raises:
        ValueError: It is not JSON, or nested too deeply.
    """
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError(TOO_DEEP) from error


def read_lines(text: str) -> list[object]:
    """The values of a text with one JSON value a line; blank lines are passed over.

    Only line feeds end a line: JSON strings may hold every other character that Python takes for a line's end.

    Raises:
        ValueError: As for `read_json`.
    """
    return [read_json(line) for line in text.split("\n") if line.strip()]
