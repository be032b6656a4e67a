"""A statement is read once: however many look at it, its names are resolved once for each schema."""

from __future__ import annotations

import inspect
import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from threading import Barrier
from types import FrameType, MappingProxyType
from typing import Any

import pytest
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError
from sqlglot.expressions.core import Expression
from sqlglot.parser import Parser
from sqlglot.tokenizer_core import Token
from tableturn import SQLAgent
from tableturn.evals.lab.bench.stand_in import make_sample_db
from tableturn.tools.basis import build_query_basis
from tableturn.tools.database import ColumnSchema, Schema
from tableturn.tools.database import dialects as dialects_module
from tableturn.tools.database.duckdb import grammar as duckdb
from tableturn.tools.database.postgres import dialect as postgres
from tableturn.tools.database.server.catalogue import Catalogue, Relation
from tableturn.tools.database.server.statement_check import StatementChecker, StatementGrammar
from tableturn.tools.errors import SQLParseError
from tableturn.tools.expectation import extract_query_traits, score_used_items
from tableturn.tools.knowledge import Entry
from tableturn.tools.knowledge.fragment import find_used_entries
from tableturn.tools.knowledge.proposals import propose_entries_from_correction
from tableturn.tools.readings import make_tie_reading
from tableturn.tools.sql import (
    Query,
    check,
    explain,
    find_query_constants,
    find_used_schema_items,
    headings,
    make_sql_skeleton,
    mend_names,
    read_query,
    regularize,
    vectorize_query,
)
from tableturn.tools.sql import parse as parse_module
from tableturn.tools.sql import query as query_module
from tableturn.tools.sql.dialects import DialectRules
from tableturn.tools.sql.reads import get_values_of_read_columns
from tableturn.tools.sql.resolve import resolve
from tableturn.tools.sql.scope import NameResolution

from tests.support.queries import read
from tests.support.scripted import ScriptedModel
from tests.support.shared_trees import check_trees

from .shop import SHOP

Work = Counter[str]

