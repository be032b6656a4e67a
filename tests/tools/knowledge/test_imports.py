"""What other tools know is read, and an export says the same again."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from tableturn.tools.database import Database
from tableturn.tools.knowledge import Knowledge, read_knowledge
from tableturn.tools.knowledge.write import build_knowledge_content

from .test_check import WHOLE

DBT = """
version: 2
models:
  - name: customers
    description: whoever bought something
    columns:
      - name: status
        description: state of the account
        data_tests:
          - not_null
          - accepted_values: {arguments: {values: [A, C]}}
  - name: visits
    columns:
      - name: customer_ref
        tests:
          - relationships: {to: ref('customers'), field: id}
semantic_models:
  - name: orders
    model: ref('orders')
    measures:
      - {name: total, agg: sum}
      - {name: buyers, agg: count_distinct, expr: customer_id}
metrics:
  - name: order_total
    label: Order total
    type: simple
    type_params: {measure: total}
    filter: "{{ Dimension('order__state') }} = 'sent'"
  - name: per_buyer
    type: ratio
    type_params: {numerator: total, denominator: {name: buyers}}
"""

NOTES = """
# What our words mean
Just prose.

- **Active**: has an open account `customers.status = 'A'`
- area: our sales regions
- Money is in euros,
  rounded.
"""


def of(path: Path, database: Database) -> Knowledge:
    return Knowledge.of(read_knowledge(path), database)


def test_dbt(tmp_path: Path, database: Database) -> None:
    (tmp_path / "schema.yml").write_text(DBT)
    knowledge = of(tmp_path / "schema.yml", database)
    assert knowledge.problems == ()
    found = {entry.key: entry for entry in knowledge.entries}
    assert found["column customers.status"].values == (("A", "A"), ("C", "C"))
    assert found["metric order total"].sql == "SUM(CASE WHEN orders.state = 'sent' THEN orders.total END)"
    assert "COUNT(DISTINCT orders.customer_id)" in found["metric per buyer"].sql
    assert any(key.table == "visits" for key in knowledge.schema.foreign_keys)


def test_markdown_notes(tmp_path: Path, database: Database) -> None:
    (tmp_path / "notes.md").write_text(NOTES)
    found = {entry.key: entry for entry in of(tmp_path / "notes.md", database).entries}
    assert found["term Active"].sql == "customers.status = 'A'"
    assert found["term area"].text == "our sales regions"
    assert "convention Money is in euros, rounded." in found


def test_an_export_says_the_same_again(tmp_path: Path, database: Database) -> None:
    (tmp_path / "k.yaml").write_text(WHOLE)
    knowledge = of(tmp_path / "k.yaml", database)
    (tmp_path / "again.yaml").write_text(yaml.safe_dump(build_knowledge_content(knowledge.entries)))
    again = of(tmp_path / "again.yaml", database)
    assert again.problems == ()
    assert {entry.line for entry in again.entries} == {entry.line for entry in knowledge.entries}
    assert build_knowledge_content(again.entries) == build_knowledge_content(knowledge.entries)


METRICS = """
models: [{name: visits, metrics: [{name: visitors, type: simple, agg: count_distinct, expr: customer_ref}]}]
semantic_models:
  - name: orders
    model: ref('orders')
    dimensions: [{name: progress, expr: state, type: categorical}, {name: buyer, expr: customer_id}]
    measures:
      - {name: total, agg: sum}
      - {name: old, agg: sum, expr: old_total}
      - {name: middle, agg: median, expr: total}
metrics:
  - {name: total, type: simple, type_params: {measure: {name: total, filter: "{{ Dimension('order__buyer') }} > 0"}}}
  - {name: old_total_sum, type: simple, type_params: {measure: old}}
  - name: growth
    type: derived
    filter: ["{{ Dimension('order__progress') }} = 'sent'"]
    type_params: {expr: (total - before) / before, metrics: [total, {name: old_total_sum, alias: before}]}
  - {name: share, type: ratio, type_params: {numerator: {name: total, filter: "total > 5"}, denominator: total}}
  - {name: so_far, type: cumulative, type_params: {measure: total, window: 7 days}}
  - {name: bought, type: conversion, type_params: {conversion_type_params: {entity: user}}}
  - name: last_month
    type: derived
    type_params: {expr: total - p, metrics: [total, {name: total, alias: p, offset_window: 1 month}]}
  - {name: typical, type: simple, type_params: {measure: middle}}
  - {name: gone, type: simple, type_params: {measure: nothing}}
  - {name: odd, type: simple, type_params: {measure: old}, filter: "{{ TimeDimension('x__y', 'day') + 1 }} > 2"}
  - {name: loop, type: derived, type_params: {expr: pool, metrics: [pool]}}
  - {name: pool, type: derived, type_params: {expr: loop, metrics: [loop]}}
"""


def test_metrics_of_dbt_are_compiled_from_others_or_told_by_name(tmp_path: Path, database: Database) -> None:
    (tmp_path / "schema.yml").write_text(METRICS)
    knowledge = of(tmp_path / "schema.yml", database)
    found = {entry.name: entry.sql for entry in knowledge.entries if entry.kind == "metric"}
    told = {problem.entry.name: problem.why for problem in knowledge.problems}
    assert found["visitors"] == "COUNT(DISTINCT visits.customer_ref)"
    assert found["total"] == "SUM(CASE WHEN orders.customer_id > 0 THEN orders.total END)"
    assert found["share"].count("orders.total > 5") == 1
    growth = found["growth"]
    assert growth.count("orders.state = 'sent'") == 3
    assert database.execute(f"SELECT {growth} FROM orders").rows == ((pytest.approx((15 - 18) / 18),),)
    assert set(told) == {"so far", "bought", "last month", "typical", "gone", "odd", "loop", "pool"}
    for name, why in [
        ("so far", "'cumulative'"),
        ("bought", "'conversion'"),
        ("last month", "offset"),
        ("typical", "'median'"),
        ("gone", "'nothing'"),
        ("odd", "Jinja"),
        ("loop", "itself"),
    ]:
        assert why in told[name], name
