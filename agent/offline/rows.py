"""Patterns for conditions on rows: columns compared with numbers, texts, values and other rows."""

from __future__ import annotations

import re
from dataclasses import replace

from ...tools.frames import Column, Condition, Frame, Operator, Scalar, Term
from ...tools.mentions import Mention
from .counting import asks_for
from .exclusions import link_between
from .reading import Found, Reading, pattern

_PARTS = r"(?: [a-z]+(?= word)| words?| letters?| substring| string| text| phrase| of| characters?| prefix| sub| in)"
_NAMED = r"(?: in| from| of| be| have| as| named| called| to"


def is_year(value: Scalar | None) -> bool:
    """Whether a number is likely a year."""
    return isinstance(value, int) and 1500 <= value <= 2100


def _value_in(mark: Mention, column: Column) -> Scalar | None:
    """The value that some words stand for in the spelling that a column holds, if it does."""
    return next((m.value for m in mark.matches if (m.table, m.column) == (column.table, column.name)), None)


def _compared(reading: Reading, term: Term, operator: Operator, value: Scalar) -> str:
    """A comparison of a term with a literal, where its column may hold dates and the number be a year."""
    schema = reading.names.column(term.column) if term.column and not term.aggregate else None
    texts = [sample for sample in schema.samples if isinstance(sample, str)] if schema else []
    dated = any(re.search(r"\d{4}[-/]|[-/]\d{4}|, \d{4}", text) for text in texts)
    if isinstance(value, int) and is_year(value) and schema and (schema.kind == "time" or dated):
        if operator == "=":
            return reading.add(term, "like", f"%{value}%")
        whole: Operator = {">": ">=", "<=": "<"}.get(operator, operator)  # type: ignore[assignment]
        return reading.add(term, whole, str(value + (whole != operator)))
    return reading.add(term, operator, str(value) if schema and schema.kind == "text" and operator == "=" else value)


@pattern(
    "rows",
    r"(?:{lead}{c:K}{is} )?{o:O}(?: {d:C} than)?(?: of| all| that| for)* (?:#avg|{a:A})"
    r"(?: (?:of|for|in|all|any|other|#all|{T}))*"
    r"(?P<clause>(?: (?:#who|with|in|from|by|of|[a-z]+ed|@c\d+) [^.,]+| @v\d+[^.,]*)?)",
    name="against_average",
)
@pattern(
    "rows",
    r"{lead}(?:{c:C}{is} )?{o:O}(?: (?:#who|of|for|from|other|than|{d:C}))*"
    r" (?P<scope>any|all|some|every|one|those|#who of|{O} {N})"
    r"(?: (?:all|every|#who|of|for|from|other|one|those|@c\d+))* (?P<clause>(?:{T} )?[^.,]*@[vn]\d+)",
    name="against_all",
)
def against(found: Found) -> str | None:
    """`above the average age`, `more than the lowest price of any novel`, `older than all students in Math`."""
    reading, scope = found.reading, found["scope"]
    inner = reading.term(found["a"]) if found["a"] else None
    said = found["c"] or found["d"]
    term = reading.term(said) if said else Term(inner.column) if inner else _suggested(found)
    if term is None or (inner and inner.column is None) or (term.column and not reading.names.numeric(term.column)):
        return None
    operator = found.operator(term.column)
    least = operator.startswith("<") != (scope == "some" or scope.startswith("@"))
    inner = inner or Term(term.column, "avg" if not scope else "min" if least else "max")
    frame = Frame((inner,), tuple(reading.table(marker) for marker in reading.markers("t", found["clause"])))
    return reading.add(term, operator, replace(frame, where=tuple(reading.inner(found["clause"], "rows").where)))


