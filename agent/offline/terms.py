"""Patterns for what is counted and computed: they turn words into terms that later patterns use as if columns."""

from __future__ import annotations

import re

from .frame import Aggregate, Term
from .mentions import Mention
from .reading import Grammar, Reading

TERMS = Grammar()
_SELECT_SO_FAR = re.compile(
    r"(?:(?:^|.*\. )|#all )?(?:#who )?(?:(?:what|is|are|was|were|show|find|give|return|list|tell|compute"
    r"|calculate|and|,|@[acx]\d+|"
    r"of|#distinct|get|report|for|#each|@[tx]\d+|also|please|all|display|value|values|respectively|provide|"
    r"how|about|their|its) ?)*\Z"
)


@TERMS.pattern(
    "title",
    r"({T}) (name|names|title|titles|id|ids)|(name|names|title|titles|id|ids) (?:of|for)(?: all)*( #each)? ({T})",
)
def title(reading: Reading, match: re.Match[str]) -> str | None:
    """`city names` where the cities' column has another name."""
    marker = match[1] or match[5]
    mark = reading.mark(marker)
    table = reading.table(marker)
    key = reading.names.key(table) if (match[2] or match[3]).startswith("id") else None
    if key is not None and match[1] and re.match(r" (?:is |=|@o|@n)", reading.text[match.end() :]):
        return None
    column = key or reading.names.title(table)[0]
    made = Mention("c", mark.start, mark.end, match[0], hits=mark.hits, column=column)
    reading.marks.append(made)
    return f"@c{len(reading.marks) - 1} of{match[4] or ''} {marker}"


@TERMS.pattern("range_direction", r"from(?: @x\d+)? ({S}) to {S}")
def range_direction(reading: Reading, match: re.Match[str]) -> str | None:
    """`from greatest to least`."""
    return "#desc" if reading.mark(match[1]).descending else "#asc"


@TERMS.pattern("comparative_column", r"({O}) ({C}) than")
def comparative_column(reading: Reading, match: re.Match[str]) -> str | None:
    """`a higher salary than`."""
    return f"{match[2]} {match[1]}"


@TERMS.pattern("name_of_column", r"({C}) of(?: all| #distinct| each| every)*(?= {C})")
def name_of_column(reading: Reading, match: re.Match[str]) -> str | None:
    """`names of all directors`, where directors are a column, asks for that column."""
    following = reading.text[match.end() :].split()[0]
    if reading.mark(match[1]).text.lower() not in ("name", "names", "title", "titles"):
        return None
    if reading.names.kind(reading.column(following)) != "text" or reading.mark(match[1]).hits[0].score < 0.7:
        return None
    return "#distinct" if "#distinct" in match[0] else ""


@TERMS.pattern("number_of_column", r"({C}|phone|telephone) #count")
def number_of_column(reading: Reading, match: re.Match[str]) -> str | None:
    """`phone number of all ...` counts nothing."""
    return f"{match[1]} of"


@TERMS.pattern("sort_command", r"^#sort ((?:all )?@[cxt]\d+.*?) ((?:in )?(?:#asc|#desc|by|#alpha) .*)")
def sort_command(reading: Reading, match: re.Match[str]) -> str | None:
    """`sort the names by age` shows the names."""
    return f"show {match[1]} #sort {match[2]}"


@TERMS.pattern(
    "total_of",
    r"(?:(what (?:is|was)|find|show|give|get|compute|calculate|return) |^)({C}) (?:of|for|from|in|over|across)"
    r"(?: #all| all| every)*((?: {V})? {T})",
)
def total_of(reading: Reading, match: re.Match[str]) -> str | None:
    """`the total of all invoices`, where the total is a column, adds it up."""
    mark = reading.mark(match[2])
    if mark.text.lower() != "total" or not reading.names.quantity(reading.column(match[2])):
        return None
    return f"{match[1] or ''} {reading.add_term(Term(mark.column, 'sum'), mark)} of{match[3]}"


@TERMS.pattern(
    "total_money",
    r"({C}|#sum|#total|#howmany)(?: amount of)? (revenue|income|turnover|earnings|sales|amount|money)(?: amount)?"
    r"(?! (?:of )?{C})",
)
def total_money(reading: Reading, match: re.Match[str]) -> str | None:
    """`the total revenue`, where a column is called total or amount."""
    hints = ("revenue", "sales", "total", "amount", "payment")
    if match[1] == "#howmany" and match[2] in ("sales", "amount"):
        return None
    if match[1].startswith("@"):
        column = reading.column(match[1])
        if reading.mark(match[1]).text.lower() != "total":
            return None
    else:
        column = reading.names.hinted(hints, reading.near())
    if column is None or not reading.names.quantity(column):
        return None
    made = Mention("c", 0, 0, f"total {match[2]}", column=column)
    return reading.add_term(Term(column, "sum"), made)


