"""What the schema's text says of values that bite."""

from __future__ import annotations

import pytest
from tableturn.tools.database import ColumnSchema, Schema, TableSchema, render_schema
from tableturn.tools.database.schema import ColumnKind
from tableturn.tools.database.table import Cell


def _written(column: ColumnSchema) -> str:
    return render_schema(Schema("d", (TableSchema("t", (column,)),))).splitlines()[-1]


@pytest.mark.parametrize(
    ("kind", "samples", "said"),
    [
        ("text", (" APG", "BOS"), "padded with spaces"),
        ("text", ("9", "10"), "numbers as text"),
        ("time", ("4/25/2008", "12/1/2009"), "does not sort by date"),
        ("text", ("", "yes"), "'' for none"),
        ("text", ("06511", "10001"), ""),
        ("time", ("2020-01-02", "2021-02-03"), ""),
    ],
)
def test_what_bites(kind: ColumnKind, samples: tuple[Cell, ...], said: str) -> None:
    text = _written(ColumnSchema("c", "TEXT", kind, samples=samples, distinct=500))
    assert f"({said})" in text if said else "] (" not in text


def test_all_of_few_values_are_shown_and_no_empty_one() -> None:
    status = ColumnSchema("status", "TEXT", samples=("new", "", "paid", "sent", "lost"), distinct=5)
    assert _written(status) == "t(status text {'new', 'paid', 'sent', 'lost'} ('' for none))"
    name = ColumnSchema("name", "TEXT", samples=("Ann", "Bo", "Cy", "Di"), distinct=900)
    assert _written(name) == "t(name text ['Ann'])"
