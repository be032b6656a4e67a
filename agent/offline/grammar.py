"""The grammar: handlers of patterns for counts, aggregates, order, groups and conditions."""

from __future__ import annotations

import re

from ...tools.errors import NotUnderstood
from ...tools.words import match_time
from .compose import build_query_frame
from .frame import Aggregate, Column, Operand, Operator, Predicate, QueryFrame, Scalar
from .mentions import Mention, find_mentions, resolve_mentions
from .reading import CUES, NOTHING, ParseState, PatternMatch, QuestionInput, apply_pattern_stages, register_handler
from .words import split_question_into_words

_REQUEST_SO_FAR = re.compile(
    r"(?:(?:^|.*\. )|#all )?(?:#who )?(?:(?:#distinct|#each|what|is|are|was|were|show|find|give|return|list|tell"
    r"|compute|calculate|and|,|@[acxt]\d+|of|report|for|all|display|values?|provide|how|about|their|its) ?)*\Z"
)
"""Text before a word that only says what is asked for."""


@register_handler("name_of_column", "number_of_column")
def read_column_of_table(match: PatternMatch) -> str | None:
    """Read `names of all directors` as a column, and `phone number of all` as the phone."""
    if "#count" in match.text:
        return f"{match['c']} of"
    following, mark = match.reading.column(match.after.split()[0]), match.get_mention("c")
    is_name = mark.text.lower() in ("name", "names", "title", "titles") and mark.hits[0].score >= 0.7
    return match["distinct"] if is_name and match.reading.names.kind(following) == "text" else None


@register_handler("count", "count_rows")
def read_count(match: PatternMatch) -> str | None:
    """Read `how many singers` and `number of different countries`."""
    if not match["e"]:
        return match.reading.add_operand(Operand(None, "count"))
    reading, names, mark, column = match.reading, match.reading.names, match.get_mention("e"), match.column("e")
    distinct = bool(match["distinct"] or match["also"])
    if column is not None and (distinct or match["e"].startswith("@c")):
        number = names.is_numeric(column) and names.kind(column) != "time" and not names.find_parent(column)
        is_id = names.key(column.table) == column or mark.text.lower().endswith("id")
        term = Operand(column, "count", True)
        if number and not distinct and not is_id:
            term = Operand(column, "sum" if match["how"] == "#total" and names.is_quantity(column) else "")
    else:
        table = reading.table(match["e"])
        reading.tables.append(table)
        mark.column = None
        key = names.key(table) if distinct else None
        term = Operand(key, "count", key is not None)
    return f"{match['described']} {reading.add_operand(term, mark) if term.aggregate else match['e']}"


@register_handler("aggregates")
def read_aggregates(match: PatternMatch) -> str | None:
    """Read `average, minimum and maximum age`, and superlatives if asked for or compared."""
    reading, tail = match.reading, match["rest"]
    functions = [word for word in match["how"].split() if word[0] in "#@"]
    if len(functions) == 1 and functions[0].startswith("@"):
        before = match.before
        is_request = _REQUEST_SO_FAR.match(before) and not re.match(r" @t", match.after) and "what @" not in before
        is_comparison = re.search(r"@o\d+(?: of| all)* $", match.before)
        if not (is_request or is_comparison) or reading.names.kind(reading.column(match["c"])) == "text":
            return None
    columns = [match["c"]]
    other_markers = reading.find_markers("cx", tail)
    if other_markers and all(reading.names.is_quantity(reading.column(other)) for other in other_markers):
        columns, tail = [*columns, *other_markers], ""
    by_marker: dict[str, Aggregate] = {"#avg": "avg", "#sum": "sum"}
    aggregates: list[Aggregate] = [
        by_marker.get(word) or ("max" if reading.get_mention(word).descending else "min") for word in functions
    ]
    markers = (
        reading.add_operand(Operand(reading.column(column), aggregate), reading.get_mention(column))
        for column in columns
        for aggregate in aggregates
    )
    return f"{' , '.join(markers)} {tail}"


