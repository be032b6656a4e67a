"""A model's standing: its records on a database, added up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

from ...agent.model.record import Record
from .proportion import wilson


@dataclass(frozen=True)
class Share:
    """So many right of so many judged."""

    right: int
    judged: int

    @classmethod
    def of(cls, records: Sequence[Record], outcomes: Sequence[int | None]) -> Share | None:
        """Over the records that were judged in this way; None where none was."""
        known = [(right, record.n) for record, right in zip(records, outcomes, strict=True) if right is not None]
        return cls(sum(right for right, _ in known), sum(n for _, n in known)) if known else None

    def __str__(self) -> str:
        found = wilson(self.right, self.judged)
        between = f" ({100 * found.low:.0f} to {100 * found.high:.0f})" if found else ""
        return f"{100 * self.right / max(1, self.judged):.1f}{between}"


@dataclass(frozen=True)
class Standing:
    """What is recorded of a model on a database."""

    model: str
    database: str
    runs: int
    n: int
    by_gold: Share | None
    by_verdict: Share | None
    calls: int
    prompt_tokens: int
    last: str

    def as_json(self) -> dict[str, Any]:
        """With shares as numbers."""
        return asdict(self)

    def cells(self) -> list[str]:
        """For a table."""
        shares = ["-" if share is None else str(share) for share in (self.by_gold, self.by_verdict)]
        counts = [str(self.runs), str(self.n), *shares, str(self.calls), str(self.prompt_tokens)]
        return [self.model, self.database, *counts, self.last[:10]]


def standings(records: Sequence[Record]) -> list[Standing]:
    """One a model and database, by name."""
    ordered = sorted(records, key=_key)
    return [_standing(*key, list(group)) for key, group in groupby(ordered, key=_key)]


def _key(record: Record) -> tuple[str, str]:
    return record.model, record.database


def _standing(model: str, database: str, records: list[Record]) -> Standing:
    return Standing(
        model,
        database,
        len(records),
        sum(record.n for record in records),
        Share.of(records, [record.right_gold for record in records]),
        Share.of(records, [record.right_verdict for record in records]),
        sum(record.calls for record in records),
        sum(record.prompt_tokens for record in records),
        max(record.time for record in records),
    )
