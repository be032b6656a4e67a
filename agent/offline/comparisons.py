"""Patterns that compare columns with numbers, texts and other rows."""

from __future__ import annotations

import re
from dataclasses import replace

from ...tools.frames import Column, Condition, Frame, Operator, Scalar, Term
from ...tools.mentions import Mention
from .counting import asks_for, function_of
from .reading import Found, Reading, pattern

IS = (
    r"(?: is| are| was| were| of| that| #who| values?| be| in| has| have| equal| to| =| being| falls| lies"
    r"| named| called| either| or| by| year| number| code| no| #o=| from| as| for| on| ,| @t\d+)*"
)
CUT = r"(?:(?:with|have|has|having|had|whose|#who|where|and|is|are|was|were|of|in|by) )*"
_PARTS = r"(?: [a-z]+(?= word)| words?| letters?| substring| string| text| phrase| of| characters?| prefix| sub| in)"


def is_year(value: Scalar) -> bool:
    """Whether a number is likely a year."""
    return isinstance(value, int) and 1500 <= value <= 2100


def holds(mark: Mention, column: Column) -> bool:
    """Whether a column holds the value that some words stand for."""
    return any((match.table, match.column) == (column.table, column.name) for match in mark.matches)


def compared(reading: Reading, term: Term, operator: Operator, value: Scalar) -> str:
    """A comparison of a term with a number, where its column may hold dates and the number be a year."""
    schema = reading.names.column(term.column) if term.column and not term.aggregate else None
    if schema is None:
        return reading.add(term, operator, value)
    texts = [sample for sample in schema.samples if isinstance(sample, str)]
    dated = any(re.search(r"\d{4}[-/]|[-/]\d{4}|, \d{4}", text) for text in texts)
    if isinstance(value, int) and is_year(value) and (schema.kind == "time" or dated):
        if operator == "=":
            return reading.add(term, "like", f"%{value}%")
        whole: Operator = {">": ">=", "<=": "<"}.get(operator, operator)  # type: ignore[assignment]
        return reading.add(term, whole, str(value + (whole != operator)))
    if schema.kind == "text" and operator == "=":
        value = str(value)
    return reading.add(term, operator, value)


@pattern("rows", rf"(?:{CUT}{{k:K}}{IS} )?(?:#between|from) {{n:N}} (?:and|to) {{m:N}}(?: in)?(?P<after> {{C}})?")
def between(found: Found) -> str | None:
    """`a capacity between 5000 and 10000`."""
    reading, marker = found.reading, found["k"] or found["after"]
    low, high = found.literal("n"), found.literal("m")
    hints = ("year", "date", "time") if is_year(low) else ("age", "price", "number")
    column = None if marker else reading.names.hinted(hints, reading.near())
    if not marker and column is None:
        return None
    return reading.add(reading.term(marker) if marker else Term(column), "between", (low, high))


@pattern(
    "rows",
    rf"(?:{CUT}{{k:K}}{IS} )?{{o:O}}(?: {{d:C}} than)?(?: of| all| that| for)* (?:#avg|{{a:A}}|{{s:S}}(?: of)? {{e:C}})"
    r"(?: (?:of|for|in|all|any|other|#all|{T}))*"
    r"(?P<clause>(?: (?:#who|with|in|from|by|of|[a-z]+ed|@c\d+) [^.,]+| @v\d+[^.,]*)?)",
)
def against_average(found: Found) -> str | None:
    """`above the average age`, `more than the lowest price of any novel`."""
    reading = found.reading
    inner = reading.term(found["a"]) if found["a"] else None
    if found["s"]:
        inner = Term(found.column("e"), function_of(reading, found["s"]))
    term = reading.term(found["k"]) if found["k"] else Term(found.column("d"))
    if (inner and inner.column is None) or (term.column and not reading.names.numeric(term.column)):
        return None
    if term == Term():
        term = Term(inner.column if inner else reading.names.hinted(found.mark("o").hints, reading.near()))
    if term == Term():
        return None
    whole = _within(reading, inner or Term(term.column, "avg"), found["clause"])
    return reading.add(term, found.operator("o", term.column), whole)


def _within(reading: Reading, term: Term, clause: str) -> Frame:
    """The value of a term, narrowed by a clause that belongs to it: `the average age of students in France`."""
    frame = Frame(select=(term,))
    if not clause:
        return frame
    tables = tuple(reading.table(marker) for marker in reading.markers("t", clause))
    return replace(frame, tables=tables, where=tuple(reading.inner(clause, "rows").where))


@pattern(
    "rows",
    rf"{CUT}(?:{{c:C}}{IS} )?{{o:O}}(?P<scope>(?: (?:any|all|some|every|#who|of|for|from|other|one|than|those|@c\d+"
    r"|{O} {N}))+) (?P<clause>(?:{T} )?[^.,]*@[vn]\d+)",
)
def against_all(found: Found) -> str | None:
    """`older than all students in Math`: beyond the greatest (or, for `some`, the least) of theirs."""
    reading, scope = found.reading, found["scope"]
    counted = bool(reading.markers("o", scope))
    if not (counted or re.search(r"\b(?:any|all|some|every|one|those)\b|#who of", scope)):
        return None
    inner = reading.markers("c", scope)
    column = found.column("c") or (reading.column(inner[0]) if inner else None)
    column = column or reading.names.hinted(found.mark("o").hints, reading.near())
    if column is None:
        return None
    operator = found.operator("o", column)
    least = "some" in scope.split() or counted
    extreme = Term(column, "max" if operator.startswith(">") != least else "min")
    return reading.add(Term(column), operator, _within(reading, extreme, found["clause"]))


