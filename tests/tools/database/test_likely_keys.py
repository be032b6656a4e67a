"""Keys that nobody declared, what codes mean, and views: what the schema tells of them, and the papers' forms."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tableturn.tools.database import ColumnSchema, Database, Schema, TableSchema, render_schema
from tableturn.tools.database.profiling import add_inferred_keys_and_codes

_SCRIPT = """
CREATE TABLE customers (customer_id INTEGER, name TEXT);
CREATE TABLE orders (id INTEGER, customer_id INTEGER, status_cd INTEGER, total REAL);
CREATE TABLE order_status (code INTEGER, label TEXT, note TEXT);
CREATE TABLE has_pet (pet_id INTEGER, customer_id INTEGER);
CREATE TABLE pet (pet_id INTEGER, name TEXT);
CREATE TABLE log (id INTEGER, text TEXT);
CREATE VIEW cancelled AS SELECT id, total FROM orders WHERE status_cd = 90;
INSERT INTO customers VALUES (1, 'Ann'), (2, 'Bo'), (3, 'Cy');
INSERT INTO orders VALUES (10, 1, 10, 5), (11, 1, 90, 7), (12, 2, 20, 9);
INSERT INTO order_status VALUES (90, 'cancelled', NULL), (10, 'new', NULL), (20, 'paid', NULL);
INSERT INTO has_pet VALUES (1, 1), (2, 1);
INSERT INTO pet VALUES (1, 'Rex'), (2, 'Tom');
INSERT INTO log VALUES (1, 'a'), (1, 'b');
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "undeclared.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(_SCRIPT)
    return file


@pytest.fixture
def schema(path: Path) -> Schema:
    with Database.open(path) as database:
        return database.schema()


def test_a_column_named_like_a_key_is_one_where_its_values_are_unique(schema: Schema) -> None:
    keys = {table.name: table.key for table in schema.tables if table.kind == "table"}
    assert keys == {
        "customers": ("customer_id",),
        "orders": ("id",),
        "order_status": ("code",),
        "has_pet": (),
        "pet": ("pet_id",),
        "log": (),
    }
    assert not any(table.primary_key for table in schema.tables)


def test_references_lead_to_likely_keys(schema: Schema) -> None:
    found = {(key.table, key.columns[0], key.ref_table) for key in schema.foreign_keys if key.inferred}
    assert found == {
        ("orders", "customer_id", "customers"),
        ("orders", "status_cd", "order_status"),
        ("has_pet", "pet_id", "pet"),
        ("has_pet", "customer_id", "customers"),
    }


def test_the_text_says_that_keys_are_probable_what_codes_mean_and_what_a_view_is(schema: Schema) -> None:
    text = render_schema(schema, samples=2)
    assert "~* probably its key" in text
    assert "orders(id~* number, customer_id number ~> customers.customer_id, " in text
    assert "status_cd number ~> order_status.code {label: 10 = 'new', 20 = 'paid', 90 = 'cancelled'}" in text
    assert 'defined by "CREATE VIEW cancelled AS SELECT id, total FROM orders WHERE status_cd = 90"' in text
    alone = schema.part([("orders", ["id", "status_cd"])])
    assert "status_cd number -> order_status.code {label: 10 = 'new'" in render_schema(alone), "also without its table"


def test_the_papers_forms_have_none_of_it(schema: Schema) -> None:
    for style in ("credit", "track", "craft", "frames", "ddl"):
        text = render_schema(schema, style)
        assert not any(word in text for word in ("cancelled'}", "90 =", "FOREIGN", "merge(", "customer_id = "))


def test_what_may_not_leave_tells_of_no_key_and_no_code(path: Path) -> None:
    with Database.open(path, egress={"columns": {"order_status.label": "none", "customers.customer_id": "none"}}) as it:
        schema = it.schema()
    assert schema.table("customers").key == ()  # pyright: ignore[reportOptionalMemberAccess]
    assert "cancelled'" not in render_schema(schema)
    assert "status_cd = 90" not in render_schema(schema)


