"""Patterns for order, superlatives, top-N and groups."""

from __future__ import annotations

import re

from ...tools.frames import Column, Term
from ...tools.mentions.lexicon import ORDINALS
from .reading import Found, pattern

_KEYS = r"(?P<keys>(?:(?:amount|level|value) of )?@[cxat]\d+(?:(?: ,)?(?: and)? {K})*)"
_WAY = r"(?P<way>#asc|#desc|#alpha|#agedesc|#ageasc)(?: order)?"
_THEM = r"(?:them|results?|by|it|in|with|from|all|to|on|of|their|its|list|according|based|rows|these|those|is|are)"
_HAVING = r"(?:(?:with|have|has|having|had|contain|is|are|was|were|by|of|in|#who|got|#contain) )*"
_RANK = r"(?P<n>{N} )?{s:S}(?P<m> {N})?"
_TAKEN = re.compile(r"(?:@[oc]\d+|with|have|has|having|had|and|to|id|in|by|#between) \Z")
"""What a number belongs to, rather than to the superlative after it."""


def _ranked(found: Found, term: Term, descending: bool, left: str = "") -> str:
    """Sorts by a term; as many rows as the superlative's number says."""
    reading, number = found.reading, found["n"] or found["m"]
    literal = reading.mark(number).literal if number else None
    reading.limit = literal if isinstance(literal, int) else reading.several
    reading.order.append((term, descending))
    reading.per_subject = reading.per_subject or bool(term.aggregate)
    return left


def _downwards(descending: bool, hints: tuple[str, ...], column: Column) -> bool:
    """The oldest have the smallest birth date."""
    aged = "age" in column.name.lower()
    return descending != (not aged and ("birth" in hints or {"founded", "age"} <= set(hints)))


@pattern(
    "ranking",
    rf"(?P<ordinal>{'|'.join(ORDINALS)})(?= {{S}})",
    r"(?:{s:S} )?{n:N}(?= (?:{T}|@c\d+ (?:with|#who|have)) .*@s| {S})",
)
def several(found: Found) -> str | None:
    """`the two stores with the most ...`, `the second oldest`: which are wanted, where a superlative follows."""
    if found["ordinal"]:
        found.reading.offset = ORDINALS[found["ordinal"]] - 1
        return ""
    literal = found.mark("n").literal
    if _TAKEN.search(found.before) or (found["s"] and found.mark("s").text.lower() != "top"):
        return None
    if not isinstance(literal, int) or literal > 100:
        return None
    found.reading.several = literal
    return ""


@pattern(
    "ranking",
    r"^#sort (?P<shown>(?:all )?{E}.*?)(?= (?:in )?(?:#asc|#desc|by|#alpha) )",
    rf"(?:, )?(?:and )?(?:#sort (?:{{T}} )?)?(?:{_THEM} )*{_WAY}(?: of| by| according to| based on| on| in terms of"
    rf"| their| its| #sort| in)+ {_KEYS}",
    rf"(?:listed |ranked )?(?:#sort|by)(?: in| by| of)* {_WAY} {_KEYS}",
    rf"(?:, )?(?:and )?(?:(?:in|is|are) )?#sort(?: (?:{_THEM}|{{T}}(?= by| in| from| according)))* {_KEYS}"
    rf"(?:(?: from| in| ,)* {_WAY})?",
    rf"(?:, )?(?:and )?(?:#sort )?(?:{_THEM} )*{_WAY}",
)
def order(found: Found) -> str | None:
    """`in descending order of age`, `sorted by age`, `sort the names by age`, `in alphabetical order`."""
    reading, way = found.reading, found["way"] or "#asc"
    if found["shown"]:
        return f"show {found['shown']} #sort"
    if not found["keys"]:
        reading.pending = way if way != "#alpha" else reading.pending or way
    for marker in reading.markers("cxat", re.sub(r"@t\d+ (?=@)", "", found["keys"])):
        is_table = marker.startswith("@t")
        term = Term(reading.names.title(reading.table(marker))[0]) if is_table else reading.term(marker)
        born = way.startswith("#age") and term.column is not None and "birth" in term.column.name.lower()
        reading.order.append((term, (way in ("#desc", "#agedesc")) != born))
        reading.per_subject = reading.per_subject or term.aggregate == "count"
    return ""


