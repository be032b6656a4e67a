"""Schema linking: what is probable, what is kept, and what earlier turns change."""

from __future__ import annotations

import pytest
from tableturn.tools.database import ColumnSchema, ForeignKey, Schema, TableSchema
from tableturn.tools.linking import STAR, LinkedSchema, PastTurn, SchemaItem, SchemaLinker
from tableturn.tools.linking.evidence import LinkingEvidence, NameIndex
from tableturn.tools.linking.linked import keep_likely_items
from tableturn.tools.linking.vocabulary import WordAssociations
from tableturn.tools.sql import extend_schema_for_query
from tableturn.tools.values import ValueMatch

from tests.support.queries import read


def table(name: str, *columns: str) -> TableSchema:
    return TableSchema(name, tuple(ColumnSchema(column, primary_key=int(column == columns[0])) for column in columns))


CONCERTS = Schema(
    "concerts",
    (
        table("stadium", "Stadium_ID", "Name", "Capacity", "City"),
        table("singer", "Singer_ID", "Name", "Country", "Age"),
        table("concert", "concert_ID", "Theme", "Year", "Stadium_ID"),
        table("singer_in_concert", "concert_ID", "Singer_ID"),
    ),
    (
        ForeignKey("concert", ("Stadium_ID",), "stadium", ("Stadium_ID",)),
        ForeignKey("singer_in_concert", ("concert_ID",), "concert", ("concert_ID",)),
        ForeignKey("singer_in_concert", ("Singer_ID",), "singer", ("Singer_ID",)),
    ),
)


@pytest.fixture(scope="module")
def linker() -> SchemaLinker:
    return SchemaLinker(CONCERTS)


def p(linked: LinkedSchema, table: str, column: str | None = None) -> float:
    return next(item.p for item in linked.items if (item.table, item.column) == (table, column))


def kept(linked: LinkedSchema) -> dict[str, list[str]]:
    return {table.name: [column.name for column in table.columns] for table in linked.kept.tables}


def test_scores_every_item_once(linker: SchemaLinker) -> None:
    linked = linker.link("How many singers are there?")
    places = [(item.table, item.column) for item in linked.items]
    assert len(places) == len(set(places)) == 4 + 14 + 4
    assert [item.p for item in linked.items] == sorted((item.p for item in linked.items), reverse=True)
    assert all(0 <= item.p <= 1 for item in linked.items)


@pytest.mark.parametrize(
    ("question", "table", "column"),
    [
        ("How many singers do we have?", "singer", None),
        ("What is the age of each singer?", "singer", "Age"),
        ("What are the capacities of all stadiums?", "stadium", "Capacity"),
        ("What is the capacitiy of the biggest stadum?", "stadium", "Capacity"),  # misspelt
        ("List the themes of the concerts in each year", "concert", "Theme"),
        ("names of the stadiums", "stadium", "Name"),
        ("names of the singers", "singer", "Name"),
    ],
)
def test_what_is_said_comes_first(linker: SchemaLinker, question: str, table: str, column: str | None) -> None:
    linked = linker.link(question)
    assert next(item.table for item in linked.items if item.column is None) == table
    if column:
        likely = [(item.table, item.column) for item in linked.items if item.column not in (None, STAR)]
        assert (table, column) in likely[:2]


def test_a_value_speaks_for_its_column(linker: SchemaLinker) -> None:
    match = ValueMatch("singer", "Country", "France", "French", 0, 6, 0.85, "abbreviation")
    before, after = linker.link("French people"), linker.link("French people", values=[match])
    assert p(after, "singer", "Country") > p(before, "singer", "Country")
    assert p(after, "singer") > p(before, "singer")
    assert after.items[0].table == "singer"


def test_earlier_sql_speaks_and_is_marked(linker: SchemaLinker) -> None:
    past = PastTurn("How old are the singers?", sql="SELECT Age FROM singer WHERE Country = 'France'")
    linked = linker.link("only those under 30", [past])
    assert linked.items[0].table == "singer"
    marked = {(item.table, item.column) for item in linked.items if item.used_before}
    assert marked == {("singer", None), ("singer", "Age"), ("singer", "Country")}
    assert p(linked, "singer", "Age") > p(linker.link("only those under 30"), "singer", "Age")


