"""Past answers on changed databases: are the changed ones found without a model?

Truth is what plain SQLite says of the same query on both files; a declined question changes if what it asked for has
been added.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import Path
from random import Random

from pandas import DataFrame

from ....tools.database import ColumnSchema, Database, Schema, TableSchema
from ....tools.database.quoting import get_naming_rules
from ....tools.sample import build_sample
from ...impact import AnswerReplay, PastAnswer
from .registry import BenchOptions, Figures, Measure, Row, divide, share

SEED = 11
TURNS = 300

_OTHERS = ("sample-dbs/chinook/Chinook_Sqlite.sqlite", "sample-dbs/northwind/northwind.sqlite")
_TRIES = 20
"""How often another place is picked for a change that cannot be made where it was tried."""

_RETYPED = ("ALTER TABLE {t} DROP COLUMN {c}", "ALTER TABLE {t} RENAME COLUMN {new} TO {c}")
_OLDEST = "SELECT {c} FROM {t} WHERE {c} IS NOT NULL ORDER BY {c} LIMIT 1 OFFSET (SELECT count({c}) / 10 FROM {t})"

CHANGES: Mapping[str, tuple[str, ...]] = {
    "drop_column": ("column", "ALTER TABLE {t} DROP COLUMN {c}"),
    "drop_column_2": ("column", "ALTER TABLE {t} DROP COLUMN {c}"),
    "rename_column": ("column", "ALTER TABLE {t} RENAME COLUMN {c} TO {v2}"),
    "rename_column_2": ("column", "ALTER TABLE {t} RENAME COLUMN {c} TO {v2}"),
    "rename_key": ("join", "ALTER TABLE {t} RENAME COLUMN {own} TO {ref}"),
    "rename_table": ("table", "ALTER TABLE {t} RENAME TO {dim}"),
    "drop_table": ("table", "DROP TABLE {t}"),
    # Numbers become texts.
    "retype": ("number", "ALTER TABLE {t} ADD COLUMN {new} TEXT", "UPDATE {t} SET {new} = {c} || ' '", *_RETYPED),
    # Another declared type for the same values changes nothing.
    "widen": ("number", "ALTER TABLE {t} ADD COLUMN {new} NUMERIC(18, 4)", "UPDATE {t} SET {new} = {c}", *_RETYPED),
    # A column moves to a table of its own.
    "split_table": (
        "column",
        "CREATE TABLE {detail} AS SELECT {keys}, {c} FROM {t}",
        "ALTER TABLE {t} DROP COLUMN {c}",
    ),
    "add_column": ("table", "ALTER TABLE {t} ADD COLUMN load_batch INTEGER DEFAULT 1"),
    "add_table": (
        "table",
        "CREATE TABLE load_log (batch INTEGER PRIMARY KEY, started TEXT)",
        "INSERT INTO load_log VALUES (1, '2025-01-01')",
    ),
    # A column that questions asked for in vain.
    "add_sought": ("table", "ALTER TABLE {t} ADD COLUMN carbon_footprint REAL DEFAULT 1.5"),
    "add_index": ("column", "CREATE INDEX made_for_speed ON {t} ({c})"),
    "delete_rows": ("table", "DELETE FROM {t} WHERE rowid % 7 = 3"),
    # Rows of before a day are archived.
    "delete_old": ("time", f"DELETE FROM {{t}} WHERE {{c}} < ({_OLDEST})"),
    # A load ran twice, for some rows.
    "double_rows": (
        "one key",
        "INSERT INTO {t} ({key}, {rest}) SELECT (SELECT max({key}) FROM {t}) + {key}, {rest} FROM {t} LIMIT 5",
    ),
    # Another unit: cents instead of euros.
    "scale": ("number", "UPDATE {t} SET {c} = {c} * 100"),
    # One number is put right.
    "nudge": ("number", "UPDATE {t} SET {c} = {c} + 1 WHERE rowid = (SELECT min(rowid) FROM {t})"),
    "recode": ("value", "UPDATE {t} SET {c} = '{value} (old)' WHERE {c} = '{value}'"),
    "recode_2": ("value", "UPDATE {t} SET {c} = '{value} (old)' WHERE {c} = '{value}'"),
    "upper": ("text", "UPDATE {t} SET {c} = upper({c})"),
    # Days are written in another way.
    "redate": ("time", "UPDATE {t} SET {c} = strftime('%d.%m.%Y', {c}) WHERE {c} IS NOT NULL"),
    # A column is no longer filled.
    "blank": ("column", "UPDATE {t} SET {c} = NULL WHERE rowid % 3 = 0"),
    # The file is written anew: nothing changes.
    "vacuum": ("table", "VACUUM"),
}
"""What is done to each database, by name: the kind of place that is picked, and the statements."""


def _make_changed_databases(original: Path, schema: Schema, folder: Path, random: Random) -> Iterator[tuple[str, Path]]:
    """Yield copies of a database, each with a different kind of change."""
    tables = _list_filled_tables(schema)
    for kind, (pick, *statements) in CHANGES.items():
        path = folder / f"{original.stem}-{kind}.sqlite"
        for _ in range(_TRIES):
            path.write_bytes(original.read_bytes())
            with suppress(sqlite3.Error, IndexError):
                names = random.choice(list(_find_template_names(pick, random.choice(tables), schema, random)))
                with closing(sqlite3.connect(path)) as connection:
                    connection.execute("PRAGMA legacy_alter_table = ON")
                    for statement in statements:
                        connection.execute(statement.format(**names))
                    connection.commit()
                yield f"{kind}: {names['table']} {names['column']}", path
                break
        path.unlink()


def _list_filled_tables(schema: Schema) -> list[TableSchema]:
    return [table for table in schema.tables if table.kind == "table" and table.row_count]


def _find_template_names(kind: str, table: TableSchema, schema: Schema, random: Random) -> Iterator[dict[str, str]]:
    """Yield the names to fill into a template, once per matching place in the table.

    A kind is `table`, `one key` (a table with a key of one column), `join` (to another table), `column` or a kind of
    values. Columns are outside every key; of kind `value` they hold a text, which is named too.
    """
    key, write = table.primary_key, get_naming_rules().quote_name_if_needed
    names = {
        "table": table.name,
        "t": write(table.name),
        "dim": write(f"dim_{table.name}"),
        "detail": write(f"{table.name}_detail"),
        "key": write(key[0]) if key else "",
        "keys": ", ".join(map(write, key)),
        "rest": ", ".join(write(column.name) for column in table.columns if column.name not in key),
        "call": random.choice(["sum", "avg", "max", "min"]),
        "column": "",
    }
    if kind == "table" or (kind == "one key" and len(key) == 1):
        yield names
    keys = [each for each in schema.foreign_keys if each.table == table.name]
    for each in keys if kind == "join" else ():
        parent = schema.table(each.ref_table)
        labels = _find_columns(parent, "text", each.ref_columns) if parent is not None and parent is not table else []
        if len(each.columns) == 1 and labels:
            label = random.choice(labels).name
            yield names | {
                "column": each.columns[0],
                "own": write(each.columns[0]),
                "ref": write(f"{each.columns[0]}_ref"),
                "parent": each.ref_table,
                "p": write(each.ref_table),
                "other": write(each.ref_columns[0]),
                "label": label,
                "l": write(label),
            }
    in_keys = [*key, *(name for each in keys for name in each.columns)]
    for column in _find_columns(table, "text" if kind == "value" else kind, in_keys):
        texts = [sample for sample in column.samples if isinstance(sample, str) and sample.strip()]
        if kind != "value" or texts:
            yield names | {
                "column": column.name,
                "c": write(column.name),
                "v2": write(f"{column.name}_v2"),
                "new": write(f"{column.name}__new"),
                "value": random.choice(texts or [""]).replace("'", "''"),
            }


def _find_columns(table: TableSchema, kind: str, without: Sequence[str]) -> list[ColumnSchema]:
    return [column for column in table.columns if kind in ("column", column.kind) and column.name not in without]


_IN_VAIN = ("What is the carbon footprint of each sale?", "What will next year's turnover be?")
"""Questions that were declined: no column says."""


@dataclass(frozen=True)
class TemplateTurn:
    """A past turn made from a template; `sql` is empty if the question was declined."""

    question: str
    sql: str
    ordered: bool = False


_TOP = "SELECT {keys}, {c} FROM {t} ORDER BY {c} DESC, {keys} LIMIT 5"
_YEARS = "SELECT substr({c}, 1, 4) AS year, count(*) FROM {t} GROUP BY year ORDER BY year"
_ABOVE = "WITH mean AS (SELECT avg({c}) AS value FROM {t}) SELECT count(*) FROM {t}, mean WHERE {c} > mean.value"
_TEMPLATES: Sequence[tuple[str, bool, Sequence[tuple[str, str]]]] = (
    ("table", False, [("How many {table}?", "SELECT count(*) FROM {t}")]),
    ("text", False, [("{table} by {column}", "SELECT {c}, count(*) FROM {t} GROUP BY {c} HAVING count(*) > 1")]),
    ("number", False, [("The {call} of {column} of {table}", "SELECT {call}({c}) FROM {t} AS t")]),
    (
        "join",
        False,
        [
            (
                "How many {table} for each {label} of {parent}?",
                "SELECT p.{l}, count(*) FROM {t} AS c JOIN {p} AS p ON c.{own} = p.{other} GROUP BY p.{l}",
            ),
            (
                "Which {parent} have no {table}?",
                "SELECT count(*) FROM {p} WHERE {other} NOT IN (SELECT {own} FROM {t} WHERE {own} IS NOT NULL)",
            ),
        ],
    ),
    ("value", False, [("How many {table} with {column} {value}?", "SELECT count(*) FROM {t} WHERE {c} = '{value}'")]),
    # The key makes the order certain.
    ("number", True, [("The top {table} by {column}", _TOP)]),
    ("time", True, [("{table} by year of {column}", _YEARS)]),
    ("number", False, [("{table} above the average {column}", _ABOVE)]),
)
"""A table, its columns of a kind, or its joins, that turns are about; whether the order of rows counts; questions and
SQL with places for names."""


def _make_past_turns(database: Database, count: int, random: Random) -> list[TemplateTurn]:
    """Return `count` turns from templates, declined ones first; every query gives rows."""
    schema = database.schema()
    tables = _list_filled_tables(schema)
    random.shuffle(tables)
    made: list[list[TemplateTurn]] = []
    for kind, ordered, texts in _TEMPLATES:
        places = [names for table in tables for names in _find_template_names(kind, table, schema, random)]
        made.append(
            [
                TemplateTurn(text.format(**names), sql.format(**names), ordered)
                for names in places
                for text, sql in texts
                if names["keys"] or "{keys}" not in sql
            ]
        )
    queries = dict.fromkeys(turn for group in zip_longest(*made) for turn in group if turn is not None)
    running = (turn for turn in queries if database.execute(turn.sql).rows)
    return [*(TemplateTurn(question, "") for question in _IN_VAIN), *islice(running, count - len(_IN_VAIN))]


_ReplayCase = tuple[Database, Sequence[TemplateTurn], Sequence[object], str, Path]
"""A database, its past turns, what plain SQLite gives for them, a change's name, and the file that has it."""


