"""What is looked at before Spark runs anything, which takes no server."""

from __future__ import annotations

import sys

import pytest
from tableturn.tools.database import Database
from tableturn.tools.database.server.address import hide_url_secrets
from tableturn.tools.database.server.catalogue import Catalogue, Relation
from tableturn.tools.database.server.statement_check import StatementChecker
from tableturn.tools.database.spark.statements import GRAMMAR, check_plan, check_text, limit_rows, wrap_query
from tableturn.tools.database.table import Limits
from tableturn.tools.errors import DatabaseUnavailable, QueryError, QueryFailed, QueryRejected

_RELATIONS = {("spark_catalog", "default", "customer"), ("spark_catalog", "default", "v"), ("lake", "sales", "bill")}
_CATALOGUE = Catalogue("1", (Relation("default", "customer", "customer", ()),), user_functions=frozenset({"upper"}))
_CUSTOMER = "Relation spark_catalog.default.customer[id#1,name#2] parquet"


def _plan(*lines: str) -> str:
    analysed = "\n".join(("id: int", *lines))
    return (
        f"== Parsed Logical Plan ==\n'Project [*]\n\n== Analyzed Logical Plan ==\n{analysed}\n\n"
        "== Optimized Logical Plan ==\nx\n"
    )


@pytest.mark.parametrize(
    "lines",
    [
        ["Project [id#1]", "+- SubqueryAlias spark_catalog.default.customer", f"   +- {_CUSTOMER}"],
        [
            "Filter id#1 IN (list#9 [])",
            ":  +- Project [1 AS x#3]",
            ":     +- OneRowRelation",
            "+- HiveTableRelation [`spark_catalog`.`default`.`customer`, org.apache.hadoop.hive.Serde]",
        ],
        ["Project [id#1]", "+- RelationV2[id#1, name#2] lake.sales.bill"],
        [
            "SubqueryAlias spark_catalog.default.v",
            "+- View (`spark_catalog`.`default`.`v`, [id#1])",
            "   +- Project [id#1]",
            "      +- Relation [id#1] parquet",
        ],
        ["WithCTE", ":- CTERelationDef 0, false", ":  +- OneRowRelation", "+- CTERelationRef 0, true, [a#1], false"],
    ],
)
def test_tables_of_the_catalogue_may_be_read(lines: list[str]) -> None:
    plan = _plan(*lines)
    check_plan(plan, _RELATIONS)
    if "CTERelation" not in plan:
        with pytest.raises(QueryRejected):
            check_plan(plan, set())


@pytest.mark.parametrize(
    "lines",
    [
        ["Project [value#1]", "+- Relation [value#1] text"],
        ["Relation spark_catalog.default.hidden[id#1] parquet"],
        ["Relation spark_catalog.default.customers[id#1] parquet"],
        ["RelationV2[value#1] text file:/etc/passwd"],
        ["View (`spark_catalog`.`default`.`other`, [id#1])", f"+- {_CUSTOMER}"],
        [
            "Union false, false",
            ":- View (`spark_catalog`.`default`.`v`, [id#1])",
            f":  +- {_CUSTOMER}",
            "+- Relation [id#1] csv",
        ],
        ["InsertIntoHadoopFsRelationCommand file:/tmp/x, false, Parquet", f"+- {_CUSTOMER}"],
        ["ScriptTransformation cat, [x#1], Schema", f"+- {_CUSTOMER}"],
        ["SetCommand (x,Some(y))"],
        ["'Project [*]", f"+- {_CUSTOMER}"],
    ],
)
def test_nothing_else_is_read_or_done(lines: list[str]) -> None:
    with pytest.raises(QueryRejected):
        check_plan(_plan(*lines), _RELATIONS)


def test_a_plan_that_is_not_told_is_refused() -> None:
    with pytest.raises(QueryRejected, match="does not tell"):
        check_plan("Error occurred during query planning", _RELATIONS)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT '${env:PATH}'",
        "SELECT 1 AS `${system:user.home}`",
        "SELECT '\\u0024{env:PATH}'",
        "SELECT 'a\nb'",
        "SELECT 'a\\nb'",
        "SELECT 1 AS `a\nb`",
    ],
)
def test_what_the_server_would_read_otherwise_is_refused(sql: str) -> None:
    with pytest.raises(QueryRejected):
        check_text(StatementChecker(GRAMMAR).rewrite(sql, _CATALOGUE))


@pytest.mark.parametrize(
    ("sql", "written"),
    [
        ("SELECT 'it''s'", r"SELECT 'it\'s'"),
        (r"SELECT 'it\'s', 'a\\d'", r"SELECT 'it\'s', 'a\\d'"),
        ('SELECT "it\'s"', r"SELECT 'it\'s'"),
        ("SELECT name FROM Customer", "SELECT name FROM `default`.`customer` AS Customer"),
    ],
)
def test_texts_and_names_keep_their_meaning(sql: str, written: str) -> None:
    found = StatementChecker(GRAMMAR).rewrite(sql, _CATALOGUE)
    check_text(found)
    assert found == written


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM text.`/etc/passwd`",
        "SELECT java_method('java.lang.System', 'exit', 0)",
        "SELECT TRANSFORM(id) USING 'cat' FROM customer",
        "SELECT upper(name) FROM customer",
        "SET spark.sql.ansi.enabled = false",
        "FROM customer |> SELECT name INTO x",
        "FROM customer |> SELECT DISTINCT name",
    ],
)
def test_statements_are_checked_before_they_are_sent(sql: str) -> None:
    with pytest.raises(QueryError):
        StatementChecker(GRAMMAR).rewrite(sql, _CATALOGUE)


def test_no_command_can_stand_where_a_query_is_sent() -> None:
    # Whatever is sent begins with SELECT, and what was checked stands in parentheses.
    for sent in (wrap_query("DROP TABLE x"), limit_rows("DROP TABLE x", ["int"], Limits())):
        with pytest.raises(QueryFailed):
            StatementChecker(GRAMMAR).rewrite(sent, _CATALOGUE)


def test_values_are_bounded_by_their_types() -> None:
    sent = limit_rows(
        "SELECT 1", ["int", "string", "array<int>", "interval day", "decimal(10,2)"], Limits(cell_bytes=7)
    )
    assert sent.startswith("SELECT c1, CASE WHEN octet_length(c2) > 7 ")
    assert "to_json(c3)" in sent
    assert "CAST(c4 AS STRING)" in sent
    assert " c5 FROM " in sent


def test_without_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "pyspark"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(DatabaseUnavailable, match=r"tableturn\[spark\]"):
        Database.open("sc://localhost:15002")


def test_tokens_in_urls_are_not_shown() -> None:
    assert "s3cr3t-horse" not in hide_url_secrets("sc://h:1/;token=s3cr3t-horse?schema=x")