def test_codes_of_a_large_schema_are_found_by_their_values_and_by_words_in_short(tmp_path: Path) -> None:
    file = tmp_path / "large.db"
    fillers = "".join(
        f"CREATE TABLE f{n} ({', '.join(f'{chr(97 + k)}{n} TEXT' for k in range(9))});" for n in range(50)
    )
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(
            fillers
            + """
            CREATE TABLE invoice (inv_no INTEGER PRIMARY KEY, inv_stat TEXT, block_k TEXT, parcels INTEGER);
            CREATE TABLE c_inv_stat (s TEXT, txt TEXT);
            CREATE TABLE c_ord_stat (s TEXT, txt TEXT);
            CREATE TABLE t041 (k TEXT, t TEXT);
            CREATE TABLE parcel (parcel_id INTEGER PRIMARY KEY, town TEXT);
            INSERT INTO c_inv_stat VALUES ('1', 'open'), ('2', 'paid'), ('3', 'void');
            INSERT INTO c_ord_stat VALUES ('1', 'new'), ('2', 'sent'), ('3', 'lost');
            INSERT INTO t041 VALUES ('B1', 'no address'), ('B2', 'in court'), ('B4', 'no approval');
            INSERT INTO parcel VALUES (1, 'Ghent'), (2, 'Lyon');
            INSERT INTO invoice VALUES (1, '1', 'B1', 1), (2, '2', 'B2', 2), (3, '3', 'B4', 1), (4, '1', NULL, 2);
            """
        )
    with Database.open(file) as database:
        schema = database.schema()
    found = {(key.columns[0], key.ref_table) for key in schema.foreign_keys if key.table == "invoice"}
    assert found == {("inv_stat", "c_inv_stat"), ("block_k", "t041")}, "a number of parcels is no reference to one"
    codes = [column.codes for table in schema.tables if table.name == "invoice" for column in table.columns]
    assert next(dict(each.meanings) for each in codes if each) == {"1": "open", "2": "paid", "3": "void"}


def test_names_of_other_rows_and_of_measures(tmp_path: Path) -> None:
    """A manager is another row of the table unless there is a table of managers; a number of things is no key."""
    database = tmp_path / "houses.sqlite"
    with closing(sqlite3.connect(database)) as connection:
        connection.executescript(
            "CREATE TABLE house (id INTEGER PRIMARY KEY, bathroom_count INT, rank_in_street INT, street INT);"
            "CREATE TABLE count (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE street (id INTEGER PRIMARY KEY);"
            "CREATE TABLE emp (id INTEGER PRIMARY KEY, mgr_id INT, reports_to INT);"
            "CREATE TABLE manager (manager_id INTEGER PRIMARY KEY); CREATE TABLE rate (id INTEGER PRIMARY KEY);"
            "CREATE TABLE room (id INTEGER PRIMARY KEY, rate_id INT); INSERT INTO rate VALUES (1), (2);"
            "INSERT INTO room VALUES (1, 2), (2, 1);"
            "CREATE TABLE shop (id INTEGER PRIMARY KEY, manager_id INT);"
            "INSERT INTO house VALUES (1, 1, 1, 2), (2, 2, 2, 1); INSERT INTO count VALUES (1, 'a'), (2, 'b');"
            "INSERT INTO street VALUES (1), (2); INSERT INTO emp VALUES (1, NULL, NULL), (2, 1, 1);"
            "INSERT INTO manager VALUES (1), (2); INSERT INTO shop VALUES (1, 1), (2, 2);"
        )
    with Database.open(database) as opened:
        found = {(key.table, key.columns[0], key.ref_table) for key in opened.schema().foreign_keys}
    assert found == {
        ("house", "street", "street"),
        ("room", "rate_id", "rate"),
        ("emp", "mgr_id", "emp"),
        ("emp", "reports_to", "emp"),
        ("shop", "manager_id", "manager"),
    }