_LAST = ("last", "bottom")
_TAKEN = re.compile(r"(?:@[oc]\d+|with|have|has|having|had|and|to|id|in|by|#between) \Z")
"""Text before a number that does not belong to the superlative after it."""


def _add_order(match: PatternMatch, term: Operand, descending: bool, text: str = "") -> str:
    """Sort by a term, with the number in a superlative as row limit; return `text`."""
    reading, number = match.reading, match["n"] or match["m"]
    literal = reading.get_mention(number).literal if number else None
    reading.limit = literal if isinstance(literal, int) else reading.several
    reading.order.append((term, descending))
    reading.per_subject = reading.per_subject or bool(term.aggregate)
    return text


@register_handler("cut")
def read_row_limit(match: PatternMatch) -> str | None:
    """Read `the top 5` and `just the first one` as a row limit for the previous query.

    Raises:
        NotUnderstood: The last rows of what has no order are wanted, or rows of a set operation.
    """
    reading, base = match.reading, match.reading.base
    end = match.get_mention("end").text.lower() if match["end"].startswith("@") else match["end"]
    tables = [reading.table(marker) for marker in reading.find_markers("tx", match["t"])]
    if end not in ("", "top", "first", *_LAST) or not {*tables} <= {*base.list_tables()}:
        return None
    if base.also is not None:
        raise NotUnderstood("I cannot take the first rows of lists put together.")
    operands = [(term, True) for term in base.select if term.aggregate and base.group and end != "first"]
    is_reversed = end in _LAST
    if is_reversed and not (base.order or operands):
        raise NotUnderstood("Those rows have no order, so none of them are the last. Say what to sort them by.")
    reading.order = [(term, descends != is_reversed) for term, descends in base.order or operands[:1]]
    reading.limit = int(match.get_mention("n").literal or 1) if match["n"] else 1
    return ""


@register_handler("several")
def read_superlative_row_count(match: PatternMatch) -> str | None:
    """Read the number of rows that a superlative asks for: `the two stores with the most ...`."""
    literal = match.get_mention("n").literal if match["n"] else None
    if _TAKEN.search(match.before) or (match["s"] and match.get_mention("s").text.lower() != "top"):
        return None
    if isinstance(literal, int) and literal <= 100:
        match.reading.several = literal
    else:
        return None
    return ""


@register_handler("order")
def read_sort_order(match: PatternMatch) -> str | None:
    """Read `in descending order of age`, `sorted by age` and `in alphabetical order`."""
    reading, direction = match.reading, match["way"] or "#asc"
    if not match["keys"]:
        reading.pending = direction if direction != "#alpha" else reading.pending or direction
    for marker in reading.find_markers("cxat", re.sub(r"@t\d+ (?=@)", "", match["keys"])):
        is_table = marker.startswith("@t")
        term = Operand(reading.names.find_titles(reading.table(marker))[0]) if is_table else reading.get_operand(marker)
        is_birth_date = direction.startswith("#age") and term.column is not None and "birth" in term.column.name.lower()
        reading.order.append((term, (direction in ("#desc", "#agedesc")) != is_birth_date))
        reading.per_subject = reading.per_subject or term.aggregate == "count"
    return ""


@register_handler("most_things", "most_rows", "most_common")
def read_count_superlative(match: PatternMatch) -> str | None:
    """Read `the most common city` and `with the largest number of concerts`."""
    reading, mark = match.reading, match.get_mention("s")
    if match["t"]:
        if mark.text.lower() not in ("most", "least", "fewest"):
            return None
        reading.count_table = reading.table(match["t"])
        reading.tables.append(reading.count_table)
    return _add_order(match, reading.get_operand(match["a"]) if match["a"] else Operand(None, "count"), mark.descending)


@register_handler("top")
def read_top_rows(match: PatternMatch) -> str | None:
    """Read `the top 3 singers by age`; `the top 3` alone needs a sort order from elsewhere."""
    reading = match.reading
    if match["k"]:
        return _add_order(
            match, reading.get_operand(match["k"]), match.get_mention("u" if match["u"] else "s").descending, match["t"]
        )
    if match["s"] and (match.get_mention("s").text.lower() != "top" or not reading.order):
        return None
    reading.limit = int(match.get_mention("n").literal or 1)
    return ""


