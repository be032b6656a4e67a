"""From a finished reading to its frame: what is shown, which tables are joined, what is grouped."""

from __future__ import annotations

import re

from .frame import Column, Condition, Frame, Term
from .reading import Reading

_REST = re.compile(r"(?<!^)(?<!\. )(?:#who|where|with|having|whose|have|has|had|from|by|in) ")


def select_terms(reading: Reading) -> tuple[Term, ...]:
    """The columns and aggregates asked for, in order."""
    terms: list[Term] = []
    for sentence in reading.text.split(" . "):
        cut = _REST.search(sentence, 1)
        region = sentence
        if cut and reading.markers("cxa", sentence[: cut.start()]):
            region = sentence[: cut.start()]
        elif cut and reading.markers("t", sentence[: cut.start()]) and not reading.markers("a", sentence):
            region = sentence[: cut.start()]
        for marker in reading.markers("cxa", region):
            mark = reading.mark(marker)
            if marker.startswith("@x") and (mark.column is None or mark.hits[0].column is None):
                continue
            terms.append(reading.term(marker))
    return tuple(dict.fromkeys(terms))


def subject(reading: Reading) -> str | None:
    """The table that the question is about: the first one left, else one that a term counts or shows."""
    left = reading.markers("tx")
    if left:
        return reading.table(left[0])
    return None


def to_frame(reading: Reading) -> Frame:
    """The frame that the reading amounts to; without `select` if the question names nothing to show."""
    terms = list(select_terms(reading))
    head = subject(reading)
    if "#distinct" in reading.text:
        reading.distinct = True
    for marker in reading.markers("tx"):
        reading.need(reading.table(marker))
    group = list(reading.group)
    for table in reading.group_tables:
        key = reading.names.key(table)
        title = reading.names.title(table)
        reading.need(table)
        group.append(key or title[0])
        if not any(term.column and term.column.table == table and not term.aggregate for term in terms):
            terms[:0] = [Term(column) for column in title]
    for column in reading.group:
        if Term(column) not in terms:
            terms.insert(0, Term(column))
    if "#all" in reading.text and not terms:
        terms = [Term()]
    if not terms and head is not None:
        terms = [Term(column) for column in reading.names.title(head)]
    if reading.per_subject and not group:
        group = _subject_key(reading, terms, head)
    if not group and any(t.aggregate for t in terms) and any(not t.aggregate for t in terms) and not reading.limit:
        group = [t.column for t in terms if not t.aggregate and t.column is not None]
    order = list(reading.order)
    if reading.pending:
        term = _pending_key(reading, terms)
        order.append((term, reading.pending in ("#desc", "#agedesc")))
    frame = Frame(
        select=tuple(terms),
        tables=tuple(reading.tables),
        where=tuple(reading.where),
        group=tuple(dict.fromkeys(group)),
        having=tuple(reading.having),
        order=tuple(order),
        limit=reading.limit,
        distinct=reading.distinct,
    )
    return _combined(frame, reading)


def _subject_key(reading: Reading, terms: list[Term], head: str | None) -> list[Column]:
    plain = [term.column for term in terms if not term.aggregate and term.column is not None]
    if plain:
        table = plain[0].table
        key = reading.names.key(table)
        title = reading.names.title(table)
        if key and (key in plain or any(column in title for column in plain) or (head == table)):
            return [key]
        return plain
    if head is not None:
        return [reading.names.key(head) or reading.names.title(head)[0]]
    return []


def _pending_key(reading: Reading, terms: list[Term]) -> Term:
    if reading.pending == "#alpha":
        for term in terms:
            if term.column and reading.names.kind(term.column) == "text":
                return term
    return terms[-1] if reading.pending != "#alpha" and terms else terms[0] if terms else Term()


def _combined(frame: Frame, reading: Reading) -> Frame:
    if reading.combine is None:
        return frame
    operator, conditions = reading.combine
    replaced = {condition.term for condition in conditions}
    kept = tuple(
        group
        for group in frame.where
        if not (len(group) == 1 and group[0].term in replaced and group[0].operator == "=")
    )
    other = Frame(frame.select, frame.tables, (*kept, *((c,) for c in conditions)), frame.group, frame.having)
    return Frame(
        frame.select,
        frame.tables,
        frame.where,
        frame.group,
        frame.having,
        distinct=frame.distinct,
        combine=(operator, other),
    )


__all__ = ["Condition", "select_terms", "subject", "to_frame"]
