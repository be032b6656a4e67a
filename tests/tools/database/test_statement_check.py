"""What a server is sent: what was checked, written anew, and nothing else."""

from __future__ import annotations

import pytest
from sqlglot import exp
from tableturn.tools.database.dialects import MOST_TOKENS, parse_text
from tableturn.tools.database.duckdb.grammar import GRAMMAR as DUCKDB
from tableturn.tools.database.mysql.dialect import GRAMMAR as MYSQL
from tableturn.tools.database.postgres.dialect import GRAMMAR
from tableturn.tools.database.server.catalogue import Catalogue, Relation
from tableturn.tools.database.server.statement_check import STATEMENT_LENGTH, StatementChecker, StatementGrammar
from tableturn.tools.errors import QueryError, QueryFailed, QueryRejected, ResultTooLarge

_CATALOGUE = Catalogue(
    "1",
    tuple(Relation(schema, name, shown, ()) for schema, name, shown in (
        ("public", "customer", "customer"), ("public", "Bill", "Bill"), ("sales", "t", "sales.t"),
    )),
    types=frozenset({"mood"}),
    user_functions=frozenset({"initcap"}),
    row_functions=frozenset({"secret_of"}),
)  # fmt: skip


def read(sql: str) -> str:
    return StatementChecker(GRAMMAR).rewrite(sql, _CATALOGUE)


@pytest.mark.parametrize(
    ("sql", "sent"),
    [
        ("select id from Customer", 'SELECT id FROM "public"."customer"'),
        ("SELECT c.id FROM customer c", 'SELECT c.id FROM "public"."customer" AS c'),
        ('SELECT "Bill".id FROM "Bill"', 'SELECT "Bill".id FROM "public"."Bill"'),
        ("SELECT bill.id FROM bill", 'SELECT bill.id FROM "public"."Bill" AS bill'),
        ("SELECT t.id FROM sales.t", 'SELECT t.id FROM "sales"."t"'),
        ("SELECT 1 /* a */ -- b", "SELECT 1"),
        ("SELECT 1;", "SELECT 1"),
        ("VALUES (1)", "VALUES (1)"),
        ("SELECT 'a'::mood", "SELECT CAST('a' AS mood)"),
        ("SELECT 'a'::\"mood\"", "SELECT CAST('a' AS \"mood\")"),
        ("SELECT * FROM generate_series(1, 2)", "SELECT * FROM GENERATE_SERIES(1, 2)"),
        ("SELECT upper(id) FROM customer", 'SELECT UPPER(id) FROM "public"."customer"'),
        ("SELECT * FROM generate_series(1, 2) x", "SELECT * FROM GENERATE_SERIES(1, 2) AS x"),
        (
            "SELECT 1 WHERE NOT EXISTS (SELECT FROM customer)",
            'SELECT 1 WHERE NOT EXISTS(SELECT FROM "public"."customer")',
        ),
        ("SELECT date_trunc('month', id) FROM customer", 'SELECT DATE_TRUNC(\'MONTH\', id) FROM "public"."customer"'),
    ],
)
def test_what_reads_is_written_with_its_schema(sql: str, sent: str) -> None:
    assert read(sql) == sent