_STATEMENTS = (
    "SELECT country, count(*) AS n FROM customer WHERE name != 'x' GROUP BY country ORDER BY n DESC LIMIT 3",
    "WITH b AS (SELECT id, total FROM orders) SELECT name FROM customer JOIN b USING (id) WHERE total > 3",
    "SELECT name FROM customer WHERE id IN (SELECT customer_id FROM orders) INTERSECT SELECT name FROM product",
)


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Iterator[Work]:
    """Count parses of each text, resolutions of each tree against a schema or a part of it, and copied expressions."""
    counts: Work = Counter()
    parse, copy, resolve_code = Parser.parse, Expression.__deepcopy__, inspect.unwrap(resolve).__code__

    def count_parse(self: Parser, tokens: list[Token], text: str) -> list[exp.Expr | None]:
        counts[f"parse {text}"] += 1
        return parse(self, tokens, text)

    def count_resolve(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code is resolve_code:  # whoever calls it, by whatever name
            tree, schema = frame.f_locals["tree"], frame.f_locals["schema"]
            tables = ", ".join(table.name for table in schema.tables)  # a part of a schema is another schema
            counts[f"resolve {tree.sql(copy=False)} {schema.version} {tables}"] += 1

    def count_copy(self: Expression, memo: object) -> exp.Expr:
        counts[f"copy {type(self).__name__}"] += 1
        return copy(self, memo)

    monkeypatch.setattr(Parser, "parse", count_parse)
    monkeypatch.setattr(Expression, "__deepcopy__", count_copy)
    for remembered in (dialects_module._parse_or_get_error, parse_module._read_cached, query_module._read_cached):
        remembered.cache_clear()
    for module in (sys, threading):
        module.setprofile(count_resolve)
    yield counts
    for module in (sys, threading):
        module.setprofile(None)
    query_module._read_cached.cache_clear()


def _read_in_all_ways(sql: str, schema: Schema) -> None:
    check(sql, schema, compiles=lambda sql, tables: None)
    build_query_basis(read(sql, schema), "how many customers are there in each country?")
    make_tie_reading(read(sql, schema))
    explain(read(sql, schema))
    headings(read(sql, schema), ["a", "b"])
    find_used_schema_items(sql, schema)
    find_query_constants(sql, schema.dialect)
    extract_query_traits(read(sql, schema))
    score_used_items(read(sql, schema), [("customer", None, 0.5)])
    regularize(sql, schema)
    make_sql_skeleton(sql, schema.dialect)
    vectorize_query(sql, schema.dialect)
    mend_names(sql, schema)
    get_values_of_read_columns(sql, schema, {("customer", "name"): "none"})
    propose_entries_from_correction(
        read(sql, schema), read(sql, schema), "how many customers are there in each country?"
    )
    find_used_entries(read(sql, schema), [Entry("term", "big", sql="total > 3")], "how many are big?")


@pytest.mark.parametrize("sql", _STATEMENTS)
def test_all_readers_share_one_resolution(work: Work, sql: str) -> None:
    _read_in_all_ways(sql, SHOP)
    _read_in_all_ways(sql, replace(SHOP))
    # The statement, and the definition that it may have used.
    assert [count for name, count in work.items() if name.startswith("resolve")] == [1, 1]
    assert work[f"parse {sql}"] == 1, work


@pytest.mark.parametrize("grammar", [duckdb.GRAMMAR, postgres.GRAMMAR], ids=["duckdb", "postgres"])
def test_the_check_of_a_statement_shares_its_reading_and_leaves_it(work: Work, grammar: StatementGrammar) -> None:
    catalogue = Catalogue("1", (Relation("main", "customer", "customer", (ColumnSchema("id"),), hides=True),))
    sql = "SELECT c.id FROM customer AS c"
    query = Query.of(sql, "duckdb" if grammar is duckdb.GRAMMAR else "postgres", SHOP)
    before = query.tree.copy()
    sent = StatementChecker(grammar).rewrite(sql, catalogue)
    assert '(SELECT "id" FROM "main"."customer") AS c' in sent
    assert query.tree == before
    assert work[f"parse {sql}"] == 1


@pytest.mark.parametrize("sql", _STATEMENTS)
def test_a_tree_is_read_and_not_changed(sql: str) -> None:
    query = Query.of(sql, "sqlite", SHOP)
    before = query.tree.copy()
    _read_in_all_ways(sql, SHOP)
    edit = query.edit()
    edit.of(query.scopes[0].select).set("where", None)
    assert query.tree == before
    assert edit.sql == edit.tree.sql("sqlite")


def test_what_a_query_hands_out_cannot_be_changed() -> None:
    query = Query.of("SELECT c.name AS n FROM customer AS c WHERE c.name = 'x' ORDER BY n", "sqlite", SHOP)
    scope = query.scopes[0]
    for handed_out in (
        query.tokens,
        query.scopes,
        query.columns,
        query.order,
        query.nested_select_chain,
        query.conditions(scope),
    ):
        assert isinstance(handed_out, tuple)
    for handed_out in (scope.sources, scope.nodes, scope.outputs, query.resolution.references):
        assert isinstance(handed_out, tuple)
    for names in (query.tables, scope.aliases, scope.sources[0].columns, scope.sources[0].column_aliases):
        assert isinstance(names, MappingProxyType)
    for record in (query, query.resolution, scope, scope.sources[0], query.resolution.references[0]):
        with pytest.raises(FrozenInstanceError):
            record.name = "other"  # pyright: ignore
    with pytest.raises(AttributeError):
        query.tokens[0].text = "DELETE"  # pyright: ignore


def test_a_changed_tree_is_found_and_named() -> None:
    sql = "SELECT name FROM customer WHERE id = 417"
    Query.of(sql, "sqlite", SHOP).tree.set("where", None)
    with pytest.raises(AssertionError, match=re.escape(repr(sql))):
        check_trees()
    query_module._read_cached.cache_clear()
    parse_module._read_cached.cache_clear()


def test_other_schemas_and_dialects_have_their_own_readings() -> None:
    sql = _STATEMENTS[0]
    other = replace(SHOP, tables=SHOP.tables[:1], version="other")
    assert Query.of(sql, "sqlite", SHOP) is Query.of(sql, "sqlite", replace(SHOP))
    assert Query.of(sql, "sqlite", SHOP) is not Query.of(sql, "sqlite", other)
    assert Query.of(sql, "sqlite", SHOP) is not Query.of(sql, "sqlite", replace(SHOP, tables=SHOP.tables[::-1]))
    assert Query.of(sql, "duckdb") is not Query.of(sql, "sqlite")
    with pytest.raises(SQLParseError):
        Query.of("SELECT", "sqlite", SHOP)


def test_names_are_resolved_by_the_rules_of_the_statement() -> None:
    sql = 'SELECT name FROM customer WHERE country = "France"'
    kinds = {
        dialect: [reference.kind for reference in Query.of(sql, dialect, SHOP).resolution.references][-1]
        for dialect in ("sqlite", "postgres")
    }
    assert kinds == {"sqlite": "string", "postgres": "unknown"}


def test_a_cte_of_a_tables_name_reads_the_table_but_where_it_may_read_itself() -> None:
    sql = "WITH customer AS (SELECT name FROM customer) SELECT name FROM customer"
    schema = replace(SHOP, dialect="duckdb")
    assert list(Query.of(sql, "duckdb", schema).tables) == ["customer"]
    assert list(Query.of(sql.replace("WITH", "WITH RECURSIVE"), "duckdb", schema).tables) == []


def test_a_turn_resolves_each_statement_once(work: Work) -> None:
    drafts = [
        "SELECT COUNT(*) FROM customers WHERE country = 'France'",
        "SELECT COUNT(*) FROM customers WHERE country_code = 'FR'",
        "SELECT country_code, COUNT(*) FROM customers GROUP BY country_code",
    ]
    replies = iter(drafts)
    model = ScriptedModel(script=lambda _: f"```sql\n{next(replies)}\n```\nSure: 90")
    with make_sample_db() as path, SQLAgent(path, model=model, settings={"record": "off"}) as agent:
        chat = agent.conversation("counted")
        assert chat.ask("How many customers are there in France?").sql == drafts[1]
        assert chat.ask("And in each country?").sql == drafts[2]
    for kind in ("parse", "resolve"):
        counted = {name: count for name, count in work.items() if name.startswith(kind)}
        assert len(counted) >= len(drafts)
        assert set(counted.values()) == {1}, counted
    # No statement is copied whole: the ledger counts by parts, and SQL in an answer is written from a copy, once.
    copies = {name: count for name, count in work.items() if name.startswith("copy")}
    parts = {"Column": 7, "Count": 5, "EQ": 1, "From": 1, "Literal": 1, "Null": 1, "Or": 1, "Table": 1}
    assert copies == {f"copy {name}": count for name, count in parts.items()}


def test_drafts_side_by_side_are_read_once(work: Work) -> None:
    drafts = [
        "SELECT COUNT(*) FROM customers WHERE country_code = 'FR'",
        "SELECT COUNT(id) FROM customers WHERE country_code = 'FR'",
        "SELECT COUNT(*) FROM customers WHERE country_code IN ('FR', 'F')",
    ]
    replies = iter(drafts * 3)
    model = ScriptedModel(script=lambda _: f"```sql\n{next(replies)}\n```\nSure: 90")
    with make_sample_db() as path, SQLAgent(path, model=model, settings={"record": "off", "effort": "high"}) as agent:
        assert agent.ask("How many customers are there in France?").sql in drafts
    for kind in ("parse", "resolve"):
        counted = {name: count for name, count in work.items() if name.startswith(kind)}
        assert len(counted) >= len(drafts)
        assert set(counted.values()) == {1}, counted


@pytest.mark.parametrize("sql", ["", "SELEC", "DROP TABLE customer", "SELECT " + "(" * 3_000])
def test_what_is_no_query_or_too_deep_is_none(sql: str) -> None:
    assert read_query(sql, SHOP) is None


@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
def test_a_turn_parses_what_cannot_be_parsed_once(work: Work, engine: str, tmp_path: Path) -> None:
    sql, path = "SELECT TOP 3 name FROM t", tmp_path / f"names.{engine}"
    module = pytest.importorskip(engine if engine == "duckdb" else "sqlite3")
    with closing(module.connect(str(path))) as connection:
        connection.execute("CREATE TABLE t (name TEXT)")
    model = ScriptedModel(script=lambda _: f"```sql\n{sql}\n```\nSure: 90")
    with SQLAgent(path, model=model, settings={"record": "off"}) as agent:
        assert not agent.ask("Which names are there?").answered
    assert work[f"parse {sql}"] == 1


def test_an_error_is_remembered_without_who_met_it() -> None:
    errors: list[BaseException] = []
    for _ in range(2):
        with pytest.raises(ParseError) as caught:
            dialects_module.parse_statement("SELECT TOP 3 name FROM t", "sqlite")
        errors.append(caught.value)
    first, second = errors
    assert first is not second
    assert vars(first) == vars(second)
    remembered = dialects_module._parse_or_get_error("SELECT TOP 3 name FROM t", Dialect.get_or_raise("sqlite"))
    assert isinstance(remembered, ParseError)
    assert remembered.__traceback__ is None


def test_what_cannot_be_read_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    reading = parse_module.parse_text

    def count(text: str, grammar: Dialect) -> Any:
        read.append(text)
        return reading(text, grammar)

    monkeypatch.setattr(parse_module, "parse_text", count)
    for _ in range(3):
        with pytest.raises(SQLParseError):
            Query.of("SELECT TOP 7 FROM FROM t", "sqlite")
    assert len(read) == 1


@pytest.mark.parametrize("sql", ["SELECT a FROM t ORDER BY a LIMIT 3", "(SELECT a FROM t ORDER BY a LIMIT 3)"])
def test_parentheses_around_a_statement_hide_neither_order_nor_limit(sql: str) -> None:
    query = Query.of(sql, "duckdb")
    assert [term.this.name for term in query.order] == ["a"]
    assert query.limit is not None
    assert query.limit.name == "3"


@pytest.mark.parametrize(
    ("joins", "held"),
    [
        ("JOIN (orders AS o JOIN item AS i ON {}) ON o.id = c.id", True),
        ("LEFT JOIN (orders AS o JOIN item AS i ON {}) ON o.id = c.id", False),
        ("JOIN (orders AS o RIGHT JOIN item AS i ON {}) ON o.id = c.id", False),
        ("RIGHT JOIN orders AS o ON o.id = c.id JOIN item AS i ON {}", True),
        ("JOIN item AS i ON {} FULL JOIN orders AS o ON o.id = c.id", False),
        ("SEMI JOIN item AS i ON {}", True),
        ("ANTI JOIN item AS i ON {}", False),
    ],
)
def test_rows_meet_the_condition_of_a_join_that_no_outer_join_undoes(joins: str, held: bool) -> None:
    condition = "i.quantity > 1"
    query = Query.of(
        f"SELECT c.id FROM customer AS c {joins.format(condition)}", "duckdb", replace(SHOP, dialect="duckdb")
    )
    (found,) = (each for each in query.conditions(query.scopes[0]) if query.text(each.node) == condition)
    assert (found.is_required, query.holds(found)) == (held, held)


def test_threads_that_ask_first_share_one_query(monkeypatch: pytest.MonkeyPatch) -> None:
    together = Barrier(4)
    reading = parse_module.parse_text

    def slow(text: str, grammar: Dialect) -> Any:
        time.sleep(0.05)
        return reading(text, grammar)

    def ask() -> Query:
        together.wait()
        return Query.of("SELECT 'asked first' FROM t", "sqlite", SHOP)

    monkeypatch.setattr(parse_module, "parse_text", slow)
    with ThreadPoolExecutor(4) as pool:
        first, *others = [each.result() for each in [pool.submit(ask) for _ in range(4)]]
    assert all(one is first for one in others)


def test_threads_share_one_parse(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    parsing = dialects_module.parse_tokens

    def slow(tokens: list[Token], sql: str, grammar: Dialect) -> Any:
        parsed.append(sql)
        time.sleep(0.05)
        return parsing(tokens, sql, grammar)

    monkeypatch.setattr(dialects_module, "parse_tokens", slow)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(dialects_module.parse_statement, ["SELECT 'parsed by four'"] * 4, ["sqlite"] * 4))
    assert len(parsed) == 1


def test_threads_share_one_resolution(monkeypatch: pytest.MonkeyPatch) -> None:
    resolved: list[str] = []
    resolving = query_module.resolve

    def slow(tree: exp.Expr, schema: Schema, rules: DialectRules) -> NameResolution:
        resolved.append("once")
        time.sleep(0.05)
        return resolving(tree, schema, rules)

    monkeypatch.setattr(query_module, "resolve", slow)
    query = Query.of("SELECT 'threads' FROM t", "sqlite")
    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(lambda: query.resolution) for _ in range(4)]
    found = [each.result() for each in waiting]
    assert len(resolved) == 1
    assert all(one is found[0] for one in found)


