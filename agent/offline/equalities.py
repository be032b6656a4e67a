"""Patterns for values that rows have or lack."""

from __future__ import annotations

import re

from .conditions import CUT, FILTERS, IS, add_condition, compare_dated, is_year, literal_number, stands
from .frame import Column, Condition, Scalar, Term
from .reading import Reading


@FILTERS.pattern(
    "unequal",
    rf"{CUT}({{C}}){IS} (?:#not|#isnot|{{O}})(?: in| from| of| equal| to| be| have| as| named| called)* ({{L}})",
)
def unequal(reading: Reading, match: re.Match[str]) -> str | None:
    """`whose nationality is not French`."""
    found = re.search(r"@o\d+", match[0])
    if found and reading.mark(found.group()).operator != "!=":
        return None
    column, mark = _held(reading, match[1], match[2]), reading.mark(match[2])
    if mark.kind == "v" and all((m.table, m.column) != (column.table, column.name) for m in mark.matches):
        return None
    return add_condition(reading, Term(column), "!=", reading.mark(match[2]).literal)


@FILTERS.pattern(
    "unequal_bare",
    rf"{CUT}(?:do |does |did |of |be )*(?:#not|#isnot|#except|{{O}})(?: in| from| of| by| at| to| on| be| have"
    rf"| as| named| called| {{T}}| [a-z]+(?:ed|ing|s)?){{0,3}}(?: {{C}}(?: is| are| of)*)?(?: {{O}})?"
    rf" ({{V}})(?: {{C}})?",
)
def unequal_bare(reading: Reading, match: re.Match[str]) -> str | None:
    """`not from France`."""
    found = re.search(r"@o\d+", match[0])
    if found and reading.mark(found.group()).operator != "!=":
        return None
    mark = reading.mark(match[1])
    if mark.column is None or not _of_subject(reading, mark.column.table):
        return None
    return add_condition(reading, Term(mark.column), "!=", mark.literal)


def _of_subject(reading: Reading, table: str) -> bool:
    """Whether each row that is asked for has one row of the table: it is the same, or a foreign key leads there."""
    near = reading.near()[:1]
    return table in near or any(reading.names.references_table(head, table) for head in near)


def _held(reading: Reading, marker: str, literal: str) -> Column:
    """The column that a value is compared with: the one named, unless the value is held only by another."""
    column = reading.column(marker)
    mark = reading.mark(literal)
    if mark.kind != "v" or any((m.table, m.column) == (column.table, column.name) for m in mark.matches):
        return column
    same = [m for m in mark.matches if m.column.lower() == column.name.lower()]
    if same:
        return Column(same[0].table, same[0].column)
    return column


@FILTERS.pattern(
    "both",
    rf"{CUT}(?:#both )?(?:in |from |#who |have |has |a |is |to |as |are |{{T}} |{{C}} )*({{V}})(?: {{T}}|"
    rf" {{C}})?(?: ,)? (?:and|#and|but)(?: also| in| from| #who| {{T}}| have| has| is| are| with| to| those|"
    rf" #both| {{C}})* ({{V}})(?: {{C}})?",
)
def both(reading: Reading, match: re.Match[str]) -> str | None:
    """`who speak both English and French`: one row cannot hold both, so two sets meet."""
    one, other = reading.mark(match[1]), reading.mark(match[2])
    if one.column is None or reading.combine is not None:
        return None
    same = [m for m in other.matches if (m.table, m.column) == (one.column.table, one.column.name)]
    if not same:
        return None
    first = Condition(Term(one.column), "=", one.literal)
    second = Condition(Term(one.column), "=", same[0].value)
    heads = [reading.table(m) for m in reading.markers("t", reading.text[: match.start()])]
    tables = " ".join(reading.markers("t", match[0]))
    if "#both" not in reading.text and one.column.table in heads[:1]:
        return f"{tables} {stands(reading, first, second)}"
    reading.combine = ("intersect", [second])
    return f"{tables} {stands(reading, first)}"


