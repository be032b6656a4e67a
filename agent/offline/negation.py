"""Patterns for what rows must not be connected with: `without any concert`, `who do not own a dog`."""

from __future__ import annotations

import re

from .frame import Column, Condition, Frame, Term
from .reading import Grammar, Reading

NEGATION = Grammar()


@NEGATION.pattern(
    "without_rows",
    r"(?:(?:#who|that|where|have|has|had|do|does|did|is|are|was|were|and|which|with) )*(?:#not|#isnot|#except)"
    r"((?: (?!@t|@c|@v|@o|@n|and\b|or\b)[a-z#.]+){0,6}?)(?: @c\d+)?(?: {V})? ({T})((?: (?!\.)(?!, (?:and|show"
    r"|sorted))\S+)*)",
)
def without_rows(reading: Reading, match: re.Match[str]) -> str | None:
    """`stadiums without any concert in 2014`: the key is not among the other table's references."""
    table = reading.table(match[2])
    before = reading.markers("atx", reading.text[: match.start()])
    subjects = [said for marker in before if (said := reading.mark(marker).table)]
    columns = [reading.column(marker).table for marker in reading.markers("c", reading.text[: match.start()])]
    head = next(iter([*subjects, *columns]), None)
    after = reading.markers("t", reading.text[match.end() :])
    if head is None and after:
        head = reading.table(after[0])
    if head is None:
        return None
    if head == table:
        return None
    link = _link(reading, head, table)
    if link is None:
        return None
    own, theirs = link
    inner = sub_reading(reading, f"{match[0][match[0].index(match[2]) :]}", match[0])
    frame = Frame(
        select=(Term(theirs),),
        tables=tuple(dict.fromkeys([table, *inner.tables])),
        where=tuple(inner.where),
        group=(theirs,) if inner.having else (),
        having=tuple(inner.having),
    )
    reading.where.append((Condition(Term(own), "not in", frame),))
    if head not in reading.tables:
        reading.need(head)
    return ""


@NEGATION.pattern(
    "except_those",
    r"(?:, )?(?:#except|#not|but #not)(?: those| ones| @[tx]\d+| for| ,)* (?:#who|with|having|whose|in|from"
    r"|have|has|had) ([^.]+)",
)
def except_those(reading: Reading, match: re.Match[str]) -> str | None:
    """`except those with at least two concerts`: all rows but the ones that the clause describes."""
    heads = [reading.table(marker) for marker in reading.markers("tx", reading.text[: match.start()])]
    heads += [reading.column(marker).table for marker in reading.markers("c", reading.text[: match.start()])]
    key = reading.names.key(heads[0]) if heads else None
    if key is None:
        return None
    text = match[0][match[0].index(match[1]) - 5 :].lstrip()
    inner = sub_reading(reading, text, text)
    if not inner.where and not inner.having:
        return None
    group = (key,) if inner.having else ()
    frame = Frame((Term(key),), (heads[0], *inner.tables), tuple(inner.where), group, tuple(inner.having))
    reading.where.append((Condition(Term(key), "not in", frame),))
    return ""


@NEGATION.pattern(
    "without_value",
    r"(?:(?:#who|have|has|had|do|does|did|is|are|was|were) )*(?:#not|#isnot)((?: (?!@)[a-z#]+){0,4}?) ({V})",
)
def without_value(reading: Reading, match: re.Match[str]) -> str | None:
    """`films that were not shown in China`, where a film has many places: its key is not among theirs."""
    column = reading.mark(match[2]).column
    near = reading.near()
    if column is None or not near or column.table == near[0] or reading.names.references_table(near[0], column.table):
        return None
    link = _link(reading, near[0], column.table)
    if link is None:
        return None
    own, theirs = link
    condition = Condition(Term(column), "=", reading.mark(match[2]).literal)
    inner = Frame((Term(theirs),), (theirs.table, column.table), ((condition,),))
    reading.need(near[0])
    reading.where.append((Condition(Term(own), "not in", inner),))
    return ""


def sub_reading(reading: Reading, text: str, whole: str) -> Reading:
    """Reads a clause by itself, with the same mentions; its tables stay out of the outer query."""
    from .filters import FILTERS
    from .ordering import ORDERING

    inner = Reading(reading.names, reading.marks, text, reading.context, reading.terms)
    first = re.search(r"@v\d+(?= @t)", whole)
    if first and first.group() not in text:
        inner.text = f"{first.group()} {text}"
    ORDERING.apply(inner)
    FILTERS.apply(inner)
    reading.dropped.append(inner.text)
    for marker in inner.markers("t"):
        inner.need(reading.table(marker))
    return inner


def _link(reading: Reading, head: str, table: str) -> tuple[Column, Column] | None:
    """The columns by which two tables are compared: the ends of a key, or the head's key reached over a junction."""
    schema = reading.names.schema
    for key in schema.foreign_keys:
        if len(key.columns) == 1 and key.ref_columns:
            if (key.table, key.ref_table) == (table, head):
                return Column(head, key.ref_columns[0]), Column(table, key.columns[0])
            if (key.table, key.ref_table) == (head, table):
                return Column(head, key.columns[0]), Column(table, key.ref_columns[0])
    own = reading.names.key(head)
    if own is None or reading.names.distance(head, table) > 3:
        return None
    for key in schema.foreign_keys:
        near = key.ref_table == head and key.ref_columns == (own.name,)
        if near and reading.names.distance(key.table, table) == 1:
            return own, Column(key.table, key.columns[0])
    return own, own
