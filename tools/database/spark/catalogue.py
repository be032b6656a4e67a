"""Reading a catalogue of Spark's: schemas, tables, columns, comments and partitions, and functions that people made.

`DESCRIBE ... AS JSON` tells all of a table at once, from Spark 4.0 on.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ...errors import DatabaseUnavailable
from ..column_kinds import column_kind
from ..quoting import quoted as _quoted
from ..schema import ColumnSchema
from ..server.catalogue import Catalogue, Relation
from ..table import Cell
from .bounds import as_text

Ask = Callable[[str], list[tuple[Cell, ...]]]
"""The rows of a statement of our own."""

# Tables are told one by one, which takes a server's answer each.
_AT_ONCE = 8
_SYSTEM = frozenset({"information_schema", "sys"})


def quoted(name: str) -> str:
    """A name as an SQL identifier."""
    return _quoted(name, "spark")


def place(schema: str, name: str) -> str:
    """A table's name with its schema, as SQL."""
    return f"{quoted(schema)}.{quoted(name)}"


def read_schemas(ask: Ask, schemas: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The catalogue's name, and the schemas to read: those that are named, else all, the current one first."""
    ((catalogue, current),) = ask("SELECT current_catalog(), current_schema()")
    if schemas:
        return str(catalogue), tuple(schemas)
    others = sorted({str(row[0]) for row in ask("SHOW NAMESPACES")} - _SYSTEM - {current})
    return str(catalogue), (str(current), *others)


def read_names(ask: Ask, schemas: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Schema and name of each table and view, in the order of the schemas."""
    # What belongs to a session alone is of no schema.
    return tuple(
        (schema, str(name))
        for schema in schemas
        for held, name, *_ in sorted(ask(f"SHOW TABLES IN {quoted(schema)}"), key=lambda row: str(row[1]))
        if held
    )


def version_of(names: Sequence[tuple[str, str]], owner: str) -> str:
    """Changes with the names of tables and views: more would take asking for each of them."""
    return hashlib.sha256(repr((names, owner)).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def read_catalogue(ask: Ask, schemas: Sequence[str], owner: str, errors: tuple[type[Exception], ...]) -> Catalogue:
    """What may be read.

    Args:
        ask: From several threads at once.
        schemas: The first is where names are looked up.
        owner: Who is asking: what is kept for one is not for another.
        errors: What `ask` raises. A table that cannot be told, perhaps for want of a grant, is left out.

    Raises:
        DatabaseUnavailable: The server is older than Spark 4.
    """
    names = read_names(ask, schemas)

    def told(name: tuple[str, str]) -> Relation | Exception:
        try:
            return _relation(*name, ask, first=name[0] == schemas[0])
        except errors as error:
            return error

    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="tableturn-spark") as threads:
        read = list(threads.map(told, names))
    relations = tuple(relation for relation in read if isinstance(relation, Relation))
    if names and not relations and "PARSE" in str(read[0]):
        raise DatabaseUnavailable("the server cannot describe its tables as JSON: Spark 4.0 or newer is needed")
    functions = {str(name).rpartition(".")[2].lower() for (name,) in ask("SHOW USER FUNCTIONS")}
    return Catalogue(version_of(names, owner), relations, own_functions=frozenset(functions))


def listed(columns: Sequence[ColumnSchema], longest: int) -> str:
    """A table's columns as a query for samples lists them: texts cut."""
    return ", ".join(
        value
        if value == quoted(column.name) and column.kind in ("number", "time", "boolean")
        else f"left({value}, {longest})"
        for column, value in ((column, as_text(quoted(column.name), column.type)) for column in columns)
    )


def _relation(schema: str, name: str, ask: Ask, *, first: bool) -> Relation:
    ((told,),) = ask(f"DESCRIBE TABLE EXTENDED {place(schema, name)} AS JSON")
    table: Mapping[str, Any] = json.loads(str(told))
    partitions: Sequence[str] = table.get("partition_columns") or ()
    comment = str(table.get("comment") or "")
    if partitions:
        comment = f"{comment} (partitioned by {', '.join(partitions)})".lstrip()
    return Relation(
        schema,
        name,
        name if first else f"{schema}.{name}",
        tuple(_column(column) for column in table["columns"]),
        "view" if "VIEW" in str(table.get("type", "")) else "table",
        comment,
        (table.get("statistics") or {}).get("num_rows"),
    )


def _column(told: Mapping[str, Any]) -> ColumnSchema:
    declared = _declared(told["type"])
    return ColumnSchema(
        str(told["name"]),
        declared,
        "text" if "<" in declared else column_kind(declared, ()),
        not_null=not told.get("nullable", True),
        comment=str(told.get("comment") or ""),
    )


def _declared(told: Mapping[str, Any]) -> str:
    """A type as SQL writes it."""
    name = str(told["name"])
    if name == "decimal":
        return f"decimal({told['precision']},{told['scale']})"
    if name in ("char", "varchar"):
        return f"{name}({told['length']})"
    if name == "array":
        return f"array<{_declared(told['element_type'])}>"
    if name == "map":
        return f"map<{_declared(told['key_type'])},{_declared(told['value_type'])}>"
    if name == "struct":
        fields = (f"{field['name']}:{_declared(field['type'])}" for field in told["fields"])
        return f"struct<{','.join(fields)}>"
    if name == "interval":
        return f"interval {told.get('start_unit', '')} to {told.get('end_unit', '')}".replace(" to None", "")
    return name
