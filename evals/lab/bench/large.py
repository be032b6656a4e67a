"""`large`: every whole database of a data folder in one, and questions of Spider dev on it, their gold carried over.

Finding the right tables among many is what real databases ask for and benchmarks hardly do.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from operator import itemgetter
from pathlib import Path

from pydantic import TypeAdapter
from sqlglot import exp

from ....tools.database import Database, Schema
from ....tools.database.quoting import quoted
from ....tools.errors import DatabaseUnavailable, QueryError, SettingsError, SQLParseError
from ....tools.folders import cache_folder
from ....tools.sql.parse import parse
from ....tools.sql.resolve import resolve
from ....tools.whole_files import written_whole
from ...datasets import Dataset, Question
from ...official.execution import holds_rows, open_read_only, sqlite_tables

LARGE = "large"
"""The set, of which gold is played: nobody has drafts of it."""

QUESTIONS, SEED = 60, 7

PARTIAL = frozenset({"wta_1"})
"""Databases whose public copies lack rows."""

_READER = TypeAdapter(tuple[Question, ...])

_FORM = 1
"""Changes when the database would be built in another way."""


def combine_databases(spider: Dataset) -> Dataset:
    """Return the dataset; its database is built in the cache folder when it is first asked for.

    Args:
        spider: Spider's dev split, as loaded.

    Raises:
        SettingsError: The data folder holds no databases, or the cache folder cannot be written.
    """
    files = list(_whole(spider.databases))
    if not files:
        raise SettingsError(f"dataset {LARGE!r}: no databases with rows in {', '.join(map(str, spider.databases))}")
    folder = cache_folder() / LARGE / _digest(files)
    path, kept = folder / LARGE / f"{LARGE}.sqlite", folder / "questions.json"
    try:
        if not path.exists():
            _build(files, path)
        if kept.exists():
            questions = _READER.validate_json(kept.read_bytes())
        else:
            questions = tuple(_questions(spider, path))
            with written_whole(kept) as file:
                file.write(_READER.dump_json(questions))
    except (OSError, sqlite3.Error) as error:
        raise SettingsError(f"dataset {LARGE!r} cannot be built in {folder}: {error}") from error
    return Dataset(LARGE, spider.split, questions, (folder,), root=spider.root)


def carried_over(sql: str, schema: Schema) -> str:
    """Return a query on one database as it stands on the large one.

    Args:
        sql: The query.
        schema: Of its database, whose name prefixes the tables there.

    Raises:
        SQLParseError: It cannot be parsed as one query.
    """
    tree = parse(sql, schema.dialect).tree.copy()
    for scope in resolve(tree, schema).scopes:
        for source in scope.sources:
            node = source.node
            if source.table is None or not isinstance(node, exp.Table):
                continue
            if not node.alias:
                node.set("alias", exp.TableAlias(this=node.this.copy()))
            node.set("this", exp.to_identifier(large_name(schema.name, source.table.name), quoted=True))
    return tree.sql(schema.dialect)


def large_name(database: str, table: str) -> str:
    """Return what a database's table is called in the large one."""
    return f"{database}__{table}"


def _whole(folders: Sequence[Path]) -> Iterator[Path]:
    """Yield databases that hold rows, by name."""
    found = {path.stem: path for folder in reversed(folders) for path in folder.glob("*/*.sqlite")}
    for name, path in sorted(found.items()):
        if name == path.parent.name and name not in PARTIAL and _has_rows(path):
            yield path


def _has_rows(path: Path) -> bool:
    try:
        with closing(open_read_only(path)) as connection:
            return any(holds_rows(connection, table) for table in sqlite_tables(connection))
    except sqlite3.Error:
        return False


def _digest(files: Sequence[Path]) -> str:
    states = [(path.stem, path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    return hashlib.sha256(json.dumps([_FORM, QUESTIONS, SEED, states]).encode()).hexdigest()[:16]


def _build(files: Sequence[Path], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as temporary:
        made = Path(temporary) / path.name
        with closing(sqlite3.connect(made, isolation_level=None, uri=True)) as connection:
            connection.execute("PRAGMA journal_mode = OFF")
            connection.execute("PRAGMA synchronous = OFF")
            for file in files:
                connection.execute("ATTACH ? AS one", (f"{file.absolute().as_uri()}?mode=ro&immutable=1",))
                connection.execute("BEGIN")
                for table in sqlite_tables(connection, "one"):
                    _copy(connection, file.stem, table)
                connection.execute("COMMIT")
                connection.execute("DETACH one")
        os.replace(made, path)


def _copy(connection: sqlite3.Connection, database: str, table: str) -> None:
    """Make a table as it is in its own database, keys included, with its rows."""
    found = connection.execute("SELECT name, type, pk FROM pragma_table_info(?, 'one')", (table,)).fetchall()
    parts = [f"{quoted(name)} {kind}".strip() for name, kind, _ in found]
    if keyed := [quoted(name) for name, _, _ in sorted((row for row in found if row[2]), key=itemgetter(2))]:
        parts.append(f"PRIMARY KEY ({', '.join(keyed)})")
    parts += _foreign_keys(connection, database, table)
    own = quoted(large_name(database, table))
    connection.execute(f"CREATE TABLE {own} ({', '.join(parts)})")
    names = ", ".join(quoted(name) for name, _, _ in found)
    connection.execute(f"INSERT INTO {own} ({names}) SELECT {names} FROM one.{quoted(table)}")


def _foreign_keys(connection: sqlite3.Connection, database: str, table: str) -> list[str]:
    declared = 'SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?, \'one\') ORDER BY id, seq'
    keys: dict[int, tuple[str, list[str], list[str]]] = {}
    for number, parent, own, other in connection.execute(declared, (table,)):
        _, ours, theirs = keys.setdefault(int(number), (str(parent), [], []))
        ours.append(quoted(str(own)))
        if other is not None:
            theirs.append(quoted(str(other)))
    return [
        f"FOREIGN KEY ({', '.join(ours)}) REFERENCES {quoted(large_name(database, parent))}"
        + (f" ({', '.join(theirs)})" if len(theirs) == len(ours) else "")
        for parent, ours, theirs in keys.values()
    ]


def _questions(spider: Dataset, path: Path) -> Iterator[Question]:
    """Yield questions drawn by a seed whose gold gives the same rows on the large database as on its own."""
    drawn = list(spider.questions)
    random.Random(SEED).shuffle(drawn)  # noqa: S311 - a draw that can be repeated, not a secret
    taken = 0
    with Database.open(path) as whole:
        for question in drawn:
            if taken == QUESTIONS:
                return
            gold = _gold(question, spider, whole)
            if gold:
                taken += 1
                yield replace(question, database=LARGE, golds=(gold,))


def _gold(question: Question, spider: Dataset, whole: Database) -> str:
    """Return the gold as it stands on the large database; empty where it gives other rows there, or none."""
    if question.database in PARTIAL or question.disputed:
        return ""
    try:
        with Database.open(spider.database(question.database)) as own:
            gold = carried_over(question.golds[0], own.schema())
            rows = own.execute(question.golds[0]).rows
        return gold if rows and rows == whole.execute(gold).rows else ""
    except (QueryError, SQLParseError, DatabaseUnavailable):
        return ""
