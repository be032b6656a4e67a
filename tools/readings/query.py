"""A query that rivals are derived from: its names, its words, and copies of it to change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal, TypeVar

from sqlglot import exp

from ..database.column_kinds import column_kind
from ..database.schema import ColumnSchema, ForeignKey, Schema, TableSchema
from ..database.table import Cell
from ..sql.conditions import is_aggregate
from ..sql.explain.phrases import plain_name
from ..sql.keywords import fold
from ..sql.parse import parse
from ..sql.repeating import repeating
from ..sql.resolve import resolve
from ..sql.scope import Reference, Resolution, Scope, Source
from ..stemming import plural
from ..values.schema_words import name_stems, name_words
from ..values.text_words import stem, words

N = TypeVar("N", bound=exp.Expr)

Look = Callable[[str], Sequence[Cell] | None]
"""Gives the first column of a query's result as far as whoever asked may know it; None where that is not to be had."""

Matter = Literal["left_out", "net", "date", "like", "count", "missing", "zeros", "ties"]
"""What a question can leave open.

- `left_out`: whether cancelled, returned, discontinued or deleted rows are in.
- `net`: before or after discounts, net or gross.
- `date`: which of two dates.
- `like`: which of two columns of the same name.
- `count`: how many rows, or how many different things.
- `missing`: rows whose value is NULL or ''.
- `zeros`: things of which there are none.
- `ties`: what shares the last place that LIMIT lets through.
"""


@dataclass(frozen=True)
class Rival:
    """Another reading of a question.

    Attributes:
        matter: In what it differs.
        words: How it reads the question: `without returned orders`.
        assumed: How the query reads it: `returned orders are in`.
        sql: Its query.
        shown: Columns of its result that answer the question; further ones say where ties are.
        limit: For ties and groups without any, the rows that the query lets through; 0 for all.
    """

    matter: Matter
    words: str
    assumed: str
    sql: str
    shown: int = 0
    limit: int = 0


@dataclass(frozen=True)
class Said:
    """What settles a reading: the question, and what was said or noted beside it.

    Attributes:
        question: As asked.
        beside: What was said before, notes, and definitions that the question needs.
    """

    question: str
    beside: str = ""

    @cached_property
    def words(self) -> frozenset[str]:
        """Folded words of everything."""
        return frozenset(word.folded for word in words(f"{self.question} {self.beside}"))

    @cached_property
    def stems(self) -> frozenset[str]:
        """Their stems."""
        return frozenset(map(stem, self.words))

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """The stems of the question alone, in order."""
        return tuple(word.stem for word in words(self.question))

    def has(self, *any_of: str) -> bool:
        """Whether one of these words was said, in any inflection."""
        return not self.stems.isdisjoint(map(stem, any_of))

    def names(self, name: str) -> bool:
        """Whether all words of a name were said."""
        return all(part in self.stems for part in name_stems(name))

    def counts(self, wanted: Sequence[str]) -> bool:
        """Whether the question asks how many of what these stems name: the noun after `how many` or `number of`."""
        asked = self.asked
        for start, pair in enumerate(pairwise(asked)):
            if pair in (("how", "mani"), ("number", "of"), ("count", "of"), ("count", "the")):
                after = [part for part in asked[start + 2 : start + 6] if part not in ("the", "our", "all", "of")]
                return bool(wanted) and after[: len(wanted)] == list(wanted)
        return False


class Query:
    """A query that can be read, as far as rivals are derived from it.

    Raises:
        SQLParseError: It cannot be read.
    """

    def __init__(self, sql: str, schema: Schema, said: Said, look: Look | None = None) -> None:
        self.schema = schema
        self.said = said
        self._look = look
        self.tree = parse(sql, schema.dialect).tree
        self.resolution: Resolution = resolve(self.tree, schema)

    def values(self, source: Source, column: ColumnSchema, most: int) -> Sequence[Cell] | None:
        """Different values of a column, so many at most; None where they cannot be looked up."""
        if self._look is None or not isinstance(source.node, exp.Table):
            return None
        table = exp.Table(**{part: source.node.args.get(part) for part in ("this", "db", "catalog")}).copy()
        sought = exp.select(exp.column(column.name, quoted=True)).distinct().from_(table).limit(most)
        return self._look(sought.sql(dialect=self.resolution.rules.grammar))

    def text(self, node: exp.Expr) -> str:
        """A part of it as SQL."""
        return self.resolution.text(node)

    @cached_property
    def used(self) -> frozenset[tuple[str, str]]:
        """Every `(table, column)` that it names."""
        return frozenset(
            (reference.source.table.name, reference.source.declared(reference.column))
            for reference in self.resolution.references
            if reference.kind == "column" and reference.source is not None and reference.source.table is not None
        )

    @cached_property
    def scopes(self) -> tuple[Scope, ...]:
        """The SELECTs that can be read otherwise: no branch of a UNION, and no other SELECT reads their tables.

        Else a share or a growth would be of two different readings.
        """
        read = Counter(
            source.table.name
            for scope in self.resolution.scopes
            for source in scope.sources
            if source.table is not None
        )
        return tuple(
            scope
            for scope in self.resolution.scopes
            if scope.select.find_ancestor(exp.SetOperation) is None
            and all(source.table is None or read[source.table.name] == 1 for source in scope.sources)
        )

    def references(self, scope: Scope) -> Iterator[tuple[Reference, Source, ColumnSchema]]:
        """The columns of tables that a SELECT names among its own sources."""
        for reference in self.resolution.references:
            source = reference.source
            if reference.kind != "column" or reference.owner is not scope or source is None or source.table is None:
                continue
            column = source.table.column(source.declared(reference.column))
            if column is not None:
                yield reference, source, column

    def copy(self) -> Copy:
        """A copy to change."""
        return Copy(self)

    def keys(self, table: TableSchema, other: TableSchema) -> Iterator[ForeignKey]:
        """The references of one column from one table to another."""
        for key in self.schema.foreign_keys:
            if len(key.columns) == 1 and (key.table, key.ref_table) == (table.name, other.name):
                yield key


