"""What does not fit the database, or contradicts itself, is told and left out."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest
from tableturn.tools.database import ColumnSchema, Database, Schema, TableSchema
from tableturn.tools.errors import KnowledgeError
from tableturn.tools.knowledge import Knowledge, build_knowledge_json_schema, read_knowledge
from tableturn.tools.knowledge.fragment import resolve_sql_fragment
from tableturn.tools.knowledge.read import load_yaml

from .conftest import Known

WHOLE = """
author: ann
terms:
  active: {means: has an open account, sql: "customers.status = 'A'", also: [live]}
  area: our sales regions
metrics:
  revenue: {expression: SUM(orders.total), where: "orders.state <> 'back'", grain: one row per order}
  price: {expression: 'SUM("order lines"."unit price" * quantity)'}
tables:
  customers:
    means: whoever bought something
    columns:
      status: {means: state of the account, values: {A: active, NO: never opened}}
      city: where they live
  visits: one visit to the shop
joins:
  - visits.customer_ref = customers.id
conventions:
  - Money is in euros.
never:
  - {use: orders.old_total, instead: orders.total}
"""


def test_a_whole_file_holds_and_is_what_the_published_schema_describes(known: Known) -> None:
    knowledge = known(WHOLE)
    assert knowledge.problems == ()
    assert len(knowledge.entries) == 11
    assert {entry.author for entry in knowledge.entries} == {"ann"}
    status = next(entry for entry in knowledge.entries if entry.name == "customers.status")
    assert status.values == (("A", "active"), ("NO", "never opened")), "codes stay what was written"
    revenue = next(entry for entry in knowledge.entries if entry.name == "revenue")
    assert revenue.sql == "SUM(CASE WHEN orders.state <> 'back' THEN orders.total END)"
    assert any(key.table == "visits" for key in knowledge.schema.foreign_keys)
    jsonschema.validate(load_yaml(WHOLE, ""), build_knowledge_json_schema())


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("terms: {a: {means: m, sql: customers.statu = 1}}", "customers has no column 'statu'; did you mean status?"),
        ("terms: {a: {means: m, sql: custmers.status = 1}}", "no table 'custmers'; did you mean customers?"),
        ("terms: {a: {means: m, sql: 'id > 3'}}", "'id' is a column of customers or orders: qualify it"),
        ("terms: {a: {means: m, sql: SUM(orders.total)}}", "a condition on a row, not an aggregate"),
        ("metrics: {a: {expression: orders.total}}", "computes over rows"),
        ("terms: {a: {means: m, sql: 'orders.total >'}}", "is not an SQL expression (it is incomplete)"),
        ("terms: {a: {means: m, sql: '1; DROP TABLE orders'}}", "is not an SQL expression"),
        ("terms: {a: {means: m, sql: nosuch(orders.total)}}", "does not compile"),
        ("joins: [visits.customer_ref > customers.id]", "a join is written as"),
        ("tables: {customers: {columns: {town: where}}}", "customers has no column 'town'"),
        ("never: [orders.older_total]", "orders has no column 'older_total'; did you mean "),
    ],
)
def test_what_no_longer_fits_is_left_out_with_the_nearest_name(known: Known, text: str, why: str) -> None:
    knowledge = known(text)
    assert knowledge.entries == ()
    assert why in str(knowledge.problems[0])


def test_two_meanings_of_one_word_are_both_left_out(known: Known) -> None:
    knowledge = known("terms: {big: {means: one}, large: {means: two, also: [Big]}, small: {means: three}}")
    assert [entry.name for entry in knowledge.entries] == ["small"]
    assert {problem.entry.name for problem in knowledge.problems} == {"big", "large"}
    assert "contradicts 'term large'" in knowledge.problems[0].why


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("terms: {a: {meanss: m}}", "terms > a > meanss: there is no field 'meanss' here; did you mean 'means'?"),
        ("metrics: {a: {means: m}}", "metrics > a > expression is missing"),
        ("term: {}", "did you mean 'terms'?"),
        ("definitions: {}", "there is no field 'definitions' here; there are "),
        ("terms: {a: x, a: y}", 'line 1, column 15: found duplicate key "a"'),
        ("terms: [", "is not YAML"),
        ("- a", "is not a knowledge file"),
        ("extends: [nothing.yaml]", "cannot read the knowledge file"),
        ("extends: [shop.knowledge.yaml]", "extends itself"),
    ],
)
def test_a_wrong_file_is_refused_with_the_place(known: Known, text: str, why: str) -> None:
    with pytest.raises(KnowledgeError) as error:
        known(text)
    assert why in str(error.value)


def test_the_file_on_top_counts(tmp_path: Path, known: Known) -> None:
    (tmp_path / "base.yaml").write_text("terms: {active: {means: old}, other: {means: kept}}")
    knowledge = known("extends: [base.yaml, database]\nterms: {active: new}")
    assert {entry.name: entry.text for entry in knowledge.entries} == {"active": "new", "other": "kept"}
    assert knowledge.problems == ()


SECRETS = """
terms:
  member: {means: a customer with a pin, sql: customers.pin IS NOT NULL}
  vip: has a customers.pin of one digit
  rich: spends a lot
