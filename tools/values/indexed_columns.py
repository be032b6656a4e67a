"""The columns of an index, and what the finder takes from the schema: names, and which columns are flags."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..database import Schema
from .schema_words import name_stems
from .store import Store, Stored, StoredColumn

YES = frozenset(("1", "t", "true", "y", "yes"))
NO = frozenset(("0", "f", "false", "n", "no"))


@dataclass(frozen=True)
class IndexedColumns:
    """Indexed columns, flags among them, and the words of names.

    Attributes:
        columns: The indexed columns by number.
        names: The stems of all words in the names of tables and columns.
        flags: The values of each column that holds nothing but a yes and a no.
    """

    columns: Mapping[int, StoredColumn] = field(default_factory=dict[int, StoredColumn])
    names: frozenset[str] = frozenset()
    flags: Mapping[int, list[Stored]] = field(default_factory=dict[int, list[Stored]])

    @classmethod
    def of(cls, store: Store, schema: Schema) -> IndexedColumns:
        """The columns of a store, as far as it is filled."""
        items = [item for table in schema.tables for item in (table, *table.columns)]
        names = frozenset(part for item in items for part in name_stems(item.name))
        few = store.few_valued()
        flags = {column: values for column, values in few if all(v.text.casefold() in YES | NO for v in values)}
        return cls({column.id: column for column in store.columns()}, names, flags)