@pytest.mark.parametrize(
    ("sql", "error", "said"),
    [
        ("WITH x AS (SELECT 1) DELETE FROM customer", QueryRejected, "the statement is DELETE: write a SELECT"),
        ("DELETE FROM customer", QueryRejected, "the statement is DELETE: write a SELECT"),
        ("WITH x AS (DELETE FROM customer RETURNING id) SELECT * FROM x", QueryRejected, "the statement has DELETE"),
        ("WITH x AS (INSERT INTO customer VALUES (1) RETURNING id) SELECT 1", QueryRejected, "statement has INSERT"),
        ("SELECT 1; SELECT 2", QueryRejected, "only one statement"),
        (" ; ", QueryFailed, "contains no query"),
        ("SELECT FROM customer", QueryFailed, "names no columns"),
        ("SELECT 1 FROM", QueryFailed, "cannot be read as SQL of this database: "),
        ("SELECT 'a\0'", QueryFailed, "NUL"),
        ("SELECT '\ud800'", QueryFailed, "valid Unicode"),
        ("SELECT id FROM nowhere", QueryFailed, "no such table: nowhere"),
        ("SELECT id FROM pg_class", QueryFailed, "no such table: pg_class"),
        ("SELECT id FROM other.public.customer", QueryFailed, "no such table: other.public.customer"),
        ("SELECT id FROM customer FOR UPDATE", QueryRejected, "locks rows"),
        ("SELECT id INTO x FROM customer", QueryRejected, "INTO"),
        ("SELECT $1", QueryRejected, "variables and placeholders"),
        ("SELECT :name", QueryRejected, "variables and placeholders"),
        ("SELECT pg_read_file('x')", QueryRejected, "the function pg_read_file() is not allowed"),
        ("SELECT pg_catalog.upper(id) FROM customer", QueryRejected, "qualified with a schema: write upper() alone"),
        ("SELECT initcap(id) FROM customer", QueryRejected, "a user-defined function has its name"),
        ("SELECT c.secret_of FROM customer c", QueryRejected, "also the name of a function"),
        ("SELECT 'a'::regclass", QueryRejected, "is not allowed here"),
        ("SELECT 'a'::grief", QueryRejected, "the type grief is not allowed here"),
        ("WITH pg_x AS (SELECT 1) SELECT * FROM pg_x", QueryRejected, "cannot be called pg_x"),
        ("SELECT 1 OPERATOR(a.+) 2", QueryRejected, "Operator is not allowed here: write the statement in plain SQL"),
    ],
)  # fmt: skip
def test_what_does_not_only_read_is_refused_and_said(sql: str, error: type[QueryError], said: str) -> None:
    with pytest.raises(error) as caught:
        read(sql)
    assert type(caught.value) is error
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("sql", "name"),
    [
        ("WITH x AS (SELECT 1) SELECT * FROM x", ""),
        ("WITH x AS (SELECT 1), y AS (SELECT * FROM x) SELECT * FROM y", ""),
        ("WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x WHERE n < 3) SELECT * FROM x", ""),
        ("WITH x AS (SELECT 1) SELECT * FROM (SELECT * FROM x) AS y", ""),
        ("WITH x AS (SELECT * FROM x) SELECT * FROM x", "x"),
        ("WITH y AS (SELECT * FROM x), x AS (SELECT 1) SELECT * FROM y", "x"),
        ("SELECT * FROM (WITH x AS (SELECT 1) SELECT * FROM x) AS y, x", "x"),
        ("WITH x AS (SELECT 1) SELECT * FROM public.x", "public.x"),
        ("WITH \"X\" AS (SELECT 1) SELECT * FROM x", "x"),
    ],
)  # fmt: skip
def test_a_name_is_a_common_table_expressions_only_where_that_is_in_scope(sql: str, name: str) -> None:
    if not name:
        assert read(sql) == sql
        return
    with pytest.raises(QueryFailed, match=f"no such table: {name}$"):
        read(sql)


@pytest.mark.parametrize(
    ("sql", "sent"),
    [
        ("jsonb_array_length(facts->'tags')", "JSONB_ARRAY_LENGTH(facts -> 'tags')"),
        ("jsonb_typeof((facts) -> 'a' -> 'b')", "JSONB_TYPEOF((facts) -> 'a' -> 'b')"),
        ("jsonb_typeof(data->0->>'b')", "JSONB_TYPEOF(data -> 0 ->> 'b')"),
        ("jsonb_agg(facts->'a' ORDER BY id)", "JSONB_AGG(facts -> 'a' ORDER BY id)"),
        ("coalesce(1, jsonb_array_length(facts->key))", "COALESCE(1, JSONB_ARRAY_LENGTH(facts -> key))"),
    ],
)
def test_an_arrow_in_a_call_reads_json(sql: str, sent: str) -> None:
    assert read(f"SELECT {sql} FROM customer") == f'SELECT {sent} FROM "public"."customer"'


