"""Edits the previous query's frame by what a follow-up says."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from typing import TypeVar

from ...tools.frames import Aggregate, Column, Frame, Term, complement, counted, narrowed, picked
from ...tools.mentions import NameIndex
from ...tools.mentions.lexicon import CUES
from .parse import Parse
from .reading import Reading, read_stages
from .select import combined, order_of, select_terms, subject_key

T = TypeVar("T")


def _said(form: str) -> re.Pattern[str]:
    return re.compile(form, re.IGNORECASE)


_LEAD = rf"^\W*(?:(?:{CUES['lead']})\W+)*"
_CUE = _said(rf"\b(?:{CUES['points']}|(?:in|for|of|by|per) each(?: one)?(?=\W*$))\b")
_WITHIN = _said(rf"\b(?:{CUES['within']})\b")
"""Cues that point into the same question where they come after what it is about."""
_ASKS = _said(rf"{_LEAD}(?:{CUES['asks']})\b(?! about\b)")
_EDIT = _said(rf"{_LEAD}(?:{CUES['edits']})\b(?! (?:the )?\w+s of\b)")
_THAT_THING = _said(r"(?:does|is|was|do|did|has|have) this @[txc]\d+|of this(?! [a-z])")
_VERB = "(?:did|does|do|has|have|had|is|was|were|are)"
_OF_IT = _said(
    rf"{_LEAD}(?:which (?:has|have|had)\b|(?:how|what|which|when|where)\b[^,.]*\b{_VERB}"
    r" (?:he|she|it|they|that|this|those|these)\b(?! (?:many|much)))"
)
_ALL = _said(
    r"\ball\b(?! (?:of )?(?:th(?:em|ese|ose|at|eir)|your?|my|his|her|its|information|info|details?))"
    r"|\b(?:in (?:the )?(?:table|database|world)|list of)\b"
)
"""An answer about all there is stands alone."""
_ABOUT = _said(rf"{_LEAD}(?:what|how) about\b")
_ADD = _said(rf"\b(?:{CUES['adds']})\b")
_OTHERS = _said(rf"\b(?:{CUES['others']})\b|\b(?:which|who|that|ones?|those)(?: ones?)? {_VERB}(?:n['o]t| not)?\W*$")
_SHOW = _said(rf"\b(?:{CUES['shows']})\b")
_OWNER = _said(rf"\b(?:{CUES['owners']})\b(?! (?:of|was|were)\b)")
_WHO = _said(
    rf"{_LEAD}(?:of th[eo][ms]e?,? )?(?:who|which(?: ones?| of th[eo][ms]e?)?)"
    r" (?:is|are|was|were|has|have|had|\w+ed)\b"
)
_HEAD = _said(rf"{_LEAD}(?:{CUES['asks']})(?: all| #distinct| other)* (?P<head>@[tx]\d+)(?! @)")


def follows(question: str, parsed: Parse, base: Frame) -> bool:
    """Whether a question leans on the one before: a pronoun or cue, or too little of its own to stand."""
    reading = parsed.reading
    leans = _EDIT.search(question) or _THAT_THING.search(parsed.mask) or _OF_IT.search(question)
    if leans or complements(question) or _points(question, reading):
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
    """Whether a follow-up asks for what the query before left out: `not those`, `the ones that don't`, `which do?`."""
    return bool(_OTHERS.search(question))


def edited(base: Frame, question: str, reading: Reading) -> Frame:
    """The frame that the follow-up asks for."""
    names, table = reading.names, base.used()[0]
    reading.base = base = _owner(base, question, reading)
    read_stages(reading, "ellipsis")
    if complements(question) and not reading.where:
        return complement(base, names.key(table) or names.title(table)[0])
    terms = _asked(base, question, reading)
    if _ABOUT.search(question):
        return _swapped(base, reading, terms)
    frame = combined(_changed(base, reading), reading)
    computes = [term for term in terms if term.aggregate]
    each = reading.per_subject and computes and computes == [*terms] and not reading.having
    if reading.group or reading.group_tables or each:
        return _per_group(frame, reading, tuple(computes))
    if terms and all(term.aggregate == "count" and not term.distinct for term in terms):
        return counted(frame, names.key(frame.used()[0]))
    if terms and _ADD.search(question):
        kept = base.select if base.group or computes else tuple(t for t in base.select if not t.aggregate)
        frame = replace(frame, select=_all(kept, terms))
    elif terms:
        frame = replace(frame, select=terms, distinct=reading.distinct)
        if computes:
            frame = replace(frame, order=tuple(reading.order), limit=reading.limit, group=(), having=())
        elif base.group and any(term.aggregate for term in base.select) and not frame.aggregates():
            frame = replace(frame, group=())
    elif base.computed() and (_SHOW.search(question) or reading.limit):
        heads = [reading.table(m) for m in reading.markers("tx")] or list(base.used())
        frame = replace(frame, select=_title(heads[0], names))
    if (base.limit or base.having) and (key := _beyond(base, terms, names)):
        where = ((picked(base, key),), *reading.where)
        return Frame(terms, (key.table, *reading.tables), where, order=tuple(reading.order), limit=reading.limit)
    plain = [t.column for t in frame.select if t.column is not None and not t.aggregate]
    if reading.per_subject and plain and not frame.group and frame.aggregates():
        frame = replace(frame, group=tuple(subject_key(reading, list(frame.select), plain[0].table)))
    return frame


def _title(table: str, names: NameIndex) -> tuple[Term, ...]:
    return tuple(Term(column) for column in names.title(table))


def _owner(base: Frame, question: str, reading: Reading) -> Frame:
    """The base; but the row that its highest or lowest value belongs to, where that row is asked about."""
    one = base.select[0] if len(base.select) == 1 else Term()
    extreme = one.column if one.aggregate in ("min", "max") and not base.group else None
    if extreme is None or not _OWNER.search(question) or reading.markers("aso"):
        return base
    key = (Term(extreme), one.aggregate == "max")
    return replace(base, select=_title(extreme.table, reading.names), order=(key,), limit=1)


def _asked(base: Frame, question: str, reading: Reading) -> tuple[Term, ...]:
    """What is to be shown; `who` asks for no column that ranks or narrows, `which teams` for what they are called."""
    terms = select_terms(reading)
    if _WHO.search(question):
        ranking = [term for term, _ in (*reading.order, *(base.order if base.limit else ()))]
        known = {*ranking, *(c.term for group in reading.where for c in group)}
        terms = tuple(term for term in terms if term not in known)
        if not terms and ranking and ranking[0].column and {*base.select} <= {*ranking}:
            return _title(ranking[0].column.table, reading.names)
    head = _HEAD.search(reading.text)
    if terms or reading.where or head is None or (table := reading.table(head["head"])) in base.used():
        return terms
    return _title(table, reading.names)


def _changed(base: Frame, reading: Reading, swap: bool = False) -> Frame:
    """The base with the follow-up's conditions, order and limit put on top, or in the place of its own."""
    return replace(
        narrowed(base, reading.where, swap=swap),
        tables=_all(base.tables, reading.tables, (reading.table(m) for m in reading.markers("t"))),
        having=tuple(reading.having) or base.having,
        order=order_of(reading, base.select) or base.order,
        limit=reading.limit or base.limit,
        distinct=base.distinct or reading.distinct,
    )


