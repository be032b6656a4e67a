"""Schema linking: the probability of each table, column and `table.*` (Track-SQL 2.2)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from ..database import Schema
from ..values import ValueIndex, ValueMatch
from .choose_tables import TableChooser
from .evidence import LinkingEvidence, NameIndex
from .linked import STAR, LinkedSchema, PastTurn, SchemaItem, keep_likely_items
from .scoring import load_shipped_model
from .vocabulary import load_shipped_associations

EVIDENCE = 10  # values that the linker goes by, coincidences among them: it is fitted on as many


class SchemaLinker:
    """A linker of questions to the tables and columns of a schema; threads may share it.

    Examples:
        >>> linker = SchemaLinker(database.schema(), ValueIndex.open(database))
        >>> linker.link("How many singers are French?").items[0]
        SchemaItem(table='singer', column=None, p=0.97, used_before=False)
    """

    def __init__(self, schema: Schema, values: ValueIndex | None = None) -> None:
        """Index a schema's names; `link` looks in `values` unless it is given some."""
        self._schema = schema
        self._values = values
        self._names = NameIndex(schema)

    def link(
        self,
        question: str,
        history: Sequence[PastTurn] = (),
        values: Sequence[ValueMatch] = (),
        *,
        threshold: float = 0.0,
        max_columns: int | None = None,
        choose_tables: bool = False,
    ) -> LinkedSchema:
        """Score every table and column for a question and keep the probable ones.

        Args:
            question: This turn's question.
            history: Earlier turns, oldest first.
            values: Database values that the question mentions, best first; looked up where there are none and an index
                is there.
            threshold: Least probability of what is kept (Track-SQL's s); 0 keeps the whole schema, in order.
            max_columns: How many columns are kept at most, keys aside.
            choose_tables: Whether `TableChooser` chooses the part of a larger schema, if there is no threshold.
        """
        if not values and self._values is not None:
            values = self._values.find(question)
        items = self._score_schema_items(question, history, values[:EVIDENCE])
        if choose_tables and not threshold and self._schema.shown_column_count > (max_columns or 0):
            return LinkedSchema(items, self._table_chooser.choose(question, items, values))
        return LinkedSchema(items, keep_likely_items(self._schema, items, threshold, max_columns))

    @cached_property
    def _table_chooser(self) -> TableChooser:
        return TableChooser(self._schema)

    def _score_schema_items(
        self, question: str, history: Sequence[PastTurn], values: Sequence[ValueMatch]
    ) -> tuple[SchemaItem, ...]:
        names = self._names
        evidence = LinkingEvidence(question, history, values, names, load_shipped_associations())
        tables, columns, stars = (array.tolist() for array in load_shipped_model().score(evidence))
        uses = [names.past_use(turn.sql) for turn in history]
        used_tables = {table for use in uses for table in use.tables}
        used = {place for use in uses for place in use.columns}
        items = [
            SchemaItem(name, None, p, name in used_tables) for name, p in zip(names.table_number, tables, strict=True)
        ]
        items += [
            SchemaItem(table, column, p, not used.isdisjoint({(table, column), (table, STAR)}))
            for (table, column), p in zip(names.columns, columns, strict=True)
        ]
        items += [
            SchemaItem(name, STAR, p, (name, STAR) in used)
            for name, p in zip(names.table_number, stars, strict=True)
            if (name, STAR) not in names.column_number  # where a column is really called `*`, that one has the name
        ]
        return tuple(sorted(items, key=lambda item: -item.p))