@pattern(
    "rows",
    r"(?:{lead}(?P<c>{C}|{T}){is} )?(?P<no>#not |#isnot )?(?P<verb>#contain|#start|#end|with|has|have|having)"
    rf"(?P<fill>(?:{_PARTS}| its| their| #who| {{e:C}})*) (?P<said>@[qv]\d+|[a-z])(?! @[c])"
    r"(?: (?:in|of|as part of|inside|somewhere in)(?: its| their| of)* {d:C})?",
)
def contains(found: Found) -> str | None:
    """`whose name contains 'Hey'`, `starting with A`."""
    reading, verb, said = found.reading, found["verb"], found["said"]
    marker = found["d"] or found["c"] or found["e"]
    if not verb.startswith("#"):
        part = found["d"] or re.search(r"word|letter|string|phrase", found.text)
        if not marker or not (part or (verb != "with" and said[1:2] == "q" and not found["e"])):
            return None
    elif said.startswith("@v") and verb == "#contain" and not marker:
        return None
    mark = reading.mark(said) if said.startswith("@") else None
    column = mark.column if mark and not marker else None
    if marker and marker[1] != "t":
        column = reading.column(marker)
    elif marker or (column is None and reading.near()):
        column = reading.names.title(reading.table(marker) if marker else reading.near()[0])[0]
    if column is None:
        return None
    text = mark.text if mark else said
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


@pattern("rows", r"{c:C}(?= {T})", r"(?:#who )?(?:is|are|was|were) (?P<no>#not |){c:C}(?= \.|$| and| or)")
def flag(found: Found) -> str | None:
    """`discontinued products`, where the column holds yes or no."""
    column = found.reading.column(found["c"])
    yes = found.reading.names.yes(column)
    return None if yes is None else found.reading.add(Term(column), "!=" if found["no"] else "=", yes)


@pattern("rows", r"{lead}{c:C}{is}(?P<no> #not| #isnot)? #null", r"with #null(?: values?)?(?: for| in| of)* {c:C}")
def null(found: Found) -> str | None:
    """`whose address is missing`."""
    return found.reading.add(Term(found.column("c")), "not null" if found["no"] else "null", None)


@pattern(
    "rows",
    r"(?:{lead}{c:K}{is} )?(?:#between|from) {l:N} (?:and|to) {m:N}(?: in)?(?: {d:C})?",
    name="between",
)
@pattern(
    "rows",
    r"{lead}{c:C}{is} {o:O} {l:L}(?! {C} (?:@|and))",
    r"{lead}{o:O} {l:N}(?: of| in| years of)* {c:C}",
    r"(?:with|have|has|having|had|give|gave) {l:N} {c:C}",
    r"{lead}{o:O} {c:C}(?: of| than)? {l:N}",
    r"{lead}{c:C}{is} {l:N} (?P<suffix>#ormore|#orless)",
    r"{lead}{o:O} {l:N}(?: years?(?: old)?)?",
)
def compare(found: Found) -> str | None:
    """`age is above 20`, `above age 20`, `aged 20 or older`, `older than 20`, `after 2010`, `between 5 and 10`."""
    reading, mark, literal = found.reading, found.mark("l"), found.literal("l")
    said = found["c"] or found["d"]
    term = reading.term(said) if said else _suggested(found, literal)
    if term is None:
        return None
    if found["m"]:
        return reading.add(term, "between", (literal, found.literal("m")))
    column = term.column
    assert column is not None
    if said and mark.kind == "v":
        fits = _value_in(mark, column) is not None
    elif said and not (found["o"] or found["suffix"]):
        fits = reading.names.quantity(column)
    else:
        fits = reading.names.numeric(column) or mark.kind != "n" or not found.text.endswith(found["l"])
    return _compared(reading, term, found.operator(column), literal) if fits else None


def _suggested(found: Found, literal: Scalar | None = None) -> Term | None:
    """What is compared where no column is named: what an adjective or the kind of number suggests."""
    hints = found.mark("o").hints if found["o"] else ("age", "price", "number") if found["m"] else ()
    dated = is_year(literal) or isinstance(literal, str)
    if dated and (not found["o"] or not hints or "date" in hints):
        hints = ("year", "date", "time") if is_year(literal) else ("date", "day", "time")
    column = found.reading.names.hinted(hints, found.reading.near()) if hints else None
    return None if column is None or ("birth" in column.name.lower() and not dated) else Term(column)


