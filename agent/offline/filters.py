"""Patterns for conditions on rows."""

from __future__ import annotations

import re
from dataclasses import replace

from .frame import Column, Condition, Frame, Scalar, Term
from .reading import Grammar, Reading
from .terms import function_of

FILTERS = Grammar()
_IS = (
    r"(?: is| are| was| were| of| that| #who| value| values| be| in| has| have| equal| to| =| being| falls| lies|"
    r" named| called| either| or| by| year| number| code| no| #o=| from| as| for| on| ,| @t\d+)*"
)
_CUT = r"(?:(?:with|have|has|having|had|whose|#who|where|and|is|are|was|were|of|in|by) )*"
_FLIPPED = {">": "<", ">=": "<=", "<": ">", "<=": ">="}


def _add(reading: Reading, term: Term, operator: str, value: Scalar | tuple[Scalar, Scalar] | Frame | None) -> str:
    if term.aggregate:
        reading.having.append(Condition(term, operator, value))  # type: ignore[arg-type]
        reading.per_subject = True
    else:
        return _where(reading, Condition(term, operator, value))  # type: ignore[arg-type]
    return ""


def _where(reading: Reading, *conditions: Condition) -> str:
    """Adds conditions of which one must hold, and leaves a marker of where they stood."""
    reading.where.append(conditions)
    return f"@w{len(reading.where) - 1}"


def _number(reading: Reading, marker: str) -> Scalar:
    literal = reading.mark(marker).literal
    assert literal is not None
    return literal


def _year(reading: Reading, value: Scalar) -> bool:
    return isinstance(value, int) and 1500 <= value <= 2100


def _dated(reading: Reading, column: Column, operator: str, value: Scalar) -> str:
    """A comparison of a column with a number, where the column may hold dates and the number be a year."""
    schema = reading.names.column(column)
    if _year(reading, value) and (schema.kind == "time" or _holds_dates(schema.samples)):
        if operator == "=":
            return _add(reading, Term(column), "like", f"%{value}%" if not _iso(schema.samples) else f"{value}%")
        if operator in (">", "<="):
            return _add(reading, Term(column), {">": ">=", "<=": "<"}[operator], f"{int(value) + 1}")
        return _add(reading, Term(column), operator, str(value))
    if schema.kind == "text" and not isinstance(value, str):
        value = str(value) if operator == "=" else value
    return _add(reading, Term(column), operator, value)


def _holds_dates(samples: tuple[object, ...]) -> bool:
    return any(isinstance(s, str) and re.search(r"\d{4}[-/]|[-/]\d{4}|, \d{4}", s) for s in samples)


def _iso(samples: tuple[object, ...]) -> bool:
    return any(isinstance(s, str) and re.match(r"\d{4}-", s) for s in samples)


def _comparison(reading: Reading, text: str, column: Column | None = None) -> str:
    found = re.search(r"@o\d+", text)
    if found is None:
        return "="
    mark = reading.mark(found.group())
    if column is not None and "birth" in mark.hints and "birth" in column.name.lower():
        return _FLIPPED.get(mark.operator, mark.operator)
    return mark.operator


@FILTERS.pattern("between", rf"(?:{_CUT}({{K}}){_IS} )?(?:#between|from) ({{N}}) (?:and|to) ({{N}})(?: in)?( {{C}})?")
def between(reading: Reading, match: re.Match[str]) -> str | None:
    """`a capacity between 5000 and 10000`."""
    marker = match[1] or (match[4] or "").strip()
    low, high = _number(reading, match[2]), _number(reading, match[3])
    if marker:
        return _add(reading, reading.term(marker), "between", (low, high))
    hints = ("year", "date", "time") if _year(reading, low) else ("age", "price", "number")
    column = reading.names.hinted(hints, reading.near())
    return None if column is None else _add(reading, Term(column), "between", (low, high))


