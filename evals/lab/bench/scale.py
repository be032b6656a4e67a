"""Growth: a schema of a thousand tables, a million examples, 100,000 verified queries.

Every database and pair is made up, and the same for the same seed.
"""

from __future__ import annotations

import multiprocessing
import random
import resource
import sqlite3
import tempfile
import timeit
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ....tools.database import Database, render_schema
from ....tools.examples import Example, ExampleStore, database_identity, embed, find_verified
from ....tools.knowledge import Entry, Knowledge
from ....tools.linking import SchemaLinker
from ....tools.values import ValueIndex
from .harness import Stopwatch, compute_percentile_ms, time_calls
from .registry import BenchOptions, Figures

_TABLES, _COLUMNS, _ROWS = 1_000, 10, 100
_PASSES = 5

SIZES = (10_000, 100_000, 1_000_000)
LOOKUPS = 500
K = 10
_SLICE = 50_000

TERMS, QUERIES, QUESTIONS = 1_000, 100_000, 200
_LOOKED_THROUGH = 12

_WORDS: Mapping[str, str] = tomllib.loads((Path(__file__).parent / "data" / "synthetic.toml").read_text("utf-8"))
_ADJECTIVES = _WORDS["adjectives"].split()
_NAMES = _WORDS["names"].split()
"""Of people and places that questions look for."""

_FORMS = (
    ("{o} the {l} of every {t} with a {c} above {n}{e}", "SELECT {l} FROM {t} WHERE {c} > {n}"),
    ("{o} the {l} of each {t} whose {c} is below {n}{e}", "SELECT {l} FROM {t} WHERE {c} < {n}"),
    ("How many {t}s have {v} as their {l}{e}", "SELECT count(*) FROM {t} WHERE {l} = '{v}'"),
    ("{o} the average {c} of {t}s for each {l}{e}", "SELECT {l}, avg({c}) FROM {t} GROUP BY {l}"),
    ("{o} the {n} {t}s with the highest {c}{e}", "SELECT * FROM {t} ORDER BY {c} DESC LIMIT {n}"),
    ("{o} {l}s that more than {n} {t}s share{e}", "SELECT {l} FROM {t} GROUP BY {l} HAVING count(*) > {n}"),
    ("{o} {t}s whose {l} contains {v}, sorted by {c}{e}", "SELECT * FROM {t} WHERE {l} LIKE '%{v}%' ORDER BY {c}"),
    ("What is the total {c} of {t}s whose {l} is not {v}{e}", "SELECT sum({c}) FROM {t} WHERE {l} != '{v}'"),
    (
        "{o} the {l} of {t}s with more {c} than the {t} of {v}{e}",
        "SELECT {l} FROM {t} WHERE {c} > (SELECT {c} FROM {t} WHERE {l} = '{v}')",
    ),
    (
        "{o} {t}s of a {u} whose {l} is {v}{e}",
        "SELECT {t}.* FROM {t} JOIN {u} ON {u}.{u}_id = {t}.{u}_id WHERE {u}.{l} = '{v}'",
    ),
    (
        "For each {u}, how many {t}s have a {c} of at least {n}{e}",
        "SELECT {u}.name, count(*) FROM {u} JOIN {t} ON {t}.{u}_id = {u}.{u}_id WHERE {t}.{c} >= {n} "
        "GROUP BY {u}.{u}_id",
    ),
    ("{o} {u}s without any {t}{e}", "SELECT * FROM {u} WHERE {u}_id NOT IN (SELECT {u}_id FROM {t})"),
)