def test_all_columns_asked_for_are_all_marked(linker: SchemaLinker) -> None:
    turns = [PastTurn("all singers", sql="SELECT * FROM singer"), PastTurn("how many concerts", sql="SELECT 1")]
    marked = {(item.table, item.column) for item in linker.link("and now?", turns).items if item.used_before}
    assert marked == {("singer", name) for name in (None, STAR, "Singer_ID", "Name", "Country", "Age")}


def shop(*keys: ForeignKey) -> Schema:
    tables = (
        table("customers", "id", "name", "city"),
        table("orders", "id", "customer_id", "placed"),
        table("items", "order_id", "product_id", "amount"),
        table("products", "id", "title", "price", *(key.columns[0] for key in keys)),
        table("suppliers", "id", "company", "country"),
    )
    always = (
        ForeignKey("orders", ("customer_id",), "customers", ("id",)),
        ForeignKey("items", ("order_id",), "orders", ("id",)),
        ForeignKey("items", ("product_id",), "products", ("id",)),
    )
    return Schema("shop", tables, (*always, *keys))


@pytest.mark.parametrize("question", ["List all suppliers", "How many suppliers are there?"])
def test_a_plainly_named_table_ends_the_subject_before(question: str) -> None:
    bought = (
        "SELECT products.title FROM customers JOIN orders ON orders.customer_id = customers.id "
        "JOIN items ON items.order_id = orders.id JOIN products ON items.product_id = products.id "
        "WHERE customers.city = 'Bergen'"
    )
    history = [
        PastTurn("Which customers live in Bergen?", sql="SELECT name FROM customers WHERE city = 'Bergen'"),
        PastTurn("What did they order?", sql=bought),
    ]
    linked = SchemaLinker(shop()).link(question, history)
    first, second, *_ = [item for item in linked.items if item.column is None]
    assert first.table == "suppliers"
    assert first.p > 0.5 > second.p

    # Of what was asked before, only a table that says the word itself may stay.
    linked = SchemaLinker(shop(ForeignKey("products", ("supplier_id",), "suppliers", ("id",)))).link(question, history)
    assert p(linked, "suppliers") > max(p(linked, name) for name in ("customers", "orders", "items"))


def test_broken_past_sql_is_passed_over(linker: SchemaLinker) -> None:
    linked = linker.link("only those", [PastTurn("x", sql="SELEC oops FROM"), PastTurn("y", sql="")])
    assert not any(item.used_before for item in linked.items)


def test_all_columns_are_asked_for(linker: SchemaLinker) -> None:
    asked, not_asked = linker.link("Show all information about singers"), linker.link("Show the age of singers")
    assert p(asked, "singer", STAR) > 2 * p(not_asked, "singer", STAR)


def test_threshold_0_keeps_the_whole_schema_in_order(linker: SchemaLinker) -> None:
    linked = linker.link("What is the age of each singer?")
    assert next(iter(kept(linked))) == "singer"
    assert kept(linked)["singer"][0] == "Age"
    assert {name: sorted(columns) for name, columns in kept(linked).items()} == {
        table.name: sorted(column.name for column in table.columns) for table in CONCERTS.tables
    }
    assert len(linked.kept.foreign_keys) == 3


def test_a_threshold_leaves_out_what_is_unlikely(linker: SchemaLinker) -> None:
    shown = kept(linker.link("What is the age of each singer?", threshold=0.3))
    assert "Age" in shown["singer"]
    assert "Singer_ID" in shown["singer"], "its primary key always stays"
    assert "stadium" not in shown
    assert linker.link("What is the age of each singer?", threshold=0.3).kept.total_tables == 4


def test_what_is_kept_can_be_joined(linker: SchemaLinker) -> None:
    linked = linker.link("names of singers and the capacity of stadiums", threshold=0.3)
    assert set(kept(linked)) == {"singer", "stadium", "concert", "singer_in_concert"}
    assert len(linked.kept.foreign_keys) == 3


def test_a_table_without_keys_does_not_keep_others_from_being_joined() -> None:
    schema = Schema("c", (table("weather", "day", "rainfall"), *CONCERTS.tables), CONCERTS.foreign_keys)
    items = [SchemaItem(name, None, p) for name, p in (("weather", 0.9), ("singer", 0.8), ("stadium", 0.7))]
    part = keep_likely_items(schema, items, 0.1)
    assert [one.name for one in part.tables][:3] == ["weather", "singer", "stadium"]
    assert len(part.foreign_keys) == 3, "by way of concerts and who sang in them"