@FILTERS.pattern("equal", rf"{CUT}({{C}}){IS} ({{L}})((?:(?: ,)?(?: or)(?: in| from| of)* {{L}})*)")
def equal(reading: Reading, match: re.Match[str]) -> str | None:
    """`whose name is 'Joe'`, `with id 3`, `country France or Spain`."""
    mark = reading.mark(match[2])
    between_words = match[0][: match[0].rindex(match[2])].replace(match[1], "", 1)
    column = _held(reading, match[1], match[2])
    named = column == reading.column(match[1])
    held = any((m.table, m.column) == (column.table, column.name) for m in mark.matches)
    if mark.kind == "v" and not held and mark.column is not None:
        return None
    if mark.kind == "v" and " , " in f" {between_words} ":
        return None
    if (
        mark.kind == "n"
        and re.search(r" (?:in|for|on|from|has|have|@t\d+) ", f" {between_words} ")
        and not reading.mark(match[1]).text.lower().endswith("year")
    ):
        return None
    values = [match[2], *reading.markers("vqn", match[3])]
    if not named and len(values) == 1:
        return stands(reading, Condition(Term(column), "=", _spelled(reading, column, mark.literal, values[0])))
    if mark.kind == "n" and len(values) == 1:
        stood = compare_dated(reading, column, "=", literal_number(reading, match[2]))
    else:
        stood = stands(reading, *(Condition(Term(column), "=", _spelled(reading, column, None, v)) for v in values))
    return " ".join([*reading.markers("t", between_words), stood])


def _spelled(reading: Reading, column: Column, literal: Scalar | None, marker: str) -> Scalar:
    """The value in the spelling that this column holds."""
    mark = reading.mark(marker)
    for match in mark.matches:
        if (match.table, match.column) == (column.table, column.name):
            return match.value
    value = mark.literal if literal is None else literal
    assert value is not None
    return value


@FILTERS.pattern(
    "either",
    rf"{CUT}(?:either )?(?:in |from )*({{V}})((?:(?: ,)?(?: or| ,)(?: in| from| for| of)* {{V}})+)(?: {{C}})?",
)
def either(reading: Reading, match: re.Match[str]) -> str | None:
    """`from France or Spain`."""
    markers = [match[1], *reading.markers("vq", match[2])]
    conditions: list[Condition] = []
    for marker in markers:
        column = reading.mark(marker).column
        if column is None:
            return None
        conditions.append(Condition(Term(column), "=", reading.mark(marker).literal))
    return stands(reading, *conditions)


@FILTERS.pattern("in_year", r"(?:(?:in|on|of|year|from|during|for|dated|@c\d+) )*({N})")
def in_year(reading: Reading, match: re.Match[str]) -> str | None:
    """`in 2014`."""
    value = literal_number(reading, match[1])
    if isinstance(value, str):
        column = reading.names.hinted(("date", "day", "time"), reading.near())
        return None if column is None else add_condition(reading, Term(column), "=", value)
    if not is_year(reading, value) or not re.match(r"(?:in|on|of|year|from|during|for|dated)", match[0]):
        return None
    column = reading.names.hinted(("year", "date", "time"), reading.near())
    suffix = re.match(r" (#ormore|#orless)", reading.text[match.end() :])
    operator = {"#ormore": ">=", "#orless": "<="}[suffix[1]] if suffix else "="
    return None if column is None else compare_dated(reading, column, operator, value)


@FILTERS.pattern(
    "value",
    r"(?:(?:in|from|of|named|called|with|at|for|to|by|is|are|on|#who|#o=|,|whose|name|titled|as) )*({V})( (?:as"
    r" )?(?:their |its )?{C}(?! #who))?",
)
def value(reading: Reading, match: re.Match[str]) -> str | None:
    """`from France`, `French citizens`."""
    mark = reading.mark(match[1])
    column = mark.column
    after = match[2].split()[-1] if match[2] else ""
    if column is None:
        near = [reading.table(t) for t in reading.markers("tx", reading.text[: match.start()])][-1:] or reading.near()
        if not near:
            return None
        column = reading.names.title(near[0])[0]
        if mark.kind == "q":
            return add_condition(reading, Term(column), "=", mark.literal) + after
    stood = stands(reading, Condition(Term(column), "=", mark.literal))
    return stood if after and reading.column(after) == column else f"{stood} {after}"


@FILTERS.pattern(
    "numbered", r"({T}) (?:with |whose |has |#who )?(?:number |no |id |ids )?(?:is |= |of )?({N})(?! {T}| {C})"
)
def numbered(reading: Reading, match: re.Match[str]) -> str | None:
    """`student 1004`: the row with that key."""
    key = reading.names.key(reading.table(match[1]))
    if key is None or not isinstance(reading.mark(match[2]).literal, int):
        return None
    return f"{match[1]} {add_condition(reading, Term(key), '=', literal_number(reading, match[2]))}"
