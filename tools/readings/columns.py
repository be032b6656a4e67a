"""Readings with another column: another date, a like-named column, net for gross."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from ..database.column_kinds import column_kind
from ..database.schema import ColumnSchema, ForeignKey, TableSchema
from ..sql.dialects import fold
from ..sql.query import Query, TableColumn
from ..sql.scope import Scope, Source
from ..words import listed_words, name_stems, plain_name, singular, stem, stems
from .reading import Reading, Rival, make_column, split_name

_MOST_DATES = 2
_NO_EVENT = listed_words(
    """birth birthday required due planned expected promised deadline updated modified changed created
    inserted loaded valid until to end ended left expires expired expiry opened born birthdate dob
    cancelled canceled cancellation deleted withdrawn voided rejected removed archived deactivated
    terminated"""
)
"""Words in names of dates by which nobody counts what happened."""

_BIRTH = listed_words("birth birthday birthdate born dob")

_DATE_WORDS = frozenset(stems("date on at time day dt timestamp ts"))
_CAME_INTO_BEING = frozenset(
    stems(
        """created creation placed placement opened open opening ordered order purchased purchase booked booking issued
        issue registered registration signed sign signup up inserted posted post posting submitted submission"""
    )
)
"""Stems in names of dates on which a row came into being."""

_SENT_IN = frozenset(stems("ticket request complaint claim case inquiry enquiry message"))
"""Stems in names of tables whose rows come into being when they are received."""

_HAPPENED = re.compile(r"\w{3,}ed|began|begun|bought|came|left|made|paid|sent|sold|won|lost|went")
"""Words that say what happened: who says it has named a date, whatever the column is called."""

_KINDS = ("country", "city", "region", "province", "district", "county", "currency", "price")
"""What two tables both have and a question may mean of either."""

_ASIDE = frozenset(stems("code name id unit the"))

_DISCOUNT = listed_words("discount rebate")
_PRICE = listed_words("price amount cost rate value fee")
_AMOUNT = listed_words("amount amt value sum total")
_PERCENT = listed_words("percent percentage pct rate")
_SIDES = (("net", "gross"), ("excl", "incl"), ("excluding", "including"), ("before", "after"))


def date_rivals(reading: Reading) -> Iterator[Rival]:
    """Yield the query with each other date column of the same table."""
    query, context = reading.query, reading.context
    for scope in reading.scopes:
        for used in _find_used_dates(query, scope):
            if not split_name(used.schema.name).isdisjoint(_BIRTH):
                continue
            is_own = _is_rows_own(reading, used)
            # Whoever says a word of its own, or what happened, has named a date.
            named = context.has("date") or not _find_own_stems(used.schema).isdisjoint(context.stems)
            if not is_own and (named or any(map(_HAPPENED.fullmatch, context.words))):
                continue
            compared = {
                id(column.schema)
                for column in query.columns_of(scope)
                if column.source is used.source and not isinstance(column.node.parent, exp.Is)
            }
            others = [
                other
                for other in used.table.columns
                if _is_date(other) and split_name(other.name).isdisjoint(_NO_EVENT) and id(other) not in compared
                if not is_own or _is_said_instead(reading, other)
            ]
            for other in others[:_MOST_DATES]:
                yield _swap_date(query, used, other)
            return


def _is_date(column: ColumnSchema) -> bool:
    """Whether a column holds dates, also as texts."""
    filled = [value for value in column.samples if value != ""]
    return column.kind == "time" or (column.kind == "text" and column_kind("", filled) == "time")


def _find_used_dates(query: Query, scope: Scope) -> list[TableColumn]:
    """Return the dates by which a SELECT filters or groups."""
    dates: dict[tuple[int, str], TableColumn] = {}
    for column in query.columns_of(scope):
        if column.is_filtered_or_grouped and _is_date(column.schema) and not _is_compared_to_column(query, column.node):
            dates.setdefault((id(column.source), column.schema.name), column)
    return list(dates.values())


def _is_compared_to_column(query: Query, node: exp.Expr) -> bool:
    """Whether a date is compared with another column, as in shipped after required."""
    condition = query.around(node, exp.Predicate)
    columns = condition.find_all(exp.Column) if condition is not None else ()
    references = (query.at(other) for other in columns if other is not node)
    return any(reference is not None and reference.kind == "column" for reference in references)


def _is_rows_own(reading: Reading, date: TableColumn) -> bool:
    """Whether a date is when the counted rows were created, as for orders of March."""
    # What was earned in March, and not the orders of March, may be by the date of the order or of the payment.
    of_table = frozenset(name_stems(date.table.name))
    came = _CAME_INTO_BEING if of_table.isdisjoint(_SENT_IN) else _CAME_INTO_BEING | {stem("received")}
    return _find_own_stems(date.schema) <= of_table | came and not of_table.isdisjoint(reading.context.stems)


def _is_said_instead(reading: Reading, other: ColumnSchema) -> bool:
    """Whether the question has a word of another date, and none of creation."""
    context = reading.context
    happened = {stem(word) for word in context.words if _HAPPENED.fullmatch(word)}
    return (
        not _find_own_stems(other).isdisjoint(context.stems)
        and happened.isdisjoint(_CAME_INTO_BEING)
        and not context.has("date")
    )


def _find_own_stems(date: ColumnSchema) -> frozenset[str]:
    return frozenset(name_stems(date.name)) - _DATE_WORDS


def _swap_date(query: Query, date: TableColumn, other: ColumnSchema) -> Rival:
    edit = query.edit()
    for column in _find_mentions(query, date):
        node = edit.of(column.node)
        node.set("this", exp.to_identifier(other.name, quoted=True))
        if column.clause == "select" and isinstance(node.parent, exp.Select):
            node.replace(exp.alias_(node.copy(), column.schema.name, quoted=True))
    return Rival("date", f"by {_name_date(other)}", f"by {_name_date(date.schema)}", edit.sql)


def _find_mentions(query: Query, column: TableColumn) -> Iterator[TableColumn]:
    """Yield every mention of the same column of the same source."""
    of_scope = query.columns_of(column.scope)
    return (other for other in of_scope if other.source is column.source and other.schema is column.schema)


def _name_date(column: ColumnSchema) -> str:
    name = plain_name(column.name)
    return name.removesuffix(" on").removesuffix(" at") + (" date" if not name.endswith("date") else "")


@dataclass(frozen=True)
class _OtherColumn:
    """A like-named column, with the reference to its table if the query does not read it."""

    table: TableSchema
    column: ColumnSchema
    source: Source | None = None
    key: ForeignKey | None = None


def like_rivals(reading: Reading) -> Iterator[Rival]:
    """Yield the query with a like-named column of another table."""
    for scope in reading.scopes:
        facts = reading.query.counted_source(scope)
        if facts is None or facts.table is None:
            continue
        done: set[str] = set()
        for column in reading.query.columns_of(scope):
            own, name = split_name(column.schema.name), column.schema.name
            kind = next((kind for kind in _KINDS if kind in own), "")
            if not kind or name in done or column.clause not in ("where", "group", "select", "order"):
                continue
            done.add(name)
            if _is_named(reading, column, kind, facts):
                continue
            others = _find_others(reading, column, kind, facts.table)
            if others:
                # The one most like it in what it holds, by how many different values it has.
                values = column.schema.distinct or 1
                other = min(others, key=lambda other: abs(math.log(values / (other.column.distinct or 1))))
                yield _swap_column(reading.query, facts, column, other)


def _is_named(reading: Reading, column: TableColumn, kind: str, facts: Source) -> bool:
    """Whether the question names the column's table, or distinctive words of the column."""
    telling = [part for part in name_stems(column.schema.name) if part != stem(kind) and part not in _ASIDE]
    if any(part in reading.context.stems for part in telling):
        return True
    if column.source is facts:
        return not telling
    return any(part in reading.context.stems for part in name_stems(column.table.name) if part != stem(kind))


