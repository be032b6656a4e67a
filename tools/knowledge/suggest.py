"""What a log of queries says of a database: joins that the schema lacks, conditions and aggregates that come again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.errors import SqlglotError

from ..database.schema import Schema
from ..errors import SQLParseError
from ..sql.dialects import rules_of
from ..sql.parse import MAX_LENGTH
from .entry import Entry
from .propose import ReadQuery

MOST = 200_000
"""Statements that are read; a log goes on for ever."""

_SHOWN = 5


@dataclass(frozen=True)
class Suggestion:
    """An entry that a log speaks for.

    Attributes:
        entry: What could be remembered; terms and metrics still need a name that people use.
        count: Queries that it comes from.
        queries: The first of them.
    """

    entry: Entry
    count: int
    queries: tuple[str, ...]


def statements(text: str, dialect: str) -> Iterator[str]:
    """The statements of a text, divided at semicolons that stand in no literal or comment."""
    try:
        tokens = rules_of(dialect).grammar.tokenize(text)
    except SqlglotError:
        yield from (line for line in text.splitlines() if line.strip())
        return
    start = 0
    for token in tokens:
        if token.token_type.name == "SEMICOLON":
            yield text[start : token.start].strip()
            start = token.end + 1
    if text[start:].strip():
        yield text[start:].strip()


def suggest(queries: Iterable[str], schema: Schema, least: int = 2) -> tuple[Suggestion, ...]:
    """What comes again in queries, most often first.

    Args:
        queries: One statement each; what cannot be read is passed over.
        schema: Of the database; what it says itself is not suggested.
        least: Queries that must have a thing.
    """
    found: dict[str, Entry] = {}
    sources: dict[str, list[str]] = defaultdict(list)
    known = {
        frozenset(((key.table, a), (key.ref_table, b)))
        for key in schema.foreign_keys
        for a, b in zip(key.columns, key.ref_columns, strict=True)
    }
    for number, query in enumerate(dict.fromkeys(queries)):
        if number == MOST:
            break
        for entry in _entries(query, schema, known) if len(query) <= MAX_LENGTH else ():
            found.setdefault(entry.key, entry)
            if not sources[entry.key] or sources[entry.key][-1] != query:
                sources[entry.key].append(query)
    again = [key for key in found if len(sources[key]) >= least]
    again.sort(key=lambda key: -len(sources[key]))
    return tuple(Suggestion(found[key], len(sources[key]), tuple(sources[key][:_SHOWN])) for key in again)


def _entries(query: str, schema: Schema, known: set[frozenset[tuple[str, str]]]) -> Iterator[Entry]:
    try:
        read = ReadQuery(query, schema)
    except SQLParseError:
        return
    for text, node in read.conditions.items():
        left, right = (read.place(node.this), read.place(node.expression)) if isinstance(node, exp.EQ) else (None, None)
        if left and right:
            if left[0] != right[0] and frozenset((left, right)) not in known:
                ends = sorted((left, right))
                on = " = ".join(f"{_name(table)}.{_name(column)}" for table, column in ends)
                yield Entry("join", on, sql=on)
        elif _is_filter(node) and any(read.place(column) for column in node.find_all(exp.Column)):
            yield Entry("term", text, text, text)
    for text, node in read.aggregates.items():
        computed = node.this
        if isinstance(computed, exp.Binary | exp.Case) and any(read.place(c) for c in node.find_all(exp.Column)):
            yield Entry("metric", text, sql=text)


def _is_filter(node: exp.Expr) -> bool:
    """Whether a condition says something of the business, and not which row is wanted."""
    if node.find(exp.Subquery, exp.Select, exp.AggFunc, exp.Placeholder, exp.Parameter) is not None:
        return False
    if isinstance(node, exp.Is | exp.Not | exp.In | exp.Between | exp.Or):
        return True
    literal = node.find(exp.Literal)
    return isinstance(node, exp.Binary) and literal is not None


def _name(name: str) -> str:
    return name if name.isidentifier() else '"' + name.replace('"', '""') + '"'
