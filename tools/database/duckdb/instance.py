"""An instance of DuckDB in memory that holds nothing but what a session may read, and whose settings are locked.

Files are views over them; a DuckDB file is attached read-only under a name that no query can guess, with views over
what may be seen; sheets and data frames are tables. Once all is set up, the file system is closed but for the named
files, which are read and never written, extensions stay unloaded, and the settings are locked.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import shutil
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import duckdb
from sqlglot import TokenType, exp, tokenize
from sqlglot.errors import SqlglotError

from ...errors import DatabaseUnavailable, NothingReadable
from ..dialects import parse_statement
from ..quoting import literal, quoted
from ..schema import ForeignKey
from ..server.catalogue import Catalogue, Relation
from ..session import Permissions
from .entries import Entry, column, keys_between, visible
from .files import NamedFiles, read_files, settings
from .grammar import PROFILE, failure
from .sources import Sources, column_names, table_name, told_apart
from .tables import hold

if TYPE_CHECKING:
    import pandas

_COLUMNS = """
    SELECT schema_name, table_name, column_name, data_type, is_nullable, comment FROM duckdb_columns()
    WHERE database_name = $1 AND NOT internal ORDER BY schema_name, table_name, column_index
"""
_TABLES = """
    SELECT schema_name, table_name, 'table', comment, estimated_size, sql FROM duckdb_tables()
    WHERE database_name = $1 AND NOT internal
    UNION ALL
    SELECT schema_name, view_name, 'view', comment, NULL, sql FROM duckdb_views()
    WHERE database_name = $1 AND NOT internal
    ORDER BY 1, 2
"""
_KEYS = """
    SELECT schema_name, table_name, constraint_type, constraint_column_names, referenced_table, referenced_column_names
    FROM duckdb_constraints() WHERE database_name = $1 AND constraint_type IN ('PRIMARY KEY', 'FOREIGN KEY')
    ORDER BY schema_name, table_name, constraint_index
