"""Edits the previous query's frame by what a follow-up says."""

from __future__ import annotations

import re
from dataclasses import replace

from ...tools.frames import Condition, Frame, Operator, Term
from ...tools.mentions import NameIndex
from .counting import function_of
from .parse import Parse
from .reading import Reading
from .select import combined, select_terms, to_frame

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
_SORT = re.compile(r"^\W*(?:sort|order|rank|arrange)\b", re.IGNORECASE)
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
_PRONOUN = re.compile(
    r"\b(?:th(?:em|eirs?|ey)|hers?|his|him|he|she|its|th[eo]se(?! (?!are|were|have|is)\w))\b", re.IGNORECASE
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
_SHOW = re.compile(r"\b(?:show|list|give|display|name|which|who|tell)\b", re.IGNORECASE)
_WHICH = re.compile(
    r"\b(?:which|who|what) (?:of (?:them|those|these)|ones?)\b|\bof (?:them|those|these)\b", re.IGNORECASE
)
_NEGATED: dict[Operator, Operator] = {
    "=": "!=",
    "!=": "=",
    ">": "<=",
    ">=": "<",
    "<": ">=",
    "<=": ">",
    "like": "not like",
    "not like": "like",
    "in": "not in",
    "not in": "in",
    "null": "not null",
    "not null": "null",
}


def follows(question: str, parsed: Parse, base: Frame) -> bool:
    """Whether a question leans on the one before: a pronoun or cue, or too little of its own to stand."""
    reading = parsed.reading
    if _SORT.search(question) and _foreign(reading, base):
        return False
    if (
        _EDIT.search(question)
        or _THAT_THING.search(parsed.mask)
        or _OF_IT.search(question)
        or _points(question, reading)
    ):
        return True
    if _ALL.search(question):
        return False
    if reading.markers("tx") or reading.tables:
        return False
    own = select_terms(reading)
    if reading.group and any(term.aggregate for term in own):
        return False
    if own and all(term.column and term.column.table not in base.used() for term in own):
        return False
    return not own or not (reading.where or reading.having or reading.limit or reading.group)


def unanchored(question: str, reading: Reading) -> str:
    """The pronoun of a first question that comes before all that it could stand for; empty if there is none."""
    found = _PRONOUN.search(question)
    if found is None:
        return ""
    said = (question.lower().find(mark.text.lower()) for mark in reading.marks if mark.kind in "tcxv" and mark.text)
    return "" if any(-1 < at < found.start() for at in said) else found[0]


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


def _foreign(reading: Reading, base: Frame) -> bool:
    """Whether the question names tables, none of which the base uses."""
    tables = {reading.mark(m).table for m in reading.markers("t")} | set(reading.tables)
    return bool(tables) and tables.isdisjoint(base.used())


def complements(question: str) -> bool:
    """Whether a follow-up asks for what the query before left out."""
    return bool(_NOT_THOSE.search(question))


def edited(base: Frame, question: str, reading: Reading) -> Frame:
    """The frame that the follow-up asks for."""
    names = reading.names
    terms = select_terms(reading)
    if complements(question) and not reading.where:
        return _complement(base, names)
    if _ABOUT.search(question):
        fresh = [t for t in reading.tables if t not in base.used()]
        if fresh and not reading.where and terms:
            return to_frame(reading)
        return _swapped(base, reading, terms)
    frame = combined(_narrowed(base, reading), reading)
    counts = [term for term in terms if term.aggregate == "count" and not term.distinct]
    if counts and len(terms) == len(counts) and not reading.group and not reading.group_tables:
        return _counted(frame, names)
    if reading.group or reading.group_tables:
        keys = [names.key(table) or names.title(table)[0] for table in reading.group_tables]
        titles = [column for table in reading.group_tables for column in names.title(table)]
        aggregates = tuple(t for t in (*terms, *base.select) if t.aggregate) or (Term(None, "count"),)
        shown = tuple(Term(column) for column in (*reading.group, *titles))
        return replace(
            frame,
            select=(*shown, *aggregates),
            group=(*reading.group, *keys),
            tables=_tables(base.tables, [*reading.tables, *reading.group_tables]),
            limit=None,
            order=reading_order(reading, frame),
        )
    if terms:
        if _ADD.search(question):
            kept = (
                base.select
                if base.group or any(t.aggregate for t in terms)
                else tuple(t for t in base.select if not t.aggregate)
            )
            frame = replace(frame, select=tuple(dict.fromkeys((*kept, *terms))))
        else:
            frame = replace(frame, select=terms, distinct=reading.distinct)
            if any(t.aggregate for t in terms):
                frame = replace(frame, order=tuple(reading.order), limit=reading.limit, group=(), having=())
        if any(t.column and t.column.table not in base.used() for t in terms) and (base.limit or base.having):
            return _of_those(base, frame, reading, terms)
    elif (
        base.select
        and all(t.aggregate for t in base.select)
        and (_WHICH.search(question) or _SHOW.search(question) or reading.limit)
    ):
        heads = [reading.table(m) for m in reading.markers("tx")] or list(base.used())
        frame = replace(frame, select=tuple(Term(c) for c in names.title(heads[0])))
    return _grouped(frame, reading)


def reading_order(reading: Reading, frame: Frame) -> tuple[tuple[Term, bool], ...]:
    """The order that the follow-up asks for, else the one before."""
    if reading.order:
        return tuple(reading.order)
    if reading.pending:
        first = next((t for t in frame.select if t.column), Term())
        return ((first, reading.pending in ("#desc", "#agedesc")),)
    return frame.order


def _narrowed(base: Frame, reading: Reading) -> Frame:
    """The base with the follow-up's conditions, order and limit put on top."""
    tables = _tables(base.tables, [*reading.tables, *(reading.table(m) for m in reading.markers("t"))])
    order = reading_order(reading, base)
    limit = reading.limit if reading.limit is not None else base.limit
    kept = tuple(old for old in base.where if not any(_replaces(new, old) for new in reading.where))
    where = tuple(dict.fromkeys((*kept, *reading.where)))
    having = tuple(reading.having) or base.having
    turned = [reading.mark(marker).descending for marker in reading.markers("s")]
    if turned and not reading.order and base.order and base.limit:
        order = ((base.order[0][0], turned[0]), *base.order[1:])
    return replace(
        base,
        tables=tables,
        where=where,
        having=having,
        order=order,
        limit=limit,
        distinct=base.distinct or reading.distinct,
    )


def _replaces(new: tuple[Condition, ...], old: tuple[Condition, ...]) -> bool:
    """Whether a new condition on a column takes the old one's place: no row can equal two values."""
    if {c.term for c in new} != {c.term for c in old}:
        return False
    return any(c.operator in ("=", "like") for c in (*new, *old)) or {c.operator for c in new} == {
        c.operator for c in old
    }


def _grouped(frame: Frame, reading: Reading) -> Frame:
    if not reading.per_subject or frame.group:
        return frame
    plain = [t.column for t in frame.select if t.column is not None and not t.aggregate]
    if not plain:
        return frame
    key = reading.names.key(plain[0].table)
    return replace(frame, group=(key or plain[0],))


def _tables(first: tuple[str, ...], second: list[str] | tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))


