"""Rows that many leave out: cancelled, returned or void ones, discontinued things, people who have left."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from ..database.schema import ColumnSchema, TableSchema
from ..database.table import Cell
from ..sql.explain.phrases import listed, plain_name
from ..sql.scope import Scope, Source
from ..values.schema_words import name_stems
from ..values.text_words import stem, stems
from .query import Query, Rival, add_condition, column_of, parts, subjects, things

_OUT = frozenset(
    map(
        stem,
        [
            "cancelled",
            "canceled",
            "returned",
            "void",
            "voided",
            "refunded",
            "rejected",
            "declined",
            "deleted",
            "test",
            "abandoned",
            "suspended",
            "shutdown",
            "terminated",
            "withdrawn",
            "inactive",
            "expired",
            "failed",
            "discontinued",
            "archived",
            "spam",
            "dummy",
            "obsolete",
            "reversed",
        ],
    )
)
"""Stems of words for what many do not count."""

_PASSED = frozenset(map(stem, ["pass", "passed"]))
_JUDGED = frozenset(
    [
        word + end
        for word in ("exam", "examination", "grade", "enrolment", "enrollment", "mark", "score")
        for end in ("", "s")
    ]
)
"""Words in names of tables in which failing and withdrawing are results like others."""

_STATUS = frozenset({"status", "state", "stage", "condition", "phase"})
_OUT_FLAGS = frozenset(
    [
        "deleted",
        "discontinued",
        "cancelled",
        "canceled",
        "void",
        "voided",
        "test",
        "archived",
        "hidden",
        "inactive",
        "obsolete",
        "removed",
    ]
)
_IN_FLAGS = frozenset({"active", "enabled", "valid", "current"})
_GONE = frozenset(
    ["left", "ended", "terminated", "retired", "resigned", "deleted", "deactivated", "archived", "removed", "cancelled"]
)
_SETTLING = ("current", "currently", "today", "now", "still", "former", "ever", "active", "inactive", "everyone")
_YES, _NO = frozenset({"1", "true", "t", "yes", "y"}), frozenset({"0", "false", "f", "no", "n"})
_PREPOSITIONS = frozenset({"on", "at", "is", "date", "by"})
_FEW = 20


def left_out(query: Query) -> Iterator[Rival]:
    """The query without the rows that many leave out, a rival a column."""
    told: set[tuple[str, str]] = set()
    for scope in query.scopes:
        counted = subjects(query, scope)
        for source in _documents(query, scope, counted):
            assert source.table is not None
            for column in source.table.columns:
                place = (source.table.name, column.name)
                if place in told or place in query.used:
                    continue
                rival = _rival(query, scope, source, column, own=source in counted)
                if rival is not None:
                    told.add(place)
                    yield rival


def _documents(query: Query, scope: Scope, counted: list[Source]) -> list[Source]:
    """The tables that are counted, and those that they belong to: the orders of order lines."""
    held = [source.table for source in counted if source.table is not None]
    return [
        source
        for source in scope.sources
        if source.table is not None
        and (source in counted or any(any(query.keys(table, source.table)) for table in held))
    ]


def _rival(query: Query, scope: Scope, source: Source, column: ColumnSchema, *, own: bool) -> Rival | None:
    table = source.table
    assert table is not None
    what = things(table)
    known = _known(query, source, column)
    if not parts(table.name).isdisjoint(_JUDGED):
        return None
    if values := _out_values(column, known):
        if not own and not any(other.kind == "time" for other in table.columns):
            return None
        if any(_is_said(query, value) for value in known) or query.said.names(column.name):
            return None
        condition: exp.Expr = exp.not_(
            exp.In(this=column_of(source, column.name), expressions=[exp.Literal.string(value) for value in values])
        )
        if column.nulls is not False and not column.not_null:
            condition = exp.or_(condition, column_of(source, column.name).is_(exp.Null()))
        words = f"{listed([plain_name(value) for value in values])} {what}"
    elif own and not query.said.has(*_SETTLING, *(parts(column.name) - _PREPOSITIONS)):
        flagged = _flag(source, column) or _gone(query, scope, source, column)
        if flagged is None:
            return None
        condition, words = flagged
        words = words.format(what)
    else:
        return None
    copy = query.copy()
    add_condition(copy, scope, source, condition)
    return Rival("left_out", f"without {words}", f"{words} are in", copy.sql)


def _known(query: Query, source: Source, column: ColumnSchema) -> list[str]:
    """Values of a column that the schema tells of; all that it has, where nobody counted them and some may matter."""
    told = _told(column)
    if column.kind != "text" or column.distinct is not None or not told:
        return told
    if parts(column.name).isdisjoint(_STATUS) and not any(_is_out(value) for value in told):
        return told
    held = query.values(source, column, _FEW + 1)
    return told if held is None else [value for value in held if isinstance(value, str) and value.strip()]


def _is_out(value: str) -> bool:
    return not _OUT.isdisjoint(stems(value))


def _told(column: ColumnSchema) -> list[str]:
    listed_ones = [word.strip() for word in column.comment.partition(";")[0].split(",")] if column.comment else []
    samples = [value for value in column.samples if isinstance(value, str) and value.strip()]
    return list(dict.fromkeys([*samples, *(word for word in listed_ones if word and samples and " " not in word)]))


def _out_values(column: ColumnSchema, known: list[str]) -> list[str]:
    """The values of a status that many leave out; of one that says how a test went, none."""
    count = len(known) if column.distinct is None else column.distinct
    if column.kind != "text" or count > _FEW or any(not _PASSED.isdisjoint(stems(value)) for value in known):
        return []
    out = [value for value in known if _is_out(value)]
    named = not _STATUS.isdisjoint(parts(column.name))
    return sorted(out) if len(out) < len(known) and (len(out) > 1 or (out and named)) else []


def _is_said(query: Query, value: str) -> bool:
    wanted = stems(value)
    return bool(wanted) and all(part in query.said.stems for part in wanted)


def _flag(source: Source, column: ColumnSchema) -> tuple[exp.Expr, str] | None:
    """The condition that leaves out what a yes-or-no column marks, and what that is."""
    if not 0 < len(column.samples) <= 2 or (column.distinct or 0) > 2:
        return None
    names = parts(column.name)
    marks, out = (names & _OUT_FLAGS), True
    if not marks:
        marks, out = (names & _IN_FLAGS), False
    if not marks or not all(str(value).casefold() in _YES | _NO for value in column.samples):
        return None
    wanted = _NO if out else _YES
    kept = next((value for value in column.samples if str(value).casefold() in wanted), None)
    if kept is None:
        return None
    condition = exp.EQ(this=column_of(source, column.name), expression=_literal(kept, column))
    word = next(iter(marks))
    return condition, f"{word if out else f'in{word}' if word in ('active', 'valid') else f'not {word}'} {{}}"


def _literal(value: Cell, column: ColumnSchema) -> exp.Expr:
    if isinstance(value, bool) or (column.type.upper().startswith("BOOL") and isinstance(value, str)):
        return exp.Boolean(this=str(value).casefold() in _YES)
    return exp.Literal.string(value) if isinstance(value, str) else exp.Literal.number(str(value))


def _gone(query: Query, scope: Scope, source: Source, column: ColumnSchema) -> tuple[exp.Expr, str] | None:
    """The condition that leaves out what has an end; not where a time is asked for, in which it may not have had."""
    table = source.table
    assert table is not None
    gone = sorted(parts(column.name) & _GONE)
    if column.kind != "time" or not gone or column.nulls is not True or _asks_for_time(query, scope, table):
        return None
    words = "{} who left" if gone[0] == "left" else f"{gone[0]} {{}}"
    return column_of(source, column.name).is_(exp.Null()), words


def _asks_for_time(query: Query, scope: Scope, table: TableSchema) -> bool:
    used = ((reference, source.table, column) for reference, source, column in query.references(scope))
    return any(
        column.kind == "time" and held is table and reference.clause in ("where", "group")
        for reference, held, column in used
    ) or any(part in query.said.stems for column in table.columns if column.kind == "time" for part in _verb(column))


def _verb(column: ColumnSchema) -> tuple[str, ...]:
    return tuple(part for part in name_stems(column.name) if part not in ("on", "at", "date", "time"))
