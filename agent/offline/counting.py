"""Patterns for what is counted and computed: they turn words into terms that later patterns use as if columns."""

from __future__ import annotations

import re

from .frames import Aggregate, Term
from .reading import Found, Reading, reads

ASKED_SO_FAR = re.compile(
    r"(?:(?:^|.*\. )|#all )?(?:#who )?(?:(?:#distinct|#each|what|is|are|was|were|show|find|give|return|list|tell"
    r"|compute|calculate|and|,|@[acxt]\d+|of|report|for|all|display|values?|provide|how|about|their|its) ?)*\Z"
)
"""What comes before a word where nothing but what is asked for has been said so far."""


@reads("title")
def title(found: Found) -> str | None:
    """`city names` where the cities' column has another name."""
    names, table = found.reading.names, found.reading.table(found["t"] or found["u"])
    key = names.key(table) if found["what"].startswith("id") else None
    column = found.reading.add_term(Term(key or names.title(table)[0]), found.mark("t" if found["t"] else "u"))
    return f"{column} of {found['each']} {found['t']}" if found["t"] else column


@reads("name_of_column", "number_of_column")
def named_column(found: Found) -> str | None:
    """`names of all directors` asks for a column of directors, `phone number of all ...` for the phone."""
    if "#count" in found.text:
        return f"{found['c']} of"
    following, mark = found.reading.column(found.after.split()[0]), found.mark("c")
    is_name = mark.text.lower() in ("name", "names", "title", "titles") and mark.hits[0].score >= 0.7
    return found["distinct"] if is_name and found.reading.names.kind(following) == "text" else None


@reads("total")
def total(found: Found) -> str | None:
    """`the total of all invoices` or `the total revenue`, where a column is the total, adds it up."""
    reading, column = found.reading, found.column("c")
    if column is None:
        column = reading.names.hinted(("revenue", "sales", "total", "amount", "payment"), reading.near())
    elif found.mark("c").text.lower() != "total" or not ASKED_SO_FAR.match(found.before):
        return None
    known = column is not None and reading.names.quantity(column)
    return f"{reading.add_term(Term(column, 'sum'))} of" if known else None


@reads("count", "count_rows")
def count(found: Found) -> str | None:
    """`how many singers`, `number of different countries`; `how many` of what no table is called."""
    if not found["e"]:
        return found.reading.add_term(Term(None, "count"))
    reading, names, mark, column = found.reading, found.reading.names, found.mark("e"), found.column("e")
    if found["flag"]:
        if names.yes(reading.column(found["flag"])) is None:
            return None
        column = None
    distinct = bool(found["distinct"] or found["also"])
    if column is not None and (distinct or found["e"].startswith("@c")):
        number = names.numeric(column) and names.kind(column) != "time" and not names.references(column)
        is_id = names.key(column.table) == column or mark.text.lower().endswith("id")
        term = Term(column, "count", True)
        if number and not distinct and not is_id:
            term = Term(column, "sum" if found["how"] == "#total" and names.quantity(column) else "")
    else:
        table = reading.table(found["e"])
        reading.tables.append(table)
        mark.column = None
        key = names.key(table) if distinct else None
        term = Term(key, "count", key is not None)
    return f"{found['described']}{found['flag']} {reading.add_term(term, mark) if term.aggregate else found['e']}"


@reads("aggregates")
def aggregates(found: Found) -> str | None:
    """`average, minimum and maximum age`; a superlative alone only where it is asked for or compared with."""
    reading, rest = found.reading, found["rest"]
    functions = [word for word in found["how"].split() if word[0] in "#@"]
    if len(functions) == 1 and functions[0].startswith("@"):
        asked = ASKED_SO_FAR.match(found.before) and not re.match(r" @t", found.after) and "what @" not in found.before
        compared = re.search(r"@o\d+(?: of| all)* $", found.before)
        if not (asked or compared) or reading.names.kind(reading.column(found["c"])) == "text":
            return None
    columns = [found["c"]]
    others = reading.markers("cx", rest)
    if others and all(reading.names.quantity(reading.column(other)) for other in others):
        columns, rest = [*columns, *others], ""
    made = (
        reading.add_term(Term(reading.column(column), function_of(reading, function)), reading.mark(column))
        for column in columns
        for function in functions
    )
    return f"{' , '.join(made)} {rest}"


def function_of(reading: Reading, word: str) -> Aggregate:
    """The aggregate that `#avg`, `#sum` or a superlative asks for."""
    named: dict[str, Aggregate] = {"#avg": "avg", "#sum": "sum"}
    return named.get(word) or ("max" if reading.mark(word).descending else "min")
