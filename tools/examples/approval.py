"""The record of the rights under which an example was approved."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

from pydantic import TypeAdapter, ValidationError

from ..database.session import Rights


@dataclass(frozen=True)
class Approval:
    """What is kept beside an example as `Example.rights`.

    Attributes:
        rights: Of the session in which its SQL was run.
        columns: The tables and columns that the SQL reads, `*` spelled out; the column is empty for a table itself.
    """

    rights: Rights = field(default_factory=Rights)
    columns: tuple[tuple[str, str], ...] = ()

    def to_json(self) -> str:
        """Return the record as a text."""
        return json.dumps(asdict(self), ensure_ascii=False)


_APPROVAL = TypeAdapter(Approval)


@lru_cache(maxsize=4_096)
def read_approval(text: str) -> Approval:
    """Return the record in a text; without one, an approval under all rights that says nothing of what was read."""
    try:
        record: Any = json.loads(text) if text else {}
        return _APPROVAL.validate_python(record)
    except (ValueError, RecursionError, ValidationError):
        return Approval()