"""
_MACROS = "SELECT DISTINCT function_name FROM duckdb_functions() WHERE database_name = $1"


def attach(connection: duckdb.DuckDBPyConnection, path: Path, private: str) -> None:
    """Opens a file for reading, under a name of our own."""
    try:
        connection.execute(f"ATTACH {literal(str(path))} AS {quoted(private)} (READ_ONLY)")
    except duckdb.Error as error:
        if "Could not set lock" in str(error) or "Conflicting lock" in str(error):
            raise DatabaseUnavailable(f"the database {path} is locked by another program: try again later") from None
        raise DatabaseUnavailable(f"{path} cannot be opened: {failure(error)}") from None


def attached_tables(connection: duckdb.DuckDBPyConnection, private: str) -> tuple[list[Entry], list[ForeignKey]]:
    """The tables and views of an attached file, and the keys that it declares."""

    def rows(sql: str) -> list[tuple[Any, ...]]:
        return connection.execute(sql, [private]).fetchall()

    primary: dict[tuple[str, str], list[str]] = {}
    foreign: list[ForeignKey] = []
    for schema, table, kind, names, target, target_names in rows(_KEYS):
        if kind == "PRIMARY KEY":
            primary[schema, table] = names
        elif target_names:
            foreign.append(ForeignKey(_shown(schema, table), tuple(names), _shown(schema, target), tuple(target_names)))
    columns: dict[tuple[str, str], list[tuple[Any, ...]]] = {}
    for schema, table, *rest in rows(_COLUMNS):
        columns.setdefault((schema, table), []).append(tuple(rest))
    macros = {str(name).lower() for (name,) in rows(_MACROS)}
    entries: list[Entry] = []
    for schema, table, kind, comment, estimate, sql in rows(_TABLES):
        keyed = primary.get((schema, table), [])
        listed = columns.get((schema, table), [])
        computed = _computed(sql or "", [name for name, *_ in listed]) if kind == "table" else {}
        held = [
            (
                name,
                column(
                    name,
                    declared,
                    not_null=not nullable,
                    comment=told or "",
                    primary_key=keyed.index(name) + 1 if name in keyed else 0,
                    generated=name.lower() in computed,
                ),
            )
            for name, declared, nullable, told in listed
        ]
        scan = f"{quoted(private)}.{quoted(schema)}.{quoted(table)}"
        reads = _reads(sql or "", schema, macros) if kind == "view" else frozenset[str]()
        anew = _anew(sql, [name for name, _ in held]) if kind == "view" and schema == "main" and reads else ""
        entries.append(
            Entry(
                table,
                tuple(held),
                scan,
                schema,
                kind,
                comment or "",
                estimate,
                hides=computed,
                reads=reads,
                anew=anew,
                query=(sql or "") if kind == "view" else "",
            )
        )
    return entries, foreign


def _shown(schema: str, table: str) -> str:
    return table if schema == "main" else f"{schema}.{table}"


def _reads(sql: str, schema: str, macros: set[str]) -> frozenset[str] | None:
    """The tables that a view reads; None where it may read others, by a function or a macro."""
    try:
        tree = parse_statement(sql, "duckdb")
    except (SqlglotError, RecursionError):
        return None
    body = tree.args.get("expression")
    if not isinstance(tree, exp.Create) or not isinstance(body, exp.Query):
        return None
    called = {node.name.lower() for node in body.find_all(exp.Anonymous)}
    if called - PROFILE.functions or any(
        re.search(rf"(?<!\w){re.escape(name)}(?!\w)", sql, re.IGNORECASE) for name in macros
    ):
        return None
    local = {cte.alias.lower() for cte in body.find_all(exp.CTE)}
    read: set[str] = set()
    for table in body.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier):
            return None
        name = table.name.lower()
        # A name that is both a local and a table's may be either: then the table counts as read too.
        if table.db or name not in local:
            read.add(f"{(table.db or schema).lower()}.{name}")
    return frozenset(read)


def _anew(sql: str, names: Sequence[str]) -> str:
    """A view's query with its columns' names, to be selected from; empty where it reads what it does not name.

    What stands for all columns of a table (`*`, NATURAL, new names for them, a whole row) would mean something else
    over a part of them.
    """
    tree = parse_statement(sql, "duckdb")
    body: exp.Expr = tree.args["expression"]
    sources = {node.alias_or_name.lower() for node in body.find_all(exp.Table, exp.Subquery, exp.CTE, exp.TableAlias)}
    if (
        any(not isinstance(star.parent, exp.Count) for star in body.find_all(exp.Star))
        or any(alias.columns for alias in body.find_all(exp.TableAlias))
        or any(node.name.lower() in sources for node in body.find_all(exp.Column))
        or any(table.catalog for table in body.find_all(exp.Table))
        or body.find(exp.Columns, exp.Pivot) is not None
        or re.search(r"\b(natural|positional|pivot|unpivot|summarize|describe|show|by\s+name)\b", sql, re.IGNORECASE)
    ):
        return ""
    depth = 0
    for token in tokenize(sql, read="duckdb"):
        depth += (token.text == "(") - (token.text == ")")
        if depth == 0 and token.token_type == TokenType.ALIAS:
            written = sql[token.end + 1 :].rstrip("; \n")
            return f"({written}) AS held ({', '.join(map(quoted, names))})"
    return ""


def _computed(sql: str, names: Sequence[str]) -> dict[str, frozenset[str]]:
    """Generated columns with the names that their declarations hold; with all names where it cannot be read."""
    if "generated" not in sql.lower() and " as (" not in sql.lower():
        return {}
    everything = frozenset(name.lower() for name in names)
    try:
        tree = parse_statement(sql, "duckdb")
    except (SqlglotError, RecursionError):
        return dict.fromkeys(everything, everything)
    found: dict[str, frozenset[str]] = {}
    for declared in tree.find_all(exp.ColumnDef):
        constraints = declared.args.get("constraints") or []
        used = {each.name.lower() for constraint in constraints for each in constraint.find_all(exp.Column)}
        if used:
            found[declared.name.lower()] = frozenset(used)
    return found


@dataclass(frozen=True)
class Contents:
    """What an instance is made from: files, or data frames by their tables' names."""

    sources: Sources | None = None
    frames: Mapping[str, pandas.DataFrame] | None = None
    state_of_frames: str = ""

    def state(self) -> str:
        """Changes whenever the contents do."""
        return self.sources.state() if self.sources is not None else self.state_of_frames


