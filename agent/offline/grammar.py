"""Reads a question by itself: what is counted, computed, ordered and grouped, and conditions on rows."""

from __future__ import annotations

import re

from ...tools.errors import NotUnderstood
from .compose import to_frame
from .frame import Aggregate, Column, Frame, Operand, Operator, Predicate, Scalar
from .mentions import WordRun, find_mentions, resolve
from .reading import CUES, NOTHING, PatternMatch, QuestionInput, QuestionReading, read_stages, reads
from .words import words_of

_ASKED_SO_FAR = re.compile(
    r"(?:(?:^|.*\. )|#all )?(?:#who )?(?:(?:#distinct|#each|what|is|are|was|were|show|find|give|return|list|tell"
    r"|compute|calculate|and|,|@[acxt]\d+|of|report|for|all|display|values?|provide|how|about|their|its) ?)*\Z"
)
"""What comes before a word where nothing but what is asked for has been said so far."""


@reads("name_of_column", "number_of_column")
def named_column(found: PatternMatch) -> str | None:
    """`names of all directors` asks for a column of directors, `phone number of all ...` for the phone."""
    if "#count" in found.text:
        return f"{found['c']} of"
    following, mark = found.reading.column(found.after.split()[0]), found.mark("c")
    is_name = mark.text.lower() in ("name", "names", "title", "titles") and mark.hits[0].score >= 0.7
    return found["distinct"] if is_name and found.reading.names.kind(following) == "text" else None


@reads("count", "count_rows")
def count(found: PatternMatch) -> str | None:
    """`how many singers`, `number of different countries`; `how many` of what no table is called."""
    if not found["e"]:
        return found.reading.add_term(Operand(None, "count"))
    reading, names, mark, column = found.reading, found.reading.names, found.mark("e"), found.column("e")
    distinct = bool(found["distinct"] or found["also"])
    if column is not None and (distinct or found["e"].startswith("@c")):
        number = names.numeric(column) and names.kind(column) != "time" and not names.references(column)
        is_id = names.key(column.table) == column or mark.text.lower().endswith("id")
        term = Operand(column, "count", True)
        if number and not distinct and not is_id:
            term = Operand(column, "sum" if found["how"] == "#total" and names.quantity(column) else "")
    else:
        table = reading.table(found["e"])
        reading.tables.append(table)
        mark.column = None
        key = names.key(table) if distinct else None
        term = Operand(key, "count", key is not None)
    return f"{found['described']} {reading.add_term(term, mark) if term.aggregate else found['e']}"


@reads("aggregates")
def aggregates(found: PatternMatch) -> str | None:
    """`average, minimum and maximum age`; a superlative alone only where it is asked for or compared with."""
    reading, rest = found.reading, found["rest"]
    functions = [word for word in found["how"].split() if word[0] in "#@"]
    if len(functions) == 1 and functions[0].startswith("@"):
        asked = _ASKED_SO_FAR.match(found.before) and not re.match(r" @t", found.after) and "what @" not in found.before
        compared = re.search(r"@o\d+(?: of| all)* $", found.before)
        if not (asked or compared) or reading.names.kind(reading.column(found["c"])) == "text":
            return None
    columns = [found["c"]]
    others = reading.markers("cx", rest)
    if others and all(reading.names.quantity(reading.column(other)) for other in others):
        columns, rest = [*columns, *others], ""
    named: dict[str, Aggregate] = {"#avg": "avg", "#sum": "sum"}
    asked_for: list[Aggregate] = [
        named.get(word) or ("max" if reading.mark(word).descending else "min") for word in functions
    ]
    made = (
        reading.add_term(Operand(reading.column(column), aggregate), reading.mark(column))
        for column in columns
        for aggregate in asked_for
    )
    return f"{' , '.join(made)} {rest}"


_LAST = ("last", "bottom")
_TAKEN = re.compile(r"(?:@[oc]\d+|with|have|has|having|had|and|to|id|in|by|#between) \Z")
"""What a number belongs to, rather than to the superlative after it."""


