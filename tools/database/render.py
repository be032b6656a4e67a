"""A schema as text for a prompt."""

from __future__ import annotations

from typing import Literal

from .schema import Schema

SchemaStyle = Literal["compact", "ddl", "credit", "track", "craft"]


def render_schema(
    schema: Schema,
    style: SchemaStyle = "compact",
    *,
    marked: frozenset[tuple[str, str]] = frozenset(),
    samples: int = 3,
) -> str:
    """The schema in one of the prompt forms."""
    lines = [f"Database {schema.name}"]
    for table in schema.tables:
        lines.append(
            f"{table.name}({', '.join(f'{c.name} {c.kind} {list(c.samples[:samples])}' for c in table.columns)})"
        )
    lines += [f"{k.table}.{k.columns[0]} = {k.ref_table}.{k.ref_columns[0]}" for k in schema.foreign_keys]
    return "\n".join(lines)