@pattern(
    "ranking",
    r"(?:(?:with|have|has|having|had|of|in|got|#contain|made|offer|won|#who|\w+s|\w+ed) )?(?:[a-z]+ )?"
    r"(?P<s>@s\d+)(?: of)?(?: all)? {t:T}(?! with| by (?:@c|@x))",
    name="most_things",
)
@pattern("ranking", rf"{_HAVING}{_RANK}(?: of)? {{a:A}}", name="most_rows")
@pattern(
    "ranking",
    r"(?:(?:#who|is|are|was|were|be|occurs|appears|used) )*(?P<n>{N} )?{s:S}(?: number of)? (?:#common|#times)",
    name="most_common",
)
def most(found: Found) -> str | None:
    """`the most common city`, `with the largest number of concerts`, `the stadium with the most concerts`."""
    reading, mark = found.reading, found.mark("s")
    if found["t"]:
        if mark.text.lower() not in ("most", "least", "fewest"):
            return None
        reading.counted = reading.table(found["t"])
        reading.need(reading.counted)
    return _ranked(found, reading.term(found["a"]) if found["a"] else Term(None, "count"), mark.descending)


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
        return _ranked(found, reading.term(found["k"]), found.mark("u" if found["u"] else "s").descending, found["t"])
    if found["s"] and (found.mark("s").text.lower() != "top" or not reading.order):
        return None
    reading.limit = int(found.mark("n").literal or 1)
    return ""


@pattern("ranking", rf"{_HAVING}{_RANK}(?: amount| value| number)?(?: of| in| \w+ing)? {{c:C}}(?: values?)?")
def superlative_column(found: Found) -> str | None:
    """`with the highest salary`."""
    names, mark, column = found.reading.names, found.mark("s"), found.reading.column(found["c"])
    if names.quantity(column):
        return _ranked(found, Term(column), mark.descending)
    hint = names.hinted(mark.hints, [column.table]) if mark.hints else None
    if " " in mark.text:
        return None
    if (hint is None or hint.table != column.table) and mark.text.lower() in ("most", "least", "fewest"):
        return _ranked(found, Term(column, "count"), mark.descending)
    if hint is not None:
        return _ranked(found, Term(hint), _downwards(mark.descending, mark.hints, hint), found["c"])
    return _ranked(found, Term(column), mark.descending)


@pattern("ranking", rf"(?:(?:is|are|was|were|#who|by) )*{_RANK}(?P<left>(?: {{V}})?(?: {{t:T}})?)")
def superlative_thing(found: Found) -> str | None:
    """`the youngest singer`, `which singer is the oldest`."""
    reading, mark = found.reading, found.mark("s")
    last = [reading.table(marker) for marker in reading.markers("tx", found.before)[-1:]]
    hint = reading.names.hinted(mark.hints, last, 0) if last and not found["t"] else None
    hint = hint or reading.names.hinted(mark.hints, [reading.table(found["t"])] if found["t"] else reading.near())
    if hint is None:
        return None
    return _ranked(found, Term(hint), _downwards(mark.descending, mark.hints, hint), found["left"])


@pattern(
    "ranking",
    rf"(?:{_HAVING}(?:only )?{{o:O}} |(?:with|have|has|having|had|in|#who|#contain|only) {_HAVING}(?:only )?"
    r"|(?={N} #or)){n:N}(?: (?P<suffix>#ormore|#orless))?(?: #distinct| of)*(?P<v> {V})? {t:T}",
    r"(?:(?:with|have|has|having|had|#who) )*{a:A}(?: is| are| of| was| were)* (?:{o:O} )?{n:N}"
    r"(?: (?P<suffix>#ormore|#orless))?",
    r"(?:(?:appears?|used|occurs?) )?{o:O} {n:N}(?P<times> #times|$)",
)
def having(found: Found) -> str | None:
    """`with more than 2 concerts`, `whose number of concerts is at least 2`, `more than 3 times`."""
    reading, operator, number = found.reading, found.operator(), found.literal("n")
    if found["t"]:
        reading.counted = reading.table(found["t"])
        reading.need(reading.counted)
        if (operator, number) == (">=", 1):
            return found["v"]
    elif not found["a"] and not found["times"] and found.mark("n").text.lower() not in ("once", "twice"):
        return None
    reading.add(reading.term(found["a"]) if found["a"] else Term(None, "count"), operator, number)
    reading.per_subject = True
    return found["v"]


@pattern(
    "ranking",
    r"by (?P<computed>{C}|{T})(?= \.|$| ,| #sort| in)",
    r"#each(?: one| @n\d+)?(?= have| has|$| \.| of them| made| is| are)",
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
