"""Reading and rendering the schema of a large database."""

from __future__ import annotations

import random
import sqlite3
import tempfile
import time
import timeit
from pathlib import Path
from typing import get_args

from ....tools.database import Database, Schema, SchemaStyle, render_schema
from .registry import BenchOptions

_TABLES = 1_000
_COLUMNS = 10
_ROWS = 100
_PASSES = 5


def run(options: BenchOptions) -> dict[str, object]:
    """Figures: `tables`, `columns`, `read_s` with counts, samples and likely keys, `render_ms` of the compact form.

    Also the processor time of both, which other work on the machine doesn't lengthen, and each form's time.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.sqlite"
        build_large(path, options.limit or _TABLES)
        start, started = time.perf_counter(), time.process_time()
        with Database.open(path) as database:
            schema = database.schema()
        read, read_processor = time.perf_counter() - start, time.process_time() - started
    times = {style: _render_ms(schema, style) for style in get_args(SchemaStyle)}
    return {
        "tables": len(schema.tables),
        "columns": sum(len(table.columns) for table in schema.tables),
        "read_s": round(read, 3),
        "read_processor_s": round(read_processor, 3),
        "keys_found": len(schema.foreign_keys),
        "uncounted_tables": sum(table.row_count is None for table in schema.tables),
        "render_ms": times["compact"],
        "render_ms_by_style": times,
    }


def _render_ms(schema: Schema, style: SchemaStyle) -> float:
    return round(1000 * min(timeit.repeat(lambda: render_schema(schema, style), number=1, repeat=_PASSES)), 1)


def build_large(path: Path, tables: int) -> None:
    """Tables that refer to one another, by name only, with columns of numbers and words."""
    chance = random.Random(7)  # noqa: S311 - test data
    connection = sqlite3.connect(path)
    for number in range(tables):
        target = chance.randrange(tables)
        plain = ", ".join(f"field_{i} {'TEXT' if i % 2 else 'REAL'}" for i in range(_COLUMNS - 2))
        connection.execute(f"CREATE TABLE entity{number} (id INTEGER PRIMARY KEY, entity{target}_id INTEGER, {plain})")
        rows = (
            (
                i,
                chance.randrange(_ROWS),
                *(f"word {chance.randrange(50)}" if k % 2 else chance.random() for k in range(_COLUMNS - 2)),
            )
            for i in range(_ROWS)
        )
        connection.executemany(f"INSERT INTO entity{number} VALUES ({', '.join('?' * _COLUMNS)})", rows)
    connection.commit()
    connection.close()
