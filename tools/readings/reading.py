"""The inputs of readings: the query, the question, and look-ups in the database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from sqlglot import exp

from ..database.schema import ColumnSchema, TableSchema
from ..database.table import Cell
from ..derived import shared_property
from ..sql.query import Edit, Query
from ..sql.scope import Scope, Source
from ..words import name_stems, name_words, plain_name, stems, words

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
    """Another reading of a question."""

    matter: Matter
    words: str  # how it reads the question: `without returned orders`
    assumed: str  # how the query reads it: `returned orders are in`
    sql: str
    outputs: int = 0  # columns of its result that answer the question; further ones say where ties are
    limit: int = 0  # for ties and groups without any, the rows that the query lets through; 0 for all


@dataclass(frozen=True)
class QuestionContext:
    """The question and its context, which decide between readings."""

    question: str  # as asked
    beside: str = ""  # what was said before, notes, and definitions that the question needs

    @shared_property
    def words(self) -> frozenset[str]:
        """The folded words of question and context."""
        return frozenset(word.folded for word in words(f"{self.question} {self.beside}"))

    @shared_property
    def stems(self) -> frozenset[str]:
        """The stems of question and context."""
        return frozenset(stems(f"{self.question} {self.beside}"))

    def has(self, *any_of: str) -> bool:
        """Whether one of these words occurs, in any inflection."""
        return not self.stems.isdisjoint(stems(" ".join(any_of)))

    def names(self, name: str) -> bool:
        """Whether all words of a name occur."""
        return all(part in self.stems for part in name_stems(name))

    def counts(self, wanted: Sequence[str]) -> bool:
        """Whether the question counts the noun with these stems, as after `how many`."""
        stemmed = stems(self.question)
        for start, pair in enumerate(pairwise(stemmed)):
            if pair in (("how", "mani"), ("number", "of"), ("count", "of"), ("count", "the")):
                after = [part for part in stemmed[start + 2 : start + 6] if part not in ("the", "our", "all", "of")]
                return bool(wanted) and after[: len(wanted)] == list(wanted)
        return False


class Reading:
    """A query with the question that it answers, and access to values."""

    def __init__(self, query: Query, context: QuestionContext, look: Look | None = None) -> None:
        self.query = query
        self.context = context
        self._look = look

    def values(self, source: Source, column: ColumnSchema, most: int) -> Sequence[Cell] | None:
        """Return at most `most` different values of a column; None if they are not available."""
        if self._look is None or not isinstance(source.node, exp.Table):
            return None
        table = exp.Table(**{part: source.node.args.get(part) for part in ("this", "db", "catalog")}).copy()
        sought = exp.select(exp.column(column.name, quoted=True)).distinct().from_(table).limit(most)
        return self._look(sought.sql(dialect=self.query.rules.grammar))

    @shared_property
    def used(self) -> frozenset[tuple[str, str]]:
        """The `(table, column)` pairs that the query names."""
        return frozenset(column.item for column in self.query.columns)

    @shared_property
    def scopes(self) -> tuple[Scope, ...]:
        """The SELECTs that may be read differently: no UNION branches, no shared tables.

        Else a share or a growth would be of two different readings.
        """
        scopes = self.query.scopes
        read = Counter(table.name for scope in scopes for _, table in scope.tables)
        return tuple(
            scope
            for scope in scopes
            if scope.select.find_ancestor(exp.SetOperation) is None
            and all(read[table.name] == 1 for _, table in scope.tables)
            and not any(source.renamed for source in scope.sources)
        )

    def subjects(self, scope: Scope) -> list[Source]:
        """Return the tables whose rows a SELECT aggregates."""
        sources: dict[int, Source] = {}
        for aggregate in self.query.aggregates(scope):
            own = self.query.sources_in(aggregate, scope) or [self.query.counted_source(scope)]
            sources.update((id(source), source) for source in own if source is not None and source.table is not None)
        return list(sources.values())


def make_column(source: Source, column: str) -> exp.Column:
    """Return an expression for a column of a source."""
    return exp.column(column, table=source.node.alias_or_name, quoted=True)


def add_condition(edit: Edit, scope: Scope, source: Source, condition: exp.Expr) -> None:
    """Add a condition on a source; an outer join keeps its unmatched rows."""
    condition = exp.paren(condition, copy=False) if isinstance(condition, exp.Or) else condition
    if source.join is not None and source.side == "LEFT" and source.join.args.get("on") is not None:
        join = edit.of(source.join)
        join.set("on", exp.and_(join.args["on"], condition, copy=False))
        return
    edit.of(scope.select).where(condition, copy=False)


def name_rows(table: TableSchema) -> str:
    """Return the name of a table in words."""
    return plain_name(table.name)


def split_name(name: str) -> frozenset[str]:
    """Return a name's words in lower case."""
    return frozenset(name_words(name))


Derivation = Callable[[Reading], Iterator[Rival]]
"""Derives the rivals of one matter."""