def test_never_empty(linker: SchemaLinker) -> None:
    for question in ("", "xyzzy", "🙂"):
        assert linker.link(question, threshold=1.0).kept.tables
        assert linker.link(question, threshold=1.0).kept.tables[0].columns


@pytest.mark.parametrize("name", ["Größe", "straße", "højde", "główna", "ısı"])
def test_letters_of_other_alphabets_are_letters(name: str) -> None:
    schema = Schema("s", (table("person", "id", "alter", name), table("ware", "id", "stock", "preis")))
    linked = SchemaLinker(schema).link(f"show the {name} of each")
    assert p(linked, "person", name) > p(linked, "person", "alter") + 0.1
    assert linked.items[0].table == "person"


@pytest.mark.parametrize(
    ("question", "table_name", "column"),
    [
        ("list orderItems", "orderItems", None),
        ("rows of tblCust", "tblCust", None),
        ("show HTTPLog", "HTTPLog", None),
        ("rows of kna1", "KNA1", None),
        ("unitPrice of VBAK", "VBAK", "unitPrice"),
        ("unitprice of VBAK", "VBAK", "unitPrice"),
        ("average pm25", "BKPF", "pm25"),
    ],
)
def test_names_written_as_in_the_schema(question: str, table_name: str, column: str | None) -> None:
    others = [table(name, "id", "first", "place") for name in ("orderItems", "tblCust", "HTTPLog", "KNA1")]
    schema = Schema("erp", (*others, table("VBAK", "id", "unitPrice"), table("BKPF", "id", "pm25", "co2")))
    linked = SchemaLinker(schema).link(question)
    assert linked.items[0].table == table_name
    assert p(linked, table_name, column) > 0.5


def test_odd_names_and_empty_schemas() -> None:
    odd = Schema("odd", (table("order details", "Größe (cm)", "select", "___", "用户"), TableSchema("void", ())))
    linked = SchemaLinker(odd).link("die Größe, please", threshold=0.1)
    assert linked.kept.tables[0].name == "order details"
    assert SchemaLinker(Schema("none", ())).link("anything").items == ()


def test_uses_the_value_index_it_is_given() -> None:
    class Index:
        def find(self, question: str, limit: int = 10) -> tuple[ValueMatch, ...]:
            return (ValueMatch("stadium", "City", "Ayr", "Ayr", 0, 3, 1.0, "exact"),)

    linked = SchemaLinker(CONCERTS, Index()).link("Ayr")  # type: ignore[arg-type]
    assert (linked.items[0].table, linked.items[0].column) in {("stadium", None), ("stadium", "City")}


def test_a_thousand_tables_are_linked() -> None:
    words = [f"{a}{b}" for a in ("ven", "cust", "ship", "pay", "inv") for b in ("dor", "omer", "ment", "roll", "oice")]
    tables = tuple(
        table(f"{words[i % 25]}_{i}", *(f"{words[(i + j) % 25]}_{words[j]}_{j}" for j in range(10)))
        for i in range(1000)
    )
    linker = SchemaLinker(Schema("wide", tables))
    linked = linker.link("Which vendors of shipment 17 got no invoice?", max_columns=100)
    assert len(linked.items) == 12_000
    assert linked.kept.shown_column_count < 500


def test_a_part_is_widened_by_what_a_query_reaches_for() -> None:
    part = CONCERTS.part([("singer", ["Name"])])
    sql = "SELECT s.Age, c.Thme FROM singer AS s, concert AS c JOIN nowhere"
    wider = extend_schema_for_query(CONCERTS, part, sql)
    assert {table.name: [column.name for column in table.columns] for table in wider.tables} == {
        "concert": ["concert_ID", "Theme", "Year", "Stadium_ID"],
        "singer": ["Name", "Age"],
    }
    assert wider.total_tables == 4
    assert extend_schema_for_query(CONCERTS, part, "SELECT Age FROM singers_in_concerts").table("singer_in_concert"), (
        "probably meant"
    )
    broken = extend_schema_for_query(CONCERTS, part, "SELECT Theme, FROM [Concert] JOIN stadim WHERE")
    assert {one.name for one in broken.tables} == {"concert", "stadium", "singer"}
    for nothing in ("SELECT * FROM nowhere", "not SQL at all (", ""):
        assert extend_schema_for_query(CONCERTS, part, nothing) == part


