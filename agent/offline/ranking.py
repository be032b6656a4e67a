"""Patterns for order, superlatives, top-N and groups."""

from __future__ import annotations

import re

from ...tools.frames import Column, Condition, Term
from ...tools.mentions.lexicon import ORDINALS
from .reading import Found, pattern

_KEYS = r"(?P<keys>(?:(?:amount|level|value) of )?@[cxat]\d+(?:(?: ,)?(?: and)? {K})*)"
_DIRECTION = r"(?P<way>#asc|#desc|#alpha|#agedesc|#ageasc)"
_HAVE = ("with", "have", "has", "having", "had", "and", "to", "id", "in", "by")
_HAVING = r"(?:(?:with|have|has|having|had|contain|is|are|was|were|by|of|in|#who|that|do|get|got|#contain) )*"
_RANK = r"(?P<n>{N} )?{s:S}(?P<m> {N})?"


def _limit(found: Found) -> None:
    """As many rows as the superlative's number says."""
    found.reading.limit = found.reading.several
    number = found["n"] or found["m"]
    literal = found.reading.mark(number).literal if number else None
    if isinstance(literal, int):
        found.reading.limit = literal


def _ranked(found: Found, term: Term, descending: bool, per_subject: bool = False) -> str:
    found.reading.order.append((term, descending))
    found.reading.per_subject = found.reading.per_subject or per_subject
    _limit(found)
    return ""


def _downwards(descending: bool, hints: tuple[str, ...], column: Column) -> bool:
    """The oldest have the smallest birth date."""
    aged = "age" in column.name.lower()
    return descending != (not aged and ("birth" in hints or {"founded", "age"} <= set(hints)))


@pattern(
    "ranking",
    rf"(?P<ordinal>{'|'.join(ORDINALS)})(?= {{S}})",
    r"(?:{s:S} )?{n:N}(?= {T}| @c\d+ (?:with|#who|have)| {S})",
)
def several(found: Found) -> str | None:
    """`the two stores with the most ...`, `the second oldest`: which are wanted, where a superlative follows."""
    if found["ordinal"]:
        found.reading.offset = ORDINALS[found["ordinal"]] - 1
        return ""
    before = found.before.split()
    literal = found.mark("n").literal
    if not re.match(r".*@s\d+", found.after) or (before and (before[-1][:2] in ("@o", "@c") or before[-1] in _HAVE)):
        return None
    if found["s"] and found.mark("s").text.lower() != "top":
        return None
    if "#between" in before[-1:] or not isinstance(literal, int) or literal > 100:
        return None
    found.reading.several = literal
    return ""


@pattern(
    "ranking",
    r"^#sort (?P<shown>(?:all )?{E}.*?)(?= (?:in )?(?:#asc|#desc|by|#alpha) )",
    rf"(?:, )?(?:and )?(?:#sort (?:{{T}} )?)?(?:(?:them|results?|by|it|in|with|from) )*{_DIRECTION}(?: order)?"
    rf"(?: of| by| according to| based on| on| in terms of| their| its| #sort| in)+ {_KEYS}",
    rf"(?:listed |ranked )?(?:#sort|by)(?: in| by| of)* {_DIRECTION} {_KEYS}",
    r"(?:, )?(?:and )?(?:in |is |are )?#sort(?: (?:them|results?|it|list|by|according|to|on|based|of|their|its|"
    rf"in|from|all|rows|these|those|{{T}}(?= by| in| from| according)))* {_KEYS}(?:(?: from| in| ,)*"
    rf" {_DIRECTION}(?: order)?)?",
    rf"(?:, )?(?:and )?(?:#sort )?(?:(?:them|results?|by|it|in|with|from|all) )*{_DIRECTION}(?: order)?",
)
def order(found: Found) -> str | None:
    """`in descending order of age`, `sorted by age`, `sort the names by age`, `in alphabetical order`."""
    reading, way = found.reading, found["way"] or "#asc"
    if found["shown"]:
        return f"show {found['shown']} #sort"
    if not found["keys"]:
        reading.pending = way if way != "#alpha" else reading.pending or way
        return ""
    for marker in reading.markers("cxat", re.sub(r"@t\d+ (?=@)", "", found["keys"])):
        is_table = marker.startswith("@t")
        term = Term(reading.names.title(reading.table(marker))[0]) if is_table else reading.term(marker)
        born = way.startswith("#age") and term.column is not None and "birth" in term.column.name.lower()
        reading.order.append((term, way in ("#desc", "#agedesc") if not born else way == "#ageasc"))
        reading.per_subject = reading.per_subject or term.aggregate == "count"
    return ""


@pattern(
    "ranking",
    r"(?:(?:#who|is|are|was|were|be|occurs|appears|used|that) )*(?P<n>{N} )?{s:S}(?: number of)? (?:#common|#times)",
)
def most_common(found: Found) -> str | None:
    """`which city is the most common`, `the most common city`."""
    return _ranked(found, Term(None, "count"), found.mark("s").descending, True)


@pattern("ranking", rf"{_HAVING}{_RANK}(?: of)? {{a:A}}")
def most_rows(found: Found) -> str | None:
    """`with the largest number of concerts`, `with the highest average age`."""
    return _ranked(found, found.reading.term(found["a"]), found.mark("s").descending, True)


