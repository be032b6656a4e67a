"""The foreign keys that connect tables: the cheapest tree over the graph of keys."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Mapping

from ..database.schema import ForeignKey, Schema

_INFERRED_COST = 1.5
"""An inferred key is taken only where it saves a table."""

_Links = Mapping[str, list[tuple[float, ForeignKey, str]]]


def join_path(schema: Schema, tables: Iterable[str]) -> tuple[ForeignKey, ...]:
    """The foreign keys of a cheapest tree that connects tables, tables in between included.

    A Steiner tree is approximated by joining, one after another, the table that is nearest to the tree so far: at
    most twice the best cost, and exact for two tables. Ties go to the key that the schema lists first.

    Args:
        schema: Whose keys, declared or inferred, may be used.
        tables: Names in any case; unknown ones are passed over.

    Returns:
        The keys in the order in which a FROM clause can join them, starting at the first table. Tables that no keys
        connect with the first are left out.
    """
    wanted = list(dict.fromkeys(table.name for name in tables if (table := schema.table(name))))
    if not wanted:
        return ()
    links = _links(schema)
    tree, rest = {wanted[0]}, set(wanted[1:])
    path: list[ForeignKey] = []
    while rest:
        step = _nearest(links, tree, rest)
        if not step:
            break
        for key, reached in step:
            path.append(key)
            tree.add(reached)
        rest -= tree
    return tuple(path)


def _links(schema: Schema) -> _Links:
    links: dict[str, list[tuple[float, ForeignKey, str]]] = {table.name: [] for table in schema.tables}
    for key in schema.foreign_keys:
        ends = schema.table(key.table), schema.table(key.ref_table)
        if ends[0] is None or ends[1] is None or ends[0] is ends[1]:
            continue
        cost = _INFERRED_COST if key.inferred else 1.0
        links[ends[0].name].append((cost, key, ends[1].name))
        links[ends[1].name].append((cost, key, ends[0].name))
    return links


def _nearest(links: _Links, tree: Collection[str], goals: Collection[str]) -> list[tuple[ForeignKey, str]]:
    """The cheapest way from the tree to one of the goals (Dijkstra), as keys with the table that each reaches."""
    came: dict[str, tuple[ForeignKey, str] | None] = dict.fromkeys(sorted(tree))
    queue: list[tuple[float, int, str]] = [(0.0, order, table) for order, table in enumerate(came)]
    settled: set[str] = set()
    best = dict.fromkeys(came, 0.0)
    order = len(queue)
    while queue:
        cost, _, table = heapq.heappop(queue)
        if table in settled:
            continue
        settled.add(table)
        if table in goals:
            return _way(came, table)
        for step, key, other in links[table]:
            if cost + step < best.get(other, float("inf")):
                best[other] = cost + step
                came[other] = (key, table)
                order += 1
                heapq.heappush(queue, (cost + step, order, other))
    return []


def _way(came: Mapping[str, tuple[ForeignKey, str] | None], goal: str) -> list[tuple[ForeignKey, str]]:
    way: list[tuple[ForeignKey, str]] = []
    table = goal
    while (step := came[table]) is not None:
        key, before = step
        way.append((key, table))
        table = before
    return way[::-1]
