"""Edits the previous query's frame by what a follow-up says."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import chain

from ...tools.errors import NotUnderstood
from ...tools.frames import Aggregate, Condition, Frame, Term
from ...tools.mentions import NameIndex
from .counting import function_of
from .parse import Parse
from .reading import Reading
from .select import combined, order_of, rows_of, select_terms

_CUE = re.compile(
    r"\b(?:them|those|these|their|they|theirs|it|its|also|too|as well|instead|(?:what|how) about|only|other"
    r" ones?|which ones?|"
    r"of (?:that|this)|(?:that|this) (?:one|list)|he|she|his|her|him|the (?:others?|rest|ones?)|previous"
    r"|mentioned|same)\b",
    re.IGNORECASE,
)
_WITHIN = re.compile(
    r"\b(?:their|they|theirs|its?|also|too|as well|only|he|she|his|her|him|same|(?:than|except|like) (?:those|that))\b",
    re.IGNORECASE,
)
"""Cues that point into the same question where they come after what it is about."""
_ASKS = re.compile(
    r"^\W*(?:(?:please|can|could|would|you|now|then|and|also|ok|so|i|want|to|know|like|'d|me|tell)\W+)*"
    r"(?:list|show|display|give|find|get|return|which|who|what|how many|how much|count)\b(?! about\b)",
    re.IGNORECASE,
)
_THAT_THING = re.compile(r"(?:of|for|in|at|by|does|is|was|from|with|to|on|do|did|has|have) (?:#who|this) @[txc]\d+")
_EDIT = re.compile(
    r"^\W*(?:(?:please|can|could|would|you|now|then|and|also|ok|so|just|i|want|to|like|'d)\W+)*"
    r"(?:sort|order|rank|group|arrange|filter|add|include|update|remove|narrow)\b(?! (?:the )?\w+s of\b)",
    re.IGNORECASE,
)
_OF_IT = re.compile(
    r"^\W*(?:(?:and|so|ok|okay|then|great|thanks?|hmm)\W+)*(?:how|what|which|when|where)\b[^,.]*\b(?:did|does|do|has|have|is"
    r"|was|were|are) (?:he|she|it|they|that|this|those|these)\b(?! (?:many|much))",
    re.IGNORECASE,
)
_ALL = re.compile(r"\ball\b(?! (?:of )?(?:th[aeo]|your?|my|his|her|its|information|info|details?))", re.IGNORECASE)
"""An answer about all there is stands alone."""
_ABOUT = re.compile(r"^\W*(?:(?:and|ok|okay|so|then|but)\W+)*(?:what|how) about\b", re.IGNORECASE)
_ADD = re.compile(
    r"\b(?:also|too|as well|in addition|add|along with|include|additionally|together with)\b", re.IGNORECASE
)
_NOT_THOSE = re.compile(
    r"\b(?:not (?:those|these|them)|(?:the )?(?:others|other ones|rest)|(?:opposite|reverse) of)\b", re.IGNORECASE
)
_SHOW = re.compile(
    r"\b(?:show|list|give|display|name|which|who|tell|what ones?|of (?:them|those|these))\b", re.IGNORECASE
)


def follows(question: str, parsed: Parse, base: Frame) -> bool:
    """Whether a question leans on the one before: a pronoun or cue, or too little of its own to stand."""
    reading = parsed.reading
    leans = _EDIT.search(question) or _THAT_THING.search(parsed.mask) or _OF_IT.search(question)
    if leans or _points(question, reading):
        return True
    if _ALL.search(question) or reading.markers("tx") or reading.tables:
        return False
    own = select_terms(reading)
    if own and all(term.column and term.column.table not in base.used() for term in own):
        return False
    return not own or not (reading.where or reading.having or reading.limit or reading.group)


def _points(question: str, reading: Reading) -> bool:
    """Whether a cue points out of the question: any does, unless what the question is about comes before it."""
    own = [m for m in reading.marks if m.kind in ("t", "x") and m.table and m.hits and m.hits[0].score >= 0.6]
    if not own or not _ASKS.search(question):
        return _CUE.search(question) is not None
    first = question.lower().find(own[0].text.lower())
    whole = (reading.where or reading.order) and select_terms(reading)
    within = [match.span() for match in _WITHIN.finditer(question)]
    for cue in _CUE.finditer(question):
        inside = any(start <= cue.start() < end for start, end in within)
        if not inside or (cue.start() < first and not (whole and _ADD.fullmatch(cue[0]))):
            return True
    return False


def complements(question: str) -> bool:
    """Whether a follow-up asks for what the query before left out."""
    return bool(_NOT_THOSE.search(question))


def edited(base: Frame, question: str, reading: Reading) -> Frame:
    """The frame that the follow-up asks for."""
    names = reading.names
    terms = select_terms(reading)
    computes = any(term.aggregate for term in terms)
    if complements(question) and not reading.where:
        return _complement(base, names)
    if _ABOUT.search(question):
        return _swapped(base, reading, terms)
    frame = combined(_narrowed(base, reading), reading)
    if reading.group or reading.group_tables:
        return _per_group(base, frame, reading, terms)
    if terms and all(term.aggregate == "count" and not term.distinct for term in terms):
        return _counted(frame, names)
    if terms and _ADD.search(question):
        kept = base.select if base.group or computes else tuple(t for t in base.select if not t.aggregate)
        frame = replace(frame, select=tuple(dict.fromkeys((*kept, *terms))))
    elif terms:
        frame = replace(frame, select=terms, distinct=reading.distinct)
        if computes:
            frame = replace(frame, order=tuple(reading.order), limit=reading.limit, group=(), having=())
    elif base.select and all(t.aggregate for t in base.select) and (_SHOW.search(question) or reading.limit):
        heads = [reading.table(m) for m in reading.markers("tx")] or list(base.used())
        frame = replace(frame, select=tuple(Term(c) for c in names.title(heads[0])))
    if (base.limit or base.having) and any(t.column and t.column.table not in base.used() for t in terms):
        return _of_those(base, frame, reading, terms)
    plain = [t.column for t in frame.select if t.column is not None and not t.aggregate]
    if reading.per_subject and plain and not frame.group:
        frame = replace(frame, group=(names.key(plain[0].table) or plain[0],))
    return frame


def _narrowed(base: Frame, reading: Reading, swap: bool = False) -> Frame:
    """The base with the follow-up's conditions, order and limit put on top, or in the place of its own."""
    order = order_of(reading, base.select) or base.order
    turned = [reading.mark(marker).descending for marker in reading.markers("s")]
    if turned and not reading.order and base.order and base.limit:
        order = ((base.order[0][0], turned[0]), *base.order[1:])
    kept = tuple(old for old in base.where if not any(_replaces(new, old, swap) for new in reading.where))
    return replace(
        base,
        tables=_tables(base.tables, reading.tables, (reading.table(m) for m in reading.markers("t"))),
        where=tuple(dict.fromkeys((*kept, *reading.where))),
        having=tuple(reading.having) or base.having,
        order=order,
        limit=reading.limit or base.limit,
        distinct=base.distinct or reading.distinct,
    )


