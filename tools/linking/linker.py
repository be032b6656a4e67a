"""Schema linking: the probability of each table, column and `table.*` (Track-SQL 2.2)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial

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
        """Index a schema's names; `link` finds a question's values in `values` if given none."""
        self._values = values
        self._names = NameIndex(schema)
        self._make_table_chooser = cache(partial(TableChooser, schema))

    def link(
        self,
        question: str,
        history: Sequence[PastTurn] = (),
        values: Sequence[ValueMatch] = (),
        *,
        threshold: float = 0.0,
        max_columns: int | None = None,
    ) -> LinkedSchema:
        """Score every table and column for a question and keep the probable ones.

        Args:
            question: This turn's question.
            history: Earlier turns, oldest first.
            values: Database values that the question mentions, best first; looked up where there are none and an index
                is there.
            threshold: Least probability of what is kept (Track-SQL's s); 0 keeps the whole schema, in order.
            max_columns: Of a schema with more, `TableChooser` chooses the part to show, if there is no threshold.
        """
        if not values and self._values is not None:
            values = self._values.find(question)
        items = self._score_schema_items(question, history, values[:EVIDENCE])
        if max_columns is not None and not threshold and self._names.schema.shown_column_count > max_columns:
            return LinkedSchema(items, self._make_table_chooser().choose(question, items))
        return LinkedSchema(items, keep_likely_items(self._names.schema, items, threshold))

    def _score_schema_items(
        self, question: str, history: Sequence[PastTurn], values: Sequence[ValueMatch]
    ) -> tuple[SchemaItem, ...]:
        names = self._names
        evidence = LinkingEvidence(question, history, values, names, load_shipped_associations())
        tables, columns, stars = (array.tolist() for array in load_shipped_model().score(evidence))
        uses = [names.find_past_use(turn.sql) for turn in history]
        used_places = {place for use in uses for place in (*use.columns, *((table, None) for table in use.tables))}
        all_tables, all_columns = ([(name, column) for name in names.table_number] for column in (None, STAR))
        items = [
            SchemaItem(*place, p, place in used_places or (place[1] is not None and (place[0], STAR) in used_places))
            for place, p in zip([*all_tables, *names.columns, *all_columns], [*tables, *columns, *stars], strict=True)
        ]
        return tuple(sorted(items, key=lambda item: -item.p))
