"""Catalogues of servers' databases: names of tables and columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from ..column_kinds import infer_column_kind, parse_enum_labels
from ..schema import ColumnSchema, ForeignKey


@dataclass(frozen=True)
class Relation:
    """A table or view of a database on a server.

    Attributes:
        schema: The schema that it is in; empty where the server has but one.
        name: As declared.
        shown_name: Its name in `Schema`, with the schema and a dot before it where the search path doesn't lead there.
        columns: With no samples but an enumeration's labels.
        kind: `view` for materialised views too: they repeat what tables hold.
        estimate: Rows by the server's statistics; None where it has none, or may not tell.
        definition: A view's query; empty where the server does not tell, or where not all of the view may be seen.
        unshown: Whether the definition names what the login may not read.
        hides: Whether it may have columns that the login may not read.
        ruled: Whether the server's rules leave out rows by who asks.
        personal: Whether these ask for a person, as the connection does not set all that they look at.
    """

    schema: str
    name: str
    shown_name: str
    columns: tuple[ColumnSchema, ...]
    kind: Literal["table", "view"] = "table"
    comment: str = ""
    estimate: int | None = None
    definition: str = ""
    unshown: bool = False
    hides: bool = False
    ruled: bool = False
    personal: bool = False


@dataclass(frozen=True)
class Catalogue:
    """The tables that a session may read, at one version of the schema.

    Attributes:
        version: Changes with the schema.
        relations: Those in the search path first, each by its name.
        foreign_keys: By the names that are shown.
        types: Types of the columns that the database itself defines, in lower case; a query may cast to them.
        user_functions: Functions that people made, in lower case: they may do anything, and must not be called by a
            name that is allowed.
        row_functions: Those that take a row, which can be called as if they were its columns.
    """

    version: str
    relations: tuple[Relation, ...]
    foreign_keys: tuple[ForeignKey, ...] = ()
    types: frozenset[str] = frozenset()
    user_functions: frozenset[str] = frozenset()
    row_functions: frozenset[str] = frozenset()

    def __hash__(self) -> int:
        return hash(self.version)

    @cached_property
    def _relations_by_path(self) -> Mapping[tuple[str, ...], Relation]:
        # Stored SQL may have a schema and a name as one; a table of that very name goes before.
        relations = sorted(self.relations, key=lambda relation: relation.shown_name == relation.name)
        by_shown_name = {(relation.shown_name,): relation for relation in relations}
        return by_shown_name | {(relation.schema, relation.name): relation for relation in relations}

    @cached_property
    def _relations_by_lowercase_path(self) -> Mapping[tuple[str, ...], Sequence[Relation]]:
        by_path: dict[tuple[str, ...], list[Relation]] = {}
        for path, relation in self._relations_by_path.items():
            by_path.setdefault(tuple(map(str.lower, path)), []).append(relation)
        return by_path

    def find(self, *path: str) -> Relation | None:
        """Return the table or view with a name; case matters only if names differ by nothing else."""
        path = (".".join(path[:-1]), path[-1]) if len(path) > 1 else path
        similar = self._relations_by_lowercase_path.get(tuple(map(str.lower, path)), ())
        return self._relations_by_path.get(path) or (similar[0] if len(similar) == 1 else None)


Ask = Callable[[str], list[tuple[Any, ...]]]
"""The rows of one of a profile's statements, by its name."""


def read_version(ask: Ask, owner: str) -> str:
    """Return a key that changes with tables, columns, comments, privileges or the search path."""
    ((version,),) = ask("version")
    return f"{version} {owner}".strip()


def read_catalogue(ask: Ask, owner: str) -> Catalogue:
    """Return the catalogue of the tables that the login may read."""
    version = read_version(ask, owner)
    columns: dict[tuple[str, str], dict[str, ColumnSchema]] = defaultdict(dict)
    types: set[str] = set()
    for schema, table, name, type_name, not_null, generated, comment, kind, labels, of_database in ask("columns"):
        columns[schema, table][name] = ColumnSchema(
            name,
            type_name,
            kind or infer_column_kind(type_name, ()),
            not_null=bool(not_null),
            generated=bool(generated),
            comment=comment or "",
            samples=parse_enum_labels(labels or ""),
        )
        if of_database:
            types.add(type_name.replace('"', "").lower())
    references: dict[tuple[Any, ...], list[tuple[str, str]]] = defaultdict(list)
    for key, schema, table, name, position, ref_schema, ref_table, ref_name in ask("keys"):
        if ref_table is not None:
            references[key, (schema, table), (ref_schema, ref_table)].append((name, ref_name))
        elif (column := columns[schema, table].get(name)) is not None:
            columns[schema, table][name] = replace(column, primary_key=position)
    relations: dict[tuple[str, str], Relation] = {}
    for schema, name, shown_name, kind, comment, estimate, definition, unshown, hides, *rules in ask("relations"):
        if table_columns := tuple(columns[schema, name].values()):
            texts = kind, comment or "", estimate, definition or ""
            flags = map(bool, (unshown, hides, any(rules), any(rules[1:])))
            relations[schema, name] = Relation(schema, name, shown_name, table_columns, *texts, *flags)
    foreign_keys = [
        ForeignKey(relations[place].shown_name, names, relations[target].shown_name, ref_names)
        for (_, place, target), pairs in references.items()
        if place in relations and target in relations
        for names, ref_names in (zip(*pairs, strict=True),)
    ]
    functions = ask("functions")
    return Catalogue(
        version,
        tuple(relations.values()),
        tuple(foreign_keys),
        frozenset(types),
        user_functions=frozenset(name for name, _ in functions),
        row_functions=frozenset(name for name, on_row in functions if on_row),
    )
