"""Aggregates of repeated rows: found where a join that repeats them is added to a gold query, and not found in gold."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from sqlglot import exp

from ....tools.database import Database, Schema
from ....tools.errors import QueryError, SQLParseError
from ....tools.results import same_result
from ....tools.sql import check, parse_select, regularize
from ...datasets import load_dataset
from .gold import Databases, golds
from .registry import BenchOptions

SPLITS = (("spider", "train"), ("spider", "train_others"), ("cosql", "train"))
"""Where the rules were developed."""


def run(options: BenchOptions) -> dict[str, object]:
    """`planted` queries, the share `found` of them, and `false_alarms`, the share of gold queries that are sent back.

    Planted is a join from a table that refers to an aggregated one, where it changes the result. COUNT(*) names no
    table whose rows it means to count, so that nothing is planted there.
    """
    planted = found = checked = alarms = 0
    missed: list[str] = []
    with Databases(load_dataset("spider", "dev", options.folder)) as databases:
        for gold in islice(golds(options.folder, SPLITS), options.limit):
            database = databases.get(gold.database)
            if database is None:
                continue
            checked += 1
            alarms += _is_proved(gold.sql, database)
            for query in _planted(gold.sql, database):
                planted += 1
                if _is_proved(query, database):
                    found += 1
                else:
                    missed.append(f"{gold.database}: {query}")
    return {
        "planted": planted,
        "found": round(found / planted, 4) if planted else None,
        "golds": checked,
        "false_alarms": round(alarms / checked, 4) if checked else None,
        "missed": missed[:20],
    }


def _is_proved(sql: str, database: Database) -> bool:
    findings = check(sql, database.schema(), gives_row=database.gives_row)
    return any(finding.kind == "repeated_rows" and finding.proof for finding in findings)


def _planted(sql: str, database: Database) -> Iterator[str]:
    """The query with the first join added that changes its result; nothing where none does."""
    try:
        regular = regularize(sql, database.schema())
        joined = list(_joined(regular, database.schema()))
        before = database.execute(regular) if joined else None
    except (QueryError, SQLParseError):
        return
    for query, outer in joined:
        try:
            after = database.execute(outer)
        except QueryError:
            continue
        if before is not None and not same_result(before.rows, after.rows, ordered=False):
            yield query
            return


def _joined(sql: str, schema: Schema) -> Iterator[tuple[str, str]]:
    """The query joined with each table that refers to one whose column it aggregates; also with an outer join.

    The outer one drops no row, so that only repeated rows change its result.
    """
    tree = parse_select(sql, schema.dialect)
    if not isinstance(tree, exp.Select):
        return
    names = {table.alias_or_name.lower(): table.name for table in tree.find_all(exp.Table)}
    for aggregate in tree.find_all(exp.Sum, exp.Avg, exp.Count):
        if aggregate.find_ancestor(exp.Select) is not tree or not isinstance(aggregate.this, exp.Column):
            continue
        label = aggregate.this.table
        for key in schema.foreign_keys:
            held = names.get(label.lower(), "")
            if key.ref_table.lower() != held.lower() or key.table.lower() in {name.lower() for name in names.values()}:
                continue
            on = " AND ".join(
                f'"{key.table}"."{one}" = "{label}"."{other}"'
                for one, other in zip(key.columns, key.ref_columns, strict=True)
            )
            table = exp.to_table(f'"{key.table}"')
            inner, outer = (tree.copy().join(table, on=on, join_type=kind, dialect="sqlite") for kind in ("", "left"))
            yield inner.sql("sqlite"), outer.sql("sqlite")