@register_handler("superlative_column", "superlative_thing")
def read_superlative(match: PatternMatch) -> str | None:
    """Read `with the highest salary`, `the youngest singer` and `which singer is the oldest`."""
    reading, names, mark, column = match.reading, match.reading.names, match.get_mention("s"), match.column("c")
    if column is not None and (names.is_quantity(column) or not mark.hints):
        is_count = not names.is_quantity(column) and mark.text.lower() in ("most", "least", "fewest")
        return _add_order(match, Operand(column, "count" if is_count else ""), mark.descending, match["left"])
    near_tables = [column.table] if column else [reading.table(match["t"])] if match["t"] else reading.list_tables()
    last = "" if column or match["t"] else "".join(reading.find_markers("tx", match.before)[-1:])
    hint = names.find_hinted_column(mark.hints, [reading.table(last)], 0) if last else None
    hint = hint or names.find_hinted_column(mark.hints, near_tables)
    if (column is not None and " " in mark.text) or hint is None:
        return None
    # The oldest have the smallest birth date.
    is_birth_date = "age" not in hint.name.lower() and ("birth" in mark.hints or {"founded", "age"} <= set(mark.hints))
    return _add_order(match, Operand(hint), mark.descending != is_birth_date, match["c"] or match["left"])


@register_handler("having")
def read_group_condition(match: PatternMatch) -> str | None:
    """Read `with more than 2 concerts`, `whose number of concerts is 2`, `more than 3 times`."""
    reading = match.reading
    if match["t"]:
        reading.count_table = reading.table(match["t"])
        reading.tables.append(reading.count_table)
    elif not match["a"] and not match["times"] and match.get_mention("n").text.lower() not in ("once", "twice"):
        return None
    reading.add(
        reading.get_operand(match["a"]) if match["a"] else Operand(None, "count"),
        match.get_comparison_operator(),
        match.literal("n"),
    )
    return match["v"]


@register_handler("each")
def read_grouping(match: PatternMatch) -> str | None:
    """Read `for each country`; read `freight by country` only if an aggregate is computed."""
    reading = match.reading
    if match["computed"]:
        alone = reading.base.has_aggregates() and not reading.find_markers("cxtavno", match.before)
        is_asked = (reading.find_markers("a", match.before) or alone) and "#sort" not in match.before
        return f"#each {match['computed']}" if is_asked else None
    if not match["e"]:
        reading.per_subject = True
    elif reading.is_table_mention(match["e"]):
        reading.group_tables.append(reading.table(match["e"]))
    else:
        reading.group += [reading.column(marker) for marker in (match["e"], match["f"]) if marker]
    return ""


_DATE_TEXT = re.compile(r"\d{4}[-/]|[-/]\d{4}|, \d{4}")


def _may_be_year(value: object) -> bool:
    return isinstance(value, int) and 1500 <= value <= 2100


def _get_matched_value(mark: Mention, column: Column) -> Scalar | None:
    """Return the value of a column that a mention matched, or None."""
    return next((m.value for m in mark.matches if (m.table, m.column) == (column.table, column.name)), None)


def _add_comparison(state: ParseState, term: Operand, operator: Operator, value: Scalar) -> str:
    """Add a comparison of a term with a literal; a number may be the year of a date column."""
    schema = state.names.column(term.column) if term.column and not term.aggregate else None
    texts = [sample for sample in schema.samples if isinstance(sample, str)] if schema else []
    if isinstance(value, int) and _may_be_year(value) and any(_DATE_TEXT.search(text) for text in texts):
        if operator == "=":
            return state.add(term, "like", f"%{value}%")
        inclusive: Operator = {">": ">=", "<=": "<"}.get(operator, operator)  # type: ignore[assignment]
        # A whole date: columns declared as dates take a mere year for a number, which any text is larger than.
        first = "-01-01" if match_time(texts[0], whole=False) else ""
        return state.add(term, inclusive, f"{value + (inclusive != operator)}{first}")
    return state.add(term, operator, str(value) if schema and schema.kind == "text" and operator == "=" else value)