@pytest.mark.parametrize("dialect", ["postgres", "mysql", "duckdb"])
def test_an_on_does_not_see_what_later_joins_add(dialect: str) -> None:
    sql = "SELECT 1 FROM product JOIN item ON name = 'x' JOIN customer USING (id)"
    query = Query.of(sql, dialect, replace(SHOP, dialect=dialect))
    assert ("product", "name") in query.usage.columns
    where = Query.of(f"{sql} WHERE name = 'x'", dialect, replace(SHOP, dialect=dialect))
    assert [reference.kind for reference in where.resolution.references] == ["column", "ambiguous"]


@pytest.mark.parametrize(
    ("dialect", "joins", "owner"),
    [
        ("postgres", "item, orders JOIN product ON orders.id = 1 AND name = 'x', customer", "product"),
        ("postgres", "customer JOIN (orders JOIN product ON name = 'x') ON TRUE", "product"),
        ("postgres", "product JOIN item ON name = 'x' RIGHT JOIN customer USING (name)", "product"),
        ("duckdb", "product, item JOIN customer ON product.name = 'x'", "product"),
        ("sqlite", "customer JOIN (orders JOIN item ON name = 'x' JOIN product ON 1)", "product"),
        ("sqlite", "item JOIN orders ON name = 'x' JOIN product ON 1", "product"),
    ],
)
def test_an_on_sees_its_own_part_of_from(dialect: str, joins: str, owner: str) -> None:
    query = Query.of(f"SELECT 1 FROM {joins}", dialect, replace(SHOP, dialect=dialect))
    assert [column.table.name for column in query.columns if column.node.name == "name"] == [owner]


