"""What the login may do that it should not, asked without doing it: whether the server would plan a write."""

from __future__ import annotations

from collections.abc import Sequence

from .catalogue import Ask, place, read_names

_REFUSED = "Error occurred during query planning"
_PROBE = "tableturn_probe"
_TABLES = 3
_REMEDY = (
    "make one that only reads: in a catalogue that keeps grants (Unity Catalog, Polaris, Ranger), GRANT SELECT ON"
    " SCHEMA ... TO reader; where there is none, run the server as a user who may read the files but not write them"
)


def warnings(ask: Ask, schemas: Sequence[str], errors: tuple[type[Exception], ...]) -> tuple[str, ...]:
    """One line for each thing that the login may do beside reading, and one with the remedy.

    EXPLAIN is what asks: it plans a statement, with all that a catalogue has to say against it, and never runs it. What
    only the file system refuses is found when files are written, so that this is not seen.
    """

    def planned(statement: str) -> bool:
        try:
            return not any(str(row[0]).startswith(_REFUSED) for row in ask(f"EXPLAIN {statement}"))
        except errors:
            return False

    found: list[str] = []
    if planned(f"CREATE TABLE {place(schemas[0], _PROBE)} (x INT)"):
        found.append(f"Spark would let this login make tables in {schemas[0]}")
    tables = [place(*name) for name in read_names(ask, schemas)[:_TABLES]]
    if any(planned(f"INSERT INTO {table} SELECT * FROM {table} LIMIT 0") for table in tables):
        found.append("Spark would let this login write to tables")
    return (*found, _REMEDY) if found else ()
