"""Patterns for conditions on rows: columns compared with literals and other rows, and rows that others exclude."""

from __future__ import annotations

import re

from .counting import ASKED_SO_FAR
from .frames import Column, Condition, Frame, Operator, Scalar, Term
from .mentions import Mention
from .mentions.lexicon import ORDINALS
from .reading import Found, Reading, reads

_DATED = re.compile(r"\d{4}[-/]|[-/]\d{4}|, \d{4}")
_ISO = re.compile(r"\d{4}-\d\d-\d\d")


def is_year(value: object) -> bool:
    """Whether a number is likely a year."""
    return isinstance(value, int) and 1500 <= value <= 2100


def _value_in(mark: Mention, column: Column) -> Scalar | None:
    """The value that some words stand for in the spelling that a column holds, if it does."""
    return next((m.value for m in mark.matches if (m.table, m.column) == (column.table, column.name)), None)


def compared(reading: Reading, term: Term, operator: Operator, value: Scalar) -> str:
    """A comparison of a term with a literal, where its column may hold dates and the number be a year."""
    schema = reading.names.column(term.column) if term.column and not term.aggregate else None
    texts = [sample for sample in schema.samples if isinstance(sample, str)] if schema else []
    if isinstance(value, int) and is_year(value) and any(_DATED.search(text) for text in texts):
        if operator == "=":
            return reading.add(term, "like", f"%{value}%")
        whole: Operator = {">": ">=", "<=": "<"}.get(operator, operator)  # type: ignore[assignment]
        # A whole date: columns declared as dates take a mere year for a number, which any text is larger than.
        first = "-01-01" if _ISO.match(texts[0]) else ""
        return reading.add(term, whole, f"{value + (whole != operator)}{first}")
    return reading.add(term, operator, str(value) if schema and schema.kind == "text" and operator == "=" else value)


@reads("against_average", "against_all")
def against(found: Found) -> str | None:
    """`above the average age`, `more than the lowest price of any novel`, `older than all students in Math`."""
    reading, scope = found.reading, found["scope"]
    inner = reading.term(found["a"]) if found["a"] else None
    marker = found["c"] or found["d"]
    term = reading.term(marker) if marker else Term(inner.column) if inner else _suggested(found)
    if term is None or (inner and inner.column is None) or (term.column and not reading.names.numeric(term.column)):
        return None
    operator = found.operator(term.column)
    least = operator.startswith("<") != (scope == "some" or scope.startswith("@"))
    inner = inner or Term(term.column, "avg" if not scope else "min" if least else "max")
    tables = tuple(reading.table(marker) for marker in reading.markers("t", found["clause"]))
    return reading.add(term, operator, Frame((inner,), tables, tuple(reading.inner(found["clause"], "rows").where)))


@reads("contains")
def contains(found: Found) -> str | None:
    """`whose name contains 'Hey'`, `starting with A`."""
    reading, verb, content = found.reading, found["verb"], found["content"]
    marker = found["d"] or found["c"] or found["e"]
    if not verb.startswith("#"):
        part = found["d"] or re.search(r"word|letter|string|phrase", found.text)
        if not marker or not (part or (verb != "with" and content[1:2] == "q" and not found["e"])):
            return None
    elif content.startswith("@v") and verb == "#contain" and not marker:
        return None
    mark = reading.mark(content) if content.startswith("@") else None
    tables = [reading.table(marker)] if marker.startswith("@t") else reading.near()
    column = None if marker.startswith("@t") else reading.mark(marker).column if marker else mark and mark.column
    if column is None and not tables:
        return None
    term = Term(column or reading.names.title(tables[0])[0])
    text = mark.text if mark else content
    like = {"#start": f"{text}%", "#end": f"%{text}"}.get(verb, f"%{text}%")
    shown = ASKED_SO_FAR.match(found.before) and (found["c"][1:2] == "t" or not reading.markers("cxa", found.before))
    return f"{found['c'] if shown else ''} {reading.add(term, 'not like' if found['no'] else 'like', like)}"


