"""From a finished reading to its frame: what is shown, which tables are joined, what is grouped."""

from __future__ import annotations

import re
from dataclasses import replace

from ...tools.frames import Column, Condition, Frame, Term
from ...tools.mentions import name_words
from .reading import Reading

_REST = re.compile(
    r"(?<!^)(?<!\. )(?:#who|where|with(?! @a|(?: their| its) @[cxt])|having|whose|have|has|had|from|by|in) "
)


def select_terms(reading: Reading) -> tuple[Term, ...]:
    """The columns and aggregates asked for, in order."""
    terms: list[Term] = []
    for sentence in reading.text.split(" . "):
        cut = _REST.search(sentence, 1)
        if cut and (
            reading.markers("cxa", sentence[: cut.start()])
            or (reading.markers("t", sentence[: cut.start()]) and not reading.markers("a", sentence))
        ):
            sentence = sentence[: cut.start()]
        terms.extend(_listed(reading, sentence.split(), bool(terms)))
    return tuple(dict.fromkeys(terms))


def _listed(reading: Reading, words: list[str], more: bool) -> list[Term]:
    """The terms of one list; after the table that it belongs to, only what a comma or `and` adds is part of it."""
    terms: list[Term] = []
    is_open = True
    added = False
    before = head = ""
    for at, word in enumerate(words):
        after = words[at + 1] if at + 1 < len(words) else ""
        theirs = before in ("their", "its") and not (terms or more)
        if theirs and head and re.match(r"@[cxt]", word):
            terms.extend(Term(column) for column in reading.names.title(reading.table(head)))
            is_open = added = True
        if word in (",", "and", "#and", "#both"):
            is_open = added = True
        elif re.match(r"@[ca]|@x", word) and is_open and not _only_table(reading, word):
            terms.extend(_shown(reading, word))
        elif re.match(r"@[tx]", word):
            if added and terms and is_open and not re.match(r"@[ca]", after):
                terms.extend(Term(column) for column in reading.names.title(reading.table(word)))
            head = head or word
            is_open = not (terms or more or before in ("of", "for", "all", "#who", "from", "in", "#each"))
        elif word.startswith("@w"):
            is_open = is_open and not (terms or more)
        added = added and word in (
            ",",
            "and",
            "#and",
            "#both",
            "their",
            "its",
            "respective",
            "corresponding",
            "associated",
        )
        before = word if word not in ("respective", "corresponding", "associated") else before
    return terms


def _only_table(reading: Reading, marker: str) -> bool:
    mark = reading.mark(marker)
    return marker.startswith("@x") and (mark.column is None or mark.hits[0].column is None)


def _shown(reading: Reading, marker: str) -> list[Term]:
    """A term; a mere `name` where the table has a first and a last one is both."""
    term = reading.term(marker)
    pair = reading.names.title(term.column.table) if term.column and not term.aggregate else ()
    if len(pair) == 2 and term.column in pair and reading.mark(marker).text.lower() in ("name", "names"):
        return [Term(column) for column in pair]
    return [term]


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
    group: list[Column] = []
    counts = any(t.aggregate for t in (*terms, *(c.term for c in reading.having), *(t for t, _ in reading.order)))
    for table in reading.group_tables:
        if not counts:
            reading.need(table)
            continue
        key = reading.names.key(table)
        title = reading.names.title(table)
        reading.need(table)
        group.append(key or title[0])
        if not any(term.column and term.column.table == table and not term.aggregate for term in terms):
            terms[:0] = [Term(column) for column in title]
    for column in reading.group:
        if counts:
            group.append(column)
        if Term(column) not in terms and column not in reading.quiet:
            terms.insert(0, Term(column))
    if "#all" in reading.text and not terms:
        terms = [Term()]
    if not terms and head is None and reading.where and (first := reading.where[0][0].term.column):
        terms = [Term(column) for column in reading.names.title(first.table)]
    if not terms and (asked := _asked(reading, head)) is not None:
        terms = [Term(asked)]
    if not terms and head is not None:
        terms = [Term(column) for column in reading.names.title(head)]
    if reading.per_subject and not group:
        group = _subject_key(reading, terms, head)
    if not group and any(t.aggregate for t in terms) and any(not t.aggregate for t in terms) and not reading.limit:
        group = [t.column for t in terms if not t.aggregate and t.column is not None]
    if (reading.group or reading.group_tables) and not counts:
        terms, group = _totals(reading, terms, group)
    if not terms and head is None and reading.group_tables:
        terms = [Term(column) for column in reading.names.title(reading.group_tables[0])]
    order = list(reading.order)
    if reading.pending and any(term.column or term.aggregate for term in terms):
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
        offset=reading.offset if reading.limit else 0,
        distinct=reading.distinct,
    )
    if (
        frame.having
        and len(terms) == 1
        and terms[0].aggregate == "count"
        and not reading.group
        and not reading.group_tables
    ):
        frame = _count_groups(frame, reading, head)
    return combined(frame, reading)


