"""Right queries in the forms that businesses use, of which the checks have nothing to say.

Whoever wrote them did not know the checks. `tests/corpus/right` holds the queries, and five databases, a file each, in
which lines with `=` name a table and its columns: `!` for the key, `*` for NOT NULL, `>` for what one refers to.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tableturn.tools.database import Database
from tableturn.tools.sql import check
from tableturn.tools.values import ValueIndex

from tests.tools.database.conformance.candidate import Candidate
from tests.tools.database.conformance.candidates.duckdb import DuckDB
from tests.tools.database.conformance.candidates.mariadb import MariaDB
from tests.tools.database.conformance.candidates.postgres import Postgres
from tests.tools.database.conformance.candidates.sqlite import SQLite

_FOLDER = Path(__file__).parents[2] / "corpus" / "right"
_ENGINES: tuple[Candidate, ...] = (SQLite(), DuckDB(), Postgres(), MariaDB())

_REFUSED = frozenset({"DU005", "MY020", "MY033", "MY035", "MY053"})
"""PIVOT, JSON_VALUE and MariaDB's PERCENTILE_CONT: the engine's guard does not let them run, or not as they are."""

_KINDS = ("int", "text", "dec", "dec4", "date", "ts", "bool", "json", "arr")
_TYPES = {
    "sqlite": "INTEGER TEXT REAL REAL TEXT TEXT INTEGER TEXT TEXT",
    "duckdb": "INTEGER VARCHAR DECIMAL(12,2) DECIMAL(12,4) DATE TIMESTAMP BOOLEAN JSON VARCHAR[]",
    "postgres": "INTEGER TEXT NUMERIC(12,2) NUMERIC(12,4) DATE TIMESTAMP BOOLEAN JSONB TEXT[]",
    "mysql": "INT VARCHAR(120) DECIMAL(12,2) DECIMAL(12,4) DATE DATETIME TINYINT(1) JSON JSON",
}


def _statements(name: str, dialect: str) -> Iterator[str]:
    types: dict[str, str] = dict(zip(_KINDS, _TYPES[dialect].split(), strict=True))
    mark = "`" if dialect == "mysql" else ""
    for block in re.split(r"^= ", (_FOLDER / f"{name}.tsv").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        (table, *columns), *rows = (line.split("\t") for line in block.splitlines())
        parts, keys, kinds = list[str](), list[str](), list[str]()
        for declared in columns:
            spec, _, target = declared.partition(">")
            column, _, kind = spec.partition(":")
            kinds.append(kind.rstrip("!*"))
            parts.append(f"{mark}{column}{mark} {types[kinds[-1]]}{' NOT NULL' if '*' in kind else ''}")
            keys += [f"{mark}{column}{mark}"] if "!" in kind else []
            if target:
                other, _, referred = target.partition(".")
                parts.append(f"FOREIGN KEY ({mark}{column}{mark}) REFERENCES {other} ({mark}{referred}{mark})")
        parts.sort(key=lambda part: part.startswith("FOREIGN"))
        yield f"CREATE TABLE {table} ({', '.join(parts)}, PRIMARY KEY ({', '.join(keys)}))"
        cells = (", ".join(_value(cell, kind, dialect) for cell, kind in zip(row, kinds, strict=True)) for row in rows)
        yield f"INSERT INTO {table} VALUES ({'), ('.join(cells)})"


def _value(cell: str, kind: str, dialect: str) -> str:
    if cell == r"\N":
        return "NULL"
    if kind in ("int", "dec", "dec4"):
        return cell
    if kind == "bool":
        return f"CAST({cell} AS BOOLEAN)" if dialect in ("duckdb", "postgres") else cell
    if kind == "arr" and dialect in ("duckdb", "postgres"):
        texts = ", ".join(f"'{text}'" for text in json.loads(cell))
        return f"[{texts}]" if dialect == "duckdb" else f"ARRAY[{texts}]::text[]"
    return "'" + cell.replace("'", "''") + "'"


def _queries(name: str, dialect: str) -> list[tuple[str, str]]:
    text = (_FOLDER / "queries.sql").read_text(encoding="utf-8")
    told = re.findall(rf"^-- (\w+) {dialect} {name}: .*\n((?:(?!-- ).*\n)+)", text, flags=re.MULTILINE)
    return [(key, sql.strip()) for key, sql in told]


@pytest.mark.whole
@pytest.mark.parametrize("name", ["wholesale", "clinic", "saas", "hr", "energy"])
@pytest.mark.parametrize("engine", _ENGINES, ids=[engine.name for engine in _ENGINES])
def test_a_right_query_is_not_remarked_on(engine: Candidate, name: str, tmp_path: Path) -> None:
    if reason := engine.unavailable():
        pytest.skip(reason)
    with Database.open(engine.create(tmp_path, list(_statements(name, engine.dialect)))) as database:
        values, schema = ValueIndex.open(database), database.schema()
        queries = _queries(name, engine.dialect)
        assert len(queries) == 15
        for key, sql in queries:
            if key in _REFUSED:
                continue
            database.execute(sql)
            assert (key, check(sql, schema, values=values, compiles=database.compile_check)) == (key, ())