@reads("self_reference")
def self_reference(found: Found) -> str | None:
    """`who report to Ann`: rows whose reference leads to Ann's row of the same table."""
    reading, column = found.reading, found.reading.column(found["c"])
    key = reading.names.key(column.table)
    values = [reading.mark(marker) for marker in found["values"].split()]
    own = all(value.column is not None and value.column.table == column.table for value in values)
    if key is None or not own or reading.names.references(column) != column.table:
        return None
    inner = tuple((Condition(Term(value.column), "=", value.literal),) for value in values)
    return reading.add(Term(column), "in", Frame((Term(key),), where=inner))


@reads("flag", "null")
def flag(found: Found) -> str | None:
    """`discontinued products`, where the column holds yes or no; `whose address is missing`, `without a phone`."""
    column = found.reading.column(found["c"])
    if found["lacks"] or found["has"]:
        missing = found.reading.names.column(column).nulls is True
        return found.reading.add(Term(column), "null" if found["lacks"] else "not null", None) if missing else None
    if "#null" in found.text:
        return found.reading.add(Term(column), "not null" if found["no"] else "null", None)
    yes = found.reading.names.yes(column)
    return None if yes is None else found.reading.add(Term(column), "!=" if found["no"] else "=", yes)


@reads("between", "compare", "in_year")
def compare(found: Found) -> str | None:
    """`age is above 20`, `above age 20`, `aged 20 or older`, `older than 20`, `after 2010`, `between 5 and 10`."""
    reading, mark, literal = found.reading, found.mark("l"), found.literal("l")
    marker = found["c"] or found["d"]
    term = reading.term(marker) if marker else _suggested(found, literal)
    if term is None:
        return None
    if found["m"]:
        last = found.literal("m")
        if is_year(literal) and is_year(last) and term.column and reading.names.kind(term.column) == "time":
            return " ".join([compared(reading, term, ">=", literal), compared(reading, term, "<=", last)])
        return reading.add(term, "between", (literal, last))
    column = term.column
    assert column is not None
    fits = reading.names.numeric(column) or mark.kind != "n" or not found.text.endswith(found["l"])
    if marker and mark.kind == "v":
        fits = _value_in(mark, column) is not None
    return compared(reading, term, found.operator(column), literal) if fits else None


def _suggested(found: Found, literal: Scalar | None = None) -> Term | None:
    """What is compared where no column is named: what an adjective or the kind of number suggests."""
    hints = found.mark("o").hints if found["o"] else ("age", "price", "number") if found["m"] else ()
    dated = isinstance(literal, str) or (is_year(literal) and bool(found["o"] or found["m"] or found["when"]))
    if dated and (not found["o"] or not hints or "date" in hints):
        hints = ("year", "date", "time") if is_year(literal) else ("date", "day", "time")
    column = found.reading.names.hinted(hints, found.reading.near()) if hints else None
    return None if column is None or ("birth" in column.name.lower() and not dated) else Term(column)


@reads("unequal")
def unequal(found: Found) -> str | None:
    """`not from France`: of rows with many such values, those with none."""
    reading, mark, near = found.reading, found.mark("v"), found.reading.near()
    if mark.column is None or not near:
        return None
    table = mark.column.table
    others = [reading.mark(marker) for marker in reading.markers("vq", found["more"])]
    if any(other.column != mark.column for other in others):
        return None
    if table == near[0] or reading.names.references_table(near[0], table):
        return " ".join(reading.add(Term(mark.column), "!=", one.literal) for one in (mark, *others))
    link = reading.names.link(near[0], table)
    if link is None:
        return None
    reading.tables.append(near[0])
    held = tuple(Condition(Term(mark.column), "=", one.literal) for one in (mark, *others))
    return reading.add(Term(link[0]), "not in", Frame((Term(link[1]),), (link[1].table, table), (held,)))