@pattern(
    "ranking",
    r"(?:(?:with|have|has|having|had|of|in|do|get|got|#contain|made|offer|won|did|does|#who|\w+s|\w+ed)"
    r" )?(?:[a-z]+ )?{s:S}(?: of)?(?: all)? {t:T}(?! with| by (?:@c|@x))",
)
def most_things(found: Found) -> str | None:
    """`the stadium with the most concerts`."""
    if found.mark("s").text.lower() not in ("most", "least", "fewest"):
        return None
    found.reading.counted = found.reading.table(found["t"])
    found.reading.need(found.reading.counted)
    return _ranked(found, Term(None, "count"), found.mark("s").descending, True)


@pattern(
    "ranking",
    r"{s:S} {n:N} (?P<t>{T}|{C})(?:(?: sorted| ranked| with| in| terms| based| on| of| according| to| #who| have|"
    r" has| had)* (?:by|with|of|on|in|to|has|have|had)(?: {u:S})? {k:K})",
    r"{s:S} {n:N}(?= {T}| {C})",
    r"first {n:N}(?= {T})",
)
def top(found: Found) -> str | None:
    """`the top 3 singers by age`; `the top 3` in an order that is given elsewhere, `the first 3` in any."""
    reading = found.reading
    if found["k"]:
        term = reading.term(found["k"])
        _ranked(found, term, found.mark("u" if found["u"] else "s").descending, term.aggregate != "")
        return found["t"]
    if found["s"] and (found.mark("s").text.lower() != "top" or not reading.order):
        return None
    _limit(found)
    return ""


@pattern("ranking", rf"{_HAVING}{_RANK}(?: amount| value| number)?(?: of| in| \w+ing)? {{c:C}}(?: values?)?")
def superlative_column(found: Found) -> str | None:
    """`with the highest salary`."""
    names, mark, column = found.reading.names, found.mark("s"), found.reading.column(found["c"])
    hint = names.hinted(mark.hints, [column.table]) if mark.hints else None
    number = names.quantity(column)
    if re.search(r"@o\d+(?: \w+)*\Z", found.before.rstrip()) or (" " in mark.text and not number):
        return None
    unhinted = hint is None or hint.table != column.table
    if not number and unhinted and mark.text.lower() in ("most", "least", "fewest"):
        return _ranked(found, Term(column, "count"), mark.descending, True)
    if not number and hint is not None:
        return _ranked(found, Term(hint), _downwards(mark.descending, mark.hints, hint)) + found["c"]
    return _ranked(found, Term(column), mark.descending)


@pattern("ranking", rf"(?:(?:is|are|was|were|#who|by) )*{_RANK}(?P<v>(?: {{V}})?)(?P<t> {{T}})?")
def superlative_thing(found: Found) -> str | None:
    """`the youngest singer`, `which singer is the oldest`."""
    reading, mark = found.reading, found.mark("s")
    if not mark.hints:
        return None
    tables = [reading.table(found["t"])] if found["t"] else reading.near()
    last = [reading.table(marker) for marker in reading.markers("tx", found.before)[-1:]]
    hint = reading.names.hinted(mark.hints, last, 0) if last and not found["t"] else None
    hint = hint or reading.names.hinted(mark.hints, tables)
    if hint is None:
        return None
    _ranked(found, Term(hint), _downwards(mark.descending, mark.hints, hint))
    return f"{found['v']} {found['t']}"


@pattern(
    "ranking",
    rf"(?P<verb>{_HAVING})(?:only )?(?:{{o:O}} )?{{n:N}}(?P<suffix> #ormore| #orless)?(?: #distinct| of| or more)*"
    r"(?P<v> {V})? {t:T}",
    r"(?:(?:with|have|has|having|had|#who|whose) )*{a:A}(?: is| are| of| was| were)* (?:{o:O} )?{n:N}"
    r"(?P<suffix> #ormore| #orless)?",
    r"(?:(?:appears?|used|occurs?) )?{o:O} {n:N}(?P<times> #times|$)",
)
def having(found: Found) -> str | None:
    """`with more than 2 concerts`, `whose number of concerts is at least 2`, `more than 3 times`."""
    reading, operator, number = found.reading, found.operator(), found.literal("n")
    term = reading.term(found["a"]) if found["a"] else Term(None, "count")
    if found["t"]:
        verb = found["verb"].split()[:1]
        known = ("with", "have", "has", "having", "had", "contain", "in", "#who", "that", "do", "get", "#contain")
        said = found["o"] or (verb and verb[0] in known) or found.text.startswith("only")
        if not found["suffix"] and not said:
            return None
        reading.counted = reading.table(found["t"])
        reading.need(reading.counted)
        if (operator, number) == (">=", 1):
            return found["v"]
    elif not found["a"] and not found["times"] and found.mark("n").text.lower() not in ("once", "twice"):
        return None
    reading.having.append(Condition(term, operator, number))
    reading.per_subject = True
    return found["v"]


@pattern(
    "ranking",
    r"by (?P<computed>{C}|{T})(?= \.|$| ,| #sort| in)",
    r"#each(?: one| @n\d+)?(?P<one>)(?= have| has| do| does|$| \.| of them| made| is| are)",
    r"(?:, )?#each(?: of| #distinct| different)* {e:E}",
)
def each(found: Found) -> str | None:
    """`for each country`; `total freight by country` groups, where something is computed."""
    reading = found.reading
    if found["computed"]:
        is_asked = reading.markers("a", found.before) and "#sort" not in found.before
        return f"#each {found['computed']}" if is_asked else None
    if not found["e"]:
        reading.per_subject = True
    elif reading.is_entity(found["e"]):
        reading.group_tables.append(reading.table(found["e"]))
    else:
        reading.group.append(reading.column(found["e"]))
    return ""
