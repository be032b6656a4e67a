"""Of a large schema, the tables that a question is about, and how they are shown."""

from __future__ import annotations

from dataclasses import replace

from tableturn.tools.database import ColumnSchema, ForeignKey, Schema, TableSchema, render_schema
from tableturn.tools.database.schema import CodeMeanings
from tableturn.tools.linking import (
    SchemaLinker,
    choose_values,
    find_copies,
    find_table_families,
    shorten_schema,
)
from tableturn.tools.values import ValueMatch


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
    kept = SchemaLinker(_SCHEMA).link("Which customer redeemed the most vouchers?", max_columns=400).kept
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
    kept = SchemaLinker(schema).link("What is the amount of each order?", max_columns=400).kept
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
        kept = linker.link(question, max_columns=400).kept
        names = {table.name for table in kept.tables}
        assert names >= {"customers", subject, f"zz_{subject}"}
        assert not names & {f"stg_{subject}", f"{subject}_2021"}
        assert kept.shown_column_count < schema.shown_column_count / 2


def test_a_copy_that_the_question_names_is_shown() -> None:
    kept = SchemaLinker(_warehouse()).link("How many meal7 rows are in 2021?", max_columns=400).kept
    assert kept.table("meal7_2021")


def test_of_tables_that_numbers_tell_apart_one_is_shown() -> None:
    months = [_table(f"visits_2024_{month:02}", "visit_id", "visitor", "page") for month in range(1, 13)]
    schema = Schema("w", (*_warehouse().tables, *months), _warehouse().foreign_keys)
    kept = SchemaLinker(schema).link("How many visits are there by page?", max_columns=400).kept
    shown = [table.name for table in kept.tables if table.name.startswith("visits")]
    assert len(shown) == 1
    assert set(find_table_families(schema)[shown[0]]) == {table.name for table in months}


def test_tables_whose_columns_are_described_otherwise_are_no_family() -> None:
    tables = [_table(f"F_{number}", "C01", "C02") for number in (17, 18)]
    assert find_table_families(Schema("w", tuple(tables)))
    told = [
        replace(table, columns=tuple(replace(column, comment=f"{word} {column.name}") for column in table.columns))
        for table, word in zip(tables, ("inspection", "meter"), strict=True)
    ]
    assert not find_table_families(Schema("w", tuple(told)))


def test_the_months_that_a_question_names_are_shown_and_the_view_of_all() -> None:
    months = [_table(f"visits_2024_{month:02}", "visit_id", "visitor", "page") for month in range(1, 13)]
    united = " UNION ALL ".join(f"SELECT * FROM {table.name}" for table in months)
    view = replace(_table("all_visits", "visit_id", "visitor", "page"), kind="view", definition=united)
    schema = Schema("w", (*_warehouse().tables, *months, view), _warehouse().foreign_keys)
    linker = SchemaLinker(schema)

    def shown(question: str) -> list[str]:
        kept = linker.link(question, max_columns=400).kept
        return [table.name for table in kept.tables if "visits" in table.name]

    assert shown("How many visits by page were there in March 2024?") == ["visits_2024_03", "all_visits"]
    assert len(shown("How many visits by page were there in the last quarter of 2024?")) == 4
    part = linker.link("How many visits by page were there in 2024?", max_columns=400).kept
    text = render_schema(shorten_schema(part, schema))
    assert "\nall_visits(columns as visits_2024_01) view" in text
    assert "\nvisits_2024_12(columns as visits_2024_01)" in text


def _coded() -> Schema:
    """A warehouse with an order, its status, a table of another list, and one that only its codes lead to."""
    told = CodeMeanings("c_ord_stat", "s", "txt", ((1, "open"), (9, "withdrawn by buyer")))
    status = replace(_table("c_ord_stat", "s", "txt"), row_count=2)
    reason = CodeMeanings("t017", "k", "t", (("A", "truck broke down"), ("B", "nobody at home")))
    order = _table("ord_hdr", "ord_id", "ord_stat", "amt")
    trip = _table("dlv_trp", "trp_id", "rsn", "ord_id")
    order = replace(order, columns=(order.columns[0], replace(order.columns[1], codes=told), order.columns[2]))
    trip = replace(trip, columns=(trip.columns[0], replace(trip.columns[1], codes=reason), trip.columns[2]))
    keys = (
        ForeignKey("ord_hdr", ("ord_stat",), "c_ord_stat", ("s",), inferred=True),
        ForeignKey("dlv_trp", ("rsn",), "t017", ("k",), inferred=True),
        ForeignKey("dlv_trp", ("ord_id",), "ord_hdr", ("ord_id",)),
    )
    own = (order, trip, status, replace(_table("t017", "k", "t"), row_count=2))
    return Schema("w", (*_warehouse().tables, *own), (*_warehouse().foreign_keys, *keys))


