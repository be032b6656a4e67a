"""Changes that are made to databases on purpose: to their schema, to their rows, and some that change no answer."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from random import Random

from ...tools.database import ColumnSchema, Schema, TableSchema
from ...tools.database.quoting import quoted

Make = Callable[[sqlite3.Connection, Schema, Random], str]
"""Makes a change and says which; raises `sqlite3.Error` or `IndexError` where it cannot be made here."""

_TRIES = 20


def make_changes(original: Path, schema: Schema, folder: Path, random: Random) -> Iterator[tuple[str, Path]]:
    """Copies of a database with one change each, every kind once."""
    for kind, make in KINDS.items():
        path = folder / f"{original.stem}-{kind}.sqlite"
        for _ in range(_TRIES):
            path.write_bytes(original.read_bytes())
            with closing(sqlite3.connect(path)) as connection:
                connection.execute("PRAGMA legacy_alter_table = ON")
                try:
                    said = make(connection, schema, random)
                    connection.commit()
                except (sqlite3.Error, IndexError):
                    continue
            yield f"{kind}: {said}", path
            break
        path.unlink()


def _table(schema: Schema, random: Random) -> TableSchema:
    return random.choice([table for table in schema.tables if table.kind == "table" and table.row_count])


def _column(schema: Schema, random: Random, kind: str = "") -> tuple[TableSchema, ColumnSchema]:
    """A column outside every key."""
    keyed = {(key.table, name) for key in schema.foreign_keys for name in key.columns}
    return random.choice(
        [
            (table, column)
            for table in schema.tables
            if table.kind == "table" and table.row_count
            for column in table.columns
            if not column.primary_key and (table.name, column.name) not in keyed and kind in ("", column.kind)
        ]
    )


def _drop_column(connection: sqlite3.Connection, schema: Schema, random: Random) -> str:
    table, column = _column(schema, random)
    connection.execute(f"ALTER TABLE {quoted(table.name)} DROP COLUMN {quoted(column.name)}")
    return f"{table.name}.{column.name}"


def _rename_column(connection: sqlite3.Connection, schema: Schema, random: Random) -> str:
    table, column = _column(schema, random)
    new = f"{column.name}_v2"
    connection.execute(f"ALTER TABLE {quoted(table.name)} RENAME COLUMN {quoted(column.name)} TO {quoted(new)}")
    return f"{table.name}.{column.name}"


def _rename_key(connection: sqlite3.Connection, schema: Schema, random: Random) -> str:
    key = random.choice(schema.foreign_keys)
    new = f"{key.columns[0]}_ref"
    connection.execute(f"ALTER TABLE {quoted(key.table)} RENAME COLUMN {quoted(key.columns[0])} TO {quoted(new)}")
    return f"{key.table}.{key.columns[0]}"


def _rename_table(connection: sqlite3.Connection, schema: Schema, random: Random) -> str:
    table = _table(schema, random)
    connection.execute(f"ALTER TABLE {quoted(table.name)} RENAME TO {quoted('dim_' + table.name)}")
    return table.name


def _drop_table(connection: sqlite3.Connection, schema: Schema, random: Random) -> str:
    table = _table(schema, random)
    connection.execute(f"DROP TABLE {quoted(table.name)}")
    return table.name


def _retype(connection: sqlite3.Connection, schema: Schema, random: Random) -> str:
    """Numbers become texts."""
    table, column = _column(schema, random, "number")
    own, name, new = quoted(table.name), quoted(column.name), quoted(f"{column.name}__new")
    connection.execute(f"ALTER TABLE {own} ADD COLUMN {new} TEXT")
    connection.execute(f"UPDATE {own} SET {new} = {name} || ' '")
    connection.execute(f"ALTER TABLE {own} DROP COLUMN {name}")
    connection.execute(f"ALTER TABLE {own} RENAME COLUMN {new} TO {name}")
    return f"{table.name}.{column.name}"


def _widen(connection: sqlite3.Connection, schema: Schema, random: Random) -> str:
    """Another declared type for the same values: nothing changes."""
    table, column = _column(schema, random, "number")
    own, name, new = quoted(table.name), quoted(column.name), quoted(f"{column.name}__new")
    connection.execute(f"ALTER TABLE {own} ADD COLUMN {new} NUMERIC(18, 4)")
    connection.execute(f"UPDATE {own} SET {new} = {name}")
    connection.execute(f"ALTER TABLE {own} DROP COLUMN {name}")
    connection.execute(f"ALTER TABLE {own} RENAME COLUMN {new} TO {name}")
    return f"{table.name}.{column.name}"


def _split_table(connection: sqlite3.Connection, schema: Schema, random: Random) -> str:
    """A column moves to a table of its own."""
    table, column = _column(schema, random)
    keys = ", ".join(quoted(name) for name in (table.primary_key or [])[:2])
    own, name = quoted(table.name), quoted(column.name)
    columns = f"{keys}, {name}" if keys else name
    connection.execute(f"CREATE TABLE {quoted(table.name + '_detail')} AS SELECT {columns} FROM {own}")
    connection.execute(f"ALTER TABLE {own} DROP COLUMN {name}")
    return f"{table.name}.{column.name}"


def _add_column(connection: sqlite3.Connection, schema: Schema, random: Random) -> str:
    table = _table(schema, random)
    connection.execute(f"ALTER TABLE {quoted(table.name)} ADD COLUMN load_batch INTEGER DEFAULT 1")
    return table.name


def _add_table(connection: sqlite3.Connection, schema: Schema, random: Random) -> str:
    connection.execute("CREATE TABLE load_log (batch INTEGER PRIMARY KEY, started TEXT)")
    connection.execute("INSERT INTO load_log VALUES (1, '2025-01-01')")
    return "load_log"


def _add_sought(connection: sqlite3.Connection, schema: Schema, random: Random) -> str:
    """A column that questions asked for in vain."""
    table = max((t for t in schema.tables if t.kind == "table"), key=lambda t: t.row_count or 0)
    connection.execute(f"ALTER TABLE {quoted(table.name)} ADD COLUMN carbon_footprint REAL DEFAULT 1.5")
    return table.name


def _add_index(connection: sqlite3.Connection, schema: Schema, random: Random) -> str:
    table, column = _column(schema, random)
    connection.execute(f"CREATE INDEX made_for_speed ON {quoted(table.name)} ({quoted(column.name)})")
    return f"{table.name}.{column.name}"


def _delete_rows(connection: sqlite3.Connection, schema: Schema, random: Random) -> str:
    table = _table(schema, random)
    remainder = random.randrange(7)
    connection.execute(f"DELETE FROM {quoted(table.name)} WHERE rowid % 7 = {remainder}")
    return table.name


def _delete_old(connection: sqlite3.Connection, schema: Schema, random: Random) -> str:
    """Rows of before a day are archived."""
    table, column = _column(schema, random, "time")
    own, name = quoted(table.name), quoted(column.name)
    connection.execute(
        f"DELETE FROM {own} WHERE {name} < (SELECT {name} FROM {own} WHERE {name} IS NOT NULL ORDER BY {name} "
        f"LIMIT 1 OFFSET (SELECT count({name}) / 10 FROM {own}))"
    )
    return f"{table.name} by {column.name}"


def _double_rows(connection: sqlite3.Connection, schema: Schema, random: Random) -> str:
    """A load that ran twice, for some rows."""
    table = random.choice([t for t in schema.tables if t.kind == "table" and len(t.primary_key) == 1])
    key = quoted(table.primary_key[0])
    rest = ", ".join(quoted(column.name) for column in table.columns if column.name != table.primary_key[0])
    connection.execute(
        f"INSERT INTO {quoted(table.name)} ({key}, {rest}) "
        f"SELECT (SELECT max({key}) FROM {quoted(table.name)}) + {key}, {rest} FROM {quoted(table.name)} LIMIT 5"
    )
    return table.name


def _scale(connection: sqlite3.Connection, schema: Schema, random: Random) -> str:
    """Another unit: cents instead of euros."""
    table, column = _column(schema, random, "number")
    connection.execute(f"UPDATE {quoted(table.name)} SET {quoted(column.name)} = {quoted(column.name)} * 100")
    return f"{table.name}.{column.name}"


def _nudge(connection: sqlite3.Connection, schema: Schema, random: Random) -> str:
    """One number is put right."""
    table, column = _column(schema, random, "number")
    own, name = quoted(table.name), quoted(column.name)
    connection.execute(f"UPDATE {own} SET {name} = {name} + 1 WHERE rowid = (SELECT min(rowid) FROM {own})")
    return f"{table.name}.{column.name}"


def _recode(connection: sqlite3.Connection, schema: Schema, random: Random) -> str:
    table, column = _column(schema, random, "text")
    value = random.choice([value for value in column.samples if isinstance(value, str)])
    own, name = quoted(table.name), quoted(column.name)
    connection.execute(f"UPDATE {own} SET {name} = ? WHERE {name} = ?", (f"{value} (old)", value))
    return f"{table.name}.{column.name} {value!r}"


def _upper(connection: sqlite3.Connection, schema: Schema, random: Random) -> str:
    table, column = _column(schema, random, "text")
    connection.execute(f"UPDATE {quoted(table.name)} SET {quoted(column.name)} = upper({quoted(column.name)})")
    return f"{table.name}.{column.name}"


def _redate(connection: sqlite3.Connection, schema: Schema, random: Random) -> str:
    """Days written in another way."""
    table, column = _column(schema, random, "time")
    own, name = quoted(table.name), quoted(column.name)
    connection.execute(f"UPDATE {own} SET {name} = strftime('%d.%m.%Y', {name}) WHERE {name} IS NOT NULL")
    return f"{table.name}.{column.name}"


def _blank(connection: sqlite3.Connection, schema: Schema, random: Random) -> str:
    """A column is no longer filled."""
    table, column = _column(schema, random)
    connection.execute(f"UPDATE {quoted(table.name)} SET {quoted(column.name)} = NULL WHERE rowid % 3 = 0")
    return f"{table.name}.{column.name}"


def _vacuum(connection: sqlite3.Connection, schema: Schema, random: Random) -> str:
    """The file is written anew: nothing changes."""
    connection.execute("VACUUM")
    return "the file"


KINDS: Mapping[str, Make] = {
    "drop_column": _drop_column,
    "drop_column_2": _drop_column,
    "rename_column": _rename_column,
    "rename_column_2": _rename_column,
    "rename_key": _rename_key,
    "rename_table": _rename_table,
    "drop_table": _drop_table,
    "retype": _retype,
    "widen": _widen,
    "split_table": _split_table,
    "add_column": _add_column,
    "add_table": _add_table,
    "add_sought": _add_sought,
    "add_index": _add_index,
    "delete_rows": _delete_rows,
    "delete_old": _delete_old,
    "double_rows": _double_rows,
    "scale": _scale,
    "nudge": _nudge,
    "recode": _recode,
    "recode_2": _recode,
    "upper": _upper,
    "redate": _redate,
    "blank": _blank,
    "vacuum": _vacuum,
}
"""What is done to each database, by name."""