def test_in_duckdb_a_merged_column_comes_before_all_others() -> None:
    sql = "SELECT id FROM product, orders JOIN customer USING (id)"
    kinds = {
        d: Query.of(sql, d, replace(SHOP, dialect=d)).resolution.references[0].kind for d in ("duckdb", "postgres")
    }
    assert kinds == {"duckdb": "column", "postgres": "ambiguous"}


@pytest.mark.parametrize(
    ("joins", "owner"),
    [
        ("customer RIGHT JOIN orders USING (id)", "orders"),
        ("customer LEFT JOIN (orders RIGHT JOIN item USING (id)) USING (id)", "customer"),
        ("customer RIGHT JOIN (orders JOIN item USING (id)) USING (id)", "orders"),
        ("customer RIGHT JOIN (orders RIGHT JOIN product USING (id)) USING (id)", "product"),
        ("customer RIGHT JOIN orders USING (id) LEFT JOIN item USING (id)", "orders"),
    ],
)
def test_a_merged_column_is_that_of_the_side_whose_rows_are_kept(joins: str, owner: str) -> None:
    query = Query.of(f"SELECT id FROM {joins}", "postgres", replace(SHOP, dialect="postgres"))
    assert [column.table.name for column in query.columns if not column.node.table] == [owner]


@pytest.mark.parametrize(
    ("dialect", "sql", "kind"),
    [
        ("duckdb", "SELECT sum(id) AS id FROM orders GROUP BY customer_id HAVING id > 9", "alias"),
        ("mysql", "SELECT sum(id) AS id FROM orders GROUP BY customer_id HAVING id > 9", "alias"),
        ("postgres", "SELECT sum(id) AS id FROM orders GROUP BY customer_id HAVING id > 9", "column"),
        ("duckdb", "SELECT sum(id) AS id FROM orders GROUP BY customer_id HAVING sum(id) > 9", "column"),
        ("mysql", "SELECT c.name FROM customer AS c, product GROUP BY name", "column"),
        ("mysql", "SELECT upper(c.name) AS name FROM customer AS c, product GROUP BY name", "alias"),
        ("postgres", "SELECT c.name FROM customer AS c, product GROUP BY name", "ambiguous"),
    ],
)
def test_outputs_in_having_and_group_by_by_dialect(dialect: str, sql: str, kind: str) -> None:
    assert Query.of(sql, dialect, replace(SHOP, dialect=dialect)).resolution.references[-1].kind == kind


