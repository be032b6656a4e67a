"""From a finished reading to its frame: what is shown, joined and grouped, alone or as a change to the query before."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from .frame import Aggregate, Column, Frame, Operand, counted, meeting, narrowed, picked, rows_of
from .names import NameIndex
from .reading import CUES, QuestionReading, read_stages

_REST = re.compile(r"(?<!^)(?<!\. )(?:#who|where|with(?! @a|(?: their| its) @[cxt])|having|have|has|had|from|by|in) ")
_OR = re.compile(r"@w(\d+)(?: ,)? or((?: (?!@w)\S+){0,3}) @w(\d+)")
_AND = (",", "and", "#and", "#both")
_OWN = ("respective", "corresponding", "associated")
_BELONGING = ("of", "for", "all", "#who", "from", "in", "#each")


def _select_terms(reading: QuestionReading) -> tuple[Operand, ...]:
    """Return the columns and aggregates asked for, in order."""
    terms: list[Operand] = []
    for sentence in reading.text.split(" . "):
        cut = _REST.search(sentence, 1)
        clause = sentence[: cut.start()] if cut else sentence
        if not reading.markers("cxa", clause) and (not reading.markers("t", clause) or reading.markers("a", sentence)):
            clause = sentence
        terms.extend(_listed(reading, clause.split(), bool(terms)))
    return tuple(dict.fromkeys(terms))


def _listed(reading: QuestionReading, words: list[str], more: bool) -> list[Operand]:
    """The terms of one list; after the table that it belongs to, only what a comma or `and` adds is part of it."""
    terms: list[Operand] = []
    is_open, before = True, ""
    for word in words:
        if word in _AND:
            is_open = True
        elif word[:2] in ("@c", "@a", "@x") and is_open and not reading.is_entity(word):
            terms.extend(_shown(reading, word))
        elif word[:2] in ("@t", "@x"):
            is_open = not (terms or more or before in _BELONGING)
        elif word.startswith("@w"):
            is_open = is_open and not (terms or more)
        before = word if word not in _OWN else before
    return terms


def _shown(reading: QuestionReading, marker: str) -> list[Operand]:
    """Return a term; a mere `name` where the table has a first and a last one is both."""
    term = reading.term(marker)
    pair = reading.names.title(term.column.table) if term.column and not term.aggregate else ()
    is_name = term.column in pair and reading.mark(marker).text.lower() in ("name", "names")
    return [Operand(column) for column in pair] if is_name else [term]


def to_frame(reading: QuestionReading) -> Frame:
    """Return the frame that the reading amounts to; without `select` if the question names nothing to show."""
    _join_alternatives(reading)
    names, heads = reading.names, [reading.table(marker) for marker in reading.markers("tx")]
    head = next(iter(heads), None)
    terms = list(_select_terms(reading))
    for table in (*heads, *reading.group_tables):
        reading.tables.append(table)
    group: list[Column] = []
    computed = [*terms, *(c.term for c in reading.having), *(t for t, _ in reading.order)]
    if any(term.aggregate for term in computed):
        group = [names.identity(table) for table in reading.group_tables] + reading.group
        shown = {term.column.table for term in terms if term.column and not term.aggregate}
        for table in reading.group_tables:
            terms[:0] = [] if table in shown else [Operand(column) for column in names.title(table)]
    terms[:0] = [Operand(c) for c in dict.fromkeys(reversed(reading.group)) if Operand(c) not in terms]
    terms = terms or _implied(reading, head)
    if reading.per_subject and not group:
        group = _subject_key(reading, terms, head)
    if not group and any(t.aggregate for t in terms) and not reading.limit:
        group = [t.column for t in terms if not t.aggregate and t.column is not None]
    frame = Frame(
        select=tuple(terms),
        tables=tuple(reading.tables),
        where=tuple(reading.where),
        group=tuple(dict.fromkeys(group)),
        having=tuple(reading.having),
        order=_order_of(reading, terms),
        limit=reading.limit,
        distinct=reading.distinct,
    )
    counted = len(terms) == 1 and terms[0].aggregate == "count" and not (reading.group or reading.group_tables)
    return _combined(_count_groups(frame, reading, head) if frame.having and counted else frame, reading)


def _join_alternatives(reading: QuestionReading) -> None:
    """Conditions with `or` between them become one group; ones that no row can meet together, two sets that meet."""
    while match := _OR.search(reading.text):
        first, second = int(match[1]), int(match[3])
        reading.where[first] += reading.where[second]
        reading.where[second] = ()
        reading.text = f"{reading.text[: match.start()]}@w{first}{match[2]}{reading.text[match.end() :]}"
    for one, other in combinations(range(len(reading.where)), 2):
        first, second = reading.where[one], reading.where[other]
        if reading.combine is None and len(first) == len(second) == 1 and first[0].excludes(second[0]):
            reading.where[other] = ()
            named = any(first[0].term.column in reading.names.title(table) for table in reading.near()[:1])
            column = first[0].term.column
            # A row has one such value: `customers from Germany and France` come from either.
            own = column and f"@w{one} and @w{other}" in reading.text and _has_one(reading, column.table)
            if (named or own) and first[0].operator == "=" and "#both" not in reading.text:
                # Rows are listed by their names: `the ages of Ann and Ben`.
                reading.where[one] += second
            else:
                reading.combine = second[0]
    reading.where = [group for group in reading.where if group]


def _has_one(reading: QuestionReading, table: str) -> bool:
    """Whether what is asked about comes `from` rows of a table, of which each of it has one."""
    near = reading.near()[:1]
    own = near == [table] or (bool(near) and reading.names.references_table(near[0], table))
    return own and re.search(r"\bfrom\b", reading.asked.text, re.IGNORECASE) is not None


def _implied(reading: QuestionReading, head: str | None) -> list[Operand]:
    """Return what is shown where nothing is named: what the rows are called."""
    if "#all" in reading.text:
        return [Operand()]
    first = reading.where[0][0].term.column if reading.where else None
    table = head or (first.table if first else next(iter(reading.group_tables), None))
    if table and not reading.names.distinctive(table):
        return [Operand()]
    return list(reading.titled(table)) if table else []


def _order_of(reading: QuestionReading, terms: Sequence[Operand]) -> tuple[tuple[Operand, bool], ...]:
    """Return the order that is asked for; one without a key is that of what is shown."""
    shown = [term for term in terms if term.column or term.aggregate]
    if not reading.pending or not shown:
        return tuple(reading.order)
    texts = [t for t in shown if t.column and reading.names.kind(t.column) == "text"] or shown
    key = texts[0] if reading.pending == "#alpha" else shown[-1]
    return (*reading.order, (key, reading.pending in ("#desc", "#agedesc")))


def _count_groups(frame: Frame, reading: QuestionReading, head: str | None) -> Frame:
    """`how many cities have more than 3 airports` counts groups, not rows."""
    table = next((t for t in frame.used() if t != reading.counted), head)
    key = frame.select[0].column or (reading.names.key(table) if table else None)
    return rows_of(replace(frame, group=(key,), order=(), limit=None), key) if key else frame


def _subject_key(reading: QuestionReading, terms: list[Operand], head: str | None) -> list[Column]:
    """What groups stand for: rows of the subject where other tables are counted, else equal values of what is shown."""
    plain = [term.column for term in terms if not term.aggregate and term.column is not None]
    if not plain:
        return [reading.names.identity(head)] if head is not None else []
    table = plain[0].table
    key = reading.names.key(table)
    if key is None or key in plain:
        return [key] if key else plain
    computed = [*(c.term for c in reading.having), *(t for t, _ in reading.order), *terms]
    others = {t.column.table for t in computed if t.aggregate and t.column} | set(reading.tables)
    return [key] if head == table != reading.counted and others - {table} else plain


def _combined(frame: Frame, reading: QuestionReading) -> Frame:
    """The frame narrowed by what none of its rows can meet at once, as a second set, if the reading found that."""
    if reading.combine is None:
        return frame
    return meeting(frame, reading.combine, reading.names.key((*frame.tables, *frame.used())[0]))


def follows(reading: QuestionReading) -> bool:
    """Whether a question leans on the one before: a pronoun or cue, or too little of its own to stand."""
    if "pointed" in reading.fired or reading.says("leans") or _points(reading):
        return True
    if (reading.group or reading.group_tables) and reading.base.aggregates() and not _select_terms(reading):
        return True
    if reading.says("all_there_is") or reading.markers("tx") or reading.tables:
        return False
    own = _select_terms(reading)
    if own and all(term.column and term.column.table not in reading.base.used() for term in own):
        return False
    return not own or not (reading.where or reading.having or reading.limit or reading.group)


def _points(reading: QuestionReading) -> bool:
    """Whether a cue points out of the question: any does, unless what the question is about comes before it."""
    question, cues = reading.asked.text, CUES["points"].finditer(reading.asked.text)
    own = [m for m in reading.marks if m.kind in ("t", "x") and m.table and m.hits and m.hits[0].score >= 0.6]
    if not own or not reading.says("asks"):
        return reading.says("points")
    first = question.lower().find(own[0].text.lower())
    whole = (reading.where or reading.order) and _select_terms(reading)
    within = [match.span() for match in CUES["points_within"].finditer(question)]
    return any(
        not any(start <= cue.start() < end for start, end in within)
        or (cue.start() < first and not (whole and CUES["adds"].fullmatch(cue[0])))
        for cue in cues
    )


def edited(reading: QuestionReading) -> Frame:
    """Return the frame that the follow-up asks for."""
    names, base = reading.names, reading.base
    read_stages(reading, "ellipsis")
    terms = _select_terms(reading)
    if reading.says("about"):
        return _swapped(reading, terms)
    frame = _combined(_changed(reading), reading)
    computes = tuple(term for term in terms if term.aggregate)
    if reading.group or reading.group_tables:
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
    return frame


def _changed(reading: QuestionReading, swap: bool = False) -> Frame:
    """Return the base with the follow-up's conditions, order and limit put on top, or in the place of its own."""
    base = reading.base
    return replace(
        narrowed(base, reading.where, swap=swap),
        tables=(*base.tables, *reading.tables, *map(reading.table, reading.markers("t"))),
        having=tuple(reading.having) or base.having,
        order=_order_of(reading, base.select) or base.order,
        limit=reading.limit or base.limit,
        distinct=base.distinct or reading.distinct,
    )


