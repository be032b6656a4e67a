"""EM and difficulty for a dataset's questions; both modes of judging share them."""

from __future__ import annotations

from ...tools.errors import DatabaseUnavailable
from ..datasets import Dataset, Question
from ..official import (
    OfficialDatabases,
    Unparsed,
    differing_clauses,
    exact_set_match,
    hardness,
    parse,
    read_foreign_key_maps,
)
from ..official.query import Query


class ClauseJudge:
    """Reads queries as the official evaluator does.

    Args:
        dataset: Its tables.json files give the foreign keys; those of a database that is in none, the database itself.
        databases: Give the names of tables and columns.
    """

    def __init__(self, dataset: Dataset, databases: OfficialDatabases) -> None:
        self._databases = databases
        self._foreign_keys: dict[str, dict[str, str] | None] = {}
        for path in reversed(dataset.tables):
            self._foreign_keys.update(read_foreign_key_maps(path))

    def hardness(self, question: Question) -> str:
        """The dataset's own level, else Spider's; empty where the gold cannot be read."""
        gold = None if question.level else self._read(question, question.golds[0])
        return question.level or (hardness(gold) if gold else "")

    def exact_match(self, question: Question, sql: str) -> bool | None:
        """EM against the first gold; None where that, or its database, cannot be read."""
        return self._match(question, sql, question.golds[0])

    def any_exact_match(self, question: Question, sql: str) -> bool | None:
        """EM against each accepted gold: one that matches is enough; None where none of them can be judged by."""
        known = [match for gold in question.golds if (match := self._match(question, sql, gold)) is not None]
        return any(known) if known else None

    def _match(self, question: Question, sql: str, accepted: str) -> bool | None:
        foreign_keys = self._keys(question.database)
        gold = self._read(question, accepted)
        if gold is None or foreign_keys is None:
            return None
        # The official tool replaces the word wherever it stands, in names as well.
        return exact_set_match(self._read(question, sql.replace("value", "1")), gold, foreign_keys)

    def differing(self, question: Question, sql: str) -> tuple[str, ...]:
        """The clauses in which a prediction differs from the first gold; none where that cannot be judged."""
        foreign_keys = self._keys(question.database) or {}
        gold = self._read(question, question.golds[0])
        return () if gold is None else differing_clauses(self._read(question, sql), gold, foreign_keys)

    def outputs(self, question: Question, sql: str) -> int | None:
        """How many columns a query gives, as the official tool reads it; None where it cannot."""
        query = self._read(question, sql)
        return None if query is None else len(query.outputs)

    def _keys(self, database: str) -> dict[str, str] | None:
        if database not in self._foreign_keys:
            try:
                self._foreign_keys[database] = self._databases.foreign_keys(database)
            except DatabaseUnavailable:
                self._foreign_keys[database] = None
        return self._foreign_keys[database]

    def _read(self, question: Question, sql: str) -> Query | None:
        try:
            return parse(sql, self._databases.names(question.database))
        except (Unparsed, DatabaseUnavailable):
            return None
