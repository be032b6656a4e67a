"""Patterns for what a follow-up leaves to the query before it: `and the average?`, `which has most?`."""

from __future__ import annotations

import re
from dataclasses import replace

from .counting import function_of
from .frames import Frame, Term
from .ranking import ranked
from .reading import Found, Reading, reads
from .rows import compared

_ORDERED = ("<", "<=", ">", ">=", "between")


@reads("pointed")
def pointed(found: Found) -> str | None:
    """`those students` is `those`, where students are what the conversation is about."""
    mark, marker = found.mark("subject"), found["subject"]
    table = mark.column.table if marker[1] == "c" and mark.column and found["by"] else mark.table
    counted = found["each"] and re.search(r"#howmany|#count|#avg|#sum|@s", found.before)
    return None if counted or table not in found.reading.base.used() else f"of {found['those']}"


def _numbers(reading: Reading) -> list[Term]:
    """What the base shows that can be ranked or computed: what it computes, its plain numbers, or rows of groups."""
    base, names = reading.base, reading.names
    computed = [term for term in base.select if term.aggregate]
    plain = [t for t in base.select if t.column and names.quantity(t.column) and not names.references(t.column)]
    return computed or plain or [Term(None, "count")] * bool(base.group)


@reads("function")
def function(found: Found) -> str | None:
    """`and the average?`, `what is the maximum instead?`: of what is shown."""
    reading, base = found.reading, found.reading.base
    terms = _numbers(reading)
    if reading.markers("cxa") or not terms or ("@" in found["say"] and not base.computed()):
        return None
    functions = [function_of(reading, word) for word in re.findall(r"#avg|#sum|@s\d+", found["say"])]
    shown = [replace(t, aggregate=made, distinct=False) for t in terms if t.column for made in functions]
    return " , ".join(reading.add_term(term) for term in shown) or None


@reads("most_shown")
def most_shown(found: Found) -> str | None:
    """`which has the most?`, `and the cheapest?`, `the 3 lowest`: by the base's order or by what it shows."""
    reading, base = found.reading, found.reading.base
    keys = [base.order[0][0]] if base.order else _numbers(reading)
    if not keys or reading.order or base.computed():
        return None
    return ranked(found, keys[-1], found.mark("s").descending)


@reads("than_that")
def than_that(found: Found) -> str | None:
    """`which cost more than that?`, `which are above average?`: than what the base computes, or the average of it."""
    reading, base = found.reading, found.reading.base
    one = base.select[0] if base.computed() and base.select[0].aggregate != "count" else None
    column = found.column("c") or next((term.column for term in _numbers(reading)), None)
    if column is None or not reading.names.numeric(column) or not (one or "#avg" in found.text):
        return None
    value = replace(base, select=(one,)) if one else Frame((Term(column, "avg"),))
    return reading.add(Term(column), found.operator(column), value)


@reads("bound")
def bound(found: Found) -> str | None:
    """`what about over 2000?`: the number that the base compares, else the only one it shows."""
    reading, base = found.reading, found.reading.base
    terms = [c.term for group in base.where for c in group if c.operator in _ORDERED]
    having = [c.term for c in base.having] or [t for t in base.select if t.aggregate and base.group]
    terms = terms or having or _numbers(reading)
    if len(set(terms)) != 1:
        return None
    return compared(reading, terms[0], found.operator(terms[0].column), found.literal("n"))


@reads("by_that")
def by_that(found: Found) -> str | None:
    """`sort by that number`: by what is computed."""
    terms = _numbers(found.reading)
    if not terms:
        return None
    found.reading.order.append((terms[-1], "#desc" in (found["way"], found.reading.pending)))
    found.reading.pending = ""
    return ""
