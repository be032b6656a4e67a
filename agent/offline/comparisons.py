"""Patterns that compare columns with numbers, texts and other rows."""

from __future__ import annotations

import re
from dataclasses import replace

from .conditions import CUT, FILTERS, IS, add_condition, compare_dated, comparison_of, is_year, literal_number, stands
from .frame import Condition, Frame, Term
from .reading import Reading
from .terms import function_of


@FILTERS.pattern("between", rf"(?:{CUT}({{K}}){IS} )?(?:#between|from) ({{N}}) (?:and|to) ({{N}})(?: in)?( {{C}})?")
def between(reading: Reading, match: re.Match[str]) -> str | None:
    """`a capacity between 5000 and 10000`."""
    marker = match[1] or (match[4] or "").strip()
    low, high = literal_number(reading, match[2]), literal_number(reading, match[3])
    if marker:
        return add_condition(reading, reading.term(marker), "between", (low, high))
    hints = ("year", "date", "time") if is_year(reading, low) else ("age", "price", "number")
    column = reading.names.hinted(hints, reading.near())
    return None if column is None else add_condition(reading, Term(column), "between", (low, high))


@FILTERS.pattern(
    "against_average",
    rf"(?:{CUT}({{C}}){IS} )?({{O}})(?: of| all| that| for)* (?:#avg|({{A}}))((?: (?:of|for|in|all|other|#all"
    rf"|{{T}}))*)((?: (?:#who|with|in|from|by|of|[a-z]+ed) [^.,]+)?)",
)
def against_average(reading: Reading, match: re.Match[str]) -> str | None:
    """`above the average age`."""
    inner = reading.term(match[3]) if match[3] else None
    if inner is not None and inner.column is None:
        return None
    column = reading.column(match[1]) if match[1] else inner.column if inner else None
    if match[1] and not reading.names.numeric(reading.column(match[1])):
        return None
    if column is None:
        column = reading.names.hinted(reading.mark(match[2]).hints, reading.near())
    if column is None:
        return None
    whole = _within(reading, Frame(select=(inner or Term(column, "avg"),)), match[5])
    return add_condition(reading, Term(column), comparison_of(reading, match[2], column), whole)


def _within(reading: Reading, frame: Frame, clause: str) -> Frame:
    """The frame narrowed by a clause that belongs to it: `the average age of students in France`."""
    if not clause:
        return frame
    inner = Reading(reading.names, reading.marks, clause.strip(), reading.context, reading.terms)
    FILTERS.apply(inner)
    reading.dropped.append(inner.text)
    tables = tuple(reading.table(marker) for marker in reading.markers("t", clause))
    return replace(frame, tables=tables, where=tuple(inner.where))


@FILTERS.pattern(
    "against_all",
    rf"{CUT}(?:({{C}}){IS} )?({{O}})((?: (?:any|all|some|every|#who|of|for|from|other|one|than|those|@c\d+"
    rf"|{{O}} {{N}}))+) ((?:{{T}} )?[^.,]*@[vn]\d+)",
)
def against_all(reading: Reading, match: re.Match[str]) -> str | None:
    """`older than all students in Math`: beyond the greatest (or, for `some`, the least) of theirs."""
    words = match[3].split()
    said = {"any", "all", "some", "every", "one", "those"} & set(words) or "#who of" in match[3]
    if not said and not reading.markers("o", match[3]):
        return None
    inner = reading.markers("c", match[3])
    column = reading.column(match[1] or inner[0]) if match[1] or inner else None
    if column is None:
        column = reading.names.hinted(reading.mark(match[2]).hints, reading.near())
    if column is None:
        return None
    operator = comparison_of(reading, match[2], column)
    least = "some" in words or bool(reading.markers("o", match[3]))
    aggregate = "max" if operator.startswith(">") != least else "min"
    return add_condition(
        reading, Term(column), operator, _within(reading, Frame(select=(Term(column, aggregate),)), match[4])
    )


@FILTERS.pattern(
    "contains",
    rf"(?:{CUT}({{C}}|{{T}}){IS} )?((?:do |does |did )?(?:#not |#isnot )?)(#contain|#start|#end|with|has|have"
    rf"|having|like)"
    r"(?: [a-z]+(?= word)| word| words| letter| letters| substring| string| text| phrase| of| character|"
    r" characters| prefix| sub| in| its| their| #who| @[cx]\d+)*"
    r" (@[qv]\d+|[a-z])(?! @[c])(?: (?:in|of|as part of|inside|somewhere in)(?: its| their| of)* ({C}))?",
)
def contains(reading: Reading, match: re.Match[str]) -> str | None:
    """`whose name contains 'Hey'`, `starting with A`."""
    inner = reading.markers("cx", match[0].replace(match[1] or "", "", 1).replace(match[5] or "", "", 1))
    marker = match[5] or match[1] or (inner[0] if inner else "")
    verb = match[3]
    said = match[4]
    if verb not in ("#contain", "#start", "#end", "like") and not (
        marker
        and (
            re.search(r"word|letter|string|phrase", match[0])
            or match[5]
            or (verb != "with" and said[1] == "q" and not inner)
        )
    ):
        return None
    if said.startswith("@v") and verb == "#contain" and not marker:
        return None
    if marker.startswith("@t"):
        column = reading.names.title(reading.table(marker))[0]
    elif marker:
        column = reading.column(marker)
    else:
        column = reading.mark(said).column if said[0] == "@" else None
        near = reading.near()
        column = column or (reading.names.title(near[0])[0] if near else None)
    if column is None:
        return None
    text = reading.mark(said).text if said.startswith("@") else said
    text = {"#start": f"{text}%", "#end": f"%{text}"}.get(verb, f"%{text}%")
    stood = add_condition(reading, Term(column), "not like" if match[2] else "like", text)
    return f"{match[1]} {stood}" if (match[1] or "").startswith("@t") else stood


