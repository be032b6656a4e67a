"""Patterns for what is counted and computed: they turn words into terms that later patterns use as if columns."""

from __future__ import annotations

import re

from .frame import Aggregate, Term
from .reading import Grammar, Reading

TERMS = Grammar()
_SELECT_SO_FAR = re.compile(
    r"(?:(?:^|.*\. )|#all )?(?:(?:what|is|are|was|were|show|find|give|return|list|tell|compute|calculate|and|,|@[acx]\d+|"
    r"of|#distinct|get|report|for|#each|@[tx]\d+|in|also|please|all|#who|display|value|values|respectively|provide|"
    r"how|about|their|its) ?)*\Z"
)


@TERMS.pattern(
    "count",
    r"(#howmany|#count|(?<![^.] )count)(?: of| all| total| other| the)*( #distinct)?"
    r"(?: types of| kinds of| type of)?((?: {V}| #distinct)?) (@[tcx]\d+)",
)
def count(reading: Reading, match: re.Match[str]) -> str | None:
    """`how many singers`, `number of different countries`."""
    mark = reading.mark(match[4])
    distinct = match[2] is not None or "#distinct" in match[3]
    column = mark.column
    if match[4].startswith("@c") and column is not None:
        number = reading.names.kind(column) == "number" and not reading.names.references(column)
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


@TERMS.pattern("sum_of_count", r"(?:#sum|#avg) (?:of )?(?={A})")
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
            term = Term(reading.column(column), _function(reading, function))
            made.append(reading.add_term(term, reading.mark(column)))
    return " , ".join(made) + rest


def _summable(reading: Reading, marker: str) -> bool:
    column = reading.column(marker)
    key = reading.names.key(column.table)
    return reading.names.kind(column) == "number" and column != key and "year" not in column.name.lower()


def _function(reading: Reading, word: str) -> Aggregate:
    if word in ("#avg", "#sum"):
        return "avg" if word == "#avg" else "sum"
    return "max" if reading.mark(word).descending else "min"
