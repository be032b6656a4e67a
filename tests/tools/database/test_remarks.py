"""What the schema's text says of values that bite."""

from __future__ import annotations

import pytest
from tableturn.tools.database import ColumnSchema, Schema, TableSchema, render_schema
from tableturn.tools.database.column_kinds import choose_sample_values
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
        ("text", ("4/25/2008", "", "12/1/2009"), "does not sort by date, '' for none"),
        ("text", ("2008-04-25", "2008/05/01"), "dates of several forms"),
        ("time", ("2008-04-25", "20080501"), "dates of several forms"),
        ("text", ("", "yes"), "'' for none"),
        ("text", ("9", "", "10"), "numbers as text, '' for none"),
        ("text", ("1,200", "15"), "numbers as text, with signs"),
        ("text", ("$3", "$12.50"), "numbers as text, with signs"),
        ("text", ("9", "10", "N/A"), "numbers as text, 'N/A' for none"),
        ("text", ("unknown", "known"), ""),
        ("text", ("9", "ten"), ""),
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


def test_a_rare_form_is_among_the_samples() -> None:
    usual = [str(number) for number in range(100, 140)]
    assert choose_sample_values([*usual, "1,200", "", "7"], 8) == ("100", "101", "102", "103", "104", "1,200", "", "7")
    assert choose_sample_values(usual, 8) == tuple(usual[:8])
    assert choose_sample_values(["red", "blue", "green", "10"], 3) == ("red", "blue", "green")
    assert choose_sample_values([1, 2, 3, 4], 3) == (1, 2, 3)