@pytest.mark.parametrize(
    ("end", "limit"),
    [("FETCH FIRST ROW ONLY", "1"), ("FETCH NEXT 3 ROWS ONLY", "3"), ("LIMIT ALL", ""), ("LIMIT 2", "2")],
)
def test_the_number_of_rows_that_are_kept(end: str, limit: str) -> None:
    query = Query.of(f"SELECT id FROM orders ORDER BY id {end}", "postgres")
    assert (query.limit.sql() if query.limit else "") == limit
    assert limit in query.edit().of(query.limit).sql() if query.limit else "LIMIT" not in query.edit().sql


@pytest.mark.parametrize(
    ("dialect", "end", "words"),
    [
        ("postgres", "FETCH FIRST ROW WITH TIES", "only the first 1 row and those that tie with the last."),
        ("duckdb", "LIMIT 10%", "only the first 10% of the rows."),
        ("postgres", "FETCH FIRST ROW ONLY", "only the one with the largest id."),
        ("postgres", "LIMIT ALL", "sorted by id descending."),
    ],
)
def test_how_many_rows_a_limit_leaves_is_said(dialect: str, end: str, words: str) -> None:
    query = Query.of(f"SELECT id FROM orders ORDER BY id DESC {end}", dialect, replace(SHOP, dialect=dialect))
    assert explain(query).endswith(words)


def test_joins_with_an_alias_are_read_as_a_sub_query() -> None:
    query = Query.of("SELECT t.name FROM (customer AS c JOIN orders AS o ON o.customer_id = c.id) AS t", "sqlite", SHOP)
    assert {reference.kind for reference in query.resolution.references} == {"column"}
    assert {("customer", "*"), ("orders", "*")} <= query.usage.columns
