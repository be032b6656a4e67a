"""Correction of misspelt names of tables and columns, if only one can be meant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from ..database.quoting import Naming
from ..database.schema import Schema
from ..words import spelt_alike
from .parse import default_if_unparsed
from .query import Query
from .scope import Resolution, Source


@dataclass(frozen=True)
class MendedQuery:
    """A query with corrected names."""

    sql: str
    names: Mapping[str, str]  # as written, and as the schema has them


@dataclass(frozen=True)
class _Fix:
    """A name in a query and its correction; `meant` is the schema's name, if reported."""

    parts: Sequence[exp.Identifier]
    text: str
    meant: str = ""


@default_if_unparsed(None)
def mend_names(sql: str, part: Schema, avoid: Collection[str] = ()) -> MendedQuery | None:
    """Return the query with unknown names replaced by the nearest, except those to `avoid`.

    None if a name has no nearest one, or more than one, or nothing is misspelt.
    """
    query = Query.of(sql, part.dialect, part)
    paths = {table.name: table.path for table in part.tables if table.name not in avoid}
    resolution = query.resolution
    unknown = [source for scope in resolution.scopes for source in scope.sources if not source.known]
    fixes = list(_fix_tables(unknown, paths, resolution) if unknown else _fix_columns(resolution))
    if not fixes or not all(place.text for place in fixes):
        return None
    names = {_join_parts(place.parts): place.meant for place in fixes if place.meant}
    return MendedQuery(_apply(query, fixes), names)


@default_if_unparsed("")
def _spell(sql: str, schema: Schema) -> str:
    query = Query.of(sql, schema.dialect, schema)
    naming, sources = query.rules.naming, [source for scope in query.scopes for source in scope.sources]
    wrong = {one: path for one in sources if (path := _find_path(one, schema)) and not _is_exact(one, path, naming)}
    called = Counter(naming.key(wrong[source][-1]) if source in wrong else source.name for source in sources)
    # Beside another of its name, one keeps the name that it is called by.
    kept = {source for source, path in wrong.items() if not source.node.alias and called[naming.key(path[-1])] > 1}
    rows = {source.name: source for source in wrong}
    places: list[_Fix] = []
    for source, path in wrong.items():
        parts = _name_parts(source.node)[-len(path) :]
        alias = f" AS {query.text(parts[-1])}" if source in kept else ""
        places.append(_Fix(parts, naming.write_path(path) + alias))
    for reference in query.resolution.references:
        node, source = reference.node, reference.source
        qualifier = _name_parts(node)
        if source is None and not qualifier:  # a whole row, as in count(t)
            source, qualifier = rows.get(query.rules.key(node.this)), [node.this]
        if source in wrong and source not in kept and qualifier and not source.node.alias:
            places.append(_Fix(qualifier, naming.write_name(wrong[source][-1])))
    return _apply(query, places) if places else ""


def spell_tables(sql: str, schema: Schema) -> str:
    """Return the query with table names spelled as the engine's own client needs them.

    They may be there in any case, and with the schema as a part of the name: `"sales.Bill"` becomes `sales."Bill"`.
    """
    return sql if schema.dialect == "sqlite" else _spell(sql, schema) or sql


def _find_path(source: Source, schema: Schema) -> Sequence[str]:
    """Return the path of a source's table; empty if it is not a table."""
    if not isinstance(source.node, exp.Table) or source.query is not None:
        return ()
    table = source.table or (None if source.known else schema.table(_join_parts(_name_parts(source.node))))
    return table.path if table else ()


def _is_exact(source: Source, path: Sequence[str], naming: Naming) -> bool:
    """Whether a table is spelled as the engine has it."""
    parts = _name_parts(source.node)
    return len(parts) >= len(path) and all(
        naming.key(part.name, in_quotes=part.quoted) == naming.key(name)
        and (part.name == name or not naming.tables_exact)
        for part, name in zip(parts[-len(path) :], path, strict=True)
    )


def _name_parts(node: exp.Expr) -> list[exp.Identifier]:
    """Return the parts of a table's name, or of the table before a column."""
    keys = ("catalog", "db", "this" if isinstance(node, exp.Table) else "table")
    return [part for key in keys if isinstance(part := node.args.get(key), exp.Identifier)]


def _join_parts(parts: Iterable[exp.Identifier]) -> str:
    return ".".join(part.name for part in parts)


def _apply(query: Query, places: Iterable[_Fix]) -> str:
    """Return the query's text with names replaced."""
    text = query.sql
    for place in sorted(places, key=lambda place: -int(place.parts[0].meta["start"])):
        text = text[: place.parts[0].meta["start"]] + place.text + text[place.parts[-1].meta["end"] + 1 :]
    return text


def _fix_tables(unknown: list[Source], paths: Mapping[str, Sequence[str]], resolution: Resolution) -> Iterator[_Fix]:
    """Yield corrections of unknown tables; the text is empty if no name is near."""
    naming = resolution.rules.naming
    for source in unknown:
        if not isinstance(source.node, exp.Table):
            continue
        parts = _name_parts(source.node)
        meant = _find_nearest(source.node.name, paths) or _find_nearest(_join_parts(parts), paths)
        path = paths.get(meant, ())
        yield _Fix(parts[-len(path) :], naming.write_path(path), meant)
        for reference in resolution.references if not source.node.alias else ():
            if reference.node.table == source.node.name:
                yield _Fix(_name_parts(reference.node)[-1:], naming.write_path(path[-1:]))


def _fix_columns(resolution: Resolution) -> Iterator[_Fix]:
    """Yield corrections of unknown columns; the text is empty if no name is near."""
    naming = resolution.rules.naming
    for reference in resolution.references:
        if reference.kind != "unknown" or reference.scope is None:
            continue
        sources = [s for s in reference.scope.sources if reference.node.table.lower() in ("", s.name)]
        known = {name for source in sources for name in (source.columns or {}).values()}
        node = reference.node.this
        if isinstance(node, exp.Identifier) and "start" in node.meta:
            meant = _find_nearest(node.name, sorted(known))
            yield _Fix([node], naming.write_name(meant) if meant else "", meant)


def _find_nearest(name: str, known: Collection[str]) -> str:
    """Return the only name that differs in case, signs or a few letters; else empty."""
    near = spelt_alike(_strip_name(name), list(map(_strip_name, known)))
    only = near and (len(near) == 1 or near[0][0] < near[1][0])
    return next(other for other in known if _strip_name(other) == near[0][1]) if only else ""


def _strip_name(name: str) -> str:
    return "".join(character for character in name.casefold() if character.isalnum())