def _ranked(found: PatternMatch, term: Operand, descending: bool, left: str = "") -> str:
    """Sort by a term; as many rows as the superlative's number says."""
    reading, number = found.reading, found["n"] or found["m"]
    literal = reading.mark(number).literal if number else None
    reading.limit = literal if isinstance(literal, int) else reading.several
    reading.order.append((term, descending))
    reading.per_subject = reading.per_subject or bool(term.aggregate)
    return left


@reads("cut")
def cut(found: PatternMatch) -> str | None:
    """`the top 5`, `just the first one`: only so many rows of what the query before shows.

    Raises:
        NotUnderstood: The last rows of what has no order are wanted, or rows of a set operation.
    """
    reading, base = found.reading, found.reading.base
    end = found.mark("end").text.lower() if found["end"].startswith("@") else found["end"]
    tables = [reading.table(marker) for marker in reading.markers("tx", found["t"])]
    if end not in ("", "top", "first", *_LAST) or not {*tables} <= {*base.used()}:
        return None
    if base.also is not None:
        raise NotUnderstood("I cannot take the first rows of lists put together.")
    computed = [(term, True) for term in base.select if term.aggregate and base.group and end != "first"]
    turned = end in _LAST
    if turned and not (base.order or computed):
        raise NotUnderstood("Those rows have no order, so none of them are the last. Say what to sort them by.")
    reading.order = [(term, descends != turned) for term, descends in base.order or computed[:1]]
    reading.limit = int(found.mark("n").literal or 1) if found["n"] else 1
    return ""


@reads("several")
def several(found: PatternMatch) -> str | None:
    """`the two stores with the most ...`: how many are wanted, where a superlative follows."""
    literal = found.mark("n").literal if found["n"] else None
    if _TAKEN.search(found.before) or (found["s"] and found.mark("s").text.lower() != "top"):
        return None
    if isinstance(literal, int) and literal <= 100:
        found.reading.several = literal
    else:
        return None
    return ""


@reads("order")
def order(found: PatternMatch) -> str | None:
    """`in descending order of age`, `sorted by age`, `sort the names by age`, `in alphabetical order`."""
    reading, way = found.reading, found["way"] or "#asc"
    if not found["keys"]:
        reading.pending = way if way != "#alpha" else reading.pending or way
    for marker in reading.markers("cxat", re.sub(r"@t\d+ (?=@)", "", found["keys"])):
        is_table = marker.startswith("@t")
        term = Operand(reading.names.title(reading.table(marker))[0]) if is_table else reading.term(marker)
        born = way.startswith("#age") and term.column is not None and "birth" in term.column.name.lower()
        reading.order.append((term, (way in ("#desc", "#agedesc")) != born))
        reading.per_subject = reading.per_subject or term.aggregate == "count"
    return ""


@reads("most_things", "most_rows", "most_common")
def most(found: PatternMatch) -> str | None:
    """`the most common city`, `with the largest number of concerts`, `the stadium with the most concerts`."""
    reading, mark = found.reading, found.mark("s")
    if found["t"]:
        if mark.text.lower() not in ("most", "least", "fewest"):
            return None
        reading.counted = reading.table(found["t"])
        reading.tables.append(reading.counted)
    return _ranked(found, reading.term(found["a"]) if found["a"] else Operand(None, "count"), mark.descending)


@reads("top")
def top(found: PatternMatch) -> str | None:
    """`the top 3 singers by age`; `the top 3` in an order that is given elsewhere, `the first 3` in any."""
    reading = found.reading
    if found["k"]:
        return _ranked(found, reading.term(found["k"]), found.mark("u" if found["u"] else "s").descending, found["t"])
    if found["s"] and (found.mark("s").text.lower() != "top" or not reading.order):
        return None
    reading.limit = int(found.mark("n").literal or 1)
    return ""