class Instance:
    """An open instance; gone with its private folder when the last connection to it is.

    Attributes:
        state: Of its contents when it was opened.
        private: The name of the attached file, which no message may show; empty where there is none.
        catalogue: What may be read.
        slow: The names of tables that take seconds to be read whole.
        remarks: What was guessed of files whose texts could be read otherwise, and what to do.
    """

    def __init__(self, contents: Contents, permissions: Permissions, *, thorough: bool = False) -> None:
        self.state = contents.state()
        self.private = f"p{secrets.token_hex(16)}" if contents.sources and contents.sources.database else ""
        self._folder = Path(mkdtemp(prefix="tableturn-"))
        self._clear = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._thorough = thorough
        held = sum(int(frame.memory_usage(deep=True).sum()) for frame in (contents.frames or {}).values())
        self._root = duckdb.connect(":memory:", config=settings(self._folder, held))
        self._files = NamedFiles()
        self._files.serve(self._root)
        try:
            entries, keys = self._found(contents)
            shown = visible(entries, permissions)
            # Before any of what was read from files is declared.
            self._close_files(shown)
            self.entries = self._made(shown)
            self._root.execute("SET lock_configuration = true")
        except duckdb.Error as error:
            self._root.close()
            raise DatabaseUnavailable(f"the database cannot be opened: {failure(error, self.private)}") from None
        except BaseException:
            self._root.close()
            raise
        self.remarks = tuple(remark for entry in self.entries for remark in _remarks(entry))
        self.slow = frozenset(entry.shown for entry in self.entries if entry.slow)
        self.catalogue = _catalogue(self.entries, keys_between(keys, self.entries))

    def close(self) -> None:
        """Lets go of it once no connection is left, and leaves no file behind."""
        self._root.close()
        self._clear()

    def connect(self) -> duckdb.DuckDBPyConnection:
        """Another connection to it."""
        return self._root.cursor()

    def _found(self, contents: Contents) -> tuple[Sequence[Entry], Sequence[ForeignKey]]:
        if contents.frames is not None:
            names = told_apart([table_name(name) for name in contents.frames])
            held = zip(names, contents.frames.values(), strict=True)
            return [_of_frame(name, frame) for name, frame in held], ()
        assert contents.sources is not None
        if contents.sources.database is not None:
            attach(self._root, contents.sources.database, self.private)
            return attached_tables(self._root, self.private)
        entries = list(read_files(contents.sources.files(), self._folder / "read", thorough=self._thorough))
        names = told_apart([entry.name for entry in entries])
        return [replace(entry, name=name) for entry, name in zip(entries, names, strict=True)], ()

    def _made(self, entries: Sequence[Entry]) -> tuple[Entry, ...]:
        """Makes the tables; without those views of a file that cannot be read any more."""
        if not entries:
            raise NothingReadable("the database has no tables that you may read")
        made: dict[str, Entry] = {}
        for schema in {entry.schema for entry in entries} - {"main"}:
            self._root.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted(schema)}")
        waiting = list(entries)
        # A view that is declared anew comes after all that it reads; where one of those is not made, neither is it.
        while ready := [entry for entry in waiting if not entry.is_anew or (entry.reads or set()) <= made.keys()]:
            waiting = [entry for entry in waiting if entry not in ready]
            made |= {entry.key: done for entry in ready if (done := self._make(entry)) is not None}
        return tuple(made[entry.key] for entry in entries if entry.key in made)

    def _make(self, entry: Entry) -> Entry | None:
        if entry.frame is not None:
            return self._holding(entry, entry.frame)
        listed = ", ".join(f"{quoted(own)} AS {quoted(held.name)}" for own, held in entry.columns)
        name = f"{quoted(entry.schema)}.{quoted(entry.name)}"
        try:
            self._root.execute(f"CREATE VIEW {name} AS SELECT {listed} FROM {entry.scan}")
        except duckdb.Error:
            if entry.kind != "view":
                raise
            return None
        return entry

    def _holding(self, entry: Entry, frame: pandas.DataFrame) -> Entry:
        """Copies what may be seen of a frame."""
        places = [int(own) for own, _ in entry.columns]
        named = frame.iloc[:, places].set_axis([held.name for _, held in entry.columns], axis=1)
        hold(self._root, entry.name, named)
        described = self._root.execute(f"DESCRIBE {quoted(entry.name)}").fetchall()
        columns = tuple((str(row[0]), column(str(row[0]), str(row[1]))) for row in described)
        return Entry(entry.name, columns, quoted(entry.name), comment=entry.comment, estimate=len(frame))

    def _close_files(self, entries: Iterable[Entry]) -> None:
        listed = ", ".join(literal(self._files.address(entry.path)) for entry in entries if entry.path is not None)
        self._root.execute(f"SET allowed_paths = [{listed}]")
        self._root.execute("SET enable_external_access = false")


def _of_frame(name: str, frame: pandas.DataFrame) -> Entry:
    """A frame's index counts as columns where it has names."""
    flat = frame.reset_index() if any(level is not None for level in frame.index.names) else frame
    names = column_names(flat.columns)
    if not names:
        raise DatabaseUnavailable(f"the table {name} has no columns")
    columns = tuple((str(place), column(shown, "VARCHAR")) for place, shown in enumerate(names))
    return Entry(name, columns, frame=flat, estimate=len(flat))


def _remarks(entry: Entry) -> Iterable[str]:
    for remark in entry.remarks:
        yield f"{entry.shown}: {remark}; if letters are wrong, save the file as UTF-8"
    for _, held in entry.columns if entry.path is not None else ():
        if held.comment:
            yield f"{entry.shown}.{held.name}: {held.comment}; write dates as 2024-12-31 to be sure"


def _catalogue(entries: Sequence[Entry], keys: tuple[ForeignKey, ...]) -> Catalogue:
    relations = tuple(
        Relation(
            entry.schema,
            entry.name,
            entry.shown,
            tuple(held for _, held in entry.columns),
            entry.kind,
            entry.comment,
            entry.estimate,
            entry.query,
        )
        for entry in sorted(entries, key=lambda each: each.schema != "main")
    )
    told = repr([(each.shown, each.kind, each.comment, each.columns, each.definition) for each in relations]) + repr(
        keys
    )
    return Catalogue(hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:16], relations, keys)
