"""Holding definitions against a database: what no longer fits it, or contradicts another definition, is left out."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from ..database.schema import ForeignKey, Schema
from ..errors import KnowledgeError, TableturnError
from .entry import Entry, Item
from .fragment import (
    Fragment,
    and_parts,
    counted_where,
    find_column,
    find_table,
    fragment_kind,
    parse_fragment,
    read_fragment,
)
from .read import DATABASE

if TYPE_CHECKING:
    from ..database import Database

# What looks like the name of a table or column in a text.
_NAMES = re.compile(r"`([^`]+)`|\b([A-Za-z]\w*\.[A-Za-z]\w*|[A-Za-z]+(?:_\w+)+)\b")


@dataclass(frozen=True)
class Problem:
    """Why an entry is left out."""

    entry: Entry
    why: str

    def __str__(self) -> str:
        source = f"{self.entry.source}: " if self.entry.source else ""
        return f"{source}{self.entry.key}: {self.why}"


def check_entries(layers: Sequence[Sequence[Entry]], database: Database) -> tuple[list[Entry], list[Problem]]:
    """Return the entries of all layers that hold on a database, and why the others do not.

    Of two layers that define the same the later one counts. Where whoever opened the database may not see all of it,
    what names something that is not visible is left out without a word: why would tell that it is there.
    """
    schema = database.schema()
    problems: list[Problem] = []
    fitting: list[Entry] = []
    unseen: set[str] = set()
    for entry in _upper([_commented(layer, schema) for layer in layers], problems):
        try:
            fitting.append(_fitted(entry, schema, database))
        except TableturnError as error:
            problems.append(Problem(entry, str(error)))
            unseen |= {part.lower() for item in entry.about for part in item if part}
    if own := database.rights.key:
        problems.clear()
        shown = {item.name.lower() for table in schema.tables for item in (table, *table.columns)}
        unseen -= shown
        shown |= {f"{table.name}.{column.name}".lower() for table in schema.tables for column in table.columns}
        # What is written under these rights tells nothing that is hidden from them.
        fitting = [entry for entry in fitting if entry.rights == own or not _names_unseen(entry, shown, unseen)]
        # In which file an entry stands, and where, tells whether there is a hidden one of its name.
        fitting.sort(key=lambda entry: (entry.added, entry.key))
    fitting = [entry for entry in fitting if _may_leave(entry, database)]
    return _without_conflicts(fitting, problems), problems


def _commented(layer: Sequence[Entry], schema: Schema) -> Sequence[Entry]:
    """Return a layer, or what the database's own comments say if it stands for them."""
    if [entry.source for entry in layer] != [DATABASE]:
        return layer
    items = [(table, item) for table in schema.tables for item in (None, *table.columns)]
    entries = [
        Entry("column", f"{table.name}.{item.name}", item.comment, about=((table.name, item.name),), source=DATABASE)
        if item
        else Entry("table", table.name, table.comment, about=((table.name, ""),), source=DATABASE)
        for table, item in items
        if (item or table).comment
    ]
    return sorted(entries, key=lambda entry: entry.kind == "column")


_CONTRADICTS = "it contradicts"


def _upper(layers: Sequence[Sequence[Entry]], problems: list[Problem]) -> list[Entry]:
    """Return each thing as the topmost layer that has it says it."""
    found: dict[str, Entry] = {}
    for layer in layers:
        own: dict[str, Entry] = {}
        for entry in layer:
            key = f"{entry.kind} {' '.join(entry.name.lower().split())}"
            if key in own and own[key].line != entry.line:
                problems.append(Problem(entry, f"{_CONTRADICTS} what the same file says of it: keep one"))
            own.setdefault(key, entry)
        found |= own
    return list(found.values())


def _fitted(entry: Entry, schema: Schema, database: Database) -> Entry:
    """Return the entry with names as the schema has them."""
    if entry.fault:
        raise KnowledgeError(entry.fault)
    about = tuple(_item(item, schema) for item in entry.about)
    if entry.kind == "join":
        key = join_key(entry, schema)
        ends = (key.table, key.columns), (key.ref_table, key.ref_columns)
        return replace(entry, about=tuple((table, column) for table, columns in ends for column in columns))
    if entry.kind not in ("term", "metric") or not entry.sql:
        return replace(entry, about=about)
    expression, _, condition = entry.sql.partition("\n")
    sql = counted_where(expression, condition, schema.dialect) if condition else expression
    fragment = read_fragment(sql, schema, [table for table, _ in about])
    _compile(entry, fragment, schema, database)
    return replace(entry, sql=fragment.sql, about=tuple(dict.fromkeys((*fragment.columns, *about))))


