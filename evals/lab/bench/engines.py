"""Every engine against SQLite: gold queries carried over, attacks, what the guard costs, and a thousand tables."""

from __future__ import annotations

import sqlite3
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from statistics import median

from sqlglot import exp

from tests.tools.database.carried import ENGINES, carry, explain_missing, open_driver
from tests.tools.database.conformance.attacks import SHARED
from tests.tools.database.conformance.candidate import Candidate
from tests.tools.database.conformance.candidates.duckdb import DuckDB
from tests.tools.database.conformance.candidates.mariadb import MariaDB, SQLAlchemyMariaDB
from tests.tools.database.conformance.candidates.postgres import Postgres
from tests.tools.database.conformance.candidates.sqlite import SQLite
from tests.tools.database.conformance.tables import STATEMENTS

from ....tools.database import Database, Schema
from ....tools.errors import QueryError, SQLParseError
from ....tools.sql import parse_select
from ....tools.sql.checks.failure import bare_references
from ....tools.sql.dialects import rules_of
from ....tools.sql.query import Query
from ...official.execution import lenient_text, open_read_only
from .gold import LIMITS, PARTIAL, golds
from .harness import least_seconds
from .registry import BenchOptions, Figures
from .scale import build_large
from .translate import translate

_PASSES = 5
_TIMED = 100
_TABLES = 1_000

# Of seventeen digits, the last ones depend on the order in which an engine adds up.
_DIGITS = 9

_CANDIDATES: Mapping[str, Callable[[], Candidate]] = {
    "sqlite": SQLite,
    "duckdb": DuckDB,
    "postgres": Postgres,
    "mariadb": MariaDB,
    "sqlalchemy": SQLAlchemyMariaDB,
}
"""The engines that are attacked, as the suite has them that every engine is held against."""

Row = tuple[int | float | str | bytes | None, ...]


@dataclass(frozen=True)
class Expected:
    """The rows of a query in SQLite.

    Attributes:
        sql: The query.
        runs: Groups of rows whose order among themselves is open, in order; one group if no order is asked for.
    """

    sql: str
    runs: Sequence[Sequence[Row]]

    def matches(self, rows: Sequence[Row]) -> bool:
        """Whether these are the rows, in the order that is determined."""
        if len(rows) != sum(map(len, self.runs)):
            return False
        left = iter(rows)
        return all(_count_rows([next(left) for _ in run]) == _count_rows(run) for run in self.runs)


def _count_rows(rows: Sequence[Row]) -> Counter[tuple[object, ...]]:
    def simplify(value: object) -> object:
        return float(f"{value:.{_DIGITS}g}") if isinstance(value, int | float) else value

    return Counter(tuple(map(simplify, row)) for row in rows)


def find_determined(path: Path, schema: Schema, queries: Sequence[str]) -> list[Expected]:
    """Return those of the queries that run in SQLite and whose rows SQL determines.

    Left out are queries with a column beside an aggregate that is neither grouped by nor of a table that is grouped by
    its key, and queries whose LIMIT cuts through rows that ORDER BY does not tell apart.
    """
    found: list[Expected] = []
    strict = rules_of("postgres")
    with closing(open_read_only(path)) as connection:
        connection.text_factory = lenient_text
        for sql in queries:
            try:
                tree = parse_select(sql, "sqlite")
                rows = connection.execute(sql).fetchall()
                reading = Query.of(sql, "sqlite", schema)
                bare = any(bare_references(scope, reading, strict) for scope in reading.scopes)
                limited = [query for query in tree.find_all(exp.Query) if query.args.get("limit")]
                if bare or any(_cuts_tie(connection, query) for query in limited) or not isinstance(tree, exp.Query):
                    continue
                runs = [rows]
                if tree.args.get("order") is not None:
                    offset = _read_number(tree, "offset")
                    keyed = _read_keyed(connection, tree)[offset : offset + len(rows)]
                    runs = [[row for row, _ in run] for _, run in groupby(keyed, key=lambda each: each[1])]
                found.append(Expected(sql, runs))
            except (SQLParseError, sqlite3.Error):
                continue
    return found


def _cuts_tie(connection: sqlite3.Connection, query: exp.Query) -> bool:
    """Whether other rows than those above the limit could as well stand there."""
    offset = _read_number(query, "offset")
    keyed = _read_keyed(connection, query)
    for place in (offset, offset + _read_number(query, "limit")):
        tied = 0 < place < len(keyed) and keyed[place - 1][1] == keyed[place][1]
        if tied and len({repr(row) for row, key in keyed if key == keyed[place][1]}) > 1:
            return True
    return False


def _read_number(query: exp.Query, clause: str) -> int:
    node = query.args.get(clause)
    return int(node.expression.name) if node is not None and node.expression is not None else 0


