"""The builder of the sample database, which is deterministic."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from datetime import date, timedelta
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any

from . import vocabulary

SEED = 20_240_229
CUSTOMERS = 1_600
ORDERS = 9_500
REVIEWS = 4_200
REPAIRS = 2_400
FIRST_DAY, LAST_DAY = date(2019, 1, 1), date(2024, 12, 31)

Row = tuple[Any, ...]


def build_sample(path: str | Path) -> Path:
    """Write the sample database to `path`, replacing a file there once it is complete.

    Returns:
        The path: fourteen tables and a view, some 55,000 rows, identical on every machine.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        new_file = Path(folder) / path.name
        with closing(sqlite3.connect(new_file)) as connection, connection:
            connection.executescript(
                files(__name__.rpartition(".")[0]).joinpath("schema.sql").read_text(encoding="utf-8")
            )
            for table, rows in _make_table_rows(Random(SEED)):  # noqa: S311 - made-up rows, not secrets
                marks = ", ".join("?" * len(rows[0]))
                connection.executemany(f'INSERT INTO "{table}" VALUES ({marks})', rows)
        os.replace(new_file, path)
    return path


def _make_table_rows(random: Random) -> Iterator[tuple[str, list[Row]]]:
    yield "countries", list(vocabulary.COUNTRIES)
    stores = _make_stores(random)
    yield "stores", stores
    employees = _make_employees(random, stores)
    yield "employees", employees
    customers = _make_customers(random)
    yield "customers", customers
    yield "suppliers", [(number, name, country) for number, (name, country) in enumerate(vocabulary.SUPPLIERS, 1)]
    categories = [name for name, _ in vocabulary.CATEGORIES]
    yield (
        "categories",
        [
            (number, name, categories.index(parent) + 1 if parent else None)
            for number, (name, parent) in enumerate(vocabulary.CATEGORIES, 1)
        ],
    )
    products = _make_products(random, categories)
    yield "products", products
    yield "tags", list(enumerate(vocabulary.TAGS, 1))
    yield "product_tags", _make_product_tags(random, products)
    orders, lines, payments = _make_orders_and_payments(random, customers, employees, products)
    yield "orders", orders
    yield "order lines", lines
    yield "payments", payments
    yield "reviews", _make_reviews(random, products)
    yield "repairs", _make_repairs(random, employees)


def _choose_date(random: Random, first: date = FIRST_DAY, last: date = LAST_DAY) -> date:
    return first + timedelta(days=random.randrange((last - first).days + 1))


def _make_stores(random: Random) -> list[Row]:
    return [
        (
            number,
            name,
            city,
            country,
            _choose_date(random, date(2008, 3, 1), date(2018, 11, 30)).isoformat(),
            None if name == "Web Shop" else random.randrange(120, 900, 10),
        )
        for number, (name, city, country) in enumerate(vocabulary.STORES, 1)
    ]


def _make_employees(random: Random, stores: list[Row]) -> list[Row]:
    rows: list[Row] = []
    for store in stores:
        manager = len(rows) + 1
        for index in range(random.randrange(6, 11)):
            role, pay = vocabulary.ROLES[0] if index == 0 else random.choice(vocabulary.ROLES[1:])
            hired = _choose_date(random, date(2012, 1, 1), date(2023, 12, 31))
            gone = _choose_date(random, max(hired, FIRST_DAY), LAST_DAY) if index and random.random() < 0.2 else None
            rows.append(
                (
                    len(rows) + 1,
                    random.choice(vocabulary.FIRST_NAMES),
                    random.choice(vocabulary.LAST_NAMES),
                    role,
                    store[0],
                    None if index == 0 else manager,
                    hired.isoformat(),
                    gone.isoformat() if gone else None,
                    pay + random.randrange(-40, 90) * 100,
                )
            )
    return rows


def _make_customers(random: Random) -> list[Row]:
    countries, weights = list(vocabulary.CITIES), [30, 18, 14, 10, 6, 12, 6, 4]
    rows: list[Row] = []
    for number in range(1, CUSTOMERS + 1):
        country = random.choices(countries, weights)[0]
        first, last = random.choice(vocabulary.FIRST_NAMES), random.choice(vocabulary.LAST_NAMES)
        mail = f"{first}.{last}{number}@example.org".lower().replace(" ", "").replace("'", "")
        rows.append(
            (
                number,
                first,
                last,
                None if random.random() < 0.12 else mail,
                random.choice(vocabulary.CITIES[country]),
                country,
                _choose_date(random, date(2018, 1, 1), date(2024, 10, 31)).isoformat(),
                random.choices([None, "Bronze", "Silver", "Gold"], [55, 25, 14, 6])[0],
            )
        )
    return rows


