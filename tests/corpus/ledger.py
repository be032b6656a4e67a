"""Faults planted in the databases of gold queries: are they in the ledger, with the exact count?

What is exact is counted by plain SQLite: the rows of a gold's own FROM and WHERE before and after.
"""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Literal, TypeVar, get_args

import duckdb
from rich.console import Console
from rich.progress import track
from sqlglot import exp
from tableturn.agent.evidence.ledger import LONGEST_SECONDS, SHORTEST_SECONDS
from tableturn.evals.datasets import load_dataset
from tableturn.evals.datasets.load import Dataset
from tableturn.evals.lab.bench.gold import group_golds
from tableturn.evals.lab.bench.harness import Stopwatch, compute_percentile_ms
from tableturn.evals.lab.bench.registry import BenchOptions, Figures, divide, share
from tableturn.tools.basis import NewestDateCache
from tableturn.tools.database import Database, Limits
from tableturn.tools.errors import QueryError, TableturnError
from tableturn.tools.labels import IN_ENGLISH
from tableturn.tools.ledger import Ledger, NotCountedError, build_query_ledger
from tableturn.tools.ledger.ledger import MATERIAL
from tableturn.tools.sample import build_sample
from tableturn.tools.sql import Query, read_query

from tests.corpus.ledger_canaries import find_canaries, open_hidden
from tests.corpus.ledger_wrong import WrongAnswer, count_warnings, find_real_answers

T = TypeVar("T")
SEED = 38
DATABASES = 11  # of Spider's training part; the sample database has the late loads
SHARES = (0.01, 0.03, 0.1, 0.25, 0.5)
FAULTS, GOLDS = 10, 6  # of one database, and of one fault
WRONG, MOST_OF_ONE = 15, 4  # planted wrong answers of one kind, and those of them in one database
ROWS = {400_000: 12, 10_000_000: 3}  # of the largest table where times are measured, and how often each is
Kind = Literal["orphans", "duplicates", "missing", "variants"]


@dataclass(frozen=True)
class Fault:
    """A fault of some rows of a table."""

    kind: Kind
    table: str
    column: str
    share: float

    def plant(self, path: Path) -> None:
        """Plant it in a file."""
        random, name = Random(f"{SEED}{self}"), f'"{self.table}"'
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("PRAGMA legacy_alter_table = ON")  # so that keys still name the table
            if self.kind in ("duplicates", "missing"):  # as a load without keys
                connection.execute(f"CREATE TABLE planted AS SELECT * FROM {name}")
                connection.execute(f"DROP TABLE {name}")
                connection.execute(f"ALTER TABLE planted RENAME TO {name}")
            rows = [row for (row,) in connection.execute(f"SELECT rowid FROM {name}")]
            chosen = random.sample(rows, min(len(rows), max(1, round(self.share * len(rows)))))
            column = f'"{self.column}"'
            statement = {
                "orphans": f"UPDATE {name} SET {column} = -987654 - rowid WHERE rowid = ?",
                "duplicates": f"INSERT INTO {name} SELECT * FROM {name} WHERE rowid = ?",
                "missing": f"UPDATE {name} SET {column} = NULL WHERE rowid = ?",
                "variants": f"UPDATE {name} SET {column} = ' ' || upper({column}) WHERE rowid = ?",
            }[self.kind]
            connection.executemany(statement, [(row,) for row in chosen])


@dataclass(frozen=True)
class Planted:
    """A material fault in the rows of a gold, and what the ledger says of it."""

    kind: str
    told: bool
    exact: bool
    where: str


@cache
def _keep(path: Path, sqls: tuple[str, ...]) -> list[Ledger]:
    with Database.open(path) as database:
        return [_ledger(database, sql) for sql in sqls]


def _ledger(database: Database, sql: str, seconds: Callable[[], float] = lambda: 20.0, **more: Any) -> Ledger:
    def count(counting: str) -> Any:
        left = seconds()
        if left <= 0:
            raise NotCountedError("time")
        try:
            return database.execute(counting, Limits(seconds=left, rows=100_000)).rows
        except QueryError as error:
            raise NotCountedError(str(error.kind)) from None

    return build_query_ledger(read_query(sql, database.schema()), count, **more)


