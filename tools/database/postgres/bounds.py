"""A statement as it is sent: cut after the rows that are wanted, and refusing to send what is too large.

Whole rows have to be taken from the server, and a value may have a gigabyte. So the server itself is made to fail on
a row that is too large, before it sends it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..table import Limits
from .failures import TOO_LARGE

# Types whose values have a few bytes, or a few thousand digits: truth values, integers, floats, numerics, times, UUIDs.
_SHORT = frozenset({16, 18, 20, 21, 23, 26, 700, 701, 790, 1082, 1083, 1114, 1184, 1186, 1266, 1700, 2950, 2278, 19})
_MEASURED = frozenset({17, 25, 1042, 1043})


def bounded(sql: str, types: Sequence[int], limits: Limits) -> str:
    """The statement, wrapped.

    Args:
        sql: One SELECT, as it was checked.
        types: The types of its columns, by their numbers in the server's catalogue.
        limits: What it may give.

    Returns:
        A statement with the same columns and, last, one that is always null.
    """
    names = [f"c{at}" for at in range(1, len(types) + 1)]
    sizes = [
        f"coalesce(octet_length({name if kind in _MEASURED else f'{name}::text'}), 0)"
        for name, kind in zip(names, types, strict=True)
        if kind not in _SHORT
    ]
    listed = ", ".join(names)
    told = "NULL::integer"
    if sizes:
        too_large = f"greatest({', '.join(sizes)}) > {int(limits.cell_bytes)}"
        if len(sizes) > 1:
            too_large += f" OR {' + '.join(f'{size}::bigint' for size in sizes)} > {int(limits.result_bytes)}"
        # A text that depends on a row, for the server computes casts of constants before it looks at a condition.
        told = f"CASE WHEN {too_large} THEN concat('{TOO_LARGE}', {sizes[0]})::integer END"
    return (
        f"SELECT {listed}, {told} FROM (SELECT * FROM ({sql}) AS s({listed}) LIMIT {int(limits.rows) + 1})"
        f" AS r({listed})"
    )
