"""What a run adds to the record of models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from urllib.parse import urlsplit

from ...agent.model.record import Record, add_record, record_file
from ...agent.model.resolve import model_label, resolve_model
from ..metrics import Verdict
from .record import TurnRecord
from .replay import REPLAY
from .spec import RunSpec

_Answered = tuple[TurnRecord, Verdict]


def used_model(model: str | None, base_url: str | None) -> str:
    """The name of the model that a choice comes to."""
    found = resolve_model(model, base_url=base_url)
    return "offline" if found is None else model_label(found)


def chosen_record(given: Path | None, spec: RunSpec) -> Path | None:
    """Where a run is recorded; None for nowhere.

    Args:
        given: As a person says: a file, `off`, or None for the one in the data folder, to which recorded predictions
            and baselines are not added: they say nothing of what the model does in the agent.
        spec: The run.
    """
    if given is None and (spec.baseline or (spec.model or "").startswith(REPLAY)):
        return None
    return record_file(given)


def add_records(spec: RunSpec, answered: Sequence[_Answered], by_verdict: Mapping[str, str | None], path: Path) -> None:
    """Adds a line a database: what was judged, and what it took.

    Args:
        spec: The run.
        answered: All of its answers.
        by_verdict: Each question's outcome by verdict, None while nobody has judged it; empty without a verdict file.
        path: The record.

    Raises:
        SettingsError: The file cannot be written.
    """
    model = spec.model if spec.model and spec.model.startswith(REPLAY) else used_model(spec.model, spec.base_url)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    judged = sorted((pair for pair in answered if pair[1].ex is not None), key=_database)
    for database, pairs in groupby(judged, key=_database):
        records, verdicts = zip(*pairs, strict=True)
        right = sum(verdict.ex is True for verdict in verdicts)
        words = [by_verdict.get(verdict.question.id) for verdict in verdicts]
        ruled = None if None in words else words.count("right")
        calls, tokens = sum(record.calls for record in records), sum(record.tokens[0] for record in records)
        add_record(Record(model, database, len(records), right, ruled, calls, tokens, now), path)


def short_name(database: str) -> str:
    """A database's name in the record, as answers to its questions have it: of a URL neither server nor password.

    >>> short_name("shop.sqlite"), short_name("postgresql://me:secret@db.example/shop"), short_name("concert_singer")
    ('shop', 'shop', 'concert_singer')
    """
    return Path(urlsplit(database).path if "://" in database else database).stem


def _database(pair: _Answered) -> str:
    return short_name(pair[1].question.database)
