"""Patterns for what rows must not be connected with, and how conditions join."""

from __future__ import annotations

import re
from itertools import combinations

from ...tools.frames import Column, Condition, Frame, Term
from .reading import Found, Reading, reads

_OR = re.compile(r"@w(\d+)(?: ,)? or((?: (?!@w)\S+){0,3}) @w(\d+)")


@reads("without_rows")
def without_rows(found: Found) -> str | None:
    """`stadiums without any concert in 2014`: the key is not among the other table's references."""
    reading, table = found.reading, found.reading.table(found["t"])
    heads = _tables_before(found) or [reading.table(marker) for marker in reading.markers("t", found.after)]
    if heads and heads[0] == table:
        others = [said for marker in reading.markers("t", found["rest"]) if (said := reading.table(marker)) != table]
        table = next(iter(others), table)
    link = reading.names.link(heads[0], table) if heads and heads[0] != table else None
    if link is None:
        return None
    reading.need(heads[0])
    return _without(
        *link, table, reading, reading.inner(f"{found['value']} {found['t']} {found['rest']}", "ranking", "rows")
    )


@reads("except_those")
def except_those(found: Found) -> str | None:
    """`except those with at least two concerts`: all rows but the ones that the clause describes."""
    reading, heads = found.reading, _tables_before(found)
    key = reading.names.key(heads[0]) if heads else None
    inner = reading.inner(found["clause"], "ranking", "rows")
    if key is None or not (inner.where or inner.having):
        return None
    return _without(key, key, heads[0], reading, inner)


def _without(own: Column, theirs: Column, table: str, reading: Reading, inner: Reading) -> str:
    group = (theirs,) if inner.having else ()
    tables = tuple(dict.fromkeys([table, *inner.tables]))
    frame = Frame((Term(theirs),), tables, tuple(inner.where), group, tuple(inner.having))
    reading.where.append((Condition(Term(own), "not in", frame),))
    return ""


def _tables_before(found: Found) -> list[str]:
    """The tables that are spoken of before the clause, the subject first."""
    reading = found.reading
    said = [reading.table(marker) for marker in reading.markers("atx", found.before)]
    columns = [reading.column(marker).table for marker in reading.markers("c", found.before)]
    return [table for table in (*said, *columns) if table] or list(reading.base.used()[:1])


def join_alternatives(reading: Reading) -> None:
    """Conditions with `or` between them become one group; ones that no row can meet together, two sets that meet."""
    while match := _OR.search(reading.text):
        first, second = int(match[1]), int(match[3])
        reading.where[first] += reading.where[second]
        reading.where[second] = ()
        reading.text = f"{reading.text[: match.start()]}@w{first}{match[2]}{reading.text[match.end() :]}"
    for one, other in combinations(range(len(reading.where)), 2):
        first, second = reading.where[one], reading.where[other]
        if reading.combine is None and len(first) == len(second) == 1 and first[0].excludes(second[0]):
            reading.where[other] = ()
            if _listed(reading, first[0]):
                reading.where[one] += second
            else:
                reading.combine = second[0]
    reading.where = [group for group in reading.where if group]


def _listed(reading: Reading, condition: Condition) -> bool:
    """Whether rows of the subject are listed by their names: `the ages of Ann and Ben`."""
    column, near = condition.term.column, reading.near()
    named = column is not None and near[:1] == [column.table] and column in reading.names.title(column.table)
    return named and condition.operator == "=" and "#both" not in reading.text
