"""Reading records of a person's files by pydantic models."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel, ValidationError

from ..tools.errors import SettingsError

Model = TypeVar("Model", bound=BaseModel)


def parse_record(model: type[Model], record: object, place: str) -> Model:
    """Return a record as a model has it.

    Raises:
        SettingsError: It is not as the model says; one line names the place and the first wrong field.
    """
    try:
        return model.model_validate(record)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        parts = [place, ".".join(map(str, fault["loc"])), fault["msg"].removeprefix("Value error, ")]
        raise SettingsError(" ".join(": ".join(filter(None, parts)).split())) from error