tables:
  customers: {columns: {pin: four digits, city: where they live}}
conventions:
  - The pin is never shown.
  - Money is in euros.
"""


def test_nothing_that_tells_of_a_hidden_column_is_known(shop: Path, known: Known) -> None:
    with Database.open(shop, deny=["customers.pin"]) as narrow:
        knowledge = known(SECRETS, narrow)
    assert {entry.name for entry in knowledge.entries} == {"rich", "customers.city", "Money is in euros."}
    assert knowledge.problems == (), "not even that there is something"


@pytest.mark.parametrize("denied", ["orders", "order*", "orders.*", "*.total"])
def test_a_rule_in_plain_words_names_nothing_hidden(shop: Path, known: Known, denied: str) -> None:
    rules = "conventions: [A person has orders for the total., Money is in euros.]"
    with Database.open(shop, deny=[denied]) as narrow:
        assert [entry.name for entry in known(rules, narrow).entries] == ["Money is in euros."]


@pytest.mark.parametrize("of_files", [False, True])
def test_what_an_allow_list_leaves_out_is_not_told(shop: Path, known: Known, tmp_path: Path, of_files: bool) -> None:
    rules = "conventions: [A person has orders., Each has a pin., Money is in euros.]"
    if of_files:
        for name, columns in ("customers", "id,city,pin"), ("orders", "id,total"):
            (tmp_path / f"{name}.csv").write_text(f"{columns}\n{columns.replace('id', '1')}\n")
    with Database.open(
        str(tmp_path / "*.csv") if of_files else shop, allow=["customers.id", "customers.city"]
    ) as narrow:
        assert [entry.name for entry in known(rules, narrow).entries] == ["Money is in euros."]


def test_values_that_may_not_leave_are_not_told(shop: Path, tmp_path: Path) -> None:
    path = tmp_path / "k.yaml"
    path.write_text(WHOLE)
    with Database.open(shop, egress={"columns": {"customers.status": "none"}}) as database:
        names = {entry.name for entry in Knowledge.of(read_knowledge(path), database).entries}
    assert "customers.status" not in names
    assert "active" not in names
    assert "customers.city" in names


_SPELLED = Schema(
    "shop",
    (
        TableSchema("Orders", tuple(ColumnSchema(name, kind="number") for name in ("total", "Total", "customerId"))),
        TableSchema("visits", tuple(ColumnSchema(name, kind="number") for name in ("customerid", "place"))),
    ),
    dialect="postgres",
)


@pytest.mark.parametrize(
    ("sql", "about", "written"),
    [
        ('"Orders".Total > 5', (), '"Orders".total > 5'),
        ('"Orders"."Total" > 5', (), '"Orders"."Total" > 5'),
        ("orders.total > 5", (), '"Orders".total > 5'),
        ("customerId > 5", (), "visits.customerid > 5"),
        ("customerId > 5", ("Orders",), '"Orders"."customerId" > 5'),
        (
            "total + total > (SELECT max(place) FROM visits)",
            (),
            '"Orders".total + "Orders".total > (SELECT MAX(place) FROM visits)',
        ),
    ],
)
def test_names_of_a_definition_are_read_as_those_of_a_query(sql: str, about: tuple[str, ...], written: str) -> None:
    assert resolve_sql_fragment(sql, _SPELLED, about).sql == written