@reads("superlative_column", "superlative_thing")
def superlative(found: PatternMatch) -> str | None:
    """`with the highest salary`, `the youngest singer`, `which singer is the oldest`."""
    reading, names, mark, column = found.reading, found.reading.names, found.mark("s"), found.column("c")
    if column is not None and (names.quantity(column) or not mark.hints):
        few = not names.quantity(column) and mark.text.lower() in ("most", "least", "fewest")
        return _ranked(found, Operand(column, "count" if few else ""), mark.descending, found["left"])
    near = [column.table] if column else [reading.table(found["t"])] if found["t"] else reading.near()
    last = "" if column or found["t"] else "".join(reading.markers("tx", found.before)[-1:])
    hint = (names.hinted(mark.hints, [reading.table(last)], 0) if last else None) or names.hinted(mark.hints, near)
    if (column is not None and " " in mark.text) or hint is None:
        return None
    # The oldest have the smallest birth date.
    born = "age" not in hint.name.lower() and ("birth" in mark.hints or {"founded", "age"} <= set(mark.hints))
    return _ranked(found, Operand(hint), mark.descending != born, found["c"] or found["left"])


@reads("having")
def having(found: PatternMatch) -> str | None:
    """`with more than 2 concerts`, `whose number of concerts is at least 2`, `more than 3 times`."""
    reading = found.reading
    if found["t"]:
        reading.counted = reading.table(found["t"])
        reading.tables.append(reading.counted)
    elif not found["a"] and not found["times"] and found.mark("n").text.lower() not in ("once", "twice"):
        return None
    reading.add(
        reading.term(found["a"]) if found["a"] else Operand(None, "count"), found.operator(), found.literal("n")
    )
    return found["v"]


@reads("each")
def each(found: PatternMatch) -> str | None:
    """`for each country`; `total freight by country` groups, where something is computed."""
    reading = found.reading
    if found["computed"]:
        alone = reading.base.aggregates() and not reading.markers("cxtavno", found.before)
        is_asked = (reading.markers("a", found.before) or alone) and "#sort" not in found.before
        return f"#each {found['computed']}" if is_asked else None
    if not found["e"]:
        reading.per_subject = True
    elif reading.is_entity(found["e"]):
        reading.group_tables.append(reading.table(found["e"]))
    else:
        reading.group += [reading.column(marker) for marker in (found["e"], found["f"]) if marker]
    return ""


_DATED = re.compile(r"\d{4}[-/]|[-/]\d{4}|, \d{4}")
_ISO = re.compile(r"\d{4}-\d\d-\d\d")


def _is_year(value: object) -> bool:
    """Whether a number is likely a year."""
    return isinstance(value, int) and 1500 <= value <= 2100


def _value_in(mark: WordRun, column: Column) -> Scalar | None:
    """Return the value that some words stand for in the spelling that a column holds, if it does."""
    return next((m.value for m in mark.matches if (m.table, m.column) == (column.table, column.name)), None)


def _compared(reading: QuestionReading, term: Operand, operator: Operator, value: Scalar) -> str:
    """Return a comparison of a term with a literal, where its column may hold dates and the number be a year."""
    schema = reading.names.column(term.column) if term.column and not term.aggregate else None
    texts = [sample for sample in schema.samples if isinstance(sample, str)] if schema else []
    if isinstance(value, int) and _is_year(value) and any(_DATED.search(text) for text in texts):
        if operator == "=":
            return reading.add(term, "like", f"%{value}%")
        whole: Operator = {">": ">=", "<=": "<"}.get(operator, operator)  # type: ignore[assignment]
        # A whole date: columns declared as dates take a mere year for a number, which any text is larger than.
        first = "-01-01" if _ISO.match(texts[0]) else ""
        return reading.add(term, whole, f"{value + (whole != operator)}{first}")
    return reading.add(term, operator, str(value) if schema and schema.kind == "text" and operator == "=" else value)


@reads("against_average", "against_all")
def against(found: PatternMatch) -> str | None:
    """`above the average age`, `more than the lowest price of any novel`, `older than all students in Math`."""
    reading, scope = found.reading, found["scope"]
    inner = reading.term(found["a"]) if found["a"] else None
    marker = found["c"] or found["d"]
    term = reading.term(marker) if marker else Operand(inner.column) if inner else _suggested(found)
    if term is None or (inner and inner.column is None) or (term.column and not reading.names.numeric(term.column)):
        return None
    operator = found.operator(term.column)
    least = operator.startswith("<") != (scope == "some" or scope.startswith("@"))
    inner = inner or Operand(term.column, "avg" if not scope else "min" if least else "max")
    tables = tuple(reading.table(marker) for marker in reading.markers("t", found["clause"]))
    return reading.add(term, operator, Frame((inner,), tables, tuple(reading.inner(found["clause"], "rows").where)))