@pytest.mark.parametrize(
    ("sql", "sent"),
    [
        ("json_array_length(facts->'$.tags')", "JSON_ARRAY_LENGTH(facts -> '$.tags')"),
        ("json_type(facts->'a'->>'b')", "JSON_TYPE((facts -> '$.a') ->> '$.b')"),
        ("json_array_length(json_extract(facts, '$.tags')) > 0", "JSON_ARRAY_LENGTH(facts -> '$.tags') > 0"),
        ("list_transform(l, x -> json_type(x->'$.a'))", "LIST_TRANSFORM(l, LAMBDA x : JSON_TYPE(x -> '$.a'))"),
        ("list_reduce(l, (x, y) -> x + y)", "LIST_REDUCE(l, LAMBDA x, y : x + y)"),
        ("list_transform(facts->'$.l', x -> 1)", "LIST_TRANSFORM(JSON_EXTRACT(facts, '$.l'), LAMBDA x : 1)"),
        ("COLUMNS(c -> c LIKE 'a%')", "COLUMNS(LAMBDA c : c LIKE 'a%')"),
    ],
)
def test_an_arrow_gives_a_lambda_only_to_functions_that_take_one(sql: str, sent: str) -> None:
    sql = StatementChecker(DUCKDB).rewrite(f"SELECT {sql} FROM customer", _CATALOGUE)
    assert sql == f'SELECT {sent} FROM "public"."customer"'


@pytest.mark.parametrize("condition", ["id <> ALL({})", "id = SOME({})", "id = ANY({})"])
def test_arrays_are_compared_by_their_operators(condition: str) -> None:
    for grammar, array in ((GRAMMAR, "ARRAY[1, 2]"), (DUCKDB, "[1, 2]")):
        sql = f"SELECT id FROM customer WHERE {condition.format(array)}"
        assert condition.format(array) in StatementChecker(grammar).rewrite(sql, _CATALOGUE)
        with pytest.raises(QueryRejected, match=r"pg_ls_dir\(\) is not allowed"):
            StatementChecker(grammar).rewrite(sql.replace("1, 2", "pg_ls_dir('.')"), _CATALOGUE)


@pytest.mark.parametrize("grammar", [GRAMMAR, DUCKDB, MYSQL])
@pytest.mark.parametrize("inner", ["SELECT id FROM customer", "SELECT 1 UNION SELECT id FROM customer LIMIT 1"])
def test_some_of_a_query_is_any_of_it(grammar: StatementGrammar, inner: str) -> None:
    checker, sql = StatementChecker(grammar), f"SELECT id FROM customer WHERE id = SOME ({inner})"
    assert checker.rewrite(sql, _CATALOGUE) == checker.rewrite(sql.replace("SOME", "ANY"), _CATALOGUE)


@pytest.mark.parametrize("grammar", [GRAMMAR, DUCKDB, MYSQL])
def test_a_column_before_an_arrow_is_read_as_a_column(grammar: StatementGrammar) -> None:
    tree = parse_text("SELECT json_type(secret_of->'a') FROM customer", grammar.dialect)[1][0]
    assert tree is not None
    assert [column.name for column in tree.find_all(exp.Column)] == ["secret_of"]
    with pytest.raises(QueryRejected, match="secret_of is not allowed here"):
        StatementChecker(grammar).rewrite("SELECT json_type(secret_of->'a') FROM customer", _CATALOGUE)


@pytest.mark.parametrize(
    "sql",
    [
        "PIVOT customer ON id USING count(*)",
        "UNPIVOT customer ON id INTO NAME n VALUE v",
        "SELECT * FROM (PIVOT customer ON id USING count(*))",
        "SELECT * FROM customer PIVOT (count(*) FOR id IN (1, 2))",
    ],
)
def test_pivots_are_refused_and_said(sql: str) -> None:
    with pytest.raises(QueryRejected, match="PIVOT and UNPIVOT are not read here: write an aggregate with FILTER"):
        StatementChecker(DUCKDB).rewrite(sql, _CATALOGUE)


@pytest.mark.parametrize(
    ("sql", "sent"),
    [
        ("JSON_VALUE(facts, '$.a')", "JSON_VALUE(facts, '$.a')"),
        ("MEDIAN(id) OVER (PARTITION BY name)", "MEDIAN(id) OVER (PARTITION BY name)"),
        ("TO_CHAR(day, 'YYYY-MM')", "TO_CHAR(day, 'YYYY-MM')"),
    ],
)
def test_functions_of_mariadb_are_written_as_they_are(sql: str, sent: str) -> None:
    rewritten = StatementChecker(MYSQL).rewrite(f"SELECT {sql} FROM sales.t", _CATALOGUE)
    assert rewritten == f"SELECT {sent} FROM `sales`.`t`"


