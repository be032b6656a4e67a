"""Tables, keys, samples and what tells that something changed."""

from __future__ import annotations

import pytest
from tableturn.tools.database import Database
from tableturn.tools.errors import DatabaseUnavailable

from .candidate import Candidate
from .tables import NUMBERS


def test_who_it_is(candidate: Candidate, database: Database) -> None:
    assert database.engine.name == candidate.name
    assert database.dialect == candidate.dialect
    assert database.name
    assert isinstance(database.engine.version, str)


def test_tables_and_columns(database: Database) -> None:
    tables = {table.name: table for table in database.schema().tables}
    assert set(tables) == {"customer", "orders", "line", "spare", "vault", "numbers", "large_orders", "owners"}
    assert {name for name, table in tables.items() if table.kind == "view"} == {"large_orders", "owners"}
    assert [column.name for column in tables["orders"].columns] == ["id", "customer_id", "total", "status"]
    assert [column.kind for column in tables["orders"].columns] == ["number", "number", "number", "text"]


def test_keys(candidate: Candidate, database: Database) -> None:
    schema = database.schema()
    if not candidate.keeps_keys:
        assert (schema.foreign_keys, {table.primary_key for table in schema.tables}) == ((), {()})
        return
    line = schema.table("LINE")
    assert line is not None
    assert line.primary_key == ("order_id", "place")
    declared = {(key.table, key.columns, key.ref_table, key.ref_columns) for key in schema.foreign_keys}
    assert ("orders", ("customer_id",), "customer", ("id",)) in declared
    assert ("line", ("order_id",), "orders", ("id",)) in declared


def test_samples_and_counts(candidate: Candidate, database: Database) -> None:
    schema = database.schema()
    customer, numbers = schema.table("customer"), schema.table("numbers")
    assert customer is not None
    assert numbers is not None
    city = customer.column("city")
    assert city is not None
    assert set(city.samples) == {"Oslo", "Bergen"}
    if candidate.counts_rows:
        assert (customer.row_count, numbers.row_count) == (4, NUMBERS)


def test_schema_is_kept(database: Database) -> None:
    assert database.schema() is database.schema()


def test_changes_are_noticed(candidate: Candidate, own_url: str) -> None:
    with Database.open(own_url) as database:
        before, version = database.engine.state(), database.schema().version
        candidate.change(own_url, "INSERT INTO customer VALUES (5, 'Eva Gran', 'Oslo')")
        assert database.execute("SELECT count(*) FROM customer").rows == ((5,),)
        if candidate.has_state:
            assert database.engine.state() != before
        candidate.change(own_url, "CREATE TABLE later (x INTEGER)")
        assert database.execute("SELECT x FROM later").rows == ()
        assert database.schema().table("later") is not None
        assert database.schema().version != version


def test_closed(own_url: str) -> None:
    database = Database.open(own_url)
    database.execute("SELECT 1")
    database.close()
    with pytest.raises(DatabaseUnavailable, match="closed"):
        database.execute("SELECT 1")
    with pytest.raises(DatabaseUnavailable, match="closed"):
        database.schema()