class Copy:
    """A copy of a query whose parts are found by those of the query itself."""

    def __init__(self, query: Query) -> None:
        self._query = query
        self.tree = query.tree.copy()
        self._of = {id(one): other for one, other in zip(query.tree.walk(), self.tree.walk(), strict=True)}

    def of(self, node: N) -> N:
        """The same part in the copy."""
        found = self._of[id(node)]
        assert isinstance(found, type(node))
        return found

    @property
    def sql(self) -> str:
        """The copy as SQL."""
        return self.tree.sql(dialect=self._query.resolution.rules.grammar)


def column_of(source: Source, column: str) -> exp.Column:
    """A column of a source, as a query names it."""
    return exp.column(column, table=source.node.alias_or_name, quoted=True)


def add_condition(copy: Copy, scope: Scope, source: Source, condition: exp.Expr) -> None:
    """Lets only rows of a source through that fulfil a condition; an outer join keeps the rows that have none."""
    condition = exp.paren(condition, copy=False) if isinstance(condition, exp.Or) else condition
    if source.join is not None and source.join.side == "LEFT" and source.join.args.get("on") is not None:
        join = copy.of(source.join)
        join.set("on", exp.and_(join.args["on"], condition, copy=False))
        return
    copy.of(scope.select).where(condition, copy=False)


def aggregates(scope: Scope, *kinds: type[exp.Expr]) -> list[exp.Expr]:
    """Calls of aggregate functions of a SELECT itself."""
    found = scope.select.find_all(*(kinds or (exp.AggFunc, exp.Anonymous)))
    return [
        node
        for node in found
        if is_aggregate(node) and node.find_ancestor(exp.Select) is scope.select and not _in_window(node)
    ]


def _in_window(node: exp.Expr) -> bool:
    return isinstance(node.parent, exp.Window)


def rows_of(query: Query, scope: Scope) -> Source | None:
    """The table with a row for each row of FROM: of joined ones, the one of which no other repeats rows."""
    sources = [source for source in scope.sources if source.table is not None]
    if len(sources) < len(scope.sources) or not sources:
        return None
    if whole := [source for source in sources if not repeating(source, scope, query.resolution)]:
        return whole[0]
    led_to = {
        id(other)
        for source in sources
        for other in sources
        if source is not other
        and source.table is not None
        and other.table is not None
        and any(query.keys(source.table, other.table))
    }
    first = [source for source in sources if id(source) not in led_to]
    return first[0] if len(first) == 1 else None


def subjects(query: Query, scope: Scope) -> list[Source]:
    """The tables whose rows a SELECT counts, adds up or averages."""
    found: dict[int, Source] = {}
    for aggregate in aggregates(scope):
        own = [
            reference.source
            for column in aggregate.find_all(exp.Column)
            if (reference := query.resolution.at(column)) is not None and reference.owner is scope
        ]
        if not own and (rows := rows_of(query, scope)) is not None:
            own = [rows]
        found.update((id(source), source) for source in own if source is not None and source.table is not None)
    return list(found.values())


def things(table: TableSchema) -> str:
    """The rows of a table, as a noun."""
    return plural(plain_name(table.name))


def is_date(column: ColumnSchema) -> bool:
    """Whether a column holds dates, be it as texts, and some of them empty."""
    filled = [value for value in column.samples if value != ""]
    return column.kind == "time" or (column.kind == "text" and column_kind("", filled) == "time")


def parts(name: str) -> frozenset[str]:
    """A name's words in lower case."""
    return frozenset(name_words(name))


def folded(source: Source) -> str:
    """By what a source is called in its SELECT."""
    return fold(source.node.alias_or_name)


Derivation = Callable[[Query], Iterator[Rival]]
"""Derives the rivals of one matter."""
