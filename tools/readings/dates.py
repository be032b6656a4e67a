"""Which of two dates of a table a question means."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from ..database.schema import ColumnSchema, TableSchema
from ..sql.explain.phrases import plain_name
from ..sql.scope import Reference, Scope, Source
from ..values.schema_words import name_stems
from ..values.text_words import stem
from .query import Query, Rival, is_date, parts

_MOST = 2
_NO_EVENT = frozenset(
    [
        "birth",
        "birthday",
        "required",
        "due",
        "planned",
        "expected",
        "promised",
        "deadline",
        "updated",
        "modified",
        "changed",
        "created",
        "inserted",
        "loaded",
        "valid",
        "until",
        "to",
        "end",
        "ended",
        "left",
        "expires",
        "expired",
        "expiry",
        "opened",
        "born",
        "birthdate",
        "dob",
        "cancelled",
        "canceled",
        "cancellation",
        "deleted",
        "withdrawn",
        "voided",
        "rejected",
        "removed",
        "archived",
        "deactivated",
        "terminated",
    ]
)
"""Words in names of dates by which nobody counts what happened."""

_BIRTH = frozenset({"birth", "birthday", "birthdate", "born", "dob"})

_ASIDE = frozenset(map(stem, ["date", "on", "at", "time", "day", "dt", "timestamp", "ts"]))
_HAPPENED = re.compile(r"\w{3,}ed|began|begun|bought|came|left|made|paid|sent|sold|won|lost|went")
"""Words that say what happened: who says it has named a date, whatever the column is called."""


def dates(query: Query) -> Iterator[Rival]:
    """The query by another date of the same table, a rival a date."""
    for scope in query.scopes:
        used = _used(query, scope)
        for source, column in used:
            assert source.table is not None
            if not parts(column.name).isdisjoint(_BIRTH) or _is_named(query, column, source.table):
                continue
            others = [
                other
                for other in source.table.columns
                if is_date(other)
                and other is not column
                and parts(other.name).isdisjoint(_NO_EVENT)
                and not _is_compared(query, scope, source, other)
            ]
            for other in others[:_MOST]:
                yield _by(query, scope, source, column, other)
            return


def _used(query: Query, scope: Scope) -> list[tuple[Source, ColumnSchema]]:
    """The dates that a SELECT filters or groups by."""
    found: dict[tuple[int, str], tuple[Source, ColumnSchema]] = {}
    grouped = scope.select.args.get("group") is not None
    for reference, source, column in query.references(scope):
        if not is_date(column) or _is_null_test(reference.node) or _beside_a_column(query, reference.node):
            continue
        if reference.clause in ("where", "group") or (
            grouped
            and reference.clause == "select"
            and reference.node.find_ancestor(exp.AggFunc, exp.Select) is scope.select
        ):
            found.setdefault((id(source), column.name), (source, column))
    return list(found.values())


def _beside_a_column(query: Query, node: exp.Expr) -> bool:
    """Whether a date is compared with another column: shipped after it was required."""
    condition = node.find_ancestor(exp.Predicate, exp.Select)
    if condition is None or isinstance(condition, exp.Select):
        return False
    return any(
        other is not node and (found := query.resolution.at(other)) is not None and found.kind == "column"
        for other in condition.find_all(exp.Column)
    )


def _is_null_test(node: exp.Expr) -> bool:
    return isinstance(node.parent, exp.Is)


def _is_compared(query: Query, scope: Scope, source: Source, column: ColumnSchema) -> bool:
    """Whether a query looks at a date otherwise than to see that it is there."""
    return any(
        held is source and named is column and not _is_null_test(reference.node)
        for reference, held, named in query.references(scope)
    )


def _is_named(query: Query, column: ColumnSchema, table: TableSchema) -> bool:
    """Whether what was said names a date, by a word of its own or by what happened; the rows' own date needs none."""
    own = {part for part in name_stems(column.name) if part not in _ASIDE}
    of_table, said = set(name_stems(table.name)), query.said
    # Orders of March are by the orders' own date; what was earned in March may be by that of the order or the payment.
    if own <= of_table and not of_table.isdisjoint(said.stems):
        return True
    return said.has("date") or not own.isdisjoint(said.stems) or any(map(_HAPPENED.fullmatch, said.words))


def _by(query: Query, scope: Scope, source: Source, column: ColumnSchema, other: ColumnSchema) -> Rival:
    copy = query.copy()
    for reference, held, named in query.references(scope):
        if held is source and named is column:
            _rename(copy.of(reference.node), reference, other.name)
    return Rival("date", f"by {_said(other)}", f"by {_said(column)}", copy.sql)


def _rename(node: exp.Column, reference: Reference, name: str) -> None:
    node.set("this", exp.to_identifier(name, quoted=True))
    item = node.parent
    if reference.clause == "select" and isinstance(item, exp.Select):
        node.replace(exp.alias_(node.copy(), reference.column, quoted=True))


def _said(column: ColumnSchema) -> str:
    name = plain_name(column.name)
    return name.removesuffix(" on").removesuffix(" at") + (" date" if not name.endswith("date") else "")
