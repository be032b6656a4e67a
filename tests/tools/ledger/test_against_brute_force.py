"""The ledger against a count row by row: random joins over keys that may be missing, composite or not unique."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tableturn.tools.database import Database
from tableturn.tools.ledger import build_query_ledger

from tests.support.queries import read

TABLES = """
CREATE TABLE c (id INTEGER PRIMARY KEY, name TEXT, u INTEGER);
CREATE TABLE b (id INTEGER PRIMARY KEY, c_id INTEGER REFERENCES c, kind TEXT, v INTEGER);
CREATE TABLE k (h TEXT, n INTEGER, w INTEGER, PRIMARY KEY (h, n));
CREATE TABLE d (h TEXT, x INTEGER);
CREATE TABLE a (id INTEGER PRIMARY KEY, b_id INTEGER REFERENCES b, c_id INTEGER REFERENCES c, h TEXT, n INTEGER,
    boss INTEGER REFERENCES a, amount INTEGER, FOREIGN KEY (h, n) REFERENCES k (h, n));
"""
JOINS: Mapping[str, tuple[str, tuple[tuple[str, str, str], ...]]] = {
    "b": ("b", (("id", "a", "b_id"),)),
    "c": ("c", (("id", "a", "c_id"),)),
    "c2": ("c", (("id", "b", "c_id"),)),
    "k": ("k", (("h", "a", "h"), ("n", "a", "n"))),
    "k2": ("k", (("h", "a", "h"), ("n", "b", "v"))),
    "boss": ("a", (("id", "a", "boss"),)),
    "c3": ("c", (("id", "a", "c_id"), ("u", "b", "v"))),
    "d": ("d", (("h", "a", "h"),)),
}
"""By alias: the table, and each of its columns that is compared, with the alias and column that it is compared with."""
FILTERED = {"a": ("amount", "n"), "b": ("v",), "c": ("u",), "k": ("w",), "d": ("x",)}
GROUPED = {"a": "h", "b": "kind", "c": "name", "k": "n", "d": "x"}
Row = Mapping[str, Any]


def build(path: Path, random: Random) -> dict[str, list[Row]]:
    def maybe(value: Any) -> Any:
        return None if random.random() < 0.25 else value

    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(TABLES)
        rows: dict[str, list[tuple[Any, ...]]] = {
            "c": [(n, f"c{n}", maybe(random.randrange(3))) for n in range(1, 5)],
            "b": [
                (n, maybe(random.randrange(1, 7)), maybe(random.choice("xy")), maybe(random.randrange(5)))
                for n in range(1, 7)
            ],
            "k": [(h, n, maybe(random.randrange(4))) for h, n in random.sample([*product("pq", (0, 1))], 3)],
            "d": [(maybe(random.choice("pqr")), maybe(random.randrange(4))) for _ in range(4)],
            "a": [
                (n, *(maybe(random.randrange(1, most)) for most in (9, 7)), maybe(random.choice("pq")),
                 *(maybe(random.randrange(most)) for most in (3, 20, 10)))
                for n in range(1, 16)
            ],
        }  # fmt: skip
        found: dict[str, list[Row]] = {}
        for table, values in rows.items():
            marks = ", ".join("?" * len(values[0]))
            connection.executemany(f"INSERT INTO {table} VALUES ({marks})", values)
            names = [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")]
            found[table] = [dict(zip(names, row, strict=True)) for row in values]
    return found


@dataclass(frozen=True)
class Joined:
    """A random query of table `a` and what is joined to it."""

    aliases: tuple[str, ...]
    kept: frozenset[str]  # those of LEFT JOINs
    filters: Mapping[str, tuple[str, int]]  # by alias, a column and what it is greater than
    group: str  # an alias, or none
    first: bool  # whether only the first group is asked for

    @classmethod
    def draw(cls, random: Random) -> Joined:
        aliases: list[str] = []
        for _ in range(random.randint(1, 3)):
            known = {"a", *aliases}
            free = [one for one in JOINS if one not in known and {to for _, to, _ in JOINS[one][1]} <= known]
            aliases.append(random.choice(free))
        kept = frozenset(one for one in aliases if random.random() < 0.25)
        named = [one for one in ("a", *aliases) if random.random() < 0.25 and one not in kept]
        filters = {one: (random.choice(FILTERED[table_of(one)]), random.randrange(3)) for one in named}
        return cls(tuple(aliases), kept, filters, random.choice(["", *aliases]), random.random() < 0.5)

    def write(self, random: Random) -> str:
        on = {
            one: " AND ".join(f"{to}.{there} = {one}.{own}" for own, to, there in JOINS[one][1]) for one in self.aliases
        }
        where = [f"{one}.{column} > {least}" for one, (column, least) in self.filters.items()]
        if self.kept or random.random() < 0.5:
            sides = {one: "LEFT JOIN" if one in self.kept else "JOIN" for one in self.aliases}
            source = " ".join(["a", *(f"{sides[one]} {table_of(one)} AS {one} ON {on[one]}" for one in self.aliases)])
        else:
            source, where = (
                ", ".join(["a", *(f"{table_of(one)} AS {one}" for one in self.aliases)]),
                [*on.values(), *where],
            )
        rest = f"FROM {source}" + (f" WHERE {' AND '.join(where)}" if where else "")
        if not self.group:
            return f"SELECT COUNT(*) {rest}"
        term = f"{self.group}.{GROUPED[table_of(self.group)]}"
        return f"SELECT {term}, SUM(a.amount) {rest} GROUP BY {term}" + (" ORDER BY 2 LIMIT 1" if self.first else "")

    def count(self, rows: Mapping[str, list[Row]]) -> list[tuple[int, int]]:
        """Return of each join, in order, the rows of `a` that come to it, and those that it loses."""
        chosen = {*self.filters, *([self.group] if self.group and self.first else [])}
        for one in reversed(self.aliases):
            chosen |= {to for _, to, _ in JOINS[one][1]} if one in chosen else set()
        found = {one: [0, 0] for one in self.aliases}
        for row in rows["a"]:
            combined = [each for each in self._combine(row, rows) if self._meets("a", each)]
            for place, one in enumerate(self.aliases):
                before = [other for other in self.aliases[:place] if other not in self.kept]
                coming = [
                    each
                    for each in combined
                    if all(each[other] for other in before)
                    and all(other == one or not each[other] or self._meets(other, each) for other in self.aliases)
                ]
                refers = any(all(refer(each, link) is not None for link in JOINS[one][1]) for each in coming)
                is_lost = bool(coming) and not any(each[one] for each in coming)
                found[one][0] += bool(coming)
                found[one][1] += is_lost and (one not in chosen or refers)
        return sorted((came, lost) for came, lost in found.values())

    def _combine(self, row: Row, rows: Mapping[str, list[Row]]) -> Iterator[dict[str, Row]]:
        combined: list[dict[str, Row]] = [{"a": row}]
        for one in self.aliases:
            table, links = JOINS[one]
            combined = [
                {**each, one: partner}
                for each in combined
                for partner in [
                    other for other in rows[table]
                    if all(refer(each, link) is not None and refer(each, link) == other[link[0]] for link in links)
                ] or [{}]
            ]  # fmt: skip
        yield from combined

    def _meets(self, one: str, each: Mapping[str, Row]) -> bool:
        column, least = self.filters.get(one, ("", 0))
        return not column or (each[one][column] is not None and each[one][column] > least)


def table_of(alias: str) -> str:
    return "a" if alias == "a" else JOINS[alias][0]


def refer(each: Mapping[str, Row], link: tuple[str, str, str]) -> Any:
    return each[link[1]].get(link[2])


@pytest.mark.parametrize("seed", range(8))
def test_lost_rows_are_those_that_a_loop_finds(tmp_path: Path, seed: int) -> None:
    random, compared = Random(seed), 0
    rows = build(tmp_path / "r.sqlite", random)
    with Database.open(tmp_path / "r.sqlite") as database:
        for _ in range(40):
            joined = Joined.draw(random)
            plain = joined.write(random)
            forms = [plain, f"WITH r AS ({plain}) SELECT COUNT(*) FROM r"]
            sql = random.choice(forms if " LIMIT " in plain else [*forms, f"{plain} UNION ALL {plain}"])
            ledger = build_query_ledger(read(sql, database.schema()), lambda counting: database.execute(counting).rows)
            # Where nothing says which table's rows are counted, nothing may be called lost.
            if ledger.not_counted or any(join.of != "a" for join in ledger.joins):
                continue
            found = sorted((join.rows, join.lost) for join in ledger.joins if join.rows or not join.repeated)
            assert found == sorted(joined.count(rows) * (2 if " UNION " in sql else 1)), (sql, ledger.joins)
            compared += 1
    assert compared > 20
