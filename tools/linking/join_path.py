"""The foreign keys that connect tables: the cheapest tree over the graph of keys."""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import count

from ..database.schema import ForeignKey, Schema
from ..words import name_stems

_INFERRED_COST = 1.5
"""An inferred key is taken only where it saves a table."""

_Links = Mapping[str, list[tuple[float, ForeignKey, str]]]


def join_path(schema: Schema, tables: Iterable[str], mentioned: Collection[str] = ()) -> tuple[ForeignKey, ...]:
    """The foreign keys of a cheapest tree that connects tables, tables in between included.

    A Steiner tree is approximated by joining, one after another, the table that is nearest to the tree so far: at
    most twice the best cost, and exact for two tables. Ties go to the key whose columns the question mentions most,
    then to the one that the schema lists first.

    Args:
        schema: Whose keys, declared or inferred, may be used.
        tables: Names in any case; unknown ones are passed over.
        mentioned: Stems of the question's words: `reported by` distinguishes two keys to one table.

    Returns:
        The keys in the order in which a FROM clause can join them, starting at the first table. Tables that no keys
        connect with the first are left out.
    """
    wanted = _names(schema, tables)
    return tuple(_Growth(_links(schema, frozenset(mentioned)), wanted[0]).reach(wanted)) if wanted else ()


def join_paths(schema: Schema, tables: Iterable[str]) -> tuple[ForeignKey, ...]:
    """As `join_path`, of every group of tables that keys connect: none is left out for what the first table is."""
    wanted, links = _names(schema, tables), _links(schema, frozenset())
    keys: list[ForeignKey] = []
    while wanted:
        growth = _Growth(links, wanted[0])
        keys += growth.reach(wanted)
        wanted = [name for name in wanted if name not in growth.tree]
    return tuple(keys)


def _names(schema: Schema, tables: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(table.name for name in tables if (table := schema.table(name))))


def _links(schema: Schema, mentioned: frozenset[str]) -> _Links:
    def unmentioned(key: ForeignKey) -> int:
        return -len(mentioned & {stem for column in key.columns for stem in name_stems(column)})

    links: dict[str, list[tuple[float, ForeignKey, str]]] = {table.name: [] for table in schema.tables}
    for key in sorted(schema.foreign_keys, key=unmentioned) if mentioned else schema.foreign_keys:
        ends = schema.table(key.table), schema.table(key.ref_table)
        if ends[0] is None or ends[1] is None or ends[0] is ends[1]:
            continue
        cost = _INFERRED_COST if key.inferred else 1.0
        links[ends[0].name].append((cost, key, ends[1].name))
        links[ends[1].name].append((cost, key, ends[0].name))
    return links


class _Growth:
    """A tree that grows, by Dijkstra's algorithm from all of its tables at once."""

    def __init__(self, links: _Links, root: str) -> None:
        self._links = links
        self.tree: set[str] = set()
        self._cost: dict[str, float] = {}
        self._came: dict[str, tuple[ForeignKey, str]] = {}
        self._queue: list[tuple[float, int, str]] = []
        self._order = count()
        self._take_in(root)

    def reach(self, goals: Iterable[str]) -> Iterator[ForeignKey]:
        """Grows to the goals, the nearest first, as far as keys lead."""
        rest = set(goals) - self.tree
        while rest and self._queue:
            cost, _, table = heapq.heappop(self._queue)
            if cost > self._cost[table]:
                continue
            if table in rest:
                for key, joined in self._way(table):
                    self._take_in(joined)
                    yield key
                rest -= self.tree
            for step, key, other in self._links[table]:
                self._offer(other, self._cost[table] + step, (key, table))

    def _take_in(self, table: str) -> None:
        self.tree.add(table)
        self._cost[table] = 0.0
        heapq.heappush(self._queue, (0.0, next(self._order), table))

    def _offer(self, table: str, cost: float, step: tuple[ForeignKey, str]) -> None:
        if cost < self._cost.get(table, math.inf):
            self._cost[table] = cost
            self._came[table] = step
            heapq.heappush(self._queue, (cost, next(self._order), table))

    def _way(self, goal: str) -> list[tuple[ForeignKey, str]]:
        """The keys from the tree to a table, with the table that each joins."""
        way: list[tuple[ForeignKey, str]] = []
        table = goal
        while table not in self.tree:
            key, before = self._came[table]
            way.append((key, table))
            table = before
        return way[::-1]