def _find_others(reading: Reading, column: TableColumn, kind: str, facts: TableSchema) -> list[_OtherColumn]:
    query, scope = reading.query, column.scope
    others = [
        _OtherColumn(table, named, source)
        for source, table in scope.tables
        if source is not column.source and table.name != column.table.name
        for named in table.columns
        if _is_alike(named, column.schema, kind) and (table.name, named.name) not in reading.used
    ]
    read = {table.name for _, table in scope.tables}
    for key in query.schema.foreign_keys:
        other = query.schema.table(key.ref_table)
        if key.table != facts.name or len(key.columns) != 1 or other is None or other.name in read:
            continue
        others += [_OtherColumn(other, one, None, key) for one in other.columns if _is_alike(one, column.schema, kind)]
    return others


def _is_alike(one: ColumnSchema, other: ColumnSchema, kind: str) -> bool:
    return kind in split_name(one.name) and one.kind == other.kind and _is_code(one) == _is_code(other)


def _is_code(column: ColumnSchema) -> bool:
    return not split_name(column.name).isdisjoint({"code", "id"})


def _swap_column(query: Query, facts: Source, column: TableColumn, other: _OtherColumn) -> Rival:
    edit, scope = query.edit(), column.scope
    alias = other.source.node.alias_or_name if other.source is not None else _free_name(scope, other.table)
    if other.key is not None:
        on = exp.EQ(
            this=make_column(facts, other.key.columns[0]),
            expression=exp.column(other.key.ref_columns[0], table=alias, quoted=True),
        )
        joined = exp.alias_(exp.table_(*other.table.path[::-1], quoted=True), alias, table=True, quoted=True)
        edit.of(scope.select).join(joined, on=on, join_type="left", copy=False)
    for same in _find_mentions(query, column):
        edit.of(same.node).replace(exp.column(other.column.name, table=alias, quoted=True))
    # A further table could make columns ambiguous that are written without their table.
    for one in query.columns_of(scope):
        if not one.node.table and not one.source.using:
            edit.of(one.node).set("table", exp.to_identifier(one.source.node.alias_or_name, quoted=True))
    return Rival(
        "like",
        f"by {_name_column(other.table, other.column)}",
        f"by {_name_column(column.table, column.schema)}",
        edit.sql,
    )


