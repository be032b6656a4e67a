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
        ValueError: As for `read_json`; the message names the line.
    """
    return [_value(line, number) for number, line in enumerate(text.split("\n"), 1) if line.strip()]


def _value(line: str, number: int) -> object:
    try:
        return read_json(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {number}, column {error.colno}: {error.msg}") from error
    except ValueError as error:
        raise ValueError(f"line {number}: {error}") from error