def _faults(query: Query) -> Iterator[tuple[Kind, str, str]]:
    """Yield the faults that a gold would suffer from, each of a table and column."""
    tables, (scope,) = query.tables, query.scopes
    conditions = {one.schema.name for one in query.columns if one.clause == "where"}
    keys = {name for key in query.schema.foreign_keys for name in (*key.columns, *key.ref_columns)}
    filtered = {column.table.name for column in query.columns if column.clause in ("where", "having")}
    plain = any(
        not isinstance(one.this, exp.Distinct) for one in query.find_aggregates(scope, exp.Sum, exp.Avg, exp.Count)
    )
    for key in query.schema.foreign_keys:
        if key.inferred or key.table == key.ref_table or not {key.table, key.ref_table} <= set(tables):
            continue
        text = query.text(query.tree).lower()
        joined = len(key.columns) == 1 and f"{key.columns[0]}".lower() in text
        if joined and query.find_unreferenced_source(scope) is not None and len(scope.sources) == len(tables):
            if filtered <= {key.table}:
                yield "orphans", key.table, key.columns[0]
            if plain and not any(other.table == key.ref_table and other.ref_table in tables
                                 for other in query.schema.foreign_keys):  # fmt: skip
                yield "duplicates", key.ref_table, key.ref_columns[0]
    for node in query.find_aggregates(scope, exp.Avg):
        column = query.column(node.this)
        if column is not None and not column.schema.primary_key and column.schema.name not in conditions:
            yield "missing", *column.item
    for term in query.resolve_group_by_terms(scope) or ():
        column = query.column(term)
        text = column is not None and column.schema.kind == "text" and not column.is_primary_key
        if column is not None and text and column.schema.name not in keys | conditions:
            yield "variants", *column.item


def _decode(raw: bytes) -> str:
    return raw.decode(errors="replace")


def _count(path: Path, query: Query, fault: Fault) -> tuple[int, int]:
    """Return the rows of a gold's FROM and WHERE that a fault changes the number of, and all of them."""
    select = query.tree.copy()
    column = next((one.node for one in query.columns if one.item == (fault.table, fault.column)), None)
    for part in ("group", "having", "order", "limit", "distinct"):
        select.set(part, None)
    outputs: list[exp.Expr] = [exp.Count(this=exp.Star())]
    if fault.kind == "missing" and column is not None:
        outputs = [exp.Count(this=column.copy())]
    if fault.kind == "variants" and column is not None:
        outputs = [column.copy(), *outputs]
        select.set("group", exp.Group(expressions=[column.copy()]))
    select.set("expressions", outputs)
    with closing(sqlite3.connect(path)) as connection:
        connection.text_factory = _decode
        rows = connection.execute(select.sql(dialect="sqlite")).fetchall()
    if fault.kind != "variants":
        return int(rows[0][0]), int(rows[0][0])
    groups: dict[str, list[int]] = defaultdict(list)
    for value, number in rows:
        if value is not None and str(value).strip():
            groups[str(value).strip().lower()].append(number)
    aside = sum(sum(numbers) - max(numbers) for numbers in groups.values())
    return aside, sum(map(sum, groups.values()))


def _told(ledger: Ledger, fault: Fault) -> tuple[int, bool]:
    """Return the rows that a ledger counts for a fault, and whether they are material."""
    if fault.kind in ("orphans", "duplicates"):
        name = "lost" if fault.kind == "orphans" else "repeated"
        found = [join for join in ledger.joins if getattr(join, name) and not (join.kept or join.ones)]
        return sum(getattr(join, name) for join in found), any(join.material for join in found)
    if fault.kind == "missing":
        nulls = [one for one in ledger.nulls if (one.column, one.use) == (fault.column, "averaged")]
        return sum(one.missing for one in nulls), any(one.material for one in nulls)
    variants = [one for one in ledger.variants if one.column == fault.column]
    return sum(one.rows for one in variants), any(one.material for one in variants)


def _place(dataset: Dataset, name: str) -> Path | None:
    try:
        return Path(str(dataset.locate(name)))
    except TableturnError:
        return None


