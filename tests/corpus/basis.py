"""What answers say that they rest on, held against the data: filters, grain and ranges of gold queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice

from pandas import DataFrame
from sqlglot import exp
from tableturn.evals.datasets import GoldTurn, load_dataset
from tableturn.evals.lab.bench.gold import DatasetDatabases, read_golds
from tableturn.evals.lab.bench.registry import BenchOptions, Figures, Measure
from tableturn.tools.basis import Basis, build_query_basis
from tableturn.tools.database import Database, Limits, Table
from tableturn.tools.errors import QueryError, SQLParseError
from tableturn.tools.sql.parse import parse_query_tree
from tableturn.tools.sql.query import Query
from tableturn.tools.sql.scope import is_aggregate_call

from tests.support.queries import read

SPLITS = (("spider", "train"), ("spider", "train_others"), ("spider", "dev"))
_LIMITS = Limits(seconds=20.0, rows=200_000, result_bytes=200_000_000)

_Said = tuple[str, bool]
"""The kind of a statement that a basis makes, and whether it is true."""


def _golds(options: BenchOptions) -> Iterator[tuple[GoldTurn, Database]]:
    """Yield the distinct gold queries of Spider train and dev."""
    with DatasetDatabases(load_dataset("spider", "dev", options.folder)) as databases:
        for gold in islice(read_golds(options.folder, SPLITS), options.limit):
            database = databases.get(gold.database)
            if database is not None:
                yield gold, database


def _check_basis(case: tuple[GoldTurn, Database]) -> Iterator[Mapping[str, object]]:
    """Yield what a gold query's basis says that can be checked, and whether it is so; `unread` if it says nothing."""
    gold, database = case
    row = {"query": gold.golds[0], "database": gold.database, "kind": "unread", "holds": True}
    try:
        basis = build_query_basis(read(gold.golds[0], database.schema()), gold.text)
    except SQLParseError:
        yield row
        return
    yield row | {"kind": "read"}
    for kind, holds in _check_statements(gold.golds[0], basis, database):
        yield row | {"kind": kind, "holds": holds}


def _tell_basis(table: DataFrame) -> Figures:
    """Return `queries`, `statements` that could be checked, `false` ones with examples in `wrong`, and `unread`."""
    is_query = table["kind"].isin(["read", "unread"])
    said = table[~is_query]
    wrong = said[~said["holds"]]
    return {
        "queries": is_query.sum(),
        "statements": len(said),
        "by_kind": dict(Counter(said["kind"])),
        "false": len(wrong),
        "unread": (table["kind"] == "unread").sum(),
        "wrong": list(wrong["kind"] + ": " + wrong["database"] + ": " + wrong["query"])[:20],
    }


run = Measure(_golds, _check_basis, _tell_basis)


def _check_statements(sql: str, basis: Basis, database: Database) -> Iterator[_Said]:
    query = Query.of(sql, database.dialect, database.schema())
    tree = query.tree
    if basis.duplicates != "kept" and (table := _run(tree, database)) is not None:
        yield "duplicates", len(set(table.rows)) == len(table.rows)
    if not isinstance(tree, exp.Select):
        return
    if basis.grain == "a single row" and (table := _run(tree, database)) is not None:
        yield "grain", len(table.rows) <= 1
    keys = _row_keys(tree, basis, query) if basis.grain.startswith("one row per ") else []
    if keys and (table := _run(_select(tree, keys, "order"), database)) is not None:
        yield "grain", len(set(table.rows)) == len(table.rows)
    yield from _check_filters(tree, basis, database)
    yield from _check_range(tree, basis, query, database)


def _row_keys(tree: exp.Select, basis: Basis, query: Query) -> list[exp.Expr]:
    """Return what tells rows apart by a basis: what groups are made by, or the key of the table whose rows they are."""
    group = tree.args.get("group")
    if group is not None:
        return list(group.expressions)
    source = query.find_unrepeated_source(query.scopes[0])
    if source is None or source.table is None or "pairing" in basis.grain:
        return []
    return [exp.column(name, table=source.node.alias_or_name, quoted=True) for name in source.table.primary_key]


def _check_filters(tree: exp.Select, basis: Basis, database: Database) -> Iterator[_Said]:
    """Evaluate each condition once more on the rows of the result, with its columns beside them."""
    grouped = tree.args.get("group") is not None or tree.args.get("distinct") is not None
    if grouped or any(is_aggregate_call(node) for item in tree.expressions for node in item.find_all(exp.Func)):
        return
    for said in basis.filters:
        if said.groups or said.inner or said.part:
            continue
        condition = parse_query_tree(f"SELECT 1 WHERE {said.sql}", database.dialect).args["where"].this
        if condition.find(exp.Select) is not None:
            continue
        columns = {node.sql(): node.copy() for node in condition.find_all(exp.Column)}
        names = {text: f"said_{number}" for number, text in enumerate(columns)}
        for node in list(condition.find_all(exp.Column)):
            node.replace(exp.column(names[node.sql()]))
        inner = _select(tree, [exp.alias_(columns[text], name) for text, name in names.items()])
        query = exp.select("1").from_(inner.subquery("said")).where(exp.not_(exp.paren(condition))).limit(1)
        if (table := _run(query, database)) is not None:
            yield "filter", not table.rows


def _check_range(tree: exp.Select, basis: Basis, query: Query, database: Database) -> Iterator[_Said]:
    """Compare the first and the last day that are said with the least and the greatest of the rows that are used."""
    date = basis.date
    if date is None or not (date.first or date.last):
        return
    for source in query.scopes[0].sources:
        if source.table is None or source.table.name != date.table:
            continue
        column = exp.column(date.column, table=source.node.alias_or_name, quoted=True)
        outputs: list[exp.Expr] = [exp.Min(this=column), exp.Max(this=column.copy())]
        table = _run(_select(tree, outputs, "group", "having", "order", "limit", "distinct"), database)
        if table is None or table.rows[0][0] is None:
            return
        least, most = (str(cell)[:10] for cell in table.rows[0])
        yield "range", (not date.first or date.first <= least) and (not date.last or most <= date.last)
        return


def _select(tree: exp.Select, outputs: list[exp.Expr], *dropped: str) -> exp.Select:
    """Return the query with other outputs, without some clauses."""
    copy = tree.copy()
    copy.set("expressions", [node.copy() for node in outputs])
    for clause in dropped:
        copy.set(clause, None)
    return copy


def _run(query: exp.Expr, database: Database) -> Table | None:
    """Return the query's result; None if it fails or is cut."""
    try:
        table = database.execute(query.sql(database.dialect), _LIMITS)
    except QueryError:
        return None
    return None if table.truncated else table
