"""Readings with other rows: cancelled or discontinued ones, and missing values."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from ..database.schema import ColumnSchema, TableSchema
from ..database.table import Cell
from ..sql.query import Query, TableColumn, argument_of
from ..sql.scope import Scope, Source
from ..words import join_words, listed_words, name_stems, plain_name, stems
from .reading import Reading, Rival, add_condition, make_column, name_rows, split_name

_OUT = frozenset(
    stems(
        """cancelled canceled returned void voided refunded rejected declined deleted test abandoned suspended
    shutdown terminated withdrawn inactive expired failed discontinued archived spam dummy obsolete
    reversed"""
    )
)
"""Stems of words for what many do not count."""

_PASSED = frozenset(stems("pass passed"))
_JUDGED = listed_words(
    """exam exams examination examinations grade grades enrolment enrolments enrollment enrollments mark marks score
    scores"""
)
"""Words in names of tables in which failing and withdrawing are results like others."""

_STATUS = listed_words("status state stage condition phase")
_OUT_FLAGS = listed_words(
    "deleted discontinued cancelled canceled void voided test archived hidden inactive obsolete removed"
)
_IN_FLAGS = listed_words("active enabled valid current")
_GONE = listed_words("left ended terminated retired resigned deleted deactivated archived removed cancelled")
_STATES = _IN_FLAGS | listed_words("inactive discontinued archived hidden obsolete")
"""What things of a table may be while what they did still counts: who leaves them out asks how many there are."""

_SETTLING = listed_words("current currently today now still former ever active inactive everyone")
_YES, _NO = listed_words("1 true t yes y"), listed_words("0 false f no n")
_PREPOSITIONS = listed_words("on at is date by")
_FEW = 20


def exclusion_rivals(reading: Reading) -> Iterator[Rival]:
    """Yield the query without rows that are often excluded, one rival per column."""
    done: set[tuple[str, str]] = set()
    for scope in reading.scopes:
        counted = reading.subjects(scope)
        names = {source.table.name for source in counted if source.table is not None}
        keys = (key for key in reading.query.schema.foreign_keys if len(key.columns) == 1)
        belonged_to = {key.ref_table for key in keys if key.table in names}
        for source, table in scope.tables:
            own = source in counted
            # Tables that are counted, and those that they belong to: the orders of order lines.
            if not own and table.name not in belonged_to:
                continue
            for column in table.columns:
                place = (table.name, column.name)
                if place in done or place in reading.used:
                    continue
                rival = _exclude_rows(reading, scope, source, table, column, own=own)
                if rival is not None:
                    done.add(place)
                    yield rival


def _exclude_rows(
    reading: Reading, scope: Scope, source: Source, table: TableSchema, column: ColumnSchema, *, own: bool
) -> Rival | None:
    known, of = _find_known_values(reading, source, column), make_column(source, column.name)
    if not split_name(table.name).isdisjoint(_JUDGED):
        return None
    if values := _find_excluded(column, known):
        if not own and not any(other.kind == "time" for other in table.columns):
            return None
        said = any(parts and reading.context.stems.issuperset(parts) for parts in map(stems, known))
        if said or reading.context.names(column.name):
            return None
        condition: exp.Expr = exp.not_(exp.In(this=of, expressions=list(map(exp.Literal.string, values))))
        if column.nulls is not False and not column.not_null:
            condition = exp.or_(condition, of.copy().is_(exp.Null()))
        words, marks = f"{join_words(list(map(plain_name, values)))} {{}}", set(map(str.casefold, values))
    elif own and not reading.context.has(*_SETTLING, *(split_name(column.name) - _PREPOSITIONS)):
        flagged = _write_flag_condition(of, column) or _write_end_condition(reading, scope, table, column, of)
        if flagged is None:
            return None
        condition, words = flagged
        marks = split_name(column.name) & (_OUT_FLAGS | _IN_FLAGS)
    else:
        return None
    one_number = scope.select.args.get("group") is None and bool(reading.query.aggregates(scope))
    if marks and marks <= _STATES and not (one_number and reading.query.counted_source(scope) is source):
        return None
    words, edit = words.format(name_rows(table)), reading.query.edit()
    add_condition(edit, scope, source, condition)
    return Rival("left_out", f"without {words}", f"{words} are in", edit.sql)


def _find_known_values(reading: Reading, source: Source, column: ColumnSchema) -> list[str]:
    """Return the known values of a column, looked up if some may matter."""
    values = _list_values(column)
    if column.kind != "text" or column.distinct is not None or not values:
        return values
    if split_name(column.name).isdisjoint(_STATUS) and not any(_is_out(value) for value in values):
        return values
    looked_up = reading.values(source, column, _FEW + 1)
    return values if looked_up is None else [value for value in looked_up if isinstance(value, str) and value.strip()]


def _is_out(value: str) -> bool:
    return not _OUT.isdisjoint(stems(value))


def _list_values(column: ColumnSchema) -> list[str]:
    listed_ones = [word.strip() for word in column.comment.partition(";")[0].split(",")] if column.comment else []
    samples = [value for value in column.samples if isinstance(value, str) and value.strip()]
    return list(dict.fromkeys([*samples, *(word for word in listed_ones if word and samples and " " not in word)]))


def _find_excluded(column: ColumnSchema, known: list[str]) -> list[str]:
    """Return the values of a status column that are often excluded."""
    count = len(known) if column.distinct is None else column.distinct
    if column.kind != "text" or count > _FEW or any(not _PASSED.isdisjoint(stems(value)) for value in known):
        return []
    out = [value for value in known if _is_out(value)]
    named = not _STATUS.isdisjoint(split_name(column.name))
    return sorted(out) if len(out) < len(known) and (len(out) > 1 or (out and named)) else []


def _write_flag_condition(of: exp.Expr, column: ColumnSchema) -> tuple[exp.Expr, str] | None:
    """Return the condition that excludes rows by a yes-or-no column, and its words."""
    if not 0 < len(column.samples) <= 2 or (column.distinct or 0) > 2:
        return None
    names = split_name(column.name)
    out = bool(names & _OUT_FLAGS)
    marks = names & (_OUT_FLAGS if out else _IN_FLAGS)
    if not marks or not all(str(value).casefold() in _YES | _NO for value in column.samples):
        return None
    wanted = _NO if out else _YES
    kept = next((value for value in column.samples if str(value).casefold() in wanted), None)
    if kept is None:
        return None
    word = next(iter(marks))
    condition = exp.EQ(this=of, expression=_write_literal(kept, column))
    return condition, f"{word if out else f'in{word}' if word in ('active', 'valid') else f'not {word}'} {{}}"


def _write_literal(value: Cell, column: ColumnSchema) -> exp.Expr:
    if isinstance(value, bool) or (column.type.upper().startswith("BOOL") and isinstance(value, str)):
        return exp.Boolean(this=str(value).casefold() in _YES)
    return exp.Literal.string(value) if isinstance(value, str) else exp.Literal.number(str(value))


def _write_end_condition(
    reading: Reading, scope: Scope, table: TableSchema, column: ColumnSchema, of: exp.Column
) -> tuple[exp.Expr, str] | None:
    """Return the condition that excludes ended rows; None if the question names a time."""
    gone = sorted(split_name(column.name) & _GONE)
    if column.kind != "time" or not gone or column.nulls is not True or _asks_for_time(reading, scope, table):
        return None
    return of.is_(exp.Null()), "{} who left" if gone[0] == "left" else f"{gone[0]} {{}}"


def _asks_for_time(reading: Reading, scope: Scope, table: TableSchema) -> bool:
    for column in reading.query.columns_of(scope):
        if column.schema.kind == "time" and column.table is table and column.clause in ("where", "group"):
            return True
    words = {part for column in table.columns if column.kind == "time" for part in name_stems(column.name)}
    return not reading.context.stems.isdisjoint(words - {"on", "at", "date", "time"})


_LOOKS_FOR_NONE = ("known", "unknown", "missing", "recorded", "blank", "empty", "null")


def missing_rivals(reading: Reading) -> Iterator[Rival]:
    """Yield the query with or without rows whose value is missing."""
    if reading.context.has(*_LOOKS_FOR_NONE):
        return
    for scope in reading.scopes:
        yield from _widen_negations(reading.query, scope)
        yield from _drop_blanks(reading.query, scope)


def _widen_negations(query: Query, scope: Scope) -> Iterator[Rival]:
    """Yield readings of negated conditions with NULLs, and of IS NULL with ''."""
    tested = {column.item for node in scope.select.find_all(exp.Is) if (column := query.column(node.this)) is not None}
    for part in query.list_conjuncts(scope):
        denied = part.this.unnest() if isinstance(part, exp.Not) else part
        column = (
            query.column(denied.this) if isinstance(denied, exp.NEQ | exp.In | exp.Like | exp.Is | exp.EQ) else None
        )
        if column is None or column.scope is not scope:
            continue
        if isinstance(part, exp.Is) and isinstance(part.expression, exp.Null):
            if column.schema.kind == "text" and "" in column.schema.samples:
                yield _add_alternative(query, column, part, exp.Literal.string(""), "empty")
            continue
        may_lack = column.schema.nulls is True and not column.schema.not_null
        if isinstance(part, exp.EQ) and isinstance(part.expression, exp.Literal) and part.expression.name == "":
            if may_lack:
                yield _add_alternative(query, column, part, exp.Null(), "NULL")
            continue
        if isinstance(part, exp.NEQ) and query.literal(part.expression) == "":
            continue  # whoever wants no empty text wants no missing one either
        is_denied = isinstance(part, exp.NEQ) or bool(part.args.get("negate"))
        is_denied = is_denied or (isinstance(part, exp.Not) and isinstance(denied, exp.In | exp.Like | exp.EQ))
        compares = not isinstance(getattr(denied, "expression", None), exp.Column) and not denied.args.get("query")
        if is_denied and compares and column.item not in tested and may_lack:
            yield _add_alternative(query, column, part, exp.Null(), "missing")


def _add_alternative(query: Query, column: TableColumn, part: exp.Expr, what: exp.Expr, word: str) -> Rival:
    edit, also = query.edit(), make_column(column.source, column.schema.name)
    test = exp.Is(this=also, expression=what) if isinstance(what, exp.Null) else exp.EQ(this=also, expression=what)
    node = edit.of(part)
    node.replace(exp.paren(exp.or_(node.copy(), test)))
    rows = f"{name_rows(column.table)} whose {plain_name(column.schema.name)} is {word}"
    return Rival("missing", f"with {rows}", f"{rows} are out", edit.sql)


def _drop_blanks(query: Query, scope: Scope) -> Iterator[Rival]:
    """Yield readings of averages and counts in which '' means missing."""
    for node in query.aggregates(scope, exp.Avg, exp.Count, exp.Min):
        inner = argument_of(node)
        column = query.column(inner.this if isinstance(inner, exp.Cast) else inner)
        if column is None or column.scope is not scope or column.schema.kind != "text":
            continue
        filtered = any(one.schema is column.schema and one.clause == "where" for one in query.columns_of(scope))
        if "" not in column.schema.samples or filtered:
            continue
        edit, name = query.edit(), plain_name(column.schema.name)
        condition = exp.NEQ(this=make_column(column.source, column.schema.name), expression=exp.Literal.string(""))
        edit.of(scope.select).where(condition, copy=False)
        yield Rival("missing", f"without rows whose {name} is empty", f"an empty {name} counts too", edit.sql)
        return