def _find_places(data: Path, limit: int | None) -> Iterator[tuple[Path, Fault, list[Query]]]:
    """Yield the faults to plant: the database, the fault, and the golds that suffer from it."""
    dataset = load_dataset("spider", "train", data)
    paths = dict[str, Path]()
    golds, usable = group_golds(dataset.questions), dict[str, dict[tuple[Kind, str, str], list[Query]]]()
    for name, sqls in golds.items():
        if (path := _place(dataset, name)) is None:
            continue
        faults: dict[tuple[Kind, str, str], list[Query]] = defaultdict(list)
        with Database.open(path) as database:
            schema = database.schema()
        if not 60 <= max((table.row_count or 0 for table in schema.tables), default=0) <= 50_000:
            continue
        for sql in dict.fromkeys(sqls):
            try:
                query = Query.of(sql, schema.dialect, schema)
                if len(query.scopes) == 1 and isinstance(query.tree, exp.Select):
                    for place in _faults(query):
                        faults[place].append(query)
            except TableturnError:
                continue
        paths[name] = path
        usable[name] = {place: queries[:GOLDS] for place, queries in faults.items()}
    most = sorted(usable, key=lambda name: -len(usable[name]))[: limit or DATABASES]
    for name in most:
        for (kind, table, column), queries in islice(usable[name].items(), FAULTS):
            for part in SHARES:
                yield paths[name], Fault(kind, table, column, part), queries


def _find_wrong_answers(
    data: Path, folder: Path, places: Sequence[tuple[Path, Fault, list[Query]]]
) -> Iterator[WrongAnswer]:
    """Yield golds that faults in the data give another result, as many of each kind, drawn by a seed."""
    questions = load_dataset("spider", "train", data).questions
    texts = {sql.rstrip(" ;"): one.text for one in questions for sql in one.golds}
    drawn = Random(SEED).sample(places, len(places))
    for kind in get_args(Kind):
        number, databases = 0, Counter[Path]()
        for original, fault, queries in (place for place in drawn if place[1].kind == kind):
            if number == WRONG or databases[original] == MOST_OF_ONE:
                continue
            path, query = folder / f"wrong{kind}{number}" / original.name, queries[0]
            path.parent.mkdir(exist_ok=True)
            shutil.copy(original, path)
            fault.plant(path)
            if _read(original, query.sql) != _read(path, query.sql):
                number, databases[original] = number + 1, databases[original] + 1
                yield WrongAnswer(kind, path, texts[query.sql.rstrip(" ;")], query.sql, str(fault))