@reads("contains")
def contains(found: PatternMatch) -> str | None:
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
    term = Operand(column or reading.names.title(tables[0])[0])
    text = mark.text if mark else content
    like = {"#start": f"{text}%", "#end": f"%{text}"}.get(verb, f"%{text}%")
    shown = _ASKED_SO_FAR.match(found.before) and (found["c"][1:2] == "t" or not reading.markers("cxa", found.before))
    return f"{found['c'] if shown else ''} {reading.add(term, 'not like' if found['no'] else 'like', like)}"


@reads("flag", "null")
def flag(found: PatternMatch) -> str | None:
    """`discontinued products`, where the column holds yes or no; `whose address is missing`, `without a phone`."""
    column = found.reading.column(found["c"])
    if found["lacks"] or found["has"]:
        missing = found.reading.names.column(column).nulls is True
        return found.reading.add(Operand(column), "null" if found["lacks"] else "not null", None) if missing else None
    if "#null" in found.text:
        return found.reading.add(Operand(column), "not null" if found["no"] else "null", None)
    yes = found.reading.names.yes(column)
    return None if yes is None else found.reading.add(Operand(column), "!=" if found["no"] else "=", yes)


@reads("between", "compare", "in_year")
def compare(found: PatternMatch) -> str | None:
    """`age is above 20`, `above age 20`, `aged 20 or older`, `older than 20`, `after 2010`, `between 5 and 10`."""
    reading, mark, literal = found.reading, found.mark("l"), found.literal("l")
    marker = found["c"] or found["d"]
    term = reading.term(marker) if marker else _suggested(found, literal)
    if term is None:
        return None
    if found["m"]:
        last = found.literal("m")
        if _is_year(literal) and _is_year(last) and term.column and reading.names.kind(term.column) == "time":
            return " ".join([_compared(reading, term, ">=", literal), _compared(reading, term, "<=", last)])
        return reading.add(term, "between", (literal, last))
    column = term.column
    assert column is not None
    fits = reading.names.numeric(column) or mark.kind != "n" or not found.text.endswith(found["l"])
    if marker and mark.kind == "v":
        fits = _value_in(mark, column) is not None
    return _compared(reading, term, found.operator(column), literal) if fits else None


def _suggested(found: PatternMatch, literal: Scalar | None = None) -> Operand | None:
    """Return what is compared where no column is named: what an adjective or the kind of number suggests."""
    hints = found.mark("o").hints if found["o"] else ("age", "price", "number") if found["m"] else ()
    dated = isinstance(literal, str) or (_is_year(literal) and bool(found["o"] or found["m"] or found["when"]))
    if dated and (not found["o"] or not hints or "date" in hints):
        hints = ("year", "date", "time") if _is_year(literal) else ("date", "day", "time")
    column = found.reading.names.hinted(hints, found.reading.near()) if hints else None
    return None if column is None or ("birth" in column.name.lower() and not dated) else Operand(column)


@reads("unequal")
def unequal(found: PatternMatch) -> str | None:
    """`not from France`: of rows with many such values, those with none."""
    reading, mark, near = found.reading, found.mark("v"), found.reading.near()
    if mark.column is None or not near:
        return None
    table = mark.column.table
    others = [reading.mark(marker) for marker in reading.markers("vq", found["more"])]
    if any(other.column != mark.column for other in others):
        return None
    if table == near[0] or reading.names.references_table(near[0], table):
        return " ".join(reading.add(Operand(mark.column), "!=", one.literal) for one in (mark, *others))
    link = reading.names.link(near[0], table)
    if link is None:
        return None
    reading.tables.append(near[0])
    held = tuple(Predicate(Operand(mark.column), "=", one.literal) for one in (mark, *others))
    return reading.add(Operand(link[0]), "not in", Frame((Operand(link[1]),), (link[1].table, table), (held,)))