def _free_name(scope: Scope, table: TableSchema) -> str:
    name = "the_" + "_".join(sorted(split_name(table.name)))
    return name if name not in {fold(source.node.alias_or_name) for source in scope.sources} else f"{name}_2"


def _name_column(table: TableSchema, column: ColumnSchema) -> str:
    name = plain_name(column.name).removesuffix(" code").removesuffix(" id")
    return f"the {name} of the {singular(plain_name(table.name))}"


def net_rivals(reading: Reading) -> Iterator[Rival]:
    """Yield sums of prices minus their discount, and net columns for gross ones."""
    for scope in reading.scopes:
        yield from _subtract_discounts(reading, scope)
    yield from _swap_sides(reading)


def _subtract_discounts(reading: Reading, scope: Scope) -> Iterator[Rival]:
    query = reading.query
    if reading.context.has("discount", "gross", "list", "rebate", "current"):
        return
    priced = [
        node
        for node in query.aggregates(scope, exp.Sum, exp.Avg)
        if any(not _PRICE.isdisjoint(split_name(column.schema.name)) for column in query.columns_of(scope, node))
    ]
    sums = priced if all(isinstance(node.this, exp.Mul | exp.Paren) for node in priced) else []
    for source, table in scope.tables if sums else ():
        for column in table.columns:
            if column.kind != "number" or _DISCOUNT.isdisjoint(split_name(column.name)):
                continue
            if (table.name, column.name) in reading.used:
                continue
            if not _AMOUNT.isdisjoint(split_name(column.name)) or (left := _remaining_share(source, column)) is None:
                continue
            edit = query.edit()
            for node in sums:
                inner = edit.of(node).this
                inner.replace(exp.Mul(this=exp.paren(inner.copy()), expression=exp.paren(left.copy())))
            what = plain_name(column.name).strip(" %")
            yield Rival("net", f"after the {what}", f"the {what} is not taken off", edit.sql)
            return


def _remaining_share(source: Source, column: ColumnSchema) -> exp.Expr | None:
    """Return the share that remains after a discount; None if it may be an amount."""
    numbers = [value for value in column.samples if isinstance(value, int | float) and not isinstance(value, bool)]
    if not numbers or min(numbers) < 0:
        return None
    share: exp.Expr = make_column(source, column.name)
    percent = "%" in column.name or not _PERCENT.isdisjoint(split_name(column.name))
    if percent and 1 < max(numbers) <= 100:
        share = exp.Div(this=share, expression=exp.Literal.number("100.0"))
    elif "%" in column.name or max(numbers) > 1 or not any(0 < number < 1 for number in numbers):
        return None
    return exp.Sub(this=exp.Literal.number(1), expression=share)


def _swap_sides(reading: Reading) -> Iterator[Rival]:
    """Yield the query with a net column for its gross one, and the like."""
    query, context = reading.query, reading.context
    for scope in reading.scopes:
        for column in query.columns_of(scope):
            twin = _find_twin(column)
            if twin is None or twin[1] in split_name(column.schema.name) & context.words or context.has(twin[1]):
                continue
            edit = query.edit()
            for same in _find_mentions(query, column):
                edit.of(same.node).set("this", exp.to_identifier(twin[0], quoted=True))
            yield Rival("net", f"by {plain_name(twin[0])}", f"by {plain_name(column.schema.name)}", edit.sql)
            return


def _find_twin(column: TableColumn) -> tuple[str, str] | None:
    """Return the opposite column's name, and the word that this one's name has instead."""
    names = split_name(column.schema.name)
    for pair in _SIDES:
        for own, other in (pair, pair[::-1]):
            twins = (held.name for held in column.table.columns if split_name(held.name) == names - {own} | {other})
            if own in names and (twin := next(twins, None)) is not None:
                return twin, own
    return None
