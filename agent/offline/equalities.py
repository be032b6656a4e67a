"""Patterns for values that rows have or lack, and how conditions join."""

from __future__ import annotations

import re
from itertools import combinations

from ...tools.frames import Column, Condition, Frame, Scalar, Term
from .comparisons import CUT, IS, compared, holds, is_year
from .exclusions import link_between
from .reading import Found, Reading, pattern

_OR = re.compile(r"@w(\d+)(?: ,)? or((?: (?!@w)\S+){0,3}) @w(\d+)")
_NAMED = r"(?: in| from| of| be| have| as| named| called"


@pattern(
    "rows",
    rf"{CUT}{{c:C}}{IS} (?:#not|#isnot|{{o:O}}){_NAMED}| equal| to)* {{l:L}}",
    rf"{CUT}(?:do |does |did |of |be )*(?:#not|#isnot|#except|{{o:O}}){_NAMED}| by| at| to| on"
    rf"| {{T}}| [a-z]+(?:ed|ing|s)?){{0,3}}(?: {{C}}(?: is| are| of)*)?(?: {{O}})? {{l:V}}(?: {{C}})?",
)
def unequal(found: Found) -> str | None:
    """`whose nationality is not French`, `not from France`; of rows with many such values, those with none."""
    reading, mark = found.reading, found.mark("l")
    if found["o"] and found.mark("o").operator != "!=":
        return None
    if found["c"]:
        column = _held(reading, found["c"], found["l"])
        return None if mark.kind == "v" and not holds(mark, column) else reading.add(Term(column), "!=", mark.literal)
    near = reading.near()
    if mark.column is None or not near:
        return None
    if mark.column.table == near[0] or reading.names.references_table(near[0], mark.column.table):
        return reading.add(Term(mark.column), "!=", mark.literal)
    link = link_between(reading, near[0], mark.column.table)
    if link is None:
        return None
    held = (Condition(Term(mark.column), "=", mark.literal),)
    inner = Frame((Term(link[1]),), (link[1].table, mark.column.table), (held,))
    reading.need(near[0])
    return reading.add(Term(link[0]), "not in", inner)


def _held(reading: Reading, marker: str, literal: str) -> Column:
    """The column that a value is compared with: the one named, unless the value is held only by its namesake."""
    column, mark = reading.column(marker), reading.mark(literal)
    if mark.kind != "v" or holds(mark, column):
        return column
    same = [m for m in mark.matches if m.column.lower() == column.name.lower()]
    return Column(same[0].table, same[0].column) if same else column


@pattern("rows", rf"{CUT}{{c:C}}{IS} {{l:L}}(?P<more>(?:(?: ,)?(?: or)(?: in| from| of)* {{L}})*)")
def equal(found: Found) -> str | None:
    """`whose name is 'Joe'`, `with id 3`, `country France or Spain`."""
    reading, mark = found.reading, found.mark("l")
    column = _held(reading, found["c"], found["l"])
    said = f" {found.text[: found.text.rindex(found['l'])].replace(found['c'], '', 1)} "
    if mark.kind == "v" and ((not holds(mark, column) and mark.column is not None) or " , " in said):
        return None
    is_count = re.search(r" (?:in|for|on|from|has|have|@t\d+) ", said)
    if mark.kind == "n" and is_count and not reading.mark(found["c"]).text.lower().endswith("year"):
        return None
    values = [found["l"], *reading.markers("vqn", found["more"])]
    if mark.kind == "n" and len(values) == 1:
        stood = compared(reading, Term(column), "=", found.literal("l"))
    else:
        stood = reading.stands(*(Condition(Term(column), "=", _spelled(reading, column, v)) for v in values))
    return " ".join([*reading.markers("t", said), stood])


def _spelled(reading: Reading, column: Column, marker: str) -> Scalar | None:
    """The value in the spelling that this column holds."""
    mark = reading.mark(marker)
    found = [match.value for match in mark.matches if (match.table, match.column) == (column.table, column.name)]
    return found[0] if found else mark.literal


@pattern("rows", r"(?:(?P<said>in|on|of|year|from|during|for|dated|@c\d+) )*{n:N}")
def in_year(found: Found) -> str | None:
    """`in 2014`."""
    reading, value = found.reading, found.literal("n")
    day = isinstance(value, str)
    if not day and (not is_year(value) or not re.match(r"in|on|of|year|from|during|for|dated", found.text)):
        return None
    column = reading.names.hinted(("date", "day", "time") if day else ("year", "date", "time"), reading.near())
    suffix = re.match(r" (#ormore|#orless)", found.after)
    operator = "=" if suffix is None else ">=" if suffix[1] == "#ormore" else "<="
    return None if column is None else compared(reading, Term(column), operator, value)


@pattern(
    "rows",
    r"(?:(?:in|from|of|named|called|with|at|for|to|by|is|are|on|#who|#o=|,|whose|name|titled|as) )*{v:V}"
    r"(?: (?:as )?(?:their |its )?{c:C}(?! #who))?",
)
def value(found: Found) -> str | None:
    """`from France`, `French citizens`."""
    reading, mark, after = found.reading, found.mark("v"), found["c"]
    column = mark.column
    if column is None:
        last = [reading.table(marker) for marker in reading.markers("tx", found.before)][-1:] or reading.near()
        if not last:
            return None
        column = reading.names.title(last[0])[0]
    stood = reading.add(Term(column), "=", mark.literal)
    return stood if after and reading.column(after) == column else f"{stood} {after}"


@pattern("rows", r"{t:T} (?:with |whose |has |#who )?(?:number |no |id |ids )?(?:is |= |of )?{n:N}(?! {T}| {C})")
def numbered(found: Found) -> str | None:
    """`student 1004`: the row with that key."""
    reading = found.reading
    key = reading.names.key(reading.table(found["t"]))
    if key is None or not isinstance(found.literal("n"), int):
        return None
    return f"{found['t']} {reading.add(Term(key), '=', found.literal('n'))}"


def join_alternatives(reading: Reading) -> None:
    """Conditions with `or` between them become one group; ones that no row can meet together, two sets that meet."""
    while match := _OR.search(reading.text):
        first, second = int(match[1]), int(match[3])
        reading.where[first] += reading.where[second]
        reading.where[second] = ()
        reading.text = f"{reading.text[: match.start()]}@w{first}{match[2]}{reading.text[match.end() :]}"
    for one, other in combinations(range(len(reading.where)), 2):
        first, second = reading.where[one], reading.where[other]
        if reading.combine is None and len(first) == len(second) == 1 and _contradict(first[0], second[0]):
            reading.where[other] = ()
            if _listed(reading, first[0]):
                reading.where[one] += second
            else:
                reading.combine = ("intersect", [second[0]])
    reading.where = [group for group in reading.where if group]


def _listed(reading: Reading, condition: Condition) -> bool:
    """Whether rows of the subject are listed by their names: `the ages of Ann and Ben`."""
    column, near = condition.term.column, reading.near()
    named = column is not None and near[:1] == [column.table] and column in reading.names.title(column.table)
    return named and condition.operator == "=" and "#both" not in reading.text


def _contradict(one: Condition, other: Condition) -> bool:
    if one.term != other.term or isinstance(one.value, Frame) or isinstance(other.value, Frame):
        return False
    if one.operator == other.operator == "=":
        return one.value != other.value
    if isinstance(one.value, int | float) and isinstance(other.value, int | float):
        low, high = (one, other) if one.operator.startswith(">") else (other, one)
        return low.operator[0] == ">" and high.operator[0] == "<" and low.value > high.value  # type: ignore[operator]
    return False
