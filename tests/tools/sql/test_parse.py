import pytest
from sqlglot import exp
from tableturn.tools.errors import SQLParseError
from tableturn.tools.sql import is_ordered, parse_query_tree
from tableturn.tools.sql.parse import join_split_operators


@pytest.mark.parametrize(
    ("written", "joined"),
    [
        ("a > = 1 AND b ! = 2", "a >= 1 AND b != 2"),
        ("a <\n= 1 OR a < > 2 OR b = = 3", "a <= 1 OR a <> 2 OR b == 3"),
        ("a | | b", "a || b"),
        ("name = '> =' AND \"! =\" = 1", "name = '> =' AND \"! =\" = 1"),
        ("a > 1 -- > =\nAND b > = 2 /* ! = */", "a > 1 -- > =\nAND b >= 2 /* ! = */"),
        ("a = 'it''s > = x' AND [> =] > = 1", "a = 'it''s > = x' AND [> =] >= 1"),
        ("a > b", "a > b"),
        # What nothing ends goes to the end of the text, or thousands of such signs would be looked at for seconds.
        ("a > = 1 /* > = " + "/* " * 15_000, "a >= 1 /* > = " + "/* " * 15_000),
        ("a > = 1 AND [> = " + "[" * 15_000, "a >= 1 AND [> = " + "[" * 15_000),
    ],
)
def test_split_operators_are_joined_outside_strings(written: str, joined: str) -> None:
    assert join_split_operators(written) == joined


@pytest.mark.parametrize(
    "sql", ["SELECT 1;", ";; SELECT 1 ;;\n", "  select 1", "VALUES (1)", "WITH a AS (SELECT 1) SELECT * FROM a"]
)
def test_queries_are_parsed(sql: str) -> None:
    assert isinstance(parse_query_tree(sql), exp.Query | exp.Values)


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("", "no SQL"),
        ("  ;;  ", "no SQL"),
        ("SELECT 1; SELECT 2", "2 statements"),
        ("DELETE FROM customer", "found DELETE"),
        ("PRAGMA table_info(customer)", "found PRAGMA"),
        ("CREATE TABLE x AS SELECT 1", "found CREATE"),
        ("explain select 1", "found EXPLAIN"),
        ("SELECT * INTO x FROM customer", "found SELECT"),
        ("Sure! Here is the query", "unexpected token, near"),
        ("SELECT", "no columns"),
        ("FROM customer |> SELECT name INTO x", "sub-queries"),
        ("SELECT a FROM b FETCH FIRST 3 ROWS ONLY", "LIMIT"),
        ("SELECT 'open", "token"),
        ("SELECT " + "(" * 3000 + "1" + ")" * 3000, "nested too deeply"),
        ("FROM (" * 7000 + "a" + ")" * 7000, "nested too deeply"),
        ("SELECT '" + "x" * 100_000 + "'", "characters"),
    ],
)
def test_what_is_no_single_query_is_refused_with_the_reason(sql: str, reason: str) -> None:
    with pytest.raises(SQLParseError, match=f"(?i){reason}") as caught:
        parse_query_tree(sql)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("sql", "ordered"),
    [
        ("SELECT 1 ORDER BY 1", True),
        ("SELECT 1 UNION SELECT 2 ORDER BY 1", True),
        ("SELECT * FROM (SELECT 1 ORDER BY 1)", False),
        ("no sql", False),
    ],
)
def test_is_ordered(sql: str, ordered: bool) -> None:
    assert is_ordered(sql) is ordered


def test_a_table_after_in_is_written_out() -> None:
    tree = parse_query_tree(
        "SELECT a FROM u WHERE x IN main.t AND y NOT IN \"b c\" AND z IN (v) AND w IN json_each('[1]')"
    )
    assert sorted(table.this.name for table in tree.find_all(exp.Table)) == ["b c", "json_each", "t", "u"]
    assert tree.sql("sqlite") == (
        'SELECT a FROM u WHERE x IN (SELECT * FROM main.t) AND NOT y IN (SELECT * FROM "b c") AND z IN (v)'
        " AND w IN (SELECT * FROM JSON_EACH('[1]'))"
    )
