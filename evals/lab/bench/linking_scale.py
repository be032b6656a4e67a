"""The schema linker on one schema of a thousand tables, put together from the benchmarks' databases.

The tables of all databases stand side by side, names that occur again with a number; made-up tables and columns fill
them up. SParC dev's questions are asked with gold history; the values that a question mentions are those of its own
database, so that what is measured is linking and not the value index.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from ....agent.context.inputs import MOST_COLUMNS
from ....tools.database import ColumnSchema, ForeignKey, Schema, TableSchema
from ....tools.linking import STAR, PastTurn, SchemaLinker
from ....tools.linking.keep import keep
from ...datasets import load_dataset
from ..training.fit_linker_turns import WINDOW, LinkedDatabase, read_dialogues, stand_in
from .gold import Databases
from .registry import BenchOptions

_TABLES = 1_000
_COLUMNS_A_TABLE = 10
_FIRST = 40
_CUT = 0.1
_DIALOGUES = 100


def run(options: BenchOptions) -> dict[str, object]:
    """The crowd's figures.

    Returns:
        `tables`, `columns`, processor `ms` a question, `table_recall_at_40`; of the columns that the gold queries use
        the shares that a prompt shows: `column_recall`, and with the threshold 0.1 `column_recall_cut`.
    """
    dataset, train = load_dataset("sparc", "dev", options.folder), load_dataset("spider", "train", options.folder)
    with tempfile.TemporaryDirectory() as cache:
        dialogues = read_dialogues(dataset.first(options.limit or _DIALOGUES), Path(cache))
    crowd = _Crowd()
    for database in {dialogue.database.names.schema.name: dialogue.database for dialogue in dialogues}.values():
        crowd.add(database.names.schema)
    with Databases(train) as databases:
        for name in dict.fromkeys(question.database for question in train.questions):
            if name not in crowd.renamed and (schema := databases.schema(name)) is not None:
                crowd.add(schema)
    schema = crowd.filled()
    linker = SchemaLinker(schema)
    linker.link("warm up")
    found = gold = asked = 0
    columns: list[tuple[int, int, int]] = []
    spent = 0.0
    for dialogue in dialogues:
        names = crowd.renamed[dialogue.database.names.schema.name]
        history: list[PastTurn] = []
        for question in dialogue.questions:
            values = [replace(match, table=names[match.table]) for match in question.values]
            start = time.process_time()
            linked = linker.link(question.text, history[-WINDOW:], values, max_columns=MOST_COLUMNS)
            spent += time.process_time() - start
            asked += 1
            used = dialogue.database.names.past_use(question.gold)
            first = [item.table for item in linked.items if item.column is None][:_FIRST]
            gold += len(used.tables)
            found += len({names[table] for table in used.tables} & set(first))
            needed = {(names[table], column) for table, column in used.columns if column != STAR}
            parts = linked.kept, keep(schema, linked.items, _CUT, MOST_COLUMNS)
            shown, cut = (sum(part.column(*each) is not None for each in needed) for part in parts)
            columns.append((len(needed), shown, cut))
            history.append(PastTurn(question.text, sql=_renamed(question.gold, dialogue.database, names)))
    needed, shown, cut = map(sum, zip(*columns, strict=True))
    return {
        "tables": len(schema.tables),
        "columns": sum(len(table.columns) for table in schema.tables),
        "ms": round(1000 * spent / asked, 2),
        "table_recall_at_40": round(found / gold, 4),
        "column_recall": round(shown / needed, 4),
        "column_recall_cut": round(cut / needed, 4),
        "questions": asked,
    }


def _renamed(sql: str, database: LinkedDatabase, names: dict[str, str]) -> str:
    """A query that uses what another uses, under its tables' new names."""
    use = database.names.past_use(sql)
    tables = np.array([float(table in use.tables) for table in database.names.table_number])
    columns = np.array([float(column in use.columns) for column in database.names.columns])
    return stand_in(
        [names[table] for table in database.names.table_number],
        [(names[table], column) for table, column in database.names.columns],
        tables,
        columns,
    )


class _Crowd:
    """Many schemas in one."""

    def __init__(self) -> None:
        self._tables: dict[str, TableSchema] = {}
        self._keys: list[ForeignKey] = []
        self.renamed: dict[str, dict[str, str]] = {}

    def add(self, schema: Schema) -> None:
        """Adds a schema's tables, until there are enough."""
        names: dict[str, str] = {}
        for table in schema.tables:
            name, number = table.name, 1
            while name.lower() in self._tables:
                number += 1
                name = f"{table.name}_{number}"
            names[table.name] = name
            if len(self._tables) < _TABLES:
                self._tables[name.lower()] = replace(table, name=name)
        folded = {old.lower(): new for old, new in names.items()}
        self._keys += [
            replace(key, table=folded[key.table.lower()], ref_table=folded[key.ref_table.lower()])
            for key in schema.foreign_keys
        ]
        self.renamed[schema.name] = names

    def filled(self) -> Schema:
        """The schema, with made-up tables and columns for those that lack."""
        for number in range(_TABLES - len(self._tables)):
            self._tables[f"journal_{number}"] = TableSchema(f"journal_{number}", (ColumnSchema("entry"),))
        tables = tuple(self._tables.values())
        lacking = _TABLES * _COLUMNS_A_TABLE - sum(len(table.columns) for table in tables)
        more = [lacking // _TABLES + (number < lacking % _TABLES) for number in range(len(tables))]
        made_up = [tuple(ColumnSchema(f"field_{place}", kind="number") for place in range(count)) for count in more]
        longer = (replace(t, columns=t.columns + others) for t, others in zip(tables, made_up, strict=True))
        return Schema("crowd", tuple(longer), tuple(self._keys))