def _replaces(new: tuple[Condition, ...], old: tuple[Condition, ...], swap: bool) -> bool:
    """Whether a new condition on a column takes the old one's place: no row can equal two values."""
    if {c.term for c in new} != {c.term for c in old}:
        return False
    equals = any(c.operator in ("=", "like") for c in (*new, *old))
    return swap or equals or {c.operator for c in new} == {c.operator for c in old}


def _tables(*lists: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chain(*lists)))


def _per_group(base: Frame, frame: Frame, reading: Reading, terms: tuple[Term, ...]) -> Frame:
    """What was computed of all rows, of each group."""
    names = reading.names
    keys = [names.key(table) or names.title(table)[0] for table in reading.group_tables]
    titles = [column for table in reading.group_tables for column in names.title(table)]
    aggregates = tuple(t for t in (*terms, *base.select) if t.aggregate) or (Term(None, "count"),)
    return replace(
        frame,
        select=(*(Term(column) for column in (*reading.group, *titles)), *aggregates),
        group=(*reading.group, *keys),
        tables=_tables(base.tables, reading.tables, reading.group_tables),
        limit=None,
    )


def _counted(frame: Frame, names: NameIndex) -> Frame:
    """How many rows the frame has.

    Raises:
        NotUnderstood: Nothing tells its rows apart.
    """
    alone = len(frame.select) == 1 and frame.distinct
    of = frame.group[0] if frame.group else frame.select[0].column if alone else None
    if not (frame.having or frame.limit or frame.combine):
        return replace(frame, select=(Term(of, "count", of is not None),), order=(), group=(), distinct=False)
    key = of or names.key(frame.used()[0])
    if key is None:
        raise NotUnderstood(f"Nothing tells the rows of {frame.used()[0]} apart, so I cannot count these.")
    return rows_of(key, replace(frame, select=(Term(key),)))


def _of_those(base: Frame, frame: Frame, reading: Reading, terms: tuple[Term, ...]) -> Frame:
    """Columns of another table, for the rows that the base picked by rank or by their group."""
    key = base.group[0] if base.group else reading.names.key(base.used()[0])
    if key is None:
        return frame
    chosen = (Condition(Term(key), "in", replace(base, select=(Term(key),))),)
    order = tuple(reading.order)
    return Frame(terms, (key.table, *reading.tables), (chosen, *reading.where), order=order, limit=reading.limit)


def _complement(base: Frame, names: NameIndex) -> Frame:
    """The rows that the frame leaves out."""
    table = base.used()[0]
    key = names.key(table) or names.title(table)[0]
    inner = replace(base, select=(Term(key),))
    return Frame(base.select, (table,), ((Condition(Term(key), "not in", inner),),))


def _swapped(base: Frame, reading: Reading, terms: tuple[Term, ...]) -> Frame:
    """`what about Spain?` puts the new value in the old one's place; `what about the age?` the column."""
    functions = re.findall(r"#avg|#sum|@s\d+", reading.text)
    if functions and not terms and any(t.aggregate for t in base.select):
        function = function_of(reading, functions[0])
        return replace(base, select=tuple(Term(t.column, function) if t.aggregate else t for t in base.select))
    frame = _narrowed(base, reading, swap=True)
    if not terms or reading.where:
        return frame
    old: list[Aggregate] = [term.aggregate for term in base.select if term.aggregate and term.column is not None]
    fresh = tuple(Term(t.column, old[0]) if old and not t.aggregate and t.column else t for t in terms)
    kept = tuple(t for t in base.select if not t.aggregate) if base.group else ()
    return replace(frame, select=tuple(dict.fromkeys((*kept, *fresh))))
