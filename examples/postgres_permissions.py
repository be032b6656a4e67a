"""PostgreSQL with permissions: row-level security and column grants decide what each person is told.

    pip install 'tableturn[postgres]'
    python examples/postgres_permissions.py postgresql://postgres@127.0.0.1:5432/postgres

The login must be one that may make a schema and a role; both have a made-up name, and are dropped at the end.
Policies read `tableturn.user`, which each transaction has from whoever asks: nothing in a question, a model's reply or
the data can change it. TABLETURN_MODEL or OPENAI_API_KEY choose a model.
"""

import secrets
import sys
from collections.abc import Generator
from contextlib import contextmanager

import psycopg
from tableturn import Database, SQLAgent
from tableturn.tools.sample import build_sample

NAME = f"tableturn_{secrets.token_hex(4)}"
QUESTIONS = ("How many employees are there?", "Show the names of the stores", "What is the highest salary?")

TABLES = f"""
CREATE SCHEMA {NAME};
SET search_path TO {NAME};
CREATE TABLE stores (store_id int PRIMARY KEY, name text, city text, manager text);
CREATE TABLE employees (employee_id int PRIMARY KEY, first_name text, store_id int REFERENCES stores, salary int);
"""
RULES = f"""
CREATE ROLE {NAME} LOGIN PASSWORD 'example';                                          -- what tableturn signs in as
GRANT USAGE ON SCHEMA {NAME} TO {NAME};
GRANT SELECT ON stores TO {NAME};
GRANT SELECT (employee_id, first_name, store_id) ON employees TO {NAME};              -- salaries are nobody's business
ALTER TABLE stores ENABLE ROW LEVEL SECURITY;
ALTER TABLE employees ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON stores USING (manager = current_setting('tableturn.user', true));
CREATE POLICY own ON employees USING (store_id IN (SELECT store_id FROM stores));     -- those of the stores one may see
"""


@contextmanager
def shop(url: str) -> Generator[str]:
    """Makes the schema, the role and the rules, with rows of the sample database; gives the URL for people."""
    drop = f"DROP SCHEMA IF EXISTS {NAME} CASCADE; DROP ROLE IF EXISTS {NAME}"
    with psycopg.connect(url, autocommit=True) as server, Database.open(build_sample("build/kestrel.sqlite")) as sample:
        try:
            server.execute(TABLES.encode())
            for table, query in (
                ("stores", "SELECT store_id, name, city, iif(store_id % 2, 'ada', 'bo') FROM stores"),
                ("employees", "SELECT employee_id, first_name, store_id, salary FROM employees"),
            ):
                with server.cursor().copy(f"COPY {table} FROM STDIN".encode()) as rows:
                    for row in sample.execute(query).rows:
                        rows.write_row(row)
            server.execute(RULES.encode())
            info = server.info
            yield f"postgresql://{NAME}:example@{info.host}:{info.port}/{info.dbname}?schema={NAME}"
        finally:
            server.execute(drop.encode())


if __name__ == "__main__":
    server = sys.argv[1] if len(sys.argv) > 1 else "postgresql://postgres@127.0.0.1:5432/postgres"
    try:
        with shop(server) as url, SQLAgent(url) as agent:
            for user in ("ada", "bo", "eve"):
                for question in QUESTIONS:
                    print(f"{user}: {question}\n  {agent.ask(question, user=user).text}")
    except psycopg.OperationalError as error:
        sys.exit(f"no PostgreSQL here: {error}")
