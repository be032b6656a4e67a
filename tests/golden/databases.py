"""Small databases of different character, written alike into four engines, and the sample database."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Generator, Iterable, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.tools.database.servers import MARIADB, POSTGRES

SERVERS = {"postgres": POSTGRES, "mariadb": MARIADB}
ENGINES = ("sqlite", "duckdb", *SERVERS)

Row = tuple[Any, ...]


@dataclass(frozen=True)
class TableOf:
    """A table: its columns with types and comments, its constraints, and its rows.

    A type of several words within brackets is an enumeration.
    """

    columns: Mapping[str, tuple[str, str]]
    rows: Iterable[Row]
    constraints: tuple[str, ...] = ()


@dataclass(frozen=True)
class Made:
    """A database to make: tables in the order of their references, and views."""

    tables: Mapping[str, TableOf]
    views: Mapping[str, str] = field(default_factory=dict[str, str])


def _day(number: int, first: str = "2023-01-01") -> str:
    return (date.fromisoformat(first) + timedelta(days=number)).isoformat()


_CITIES = ("Paris", "Lyon", "Nantes", "Lille")
_NAMES = ("Ada", "Bo", "Cy", "Dee", "Eli", "Flo", "Gus", "Hal", "Ida", "Jon", "Kit", "Lou")
_STATUS = "(planned, done, cancelled)"

CLINIC = Made(
    {
        "doctors": TableOf(
            {
                "id": ("INTEGER PRIMARY KEY", ""),
                "name": ("VARCHAR(40) NOT NULL", ""),
                "specialty": ("VARCHAR(40)", "NULL for general practice"),
                "hired": ("DATE NOT NULL", ""),
            },
            [
                (1, "Dr Abel", "Cardiology", "2015-03-01"),
                (2, "Dr Brun", "Dermatology", "2018-09-01"),
                (3, "Dr Cole", None, "2020-01-15"),
                (4, "Dr Dahl", "Cardiology", "2022-06-01"),
            ],
        ),
        "patients": TableOf(
            {
                "id": ("INTEGER PRIMARY KEY", ""),
                "name": ("VARCHAR(40) NOT NULL", ""),
                "city": ("VARCHAR(40) NOT NULL", ""),
                "born": ("DATE", ""),
                "insured": ("BOOLEAN NOT NULL", ""),
            },
            [
                (n + 1, name, _CITIES[n % 4], None if n == 7 else _day(n * 997, "1950-05-05"), n % 3 != 0)
                for n, name in enumerate(_NAMES)
            ],
        ),
        "visits": TableOf(
            {
                "id": ("INTEGER PRIMARY KEY", ""),
                "patient_id": ("INTEGER NOT NULL", ""),
                "doctor_id": ("INTEGER NOT NULL", ""),
                "day": ("DATE NOT NULL", "of the appointment"),
                "status": (_STATUS, ""),
                "fee": ("DECIMAL(8,2)", "in euros; NULL until billed"),
            },
            [
                (
                    n,
                    n * 7 % 10 + 1,
                    n * n % 4 + 1,
                    _day(n * 17),
                    ("done", "done", "planned", "cancelled")[n % 4],
                    None if n % 4 >= 2 else 40 + n * 5,
                )
                for n in range(1, 41)
            ],
            ("FOREIGN KEY (patient_id) REFERENCES patients (id)", "FOREIGN KEY (doctor_id) REFERENCES doctors (id)"),
        ),
    },
    {"open_visits": "SELECT id, patient_id, doctor_id, day FROM visits WHERE status = 'planned'"},
)
"""Keys, dates, an enumeration, comments, NULLs, a view."""

DEPOT = Made(
    {
        "stock items": TableOf(
            {
                "item no": ("INTEGER PRIMARY KEY", ""),
                "item name": ("VARCHAR(40) NOT NULL", ""),
                "group": ("VARCHAR(20) NOT NULL", ""),
                "unit price": ("DECIMAL(8,2) NOT NULL", ""),
            },
            [
                (1, "Bolt", "Metal", 0.2),
                (2, "Nut", "Metal", 0.1),
                (3, "Plank", "Wood", 7.5),
                (4, "Beam", "Wood", 21),
                (5, "Paint, blue", "Colour", 12.4),
                (6, "Paint, red", "Colour", 12.9),
            ],
        ),
        "order": TableOf(
            {
                "order no": ("INTEGER PRIMARY KEY", ""),
                "placed on": ("DATE NOT NULL", ""),
                "customer": ("VARCHAR(40) NOT NULL", ""),
                "state": ("VARCHAR(10) NOT NULL", "open, sent, returned"),
            },
            [
                (
                    100 + n,
                    _day(n * 11),
                    ("Acme", "Borg & Co", "O'Neill")[n % 3],
                    ("open", "sent", "sent", "returned")[n % 4],
                )
                for n in range(24)
            ],
        ),
        "order lines": TableOf(
            {
                "order no": ("INTEGER NOT NULL", ""),
                "line": ("INTEGER NOT NULL", ""),
                "item no": ("INTEGER NOT NULL", ""),
                "qty": ("INTEGER NOT NULL", ""),
                "discount %": ("INTEGER", ""),
            },
            [
                (100 + n, line, (n + line) % 5 + 1, (n * line) % 9 + 1, None if n % 3 else 10)
                for n in range(24)
                for line in range(1, 3)
            ],
            (
                'PRIMARY KEY ("order no", "line")',
                'FOREIGN KEY ("order no") REFERENCES "order" ("order no")',
                'FOREIGN KEY ("item no") REFERENCES "stock items" ("item no")',
            ),
        ),
    }
)
"""Names with spaces and reserved words, a key of two columns, values in quotes."""

LIBRARY = Made(
    {
        "authors": TableOf(
            {
                "author_id": ("INTEGER", ""),
                "name": ("VARCHAR(40)", ""),
                "country": ("VARCHAR(20)", ""),
                "mentor_id": ("INTEGER", ""),
            },
            [
                (1, "Nora Lund", "Norway", None),
                (2, "Iris Vance", "Ireland", 1),
                (3, "Tomas Ek", "Sweden", 1),
                (4, "Una Byrne", "Ireland", 2),
                (5, "Émile Noël", "France", None),
            ],
        ),
        "books": TableOf(
            {
                "book_id": ("INTEGER", ""),
                "title": ("VARCHAR(60)", ""),
                "author_id": ("INTEGER", ""),
                "year": ("INTEGER", ""),
                "pages": ("INTEGER", ""),
                "genre": ("VARCHAR(20)", ""),
            },
            [
                (
                    n,
                    f"{('The Long', 'A Short', 'One Last')[n % 3]} {('Winter', 'River', 'Letter', 'Road')[n % 4]}",
                    n % 4 + 1,
                    1980 + n * 2,
                    None if n == 9 else 120 + n * 13,
                    ("novel", "poetry", "essay")[n % 3],
                )
                for n in range(1, 19)
            ],
        ),
        "members": TableOf(
            {
                "member_id": ("INTEGER", ""),
                "name": ("VARCHAR(40)", ""),
                "joined": ("DATE", ""),
                "level": ("VARCHAR(10)", ""),
            },
            [
                (n + 1, name, _day(n * 40, "2021-02-01"), ("basic", "gold", None)[n % 3])
                for n, name in enumerate(_NAMES)
            ],
        ),
        "loans": TableOf(
            {
                "loan_id": ("INTEGER", ""),
                "book_id": ("INTEGER", ""),
                "member_id": ("INTEGER", ""),
                "taken": ("DATE", ""),
                "returned": ("DATE", ""),
            },
            [
                (
                    n,
                    n * 5 % 18 + 1,
                    n * 3 % 11 + 1,
                    _day(n * 9, "2023-06-01"),
                    None if n % 5 == 0 else _day(n * 9 + 20, "2023-06-01"),
                )
                for n in range(1, 37)
            ],
        ),
    },
    {
        "open_loans": "SELECT loan_id, book_id, member_id, taken FROM loans WHERE returned IS NULL",
        "books_by_author": "SELECT a.name AS author, COUNT(*) AS books FROM authors a JOIN books b"
        " ON b.author_id = a.author_id GROUP BY a.name",
    },
)
"""No declared keys, a table that refers to itself, views, letters beyond ASCII."""

WEATHER = Made(
    {
        "station": TableOf(
            {
                "code": ("VARCHAR(4)", ""),
                "label": ("VARCHAR(40)", ""),
                "region": ("VARCHAR(20)", ""),
                "height_m": ("INTEGER", ""),
            },
            [
                ("N01", "North Cape", "North", 310),
                ("N02", "Fir Ridge", "North", 880),
                ("S01", "South Bay", "South", 4),
                ("S02", "Dry Plain", "South", 55),
                ("W01", "West Point", None, 12),
            ],
        ),
        "readings": TableOf(
            {
                "station_code": ("VARCHAR(4)", ""),
                "day_text": ("VARCHAR(10)", ""),
                "temp_c": ("DOUBLE PRECISION", ""),
                "rain_mm": ("DOUBLE PRECISION", ""),
                "flag": ("INTEGER", "0 good, 1 doubtful, 9 missing"),
            },
            [
                (
                    ("N01", "N02", "S01", "S02")[n % 4],
                    _day(n // 4 * 30, "2022-01-01"),
                    None if n % 13 == 5 else round(-5 + n * 0.75 % 31, 2),
                    (n * 7 % 10) / 2,
                    (0, 0, 0, 1, 9)[n % 5],
                )
                for n in range(64)
            ],
        ),
    }
)
"""No keys, codes, dates as texts, numbers that are not exact."""

DATABASES: Mapping[str, Made] = {"clinic": CLINIC, "depot": DEPOT, "library": LIBRARY, "weather": WEATHER}
SAMPLE = "kestrel"


@contextmanager
def database(name: str, engine: str, folder: Path) -> Generator[str]:
    """Make a database and give its address; a server's is dropped at the end."""
    if name == SAMPLE:
        path = folder / f"{name}.sqlite"
        subprocess.run([sys.executable, "-m", "tableturn", "sample", str(path)], check=True, capture_output=True)
        yield str(path)
        return
    made = DATABASES[name]
    if engine in SERVERS:
        server = SERVERS[engine]
        url = server.make_database(f"golden_{uuid4().hex[:12]}")
        try:
            for statement in _statements(made, engine):
                server.run(url, statement)
            if engine == "postgres":
                # Groups in the order of their values, not of hashes that differ from one database to the next.
                server.run(url, f"ALTER DATABASE {url.rpartition('/')[2]} SET enable_hashagg = off")
            yield url
        finally:
            server.drop(url.rpartition("/")[2])
        return
    path = folder / f"{name}.{engine}"
    if engine == "sqlite":
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.executescript(";\n".join(_statements(made, engine)))
    else:
        import duckdb

        with duckdb.connect(str(path)) as connection:
            for statement in _statements(made, engine):
                connection.execute(statement)
    yield str(path)


