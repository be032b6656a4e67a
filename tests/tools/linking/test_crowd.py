"""Of a large schema, the group of tables that a question covers together."""

from __future__ import annotations

from tableturn.tools.database import ColumnSchema, ForeignKey, Schema, TableSchema
from tableturn.tools.linking import SchemaLinker, set_aside
from tableturn.tools.linking.groups import group_of


def _table(name: str, *columns: str, rows: int = 5, comment: str = "") -> TableSchema:
    first, *others = columns
    made = (ColumnSchema(first, "INTEGER", "number", primary_key=1), *(ColumnSchema(name, "TEXT") for name in others))
    return TableSchema(name, made, row_count=rows, comment=comment)


_FILLERS = [
    _table(f"dept{number}__{thing}", f"{thing}_id", "name", *(f"part{part}" for part in range(8)))
    for number in range(40)
    for thing in ("machine", "customer")
]
_SHOP = [
    _table("shop__customer", "customer_id", "name", "loyalty_tier"),
    _table("shop__voucher", "voucher_id", "customer_id", "redeemed_on"),
    _table("shop__voucher_old", "voucher_id", "customer_id", "redeemed_on"),
    _table("shop__branch", "branch_id", "town", rows=0),
]
_SCHEMA = Schema(
    "large",
    tuple(_FILLERS + _SHOP),
    (ForeignKey("shop__voucher", ("customer_id",), "shop__customer", ("customer_id",)),),
)


def test_the_group_that_covers_the_question_comes_first_and_whole() -> None:
    kept = SchemaLinker(_SCHEMA).link("Which customer redeemed the most vouchers?", max_columns=400, by_group=True).kept
    names = [table.name for table in kept.tables]
    assert set(names[:2]) == {"shop__customer", "shop__voucher"}
    assert set(names[-2:]) == {"shop__voucher_old", "shop__branch"}, "copies and empty tables come last of all"
    assert all(len(table.columns) == table.total_columns for table in kept.tables)
    assert len(kept.tables) < len(_SCHEMA.tables)


def test_of_a_group_too_large_to_show_whole_what_is_asked_for_comes_with_its_codes_and_few_rivals() -> None:
    others = [_table(f"erp__part{number}", *(f"a{number}_{part}" for part in range(10))) for number in range(200)]
    orders = _table("erp__order", "order_id", "status_cd", "amount")
    codes = _table("erp__status", "status_cd", "label")
    key = ForeignKey("erp__order", ("status_cd",), "erp__status", ("status_cd",))
    rivals = [_table(f"shop{number}__order", "order_id", "buyer") for number in range(30)]
    schema = Schema("erp", (*rivals, *others, orders, codes), (key,))
    kept = SchemaLinker(schema).link("What is the amount of each order?", max_columns=400, by_group=True).kept
    names = [table.name for table in kept.tables]
    assert names[0] == "erp__order"
    assert "erp__status" in names
    assert sum(name.startswith("shop") for name in names) <= 3
    assert max(map(names.index, ("erp__order", "erp__status"))) < min(
        place for place, name in enumerate(names) if name.startswith("shop")
    )


def test_groups_are_schemas_prefixes_or_what_keys_join() -> None:
    dotted = Schema("d", tuple(_table(f"{group}.t{n}", "id") for group in ("hr", "sales", "ops") for n in range(3)))
    assert set(group_of(dotted).values()) == {"hr", "sales", "ops"}
    joined = Schema(
        "j", (_table("a", "id"), _table("b", "id"), _table("c", "id")), (ForeignKey("b", ("id",), "a", ("id",)),)
    )
    groups = group_of(joined)
    assert groups["a"] == groups["b"] != groups["c"]


def test_what_is_set_aside() -> None:
    tables = (
        _table("orders", "id"),
        _table("orders_20240101", "id"),
        _table("stg_orders", "id"),
        _table("orders_backup", "id"),
        _table("orders_v1", "id", comment="Deprecated: use orders"),
        _table("old_age_pension", "id"),
        _table("returns", "id", rows=0),
        _table("stores", "id", comment="shops that are open"),
    )
    schema = Schema("s", tables)
    aside = {table.name for table in tables if set_aside(table, schema)}
    assert aside >= {"orders_20240101", "stg_orders", "orders_backup", "orders_v1", "returns"}
    assert not aside & {"orders", "stores"}
