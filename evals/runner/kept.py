"""What a run adds to the record of models."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

from ...agent.model.record import Record, add_record
from ...agent.model.resolve import model_label, resolve_model
from ..metrics import Verdict
from .record import TurnRecord
from .spec import RunSpec

_Answered = tuple[TurnRecord, Verdict]


def used_model(model: str | None, base_url: str | None) -> str:
    """The name of the model that a choice comes to."""
    found = resolve_model(model, base_url=base_url)
    return "offline" if found is None else model_label(found)


def add_records(spec: RunSpec, answered: Sequence[_Answered], path: Path) -> None:
    """Adds a line a database: what was judged, and what it took.

    Raises:
        SettingsError: The file cannot be written.
    """
    model = spec.model if spec.model and spec.model.startswith("replay:") else used_model(spec.model, spec.base_url)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    judged = sorted((pair for pair in answered if pair[1].ex is not None), key=_database)
    for database, pairs in groupby(judged, key=_database):
        records, verdicts = zip(*pairs, strict=True)
        right = sum(verdict.ex is True for verdict in verdicts)
        calls, tokens = sum(record.calls for record in records), sum(record.tokens[0] for record in records)
        add_record(Record(model, database, len(records), right, None, calls, tokens, now), path)


def _database(pair: _Answered) -> str:
    return pair[1].question.database
