"""The frame of a reading, alone or as a change to the query before."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from .frame import Aggregate, Column, Operand, QueryFrame, add_conditions, count_keys, count_rows, intersect, match_key
from .names import StemIndex
from .reading import CUES, ParseState, apply_pattern_stages

_REST = re.compile(r"(?<!^)(?<!\. )(?:#who|where|with(?! @a|(?: their| its) @[cxt])|having|have|has|had|from|by|in) ")
_OR = re.compile(r"@w(\d+)(?: ,)? or((?: (?!@w)\S+){0,3}) @w(\d+)")
_AND = (",", "and", "#and", "#both")
_FILLERS = ("respective", "corresponding", "associated")
_BELONGING = ("of", "for", "all", "#who", "from", "in", "#each")


def _find_requested_terms(state: ParseState) -> tuple[Operand, ...]:
    """Return the columns and aggregates that the question asks for, in order."""
    terms: list[Operand] = []
    for sentence in state.text.split(" . "):
        rest_match = _REST.search(sentence, 1)
        clause = sentence[: rest_match.start()] if rest_match else sentence
        if not state.find_markers("cxa", clause) and (
            not state.find_markers("t", clause) or state.find_markers("a", sentence)
        ):
            clause = sentence
        terms.extend(_read_term_list(state, clause.split(), bool(terms)))
    return tuple(dict.fromkeys(terms))


def _read_term_list(state: ParseState, words: list[str], more: bool) -> list[Operand]:
    """Return the terms of a list; after a table name, only a comma or `and` continues the list."""
    terms: list[Operand] = []
    is_open, before = True, ""
    for word in words:
        if word in _AND:
            is_open = True
        elif word[:2] in ("@c", "@a", "@x") and is_open and not state.is_table_mention(word):
            terms.extend(_get_marker_columns(state, word))
        elif word[:2] in ("@t", "@x"):
            is_open = not (terms or more or before in _BELONGING)
        elif word.startswith("@w"):
            is_open = is_open and not (terms or more)
        before = word if word not in _FILLERS else before
    return terms


def _get_marker_columns(state: ParseState, marker: str) -> list[Operand]:
    """Return a marker's columns; `name` may stand for a first-name and a last-name column."""
    term = state.get_operand(marker)
    pair = state.names.find_titles(term.column.table) if term.column and not term.aggregate else ()
    is_name = term.column in pair and state.get_mention(marker).text.lower() in ("name", "names")
    return [Operand(column) for column in pair] if is_name else [term]


def build_query_frame(state: ParseState) -> QueryFrame:
    """Return the query frame of a parsed question; `select` is empty if it names no columns."""
    _join_or_conditions(state)
    names, heads = state.names, [state.table(marker) for marker in state.find_markers("tx")]
    head = next(iter(heads), None)
    terms = list(_find_requested_terms(state))
    for table in (*heads, *state.group_tables):
        state.tables.append(table)
    group: list[Column] = []
    operands = [*terms, *(c.term for c in state.having), *(t for t, _ in state.order)]
    if any(term.aggregate for term in operands):
        group = [names.choose_identity_column(table) for table in state.group_tables] + state.group
        tables = {term.column.table for term in terms if term.column and not term.aggregate}
        for table in state.group_tables:
            terms[:0] = [] if table in tables else [Operand(column) for column in names.find_titles(table)]
    terms[:0] = [Operand(c) for c in dict.fromkeys(reversed(state.group)) if Operand(c) not in terms]
    terms = terms or _choose_default_columns(state, head)
    if state.per_subject and not group:
        group = _choose_group_columns(state, terms, head)
    if not group and any(t.aggregate for t in terms) and not state.limit:
        group = [t.column for t in terms if not t.aggregate and t.column is not None]
    frame = QueryFrame(
        select=tuple(terms),
        tables=tuple(state.tables),
        where=tuple(state.where),
        group=tuple(dict.fromkeys(group)),
        having=tuple(state.having),
        order=_build_sort_order(state, terms),
        limit=state.limit,
        distinct=state.distinct,
    )
    is_count = len(terms) == 1 and terms[0].aggregate == "count" and not (state.group or state.group_tables)
    return _add_intersection(_count_groups(frame, state, head) if frame.having and is_count else frame, state)