def _make_replay_cases(options: BenchOptions) -> Iterator[_ReplayCase]:
    """Yield each change of each database, with all past turns of that database."""
    random = Random(SEED)  # noqa: S311 - changes that can be made again, not secrets
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        others = [options.data / name for name in _OTHERS] if options.data else []
        files = [build_sample(folder / "kestrel.sqlite")]
        files += [Path(shutil.copy(path, folder)) for path in others if path.is_file()]
        for file in files:
            with Database.open(file) as before:
                past = _make_past_turns(before, (options.limit or TURNS) // len(files), random)
                old = _run_turns_in_sqlite(file, past)
                for name, path in _make_changed_databases(file, before.schema(), folder, random):
                    yield before, past, old, name, path


def _replay_past_turns(case: _ReplayCase) -> Iterator[Row]:
    """Yield whether each past answer changes, is listed as changed, and is decided at all."""
    before, past, old, name, path = case
    with Database.open(path) as after:
        replay = AnswerReplay(before, after)
        for number, (turn, was, now) in enumerate(zip(past, old, _run_turns_in_sqlite(path, past), strict=True)):
            status = "converged" if turn.sql else "unanswerable"
            settled = replay.determine_change(PastAnswer(turn.question, turn.sql, "", status=status))
            added = name.startswith("add_sought") and "footprint" in turn.question
            yield {
                "database": before.name,
                "change": path.name,
                "turn": number,
                "changed": was != now if turn.sql else added,
                "listed": settled.kind in ("error", "rows"),
                "settled": settled.kind != "unsettled",
                "why": f"{name}; {settled.kind}, {settled.why}: {turn.sql or turn.question}",
            }


def _compute_change_figures(table: DataFrame) -> Figures:
    changed, listed, why = table["changed"], table["listed"], table["why"]
    right = (changed & listed).sum()
    return {
        "databases": table["database"].nunique(),
        "changes": table["change"].nunique(),
        "turns": len(table.drop_duplicates(["database", "turn"])),
        "pairs": len(table),
        "changed": changed.sum(),
        "recall": divide(right, changed.sum()),
        "precision": divide(right, listed.sum()),
        "without_model_share": share(table["settled"]),
        "missed": list(why[changed & ~listed])[:20],
        "wrongly_listed": list(why[listed & ~changed])[:20],
    }


run = Measure(_make_replay_cases, _replay_past_turns, _compute_change_figures)


def _run_turns_in_sqlite(path: Path, past: Sequence[TemplateTurn]) -> list[object]:
    """Run each turn's query in plain SQLite; return comparable rows, or "fails"."""
    found: list[object] = []
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        for turn in past:
            try:
                # A declined turn has no query, which gives no rows.
                rows = [
                    tuple(float(f"{cell:.9g}") if isinstance(cell, float) else cell for cell in row)
                    for row in connection.execute(turn.sql)
                ]
                found.append(rows if turn.ordered else Counter(rows))
            except sqlite3.Error:
                found.append("fails")
    return found
