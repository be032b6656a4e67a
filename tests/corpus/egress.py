"""Databases that differ only in what may not leave, or is hidden, and turns that try to bring it out."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

EGRESS = {
    "columns": {
        "customers.email": "none",
        "customers.notes": "none",
        "customers.salary": "none",
        "customers.photo": "none",
        "payments.iban": "none",
        "orders.memo": "none",
    }
}
"""What may not leave; a column that refers to one of these, a view, a search index and a generated column follow."""

DENY = ("vault*", "customers.pin")
"""What is hidden."""

CANARY = r"CaNaRy\w+|7777\d+"
"""What every cell that must not get out matches, and nothing else does."""

ROWS = 32

CARRIED = {"columns": EGRESS["columns"] | {"letters.*": "none", "vault.*": "none", "customers.pin": "none"}}
"""What may not leave of the same data on another engine, which has no search indexes, and may keep no allow lists."""

VIEWS = (
    "CREATE VIEW contacts AS SELECT name, email AS mail FROM customers",
    "CREATE VIEW rich AS SELECT name FROM customers WHERE salary % 2 = 1",
)
"""The views, in SQL that every engine reads."""

_SCHEMA = """
CREATE TABLE customers (
  id INTEGER PRIMARY KEY, name TEXT, city TEXT, email TEXT UNIQUE, notes, salary INTEGER, photo BLOB, pin TEXT,
  token TEXT GENERATED ALWAYS AS (id || '/' || email) VIRTUAL
);
CREATE TABLE orders (
  id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers (id),
  customer_email TEXT REFERENCES customers (email), total REAL, memo TEXT
);
CREATE TABLE payments (id INTEGER PRIMARY KEY, order_id INTEGER, iban TEXT);
"""
_LETTERS = "CREATE VIRTUAL TABLE letters USING fts5(title, body);"
_CARRIED_LETTERS = "CREATE TABLE letters (title TEXT, body TEXT);"
_VAULT = "CREATE TABLE vault (id INTEGER PRIMARY KEY, secret TEXT);"

_NAMES = ("Ada", "Bo", "Cy", "Dora", "Eve", "Finn", "Gus", "Hal")
_CITIES = ("Oslo", "Rome", "Bergen")


def make(path: Path, mark: int, carried: bool = False) -> Path:
    """A database whose cells that may not leave follow from `mark`; with 0 they are NULL, and what is hidden is empty.

    From 5 on they are long, from 6 on no text as well. To be `carried` to another engine, it has nothing that only
    SQLite has, and no views.
    """
    with closing(sqlite3.connect(path)) as connection, connection:
        made = (_CARRIED_LETTERS,) if carried else (_LETTERS, *(f"{view};" for view in VIEWS))
        connection.executescript("\n".join((_SCHEMA, _VAULT, *made)))
        for number in range(1, ROWS + 1):
            cell = _Cells(mark, number)
            name = f"{_NAMES[number % 8]} {chr(64 + number % 26 + 1)}"
            customer = (number, name, _CITIES[number % 3], cell("email"), cell("notes"), cell.number, cell.bytes)
            connection.execute(
                "INSERT INTO customers (id, name, city, email, notes, salary, photo, pin)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (*customer, cell("pin")),
            )
            order = (number, number, cell("email"), number * 1.5, cell("memo"))
            connection.execute("INSERT INTO orders VALUES (?, ?, ?, ?, ?)", order)
            connection.execute("INSERT INTO payments VALUES (?, ?, ?)", (number, number, cell("iban")))
            connection.execute("INSERT INTO letters VALUES (?, ?)", (cell("title"), cell("body")))
            if mark:
                connection.execute("INSERT INTO vault (secret) VALUES (?)", (cell("secret"),))
    return path


class _Cells:
    def __init__(self, mark: int, row: int) -> None:
        self._mark, self._row = mark, row

    def __call__(self, column: str) -> str | bytes | None:
        if not self._mark:
            return None
        text = f"CaNaRy{self._mark}{column}{self._row:03d}" + " and more" * (4_000 if self._mark >= 5 else 0)
        return text.encode() + b"\xff\xfe" if self._mark >= 6 and column in ("notes", "memo") else text

    @property
    def number(self) -> int | None:
        return int(f"7777{self._mark}{self._row:03d}") if self._mark else None

    @property
    def bytes(self) -> bytes | None:
        return f"CaNaRy{self._mark}photo{self._row:03d}".encode() if self._mark else None


def canaries(mark: int) -> list[str]:
    """Every cell of that database that must not get out, as it is written; each is another."""
    columns = ("email", "notes", "photo", "pin", "memo", "iban", "title", "body", "secret")
    texts = [f"CaNaRy{mark}{column}{row:03d}" for column in columns for row in range(1, ROWS + 1)]
    return texts + [f"7777{mark}{row:03d}" for row in range(1, ROWS + 1)]


STATEMENTS = (
    "SELECT name, email FROM customers",
    "SELECT * FROM customers",
    "SELECT c.* FROM customers AS c LIMIT 3",
    "SELECT name FROM customers WHERE email LIKE '%007%'",
    "SELECT name FROM customers WHERE email = 'nobody'",
    "SELECT count(*) FROM customers WHERE salary > 77773005",
    "SELECT max(email), min(notes) FROM customers",
    "SELECT sum(salary), avg(salary) FROM customers",
    "SELECT city, group_concat(email) FROM customers GROUP BY city",
    "SELECT name FROM customers ORDER BY email LIMIT 1",
    'SELECT "email" FROM customers',
    "SELECT [email] FROM customers",
    "SELECT `EMAIL` FROM Customers",
    "SELECT token FROM customers",
    "SELECT substr(token, 3) AS t FROM customers",
    "SELECT mail FROM contacts",
    "SELECT count(*) FROM rich",
    "SELECT * FROM letters WHERE letters MATCH 'canary*'",
    "SELECT highlight(letters, 1, '<', '>') FROM letters",
    "SELECT snippet(letters, -1, '', '', '', 9) FROM letters WHERE body > ''",
    "SELECT customer_email FROM orders",
    "SELECT name, memo FROM customers JOIN orders ON orders.customer_id = customers.id",
    "SELECT name FROM customers NATURAL JOIN contacts",
    "SELECT count(*) FROM customers JOIN orders USING (id) WHERE memo > 'canary'",
    "WITH g (a, b) AS (SELECT id, email FROM customers) SELECT b FROM g",
    "WITH g AS (SELECT * FROM customers) SELECT count(*) FROM g WHERE email > 'c'",
    "WITH customers AS (SELECT iban AS name FROM payments) SELECT name FROM customers",
    "SELECT name FROM customers UNION SELECT iban FROM payments",
    "SELECT (SELECT email FROM customers LIMIT 1)",
    "SELECT CASE WHEN email LIKE 'canary%' THEN 'yes' ELSE 'no' END FROM customers",
    "SELECT name FROM customers WHERE EXISTS (SELECT 1 FROM payments WHERE iban LIKE 'c%')",
    "SELECT json_extract(notes, '$.x') FROM customers",
    "SELECT abs(salary - salary - 9223372036854775807 - 1) FROM customers",
    "SELECT json_group_array(email) FROM customers",
    "SELECT json_each.value FROM customers, json_each(json_array(email))",
    "SELECT hex(photo), quote(photo) FROM customers",
    "SELECT printf('%s', email) FROM customers",
    "SELECT CAST(email AS BLOB) FROM customers",
    "SELECT length(email), unicode(email) FROM customers",
    "SELECT secret FROM vault",
    "SELECT pin FROM customers",
    "SELECT name FROM customers FULL JOIN vault USING (id)",
    "SELECT sql FROM sqlite_schema",
    "SELECT name FROM pragma_table_info('customers')",
    "SELECT c1 FROM letters_content",
    "SELECT emial FROM customers",
    "SELECT email FROM customer",
    "SELECT email FROM customers WHERE",
    "SELECT count(*) FROM customers",
    "SELECT name FROM customers WHERE city = 'Oslo'",
    "SELECT name FROM customers WHERE city = 'Olso'",
    "SELECT sum(total) FROM orders",
    "EXPLAIN SELECT email FROM customers",
    "SELECT rowid FROM customers WHERE email IS NULL",
    "SELECT name, rank() OVER (ORDER BY salary) FROM customers",
    "SELECT name FROM customers GROUP BY name HAVING max(salary) > 1",
    "SELECT DISTINCT email IS NULL FROM customers",
    "VALUES ((SELECT email FROM customers))",
    "SELECT 1 WHERE 'canary3email007' IN (SELECT email FROM customers)",
)
"""What a model may write, right or wrong."""

OWN_STATEMENTS = {
    "postgres": (
        "SELECT d FROM (customers JOIN payments ON true) AS j (a, b, c, d)",
        "SELECT d FROM ((customers CROSS JOIN payments)) AS j (a, b, c, d)",
        "SELECT d FROM (customers) AS j (a, b, c, d)",
        "SELECT j FROM (customers CROSS JOIN payments) AS j",
        "SELECT d FROM customers AS j (a, b, c, d)",
        "SELECT b FROM ROWS FROM (generate_series(1, 2)) WITH ORDINALITY x (a, b), customers",
        "SELECT * FROM ROWS FROM (f(1)) x",
        "TABLE customers",
        "SELECT customers FROM customers",
        "SELECT c FROM customers AS c",
        "SELECT (c).email FROM customers AS c",
        "SELECT row_to_json(c) FROM customers AS c",
        "SELECT to_jsonb(c) ->> 'email' FROM customers AS c",
        "SELECT c::text FROM customers AS c",
        'SELECT U&"\\0065mail" FROM customers',
        "SELECT CAST(email AS integer) FROM customers",
        "SELECT email::date FROM ONLY customers",
        "SELECT query_to_xml('SELECT email FROM customers', true, false, '')",
        "SELECT table_to_xml('customers', true, false, '')",
        "SELECT most_common_vals::text, histogram_bounds::text FROM pg_stats WHERE attname = 'email'",
        "SELECT * FROM pg_statistic",
        "SELECT string_agg(x, ',') FROM customers AS c (a, b, d, x)",
        "SELECT x FROM customers AS c (a, b, d, x)",
        "SELECT l.email FROM customers, LATERAL (SELECT customers.email) AS l",
        "SELECT unnest(array_agg(email)) FROM customers",
    ),
    "duckdb": (
        "SELECT d FROM (customers JOIN payments ON true) AS j (a, b, c, d)",
        "SELECT d FROM (customers) AS j (a, b, c, d)",
        "SELECT d FROM customers AS j (a, b, c, d)",
        "SELECT j FROM (customers CROSS JOIN payments) AS j",
        "FROM customers",
        "FROM customers SELECT email",
        "SUMMARIZE customers",
        "SELECT customers FROM customers",
        "SELECT c.email FROM (SELECT customers AS c FROM customers)",
        "SELECT struct_extract(customers, 'email') FROM customers",
        "SELECT COLUMNS('em.*') FROM customers",
        "SELECT * EXCLUDE (id) FROM customers",
        "SELECT * REPLACE (upper(email) AS name) FROM customers",
        "SELECT CAST(email AS INTEGER) FROM customers",
        "SELECT error(email) FROM customers",
        "SELECT * FROM query('SELECT email FROM customers')",
        "SELECT * FROM query_table('customers')",
        "SELECT stats(email) FROM customers",
        "SELECT stats FROM pragma_storage_info('customers')",
        "SELECT x FROM customers AS c (a, b, d, x)",
        "SELECT unnest(list(email)) FROM customers",
        "UNPIVOT customers ON email INTO NAME n VALUE v",
        "SELECT histogram(email) FROM customers",
    ),
    "mysql": (
        "TABLE customers",
        "SELECT /*!email */ FROM customers",
        "SELECT name /*!50000 , email */ FROM customers",
        "SELECT extractvalue(1, concat(0x7e, email)) FROM customers",
        "SELECT updatexml(1, concat(0x7e, (SELECT email FROM customers LIMIT 1)), 1)",
        "SELECT exp(~(SELECT salary FROM customers LIMIT 1))",
        "SELECT CAST(email AS DATE) FROM customers",
        "SELECT group_concat(email SEPARATOR '|') FROM customers",
        "SELECT name FROM customers PROCEDURE ANALYSE()",
        "SELECT * FROM information_schema.processlist",
        "SELECT x FROM (SELECT 1 AS a, 2 AS b, 3 AS d, 4 AS x UNION SELECT id, name, city, email FROM customers) t",
        "SELECT `email` FROM `customers`",
        "SELECT name, ROW(email, 1) = ROW('a', 1) FROM customers",
    ),
}
"""What a model may write in other engines' own SQL, by dialect."""