def _per_group(frame: Frame, reading: QuestionReading, computes: tuple[Operand, ...]) -> Frame:
    """Return what was computed of all rows, or their number, of each group."""
    tables = reading.group_tables
    keys = (*reading.group, *map(reading.names.identity, tables))
    shown = (*map(Operand, reading.group), *(term for table in tables for term in reading.titled(table)))
    computed = computes or tuple(term for term in frame.select if term.aggregate) or (Operand(None, "count"),)
    return replace(frame, select=(*shown, *computed), tables=(*frame.tables, *tables), group=keys, limit=None)


def _beyond(base: Frame, terms: tuple[Operand, ...], names: NameIndex) -> Column | None:
    """What the rows that the base picked are known by, where terms say of them what has no one value for each."""
    plain = [term.column for term in terms if term.column]
    groups = [column for column in base.group if column != names.key(column.table) and not names.references(column)]
    many = any(c.table not in base.used() for c in plain) or (bool(groups) and not {*plain} <= {*base.group})
    return (base.group[0] if base.group else names.key(base.used()[0])) if many else None


def _swapped(reading: QuestionReading, terms: tuple[Operand, ...]) -> Frame:
    """`what about Spain?` puts the new value in the old one's place; `what about the age?` the column."""
    base = reading.base
    frame = _changed(reading, swap=True)
    if not terms or reading.where:
        return frame
    old: list[Aggregate] = [term.aggregate for term in base.select if term.aggregate and term.column is not None]
    fresh = tuple(Operand(t.column, old[0]) if old and not t.aggregate and t.column else t for t in terms)
    kept = tuple(t for t in base.select if not t.aggregate) if base.group else ()
    return replace(frame, select=tuple(dict.fromkeys((*kept, *fresh))))