@pattern(
    "rows",
    rf"{{lead}}(?:of |be )*(?:#not|#isnot|#except){_NAMED}| by| at| on| {{T}}| [a-z]+(?:ed|ing|s)?){{0,3}}"
    r"(?: {C}(?: is| are| of)*)?(?: {O})? {v:V}(?: {C})?",
)
def unequal(found: Found) -> str | None:
    """`not from France`: of rows with many such values, those with none."""
    reading, mark, near = found.reading, found.mark("v"), found.reading.near()
    if mark.column is None or not near:
        return None
    table = mark.column.table
    if table == near[0] or reading.names.references_table(near[0], table):
        return reading.add(Term(mark.column), "!=", mark.literal)
    link = link_between(reading, near[0], table)
    if link is None:
        return None
    held = (Condition(Term(mark.column), "=", mark.literal),)
    reading.need(near[0])
    return reading.add(Term(link[0]), "not in", Frame((Term(link[1]),), (link[1].table, table), (held,)))


@pattern(
    "rows",
    rf"{{lead}}{{c:C}}{{is}}(?P<no> (?:#not|#isnot){_NAMED})*)? {{l:L}}"
    r"(?P<more>(?:(?: ,)? or(?: in| from| of)* {L})*)",
)
def equal(found: Found) -> str | None:
    """`whose name is 'Joe'`, `with id 3`, `country France or Spain`, `nationality is not French`."""
    reading, mark = found.reading, found.mark("l")
    column = _held(reading.column(found["c"]), mark)
    said = f" {found.text[: found.text.rindex(found['l'])].replace(found['c'], '', 1)} "
    if mark.kind == "v" and ((_value_in(mark, column) is None and mark.column is not None) or " , " in said):
        return None
    is_count = re.search(r" (?:in|for|on|from|has|have|@t\d+) ", said)
    if mark.kind == "n" and is_count and not reading.mark(found["c"]).text.lower().endswith("year"):
        return None
    values = [reading.mark(marker) for marker in (found["l"], *reading.markers("vqn", found["more"]))]
    if found["no"]:
        stood = reading.add(Term(column), "!=", mark.literal)
    elif mark.kind == "n" and len(values) == 1:
        stood = _compared(reading, Term(column), "=", found.literal("l"))
    else:
        stood = reading.stands(*(Condition(Term(column), "=", _value_in(v, column) or v.literal) for v in values))
    return " ".join([*reading.markers("t", said), stood])


def _held(column: Column, mark: Mention) -> Column:
    """The column that a value is compared with: the one named, unless the value is held only by its namesake."""
    same = [Column(m.table, m.column) for m in mark.matches if m.column.lower() == column.name.lower()]
    return same[0] if mark.kind == "v" and same and column not in same else column


@pattern("rows", r"(?P<said>(?:in|on|of|year|from|during|for|dated) )*{l:N}(?: (?P<suffix>#ormore|#orless))?")
def in_year(found: Found) -> str | None:
    """`in 2014`, `on 2014-05-01`."""
    literal = found.literal("l")
    return compare(found) if isinstance(literal, str) or (is_year(literal) and found["said"]) else None


@pattern(
    "rows",
    r"(?:(?:in|from|of|named|called|with|at|for|to|by|is|are|on|#who|,|name|titled|as) )*{v:V}"
    r"(?: (?:as )?(?:their |its )?{c:C}(?! #who))?",
)
def value(found: Found) -> str | None:
    """`from France`, `French citizens`."""
    reading, mark, after = found.reading, found.mark("v"), found["c"]
    tables = [reading.table(marker) for marker in reading.markers("tx", found.before)][-1:] or reading.near()
    if mark.column is None and not tables:
        return None
    column = mark.column or reading.names.title(tables[0])[0]
    stood = reading.add(Term(column), "=", mark.literal)
    return stood if after and reading.column(after) == column else f"{stood} {after}"


@pattern("rows", r"{t:T} (?:with |#who |has )?(?:number |no |id |ids )?(?:is |of )?{l:N}(?! {T}| {C})")
def numbered(found: Found) -> str | None:
    """`student 1004`: the row with that key."""
    key = found.reading.names.key(found.reading.table(found["t"]))
    if key is None or not isinstance(found.literal("l"), int):
        return None
    return f"{found['t']} {found.reading.add(Term(key), '=', found.literal('l'))}"
