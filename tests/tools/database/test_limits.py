"""Whatever a query tries to use up, it ends inside its limits and leaves the database usable."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from tableturn.tools.database import Cancellation, Database, Limits
from tableturn.tools.database.sqlite.bounded_work import compute_value_limit
from tableturn.tools.errors import QueryError, QueryTimeout, ResultTooLarge

from tests.support.steps import grows_in_proportion

_COUNT = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
_NESTED = "WITH a0 AS (SELECT 1 x UNION ALL SELECT 2)" + "".join(
    f", a{i} AS (SELECT a.x FROM a{i - 1} a, a{i - 1} b)" for i in range(1, 25)
)
_DOUBLED = "WITH b0 AS (SELECT 'aaaaaaaaaa' x)" + "".join(
    f", b{i} AS MATERIALIZED (SELECT x || x x FROM b{i - 1})" for i in range(1, 40)
)
_LONG = "replace(hex(zeroblob(200000)), '0', 'a')"
_SEARCHED = (
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 100000), "
    "s(x) AS (SELECT group_concat('a' || x, ' OR ') FROM c) "
)

BOMBS = {
    "endless recursion": _COUNT + "SELECT count(*) FROM c",
    "endless union": "WITH RECURSIVE c(x) AS (SELECT 1 UNION SELECT x + 1 FROM c) SELECT max(x) FROM c",
    "cross join": "SELECT count(*) FROM " + ", ".join(f"orders o{i}" for i in range(30)),
    "cross join of a recursion": _COUNT + "SELECT count(*) FROM c a, c b, c d",
    "sorting without end": _COUNT + "SELECT x, randomblob(100) r FROM c ORDER BY r",
    "grouping without end": _COUNT + "SELECT x, count(*) FROM c GROUP BY x",
    "distinct without end": _COUNT + "SELECT count(DISTINCT hex(x)) FROM c",
    "window without end": _COUNT + "SELECT sum(x) OVER (ORDER BY x DESC) FROM c",
    "collecting without end": _COUNT + "SELECT group_concat(x) FROM c",
    "json without end": _COUNT + "SELECT json_group_array(x) FROM c",
    "nested expressions that double": _NESTED + " SELECT count(*) FROM a24",
    "text that doubles": _DOUBLED + " SELECT length(x) FROM b39",
    "zeroblob": "SELECT zeroblob(1000000000)",
    "randomblob": "SELECT randomblob(1000000000)",
    "hex of zeroblob": "SELECT hex(zeroblob(900000))",
    "printf width": "SELECT printf('%1000000000d', 1)",
    "printf star": "SELECT printf('%*d', 1000000000, 1)",
    "printf precision": "SELECT printf('%.1000000000f', 1)",
    "printf of characters": "SELECT printf('%.*c', 1000000000, 'x')",
    "printf of a computed format": "SELECT printf('%.' || 1000000000 || 'c', 'x')",
    "printf behind a comment": "SELECT printf/**/('%.1000000000c', 'x')",
    "printf behind a byte order mark": "SELECT printf \ufeff('%.*c', 2147483000, 'x')",
    "printf star behind a byte order mark": "SELECT printf \ufeff('%*d', 1000000000, 1)",
    "search behind a byte order mark": "SELECT "
    + ", ".join(["instr \ufeff(hex(zeroblob(490000)), hex(zeroblob(240000)) || '1')"] * 50),
    "quoted printf": "SELECT \"printf\"('%.1000000000c', 'x')",
    "format": "SELECT format ('%.1000000000c', 'x')",
    "replace": "SELECT replace(hex(zeroblob(100000)), '0', hex(zeroblob(100)))",
    "quote": "SELECT quote(zeroblob(900000))",
    "json nesting": "SELECT json('" + "[" * 5000 + "]" * 5000 + "')",
    "wide row of long values": "SELECT " + ", ".join(f"hex(zeroblob({499_999 - i}))" for i in range(1500)),
    "long rows": _COUNT + "SELECT hex(zeroblob(400000)) FROM c",
    "deep brackets": "SELECT " + "(" * 5000 + "1" + ")" * 5000,
    "deep sum": "SELECT " + "+".join(["1"] * 5000),
    "deep case": "SELECT " + "CASE WHEN 1 THEN " * 2000 + "1" + " END" * 2000,
    "deep subquery": "SELECT * FROM " + "(SELECT * FROM " * 500 + "customer" + ")" * 500,
    "many unions": " UNION ALL ".join(["SELECT 1"] * 1000),
    "many joins": "SELECT 1 FROM " + ", ".join(f"customer c{i}" for i in range(100)),
    "many columns": "SELECT " + ", ".join(["1"] * 5000),
    "long statement": "SELECT '" + "a" * 200_000 + "'",
    "trim character by character": f"SELECT trim(replace({_LONG}, 'a', 'b'), {_LONG} || 'b')",
    "many trims": "SELECT " + " + ".join([f"length(trim({_LONG}, {_LONG} || 'b'))"] * 50),
    "search in a long text": "SELECT instr(hex(zeroblob(499999)), hex(zeroblob(200000)) || '1')",
    "replace in a long text": "SELECT length(replace(hex(zeroblob(499999)), hex(zeroblob(100000)) || '1', 'x'))",
    "like on long texts": _COUNT
    + f"SELECT count(*) FROM c WHERE hex(zeroblob(400000 + x % 2)) LIKE '%0%0%0%{'0' * 400}1'",
    "computed like pattern": _COUNT
    + "SELECT count(*) FROM c WHERE hex(zeroblob(400000 + x % 2)) LIKE '%' || hex(zeroblob(400)) || '1'",
    "many windows": "SELECT "
    + ", ".join(f"row_number() OVER (PARTITION BY id + {i})" for i in range(1900))
    + " FROM customer",
    "windows that multiply": "WITH a0 AS NOT MATERIALIZED (SELECT "
    + ", ".join(f"rank() OVER (PARTITION BY id + {i}) r{i}" for i in range(90))
    + " FROM customer)"
    + "".join(f", a{i} AS NOT MATERIALIZED (SELECT a.* FROM a{i - 1} a, a{i - 1} b)" for i in range(1, 6))
    + " SELECT count(*) FROM a5",
    "searching for many words": _SEARCHED + "SELECT count(*) FROM note WHERE note MATCH (SELECT x FROM s)",
    "old searching for many words": _SEARCHED + "SELECT count(*) FROM old_note WHERE old_note MATCH (SELECT x FROM s)",
    "searching for a name": _SEARCHED + 'SELECT count(*) FROM s, old_note WHERE old_note MATCH "x"',
    "searching by a table function": _SEARCHED + "SELECT count(*) FROM s, note(s.x)",
    "searching by =": _SEARCHED + "SELECT count(*) FROM note WHERE note = (SELECT x FROM s)",
    "searching by another name": _SEARCHED + "SELECT count(*) FROM (SELECT note AS n FROM note), s WHERE n = x",
    "searching behind a keyword": _SEARCHED
    + "SELECT count(*) FROM (SELECT old_note AS recursive FROM old_note) WHERE recursive MATCH (SELECT x FROM s)",
    "searching for a long text": f"SELECT count(*) FROM note WHERE note MATCH '{'a ' * 40_000}'",
    "searching for a joined text": f"SELECT count(*) FROM note WHERE note MATCH 'a' || {_LONG}",
    "like with a long pattern": f"SELECT 'a' LIKE '{'%a' * 5000}'",
}


@pytest.mark.parametrize("name", BOMBS)
def test_bomb_ends_inside_its_limits(shop: Database, name: str) -> None:
    with pytest.raises(QueryError) as caught:
        shop.execute(BOMBS[name], Limits(seconds=0.2, rows=1_000_000))
    assert caught.value.kind in ("timeout", "too_large", "rejected", "other")
    assert shop.execute("SELECT count(*) FROM customer").rows == ((4,),)


def test_long_lists_are_no_bomb(shop: Database) -> None:
    numbers = ", ".join(map(str, range(7_000)))
    assert shop.execute(f"SELECT count(*) FROM customer WHERE id IN ({numbers})").rows == ((4,),)


@pytest.mark.parametrize(("rows", "truncated"), [(3, True), (4, False), (5, False), (0, True)])
def test_rows_are_capped_and_say_so(shop: Database, rows: int, truncated: bool) -> None:
    table = shop.execute("SELECT id FROM customer ORDER BY id", Limits(rows=rows))
    assert table.rows == tuple((i,) for i in range(1, min(rows, 4) + 1))
    assert table.truncated is truncated


def test_endless_query_stops_at_the_row_cap(shop: Database) -> None:
    table = shop.execute(_COUNT + "SELECT x FROM c", Limits(rows=700))
    assert len(table.rows) == 700
    assert table.truncated


def test_long_value_names_the_limit(shop: Database) -> None:
    with pytest.raises(ResultTooLarge, match="10,000 bytes"):
        shop.execute("SELECT zeroblob(10001)", Limits(cell_bytes=10_000))
    assert len(shop.execute("SELECT zeroblob(10000)", Limits(cell_bytes=10_000)).rows) == 1


def test_result_size_is_limited(shop: Database) -> None:
    with pytest.raises(ResultTooLarge, match="select fewer"):
        shop.execute(_COUNT + "SELECT hex(zeroblob(500)) FROM c LIMIT 900", Limits(result_bytes=100_000))


def test_timeout_comes_in_time(shop: Database) -> None:
    with pytest.raises(QueryTimeout, match=r"0\.1 s"):
        shop.execute(_COUNT + "SELECT count(*) FROM c", Limits(seconds=0.1))


def test_cancelling_stops_the_right_one_of_many(shop: Database) -> None:
    handles = [Cancellation() for _ in range(12)]
    endless = _COUNT + "SELECT count(*) FROM c"
    ended: list[int] = []

    def ask(number: int) -> str:
        try:
            shop.execute(endless, Limits(seconds=20), handles[number])
        except QueryTimeout as error:
            ended.append(number)
            return str(error)
        return "no error"

    with ThreadPoolExecutor(len(handles)) as threads:
        answers = [threads.submit(ask, number) for number in range(len(handles))]
        for number in (5, 2, 9):
            handles[number].cancel()
            assert answers[number].result(timeout=10) == "the query was cancelled"
        assert sorted(ended) == [2, 5, 9]
        for handle in handles:
            handle.cancel()
        assert {answer.result(timeout=10) for answer in answers} == {"the query was cancelled"}


def test_cancelled_handle_stops_later_queries(shop: Database) -> None:
    handle = Cancellation()
    handle.cancel()
    with pytest.raises(QueryTimeout):
        shop.execute("SELECT 1", cancellation=handle)


def test_many_threads_share_one_database(shop: Database) -> None:
    def ask(number: int) -> bool:
        for step in range(20):
            key = (number + step) % 4 + 1
            if shop.execute(f"SELECT id FROM customer WHERE id = {key}").rows != ((key,),):
                return False
            with pytest.raises(QueryError):
                shop.execute("DELETE FROM customer")
        return True

    with ThreadPoolExecutor(50) as threads:
        assert all(threads.map(ask, range(50)))


@pytest.mark.parametrize(
    ("sql", "limited"),
    [
        ("SELECT name FROM t", False),
        ("SELECT replace(a, 'x', 'y'), trim(b), trim(c, '\"'), instr(d, '@') FROM t WHERE e LIKE '%x%'", False),
        ("SELECT replace(replace(a, 'x', 'y'), 'z', '') FROM t", False),
        ("SELECT instr(a, b) FROM t", True),
        ('SELECT "instr"(a, b) FROM t', True),
        ("SELECT instr \ufeff/**/\ufeff(a, b) FROM t", True),
        ("SELECT trim(a, b) FROM t", True),
        ("SELECT replace(a, b, 'x') FROM t", True),
        ("SELECT a FROM t WHERE " + " OR ".join(["a LIKE b"] * 9), True),
        ("SELECT trim(a, 'x' || b)", True),
        ("SELECT trim(a, (b))", True),
        ("SELECT /* /* */ instr(a, b) -- */, trim(c, 'x')\n", True),
        ("SELECT '/*', instr(a, b), '*/'", True),
        ("SELECT 'instr(a, b)', \"instr(a, b)\" -- instr(a, b)", False),
        ("SELECT " + ", ".join(["upper(a)"] * 1000), True),
    ],
)
def test_values_are_held_short_where_work_could_grow(sql: str, limited: bool) -> None:
    assert (compute_value_limit(sql, 1_000_000) < 1_000_000) is limited


@pytest.mark.parametrize(
    ("text", "times"),
    [("'", 2_501), ("[", 4_000), ('"', 2_501), ("/*", 2_000), ("printf/**/", 1_000), ("trim(", 1_000)],
)
def test_checks_take_work_in_proportion_to_the_text(text: str, times: int) -> None:
    assert grows_in_proportion(lambda size: compute_value_limit(f"SELECT like {text * size}", 1_000_000), times)
