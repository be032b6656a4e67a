"""The ledger against a count row by row: random joins over keys that may be missing, composite or not unique.

By ON, WHERE, USING or NATURAL, of tables or of views without keys; with conditions on what a LEFT JOIN adds, groups by
what is joined, and sums over several tables, here or where a CTE is read.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest
from tableturn.tools.database import Database
from tableturn.tools.errors import QueryError
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
JOINS: Mapping[str, tuple[str, tuple[tuple[str, str, Any], ...]]] = {
    "b": ("b", (("id", "a", "b_id"),)),
    "c": ("c", (("id", "a", "c_id"),)),
    "c2": ("c", (("id", "b", "c_id"),)),
    "k": ("k", (("h", "a", "h"), ("n", "a", "n"))),
    "k1": ("k", (("h", "a", "h"), ("n", "", 1))),
    "k2": ("k", (("h", "a", "h"), ("n", "b", "v"))),
    "boss": ("a", (("id", "a", "boss"),)),
    "c3": ("c", (("id", "a", "c_id"), ("u", "b", "v"))),
    "d": ("d", (("h", "a", "h"),)),
}
"""By alias: the table, and each of its columns that is compared, with the alias and column that it is compared with.

Without an alias it is a constant, for the rest of a key.
"""
FILTERED = {"a": ("amount", "n"), "b": ("v",), "c": ("u",), "k": ("w",), "d": ("x",)}
SHARED = {"k": "h, n", "d": "h"}
"""By alias, the columns that have one name on both sides."""
EXPECTED = {"b": True, "c": True, "c2": True, "k": True, "k1": True, "k2": False, "boss": False, "c3": False}
"""By alias, whether each row should have a match, going by declared keys."""
SUMMED = {"a": "amount", "b": "v", "c": "u", "k": "w", "d": "x"}
GROUPED = {"a": "h", "b": "kind", "c": "name", "k": "n", "d": "x"}
Row = Mapping[str, Any]


def build(path: Path, random: Random) -> dict[str, list[Row]]:
    def maybe(value: Any) -> Any:
        return None if random.random() < 0.25 else value

    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(TABLES + "".join(f"CREATE VIEW v_{one} AS SELECT * FROM {one};" for one in GROUPED))
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


def copy_to_duckdb(path: Path, rows: Mapping[str, list[Row]]) -> None:
    """Make the same tables without foreign keys: DuckDB lets no row refer to what is not there."""
    with duckdb.connect(str(path)) as connection:
        tables = TABLES.replace(", FOREIGN KEY (h, n) REFERENCES k (h, n)", "")
        connection.execute(re.sub(r"REFERENCES \w", "", tables))
        for table, values in rows.items():
            marks = ", ".join("?" * len(values[0]))
            connection.executemany(f"INSERT INTO {table} VALUES ({marks})", [[*row.values()] for row in values])
            connection.execute(f"CREATE VIEW v_{table} AS SELECT * FROM {table}")


@dataclass(frozen=True)
class Joined:
    """A random query of table `a` and what is joined to it."""

    aliases: tuple[str, ...]
    kept: frozenset[str]  # those of LEFT JOINs
    filters: Mapping[str, tuple[str, int]]  # by alias, a column and what it is greater than
    group: str  # an alias, or none
    first: bool  # whether only the first group is asked for
    views: bool  # whether views are read in the tables' place

    @classmethod
    def draw(cls, random: Random) -> Joined:
        aliases: list[str] = []
        for _ in range(random.randint(1, 3)):
            known = {"a", *aliases}
            free = [one for one in JOINS if one not in known and {to for _, to, _ in JOINS[one][1]} <= {"", *known}]
            aliases.append(random.choice(free))
        kept = frozenset(one for one in aliases if random.random() < 0.25)
        named = [one for one in ("a", *aliases) if random.random() < 0.25]
        filters = {one: (random.choice(FILTERED[table_of(one)]), random.randrange(3)) for one in named}
        group, first = random.choice(["", *aliases]), random.random() < 0.5
        views = "k1" not in aliases and random.random() < 0.25
        return cls(tuple(aliases), kept, filters, group, first, views)

    def write(self, random: Random) -> str:
        rest = self.write_from(random)
        if not self.group:
            return f"SELECT COUNT(*) {rest}"
        term, distinct = f"{self.group}.{GROUPED[table_of(self.group)]}", random.choice(["", "DISTINCT "])
        outputs, order = random.choice([f"{term}, SUM(a.amount)", "SUM(a.amount)"]), " ORDER BY SUM(a.amount) LIMIT 1"
        return f"SELECT {distinct}{outputs} {rest} GROUP BY {term}{order if self.first else ''}"

    def write_from(self, random: Random) -> str:
        on = {
            one: " AND ".join(f"{f'{to}.' * bool(to)}{there} = {one}.{own}" for own, to, there in JOINS[one][1])
            for one in self.aliases
        }
        where = [f"{one}.{column} > {least}" for one, (column, least) in self.filters.items()]
        read = {one: f"{'v_' if self.views else ''}{table_of(one)} AS {one}" for one in ("a", *self.aliases)}
        if self.kept or random.random() < 0.5:
            joins = [read["a"]]
            for one in self.aliases:
                side, form = "LEFT JOIN" if one in self.kept else "JOIN", random.choice(["on", "using", "natural"])
                if form == "on" or one not in SHARED:
                    joins.append(f"{side} {read[one]} ON {on[one]}")
                elif form == "natural" and len(self.aliases) == 1:
                    joins.append(f"NATURAL {side} {read[one]}")
                else:
                    joins.append(f"{side} {read[one]} USING ({SHARED[one]})")
            source = " ".join(joins)
        else:
            source, where = ", ".join(read.values()), [*on.values(), *where]
        return f"FROM {source}" + (f" WHERE {' AND '.join(where)}" if where else "")

    def _add_joined(self, chosen: set[str]) -> set[str]:
        """Return aliases, with those that they are joined to."""
        for one in reversed(self.aliases):
            chosen |= {to for _, to, _ in JOINS[one][1]} if one in chosen else set()
        return chosen

    def count(self, rows: Mapping[str, list[Row]], sql: str) -> list[tuple[int, int]]:
        """Return of each join, in order, the rows of `a` that come to it, and those that it loses."""
        chosen = self._add_joined({*self.filters, *([self.group] if self.group and self.first else [])})
        asked, keeps_order = self._add_joined({*self.filters}), "USING" in sql or "NATURAL" in sql
        aliases = self.aliases if keeps_order else sorted(self.aliases, key=lambda one: one not in asked)
        found, kept = {one: [0, 0, 0] for one in self.aliases}, self._list_kept()
        for row in rows["a"]:
            combined = [each for each in self._combine(row, rows) if self._meets("a", each)]
            for place, one in enumerate(aliases):
                before = [other for other in aliases[:place] if other not in kept]
                coming = [
                    each
                    for each in combined
                    if all(each[other] for other in before)
                    and all(
                        other == one or not (each[other] or other in kept) or self._meets(other, each)
                        for other in self.aliases
                    )
                ]
                refers = any(self._refers(one, each) for each in coming)
                is_lost = bool(coming) and not any(each[one] for each in coming)
                found[one][0] += bool(coming)
                found[one][1] += is_lost
                found[one][2] += is_lost and refers
        # Where most rows refer to none, those are left out by design.
        chosen |= {one for one, (came, lost, orphans) in found.items() if lost - orphans > came / 2 and one not in kept}
        return sorted((came, orphans if one in chosen else lost) for one, (came, lost, orphans) in found.items())

    def _refers(self, one: str, each: Mapping[str, Row]) -> bool:
        """Whether a row refers to one of an alias, or to what a LEFT JOIN before it did not find."""
        return all(
            refer(each, link) is not None
            or (link[1] in self._list_expected() and not each[link[1]] and self._refers(link[1], each))
            for link in JOINS[one][1]
        )

    def _list_expected(self) -> set[str]:
        return {one for one in self._list_kept() if not self.views and EXPECTED.get(one)}

    def _list_kept(self) -> set[str]:
        """Return the aliases without which rows stay: of LEFT JOINs that lead to no condition."""
        return {*self.kept} - self._add_joined({*self.filters})

    def list_results(self, rows: Mapping[str, list[Row]]) -> list[dict[str, Row]]:
        """Return what FROM and WHERE give, with a row of each alias."""
        every = [each for row in rows["a"] for each in self._combine(row, rows)]
        needed = [one for one in self.aliases if one not in self.kept]
        return [
            each
            for each in every
            if all(each[one] for one in needed) and all(self._meets(one, each) for one in ("a", *self.aliases))
        ]

    def count_ones(self, rows: Mapping[str, list[Row]]) -> int | None:
        """Return the rows of the grouped table that the result lacks; None if nobody knows how many are asked for."""
        if not self.group or table_of(self.group) != "c" or self.first or set(self.filters) - {"a", self.group}:
            return None
        asked = [row for row in rows["c"] if self._meets(self.group, {self.group: row})]
        return len(asked) - len({id(each[self.group]) for each in self.list_results(rows) if each[self.group]})

    def count_repeats(self, rows: Mapping[str, list[Row]], one: str) -> int:
        """Return how often rows of an alias are there once more in what FROM and WHERE give."""
        found = [id(each[one]) for each in self.list_results(rows) if each[one]]
        return len(found) - len(set(found))

    def expects(self, rows: Mapping[str, list[Row]], one: str) -> bool:
        """Whether each row that comes to an alias should have a match, by keys or by how many values differ."""
        if one in EXPECTED and not self.views:
            return EXPECTED[one]
        ((own, to, there),), table = JOINS[one][1], table_of(one)
        return table != table_of(to) and count_part(rows[table], own) >= 0.5 > count_part(rows[table_of(to)], there)

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
        return not column or (each[one].get(column) is not None and each[one][column] > least)


def table_of(alias: str) -> str:
    return "a" if alias == "a" else JOINS[alias][0]


def count_part(rows: list[Row], column: str) -> float:
    return len({row[column] for row in rows} - {None}) / len(rows)


def refer(each: Mapping[str, Row], link: tuple[str, str, Any]) -> Any:
    return each[link[1]].get(link[2]) if link[1] else link[2]


@pytest.mark.parametrize(("seed", "engine"), [*((seed, "sqlite") for seed in range(8)), (8, "duckdb"), (9, "duckdb")])
def test_lost_rows_are_those_that_a_loop_finds(tmp_path: Path, seed: int, engine: str) -> None:
    random, compared = Random(seed), 0
    rows = build(tmp_path / "r.sqlite", random)
    if engine == "duckdb":
        copy_to_duckdb(tmp_path / "r.duckdb", rows)
    with Database.open(tmp_path / f"r.{engine}") as database:
        for _ in range(40):
            joined = Joined.draw(random)
            plain = joined.write(random)
            forms = [plain, f"WITH r AS ({plain}) SELECT COUNT(*) FROM r"]
            sql = random.choice(forms if " LIMIT " in plain else [*forms, f"{plain} UNION ALL {plain}"])
            try:
                result = database.execute(sql)
            except QueryError:  # DuckDB has a stricter USING
                assert engine == "duckdb"
                continue
            query, known = read(sql, database.schema()), () if compared % 2 else result.rows
            ledger = build_query_ledger(query, lambda counting: database.execute(counting).rows, rows=known)
            ones = [join for join in ledger.joins if join.ones]
            if sql == plain and (left := joined.count_ones(rows)) is not None and not ledger.not_counted:
                assert sum(join.lost or 0 for join in ones) == left, (sql, ones)
            # Where nothing says which table's rows are counted, nothing may be called lost.
            missed = [said for said in ledger.not_counted if not said.startswith("the repeated rows")]
            joins = [join for join in ledger.joins if not join.ones and (join.rows or not join.repeated)]
            if missed or any(join.of.removeprefix("v_") != "a" for join in joins):
                continue
            found = sorted((join.rows, join.lost) for join in joins)
            assert found == sorted(joined.count(rows, plain) * (2 if " UNION " in sql else 1)), (sql, ledger.joins)
            compared += 1
            if engine == "sqlite" and len(joined.aliases) == len(joins) == 1 and len(JOINS[joined.aliases[0]][1]) == 1:
                ((one,), (join,)) = joined.aliases, joins
                told = (
                    bool(join.lost) and (one not in joined.kept or one in joined.filters) and joined.expects(rows, one)
                )
                assert (join.material and join.immaterial != "lost") is told or join.repeated, (sql, join)
    assert compared > 20


@pytest.mark.parametrize("seed", range(8, 12))
def test_repeated_rows_are_those_that_a_loop_finds(tmp_path: Path, seed: int) -> None:
    random, compared = Random(seed), 0
    rows = build(tmp_path / "r.sqlite", random)
    with Database.open(tmp_path / "r.sqlite") as database:
        for _ in range(40):
            joined = replace(Joined.draw(random), views=False)
            summed = random.sample(["a", *joined.aliases], random.choice([1, 2]))
            terms, source = [f"{one}.{SUMMED[table_of(one)]}" for one in summed], joined.write_from(random)
            add = random.choice(["SUM", "COUNT"])
            sums = " + ".join(f"{add}({term})" for term in terms)
            named = ", ".join(f"{term} AS s{place}" for place, term in enumerate(terms))
            outer = ", ".join(f"{add}(s{place})" for place in range(len(terms)))
            forms = [f"SELECT {sums} {source}", f"WITH j AS (SELECT {named} {source}) SELECT {outer} FROM j"]
            sql = random.choice([*forms, f"SELECT {outer} FROM (SELECT {named} {source}) AS j"])
            ledger = build_query_ledger(read(sql, database.schema()), lambda counting: database.execute(counting).rows)
            if [said for said in ledger.not_counted if said.startswith("the repeated rows")]:
                continue
            found = [(join.of, join.repeated, join.material) for join in ledger.joins if join.repeated]
            repeats = [(table_of(one), joined.count_repeats(rows, one), True) for one in summed]
            assert sorted(found) == sorted(one for one in repeats if one[1]), (sql, ledger)
            compared += 1
    assert compared > 20
