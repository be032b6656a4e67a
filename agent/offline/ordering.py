"""Patterns for order, superlatives, top-N and groups."""

from __future__ import annotations

import re

from .frame import Column, Condition, Operator, Term
from .reading import Grammar, Reading

ORDERING = Grammar()
_KEYS = r"(?:(?:amount|level|value) of )?@[cxat]\d+(?:(?: ,)?(?: and)? @[cxa]\d+)*"
_DIRECTION = r"#asc|#desc|#alpha|#agedesc|#ageasc"
_HAVE = ("with", "have", "has", "having", "had", "and", "to", "id", "in", "by")
_HAVING = r"(?:(?:with|have|has|having|had|contain|is|are|was|were|by|of|in|#who|that|do|get|got|#contain) )*"


def _descends(direction: str, term: Term) -> bool:
    if direction in ("#agedesc", "#ageasc"):
        birth = term.column is not None and "birth" in term.column.name.lower()
        return (direction == "#agedesc") != birth
    return direction == "#desc"


def _key(reading: Reading, marker: str) -> Term:
    if marker.startswith("@t"):
        return Term(reading.names.title(reading.table(marker))[0])
    return reading.term(marker)


def _add_order(reading: Reading, keys: str, direction: str) -> str:
    for marker in reading.markers("cxat", keys):
        term = _key(reading, marker)
        reading.order.append((term, _descends(direction, term)))
        if term.aggregate == "count":
            reading.per_subject = True
    return ""


@ORDERING.pattern("by_group", r"by ({C}|{T})(?= \.|$| ,| #sort| in)")
def by_group(reading: Reading, match: re.Match[str]) -> str | None:
    """`total freight by country` groups, where something is computed."""
    before = reading.text[: match.start()]
    return f"#each {match[1]}" if reading.markers("a", before) and "#sort" not in before else None


@ORDERING.pattern("several", r"(?:{S} )?({N})(?= {T}| @c\d+ (?:with|#who|have)| {S})")
def several(reading: Reading, match: re.Match[str]) -> str | None:
    """`the two stores with the most ...`: how many are wanted, where a superlative follows."""
    before = reading.text[: match.start()].split()
    follows = re.match(r".*@s\d+", reading.text[match.end() :])
    if not follows or (before and (before[-1].startswith(("@o", "@c", "#between")) or before[-1] in _HAVE)):
        return None
    literal = reading.mark(match[1]).literal
    if match[0].startswith("@s") and reading.mark(match[0].split()[0]).text.lower() != "top":
        return None
    if not isinstance(literal, int) or literal > 100:
        return None
    reading.several = literal
    return ""


@ORDERING.pattern(
    "spent_most", r"(?:have |has )?(?:spent|spend|spends|paid|pay|pays|earned|earn|earns) ({S})(?: money)?"
)
def spent_most(reading: Reading, match: re.Match[str]) -> str | None:
    """`who spent the most`: the greatest total of what was paid."""
    column = reading.names.hinted(("total", "amount", "payment", "salary", "fee", "price", "cost"), reading.near(), 3)
    if column is None:
        return None
    many = column.table != next(iter(reading.near()), column.table)
    term = Term(column, "sum") if many else Term(column)
    reading.order.append((term, reading.mark(match[1]).descending))
    reading.per_subject = many
    _limit(reading, None)
    return ""


@ORDERING.pattern(
    "direction_of",
    rf"(?:, )?(?:and )?(?:#sort (?:{{T}} )?)?(?:(?:them|results?|by|it|in|with|from) )*({_DIRECTION})(?: order)?"
    rf"(?: of| by| according to| based on| on| in terms of| their| its| #sort| in)+ ({_KEYS})",
)
def direction_of(reading: Reading, match: re.Match[str]) -> str | None:
    """`in descending order of age`."""
    return _add_order(reading, match[2], match[1])


@ORDERING.pattern("sort_descending", rf"(?:listed |ranked )?(?:#sort|by)(?: in| by| of)* ({_DIRECTION}) ({_KEYS})")
def sort_descending(reading: Reading, match: re.Match[str]) -> str | None:
    """`ordered by descending age`."""
    return _add_order(reading, match[2], match[1])


@ORDERING.pattern(
    "sort_by",
    r"(?:, )?(?:and )?(?:in |is |are )?#sort(?: (?:them|results?|it|list|by|according|to|on|based|of|their|its|"
    rf"in|from|all|rows|these|those|{{T}}(?= by| in| from| according)))* ({_KEYS})((?: from| in| ,)*"
    rf" (?:{_DIRECTION})(?: order)?)?",
)
def sort_by(reading: Reading, match: re.Match[str]) -> str | None:
    """`sorted by age in descending order`."""
    direction = next((word for word in (match[2] or "").split() if word.startswith("#")), "#asc")
    return _add_order(reading, match[1], direction)


@ORDERING.pattern(
    "direction_only",
    rf"(?:, )?(?:and )?(?:#sort )?(?:(?:them|results?|by|it|in|with|from|all) )*({_DIRECTION})(?: order)?",
)
def direction_only(reading: Reading, match: re.Match[str]) -> str | None:
    """`in alphabetical order`, of what is shown."""
    reading.pending = match[1]
    return ""


