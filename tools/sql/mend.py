"""Misspelt names of tables and columns, put right where only one can be meant."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from sqlglot import exp

from ..database.rendering.text import identifier
from ..database.schema import Schema
from ..words import spelt_alike
from .query import Query
from .scope import Resolution, Source
from .untrusted import analysis_or


@dataclass(frozen=True)
class Mended:
    """A query with its names put right.

    Attributes:
        sql: It.
        names: The names as written and as the schema has them.
    """

    sql: str
    names: Mapping[str, str]


@analysis_or(None)
def mend_names(sql: str, part: Schema, avoid: Collection[str] = ()) -> Mended | None:
    """Replaces each table and column that is not there by the one whose name is nearest.

    Args:
        sql: A query that the database refuses.
        part: The tables in play; no other is put into a query.
        avoid: Tables of it that are never put there either.

    Returns:
        The query; None where a name has no nearest one, or more than one, or nothing is misspelt.
    """
    query = Query.of(sql, part.dialect, part)
    tables = [table.name for table in part.tables if table.name not in avoid]
    resolution = query.resolution
    unknown = [source for scope in resolution.scopes for source in scope.sources if not source.known]
    found = list(_replaced(unknown, tables, resolution)) if unknown else list(_columns(resolution))
    if not found or not all(name for _, name in found):
        return None
    text, names = query.sql, dict[str, str]()
    for node, name in sorted(found, key=lambda pair: -int(pair[0].meta["start"])):
        names[node.name] = name
        text = text[: node.meta["start"]] + identifier(name, part.dialect) + text[node.meta["end"] + 1 :]
    return Mended(text, names)


def _replaced(unknown: list[Source], known: list[str], resolution: Resolution) -> Iterator[tuple[exp.Identifier, str]]:
    """Tables' names, where they stand in FROM and before a column, each with the nearest; empty where there is none."""
    nearest = {source.node.name: _nearest(source.node.name, known) for source in unknown}
    places = [source.node.this for source in unknown]
    unaliased = {source.node.name for source in unknown if not source.node.alias}
    references = (reference.node for reference in resolution.references)
    places += [node.args.get("table") for node in references if node.table in unaliased]
    for node in places:
        if isinstance(node, exp.Identifier) and "start" in node.meta:
            yield node, nearest[node.name]


def _columns(resolution: Resolution) -> Iterator[tuple[exp.Identifier, str]]:
    """Columns that are not there, each with the nearest of the tables that it may be of; empty where there is none."""
    for reference in resolution.references:
        if reference.kind != "unknown" or reference.scope is None:
            continue
        sources = [s for s in reference.scope.sources if reference.node.table.lower() in ("", s.name)]
        known = {name for source in sources for name in (source.columns or {}).values()}
        node = reference.node.this
        if isinstance(node, exp.Identifier) and "start" in node.meta:
            yield node, _nearest(node.name, sorted(known))


def _nearest(name: str, known: Collection[str]) -> str:
    """The one name that differs in case and joints alone, or in a letter or two; empty where there is not just one."""
    near = spelt_alike(_plain(name), list(map(_plain, known)))
    only = near and (len(near) == 1 or near[0][0] < near[1][0])
    return next(other for other in known if _plain(other) == near[0][1]) if only else ""


def _plain(name: str) -> str:
    return "".join(character for character in name.casefold() if character.isalnum())
