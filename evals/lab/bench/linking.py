"""The schema linker on SParC and CoSQL dev, with parts removed (Track-SQL, tables 2 to 9).

Nothing here needs a model: what the parts do to EX is measured by `tableturn experiment track-table-2` and so on.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from pandas import DataFrame

from ....agent.context.task_inputs import MOST_COLUMNS
from ....tools.database import ColumnSchema, ForeignKey, Schema, TableSchema
from ....tools.linking import STAR, PastTurn, SchemaLinker
from ....tools.linking.evidence import NameIndex
from ....tools.linking.linked import keep_likely_items
from ....tools.linking.scoring import load_shipped_model
from ....tools.linking.vocabulary import Shares, load_shipped_associations
from ...datasets import load_dataset
from ..training.fit_linker_turns import (
    WINDOW,
    Given,
    LinkedDatabase,
    LinkedTurn,
    TrainingDialogue,
    add_links,
    build_linked_turns,
    keep_evidence,
    read_dialogues,
    score_links,
    write_sql,
)
from .gold import DatasetDatabases
from .harness import Stopwatch
from .registry import BenchOptions, Figures, Measure, Row, divide, wrap_row

_TAKEN: Mapping[str, Given] = {
    "whole": keep_evidence,
    "without_values": lambda asked, past: (replace(asked, values=()), past),
    "without_history": lambda asked, past: (asked, []),
    "without_earlier_sql": lambda asked, past: (asked, [replace(turn, sql="") for turn in past]),
    "without_earlier_questions": lambda asked, past: (asked, [replace(turn, question="") for turn in past]),
}

_TABLES = 1_000
_COLUMNS_PER_TABLE = 10
_FIRST = 40
_CUT = 0.1
_DIALOGUES = 100


def _read_dialogue_sets(options: BenchOptions) -> Iterator[tuple[str, list[TrainingDialogue]]]:
    with tempfile.TemporaryDirectory() as cache:
        for name in ("sparc", "cosql"):
            dataset = load_dataset(name, "dev", options.folder).head(options.limit)
            yield name, read_dialogues(dataset, Path(cache))


def _score_histories(options: BenchOptions) -> Iterator[Row]:
    """Yield the linker's scores with a history of gold SQL, and of its own earlier links.

    With its own history, the turns before hold not gold SQL but what the linker itself found in them (every item of
    probability 0.5 and over), from the first turn on; no translator takes part.
    """
    for name, dialogues in _read_dialogue_sets(options):
        for history in ("gold", "own"):
            yield {"input": f"{name}_{history}", **_score_linked_turns(dialogues, own=history == "own")}


def _index_scores(table: DataFrame) -> Figures:
    return {str(name): scores for name, scores in table.set_index("input").to_dict("index").items()}


measure_linking = Measure(_score_histories, wrap_row, _index_scores)


def _score_ablations(options: BenchOptions) -> Iterator[Row]:
    """Yield the shipped linker's scores, each time with another part of its input removed."""
    for name, dialogues in _read_dialogue_sets(options):
        for part, given in _TAKEN.items():
            yield {"set": name, "input": part, **_score_linked_turns(dialogues, given=given)}
        without_keys = [
            replace(each, database=LinkedDatabase(NameIndex(replace(each.database.names.schema, foreign_keys=()))))
            for each in dialogues
        ]
        yield {"set": name, "input": "without_keys", **_score_linked_turns(without_keys)}


measure_linking_ablations = Measure(
    _score_ablations,
    wrap_row,
    lambda table: {
        str(name): _index_scores(rows.drop(columns="set")) for name, rows in table.groupby("set", sort=False)
    },
)


def _score_linked_turns(
    dialogues: Sequence[TrainingDialogue], *, own: bool = False, given: Given = keep_evidence
) -> dict[str, float]:
    """Link the turns one after another; return the scores of those with readable gold SQL."""

    def score_items(turn: LinkedTurn) -> tuple[Shares, Shares]:
        return load_shipped_model().score(turn.evidence)[:2]

    linked = [add_links(each, score_items, load_shipped_associations(), own=own, given=given) for each in dialogues]
    turns = [turn for dialogue in linked for turn in build_linked_turns(dialogue, load_shipped_associations(), given)]
    return score_links(turns, *zip(*map(score_items, turns), strict=True))


_LargeSchemaCase = tuple[Schema, SchemaLinker, Mapping[str, str], TrainingDialogue]
"""The schema of a thousand tables, its linker, and a dialogue with the names that its tables have there."""


