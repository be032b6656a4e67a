"""Edits the previous query's frame by what a follow-up says."""

from __future__ import annotations

from dataclasses import replace

from .frames import Aggregate, Column, Frame, Term, complement, counted, holder, narrowed, per_group, picked
from .mentions import NameIndex
from .reading import CUES, Reading, read_stages
from .select import combined, order_of, select_terms, subject_key


def follows(reading: Reading) -> bool:
    """Whether a question leans on the one before: a pronoun or cue, or too little of its own to stand."""
    if "pointed" in reading.fired or reading.says("leans") or reading.says("others") or _points(reading):
        return True
    if (reading.group or reading.group_tables) and reading.base.aggregates() and not select_terms(reading):
        return True
    if reading.says("all_there_is") or reading.markers("tx") or reading.tables:
        return False
    own = select_terms(reading)
    if own and all(term.column and term.column.table not in reading.base.used() for term in own):
        return False
    return not own or not (reading.where or reading.having or reading.limit or reading.group)


def _points(reading: Reading) -> bool:
    """Whether a cue points out of the question: any does, unless what the question is about comes before it."""
    question, cues = reading.asked.text, CUES["points"].finditer(reading.asked.text)
    own = [m for m in reading.marks if m.kind in ("t", "x") and m.table and m.hits and m.hits[0].score >= 0.6]
    if not own or not reading.says("asks"):
        return reading.says("points")
    first = question.lower().find(own[0].text.lower())
    whole = (reading.where or reading.order) and select_terms(reading)
    within = [match.span() for match in CUES["points_within"].finditer(question)]
    return any(
        not any(start <= cue.start() < end for start, end in within)
        or (cue.start() < first and not (whole and CUES["adds"].fullmatch(cue[0])))
        for cue in cues
    )


def edited(reading: Reading) -> Frame:
    """The frame that the follow-up asks for."""
    names, table = reading.names, reading.base.used()[0]
    reading.base = base = _owner(reading)
    read_stages(reading, "ellipsis")
    if reading.says("others") and not reading.where:
        return complement(base, names.identity(table))
    terms = _asked(reading)
    if reading.says("about"):
        return _swapped(reading, terms)
    frame = combined(_changed(reading), reading)
    computes = tuple(term for term in terms if term.aggregate)
    each = reading.per_subject and computes and computes == terms and not reading.having
    if reading.group or reading.group_tables or each:
        return _per_group(frame, reading, computes)
    if terms and all(term.aggregate == "count" and not term.distinct for term in terms):
        return counted(frame, names.key(frame.used()[0]))
    if (base.limit or base.having) and (key := _beyond(base, terms, names)):
        where = ((picked(base, key),), *reading.where)
        return Frame(terms, (key.table, *reading.tables), where, order=tuple(reading.order), limit=reading.limit)
    if terms and reading.says("adds"):
        kept = base.select if base.group or computes else tuple(t for t in base.select if not t.aggregate)
        frame = replace(frame, select=tuple(dict.fromkeys((*kept, *terms))))
    elif terms:
        frame = replace(frame, select=terms, distinct=reading.distinct)
        if computes:
            frame = replace(frame, order=tuple(reading.order), limit=reading.limit, group=(), having=())
        elif any(term.aggregate for term in base.select) and not frame.aggregates():
            frame = replace(frame, group=())
    elif base.computed() and (reading.says("shows") or reading.limit or reading.order):
        heads = [reading.table(marker) for marker in reading.markers("tx")] or base.used()
        frame = replace(frame, select=reading.titled(heads[0]))
    plain = [t.column for t in frame.select if t.column is not None and not t.aggregate]
    if reading.per_subject and plain and not frame.group and frame.aggregates():
        frame = replace(frame, group=tuple(subject_key(reading, list(frame.select), plain[0].table)))
    return frame


def _owner(reading: Reading) -> Frame:
    """The base; but the row that its highest or lowest value belongs to, where that row is asked about."""
    base = reading.base
    one = base.select[0] if len(base.select) == 1 and not base.group else Term()
    if one.column is None or one.aggregate not in ("min", "max"):
        return base
    asked = reading.says("owner") and not reading.markers("aso")
    return holder(base, reading.titled(one.column.table)) if asked else base


def _asked(reading: Reading) -> tuple[Term, ...]:
    """What is to be shown; `which teams`, or `who` of mere numbers, asks for what they are called."""
    base, terms = reading.base, select_terms(reading)
    if reading.says("who") and not terms:
        ranking = [term for term, _ in (*reading.order, *(base.order if base.limit else ()))]
        if ranking and ranking[0].column and {*base.select} <= {*ranking}:
            return reading.titled(ranking[0].column.table)
    head = CUES["head"].search(reading.text)
    if terms or reading.where or head is None or (table := reading.table(head["head"])) in base.used():
        return terms
    return reading.titled(table)


def _changed(reading: Reading, swap: bool = False) -> Frame:
    """The base with the follow-up's conditions, order and limit put on top, or in the place of its own."""
    base = reading.base
    return replace(
        narrowed(base, reading.where, swap=swap),
        tables=(*base.tables, *reading.tables, *map(reading.table, reading.markers("t"))),
        having=tuple(reading.having) or base.having,
        order=order_of(reading, base.select) or base.order,
        limit=reading.limit or base.limit,
        distinct=base.distinct or reading.distinct,
    )


def _per_group(frame: Frame, reading: Reading, computes: tuple[Term, ...]) -> Frame:
    """What was computed of all rows, of each group; without one that is said, of each value that is shown."""
    tables = reading.group_tables
    keys = [*reading.group, *map(reading.names.identity, tables)]
    shown = [*map(Term, reading.group), *(term for table in tables for term in reading.titled(table))]
    if not keys:
        shown = [term for term in frame.select if term.column and not term.aggregate]
        keys = [term.column for term in shown if term.column]
    return per_group(replace(frame, tables=(*frame.tables, *tables)), keys, shown, computes)


def _beyond(base: Frame, terms: tuple[Term, ...], names: NameIndex) -> Column | None:
    """What the rows that the base picked are known by, where terms say of them what has no one value for each."""
    plain = [term.column for term in terms if term.column]
    groups = [column for column in base.group if column != names.key(column.table) and not names.references(column)]
    many = any(c.table not in base.used() for c in plain) or (bool(groups) and not {*plain} <= {*base.group})
    return (base.group[0] if base.group else names.key(base.used()[0])) if many else None


def _swapped(reading: Reading, terms: tuple[Term, ...]) -> Frame:
    """`what about Spain?` puts the new value in the old one's place; `what about the age?` the column."""
    base = reading.base
    others = [table for marker in reading.markers("tx") if (table := reading.table(marker)) not in base.used()]
    if others and base == Frame((Term(None, "count"),), base.used()[:1]):
        return Frame(base.select, (others[0],))
    frame = _changed(reading, swap=True)
    if not terms or reading.where:
        return frame
    old: list[Aggregate] = [term.aggregate for term in base.select if term.aggregate and term.column is not None]
    fresh = tuple(Term(t.column, old[0]) if old and not t.aggregate and t.column else t for t in terms)
    kept = tuple(t for t in base.select if not t.aggregate) if base.group else ()
    return replace(frame, select=tuple(dict.fromkeys((*kept, *fresh))))
