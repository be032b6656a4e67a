"""Edits the previous query's frame by what a follow-up says."""

from __future__ import annotations

import re
from dataclasses import replace

from .frame import Column, Condition, Frame, Operator, Term
from .names import NameIndex
from .reading import Reading
from .select import select_terms, to_frame

_CUE = re.compile(
    r"\b(?:them|those|these|their|they|theirs|it|its|ones?|also|too|as well|instead|what about|how about|only|"
    r"of (?:that|this)|that (?:one|list)|this (?:one|list)|he|she|his|her|him|the (?:others?|rest)|above|previous|mentioned|"
    r"same|results?|list|now|there)\b",
    re.IGNORECASE,
)
_ABOUT = re.compile(r"^\W*(?:(?:and|ok|okay|so|then|but)\W+)*(?:what|how) about\b", re.IGNORECASE)
_ADD = re.compile(
    r"\b(?:also|too|as well|in addition|add|along with|include|additionally|together with)\b", re.IGNORECASE
)
_NOT_THOSE = re.compile(
    r"\b(?:not (?:those|these|them)|(?:the )?(?:others|other ones|rest)|(?:opposite|reverse) of)\b", re.IGNORECASE
)
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


def follows(question: str, reading: Reading) -> bool:
    """Whether a question leans on the one before: a pronoun, a cue, or nothing of its own to show."""
    return (
        bool(_ABOUT.search(question) or _CUE.search(question))
        or not (reading.markers("tx") or reading.tables or reading.everything)
        or not select_terms(reading)
        and not reading.markers("tx")
        and not reading.terms
    )


def edited(base: Frame, question: str, reading: Reading) -> Frame:
    """The frame that the follow-up asks for."""
    names = reading.names
    terms = select_terms(reading)
    if _NOT_THOSE.search(question) and not reading.where:
        return _complement(base, names)
    if _ABOUT.search(question):
        return _swapped(base, reading, terms)
    frame = _narrowed(base, reading)
    counts = [term for term in terms if term.aggregate == "count" and not term.distinct]
    if counts and len(terms) == len(counts) and not reading.group and not reading.group_tables:
        return _counted(frame, names)
    if reading.group or reading.group_tables:
        own = to_frame(reading)
        aggregates = tuple(t for t in (*terms, *base.select) if t.aggregate) or (Term(None, "count"),)
        shown = tuple(t for t in own.select if not t.aggregate)
        return replace(
            frame,
            select=(*shown, *aggregates),
            group=own.group,
            tables=_tables(base.tables, own.tables),
            limit=None,
            order=reading_order(reading, frame),
        )
    if terms:
        if _ADD.search(question):
            frame = replace(frame, select=tuple(dict.fromkeys((*base.select, *terms))))
        else:
            frame = replace(frame, select=terms, distinct=reading.distinct)
            if any(t.aggregate for t in terms):
                frame = replace(frame, order=tuple(reading.order), limit=reading.limit, group=(), having=())
    elif base.select and all(t.aggregate for t in base.select) and (_WHICH.search(question) or reading.limit):
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
    where = tuple(dict.fromkeys((*base.where, *reading.where)))
    having = tuple(dict.fromkeys((*base.having, *reading.having)))
    return replace(
        base,
        tables=tables,
        where=where,
        having=having,
        order=order,
        limit=limit,
        distinct=base.distinct or reading.distinct,
    )


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


def context_tables(base: Frame | None) -> tuple[str, ...]:
    """The tables that the conversation is about."""
    return base.used() if base else ()


__all__ = ["Column", "context_tables", "edited", "follows"]