def _read_large_schema_dialogues(options: BenchOptions) -> Iterator[_LargeSchemaCase]:
    """Yield dialogues with one schema of all databases' tables, padded with made-up tables."""
    dataset, train = load_dataset("sparc", "dev", options.folder), load_dataset("spider", "train", options.folder)
    with tempfile.TemporaryDirectory() as cache:
        dialogues = read_dialogues(dataset.head(options.limit or _DIALOGUES), Path(cache))
    schemas = {dialogue.database.names.schema.name: dialogue.database.names.schema for dialogue in dialogues}
    with DatasetDatabases(train) as databases:
        for name in dict.fromkeys(question.database for question in train.questions):
            if name not in schemas and (schema := databases.schema(name)) is not None:
                schemas[name] = schema
    schema, renamed = _combine_schemas(list(schemas.values()))
    linker = SchemaLinker(schema)
    linker.link("warm up")
    yield from ((schema, linker, renamed[each.database.names.schema.name], each) for each in dialogues)


def _link_on_large_schema(case: _LargeSchemaCase) -> Iterator[Row]:
    """Yield per question how many items gold uses, and how many of them the linker finds.

    The values that a question mentions are those of its own database, so that what is measured is linking and not the
    value index.
    """
    schema, linker, new, dialogue = case
    names = dialogue.database.names
    history: list[PastTurn] = []
    for question in dialogue.questions:
        values = [replace(match, table=new[match.table]) for match in question.values]
        with Stopwatch() as spent:
            linked = linker.link(question.text, history[-WINDOW:], values, max_columns=MOST_COLUMNS)
        used = names.find_past_use(question.gold)
        first = [item.table for item in linked.items if item.column is None][:_FIRST]
        needed = {(new[table], column) for table, column in used.columns if column != STAR}
        cut = keep_likely_items(schema, linked.items, _CUT)
        yield {
            "ms": 1000 * spent.cpu,
            "tables": len(used.tables),
            "found": len({new[table] for table in used.tables} & set(first)),
            "columns": len(needed),
            "shown": sum(linked.kept.column(*each) is not None for each in needed),
            "cut": sum(cut.column(*each) is not None for each in needed),
            "all_tables": len(schema.tables),
            "all_columns": schema.shown_column_count,
        }
        # A query that uses what gold uses, under its tables' new names.
        tables = [new[table] for table in names.table_number if table in used.tables]
        columns = [(new[table], column) for table, column in names.columns if (table, column) in used.columns]
        sql = write_sql(tables, columns, np.ones(len(tables)), np.ones(len(columns)))
        history.append(PastTurn(question.text, sql=sql))


def _compute_large_schema_figures(table: DataFrame) -> Figures:
    """Return the linking figures on one schema of a thousand tables.

    Returns:
        `tables`, `columns`, processor `ms` a question, `table_recall_at_40`; of the columns that the gold queries use
        the shares that a prompt shows: `column_recall`, and with the threshold 0.1 `column_recall_cut`.
    """
    total = table.sum()
    return {
        "tables": table["all_tables"][0],
        "columns": table["all_columns"][0],
        "ms": round(table["ms"].mean(), 2),
        "table_recall_at_40": divide(total.found, total.tables),
        "column_recall": divide(total.shown, total.columns),
        "column_recall_cut": divide(total.cut, total.columns),
        "questions": len(table),
    }


measure_linking_scale = Measure(_read_large_schema_dialogues, _link_on_large_schema, _compute_large_schema_figures)


def _combine_schemas(schemas: Sequence[Schema]) -> tuple[Schema, Mapping[str, Mapping[str, str]]]:
    """Return one schema of a thousand tables, and the new table names by old schema.

    Made-up tables and columns stand for those that lack.
    """
    tables: dict[str, TableSchema] = {}
    keys: list[ForeignKey] = []
    renamed: dict[str, dict[str, str]] = {}
    for schema in schemas:
        new = renamed[schema.name] = dict[str, str]()
        for table in schema.tables:
            name, number = table.name, 1
            while name.lower() in tables:
                number += 1
                name = f"{table.name}_{number}"
            new[table.name] = name
            if len(tables) < _TABLES:
                tables[name.lower()] = replace(table, name=name)
        folded = {old.lower(): name for old, name in new.items()}
        keys += [
            replace(key, table=folded[key.table.lower()], ref_table=folded[key.ref_table.lower()])
            for key in schema.foreign_keys
        ]
    for number in range(_TABLES - len(tables)):
        tables[f"journal_{number}"] = TableSchema(f"journal_{number}", (ColumnSchema("entry"),))
    lacking = _TABLES * _COLUMNS_PER_TABLE - sum(len(table.columns) for table in tables.values())
    longer: list[TableSchema] = []
    for number, table in enumerate(tables.values()):
        more = lacking // _TABLES + (number < lacking % _TABLES)
        made_up = tuple(ColumnSchema(f"field_{place}", kind="number") for place in range(more))
        longer.append(replace(table, columns=table.columns + made_up))
    return Schema("crowd", tuple(longer), tuple(keys)), renamed