@reads("equal")
def equal(found: Found) -> str | None:
    """`whose name is 'Joe'`, `with id 3`, `country France or Spain`, `nationality is not French`."""
    reading, mark = found.reading, found.mark("l")
    column = reading.column(found["c"])
    same = [Column(m.table, m.column) for m in mark.matches if m.column.lower() == column.name.lower()]
    column = same[0] if mark.kind == "v" and same and column not in same else column
    clause = f" {found.text[: found.text.rindex(found['l'])].replace(found['c'], '', 1)} "
    if mark.kind == "v" and ((_value_in(mark, column) is None and mark.column is not None) or " , " in clause):
        return None
    is_count = re.search(r" (?:in|for|on|from|has|have|@t\d+) ", clause)
    samples = reading.names.column(column).samples
    years = reading.names.kind(column) == "time" or (bool(samples) and all(map(is_year, samples)))
    when = is_year(mark.literal) and years
    if mark.kind == "n" and is_count and not (when or reading.mark(found["c"]).text.lower().endswith("year")):
        return None
    values = [reading.mark(marker) for marker in (found["l"], *reading.markers("vqn", found["more"]))]
    if found["no"]:
        stood = reading.add(Term(column), "!=", mark.literal)
    elif mark.kind == "n" and len(values) == 1:
        stood = compared(reading, Term(column), "=", found.literal("l"))
    elif when and reading.names.kind(column) == "time" and all(v.kind == "n" for v in values):
        stood = reading.stands(*(Condition(Term(column), "like", f"%{v.literal}%") for v in values))
    else:
        stood = reading.stands(*(Condition(Term(column), "=", _value_in(v, column) or v.literal) for v in values))
    return " ".join([*reading.markers("t", clause), stood])


@reads("value")
def value(found: Found) -> str | None:
    """`from France`, `French citizens`."""
    reading, mark, after = found.reading, found.mark("v"), found["c"]
    tables = [reading.table(marker) for marker in reading.markers("tx", found.before)][-1:] or reading.near()
    if mark.column is None and not tables:
        return None
    column = mark.column or reading.names.title(tables[0])[0]
    stood = reading.add(Term(column), "=", mark.literal)
    return stood if after and reading.column(after) == column else f"{stood} {after}"


@reads("ordinal")
def ordinal(found: Found) -> str | None:
    """`on the second floor`, where floors are numbers."""
    column = found.column("c")
    if column is None or not found.reading.names.quantity(column):
        return None
    return found.reading.add(Term(column), "=", ORDINALS[found["ordinal"]])


@reads("numbered")
def numbered(found: Found) -> str | None:
    """`student 1004`: the row with that key."""
    key = found.reading.names.key(found.reading.table(found["t"]))
    return f"{found['t']} {found.reading.add(Term(key), '=', found.literal('l'))}" if key else None


@reads("without_rows", "except_those")
def without(found: Found) -> str | None:
    """`stadiums without any concert in 2014`, `except those with at least two concerts`: their keys are left out."""
    reading, names, rest = found.reading, found.reading.names, found["rest"]
    heads = _tables_before(found) or [reading.table(marker) for marker in reading.markers("t", found.after)]
    if not heads:
        return None
    markers = [found["t"], *reading.markers("t", rest)] if found["t"] else []
    table = next((table for marker in markers if (table := reading.table(marker)) != heads[0]), heads[0])
    key = None if markers else names.key(heads[0])
    link = names.link(heads[0], table) if table != heads[0] else key and (key, key)
    inner = reading.inner(f"{found['value']} {found['t']} {rest}", "ranking", "rows")
    if link is None or not (markers or inner.where or inner.having):
        return None
    reading.tables.append(heads[0])
    group = (link[1],) if inner.having else ()
    tables = tuple(dict.fromkeys([table, *inner.tables]))
    frame = Frame((Term(link[1]),), tables, tuple(inner.where), group, tuple(inner.having))
    reading.where.append((Condition(Term(link[0]), "not in", frame),))
    return ""


def _tables_before(found: Found) -> list[str]:
    """The tables that are spoken of before the clause, the subject first."""
    reading = found.reading
    tables = [reading.table(marker) for marker in reading.markers("atx", found.before)]
    columns = [reading.column(marker).table for marker in reading.markers("c", found.before)]
    return [table for table in (*tables, *columns) if table] or list(reading.base.used()[:1])