_ASKED = (
    (re.compile(r"(?:^|\. )when\b"), ("date", "time", "year")),
    (re.compile(r"(?:^|\. )where\b"), ("location", "address", "place", "city")),
    (re.compile(r"(?:^|\. )how old\b"), ("age",)),
    (
        re.compile(r"(?:^|\. )how (?:long|tall|high|big|large|heavy)\b"),
        ("length", "height", "duration", "milliseconds", "size", "weight"),
    ),
)
"""Question words, with the column words that answer them."""


def _asked(reading: Reading, head: str | None) -> Column | None:
    """The column that a bare `when`, `where` or `how old` asks for."""
    tables = [head] if head is not None else reading.near()[:1]
    for regex, hints in _ASKED:
        if regex.search(reading.text) and (found := reading.names.called(hints, tables)):
            return found
    return None


def _count_groups(frame: Frame, reading: Reading, head: str | None) -> Frame:
    """`how many cities have more than 3 airports` counts groups, not rows."""
    term = frame.select[0]
    table = next((t for t in frame.used() if t != reading.counted), head)
    key = term.column or (reading.names.key(table) if table else None)
    if key is None:
        return frame
    inner = replace(frame, select=(Term(key),), group=(key,), order=(), limit=None)
    return Frame((Term(key, "count", True),), (key.table,), ((Condition(Term(key), "in", inner),),))


def _totals(reading: Reading, terms: list[Term], group: list[Column]) -> tuple[list[Term], list[Column]]:
    """`the total sales per country`, where the total is a column, adds it up."""
    asked = [marker for marker in reading.markers("c") if reading.mark(marker).text.lower().startswith("total")]
    if not asked:
        return terms, group
    total = reading.term(asked[0])
    terms = [Term(total.column, "sum") if term == total else term for term in terms]
    keys = [reading.names.key(table) or reading.names.title(table)[0] for table in reading.group_tables]
    return terms, [*group, *reading.group, *keys]


def _subject_key(reading: Reading, terms: list[Term], head: str | None) -> list[Column]:
    """What groups stand for: rows of the subject where other tables are counted, else equal values of what is shown."""
    plain = [term.column for term in terms if not term.aggregate and term.column is not None]
    if not plain:
        return [reading.names.key(head) or reading.names.title(head)[0]] if head is not None else []
    table = plain[0].table
    key = reading.names.key(table)
    if key is None or key in plain:
        return [key] if key else plain
    computed = [*(c.term for c in reading.having), *(t for t, _ in reading.order), *terms]
    others = {t.column.table for t in computed if t.aggregate and t.column} | set(reading.tables)
    if not others - {table}:
        return plain
    title = reading.names.title(table)
    named = any(column in title and name_words(column.name)[-1] in ("name", "title") for column in plain)
    return [key] if (named or head == table) and table != reading.counted else plain


def _pending_key(reading: Reading, terms: list[Term]) -> Term:
    if reading.pending == "#alpha":
        for term in terms:
            if term.column and reading.names.kind(term.column) == "text":
                return term
    return terms[-1] if reading.pending != "#alpha" and terms else terms[0] if terms else Term()


def combined(frame: Frame, reading: Reading) -> Frame:
    """The frame with the set operation that the reading found, if it did."""
    if reading.combine is None:
        return frame
    operator, conditions = reading.combine
    if len(frame.select) == 1 and frame.select[0].aggregate == "count":
        table = frame.tables[0] if frame.tables else frame.used()[0]
        key = frame.select[0].column or reading.names.key(table)
        if key is not None:
            also = Frame((Term(key),), frame.tables, tuple((condition,) for condition in conditions))
            return replace(
                frame, select=(Term(key, "count", True),), where=(*frame.where, (Condition(Term(key), "in", also),))
            )
    replaced = {condition.term for condition in conditions}
    kept = tuple(
        group
        for group in frame.where
        if not (len(group) == 1 and group[0].term in replaced and group[0].operator in ("=", "<", "<=", ">", ">="))
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