def _counted(frame: Frame, names: NameIndex) -> Frame:
    """How many rows the frame has."""
    if frame.group or frame.limit or frame.combine:
        table = frame.group[0].table if frame.group else frame.used()[0]
        key = frame.group[0] if frame.group else names.key(table)
        if key is None:
            return replace(frame, select=(Term(None, "count"),), order=(), limit=None, group=(), having=())
        if not frame.having and not frame.limit and not frame.combine:
            return replace(frame, select=(Term(key, "count", True),), order=(), group=())
        inner = replace(frame, select=(Term(key),))
        return Frame((Term(None, "count"),), (key.table,), ((Condition(Term(key), "in", inner),),))
    if frame.distinct and len(frame.select) == 1 and frame.select[0].column:
        return replace(
            frame, select=(Term(frame.select[0].column, "count", True),), order=(), limit=None, distinct=False
        )
    return replace(frame, select=(Term(None, "count"),), order=(), limit=None)


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
    if base.where and len(base.where[-1]) == 1 and base.where[-1][0].operator in _NEGATED:
        last = base.where[-1][0]
        return replace(base, where=(*base.where[:-1], (Condition(last.term, _NEGATED[last.operator], last.value),)))
    table = base.used()[0]
    key = names.key(table) or names.title(table)[0]
    inner = replace(base, select=(Term(key),))
    return Frame(base.select, (table,), ((Condition(Term(key), "not in", inner),),))


def _swapped(base: Frame, reading: Reading, terms: tuple[Term, ...]) -> Frame:
    """`what about Spain?` puts the new value in the old one's place; `what about the age?` the column."""
    frame = base
    functions = re.findall(r"#avg|#sum|@s\d+", reading.text)
    if functions and not terms and any(t.aggregate for t in base.select):
        function = function_of(reading, functions[0])
        return replace(base, select=tuple(Term(t.column, function) if t.aggregate else t for t in base.select))
    for group in reading.where:
        columns = {condition.term.column for condition in group}
        kept = tuple(old for old in frame.where if not columns & {condition.term.column for condition in old})
        frame = replace(frame, where=(*kept, group))
    if terms and not reading.where:
        old = [term for term in base.select if term.aggregate and term.column is not None]
        fresh = tuple(Term(t.column, old[0].aggregate) if old and not t.aggregate and t.column else t for t in terms)
        kept = tuple(t for t in base.select if not t.aggregate) if base.group else ()
        frame = replace(frame, select=(*kept, *fresh))
    if reading.order or reading.pending:
        frame = replace(frame, order=reading_order(reading, frame), limit=reading.limit or frame.limit)
    having = tuple(reading.having) or frame.having
    tables = _tables(frame.tables, [*reading.tables])
    return replace(frame, having=having, tables=tables)
