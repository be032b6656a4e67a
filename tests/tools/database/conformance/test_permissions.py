"""What is hidden cannot be read, is listed nowhere, and looks as if it did not exist."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tableturn.tools.database import Database
from tableturn.tools.errors import QueryError, SettingsError

from .candidate import Candidate

_DENY = ("vault", "customer.city")

_LEAKS = (
    "SELECT * FROM vault",
    "SELECT count(*) FROM vault",
    "SELECT pin FROM vault",
    "SELECT 1 WHERE EXISTS (SELECT 1 FROM vault)",
    "SELECT name FROM customer WHERE name IN (SELECT owner FROM vault)",
    "WITH g AS (SELECT 'x' AS pin, 'y' AS owner) SELECT pin, owner FROM g FULL JOIN vault USING (pin, owner)",
    "SELECT pin FROM (SELECT 'x' AS pin) g RIGHT JOIN vault USING (pin)",
    "SELECT pin FROM (SELECT 'swordfish' AS pin) g JOIN vault USING (pin)",
    "SELECT * FROM (SELECT 'swordfish' AS pin) g NATURAL JOIN vault",
    "SELECT owner FROM owners",
    "SELECT count(*) FROM owners",
    "SELECT city FROM customer",
    "SELECT customer.city FROM customer",
    "SELECT json_type(city->'$.a') FROM customer",
    "SELECT name FROM customer WHERE city = 'Oslo'",
    "SELECT name FROM customer ORDER BY city",
    "SELECT count(*) FROM customer GROUP BY city",
    "SELECT 1 FROM customer a JOIN customer b USING (city)",
    "SELECT 1 FROM customer JOIN (SELECT 'Oslo' AS city) g USING (city)",
    "WITH x AS (SELECT city AS y FROM customer) SELECT y FROM x",
    "SELECT table_name FROM information_schema.tables",
    "SELECT column_name FROM information_schema.columns",
)


@pytest.fixture(scope="module")
def restricted(candidate: Candidate, url: str) -> Iterator[Database]:
    if not candidate.restricts:
        with pytest.raises(SettingsError):
            Database.open(url, deny=_DENY)
        pytest.skip(f"{candidate.name} keeps no permissions, and says so")
    with Database.open(url, deny=_DENY) as opened:
        yield opened


@pytest.mark.parametrize("sql", _LEAKS)
def test_hidden_things_are_not_there(restricted: Database, sql: str) -> None:
    with pytest.raises(QueryError) as caught:
        restricted.execute(sql)
    assert "swordfish" not in str(caught.value)


def test_nothing_hidden_is_listed(restricted: Database) -> None:
    schema = restricted.schema()
    assert {table.name for table in schema.tables} == {"customer", "orders", "line", "spare", "numbers", "large_orders"}
    customer = schema.table("customer")
    assert customer is not None
    assert [column.name for column in customer.columns] == ["id", "name"]
    assert "Oslo" not in repr(schema)


def test_hidden_values_are_refused(restricted: Database) -> None:
    for table, column in (("vault", "pin"), ("customer", "city"), ("owners", "owner")):
        with pytest.raises(QueryError):
            restricted.distinct_values(table, column, 10)


def test_the_rest_still_works(restricted: Database) -> None:
    assert restricted.execute("SELECT name FROM customer WHERE id = 1").rows == (("Anna Berg",),)
    assert restricted.execute("SELECT count(*) FROM large_orders").rows == ((2,),)
    sql = "SELECT c.name, sum(o.total) FROM customer c JOIN orders o ON o.customer_id = c.id GROUP BY c.name ORDER BY 2"
    assert restricted.execute(sql).rows[-1] == ("Anna Berg", 128.5)


def test_for_another_session(url: str, database: Database, restricted: Database) -> None:
    assert database.execute("SELECT count(*) FROM vault").rows == ((2,),)
    with restricted.for_user(restricted.session.identity) as same, pytest.raises(QueryError):
        same.execute("SELECT count(*) FROM vault")


def test_entries_that_name_nothing_are_told(candidate: Candidate, url: str, restricted: Database) -> None:
    with pytest.raises(SettingsError, match="custmer"):
        Database.open(url, deny=["custmer"])