@register_handler("against_average", "against_all")
def read_aggregate_comparison(match: PatternMatch) -> str | None:
    """Read `above the average age`, `more than the lowest price`, `older than all students`."""
    reading, scope = match.reading, match["scope"]
    inner = reading.get_operand(match["a"]) if match["a"] else None
    marker = match["c"] or match["d"]
    term = reading.get_operand(marker) if marker else Operand(inner.column) if inner else _suggest_compared_term(match)
    if term is None or (inner and inner.column is None) or (term.column and not reading.names.is_numeric(term.column)):
        return None
    operator = match.get_comparison_operator(term.column)
    least = operator.startswith("<") != (scope == "some" or scope.startswith("@"))
    inner = inner or Operand(term.column, "avg" if not scope else "min" if least else "max")
    tables = tuple(reading.table(marker) for marker in reading.find_markers("t", match["clause"]))
    where = tuple(reading.parse_clause(match["clause"], "rows").where)
    return reading.add(term, operator, QueryFrame((inner,), tables, where))


@register_handler("contains")
def read_text_condition(match: PatternMatch) -> str | None:
    """Read `whose name contains 'Hey'` and `starting with A`."""
    reading, verb, content = match.reading, match["verb"], match["content"]
    marker = match["d"] or match["c"] or match["e"]
    if not verb.startswith("#"):
        part = match["d"] or re.search(r"word|letter|string|phrase", match.text)
        if not marker or not (part or (verb != "with" and content[1:2] == "q" and not match["e"])):
            return None
    elif content.startswith("@v") and verb == "#contain" and not marker:
        return None
    mark = reading.get_mention(content) if content.startswith("@") else None
    tables = [reading.table(marker)] if marker.startswith("@t") else reading.list_tables()
    column = None if marker.startswith("@t") else reading.get_mention(marker).column if marker else mark and mark.column
    if column is None and not tables:
        return None
    term = Operand(column or reading.names.find_titles(tables[0])[0])
    text = mark.text if mark else content
    pattern = {"#start": f"{text}%", "#end": f"%{text}"}.get(verb, f"%{text}%")
    is_request = _REQUEST_SO_FAR.match(match.before) and (
        match["c"][1:2] == "t" or not reading.find_markers("cxa", match.before)
    )
    return f"{match['c'] if is_request else ''} {reading.add(term, 'not like' if match['no'] else 'like', pattern)}"


@register_handler("flag", "null")
def read_flag_or_null_condition(match: PatternMatch) -> str | None:
    """Read `discontinued products` (a yes/no column), `address is missing`, `without a phone`."""
    column = match.reading.column(match["c"])
    if match["lacks"] or match["has"]:
        missing = match.reading.names.column(column).nulls is True
        return match.reading.add(Operand(column), "null" if match["lacks"] else "not null", None) if missing else None
    if "#null" in match.text:
        return match.reading.add(Operand(column), "not null" if match["no"] else "null", None)
    yes = match.reading.names.find_yes_value(column)
    return None if yes is None else match.reading.add(Operand(column), "!=" if match["no"] else "=", yes)


@register_handler("between", "compare", "in_year")
def read_comparison(match: PatternMatch) -> str | None:
    """Read `age is above 20`, `aged 20 or older`, `after 2010` and `between 5 and 10`."""
    reading, mark, literal = match.reading, match.get_mention("l"), match.literal("l")
    marker = match["c"] or match["d"]
    term = reading.get_operand(marker) if marker else _suggest_compared_term(match, literal)
    if term is None:
        return None
    if match["m"]:
        last = match.literal("m")
        if _may_be_year(literal) and _may_be_year(last) and term.column and reading.names.kind(term.column) == "time":
            return " ".join([_add_comparison(reading, term, ">=", literal), _add_comparison(reading, term, "<=", last)])
        return reading.add(term, "between", (literal, last))
    column = term.column
    assert column is not None
    fits = reading.names.is_numeric(column) or mark.kind != "n" or not match.text.endswith(match["l"])
    if marker and mark.kind == "v":
        fits = _get_matched_value(mark, column) is not None
    return _add_comparison(reading, term, match.get_comparison_operator(column), literal) if fits else None


