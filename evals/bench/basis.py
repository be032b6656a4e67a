"""What answers say of filters, grain and ranges, held against the results of Spider's gold queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice

from sqlglot import exp

from ...tools.basis import Basis, basis_of
from ...tools.basis.grain import row_source
from ...tools.database import Database, Limits, Table
from ...tools.errors import QueryError, SQLParseError
from ...tools.sql.conditions import is_aggregate
from ...tools.sql.parse import parse, parse_select
from ...tools.sql.resolve import resolve
from ...tools.sql.scope import Resolution, Source
from ..datasets import load_dataset
from .gold import Databases, golds
from .registry import BenchOptions

SPLITS = (("spider", "train"), ("spider", "train_others"), ("spider", "dev"))
_LIMITS = Limits(seconds=20.0, rows=200_000, result_bytes=200_000_000)


def run(options: BenchOptions) -> dict[str, object]:
    """Distinct gold queries of train and dev, and what is said of them.

    Returns:
        `queries`; `statements` that could be checked, `by_kind`; `false` ones, with examples in `wrong`; `unread`, the
        queries of which nothing can be said.
    """
    said: Counter[str] = Counter()
    wrong: list[str] = []
    queries = unread = 0
    with Databases(load_dataset("spider", "dev", options.folder)) as databases:
        for gold in islice(golds(options.folder, SPLITS), options.limit):
            database = databases.get(gold.database)
            if database is None:
                continue
            queries += 1
            try:
                basis = basis_of(gold.sql, database.schema(), gold.question)
            except SQLParseError:
                unread += 1
                continue
            for kind, holds in _statements(gold.sql, basis, database):
                said[kind] += 1
                if not holds:
                    wrong.append(f"{kind}: {gold.database}: {gold.sql}")
    return {
        "queries": queries,
        "statements": said.total(),
        "by_kind": dict(said),
        "false": len(wrong),
        "unread": unread,
        "wrong": wrong[:20],
    }


def _statements(sql: str, basis: Basis, database: Database) -> Iterator[tuple[str, bool]]:
    """What a basis says that can be looked at, and whether it is so."""
    tree = parse(sql, database.dialect).tree
    resolution = resolve(tree, database.schema())
    if basis.duplicates != "kept" and (table := _run(tree, database)) is not None:
        yield "duplicates", len(set(table.rows)) == len(table.rows)
    if not isinstance(tree, exp.Select):
        return
    if basis.grain == "a single row" and (table := _run(tree, database)) is not None:
        yield "grain", len(table.rows) <= 1
    keys = _keys(tree, basis, resolution) if basis.grain.startswith("one row per ") else []
    if keys and (table := _run(_selecting(tree, keys), database)) is not None:
        yield "grain", len(set(table.rows)) == len(table.rows)
    yield from _filters(tree, basis, resolution, database)
    yield from _ranges(tree, basis, resolution, database)


def _keys(tree: exp.Select, basis: Basis, resolution: Resolution) -> list[exp.Expr]:
    """What tells the rows apart by a basis: what groups are made by, or the key of the table whose rows they are."""
    group = tree.args.get("group")
    if group is not None:
        return list(group.expressions)
    source = row_source(resolution.scopes[0], resolution)
    if source is None or source.table is None or "pairing" in basis.grain:
        return []
    return [_column(source, name) for name in source.table.primary_key]


def _filters(tree: exp.Select, basis: Basis, resolution: Resolution, database: Database) -> Iterator[tuple[str, bool]]:
    """Each condition on rows, evaluated once more on the rows of the result, with its columns beside them."""
    grouped = tree.args.get("group") is not None or tree.args.get("distinct") is not None
    if grouped or any(is_aggregate(node) for item in tree.expressions for node in item.find_all(exp.Func)):
        return
    for told in basis.filters:
        if told.groups or told.inner or told.part:
            continue
        condition = parse_select(f"SELECT 1 WHERE {told.sql}", database.dialect).args["where"].this
        if condition.find(exp.Select) is not None:
            continue
        columns = {node.sql(): node.copy() for node in condition.find_all(exp.Column)}
        names = {text: f"said_{number}" for number, text in enumerate(columns)}
        outputs = [exp.alias_(columns[text], name) for text, name in names.items()]
        for node in list(condition.find_all(exp.Column)):
            node.replace(exp.column(names[node.sql()]))
        inner = _selecting(tree, outputs, keep_order=True)
        query = exp.select("1").from_(inner.subquery("said")).where(exp.not_(exp.paren(condition))).limit(1)
        if (table := _run(query, database)) is not None:
            yield "filter", not table.rows


def _ranges(tree: exp.Select, basis: Basis, resolution: Resolution, database: Database) -> Iterator[tuple[str, bool]]:
    """The first and the last day that are said, against the least and the greatest of the rows that are used."""
    date = basis.date
    if date is None or not (date.first or date.last):
        return
    for source in resolution.scopes[0].sources:
        if source.table is None or source.table.name != date.table:
            continue
        column = _column(source, date.column)
        outputs: list[exp.Expr] = [exp.Min(this=column), exp.Max(this=column.copy())]
        table = _run(_selecting(tree, outputs, alone=True), database)
        if table is None or table.rows[0][0] is None:
            return
        least, most = (str(cell)[:10] for cell in table.rows[0])
        yield "range", (not date.first or date.first <= least) and (not date.last or most <= date.last)
        return


def _selecting(
    tree: exp.Select, outputs: list[exp.Expr], *, keep_order: bool = False, alone: bool = False
) -> exp.Select:
    """The query with other outputs; `alone` over all of its rows as one group."""
    copy = tree.copy()
    copy.set("expressions", [node.copy() for node in outputs])
    dropped = ("group", "having", "order", "limit", "distinct") if alone else () if keep_order else ("order",)
    for clause in dropped:
        copy.set(clause, None)
    return copy


def _column(source: Source, name: str) -> exp.Expr:
    return exp.column(name, table=source.node.alias_or_name, quoted=True)


def _run(query: exp.Expr, database: Database) -> Table | None:
    """The query's result; None where it fails or is cut."""
    try:
        table = database.execute(query.sql(database.dialect), _LIMITS)
    except QueryError:
        return None
    return None if table.truncated else table