def test_a_part_tells_how_many_columns_it_lacks() -> None:
    part = CONCERTS.part([("singer", ["Name"])])
    assert (part.total_columns, part.shown_column_count) == (4, 1)
    assert part.is_partial
    assert not CONCERTS.is_partial
    wider = extend_schema_for_query(CONCERTS, part, "SELECT Agge FROM singer")
    assert wider.total_columns == wider.shown_column_count == 4, "a column named in vain brings its table's columns"


def test_learned_associations_speak_for_names() -> None:
    linker = SchemaLinker(CONCERTS)
    names = linker._names  # pyright: ignore[reportPrivateUsage]
    learned = WordAssociations({"old": {"age": 0.9}}, {"age": 0.5})
    evidence = LinkingEvidence("How old are they?", (), (), names, learned)
    age = names.column_number["singer", "Age"]
    assert evidence.columns.association[age] == evidence.columns.association_sum[age] == 0.9
    assert evidence.columns.association.sum() == 0.9
    assert evidence.usual[age] == 0.5


def test_past_use_tells_what_columns_were_for() -> None:
    sql = "SELECT Name, count(*) FROM singer JOIN singer_in_concert USING (Singer_ID) WHERE Age > 3 GROUP BY Name"
    use = read(sql, CONCERTS).usage
    assert use.tables == {"singer", "singer_in_concert"}
    assert {("singer", "Name", "shown"), ("singer", "Name", "grouped"), ("singer", "Age", "filtered")} <= use.roles
    assert ("singer", "Age", "shown") not in use.roles
    assert use.selects == 1


def test_a_description_speaks_for_a_cryptic_name() -> None:
    def schema(comment: str) -> Schema:
        columns = (ColumnSchema("k0", primary_key=1), ColumnSchema("x17", comment=comment), ColumnSchema("x18"))
        return Schema("cryptic", (TableSchema("t9", columns), table("t8", "k0", "y1")))

    question = "What is the date of birth?"
    described, bare = (SchemaLinker(schema(comment)).link(question) for comment in ("date of birth", ""))
    assert p(described, "t9", "x17") > p(bare, "t9", "x17")
    assert p(described, "t9", "x17") > p(described, "t9", "x18")


def test_all_columns_stand_where_they_belong() -> None:
    items = (
        SchemaItem("singer", "Age", 0.9),
        SchemaItem("singer", STAR, 0.5),
        SchemaItem("singer", "Name", 0.2),
        SchemaItem("stadium", STAR, 0.05),
    )
    linked = LinkedSchema(items, CONCERTS.part([("singer", ["Age", "Name"]), ("stadium", ["Name"])]))
    assert linked.all_columns(0.1) == (("singer", 1),)
    assert linked.all_columns(0.01) == (("singer", 1), ("stadium", 0))
    assert linked.all_columns(0.6) == ()


def test_probabilities_of_earlier_turns_stand_beside_their_sql() -> None:
    names = NameIndex(CONCERTS)
    found = (("singer", None, 0.4), ("singer", "Age", 0.3), ("nowhere", None, 0.9), ("singer", "*", 0.2))
    earlier = PastTurn("x", sql="SELECT City FROM stadium")
    latest = PastTurn("y", sql="SELECT City FROM stadium WHERE Capacity > 3", items=found)
    evidence = LinkingEvidence("and now?", [earlier, earlier, latest], (), names, WordAssociations({}, {}))
    singer, stadium = names.table_number["singer"], names.table_number["stadium"]
    before = evidence.tables_before
    assert (before.last[stadium], before.last[singer]) == (1.0, 0.0)
    assert (before.likely_last[stadium], before.likely_last[singer]) == (0.0, 0.4)
    assert before.likely_earlier[stadium] == 1.0, "where no probabilities were kept, what its SQL used"
    assert evidence.columns_before.likely_last[names.column_number["singer", "Age"]] == 0.3
    assert evidence.turn["written"] == pytest.approx(1 / 3)