def _join_or_conditions(state: ParseState) -> None:
    """Join conditions around `or` into one group; separate conditions that exclude each other."""
    while match := _OR.search(state.text):
        first, second = int(match[1]), int(match[3])
        state.where[first] += state.where[second]
        state.where[second] = ()
        state.text = f"{state.text[: match.start()]}@w{first}{match[2]}{state.text[match.end() :]}"
    for index, other in combinations(range(len(state.where)), 2):
        first, second = state.where[index], state.where[other]
        if state.combine is None and len(first) == len(second) == 1 and first[0].excludes(second[0]):
            state.where[other] = ()
            subject = state.list_tables()[:1]
            is_title = any(first[0].term.column in state.names.find_titles(table) for table in subject)
            column = first[0].term.column
            # A row has one such value: `customers from Germany and France` come from either.
            single = column and f"@w{index} and @w{other}" in state.text and _has_one_related_row(state, column.table)
            if (is_title or single) and first[0].operator == "=" and "#both" not in state.text:
                # Rows are listed by their names: `the ages of Ann and Ben`.
                state.where[index] += second
            else:
                state.combine = second[0]
    state.where = [group for group in state.where if group]


def _has_one_related_row(state: ParseState, table: str) -> bool:
    """Whether the question says `from`, and each requested row refers to one row of the table."""
    near = state.list_tables()[:1]
    is_related = near == [table] or (bool(near) and state.names.references_table(near[0], table))
    return is_related and re.search(r"\bfrom\b", state.question.text, re.IGNORECASE) is not None


def _choose_default_columns(state: ParseState, head: str | None) -> list[Operand]:
    """Return the columns to show if the question names none: those that name the rows."""
    if "#all" in state.text:
        return [Operand()]
    first = state.where[0][0].term.column if state.where else None
    table = head or (first.table if first else next(iter(state.group_tables), None))
    if table and not state.names.has_distinctive_title(table):
        return [Operand()]
    return list(state.list_title_columns(table)) if table else []


def _build_sort_order(state: ParseState, terms: Sequence[Operand]) -> tuple[tuple[Operand, bool], ...]:
    """Return the requested sort order; if no sort key is named, sort by a result column."""
    operands = [term for term in terms if term.column or term.aggregate]
    if not state.pending or not operands:
        return tuple(state.order)
    texts = [t for t in operands if t.column and state.names.kind(t.column) == "text"] or operands
    key = texts[0] if state.pending == "#alpha" else operands[-1]
    return (*state.order, (key, state.pending in ("#desc", "#agedesc")))


def _count_groups(frame: QueryFrame, state: ParseState, head: str | None) -> QueryFrame:
    """Return a query frame that counts groups: `how many cities have more than 3 airports`."""
    table = next((t for t in frame.list_tables() if t != state.count_table), head)
    key = frame.select[0].column or (state.names.key(table) if table else None)
    return count_keys(replace(frame, group=(key,), order=(), limit=None), key) if key else frame


def _choose_group_columns(state: ParseState, terms: list[Operand], head: str | None) -> list[Column]:
    """Return the columns to group by: the subject's key, or the columns that are shown."""
    plain_columns = [term.column for term in terms if not term.aggregate and term.column is not None]
    if not plain_columns:
        return [state.names.choose_identity_column(head)] if head is not None else []
    table = plain_columns[0].table
    key = state.names.key(table)
    if key is None or key in plain_columns:
        return [key] if key else plain_columns
    operands = [*(c.term for c in state.having), *(t for t, _ in state.order), *terms]
    other_tables = {t.column.table for t in operands if t.aggregate and t.column} | set(state.tables)
    return [key] if head == table != state.count_table and other_tables - {table} else plain_columns


def _add_intersection(frame: QueryFrame, state: ParseState) -> QueryFrame:
    """Return the frame intersected with the question's conflicting condition, if it has one."""
    key = state.names.key((*frame.tables, *frame.list_tables())[0]) if state.combine else None
    return intersect(frame, state.combine, key) if state.combine else frame


def is_follow_up_question(state: ParseState) -> bool:
    """Whether a question depends on the previous one: it refers back, or is incomplete alone."""
    if "pointed" in state.patterns or state.has_cue("leans") or _has_cue_to_earlier_question(state):
        return True
    if (state.group or state.group_tables) and state.base.has_aggregates() and not _find_requested_terms(state):
        return True
    if state.has_cue("all_there_is") or state.find_markers("tx") or state.tables:
        return False
    terms = _find_requested_terms(state)
    if terms and all(term.column and term.column.table not in state.base.list_tables() for term in terms):
        return False
    return not terms or not (state.where or state.having or state.limit or state.group)


