"""What a revision is shown of a result."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from tableturn.agent import SQLAgent
from tableturn.agent.evidence.feedback import format_result_csv, format_values
from tableturn.agent.records import PlainResult
from tableturn.prompts.templating import estimate_tokens
from tableturn.tools.database import Schema
from tableturn.tools.database.schema import ColumnSchema, TableSchema
from tableturn.tools.values import ValueMatch

from tests.support.scripted import writes


def test_a_small_result_is_shown_whole() -> None:
    assert format_result_csv(PlainResult(("a", "b"), ((1, "x, y"), (None, "z")))) == 'a,b\n1,"x, y"\nNULL,z\n'


def test_what_is_left_out_is_said() -> None:
    result = PlainResult(("a",), tuple((number,) for number in range(30)), truncated=True)
    assert format_result_csv(result, 2) == "a\n0\n1\n... (30 or more rows in all)\n"


@given(
    st.integers(1, 200),
    st.integers(0, 30),
    st.text(max_size=300),
    st.integers(1, 50),
    st.integers(8, 200),
    st.integers(50, 500),
)
def test_no_result_is_shown_beyond_its_bounds(
    columns: int, rows: int, cell: str, most: int, characters: int, tokens: int
) -> None:
    result = PlainResult(tuple(f"c{number}" for number in range(columns)), ((cell,) * columns,) * rows)
    shown = format_result_csv(result, most, characters=characters, tokens=tokens)
    assert shown.count("\n") <= most + 3
    assert estimate_tokens(shown) <= tokens + 2 * characters + 40, "one cell, and what was left out"


def test_what_failed_is_said_once(shop: Path) -> None:
    model = writes("SELECT nme FROM customers", "SELECT name FROM customers")
    with SQLAgent(shop, model=model, settings={"mend_names": False}) as agent:
        agent.ask("Who are the customers?")
    said = model.prompts[-1]
    assert "The query failed (unknown_column): There is no column nme in customers. use name\n" in said
    assert "It failed" not in said
    assert said.count("nme") == 2, "in the query and in the error"


def test_spaces_around_a_value_are_shown_where_they_are_the_fault() -> None:
    schema = Schema("sqlite", (TableSchema("flight", (ColumnSchema("code", "TEXT", samples=(" APG", "ABR")),)),))
    match = ValueMatch("flight", "code", " APG", "APG", 0, 3, 0.9, "typo")
    shown = format_values("SELECT * FROM flight WHERE code = 'APG'", schema, [match])
    assert shown == "flight.code holds ' APG'\nflight.code: ' APG', ABR, ..."