def _item(item: Item, schema: Schema) -> Item:
    """Return a table or column as the schema names it; a table's own name may hold a point."""
    table, column = item
    whole = schema.table(f"{table}.{column}" if column else table)
    if whole is not None:
        return whole.name, ""
    named = find_table(schema, _unquoted(table))
    return named, find_column(schema, named, _unquoted(column)) if column else ""


def _unquoted(name: str) -> str:
    return name[1:-1] if len(name) > 1 and name[0] + name[-1] in ('""', "``", "[]") else name


def _compile(entry: Entry, fragment: Fragment, schema: Schema, database: Database) -> None:
    """Have the database compile a query with the SQL of an entry."""
    tree = parse_fragment(fragment.sql, schema.dialect)
    if fragment_kind(tree) != entry.kind:
        wrong = "a metric's expression computes over rows: SUM, COUNT, AVG and the like"
        raise KnowledgeError(
            wrong if entry.kind == "metric" else "a term's SQL is a condition on a row, no aggregate or value"
        )
    first, *others = (exp.table_(*schema.path(name)[::-1], quoted=True) for name in fragment.tables)
    sources = exp.select("1").from_(first)
    for table in others:
        sources = sources.join(table, join_type="CROSS")
    query = sources.select(tree, append=False) if entry.kind == "metric" else sources.where(tree)
    named = {find_table(schema, node.name, node.db) for node in tree.find_all(exp.Table)} | set(fragment.tables)
    statement = query.sql(dialect=schema.dialect)
    failed = database.compile_check(statement, [table for table in schema.tables if table.name in named])
    if failed is not None:
        raise KnowledgeError(f"its SQL does not compile: {failed}")


def join_key(entry: Entry, schema: Schema) -> ForeignKey:
    """Return the join as a key.

    Raises:
        KnowledgeError: It is none, or names what is not there.
    """
    ends: list[list[Item]] = []
    for pair in and_parts(parse_fragment(entry.sql, schema.dialect)):
        sides = [side for side in (pair.this, pair.args.get("expression")) if isinstance(side, exp.Column)]
        if not isinstance(pair, exp.EQ) or len(sides) != 2:
            raise KnowledgeError("a join is written as visits.customer_ref = customers.id, further pairs after AND")
        if not all(side.table for side in sides):
            raise KnowledgeError(f"{pair.sql()!r} lacks a table: write visits.customer_ref = customers.id")
        tables = [find_table(schema, side.table, side.db) for side in sides]
        ends.append([(table, find_column(schema, table, side.name)) for table, side in zip(tables, sides, strict=True)])
    if len({(left[0], right[0]) for left, right in ends}) != 1:
        raise KnowledgeError("a join is of two tables: write each pair in the same order")
    (left, _), (right, _) = ends[0]
    return ForeignKey(left, tuple(pair[0][1] for pair in ends), right, tuple(pair[1][1] for pair in ends))


def _names_unseen(entry: Entry, shown: set[str], unseen: set[str]) -> bool:
    """Whether an entry's words may tell of what is hidden.

    They do where they hold the name of something that entries of the same files describe and that is not visible, or
    anything that looks like a name and is none that is.
    """
    text = " ".join((entry.name, entry.text, *entry.also, *(meaning for _, meaning in entry.values)))
    words = set(re.findall(r"\w+", text.lower()))
    if words & unseen or any(" " in name and name in text.lower() for name in unseen):
        return True
    return any((quoted or plain).lower() not in shown for quoted, plain in _NAMES.findall(text))


def _may_leave(entry: Entry, database: Database) -> bool:
    """Whether an entry may be shown to a model: values of columns whose values may not leave are values here too."""
    levels = database.leaving().levels
    if not any(item in levels for item in entry.about):
        return True
    if entry.values:
        return False
    if not entry.sql:
        return True
    tree = parse_fragment(entry.sql, database.dialect)
    return entry.kind == "join" or tree.find(exp.Literal) is None


def _without_conflicts(entries: Sequence[Entry], problems: list[Problem]) -> list[Entry]:
    """Without terms and metrics that give one word two meanings: neither can be trusted."""
    named: dict[tuple[str, ...], list[Entry]] = defaultdict(list)
    for entry in entries:
        for phrase in entry.phrases if entry.kind in ("term", "metric") else ():
            named[phrase].append(entry)
    against: dict[str, Entry] = {}
    for sharing in named.values():
        for entry in sharing:
            if other := next((each for each in sharing if each.key != entry.key), None):
                against.setdefault(entry.key, other)
    for entry in entries:
        if entry.key in against:
            why = f"{_CONTRADICTS} {against[entry.key].key!r}, which has the same name: keep one, or rename one"
            problems.append(Problem(entry, why))
    return [entry for entry in entries if entry.key not in against]
