"""Which SQL functions a query may call.

Everything that computes from its arguments; nothing that writes, loads code, tells about the machine or the
connection, or hands out pointers. A function that a newer SQLite brings stays out until it is added here.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress

_SCALAR = """
    abs char coalesce concat concat_ws format glob hex if ifnull iif instr length like likelihood likely lower ltrim
    max min nullif octet_length printf quote random randomblob replace round rtrim sign soundex sqlite_version substr
    substring trim typeof unhex unicode unistr unlikely upper zeroblob
"""
_MATHEMATICS = """
    acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10 log2 mod pi pow power
    radians sin sinh sqrt tan tanh trunc
"""
_TIME = "current_date current_time current_timestamp date datetime julianday strftime time timediff unixepoch"
_AGGREGATE = "avg count group_concat max median min percentile percentile_cont percentile_disc string_agg sum total"
_WINDOW = "cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank row_number"
# json_patch is left out: it takes quadratic time inside one call, which nothing can interrupt.
_JSON = """
    -> ->> json json_array json_array_length json_error_position json_extract json_group_array json_group_object
    json_insert json_object json_pretty json_quote json_remove json_replace json_set json_type json_valid
"""

FULL_TEXT_FUNCTIONS = frozenset({"bm25", "highlight", "match", "matchinfo", "offsets", "snippet"})
"""Those that take a full-text table; names in lower case."""

ALLOWED_FUNCTIONS = FULL_TEXT_FUNCTIONS.union(
    " ".join((_SCALAR, _MATHEMATICS, _TIME, _AGGREGATE, _WINDOW, _JSON)).split()
)
"""Names in lower case."""

TABLE_FUNCTIONS = frozenset({"json_each", "json_tree"})
"""Those that stand in FROM."""


def declare_table_functions(connection: sqlite3.Connection) -> None:
    """Use each table function once: they come into being on first use, which the guard would refuse."""
    for name in sorted(TABLE_FUNCTIONS):
        # A table of that name takes its place.
        with suppress(sqlite3.OperationalError):
            connection.execute(f"SELECT 1 FROM {name}('[]')").close()
