"""Reading records of a person's files by pydantic."""

from __future__ import annotations

from functools import cache
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from ..tools.errors import SettingsError

R = TypeVar("R")

# Building the reader of a dataclass takes a millisecond, and a journal may have thousands of lines.
_reader = cache(TypeAdapter)


def parse_record(kind: type[R], record: object, place: str) -> R:
    """Return a record as a model or dataclass; of bytes, the JSON in them.

    Raises:
        SettingsError: It does not fit; one line names the place and the first wrong field.
    """
    reader = _reader(kind)
    try:
        return reader.validate_json(record) if isinstance(record, bytes) else reader.validate_python(record)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        parts = [place, ".".join(map(str, fault["loc"])), fault["msg"].removeprefix("Value error, ")]
        raise SettingsError(" ".join(": ".join(filter(None, parts)).split())) from error
