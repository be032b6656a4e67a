"""What leaves of queries: nothing of columns that are kept in, whatever form a query has."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tableturn.tools.database import Database, Egress, PermissionsFile
from tableturn.tools.database.egress import MaskKind
from tableturn.tools.errors import QueryError, QueryFailed, ResultTooLarge, SettingsError
from tableturn.tools.masked_database import MaskedDatabase, record_queries
from tableturn.tools.masking import PersonalDataPlaceholders, mask
from tableturn.tools.sql.reads import get_values_of_read_columns
from tableturn.tools.toolset import as_tools
from tableturn.tools.values import ValueIndex

from ..corpus.egress import CANARY, DENY, EGRESS, STATEMENTS, make

KINDS: tuple[MaskKind, ...] = ("email", "card", "iban", "phone")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("egress") / "shop.db", 3)


@pytest.fixture(scope="module")
def database(path: Path) -> Iterator[Database]:
    with Database.open(path, deny=DENY, egress=EGRESS) as database:
        yield database


@pytest.mark.parametrize("sql", STATEMENTS)
def test_no_statement_brings_a_cell_out(sql: str, database: Database) -> None:
    try:
        outcome = repr(MaskedDatabase(database).execute(sql))
    except QueryError as error:
        outcome = str(error)
    known = set(re.findall(CANARY, sql))
    assert set(re.findall(CANARY, outcome)) <= known


@pytest.mark.parametrize(
    ("sql", "level"),
    [
        ("SELECT name FROM customers", "values"),
        ("SELECT count(*) FROM customers", "values"),
        ("SELECT name, total FROM customers JOIN orders ON orders.customer_id = customers.id", "values"),
        ("SELECT email FROM customers", "none"),
        ('SELECT "EMAIL" FROM customers', "none"),
        ("SELECT count(*) FROM customers WHERE salary > 1", "none"),
        ("SELECT customer_email FROM orders", "none"),
        ("SELECT token FROM customers", "none"),
        ("SELECT count(*) FROM rich", "none"),
        ("SELECT title FROM letters", "none"),
        ("SELECT * FROM orders", "none"),
        ("SELECT 1 FROM unheard_of", "none"),
        ("not SQL", "none"),
    ],
)
def test_a_query_is_of_the_strictest_level_that_it_may_read(sql: str, level: str, database: Database) -> None:
    assert MaskedDatabase(database).get_egress_level(sql) == level


def test_the_person_who_asks_still_gets_the_cells(database: Database) -> None:
    assert re.search(CANARY, repr(database.execute("SELECT email FROM customers").rows))


def test_what_is_wrong_with_the_query_itself_is_told(database: Database, path: Path) -> None:
    with Database.open(path, egress=EGRESS) as without_hidden:
        for one in (database, without_hidden):
            with pytest.raises(QueryFailed, match="no such column: nme"):
                MaskedDatabase(one).execute("SELECT email, nme FROM customers")
            with pytest.raises(QueryError):
                MaskedDatabase(one).execute("DROP TABLE customers")


def test_schema_and_values_hold_nothing_of_it(database: Database, tmp_path: Path) -> None:
    assert not re.search(CANARY, repr(database.schema()))
    values = ValueIndex.open(database, cache=tmp_path)
    assert not re.search(CANARY, repr(values.find("canary3email007 canary3memo004 canary3body001")))
    assert values.nearest("customers", "email", "canary3email007") == ()
    assert values.holds("customers", "email", "nobody")
    assert values.matches("CUSTOMERS", "Email", "nobody%")
    column = database.schema().column("customers", "email")
    assert column is not None
    assert (column.samples, column.distinct, column.nulls) == ((), None, None)


def test_tools_for_other_agents_give_nothing_of_it(database: Database, tmp_path: Path) -> None:
    arguments = {
        "run_sql": {"sql": "SELECT name, email FROM customers"},
        "describe_schema": {},
        "find_values": {"text": "canary3email007"},
    }
    for tool in as_tools(database, values=ValueIndex.open(database, cache=tmp_path)):
        if tool.name in arguments:
            said = tool.invoke({"type": "tool_call", "id": "1", "name": tool.name, "args": arguments[tool.name]})
            assert not re.search(CANARY, f"{said.content} {said.artifact!r}"), tool.name


def test_statistics_let_counts_leave_and_no_value(path: Path) -> None:
    with Database.open(path, egress={"columns": {"customers.salary": "statistics"}, "default": "values"}) as database:
        table = MaskedDatabase(database).execute("SELECT city, count(salary), max(salary) FROM customers GROUP BY city")
        assert {row[1] for row in table.rows} <= set(range(33))
        assert {row[0] for row in table.rows} == {row[2] for row in table.rows} == {"[withheld]"}
        column = database.schema().column("customers", "salary")
        assert column is not None
        assert column.samples == ()
        assert column.distinct == 32


def test_columns_that_a_star_stands_for_shift_no_count_onto_a_value(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
        connection.execute("CREATE TABLE customers (name TEXT, email TEXT); INSERT INTO customers VALUES ('a', 'b@x')")
    sql = "SELECT e.*, count(*), * EXCLUDE (name, email) FROM (SELECT name, email FROM customers) AS e GROUP BY ALL"
    with Database.open(tmp_path / "d.duckdb", egress={"columns": {"customers.email": "statistics"}}) as database:
        assert MaskedDatabase(database).execute(sql).rows == (("[withheld]",) * 3,)


def test_an_error_while_running_does_not_quote(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript("CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('x');")
    with (
        Database.open(path, egress={"columns": {"t.a": "statistics"}}) as database,
        pytest.raises(QueryFailed, match="withheld"),
    ):
        MaskedDatabase(database).execute("SELECT json_extract(a, '$') FROM t")


def test_without_rules_or_secrets_everything_is_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "t.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript("CREATE TABLE t (a TEXT, b INT); INSERT INTO t VALUES ('x', 1), (NULL, 2);")
    with Database.open(path) as database:
        sql = "SELECT * FROM t"
        assert MaskedDatabase(database).execute(sql).rows == database.execute(sql).rows
        assert database.schema() is database.engine.schema()


@pytest.mark.parametrize(
    "given",
    [{"columns": {"a.b": "nothing"}}, {"default": "all"}, {"mask": ["names"]}, {"colums": {}}, {"columns": ["a.b"]}],
)
def test_wrong_rules_are_errors(given: dict[str, object]) -> None:
    with pytest.raises(SettingsError):
        Egress.of(given)


def test_an_entry_that_names_nothing_protects_nothing_and_is_an_error(path: Path) -> None:
    with (
        Database.open(path, egress={"columns": {"customers.emial": "none"}}) as database,
        pytest.raises(SettingsError, match="emial"),
    ):
        database.schema()


def test_rules_are_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "permissions.toml"
    file.write_text('[egress]\ndefault = "statistics"\nmask = ["card"]\n[egress.columns]\n"A.B" = "none"\n')
    assert PermissionsFile.read(file).egress == Egress("statistics", (("a.b", "none"),), ("card",))
    file.write_text("[egress")
    with pytest.raises(SettingsError, match="is not TOML"):
        PermissionsFile.read(file)


def test_an_exact_entry_wins_over_a_pattern() -> None:
    egress = Egress.of({"columns": {"t.*": "none", "t.a": "values", "*.b": "statistics"}})
    assert [egress.find_level("T", name) for name in ("a", "b", "c")] == ["values", "none", "none"]
    assert egress.find_level("u", "c") is None


def test_wider_rules_cover_narrower_ones() -> None:
    narrow, wide = Egress.of({"columns": {"t.a": "none"}}), Egress()
    assert wide.covers(narrow)
    assert not narrow.covers(wide)
    assert narrow.covers(narrow)
    assert not Egress(mask=("email",)).covers(Egress())


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT c FROM customers c",
        "SELECT to_jsonb(customers) FROM customers",
        "SELECT a FROM customers AS c (a, b)",
        "SELECT d FROM (customers JOIN payments ON true) AS j (a, b, c, d)",
        "SELECT d FROM ((customers JOIN payments ON true)) AS j (a, b, c, d)",
        "SELECT d FROM (customers) AS j (a, b, c, d)",
        "SELECT j FROM (customers CROSS JOIN payments) AS j",
        "SELECT b FROM ROWS FROM (generate_series(1, 2)) WITH ORDINALITY x (a, b)",
        'SELECT U&"\\0065mail" FROM customers',
        "WITH g AS (TABLE customers) SELECT count(*) FROM g",
        "SELECT x FROM query_to_xml('select 1') AS x",
    ],
)
def test_whole_rows_of_other_engines_are_read(sql: str, database: Database) -> None:
    schema = replace(database.leaving().schema, dialect="postgres")
    assert get_values_of_read_columns(sql, schema, database.leaving().column_levels) != []


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT b FROM (SELECT id, name FROM customers) AS j (a, b)",
        "WITH j (a, b) AS (SELECT id, name FROM customers) SELECT b FROM j",
        "SELECT b FROM customers JOIN LATERAL (SELECT id, name FROM customers) AS j (a, b) ON true",
        "SELECT b FROM (VALUES (1, 2)) AS j (a, b), customers",
    ],
)
def test_new_names_for_what_is_named_read_nothing_else(sql: str, database: Database) -> None:
    schema = replace(database.leaving().schema, dialect="postgres")
    assert get_values_of_read_columns(sql, schema, database.leaving().column_levels) == []


def test_a_statement_that_is_too_long_is_not_looked_at(database: Database) -> None:
    with pytest.raises(ResultTooLarge, match="the limit is 50,000"):
        MaskedDatabase(database).execute("SELECT name FROM customers WHERE city = '" + "x" * 60_000)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("write to ann.o'neil@example.org", "write to ann.o'[email]"),
        ("'ann@example.org'", "'[email]'"),
        ("ann@exam…", "[email]…"),
        ("a@b.org|c@d.org", "[email][email]"),
        ("4111 1111 1111 1111", "[card]"),
        ("4111111111111111 12/27", "[card] 12/27"),
        ("order 12 4111111111111111", "order 12 [card]"),
        ("2024 4111-1111-1111-1111 123", "2024 [card] 123"),
        ("12 3782 822463 10005 1234", "12 [card] 1234"),
        ("1234567890123456", "1234567890123456"),
        ("DE89 3704 0044 0532 0130 00", "[iban]"),
        ("AB12 ES91 2100 0418 4502 0005 1332 from me", "AB12 [iban] from me"),
        ("+49 170 1234567", "[phone]"),
        ("(555) 123-4567", "[phone]"),
        ("2024-01-02 10:00:00", "2024-01-02 10:00:00"),
        ("total > 100000", "total > 100000"),
    ],
)
def test_personal_data_is_masked_by_its_form(text: str, masked: str) -> None:
    assert mask(text, KINDS) == masked


@given(st.text("ab.-@!\xe9 ", max_size=14))
def test_an_address_is_found_wherever_it_stands(text: str) -> None:
    plain = re.compile(r"[\w.!#$%&*+/=?^`{|}~-]*[\w+-]@[\w-][\w.-]*")  # too slow for long texts
    assert mask(text, ["email"]) == plain.sub("[email]", text)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", ["a", "a-", "a@", "DE12 ", "1 ", "1234 ", "+1-2 "])
def test_each_sign_of_a_text_is_looked_at_a_few_times(kind: MaskKind, part: str) -> None:
    text = part * (50_000 // len(part))  # minutes, if the time were squared
    found = {
        "email": "ada@x.org",
        "card": "378282246310005",
        "iban": "DE89370400440532013000",
        "phone": "+49 30 1234567",
    }
    assert mask(f"{text} ; {found[kind]}", [kind]).endswith(f" ; [{kind}]")


def test_placeholders_turn_back_into_what_they_stand_for() -> None:
    placeholders = PersonalDataPlaceholders(KINDS)
    said = "orders of a@x.org and b@x.org, again a@x.org"
    hidden = placeholders.hide(said)
    assert "@" not in hidden
    assert placeholders.restore_text(hidden) == said


@pytest.mark.parametrize("kinds", [("card", "iban"), ("iban", "card")])
def test_the_digits_of_an_iban_are_no_card(kinds: tuple[MaskKind, ...]) -> None:
    text = "pay NO3986011117949 now"
    assert mask(text, kinds) == "pay [iban] now"
    assert PersonalDataPlaceholders(kinds).hide(text) == "pay [iban-1] now"


@pytest.mark.parametrize("card", ["5555555555554444", "378282246310005", "6011 1111 1111 1117"])
def test_a_card_is_known_by_its_check_digit(card: str) -> None:
    wrong = card[:-1] + str((int(card[-1]) + 1) % 10)
    assert mask(f"card {card}.", ["card"]) == "card [card]."
    assert mask(f"card {wrong}.", ["card"]) == f"card {wrong}."


def test_queries_are_told_to_whoever_listens_and_to_nobody_after(database: Database) -> None:
    masked_database = MaskedDatabase(database)
    with record_queries() as outer:
        with record_queries() as inner:
            masked_database.execute("SELECT name FROM customers")
        masked_database.execute("SELECT email FROM customers")
        with pytest.raises(QueryError):
            masked_database.execute("DELETE FROM customers")
    masked_database.execute("SELECT city FROM customers")
    assert (inner.queries, inner.refused) == (["SELECT name FROM customers"], [])
    assert outer.queries == ["SELECT email FROM customers", "DELETE FROM customers"]
    assert outer.refused == ["DELETE FROM customers"]


def test_the_number_of_rows_of_a_table_may_leave(database: Database) -> None:
    customers = database.leaving().visible_schema.table("customers")
    assert customers is not None
    assert customers.row_count == 32


def test_marks_stand_under_the_names_of_the_columns(database: Database) -> None:
    table = MaskedDatabase(database).execute("SELECT email AS mail, pin FROM (SELECT email, 1 AS pin FROM customers)")
    assert table.columns == ("mail", "pin")
    assert table.rows == (("[withheld]", "[withheld]"),)
