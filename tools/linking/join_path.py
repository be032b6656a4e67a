"""The foreign keys that connect tables: the cheapest tree over the graph of keys."""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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
    return tuple(_grow(_links(schema, frozenset(mentioned)), wanted, set())) if wanted else ()


def join_paths(schema: Schema, tables: Iterable[str]) -> tuple[ForeignKey, ...]:
    """As `join_path`, of every group of tables that keys connect: none is left out for what the first table is."""
    wanted, links = _names(schema, tables), _links(schema, frozenset())
    keys: list[ForeignKey] = []
    while wanted:
        tree: set[str] = set()
        keys += _grow(links, wanted, tree)
        wanted = [name for name in wanted if name not in tree]
    return tuple(keys)


def _names(schema: Schema, tables: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(table.name for name in tables if (table := schema.table(name))))


def _links(schema: Schema, mentioned: frozenset[str]) -> _Links:
    def unmentioned(key: ForeignKey) -> int:
        return -len(mentioned & {stem for column in key.columns for stem in name_stems(column)})

    links: dict[str, list[tuple[float, ForeignKey, str]]] = {table.name: [] for table in schema.tables}
    for key in sorted(schema.foreign_keys, key=unmentioned):
        ends = schema.table(key.table), schema.table(key.ref_table)
        if ends[0] is None or ends[1] is None or ends[0] is ends[1]:
            continue
        cost = _INFERRED_COST if key.inferred else 1.0
        links[ends[0].name].append((cost, key, ends[1].name))
        links[ends[1].name].append((cost, key, ends[0].name))
    return links


def _grow(links: _Links, goals: Sequence[str], tree: set[str]) -> Iterator[ForeignKey]:
    """Grows a tree from the first goal to the others, the nearest first, as far as keys lead.

    This is Dijkstra's algorithm from all tables of the tree at once.
    """
    costs: dict[str, float] = {}
    came: dict[str, tuple[ForeignKey, str]] = {}
    queue: list[tuple[float, int, str]] = []
    order = count()

    def offer(table: str, cost: float) -> None:
        costs[table] = cost
        heapq.heappush(queue, (cost, next(order), table))

    def take_in(table: str) -> None:
        tree.add(table)
        offer(table, 0.0)

    take_in(goals[0])
    rest = set(goals) - tree
    while rest and queue:
        cost, _, table = heapq.heappop(queue)
        if cost > costs[table]:
            continue
        if table in rest:
            way: list[tuple[ForeignKey, str]] = []
            joined = table
            while joined not in tree:
                key, before = came[joined]
                way.append((key, joined))
                joined = before
            for key, joined in reversed(way):
                take_in(joined)
                yield key
            rest -= tree
        for step, key, other in links[table]:
            if costs[table] + step < costs.get(other, math.inf):
                came[other] = key, table
                offer(other, costs[table] + step)
