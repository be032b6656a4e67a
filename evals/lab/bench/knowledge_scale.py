"""A thousand terms and a hundred thousand verified queries of one database: what looking through them takes a question.

The database is made up: the tables of `synthetic_pairs`, each with all columns that its queries use, a few rows of
names in them. Its questions are those of the made-up pairs, half of them as they are kept and half with other values.
"""

from __future__ import annotations

import random
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path

from ....tools.database import Database
from ....tools.examples import Example, ExampleStore, answered_by, database_identity
from ....tools.examples.verified import Spelt
from ....tools.knowledge import Entry, Knowledge
from ....tools.linking import SchemaLinker
from ....tools.values import ValueIndex
from .harness import percentile_ms
from .registry import BenchOptions
from .synthetic_pairs import NAMES, databases, pairs

TERMS, QUERIES, QUESTIONS = 1_000, 100_000, 200
_LOOKED_THROUGH = 12
_WORDS = """
active bold calm deep early fair grand heavy idle joint keen late major native open prime quiet rapid solid tidy urgent
vital wide young zonal
"""


def run(options: BenchOptions) -> dict[str, object]:
    """`p50_ms` and `p95_ms` of a question: its definitions, and the verified query that answers it, if any.

    Linking, which a turn does anyway, is not counted; `limit` is how many verified queries there are.
    """
    size = options.limit or QUERIES
    with tempfile.TemporaryDirectory() as folder:
        path = _warehouse(Path(folder) / "warehouse.sqlite")
        with Database.open(path) as database, ExampleStore.open(Path(folder) / "store") as store:
            identity = database_identity(database)
            start = time.perf_counter()
            store.add(islice(_own(identity, database.name), size))
            imported = time.perf_counter() - start
            knowledge = Knowledge.of((tuple(_terms(database)),), database)
            linker, values = SchemaLinker(database.schema()), ValueIndex.open(database)
            times: list[float] = []
            answered = defined = 0
            for question in _questions(size):
                linked = [(item.table, item.column, item.p) for item in linker.link(question).items]
                start = time.perf_counter()
                found = knowledge.find(question, linked)
                near = store.nearest("question", question, _LOOKED_THROUGH, identity, shared=False)
                examples = [hit.example for hit in near]
                verified = answered_by(question, examples, database.schema(), _spelling(values))
                times.append(time.perf_counter() - start)
                answered += verified is not None
                defined += bool(found.entries)
    return {
        "terms": len(knowledge.entries),
        "queries": size,
        "questions": len(times),
        "answered": answered,
        "with_definitions": defined,
        "import_per_s": round(size / imported),
        "p50_ms": round(percentile_ms(times, 50), 2),
        "p95_ms": round(percentile_ms(times, 95), 2),
    }


def _spelling(values: ValueIndex) -> Spelt:
    return lambda table, column, text: text if values.holds(table, column, text) else None


def _warehouse(path: Path) -> Path:
    columns: dict[str, dict[str, str]] = {}
    for table, other, numbers, texts in databases():
        for name in (table, other):
            held = columns.setdefault(name, {f"{name}_id": "INTEGER", "name": "TEXT"})
            held |= dict.fromkeys(numbers, "REAL") | dict.fromkeys(texts, "TEXT") | {f"{other}_id": "INTEGER"}
    with closing(sqlite3.connect(path)) as connection, connection:
        for table, held in columns.items():
            connection.execute(f"CREATE TABLE {table} ({', '.join(f'{name} {kind}' for name, kind in held.items())})")
            for number, name in enumerate(NAMES):
                row = [name if kind == "TEXT" else number for kind in held.values()]
                connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    return path


def _own(identity: str, name: str) -> Iterator[Example]:
    for example in pairs(seed=0):
        yield replace(example, database=name, owner=identity, shared=False, source="verified")


def _terms(database: Database) -> Iterator[Entry]:
    choose = random.Random(0)  # noqa: S311 - made-up data, no secret
    schema = database.schema()
    names = [(word, table) for word in _WORDS.split() for table in schema.tables]
    for word, table in choose.sample(names, TERMS):
        column = choose.choice([column.name for column in table.columns if column.kind == "number"])
        sql = f"{table.name}.{column} > {choose.randrange(100)}"
        yield Entry("term", f"{word} {table.name}", f"{table.name}s with a high {column}", sql)


def _questions(size: int) -> Iterator[str]:
    choose = random.Random(1)  # noqa: S311 - made-up data, no secret
    for number, example in enumerate(islice(pairs(seed=0), min(QUESTIONS, size))):
        question = example.question
        for name in NAMES if number % 2 else ():
            question = question.replace(name, choose.choice(NAMES))
        yield f"{question} Only {choose.choice(_WORDS.split())} ones." if number % 5 == 0 else question