@pytest.mark.parametrize(
    "call",
    [
        "struct_extract(s, 'a')",
        "from_json(s, 'b')",
        "map_keys(s)",
        "map_from_entries(s)",
        "flatten(s)",
        "format('{}', s)",
        "printf('%d', s)",
        "generate_subscripts(s, 1)",
        "bar(s, 0, 2, 10)",
        "jaro_winkler_similarity(s, 'a')",
        "try(s)",
    ],
)
def test_functions_of_duckdb_that_only_compute_are_written_as_they_are(call: str) -> None:
    sent = StatementChecker(DUCKDB).rewrite(f"SELECT {call} FROM customer", _CATALOGUE)
    assert sent.split(" FROM ")[0].lower() == f"select {call}"


def test_a_statement_may_have_so_many_characters_and_no_more() -> None:
    longest = f"SELECT '{'a' * (STATEMENT_LENGTH - 9)}'"
    assert read(longest) == longest
    with pytest.raises(ResultTooLarge, match="100,001 characters"):
        read(f"{longest} ")


@pytest.mark.parametrize("reads", ["SELECT * FROM", "TABLE", "FROM"])
def test_a_statement_may_have_so_many_selects_however_they_are_written(reads: str) -> None:
    rest = "".join(f", c{at} AS ({reads} c{at - 1})" for at in range(1, 300))
    with pytest.raises(ResultTooLarge, match="301 SELECTs and joins; the limit is 200"):
        read(f"WITH c0 AS (SELECT 1 AS a){rest} SELECT * FROM c299")


def test_a_statement_may_have_so_many_tokens_and_is_not_parsed_with_more() -> None:
    listed = ", ".join(["1"] * (MOST_TOKENS // 2))
    assert read(f"SELECT {listed}") == f"SELECT {listed}"
    with pytest.raises(ResultTooLarge, match="25,002 words, values and signs; the limit is 25,000"):
        read(f"SELECT {listed}, 1")


def test_a_syntax_error_is_told_in_one_line() -> None:
    with pytest.raises(QueryFailed) as caught:
        read("SELECT (1\nFROM customer")
    assert "Expecting )" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "\x1b" not in str(caught.value)


def test_what_was_read_before_is_read_anew_for_another_schema() -> None:
    reader = StatementChecker(GRAMMAR)
    assert reader.rewrite("SELECT * FROM customer", _CATALOGUE) == reader.rewrite("SELECT * FROM customer", _CATALOGUE)
    with pytest.raises(QueryFailed, match="no such table"):
        reader.rewrite("SELECT * FROM customer", Catalogue("2", ()))


def test_the_tables_of_a_statement_are_named_as_they_are_shown() -> None:
    sql = "WITH x AS (SELECT 1) SELECT * FROM x, bill, sales.t JOIN Customer ON TRUE"
    assert StatementChecker(GRAMMAR).list_tables(sql, _CATALOGUE) == ["Bill", "customer", "sales.t"]


def test_a_number_in_hexadecimal_stays_a_number() -> None:
    assert "id & 0x02" in StatementChecker(MYSQL).rewrite("SELECT id FROM customer WHERE id & 0x02", _CATALOGUE)


_TIES = "SELECT id FROM customer ORDER BY id FETCH FIRST 2 ROWS WITH TIES"
_LATER_TIES = _TIES.replace("FETCH", "OFFSET 1 ROWS FETCH")


@pytest.mark.parametrize(
    ("grammar", "sql"), [(DUCKDB, _TIES), (MYSQL, _LATER_TIES), (MYSQL, "TABLE t LIMIT 1 WITH TIES")]
)
def test_ties_that_would_be_lost_are_refused(grammar: StatementGrammar, sql: str) -> None:
    with pytest.raises(QueryRejected, match="compare rank"):
        StatementChecker(grammar).rewrite(sql, _CATALOGUE)


@pytest.mark.parametrize("grammar", [GRAMMAR, MYSQL])
def test_ties_are_kept_where_the_server_knows_them(grammar: StatementGrammar) -> None:
    sql = f"SELECT id FROM ({_TIES}) AS x"
    assert "FETCH FIRST 2 ROWS WITH TIES" in StatementChecker(grammar).rewrite(sql, _CATALOGUE)