@FILTERS.pattern(
    "against_average",
    rf"(?:{_CUT}({{C}}){_IS} )?({{O}})(?: of| all| that| for)* (?:#avg|({{A}}))((?: (?:of|for|in|all|other|#all"
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
    return _add(reading, Term(column), _comparison(reading, match[2], column), whole)


def _within(reading: Reading, frame: Frame, clause: str) -> Frame:
    """The frame narrowed by a clause that belongs to it: `the average age of students in France`."""
    if not clause:
        return frame
    inner = Reading(reading.names, reading.marks, clause.strip(), reading.context, reading.terms)
    FILTERS.apply(inner)
    tables = tuple(reading.table(marker) for marker in reading.markers("t", clause))
    return replace(frame, tables=tables, where=tuple(inner.where))


@FILTERS.pattern(
    "against_all",
    rf"{_CUT}(?:({{C}}){_IS} )?({{O}})((?: (?:any|all|some|every|#who|of|for|from|other|one|than|those|@c\d+"
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
    operator = _comparison(reading, match[2], column)
    least = "some" in words or bool(reading.markers("o", match[3]))
    aggregate = "max" if operator.startswith(">") != least else "min"
    return _add(reading, Term(column), operator, _within(reading, Frame(select=(Term(column, aggregate),)), match[4]))


@FILTERS.pattern(
    "contains",
    rf"(?:{_CUT}({{C}}|{{T}}){_IS} )?((?:do |does |did )?(?:#not |#isnot )?)(#contain|#start|#end|with|has|have"
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
    stood = _add(reading, Term(column), "not like" if match[2] else "like", text)
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
    return _where(reading, Condition(Term(column), "in", Frame((Term(key),), where=inner)))


@FILTERS.pattern("flag", r"({C})(?= {T})|(?:#who )?(?:is|are|was|were) (#not |)({C})(?= \.|$| and| or)")
def flag(reading: Reading, match: re.Match[str]) -> str | None:
    """`discontinued products`, where the column holds yes or no."""
    column = reading.column(match[1] or match[3])
    yes = reading.names.yes(column)
    if yes is None:
        return None
    return _where(reading, Condition(Term(column), "!=" if match[2] else "=", yes))


@FILTERS.pattern(
    "null", rf"{_CUT}({{C}}){_IS}( #not| #isnot)? #null|with() #null(?: value| values)?(?: for| in| of)* ({{C}})"
)
def null(reading: Reading, match: re.Match[str]) -> str | None:
    """`whose address is missing`."""
    return _add(reading, Term(reading.column(match[1] or match[4])), "not null" if match[2] else "null", None)


@FILTERS.pattern("compare", rf"{_CUT}({{C}}){_IS} ({{O}}) (@[nvq]\d+)(?! {{C}} (?:@|and))")
def compare(reading: Reading, match: re.Match[str]) -> str | None:
    """`age is above 20`."""
    column = reading.column(match[1])
    value = reading.mark(match[3])
    if not reading.names.numeric(column) and (reading.mark(match[2]).hints or value.kind == "n"):
        return None
    if value.kind == "v" and all((m.table, m.column) != (column.table, column.name) for m in value.matches):
        return None
    return _dated(reading, column, _comparison(reading, match[2], column), _number(reading, match[3]))


@FILTERS.pattern("compare_term", rf"{_CUT}({{K}}){_IS} ({{O}}) (?:({{A}})|({{S}})(?: of)? ({{C}}))")
def compare_term(reading: Reading, match: re.Match[str]) -> str | None:
    """`salary above the maximum salary of ...`."""
    inner = reading.term(match[3]) if match[3] else Term(reading.column(match[5]), function_of(reading, match[4]))
    if inner.column is None or not inner.aggregate:
        return None
    return _add(reading, reading.term(match[1]), _comparison(reading, match[2]), Frame(select=(inner,)))


@FILTERS.pattern("compare_after", rf"{_CUT}({{O}}) ({{N}})(?: of| in| years of)* ({{C}})")
def compare_after(reading: Reading, match: re.Match[str]) -> str | None:
    """`more than 100 points`."""
    column = reading.column(match[3])
    return _dated(reading, column, _comparison(reading, match[1], column), _number(reading, match[2]))


@FILTERS.pattern("number_of", r"(?:with|have|has|having|had|give|gave) ({N}) ({C})")
def number_of(reading: Reading, match: re.Match[str]) -> str | None:
    """`with 1 credit`."""
    column = reading.column(match[2])
    if not reading.names.quantity(column):
        return None
    return _add(reading, Term(column), "=", _number(reading, match[1]))


@FILTERS.pattern("compare_inside", rf"{_CUT}({{O}}) ({{C}})(?: of)? ({{N}})")
def compare_inside(reading: Reading, match: re.Match[str]) -> str | None:
    """`above age 20`."""
    column = reading.column(match[2])
    return _dated(reading, column, _comparison(reading, match[1], column), _number(reading, match[3]))


@FILTERS.pattern("or_more", rf"{_CUT}({{C}}){_IS} ({{N}}) (#ormore|#orless)")
def or_more(reading: Reading, match: re.Match[str]) -> str | None:
    """`aged 20 or older`."""
    return _dated(
        reading, reading.column(match[1]), {"#ormore": ">=", "#orless": "<="}[match[3]], _number(reading, match[2])
    )


@FILTERS.pattern("compare_hinted", rf"{_CUT}({{O}}) ({{N}})(?: years?(?: old)?)?")
def compare_hinted(reading: Reading, match: re.Match[str]) -> str | None:
    """`older than 20`, `after 2010`."""
    value = _number(reading, match[2])
    hints = reading.mark(match[1]).hints
    if _year(reading, value) and (not hints or "date" in hints):
        hints = ("year", "date", "time")
    column = reading.names.hinted(hints, reading.near()) if hints else None
    if column is None or ("birth" in column.name.lower() and not _year(reading, value) and not isinstance(value, str)):
        return None
    return _dated(reading, column, _comparison(reading, match[1], column), value)


@FILTERS.pattern(
    "unequal",
    rf"{_CUT}({{C}}){_IS} (?:#not|#isnot|{{O}})(?: in| from| of| equal| to| be| have| as| named| called)* ({{L}})",
)
def unequal(reading: Reading, match: re.Match[str]) -> str | None:
    """`whose nationality is not French`."""
    found = re.search(r"@o\d+", match[0])
    if found and reading.mark(found.group()).operator != "!=":
        return None
    column, mark = _held(reading, match[1], match[2]), reading.mark(match[2])
    if mark.kind == "v" and all((m.table, m.column) != (column.table, column.name) for m in mark.matches):
        return None
    return _add(reading, Term(column), "!=", reading.mark(match[2]).literal)


@FILTERS.pattern(
    "unequal_bare",
    rf"{_CUT}(?:do |does |did |of |be )*(?:#not|#isnot|#except|{{O}})(?: in| from| of| by| at| to| on| be| have"
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
    return _add(reading, Term(mark.column), "!=", mark.literal)


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
    rf"{_CUT}(?:#both )?(?:in |from |#who |have |has |a |is |to |as |are |{{T}} |{{C}} )*({{V}})(?: {{T}}|"
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
        return f"{tables} {_where(reading, first, second)}"
    reading.combine = ("intersect", [second])
    return f"{tables} {_where(reading, first)}"


@FILTERS.pattern("equal", rf"{_CUT}({{C}}){_IS} ({{L}})((?:(?: ,)?(?: or)(?: in| from| of)* {{L}})*)")
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
        return _where(reading, Condition(Term(column), "=", _spelled(reading, column, mark.literal, values[0])))
    if mark.kind == "n" and len(values) == 1:
        stood = _dated(reading, column, "=", _number(reading, match[2]))
    else:
        stood = _where(reading, *(Condition(Term(column), "=", _spelled(reading, column, None, v)) for v in values))
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
    rf"{_CUT}(?:either )?(?:in |from )*({{V}})((?:(?: ,)?(?: or| ,)(?: in| from| for| of)* {{V}})+)(?: {{C}})?",
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
    return _where(reading, *conditions)


@FILTERS.pattern("in_year", r"(?:(?:in|on|of|year|from|during|for|dated|@c\d+) )*({N})")
def in_year(reading: Reading, match: re.Match[str]) -> str | None:
    """`in 2014`."""
    value = _number(reading, match[1])
    if isinstance(value, str):
        column = reading.names.hinted(("date", "day", "time"), reading.near())
        return None if column is None else _add(reading, Term(column), "=", value)
    if not _year(reading, value) or not re.match(r"(?:in|on|of|year|from|during|for|dated)", match[0]):
        return None
    column = reading.names.hinted(("year", "date", "time"), reading.near())
    suffix = re.match(r" (#ormore|#orless)", reading.text[match.end() :])
    operator = {"#ormore": ">=", "#orless": "<="}[suffix[1]] if suffix else "="
    return None if column is None else _dated(reading, column, operator, value)


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
            return _add(reading, Term(column), "=", mark.literal) + after
    stood = _where(reading, Condition(Term(column), "=", mark.literal))
    return stood if after and reading.column(after) == column else f"{stood} {after}"


@FILTERS.pattern(
    "numbered", r"({T}) (?:with |whose |has |#who )?(?:number |no |id |ids )?(?:is |= |of )?({N})(?! {T}| {C})"
)
def numbered(reading: Reading, match: re.Match[str]) -> str | None:
    """`student 1004`: the row with that key."""
    key = reading.names.key(reading.table(match[1]))
    if key is None or not isinstance(reading.mark(match[2]).literal, int):
        return None
    return f"{match[1]} {_add(reading, Term(key), '=', _number(reading, match[2]))}"


_OR = re.compile(r"@w(\d+)(?: ,)? or((?: (?!@w)\S+){0,3}) @w(\d+)")
_AND = re.compile(r"@w(\d+)((?: (?!@w)\S+){0,5}?(?: and| ,| but)(?: (?!@w)\S+){0,5}) @w(\d+)")


def join_alternatives(reading: Reading) -> None:
    """Conditions with `or` between them become one group; ones that no row can meet together, two sets that meet."""
    while match := _OR.search(reading.text):
        first, second = int(match[1]), int(match[3])
        reading.where[first] += reading.where[second]
        reading.where[second] = ()
        reading.text = f"{reading.text[: match.start()]}@w{first}{match[2]}{reading.text[match.end() :]}"
    for match in _AND.finditer(reading.text):
        first, second = reading.where[int(match[1])], reading.where[int(match[3])]
        if reading.combine is None and len(first) == len(second) == 1 and _contradict(first[0], second[0]):
            reading.combine = ("intersect", [second[0]])
            reading.where[int(match[3])] = ()
    reading.where = [group for group in reading.where if group]


def _contradict(one: Condition, other: Condition) -> bool:
    if one.term != other.term or isinstance(one.value, Frame) or isinstance(other.value, Frame):
        return False
    if one.operator == other.operator == "=":
        return one.value != other.value
    if isinstance(one.value, int | float) and isinstance(other.value, int | float):
        low, high = (one, other) if one.operator.startswith(">") else (other, one)
        return low.operator[0] == ">" and high.operator[0] == "<" and low.value > high.value  # type: ignore[operator]
    return False
