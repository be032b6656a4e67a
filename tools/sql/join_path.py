"""The foreign keys that connect tables: the cheapest tree over the graph of keys."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain, count

from ..database.schema import ForeignKey, Schema
from ..words import stem_name

_INFERRED_COST = 1.5  # an inferred key is taken only where it saves a table

_Links = Mapping[str, list[tuple[float, ForeignKey, str]]]
_KeyPath = tuple[tuple[ForeignKey, str], ...]


def find_joining_keys(schema: Schema, tables: Iterable[str], stems: Collection[str] = ()) -> tuple[ForeignKey, ...]:
    """Return the cheapest foreign keys that connect tables, also through other tables.

    They come in the order in which a FROM clause can join them, starting at the first table. Tables that no keys
    connect with the first are left out, as unknown ones are.

    A Steiner tree is approximated by joining, one after another, the table that is nearest to the tree so far: at
    most twice the best cost, and exact for two tables. Ties go to the key whose columns the question mentions most,
    then to the one that the schema lists first.

    Args:
        schema: Whose keys, declared or inferred, may be used.
        tables: Names in any case.
        stems: Stems of the question's words: `reported by` distinguishes two keys to one table.
    """
    return next(_find_join_trees(schema, tables, frozenset(stems)), ())


def find_all_joining_keys(schema: Schema, tables: Iterable[str]) -> tuple[ForeignKey, ...]:
    """Return the cheapest foreign keys that connect tables, for each connected group."""
    return tuple(chain.from_iterable(_find_join_trees(schema, tables, frozenset())))


def _find_join_trees(schema: Schema, tables: Iterable[str], stems: frozenset[str]) -> Iterator[tuple[ForeignKey, ...]]:
    """Yield the foreign keys of a join tree for each connected group of tables."""
    names = list(dict.fromkeys(table.name for name in tables if (table := schema.table(name))))
    links: dict[str, list[tuple[float, ForeignKey, str]]] = {table.name: [] for table in schema.tables}
    for key in sorted(schema.foreign_keys, key=lambda key: -len(stems & {*chain(*map(stem_name, key.columns))})):
        table, target = schema.table(key.table), schema.table(key.ref_table)
        if table and target and table is not target:
            cost = _INFERRED_COST if key.inferred else 1.0
            links[table.name].append((cost, key, target.name))
            links[target.name].append((cost, key, table.name))
    while names:
        tree, keys = {names[0]: None}, list[ForeignKey]()
        while path := _find_cheapest_path(links, tree, {name for name in names if name not in tree}):
            keys += (key for key, _ in path)
            tree.update((table, None) for _, table in path)
        yield tuple(keys)
        names = [name for name in names if name not in tree]


def _find_cheapest_path(links: _Links, tree: Iterable[str], goals: Collection[str]) -> _KeyPath:
    """Return the cheapest path from a tree of tables to one of the goals; () if there is none."""
    # By Dijkstra's algorithm, from all tables of the tree at once.
    order = count()
    queue: list[tuple[float, int, str, _KeyPath]] = [(0.0, next(order), table, ()) for table in tree]
    done_tables: set[str] = set()
    while queue:
        cost, _, table, path = heapq.heappop(queue)
        if table in goals:
            return path
        if table not in done_tables:
            done_tables.add(table)
            for step, key, other in links[table]:
                heapq.heappush(queue, (cost + step, next(order), other, (*path, (key, other))))
    return ()