def _all(*lists: Iterable[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(chain(*lists)))


def _per_group(frame: Frame, reading: Reading, computes: tuple[Term, ...]) -> Frame:
    """What was computed of all rows, of each group; without one that is said, of each value that is shown."""
    names, base = reading.names, reading.base
    keys = [*reading.group, *(names.key(table) or names.title(table)[0] for table in reading.group_tables)]
    shown = [*reading.group, *(column for table in reading.group_tables for column in names.title(table))]
    if not keys:
        keys = shown = [term.column for term in base.select if term.column and not term.aggregate]
    computes = computes or tuple(term for term in base.select if term.aggregate) or (Term(None, "count"),)
    select = (*(Term(column) for column in shown), *computes)
    return replace(frame, select=select, group=tuple(keys), tables=_all(frame.tables, reading.group_tables), limit=None)


def _beyond(base: Frame, terms: tuple[Term, ...], names: NameIndex) -> Column | None:
    """What the rows that the base picked are known by, where terms say of them what has no one value for each."""
    plain = [term.column for term in terms if term.column]
    groups = [column for column in base.group if column != names.key(column.table) and not names.references(column)]
    many = any(c.table not in base.used() for c in plain) or (bool(groups) and not {*plain} <= {*base.group})
    return (base.group[0] if base.group else names.key(base.used()[0])) if many else None


def _swapped(base: Frame, reading: Reading, terms: tuple[Term, ...]) -> Frame:
    """`what about Spain?` puts the new value in the old one's place; `what about the age?` the column."""
    others = [table for marker in reading.markers("tx") if (table := reading.table(marker)) not in base.used()]
    if others and base == Frame((Term(None, "count"),), base.used()[:1]):
        return Frame(base.select, (others[0],))
    frame = _changed(base, reading, swap=True)
    if not terms or reading.where:
        return frame
    old: list[Aggregate] = [term.aggregate for term in base.select if term.aggregate and term.column is not None]
    fresh = tuple(Term(t.column, old[0]) if old and not t.aggregate and t.column else t for t in terms)
    kept = tuple(t for t in base.select if not t.aggregate) if base.group else ()
    return replace(frame, select=_all(kept, fresh))