def _has_cue_to_earlier_question(state: ParseState) -> bool:
    """Whether a word such as `those` refers to an earlier question, not to words of this one."""
    question, cues = state.question.text, CUES["points"].finditer(state.question.text)
    subjects = [m for m in state.marks if m.kind in ("t", "x") and m.table and m.hits and m.hits[0].score >= 0.6]
    if not subjects or not state.has_cue("asks"):
        return state.has_cue("points")
    first = question.lower().find(subjects[0].text.lower())
    is_complete = (state.where or state.order) and _find_requested_terms(state)
    spans = [match.span() for match in CUES["points_within"].finditer(question)]
    return any(
        not any(start <= cue.start() < end for start, end in spans)
        or (cue.start() < first and not (is_complete and CUES["adds"].fullmatch(cue[0])))
        for cue in cues
    )


def edit_base_query(state: ParseState) -> QueryFrame:
    """Return the previous query, changed as the follow-up question asks."""
    names, base = state.names, state.base
    apply_pattern_stages(state, "ellipsis")
    terms = _find_requested_terms(state)
    if state.has_cue("about"):
        return _replace_value_or_column(state, terms)
    frame = _add_intersection(_merge_into_base_query(state), state)
    computes = tuple(term for term in terms if term.aggregate)
    if state.group or state.group_tables:
        return _group_base_query(frame, state, computes)
    if terms and all(term.aggregate == "count" and not term.distinct for term in terms):
        return count_rows(frame, names.key(frame.list_tables()[0]))
    if (base.limit or base.having) and (key := _find_outer_query_key(base, terms, names)):
        where = ((match_key(base, key),), *state.where)
        return QueryFrame(terms, (key.table, *state.tables), where, order=tuple(state.order), limit=state.limit)
    if terms and state.has_cue("adds"):
        old_terms = base.select if base.group or computes else tuple(t for t in base.select if not t.aggregate)
        frame = replace(frame, select=tuple(dict.fromkeys((*old_terms, *terms))))
    elif terms:
        frame = replace(frame, select=terms, distinct=state.distinct)
        if computes:
            frame = replace(frame, order=tuple(state.order), limit=state.limit, group=(), having=())
        elif any(term.aggregate for term in base.select) and not frame.has_aggregates():
            frame = replace(frame, group=())
    elif base.has_single_aggregate_row() and (state.has_cue("shows") or state.limit or state.order):
        heads = [state.table(marker) for marker in state.find_markers("tx")] or base.list_tables()
        frame = replace(frame, select=state.list_title_columns(heads[0]))
    return frame


def _merge_into_base_query(state: ParseState, swap: bool = False) -> QueryFrame:
    """Return the base query with the follow-up's conditions, order and limit added or replaced."""
    base = state.base
    return replace(
        add_conditions(base, state.where, swap=swap),
        tables=(*base.tables, *state.tables, *map(state.table, state.find_markers("t"))),
        having=tuple(state.having) or base.having,
        order=_build_sort_order(state, base.select) or base.order,
        limit=state.limit or base.limit,
        distinct=base.distinct or state.distinct,
    )


def _group_base_query(frame: QueryFrame, state: ParseState, computes: tuple[Operand, ...]) -> QueryFrame:
    """Return the query with its aggregates, or a count, computed for each group."""
    tables = state.group_tables
    keys = (*state.group, *map(state.names.choose_identity_column, tables))
    labels = (*map(Operand, state.group), *(term for table in tables for term in state.list_title_columns(table)))
    aggregates = computes or tuple(term for term in frame.select if term.aggregate) or (Operand(None, "count"),)
    return replace(frame, select=(*labels, *aggregates), tables=(*frame.tables, *tables), group=keys, limit=None)


def _find_outer_query_key(base: QueryFrame, terms: tuple[Operand, ...], names: StemIndex) -> Column | None:
    """Return the key of the base query's rows if terms have several values per row, or None."""
    plain = [term.column for term in terms if term.column]
    groups = [column for column in base.group if column != names.key(column.table) and not names.find_parent(column)]
    many = any(c.table not in base.list_tables() for c in plain) or (bool(groups) and not {*plain} <= {*base.group})
    return (base.group[0] if base.group else names.key(base.list_tables()[0])) if many else None


def _replace_value_or_column(state: ParseState, terms: tuple[Operand, ...]) -> QueryFrame:
    """Replace the base query's value (`what about Spain?`) or column (`what about the age?`)."""
    base = state.base
    frame = _merge_into_base_query(state, swap=True)
    if not terms or state.where:
        return frame
    old: list[Aggregate] = [term.aggregate for term in base.select if term.aggregate and term.column is not None]
    fresh = tuple(Operand(t.column, old[0]) if old and not t.aggregate and t.column else t for t in terms)
    old_terms = tuple(t for t in base.select if not t.aggregate) if base.group else ()
    return replace(frame, select=tuple(dict.fromkeys((*old_terms, *fresh))))