@TERMS.pattern(
    "count",
    r"(#howmany|#count|#total|(?<![^.] )count)(?: of| all| total| other| the)*( #distinct)?"
    r"(?: types of| kinds of| type of)?((?: {V}| #distinct)?) (@[tcx]\d+)",
)
def count(reading: Reading, match: re.Match[str]) -> str | None:
    """`how many singers`, `number of different countries`."""
    mark = reading.mark(match[4])
    distinct = match[2] is not None or "#distinct" in match[3]
    column = mark.column
    if match[4].startswith("@c") and column is not None:
        number = (
            reading.names.numeric(column)
            and reading.names.kind(column) != "time"
            and not reading.names.references(column)
        )
        if number and re.search(r"(?:#avg|#sum|@s\d+) \Z", reading.text[: match.start()]):
            return match[4]
        if number and match[1] == "#total" and reading.names.quantity(column):
            return f"{match[3]} {reading.add_term(Term(column, 'sum'), mark)}"
        if (
            number
            and not distinct
            and reading.names.key(column.table) != column
            and not mark.text.lower().endswith("id")
        ):
            return f"{match[3]} {match[4]}"
        term = Term(column, "count", True)
    elif distinct and match[4].startswith("@x") and column is not None:
        term = Term(column, "count", True)
    else:
        table = reading.table(match[4])
        reading.need(table)
        key = reading.names.key(table)
        term = Term(key, "count", True) if distinct and key else Term(None, "count")
        mark.column = None
    return f"{match[3].replace('#distinct', '')} {reading.add_term(term, mark)}"


@TERMS.pattern("count_described", r"#howmany((?: [a-z-]+){1,2}) (@[tx]\d+)")
def count_described(reading: Reading, match: re.Match[str]) -> str | None:
    """`how many main stream browsers`: the words between stay unread."""
    table = reading.table(match[2])
    reading.need(table)
    return f"{reading.add_term(Term(None, 'count'), reading.mark(match[2]))}{match[1]}"


@TERMS.pattern(
    "count_them",
    r"#howmany(?: ones)?(?: of (?:them|those|these|it))?(?= are| is| do| does| were| of| in| have|$| @[vos]| #|"
    r" \.| with| live)",
)
def count_them(reading: Reading, match: re.Match[str]) -> str | None:
    """`how many are there`."""
    return reading.add_term(Term(None, "count"), Mention("a", 0, 0, match[0]))


@TERMS.pattern(
    "count_values", r"(?:#howmany|#count|#total|(?<![^.] )count)(?: of| all| total)*((?: [a-z]+){0,1} {V})(?! @[tcx])"
)
def count_values(reading: Reading, match: re.Match[str]) -> str | None:
    """`how many Germans`: rows of the table that holds the value."""
    mark = reading.mark(reading.markers("vq", match[1])[0])
    if mark.column is None:
        return None
    return f"{reading.add_term(Term(None, 'count'), mark)}{match[1]}"


@TERMS.pattern("count_rest", r"(?:#howmany|#count|#total|(?<=and) (?:its |their )?(?:count|number)(?= |$))(?! @)")
def count_rest(reading: Reading, match: re.Match[str]) -> str | None:
    """`how many` of what no table is called."""
    return reading.add_term(Term(None, "count"), Mention("a", 0, 0, match[0]))


@TERMS.pattern("sum_of_count", r"#sum(?: of)?(?= {A})")
def sum_of_count(reading: Reading, match: re.Match[str]) -> str | None:
    """`total number of singers` counts."""
    return ""


@TERMS.pattern(
    "aggregates",
    r"((?:#avg|#sum|{S})(?:(?: ,)?(?: and| or)? (?:#avg|#sum|{S}))*)"
    r"(?: of| value| values| number| in| for| their| #count| all| amount)* ({C})((?:(?: ,)?(?: and)? {C})*)",
)
def aggregates(reading: Reading, match: re.Match[str]) -> str | None:
    """`average, minimum and maximum age`; a superlative alone only where something is asked for, not filtered by."""
    functions = [word for word in match[1].split() if word[0] in "#@"]
    if len(functions) == 1 and functions[0].startswith("@"):
        after = reading.text[match.end() :].lstrip()
        before = reading.text[: match.start()]
        if not _SELECT_SO_FAR.match(before) or re.match(r"@t\d+", after) or "what @" in before + "@" * (not before):
            return None
        if reading.names.kind(reading.column(match[2])) == "text":
            return None
    columns = [match[2]]
    rest = match[3]
    if functions[-1] in ("#avg", "#sum"):
        others = reading.markers("cx", rest)
        if others and all(_summable(reading, other) for other in others):
            columns += others
            rest = ""
    made: list[str] = []
    for column in columns:
        for function in functions:
            term = Term(reading.column(column), function_of(reading, function))
            made.append(reading.add_term(term, reading.mark(column)))
    return " , ".join(made) + rest


def _summable(reading: Reading, marker: str) -> bool:
    column = reading.column(marker)
    key = reading.names.key(column.table)
    return reading.names.kind(column) == "number" and column != key and "year" not in column.name.lower()


def function_of(reading: Reading, word: str) -> Aggregate:
    """The aggregate that `#avg`, `#sum` or a superlative asks for."""
    if word in ("#avg", "#sum"):
        return "avg" if word == "#avg" else "sum"
    return "max" if reading.mark(word).descending else "min"