@pattern(
    "rows",
    rf"(?:{CUT}(?P<c>{{C}}|{{T}}){IS} )?(?P<no>(?:do |does |did )?(?:#not |#isnot )?)"
    rf"(?P<verb>#contain|#start|#end|with|has|have|having|like)(?P<fill>(?:{_PARTS}| its| their| #who| @[cx]\d+)*)"
    r" (?P<said>@[qv]\d+|[a-z])(?! @[c])(?: (?:in|of|as part of|inside|somewhere in)(?: its| their| of)* {d:C})?",
)
def contains(found: Found) -> str | None:
    """`whose name contains 'Hey'`, `starting with A`."""
    reading, verb, said = found.reading, found["verb"], found["said"]
    inner = reading.markers("cx", found["fill"])
    marker = found["d"] or found["c"] or next(iter(inner), "")
    if verb in ("with", "has", "have", "having"):
        part = found["d"] or re.search(r"word|letter|string|phrase", found.text)
        if not marker or not (part or (verb != "with" and said[1:2] == "q" and not inner)):
            return None
    elif said.startswith("@v") and verb == "#contain" and not marker:
        return None
    column = reading.mark(said).column if said[0] == "@" and not marker else None
    if marker and marker[1] != "t":
        column = reading.column(marker)
    elif marker or (column is None and reading.near()):
        column = reading.names.title(reading.table(marker) if marker else reading.near()[0])[0]
    if column is None:
        return None
    text = reading.mark(said).text if said.startswith("@") else said
    like = {"#start": f"{text}%", "#end": f"%{text}"}.get(verb, f"%{text}%")
    shown = asks_for(found.before) and (found["c"][1:2] == "t" or not reading.markers("cxa", found.before))
    return f"{found['c'] if shown else ''} {reading.add(Term(column), 'not like' if found['no'] else 'like', like)}"


@pattern("rows", r"{c:C}(?: to| by| is| of| under)* (?P<values>(?:{V} ?)+)")
def self_reference(found: Found) -> str | None:
    """`who report to Ann`: rows whose reference leads to Ann's row of the same table."""
    reading, column = found.reading, found.reading.column(found["c"])
    key = reading.names.key(column.table)
    values = [reading.mark(marker) for marker in reading.markers("v", found["values"])]
    if key is None or reading.names.references(column) != column.table:
        return None
    if not values or any(v.column is None or v.column.table != column.table for v in values):
        return None
    inner = tuple((Condition(Term(v.column), "=", v.literal),) for v in values)
    return reading.add(Term(column), "in", Frame((Term(key),), where=inner))


@pattern("rows", r"{c:C}(?= {T})|(?:#who )?(?:is|are|was|were) (?P<no>#not |){d:C}(?= \.|$| and| or)")
def flag(found: Found) -> str | None:
    """`discontinued products`, where the column holds yes or no."""
    column = found.reading.column(found["c"] or found["d"])
    yes = found.reading.names.yes(column)
    return None if yes is None else found.reading.add(Term(column), "!=" if found["no"] else "=", yes)


@pattern("rows", rf"{CUT}{{c:C}}{IS}(?P<no> #not| #isnot)? #null", r"with #null(?: values?)?(?: for| in| of)* {c:C}")
def null(found: Found) -> str | None:
    """`whose address is missing`."""
    return found.reading.add(Term(found.column("c")), "not null" if found["no"] else "null", None)


@pattern(
    "rows",
    rf"{CUT}{{c:C}}{IS} {{o:O}} {{l:L}}(?! {{C}} (?:@|and))",
    rf"{CUT}{{o:O}} {{l:N}}(?: of| in| years of)* {{c:C}}",
    r"(?:with|have|has|having|had|give|gave) {l:N} {c:C}(?P<quantity>)",
    rf"{CUT}{{o:O}} {{c:C}}(?: of| than)? {{l:N}}",
    rf"{CUT}{{c:C}}{IS} {{l:N}} (?P<suffix>#ormore|#orless)",
    rf"{CUT}{{o:O}} {{l:N}}(?: years?(?: old)?)?",
)
def compare(found: Found) -> str | None:
    """`age is above 20`, `more than 100 points`, `above age 20`, `aged 20 or older`, `older than 20`, `after 2010`."""
    reading, names = found.reading, found.reading.names
    value, column = found.mark("l"), found.column("c")
    literal = found.literal("l")
    if column is None:
        hints = found.mark("o").hints
        if is_year(literal) and (not hints or "date" in hints):
            hints = ("year", "date", "time")
        column = names.hinted(hints, reading.near()) if hints else None
        if column is None or ("birth" in column.name.lower() and not is_year(literal) and not isinstance(literal, str)):
            return None
    elif not found["o"] and not found["suffix"]:
        if not names.quantity(column):
            return None
    elif value.kind == "v":
        if not holds(value, column):
            return None
    elif found.text.endswith(found["l"]) and (value.kind == "n" or found.mark("o").hints) and not names.numeric(column):
        return None
    return compared(reading, Term(column), found.operator("o", column), literal)
