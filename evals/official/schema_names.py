"""What the official evaluator knows of a schema: names, and which columns foreign keys make the same."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypedDict, cast

from ...tools.errors import SettingsError


@dataclass(frozen=True)
class Names:
    """Columns' names by table's name, all in lower case. Views are not among them."""

    columns: Mapping[str, tuple[str, ...]]

    @cached_property
    def ids(self) -> frozenset[str]:
        """Everything that a query may refer to: `*`, `table` and `table.column`."""
        full = {f"{table}.{column}" for table, columns in self.columns.items() for column in columns}
        return frozenset({"*", *self.columns, *full})


class TablesEntry(TypedDict):
    """One database in Spider's tables.json, as far as the evaluator reads it."""

    db_id: str
    table_names_original: list[str]
    column_names_original: list[tuple[int, str]]
    foreign_keys: list[tuple[int, int]]


def read_foreign_key_maps(path: Path) -> dict[str, dict[str, str]]:
    """The column that each foreign-key column stands for, by database, from a tables.json.

    Raises:
        SettingsError: The file is missing or is no tables.json.
    """
    try:
        entries = cast("list[TablesEntry]", json.loads(path.read_text(encoding="utf-8")))
        return {entry["db_id"]: foreign_key_map(entry) for entry in entries}
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise SettingsError(f"{path} cannot be read as a Spider tables.json: {error!r}") from error


def foreign_key_map(entry: TablesEntry) -> dict[str, str]:
    """`table.column` of every column in a foreign key, to the first column of its group.

    A pair joins the first group that holds either end; groups that a later pair connects stay apart.
    """
    groups: list[set[int]] = []
    for pair in entry["foreign_keys"]:
        home = next((group for group in groups if not group.isdisjoint(pair)), None)
        if home is None:
            home = set[int]()
            groups.append(home)
        home.update(pair)
    ids = _column_ids(entry["table_names_original"], entry["column_names_original"])
    return {ids[column]: ids[min(group)] for group in groups for column in group}


def declared_keys(names: Names, pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """As `foreign_key_map`, for a database that no tables.json describes.

    Args:
        names: The database's tables and columns, in its own order.
        pairs: A referring column and the one that it refers to, as `table.column` in lower case each.
    """
    columns = [(-1, "*"), *((number, column) for number, held in enumerate(names.columns.values()) for column in held)]
    place = {name: number for number, name in enumerate(_column_ids(list(names.columns), columns))}
    known = [(place[own], place[other]) for own, other in pairs if own in place and other in place]
    entry = TablesEntry(
        db_id="", table_names_original=list(names.columns), column_names_original=columns, foreign_keys=known
    )
    return foreign_key_map(entry)


def _column_ids(tables: Sequence[str], columns: Iterable[tuple[int, str]]) -> list[str]:
    return [f"{tables[table]}.{column}".lower() if table >= 0 else "*" for table, column in columns]
