"""From a finished reading to its frame: what is shown, which tables are joined, what is grouped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from .frames import Column, Frame, Term, meeting, rows_of
from .mentions.lexicon import ASKED
from .reading import Reading

_REST = re.compile(r"(?<!^)(?<!\. )(?:#who|where|with(?! @a|(?: their| its) @[cxt])|having|have|has|had|from|by|in) ")
_OR = re.compile(r"@w(\d+)(?: ,)? or((?: (?!@w)\S+){0,3}) @w(\d+)")
_AND = (",", "and", "#and", "#both")
_OWN = ("their", "its", "respective", "corresponding", "associated")
_BELONGING = ("of", "for", "all", "#who", "from", "in", "#each")


def select_terms(reading: Reading) -> tuple[Term, ...]:
    """The columns and aggregates asked for, in order."""
    terms: list[Term] = []
    for sentence in reading.text.split(" . "):
        cut = _REST.search(sentence, 1)
        clause = sentence[: cut.start()] if cut else sentence
        if not reading.markers("cxa", clause) and (not reading.markers("t", clause) or reading.markers("a", sentence)):
            clause = sentence
        terms.extend(_listed(reading, clause.split(), bool(terms)))
    return tuple(dict.fromkeys(terms))


def _listed(reading: Reading, words: list[str], more: bool) -> list[Term]:
    """The terms of one list; after the table that it belongs to, only what a comma or `and` adds is part of it."""
    terms: list[Term] = []
    is_open, added, before, head = True, False, "", ""
    for word, after in zip(words, [*words[1:], ""], strict=False):
        is_table, is_named = word[:2] in ("@t", "@x"), word[:2] in ("@c", "@x", "@t")
        if before in ("their", "its") and head and is_named and not (terms or more):
            terms.extend(Term(column) for column in reading.names.title(reading.table(head)))
            is_open = added = True
        if word[:2] == "@a" and before in ("and", "their") and head and not (terms or more) and not reading.group:
            # `authors and the number of books`: of each.
            terms.extend(Term(column) for column in reading.names.title(reading.table(head)))
            reading.per_subject = True
        if word in _AND:
            is_open = added = True
        elif word[:2] in ("@c", "@a", "@x") and is_open and not reading.is_entity(word):
            terms.extend(_shown(reading, word))
        elif is_table:
            if added and terms and is_open and after[:2] not in ("@c", "@a"):
                terms.extend(Term(column) for column in reading.names.title(reading.table(word)))
            head = head or word
            is_open = not (terms or more or before in _BELONGING)
        elif word.startswith("@w"):
            is_open = is_open and not (terms or more)
        added = added and word in (*_AND, *_OWN)
        before = word if word not in _OWN[2:] else before
    return terms


def _shown(reading: Reading, marker: str) -> list[Term]:
    """A term; a mere `name` where the table has a first and a last one is both."""
    term = reading.term(marker)
    pair = reading.names.title(term.column.table) if term.column and not term.aggregate else ()
    is_name = term.column in pair and reading.mark(marker).text.lower() in ("name", "names")
    return [Term(column) for column in pair] if is_name else [term]


def to_frame(reading: Reading) -> Frame:
    """The frame that the reading amounts to; without `select` if the question names nothing to show."""
    _join_alternatives(reading)
    names, heads = reading.names, [reading.table(marker) for marker in reading.markers("tx")]
    head = next(iter(heads), None)
    terms = list(select_terms(reading))
    for table in (*heads, *reading.group_tables):
        reading.tables.append(table)
    group: list[Column] = []
    computed = [*terms, *(c.term for c in reading.having), *(t for t, _ in reading.order)]
    if any(term.aggregate for term in computed):
        group = [names.identity(table) for table in reading.group_tables] + reading.group
        shown = {term.column.table for term in terms if term.column and not term.aggregate}
        for table in reading.group_tables:
            terms[:0] = [] if table in shown else [Term(column) for column in names.title(table)]
    terms[:0] = [Term(c) for c in dict.fromkeys(reversed(reading.group)) if Term(c) not in terms]
    terms = terms or _implied(reading, head)
    if reading.per_subject and not group:
        group = subject_key(reading, terms, head)
    if not group and any(t.aggregate for t in terms) and not reading.limit:
        group = [t.column for t in terms if not t.aggregate and t.column is not None]
    frame = Frame(
        select=tuple(terms),
        tables=tuple(reading.tables),
        where=tuple(reading.where),
        group=tuple(dict.fromkeys(group)),
        having=tuple(reading.having),
        order=order_of(reading, terms),
        limit=reading.limit,
        offset=reading.offset if reading.limit else 0,
        distinct=reading.distinct,
    )
    counted = len(terms) == 1 and terms[0].aggregate == "count" and not (reading.group or reading.group_tables)
    return combined(_count_groups(frame, reading, head) if frame.having and counted else frame, reading)


def _join_alternatives(reading: Reading) -> None:
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
            kinds = re.search(rf"@w{one} and @w{other} (@t\d+)", reading.text)
            column = first[0].term.column
            of_kinds = kinds and column and reading.table(kinds[1]) == column.table
            # A row has one such value: `customers from Germany and France` come from either.
            own = column and f"@w{one} and @w{other}" in reading.text and _has_one(reading, column.table)
            if (named or of_kinds or own) and first[0].operator == "=" and "#both" not in reading.text:
                # Rows are listed by their names, `the ages of Ann and Ben`, or by their kinds: `red and green apples`.
                reading.where[one] += second
                if of_kinds and column and reading.markers("a"):
                    reading.group.append(column)
            else:
                reading.combine = second[0]
    reading.where = [group for group in reading.where if group]


def _has_one(reading: Reading, table: str) -> bool:
    """Whether what is asked about comes `from` rows of a table, of which each of it has one."""
    near = reading.near()[:1]
    own = near == [table] or (bool(near) and reading.names.references_table(near[0], table))
    return own and re.search(r"\bfrom\b", reading.asked.text, re.IGNORECASE) is not None


def _implied(reading: Reading, head: str | None) -> list[Term]:
    """What is shown where nothing is named: what answers the question word, else what the rows are called."""
    if "#all" in reading.text:
        return [Term()]
    first = reading.where[0][0].term.column if reading.where else None
    table = head or (first.table if first else next(iter(reading.group_tables), None))
    hinted = [hints for words, hints in ASKED.items() if re.search(rf"(?:^|\. ){words}\b", reading.text)]
    about = [table] if table else reading.near()[:1]
    answers = [found for hints in hinted if (found := reading.names.called(hints, about))]
    if table and not answers and not reading.names.distinctive(table):
        return [Term()]
    return [Term(column) for column in answers[:1] or (reading.names.title(table) if table else ())]


def order_of(reading: Reading, terms: Sequence[Term]) -> tuple[tuple[Term, bool], ...]:
    """The order that is asked for; one without a key is that of what is shown."""
    shown = [term for term in terms if term.column or term.aggregate]
    if not reading.pending or not shown:
        return tuple(reading.order)
    texts = [t for t in shown if t.column and reading.names.kind(t.column) == "text"] or shown
    key = texts[0] if reading.pending == "#alpha" else shown[-1]
    return (*reading.order, (key, reading.pending in ("#desc", "#agedesc")))


def _count_groups(frame: Frame, reading: Reading, head: str | None) -> Frame:
    """`how many cities have more than 3 airports` counts groups, not rows."""
    table = next((t for t in frame.used() if t != reading.counted), head)
    key = frame.select[0].column or (reading.names.key(table) if table else None)
    return rows_of(replace(frame, group=(key,), order=(), limit=None), key) if key else frame


def subject_key(reading: Reading, terms: list[Term], head: str | None) -> list[Column]:
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


def combined(frame: Frame, reading: Reading) -> Frame:
    """The frame narrowed by what none of its rows can meet at once, as a second set, if the reading found that."""
    if reading.combine is None:
        return frame
    return meeting(frame, reading.combine, reading.names.key((*frame.tables, *frame.used())[0]))
