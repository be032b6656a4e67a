"""A statement as it is sent: cut after the rows that are wanted, and refusing to send what is too large.

Standing in FROM, a statement that does anything but read is a mistake of syntax to Spark: it would run every other one.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..table import Limits
from .failures import TOO_LARGE

# Types whose values the client takes as they are, by how their names begin; all others are sent as text.
_PLAIN = (
    *("boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "void"),
    *("date", "timestamp", "string", "char", "varchar", "binary"),
)
_NOT_PLAIN = ("interval",)
_MEASURED = ("string", "char", "varchar", "binary")
_NESTED = ("array", "map", "struct")


def read_only(sql: str) -> str:
    """The statement where nothing but a query can stand."""
    return f"SELECT * FROM ({sql})"


def bounded(sql: str, types: Sequence[str], limits: Limits) -> str:
    """The statement, wrapped.

    Args:
        sql: One SELECT, as it was checked.
        types: Of its columns, as Spark names them: `array<int>`.
        limits: What it may give.

    Returns:
        A statement with as many columns: values that are neither numbers, times, texts nor bytes as text, JSON where
        they have parts. The server fails where one is too large.
    """
    names = [f"c{at}" for at in range(1, len(types) + 1)]
    listed = ", ".join(names)
    sent = ", ".join(_sent(name, kind, limits.cell_bytes) for name, kind in zip(names, types, strict=True))
    return f"SELECT {sent} FROM (SELECT * FROM ({sql}) AS s({listed}) LIMIT {int(limits.rows) + 1}) AS r({listed})"


def as_text(name: str, kind: str) -> str:
    """A column as what can be sent of it: itself, or a text that says the same."""
    if kind.startswith(_PLAIN) and not kind.startswith(_NOT_PLAIN):
        return name
    return f"to_json({name})" if kind.startswith(_NESTED) else f"CAST({name} AS STRING)"


def _sent(name: str, kind: str, longest: int) -> str:
    value = as_text(name, kind)
    if value == name and not kind.startswith(_MEASURED):
        return name
    return (
        f"CASE WHEN octet_length({value}) > {int(longest)} THEN raise_error('{TOO_LARGE}') ELSE {value} END AS {name}"
    )