def _suggest_compared_term(match: PatternMatch, literal: Scalar | None = None) -> Operand | None:
    """Return the column that an adjective or kind of number suggests if no column is named."""
    hints = match.get_mention("o").hints if match["o"] else ("age", "price", "number") if match["m"] else ()
    is_date = isinstance(literal, str) or (_may_be_year(literal) and bool(match["o"] or match["m"] or match["when"]))
    if is_date and (not match["o"] or not hints or "date" in hints):
        hints = ("year", "date", "time") if _may_be_year(literal) else ("date", "day", "time")
    column = match.reading.names.find_hinted_column(hints, match.reading.list_tables()) if hints else None
    return None if column is None or ("birth" in column.name.lower() and not is_date) else Operand(column)


@register_handler("unequal")
def read_not_equal_condition(match: PatternMatch) -> str | None:
    """Read `not from France`; if a row can have several values, none may be this value."""
    reading, mark, near_tables = match.reading, match.get_mention("v"), match.reading.list_tables()
    if mark.column is None or not near_tables:
        return None
    table = mark.column.table
    more_mentions = [reading.get_mention(marker) for marker in reading.find_markers("vq", match["more"])]
    if any(other.column != mark.column for other in more_mentions):
        return None
    if table == near_tables[0] or reading.names.references_table(near_tables[0], table):
        return " ".join(reading.add(Operand(mark.column), "!=", mention.literal) for mention in (mark, *more_mentions))
    link = reading.names.find_link_columns(near_tables[0], table)
    if link is None:
        return None
    reading.tables.append(near_tables[0])
    group = tuple(Predicate(Operand(mark.column), "=", mention.literal) for mention in (mark, *more_mentions))
    return reading.add(Operand(link[0]), "not in", QueryFrame((Operand(link[1]),), (link[1].table, table), (group,)))


@register_handler("equal")
def read_equal_condition(match: PatternMatch) -> str | None:
    """Read `whose name is 'Joe'`, `country France or Spain`, `nationality is not French`."""
    reading, mark = match.reading, match.get_mention("l")
    column = reading.column(match["c"])
    same_columns = [Column(m.table, m.column) for m in mark.matches if m.column.lower() == column.name.lower()]
    column = same_columns[0] if mark.kind == "v" and same_columns and column not in same_columns else column
    clause = f" {match.text[: match.text.rindex(match['l'])].replace(match['c'], '', 1)} "
    if mark.kind == "v" and ((_get_matched_value(mark, column) is None and mark.column is not None) or " , " in clause):
        return None
    is_count = re.search(r" (?:in|for|on|from|has|have|@t\d+) ", clause)
    samples = reading.names.column(column).samples
    years = reading.names.kind(column) == "time" or (bool(samples) and all(map(_may_be_year, samples)))
    when = _may_be_year(mark.literal) and years
    if mark.kind == "n" and is_count and not (when or reading.get_mention(match["c"]).text.lower().endswith("year")):
        return None
    values = [reading.get_mention(marker) for marker in (match["l"], *reading.find_markers("vqn", match["more"]))]
    if match["no"]:
        stood = reading.add(Operand(column), "!=", mark.literal)
    elif mark.kind == "n" and len(values) == 1:
        stood = _add_comparison(reading, Operand(column), "=", match.literal("l"))
    elif when and reading.names.kind(column) == "time" and all(v.kind == "n" for v in values):
        stood = reading.add_alternatives(*(Predicate(Operand(column), "like", f"%{v.literal}%") for v in values))
    else:
        literals = (_get_matched_value(v, column) or v.literal for v in values)
        stood = reading.add_alternatives(*(Predicate(Operand(column), "=", literal) for literal in literals))
    return " ".join([*reading.find_markers("t", clause), stood])