@FILTERS.pattern("self_reference", r"({C})(?: to| by| is| of| under)* ((?:{V} ?)+)")
def self_reference(reading: Reading, match: re.Match[str]) -> str | None:
    """`who report to Ann`: rows whose reference leads to Ann's row of the same table."""
    column = reading.column(match[1])
    key = reading.names.key(column.table)
    values = [reading.mark(marker) for marker in reading.markers("v", match[2])]
    if key is None or reading.names.references(column) != column.table:
        return None
    if not values or any(v.column is None or v.column.table != column.table for v in values):
        return None
    inner = tuple((Condition(Term(v.column), "=", v.literal),) for v in values)
    return stands(reading, Condition(Term(column), "in", Frame((Term(key),), where=inner)))


@FILTERS.pattern("flag", r"({C})(?= {T})|(?:#who )?(?:is|are|was|were) (#not |)({C})(?= \.|$| and| or)")
def flag(reading: Reading, match: re.Match[str]) -> str | None:
    """`discontinued products`, where the column holds yes or no."""
    column = reading.column(match[1] or match[3])
    yes = reading.names.yes(column)
    if yes is None:
        return None
    return stands(reading, Condition(Term(column), "!=" if match[2] else "=", yes))


@FILTERS.pattern(
    "null", rf"{CUT}({{C}}){IS}( #not| #isnot)? #null|with() #null(?: value| values)?(?: for| in| of)* ({{C}})"
)
def null(reading: Reading, match: re.Match[str]) -> str | None:
    """`whose address is missing`."""
    return add_condition(reading, Term(reading.column(match[1] or match[4])), "not null" if match[2] else "null", None)


@FILTERS.pattern("compare", rf"{CUT}({{C}}){IS} ({{O}}) (@[nvq]\d+)(?! {{C}} (?:@|and))")
def compare(reading: Reading, match: re.Match[str]) -> str | None:
    """`age is above 20`."""
    column = reading.column(match[1])
    value = reading.mark(match[3])
    if not reading.names.numeric(column) and (reading.mark(match[2]).hints or value.kind == "n"):
        return None
    if value.kind == "v" and all((m.table, m.column) != (column.table, column.name) for m in value.matches):
        return None
    return compare_dated(reading, column, comparison_of(reading, match[2], column), literal_number(reading, match[3]))


@FILTERS.pattern("compare_term", rf"{CUT}({{K}}){IS} ({{O}}) (?:({{A}})|({{S}})(?: of)? ({{C}}))")
def compare_term(reading: Reading, match: re.Match[str]) -> str | None:
    """`salary above the maximum salary of ...`."""
    inner = reading.term(match[3]) if match[3] else Term(reading.column(match[5]), function_of(reading, match[4]))
    if inner.column is None or not inner.aggregate:
        return None
    return add_condition(reading, reading.term(match[1]), comparison_of(reading, match[2]), Frame(select=(inner,)))


@FILTERS.pattern("compare_after", rf"{CUT}({{O}}) ({{N}})(?: of| in| years of)* ({{C}})")
def compare_after(reading: Reading, match: re.Match[str]) -> str | None:
    """`more than 100 points`."""
    column = reading.column(match[3])
    return compare_dated(reading, column, comparison_of(reading, match[1], column), literal_number(reading, match[2]))


@FILTERS.pattern("number_of", r"(?:with|have|has|having|had|give|gave) ({N}) ({C})")
def number_of(reading: Reading, match: re.Match[str]) -> str | None:
    """`with 1 credit`."""
    column = reading.column(match[2])
    if not reading.names.quantity(column):
        return None
    return add_condition(reading, Term(column), "=", literal_number(reading, match[1]))


@FILTERS.pattern("compare_inside", rf"{CUT}({{O}}) ({{C}})(?: of)? ({{N}})")
def compare_inside(reading: Reading, match: re.Match[str]) -> str | None:
    """`above age 20`."""
    column = reading.column(match[2])
    return compare_dated(reading, column, comparison_of(reading, match[1], column), literal_number(reading, match[3]))


@FILTERS.pattern("or_more", rf"{CUT}({{C}}){IS} ({{N}}) (#ormore|#orless)")
def or_more(reading: Reading, match: re.Match[str]) -> str | None:
    """`aged 20 or older`."""
    return compare_dated(
        reading,
        reading.column(match[1]),
        {"#ormore": ">=", "#orless": "<="}[match[3]],
        literal_number(reading, match[2]),
    )


@FILTERS.pattern("compare_hinted", rf"{CUT}({{O}}) ({{N}})(?: years?(?: old)?)?")
def compare_hinted(reading: Reading, match: re.Match[str]) -> str | None:
    """`older than 20`, `after 2010`."""
    value = literal_number(reading, match[2])
    hints = reading.mark(match[1]).hints
    if is_year(reading, value) and (not hints or "date" in hints):
        hints = ("year", "date", "time")
    column = reading.names.hinted(hints, reading.near()) if hints else None
    if column is None or (
        "birth" in column.name.lower() and not is_year(reading, value) and not isinstance(value, str)
    ):
        return None
    return compare_dated(reading, column, comparison_of(reading, match[1], column), value)