def measure_schema_scale(options: BenchOptions) -> Figures:
    """Return the seconds to read a large schema, and the milliseconds to render it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.sqlite"
        build_large_database(path, options.limit or _TABLES)
        with Stopwatch() as reading, Database.open(path) as database:
            schema = database.schema()
    rendered = timeit.repeat(lambda: render_schema(schema, "compact"), number=1, repeat=_PASSES)
    return {
        "tables": len(schema.tables),
        "columns": sum(len(table.columns) for table in schema.tables),
        "read_s": round(reading.seconds, 3),
        "render_ms": round(1000 * min(rendered), 1),
    }


def build_large_database(path: Path, tables: int) -> None:
    """Create a database of many tables whose columns refer to other tables by name only."""
    chance = random.Random(7)  # noqa: S311 - test data
    fields = range(_COLUMNS - 2)
    plain = ", ".join(f"field_{i} {'TEXT' if i % 2 else 'REAL'}" for i in fields)
    with closing(sqlite3.connect(path)) as connection, connection:
        for number in range(tables):
            name, target = f"entity{number}", chance.randrange(tables)
            connection.execute(f"CREATE TABLE {name} (id INTEGER PRIMARY KEY, entity{target}_id INTEGER, {plain})")
            for i in range(_ROWS):
                words = (f"word {chance.randrange(50)}" if field % 2 else chance.random() for field in fields)
                row = (i, chance.randrange(_ROWS), *words)
                connection.execute(f"INSERT INTO {name} VALUES ({', '.join('?' * _COLUMNS)})", row)


def generate_example_pairs(seed: int) -> Iterator[Example]:
    """Yield endless pairs of a distinct question and SQL, over 300 databases of two tables each."""
    choose = random.Random(seed)  # noqa: S311 - made-up data, no secret
    known = _make_table_pairs()
    openings = [part.strip() for part in _WORDS["openings"].split("|")]
    endings = _WORDS["endings"].split("|")
    seen: set[int] = set()
    while True:
        question, sql = choose.choice(_FORMS)
        table, other, columns, labels = choose.choice(known)
        fields = {
            "o": choose.choice(openings),
            "e": choose.choice(endings),
            "t": table,
            "u": other,
            "c": choose.choice(columns),
            "l": choose.choice(labels),
            "n": choose.randrange(2, 1_000),
            "v": choose.choice(_NAMES),
        }
        asked = question.format(**fields)
        if hash(asked) not in seen:
            seen.add(hash(asked))
            held = ", ".join((*columns, *labels))
            schema = f"{table}({table}_id, {other}_id, {held})\n{other}({other}_id, name, {held})"
            yield Example(asked, sql.format(**fields), f"{table}_{other}", schema, source="import:synthetic")


def _make_table_pairs() -> list[tuple[str, str, list[str], list[str]]]:
    """Return 300 pairs of tables, each with the names of number and text columns."""
    choose = random.Random(0)  # noqa: S311 - made-up data, no secret
    words = [(_WORDS[name].split(), count) for name, count in (("tables", 2), ("columns", 6), ("labels", 6))]
    drawn = ([choose.sample(some, count) for some, count in words] for _ in range(300))
    return [(table, other, numbers, texts) for (table, other), numbers, texts in drawn]


def _get_percentiles(seconds: Sequence[float]) -> dict[str, float]:
    return {f"p{percent}_ms": round(compute_percentile_ms(seconds, percent), 2) for percent in (50, 95)}


def measure_examples_scale(options: BenchOptions) -> Figures:
    """Measure example stores of growing size; sizes above `limit` are left out.

    Figures: pairs imported a second (parsing and masking included), milliseconds of a lookup of the 10 nearest
    questions (embedding and fetching included), the share of what exact search gives that the lookup gives (equally
    near ones count), memory of a process that has opened the store and searched it, and the folder's size.
    """
    rows: list[Figures] = []
    asked = [example.question for example in islice(generate_example_pairs(seed=1), LOOKUPS)]
    for size in SIZES:
        if options.limit is not None and size > options.limit:
            continue
        with tempfile.TemporaryDirectory() as folder:
            seconds = _run_in_own_process(_time_example_import, folder, size)
            similarities, milliseconds, rss = _run_in_own_process(_time_example_lookups, folder, asked)
            disk = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
        best = np.full((len(asked), K), -1.0, dtype=np.float32)
        queries, stream = embed(asked), islice(generate_example_pairs(seed=0), size)
        while part := [example.question for example in islice(stream, _SLICE)]:
            best = -np.sort(-np.concatenate([best, queries @ embed(part).T], axis=1), axis=1)[:, :K]
        worst = best[:, -1] - 1e-4
        hits = sum(value >= least for row, least in zip(similarities, worst, strict=True) for value in row)
        rows.append(
            {
                "pairs": size,
                "import_per_s": round(size / seconds),
                **milliseconds,
                "recall": round(hits / (K * len(asked)), 4),
                "rss_mb": round(rss / 1024),
                "disk_mb": round(disk / 2**20),
            }
        )
    return {"k": K, "rows": rows}


def _run_in_own_process(function: Callable[..., Any], *arguments: object) -> Any:
    """Run a function in a new process, to measure the memory of the function alone."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def _time_example_import(folder: str, size: int) -> float:
    with Stopwatch() as spent, ExampleStore.open(folder) as store:
        store.add(islice(generate_example_pairs(seed=0), size))
    return spent.seconds