@reads("equal")
def equal(found: PatternMatch) -> str | None:
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
    years = reading.names.kind(column) == "time" or (bool(samples) and all(map(_is_year, samples)))
    when = _is_year(mark.literal) and years
    if mark.kind == "n" and is_count and not (when or reading.mark(found["c"]).text.lower().endswith("year")):
        return None
    values = [reading.mark(marker) for marker in (found["l"], *reading.markers("vqn", found["more"]))]
    if found["no"]:
        stood = reading.add(Operand(column), "!=", mark.literal)
    elif mark.kind == "n" and len(values) == 1:
        stood = _compared(reading, Operand(column), "=", found.literal("l"))
    elif when and reading.names.kind(column) == "time" and all(v.kind == "n" for v in values):
        stood = reading.stands(*(Predicate(Operand(column), "like", f"%{v.literal}%") for v in values))
    else:
        stood = reading.stands(*(Predicate(Operand(column), "=", _value_in(v, column) or v.literal) for v in values))
    return " ".join([*reading.markers("t", clause), stood])


@reads("value")
def value(found: PatternMatch) -> str | None:
    """`from France`, `French citizens`."""
    reading, mark, after = found.reading, found.mark("v"), found["c"]
    tables = [reading.table(marker) for marker in reading.markers("tx", found.before)][-1:] or reading.near()
    if mark.column is None and not tables:
        return None
    column = mark.column or reading.names.title(tables[0])[0]
    stood = reading.add(Operand(column), "=", mark.literal)
    return stood if after and reading.column(after) == column else f"{stood} {after}"


@reads("numbered")
def numbered(found: PatternMatch) -> str | None:
    """`student 1004`: the row with that key."""
    key = found.reading.names.key(found.reading.table(found["t"]))
    return f"{found['t']} {found.reading.add(Operand(key), '=', found.literal('l'))}" if key else None


@reads("without_rows", "except_those")
def without(found: PatternMatch) -> str | None:
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
    frame = Frame((Operand(link[1]),), tables, tuple(inner.where), group, tuple(inner.having))
    reading.where.append((Predicate(Operand(link[0]), "not in", frame),))
    return ""


def _tables_before(found: PatternMatch) -> list[str]:
    """Return the tables that are spoken of before the clause, the subject first."""
    reading = found.reading
    tables = [reading.table(marker) for marker in reading.markers("atx", found.before)]
    columns = [reading.column(marker).table for marker in reading.markers("c", found.before)]
    return [table for table in (*tables, *columns) if table] or list(reading.base.used()[:1])


@reads("pointed")
def pointed(found: PatternMatch) -> str | None:
    """`those students` is `those`, where students are what the conversation is about."""
    mark, marker = found.mark("subject"), found["subject"]
    table = mark.column.table if marker[1] == "c" and mark.column and found["by"] else mark.table
    counted = found["each"] and re.search(r"#howmany|#count|#avg|#sum|@s", found.before)
    return None if counted or table not in found.reading.base.used() else f"of {found['those']}"


@reads("most_shown")
def most_shown(found: PatternMatch) -> str | None:
    """`which has the most?`, `and the cheapest?`, `the 3 lowest`: by the order of the query before or what it shows."""
    reading, base, names = found.reading, found.reading.base, found.reading.names
    numbers = [term for term in base.select if term.aggregate or (term.column and names.quantity(term.column))]
    if reading.order or base.computed() or not (base.order or numbers):
        return None
    return _ranked(found, base.order[0][0] if base.order else numbers[-1], found.mark("s").descending)


def parse(asked: QuestionInput, base: Frame = NOTHING) -> QuestionReading:
    """Read a question by itself, with the query that the conversation is about."""
    context = base.used()
    words = words_of(CUES["that"].sub(r"\1 this", asked.text) if context else asked.text)
    items = find_mentions(words, asked.names, asked.values)
    resolve(items, asked.names, context)
    marks = [item for item in items if isinstance(item, WordRun)]
    numbers = iter(range(len(marks)))
    text = " ".join(item if isinstance(item, str) else f"@{item.kind}{next(numbers)}" for item in items)
    reading = QuestionReading(asked, marks, re.sub(r"(?: \.)+$", "", text), base)
    read_stages(reading, *["shorter"] * bool(context), "terms", "negation", "ranking", "rows")
    reading.frame = to_frame(reading)
    return reading