def in_dialect(sql: str, engine: str) -> str:
    """Return a statement with names quoted as an engine quotes them; texts have none of these quotes."""
    return sql.replace('"', "`") if engine == "mariadb" else sql


def _statements(made: Made, engine: str) -> Iterable[str]:
    for name, table in made.tables.items():
        yield from _table(name, table, engine)
    for name, query in made.views.items():
        yield f"CREATE VIEW {name} AS {query}"
    if engine == "postgres":
        yield "VACUUM ANALYZE"
    if engine == "mariadb":
        for name in made.tables:
            yield f"ANALYZE TABLE `{name}`"


def _table(name: str, table: TableOf, engine: str) -> Iterable[str]:
    lines: list[str] = []
    comments: list[str] = []
    for column, (kind, comment) in table.columns.items():
        if kind.startswith("("):
            values = ", ".join(f"'{value}'" for value in kind.strip("()").split(", "))
            if engine in ("postgres", "duckdb"):
                yield f"CREATE TYPE {column}_kind AS ENUM ({values})"
            kind = {
                "sqlite": f'TEXT NOT NULL CHECK ("{column}" IN ({values}))',
                "mariadb": f"ENUM ({values}) NOT NULL",
            }.get(engine, f"{column}_kind NOT NULL")
        if comment and engine == "mariadb":
            kind += f" COMMENT '{comment}'"
        if comment and engine in ("postgres", "duckdb"):
            comments.append(f'COMMENT ON COLUMN "{name}"."{column}" IS \'{comment}\'')
        lines.append(f'"{column}" {kind}' + (f" /* {comment} */" if comment and engine == "sqlite" else ""))
    body = ",\n  ".join([*lines, *table.constraints])
    yield in_dialect(f'CREATE TABLE "{name}" (\n  {body}\n)', engine)
    rows = ", ".join(f"({', '.join(map(_literal, row))})" for row in table.rows)
    yield in_dialect(f'INSERT INTO "{name}" VALUES ', engine) + rows
    yield from comments


def _literal(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return str(value)


def unavailable(engine: str) -> str:
    """Return why an engine cannot be used here; empty where it can."""
    return SERVERS[engine].unavailable() if engine in SERVERS else ""