def _time_example_lookups(folder: str, questions: Sequence[str]) -> tuple[list[list[float]], dict[str, float], int]:
    """Return the similarities found, percentiles of lookup times, and peak memory in KiB."""
    with ExampleStore.open(folder) as store:
        store.nearest("question", questions[0], K)  # loads the index
        found, seconds = time_calls(lambda question: store.nearest("question", question, K), questions)
    similarities = [[hit.similarity for hit in hits] for hits in found]
    return similarities, _get_percentiles(seconds), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def measure_knowledge_scale(options: BenchOptions) -> Figures:
    """Measure the milliseconds to find definitions and a verified query for a question.

    Half of the questions stand as they are kept, half with other values. Linking, which a turn does anyway, is not
    counted; `limit` is how many verified queries there are.
    """
    size = options.limit or QUERIES
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "warehouse.sqlite"
        _build_example_database(path)
        with Database.open(path) as database, ExampleStore.open(Path(folder) / "store") as store:
            identity, schema = database_identity(database), database.schema()
            own = {"database": database.name, "owner": identity, "shared": False, "source": "verified"}
            store.add(replace(example, **own) for example in islice(generate_example_pairs(seed=0), size))
            choose = random.Random(0)  # noqa: S311 - made-up data, no secret
            terms: list[Entry] = []
            for word, table in choose.sample([(word, table) for word in _ADJECTIVES for table in schema.tables], TERMS):
                column = choose.choice([column.name for column in table.columns if column.kind == "number"])
                sql = f"{table.name}.{column} > {choose.randrange(100)}"
                terms.append(Entry("term", f"{word} {table.name}", f"{table.name}s with a high {column}", sql))
            knowledge = Knowledge.of((tuple(terms),), database)
            linker, values = SchemaLinker(schema), ValueIndex.open(database)
            linked = {
                text: [(item.table, item.column, item.p) for item in linker.link(text).items]
                for text in _generate_test_questions(size)
            }

            def find_stored_value(table: str, column: str, text: str) -> str | None:
                return text if values.holds(table, column, text) else None

            def has_verified_query(text: str) -> bool:
                knowledge.find(text, linked[text])
                near = store.nearest("question", text, _LOOKED_THROUGH, identity, shared=False)
                return find_verified(text, [hit.example for hit in near], schema, find_stored_value) is not None

            answered, seconds = time_calls(has_verified_query, linked)
    return {"terms": len(knowledge.entries), "queries": size, "answered": sum(answered), **_get_percentiles(seconds)}


def _build_example_database(path: Path) -> None:
    """Create a database with the tables that the example pairs query, with a few rows each."""
    columns: dict[str, dict[str, str]] = {}
    for table, other, numbers, texts in _make_table_pairs():
        for name in (table, other):
            held = columns.setdefault(name, {f"{name}_id": "INTEGER", "name": "TEXT"})
            held |= dict.fromkeys(numbers, "REAL") | dict.fromkeys(texts, "TEXT") | {f"{other}_id": "INTEGER"}
    with closing(sqlite3.connect(path)) as connection, connection:
        for table, held in columns.items():
            connection.execute(f"CREATE TABLE {table} ({', '.join(f'{name} {kind}' for name, kind in held.items())})")
            rows = ([name if kind == "TEXT" else n for kind in held.values()] for n, name in enumerate(_NAMES))
            connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(held))})", rows)


def _generate_test_questions(size: int) -> Iterator[str]:
    """Yield questions of the example pairs, half of them with other values."""
    choose = random.Random(1)  # noqa: S311 - made-up data, no secret
    for number, example in enumerate(islice(generate_example_pairs(seed=0), min(QUESTIONS, size))):
        question = example.question
        for name in _NAMES if number % 2 else ():
            question = question.replace(name, choose.choice(_NAMES))
        yield f"{question} Only {choose.choice(_ADJECTIVES)} ones." if number % 5 == 0 else question