def _limit(reading: Reading, number: str | None) -> None:
    reading.limit = reading.several
    if number:
        literal = reading.mark(number.strip()).literal
        if isinstance(literal, int):
            reading.limit = literal


@ORDERING.pattern(
    "most_common",
    r"(?:with |have |has )?({N} )?{S}( {N})?(?: number of)? #common(?: used| value of| [a-z]+)? ({C}|{T})",
)
def most_common(reading: Reading, match: re.Match[str]) -> str | None:
    """`the most common nationality`: the group with the most rows."""
    descending = reading.mark(_first(match[0], "s")).descending
    reading.order.append((Term(None, "count"), descending))
    _limit(reading, match[1] or match[2])
    marker = match[3]
    if reading.mark(marker).column is not None and not marker.startswith("@t"):
        reading.group.append(reading.column(marker))
        if reading.markers("cxa", reading.text[: match.start()]):
            reading.quiet.append(reading.column(marker))
            return ""
    else:
        reading.per_subject = True
    return marker


@ORDERING.pattern(
    "is_most_common",
    r"(?:(?:#who|is|are|was|were|be|occurs|appears|used|that) )*({N} )?{S}(?: number of)? (?:#common|#times)",
)
def is_most_common(reading: Reading, match: re.Match[str]) -> str | None:
    """`which city is the most common`."""
    reading.order.append((Term(None, "count"), reading.mark(_first(match[0], "s")).descending))
    _limit(reading, match[1])
    reading.per_subject = True
    return ""


@ORDERING.pattern("most_rows", rf"{_HAVING}({{N}} )?({{S}})( {{N}})?(?: of)? ({{A}})")
def most_rows(reading: Reading, match: re.Match[str]) -> str | None:
    """`with the largest number of concerts`, `with the highest average age`."""
    reading.order.append((reading.term(match[4]), reading.mark(match[2]).descending))
    _limit(reading, match[1] or match[3])
    reading.per_subject = True
    return ""


@ORDERING.pattern(
    "most_things",
    r"(?:(?:with|have|has|having|had|of|in|do|get|got|#contain|made|offer|won|did|does|#who|\w+s|\w+ed)"
    r" )?(?:[a-z]+ )?({S})(?: of)?(?: all)? ({T})(?! with| by (?:@c|@x))",
)
def most_things(reading: Reading, match: re.Match[str]) -> str | None:
    """`the stadium with the most concerts`."""
    mark = reading.mark(match[1])
    if mark.text.lower() not in ("most", "least", "fewest"):
        return None
    reading.need(reading.table(match[2]))
    reading.counted = reading.table(match[2])
    reading.order.append((Term(None, "count"), mark.descending))
    _limit(reading, None)
    reading.per_subject = True
    return ""


@ORDERING.pattern(
    "top_by",
    r"({S}) ({N}) ({T}|{C})(?:(?: sorted| ranked| with| in| terms| based| on| of| according| to| #who| have|"
    r" has| had)* (?:by|with|of|on|in|to|has|have|had)(?: {S})? ({K}))",
)
def top_by(reading: Reading, match: re.Match[str]) -> str | None:
    """`the top 3 singers by age`."""
    inner = reading.markers("s", match[0])
    descending = reading.mark(inner[-1]).descending
    term = reading.term(match[4])
    reading.order.append((term, descending))
    _limit(reading, match[2])
    reading.per_subject = reading.per_subject or term.aggregate != ""
    return match[3]


@ORDERING.pattern("top", r"({S}) ({N})(?= {T}| {C})")
def top(reading: Reading, match: re.Match[str]) -> str | None:
    """`the top 3 stores`, in an order that is given elsewhere."""
    if reading.mark(match[1]).text.lower() != "top" or not reading.order:
        return None
    _limit(reading, match[2])
    return ""


@ORDERING.pattern("first_rows", r"first ({N})(?= {T})")
def first_rows(reading: Reading, match: re.Match[str]) -> str | None:
    """`the first 3 artists`, in whatever order they have."""
    _limit(reading, match[1])
    return ""


@ORDERING.pattern(
    "superlative_column",
    rf"{_HAVING}({{N}} )?({{S}})( {{N}})?(?: amount| value| number)?(?: of| in| \w+ing)? ({{C}})(?: value| values)?",
)
def superlative_column(reading: Reading, match: re.Match[str]) -> str | None:
    """`with the highest salary`."""
    column = reading.column(match[4])
    mark = reading.mark(match[2])
    hint = reading.names.hinted(mark.hints, [column.table]) if mark.hints else None
    if re.search(r"@o\d+(?: \w+)*\Z", reading.text[: match.start()].rstrip()):
        return None
    number = reading.names.quantity(column)
    if " " in mark.text and not number:
        return None
    unhinted = hint is None or hint.table != column.table
    if not number and unhinted and mark.text.lower() in ("most", "least", "fewest"):
        reading.order.append((Term(column, "count"), mark.descending))
        _limit(reading, match[1] or match[3])
        reading.per_subject = True
        return ""
    if not number and hint is not None:
        reading.order.append((Term(hint), _direction(mark.descending, mark.hints, hint)))
        _limit(reading, match[1] or match[3])
        return match[4]
    reading.order.append((Term(column), mark.descending))
    _limit(reading, match[1] or match[3])
    return ""