QUESTIONS = (
    "What are the emails of the customers?",
    "Who is Canary3Email007?",
    "Whose email is canary 3 email 7?",
    "Which customers have notes like CANARY3NOTES001?",
    "How many customers live in Olso?",
    "Show the letters about canary3body002s.",
    "What is the highest salary?",
    "Which orders have memo Canary3Memo004 and iban canry3iban005?",
)
"""What a person may ask; values are never spelt as the database does."""

CODE = "result = db_dict['customers'].sort_values('email')[['name', 'email', 'notes']]"

SETTINGS: tuple[dict[str, object], ...] = (
    {"gate": False, "max_attempts": 3, "rephrase": "always"},
    {"preset": "credit"},
    {"preset": "craft", "reason": "off"},
    {"preset": "track"},
    {"preset": "revision"},
    {"candidates": 3, "merge": True, "rephrase": "always"},
    {"annotate": True, "gate": False, "max_attempts": 2},
)
"""How a turn may go; each shows a model another part of what is known."""

REASONED: tuple[dict[str, object], ...] = (
    {"reason": "pot", "gate": False, "max_attempts": 2},
    {"reason": "code_blocks", "gate": False, "max_attempts": 2},
)
"""With pandas code, where that can be run."""


def turns(statements: Sequence[str] = STATEMENTS) -> Iterator[tuple[str, str, dict[str, object]]]:
    """A question, the SQL that is written for it, and the settings."""
    for number, sql in enumerate(statements):
        for shift in (0, 3):
            yield QUESTIONS[(number + shift) % len(QUESTIONS)], sql, SETTINGS[(number + shift) % len(SETTINGS)]
