"""The literals that a query searches for, and whether the database has them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Protocol

from sqlglot import exp

from .findings import MOST_LOOKED_UP, ColumnValueLookup
from .parse import return_default_if_unparsable
from .query import Query, TableColumn
from .scope import QuerySource, Scope, normalize_constant_text

_UNMET_BY_NOTHING = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.In, exp.Exists)
_EQUALS = (exp.EQ, exp.NullSafeEQ, exp.In, exp.Like, exp.ILike)
_NULL_OF_NOTHING = (exp.Avg, exp.Column, exp.Max, exp.Min, exp.Sum)
_MOST_TOLD = 10  # members of a list that the engine is asked for one by one: of those of a longer list none is told


class ContentLookup(ColumnValueLookup, Protocol):
    """A look-up of column values and patterns, such as `tools.values.ValueIndex`."""

    def matches(self, table: str, column: str, pattern: str, *, any_case: bool = False) -> bool:
        """Whether a value of the column matches the LIKE pattern, or ILIKE with `any_case`."""
        ...


@dataclass(frozen=True)
class SearchedLiteral:
    """A text or number that a query compares with a column."""

    table: str  # as the schema spells it
    column: str
    text: str  # casefolded and without wildcards at its ends, as in `Constants`; a number as it is written
    held: bool  # whether a row has it, as far as what was read of the column before tells
    # Whether rows with it are wanted: not by `!=`, nor beside another of a list that a row has, nor if empty.
    sought: bool = True
    # The only value of the column that is like an absent text; empty if there is none, or several.
    near: str = ""
    written: str = ""  # a text as the query spells it, without wildcards at its ends; empty for a number
    absent: bool = False  # whether, by the engine's own word, no row has it, and a person should know
    needed: bool = False  # whether the query gives nothing because of that
    side: str = ""  # what the query compares, such as `LOWER(city)`, if that alone makes a stored text absent

    def describe_condition(self, column: str) -> str:
        """Return the unmet condition, such as `'Singapore' in country`, with the nearest value."""
        near = f" (it has '{self.near}')" if self.near else ""
        return f"'{self.written or self.text}' in {self.side or column}{near}"

    @property
    def missing(self) -> bool:
        """Whether no row has the literal although the query needs it."""
        return self.sought and not self.held


@return_default_if_unparsable(())
def find_searched_literals(
    query: Query, contents: ContentLookup, has_row: Callable[[str], bool] | None = None, *, is_empty: bool = False
) -> tuple[SearchedLiteral, ...]:
    """Return the literals that a query compares with columns by =, !=, IN and LIKE.

    `has_row` asks the engine whether a query has a row, or whether it might; without it nothing is said to be absent.
    What a column holds does not say what a row of it equals: of that the engine has its collations and types.
    `is_empty` says whether the query gave nothing.
    """
    lookups = iter(range(MOST_LOOKED_UP))
    literals = (
        _look_up_literals(group, node, scope, query, contents, has_row, is_empty, lookups)
        for node, scope in query.comparisons
        for group in _group_by_column(_list_compared_literals(node, query))
    )
    items = tuple(dict.fromkeys(chain.from_iterable(literals)))
    return tuple(replace(item, near="", absent=False) if _is_other_spelling(item, items) else item for item in items)


def _group_by_column(literals: Iterable[_ComparedLiteral]) -> Collection[list[_ComparedLiteral]]:
    """Return the literals of one comparison in groups, one for each column."""
    by_column: dict[TableColumn, list[_ComparedLiteral]] = {}
    for compared in literals:
        by_column.setdefault(compared.column, []).append(compared)
    return by_column.values()


def _look_up_literals(
    compared_literals: Sequence[_ComparedLiteral],
    node: exp.Expr,
    scope: Scope,
    query: Query,
    contents: ContentLookup,
    has_row: Callable[[str], bool] | None,
    is_empty: bool,
    lookups: Iterator[int],
) -> Iterator[SearchedLiteral]:
    """Yield the literals compared with a column, each with whether the column has it."""
    literals: list[tuple[_ComparedLiteral, str, str, bool]] = []
    is_pattern, is_cut = isinstance(node, exp.Like | exp.ILike), False

    def is_absent(condition: exp.Expr, column: TableColumn) -> bool:
        return has_row is not None and not has_row(_write_row_search(condition, column, query))

    for compared in compared_literals:
        column, value = compared.column, compared.value
        # What a column holds does not say what a function of it returns: only the engine does.
        if compared.is_wrapped and has_row is None:
            continue
        if is_cut := next(lookups, None) is None:
            break
        text = value if isinstance(value, str) else compared.operand.name
        if compared.is_wrapped:
            held = not is_absent(compared.write_condition(node), column)
        elif is_pattern:
            held = contents.matches(*column.item, text, any_case=isinstance(node, exp.ILike))
        else:
            held = contents.holds(*column.item, text)
        is_text = isinstance(value, str)
        plain, core = (normalize_constant_text(text), text.strip("%")) if is_text else (text, "")
        literals.append((compared, plain, core, held))
    negated = (
        isinstance(node, exp.NEQ | exp.NullSafeNEQ)
        or bool(node.args.get("negate"))
        or query.ancestor(node, exp.Not) is not None
    )
    excluded = negated or any(held for *_, held in literals)
    condition = _find_alternatives(node, query)
    needed = bool(literals) and is_empty and not excluded and _is_comparison_needed(condition, query, scope)
    if needed:
        is_row = isinstance(node.this, exp.Tuple)  # whose other columns need not be absent
        searched = exp.or_(*(item.write_condition(node) for item in compared_literals)) if is_row else condition
        needed = is_absent(searched, literals[0][0].column)
    excluded = excluded or (is_cut and not needed)  # a row may have one that was not looked up
    is_list = isinstance(node, exp.In) or isinstance(node.expression, exp.Any)
    is_told = needed or not is_list or len(compared_literals) <= _MOST_TOLD
    for compared, text, core, held in literals:
        column, sought = compared.column, bool(text) and (held or not excluded)
        alike = contents.nearest(*column.item, core, _MOST_ALIKE) if has_row and is_told and core and not held else ()
        if compared.ignores_case_or_spaces or isinstance(node, exp.ILike):
            alike = tuple({value.strip().casefold(): value for value in reversed(alike)}.values())
        near = alike[0] if len(alike) == 1 and (compared.ignores_case_or_spaces or alike[0] != core) else ""
        absent = bool(text) and needed
        # Rows may come without it: those that it should leave out, or those of others in its list.
        if text and is_told and not (needed or held) and (near or (is_list and not negated)):
            absent = is_absent(compared.write_condition(node), column)
        side = query.text(compared.side) if near and near == core else ""
        yield SearchedLiteral(*column.item, text, held, sought, near if absent else "", core, absent, needed, side)


_FOLDING = (exp.Collate, exp.Lower, exp.Trim, exp.Upper)
"""What is put around a column so that case, or spaces at its ends, do not count."""

_MOST_ALIKE = 10  # values like a text that are looked at: some may differ only in what does not count


@dataclass(frozen=True)
class _ComparedLiteral:
    """A literal of a comparison, with the column and the expression that it is compared with."""

    column: TableColumn
    side: exp.Expr
    operand: exp.Expr
    value: str | float

    @property
    def ignores_case_or_spaces(self) -> bool:
        """Whether the comparison ignores case or outer spaces, by a function or a collation."""
        return any(node.find(*_FOLDING) for node in (self.side, self.operand))

    @property
    def is_wrapped(self) -> bool:
        """Whether the column or the literal stands inside a function or cast."""
        return any(_strip_functions(node) is not node.unnest() for node in (self.side, self.operand))

    def write_condition(self, comparison: exp.Expr) -> exp.Expr:
        """Return the condition that the column has this literal, compared as in `comparison`."""
        if not isinstance(comparison, exp.Like | exp.ILike):
            return exp.EQ(this=self.side.copy(), expression=self.operand.copy())
        condition = comparison.copy()
        condition.set("negate", None)
        return condition


def _list_compared_literals(node: exp.Expr, query: Query) -> list[_ComparedLiteral]:
    """List the literals of a comparison with a column, or with a column in another case or type."""
    pairs = _list_compared_pairs(node.this, _list_operands(node))
    literals = list[_ComparedLiteral]()
    for side, operand in pairs:
        if not isinstance(node, exp.In) and query.column(_strip_functions(side)) is None:
            side, operand = operand, side
        column, value = query.column(_strip_functions(side)), query.literal(_strip_functions(operand))
        if value is not None and column:
            literals.append(_ComparedLiteral(column, side, operand, value))
    return literals


def _list_operands(node: exp.Expr) -> list[exp.Expr]:
    """Return the expressions on the right of a comparison: list members, or the only one."""
    if isinstance(node, exp.In):
        return node.expressions
    array = node.expression.this.unnest() if isinstance(node.expression, exp.Any) else None
    is_list = isinstance(array, exp.Array) and isinstance(node, exp.EQ)
    return array.expressions if is_list and array is not None else [node.expression]


def _list_compared_pairs(side: exp.Expr, operands: Sequence[exp.Expr]) -> list[tuple[exp.Expr, exp.Expr]]:
    """Return the pairs of expressions that are compared; rows are compared item by item."""
    pairs = list[tuple[exp.Expr, exp.Expr]]()
    for operand in operands:
        if isinstance(side, exp.Tuple) and isinstance(operand, exp.Tuple):
            pairs += zip(side.expressions, operand.expressions, strict=False)
        else:
            pairs.append((side, operand))
    return pairs


def _strip_functions(node: exp.Expr) -> exp.Expr:
    """Return an expression without functions that only change case, spaces, type or NULL."""
    while isinstance(node, (*_FOLDING, exp.Coalesce, exp.Paren)) or (
        isinstance(node, exp.Cast) and node.to.this in exp.DataType.TEXT_TYPES
    ):
        node = node.this
    return node


def _find_alternatives(node: exp.Expr, query: Query) -> exp.Expr:
    """Return the OR that joins a comparison with others of its column, else the comparison."""
    condition = node
    while isinstance(condition.parent, exp.Or | exp.Paren):
        condition = condition.parent
    leaves = [leaf.unnest() for leaf in condition.unnest().flatten()] if isinstance(condition.unnest(), exp.Or) else []
    compared = [_list_compared_literals(leaf, query) if isinstance(leaf, _EQUALS) else [] for leaf in leaves]
    columns = {item.column.place for items in compared for item in items}
    return condition.unnest() if leaves and all(compared) and len(columns) == 1 else node


def _is_other_spelling(literal: SearchedLiteral, literals: Sequence[SearchedLiteral]) -> bool:
    """Whether the query also looks for the stored value that an absent literal resembles."""
    return not literal.needed and any(
        other.held and other.text in literal.near.casefold()
        for other in literals
        if (other.table, other.column) == (literal.table, literal.column) and other.text
    )


def _write_row_search(condition: exp.Expr, column: TableColumn, query: Query) -> str:
    """Return a query for one row of the column's table that meets a condition."""
    parts = {name: column.source.node.args.get(name) for name in ("this", "db", "catalog", "alias")}
    table = exp.Table(**{name: part.copy() for name, part in parts.items() if part})
    return exp.select("1").from_(table).where(condition.copy()).limit(1).sql(dialect=query.rules.grammar)


