"""What is refused of a statement before a server sees it, where sqlglot itself stumbles or changes names."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlglot import Dialect
from tableturn.tools.database.postgres.dialect import GRAMMAR, PROFILE
from tableturn.tools.database.server.catalogue import Catalogue, Relation
from tableturn.tools.database.server.statement_check import StatementChecker, StatementGrammar
from tableturn.tools.database.sqlalchemy.engine import find_dialect_grammar
from tableturn.tools.errors import QueryRejected

CATALOGUE = Catalogue("1", (Relation("public", "account", "account", ()),))


@pytest.mark.parametrize("sql", ["SELECT match_against(label, owner, 1) FROM account"])
def test_what_cannot_be_written_is_refused(sql: str) -> None:
    with pytest.raises(QueryRejected, match="use simpler syntax"):
        StatementChecker(GRAMMAR).rewrite(sql, CATALOGUE)


@pytest.mark.parametrize("sql", ["SELECT * FROM groupıng(1, 5)", "SELECT ceılıng(1) FROM account"])
def test_a_letter_that_changes_with_its_case_makes_no_other_function(sql: str) -> None:
    profile = replace(PROFILE, functions=frozenset({"grouping", "ceiling", "ceil"}))
    with pytest.raises(QueryRejected):
        StatementChecker(StatementGrammar(Dialect.get_or_raise("bigquery"), profile)).rewrite(sql, CATALOGUE)


@pytest.mark.parametrize(
    "where", ["WHERE 'default' IN system.users", "WHERE 1 IN (vault)", "SETTINGS readonly = 0", "FORMAT Null"]
)
@pytest.mark.parametrize("name", ["clickhouse", "clickhousedb"])
def test_what_clickhouse_reads_beyond_its_tables_is_refused(name: str, where: str) -> None:
    reader = StatementChecker(find_dialect_grammar(name))
    assert reader.rewrite("SELECT 1 FROM account WHERE 1 IN (SELECT 1)", CATALOGUE)
    with pytest.raises(QueryRejected, match="not allowed"):
        reader.rewrite(f"SELECT 1 FROM account {where}", CATALOGUE)
