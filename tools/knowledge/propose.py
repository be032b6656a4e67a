"""What a corrected query teaches: the join, the value or the meaning of a word that the first one lacked."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from ..database.schema import Schema
from ..errors import SQLParseError
from ..sql import Query
from ..values.schema_words import name_words
from ..values.text_words import Word, fold, stem, words
from .entry import Entry, Item

_SMALL = """
    a an and are as at by did do does every for from give has have how in is it list many me much of on or our per show
    that the their there to was we were what when where which who whose with each all any number total average most
    least top name names last first year month day between than more less
"""
_ORDINARY = frozenset(_SMALL.split())


def proposals(before: str, after: str, question: str, schema: Schema) -> tuple[Entry, ...]:
    """What could be remembered from a correction; a person decides.

    Args:
        before: The query as it was written; may be empty.
        after: As a person put it right.
        question: As asked.
        schema: Of the database.
    """
    try:
        old, new = (ReadQuery(sql, schema) if sql else None for sql in (before, after))
    except SQLParseError:
        return ()
    assert new is not None
    found: dict[str, Entry] = {}
    for entry in (*_joins(old, new, schema), *_values(old, new, question), *_meanings(old, new, question, schema)):
        found.setdefault(entry.key, entry)
    return tuple(found.values())


class ReadQuery:
    """A query's conditions and aggregates, with columns named by their tables."""

    def __init__(self, sql: str, schema: Schema) -> None:
        query = Query.of(sql, schema.dialect, schema)
        tree = query.tree
        self._places: dict[int, Item] = {id(column.node): column.item for column in query.columns}
        self.dialect = schema.dialect
        self.conditions: dict[str, exp.Expr] = {}
        for holder in tree.find_all(exp.Where, exp.Having, exp.Join):
            condition = holder.args.get("on") if isinstance(holder, exp.Join) else holder.this
            for part in condition.flatten() if isinstance(condition, exp.And) else filter(None, [condition]):
                self.conditions[self.text(part)] = part
        self.aggregates = {self.text(node): node for node in tree.find_all(exp.AggFunc)}

    def place(self, node: exp.Expr | None) -> Item | None:
        """The column that a node stands for."""
        return self._places.get(id(node))

    def text(self, node: exp.Expr) -> str:
        """A part of the query with its columns qualified by their tables' own names."""
        copy = node.copy()
        pairs = zip(list(node.find_all(exp.Column)), list(copy.find_all(exp.Column)), strict=True)
        for own, column in pairs:
            if place := self.place(own):
                column.set("table", exp.to_identifier(place[0], quoted=not place[0].isidentifier()))
                column.set("this", exp.to_identifier(place[1], quoted=not place[1].isidentifier()))
        return copy.sql(dialect=self.dialect)


def _joins(old: ReadQuery | None, new: ReadQuery, schema: Schema) -> Iterator[Entry]:
    keys = {
        frozenset(((key.table, a), (key.ref_table, b)))
        for key in schema.foreign_keys
        for a, b in zip(key.columns, key.ref_columns, strict=True)
    }
    for text, node in new.conditions.items():
        ends = (new.place(node.this), new.place(node.expression)) if isinstance(node, exp.EQ) else (None, None)
        if None in ends or ends[0] == ends[1] or (old is not None and text in old.conditions):
            continue
        left, right = ends
        if left and right and left[0] != right[0] and frozenset((left, right)) not in keys:
            yield Entry("join", text, sql=text)


def _values(old: ReadQuery | None, new: ReadQuery, question: str) -> Iterator[Entry]:
    """Another spelling of a value on the same column, where the question has the first one."""
    before = dict(_compared(old)) if old else {}
    for place, text in _compared(new):
        said = before.get(place, "")
        if said and said != text and said.casefold().strip("%") in question.casefold():
            yield Entry("column", ".".join(place), about=(place,), values=((text, said.strip("%")),))


def _compared(read: ReadQuery) -> Iterator[tuple[Item, str]]:
    for node in read.conditions.values():
        place = read.place(node.this) if isinstance(node, exp.EQ | exp.Like) else None
        if place and isinstance(node.expression, exp.Literal) and node.expression.is_string:
            yield place, str(node.expression.this)


def _meanings(old: ReadQuery | None, new: ReadQuery, question: str, schema: Schema) -> Iterator[Entry]:
    """A word that the schema does not have, for a condition or an aggregate that the first query lacked."""
    name = _unexplained(question, schema)
    if not name:
        return
    known = old.conditions if old else {}
    own = [
        text
        for text, node in new.conditions.items()
        if text not in known
        and any(new.place(column) for column in node.find_all(exp.Column))
        and not (isinstance(node, exp.EQ) and new.place(node.this) and new.place(node.expression))
        and node.find(exp.AggFunc) is None
        and not any(str(literal.this).casefold() in question.casefold() for literal in node.find_all(exp.Literal))
    ]
    if own:
        yield Entry("term", name, " and ".join(own), " AND ".join(own))
        return
    computed = [text for text in new.aggregates if old is None or text not in old.aggregates]
    if len(computed) == 1 and any(new.place(column) for column in new.aggregates[computed[0]].find_all(exp.Column)):
        yield Entry("metric", name, sql=computed[0])


def _unexplained(question: str, schema: Schema) -> str:
    """The words of a question that no name explains, the first run of them, with the table's name after it."""
    names = {stem(word) for table in schema.tables for word in name_words(table.name)}
    columns = {stem(word) for table in schema.tables for column in table.columns for word in name_words(column.name)}
    run: list[Word] = []
    for word in words(question):
        ordinary = fold(word.text) in _ORDINARY or word.text.isdigit() or word.stem in columns
        if run and word.stem in names:
            return " ".join(part.text for part in (*run, word)).lower()
        if not ordinary and word.stem not in names:
            run.append(word)
        elif run:
            break
    return " ".join(part.text if part.text.isupper() else part.text.lower() for part in run)
