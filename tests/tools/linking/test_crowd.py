"""Of a large schema, the group of tables that a question covers together."""

from __future__ import annotations

from tableturn.tools.database import ColumnSchema, ForeignKey, Schema, TableSchema
from tableturn.tools.linking import SchemaLinker, families, set_aside


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
    assert "shop__voucher_old" not in names, "a copy takes no room"
    assert all(len(table.columns) == table.total_columns for table in kept.tables[:8])
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
    assert names.index("erp__status") <= 3


def _warehouse() -> Schema:
    """Eighty subjects of one warehouse without prefixes, each with a bridge to customers, staging and an old copy."""
    subjects = [f"{kind}{thing}" for kind in ("rent", "meal", "tour", "ride") for thing in range(20)]
    tables = [_table("customers", "customer_id", "surname", "town")]
    keys: list[ForeignKey] = []
    for subject in subjects:
        own = (f"{subject}_id", "price", "made_on", f"{subject}_note")
        bridge = _table(f"zz_{subject}", "line_id", "customer_id", f"{subject}_id")
        tables += [_table(subject, *own), bridge, _table(f"stg_{subject}", *own), _table(f"{subject}_2021", *own)]
        keys += [
            ForeignKey(bridge.name, ("customer_id",), "customers", ("customer_id",)),
            ForeignKey(bridge.name, (f"{subject}_id",), subject, (f"{subject}_id",)),
        ]
    return Schema("warehouse", tuple(tables), tuple(keys))


def test_a_table_that_joins_two_shown_ones_comes_with_them_and_copies_do_not() -> None:
    schema = _warehouse()
    linker = SchemaLinker(schema)
    for subject in ("meal7", "tour0", "ride19"):
        question = f"What is the town of the customers with the highest {subject} price?"
        kept = linker.link(question, max_columns=400, by_group=True).kept
        names = {table.name for table in kept.tables}
        assert names >= {"customers", subject, f"zz_{subject}"}
        assert not names & {f"stg_{subject}", f"{subject}_2021"}
        assert kept.shown_columns < schema.shown_columns / 2


def test_a_copy_that_the_question_names_is_shown() -> None:
    kept = SchemaLinker(_warehouse()).link("How many meal7 rows are in 2021?", max_columns=400, by_group=True).kept
    assert kept.table("meal7_2021")


def test_of_tables_that_numbers_tell_apart_one_is_shown() -> None:
    months = [_table(f"visits_2024_{month:02}", "visit_id", "visitor", "page") for month in range(1, 13)]
    schema = Schema("w", (*_warehouse().tables, *months), _warehouse().foreign_keys)
    kept = SchemaLinker(schema).link("How many visits are there by page?", max_columns=400, by_group=True).kept
    shown = [table.name for table in kept.tables if table.name.startswith("visits")]
    assert len(shown) == 1
    assert set(families(schema)[shown[0]]) == {table.name for table in months}


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
        _table("items", "item_id", "order_id", "price"),
        _table("raw_items", "item_id", "order_id", "price", "loaded_at"),
        _table("raw_materials", "material_id", "weight"),
        _table("items_test_2", "item_id", "order_id", "price"),
        _table("items_2024", "item_id", "shelf", "room"),
    )
    schema = Schema("s", tables)
    aside = {table.name for table in tables if set_aside(table, schema)}
    assert aside >= {"orders_20240101", "stg_orders", "orders_backup", "orders_v1", "returns"}
    assert aside >= {"raw_items", "items_test_2"}, "the columns of another, and a name that tells a copy"
    assert not aside & {"orders", "stores", "items", "raw_materials", "items_2024"}