@ORDERING.pattern("superlative_thing", r"(?:(?:is|are|was|were|#who|by) )*({N} )?({S})( {N})?((?: {V})?)( {T})?")
def superlative_thing(reading: Reading, match: re.Match[str]) -> str | None:
    """`the youngest singer`, `which singer is the oldest`."""
    mark = reading.mark(match[2])
    tables = [reading.table(match[5].strip())] if match[5] else reading.near()
    last = reading.markers("tx", reading.text[: match.start()])[-1:]
    hint = reading.names.hinted(mark.hints, [reading.table(m) for m in last], 0) if last and not match[5] else None
    if hint is None:
        hint = reading.names.hinted(mark.hints, tables) if mark.hints else None
    if hint is None:
        return None
    reading.order.append((Term(hint), _direction(mark.descending, mark.hints, hint)))
    _limit(reading, match[1] or match[3])
    return f"{match[4]} {match[5] or ''}"


def _direction(descending: bool, hints: tuple[str, ...], column: Column) -> bool:
    """The oldest have the smallest birth date."""
    flipped = ("birth" in hints and "age" not in column.name.lower()) or (
        "founded" in hints and "age" in hints and "age" not in column.name.lower()
    )
    return descending != flipped


@ORDERING.pattern(
    "having_count",
    rf"{_HAVING}(?:only )?((?:{{O}} )?{{N}})( #ormore| #orless)?(?: #distinct| of| or more)*( {{V}})? ({{T}})",
)
def having_count(reading: Reading, match: re.Match[str]) -> str | None:
    """`with more than 2 concerts`."""
    if not match[2] and not re.match(
        r"(?:with|have|has|having|had|contain|in|#who|that|do|@o|get|only|#contain)", match[0]
    ):
        return None
    operator = _operator(reading, match[1], match[2])
    reading.need(reading.table(match[4]))
    reading.counted = reading.table(match[4])
    number = reading.mark(reading.markers("n", match[1])[0]).literal
    if (operator, number) == (">=", 1):
        return match[3] or ""
    reading.having.append(Condition(Term(None, "count"), operator, number))
    reading.per_subject = True
    return match[3] or ""


@ORDERING.pattern(
    "having_term",
    r"(?:(?:with|have|has|having|had|#who|whose) )*({A})(?: is| are| of| was| were)* ((?:{O} )?{N})( #ormore|"
    r" #orless)?",
)
def having_term(reading: Reading, match: re.Match[str]) -> str | None:
    """`whose number of concerts is at least 2`."""
    number = reading.mark(reading.markers("n", match[2])[0]).literal
    reading.having.append(Condition(reading.term(match[1]), _operator(reading, match[2], match[3]), number))
    reading.per_subject = True
    return ""


@ORDERING.pattern("times", r"(?:(?:appear|appears|used|occur|occurs) )?({O} {N})(?: #times)?$|({O} {N}) #times")
def times(reading: Reading, match: re.Match[str]) -> str | None:
    """`more than 3 times`."""
    found = match[1] or match[2]
    if "#times" not in match[0] and reading.mark(_first(found, "n")).text.lower() not in ("once", "twice"):
        return None
    number = reading.mark(_first(found, "n")).literal
    reading.having.append(Condition(Term(None, "count"), _operator(reading, found, None), number))
    reading.per_subject = True
    return ""


@ORDERING.pattern("each_one", r"#each(?: one| @n\d+)?(?= have| has| do| does|$| \.| of them| made| is| are)")
def each_one(reading: Reading, match: re.Match[str]) -> str | None:
    """`how many does each have`."""
    reading.per_subject = True
    return ""


@ORDERING.pattern("each", r"(?:, )?#each(?: of| #distinct| different)* ({C}|{T})")
def each(reading: Reading, match: re.Match[str]) -> str | None:
    """`for each country`."""
    marker = match[1]
    mark = reading.mark(marker)
    if (
        marker.startswith("@t")
        or (marker.startswith("@x") and mark.column is None)
        or (marker.startswith("@x") and reading.table(marker) and mark.hits[0].column is None)
    ):
        reading.group_tables.append(reading.table(marker))
    else:
        reading.group.append(reading.column(marker))
    return ""


def _first(text: str, kind: str) -> str:
    found = re.search(rf"@{kind}\d+", text)
    assert found is not None
    return found.group()


def _operator(reading: Reading, text: str, suffix: str | None) -> Operator:
    comparisons = reading.markers("o", text)
    if comparisons:
        return reading.mark(comparisons[0]).operator  # type: ignore[return-value]
    return {" #ormore": ">=", " #orless": "<="}.get(suffix or "", "=")  # type: ignore[return-value]