@pytest.mark.parametrize("columns", [1, 500])
def test_codes_of_another_thing_are_no_key(tmp_path: Path, columns: int) -> None:
    file = tmp_path / "classes.db"
    fillers = "".join(f"CREATE TABLE f{n} (a{n} TEXT, b{n} TEXT, c{n} TEXT, d{n} TEXT);" for n in range(columns // 4))
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(
            fillers
            + """
            CREATE TABLE cd_vehicle_class (class_cd TEXT PRIMARY KEY, class_desc TEXT);
            CREATE TABLE dim_country (country_code TEXT PRIMARY KEY, name TEXT);
            CREATE TABLE vehicle (id INTEGER PRIMARY KEY, class_cd TEXT);
            CREATE TABLE supplier (id INTEGER PRIMARY KEY, abc_class_cd TEXT, home_country_code TEXT);
            CREATE TABLE order_status (code TEXT PRIMARY KEY, label TEXT);
            CREATE TABLE trip (id INTEGER PRIMARY KEY, status_cd TEXT);
            CREATE TABLE orders (id INTEGER PRIMARY KEY, status_cd TEXT);
            INSERT INTO cd_vehicle_class VALUES ('A', 'small'), ('B', 'medium'), ('C', 'large');
            INSERT INTO dim_country VALUES ('BE', 'Belgium'), ('PE', 'Peru');
            INSERT INTO vehicle VALUES (1, 'A'), (2, 'B'), (3, 'C');
            INSERT INTO supplier VALUES (1, 'A', 'BE'), (2, 'B', 'PE'), (3, 'C', 'PE');
            INSERT INTO order_status VALUES ('N', 'new'), ('P', 'paid');
            INSERT INTO trip VALUES (1, 'N'), (2, 'P'); INSERT INTO orders VALUES (1, 'N'), (2, 'P');
            """
        )
    with Database.open(file) as database:
        found = {(key.table, key.columns[0], key.ref_table) for key in database.schema().foreign_keys}
    assert found == {
        ("vehicle", "class_cd", "cd_vehicle_class"),
        ("supplier", "home_country_code", "dim_country"),
        ("orders", "status_cd", "order_status"),
    }


def test_keys_of_a_large_schema_whose_names_say_nothing(tmp_path: Path) -> None:
    file = tmp_path / "opaque.db"
    with closing(sqlite3.connect(file)) as connection:
        for name in ("T0401", "T0401_BAK"):
            connection.execute(f"CREATE TABLE {name} (PNO INTEGER, NAM TEXT)")
            connection.executemany(f"INSERT INTO {name} VALUES (?, 'x')", [(n,) for n in range(20)])
        connection.execute("CREATE TABLE T0415 (PERI TEXT, PNO INTEGER, LIF TEXT, PLT TEXT)")
        connection.execute("CREATE TABLE vendor (id INTEGER PRIMARY KEY, vendor_no TEXT, branch TEXT)")
        rows = [(n, f"V{n:04}", f"B{n % 5:04}") for n in range(20)]
        connection.executemany("INSERT INTO vendor VALUES (?, ?, ?)", rows)
        booked = [("2024-01", n % 20, f"V{n % 7:04}", f"X{n % 7:04}") for n in range(40)]
        connection.executemany("INSERT INTO T0415 VALUES (?, ?, ?, ?)", booked)
        for number in range(20):
            connection.execute(f"CREATE TABLE wide_{number} ({', '.join(f'column_{n} REAL' for n in range(20))})")
        connection.commit()
    with Database.open(file) as database:
        keys = {
            (key.table, key.columns[0], key.ref_table, key.ref_columns[0]) for key in database.schema().foreign_keys
        }
    assert keys >= {("T0415", "PNO", "T0401", "PNO"), ("T0415", "LIF", "vendor", "vendor_no")}
    assert not {"PLT", "branch"} & {column for _, column, *_ in keys}


def test_codes_are_looked_up_in_a_table_of_several_lists(tmp_path: Path) -> None:
    file = tmp_path / "register.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript("""
            CREATE TABLE code_master (domain TEXT, code TEXT, lang TEXT, label TEXT);
            INSERT INTO code_master VALUES ('ORDER_STAT', '10', 'E', 'Created'), ('ORDER_STAT', '10', 'D', 'Angelegt'),
                ('ORDER_STAT', '90', 'E', 'Cancelled'), ('ORDER_STAT', '90', 'D', 'Storniert'),
                ('PAY_METHOD', 'CA', 'E', 'Cash'), ('PAY_METHOD', 'CC', 'E', 'Card'), ('PRIO', '10', 'E', 'High'),
                ('PRIO', '90', 'E', 'Low');
            CREATE TABLE orders (id INTEGER PRIMARY KEY, stat TEXT, pay_method_cd TEXT, weight TEXT);
            INSERT INTO orders VALUES (1, '10', 'CA', '10'), (2, '90', 'CC', '90'), (3, '10', 'CC', '10');
        """)
    with Database.open(file) as database:
        schema = database.schema()
    told = {column.name: column.codes for table in schema.tables for column in table.columns if column.codes}
    assert {name: (codes.part, codes.meanings) for name, codes in told.items()} == {
        "stat": ("ORDER_STAT", (("10", "Created"), ("90", "Cancelled"))),
        "pay_method_cd": ("PAY_METHOD", (("CA", "Cash"), ("CC", "Card"))),
    }
    with Database.open(file, egress={"columns": {"code_master.domain": "statistics"}}) as database:
        assert not any(column.codes for table in database.leaving().visible_schema.tables for column in table.columns)
    text = render_schema(schema, samples=2)
    assert "stat text {label in code_master for 'ORDER_STAT': '10' = 'Created', '90' = 'Cancelled'}" in text


@pytest.mark.parametrize(
    ("row", "codes"),
    [
        ("('HUE', NULL, 'none')", set[str]()),
        ("('', 'RR', 'rot'), ('', 'BB', 'blau')", {"hue"}),
        ("('HUE', 'GG', 'postgres://root:hunter2@db/prod')", set[str]()),
        ("('HUE', 'GG', 'AKIAIOSFODNN7EXAMPLE')", set[str]()),
        (f"('{'x' * 5_000}', 'RR', 'rot'), ('{'x' * 5_000}', 'BB', 'blau')", {"hue"}),
    ],
)
def test_hostile_tables_of_lists(tmp_path: Path, row: str, codes: set[str]) -> None:
    file = tmp_path / "hostile.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(f"""
            CREATE TABLE reg (domain TEXT, code TEXT, label TEXT);
            INSERT INTO reg VALUES ('HUE', 'RR', 'red'), ('HUE', 'BB', 'blue'), ('SIZE', 'S', 'small'),
                ('SIZE', 'L', 'large'), ('KIND', 'K', 'one'), ('KIND', 'M', 'other'), {row};
            CREATE TABLE item (id INTEGER PRIMARY KEY, hue TEXT);
            INSERT INTO item VALUES (1, 'RR'), (2, 'BB'), (3, 'RR');
        """)
    with Database.open(file) as database:
        found = [column for table in database.schema().tables for column in table.columns if column.codes]
    assert {column.name for column in found} == codes
    assert all(column.codes is None or column.codes.part == "HUE" for column in found)


def test_long_values_are_no_codes(tmp_path: Path) -> None:
    file = tmp_path / "long.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(f"CREATE TABLE wide (key TEXT, {', '.join(f'c{n} TEXT' for n in range(410))})")
        connection.execute("INSERT INTO wide (key, c1) VALUES ('a', ?), ('b', 'x')", ("a9" * 20_000 + "\n",))
        connection.commit()
    with Database.open(file) as database:
        assert database.schema().table("wide")


def test_values_are_not_compared_with_hundreds_of_keys_of_one_name() -> None:
    def make_table(number: int) -> TableSchema:
        own = ColumnSchema("pno", "TEXT", "text", number % 2, distinct=2 if number % 2 else 1)
        others = (ColumnSchema(f"f{number}_{i}", "TEXT", "text") for i in range(4))
        return TableSchema(f"t{number:03}", (own, *others), row_count=2)

    looks: list[str] = []

    def includes(table: str, column: str, ref_table: str, ref_column: str) -> bool:
        looks.append(ref_table)
        return ref_table == "t001"

    for tables, keys in ((120, 0), (24, 12)):
        more = tuple(
            TableSchema(f"x{number}", tuple(ColumnSchema(f"y{i}", "TEXT", "text") for i in range(5)), row_count=2)
            for number in range(100)
        )
        schema = Schema("many", (*map(make_table, range(tables)), *more))
        looks.clear()
        found = add_inferred_keys_and_codes(schema, {}, lambda table, column: None, includes)
        assert (len(found.foreign_keys), len(looks)) == (keys, keys * keys)