def _is_comparison_needed(node: exp.Expr, query: Query, scope: Scope) -> bool:
    """Whether the query has no result if no row meets a comparison."""
    uses = (condition for condition in query.conditions(scope) if condition.node is node)
    is_required = any(use.clause != "on" or use.is_required for use in uses)
    return is_required and is_result_empty_without(query, scope, by_aggregates=True)


def is_result_empty_without(query: Query, scope: Scope, *, by_aggregates: bool = False) -> bool:
    """Whether the result surely has no rows if the given SELECT reads no rows.

    With `by_aggregates`, one row of aggregates of nothing, such as a count of 0, counts as an emptied result.
    """
    return _is_empty_without(query, scope, by_aggregates, _may_have_row_for_no_input(query, scope), ())


def _is_empty_without(query: Query, scope: Scope, by_aggregates: bool, has_row: bool, seen: tuple[Scope, ...]) -> bool:
    """Whether the result has no rows; `has_row`: the SELECT gives a row of aggregates anyway."""
    if scope in seen or (has_row and not by_aggregates):
        return False
    node: exp.Expr = scope.select
    while True:
        for outer in _find_selects_from(query, node):
            outer_has_row = has_row or _may_have_row_for_no_input(query, outer)
            if _is_empty_without(query, outer, by_aggregates, outer_has_row, (*seen, scope)):
                return True
        parent = node.parent
        is_left = isinstance(parent, exp.Except) and node.arg_key == "this"
        if parent is None or not (is_left or isinstance(parent, exp.Subquery | exp.Intersect)):
            break
        node = parent
    if parent is None:
        return True
    # No row fulfils a condition on nothing, or on NULL; what else a row of nothing shows is a value like others.
    shown = [item.unalias().unnest() for each in (*seen, scope) for item in each.select.expressions]
    is_value = isinstance(parent, exp.Exists) or not all(isinstance(item, _NULL_OF_NOTHING) for item in shown)
    compares = isinstance(parent, _UNMET_BY_NOTHING) and node.arg_key in ("this", "expression", "query")
    if not compares or scope.parent is None or (has_row and is_value):
        return False
    outer_row = _may_have_row_for_no_input(query, scope.parent)
    return any(
        _is_empty_without(
            query, scope.parent, by_aggregates, condition.clause in ("where", "on") and outer_row, (*seen, scope)
        )
        for condition in query.conditions(scope.parent)
        if condition.node is parent and (condition.is_required or condition.clause in ("having", "qualify"))
    )


def _find_selects_from(query: Query, node: exp.Expr) -> list[Scope]:
    """Return the SELECTs that read no rows if a sub-query in their FROM has none."""

    def is_read(source: QuerySource) -> bool:
        return source.query is node and not source.optional and not source.node.args.get("pivots")

    return [scope for scope in query.scopes if any(map(is_read, scope.sources))]


def _may_have_row_for_no_input(query: Query, scope: Scope) -> bool:
    """Whether a SELECT may give a row, such as a count of 0, if it reads no rows."""
    if scope.select.args.get("group"):
        terms = query.resolve_group_by_terms(scope)
        return terms is None or any(isinstance(term, exp.Tuple) and not term.expressions for term in terms)
    # A function that is not known may be an aggregate.
    calls = query.find_in(scope, exp.Anonymous) or query.find_aggregates(scope)
    # An aggregate of this SELECT's columns belongs to it, also where it stands in a sub-query.
    inner = query.find(exp.AggFunc, exp.Anonymous, within=scope.select)
    columns = (column for call in inner for column in query.find(exp.Column, within=call))
    refs = (query.reference(column) for column in columns if column.parent_select is not scope.select)
    return bool(calls or scope.select.args.get("having") or any(ref and ref.owner is scope for ref in refs))
