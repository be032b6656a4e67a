"""Patterns for what rows must not be connected with: `without any concert`, `who do not own a dog`."""

from __future__ import annotations

from ...tools.frames import Column, Condition, Frame, Term
from .reading import Found, Reading, pattern


@pattern(
    "negation",
    r"(?:(?:#who|that|where|have|has|had|do|does|did|is|are|was|were|and|which|with) )*(?:#not|#isnot|#except)"
    r"(?:(?: (?!@t|@c|@v|@o|@n|and\b|or\b)[a-z#.]+){0,6}?)(?: @c\d+(?: any| a| in| of)*)?(?P<value> {V})? {t:T}"
    r"(?P<rest>(?: (?!\.)(?!, (?:and|show|sorted))\S+)*)",
)
def without_rows(found: Found) -> str | None:
    """`stadiums without any concert in 2014`: the key is not among the other table's references."""
    reading, table = found.reading, found.reading.table(found["t"])
    heads = _tables_before(found) or [reading.table(marker) for marker in reading.markers("t", found.after)]
    if heads and heads[0] == table:
        others = [said for marker in reading.markers("t", found["rest"]) if (said := reading.table(marker)) != table]
        table = next(iter(others), table)
    link = link_between(reading, heads[0], table) if heads and heads[0] != table else None
    if link is None:
        return None
    own, theirs = link
    inner = reading.inner(f"{found['value']} {found['t']} {found['rest']}", "ranking", "rows")
    tables = tuple(dict.fromkeys([table, *inner.tables]))
    group = (theirs,) if inner.having else ()
    frame = Frame((Term(theirs),), tables, tuple(inner.where), group, tuple(inner.having))
    reading.where.append((Condition(Term(own), "not in", frame),))
    reading.need(heads[0])
    return ""


@pattern(
    "negation",
    r"(?:, )?(?:#except|#not|but #not)(?: those| ones| @[tx]\d+| for| ,)* "
    r"(?P<clause>(?:#who|with|having|whose|in|from|have|has|had) [^.]+)",
)
def except_those(found: Found) -> str | None:
    """`except those with at least two concerts`: all rows but the ones that the clause describes."""
    reading, heads = found.reading, _tables_before(found)
    key = reading.names.key(heads[0]) if heads else None
    if key is None:
        return None
    inner = reading.inner(found["clause"], "ranking", "rows")
    if not inner.where and not inner.having:
        return None
    group = (key,) if inner.having else ()
    frame = Frame((Term(key),), (heads[0], *inner.tables), tuple(inner.where), group, tuple(inner.having))
    reading.where.append((Condition(Term(key), "not in", frame),))
    return ""


def _tables_before(found: Found) -> list[str]:
    """The tables that are spoken of before the clause, the subject first."""
    reading = found.reading
    said = [reading.table(marker) for marker in reading.markers("atx", found.before)]
    columns = [reading.column(marker).table for marker in reading.markers("c", found.before)]
    return [table for table in (*said, *columns) if table]


def link_between(reading: Reading, head: str, table: str) -> tuple[Column, Column] | None:
    """The columns by which two tables are compared: the ends of a key, or the head's key reached over a junction."""
    names = reading.names
    own = names.key(head)
    over: tuple[Column, Column] | None = None
    for key in names.schema.foreign_keys:
        if len(key.columns) != 1 or not key.ref_columns:
            continue
        ends = Column(key.table, key.columns[0]), Column(key.ref_table, key.ref_columns[0])
        if {head, table} == {key.table, key.ref_table}:
            return ends if head == key.table else (ends[1], ends[0])
        if over is None and own == ends[1] and names.distance(key.table, table) == 1:
            over = ends[1], ends[0]
    if own is None or names.distance(head, table) > 3:
        return None
    return over or (own, own)