def _read(path: Path, sql: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        connection.text_factory = _decode
        return sorted(connection.execute(sql).fetchall(), key=str)


def _plant(original: Path, fault: Fault, queries: list[Query], folder: Path) -> Iterator[Planted]:
    """Yield what the ledger says of a fault in each gold's rows."""
    path = folder / f"planted{len(list(folder.iterdir()))}.sqlite"
    shutil.copy(original, path)
    fault.plant(path)
    before = [_count(original, query, fault) for query in queries]
    after = [_count(path, query, fault) for query in queries]
    old, new = (_keep(place, tuple(query.sql for query in queries)) for place in (original, path))
    path.unlink()
    (folder / path.name).touch()
    for query, (first, all_before), (then, all_after), was, now in zip(queries, before, after, old, new, strict=True):
        rows, (counted, material) = abs(then - first), _told(now, fault)
        whole = all_after if fault.kind == "variants" else all_before
        if rows and rows >= 1.01 * MATERIAL * whole:
            exact = counted - _told(was, fault)[0] == rows
            where = f"{original.stem} {fault} {query.sql}: {rows}, told {counted}; {now.not_counted}"
            yield Planted(fault.kind, material, exact, where)


def _late(folder: Path) -> Iterator[Planted]:
    """Yield the same of late loads: the last days of a year are not there."""
    sample = build_sample(folder / "late.sqlite")
    for table, column in (("orders", "ordered_on"), ("payments", "paid_on"), ("reviews", "written_on")):
        for year in (2022, 2023, 2024):
            for days in (4, 10, 36, 91, 182):
                last = str(date(year, 12, 31) - timedelta(days=days))
                path = folder / f"late{table}{year}{days}.sqlite"
                shutil.copy(sample, path)
                with closing(sqlite3.connect(path)) as connection, connection:
                    try:
                        connection.execute(f"DELETE FROM {table} WHERE {column} > ?", (last,))
                        ((newest,),) = connection.execute(f"SELECT MAX({column}) FROM {table}")
                    except sqlite3.OperationalError:
                        continue
                sql = f"SELECT COUNT(*) FROM {table} WHERE {column} BETWEEN '{year}-01-01' AND '{year}-12-31'"
                with Database.open(path) as database:
                    look = NewestDateCache(database.execute, database.engine.state, database.dialect)
                    found = _ledger(database, sql, newest=look.find).newest
                path.unlink()
                exact = found is not None and found.newest == newest[:10]
                # Of less than 5 % of a period nobody can say whether the load is late, or the days were quiet.
                yield Planted("late" if days >= 0.05 * 366 else "quiet", bool(found and found.material), exact, sql)


def _alarms(data: Path, limit: int | None) -> Figures:
    """Return what is told of gold queries on untouched databases, of those whose keys hold and of all."""
    dataset, holding, said, every = load_dataset("spider", "train", data), [0, 0], list[str](), [0, 0]
    asked: dict[str, dict[str, str]] = defaultdict(dict)
    for question in dataset.questions:
        for sql in question.golds[:1]:
            asked[question.database].setdefault(sql, question.text)
    for name, questions in _track([*islice(asked.items(), limit)], "golds on untouched databases"):
        if (path := _place(dataset, name)) is None:
            continue
        with closing(sqlite3.connect(path)) as connection:
            try:
                holds = not connection.execute("PRAGMA foreign_key_check").fetchall()
            except sqlite3.Error:
                holds = False
        with Database.open(path) as database:
            for sql, question in questions.items():
                try:
                    rows = database.execute(sql).rows
                except TableturnError:
                    continue
                if not rows:
                    continue
                ledger = _ledger(database, sql, question=question)
                # What a question asks for each of is left out though keys hold.
                lost = any(join.material and not join.ones for join in ledger.joins)
                told = lost if holds else bool(ledger.list_facts(IN_ENGLISH, material=True))
                for counts in (every, *([holding] if holds else [])):
                    counts[0] += 1
                    counts[1] += told
                if ledger.list_facts(IN_ENGLISH, material=True):
                    said.append(f"{name}: {question}\n  {sql}\n  {ledger.line}")
    return {
        "golds": every[0], "golds_with_a_sentence": divide(len(said), every[0]), "golds_keys_hold": holding[0],
        "alarms_untouched": divide(holding[1], holding[0]), "said": said,
    }  # fmt: skip


def _build(folder: Path, rows: int) -> None:
    """Make a large table that refers to five small ones, one row in fifty to none of theirs, in two files."""
    small = [f"CREATE TABLE d{n} (id INTEGER PRIMARY KEY, name VARCHAR(20))" for n in range(5)]
    references = ", ".join(f"d{n}_id INTEGER" for n in range(5))
    statements = (*small, f"CREATE TABLE fact (id INTEGER PRIMARY KEY, amount INTEGER, {references})")
    with duckdb.connect(str(folder / f"{rows}.duckdb")) as connection:
        connection.execute("SELECT setseed(0.38)")
        for statement in statements:
            connection.execute(statement)
        for n in range(5):
            connection.execute(f"INSERT INTO d{n} SELECT range, 'name ' || range FROM range(1000)")
        cells = ", ".join(["range % 97", *["CAST(floor(random() * 1020) AS INTEGER)"] * 5])
        connection.execute(f"INSERT INTO fact SELECT range, {cells} FROM range({rows})")
    with closing(sqlite3.connect(folder / f"{rows}.sqlite")) as connection, connection:
        connection.execute("PRAGMA journal_mode = OFF")
        for statement in statements:
            connection.execute(statement)
        numbers = "WITH RECURSIVE one (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM one WHERE n < {} - 1)"
        for n in range(5):
            connection.execute(f"INSERT INTO d{n} {numbers.format(1000)} SELECT n, 'name ' || n FROM one")
        cells = ", ".join(["n % 97", *["abs(random()) % 1020"] * 5])
        connection.execute(f"INSERT INTO fact {numbers.format(rows)} SELECT n, {cells} FROM one")


def _times(folder: Path, rows: int) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield milliseconds of a query, and what its ledger adds, by engine, rows and number of joins."""
    _build(folder, rows)
    for engine in ("sqlite", "duckdb"):
        with Database.open(folder / f"{rows}.{engine}") as database:
            database.schema()
            for joins in _track(range(5), f"times on {engine}, {rows:,} rows"):
                joined = " ".join(f"JOIN d{n} ON d{n}.id = fact.d{n}_id" for n in range(joins))
                sql = f"SELECT SUM(amount) FROM fact {joined}"
                if rows == min(ROWS):  # SQLite would sort more of them on disk, beyond its limit
                    group = "d0.name" if joins else "amount"
                    sql = f"SELECT {group}, SUM(amount) FROM fact {joined} GROUP BY {group}"
                query, added, partial = list[float](), list[float](), 0
                for _ in range(ROWS[rows]):
                    with Stopwatch() as spent:
                        result = database.execute(sql, Limits(seconds=120)).rows
                    query.append(spent.seconds)
                    until = time.perf_counter() + min(max(SHORTEST_SECONDS, query[-1]), LONGEST_SECONDS)
                    with Stopwatch() as spent:
                        ledger = _ledger(database, sql, lambda until=until: until - time.perf_counter(), rows=result)
                    added.append(spent.seconds)
                    partial += bool(ledger.not_counted)
                told = {"query": compute_percentile_ms(query, 50)}
                told |= {f"added_p{percent}": compute_percentile_ms(added, percent) for percent in (50, 95)}
                shares = {"not_counted": partial / ROWS[rows], "runs": ROWS[rows]}
                name = f"{engine}, {rows:,} rows, {joins} joins"
                yield name, {key: round(value, 2) for key, value in (told | shares).items()}
        (folder / f"{rows}.{engine}").unlink()


def _track(things: Sequence[T], what: str) -> Iterable[T]:
    return track(things, what, console=Console(stderr=True))


def run(options: BenchOptions) -> Figures:
    """Return which planted faults the ledger tells, what it tells of untouched databases, and the time it takes.

    And of wrong answers, of models and by planted faults, how many carry a warning.

    With a limit, of so many databases, and times of the smaller tables alone.
    """
    with TemporaryDirectory() as folder:
        places = [*_find_places(options.folder, options.limit)]
        tracked = _track(places, "faults planted in databases")
        planted = [one for place in tracked for one in _plant(*place, Path(folder))]
        planted += _late(Path(folder))
        wrong = [*find_real_answers(options.folder), *_find_wrong_answers(options.folder, Path(folder), places)]
        warnings = count_warnings(_track(wrong, "wrong answers"))
        sizes = list(ROWS)[: 1 if options.limit else None]
        times = dict(told for rows in sizes for told in _times(Path(folder), rows))
        with open_hidden(Path(folder)) as hidden:
            hiding = [name for name in hidden if not name.endswith(" all")]
            canaries = [found for name in _track(hiding, "canaries") for found in find_canaries(hidden[name])]
    material = [one for one in planted if one.kind != "quiet"]
    by_kind = {kind: [one for one in planted if one.kind == kind] for kind in Counter(one.kind for one in planted)}
    return {
        "material": len(material),
        "found": share([one.told and one.exact for one in material]),
        "by_kind": {
            kind: {"n": len(own), "told": share([one.told for one in own]), "exact": share([one.exact for one in own])}
            for kind, own in by_kind.items()
        },
        "missed": [one.where for one in material if not (one.told and one.exact)],
        **_alarms(options.folder, options.limit),
        "canaries": len(canaries),
        "canaries_hidden_by": hiding,
        "canary_texts": canaries,
        "wrong_answers": warnings,
        "times_ms": times,
    }
