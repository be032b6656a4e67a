"""Hidden rows and columns whose cells are canaries: is any of them in what the ledger says?"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Generator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from uuid import uuid4

import duckdb
from tableturn.agent import SQLAgent
from tableturn.agent.answers.render import list_basis_lines
from tableturn.tools.database import Database, Identity, Policy, Session

from tests.support.scripted import writes
from tests.tools.database.servers import POSTGRES

_STATEMENTS = (
    "CREATE TABLE product (id INTEGER PRIMARY KEY, code VARCHAR(40), name VARCHAR(40))",
    "CREATE TABLE sale (id INTEGER PRIMARY KEY, product_id INTEGER, code VARCHAR(40), shop VARCHAR(40),"
    " tenant VARCHAR(10), amount INTEGER, day DATE)",
    "CREATE TABLE note (sale_id INTEGER, words VARCHAR(40))",
    "INSERT INTO product VALUES (1, 'canary a', 'lamp'), (2, 'b', 'chair'), (3, 'c', 'desk')",
    # All that is hidden by rules on rows is of the south.
    *(
        f"INSERT INTO sale VALUES ({n}, {99 if n % 3 else 1}, '{word} x{n % 4}',"
        f" '{word if n % 2 else word.upper()}', '{tenant}', {n if n % 5 else 'NULL'}, '2023-0{n % 9 + 1}-01')"
        for n in range(1, 41)
        for word, tenant in ((("canary", "south") if n % 2 + n % 3 else ("plain", "north")),)
    ),
    "INSERT INTO note VALUES (1, 'canary'), (2, 'canary'), (2, 'Canary')",
)
QUERIES = (
    "SELECT COUNT(*) FROM sale s JOIN product p ON p.code = s.code",
    "SELECT shop, COUNT(*) FROM sale GROUP BY shop",
    "SELECT s.shop, AVG(s.amount) FROM sale s JOIN product p ON p.id = s.product_id GROUP BY s.shop",
    "SELECT COUNT(*) FROM sale s JOIN product p ON p.id = s.product_id",
    "SELECT p.name, SUM(s.amount) FROM sale s JOIN product p ON p.id = s.product_id GROUP BY p.name",
    "SELECT COUNT(*) FROM sale s JOIN note n ON n.sale_id = s.id",
    "SELECT n.words, COUNT(*) FROM note n JOIN sale s ON s.id = n.sale_id GROUP BY n.words",
    "SELECT COUNT(*) FROM sale s JOIN product p ON p.id = s.product_id WHERE s.shop <> 'x'",
    "SELECT s.tenant, COUNT(*) FROM sale s JOIN product p ON p.code = s.code WHERE s.day <= '2023-12-31'"
    " GROUP BY s.tenant",
    "WITH one AS (SELECT shop, code FROM sale) SELECT o.shop, COUNT(*) FROM one o JOIN product p ON p.code = o.code"
    " GROUP BY o.shop",
    "SELECT shop FROM sale UNION SELECT s.shop FROM sale s JOIN product p ON p.code = s.code GROUP BY s.shop",
)
DENIED = ("note", "sale.shop", "sale.code", "product.code")
EGRESS: Mapping[str, Mapping[str, str]] = {
    "columns": {"sale.shop": "none", "sale.code": "statistics", "product.code": "statistics", "note.words": "none"}
}


def find_canaries(database: Database) -> list[str]:
    """Return what ledgers of queries, with examples of lost rows, say of canaries."""
    found: list[str] = []
    for sql in QUERIES:
        settings = {"examples": "none", "ledger": "full", "max_attempts": 1}
        with SQLAgent(database, model=writes(sql), settings=settings) as agent:
            answer = agent.ask("What is there for each product and shop?")
        line = answer.ledger.line if answer.ledger else ""
        said = (answer.to_dict()["ledger"], line, list_basis_lines(answer)[1:], answer.confidence_reason, answer.notes)
        # Names of columns and tables, and the query itself, are no cells.
        if "canary" in json.dumps(said).lower():
            found.append(f"{database.dialect}: {sql}: {said}")
    return found


@contextmanager
def open_hidden(folder: Path) -> Generator[dict[str, Database]]:
    """Yield databases with canaries by engine and what hides them; those named `all` hide nothing."""
    with closing(sqlite3.connect(folder / "canary.sqlite")) as connection, connection:
        for statement in _STATEMENTS:
            connection.execute(statement)
    with duckdb.connect(str(folder / "canary.duckdb")) as connection:
        for statement in _STATEMENTS:
            connection.execute(statement)
    with ExitStack() as stack:
        opened: dict[str, Database] = {}
        for engine in ("sqlite", "duckdb"):
            path = folder / f"canary.{engine}"
            opened[f"{engine} all"] = stack.enter_context(Database.open(path))
            opened[f"{engine} deny"] = stack.enter_context(Database.open(path, deny=DENIED))
            opened[f"{engine} egress"] = stack.enter_context(Database.open(path, egress=EGRESS))
        if not POSTGRES.unavailable():
            url, role = POSTGRES.make_database(f"tt_{uuid4().hex[:12]}"), f"tt_{uuid4().hex[:8]}"
            for statement in (
                *_STATEMENTS,
                "ALTER TABLE sale ENABLE ROW LEVEL SECURITY",
                "CREATE POLICY own ON sale USING (tenant = current_setting('tableturn.user', true))",
                f"CREATE ROLE {role} LOGIN",
                f"GRANT SELECT (id, name) ON product TO {role}",
                f"GRANT SELECT ON sale TO {role}",
            ):
                POSTGRES.run(url, statement)
            stack.callback(lambda: [POSTGRES.run(url, f"DROP {what} {role}") for what in ("OWNED BY", "ROLE")])
            person = Session(Identity("north"), Policy())
            own = url.replace("//postgres@", f"//{role}@")
            opened["postgres all"] = stack.enter_context(Database.open(url))
            opened["postgres egress"] = stack.enter_context(Database.open(url, egress=EGRESS))
            opened["postgres rows and grants"] = stack.enter_context(Database.open(own, session=person))
        yield opened
