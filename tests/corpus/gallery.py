"""Results of the sample database, each with the chart that is to be chosen for it; `make pictures` draws them.

Run as a program it writes two sheets of all charts, on light and on dark ground:

    python -m tests.corpus.gallery docs
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from tableturn.tools.charts import Chart, choose, make_spec, parse_request
from tableturn.tools.charts.chart import render_chart_image
from tableturn.tools.database import Database
from tableturn.tools.sample import build_sample

from ..support.themes import Theme, themed

_COLUMNS = 5
_UNSEEN = re.compile(
    r' (?:aria-\w+|role|class|pointer-events|stroke-miterlimit|font-family)="[^"]*"|<path[^>]* d="M0,0h0v0h0Z"[^>]*/>'
)
"""What a picture looks the same without."""


@dataclass(frozen=True)
class Piece:
    """A question, its query, and the kind of chart that fits; None where none does."""

    question: str
    kind: str | None
    sql: str

    def chart(self, database: Database) -> Chart | None:
        """The chart that is chosen."""
        table = database.execute(self.sql)
        return choose(
            table.columns, table.rows, parse_request(self.question), title=self.question, partial=table.truncated
        )


PIECES = (
    Piece("How many customers are there?", "number", "SELECT COUNT(*) AS customers FROM customers"),
    Piece(
        "What is the average order line worth?",
        "number",
        'SELECT AVG(quantity * "unit price") AS "average worth" FROM "order lines"',
    ),
    Piece(
        "Which country has most customers?",
        "number",
        "SELECT co.name AS country, COUNT(*) AS customers FROM customers c JOIN countries co USING "
        "(country_code) GROUP BY 1 ORDER BY 2 DESC LIMIT 1",
    ),
    Piece(
        "Orders by month",
        "line",
        "SELECT strftime('%Y-%m', ordered_on) AS month, COUNT(*) AS orders FROM orders GROUP BY 1",
    ),
    Piece(
        "Orders by year",
        "line",
        "SELECT CAST(strftime('%Y', ordered_on) AS INTEGER) AS year, COUNT(*) AS orders FROM orders GROUP BY 1",
    ),
    Piece(
        "Repairs by day in June 2023",
        "line",
        "SELECT received_on, COUNT(*) AS repairs FROM repairs WHERE received_on LIKE '2023-06%' GROUP BY 1",
    ),
    Piece(
        "Orders by quarter",
        "line",
        "SELECT strftime('%Y', ordered_on) || '-Q' || ((strftime('%m', ordered_on) + 2) / 3) AS quarter, "
        "COUNT(*) AS orders FROM orders GROUP BY 1",
    ),
    Piece(
        "Orders by year and status",
        "line",
        "SELECT strftime('%Y', ordered_on) AS year, status, COUNT(*) AS orders FROM orders GROUP BY 1, 2",
    ),
    Piece(
        "Payments by month and method",
        "line",
        "SELECT strftime('%Y-%m', paid_on) AS month, method, SUM(amount) AS amount FROM payments WHERE "
        "paid_on >= '2023-01-01' GROUP BY 1, 2",
    ),
    Piece(
        "Lowest, average and highest salary by year of hiring",
        "line",
        "SELECT strftime('%Y', hired_on) AS year, MIN(salary) AS lowest, AVG(salary) AS average, "
        "MAX(salary) AS highest FROM employees GROUP BY 1",
    ),
    Piece(
        "Customers by country",
        "bar",
        "SELECT co.name AS country, COUNT(*) AS customers FROM customers c JOIN countries co USING "
        "(country_code) GROUP BY 1 ORDER BY 2 DESC",
    ),
    Piece("Customers by loyalty tier", "bar", "SELECT loyalty_tier, COUNT(*) AS customers FROM customers GROUP BY 1"),
    Piece(
        "Share of customers by loyalty tier",
        "stacked",
        "SELECT loyalty_tier, 1.0 * COUNT(*) / (SELECT COUNT(*) FROM customers) AS share FROM customers GROUP BY 1",
    ),
    Piece(
        "Percentage of orders by status",
        "stacked",
        "SELECT status, ROUND(100.0 * COUNT(*) / (SELECT COUNT(*) FROM orders), 1) AS percentage FROM "
        "orders GROUP BY 1",
    ),
    Piece(
        "Customers by country and tier",
        "stacked",
        "SELECT country_code AS country, loyalty_tier AS tier, COUNT(*) AS customers FROM customers GROUP BY 1, 2",
    ),
    Piece(
        "Average salary by store and role",
        "bar",
        'SELECT s.name AS store, role, AVG(salary) AS "average salary" FROM employees JOIN stores s '
        "USING (store_id) WHERE s.store_id < 5 GROUP BY 1, 2",
    ),
    Piece("Reviews by rating", "bar", "SELECT rating, COUNT(*) AS reviews FROM reviews GROUP BY 1"),
    Piece(
        "Orders by month of the year",
        "bar",
        "SELECT CAST(strftime('%m', ordered_on) AS INTEGER) AS month, COUNT(*) AS orders FROM orders GROUP BY 1",
    ),
    Piece(
        "Ten highest salaries",
        "bar",
        "SELECT first_name, last_name, salary FROM employees ORDER BY salary DESC LIMIT 10",
    ),
    Piece(
        "Ten best sold products",
        "bar",
        'SELECT p.name AS product, SUM(quantity) AS sold FROM "order lines" JOIN products p USING '
        "(product_id) GROUP BY 1 ORDER BY 2 DESC LIMIT 10",
    ),
    Piece("Price and weight of products", "point", "SELECT name, price, weight_kg FROM products"),
    Piece(
        "Price and weight by category",
        "point",
        "SELECT c.name AS category, p.price, p.weight_kg FROM products p JOIN categories c USING "
        "(category_id) WHERE c.category_id IN (SELECT category_id FROM products GROUP BY 1 ORDER BY "
        "COUNT(*) DESC LIMIT 6)",
    ),
    Piece(
        "Cost of each repair at the end of 2024",
        "point",
        "SELECT received_on, cost FROM repairs WHERE received_on >= '2024-11-01'",
    ),
    Piece(
        "Shortest and longest repair by store",
        "bar",
        "SELECT s.name AS store, MIN(julianday(finished_on) - julianday(received_on)) AS shortest, "
        "MAX(julianday(finished_on) - julianday(received_on)) AS longest FROM repairs JOIN employees "
        "USING (employee_id) JOIN stores s USING (store_id) GROUP BY 1",
    ),
    Piece(
        "Orders and revenue by store",
        "point",
        'SELECT s.name AS store, COUNT(DISTINCT o.order_id) AS orders, SUM(quantity * "unit price") AS '
        'revenue FROM orders o JOIN "order lines" USING (order_id) JOIN stores s USING (store_id) GROUP '
        "BY 1",
    ),
    Piece(
        "Change of orders against the year before",
        "line",
        "SELECT year, orders - LAG(orders) OVER (ORDER BY year) AS change FROM (SELECT strftime('%Y', "
        "ordered_on) AS year, COUNT(*) AS orders FROM orders GROUP BY 1)",
    ),
    Piece(
        "Orders of two years",
        "bar",
        "SELECT strftime('%Y', ordered_on) AS year, COUNT(*) AS orders FROM orders WHERE ordered_on >= "
        "'2023-01-01' GROUP BY 1",
    ),
    Piece(
        "Plot payments by method as a pie chart", "pie", "SELECT method, SUM(amount) AS amount FROM payments GROUP BY 1"
    ),
    Piece("Draw a histogram of prices", "histogram", "SELECT price FROM products"),
    Piece(
        "Plot orders by month as an area chart",
        "area",
        "SELECT strftime('%Y-%m', ordered_on) AS month, COUNT(*) AS orders FROM orders GROUP BY 1",
    ),
    Piece(
        "Plot orders by year and status as stacked bars",
        "stacked",
        "SELECT strftime('%Y', ordered_on) AS year, status, COUNT(*) AS orders FROM orders GROUP BY 1, 2",
    ),
    Piece(
        "Plot salary against years in the firm",
        "point",
        "SELECT salary, ROUND((julianday('2025-01-01') - julianday(hired_on)) / 365.25, 1) AS \"years in "
        'the firm" FROM employees',
    ),
    Piece(
        "Plot customers by tier and country as a bar chart",
        "stacked",
        "SELECT country_code AS country, loyalty_tier AS tier, COUNT(*) AS customers FROM customers GROUP BY 1, 2",
    ),
    Piece("Names of customers", None, "SELECT first_name, last_name, email FROM customers"),
    Piece("Comments", None, "SELECT comment, rating FROM reviews WHERE comment IS NOT NULL LIMIT 30"),
    Piece("Orders by customer", None, "SELECT customer_id, COUNT(*) AS orders FROM orders GROUP BY 1"),
)
"""More than thirty results as people ask for them."""


def sheet(database: Database, theme: Theme) -> bytes:
    """All charts of the gallery on one sheet, as SVG."""
    specs = [make_spec(chart) for piece in PIECES if (chart := piece.chart(database))]
    # A sheet has one locale, so no unit can stand at the numbers: it is in the names of these columns.
    specs = json.loads(json.dumps(specs).replace('"format": "$,', '"format": ",'))
    independent = {"color": "independent"}
    whole: dict[str, Any] = {
        "$schema": specs[0]["$schema"],
        "columns": _COLUMNS,
        "concat": [{key: value for key, value in spec.items() if key not in ("$schema", "config")} for spec in specs],
        "resolve": {"scale": independent, "legend": independent},
        "config": {"aria": False, "view": {"stroke": None}},
    }
    return small(render_chart_image(themed(whole, theme), "svg"))


def small(drawn: bytes) -> bytes:
    """A picture in about half of its bytes, which looks the same."""
    return _UNSEEN.sub("", drawn.decode()).replace("<svg ", '<svg font-family="sans-serif" ', 1).encode()


def main(folder: Path) -> None:
    """Writes `charts-light.svg` and `charts-dark.svg`."""
    with tempfile.TemporaryDirectory() as made, Database.open(build_sample(Path(made) / "kestrel.sqlite")) as database:
        for theme in get_args(Theme):
            (folder / f"charts-{theme}.svg").write_bytes(sheet(database, theme))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