def _read_keyed(connection: sqlite3.Connection, query: exp.Query) -> list[tuple[Row, Row]]:
    """Return all rows without the limit, each with what it is ordered by."""
    whole = query.copy()
    whole.set("limit", None)
    whole.set("offset", None)
    order = whole.args.get("order")
    terms = [ordered.this for ordered in order.expressions] if order is not None else []
    if isinstance(whole, exp.Select) and not whole.args.get("distinct"):
        width = len(connection.execute(f"{whole.sql(dialect='sqlite')} LIMIT 0").description)
        named = {item.alias.lower(): item.unalias() for item in whole.expressions if item.alias}
        for number, term in enumerate(terms):
            if term.is_int:
                term = whole.expressions[int(term.name) - 1].unalias()
            meant = named.get(term.name.lower(), term) if isinstance(term, exp.Column) and not term.table else term
            whole.append("expressions", exp.alias_(meant.copy(), f"key_{number}"))
        rows = connection.execute(whole.sql(dialect="sqlite")).fetchall()
        return [(row[:width], row[width:]) for row in rows]
    # Rows that are told apart, or of several queries, are ordered by columns of the result.
    names = [item.alias_or_name.lower() for item in whole.selects]
    places = [names.index(term.name.lower()) for term in terms if term.name.lower() in names]
    rows = connection.execute(whole.sql(dialect="sqlite")).fetchall()
    if len(places) < len(terms):
        return [(row, (number,)) for number, row in enumerate(rows)]
    return [(row, tuple(row[place] for place in places)) for row in rows]


def run(options: BenchOptions) -> Figures:
    """Return figures by engine; what did not run or gave other rows is in `differing`.

    `golds_run` and `same_rows` are shares of `determined`, the number of Spider dev's distinct gold queries whose rows
    SQL determines. `ms_added` is the median of what `Database.execute` takes longer than the bare driver. `--limit` is
    the number of gold queries.
    """
    queries: dict[Path, list[str]] = defaultdict(list)
    found = [one for one in golds(options.folder, (("spider", "dev"),)) if one.database not in PARTIAL]
    step = max(1, len(found) // options.limit) if options.limit else 1
    for question in found[::step][: options.limit]:
        path = options.folder / "spider" / "database" / question.database / f"{question.database}.sqlite"
        queries[path].append(question.golds[0])
    expected: dict[Path, list[Expected]] = {}
    for path, texts in queries.items():
        with Database.open(path) as database:
            expected[path] = find_determined(path, database.schema(), texts)
    return {name: _measure_engine(name, expected) for name in ENGINES}


def _measure_engine(name: str, expected: Mapping[Path, Sequence[Expected]]) -> Figures:
    if missing := explain_missing(name):
        return {"not run": missing}
    same: list[bool] = []
    differing: list[str] = []
    added: list[float] = []
    total = sum(map(len, expected.values()))
    with tempfile.TemporaryDirectory() as folder:
        for path, queries in expected.items():
            url = carry(path, name, Path(folder))
            bare = open_driver(url)
            with Database.open(url) as database:
                for query in queries:
                    try:
                        sql = translate(query.sql, database.dialect, database.schema())
                        rows = database.execute(sql, LIMITS).rows
                    except (SQLParseError, QueryError) as error:
                        differing.append(f"{path.stem}: {query.sql} -- {error}")
                        continue
                    same.append(query.matches(rows))
                    if not same[-1]:
                        differing.append(f"{path.stem}: {query.sql} -- other rows: {sql}")
                    if len(added) < _TIMED:
                        sides = [partial(database.execute, sql, LIMITS), partial(bare, sql)]
                        guarded, plain = least_seconds(sides, _PASSES)
                        added.append(guarded - plain)
        large = Path(folder) / "large.sqlite"
        build_large(large, _TABLES)
        url = carry(large, name, Path(folder))
        start = time.perf_counter()
        with Database.open(url) as database:
            assert len(database.schema().tables) == _TABLES
            seconds = time.perf_counter() - start
    return {
        "determined": total,
        "golds_run": round(len(same) / total, 4) if total else None,
        "same_rows": round(sum(same) / total, 4) if total else None,
        **attack(_CANDIDATES[name]()),
        "ms_added": round(1000 * median(added), 3) if added else None,
        "schema_1000_tables_s": round(seconds, 2),
        "differing": differing,
    }


def attack(candidate: Candidate) -> Figures:
    """Return how many statements were sent that must not run, and how many were refused without any effect."""
    attacks = sorted({*SHARED, *candidate.attacks})
    refused = 0
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as writable:
        url = candidate.create(Path(folder), STATEMENTS)
        before = candidate.fingerprint(url)
        with Database.open(url) as database:
            for statement in attacks:
                try:
                    database.execute(statement.replace("{folder}", writable))
                except QueryError:
                    refused += 1
        unchanged = candidate.fingerprint(url) == before and not any(Path(writable).iterdir())
    return {"attacks_tried": len(attacks), "attacks_held": refused if unchanged else 0}
