"""Patterns for what is counted and computed: they turn words into terms that later patterns use as if columns."""

from __future__ import annotations

import re

from ...tools.frames import Aggregate, Term
from .reading import Found, Reading, pattern

_SELECT_SO_FAR = re.compile(
    r"(?:(?:^|.*\. )|#all )?(?:#who )?(?:(?:#distinct|#each|what|is|are|was|were|show|find|give|return|list|tell"
    r"|compute|calculate|and|,|@[acxt]\d+|of|get|report|for|also|please|all|display|values?|respectively|provide|how|about"
    r"|their|its) ?)*\Z"
)
_NAME = r"(?P<what>names?|titles?|ids?)"


@pattern("terms", rf"{{t:T}} {_NAME}", rf"{_NAME} (?:of|for)(?: all)*(?P<each> #each)? {{t:T}}")
def title(found: Found) -> str | None:
    """`city names` where the cities' column has another name."""
    reading, table = found.reading, found.reading.table(found["t"])
    key = reading.names.key(table) if found["what"].startswith("id") else None
    if key is not None and found.text.startswith("@") and re.match(r" (?:is |=|@o|@n)", found.after):
        return None
    column = reading.add_term(Term(key or reading.names.title(table)[0]), found.mark("t"))
    return f"{column} of {found['each']} {found['t']}"


@pattern("terms", r"{c:C} of(?: all| #distinct| each| every)*(?= {C})")
def name_of_column(found: Found) -> str | None:
    """`names of all directors`, where directors are a column, asks for that column."""
    following = found.reading.column(found.after.split()[0])
    if found.mark("c").text.lower() not in ("name", "names", "title", "titles"):
        return None
    if found.reading.names.kind(following) != "text" or found.mark("c").hits[0].score < 0.7:
        return None
    return "#distinct" if "#distinct" in found.text else ""


@pattern("terms", r"(?P<c>{C}|phone|telephone) #count")
def number_of_column(found: Found) -> str | None:
    """`phone number of all ...` counts nothing."""
    return f"{found['c']} of"


@pattern(
    "terms",
    r"(?P<ask>(?:what (?:is|was)|find|show|give|get|compute|calculate|return) |^){c:C} (?:of|for|from|in|over|across)"
    r"(?: #all| all| every)*(?P<rest>(?: {V})? {T})",
    r"(?P<c>{C}|#sum|#total|#howmany)(?: amount of)? (?P<money>revenue|income|turnover|earnings|sales|amount|money)"
    r"(?: amount)?(?! (?:of )?{C})",
)
def total(found: Found) -> str | None:
    """`the total of all invoices` or `the total revenue`, where a column is the total, adds it up."""
    names, money = found.reading.names, found["money"]
    column = found.column("c")
    if found["c"] == "#howmany" and money in ("sales", "amount"):
        return None
    if column is None:
        hints = ("revenue", "sales", "total", "amount", "payment")
        column = names.hinted(hints, found.reading.near())
    elif found.mark("c").text.lower() != "total":
        return None
    if column is None or not names.quantity(column):
        return None
    made = found.reading.add_term(Term(column, "sum"))
    return made if money else f"{found['ask']} {made} of {found['rest']}"


@pattern(
    "terms",
    r"(?:#sum(?: of)? )?(?P<how>#howmany|#count|#total|(?<![^.] )count)(?: of| all| total| other| the)*"
    r"(?P<distinct> #distinct)?(?: (?:types|kinds|type) of)?(?P<described>(?: {V}| #distinct)?) {e:E}",
)
def count(found: Found) -> str | None:
    """`how many singers`, `number of different countries`."""
    reading, names, mark, column = found.reading, found.reading.names, found.mark("e"), found.column("e")
    described = found["described"].replace("#distinct", "")
    distinct = "#distinct" in found.text
    if column is not None and found["e"].startswith("@c"):
        number = names.numeric(column) and names.kind(column) != "time" and not names.references(column)
        if number and re.search(r"(?:#avg|#sum|@s\d+) \Z", found.before):
            return found["e"]
        if number and found["how"] == "#total" and names.quantity(column):
            return f"{described} {reading.add_term(Term(column, 'sum'), mark)}"
        is_id = names.key(column.table) == column or mark.text.lower().endswith("id")
        if number and not distinct and not is_id:
            return f"{described} {found['e']}"
        return f"{described} {reading.add_term(Term(column, 'count', True), mark)}"
    if distinct and column is not None and found["e"].startswith("@x"):
        return f"{described} {reading.add_term(Term(column, 'count', True), mark)}"
    table = reading.table(found["e"])
    reading.need(table)
    key = names.key(table)
    mark.column = None
    return (
        f"{described} {reading.add_term(Term(key, 'count', True) if distinct and key else Term(None, 'count'), mark)}"
    )


@pattern("terms", r"(?:#howmany|#count|#total|(?<=and) (?:its |their )?(?:count|number)(?= |$))(?! @[tcx])")
def count_rows(found: Found) -> str | None:
    """`how many` of what no table is called."""
    return found.reading.add_term(Term(None, "count"))


@pattern(
    "terms",
    r"(?P<how>(?:#avg|#sum|{S})(?:(?: ,)?(?: and| or)? (?:#avg|#sum|{S}))*)"
    r"(?: of| values?| number| in| for| their| #count| all| amount)* {c:C}(?P<rest>(?:(?: ,)?(?: and)? {C})*)",
)
def aggregates(found: Found) -> str | None:
    """`average, minimum and maximum age`; a superlative alone only where something is asked for, not filtered by."""
    reading, rest = found.reading, found["rest"]
    functions = [word for word in found["how"].split() if word[0] in "#@"]
    if len(functions) == 1 and functions[0].startswith("@"):
        before = found.before
        if (
            not _SELECT_SO_FAR.match(before)
            or re.match(r" @t\d+", found.after)
            or "what @" in before + "@" * (not before)
        ):
            return None
        if reading.names.kind(reading.column(found["c"])) == "text":
            return None
    columns = [found["c"]]
    others = reading.markers("cx", rest)
    if others and all(_summable(reading, other) for other in others):
        columns, rest = [*columns, *others], ""
    return (
        " , ".join(
            reading.add_term(Term(reading.column(column), function_of(reading, function)), reading.mark(column))
            for column in columns
            for function in functions
        )
        + f" {rest}"
    )


def asks_for(before: str) -> bool:
    """Whether nothing but what is asked for has been said so far."""
    return _SELECT_SO_FAR.match(before) is not None


def _summable(reading: Reading, marker: str) -> bool:
    column = reading.column(marker)
    key = reading.names.key(column.table)
    return reading.names.kind(column) == "number" and column != key and "year" not in column.name.lower()


def function_of(reading: Reading, word: str) -> Aggregate:
    """The aggregate that `#avg`, `#sum` or a superlative asks for."""
    if word in ("#avg", "#sum"):
        return "avg" if word == "#avg" else "sum"
    return "max" if reading.mark(word).descending else "min"