def _make_products(random: Random, categories: list[str]) -> list[Row]:
    rows: list[Row] = []
    for category, (models, low, high, weight) in vocabulary.GOODS.items():
        for model in models:
            for variant in random.sample(vocabulary.VARIANTS, 5):
                rows.append(
                    (
                        len(rows) + 1,
                        f"{model} {variant}",
                        categories.index(category) + 1,
                        random.randrange(len(vocabulary.SUPPLIERS)) + 1,
                        random.randrange(low, high) - 0.05,
                        None if random.random() < 0.15 else round(weight * random.uniform(0.8, 1.3), 2),
                        int(random.random() < 0.1),
                    )
                )
    return rows


def _make_product_tags(random: Random, products: list[Row]) -> list[Row]:
    return sorted(
        (product[0], tag + 1)
        for product in products
        for tag in random.sample(range(len(vocabulary.TAGS)), random.randrange(0, 4))
    )


def _make_orders_and_payments(
    random: Random, customers: list[Row], employees: list[Row], products: list[Row]
) -> tuple[list[Row], list[Row], list[Row]]:
    """Make the rows of orders, order lines and payments, with uneven demand."""
    orders: list[Row] = []
    lines: list[Row] = []
    payments: list[Row] = []
    busy = [random.paretovariate(1.6) for _ in customers]
    weights = [random.paretovariate(1.3) for _ in products]
    staff: dict[int, list[int]] = {}
    for employee in employees:
        staff.setdefault(employee[4], []).append(employee[0])
    web = len(vocabulary.STORES)
    days = sorted(_choose_date(random) for _ in range(ORDERS))
    for number, day in enumerate(days, 1):
        store = random.choices(range(1, web + 1), [5] * (web - 1) + [25])[0]
        state = random.choices(["shipped", "returned", "cancelled", "open"], [86, 5, 4, 5])[0]
        if state == "open" and day < date(2024, 11, 15):
            state = "shipped"
        ship_date = day + timedelta(days=random.randrange(0, 9)) if state in ("shipped", "returned") else None
        orders.append(
            (
                number,
                random.choices(customers, busy)[0][0],
                store,
                None if store == web else random.choice(staff[store]),
                day.isoformat(),
                ship_date.isoformat() if ship_date else None,
                state,
            )
        )
        choices = random.choices(products, weights, k=random.choices([1, 2, 3, 4, 5], [40, 28, 17, 10, 5])[0])
        total = 0.0
        for place, product in enumerate(choices, 1):
            quantity = 1 if product[4] > 300 else random.choices([1, 2, 3, 4], [70, 20, 7, 3])[0]
            discount = random.choices([0, 5, 10, 20], [70, 14, 10, 6])[0]
            lines.append((number, place, product[0], quantity, product[4], discount))
            total += quantity * product[4] * (100 - discount) / 100
        if state != "cancelled":
            payments += _make_payments(random, len(payments), number, ship_date or day, round(total, 2))
    return orders, lines, payments


def _make_payments(random: Random, before: int, order: int, day: date, total: float) -> list[Row]:
    """Make the payment of an order, or two payments if a large order is paid in parts."""
    first = round(total / 2, 2) if total > 2_000 and random.random() < 0.3 else total
    amounts = [first] if first == total else [first, round(total - first, 2)]
    return [
        (
            before + place + 1,
            order,
            (day + timedelta(days=30 * place)).isoformat(),
            random.choices(["card", "bank transfer", "cash", "voucher"], [62, 22, 12, 4])[0],
            amount,
        )
        for place, amount in enumerate(amounts)
    ]


def _make_reviews(random: Random, products: list[Row]) -> list[Row]:
    return [
        (
            number,
            random.choice(products)[0],
            random.randrange(CUSTOMERS) + 1,
            random.choices([1, 2, 3, 4, 5], [6, 8, 16, 36, 34])[0],
            None if random.random() < 0.35 else random.choice(vocabulary.COMMENTS),
            _choose_date(random).isoformat(),
        )
        for number in range(1, REVIEWS + 1)
    ]


def _make_repairs(random: Random, employees: list[Row]) -> list[Row]:
    mechanics = [employee[0] for employee in employees if "Mechanic" in employee[3]]
    rows: list[Row] = []
    for number in range(1, REPAIRS + 1):
        start_date = _choose_date(random)
        end_date = start_date + timedelta(days=random.randrange(1, 21))
        is_done = end_date <= LAST_DAY and random.random() < 0.97
        rows.append(
            (
                number,
                random.randrange(CUSTOMERS) + 1,
                random.choice(mechanics),
                random.choice(vocabulary.BICYCLES),
                start_date.isoformat(),
                end_date.isoformat() if is_done else None,
                round(random.uniform(18, 420), 2) if is_done else None,
            )
        )
    return rows
