"""Patterns for order, superlatives, top-N and groups."""

from __future__ import annotations

import re

from ...tools.errors import NotUnderstood
from .frames import Term
from .mentions.lexicon import ORDINALS
from .reading import Found, reads

_LAST = ("last", "bottom")
_TAKEN = re.compile(r"(?:@[oc]\d+|with|have|has|having|had|and|to|id|in|by|#between) \Z")
"""What a number belongs to, rather than to the superlative after it."""


def ranked(found: Found, term: Term, descending: bool, left: str = "") -> str:
    """Sorts by a term; as many rows as the superlative's number says."""
    reading, number = found.reading, found["n"] or found["m"]
    literal = reading.mark(number).literal if number else None
    reading.limit = literal if isinstance(literal, int) else reading.several
    reading.order.append((term, descending))
    reading.per_subject = reading.per_subject or bool(term.aggregate)
    return left


@reads("cut")
def cut(found: Found) -> str | None:
    """`the top 5`, `just the first one`: only so many rows of what the query before shows.

    Raises:
        NotUnderstood: The last rows of what has no order are wanted, or rows of a set operation.
    """
    reading, base = found.reading, found.reading.base
    end = found.mark("end").text.lower() if found["end"].startswith("@") else found["end"]
    tables = [reading.table(marker) for marker in reading.markers("tx", found["t"])]
    if end not in ("", "top", "first", *_LAST) or not {*tables} <= {*base.used()}:
        return None
    if base.combine is not None:
        raise NotUnderstood("I cannot take the first rows of lists put together.")
    computed = [(term, True) for term in base.select if term.aggregate and base.group and end != "first"]
    turned = end in _LAST
    if turned and not (base.order or computed):
        raise NotUnderstood("Those rows have no order, so none of them are the last. Say what to sort them by.")
    reading.order = [(term, descends != turned) for term, descends in base.order or computed[:1]]
    reading.limit = int(found.mark("n").literal or 1) if found["n"] else 1
    return ""


@reads("several")
def several(found: Found) -> str | None:
    """`the two stores with the most ...`, `the second oldest`: which are wanted, where a superlative follows."""
    literal = found.mark("n").literal if found["n"] else None
    if found["ordinal"]:
        found.reading.offset = ORDINALS[found["ordinal"]] - 1
    elif _TAKEN.search(found.before) or (found["s"] and found.mark("s").text.lower() != "top"):
        return None
    elif isinstance(literal, int) and literal <= 100:
        found.reading.several = literal
    else:
        return None
    return ""


@reads("order")
def order(found: Found) -> str | None:
    """`in descending order of age`, `sorted by age`, `sort the names by age`, `in alphabetical order`."""
    reading, way = found.reading, found["way"] or "#asc"
    if found["shown"]:
        return f"show {found['shown']} #sort"
    if not found["keys"]:
        reading.pending = way if way != "#alpha" else reading.pending or way
    for marker in reading.markers("cxat", re.sub(r"@t\d+ (?=@)", "", found["keys"])):
        is_table = marker.startswith("@t")
        term = Term(reading.names.title(reading.table(marker))[0]) if is_table else reading.term(marker)
        born = way.startswith("#age") and term.column is not None and "birth" in term.column.name.lower()
        reading.order.append((term, (way in ("#desc", "#agedesc")) != born))
        reading.per_subject = reading.per_subject or term.aggregate == "count"
    return ""


@reads("most_things", "most_rows", "most_common")
def most(found: Found) -> str | None:
    """`the most common city`, `with the largest number of concerts`, `the stadium with the most concerts`."""
    reading, mark = found.reading, found.mark("s")
    if found["t"]:
        if mark.text.lower() not in ("most", "least", "fewest"):
            return None
        reading.counted = reading.table(found["t"])
        reading.tables.append(reading.counted)
    return ranked(found, reading.term(found["a"]) if found["a"] else Term(None, "count"), mark.descending)


@reads("top")
def top(found: Found) -> str | None:
    """`the top 3 singers by age`; `the top 3` in an order that is given elsewhere, `the first 3` in any."""
    reading = found.reading
    if found["k"]:
        return ranked(found, reading.term(found["k"]), found.mark("u" if found["u"] else "s").descending, found["t"])
    if found["s"] and (found.mark("s").text.lower() != "top" or not reading.order):
        return None
    reading.limit = int(found.mark("n").literal or 1)
    return ""


@reads("superlative_column", "superlative_thing")
def superlative(found: Found) -> str | None:
    """`with the highest salary`, `the youngest singer`, `which singer is the oldest`."""
    reading, names, mark, column = found.reading, found.reading.names, found.mark("s"), found.column("c")
    if column is not None and (names.quantity(column) or not mark.hints):
        few = not names.quantity(column) and mark.text.lower() in ("most", "least", "fewest")
        return ranked(found, Term(column, "count" if few else ""), mark.descending, found["left"])
    if (
        column is None
        and mark.text.lower() in ("highest", "lowest")
        and reading.base.group
        and reading.base.aggregates()
    ):
        return None  # of what the query before computes
    near = [column.table] if column else [reading.table(found["t"])] if found["t"] else reading.near()
    last = "" if column or found["t"] else "".join(reading.markers("tx", found.before)[-1:])
    hint = (names.hinted(mark.hints, [reading.table(last)], 0) if last else None) or names.hinted(mark.hints, near)
    if (column is not None and " " in mark.text) or hint is None:
        return None
    # The oldest have the smallest birth date.
    born = "age" not in hint.name.lower() and ("birth" in mark.hints or {"founded", "age"} <= set(mark.hints))
    return ranked(found, Term(hint), mark.descending != born, found["c"] or found["left"])


@reads("having")
def having(found: Found) -> str | None:
    """`with more than 2 concerts`, `whose number of concerts is at least 2`, `more than 3 times`."""
    reading = found.reading
    if found["t"]:
        reading.counted = reading.table(found["t"])
        reading.tables.append(reading.counted)
    elif not found["a"] and not found["times"] and found.mark("n").text.lower() not in ("once", "twice"):
        return None
    reading.add(reading.term(found["a"]) if found["a"] else Term(None, "count"), found.operator(), found.literal("n"))
    return found["v"]


@reads("each")
def each(found: Found) -> str | None:
    """`for each country`; `total freight by country` groups, where something is computed."""
    reading = found.reading
    if found["computed"]:
        alone = reading.base.aggregates() and not reading.markers("cxtavno", found.before)
        is_asked = (reading.markers("a", found.before) or alone) and "#sort" not in found.before
        return f"#each {found['computed']}" if is_asked else None
    if not found["e"]:
        reading.per_subject = True
    elif reading.is_entity(found["e"]):
        reading.group_tables.append(reading.table(found["e"]))
    else:
        reading.group += [reading.column(marker) for marker in (found["e"], found["f"]) if marker]
    return ""