def test_codes_stand_once_with_their_meanings_and_lead_to_what_they_tell_of() -> None:
    schema = _coded()
    part = SchemaLinker(schema).link("How often had a truck broken down?", max_columns=400).kept
    names = [table.name for table in part.tables]
    assert {"t017", "dlv_trp", "ord_hdr"} <= set(names)
    text = render_schema(shorten_schema(part, schema))
    assert "\nt017(k* {t: 'A' = 'truck broke down', 'B' = 'nobody at home'}, t)" in text
    assert text.count("nobody at home") == 1
    assert "table: its column of that name" in text


def test_a_word_in_short_leads_to_a_table() -> None:
    kept = SchemaLinker(_coded()).link("What is the amount of delivery trips?", max_columns=400).kept
    assert kept.table("dlv_trp")


def test_values_are_told_of_the_first_tables_and_their_codes_without_guesses() -> None:
    schema = _coded()
    part = schema.part([(name, ["s", "txt", "ord_id", "ord_stat", "k", "t"]) for name in ("ord_hdr", "c_ord_stat")])
    text = "How many are withdrawn by buyer, five?"

    def match(value: str, mention: str, how: str) -> ValueMatch:
        start = text.index(mention)
        return ValueMatch("c_ord_stat", "txt", value, mention, start, start + len(mention), 0.9, how)

    found = (match("withdrawn by buyer", "withdrawn by buyer", "exact"), match("5", "five", "abbreviation"))
    assert [told.value for told in choose_values(text, found, part)] == ["withdrawn by buyer"]


def test_a_table_of_the_codes_of_many_lists_is_always_shown() -> None:
    first, *others = _warehouse().tables
    told = CodeMeanings("lov", "code", "meaning", (("n", "north"), ("s", "south")), "town")
    coded = replace(first, columns=(*first.columns[:2], replace(first.columns[2], codes=told)))
    register = _table("lov", "domain", "code", "meaning", rows=40)
    schema = Schema("w", (coded, *others, register), _warehouse().foreign_keys)
    assert SchemaLinker(schema).link("What is the price of tour3?", max_columns=400).kept.table("lov")


def test_a_table_without_a_key_that_has_the_columns_of_one_with_a_key_is_a_copy() -> None:
    original = _table("claim", "claim_id", "paid", "filed_on", "insurer")
    loose = _table("in_clm", "claim_id", "paid", "filed_on", "insurer", "rec_no")
    loose = replace(loose, columns=tuple(replace(column, primary_key=0) for column in loose.columns))
    assert find_copies(Schema("s", (original, loose))) == {"in_clm"}


def test_a_list_of_codes_without_a_key_is_no_copy_of_another() -> None:
    lists = [_table(f"lk_{name}", "code", "descr") for name in ("asset", "volt", "sev", "trade", "region")]
    unkeyed = replace(
        _table("lk_method", "code", "descr"),
        columns=tuple(ColumnSchema(name, "TEXT", "text") for name in ("code", "descr")),
    )
    assert not find_copies(Schema("s", (*lists, unkeyed)))


def test_what_is_set_aside() -> None:
    tables = (
        _table("orders", "id"),
        _table("orders_20240101", "id"),
        _table("stg_orders", "id"),
        _table("orders_backup", "id"),
        _table("orders_v1", "id", comment="Deprecated: use orders"),
        _table("old_age_pension", "id"),
        _table("stores", "id", comment="shops that are open"),
        _table("items", "item_id", "order_id", "price"),
        _table("raw_items", "item_id", "order_id", "price", "loaded_at"),
        _table("raw_materials", "material_id", "weight"),
        _table("items_test_2", "item_id", "order_id", "price"),
        _table("items_2024", "item_id", "shelf", "room"),
    )
    schema = Schema("s", tables)
    aside = find_copies(schema)
    assert aside >= {"orders_20240101", "stg_orders", "orders_backup", "orders_v1"}
    assert aside >= {"raw_items", "items_test_2"}, "the columns of another, and a name that tells a copy"
    assert not aside & {"orders", "stores", "items", "raw_materials", "items_2024"}


def test_partitions_beside_their_table_are_no_copies() -> None:
    parts = [_table(f"visits_2024_{month:02}", "visit_id", "visitor", "page", rows=month) for month in range(1, 5)]
    whole, stale = (_table("visits", "visit_id", "visitor", "page", rows=rows) for rows in (10, 900))
    assert not find_copies(Schema("w", (whole, *parts)))
    assert find_copies(Schema("w", (stale, *parts))) == {table.name for table in parts}, "snapshots of it"


def test_later_tables_show_how_dates_are_written_in_numbers() -> None:
    columns = (
        ColumnSchema("invoice_date", "INTEGER", "number", samples=(20240131, 20240201)),
        ColumnSchema("update_count", "INTEGER", "number", samples=(3, 4)),
    )
    later = TableSchema("invoice", columns, row_count=9)
    schema = Schema("large", (*_SHOP, later))
    assert "invoice(invoice_date [20240131], update_count)" in render_schema(shorten_schema(schema, schema), samples=1)
