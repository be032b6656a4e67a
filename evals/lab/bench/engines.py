"""Every engine against SQLite: gold queries, attacks, the guard's cost, a thousand tables."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from sqlglot import exp

from tests.tools.database.carried import ENGINES, carry, explain_missing, open_driver
from tests.tools.database.conformance.attacks import SHARED
from tests.tools.database.conformance.candidate import Candidate
from tests.tools.database.conformance.candidates.duckdb import DuckDB
from tests.tools.database.conformance.candidates.mariadb import MariaDB, SQLAlchemyMariaDB
from tests.tools.database.conformance.candidates.postgres import Postgres
from tests.tools.database.conformance.candidates.sqlite import SQLite
from tests.tools.database.conformance.tables import STATEMENTS
from tests.tools.database.translated import translate_to_dialect

from ....tools.database import Database
from ....tools.errors import QueryError, SQLParseError
from ....tools.sql.checks.failure import find_ungrouped_columns
from ....tools.sql.dialects import get_dialect_rules
from ....tools.sql.query import Query
from ...metrics.judging import ExpectedResult, compute_expected_result
from .gold import LIMITS, PARTIAL, read_golds
from .harness import Stopwatch, measure_least_seconds
from .registry import BenchOptions, Figures
from .scale import build_large_database

_PASSES = 5
_TIMED = 100
_TABLES = 1_000

_CANDIDATES: Mapping[str, Callable[[], Candidate]] = {
    "sqlite": SQLite,
    "duckdb": DuckDB,
    "postgres": Postgres,
    "mariadb": MariaDB,
    "sqlalchemy": SQLAlchemyMariaDB,
}
"""The engines that are attacked, as the suite has them that every engine is held against."""


def find_determined_results(database: Database, queries: Iterable[str]) -> dict[str, ExpectedResult]:
    """Return SQLite's results of the queries for which SQL allows only one result.

    Left out are queries with a column beside an aggregate that is neither grouped by nor of a table that is grouped by
    its key, and queries whose LIMIT cuts through rows that ORDER BY does not tell apart.
    """
    found: dict[str, ExpectedResult] = {}
    strict = get_dialect_rules("postgres")
    for sql in queries:
        with suppress(QueryError, SQLParseError):
            reading = Query.of(sql, "sqlite", database.schema())
            bare = any(find_ungrouped_columns(scope, reading, strict) for scope in reading.scopes)
            limited = (query for query in reading.tree.find_all(exp.Query) if query.args.get("limit"))
            if not bare and not any(_has_tie_at_limit(database, query) for query in limited):
                found[sql] = compute_expected_result(database, sql, LIMITS)
    return found


def _has_tie_at_limit(database: Database, query: exp.Query) -> bool:
    """Whether a query's LIMIT cuts through rows that its ORDER BY treats as equal."""
    if not query.args.get("order"):
        return True
    found = compute_expected_result(database, query.sql("sqlite"), LIMITS)
    return bool(found.cut or (found.table.rows and found.ties is None))


def run(options: BenchOptions) -> Figures:
    """Return figures by engine; `differing` lists queries that failed or gave other rows.

    `golds_run` and `same_rows` are shares of `determined`, the number of Spider dev's distinct gold queries whose rows
    SQL determines. `ms_added` is the median of what `Database.execute` takes longer than the bare driver. `--limit` is
    the number of gold queries.
    """
    queries: dict[Path, list[str]] = defaultdict(list)
    found = [one for one in read_golds(options.folder, (("spider", "dev"),)) if one.database not in PARTIAL]
    step = max(1, len(found) // options.limit) if options.limit else 1
    for question in found[::step][: options.limit]:
        path = options.folder / "spider" / "database" / question.database / f"{question.database}.sqlite"
        queries[path].append(question.golds[0])
    determined: dict[Path, dict[str, ExpectedResult]] = {}
    for path, texts in queries.items():
        with Database.open(path) as database:
            determined[path] = find_determined_results(database, texts)
    return {name: _compute_engine_figures(name, determined) for name in ENGINES}


def _compute_engine_figures(name: str, determined: Mapping[Path, Mapping[str, ExpectedResult]]) -> Figures:
    if missing := explain_missing(name):
        return {"not run": missing}
    same: list[bool] = []
    differing: list[str] = []
    added: list[float] = []
    total = sum(map(len, determined.values()))
    with tempfile.TemporaryDirectory() as folder:
        for path, queries in determined.items():
            url = carry(path, name, Path(folder))
            bare = open_driver(url)
            with Database.open(url) as database:
                schema: Any = database.schema()  # whose class the tests name by the installed package
                for query, wanted in queries.items():
                    try:
                        sql = translate_to_dialect(query, database.dialect, schema)
                        same.append(wanted.allows(database.execute(sql, LIMITS)))
                    except (SQLParseError, QueryError) as error:
                        differing.append(f"{path.stem}: {query} -- {error}")
                        continue
                    if not same[-1]:
                        differing.append(f"{path.stem}: {query} -- other rows: {sql}")
                    if len(added) < _TIMED:
                        sides = [partial(database.execute, sql, LIMITS), partial(bare, sql)]
                        guarded, plain = measure_least_seconds(sides, _PASSES)
                        added.append(guarded - plain)
        large = Path(folder) / "large.sqlite"
        build_large_database(large, _TABLES)
        url = carry(large, name, Path(folder))
        with Stopwatch() as opening, Database.open(url) as database:
            assert len(database.schema().tables) == _TABLES
    return {
        "determined": total,
        "golds_run": round(len(same) / total, 4) if total else None,
        "same_rows": round(sum(same) / total, 4) if total else None,
        **run_attacks(_CANDIDATES[name]()),
        "ms_added": round(1000 * median(added), 3) if added else None,
        "schema_1000_tables_s": round(opening.seconds, 2),
        "differing": differing,
    }


def run_attacks(candidate: Candidate) -> Figures:
    """Send forbidden statements to an engine; return how many were sent and how many refused."""
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
