"""The tables that every engine is given, in SQL that all of them read."""

from __future__ import annotations

NUMBERS = 3_000
"""Rows of `numbers`: 1 to this."""

UNHURRIED = 300.0
"""Seconds that a query may take which is not to be ended for its time."""

_PARTS = range(1, NUMBERS + 1, 500)

STATEMENTS: tuple[str, ...] = (
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, name VARCHAR(40) NOT NULL, city VARCHAR(40))",
    "INSERT INTO customer VALUES (1, 'Anna Berg', 'Oslo'), (2, 'Bo Dahl', 'Bergen'), (3, 'Cara Eik', 'Oslo'),"
    " (4, 'Dag Foss', NULL)",
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, total DOUBLE PRECISION, status VARCHAR(10),"
    " FOREIGN KEY (customer_id) REFERENCES customer (id))",
    "INSERT INTO orders VALUES (1, 1, 120.5, 'paid'), (2, 1, 8.0, 'open'), (3, 2, 55.25, 'paid'), (4, 3, 5.0, 'paid')",
    "CREATE TABLE line (order_id INTEGER, place INTEGER, product VARCHAR(40), amount INTEGER,"
    " PRIMARY KEY (order_id, place), FOREIGN KEY (order_id) REFERENCES orders (id))",
    "INSERT INTO line VALUES (1, 1, 'lamp', 2), (1, 2, 'chair', 1), (2, 1, 'lamp', 1)",
    "CREATE TABLE spare (x INTEGER)",
    "CREATE TABLE vault (owner VARCHAR(40), pin VARCHAR(40))",
    "INSERT INTO vault VALUES ('Anna Berg', 'swordfish'), ('Bo Dahl', 'opensesame')",
    "CREATE VIEW large_orders AS SELECT id, customer_id, total FROM orders WHERE total > 50",
    "CREATE VIEW owners AS SELECT owner FROM vault",
    "CREATE TABLE numbers (n INTEGER PRIMARY KEY, word VARCHAR(40))",
    *(
        "INSERT INTO numbers VALUES " + ", ".join(f"({n}, 'word {n}')" for n in range(start, start + 500))
        for start in _PARTS
    ),
)
"""Tables: customer, orders, line, spare, vault, numbers. Views: large_orders, owners (reads vault)."""