@register_handler("value")
def read_value(match: PatternMatch) -> str | None:
    """Read a value alone: `from France`, `French citizens`."""
    reading, mark, after = match.reading, match.get_mention("v"), match["c"]
    before = [*map(reading.table, reading.find_markers("tx", match.before))]
    tables = before[-1:] or reading.list_tables()
    if mark.column is None and not tables:
        return None
    column = mark.column or reading.names.find_titles(tables[0])[0]
    stood = reading.add(Operand(column), "=", mark.literal)
    return stood if after and reading.column(after) == column else f"{stood} {after}"


@register_handler("numbered")
def read_key_value(match: PatternMatch) -> str | None:
    """Read `student 1004` as the row with that key."""
    key = match.reading.names.key(match.reading.table(match["t"]))
    return f"{match['t']} {match.reading.add(Operand(key), '=', match.literal('l'))}" if key else None


@register_handler("without_rows", "except_those")
def read_exclusion(match: PatternMatch) -> str | None:
    """Read `stadiums without any concert in 2014` and `except those with at least two concerts`."""
    reading, names, tail = match.reading, match.reading.names, match["rest"]
    before = [reading.table(marker) for marker in reading.find_markers("atx", match.before)]
    before += [reading.column(marker).table for marker in reading.find_markers("c", match.before)]
    heads = list(filter(None, before)) or list(reading.base.list_tables()[:1])
    heads = heads or [reading.table(marker) for marker in reading.find_markers("t", match.after)]
    if not heads:
        return None
    markers = [match["t"], *reading.find_markers("t", tail)] if match["t"] else []
    table = next((table for marker in markers if (table := reading.table(marker)) != heads[0]), heads[0])
    key = None if markers else names.key(heads[0])
    link = names.find_link_columns(heads[0], table) if table != heads[0] else key and (key, key)
    inner = reading.parse_clause(f"{match['value']} {match['t']} {tail}", "ranking", "rows")
    if link is None or not (markers or inner.where or inner.having):
        return None
    reading.tables.append(heads[0])
    group = (link[1],) if inner.having else ()
    tables = tuple(dict.fromkeys([table, *inner.tables]))
    frame = QueryFrame((Operand(link[1]),), tables, tuple(inner.where), group, tuple(inner.having))
    reading.where.append((Predicate(Operand(link[0]), "not in", frame),))
    return ""


@register_handler("pointed")
def replace_demonstrative(match: PatternMatch) -> str | None:
    """Replace `those students` by `of those` if the base query uses `students`."""
    mark, marker = match.get_mention("subject"), match["subject"]
    table = mark.column.table if marker[1] == "c" and mark.column and match["by"] else mark.table
    is_count = match["each"] and re.search(r"#howmany|#count|#avg|#sum|@s", match.before)
    return None if is_count or table not in match.reading.base.list_tables() else f"of {match['those']}"


@register_handler("most_shown")
def read_superlative_follow_up(match: PatternMatch) -> str | None:
    """Read `which has the most?` and `the 3 lowest` by the base query's order or last number."""
    reading, base, names = match.reading, match.reading.base, match.reading.names
    numbers = [term for term in base.select if term.aggregate or (term.column and names.is_quantity(term.column))]
    if reading.order or base.has_single_aggregate_row() or not (base.order or numbers):
        return None
    return _add_order(match, base.order[0][0] if base.order else numbers[-1], match.get_mention("s").descending)


def parse(question: QuestionInput, base: QueryFrame = NOTHING) -> ParseState:
    """Parse a question on its own; `base` is the query that the conversation is about."""
    context = base.list_tables()
    words = split_question_into_words(CUES["that"].sub(r"\1 this", question.text) if context else question.text)
    items = find_mentions(words, question.names, question.values)
    resolve_mentions(items, question.names, context)
    marks = [item for item in items if isinstance(item, Mention)]
    numbers = iter(range(len(marks)))
    text = " ".join(item if isinstance(item, str) else f"@{item.kind}{next(numbers)}" for item in items)
    reading = ParseState(question, marks, re.sub(r"(?: \.)+$", "", text), base)
    apply_pattern_stages(reading, *["shorter"] * bool(context), "terms", "negation", "ranking", "rows")
    reading.frame = build_query_frame(reading)
    return reading
